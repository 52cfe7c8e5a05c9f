//! Scripted opponents.
//!
//! A [`Bot`] answers with a game action at any state; a [`ScriptedGame`] knows its bots by name. Those of Lost Cities are
//! [`LostCitiesBot`]; the other games have [`RandomBot`] only.

pub mod lost_cities;

mod random;

pub use lost_cities::LostCitiesBot;
pub use random::RandomBot;

use crate::game::{Action, Game};
use crate::random::Randomness;

/// A scripted player. It keeps no state between decisions: what it needs of chance comes from the caller.
pub trait Bot<G: Game>: Clone + Send + Sync + 'static {
    /// The game action id the bot takes for the mover of a state that is not terminal.
    fn act<R: Randomness>(&self, game: &G, state: &G::State, rng: &mut R) -> Action;
    /// The canonical name.
    fn name(&self) -> &'static str;
}

/// A name no bot answers to, or a variant the named bot cannot play.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BotError {
    /// No such name.
    #[error("there is no bot \"{name}\"; known: {}", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The canonical names.
        known: Vec<&'static str>,
    },
    /// The bot's tables do not reach that far.
    #[error("bot \"{name}\" plays at most {limit}")]
    Limit {
        /// The bot.
        name: &'static str,
        /// What it can play.
        limit: &'static str,
    },
}

/// A game that scripted opponents exist for.
pub trait ScriptedGame: Game {
    /// The bots of this game.
    type Bot: Bot<Self>;
    /// The canonical names.
    fn bot_names() -> &'static [&'static str];
    /// The bot of a name or alias (trimmed, any case, `-` and `_` alike) for this variant.
    fn bot(&self, name: &str) -> Result<Self::Bot, BotError>;
}
