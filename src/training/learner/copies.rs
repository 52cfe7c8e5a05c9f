//! Parameters on their way between the host and a learner's device.

use super::{Learner, LearnerError};
use crate::platform::transfers::{Direction, counted};
use tch::Device;

impl Learner {
    /// The flat parameters on the host. Waits for the device.
    pub(super) fn read_parameters(&self) -> Result<Vec<f32>, LearnerError> {
        let read = || Vec::<f32>::try_from(&self.parameters);
        let bytes = bytes_of(self.architecture.num_parameters());
        Ok(match self.compute.device {
            Device::Cpu => read(),
            _ => counted(Direction::ToHost, bytes, read),
        }?)
    }
}

/// Makes a copy of `values` numbers from the host to `device`, counted where that is another one.
pub(super) fn copied<R>(device: Device, values: usize, copy: impl FnOnce() -> R) -> R {
    match device {
        Device::Cpu => copy(),
        _ => counted(Direction::ToDevice, bytes_of(values), copy),
    }
}

fn bytes_of(values: usize) -> u64 {
    (values * size_of::<f32>()) as u64
}
