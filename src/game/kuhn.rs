//! Kuhn poker (Kuhn 1950): three cards, an ante of 1, one bet of 1.
//!
//! Player 0 passes or bets; after a pass player 1 may bet and player 0 answers. A pass after a bet loses the ante; otherwise
//! the higher card wins the pot. Under optimal play player 0 loses 1/18 a game.

use super::{Action, ActionSet, Enumerable, Game, Player};
use rand::seq::SliceRandom;

/// Passing, which is folding after a bet.
pub const PASS: Action = 0;
/// Betting, which is calling after a bet.
pub const BET: Action = 1;

/// Cards in the deck: 0 (jack), 1 (queen), 2 (king).
pub const CARDS: usize = 3;
/// Plies of the longest game.
pub const MAX_PLIES: usize = 3;

/// The game. It has no variants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kuhn;

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    cards: [u8; 2],
    actions: [Action; MAX_PLIES],
    plies: u8,
}

impl State {
    /// The position after the deal.
    ///
    /// # Panics
    /// When the cards are not two different ones of [`CARDS`].
    pub fn dealt(cards: [u8; 2]) -> Self {
        assert!(
            cards[0] != cards[1] && cards.iter().all(|&card| (card as usize) < CARDS),
            "{cards:?} are not two cards of Kuhn poker"
        );
        Self {
            cards,
            actions: [PASS; MAX_PLIES],
            plies: 0,
        }
    }

    /// The card of `player`.
    pub fn card(&self, player: Player) -> u8 {
        self.cards[player.index()]
    }

    /// The actions taken, from the first.
    pub fn actions(&self) -> &[Action] {
        &self.actions[..self.plies as usize]
    }
}

impl Game for Kuhn {
    type State = State;
    type Profile = ();

    fn num_actions(&self) -> usize {
        2
    }

    fn deal<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> State {
        let mut deck = [0, 1, 2];
        deck.shuffle(rng);
        State::dealt([deck[0], deck[1]])
    }

    fn mover(&self, state: &State) -> Option<Player> {
        let over = matches!(state.actions(), [PASS, PASS] | [BET, _] | [PASS, BET, _]);
        (!over).then(|| Player::from_parity(state.plies as usize))
    }

    fn legal_actions(&self, state: &State) -> ActionSet {
        match self.mover(state) {
            Some(_) => ActionSet::from_bits(0b11),
            None => ActionSet::EMPTY,
        }
    }

    fn chance_outcomes(&self, _: &State, _: Action) -> usize {
        1
    }

    fn apply_outcome(&self, state: &mut State, action: Action, _: usize) {
        self.apply(state, action);
    }

    fn apply(&self, state: &mut State, action: Action) {
        debug_assert!(
            self.legal_actions(state).contains(action),
            "illegal action {action}"
        );
        state.actions[state.plies as usize] = action;
        state.plies += 1;
    }

    /// In antes; 0 before the end.
    fn payoff(&self, state: &State, player: Player) -> f64 {
        let highest = if state.cards[0] > state.cards[1] {
            Player::P0
        } else {
            Player::P1
        };
        let (winner, stake) = match state.actions() {
            [PASS, PASS] => (highest, 1.0),
            [BET, BET] | [PASS, BET, BET] => (highest, 2.0),
            [BET, PASS] => (Player::P0, 1.0),
            [PASS, BET, PASS] => (Player::P1, 1.0),
            _ => return 0.0,
        };
        if winner == player { stake } else { -stake }
    }
}

impl Enumerable for Kuhn {
    fn deals(&self, most: usize) -> Option<Vec<(State, f64)>> {
        let pairs = (0..CARDS as u8).flat_map(|a| (0..CARDS as u8).map(move |b| [a, b]));
        let deals: Vec<_> = pairs
            .filter(|cards| cards[0] != cards[1])
            .map(|cards| (State::dealt(cards), 1.0 / 6.0))
            .collect();
        (deals.len() <= most).then_some(deals)
    }

    fn observe(&self, state: &State, player: Player, view: &mut Vec<u8>) {
        view.push(state.card(player));
        view.extend_from_slice(state.actions());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_play_ends_with_its_stake() {
        let lines: [(&[Action], f64); 5] = [
            (&[PASS, PASS], -1.0),
            (&[PASS, BET, PASS], -1.0),
            (&[PASS, BET, BET], -2.0),
            (&[BET, PASS], 1.0),
            (&[BET, BET], -2.0),
        ];
        for (line, payoff) in lines {
            let mut state = State::dealt([0, 2]);
            for (ply, &action) in line.iter().enumerate() {
                assert_eq!(
                    Kuhn.mover(&state),
                    Some(Player::from_parity(ply)),
                    "{line:?}"
                );
                assert_eq!(Kuhn.payoff(&state, Player::P0), 0.0);
                Kuhn.apply(&mut state, action);
            }
            assert_eq!(Kuhn.mover(&state), None, "{line:?}");
            assert!(Kuhn.legal_actions(&state).is_empty());
            assert_eq!(Kuhn.payoff(&state, Player::P0), payoff, "{line:?}");
            assert_eq!(Kuhn.payoff(&state, Player::P1), -payoff, "{line:?}");
        }
    }
}
