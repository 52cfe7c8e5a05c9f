//! The CUDA half of libtorch and NVIDIA's driver, both opened at run time, so that one binary serves machines with and without.

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::{
    ffi::{CStr, c_char, c_int},
    sync::OnceLock,
};

const CUDA_LIBRARY: &str = "libtorch_cuda.so";
const DRIVER_LIBRARY: &str = "libcuda.so.1";

/// What became of opening `libtorch_cuda`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CudaLibrary {
    /// It is not on the library path, with the loader's words: a CPU-only libtorch.
    NotFound(String),
    /// It is loaded; whether a device is usable is for the driver to say.
    Loaded,
    /// It is there and cannot be loaded, with the loader's words: usually a library that it needs is missing.
    LoadFailed(String),
}

/// Opens `libtorch_cuda` at the first call and tells ever after what came of it.
///
/// libtorch reads the presence of CUDA from what has registered itself by the time it is first asked, so the first call must come
/// before the first tensor: [`init`](super::init) makes it.
pub fn cuda_library() -> &'static CudaLibrary {
    static OUTCOME: OnceLock<CudaLibrary> = OnceLock::new();
    OUTCOME.get_or_init(|| match open(CUDA_LIBRARY) {
        Ok(library) => {
            // It stays for the life of the process: libtorch keeps pointers into it.
            std::mem::forget(library);
            CudaLibrary::Loaded
        }
        // The loader names the file that is missing: this one, or one that it needs.
        Err(message) if message.starts_with(CUDA_LIBRARY) && message.contains("No such file") => {
            CudaLibrary::NotFound(message)
        }
        Err(message) if cfg!(target_os = "macos") => CudaLibrary::NotFound(message),
        Err(message) => CudaLibrary::LoadFailed(message),
    })
}

pub(super) fn open(name: &str) -> Result<Library, String> {
    // SAFETY: the libraries opened here are libtorch's and NVIDIA's own; their initialisers only register themselves, and every
    // caller keeps the library open while it uses a symbol of it.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) }
        .map_err(|error| loader_words(&error))
}

/// The loader's own sentence, which libloading puts behind a preamble.
fn loader_words(error: &libloading::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string())
}

/// A device that the driver lists.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CudaDevice {
    /// The driver's number of it.
    pub index: i32,
    /// Its name, as `NVIDIA H200`.
    pub name: String,
    /// Its memory in bytes.
    pub memory_bytes: u64,
}

/// What NVIDIA's driver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Its library is not there or cannot be loaded, with the loader's words.
    Missing(String),
    /// It is there and will not start, with the number of its error.
    Failed(i32),
    /// It runs.
    Running {
        /// The newest CUDA it supports: 1,000 x major + 10 x minor.
        cuda_version: i32,
        /// What it lists, possibly nothing.
        devices: Vec<CudaDevice>,
    },
}

/// Asks NVIDIA's driver for its version and devices.
pub fn driver() -> Driver {
    match open(DRIVER_LIBRARY) {
        Ok(library) => {
            let answer =
                ask_driver(&library).unwrap_or_else(|error| Driver::Missing(loader_words(&error)));
            // Closing a driver that has started is not supported everywhere.
            std::mem::forget(library);
            answer
        }
        Err(message) => Driver::Missing(message),
    }
}

fn ask_driver(library: &Library) -> Result<Driver, libloading::Error> {
    // SAFETY: names and signatures are those of the CUDA driver API (cuInit, cuDriverGetVersion, cuDeviceGetCount, cuDeviceGet),
    // unchanged since CUDA 3.2; the pointers are to live locals, and `library` outlives the symbols.
    unsafe {
        let init = library.get::<unsafe extern "C" fn(u32) -> c_int>(b"cuInit\0")?;
        let version =
            library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"cuDriverGetVersion\0")?;
        let count =
            library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"cuDeviceGetCount\0")?;
        let status = init(0);
        if status != 0 {
            return Ok(Driver::Failed(status));
        }
        let (mut cuda_version, mut devices) = (0, 0);
        let status = version(&mut cuda_version).max(count(&mut devices));
        if status != 0 {
            return Ok(Driver::Failed(status));
        }
        let devices = (0..devices)
            .map(|index| describe(library, index))
            .collect::<Result<_, _>>()?;
        Ok(Driver::Running {
            cuda_version,
            devices,
        })
    }
}

