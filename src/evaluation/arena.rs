//! All games of an evaluation, in flight together.

use super::diagnostics::Diagnosed;
use super::pairing::Asking;
use super::{Evaluated, GameError, GameRecord, OpponentReport, Pairing, Settings, Tally};
use crate::bots::{BotError, ScriptedGame};
use crate::encoding::Encoding;
use crate::game::Player;
use crate::inference::{Engine, EngineError, Job, Lease, StopFlag, Stopped};
use crate::random::{Purpose, Stream};
use std::sync::Arc;

/// Why there is no evaluation. The cause is the error's source, not part of its message.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EvaluationError {
    /// A setting that must be positive is 0.
    #[error("evaluation.{key} is 0; it must be 1 or more")]
    NotPositive {
        /// The key under `evaluation`.
        key: &'static str,
    },
    /// An opponent does not exist, or cannot play these rules.
    #[error("an opponent of evaluation.opponents or evaluation.extended_opponents is refused")]
    Bot(#[from] BotError),
    /// A game could not go on.
    #[error("evaluation game {game} against \"{opponent}\" could not go on")]
    Game {
        /// The opponent as configured.
        opponent: String,
        /// The game's number against this opponent.
        game: usize,
        /// What went wrong.
        source: GameError,
    },
    /// The executor failed or was stopped.
    #[error("evaluation did not finish")]
    Engine(#[from] EngineError),
}

/// Where the evaluated policy meets its opponents.
#[derive(Clone, Copy)]
pub struct Arena<'a, G, E> {
    /// Answers the heads that `policy` names.
    pub engine: &'a Engine,
    /// Who is evaluated.
    pub policy: Evaluated,
    /// The rules.
    pub game: &'a G,
    /// The encoding the network was trained with.
    pub encoding: &'a E,
    /// Games per opponent, limits, modes.
    pub settings: &'a Settings,
    /// The run's seed.
    pub seed: u64,
}

impl<G: ScriptedGame + Diagnosed, E: Encoding<G>> Arena<'_, G, E> {
    /// Plays `settings.games` games against each of `opponents`; reports come in their order.
    ///
    /// Game `g` is dealt and played from the stream (seed, evaluation, `iteration`, `g`): all opponents meet the same deals, and another
    /// iteration other ones. `settings.batch_size` games per opponent are in flight. `progress` is told the number of finished games
    /// after each, of `opponents.len() * settings.games`.
    ///
    /// # Errors
    /// A setting of 0, an unknown opponent, the first game (by number) that could not go on, or whatever stopped the engine. Nothing is
    /// played when a setting or an opponent is refused.
    pub fn evaluate(
        &self,
        opponents: &[impl AsRef<str>],
        iteration: u32,
        stop: &StopFlag,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<OpponentReport>, EvaluationError> {
        let settings = self.settings;
        for (key, value) in [
            ("games", settings.games),
            ("max_steps", settings.max_steps),
            ("batch_size", settings.batch_size),
        ] {
            if value == 0 {
                return Err(EvaluationError::NotPositive { key });
            }
        }
        let names = opponents.iter().map(AsRef::as_ref);
        let bots = names.clone().map(|name| self.game.bot(name));
        let job = EvaluationJob {
            game: self.game.clone(),
            encoding: self.encoding.clone(),
            opponents: bots.collect::<Result<_, _>>()?,
            policy: self.policy,
            settings: settings.clone(),
            seed: self.seed,
            iteration,
        };
        let mut tallies: Vec<_> = names.map(Tally::<G, G::Diagnostics>::new).collect();
        let mut failed = None;
        let count = opponents.len() * settings.games;
        let in_flight = opponents
            .len()
            .saturating_mul(settings.batch_size)
            .min(count);
        if count == 0 {
            return Ok(Vec::new());
        }
        self.engine
            .run(Arc::new(job), count, in_flight, stop, |index, played| {
                match played {
                    Ok(record) => tallies[index / settings.games].add(record),
                    // Outputs come in index order, so the first failure is always the same one.
                    Err(source) => drop(failed.get_or_insert((index, source))),
                }
                progress(index + 1);
            })?;
        match failed {
            None => Ok(tallies.iter().map(Tally::report).collect()),
            Some((index, source)) => Err(EvaluationError::Game {
                opponent: opponents[index / settings.games].as_ref().to_owned(),
                game: index % settings.games,
                source,
            }),
        }
    }
}

/// Game `g` against opponent `o` is repetition `o * games + g`.
struct EvaluationJob<G: ScriptedGame, E> {
    game: G,
    encoding: E,
    opponents: Vec<G::Bot>,
    policy: Evaluated,
    settings: Settings,
    seed: u64,
    iteration: u32,
}

impl<G: ScriptedGame + Diagnosed, E: Encoding<G>> Job for EvaluationJob<G, E> {
    type Output = Result<GameRecord<G::Diagnostics>, GameError>;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<Self::Output, Stopped> {
        let (opponent, number) = (index / self.settings.games, index % self.settings.games);
        let pairing = Pairing {
            game: &self.game,
            encoding: &self.encoding,
            reading: self.policy.reading(),
            opponent: &self.opponents[opponent],
            settings: &self.settings,
        };
        let stream = Stream::new(
            self.seed,
            Purpose::Evaluation,
            u64::from(self.iteration),
            number as u64,
        );
        let head = self.policy.head(number, Player::from_parity(number));
        let mut source = Asking { lease, head };
        match pairing.play(number, stream, &mut source).await {
            Err(GameError::Stopped(stopped)) => Err(stopped),
            played => Ok(played),
        }
    }
}
