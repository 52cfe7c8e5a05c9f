//! What the machine has: cores, SIMD level, memory; and which libtorch the process runs.

use libloading::os::unix::Library;
use std::{
    ffi::{CStr, c_void},
    path::PathBuf,
};
use sysinfo::{MemoryRefreshKind, System};

/// The widest vector instructions of this processor, by libtorch's own rule for choosing its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdLevel {
    /// x86-64 with AVX-512 F, BW, DQ and VL, and FMA.
    Avx512,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 without AVX2: kernels run several times slower.
    Sse,
    /// 64-bit Arm.
    Neon,
    /// Anything else.
    Scalar,
}

impl SimdLevel {
    /// Its name, as libtorch's `ATEN_CPU_CAPABILITY` spells those that it knows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Sse => "sse",
            Self::Neon => "neon",
            Self::Scalar => "none",
        }
    }
}

/// The SIMD level of this processor.
pub fn simd_level() -> SimdLevel {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        let fma = has!("fma");
        if fma && has!("avx512f") && has!("avx512vl") && has!("avx512bw") && has!("avx512dq") {
            SimdLevel::Avx512
        } else if fma && has!("avx2") {
            SimdLevel::Avx2
        } else {
            SimdLevel::Sse
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        SimdLevel::Neon
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        SimdLevel::Scalar
    }
}

/// Threads that may run at once: logical cores, less what an affinity mask or a container's quota takes away; at least 1.
pub fn logical_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Physical cores of the machine, if the system tells; a container may be allowed fewer.
pub fn physical_cores() -> Option<usize> {
    System::physical_core_count()
}

/// Bytes of memory of the machine, or of the container if that is less.
pub fn total_memory_bytes() -> u64 {
    let system = memory();
    let limit = system
        .cgroup_limits()
        .map_or(u64::MAX, |limits| limits.total_memory);
    system.total_memory().min(limit)
}

/// Bytes of memory that can still be had without swapping.
pub fn available_memory_bytes() -> u64 {
    let system = memory();
    let limit = system
        .cgroup_limits()
        .map_or(u64::MAX, |limits| limits.free_memory);
    system.available_memory().min(limit)
}

fn memory() -> System {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    system
}

/// The most memory this process has held at once, in bytes (resident set).
pub fn peak_memory_bytes() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: getrusage fills the whole structure behind the pointer, which is valid and writable, when it returns 0.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).ok().map(|peak| peak * unit)
}

/// The libtorch that this process runs, asked of the loaded library itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libtorch {
    /// Its version, as `2.11.0`.
    pub version: String,
    /// The file it was loaded from, if the loader tells.
    pub file: Option<PathBuf>,
}

/// Asks the loaded libtorch for its version; `None` if it is older than the call (torch 2.8).
pub fn libtorch() -> Option<Libtorch> {
    let process = Library::this();
    // SAFETY: the symbol is libtorch's C interface (`aoti_torch_abi_version`, no arguments, returns 64 bits), which stays loaded for
    // the life of the process. dladdr fills `place` when it returns non-zero, with a name that lives as long as the library.
    unsafe {
        let symbol = process
            .get::<unsafe extern "C" fn() -> u64>(b"aoti_torch_abi_version\0")
            .ok()?;
        // Bytes from the top: major, minor, patch (torch/headeronly/version.h).
        let [major, minor, patch, ..] = symbol().to_be_bytes();
        let address = *symbol as *const c_void;
        let mut place = std::mem::zeroed::<libc::Dl_info>();
        let found = libc::dladdr(address, &mut place) != 0 && !place.dli_fname.is_null();
        Some(Libtorch {
            version: format!("{major}.{minor}.{patch}"),
            file: found.then(|| {
                PathBuf::from(
                    CStr::from_ptr(place.dli_fname)
                        .to_string_lossy()
                        .into_owned(),
                )
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_follows_what_is_touched() {
        let before = peak_memory_bytes().unwrap_or(0);
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = peak_memory_bytes().unwrap_or(0);
        assert!(
            after >= block.len() as u64,
            "{after} bytes at least the block's"
        );
        assert!(after >= before);
        assert!(
            after <= total_memory_bytes(),
            "{after} of {}",
            total_memory_bytes()
        );
    }

    #[test]
    fn memory_and_cores_are_plausible() {
        assert!(available_memory_bytes() <= total_memory_bytes());
        assert!(total_memory_bytes() > 64 << 20);
        assert!(logical_cores() >= 1);
        assert!(!simd_level().name().is_empty());
    }

    #[test]
    fn the_loaded_libtorch_is_the_one_built_against() {
        // Anything that calls into libtorch keeps it linked.
        assert!(tch::get_num_threads() >= 1);
        let running = libtorch().map(|libtorch| libtorch.version);
        assert_eq!(running.as_deref(), Some(env!("COORL_LIBTORCH_VERSION")));
    }
}
