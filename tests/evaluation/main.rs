//! Evaluation games played without an executor, against an independent recount and hand-made cases.

mod arena;
mod diagnostics;
mod oracle;
mod players;
mod timeouts;

use coorl_async::bots::Bot;
use coorl_async::evaluation::{
    ExpeditionDiagnostics, GameError, GameRecord, OnMaxSteps, OpponentReport, Pairing, PolicyMode,
    Reading, Scripted, Settings, Tally, table,
};
use coorl_async::game::lost_cities::{LostCities, Rules};
use coorl_async::game::{Game, Player};
use coorl_async::inference::Stopped;
use coorl_async::random::{Purpose, Stream};
use futures::executor::block_on;
use oracle::{CutOff, Played};
use players::{Canned, Chaotic, Echo, Endless, Patient, Shadow, act_of};
use std::collections::BTreeSet;

type Record = GameRecord<ExpeditionDiagnostics>;

fn classic() -> LostCities {
    LostCities::new(Rules::default()).unwrap()
}

/// A small variant in which bonuses and weak openings happen.
fn small() -> LostCities {
    let rules = Rules {
        n_colors: 3,
        n_ranks: 6,
        n_handshakes: 2,
        hand_size: 5,
        bonus_threshold: 3,
        ..Rules::default()
    };
    LostCities::new(rules).unwrap()
}

fn settings(max_steps: usize, on_max_steps: OnMaxSteps) -> Settings {
    Settings {
        max_steps,
        on_max_steps,
        ..Settings::default()
    }
}

fn stream(number: usize) -> Stream {
    Stream::new(17, Purpose::Evaluation, 3, number as u64)
}

fn play(
    game: &LostCities,
    policy: &impl Bot<LostCities>,
    opponent: &impl Bot<LostCities>,
    settings: &Settings,
    number: usize,
) -> Record {
    let encoding = Shadow(policy.clone());
    let pairing = Pairing {
        game,
        encoding: &encoding,
        reading: Reading::Logits,
        opponent: &Scripted(opponent.clone()),
        settings,
    };
    block_on(pairing.play(number, stream(number), &mut Echo::new())).unwrap()
}

fn report(records: impl IntoIterator<Item = Record>) -> OpponentReport {
    let mut tally = Tally::<LostCities, _>::new("Some-Bot");
    records.into_iter().for_each(|record| tally.add(record));
    tally.report()
}

/// The same game by a plain loop over the rules.
fn replayed(
    game: &LostCities,
    policy: &impl Bot<LostCities>,
    opponent: &impl Bot<LostCities>,
    max_steps: usize,
    number: usize,
) -> Played {
    let mut chance = stream(number);
    let deal = game.deal(&mut chance);
    let seat = if number.is_multiple_of(2) {
        Player::P0
    } else {
        Player::P1
    };
    let (mut state, mut actions, mut entropies) = (deal.clone(), Vec::new(), Vec::new());
    while !state.is_terminal() && actions.len() < max_steps {
        let action = if state.current_player() == seat {
            // One logit is 1, the others 0.
            let others = game.legal_actions(&state).len() as f64 - 1.0;
            let (one, zero) = (
                1f64.exp() / (1f64.exp() + others),
                1.0 / (1f64.exp() + others),
            );
            entropies.push(-one * one.ln() - others * zero * zero.ln());
            act_of(policy, game, &state)
        } else {
            opponent.act(game, &state, &mut chance)
        };
        game.apply(&mut state, action);
        actions.push(action);
    }
    Played {
        deal,
        actions,
        policy: seat,
        finished: state.is_terminal(),
        entropies,
    }
}

