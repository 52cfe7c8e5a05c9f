//! Into a replay memory sample by sample, and out of it in minibatches.

use super::{Minibatch, MinibatchOrder, Minibatches};
use crate::{
    network::TensorError,
    random::Stream,
    replay::{Batch, DeviceBatch, Memory, MemoryError, RepeatedInfo, Sample, Sweep},
    traversal::SampleView,
};
use std::time::{Duration, Instant};
use tch::Device;
use tracing::warn;

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
    sweep: Option<Sweep>,
    held_out: Option<Measured>,
    sampling: Duration,
    /// Where minibatches go; `None` = they stay in the host's memory.
    device: Option<Device>,
    /// The last one there.
    there: Option<DeviceBatch>,
    /// Why the memory's copy on the device gives no more minibatches.
    lost: Option<TensorError>,
}

/// Samples that no minibatch has.
pub(super) enum Measured {
    /// In the host's memory.
    Here(Box<Batch>),
    /// On the learner's device.
    There(DeviceBatch),
}

impl Measured {
    /// At most 4,096 of the samples of `memory` that are kept out of fits, drawn by `stream`, copied to `device` if there is one; `None` where
    /// none are kept out.
    pub fn draw(
        memory: &Memory,
        stream: &mut Stream,
        device: Option<Device>,
    ) -> anyhow::Result<Option<Self>> {
        let rows = memory.held_out_len().min(MEASURED_ROWS);
        if rows == 0 {
            return Ok(None);
        }
        let mut batch = batch_of(memory, rows)?;
        memory.draw_held_out(stream, &mut batch);
        memory.gather(&mut batch);
        Ok(Some(match device {
            None => Self::Here(Box::new(batch)),
            Some(device) => Self::There(batch.on_device(device)?),
        }))
    }

    /// As the losses take them.
    pub fn minibatch(&self) -> Minibatch<'_> {
        match self {
            Self::Here(batch) => minibatch(batch),
            Self::There(batch) => minibatch_there(batch),
        }
    }
}

/// The most samples by which a fit is measured, or a memory is summed up.
const MEASURED_ROWS: usize = 4_096;

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
            batch: batch_of(memory, rows)?,
            stream,
            first_open,
            sweep: None,
            held_out: None,
            sampling: Duration::ZERO,
            device: None,
            there: None,
            lost: None,
        })
    }

    /// The same on `device`: from the memory's copy there while that can be had, else copied from here.
    pub fn on_device(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }

    /// The same with info states that repeat in a minibatch given as `repeated` says.
    ///
    /// # Errors
    /// When the memory for it cannot be had.
    pub fn with_repeated(mut self, repeated: RepeatedInfo) -> Result<Self, MemoryError> {
        self.batch = self.batch.with_repeated(repeated)?;
        Ok(self)
    }

    /// The same in this order.
    pub fn in_order(mut self, order: MinibatchOrder) -> Self {
        self.sweep = match order {
            MinibatchOrder::Independent => None,
            MinibatchOrder::Sweep => Some(self.memory.start_sweep(&mut self.stream)),
        };
        self
    }

    /// The same with [`Minibatches::held_out`]: at most 4,096 of the memory's samples that are kept out of fits, drawn by `stream`.
    ///
    /// # Errors
    /// When the memory for them cannot be had.
    pub fn with_held_out(self, stream: &mut Stream) -> anyhow::Result<Self> {
        let held_out = Measured::draw(self.memory, stream, self.device)?;
        Ok(self.measured_by(held_out))
    }

    /// The same with these as [`Minibatches::held_out`].
    pub(super) fn measured_by(mut self, held_out: Option<Measured>) -> Self {
        self.held_out = held_out;
        self
    }

    /// Time spent drawing slots.
    pub fn sampling(&self) -> Duration {
        self.sampling
    }

    /// Why the memory's copy on the device failed to give a minibatch, if it did. Those since then came from the host's memory.
    pub fn lost(self) -> Option<TensorError> {
        self.lost
    }

    /// Draws the slots of the next minibatch.
    fn draw(&mut self) {
        let started = Instant::now();
        let (memory, batch) = (self.memory, &mut self.batch);
        match &mut self.sweep {
            None => memory.draw_stratified(self.first_open, &mut self.stream, batch),
            Some(sweep) => memory.sweep(sweep, batch),
        }
        self.sampling += started.elapsed();
    }

    /// Draws the next minibatch and brings it to `device`.
    ///
    /// # Errors
    /// A device that is out of memory, or fails.
    pub(super) fn next_there(&mut self, device: Device) -> Result<DeviceBatch, TensorError> {
        self.draw();
        if self.lost.is_none() {
            match self.memory.gather_mirrored(&mut self.batch) {
                Some(Ok(batch)) => return Ok(batch),
                Some(Err(error)) => {
                    warn!("a minibatch is taken from the host's memory instead: {error}");
                    self.lost = Some(error);
                }
                None => {}
            }
        }
        self.memory.gather(&mut self.batch);
        self.batch.on_device(device)
    }
}

impl Minibatches for MemoryBatches<'_> {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        let Some(device) = self.device else {
            self.draw();
            self.memory.gather(&mut self.batch);
            return Ok(minibatch(&self.batch));
        };
        let batch = self.next_there(device)?;
        Ok(minibatch_there(self.there.insert(batch)))
    }

    fn held_out(&self) -> Option<Minibatch<'_>> {
        self.held_out.as_ref().map(Measured::minibatch)
    }
}

/// At most 4,096 of the samples of `memory` that fits may draw, drawn by `stream`.
///
/// # Errors
/// When the memory for them cannot be had.
pub(super) fn sampled(memory: &Memory, stream: &mut Stream) -> Result<Batch, MemoryError> {
    let mut batch = batch_of(memory, memory.fitting_len().min(MEASURED_ROWS))?;
    memory.sample_into(stream, &mut batch);
    Ok(batch)
}

fn batch_of(memory: &Memory, rows: usize) -> Result<Batch, MemoryError> {
    Batch::new(rows, memory.info_len(), memory.actions())
}

/// A gathered batch as the losses take it.
pub(super) fn minibatch(batch: &Batch) -> Minibatch<'_> {
    Minibatch {
        info: batch.info(),
        info_of: batch.info_of(),
        target: batch.target(),
        legal: batch.legal(),
        iteration: batch.iteration(),
    }
}

/// A batch on a device as the losses take it.
pub(super) fn minibatch_there(batch: &DeviceBatch) -> Minibatch<'_> {
    Minibatch {
        info: &batch.info,
        info_of: batch.info_of.as_ref(),
        target: &batch.target,
        legal: &batch.legal,
        iteration: &batch.iteration,
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
