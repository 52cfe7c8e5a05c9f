//! Thresholds of the C library's allocator.

/// Keeps blocks of up to 32 MiB in the heap once freed, instead of giving them back to the system.
///
/// A forward pass allocates activations of about 1 MiB. By default glibc maps each afresh and unmaps it when freed, so every page
/// is faulted in again at every call, which costs 15 to 30% of the pass. Larger blocks (replay columns, whose untouched pages
/// cost nothing) stay mapped on their own. A user's `MALLOC_MMAP_THRESHOLD_` or `MALLOC_TRIM_THRESHOLD_` wins.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn keep_freed_memory() {
    const THRESHOLDS: [(&str, libc::c_int, libc::c_int); 2] = [
        // The largest value that glibc accepts on a 64-bit machine.
        ("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, 32 << 20),
        ("MALLOC_TRIM_THRESHOLD_", libc::M_TRIM_THRESHOLD, 512 << 20),
    ];
    for (variable, parameter, bytes) in THRESHOLDS {
        if std::env::var_os(variable).is_none() {
            // SAFETY: mallopt takes two plain integers, locks the allocator itself, and refuses a value it cannot take.
            unsafe { libc::mallopt(parameter, bytes) };
        }
    }
}

/// Other C libraries have no such thresholds.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn keep_freed_memory() {}
