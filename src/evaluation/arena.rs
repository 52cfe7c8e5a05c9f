//! All games of an evaluation, in flight together.

use super::diagnostics::Diagnosed;
use super::pairing::Asking;
use super::{
    Deals, Evaluated, GameError, GameRecord, Opponent, OpponentReport, Pairing, Rival, Scripted,
    Settings, Tally,
};
use crate::bots::{BotError, ScriptedGame};
use crate::encoding::Encoding;
use crate::game::{Game, Player};
use crate::inference::{Engine, EngineError, Job, Lease, Set, StopFlag, Stopped};
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
    /// Deal and chance of game `g` derive from `seed`, `deals` and `g`: all opponents meet the same deals. `settings.batch_size` games per
    /// opponent are in flight. `progress` is told the number of finished games after each, of `opponents.len() * settings.games`.
    ///
    /// # Errors
    /// A setting of 0, an unknown opponent, the first game (by number) that could not go on, or whatever stopped the engine. Nothing is
    /// played when a setting or an opponent is refused.
    pub fn evaluate(
        &self,
        opponents: &[impl AsRef<str>],
        deals: Deals,
        stop: &StopFlag,
        progress: impl FnMut(usize),
    ) -> Result<Vec<OpponentReport>, EvaluationError> {
        check(self.settings)?;
        let names: Vec<_> = opponents.iter().map(AsRef::as_ref).collect();
        let bots = names.iter().map(|name| self.game.bot(name).map(Scripted));
        let bots = bots.collect::<Result<Vec<_>, _>>()?;
        self.play(&names, bots, deals, stop, progress)
    }

    /// Plays `settings.games` games against another policy, whose heads are in the engine's second set, under the name `name`. Otherwise as
    /// [`Arena::evaluate`].
    ///
    /// # Errors
    /// As [`Arena::evaluate`].
    pub fn head_to_head<R: Encoding<G>>(
        &self,
        name: &str,
        rival: Rival<R>,
        deals: Deals,
        stop: &StopFlag,
        progress: impl FnMut(usize),
    ) -> Result<Vec<OpponentReport>, EvaluationError> {
        check(self.settings)?;
        self.play(&[name], vec![rival], deals, stop, progress)
    }

    fn play<O: Opponent<G>>(
        &self,
        names: &[&str],
        opponents: Vec<O>,
        deals: Deals,
        stop: &StopFlag,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<OpponentReport>, EvaluationError> {
        let settings = self.settings;
        let tally = |name: &&str| Tally::<G, G::Diagnostics>::new(*name).on(deals);
        let mut tallies: Vec<_> = names.iter().map(tally).collect();
        let mut failed = None;
        let count = names.len() * settings.games;
        let in_flight = names.len().saturating_mul(settings.batch_size).min(count);
        if count == 0 {
            return Ok(Vec::new());
        }
        let job = EvaluationJob {
            game: self.game.clone(),
            encoding: self.encoding.clone(),
            opponents,
            policy: self.policy,
            settings: settings.clone(),
            seed: self.seed,
            deals,
        };
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
                opponent: names[index / settings.games].to_owned(),
                game: index % settings.games,
                source,
            }),
        }
    }
}

fn check(settings: &Settings) -> Result<(), EvaluationError> {
    let values = [
        ("games", settings.games),
        ("max_steps", settings.max_steps),
        ("batch_size", settings.batch_size),
    ];
    match values.into_iter().find(|(_, value)| *value == 0) {
        Some((key, _)) => Err(EvaluationError::NotPositive { key }),
        None => Ok(()),
    }
}

/// Game `g` against opponent `o` is repetition `o * games + g`.
struct EvaluationJob<G, E, O> {
    game: G,
    encoding: E,
    opponents: Vec<O>,
    policy: Evaluated,
    settings: Settings,
    seed: u64,
    deals: Deals,
}

impl<G: Game + Diagnosed, E: Encoding<G>, O: Opponent<G>> Job for EvaluationJob<G, E, O> {
    type Output = Result<GameRecord<G::Diagnostics>, GameError>;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<Self::Output, Stopped> {
        let (opponent, number) = (index / self.settings.games, index % self.settings.games);
        let opponent = &self.opponents[opponent];
        let pairing = Pairing {
            game: &self.game,
            encoding: &self.encoding,
            reading: self.policy.reading(),
            opponent,
            settings: &self.settings,
        };
        let (deal, seat) = (self.deals.deal_of(number), Player::from_parity(number));
        let own = self.policy.head(deal, seat);
        let other = opponent.head(deal, seat.opponent());
        let mut source = Asking {
            lease,
            heads: [own, other.map_or(own, |head| head.of_set(Set::Second))],
        };
        let (state, stream) = self.deals.deal(&self.game, self.seed, number);
        match pairing.play_on(number, state, stream, &mut source).await {
            Err(GameError::Stopped(stopped)) => Err(stopped),
            played => Ok(played),
        }
    }
}
