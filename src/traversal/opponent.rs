//! Who moves for the player that is not the traverser.

use super::{LeagueSettings, league::League};
use crate::{
    bots::{BotError, ScriptedGame},
    random::Randomness,
};

/// The opponent of one walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent<B> {
    /// The opponent seat's current advantage network; outcome sampling explores and weights its decisions too if the settings say so.
    Network,
    /// The average strategy, sampled as it is.
    AverageStrategy,
    /// A league snapshot's advantage network (0 = oldest), regret-matched and sampled as it is.
    Snapshot(u8),
    /// A scripted player.
    Bot(B),
}

/// How each walk gets its opponent.
#[derive(Clone, Debug)]
pub enum OpponentPolicy<B> {
    /// The same for every walk.
    Always(Opponent<B>),
    /// Drawn per walk from current, recent and older networks and an anchor bot.
    League(League<B>),
}

impl<B: Clone> OpponentPolicy<B> {
    /// Reads `network`, `average_strategy`, `self_play_league` or a bot's name.
    ///
    /// # Errors
    /// The name is none of these, or the bot cannot play this variant.
    pub fn parse<G>(name: &str, league: &LeagueSettings, game: &G) -> Result<Self, BotError>
    where
        G: ScriptedGame<Bot = B>,
    {
        Ok(
            match name.trim().to_lowercase().replace('-', "_").as_str() {
                "network" => Self::Always(Opponent::Network),
                "average_strategy" => Self::Always(Opponent::AverageStrategy),
                "self_play_league" => {
                    Self::League(League::new(league, game.bot("safe_heuristic")?))
                }
                _ => Self::Always(Opponent::Bot(game.bot(name)?)),
            },
        )
    }

    /// The opponent of a walk when `snapshots` league snapshots exist.
    pub(super) fn choose<R: Randomness>(&self, snapshots: usize, rng: &mut R) -> Opponent<B> {
        match self {
            Self::Always(opponent) => opponent.clone(),
            Self::League(league) => league.choose(snapshots, rng),
        }
    }
}
