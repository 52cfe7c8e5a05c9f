//! The real network behind a lane, on a device.
//!
//! ```text
//! slots --gather--> pinned block --one copy--> device: forward --one copy--> pinned block --scatter--> slots
//! ```
//!
//! What must be pinned is the block: rows lie scattered over the slots and are gathered anyway, which is the only pass over them on the host,
//! and a device copies one block at the full speed of its bus. Pinned slots would save nothing as long as rows are gathered on the host, and
//! gathering them from the device means a small transfer for each row.
//!
//! A lane waits for its answers. Others meanwhile gather, or queue their copies and kernels behind those of this one, so that with two batches
//! in flight the device has its next batch when it is done with one.

use super::{Computing, Head, HeadArchitectures, Network, RowShape, TorchNetworks};
use crate::{
    network::{Ready, TensorError},
    platform::{HostBlock, synchronize},
};
use std::time::{Duration, Instant};
use tch::{Device, Tensor};

/// One of so many batches is timed on the device. Timing waits for the device before and after: each time would stall the pipeline.
/// Lanes share one queue of the device, so that a time holds what others queued meanwhile: with several lanes it is no less than the batch took.
const TIMING_INTERVAL: u64 = 64;
/// The first batches find an allocator and kernels that are not warm.
const FIRST_TIMED: u64 = 8;

/// The heads' networks of one lane on a device.
pub(super) struct DeviceNetworks {
    architectures: HeadArchitectures,
    shape: RowShape,
    device: Device,
    /// Rows of every call under deterministic batching, else as many as come.
    fixed_rows: Option<usize>,
    /// `[rows, info_len]`.
    stage: HostBlock,
    /// `[rows, actions]`.
    answers: HostBlock,
    heads: Vec<Option<Ready>>,
    batches: u64,
    /// The last batch's time on the device, if it was timed.
    timed: Option<Duration>,
}

impl DeviceNetworks {
    /// No head loaded yet; batches of at most `max_batch` rows.
    ///
    /// # Errors
    /// No pinned memory for the blocks.
    pub(super) fn new(
        architectures: HeadArchitectures,
        device: Device,
        computing: &Computing,
        max_batch: usize,
    ) -> Result<Self, TensorError> {
        let shape = architectures.row_shape();
        let fixed_rows = computing
            .deterministic
            .then_some(TorchNetworks::DETERMINISTIC_ROWS);
        let rows = max_batch.max(1).next_multiple_of(fixed_rows.unwrap_or(1));
        Ok(Self {
            architectures,
            shape,
            device,
            fixed_rows,
            stage: HostBlock::new(rows * shape.info_len, device)?,
            answers: HostBlock::new(rows * shape.actions, device)?,
            heads: Vec::new(),
            batches: 0,
            timed: None,
        })
    }

    /// Gives `head` a network that is on the device already.
    pub(super) fn load(&mut self, head: Head, network: Ready) -> Result<(), TensorError> {
        self.architectures.of(head)?;
        let index = head.0 as usize;
        if self.heads.len() <= index {
            self.heads.resize_with(index + 1, || None);
        }
        self.heads[index] = Some(network);
        Ok(())
    }

    /// Copies, runs, and copies back.
    fn answer(&mut self, head: Head, rows: usize) -> Result<&[f32], TensorError> {
        let network = self.heads.get(head.0 as usize).and_then(Option::as_ref);
        let network =
            network.ok_or_else(|| TensorError::new(format!("head {} has no weights", head.0)))?;
        let shape = HeadArchitectures::rows_of(self.architectures.of(head)?);
        let call = self.fixed_rows.unwrap_or(rows).max(1);
        let padded = rows.next_multiple_of(call);
        let timed = self.batches % TIMING_INTERVAL == FIRST_TIMED;
        self.batches += 1;
        self.timed = None;
        let there = self.stage.send([padded as i64, shape.info_len as i64])?;
        if timed {
            synchronize(self.device);
        }
        let started = Instant::now();
        let answers = in_calls(network, &there, call)?;
        if timed {
            synchronize(self.device);
            self.timed = Some(started.elapsed());
        }
        let answers = answers.f_narrow(0, 0, rows as i64)?;
        Ok(self.answers.receive(&answers)?)
    }
}

/// The answers to `rows` (`[batch, info_len]`), of which `call` run together; they divide the batch.
fn in_calls(network: &Ready, rows: &Tensor, call: usize) -> Result<Tensor, TensorError> {
    let (batch, call) = (rows.size()[0], call as i64);
    if batch == call {
        return network.forward(rows);
    }
    let parts = (0..batch).step_by(call as usize).map(|start| {
        let part = rows.f_narrow(0, start, call)?;
        network.forward(&part)
    });
    let parts = parts.collect::<Result<Vec<_>, TensorError>>()?;
    Ok(Tensor::f_cat(&parts, 0)?)
}

impl Network for DeviceNetworks {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        &mut self.stage.numbers_mut()[..rows * self.shape.info_len]
    }

    fn row_shape(&self, head: Head) -> Option<RowShape> {
        let architecture = self.architectures.of(head).ok();
        architecture.map(HeadArchitectures::rows_of)
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        self.answer(head, rows).map_err(|error| error.to_string())
    }

    fn device_time(&self) -> Option<Duration> {
        self.timed
    }
}
