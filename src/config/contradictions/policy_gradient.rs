//! Policy gradient.

use super::Search;
use crate::{
    config::{Config, render::value_text},
    regret::UpdateRule,
    training::{AveragingScheme, LearnerKind},
    traversal::{GuidedTargets, SamplingMode},
};

/// Its own settings.
const OWN: [&str; 5] = [
    "policy_gradient.clip",
    "policy_gradient.entropy",
    "policy_gradient.entropy_final",
    "policy_gradient.passes",
    "policy_gradient.batch_size",
];

/// Those of other ways to learn.
const OTHERS: [&str; 12] = [
    "training.hedge_eta",
    "training.hedge_tau",
    "training.hedge_tau_final",
    "training.hedge_clamp",
    "training.reinitialise",
    "training.target_scaling",
    "training.held_out",
    "training.keep",
    "training_weighting.mode",
    "regret_matching.all_negative_fallback",
    "optimization.advantage_batch_size",
    "optimization.advantage_updates_per_iteration",
];

impl Search<'_> {
    /// What policy gradient needs, and what has an effect with it or without it only.
    pub(super) fn policy_gradient(&mut self) {
        const LEARNER: &str = "training.learner";
        let config = self.config;
        if config.training.learner != LearnerKind::PolicyGradient {
            self.without_effect(&OWN, "unless training.learner is policy_gradient");
            return;
        }
        if config.traversal.sampling_mode != SamplingMode::ValueGuided {
            let why = "a policy gradient learns from whole games by the current policies, and from a critic; set sampling_mode to value_guided";
            self.contradiction(&[LEARNER, "traversal.sampling_mode"], why);
        }
        if config.training.update != UpdateRule::RegretMatching {
            let why = "that is an update of deep_cfr, which policy_gradient takes the place of; leave training.update out";
            self.contradiction(&["training.update", LEARNER], why);
        }
        if config.averaging.scheme != AveragingScheme::Current {
            let why = "policy gradient has no average strategy, its current policy plays; set averaging.scheme to current";
            self.contradiction(&["averaging.scheme", LEARNER], why);
        }
        if config.value_guided.smoothing > 0.0 {
            let why = "a policy gradient learns from games by the network that it changes; set smoothing to 0";
            self.contradiction(&["value_guided.smoothing", LEARNER], why);
        }
        if config.value_guided.targets == GuidedTargets::Children {
            let why = "a policy gradient learns from the action taken alone, and the values of the states after all of them would be asked for in vain; set targets to q";
            self.contradiction(&["value_guided.targets", LEARNER], why);
        }
        if config.run.use_amp {
            let text = "has no effect on the fits of the policy under policy_gradient, which compute in f32; the critic's follow it";
            self.note("run.use_amp", text.to_owned());
        }
        if config.policy_gradient.entropy_final.is_some() && config.run.max_iterations.is_none() {
            let text = "has no effect unless run.max_iterations says when it is reached";
            self.note("policy_gradient.entropy_final", text.to_owned());
        }
        self.without_effect(&OTHERS, "under training.learner policy_gradient");
    }

    /// Notes those of `keys` that somebody gave another value than they have anyway.
    pub(super) fn without_effect(&mut self, keys: &[&str], when: &str) {
        let usual = Config::default();
        for key in keys {
            if value_text(self.config, key) != value_text(&usual, key) {
                self.note(key, format!("has no effect {when}"));
            }
        }
    }
}
