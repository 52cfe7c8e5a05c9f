//! Leaving while other threads still compute.

/// Ends the process at once: no destructor runs, nothing that waits in a buffer is written.
///
/// `std::process::exit` runs the destructors of libtorch's globals, and crashes now and then under the threads that still use them.
pub fn leave(code: u8) -> ! {
    // SAFETY: `_exit` takes any number, touches no memory of the process and does not return.
    unsafe { libc::_exit(code.into()) }
}
