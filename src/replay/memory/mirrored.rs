//! A memory's copy on a device.

use super::{Memory, bytes_per_row};
use crate::{
    network::TensorError,
    platform::device_name,
    replay::{
        device_batch::DeviceBatch,
        minibatch::Batch,
        mirror::{Faults, Mirror},
    },
};
use tch::Device;
use tracing::warn;

impl Memory {
    /// Bytes that the columns of `capacity` samples of these lengths take.
    pub fn column_bytes(capacity: usize, info_len: usize, actions: usize) -> u64 {
        capacity as u64 * bytes_per_row(info_len, actions) as u64
    }

    /// Keeps a copy of the first `rows` rows' worth of columns on `device` from now on, up to date after each
    /// [`Memory::update_mirror`]. Samples that are there are copied by the next one.
    ///
    /// # Errors
    /// When the device does not have the memory; then there is no copy.
    ///
    /// # Panics
    /// When the memory holds more than `rows` samples.
    pub fn mirror_on(
        &mut self,
        device: Device,
        rows: usize,
        faults: Faults,
    ) -> Result<(), TensorError> {
        assert!(self.size <= rows, "a mirror of {rows} rows is too small");
        let (info_len, actions) = (self.info_len, self.actions);
        self.mirror = Some(Mirror::new(device, rows, info_len, actions, faults)?);
        Ok(())
    }

    /// [`Memory::mirror_on`], or a warning and no copy.
    pub fn try_mirror_on(&mut self, device: Device, rows: usize, faults: Faults) {
        if let Err(error) = self.mirror_on(device, rows, faults) {
            warn!(
                "there is no room for a copy of a replay memory on {} ({error}): its minibatches come from the host's memory",
                device_name(device)
            );
        }
    }

    /// Whether there is a copy on a device.
    pub fn is_mirrored(&self) -> bool {
        self.mirror.is_some()
    }

    /// Brings the copy on the device up to date. One that cannot be is given up with a warning; the samples are all here.
    pub fn update_mirror(&mut self) {
        if let Some(mirror) = &mut self.mirror
            && let Err(error) = mirror.follow(&self.columns, self.size)
        {
            self.lose_mirror(&error);
        }
    }

    /// Gives the copy on the device up, with a warning that says why.
    pub fn lose_mirror(&mut self, why: &TensorError) {
        if let Some(mirror) = self.mirror.take() {
            warn!(
                "the copy of a replay memory on {} is given up ({why}): from now on its minibatches come from the host's memory, which holds \
                 all {} samples; set replay.device to host to start that way",
                device_name(mirror.device()),
                self.size
            );
        }
    }

    /// Gives the copy on the device up: it has served.
    pub fn drop_mirror(&mut self) {
        self.mirror = None;
    }

    /// The drawn samples from the copy on the device; `None` where there is no copy.
    ///
    /// # Errors
    /// Failures of the device. [`Memory::gather`] has the same samples.
    pub fn gather_mirrored(&self, batch: &mut Batch) -> Option<Result<DeviceBatch, TensorError>> {
        let mirror = self.mirror.as_ref()?;
        batch.find_repeated(&self.columns.info);
        Some(mirror.gather(batch))
    }
}
