//! The machine and the process: what must happen before the first tensor, and what the machine has.
//!
//! ```text
//! main --init--> allocator: freed activations stay in the process
//!          |---> cuda: libtorch_cuda opened if it is on the library path, its outcome remembered
//! doctor, telemetry --> machine: cores, SIMD level, memory; cuda: why there is no device
//! replay.device --> device_memory: what a device has free            telemetry --> nvml: how it is used
//! run.device --> device: the one asked for, or why not          whoever copies to or from it --> transfers: counted copies
//! ```
//!
//! Talking to the C library and the driver needs `unsafe`: this folder is a stated exception to the rule that keeps it in
//! `replay` and `inference::slots`.

mod allocator;
mod cuda;
mod device;
mod device_bus;
mod device_memory;
mod exit;
mod host_block;
mod machine;
mod nvml;
mod prefetch;
pub mod transfers;

pub use cuda::{CudaDevice, CudaLibrary, Driver, cuda_library, cuda_unavailable, driver};
pub use device::{ChosenDevice, DeviceError, choose_device, device_name, synchronize};
pub use device_memory::{DeviceMemory, device_memory};
pub use exit::leave;
pub use host_block::HostBlock;
pub use machine::{
    Libtorch, SimdLevel, available_memory_bytes, libtorch, logical_cores, peak_memory_bytes,
    physical_cores, simd_level, total_memory_bytes,
};
pub use nvml::{DeviceReader, NvmlDevice};
pub use prefetch::{prefetch, prefetch_bytes};

/// Prepares the process: once, before the first call into libtorch and before other threads run.
///
/// Opening `libtorch_cuda`, where it is there, takes a second or two: a command that touches no tensor need not call this.
pub fn init() {
    allocator::keep_freed_memory();
    cuda_library();
}
