//! One outcome-sampling walk under way: the path down, and the fold back up.

use super::{
    CutoffValue, Opponent, SampleArena, Settings, UnsampledRegret, Walk, WalkStatistics, WalkTask,
    Walker, arena::InfoIndex, statistics::Endpoint,
};
use crate::{
    bots::{Bot, ScriptedGame},
    encoding::Encoding,
    game::{Action, ActionSet, Game, Player},
    inference::Head,
    random::Randomness,
    regret,
};

/// One decision of a current network on the sampled path.
struct Frame {
    /// Probability of the sampled action under the policy.
    policy: f32,
    /// Its sampling probability, at least `regret_matching_epsilon`.
    sampling: f64,
    /// The traverser's part; `None` at decisions of the opponent.
    own: Option<OwnFrame>,
}

/// What the advantage sample of a traverser's decision needs.
struct OwnFrame {
    info: InfoIndex,
    action: Action,
    legal: ActionSet,
    openings: ActionSet,
    /// The openings whose hand alone promises to pay; only with the first-open prior.
    recovering: ActionSet,
}

/// A walk under way.
pub(super) struct Course<'a, G: ScriptedGame, E, R> {
    walker: &'a Walker<G, E>,
    state: G::State,
    rng: &'a mut R,
    traverser: Player,
    opponent: Opponent<G::Bot>,
    depth: usize,
    frames: Vec<Frame>,
    samples: SampleArena,
    statistics: WalkStatistics<G>,
}

impl<'a, G: ScriptedGame, E: Encoding<G>, R: Randomness> Course<'a, G, E, R> {
    pub(super) fn new(walker: &'a Walker<G, E>, task: WalkTask<G::State>, rng: &'a mut R) -> Self {
        let opponent = walker.opponents.choose(task.snapshots, rng);
        let encoding = &walker.encoding;
        Self {
            walker,
            state: task.state,
            rng,
            traverser: task.traverser,
            opponent,
            depth: 0,
            frames: Vec::with_capacity(256),
            samples: SampleArena::new(encoding.info_len(), encoding.num_actions()),
            statistics: WalkStatistics::default(),
        }
    }

    /// Writes what `mover` knows to `row` (`[info_len]`), to be asked about; returns the legal actions.
    pub(super) fn ask(&mut self, mover: Player, row: &mut [f32]) -> ActionSet {
        let Walker { game, encoding, .. } = self.walker;
        let legal = encoding.legal_actions(game, &self.state);
        encoding.encode(game, &self.state, mover, legal, row);
        self.statistics.counts.requests += 1;
        legal
    }

    /// Counts the node just reached: its mover, or why the walk ends here. A node that meets the node limit ends the walk even
    /// when the game is over there.
    pub(super) fn enter(&mut self) -> Result<Player, Endpoint> {
        let settings = &self.walker.settings;
        let statistics = &mut self.statistics.counts;
        statistics.nodes += 1;
        statistics.max_depth_reached = statistics.max_depth_reached.max(self.depth);
        if settings
            .max_nodes_per_traversal
            .is_some_and(|most| statistics.nodes >= most as u64)
        {
            return Err(Endpoint::NodeLimit);
        }
        let mover = self
            .walker
            .game
            .mover(&self.state)
            .ok_or(Endpoint::Terminal)?;
        if settings.max_depth.is_some_and(|most| self.depth >= most) {
            return Err(Endpoint::Depth);
        }
        Ok(mover)
    }

    /// The head that decides for `mover`; `None` for a bot.
    pub(super) fn head(&self, mover: Player) -> Option<Head> {
        if mover == self.traverser {
            return Some(Head::advantage(mover));
        }
        match self.opponent {
            Opponent::Network => Some(Head::advantage(mover)),
            Opponent::AverageStrategy => Some(Head::STRATEGY),
            Opponent::Snapshot(snapshot) => Some(Head::snapshot(snapshot, mover)),
            Opponent::Bot(_) => None,
        }
    }

    pub(super) fn step_bot(&mut self) {
        let Opponent::Bot(bot) = &self.opponent else {
            unreachable!("only bots decide without a head")
        };
        let action = bot.act(&self.walker.game, &self.state, self.rng);
        self.apply(action);
    }

