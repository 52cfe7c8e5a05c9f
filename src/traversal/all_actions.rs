//! All actions along one path: at each decision of the traverser on a sampled path, one rollout per legal action.
//!
//! The path is played by the current policies, the traverser's mixed with uniform exploration. A rollout plays one action and then the
//! current policies of both to the end, without exploration and so without weights: its payoff `R_a` is an unbiased value of the action.
//! A decision is worth `V = sum pi_a R_a` and its target is `R_a - V`. A walk costs the rollouts of its path and no more, so it suits
//! games that are too long for external sampling.
//!
//! Sibling rollouts draw chance from copies of one stream: the `i`-th card from the deck is the same in all of them. That leaves each
//! payoff's expectation as it is and takes the luck of the draw out of their differences.

use super::{
    Settings, WalkRandomness,
    scheme::{Along, Decider, Decision, Plan, Scheme},
};
use crate::{game::ActionSet, regret};

/// Rollouts of every legal action, and one action drawn with exploration to go on with.
pub(super) struct AllActions {
    exploration: f64,
}

impl AllActions {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            exploration: settings.outcome_sampling_epsilon,
        }
    }
}

impl Scheme for AllActions {
    fn follow<R: WalkRandomness>(&self, decision: &Decision<'_>, rng: &mut R, plan: &mut Plan) {
        if decision.decider == Decider::Opponent {
            return plan.pass_on(decision.draw(decision.policy, rng));
        }
        plan.along = Along::Rollout;
        decision
            .legal
            .iter()
            .for_each(|action| plan.evaluate(action, 1.0));
        let mut sampling = [0.0f32; ActionSet::CAPACITY];
        let sampling = &mut sampling[..decision.policy.len()];
        regret::mix_uniform(decision.policy, decision.legal, self.exploration, sampling);
        plan.onward = Some(decision.draw(sampling, rng));
    }
}
