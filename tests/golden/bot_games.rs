//! `bot_games.jsonl.gz`: whole games between deterministic bots.

use coorl_async::{
    bots::{Bot, ScriptedGame},
    game::{Game, Player},
};

use crate::{
    lcg::Lcg,
    vectors::{actions, array, cards, fnv1a, game, integer, rows},
};

/// Actions after which a game is scored as it stands.
const MAX_STEPS: usize = 10_000;

#[test]
fn games_between_bots_go_as_recorded() {
    for row in rows("bot_games.jsonl.gz") {
        let at = format!(
            "row {} ({}): {} against {}",
            row["id"], row["name"], row["seat0"], row["seat1"]
        );
        let game = game(&row);
        let mut state = game
            .deal_deck(&cards(&row["deck"]))
            .unwrap_or_else(|error| panic!("{at}: {error}"));
        let bots = ["seat0", "seat1"].map(|seat| {
            let name = row[seat].as_str().expect("a name");
            game.bot(name)
                .unwrap_or_else(|error| panic!("{at}: {error}"))
        });
        let head = actions(&row["actions_head"]);
        let mut taken = Vec::new();
        while let Some(mover) = game.mover(&state).filter(|_| taken.len() < MAX_STEPS) {
            let action = bots[mover.index()].act(&game, &state, &mut Lcg::new(0));
            let step = taken.len();
            if let Some(&wanted) = head.get(step) {
                assert_eq!(action, wanted, "{at} step {step}");
            }
            game.try_apply(&mut state, action)
                .unwrap_or_else(|error| panic!("{at} step {step}: {error}"));
            taken.push(action);
        }
        assert_eq!(taken.len() as i64, integer(&row["steps"]), "{at}: steps");
        assert!(
            taken.len() >= head.len(),
            "{at}: shorter than the recorded head"
        );
        assert_eq!(!state.is_terminal(), row["timed_out"], "{at}: timed_out");
        let scores = Player::BOTH.map(|player| i64::from(game.score(&state, player)));
        let wanted: Vec<i64> = array(&row["scores"]).iter().map(integer).collect();
        assert_eq!(scores.as_slice(), wanted, "{at}: scores");
        assert_eq!(fnv1a(&taken), row["actions_fnv"], "{at}: actions_fnv");
    }
}
