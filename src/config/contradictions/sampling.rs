//! How the tree is sampled.

use super::Search;
use crate::traversal::{self, SamplingMode};

impl Search<'_> {
    /// Settings of one way of sampling under another.
    pub(super) fn sampling_without_effect(&mut self) {
        let (now, usual) = (&self.config.traversal, traversal::Settings::default());
        let mode = now.sampling_mode;
        let outcome = mode == SamplingMode::Outcome;
        let differing = [
            (
                mode != SamplingMode::Robust && now.robust_actions != usual.robust_actions,
                "traversal.robust_actions",
                "robust",
            ),
            (
                outcome && now.branches_in_flight != usual.branches_in_flight,
                "traversal.branches_in_flight",
                "external, all_actions, robust or value_guided",
            ),
            (
                !outcome && now.outcome_sampling_value_clip != usual.outcome_sampling_value_clip,
                "traversal.outcome_sampling_value_clip",
                "outcome",
            ),
            (
                !outcome && now.outcome_unsampled_regret != usual.outcome_unsampled_regret,
                "traversal.outcome_unsampled_regret",
                "outcome",
            ),
            (
                !outcome && now.outcome_sampling_explorers != usual.outcome_sampling_explorers,
                "traversal.outcome_sampling_explorers",
                "outcome",
            ),
        ];
        for (_, key, modes) in differing.into_iter().filter(|(differs, ..)| *differs) {
            let text = format!("has no effect unless traversal.sampling_mode is {modes}");
            self.note(key, text);
        }
    }
}
