//! Numbers of the host that travel to a device and back.

use super::transfers::{self, Waiting, pinned};
use tch::{Device, Kind, TchError, Tensor};

/// A block of f32s of the host, allocated once, from which a device takes rows and into which it puts answers. For a CUDA device the memory is
/// pinned: the device then copies by itself, and whoever asked for it can do something else.
pub struct HostBlock {
    /// `[length]`, contiguous, on the CPU; nobody else has a view of it.
    numbers: Tensor,
    device: Device,
}

impl HostBlock {
    /// `length` zeros for copies to and from `device`.
    ///
    /// # Errors
    /// No memory, or for CUDA none that can be pinned.
    pub fn new(length: usize, device: Device) -> Result<Self, TchError> {
        let zeros = Tensor::f_zeros([length as i64], (Kind::Float, Device::Cpu))?;
        Ok(Self {
            numbers: pinned(zeros, device)?,
            device,
        })
    }

    /// The numbers.
    pub fn numbers(&self) -> &[f32] {
        // SAFETY: the tensor is a contiguous f32 tensor of the CPU that lives as long as `self` and that only `self` writes, behind `&mut`.
        unsafe { std::slice::from_raw_parts(self.start(), self.numbers.numel()) }
    }

    /// The numbers, to be written. Not while a copy made by [`HostBlock::send`] may still be under way: a later [`HostBlock::receive`] of what
    /// the device made of it ends that.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above; `&mut self` makes it the only access from here.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.numbers.numel()) }
    }

    /// The first numbers as a tensor of `shape` on the device, by one copy that does not block.
    ///
    /// # Errors
    /// A larger shape than the block, and failures of the device.
    pub fn send(&self, shape: [i64; 2]) -> Result<Tensor, TchError> {
        let first = self.numbers.f_narrow(0, 0, shape[0] * shape[1])?;
        transfers::to_device(&first.f_view(shape)?, self.device, Waiting::NonBlocking)
    }

    /// Fetches `answers` (f32) from the device by one copy, once it has computed them.
    ///
    /// # Errors
    /// More numbers than the block, and failures of the device.
    pub fn receive(&mut self, answers: &Tensor) -> Result<&[f32], TchError> {
        let length = answers.numel();
        let first = self.numbers.f_narrow(0, 0, length as i64)?;
        transfers::to_host(answers, &mut first.f_view(&answers.size()[..])?)?;
        Ok(&self.numbers()[..length])
    }

    fn start(&self) -> *mut f32 {
        self.numbers.data_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_travel_there_and_back_by_one_copy_each() {
        let before = transfers::of_this_thread();
        let mut block = HostBlock::new(6, Device::Cpu).unwrap();
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        block.numbers_mut().copy_from_slice(&numbers);
        let there = block.send([2, 2]).unwrap();
        block.numbers_mut().fill(0.0);
        let doubled = there.f_mul_scalar(2.0).unwrap();
        assert_eq!(block.receive(&doubled).unwrap(), [2.0, 4.0, 6.0, 8.0]);
        let made = transfers::of_this_thread() - before;
        assert_eq!((made.to_device.count, made.to_device.bytes), (1, 16));
        assert_eq!((made.to_host.count, made.to_host.bytes), (1, 16));
        assert!(block.send([2, 4]).is_err(), "more than there is");
    }
}
