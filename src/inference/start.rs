//! Starting an engine with the real networks: the one way for whoever trains or measures.

use super::{
    Engine, EngineError, EngineThreads, Head, HeadArchitectures, HeadWeights, Kernels,
    LaneNetworks, NetworkControl, RowShape, Settings,
};
use crate::network::TensorError;

/// Networks on the CPU, as many lanes as workers.
#[derive(Clone, Copy, Debug)]
pub struct CpuNetworks<'a> {
    /// The networks' layers.
    pub architectures: &'a HeadArchitectures,
    /// What computes network calls.
    pub kernels: Kernels,
    /// Whether an answer must not depend on the rest of its batch.
    pub deterministic: bool,
    /// Threads that advance walks and run their network calls.
    pub workers: usize,
}

impl CpuNetworks<'_> {
    /// Prepares a head's weights, `parameters` (`[num_parameters]`), for the lanes.
    ///
    /// # Errors
    /// Another length than the architecture's, or a head that there is not.
    pub fn prepare(&self, head: Head, parameters: Vec<f32>) -> Result<HeadWeights, TensorError> {
        LaneNetworks::prepare(self.architectures, self.kernels, head, parameters)
    }

    /// Starts an engine with `capacity` slots; no head has weights yet.
    ///
    /// # Errors
    /// As [`Engine::start`].
    pub fn start(
        &self,
        settings: &Settings,
        capacity: usize,
    ) -> Result<(Engine, NetworkControl<LaneNetworks>), EngineError> {
        let lane = || self.lane(settings.max_batch);
        Engine::start(settings, self.shape(), capacity, self.threads(), lane)
    }

    pub(super) fn shape(&self) -> RowShape {
        self.architectures.row_shape()
    }

    pub(super) fn threads(&self) -> EngineThreads {
        EngineThreads {
            workers: self.workers,
            lanes: self.workers,
            // A lane's kernels are single-threaded: the lanes share the cores among them.
            prepare: || tch::set_num_threads(1),
        }
    }

    /// The networks of one lane, without weights.
    pub(super) fn lane(&self, max_batch: usize) -> Result<LaneNetworks, String> {
        LaneNetworks::new(
            self.architectures,
            self.kernels,
            max_batch,
            self.deterministic,
        )
    }
}
