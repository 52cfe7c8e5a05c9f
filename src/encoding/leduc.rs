//! Leduc poker: seat, cards and the betting.

use super::Encoding;
use crate::game::{
    Action, ActionSet, Game, Player,
    leduc::{CALL, Leduc, MOST_PAID, RAISE, RANKS, State},
};

/// The encoding of Leduc poker, 33 values: seat (2); the ranks of own and public card together, or of the own one alone before the other is
/// turned (12); the betting of the first round (11) and of the second as far as it is under way (6), each line of play a bit of its
/// own; what the observer and the other have put in, as a share of the most (2). Actions are the game's own ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeducBits;

/// The lines of a round at which somebody is to act, then those that end it with both still in.
const LINES: [&[Action]; 11] = [
    &[],
    &[CALL],
    &[RAISE],
    &[CALL, RAISE],
    &[RAISE, RAISE],
    &[CALL, RAISE, RAISE],
    &[CALL, CALL],
    &[RAISE, CALL],
    &[CALL, RAISE, CALL],
    &[RAISE, RAISE, CALL],
    &[CALL, RAISE, RAISE, CALL],
];
/// The first so many of them are under way.
const UNDER_WAY: usize = 6;

const CARDS: usize = 2;
const FIRST_ROUND: usize = CARDS + RANKS * (RANKS + 1);
const SECOND_ROUND: usize = FIRST_ROUND + LINES.len();
const PAID: usize = SECOND_ROUND + UNDER_WAY;

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

    /// Of a game that is over, the betting of the round that ended it is left out.
    fn encode(&self, _: &Leduc, state: &State, observer: Player, _: ActionSet, row: &mut [f32]) {
        assert_eq!(
            row.len(),
            self.info_len(),
            "the length of an info state row"
        );
        row.fill(0.0);
        row[observer.index()] = 1.0;
        let public = state.public_rank().map_or(0, |rank| 1 + rank as usize);
        row[CARDS + state.rank(observer) as usize * (RANKS + 1) + public] = 1.0;
        let line = |round: usize| LINES.iter().position(|line| *line == state.actions(round));
        if let Some(line) = line(0) {
            row[FIRST_ROUND + line] = 1.0;
        }
        if let Some(line) = line(1).filter(|&line| public > 0 && line < UNDER_WAY) {
            row[SECOND_ROUND + line] = 1.0;
        }
        for (at, player) in [observer, observer.opponent()].into_iter().enumerate() {
            row[PAID + at] = f32::from(state.paid(player)) / f32::from(MOST_PAID);
        }
    }
}
