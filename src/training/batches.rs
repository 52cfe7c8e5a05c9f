//! Into a replay memory sample by sample, and out of it in minibatches.

use super::{Minibatch, Minibatches};
use crate::{
    random::Stream,
    replay::{Batch, Memory, Sample},
    traversal::SampleView,
};
use std::time::{Duration, Instant};

/// Minibatches of one memory in reused tensors.
pub(super) struct MemoryBatches<'a> {
    pub(super) memory: &'a Memory,
    pub(super) batch: Batch,
    pub(super) stream: Stream,
    /// Least share of first-open samples.
    pub(super) first_open: f64,
    /// Time spent drawing slots.
    pub(super) sampling: Duration,
}

impl Minibatches for MemoryBatches<'_> {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        let started = Instant::now();
        if self.first_open > 0.0 {
            self.memory
                .draw_stratified(self.first_open, &mut self.stream, &mut self.batch);
        } else {
            self.memory.draw(&mut self.stream, &mut self.batch);
        }
        self.sampling += started.elapsed();
        self.memory.gather(&mut self.batch);
        Ok(Minibatch {
            info: self.batch.info(),
            target: self.batch.target(),
            legal: self.batch.legal(),
            iteration: self.batch.iteration(),
        })
    }
}

/// A walk's sample as a memory takes it.
pub(super) fn sample<'a>(view: &SampleView<'a>, iteration: u32) -> Sample<'a> {
    Sample {
        info: view.info,
        target: view.target,
        legal: view.legal,
        iteration,
        first_open: view.first_open,
    }
}
