//! Copies between the host's memory and a device's: rows, answers, weights, and what masked steps leave behind. They are made here, and counted.
//!
//! Not counted are a few that are small or seldom: the loss and the norm that the host reads of a step where it checks itself, a held-out loss,
//! the constants of an optimizer and the count of its masked steps (both once a fit), the scale of losses, and at checkpoints the moments of
//! optimizers.
//!
//! On the CPU standing in for a device a copy is a copy too, so that what a path copies can be tested on any machine.

use std::{
    cell::Cell,
    ops::Sub,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};
use tch::{Device, TchError, Tensor};

/// Copies in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Copies made.
    pub count: u64,
    /// Bytes copied.
    pub bytes: u64,
    /// Nanoseconds that the calling threads spent in the copies. One that does not block costs its call only, one that does also waits
    /// for what the device had to do before.
    pub nanoseconds: u64,
}

/// Copies in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// From the host to devices.
    pub to_device: Copies,
    /// From devices to the host.
    pub to_host: Copies,
}

/// From where to where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host to a device.
    ToDevice,
    /// From a device to the host.
    ToHost,
}

/// Whether a copy is over when its call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It is.
    Blocking,
    /// It is queued behind the device's other work, if the host's memory is pinned: that must not be written until the device has come so far.
    NonBlocking,
}

impl Copies {
    /// Seconds that the calling threads spent in them.
    pub fn seconds(self) -> f64 {
        self.nanoseconds as f64 / 1e9
    }

    fn plus(self, bytes: u64, nanoseconds: u64) -> Self {
        Self {
            count: self.count + 1,
            bytes: self.bytes + bytes,
            nanoseconds: self.nanoseconds + nanoseconds,
        }
    }
}

impl Sub for Copies {
    type Output = Self;

    /// What was added since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        Self {
            count: self.count - earlier.count,
            bytes: self.bytes - earlier.bytes,
            nanoseconds: self.nanoseconds - earlier.nanoseconds,
        }
    }
}

impl Sub for Transfers {
    type Output = Self;

    /// What was added since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        Self {
            to_device: self.to_device - earlier.to_device,
            to_host: self.to_host - earlier.to_host,
        }
    }
}

/// Counts of all threads in one direction.
struct Counters {
    count: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Counters {
    const fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
        }
    }

    fn add(&self, bytes: u64, nanoseconds: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    fn take(&self) -> Copies {
        Copies {
            count: self.count.swap(0, Ordering::Relaxed),
            bytes: self.bytes.swap(0, Ordering::Relaxed),
            nanoseconds: self.nanoseconds.swap(0, Ordering::Relaxed),
        }
    }
}

static TO_DEVICE: Counters = Counters::new();
static TO_HOST: Counters = Counters::new();

thread_local! {
    static HERE: Cell<Transfers> = const { Cell::new(Transfers {
        to_device: Copies { count: 0, bytes: 0, nanoseconds: 0 },
        to_host: Copies { count: 0, bytes: 0, nanoseconds: 0 },
    }) };
}

/// The copies of all threads since the last call.
pub fn take() -> Transfers {
    Transfers {
        to_device: TO_DEVICE.take(),
        to_host: TO_HOST.take(),
    }
}

/// The copies that this thread has made in its life: the difference of two calls is what it copied between them, whatever other threads do.
pub fn of_this_thread() -> Transfers {
    HERE.get()
}

/// Makes a copy of `bytes` by `copy` and counts it. Whoever copies other than by the functions below does it through this one.
pub fn counted<R>(direction: Direction, bytes: u64, copy: impl FnOnce() -> R) -> R {
    let started = Instant::now();
    let result = copy();
    let nanoseconds = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let mut here = HERE.get();
    match direction {
        Direction::ToDevice => {
            TO_DEVICE.add(bytes, nanoseconds);
            here.to_device = here.to_device.plus(bytes, nanoseconds);
        }
        Direction::ToHost => {
            TO_HOST.add(bytes, nanoseconds);
            here.to_host = here.to_host.plus(bytes, nanoseconds);
        }
    }
    HERE.set(here);
    result
}

/// Copies `host` to `device`, as a tensor of its own even where the device is the CPU.
///
/// # Errors
/// A device that is out of memory, or fails.
pub fn to_device(host: &Tensor, device: Device, waiting: Waiting) -> Result<Tensor, TchError> {
    let no_wait = waiting == Waiting::NonBlocking;
    counted(Direction::ToDevice, bytes_of(host), || {
        host.f_to_device_(device, host.f_kind()?, no_wait, true)
    })
}

/// Copies `on_device` into `host`, which has as many elements, and waits for the result: for whatever the device had to do for it, too.
///
/// # Errors
/// Another number of elements, or a device that fails.
pub fn to_host(on_device: &Tensor, host: &mut Tensor) -> Result<(), TchError> {
    counted(Direction::ToHost, bytes_of(on_device), || {
        let _guard = tch::no_grad_guard();
        host.f_copy_(on_device)
    })
}

/// `block` in memory that `device` can copy from and to by itself, while the CPU does something else: pinned for a CUDA device, and as it
/// is where the CPU stands in. Memory that is not pinned is first copied into some that is, and the call waits for that.
///
/// # Errors
/// The system gives no more locked memory.
pub fn pinned(block: Tensor, device: Device) -> Result<Tensor, TchError> {
    if device.is_cuda() {
        block.f_pin_memory(device)
    } else {
        Ok(block)
    }
}

fn bytes_of(tensor: &Tensor) -> u64 {
    (tensor.numel() * tensor.kind().elt_size_in_bytes()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Kind;

    #[test]
    fn each_copy_counts_once_on_the_stand_in_too() {
        let before = of_this_thread();
        let host = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
        let mut there = to_device(&host, Device::Cpu, Waiting::NonBlocking).unwrap();
        assert_ne!(
            host.data_ptr(),
            there.data_ptr(),
            "a copy, not the same memory"
        );
        let _ = there.f_add_scalar_(1.0).unwrap();
        let mut back = pinned(Tensor::zeros([3], (Kind::Float, Device::Cpu)), Device::Cpu).unwrap();
        to_host(&there, &mut back).unwrap();
        assert_eq!(Vec::<f32>::try_from(&back).unwrap(), [2.0, 3.0, 4.0]);
        let Transfers { to_device, to_host } = of_this_thread() - before;
        assert_eq!((to_device.count, to_device.bytes), (1, 12));
        assert_eq!((to_host.count, to_host.bytes), (1, 12));
    }

    #[test]
    fn other_threads_count_in_the_whole_only() {
        let before = of_this_thread();
        let copied = std::thread::spawn(|| {
            let host = Tensor::from_slice(&[1.0_f32; 5]);
            drop(to_device(&host, Device::Cpu, Waiting::Blocking).unwrap());
            of_this_thread().to_device.bytes
        });
        assert_eq!(copied.join().unwrap(), 20);
        assert_eq!(of_this_thread(), before);
    }
}
