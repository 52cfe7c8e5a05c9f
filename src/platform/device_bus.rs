//! Where a CUDA device is on the bus, as its runtime says.

use super::device_memory::runtime;
use libloading::os::unix::Library;
use std::ffi::{CStr, c_char, c_int};

/// Bytes for the answer, `domain:bus:device.function`.
const LENGTH: usize = 32;

/// The bus id of the device that the runtime, and so libtorch, numbers `index`: such numbers are among the devices that CUDA_VISIBLE_DEVICES
/// leaves. `None` where there is no such device, or the runtime does not tell.
pub(super) fn bus_id(index: usize) -> Option<String> {
    let index = c_int::try_from(index).ok()?;
    ask(runtime()?, index).ok().flatten()
}

fn ask(library: &Library, index: c_int) -> Result<Option<String>, libloading::Error> {
    let mut text: [c_char; LENGTH] = [0; LENGTH];
    // SAFETY: name and signature are those of the CUDA runtime API (cudaDeviceGetPCIBusId), unchanged since CUDA 4.1, and `library` is never
    // closed. `text` is written within its stated length and stays terminated, since its last byte is beyond that length; a call that
    // fails leaves the zeros.
    let (status, text) = unsafe {
        let get = library.get::<unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int>(
            b"cudaDeviceGetPCIBusId\0",
        )?;
        let status = get(text.as_mut_ptr(), LENGTH as c_int - 1, index);
        (status, CStr::from_ptr(text.as_ptr()))
    };
    let told = (status == 0).then(|| text.to_string_lossy().into_owned());
    Ok(told.filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_nowhere() {
        assert_eq!(bus_id(4_000), None);
        assert_eq!(bus_id(usize::MAX), None);
    }
}
