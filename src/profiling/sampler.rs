//! The sampler: where the threads are, some hundred times a second of processor time.

use super::stacks::Stacks;
use nix::sys::signal::{Signal, raise};
use pprof::{ProfilerGuard, ProfilerGuardBuilder};

/// Why nothing is sampled.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// Another profiler has the signal.
    #[error(
        "the signal SIGPROF is already handled in this process: is another profiler attached? Run without it to get a flamegraph"
    )]
    InUse,
    /// The timer, the signal or the buffer of samples was refused.
    #[error(
        "the sampler cannot be used here ({0}): check that the folder for temporary files is writable"
    )]
    Refused(#[from] pprof::Error),
    /// The signal came, and gave no stack.
    #[error(
        "stacks cannot be read on this machine: the run has a phase table and a trace, but no flamegraph"
    )]
    Blind,
}

/// A sampler that runs. Dropping it stops it.
pub struct Sampler {
    guard: ProfilerGuard<'static>,
}

impl Sampler {
    /// Starts sampling all threads `frequency` times per second of processor time (1 to 1,000). To be called while this thread is the only one
    /// that computes.
    ///
    /// # Errors
    /// [`SamplerError`]; the process then runs on as if nothing had been asked.
    pub fn start(frequency: u16) -> Result<Self, SamplerError> {
        if signal_is_handled() {
            return Err(SamplerError::InUse);
        }
        prepare_unwinder()?;
        Ok(Self {
            guard: guard(frequency.clamp(1, 1_000).into())?,
        })
    }

    /// Stops, and names the functions of the stacks sampled.
    ///
    /// # Errors
    /// [`SamplerError::Refused`]: the samples that were moved to a temporary file cannot be read back.
    pub fn finish(self) -> Result<Stacks, SamplerError> {
        let report = self.guard.report().build_unresolved()?;
        // Before the names are looked up, which is work that nobody wants to see.
        drop(self);
        let samples = report.data.iter().map(|(stack, &count)| {
            let name = &stack.thread_name[..stack.thread_name_length];
            let addresses = stack.frames.iter().map(|frame| frame.ip).collect();
            (
                String::from_utf8_lossy(name).into_owned(),
                addresses,
                u64::try_from(count).unwrap_or(0),
            )
        });
        Ok(Stacks::resolve(samples.collect()))
    }
}

/// Samples whose innermost frame is in the unwinder of C++ exceptions are dropped: the handler calls into that library too.
fn guard(frequency: i32) -> Result<ProfilerGuard<'static>, pprof::Error> {
    ProfilerGuardBuilder::default()
        .frequency(frequency)
        .blocklist(&["libgcc"])
        .build()
}

/// Has the handler run once while this thread holds no lock. The unwinder reads the tables of all libraries at its first sample, which
/// allocates and takes the dynamic linker's lock; later samples do neither.
fn prepare_unwinder() -> Result<(), SamplerError> {
    // Once per second of processor time: the sample below comes first.
    let guard = guard(1)?;
    raise(Signal::SIGPROF).map_err(|_| SamplerError::Blind)?;
    let first = guard.report().build_unresolved()?;
    if first.data.keys().all(|stack| stack.frames.len() < 2) {
        return Err(SamplerError::Blind);
    }
    Ok(())
}

/// Whether this process handles SIGPROF already. Where the system does not tell, it is taken to be free.
fn signal_is_handled() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    caught(&status, Signal::SIGPROF as u32)
}

/// Whether the mask of caught signals in `status` (as in proc(5)) has `signal`.
fn caught(status: &str, signal: u32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_signal_is_read_from_the_mask() {
        let status = "Name:\tx\nSigIgn:\t0000000004000000\nSigCgt:\t0000000000000440\n";
        assert!(caught(status, 7) && caught(status, 11));
        assert!(!caught(status, 27) && !caught(status, 1));
        assert!(!caught("Name:\tx\n", 7), "what is not told is free");
        assert!(!caught("SigCgt:\tno number\n", 7));
    }
}
