//! Outcome sampling: one action per decision of either player, values importance-weighted on the way back.
//!
//! The recorded target of a decision is `v - V` for the sampled action with `v = child / q` and `V = pi_a v`, where `pi` is the
//! regret-matched policy and `q` the sampling policy (Lanctot et al. 2009, Monte Carlo Sampling for Regret Minimization in
//! Extensive Games, section 3.1, per decision instead of per history). `V` is what the parent sees, so weights compound.

use super::{
    CutoffPlayout, LeagueSettings, OpponentPolicy, SampleArena, Settings, WalkStatistics,
    course::Course, statistics::Buckets,
};
use crate::{
    bots::{BotError, ScriptedGame},
    encoding::Encoding,
    game::{Game, Player},
    inference::{Lease, Stopped},
    random::Randomness,
    regret::{self, Fallback},
};

/// Everything walks of one run share.
pub struct Walker<G: ScriptedGame, E> {
    pub(super) game: G,
    pub(super) encoding: E,
    pub(super) settings: Settings,
    pub(super) fallback: Fallback,
    pub(super) opponents: OpponentPolicy<G::Bot>,
    /// Who plays cutoff playouts; `None` draws uniformly.
    pub(super) playout: Option<G::Bot>,
}

/// Where one walk starts.
#[derive(Clone, Debug)]
pub struct WalkTask<S> {
    /// The root, dealt.
    pub state: S,
    /// Whose advantages the walk samples.
    pub traverser: Player,
    /// League snapshots that exist.
    pub snapshots: usize,
}

/// What one walk gives.
pub struct Walk<G: Game> {
    /// The sampled value of the root for the traverser, in points.
    pub value: f64,
    /// The samples.
    pub samples: SampleArena,
    /// The counts.
    pub statistics: WalkStatistics<G>,
}

impl<G: ScriptedGame, E: Encoding<G>> Walker<G, E> {
    /// Walks of `game` under these settings.
    ///
    /// # Errors
    /// The opponent's name is unknown, or a bot cannot play this variant.
    pub fn new(
        game: G,
        encoding: E,
        settings: &Settings,
        regret: &regret::Settings,
        league: &LeagueSettings,
    ) -> Result<Self, BotError> {
        let opponents = OpponentPolicy::parse(&settings.opponent_policy, league, &game)?;
        Self::with_opponents(game, encoding, settings, regret, opponents)
    }

    /// Walks with opponents given instead of named.
    ///
    /// # Errors
    /// The playout bot cannot play this variant.
    pub fn with_opponents(
        game: G,
        encoding: E,
        settings: &Settings,
        regret: &regret::Settings,
        opponents: OpponentPolicy<G::Bot>,
    ) -> Result<Self, BotError> {
        let playout = match settings.cutoff_rollout_policy {
            CutoffPlayout::Random => None,
            CutoffPlayout::SafeHeuristic => Some(game.bot("safe_heuristic")?),
        };
        let fallback = regret.all_negative_fallback;
        Ok(Self {
            game,
            encoding,
            settings: settings.clone(),
            fallback,
            opponents,
            playout,
        })
    }

    /// The game walked.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The encoding used.
    pub fn encoding(&self) -> &E {
        &self.encoding
    }

    /// Emits the counts of many walks as metrics, without the prefix `traversal/`.
    pub fn emit(&self, statistics: &WalkStatistics<G>, out: &mut dyn FnMut(&str, f64)) {
        statistics.emit(self.buckets(), out);
    }

    /// How endpoint depths are counted.
    pub(super) fn buckets(&self) -> Buckets {
        Buckets {
            width: self.settings.endpoint_depth_bucket_width,
            max: self.settings.endpoint_depth_bucket_max,
        }
    }

    /// Walks once from `task` with a slot of its own.
    ///
    /// # Errors
    /// [`Stopped`] when the executor is gone.
    pub async fn walk<R: Randomness + Send>(
        &self,
        task: WalkTask<G::State>,
        lease: &mut Lease,
        rng: &mut R,
    ) -> Result<Walk<G>, Stopped> {
        let mut course = Course::new(self, task, rng);
        loop {
            let mover = match course.enter() {
                Ok(mover) => mover,
                Err(endpoint) => return Ok(course.finish(endpoint)),
            };
            let Some(head) = course.head(mover) else {
                course.step_bot();
                continue;
            };
            let legal = course.ask(mover, lease.info_mut());
            lease.request(head).await?;
            course.decide(mover, legal, lease.info(), lease.answer());
        }
    }
}
