//! A minibatch on a device.

use super::minibatch::Batch;
use crate::network::TensorError;
use crate::platform::transfers::{Waiting, pinned, to_device};
use tch::{Device, TchError, Tensor};

/// Rows of one minibatch on a device, in tensors of their own.
pub struct DeviceBatch {
    /// Info states, f32 `[batch, info_len]`; with `info_of` the distinct ones.
    pub info: Tensor,
    /// The row of `info` that each sample has, i32 `[batch]`; `None` where sample `i` has row `i`.
    pub info_of: Option<Tensor>,
    /// Targets, f32 `[batch, actions]`.
    pub target: Tensor,
    /// Legal actions, bool `[batch, actions]`.
    pub legal: Tensor,
    /// Iterations that recorded the samples, i32 `[batch]`.
    pub iteration: Tensor,
}

impl Batch {
    /// A copy of the gathered rows on `device`, which may still be under way when this returns. The batch may be filled again at once: what
    /// is copied from is pinned memory of its own, or the driver's.
    ///
    /// # Errors
    /// A device that is out of memory, or fails.
    pub fn on_device(&self, device: Device) -> Result<DeviceBatch, TensorError> {
        let info_of = self.info_of().map(|of| uploaded(of, device));
        Ok(DeviceBatch {
            info: uploaded(self.info(), device)?,
            info_of: info_of.transpose()?,
            target: uploaded(self.target(), device)?,
            legal: uploaded(self.legal(), device)?,
            iteration: uploaded(self.iteration(), device)?,
        })
    }
}

/// A copy of `host` on `device`, queued behind the device's other work.
pub(crate) fn uploaded(host: &Tensor, device: Device) -> Result<Tensor, TchError> {
    // libtorch keeps a pinned block until the copies from it are over. Without locked memory the driver copies the block before it returns.
    let block = pinned(host.shallow_clone(), device).unwrap_or_else(|_| host.shallow_clone());
    to_device(&block, device, Waiting::NonBlocking)
}
