//! Where an iteration's wall time goes.

use std::time::Duration;

/// A phase of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Walking, memory insertion included.
    Traversal,
    /// Copying samples into the replay memories, while walks run.
    MemoryAdd,
    /// Making minibatches, part of the fits.
    BatchTensor,
    /// Fitting both advantage networks.
    AdvantageFit,
    /// Fitting the strategy network.
    StrategyFit,
    /// Fitting the critic, beside the advantage networks.
    CriticFit,
    /// Games against opponents.
    Evaluation,
    /// Writing checkpoints.
    Checkpoint,
}

impl Phase {
    /// All phases, in the order they are reported.
    pub const ALL: [Phase; 8] = [
        Phase::Traversal,
        Phase::MemoryAdd,
        Phase::BatchTensor,
        Phase::AdvantageFit,
        Phase::StrategyFit,
        Phase::CriticFit,
        Phase::Evaluation,
        Phase::Checkpoint,
    ];

    /// The metric that reports it, without `time/` and `_seconds`.
    pub fn metric(self) -> &'static str {
        match self {
            Phase::Traversal => "traversal",
            Phase::MemoryAdd => "memory_add",
            Phase::BatchTensor => "batch_tensor",
            Phase::AdvantageFit => "advantage_train",
            Phase::StrategyFit => "strategy_train",
            Phase::CriticFit => "critic_train",
            Phase::Evaluation => "evaluation",
            Phase::Checkpoint => "checkpoint",
        }
    }
}

/// Wall time by phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseClock([Option<Duration>; Phase::ALL.len()]);

impl PhaseClock {
    /// Adds time to a phase.
    pub fn add(&mut self, phase: Phase, time: Duration) {
        *self.0[phase as usize].get_or_insert_default() += time;
    }

    /// Time of a phase, `None` when it did not occur.
    pub fn get(&self, phase: Phase) -> Option<Duration> {
        self.0[phase as usize]
    }
}
