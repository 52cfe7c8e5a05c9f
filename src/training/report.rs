//! What an iteration tells: while it runs, and when it is over.

use super::{Compute, Exploitability, FitReport, Phase, PhaseClock};
use crate::{
    bots::ScriptedGame,
    evaluation::{EvaluationError, OpponentReport},
    inference::{BatchStatistics, EngineError},
    platform::transfers::Transfers,
    telemetry::DeviceUse,
    traversal::WalkStatistics,
};

/// What one iteration did.
pub struct IterationReport<G: ScriptedGame> {
    /// The iteration, from 1.
    pub iteration: u32,
    /// Wall time by phase.
    pub clock: PhaseClock,
    /// Wall time of the whole.
    pub seconds: f64,
    /// The walks.
    pub walks: WalkStatistics<G>,
    /// The executor during the walks.
    pub batches: BatchStatistics,
    /// Copies between the host and devices in the whole iteration.
    pub transfers: Transfers,
    /// The fits by network; `None` where the memory was empty.
    pub fits: [Option<FitReport>; 3],
    /// The critic's fit, where there is a critic.
    pub critic: Option<FitReport>,
    /// Where fits compute.
    pub compute: Compute,
    /// How the device of walks and fits was used; `None` for a CPU.
    pub device: Option<DeviceUse>,
    /// Memories that have a copy on the device of the fits.
    pub mirrored: usize,
    /// Seconds spent drawing minibatch slots, by network.
    pub sample_seconds: [f64; 3],
    /// Memory sizes after the iteration, by network.
    pub samples: [usize; 3],
    /// First-open samples among them, by network.
    pub first_open: [usize; 3],
    /// Games against opponents, when it was time for them.
    pub evaluation: Vec<OpponentReport>,
    /// NashConv, when it was time for it.
    pub exploitability: Option<Exploitability>,
}

/// What is measured after an iteration's fits.
#[derive(Clone, Debug, Default)]
pub struct Due<'a> {
    /// The opponents to play, by name.
    pub opponents: Vec<&'a str>,
    /// Whether NashConv is computed.
    pub exploitability: bool,
}

/// Told how far a phase is; see [`super::Trainer::iterate`].
pub trait Watcher {
    /// A phase of `total` units begins.
    fn begin(&mut self, phase: Phase, total: usize);
    /// So many units of it are done.
    fn advance(&mut self, done: usize, nodes: u64);
}

/// Watches nothing.
impl Watcher for () {
    fn begin(&mut self, _: Phase, _: usize) {}
    fn advance(&mut self, _: usize, _: u64) {}
}

/// Why an iteration was not completed. Networks and memories are then somewhere inside it.
#[derive(Debug, thiserror::Error)]
pub enum IterationError {
    /// The stop flag was raised.
    #[error("stopped on request")]
    Interrupted,
    /// Anything else.
    #[error(transparent)]
    Failed(#[from] anyhow::Error),
}

impl From<EngineError> for IterationError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Interrupted => Self::Interrupted,
            other => Self::Failed(other.into()),
        }
    }
}

impl From<EvaluationError> for IterationError {
    fn from(error: EvaluationError) -> Self {
        match error {
            EvaluationError::Engine(error) => error.into(),
            other => Self::Failed(other.into()),
        }
    }
}
