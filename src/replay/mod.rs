//! Replay memories: contiguous columns, reservoir sampling, minibatches copied into reused tensors.
//!
//! ```text
//! walks --Sample--> Memory::add        [capacity, info_len] [capacity, actions] ...      one tensor per column
//!                      | changed slots        | draw: which rows   gather: copy them
//!                      v                      v
//!                   Journal (exact resume)   Batch [rows, info_len] ... --> fit
//!
//! on a GPU: blocks of rows --> Mirror --index_select--> DeviceBatch --> fit;  without a mirror  Batch --> DeviceBatch
//! ```
//!
//! A [`Memory`] keeps a uniform sample of everything it has seen. Which rows it replaces and which rows a minibatch takes
//! comes from streams of its own, so the contents depend on the samples and their order alone. A [`journal`] appends
//! what changed to a file and brings it back, bit for bit.

use serde::{Deserialize, Serialize};

mod ahead;
mod checksum;
mod columns;
mod device_batch;
mod held_out;
pub mod journal;
mod memory;
mod minibatch;
mod mirror;
mod slot_set;
mod sweep;

pub use checksum::Checksum;
pub use device_batch::DeviceBatch;
pub(crate) use device_batch::uploaded;
pub use held_out::HeldOut;
pub use journal::{Journal, JournalError, MemoryMark};
pub use memory::{Memory, MemoryError, Sample};
pub use minibatch::{Batch, RepeatedInfo};
pub use mirror::Faults;
pub use sweep::Sweep;

/// Where fits on a GPU take their samples from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayDevice {
    /// From the GPU where the memories fit there beside the rest, else from the host.
    #[default]
    Auto,
    /// From copies of the memories on the GPU: in a fit nothing crosses but slot numbers. If a copy cannot be had or kept, from the host.
    Device,
    /// From the host: minibatches are gathered and copied while the one before is fitted to.
    Host,
}

/// Sizes of the replay memories, and where fits find them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Samples kept for each advantage network. Memory is taken as samples arrive.
    pub advantage_capacity: usize,
    /// Samples kept for the strategy network.
    pub strategy_capacity: usize,
    /// Where fits on a GPU take samples from: `auto`, `device` or `host`. The host holds every sample in any case (journals and checkpoints
    /// read it there); a copy on the GPU takes the memories' full size there at once.
    pub device: ReplayDevice,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            advantage_capacity: 2_000_000,
            strategy_capacity: 2_000_000,
            device: ReplayDevice::Auto,
        }
    }
}
