//! Walks: how the game tree is sampled, as flat suspendable futures.
//!
//! ```text
//! state --encode--> lease --request(head).await--> advantages --regret matching--> policy --draw--> action
//!   ^                                                                               | frame pushed
//!   +------------------- apply, chance re-sampled <---------------------------------+
//! end of the walk: values are folded back over the frames, deepest first, giving the advantage samples
//! ```
//!
//! A walk is one `async fn` with its own frames and a stack of open branches, so a walk of any depth costs its nodes and no native stack.
//! It knows neither tensors nor batches: it writes a row, waits, reads a row. Several of its branches may wait at once, each in a slot of its
//! own. What it sampled lies in a [`SampleArena`].
//!
//! | `sampling_mode` | after a decision of the traverser | after one of the opponent | value of an action |
//! |---|---|---|---|
//! | `outcome` | one action, drawn with exploration | one action | its branch's, divided by its probability |
//! | `external` | every action | one action | its branch's |
//! | `robust` | `robust_actions` actions, drawn uniformly | one action | its branch's, divided by the share that is drawn |
//! | `all_actions` | a rollout of every action; one action, drawn with exploration | one action | its rollout's payoff |
//! | `value_guided` | one action, drawn with exploration | the same, and samples too | a critic's, see the `guided` module |
//!
//! `tests/unbiased` enumerates whatever can happen in small games and finds the targets of all of them equal to the advantages, but for the
//! choices that [`biases()`] names.

mod all_actions;
mod arena;
mod biases;
mod branch;
mod course;
mod external;
mod frames;
mod guided;
mod iteration;
mod league;
mod opponent;
mod outcome;
mod randomness;
mod robust;
mod scheme;
mod seats;
mod segments;
mod settings;
mod slot;
mod statistics;
mod walker;

pub use arena::{SampleArena, SampleView};
pub use biases::{Bias, biases};
pub use guided::{
    GuidedWalk, GuidedWalker, GuidedWalks, ImitationWalks, Opposite, Settings as GuidedSettings,
    Table, Taken, Targets as GuidedTargets,
};
pub use iteration::{IterationWalks, Traversers};
pub use opponent::{Opponent, OpponentPolicy};
pub use randomness::WalkRandomness;
pub use settings::{
    CutoffPlayout, CutoffValue, Explorers, LeagueSettings, SamplingMode, Settings, UnsampledRegret,
};
pub use slot::WalkSlot;
pub use statistics::{WalkCounts, WalkStatistics};
pub use walker::{Walk, WalkTask, Walker};
