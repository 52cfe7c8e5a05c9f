//! Robust sampling: some actions of the traverser, chosen uniformly; one action of the opponent and one outcome of chance.
//!
//! Of `n` legal actions `k` different ones are walked, so each with probability `k / n`; with `v_a = c_a n / k` for these and 0 for the
//! others, a decision is worth `V = sum pi_a v_a` and its target is `v_a - V` (Li et al. 2018, Double Neural Counterfactual Regret
//! Minimization). `k = n` is external sampling, `k = 1` outcome sampling with a uniform traverser.

use super::{
    WalkRandomness,
    scheme::{Decider, Decision, Plan, Scheme},
};
use crate::game::{Action, ActionSet};

/// So many legal actions of the traverser at most, one drawn action of the opponent.
pub(super) struct RobustSampling {
    pub(super) actions: usize,
}

impl Scheme for RobustSampling {
    fn follow<R: WalkRandomness>(&self, decision: &Decision<'_>, rng: &mut R, plan: &mut Plan) {
        if decision.decider == Decider::Opponent {
            return plan.pass_on(decision.draw(decision.policy, rng));
        }
        let legal = decision.legal.len();
        let chosen = self.actions.clamp(1, legal.max(1));
        let probability = chosen as f64 / legal as f64;
        some_of(decision.legal, chosen, rng)
            .iter()
            .for_each(|action| plan.evaluate(action, probability));
    }
}

/// `count` different members of `set`, every such choice alike; draws nothing when that is all of them.
fn some_of<R: WalkRandomness>(set: ActionSet, count: usize, rng: &mut R) -> ActionSet {
    if count >= set.len() {
        return set;
    }
    let (mut left, mut some) = (set, ActionSet::EMPTY);
    for _ in 0..count {
        let drawn: Option<Action> = left.nth(rng.index(left.len()));
        if let Some(action) = drawn {
            left.remove(action);
            some.insert(action);
        }
    }
    some
}
