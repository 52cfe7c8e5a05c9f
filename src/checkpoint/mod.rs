//! Durable state: safetensors plus a JSON manifest, written beside and renamed into place.
//!
//! ```text
//! RUN/latest/            rewritten after every iteration          RUN/iteration_00050/   kept
//!     manifest.json          what this is: versions, iteration, seed, config, rules, shapes, files with sizes and checksums
//!     manifest.xxh3          the manifest's own checksum
//!     networks.safetensors   one f32 tensor per layer: `advantage_0.net.0.weight`, ..., `strategy.net.4.bias`
//!     optimizers.safetensors AdamW's moments, flat: `advantage_0.first_moment`, `advantage_0.second_moment`, ...
//!     league.safetensors     past networks, flat, if there are any: `snapshot_000.0`, ...
//! RUN/*.journal          replay contents (see `replay::journal`); the manifest says how far each counts
//! RUN/policies.journal   past advantage networks of the average strategy, where it is made of them; the manifest says where each lies
//! ```
//!
//! A folder is replaced in four steps: write `latest.new` and flush it to disk; rename `latest` to `latest.old`; rename
//! `latest.new` to `latest`; remove `latest.old`. Whenever a crash falls, one of the three is complete, and loading takes
//! the complete one with the highest iteration. Loading reads numbers and text and runs nothing.

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod crash_tests;
mod error;
mod folder;
mod load;
mod manifest;
mod save;
mod tensors;

pub use error::CheckpointError;
pub use folder::{LATEST, locate, numbered};

use crate::network::LossScaleState;
use crate::replay::{Checksum, MemoryMark};

/// What is saved, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Iterations between numbered checkpoints; 0 = none.
    pub save_every: usize,
    /// Whether `latest/` is rewritten after every iteration.
    pub save_latest: bool,
    /// Whether replay contents are saved too, so that a resumed run continues exactly; without them it restarts with empty memories.
    pub exact_resume: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            save_every: 0,
            save_latest: true,
            exact_resume: true,
        }
    }
}

/// A network and its optimizer, as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkState {
    /// Prefix of its tensors: `advantage_0`, `advantage_1`, `strategy`.
    pub name: String,
    /// Tensors in the order in which they lie in `parameters`: name (`net.0.weight`) and shape.
    pub layout: Vec<(String, Vec<usize>)>,
    /// All parameters, row-major, one tensor after the other.
    pub parameters: Vec<f32>,
    /// What the answers are multiplied by to be in the units of the targets (points): positive, 1 where targets are not scaled.
    pub scale: f64,
    /// AdamW's running mean of the gradient, like `parameters`; empty when there is no optimizer.
    pub first_moment: Vec<f32>,
    /// AdamW's running mean of the squared gradient, like `parameters`; empty when there is no optimizer.
    pub second_moment: Vec<f32>,
    /// Optimizer steps taken.
    pub step: u64,
    /// Where the loss scale of mixed precision stands, if it has one.
    pub loss_scale: Option<LossScaleState>,
}

/// Where the advantage networks of a past iteration lie in the run's `policies.journal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyMark {
    /// The iteration that walked with them.
    pub iteration: u32,
    /// Their share of the average, in proportion to the others'.
    pub weight: f64,
    /// Their first byte in the file.
    pub offset: u64,
    /// Parameters of each seat's network, float32.
    pub values: [usize; 2],
    /// Checksum of their bytes.
    pub checksum: Checksum,
}

impl PolicyMark {
    /// The first byte behind them.
    pub(crate) fn end(&self) -> u64 {
        let values: usize = self.values.iter().sum();
        self.offset + (values * size_of::<f32>()) as u64
    }
}

/// A run between two iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The last finished iteration.
    pub iteration: u32,
    /// The run's seed.
    pub seed: u64,
    /// The resolved configuration.
    pub config: serde_json::Value,
    /// The rules of the game, for tools that read nothing else.
    pub rules: serde_json::Value,
    /// Inputs of a network.
    pub info_len: usize,
    /// Outputs of a network.
    pub actions: usize,
    /// The networks; names differ.
    pub networks: Vec<NetworkState>,
    /// League snapshots, oldest first: `[snapshot][network][parameter]`.
    pub snapshots: Vec<Vec<Vec<f32>>>,
    /// Marks of the replay journals, when their contents are kept.
    pub memories: Option<Vec<MemoryMark>>,
    /// Past policies of the average strategy, oldest first; none where it keeps none.
    pub policies: Vec<PolicyMark>,
    /// Whatever else is worth reading off a checkpoint.
    pub metrics: serde_json::Map<String, serde_json::Value>,
}

impl Checkpoint {
    /// The network of a name.
    pub fn network(&self, name: &str) -> Option<&NetworkState> {
        self.networks.iter().find(|network| network.name == name)
    }
}
