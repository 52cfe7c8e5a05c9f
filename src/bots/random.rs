//! The scripted player that every game has.

use super::{Bot, BotError, ScriptedGame};
use crate::game::{Action, Game, kuhn::Kuhn, leduc::Leduc};
use crate::random::Randomness;

/// Uniform over the legal actions.
#[derive(Clone, Copy, Debug)]
pub struct RandomBot;

impl RandomBot {
    /// Its name.
    pub const NAME: &'static str = "random";

    /// The bot called `name` in games that have no other.
    fn named(name: &str) -> Result<Self, BotError> {
        if name.trim().eq_ignore_ascii_case(Self::NAME) {
            Ok(Self)
        } else {
            Err(BotError::Unknown {
                name: name.trim().to_owned(),
                known: vec![Self::NAME],
            })
        }
    }
}

impl<G: Game> Bot<G> for RandomBot {
    fn act<R: Randomness>(&self, game: &G, state: &G::State, rng: &mut R) -> Action {
        let legal = game.legal_actions(state);
        legal.nth(rng.index(legal.len())).unwrap_or_default()
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }
}

impl ScriptedGame for Kuhn {
    type Bot = RandomBot;

    fn bot_names() -> &'static [&'static str] {
        &[RandomBot::NAME]
    }

    fn bot(&self, name: &str) -> Result<RandomBot, BotError> {
        RandomBot::named(name)
    }
}

impl ScriptedGame for Leduc {
    type Bot = RandomBot;

    fn bot_names() -> &'static [&'static str] {
        &[RandomBot::NAME]
    }

    fn bot(&self, name: &str) -> Result<RandomBot, BotError> {
        RandomBot::named(name)
    }
}