    /// Chooses and applies an action from a head's answer.
    pub(super) fn decide(&mut self, mover: Player, legal: ActionSet, info: &[f32], answer: &[f32]) {
        let mut policy = [0.0f32; ActionSet::CAPACITY];
        let policy = &mut policy[..answer.len()];
        let explores = mover == self.traverser || matches!(self.opponent, Opponent::Network);
        if explores {
            return self.decide_explored(mover, legal, info, answer, policy);
        }
        if matches!(self.opponent, Opponent::AverageStrategy) {
            regret::legal_softmax(answer, legal, policy);
            let action = self.draw(policy, legal);
            return self.apply(self.walker.encoding.to_game(
                &self.walker.game,
                &self.state,
                action,
            ));
        }
        let walker = self.walker;
        let matched = regret::regret_matching(
            answer,
            legal,
            walker.settings.regret_matching_epsilon,
            walker.fallback,
            policy,
        );
        let action = self.draw(policy, legal);
        let chosen = walker.encoding.to_game(&walker.game, &self.state, action);
        self.statistics
            .decision(&walker.game, &self.state, chosen, self.depth, &matched);
        self.apply(chosen);
    }

    /// A decision of a current advantage network: explored, weighted, recorded.
    fn decide_explored(
        &mut self,
        mover: Player,
        legal: ActionSet,
        info: &[f32],
        answer: &[f32],
        policy: &mut [f32],
    ) {
        let walker = self.walker;
        let settings = &walker.settings;
        let epsilon = settings.regret_matching_epsilon;
        let matched = regret::regret_matching(answer, legal, epsilon, walker.fallback, policy);
        let own = mover == self.traverser;
        let stores = if own {
            settings.store_strategy_on_traverser_nodes
        } else {
            settings.store_strategy_on_opponent_nodes
        };
        let stores = stores
            && self
                .depth
                .is_multiple_of(settings.strategy_sample_interval.max(1));
        let stored = (own || stores).then(|| self.samples.push_info(info));
        if let (true, Some(info)) = (stores, stored) {
            self.samples.push_strategy(info, mover, legal, policy);
            self.statistics.counts.strategy_samples += 1;
        }
        let mut sampling = [0.0f32; ActionSet::CAPACITY];
        let sampling = &mut sampling[..policy.len()];
        regret::mix_uniform(policy, legal, settings.outcome_sampling_epsilon, sampling);
        let action = self.draw(sampling, legal);
        let own = stored
            .filter(|_| own)
            .map(|info| self.own_frame(info, action, legal));
        self.frames.push(Frame {
            policy: policy[action as usize],
            sampling: f64::from(sampling[action as usize]).max(epsilon),
            own,
        });
        self.statistics.counts.sampled_actions += 1;
        let chosen = walker.encoding.to_game(&walker.game, &self.state, action);
        self.statistics
            .decision(&walker.game, &self.state, chosen, self.depth, &matched);
        self.apply(chosen);
    }

    fn own_frame(&self, info: InfoIndex, action: Action, legal: ActionSet) -> OwnFrame {
        let Walker {
            game,
            encoding,
            settings,
            ..
        } = self.walker;
        let in_game = |action| encoding.to_game(game, &self.state, action);
        let game_openings = game.opening_actions(&self.state);
        let (mut openings, mut recovering) = (ActionSet::EMPTY, ActionSet::EMPTY);
        if !game_openings.is_empty() {
            openings = legal
                .iter()
                .filter(|&a| game_openings.contains(in_game(a)))
                .collect();
        }
        if settings.outcome_unsampled_first_open_prior_alpha != 0.0 {
            let recovers = |&a: &Action| game.opening_recovers(&self.state, in_game(a));
            recovering = openings.iter().filter(recovers).collect();
        }
        OwnFrame {
            info,
            action,
            legal,
            openings,
            recovering,
        }
    }

    fn draw(&mut self, policy: &[f32], legal: ActionSet) -> Action {
        let point = self.rng.uniform();
        // A policy over a non-empty legal set always has mass; the lowest action stands in should that ever fail.
        regret::draw(policy, legal, point)
            .or(legal.first())
            .unwrap_or_default()
    }

