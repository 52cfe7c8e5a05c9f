//! Games of the trained policy against scripted opponents, batched through the executor.
//!
//! ```text
//! Schedule --opponents--> Arena::evaluate --Engine::run--> Pairing::play, one suspendable future per game
//!                                                               | GameRecord (result, diagnostics, times)
//!                              OpponentReport <-- Tally <-------+ merged in game order
//!                                | eval/<opponent>/<metric>, table()
//! ```
//!
//! A game encodes each policy turn into the slot it leases, asks the head that [`Evaluated`] names, and goes on; the games of all
//! opponents are in flight together. Deals and the players' chance derive from (seed, iteration, game) alone: every opponent meets the
//! same deals, and neither batch sizes nor threads change a result.

mod arena;
mod diagnostics;
mod evaluated;
pub mod exploitability;
mod pairing;
mod policy;
mod report;
mod schedule;
mod settings;
mod statistics;
mod tally;

pub use arena::{Arena, EvaluationError};
pub use diagnostics::{Diagnosed, ExpeditionDiagnostics, GameDiagnostics};
pub use evaluated::Evaluated;
pub use pairing::{GameError, GameRecord, Outcome, Pairing, PolicySource, Times};
pub use policy::{Decision, PolicyMode, Reading};
pub use report::{OpponentReport, table};
pub use schedule::Schedule;
pub use settings::{OnMaxSteps, Settings};
pub use statistics::{mean, percentile, standard_error, wilson95};
pub use tally::Tally;
