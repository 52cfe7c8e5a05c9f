//! What the targets must be on average, by plain recursion over the whole game.

use crate::{
    network::policy,
    recall::{Recall, Remembered},
};
use coorl_async::{
    game::{ActionSet, Enumerable, Game, Player},
    inference::Head,
};
use std::collections::HashMap;

/// Sums over the histories of an info set, each weighted.
#[derive(Clone, Debug, Default)]
pub struct InfoSet {
    /// Of the weights.
    pub weight: f64,
    /// Of the weighted values of its actions, `[16]`.
    pub action_values: [f64; 16],
    /// Of the weighted values of its policy.
    pub value: f64,
    /// The policy, `[16]`.
    pub policy: [f64; 16],
    /// The actions that exist.
    pub legal: ActionSet,
}

/// The values of a game for one player when both play as their networks do.
pub struct Exact<'a, G: Enumerable> {
    game: &'a Recall<G>,
    traverser: Player,
    max_depth: usize,
    /// The traverser's info sets, weighted by counterfactual reach: chance's and the opponent's probabilities of getting there.
    pub info_sets: HashMap<u64, InfoSet>,
    /// The greatest payoff met, by magnitude.
    pub greatest: f64,
}

impl<'a, G: Enumerable> Exact<'a, G> {
    pub fn new(game: &'a Recall<G>, traverser: Player, max_depth: usize) -> Self {
        Self {
            game,
            traverser,
            max_depth,
            info_sets: HashMap::new(),
            greatest: 0.0,
        }
    }

    /// The value of `state`, which chance and the opponent reach with probability `reach`.
    pub fn value(&mut self, state: &Remembered<G::State>, depth: usize, reach: f64) -> f64 {
        let mover = self.game.mover(state);
        let Some(mover) = mover.filter(|_| depth < self.max_depth) else {
            let payoff = self.game.payoff(state, self.traverser);
            self.greatest = self.greatest.max(payoff.abs());
            return payoff;
        };
        let info_set = self.game.info_set(state, mover);
        let legal = self.game.legal_actions(state);
        let policy = policy(Head::advantage(mover), info_set, legal);
        let own = mover == self.traverser;
        let (mut value, mut action_values) = (0.0, [0.0; 16]);
        for action in legal.iter() {
            let probability = policy[action as usize];
            let outcomes = self.game.chance_outcomes(state, action).max(1);
            let share = 1.0 / outcomes as f64;
            let onward = reach * share * if own { 1.0 } else { probability };
            let mut of_action = 0.0;
            for outcome in 0..outcomes {
                let mut next = state.clone();
                if outcomes == 1 {
                    self.game.apply(&mut next, action);
                } else {
                    self.game.apply_outcome(&mut next, action, outcome);
                }
                of_action += share * self.value(&next, depth + 1, onward);
            }
            action_values[action as usize] = of_action;
            value += probability * of_action;
        }
        if own {
            let entry = self.info_sets.entry(info_set).or_default();
            entry.weight += reach;
            entry.value += reach * value;
            (entry.policy, entry.legal) = (policy, legal);
            for (sum, of_action) in entry.action_values.iter_mut().zip(action_values) {
                *sum += reach * of_action;
            }
        }
        value
    }
}
