//! What masked steps leave on the device, read a few dozen at a time.

use super::{Step, Tally};
use crate::{network::TensorError, platform::transfers, training::learner::Record};
use tch::{Device, Kind, Tensor};

/// The records of steps that were not read yet.
pub(super) struct Records {
    /// Losses and gradient norms, f32 `[CAPACITY, 2]` on the device.
    kept: Tensor,
    len: usize,
}

impl Records {
    /// Steps between two readings. Each waits until the device is done, and keeps the host from running farther ahead of it.
    pub const CAPACITY: usize = 64;

    /// Room on `device`.
    pub fn new(device: Device) -> Result<Self, TensorError> {
        Ok(Self {
            kept: Tensor::f_zeros([Self::CAPACITY as i64, 2], (Kind::Float, device))?,
            len: 0,
        })
    }

    /// Keeps `record`, and reads all of them into `tally` once there are many.
    pub fn push(&mut self, record: &Record, tally: &mut Tally) -> Result<(), TensorError> {
        let mut place = self.kept.f_select(0, self.len as i64)?;
        place.f_copy_(&record.0)?;
        self.len += 1;
        if self.len == Self::CAPACITY {
            self.read(tally)?;
        }
        Ok(())
    }

    /// Reads what is there into `tally`. Waits for the device.
    pub fn read(&mut self, tally: &mut Tally) -> Result<(), TensorError> {
        let len = std::mem::take(&mut self.len);
        if len == 0 {
            return Ok(());
        }
        let mut read = Tensor::f_zeros([2 * len as i64], (Kind::Float, Device::Cpu))?;
        let kept = self.kept.f_narrow(0, 0, len as i64)?.f_view([-1])?;
        transfers::to_host(&kept, &mut read)?;
        for record in Vec::<f32>::try_from(&read)?.chunks_exact(2) {
            tally.add(Step {
                loss: record[0].into(),
                finite_gradient: record[1].is_finite(),
            });
        }
        Ok(())
    }
}
