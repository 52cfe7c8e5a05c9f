//! Starting an engine with the real networks: the one way for whoever trains or measures.

use super::{
    Computing, Engine, EngineError, EngineThreads, Head, HeadArchitectures, HeadWeights,
    LaneNetworks, NetworkControl, Place, RowShape, Settings,
};
use crate::network::TensorError;

/// Networks with the threads that run them: on the host as many lanes as workers, for a device as many as it has batches in flight.
#[derive(Clone, Copy, Debug)]
pub struct EngineNetworks<'a> {
    /// The networks' layers.
    pub architectures: &'a HeadArchitectures,
    /// How network calls are computed.
    pub computing: Computing,
    /// Threads that advance walks; on the host they run the network calls, too.
    pub workers: usize,
    /// Batches that a device has in flight; without effect on the host.
    pub batches_in_flight: usize,
}

impl EngineNetworks<'_> {
    /// Prepares a head's weights, `parameters` (`[num_parameters]`), for the lanes.
    ///
    /// # Errors
    /// As [`LaneNetworks::prepare`].
    pub fn prepare(&self, head: Head, parameters: Vec<f32>) -> Result<HeadWeights, TensorError> {
        LaneNetworks::prepare(self.architectures, &self.computing, head, parameters)
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
        let lanes = match self.computing.place {
            Place::Host => self.workers,
            Place::Device(_) => self.batches_in_flight.max(1),
        };
        EngineThreads {
            // A lane that waits for a device holds a thread and needs no core: walks have theirs beside it.
            workers: match self.computing.place {
                Place::Host => self.workers,
                Place::Device(_) => self.workers + lanes,
            },
            lanes,
            // A lane's kernels are single-threaded: the lanes share the cores among them.
            prepare: || tch::set_num_threads(1),
        }
    }

    /// The networks of one lane, without weights.
    pub(super) fn lane(&self, max_batch: usize) -> Result<LaneNetworks, String> {
        LaneNetworks::new(self.architectures, &self.computing, max_batch)
    }
}
