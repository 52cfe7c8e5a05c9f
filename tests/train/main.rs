//! `coorl-async train` from outside: what a run leaves, how it goes on, how it ends, what it refuses.

mod artefacts;
mod averages;
mod failures;
mod interrupts;
#[path = "../outside/mod.rs"]
mod outside;
mod precision;
mod program;
mod refusals;
mod resume;
