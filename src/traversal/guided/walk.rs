//! One value-guided walk.

use super::{
    Settings, Table,
    returns::{Step, returns},
};
use crate::{
    encoding::Encoding,
    game::{ActionSet, Game, Player},
    inference::{Head, Stopped},
    regret::{self, Judged, Update},
    traversal::{
        self, SampleArena, WalkRandomness, WalkSlot, WalkStatistics,
        seats::Seats,
        statistics::{Buckets, Endpoint},
    },
};

/// Everything value-guided walks of one run share.
pub struct GuidedWalker<G, E> {
    game: G,
    /// What the policy sees.
    encoding: E,
    /// What the critic sees.
    sight: E,
    settings: Settings,
    max_depth: Option<usize>,
    /// Whether policies give strategy samples.
    strategy: bool,
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

/// The action taken at a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// The action, in the encoding's numbers.
    pub action: u8,
    /// Its probability under the policy.
    pub probability: f32,
    /// The probability it was drawn with, exploration mixed in.
    pub walked: f32,
    /// Its TD(lambda) return minus the critic's value of the decision, in the critic's units.
    pub advantage: f32,
}

impl Taken {
    /// What makes an expectation over what was drawn one under the policy; at most 1 / (1 - exploration).
    pub fn weight(&self) -> f32 {
        self.probability / self.walked
    }
}

/// What waits in a seat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Policy,
    Critic,
}

/// The two answers to a decision, in reused memory.
struct Answers {
    policy: Vec<f32>,
    critic: Vec<f32>,
    info: Vec<f32>,
    open: Vec<f32>,
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

    /// Walks once from `state`, dealt, with a slot of its own and, if one is free, a second one.
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
        let mut seats = Seats::new(slot, 2);
        let mut answers = Answers {
            policy: Vec::new(),
            critic: Vec::new(),
            info: Vec::new(),
            open: Vec::new(),
        };
        let mut others = [0.0; ActionSet::CAPACITY];
        let (mut policy, mut walked) = ([0.0; ActionSet::CAPACITY], [0.0; ActionSet::CAPACITY]);
        let actions = self.encoding.num_actions();
        let (policy, walked) = (&mut policy[..actions], &mut walked[..actions]);
        let mut depth = 0;
        let endpoint = loop {
            record.statistics.counts.nodes += 1;
            let mover = match self.enter(&state, depth, &mut rng) {
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
            self.ask(&state, mover, legal, &mut seats, &mut answers)
                .await?;
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
                standing: self.standing(&state),
            };
            record.decision(&decision, &answers, update, self.strategy);
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

    /// What the end of a walk is worth to each player, in units.
    fn ends(&self, state: &G::State, endpoint: Endpoint) -> [f64; 2] {
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
        rng: &mut R,
    ) -> Result<Player, Endpoint> {
        let mover = self.game.mover(state).ok_or(Endpoint::Terminal)?;
        let over = self.max_depth.is_some_and(|most| depth >= most);
        let late = self
            .settings
            .horizon_start
            .is_some_and(|start| depth >= start);
        if over || late && rng.uniform() < self.settings.stop_probability {
            return Err(Endpoint::Depth);
        }
        Ok(mover)
    }

    /// Player 0's value if the game were scored now, in units and without the bonus.
    fn standing(&self, state: &G::State) -> f64 {
        self.game.payoff(state, Player::P0) / self.settings.points_per_unit
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

    /// Asks both heads about `state` and waits for both answers.
    async fn ask<L: WalkSlot>(
        &self,
        state: &G::State,
        mover: Player,
        legal: ActionSet,
        seats: &mut Seats<'_, L, Question>,
        answers: &mut Answers,
    ) -> Result<(), Stopped> {
        let mut open = vec![Question::Critic, Question::Policy];
        let mut answered = Vec::new();
        loop {
            while let Some(&question) = open.last()
                && let Some(seat) = seats.vacant()
            {
                open.pop();
                let (head, encoding) = match question {
                    Question::Policy => (Head::advantage(mover), &self.encoding),
                    Question::Critic => (Head::CRITIC, &self.sight),
                };
                let row = &mut seats.slot(seat).info_mut()[..encoding.info_len()];
                encoding.encode(&self.game, state, mover, legal, row);
                seats.ask(seat, head, question).await?;
            }
            if !seats.give_back_vacant() {
                return Ok(());
            }
            seats.wait(&mut answered).await?;
            for &seat in &answered {
                let Some((question, slot)) = seats.take(seat) else {
                    continue;
                };
                let (encoding, answer, info) = match question {
                    Question::Policy => (&self.encoding, &mut answers.policy, &mut answers.info),
                    Question::Critic => (&self.sight, &mut answers.critic, &mut answers.open),
                };
                answer.clear();
                answer.extend_from_slice(&slot.answer()[..encoding.num_actions()]);
                info.clear();
                info.extend_from_slice(&slot.info()[..encoding.info_len()]);
            }
        }
    }
}

/// A decision that was made.
struct Decided<'a> {
    mover: Player,
    legal: ActionSet,
    policy: &'a [f32],
    /// Without its advantage.
    taken: Taken,
    standing: f64,
}

/// What a walk has recorded.
struct Record<G: Game> {
    samples: SampleArena,
    critic: SampleArena,
    steps: Vec<Step>,
    /// By step: the action taken, without its advantage.
    taken: Vec<Taken>,
    statistics: WalkStatistics<G>,
    /// Scratch: a decision's advantages.
    advantages: Vec<f32>,
}

impl<G: Game> Record<G> {
    fn new<E: Encoding<G>>(walker: &GuidedWalker<G, E>) -> Self {
        let arena = |encoding: &E| SampleArena::new(encoding.info_len(), encoding.num_actions());
        Self {
            samples: arena(&walker.encoding),
            critic: arena(&walker.sight),
            steps: Vec::new(),
            taken: Vec::new(),
            statistics: WalkStatistics::default(),
            advantages: vec![0.0; walker.encoding.num_actions()],
        }
    }

