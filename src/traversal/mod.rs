//! Walks: how the game tree is sampled, as flat suspendable futures.
//!
//! ```text
//! state --encode--> lease --request(head).await--> advantages --regret matching--> policy --draw--> action
//!   ^                                                                               | frame pushed
//!   +------------------- apply, chance re-sampled <---------------------------------+
//! end of the walk: values are folded back over the frames, deepest first, giving the advantage samples
//! ```
//!
//! A walk is one `async fn` with its own frame stack, so a walk of any depth costs its nodes and no native stack. It knows
//! neither tensors nor batches: it writes a row, waits, reads a row. What it sampled lies in a [`SampleArena`].

mod all_actions;
mod arena;
mod branch;
mod course;
mod external;
mod frames;
mod iteration;
mod league;
mod opponent;
mod outcome;
mod randomness;
mod robust;
mod scheme;
mod segments;
mod settings;
mod slot;
mod statistics;
mod walker;

pub use arena::{SampleArena, SampleView};
pub use iteration::IterationWalks;
pub use opponent::{Opponent, OpponentPolicy};
pub use randomness::WalkRandomness;
pub use settings::{
    CutoffPlayout, CutoffValue, Explorers, LeagueSettings, SamplingMode, Settings, UnsampledRegret,
};
pub use slot::WalkSlot;
pub use statistics::{WalkCounts, WalkStatistics};
pub use walker::{Walk, WalkTask, Walker};
