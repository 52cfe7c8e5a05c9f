//! What is watched in a game beyond its result; which things those are is the game's business.

mod expeditions;

pub use expeditions::ExpeditionDiagnostics;

use crate::game::{Action, Game, Player, kuhn::Kuhn, leduc::Leduc};

/// A game that evaluation has diagnostics for.
pub trait Diagnosed: Game {
    /// What is watched; `()` watches nothing.
    type Diagnostics: GameDiagnostics<Self>;
}

/// Observations of the evaluated policy. One value watches one game; [`GameDiagnostics::merge`] sums games.
pub trait GameDiagnostics<G: Game>: Default + Send + 'static {
    /// Sees a decision of the policy before it is applied: `action`, a game action id, at `state`.
    fn record_decision(&mut self, game: &G, state: &G::State, action: Action);
    /// Sees the last position of the game, over or cut off.
    fn record_end(&mut self, game: &G, state: &G::State, policy: Player);
    /// Adds the observations of later games.
    fn merge(&mut self, later: Self);
    /// Emits the metrics by name, without prefix, for `games` games with `decisions` decisions of the policy. All are finite.
    fn emit(&self, games: u64, decisions: u64, out: &mut dyn FnMut(&'static str, f64));
}

impl<G: Game> GameDiagnostics<G> for () {
    fn record_decision(&mut self, _: &G, _: &G::State, _: Action) {}
    fn record_end(&mut self, _: &G, _: &G::State, _: Player) {}
    fn merge(&mut self, _: Self) {}
    fn emit(&self, _: u64, _: u64, _: &mut dyn FnMut(&'static str, f64)) {}
}

impl Diagnosed for Kuhn {
    type Diagnostics = ();
}

impl Diagnosed for Leduc {
    type Diagnostics = ();
}
