//! One walk under way: its open branches, its frames, and the fold back up.

use super::{
    Opponent, SampleArena, Walk, WalkRandomness, WalkStatistics, WalkTask, Walker,
    arena::InfoIndex,
    branch::Branch,
    frames::{Child, Frames, OwnFrame, Parent},
    scheme::{Along, Decider, Decision, Departures, Plan, Scheme},
    segments::Segments,
    statistics::Endpoint,
};
use crate::{
    bots::{Bot, ScriptedGame},
    encoding::Encoding,
    game::{Action, ActionSet, Player},
    inference::Head,
    regret::{self, Matched},
};

/// A walk under way. [`Course::next`] and [`Course::answer`] alternate until nothing is open; several questions may wait for their
/// answers at once, in any order.
pub(super) struct Course<'a, G: ScriptedGame, E, S, R> {
    walker: &'a Walker<G, E>,
    scheme: S,
    departures: Departures,
    traverser: Player,
    opponent: Opponent<G::Bot>,
    /// Branches to go on with, the next one last: depth first, so that few are open at once.
    open: Vec<Box<Branch<G::State, R>>>,
    frames: Frames,
    segments: Segments,
    /// Scratch of the decision in hand.
    plan: Plan,
    value: f64,
    samples: SampleArena,
    statistics: WalkStatistics<G>,
}

/// A branch at a decision that a network makes.
pub(super) struct Question<S, R> {
    branch: Box<Branch<S, R>>,
    mover: Player,
    legal: ActionSet,
    /// Who is asked.
    pub(super) head: Head,
}

impl<'a, G: ScriptedGame, E: Encoding<G>, S: Scheme, R: WalkRandomness> Course<'a, G, E, S, R> {
    pub(super) fn new(
        walker: &'a Walker<G, E>,
        scheme: S,
        task: WalkTask<G::State>,
        mut rng: R,
    ) -> Self {
        let encoding = &walker.encoding;
        Self {
            opponent: walker.opponents.choose(task.snapshots, &mut rng),
            departures: scheme.departures(),
            open: vec![Box::new(Branch {
                state: task.state,
                rng,
                chance: None,
                depth: 0,
                parent: Parent::Root,
                along: Along::Sampling,
                segment: Segments::ROOT,
            })],
            walker,
            scheme,
            traverser: task.traverser,
            frames: Frames::default(),
            segments: Segments::new(),
            plan: Plan::default(),
            value: 0.0,
            samples: SampleArena::new(encoding.info_len(), encoding.num_actions()),
            statistics: WalkStatistics::default(),
        }
    }

    /// Whether a branch is open that is not waiting for an answer.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Goes on with open branches until one of them needs an answer; `None` when none does.
    pub(super) fn next(&mut self) -> Option<Question<G::State, R>> {
        while let Some(mut branch) = self.open.pop() {
            loop {
                let mover = match self.enter(&branch) {
                    Ok(mover) => mover,
                    Err(endpoint) => {
                        self.end(&mut branch, endpoint);
                        break;
                    }
                };
                if let Some(head) = self.head(mover) {
                    let Walker { game, encoding, .. } = self.walker;
                    let legal = encoding.legal_actions(game, &branch.state);
                    return Some(Question {
                        branch,
                        mover,
                        legal,
                        head,
                    });
                }
                self.step_bot(&mut branch);
            }
        }
        None
    }

    /// Writes what the mover knows to `row` (`[info_len]`), to be asked about.
    pub(super) fn write(&mut self, question: &Question<G::State, R>, row: &mut [f32]) {
        let Walker { game, encoding, .. } = self.walker;
        let Question {
            branch,
            mover,
            legal,
            ..
        } = question;
        encoding.encode(game, &branch.state, *mover, *legal, row);
        self.statistics.counts.requests += 1;
    }

    /// Counts the node just reached: its mover, or why the branch ends here. A node that meets the node limit ends the walk even
    /// when the game is over there.
    fn enter(&mut self, branch: &Branch<G::State, R>) -> Result<Player, Endpoint> {
        let settings = &self.walker.settings;
        let counts = &mut self.statistics.counts;
        counts.nodes += 1;
        counts.max_depth_reached = counts.max_depth_reached.max(branch.depth);
        if settings
            .node_limit()
            .is_some_and(|most| counts.nodes >= most as u64)
        {
            return Err(Endpoint::NodeLimit);
        }
        let mover = self.walker.game.mover(&branch.state);
        let mover = mover.ok_or(Endpoint::Terminal)?;
        if settings.max_depth.is_some_and(|most| branch.depth >= most) {
            return Err(Endpoint::Depth);
        }
        Ok(mover)
    }

