//! Deep CFR for two-player imperfect-information games.
//!
//! A traversal of the game tree needs one network call per decision, and a row in a call for one state costs many times
//! what a row in a call for hundreds does. Traversals here are suspendable futures: many are in flight, each yields at its network call, one executor
//! gathers the waiting ones into a single inference and resumes them.
//!
//! ```text
//! game state --encode--> slot row --gather--> one inference --scatter--> traversal resumes
//!                                                                          | finished walk
//! fit networks <--index_select-- contiguous replay columns <--one copy-- sample arena
//! ```
//!
//! Modules from the ground up: [`random`] and [`game`]; [`encoding`], [`regret`], [`bots`]; [`network`]; [`inference`];
//! [`replay`], [`traversal`], [`evaluation`]; [`checkpoint`], [`telemetry`], [`tuning`]; [`training`], [`config`]; [`profiling`];
//! [`cli`]. Beside them stands [`platform`]: the machine, libtorch and the driver.

pub mod bots;
pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod encoding;
pub mod evaluation;
pub mod game;
pub mod inference;
pub mod network;
pub mod platform;
pub mod profiling;
pub mod random;
pub mod regret;
pub mod replay;
pub mod telemetry;
pub mod training;
pub mod traversal;
pub mod tuning;
