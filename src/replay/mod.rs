//! Replay memories: contiguous columns, reservoir sampling, minibatches copied into reused tensors.
//!
//! ```text
//! walks --Sample--> Memory::add        [capacity, info_len] [capacity, actions] ...      one tensor per column
//!                      | changed slots        | draw: which rows   gather: copy them
//!                      v                      v
//!                   Journal (exact resume)   Batch [rows, info_len] ... --> fit
//! ```
//!
//! A [`Memory`] keeps a uniform sample of everything it has seen. Which rows it replaces and which rows a minibatch takes
//! comes from streams of its own, so the contents depend on the samples and their order alone. A [`journal`] appends
//! what changed to a file and brings it back, bit for bit.

use serde::{Deserialize, Serialize};

mod ahead;
mod checksum;
mod columns;
mod held_out;
pub mod journal;
mod memory;
mod minibatch;
mod slot_set;
mod sweep;

pub use checksum::Checksum;
pub use held_out::HeldOut;
pub use journal::{Journal, JournalError, MemoryMark};
pub use memory::{Memory, MemoryError, Sample};
pub use minibatch::{Batch, RepeatedInfo};
pub use sweep::Sweep;

/// Sizes of the replay memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Samples kept for each advantage network. Memory is taken as samples arrive.
    pub advantage_capacity: usize,
    /// Samples kept for the strategy network.
    pub strategy_capacity: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            advantage_capacity: 2_000_000,
            strategy_capacity: 2_000_000,
        }
    }
}
