//! Kuhn poker: seat, card and what was done.

use super::Encoding;
use crate::game::{
    Action, ActionSet, Game, Player,
    kuhn::{BET, CARDS, Kuhn, MAX_PLIES, State},
};

/// The encoding of Kuhn poker, 11 values of 0 and 1: seat (2), own card (3), and for each ply whether it was a pass or a bet (2 each).
/// Actions are the game's own ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct KuhnBits;

impl Encoding<Kuhn> for KuhnBits {
    fn info_len(&self) -> usize {
        2 + CARDS + 2 * MAX_PLIES
    }

    fn num_actions(&self) -> usize {
        2
    }

    fn legal_actions(&self, game: &Kuhn, state: &State) -> ActionSet {
        game.legal_actions(state)
    }

    fn to_game(&self, _: &Kuhn, _: &State, action: Action) -> Action {
        action
    }

    fn encode(&self, _: &Kuhn, state: &State, observer: Player, _: ActionSet, row: &mut [f32]) {
        assert_eq!(
            row.len(),
            self.info_len(),
            "the length of an info state row"
        );
        row.fill(0.0);
        row[observer.index()] = 1.0;
        row[2 + state.card(observer) as usize] = 1.0;
        for (ply, &action) in state.actions().iter().enumerate() {
            row[2 + CARDS + 2 * ply + usize::from(action == BET)] = 1.0;
        }
    }
}
