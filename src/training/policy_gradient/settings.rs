//! Settings of policy gradient.

use serde::{Deserialize, Serialize};

/// Policy gradient with a clipped surrogate, for `training.learner: policy_gradient`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How far the probability of an action may move within an iteration and still count: from `1 - clip` to `1 + clip` times what it was;
    /// positive.
    pub clip: f64,
    /// What a nat of entropy is worth to the policy, in standard deviations of the advantages; 0 or more. Higher stays closer to uniform play.
    pub entropy: f64,
    /// The same in iteration `run.max_iterations`, and in between in proportion; null = `entropy` throughout.
    pub entropy_final: Option<f64>,
    /// How often a fit goes through the iteration's decisions, positive.
    pub passes: usize,
    /// Rows of a minibatch, positive.
    pub batch_size: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            clip: 0.2,
            entropy: 0.02,
            entropy_final: None,
            passes: 2,
            batch_size: 512,
        }
    }
}
