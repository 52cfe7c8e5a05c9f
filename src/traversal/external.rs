//! External sampling: every action of the traverser, one action of the opponent and one outcome of chance.
//!
//! With `c_a` the value of an action's branch, a decision of the traverser is worth `V = sum pi_a c_a` and its target is `c_a - V`
//! (Lanctot et al. 2009, section 3.2; with networks Brown et al. 2019, Deep Counterfactual Regret Minimization, algorithm 2). The opponent
//! plays their own policy, so nothing is weighted.

use super::{
    WalkRandomness,
    scheme::{Decider, Decision, Plan, Scheme},
};

/// Every legal action of the traverser, one drawn action of the opponent.
pub(super) struct ExternalSampling;

impl Scheme for ExternalSampling {
    fn follow<R: WalkRandomness>(&self, decision: &Decision<'_>, rng: &mut R, plan: &mut Plan) {
        match decision.decider {
            Decider::Opponent => plan.pass_on(decision.draw(decision.policy, rng)),
            Decider::Traverser => decision
                .legal
                .iter()
                .for_each(|action| plan.evaluate(action, 1.0)),
        }
    }
}
