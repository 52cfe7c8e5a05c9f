//! What a sweep asks for, and what it gets.

use super::Setting;
use std::time::Duration;

/// Measures settings.
pub trait Measurer {
    /// Walks the walks of `round` (from 1) with `setting`, the engine warm and its counts fresh.
    ///
    /// # Errors
    /// [`MeasureError::Interrupted`] soon after a stop was asked for, else what failed.
    fn measure(&mut self, setting: Setting, round: u32) -> Result<Measurement, MeasureError>;

    /// Time since the sweep began, by the clock the budget counts by.
    fn elapsed(&self) -> Duration;
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A stop was asked for.
    #[error("stopped on request")]
    Interrupted,
    /// What failed.
    #[error(transparent)]
    Failed(#[from] anyhow::Error),
}

/// The walks of one round with one setting.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Measurement {
    /// Nodes entered, endpoints included.
    pub nodes: u64,
    /// Seconds from the first walk's start to the last one's end.
    pub seconds: f64,
    /// Network calls.
    pub batches: u64,
    /// Rows run.
    pub rows: u64,
    /// Rows that would have run had every batch been full.
    pub room: u64,
    /// Flushes that were full, by timeout, and quiescent.
    pub flushes: [u64; 3],
    /// Seconds in network calls; mean over the lanes.
    pub forward_seconds: f64,
    /// The 99th percentile of the rows of a call.
    pub batch_p99: f64,
    /// The median queue wait of a request, in microseconds.
    pub wait_p50_us: f64,
    /// The 99th percentile of the queue wait, in microseconds.
    pub wait_p99_us: f64,
}

impl Measurement {
    /// Nodes per second.
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes as f64 / self.seconds.max(1e-9)
    }
}
