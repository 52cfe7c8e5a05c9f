//! Leduc poker: seat, ranks and what was done.

use super::Encoding;
use crate::game::{
    Action, ActionSet, Game, Player,
    leduc::{Leduc, MAX_ROUND, MOST_PAID, RAISE, RANKS, ROUNDS, State},
};

/// The encoding of Leduc poker, 27 values: seat (2), rank of the own card (3), rank of the public card (3, all 0 before it is turned), for each
/// action of the two rounds whether it was a call or a raise (2 each), whether own and public card are a pair, and what the observer and
/// the other have put in, as a share of the most. Actions are the game's own ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeducBits;

const BETTING: usize = 2 + 2 * RANKS;
const PAIR: usize = BETTING + ROUNDS * MAX_ROUND * 2;
const PAID: usize = PAIR + 1;

impl Encoding<Leduc> for LeducBits {
    fn info_len(&self) -> usize {
        PAID + 2
    }

    fn num_actions(&self) -> usize {
        3
    }

    fn legal_actions(&self, game: &Leduc, state: &State) -> ActionSet {
        game.legal_actions(state)
    }

    fn to_game(&self, _: &Leduc, _: &State, action: Action) -> Action {
        action
    }

    fn encode(&self, _: &Leduc, state: &State, observer: Player, _: ActionSet, row: &mut [f32]) {
        assert_eq!(
            row.len(),
            self.info_len(),
            "the length of an info state row"
        );
        row.fill(0.0);
        row[observer.index()] = 1.0;
        row[2 + state.rank(observer) as usize] = 1.0;
        if let Some(rank) = state.public_rank() {
            row[2 + RANKS + rank as usize] = 1.0;
            row[PAIR] = f32::from(u8::from(rank == state.rank(observer)));
        }
        for (at, player) in [observer, observer.opponent()].into_iter().enumerate() {
            row[PAID + at] = f32::from(state.paid(player)) / f32::from(MOST_PAID);
        }
        for round in 0..ROUNDS {
            for (number, &action) in state.actions(round).iter().enumerate() {
                let at = BETTING + 2 * (round * MAX_ROUND + number);
                row[at + usize::from(action == RAISE)] = 1.0;
            }
        }
    }
}
