//! `coorl-async tune`: the order of measurements, what is made of them, and the program from outside.

mod fake;
#[path = "../outside/mod.rs"]
mod outside;
mod program;
mod refusals;
mod report;
mod sweep;
mod verdict;
