//! Leduc poker (Southey et al. 2005): six cards of three ranks, two rounds of betting, one public card.
//!
//! Both ante 1 and get a card. Player 0 opens either round: fold (after a raise), call (or check), raise, with two raises a
//! round at most, of 2 in the first and 4 in the second. After the first a public card is turned. A private card of its rank
//! wins, else the higher rank; equal ranks share the pot.

use super::{Action, ActionSet, Enumerable, Game, Player};
use rand::seq::SliceRandom;

/// Giving up what one has put in.
pub const FOLD: Action = 0;
/// Putting in as much as the other, which may be nothing more.
pub const CALL: Action = 1;
/// Putting in more than the other.
pub const RAISE: Action = 2;

/// Ranks of the cards; there are two cards of each.
pub const RANKS: usize = 3;
/// Rounds of betting.
pub const ROUNDS: usize = 2;
/// Actions in the longest round: check, raise, raise, call.
pub const MAX_ROUND: usize = 4;

/// What a player can have put in at most, in antes.
pub const MOST_PAID: u8 = 13;

const CARDS: usize = 2 * RANKS;
const MAX_RAISES: u8 = 2;
const RAISE_BY: [u8; ROUNDS] = [2, 4];

/// The game. It has no variants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leduc;

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Two private cards, then the rest of the deck, of which the first is turned. A card's rank is half its number.
    cards: [u8; CARDS],
    actions: [[Action; MAX_ROUND]; ROUNDS],
    lengths: [u8; ROUNDS],
    round: u8,
    raises: u8,
    paid: [u8; 2],
    mover: Player,
    folded: Option<Player>,
}

impl State {
    /// The position after the deal of a shuffled deck: player 0's card, player 1's, the public one, the rest.
    fn dealt(cards: [u8; CARDS]) -> Self {
        Self {
            cards,
            actions: [[FOLD; MAX_ROUND]; ROUNDS],
            lengths: [0; ROUNDS],
            round: 0,
            raises: 0,
            paid: [1; 2],
            mover: Player::P0,
            folded: None,
        }
    }

    /// The rank of the card of `player`.
    pub fn rank(&self, player: Player) -> u8 {
        self.cards[player.index()] / 2
    }

    /// The rank of the public card, once it is turned.
    pub fn public_rank(&self) -> Option<u8> {
        (self.round > 0).then(|| self.cards[2] / 2)
    }

    /// The actions of a round, from the first.
    pub fn actions(&self, round: usize) -> &[Action] {
        &self.actions[round][..self.lengths[round] as usize]
    }

    /// What `player` has put in, in antes.
    pub fn paid(&self, player: Player) -> u8 {
        self.paid[player.index()]
    }

    fn is_over(&self) -> bool {
        self.folded.is_some() || self.round as usize == ROUNDS
    }

    /// Whether a call now ends the round: everybody has acted.
    fn call_closes(&self) -> bool {
        self.lengths[self.round as usize] > 0
    }

    /// Who wins when the cards are shown.
    fn showdown(&self) -> Option<Player> {
        let [own, other] = Player::BOTH.map(|player| self.rank(player));
        let public = self.cards[2] / 2;
        if own == other {
            None
        } else if own == public || (other != public && own > other) {
            Some(Player::P0)
        } else {
            Some(Player::P1)
        }
    }
}

impl Game for Leduc {
    type State = State;
    type Profile = ();

    fn num_actions(&self) -> usize {
        3
    }

    fn deal<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> State {
        let mut cards: [u8; CARDS] = std::array::from_fn(|card| card as u8);
        cards.shuffle(rng);
        State::dealt(cards)
    }

    fn mover(&self, state: &State) -> Option<Player> {
        (!state.is_over()).then_some(state.mover)
    }

    fn legal_actions(&self, state: &State) -> ActionSet {
        let mut legal = ActionSet::EMPTY;
        if state.is_over() {
            return legal;
        }
        legal.insert(CALL);
        if state.paid(state.mover) < state.paid(state.mover.opponent()) {
            legal.insert(FOLD);
        }
        if state.raises < MAX_RAISES {
            legal.insert(RAISE);
        }
        legal
    }

    fn chance_outcomes(&self, state: &State, action: Action) -> usize {
        if action == CALL && state.round == 0 && state.call_closes() {
            CARDS - 2
        } else {
            1
        }
    }

    /// Outcome `j` of the call that ends the first round turns the `j`-th card of the rest of the deck.
    fn apply_outcome(&self, state: &mut State, action: Action, outcome: usize) {
        if self.chance_outcomes(state, action) > 1 {
            state.cards.swap(2, 2 + outcome);
        }
        self.apply(state, action);
    }

    fn apply(&self, state: &mut State, action: Action) {
        debug_assert!(
            self.legal_actions(state).contains(action),
            "illegal action {action}"
        );
        let (mover, round) = (state.mover, state.round as usize);
        let closes = action == CALL && state.call_closes();
        state.actions[round][state.lengths[round] as usize] = action;
        state.lengths[round] += 1;
        state.mover = mover.opponent();
        match action {
            FOLD => state.folded = Some(mover),
            RAISE => {
                state.paid[mover.index()] = state.paid(mover.opponent()) + RAISE_BY[round];
                state.raises += 1;
            }
            _ => state.paid[mover.index()] = state.paid(mover.opponent()),
        }
        if closes {
            state.round += 1;
            state.raises = 0;
            state.mover = Player::P0;
        }
    }

