//! Outcome sampling: one action per decision of either player, values importance-weighted on the way back.
//!
//! The recorded target of a decision is `v - V` for the sampled action with `v = child / q` and `V = pi_a v`, where `pi` is the
//! regret-matched policy and `q` the sampling policy (Lanctot et al. 2009, Monte Carlo Sampling for Regret Minimization in
//! Extensive Games, section 3.1, per decision instead of per history). `V` is what the parent sees, so weights compound.

use super::{
    Explorers, Settings, UnsampledRegret, WalkRandomness,
    scheme::{Decider, Decision, Departures, Plan, Scheme},
};
use crate::{game::ActionSet, regret};

/// One action of the traverser, drawn from their policy with uniform exploration; one of the opponent, drawn from their policy, with
/// exploration too if the settings say so.
pub(super) struct OutcomeSampling {
    exploration: f64,
    explorers: Explorers,
    /// The least probability that a value is divided by.
    least: f64,
    departures: Departures,
}

impl OutcomeSampling {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            exploration: settings.outcome_sampling_epsilon,
            explorers: settings.outcome_sampling_explorers,
            least: settings.regret_matching_epsilon,
            departures: Departures {
                clip: settings.outcome_sampling_value_clip,
                zero_unsampled: settings.outcome_unsampled_regret == UnsampledRegret::Zero,
                first_open_prior: settings.outcome_unsampled_first_open_prior_alpha,
            },
        }
    }
}

impl Scheme for OutcomeSampling {
    fn follow<R: WalkRandomness>(&self, decision: &Decision<'_>, rng: &mut R, plan: &mut Plan) {
        if (decision.decider, self.explorers) == (Decider::Opponent, Explorers::Traverser) {
            return plan.pass_on(decision.draw(decision.policy, rng));
        }
        let mut sampling = [0.0f32; ActionSet::CAPACITY];
        let sampling = &mut sampling[..decision.policy.len()];
        regret::mix_uniform(decision.policy, decision.legal, self.exploration, sampling);
        let action = decision.draw(sampling, rng);
        let probability = f64::from(sampling[action as usize]).max(self.least);
        plan.evaluate(action, probability);
    }

    fn departures(&self) -> Departures {
        self.departures
    }
}
