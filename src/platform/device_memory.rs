//! How much memory a CUDA device has left, as its runtime says.

use super::cuda::open;
use libloading::os::unix::Library;
use std::{ffi::c_int, sync::OnceLock};
use tch::Device;

/// The runtime that libtorch itself uses, in the names that its builds give it.
const RUNTIMES: [&str; 3] = ["libcudart.so.13", "libcudart.so.12", "libcudart.so"];

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// What nobody has taken. What libtorch keeps for later use counts as taken.
    pub free_bytes: u64,
    /// All of it.
    pub total_bytes: u64,
}

/// The memory of `device`; `None` for a CPU, or where the runtime does not tell.
pub fn device_memory(device: Device) -> Option<DeviceMemory> {
    let Device::Cuda(index) = device else {
        return None;
    };
    let library = runtime()?;
    ask(library, c_int::try_from(index).ok()?).ok().flatten()
}

pub(super) fn runtime() -> Option<&'static Library> {
    static RUNTIME: OnceLock<Option<Library>> = OnceLock::new();
    let library = RUNTIME.get_or_init(|| RUNTIMES.into_iter().find_map(|name| open(name).ok()));
    library.as_ref()
}

fn ask(library: &Library, index: c_int) -> Result<Option<DeviceMemory>, libloading::Error> {
    let (mut before, mut free, mut total) = (0, 0_usize, 0_usize);
    // SAFETY: names and signatures are those of the CUDA runtime API (cudaGetDevice, cudaSetDevice, cudaMemGetInfo), unchanged since CUDA 4;
    // the pointers are to live locals, and `library` is never closed. The calling thread's current device is put back.
    let status = unsafe {
        let get = library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"cudaGetDevice\0")?;
        let set = library.get::<unsafe extern "C" fn(c_int) -> c_int>(b"cudaSetDevice\0")?;
        let info = library
            .get::<unsafe extern "C" fn(*mut usize, *mut usize) -> c_int>(b"cudaMemGetInfo\0")?;
        let mut status = get(&mut before);
        if status == 0 {
            status = set(index);
        }
        if status == 0 {
            status = info(&mut free, &mut total);
            set(before);
        }
        status
    };
    Ok((status == 0).then_some(DeviceMemory {
        free_bytes: free as u64,
        total_bytes: total as u64,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_tells_nothing_and_a_device_that_is_not_there_neither() {
        assert_eq!(device_memory(Device::Cpu), None);
        assert_eq!(device_memory(Device::Cuda(4_000)), None);
    }
}
