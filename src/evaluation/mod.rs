//! Games of the trained policy against scripted opponents or another policy, batched through the executor.
//!
//! ```text
//! Schedule --opponents--> Arena::evaluate --Engine::run--> Pairing::play_on, one suspendable future per game
//! Judge ----mirrored----->                                      | GameRecord (result, diagnostics, times)
//!                              OpponentReport <-- Tally <-------+ merged in game order
//!                                | eval/<opponent>/<metric>, table(); the judge's Standing
//! ```
//!
//! A game encodes each policy turn into the slot it leases, asks the head that [`Evaluated`] names, and goes on; the games of all
//! opponents are in flight together. Deals and the players' chance derive from seed, [`Deals`] and game alone: every opponent meets the
//! same deals, and neither batch sizes nor threads change a result.
//!
//! Training looks at itself with an [`Arena`] on fresh deals. The [`Judge`] plays mirrored ones that no training meets.

mod arena;
mod deals;
mod diagnostics;
mod evaluated;
pub mod exploitability;
mod judge;
mod opponent;
mod pairing;
mod policy;
mod report;
mod schedule;
mod settings;
mod standing;
mod statistics;
mod tally;

pub use arena::{Arena, EvaluationError};
pub use deals::Deals;
pub use diagnostics::{Diagnosed, ExpeditionDiagnostics, GameDiagnostics};
pub use evaluated::Evaluated;
pub use judge::{Contestant, Judge, JudgeError};
pub use opponent::{Opponent, Position, Rival, Scripted};
pub use pairing::{GameError, GameRecord, Outcome, Pairing, PolicySource, Side, Times};
pub use policy::{Decision, PolicyMode, Reading};
pub use report::{OpponentReport, table};
pub use schedule::Schedule;
pub use settings::{OnMaxSteps, Settings};
pub use standing::Standing;
pub use statistics::{mean, percentile, standard_error, wilson95};
pub use tally::Tally;
