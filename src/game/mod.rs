//! Games: states, legal actions, chance and payoffs.
//!
//! A [`Game`] is the rules; a state is a small flat value that walks copy freely. Chance is explicit: an action may have
//! several equally likely outcomes ([`Game::chance_outcomes`]), and the caller picks one, so that a walk can sample it, an
//! exact tool can enumerate it, and a real match can take the deck as it lies. There is no undo.
//!
//! ```text
//! deal --> state --legal_actions--> action --chance_outcomes--> outcome --apply_outcome--> state ... payoff
//! ```

pub mod kuhn;
pub mod leduc;
pub mod lost_cities;

mod action_set;
mod enumerable;

pub use action_set::{Action, ActionSet};
pub use enumerable::Enumerable;

use serde::{Deserialize, Serialize};

/// One of the two players (seats).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Player {
    /// The player who moves first.
    P0,
    /// The player who moves second.
    P1,
}

impl Player {
    /// Both players, in seat order.
    pub const BOTH: [Player; 2] = [Player::P0, Player::P1];

    /// The seat number, 0 or 1.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The player of seat `number % 2`.
    pub fn from_parity(number: usize) -> Self {
        Self::BOTH[number % 2]
    }

    /// The other player.
    pub fn opponent(self) -> Self {
        match self {
            Player::P0 => Player::P1,
            Player::P1 => Player::P0,
        }
    }
}

/// The rules of a two-player zero-sum game.
pub trait Game: Clone + Send + Sync + 'static {
    /// A position with everything hidden in it. Cheap to clone: no heap.
    type State: Clone + Send + Sync + 'static;
    /// What is counted about decisions taken without a positive advantage, see [`DecisionProfile`].
    type Profile: DecisionProfile<Self>;

    /// The number of action ids, at most [`ActionSet::CAPACITY`].
    fn num_actions(&self) -> usize;
    /// A fresh game with chance resolved by `rng`.
    fn deal<R: rand::Rng + ?Sized>(&self, rng: &mut R) -> Self::State;
    /// The player to act, `None` when the game is over.
    fn mover(&self, state: &Self::State) -> Option<Player>;
    /// The legal actions of the mover; empty exactly when the game is over.
    fn legal_actions(&self, state: &Self::State) -> ActionSet;
    /// How many equally likely chance outcomes `action` has here; 1 when it is deterministic.
    fn chance_outcomes(&self, state: &Self::State, action: Action) -> usize;
    /// Applies a legal action with chance outcome `outcome` in `0..chance_outcomes`. An illegal action breaks the contract:
    /// what then happens is unspecified, and a panic in debug builds.
    fn apply_outcome(&self, state: &mut Self::State, action: Action, outcome: usize);
    /// Applies a legal action with the chance outcome that the state already holds (a shuffled deck as it lies). As for
    /// illegal actions, see [`Game::apply_outcome`].
    fn apply(&self, state: &mut Self::State, action: Action);
    /// The payoff of `player` if the game were scored now; exact at the end. Zero-sum.
    fn payoff(&self, state: &Self::State, player: Player) -> f64;

    /// The legal actions that commit the mover to something new, for the first-open sample flag. Empty where a game has no such notion.
    fn opening_actions(&self, _state: &Self::State) -> ActionSet {
        ActionSet::EMPTY
    }
    /// Whether the hand alone promises that `action`, one of [`Game::opening_actions`], pays; the sign of the hand-made prior.
    fn opening_recovers(&self, _state: &Self::State, _action: Action) -> bool {
        false
    }
}

/// Counts about sampled decisions whose policy was the fallback (no positive advantage).
///
/// Which classes of actions exist is the game's business; `()` counts nothing.
pub trait DecisionProfile<G: Game>: Default + Clone + Send + 'static {
    /// Records one fallback decision at `state`, before its action is applied: `action` was chosen among `legal`. Both are the
    /// game's own ids, whatever the encoding's numbers are.
    fn record(&mut self, game: &G, state: &G::State, legal: ActionSet, action: Action);
    /// Adds the counts of another walk.
    fn merge(&mut self, other: &Self);
    /// Emits the metrics by name, without prefix. `fallbacks` is the number of recorded decisions.
    fn emit(&self, fallbacks: u64, out: &mut dyn FnMut(&str, f64));
}

impl<G: Game> DecisionProfile<G> for () {
    fn record(&mut self, _: &G, _: &G::State, _: ActionSet, _: Action) {}
    fn merge(&mut self, _: &Self) {}
    fn emit(&self, _: u64, _: &mut dyn FnMut(&str, f64)) {}
}
