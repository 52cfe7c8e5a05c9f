//! Profiling: where the time of a training run goes, and what the network costs by batch size.
//!
//! ```text
//! run      training::Session --phases, batches--> Timeline --> trace.json
//!             | SIGPROF by processor time        metrics.jsonl --> PhaseTable --> phases.md
//!          Sampler --names--> Stacks --> stacks.folded, flamegraph.svg, phases.md
//! forward  network, by batch size, by way of running it --> sweep --> table, the size after which a row gets no cheaper
//! ```
//!
//! # Why the sampler cannot stop a run
//!
//! A sampling profiler interrupts a thread anywhere, so its handler may neither wait for a lock nor allocate. The crate `pprof` offers three
//! ways to read a stack from there:
//!
//! * libgcc's unwinder (its default). It trusts its tables and the stack: a thread interrupted in the middle of a prologue, or in C++ code
//!   without tables, has crashed programs (tikv/pprof-rs issues 36, 75, 76, 203); and it asks the dynamic linker under a lock. The usual
//!   remedy, dropping every sample whose innermost frame is in libc, would also drop what is wanted here: `memcpy`, `malloc`, page faults.
//! * Frame pointers. Safe, but libtorch and the standard library are compiled without them, and that is where the time goes.
//! * The crate `framehop` (chosen). It starts at the interrupted registers, holds its own copies of the unwind tables, reads no stack
//!   address that it has not found readable, and does not allocate.
//!
//! In pprof 0.15 three things are left, and dealt with in [`Sampler`]:
//!
//! * The tables are read at the first sample, inside the handler, with allocation (issue 281). The sampler is therefore started once at one
//!   sample per second, and the signal raised by hand in a thread that holds no lock, before the run has any threads of its own.
//! * Samples are told apart by the start of each function, which asks libgcc for it. Since glibc 2.35 that takes no lock; before, it takes
//!   the linker's lock, which the thread that has it may take again, while other threads' handlers give up at once (they only try for
//!   the profiler's own lock). Samples inside libgcc itself are dropped, so that it is never entered halfway through itself.
//! * The handler's lock is only ever tried, so two signals at once cost a sample, not the run.
//!
//! The timer counts processor time: threads that wait are not interrupted, and not seen. Names are looked up after the sampler has
//! stopped.

mod forward;
mod phases;
mod sampler;
mod stacks;
mod timeline;
mod ways;

pub use forward::{Curve, Effort, Point, Way, flat_from, sweep, table};
pub use phases::{PhaseTable, functions_table, samples_table};
pub use sampler::{Sampler, SamplerError};
pub use stacks::{FunctionSamples, Stacks};
pub use timeline::{PhaseSpans, TARGET, Timeline};
pub use ways::ways;