    /// In antes; 0 before the end.
    fn payoff(&self, state: &State, player: Player) -> f64 {
        if !state.is_over() {
            return 0.0;
        }
        let winner = match state.folded {
            Some(loser) => Some(loser.opponent()),
            None => state.showdown(),
        };
        match winner {
            None => 0.0,
            Some(winner) => {
                let won = f64::from(state.paid(winner.opponent()));
                if winner == player { won } else { -won }
            }
        }
    }
}

impl Enumerable for Leduc {
    /// The rest of the deck stays in order: the public card is drawn when it is turned.
    fn deals(&self, most: usize) -> Option<Vec<(State, f64)>> {
        let count = CARDS * (CARDS - 1);
        if count > most {
            return None;
        }
        let pairs = (0..CARDS).flat_map(|a| (0..CARDS).map(move |b| (a, b)));
        let deals = pairs.filter(|(a, b)| a != b).map(|(a, b)| {
            let mut cards: [u8; CARDS] = std::array::from_fn(|card| card as u8);
            cards.swap(0, a);
            let second = cards.iter().position(|&card| card as usize == b);
            cards.swap(1, second.unwrap_or(1));
            (State::dealt(cards), 1.0 / count as f64)
        });
        Some(deals.collect())
    }

    /// Of the cards only ranks are seen: a rank's two cards are alike to the rules.
    fn observe(&self, state: &State, player: Player, view: &mut Vec<u8>) {
        view.push(state.rank(player));
        view.push(state.public_rank().unwrap_or(u8::MAX));
        for round in 0..ROUNDS {
            view.push(state.lengths[round]);
            view.extend_from_slice(state.actions(round));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of player 0, player 1 and the public card; the suits follow.
    fn dealt(ranks: [u8; 3]) -> State {
        let mut left: Vec<u8> = (0..CARDS as u8).collect();
        let mut cards = Vec::new();
        for rank in ranks {
            let at = left.iter().position(|card| card / 2 == rank).unwrap();
            cards.push(left.remove(at));
        }
        cards.extend(left);
        State::dealt(cards.try_into().unwrap())
    }

    fn play(mut state: State, line: &[Action]) -> State {
        for &action in line {
            assert!(Leduc.legal_actions(&state).contains(action), "{line:?}");
            Leduc.apply(&mut state, action);
        }
        state
    }

    #[test]
    fn stakes_follow_the_betting() {
        let win = dealt([2, 1, 0]);
        for (line, payoff) in [
            (&[CALL, CALL, CALL, CALL][..], 1.0),
            (&[RAISE, FOLD], 1.0),
            (&[CALL, RAISE, FOLD], -1.0),
            (&[RAISE, RAISE, FOLD], -3.0),
            (&[RAISE, CALL, CALL, CALL], 3.0),
            (&[RAISE, RAISE, CALL, CALL, RAISE, RAISE, FOLD], 9.0),
            (&[CALL, RAISE, RAISE, CALL, RAISE, RAISE, CALL], 13.0),
        ] {
            let state = play(win, line);
            assert_eq!(Leduc.mover(&state), None, "{line:?}");
            assert_eq!(Leduc.payoff(&state, Player::P0), payoff, "{line:?}");
            assert_eq!(Leduc.payoff(&state, Player::P1), -payoff, "{line:?}");
        }
    }

    #[test]
    fn a_pair_beats_a_rank_and_equal_ranks_share() {
        let checks = [CALL; 4];
        for (ranks, payoff) in [
            ([0, 2, 0], 1.0),
            ([2, 0, 0], -1.0),
            ([1, 0, 2], 1.0),
            ([1, 1, 2], 0.0),
            ([0, 1, 2], -1.0),
        ] {
            let state = play(dealt(ranks), &checks);
            assert_eq!(Leduc.payoff(&state, Player::P0), payoff, "{ranks:?}");
        }
    }

    #[test]
    fn legal_actions_and_the_public_card() {
        let legal = |line: &[Action]| -> Vec<Action> {
            let state = play(dealt([2, 1, 0]), line);
            Leduc.legal_actions(&state).iter().collect()
        };
        assert_eq!(legal(&[]), [CALL, RAISE]);
        assert_eq!(legal(&[RAISE]), [FOLD, CALL, RAISE]);
        assert_eq!(legal(&[RAISE, RAISE]), [FOLD, CALL]);
        assert_eq!(legal(&[RAISE, RAISE, CALL]), [CALL, RAISE]);
        let state = play(dealt([2, 1, 0]), &[CALL]);
        assert_eq!(Leduc.chance_outcomes(&state, CALL), 4);
        assert_eq!(Leduc.chance_outcomes(&state, RAISE), 1);
        assert_eq!(state.public_rank(), None);
        let mut seen: Vec<_> = (0..4)
            .map(|outcome| {
                let mut state = state;
                Leduc.apply_outcome(&mut state, CALL, outcome);
                assert_eq!(Leduc.mover(&state), Some(Player::P0));
                state.public_rank().unwrap()
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 0, 1, 2]);
    }

    #[test]
    fn deals_are_all_ordered_pairs() {
        let deals = Leduc.deals(100).unwrap();
        let mut pairs: Vec<_> = deals
            .iter()
            .map(|(state, _)| [state.cards[0], state.cards[1]])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 30);
        assert!(deals.iter().all(|(state, _)| {
            let mut cards = state.cards;
            cards.sort_unstable();
            cards == [0, 1, 2, 3, 4, 5]
        }));
        assert!(Leduc.deals(29).is_none());
    }
}
