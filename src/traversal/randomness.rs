//! What a walk needs of randomness.

use crate::{
    game::{Action, ActionSet},
    random::{Randomness, Stream},
    regret,
};

/// What a walk needs of randomness beyond single draws: streams for its branches, and draws from policies.
///
/// A clone continues with the numbers that the original would have drawn.
pub trait WalkRandomness: Randomness + Clone + Send {
    /// A stream of its own for a branch, derived from this one: what the branch draws changes nothing here.
    fn fork(&mut self) -> Self;

    /// Draws a legal action from `policy` (`[actions]`); `None` when no legal action has a positive probability.
    fn choose(&mut self, policy: &[f32], legal: ActionSet) -> Option<Action> {
        regret::draw(policy, legal, self.uniform())
    }
}

impl WalkRandomness for Stream {
    fn fork(&mut self) -> Self {
        Stream::fork(self)
    }
}