    /// The head that decides for `mover`; `None` for a bot.
    fn head(&self, mover: Player) -> Option<Head> {
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

    fn step_bot(&self, branch: &mut Branch<G::State, R>) {
        let Opponent::Bot(bot) = &self.opponent else {
            unreachable!("only bots decide without a head")
        };
        let action = bot.act(&self.walker.game, &branch.state, &mut branch.rng);
        branch.apply(&self.walker.game, action);
    }

    /// Goes on after a decision: `info` is the row that was asked about, `answer` what came back (`[actions]`).
    pub(super) fn answer(&mut self, question: Question<G::State, R>, info: &[f32], answer: &[f32]) {
        let Question {
            mut branch,
            mover,
            legal,
            ..
        } = question;
        let walker = self.walker;
        let mut policy = [0.0f32; ActionSet::CAPACITY];
        let policy = &mut policy[..answer.len()];
        let substituted = mover != self.traverser && !matches!(self.opponent, Opponent::Network);
        let decider = if mover == self.traverser {
            Decider::Traverser
        } else {
            Decider::Opponent
        };
        if substituted && matches!(self.opponent, Opponent::AverageStrategy) {
            regret::legal_softmax(answer, legal, policy);
            let decision = Decision {
                decider,
                policy,
                legal,
            };
            let action = decision.draw(policy, &mut branch.rng);
            let action = walker.in_game(&branch.state, action);
            branch.apply(&walker.game, action);
            return self.open.push(branch);
        }
        let epsilon = walker.settings.regret_matching_epsilon;
        let matched = regret::regret_matching(answer, legal, epsilon, walker.fallback, policy);
        let decision = Decision {
            decider,
            policy,
            legal,
        };
        self.plan.clear();
        if substituted || branch.along == Along::Rollout {
            self.plan.pass_on(decision.draw(policy, &mut branch.rng));
            self.follow(branch, None, &decision, &matched);
        } else {
            let stored = self.store(&branch, &decision, mover, info);
            self.scheme
                .follow(&decision, &mut branch.rng, &mut self.plan);
            self.follow(branch, stored, &decision, &matched);
        }
        if !substituted && self.plan.is_single() {
            self.statistics.counts.sampled_actions += 1;
        }
    }

    /// Stores the info state of a decision that gives samples, with its strategy sample if one is due.
    fn store(
        &mut self,
        branch: &Branch<G::State, R>,
        decision: &Decision<'_>,
        mover: Player,
        info: &[f32],
    ) -> Option<InfoIndex> {
        let settings = &self.walker.settings;
        let own = decision.decider == Decider::Traverser;
        let stores = if own {
            settings.store_strategy_on_traverser_nodes
        } else {
            settings.store_strategy_on_opponent_nodes
        };
        let stores = stores
            && branch
                .depth
                .is_multiple_of(settings.strategy_sample_interval.max(1));
        let stored = (own || stores).then(|| self.samples.push_info(info))?;
        if stores {
            let Decision { policy, legal, .. } = decision;
            self.samples
                .push_strategy(stored, mover, *legal, policy, branch.segment);
            self.statistics.counts.strategy_samples += 1;
        }
        Some(stored)
    }

    /// Goes on with the actions of the plan.
    fn follow(
        &mut self,
        mut branch: Box<Branch<G::State, R>>,
        stored: Option<InfoIndex>,
        decision: &Decision<'_>,
        matched: &Matched,
    ) {
        let walker = self.walker;
        let chosen = walker.in_game(&branch.state, self.plan.chosen());
        self.statistics
            .decision(&walker.game, &branch.state, chosen, branch.depth, matched);
        if self.plan.passed_on {
            branch.apply(&walker.game, chosen);
            return self.open.push(branch);
        }
        let own = stored
            .filter(|_| decision.decider == Decider::Traverser)
            .map(|info| self.own_frame(&branch, info, decision.legal));
        let children = self.plan.evaluated.iter().map(|evaluated| Child {
            action: evaluated.action,
            policy: decision.policy[evaluated.action as usize],
            probability: evaluated.probability,
            value: 0.0,
        });
        let frame = self.frames.open(branch.parent, own, children);
        if self.plan.is_single() {
            branch.parent = Parent::Frame { frame, child: 0 };
            branch.apply(&walker.game, chosen);
            return self.open.push(branch);
        }
        self.branch_out(branch, frame);
    }

    /// Opens a branch for every evaluated action, each with a stream of its own, and one for the walk itself if it goes on apart.
    fn branch_out(&mut self, mut branch: Box<Branch<G::State, R>>, frame: u32) {
        let (walker, plan) = (self.walker, &self.plan);
        let rollouts = plan.along == Along::Rollout;
        let segment = match plan.onward {
            None => self.segments.branch(branch.segment, plan.evaluated.len()),
            // Rollouts give no samples.
            Some(_) => self.segments.branch(branch.segment, 1),
        };
        let chance = rollouts.then(|| branch.rng.fork());
        let first = self.open.len();
        for (child, evaluated) in (0..).zip(&plan.evaluated) {
            let mut next = Box::new(Branch {
                state: branch.state.clone(),
                rng: branch.rng.fork(),
                chance: chance.clone(),
                depth: branch.depth,
                parent: Parent::Frame { frame, child },
                along: plan.along,
                segment: if rollouts {
                    segment
                } else {
                    segment + u32::from(child)
                },
            });
            let action = walker.in_game(&branch.state, evaluated.action);
            next.apply(&walker.game, action);
            self.open.push(next);
        }
        if let Some(action) = plan.onward {
            let action = walker.in_game(&branch.state, action);
            branch.parent = Parent::Nobody;
            branch.segment = segment;
            branch.apply(&walker.game, action);
            self.open.push(branch);
        }
        // The lowest action is walked first, and the rollouts before the walk goes on: what is open stays little.
        self.open[first..].reverse();
    }

    fn own_frame(
        &self,
        branch: &Branch<G::State, R>,
        info: InfoIndex,
        legal: ActionSet,
    ) -> OwnFrame {
        let Walker { game, .. } = self.walker;
        let in_game = |action: Action| self.walker.in_game(&branch.state, action);
        let game_openings = game.opening_actions(&branch.state);
        let (mut openings, mut recovering) = (ActionSet::EMPTY, ActionSet::EMPTY);
        if !game_openings.is_empty() {
            openings = legal
                .iter()
                .filter(|&action| game_openings.contains(in_game(action)))
                .collect();
        }
        if self.departures.first_open_prior != 0.0 {
            let recovers = |&action: &Action| game.opening_recovers(&branch.state, in_game(action));
            recovering = openings.iter().filter(recovers).collect();
        }
        OwnFrame {
            info,
            segment: branch.segment,
            legal,
            openings,
            recovering,
        }
    }

    /// Ends a branch: its value goes to its frame, and from frames that are complete on to theirs.
    fn end(&mut self, branch: &mut Branch<G::State, R>, endpoint: Endpoint) {
        let (walker, traverser) = (self.walker, self.traverser);
        let counts = &mut self.statistics.counts;
        counts.endpoint(endpoint, branch.depth, walker.buckets());
        let mut value = match endpoint {
            Endpoint::Terminal => walker.game.payoff(&branch.state, traverser),
            Endpoint::Depth | Endpoint::NodeLimit => branch.cutoff_value(walker, traverser, counts),
        };
        let mut parent = branch.parent;
        loop {
            match parent {
                Parent::Nobody => return,
                Parent::Root => {
                    self.value = value;
                    return;
                }
                Parent::Frame { frame, child } => {
                    let Some(frame) = self.frames.close(frame, child, value) else {
                        return;
                    };
                    value = frame.fold(&self.departures, traverser, &mut self.samples);
                    counts.advantage_samples += u64::from(frame.is_own());
                    parent = frame.parent();
                }
            }
        }
    }

    /// What the walk gives, once nothing is open and every question is answered.
    pub(super) fn finish(mut self) -> Walk<G> {
        if let Some(places) = self.segments.places() {
            self.samples.arrange(&places);
        }
        Walk {
            value: self.value,
            samples: self.samples,
            statistics: self.statistics,
        }
    }
}
