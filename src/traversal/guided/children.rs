//! The states that the legal actions of a decision lead to, and what they are worth.

use super::GuidedWalker;
use crate::{
    encoding::Encoding,
    game::{ActionSet, Game, Player},
    traversal::{WalkRandomness, statistics::Endpoint},
};

/// Outputs of a critic of states: what is to come for the player to move, and for the other.
pub(super) const VALUES: usize = 2;

/// The state after a legal action, chance sampled.
pub(super) struct Child<S> {
    pub action: u8,
    pub state: S,
    /// Who moves there; `None` where the walk would end.
    pub mover: Option<Player>,
    /// What is known of the value of the action to the player who decides, in units, counted from the decision on: without a mover all of it.
    pub value: f64,
    /// The share of the critic's answer in the value.
    goes_on: f64,
}

impl<S> Child<S> {
    /// Adds the critic's answer about the state to the value of the action for `decider`.
    pub fn judge(&mut self, answer: &[f32], decider: Player) {
        let own = self.mover == Some(decider);
        let to_come = answer[usize::from(!own)];
        self.value += self.goes_on * f64::from(to_come);
    }
}

impl<G: Game, E: Encoding<G>> GuidedWalker<G, E> {
    /// The children of `state`, `depth` plies into the walk, one for each of the legal actions `legal` of its mover `decider`.
    pub(super) fn children<R: WalkRandomness>(
        &self,
        (state, decider, legal): (&G::State, Player, ActionSet),
        depth: usize,
        children: &mut Vec<Child<G::State>>,
        rng: &mut R,
    ) {
        children.clear();
        let before = self.standing(state, decider);
        for action in legal.iter() {
            let mut state = state.clone();
            let taken = self.encoding.to_game(&self.game, &state, action);
            self.apply(&mut state, taken, rng);
            let mover = self.game.mover(&state);
            let stop = match mover {
                Some(_) => self.stop_probability(depth + 1).unwrap_or(0.0),
                None => 1.0,
            };
            let gained = self.standing(&state, decider) - before;
            let end = |endpoint| self.ends(&state, endpoint)[decider.index()] - before;
            let value = match mover {
                None => end(Endpoint::Terminal),
                Some(_) if stop > 0.0 => stop * end(Endpoint::Depth) + (1.0 - stop) * gained,
                Some(_) => gained,
            };
            children.push(Child {
                action,
                mover: mover.filter(|_| stop < 1.0),
                state,
                value,
                goes_on: 1.0 - stop,
            });
        }
    }
}
