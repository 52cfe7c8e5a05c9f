//! Games that `max_steps` cuts off.

use crate::players::Patient;
use crate::{classic, play, settings};
use coorl_async::evaluation::{OnMaxSteps, Outcome};

#[test]
fn timeouts_count_as_the_settings_say_and_keep_their_scores() {
    let game = classic();
    let mut outcomes = Vec::new();
    for number in 0..20 {
        let run = |on_max_steps| {
            play(
                &game,
                &Patient { patience: 2 },
                &Patient { patience: 2 },
                &settings(9, on_max_steps),
                number,
            )
        };
        let [score, loss, draw] =
            [OnMaxSteps::ScoreDiff, OnMaxSteps::Loss, OnMaxSteps::Draw].map(run);
        for record in [&score, &loss, &draw] {
            assert!(record.timed_out && record.plies() == 9);
            assert_eq!(record.score_diff, score.score_diff);
        }
        let by_score = match score.score_diff {
            diff if diff > 0.0 => Outcome::Win,
            diff if diff < 0.0 => Outcome::Loss,
            _ => Outcome::Draw,
        };
        assert_eq!(
            (score.outcome, loss.outcome, draw.outcome),
            (by_score, Outcome::Loss, Outcome::Draw)
        );
        outcomes.push(score.outcome);
    }
    assert!(outcomes.contains(&Outcome::Win) && outcomes.contains(&Outcome::Loss));
}

#[test]
fn a_game_that_ends_with_the_last_allowed_ply_is_no_timeout() {
    let (game, bot) = (classic(), Patient { patience: 3 });
    let free = play(&game, &bot, &bot, &settings(10_000, OnMaxSteps::Loss), 0);
    assert!(!free.timed_out);
    let exact = play(
        &game,
        &bot,
        &bot,
        &settings(free.plies(), OnMaxSteps::Loss),
        0,
    );
    assert_eq!((exact.timed_out, exact.outcome), (false, free.outcome));
    let short = play(
        &game,
        &bot,
        &bot,
        &settings(free.plies() - 1, OnMaxSteps::Loss),
        0,
    );
    assert_eq!((short.timed_out, short.outcome), (true, Outcome::Loss));
}
