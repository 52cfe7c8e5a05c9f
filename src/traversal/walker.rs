//! What the walks of a run share, and what one gives.

use super::{
    CutoffPlayout, LeagueSettings, OpponentPolicy, SampleArena, SamplingMode, Settings,
    WalkRandomness, WalkSlot, WalkStatistics, all_actions::AllActions, course::Course,
    external::ExternalSampling, outcome::OutcomeSampling, robust::RobustSampling, scheme::Scheme,
    seats::Seats, statistics::Buckets,
};
use crate::{
    bots::{BotError, ScriptedGame},
    encoding::Encoding,
    game::{Action, Game, Player},
    inference::Stopped,
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

    /// Slots that so many walks in flight can make use of.
    pub fn slots(&self, walks_in_flight: usize) -> usize {
        self.settings.slots(walks_in_flight)
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

    /// The game's id of a legal action of the encoding.
    pub(super) fn in_game(&self, state: &G::State, action: Action) -> Action {
        self.encoding.to_game(&self.game, state, action)
    }

    /// Walks once from `task` with a slot of its own, and with as many more as `branches_in_flight` allows and are free. What it gives does
    /// not depend on how many that are.
    ///
    /// # Errors
    /// [`Stopped`] when the executor is gone.
    pub async fn walk<L: WalkSlot, R: WalkRandomness>(
        &self,
        task: WalkTask<G::State>,
        slot: &mut L,
        rng: R,
    ) -> Result<Walk<G>, Stopped> {
        let settings = &self.settings;
        match settings.sampling_mode {
            SamplingMode::Outcome => {
                let scheme = OutcomeSampling::new(settings);
                self.walk_by(scheme, task, slot, rng).await
            }
            SamplingMode::External => self.walk_by(ExternalSampling, task, slot, rng).await,
            SamplingMode::Robust => {
                let scheme = RobustSampling {
                    actions: settings.robust_actions,
                };
                self.walk_by(scheme, task, slot, rng).await
            }
            SamplingMode::ValueGuided => {
                unreachable!("value-guided walks are made by a GuidedWalker")
            }
            SamplingMode::AllActions => {
                let scheme = AllActions::new(settings);
                self.walk_by(scheme, task, slot, rng).await
            }
        }
    }

    async fn walk_by<S: Scheme, L: WalkSlot, R: WalkRandomness>(
        &self,
        scheme: S,
        task: WalkTask<G::State>,
        slot: &mut L,
        rng: R,
    ) -> Result<Walk<G>, Stopped> {
        let mut course = Course::new(self, scheme, task, rng);
        let mut seats = Seats::new(slot, self.settings.branches_in_flight);
        let mut answered = Vec::new();
        loop {
            while course.has_open()
                && let Some(seat) = seats.vacant()
                && let Some(question) = course.next()
            {
                course.write(&question, seats.slot(seat).info_mut());
                seats.ask(seat, question.head, question).await?;
            }
            if !seats.give_back_vacant() {
                return Ok(course.finish());
            }
            seats.wait(&mut answered).await?;
            for &seat in &answered {
                if let Some((question, slot)) = seats.take(seat) {
                    course.answer(question, slot.info(), slot.answer());
                }
            }
        }
    }
}