    /// Applies the game's `action` with chance sampled afresh.
    fn apply(&mut self, action: Action) {
        apply_sampled(&self.walker.game, &mut self.state, action, self.rng);
        self.depth += 1;
    }

    /// The value where the walk ended, then the fold back over the frames.
    pub(super) fn finish(mut self, endpoint: Endpoint) -> Walk<G> {
        self.statistics
            .counts
            .endpoint(endpoint, self.depth, self.walker.buckets());
        let settings = &self.walker.settings;
        let mut value = match endpoint {
            Endpoint::Terminal => self.walker.game.payoff(&self.state, self.traverser),
            Endpoint::Depth | Endpoint::NodeLimit => self.cutoff_value(),
        };
        for frame in std::mem::take(&mut self.frames).iter().rev() {
            let mut sampled = value / frame.sampling;
            if let Some(clip) = settings.outcome_sampling_value_clip {
                sampled = sampled.clamp(-clip, clip);
            }
            value = f64::from(frame.policy) * sampled;
            if let Some(own) = &frame.own {
                self.statistics.counts.advantage_samples += 1;
                record_advantage(
                    &mut self.samples,
                    settings,
                    self.traverser,
                    own,
                    sampled,
                    value,
                );
            }
        }
        Walk {
            value,
            samples: self.samples,
            statistics: self.statistics,
        }
    }

    /// The payoff as the position stands, or the mean over playouts from it.
    fn cutoff_value(&mut self) -> f64 {
        let Walker {
            game,
            settings,
            playout,
            ..
        } = self.walker;
        let playouts = match settings.cutoff_value_mode {
            CutoffValue::ScoreDiff => 0,
            CutoffValue::RandomRollout => settings.cutoff_rollouts,
        };
        if playouts == 0 {
            return game.payoff(&self.state, self.traverser);
        }
        let mut sum = 0.0;
        for _ in 0..playouts {
            let mut state = self.state.clone();
            let mut plies = 0;
            while game.mover(&state).is_some() && plies < settings.cutoff_rollout_max_steps {
                let action = match playout {
                    Some(bot) => bot.act(game, &state, self.rng),
                    None => {
                        let legal = game.legal_actions(&state);
                        let index = self.rng.index(legal.len());
                        legal.nth(index).unwrap_or_default()
                    }
                };
                apply_sampled(game, &mut state, action, self.rng);
                plies += 1;
            }
            let [count, steps, timeouts] = &mut self.statistics.counts.playouts;
            *count += 1;
            *steps += plies as u64;
            *timeouts += u64::from(game.mover(&state).is_some());
            sum += game.payoff(&state, self.traverser);
        }
        sum / playouts as f64
    }
}

/// Applies `action` with one of its chance outcomes drawn uniformly; consumes nothing when there is but one.
fn apply_sampled<G: Game, R: Randomness>(
    game: &G,
    state: &mut G::State,
    action: Action,
    rng: &mut R,
) {
    match game.chance_outcomes(state, action) {
        0 | 1 => game.apply(state, action),
        outcomes => {
            let outcome = rng.index(outcomes);
            game.apply_outcome(state, action, outcome);
        }
    }
}

/// Writes the advantage sample of one decision; `sampled` is `v` and `value` is `V`.
fn record_advantage(
    samples: &mut SampleArena,
    settings: &Settings,
    traverser: Player,
    own: &OwnFrame,
    sampled: f64,
    value: f64,
) {
    let first_open = !own.openings.is_empty();
    let target = samples.push_advantage(own.info, traverser, own.legal, first_open);
    let unsampled = match settings.outcome_unsampled_regret {
        UnsampledRegret::NegativeNodeValue => -value as f32,
        UnsampledRegret::Zero => 0.0,
    };
    own.legal
        .iter()
        .for_each(|action| target[action as usize] = unsampled);
    let alpha = settings.outcome_unsampled_first_open_prior_alpha;
    if alpha != 0.0 {
        for action in own.openings.iter() {
            let sign = if own.recovering.contains(action) {
                1.0
            } else {
                -1.0
            };
            target[action as usize] = (sign * alpha) as f32;
        }
    }
    target[own.action as usize] = (sampled - value) as f32;
}