fn check_against_oracle(
    game: &LostCities,
    policy: &impl Bot<LostCities>,
    opponent: &impl Bot<LostCities>,
    limits: (usize, OnMaxSteps, CutOff),
) -> OpponentReport {
    let (max_steps, on_max_steps, cut_off) = limits;
    let settings = settings(max_steps, on_max_steps);
    let report = report((0..31).map(|number| play(game, policy, opponent, &settings, number)));
    let games: Vec<_> = (0..31)
        .map(|number| replayed(game, policy, opponent, max_steps, number))
        .collect();
    for (name, wanted) in oracle::metrics(game, &games, cut_off) {
        let got = report
            .metric(name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        // The softmax is in float32.
        let tolerance = if name == "policy_entropy" { 1e-6 } else { 1e-9 };
        assert!(
            (got - wanted).abs() <= tolerance * wanted.abs().max(1.0),
            "{name}: {got}, recounted {wanted}"
        );
    }
    report
}

#[test]
fn metrics_equal_an_independent_recount() {
    let by_score = (10_000, OnMaxSteps::ScoreDiff, CutOff::Score);
    let mut seen = BTreeSet::new();
    for game in [classic(), small()] {
        for patience in [1, 3] {
            let policy = Patient { patience };
            let cut = (
                game.rules().num_cards(),
                OnMaxSteps::ScoreDiff,
                CutOff::Score,
            );
            let reports = [
                check_against_oracle(&game, &policy, &Chaotic, by_score),
                check_against_oracle(&game, &policy, &Patient { patience: 4 }, by_score),
                check_against_oracle(&game, &policy, &Chaotic, cut),
                check_against_oracle(
                    &game,
                    &Endless,
                    &policy,
                    (200, OnMaxSteps::ScoreDiff, CutOff::Score),
                ),
                check_against_oracle(
                    &game,
                    &policy,
                    &Endless,
                    (61, OnMaxSteps::Loss, CutOff::Lost),
                ),
                check_against_oracle(
                    &game,
                    &policy,
                    &Endless,
                    (61, OnMaxSteps::Draw, CutOff::Drawn),
                ),
            ];
            for (name, value) in reports.iter().flat_map(OpponentReport::metrics) {
                if value != 0.0 {
                    seen.insert(name);
                }
            }
        }
    }
    check_against_oracle(
        &classic(),
        &Endless,
        &Patient { patience: 2 },
        (1, OnMaxSteps::ScoreDiff, CutOff::Score),
    );
    let all: BTreeSet<_> = METRICS.split_whitespace().collect();
    assert_eq!(seen, all, "every metric was put to the test");
}

const METRICS: &str = "games wins0 wins1 draws win_rate0 win_rate1 avg_score0 avg_score1 avg_score_diff0 avg_game_length \
max_step_timeouts elapsed_seconds games_per_second steps_per_second play_action_rate discard_action_rate draw_deck_rate \
draw_pile_rate policy_entropy avg_opened_colors 5_color_open_count avg_expedition_cards opening_play_actions bad_open_actions \
weak_open_actions good_open_actions bad_open_rate weak_open_rate good_open_rate opening_recoverable_score_mean \
score_per_opened_color per_game_positive_expeditions per_game_negative_expeditions per_game_breakeven_expeditions \
per_game_bonus_expeditions per_game_below_minus_20_expeditions positive_expedition_rate negative_expedition_rate \
bonus_expedition_rate avg_final_score_per_opened_expedition final_expedition_score_p25 final_expedition_score_median \
final_expedition_score_p75 final_expedition_score_p90 positive_expedition_score_mean negative_expedition_score_mean \
first_open_recoverable_score_mean_for_positive_final first_open_recoverable_score_mean_for_negative_final policy_turns \
opponent_turns policy_select_seconds policy_legal_mask_seconds policy_encoding_seconds policy_network_seconds \
policy_postprocess_seconds opponent_act_seconds apply_action_seconds diagnostics_seconds final_scoring_seconds \
draw_rate win_rate0_low win_rate0_high avg_score_diff0_se";

#[test]
fn the_metrics_are_exactly_the_documented_ones_and_finite_without_games() {
    let empty = report([]);
    let mut names: Vec<_> = empty.metrics().map(|(name, _)| name).collect();
    let mut wanted: Vec<_> = METRICS.split_whitespace().collect();
    names.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    for (name, value) in empty.metrics() {
        let nothing = if name == "win_rate0_high" { 1.0 } else { 0.0 };
        assert_eq!(value, nothing, "{name}");
    }
    let mut keys = Vec::new();
    empty.emit(&mut |key, _| keys.push(key.to_owned()));
    assert!(keys.contains(&"eval/Some-Bot/5_color_open_count".to_owned()));
    assert_eq!(keys.len(), 59 + 4);
}

#[test]
fn the_policy_changes_seats_and_every_opponent_meets_the_same_deals() {
    let settings = settings(10_000, OnMaxSteps::ScoreDiff);
    let game = classic();
    for number in 0..6 {
        let record = play(&game, &Endless, &Patient { patience: 2 }, &settings, number);
        assert_eq!(record.policy.index(), number % 2);
    }
    // One ply: the mover alone turns, so the seat shows in the turn counts.
    let one = Settings {
        max_steps: 1,
        ..settings
    };
    let turns = |number| {
        let record = play(&game, &Chaotic, &Chaotic, &one, number);
        (record.policy_turns, record.opponent_turns)
    };
    assert_eq!([turns(0), turns(1), turns(2)], [(1, 0), (0, 1), (1, 0)]);
    // Both sides of two games with the same number see the same hands.
    let hands = |number| {
        let mut chance = stream(number);
        game.deal(&mut chance).hand(Player::P0).to_vec()
    };
    assert_ne!(hands(0), hands(1));
}

#[test]
fn games_repeat_exactly() {
    let settings = Settings {
        policy: PolicyMode::Sampled,
        ..settings(10_000, OnMaxSteps::ScoreDiff)
    };
    let untimed = |numbers: &[usize]| {
        let games = numbers.iter().map(|&number| {
            play(
                &classic(),
                &Patient { patience: 3 },
                &Chaotic,
                &settings,
                number,
            )
        });
        let report = report(games);
        let metrics = report
            .metrics()
            .filter(|(name, _)| !name.contains("second"));
        metrics
            .map(|(name, value)| (name, value.to_bits()))
            .collect::<Vec<_>>()
    };
    assert_eq!(untimed(&[0, 1, 2, 3]), untimed(&[0, 1, 2, 3]));
    assert_ne!(untimed(&[0, 1, 2, 3]), untimed(&[4, 5, 6, 7]));
}

#[test]
fn sampling_follows_the_strategy_where_greed_follows_its_peak() {
    let (game, policy) = (classic(), Patient { patience: 1 });
    let plays = |mode| {
        let settings = Settings {
            policy: mode,
            ..settings(10_000, OnMaxSteps::ScoreDiff)
        };
        let games = (0..10).map(|number| play(&game, &policy, &Endless, &settings, number));
        report(games).metric("draw_pile_rate").unwrap()
    };
    assert_eq!(
        plays(PolicyMode::Greedy),
        0.0,
        "the deck can always be drawn before the end"
    );
    assert!(plays(PolicyMode::Sampled) > 0.05);
}

#[test]
fn a_stopped_source_and_a_broken_answer_end_the_game_with_an_error() {
    let (game, encoding, limits) = (
        classic(),
        Shadow(Chaotic),
        settings(10_000, OnMaxSteps::ScoreDiff),
    );
    let pairing = Pairing {
        game: &game,
        encoding: &encoding,
        reading: Reading::Logits,
        opponent: &Scripted(Endless),
        settings: &limits,
    };
    let play = |answers: &[f32]| {
        let answers = answers.iter().map(|&value| [value; 128]).collect();
        let mut source = Canned {
            row: [0.0; 128],
            answers,
        };
        block_on(pairing.play::<(), _>(0, stream(0), &mut source)).map(|_| ())
    };
    assert_eq!(play(&[0.0, 0.0, 0.0]), Err(GameError::Stopped(Stopped)));
    // The policy opens with two plies, then waits out the opponent's two.
    assert_eq!(
        play(&[0.0, 0.0, f32::NAN]),
        Err(GameError::NoDecision { ply: 4 })
    );
}

#[test]
fn the_table_lines_up() {
    let limits = settings(10_000, OnMaxSteps::ScoreDiff);
    let games = |count: usize| {
        (0..count).map(|n| play(&classic(), &Patient { patience: 3 }, &Chaotic, &limits, n))
    };
    let text = table(&[report(games(12)), report(games(1)), report([])]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("opponent  games"));
    assert!(lines[1].starts_with("Some-Bot     12"), "{text}");
    let width = |line: &str| line.chars().count();
    assert!(
        lines.iter().all(|line| width(line) == width(lines[0])),
        "{text}"
    );
    assert!(lines[1].contains(" to ") && lines[1].contains(" ± "));
    assert_eq!(table(&[]).lines().count(), 1);
}
