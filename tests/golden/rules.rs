//! `rules.jsonl.gz`: whole games, every field of every step.

use coorl_async::game::{
    Action, Game, Player,
    lost_cities::{LostCities, Phase, State},
};
use serde_json::{Value, json};

use crate::vectors::{actions, array, cards, game, integer, rows};

#[test]
fn games_go_as_recorded() {
    for row in rows("rules.jsonl.gz") {
        let at = format!("row {} ({})", row["id"], row["name"]);
        let game = game(&row);
        let mut state = game
            .deal_deck(&cards(&row["deck"]))
            .unwrap_or_else(|error| panic!("{at}: {error}"));
        let actions = actions(&row["actions"]);
        for field in ["player", "phase", "legal", "scores", "deck_len"] {
            assert_eq!(array(&row[field]).len(), actions.len(), "{at}: {field}");
        }
        let mut snapshots = array(&row["snapshots"]).iter().peekable();
        for (step, &action) in actions.iter().enumerate() {
            let at = format!("{at} step {step}");
            check_step(&game, &state, &row, step, &at);
            if let Some(wanted) = snapshots.next_if(|next| integer(&next["step"]) == step as i64) {
                assert_eq!(snapshot(&game, &state, step), *wanted, "{at}");
            }
            check_refusals(&game, &state, &at);
            game.try_apply(&mut state, action)
                .unwrap_or_else(|error| panic!("{at}: {error}"));
        }
        assert_eq!(snapshots.next(), None, "{at}: a snapshot was not reached");
        check_end(&game, &state, &row, &at);
    }
}

/// The fields recorded before each action.
fn check_step(game: &LostCities, state: &State, row: &Value, step: usize, at: &str) {
    let mover = integer(&row["player"][step]) as usize;
    assert_eq!(state.current_player().index(), mover, "{at}: player");
    assert_eq!(game.mover(state), Some(Player::BOTH[mover]), "{at}: mover");
    assert_eq!(phase(state), integer(&row["phase"][step]), "{at}: phase");
    assert_eq!(
        legal(game, state),
        actions(&row["legal"][step]),
        "{at}: legal"
    );
    assert_eq!(totals(game, state), row["scores"][step], "{at}: scores");
    assert_eq!(
        state.deck_len() as i64,
        integer(&row["deck_len"][step]),
        "{at}: deck_len"
    );
}

/// Every id that is not legal is refused, and the state stays as it was.
fn check_refusals(game: &LostCities, state: &State, at: &str) {
    let before = format!("{state:?}");
    let mut after = state.clone();
    let legal = game.legal_actions(state);
    for action in (0..=Action::MAX).filter(|&action| !legal.contains(action)) {
        let refused = game.try_apply(&mut after, action);
        assert_eq!(refused.map_err(|error| error.action), Err(action), "{at}");
    }
    assert_eq!(
        format!("{after:?}"),
        before,
        "{at}: a refused action left a trace"
    );
}

fn check_end(game: &LostCities, state: &State, row: &Value, at: &str) {
    let end = &row["final"];
    let terminal = end["terminal"].as_bool().expect("a flag");
    let reason = match (state.is_terminal(), state.deck_len()) {
        (false, _) => "step_bound",
        // A card action that leaves no legal draw leaves the mover one card short as well.
        (true, 0)
            if state.hand(state.current_player()).len() == game.rules().hand_size as usize =>
        {
            "deck_emptied"
        }
        (true, _) => "no_legal_draw",
    };
    let expedition_scores = Player::BOTH.map(|player| {
        let score = |color| game.expedition_score(state.expedition(player, color));
        (0..game.rules().n_colors as usize)
            .map(score)
            .collect::<Vec<_>>()
    });
    assert_eq!(state.is_terminal(), terminal, "{at}: final terminal");
    assert_eq!(game.mover(state).is_none(), terminal, "{at}: final mover");
    assert_eq!(reason, end["reason"], "{at}: final reason");
    assert_eq!(
        totals(game, state),
        end["total_scores"],
        "{at}: final scores"
    );
    assert_eq!(
        json!(expedition_scores),
        end["expedition_scores"],
        "{at}: final expedition_scores"
    );
    assert_eq!(
        legal(game, state),
        actions(&end["legal"]),
        "{at}: final legal"
    );
    assert_eq!(
        legal(game, state).is_empty(),
        terminal,
        "{at}: terminal without legal actions"
    );
    let steps = array(&row["actions"]).len();
    assert_eq!(
        snapshot(game, state, steps),
        end["state"],
        "{at}: final state"
    );
    for player in Player::BOTH {
        let [own, other] = [player, player.opponent()].map(|player| game.score(state, player));
        assert_eq!(
            game.payoff(state, player),
            f64::from(own - other),
            "{at}: payoff"
        );
    }
    check_refusals(game, state, at);
}

fn phase(state: &State) -> i64 {
    match state.phase() {
        Phase::Card => 0,
        Phase::Draw => 1,
    }
}

fn legal(game: &LostCities, state: &State) -> Vec<Action> {
    game.legal_actions(state).iter().collect()
}

fn totals(game: &LostCities, state: &State) -> Value {
    json!(Player::BOTH.map(|player| game.score(state, player)))
}

/// The state as a snapshot object of the vectors.
fn snapshot(game: &LostCities, state: &State, step: usize) -> Value {
    let colors = 0..game.rules().n_colors as usize;
    let hand = |player| -> Vec<_> {
        let hand = state.hand(player).iter();
        hand.map(|card| [card.color, card.rank]).collect()
    };
    let expeditions = |player| -> Vec<Vec<u8>> {
        let expedition = |color| state.expedition(player, color).ranks().collect();
        colors.clone().map(expedition).collect()
    };
    let discards: Vec<_> = colors.clone().map(|color| state.pile(color)).collect();
    json!({
        "deck_len": state.deck_len(),
        "discards": discards,
        "expeditions": Player::BOTH.map(expeditions),
        "hands": Player::BOTH.map(hand),
        "pending": state.pending().map_or(-1, |color| color as i64),
        "phase": phase(state),
        "player": state.current_player().index(),
        "step": step,
        "terminal": state.is_terminal(),
        "turn": state.turn_count(),
    })
}
