//! Value-guided walks.

use super::Search;
use crate::{
    regret::UpdateRule,
    training::{AveragingScheme, Updates},
    traversal::{GuidedSettings, GuidedTargets, SamplingMode},
};

impl Search<'_> {
    /// What value-guided walks need, and what has an effect with them or without them only.
    pub(super) fn value_guided(&mut self) {
        let (training, guided) = (&self.config.training, &self.config.value_guided);
        if self.config.traversal.sampling_mode != SamplingMode::ValueGuided {
            if training.update != UpdateRule::RegretMatching {
                let text = "has no effect unless traversal.sampling_mode is value_guided";
                self.note("training.update", text.to_owned());
            }
            return;
        }
        let single = self.config.averaging.scheme == AveragingScheme::SingleNetwork;
        if single && training.update == UpdateRule::Hedge {
            let why = "past networks are regret-matched, and those of hedge hold logits; set averaging.scheme to current or strategy_network";
            self.contradiction(&["averaging.scheme", "training.update"], why);
        }
        if guided.smoothing > 0.0 && training.update != UpdateRule::RegretMatching {
            let why = "that update accumulates in the network itself, which a moving average would hold back; set smoothing to 0, or update to regret_matching";
            self.contradiction(&["value_guided.smoothing", "training.update"], why);
        }
        if guided.targets == GuidedTargets::Q {
            let own = [
                "value_guided.children_share",
                "traversal.branches_in_flight",
            ];
            self.without_effect(&own, "under value_guided.targets q");
        }
        if guided.scattered_starts == 0.0 {
            let plies = ["value_guided.scattered_plies"];
            self.without_effect(&plies, "unless value_guided.scattered_starts is set");
        }
        if training.updates == Updates::Alternating {
            let text = "has no effect under value_guided, where one network plays both seats";
            self.note("training.updates", text.to_owned());
        }
        let GuidedSettings {
            horizon_start,
            exploration_final,
            ..
        } = self.config.value_guided;
        if horizon_start.is_none() {
            let text = "has no effect unless value_guided.horizon_start is set";
            self.note("value_guided.stop_probability", text.to_owned());
        }
        let optimization = &self.config.optimization;
        let ends = [
            (
                exploration_final.is_some(),
                "value_guided.exploration_final",
            ),
            (
                training.hedge_tau_final.is_some(),
                "training.hedge_tau_final",
            ),
            (
                optimization.learning_rate_final.is_some(),
                "optimization.learning_rate_final",
            ),
        ];
        for (set, key) in ends {
            if set && self.config.run.max_iterations.is_none() {
                let text = "has no effect unless run.max_iterations says when it is reached";
                self.note(key, text.to_owned());
            }
        }
    }
}
