//! What evaluation is asked to do.

use super::PolicyMode;
use serde::{Deserialize, Serialize};

/// How a game that reaches `max_steps` counts. Only its outcome: the scores and their difference stay those of the position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMaxSteps {
    /// By the score as it stands.
    #[default]
    ScoreDiff,
    /// As lost by the evaluated policy.
    Loss,
    /// As drawn.
    Draw,
}

/// When evaluation happens, against whom, and how a game is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Iterations between evaluations; 0 = never. Unless it is 0, the last iteration of a run is evaluated too.
    pub eval_every: usize,
    /// Games per opponent, positive.
    pub games: usize,
    /// Opponents by name.
    pub opponents: Vec<String>,
    /// Iterations between evaluations that add the extended opponents; acts on evaluation iterations only; 0 = never.
    pub extended_eval_every: usize,
    /// Opponents added then.
    pub extended_opponents: Vec<String>,
    /// Plies of both players after which a game is a timeout, positive.
    pub max_steps: usize,
    /// How a timeout counts: `score_diff`, `loss` or `draw`.
    pub on_max_steps: OnMaxSteps,
    /// Games in flight per opponent, positive.
    pub batch_size: usize,
    /// Iterations between measurements of NashConv, exact, in games of at most 5,000,000 histories (`traversal.max_depth` ends them); 0 =
    /// never. Unless it is 0, the last iteration of a run is measured too.
    pub exploitability_every: usize,
    /// How the average strategy picks its action: `greedy` (the likeliest) or `sampled` (as the strategy says).
    pub policy: PolicyMode,
    /// Where the networks of a run's evaluation games compute: `auto`, `cpu`, `cuda` or `cuda:N`; null = `run.device`.
    pub device: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            eval_every: 50,
            games: 100,
            opponents: vec!["random".into(), "safe_heuristic".into()],
            extended_eval_every: 0,
            extended_opponents: Vec::new(),
            max_steps: 10_000,
            on_max_steps: OnMaxSteps::ScoreDiff,
            batch_size: 64,
            exploitability_every: 0,
            policy: PolicyMode::Greedy,
            device: None,
        }
    }
}
