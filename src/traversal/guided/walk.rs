//! One value-guided walk.

use super::{
    Settings, Table, Taken, Targets,
    children::VALUES,
    questions::{About, Answers},
    record::{Decided, Record},
};
use crate::{
    encoding::Encoding,
    game::{ActionSet, Game, Player},
    inference::Stopped,
    regret::{self, Update},
    traversal::{
        self, SampleArena, WalkRandomness, WalkSlot, WalkStatistics,
        seats::Seats,
        statistics::{Buckets, Endpoint},
    },
};

/// Share of uniform play in the first plies of scattered walks.
const SCATTER: f64 = 0.5;

/// Everything value-guided walks of one run share.
pub struct GuidedWalker<G, E> {
    pub(super) game: G,
    /// What the policy sees.
    pub(super) encoding: E,
    /// What the critic sees.
    pub(super) sight: E,
    pub(super) settings: Settings,
    max_depth: Option<usize>,
    /// Slots that a walk may hold.
    seats: usize,
    /// Whether policies give strategy samples.
    pub(super) strategy: bool,
    buckets: Buckets,
}

/// What one walk gives.
pub struct GuidedWalk<G: Game> {
    /// Policy samples of both players: what the update rule wants of the network, and the policies themselves where they are averaged.
    pub samples: SampleArena,
    /// Critic samples: the return of the action taken, which alone counts as legal.
    pub critic: SampleArena,
    /// By sample of `samples`: what was done there.
    pub taken: Vec<Taken>,
    /// The counts.
    pub statistics: WalkStatistics<G>,
}

impl<G: Game, E: Encoding<G>> GuidedWalker<G, E> {
    /// Walks of `game` under these settings; `strategy` says whether policies give strategy samples. The critic sees what
    /// [`Encoding::critic_view`] shows, where the encoding has that.
    pub fn new(
        game: G,
        encoding: E,
        settings: &Settings,
        traversal: &traversal::Settings,
        strategy: bool,
    ) -> Self {
        Self {
            sight: encoding.critic_view().unwrap_or_else(|| encoding.clone()),
            game,
            encoding,
            settings: settings.clone(),
            max_depth: traversal.max_depth,
            seats: match settings.targets {
                // The policy's row and the critic's.
                Targets::Q => 2,
                Targets::Children => traversal.branches_in_flight,
            },
            strategy,
            buckets: Buckets {
                width: traversal.endpoint_depth_bucket_width,
                max: traversal.endpoint_depth_bucket_max,
            },
        }
    }

    /// The game walked.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The encoding that the policy sees by.
    pub fn encoding(&self) -> &E {
        &self.encoding
    }

    /// The encoding that the critic sees by.
    pub fn sight(&self) -> &E {
        &self.sight
    }

    /// Numbers in an answer of the critic: one per action, or the values of both players.
    pub fn critic_outputs(&self) -> usize {
        match self.settings.targets {
            Targets::Q => self.sight.num_actions(),
            Targets::Children => VALUES,
        }
    }

    /// Walks once from `state`, dealt, with a slot of its own and with more while they are free.
    ///
    /// # Errors
    /// [`Stopped`] when the executor is gone.
    pub async fn walk<L: WalkSlot, R: WalkRandomness>(
        &self,
        state: G::State,
        update: &dyn Update,
        exploration: f64,
        slot: &mut L,
        rng: R,
    ) -> Result<GuidedWalk<G>, Stopped> {
        let walk = self.walk_at(None, state, update, exploration, slot, rng);
        walk.await
    }

