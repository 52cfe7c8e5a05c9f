//! Network calls of many walks as few large batches.
//!
//! ```text
//! walk:      lease.info_mut() <- encode     lease.request(head).await     lease.answer() -> policy
//!                                                | ticket                        ^ wake
//! executor:                            queue --> waiting tickets, per head --> lanes: gather, Network::run, scatter
//! ```
//!
//! A walk leases a *slot*: one row for its info state, one for the answer, one waker. It encodes straight into the row and
//! sends only the slot's ticket. One executor decides when to run what waits, see [`FlushReason`], and deals it out to the
//! lanes that are idle. Rows of one head run together. A walk that ends gives its slot back, which may
//! be what lets the others run. Walks, executor and lanes are tasks on the same worker threads.

mod computing;
mod deal;
mod device;
mod engine;
mod executor;
mod lane;
mod networks;
mod sets;
mod shared;
mod slots;
mod start;
mod statistics;
mod torch;

pub use computing::{Computing, Place};
pub use engine::{Engine, EngineError, EngineThreads, Job, NetworkControl, StopFlag};
pub use networks::{HeadArchitectures, HeadWeights, LaneNetworks};
pub use sets::{NetworkSets, Set};
pub use slots::{Lease, RowShape, Stopped};
pub use start::EngineNetworks;
pub use statistics::BatchStatistics;
pub use torch::TorchNetworks;

use crate::network::Precision;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// When the executor runs a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Microseconds the oldest request waits for its batch to fill, rounded up to the timer's milliseconds; 0 = not at all.
    pub collect_timeout_us: u64,
    /// Rows of one head in one network call at most, 1 to 65,536. A GPU wants all that waits in one call, which can be thousands of rows: raise it
    /// there as far as `coorl-async tune` says.
    pub max_batch: usize,
    /// What computes network calls on the CPU: `auto`, `packed` or `torch`.
    pub kernels: Kernels,
    /// The number format in which libtorch computes network calls, weights and activations: `f32`, `bf16` or `f16`. Answers are f32 always.
    /// Without effect on packed kernels.
    pub precision: Precision,
    /// Batches on their way through a device at a time, 1 to 64: while one is computed, others are gathered, copied and handed out. Without
    /// effect on the CPU, where a batch for each worker runs.
    pub batches_in_flight: usize,
}

/// What computes network calls on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernels {
    /// Packed kernels for the networks that they are made for, else libtorch.
    #[default]
    Auto,
    /// [`PackedNetwork`](crate::network::PackedNetwork): a row's answer has the same bits in every batch. Faster than libtorch the smaller the batch.
    Packed,
    /// Libtorch.
    Torch,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            collect_timeout_us: 2_000,
            max_batch: 1_024,
            kernels: Kernels::Auto,
            precision: Precision::F32,
            batches_in_flight: 2,
        }
    }
}

/// Which network answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Head(pub u8);

impl Head {
    /// The average strategy.
    pub const STRATEGY: Head = Head(2);

    /// The critic of value-guided walks, whose rows have lengths of their own.
    pub const CRITIC: Head = Head(u8::MAX);

    /// The advantage network of a seat.
    pub const fn advantage(player: crate::game::Player) -> Head {
        Head(player as u8)
    }

    /// The advantage network of a seat in league snapshot `snapshot`, the oldest being 0.
    pub const fn snapshot(snapshot: u8, player: crate::game::Player) -> Head {
        Head(3 + 2 * snapshot + player as u8)
    }
}

/// Why the executor ran what was waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushReason {
    /// A head had `max_batch` rows.
    Full,
    /// The oldest request had waited `collect_timeout_us`.
    Timeout,
    /// Every leased slot was waiting or being answered: nothing more could come.
    Quiescent,
}

/// What answers rows. One per lane; it never sees a walk.
pub trait Network: Send + 'static {
    /// The staging area for `rows` info states, `[rows, info_len]` row-major by the length of the slots; its content is overwritten. Rows of
    /// a head that are shorter fill its beginning without gaps.
    fn stage(&mut self, rows: usize) -> &mut [f32];

    /// The lengths of a head's rows where they are not those of the slots, and then not above them.
    fn row_shape(&self, _head: Head) -> Option<RowShape> {
        None
    }

    /// Answers the first `rows` staged rows, `[rows, info_len]` of the head's length: `[rows, actions]` row-major.
    ///
    /// # Errors
    /// What went wrong, in a line. The engine stops: every waiting walk ends with [`Stopped`].
    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String>;

    /// The time that the last call took on its device, copies excluded, if that was measured: now and then, where there is a device.
    fn device_time(&self) -> Option<Duration> {
        None
    }
}
