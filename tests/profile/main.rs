//! `coorl-async profile` from outside: what it leaves, and that the run under it is the run without it.

mod forward;
mod interrupts;
mod outputs;
#[path = "../outside/mod.rs"]
mod outside;
mod program;
mod scenarios;
