//! Into a replay memory sample by sample, and out of it in minibatches.

use super::{Minibatch, Minibatches};
use crate::{
    random::Stream,
    replay::{Batch, Memory, MemoryError, Sample},
    traversal::SampleView,
};
use std::time::{Duration, Instant};

/// Says to each memory that the next iteration brings about as many samples as came since it had `before`.
pub(super) fn expect_as_many(memories: &mut [Memory; 3], before: [usize; 3]) {
    for (memory, before) in memories.iter_mut().zip(before) {
        let added = memory.len() - before;
        memory.expect(added + added / 8);
    }
}

/// Minibatches of one memory in reused tensors.
pub struct MemoryBatches<'a> {
    memory: &'a Memory,
    batch: Batch,
    stream: Stream,
    first_open: f64,
    sampling: Duration,
}

impl<'a> MemoryBatches<'a> {
    /// Minibatches of at most `rows` samples of `memory`, drawn by `stream`, a share `first_open` of them (0 to 1) at least
    /// first-open.
    ///
    /// # Errors
    /// When the memory for a minibatch cannot be had.
    pub fn new(
        memory: &'a Memory,
        rows: usize,
        stream: Stream,
        first_open: f64,
    ) -> Result<Self, MemoryError> {
        Ok(Self {
            memory,
            batch: Batch::new(rows, memory.info_len(), memory.actions())?,
            stream,
            first_open,
            sampling: Duration::ZERO,
        })
    }

    /// Time spent drawing slots.
    pub fn sampling(&self) -> Duration {
        self.sampling
    }
}

impl Minibatches for MemoryBatches<'_> {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        let started = Instant::now();
        self.memory
            .draw_stratified(self.first_open, &mut self.stream, &mut self.batch);
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