    /// Records a decision's samples, the critic's without its return.
    fn decision(
        &mut self,
        decided: &Decided<'_>,
        answers: &Answers,
        update: &dyn Update,
        strategy: bool,
    ) {
        let Decided {
            mover,
            legal,
            policy,
            taken,
            standing,
        } = *decided;
        let value: f32 = legal
            .iter()
            .map(|action| policy[action as usize] * answers.critic[action as usize])
            .sum();
        for action in legal.iter().map(usize::from) {
            self.advantages[action] = answers.critic[action] - value;
        }
        let judged = Judged {
            answer: &answers.policy,
            advantages: &self.advantages,
            legal,
        };
        let info = self.samples.push_info(&answers.info);
        let target = self.samples.push_advantage(info, mover, legal, false, 0);
        update.target(&judged, target);
        let counts = &mut self.statistics.counts;
        if strategy {
            self.samples.push_strategy(info, mover, legal, policy, 0);
            counts.strategy_samples += 1;
        }
        counts.requests += 2;
        counts.decisions += 1;
        counts.advantage_samples += 1;
        counts.sampled_actions += 1;
        let info = self.critic.push_info(&answers.open);
        let alone = std::iter::once(taken.action).collect();
        self.critic.push_advantage(info, mover, alone, false, 0);
        self.taken.push(taken);
        self.steps.push(Step {
            player: mover,
            standing,
            value: f64::from(value),
        });
    }

    /// What the walk gives, once it has come to an end worth `end` to each player.
    fn finish(mut self, end: [f64; 2], lambda: f64) -> GuidedWalk<G> {
        let returns = returns(&self.steps, end, lambda);
        let decisions = self.steps.iter().zip(&mut self.taken);
        for (sample, (value, (step, taken))) in returns.into_iter().zip(decisions).enumerate() {
            self.critic.target_mut(sample)[usize::from(taken.action)] = value as f32;
            taken.advantage = (value - step.value) as f32;
        }
        GuidedWalk {
            samples: self.samples,
            critic: self.critic,
            taken: self.taken,
            statistics: self.statistics,
        }
    }
}
