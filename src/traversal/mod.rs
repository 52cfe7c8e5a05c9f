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

mod arena;
mod course;
mod iteration;
mod league;
mod opponent;
mod outcome;
mod settings;
mod statistics;

pub use arena::{SampleArena, SampleView};
pub use iteration::IterationWalks;
pub use opponent::{Opponent, OpponentPolicy};
pub use outcome::{Walk, WalkTask, Walker};
pub use settings::{
    CutoffPlayout, CutoffValue, LeagueSettings, SamplingMode, Settings, UnsampledRegret,
};
pub use statistics::{WalkCounts, WalkStatistics};