fn describe(library: &Library, index: c_int) -> Result<CudaDevice, libloading::Error> {
    let mut name: [c_char; 256] = [0; 256];
    let (mut device, mut memory) = (0, 0_usize);
    // SAFETY: signatures as in `ask_driver`. `name` is written within its stated length and stays terminated, since its last
    // byte is beyond that length; a call that fails leaves the zeros.
    let name = unsafe {
        let get =
            library.get::<unsafe extern "C" fn(*mut c_int, c_int) -> c_int>(b"cuDeviceGet\0")?;
        let get_name = library.get::<unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int>(
            b"cuDeviceGetName\0",
        )?;
        let total = library
            .get::<unsafe extern "C" fn(*mut usize, c_int) -> c_int>(b"cuDeviceTotalMem_v2\0")?;
        if get(&mut device, index) == 0 {
            get_name(name.as_mut_ptr(), 255, device);
            total(&mut memory, device);
        }
        CStr::from_ptr(name.as_ptr())
    };
    Ok(CudaDevice {
        index,
        name: name.to_string_lossy().into_owned(),
        memory_bytes: memory as u64,
    })
}

/// Why libtorch reports no CUDA device, in one sentence with the remedy; `None` if it reports one.
pub fn cuda_unavailable() -> Option<String> {
    let library = cuda_library();
    if tch::Cuda::is_available() {
        return None;
    }
    Some(explain(library, &driver()))
}

fn explain(library: &CudaLibrary, driver: &Driver) -> String {
    match library {
        CudaLibrary::NotFound(_) => {
            "libtorch_cuda is not on the library path (CPU-only libtorch): run `CUDA=1 make setup`"
                .into()
        }
        CudaLibrary::LoadFailed(message) => {
            format!(
                "libtorch_cuda cannot be loaded ({message}): run `CUDA=1 make setup` for its whole set"
            )
        }
        CudaLibrary::Loaded => match driver {
            Driver::Missing(message) => format!("no NVIDIA driver ({message}): install the driver"),
            Driver::Failed(status) => format!(
                "NVIDIA's driver does not start ({}): {}",
                status_name(*status),
                remedy(*status)
            ),
            Driver::Running { devices, .. } if devices.is_empty() => {
                "NVIDIA's driver lists no device: check CUDA_VISIBLE_DEVICES and nvidia-smi".into()
            }
            Driver::Running { cuda_version, .. } => format!(
                "libtorch finds no usable device though the driver (CUDA {}.{}) lists one: this libtorch needs a driver for CUDA 13.0 or newer",
                cuda_version / 1000,
                cuda_version % 1000 / 10
            ),
        },
    }
}

fn status_name(status: i32) -> String {
    match status {
        100 => "error 100, no device".into(),
        803 => "error 803, driver and kernel module differ in version".into(),
        804 => "error 804, driver too old for this device".into(),
        other => format!("error {other}"),
    }
}

fn remedy(status: i32) -> &'static str {
    match status {
        100 => "check CUDA_VISIBLE_DEVICES and that a GPU is plugged in",
        803 => "reboot, or reinstall the driver",
        _ => "see what nvidia-smi says",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_its_own_words() {
        let running = |devices| Driver::Running {
            cuda_version: 12_040,
            devices,
        };
        let device = CudaDevice {
            index: 0,
            name: "X".into(),
            memory_bytes: 1,
        };
        let cases = [
            (
                CudaLibrary::NotFound("x".into()),
                running(vec![]),
                "CUDA=1 make setup",
            ),
            (
                CudaLibrary::LoadFailed("libcudnn.so.9: gone".into()),
                running(vec![]),
                "libcudnn.so.9: gone",
            ),
            (
                CudaLibrary::Loaded,
                Driver::Missing("libcuda.so.1".into()),
                "no NVIDIA driver",
            ),
            (CudaLibrary::Loaded, Driver::Failed(100), "no device"),
            (CudaLibrary::Loaded, running(vec![]), "CUDA_VISIBLE_DEVICES"),
            (CudaLibrary::Loaded, running(vec![device]), "CUDA 12.4"),
        ];
        for (library, driver, part) in cases {
            let told = explain(&library, &driver);
            assert!(told.contains(part), "{library:?}, {driver:?}: {told}");
        }
    }

    #[test]
    fn a_library_that_is_nowhere_is_named_by_the_loader() {
        let message = open("libcoorl_nowhere.so").err();
        assert!(
            message.is_some_and(|words| words.starts_with("libcoorl_nowhere.so")
                || words.contains("libcoorl_nowhere.so"))
        );
    }
}