    /// The same, where there is a `table` against a policy that does not learn: its decisions give no samples and are asked about by its own
    /// head.
    ///
    /// # Errors
    /// [`Stopped`] when the executor is gone.
    pub async fn walk_at<L: WalkSlot, R: WalkRandomness>(
        &self,
        table: Option<Table<'_, G>>,
        mut state: G::State,
        update: &dyn Update,
        exploration: f64,
        slot: &mut L,
        mut rng: R,
    ) -> Result<GuidedWalk<G>, Stopped> {
        let mut record = Record::new(self);
        let mut seats = Seats::new(slot, self.seats);
        let mut answers = Answers::default();
        let mut children = Vec::new();
        let mut others = [0.0; ActionSet::CAPACITY];
        let (mut policy, mut walked) = ([0.0; ActionSet::CAPACITY], [0.0; ActionSet::CAPACITY]);
        let actions = self.encoding.num_actions();
        let (policy, walked) = (&mut policy[..actions], &mut walked[..actions]);
        let scattered = self.scattered(&mut rng);
        let mut depth = 0;
        let endpoint = loop {
            record.statistics.counts.nodes += 1;
            let before = depth < scattered;
            let mover = match self.enter(&state, depth, scattered, &mut rng) {
                Ok(mover) => mover,
                Err(endpoint) => break endpoint,
            };
            if let Some(table) = table.filter(|table| table.is_opposite(mover)) {
                let (at, point) = ((&state, mover), rng.uniform());
                let turn = table.turn(&self.game, at, &mut seats, point, &mut others);
                let action = turn.await?;
                self.apply(&mut state, action, &mut rng);
                record.statistics.counts.requests += 1;
                depth += 1;
                continue;
            }
            let legal = self.encoding.legal_actions(&self.game, &state);
            let asked = (&state, mover, legal);
            children.clear();
            if !before && self.looks_ahead(&mut rng) {
                self.children(asked, depth, &mut children, &mut rng);
            }
            let (about, exploration) = match before {
                true => (About::Policy, SCATTER),
                false => (About::Everything, exploration),
            };
            let asking = self.ask(asked, about, &mut children, &mut seats, &mut answers);
            record.statistics.counts.requests += asking.await?;
            update.policy(&answers.policy, legal, policy);
            regret::mix_uniform(policy, legal, exploration, walked);
            let drawn = rng.choose(walked, legal).or(legal.first());
            let action = drawn.unwrap_or_default();
            let decision = Decided {
                mover,
                legal,
                policy,
                taken: Taken {
                    action,
                    probability: policy[action as usize],
                    walked: walked[action as usize],
                    advantage: 0.0,
                },
                standing: self.standing(&state, Player::P0),
                children: &children,
            };
            if !before {
                record.decision(&decision, &answers, update);
            }
            let action = self.encoding.to_game(&self.game, &state, action);
            self.apply(&mut state, action, &mut rng);
            depth += 1;
        };
        let counts = &mut record.statistics.counts;
        counts.endpoint(endpoint, depth, self.buckets);
        counts.max_depth_reached = depth;
        let ends = self.ends(&state, endpoint);
        Ok(record.finish(ends, self.settings.lambda))
    }

    /// Plies that a walk plays half at random before it records anything.
    fn scattered<R: WalkRandomness>(&self, rng: &mut R) -> usize {
        let share = self.settings.scattered_starts;
        // Something must be left to record.
        let most = self
            .max_depth
            .map_or(usize::MAX, |depth| depth.saturating_sub(1));
        let most = most.min(self.settings.scattered_plies);
        if share > 0.0 && most > 0 && rng.uniform() < share {
            1 + rng.index(most)
        } else {
            0
        }
    }

    /// Whether the children of a decision are looked at.
    fn looks_ahead<R: WalkRandomness>(&self, rng: &mut R) -> bool {
        let share = self.settings.children_share;
        self.settings.targets == Targets::Children && (share >= 1.0 || rng.uniform() < share)
    }

    /// What the end of a walk is worth to each player, in units.
    pub(super) fn ends(&self, state: &G::State, endpoint: Endpoint) -> [f64; 2] {
        let cost = match endpoint {
            Endpoint::Terminal => 0.0,
            Endpoint::Depth | Endpoint::NodeLimit => self.settings.cut_cost,
        };
        Player::BOTH.map(|player| {
            let points = self.game.payoff(state, player);
            let won = points
                .partial_cmp(&0.0)
                .map_or(0.0, |order| f64::from(order as i8));
            points / self.settings.points_per_unit + self.settings.win_bonus * won - cost
        })
    }

    /// The mover, or why the walk ends here.
    pub(super) fn enter<R: WalkRandomness>(
        &self,
        state: &G::State,
        depth: usize,
        scattered: usize,
        rng: &mut R,
    ) -> Result<Player, Endpoint> {
        let mover = self.game.mover(state).ok_or(Endpoint::Terminal)?;
        let stop = self.stop_probability(depth).filter(|_| depth >= scattered);
        match stop {
            Some(stop) if stop >= 1.0 || rng.uniform() < stop => Err(Endpoint::Depth),
            _ => Ok(mover),
        }
    }

    /// The probability that a walk which has not ended is cut off after `depth` plies; `None` where walks are not.
    pub(super) fn stop_probability(&self, depth: usize) -> Option<f64> {
        let reached = |plies: Option<usize>| plies.is_some_and(|plies| depth >= plies);
        if reached(self.max_depth) {
            return Some(1.0);
        }
        reached(self.settings.horizon_start).then_some(self.settings.stop_probability)
    }

    /// The value to `player` if the game were scored now, in units and without the bonus.
    pub(super) fn standing(&self, state: &G::State, player: Player) -> f64 {
        self.game.payoff(state, player) / self.settings.points_per_unit
    }

    pub(super) fn apply<R: WalkRandomness>(&self, state: &mut G::State, action: u8, rng: &mut R) {
        match self.game.chance_outcomes(state, action) {
            0 | 1 => self.game.apply(state, action),
            outcomes => {
                let outcome = rng.index(outcomes);
                self.game.apply_outcome(state, action, outcome);
            }
        }
    }
}
