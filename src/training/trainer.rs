//! The trainer: networks, memories and engine of one run, and what an iteration does with them.

mod against;
mod guided;
mod judging;
mod start;
mod weights;

use super::{
    Due, IterationError, IterationReport, Learner, LearnerState, Phase, PhaseClock, Role,
    TrainedGame, Updates, Watcher,
    averaging::{Averaging, KeptPolicy, PolicyHistory},
    batches::{expect_as_many, sample},
    exploitability::Meter,
    fits::{Fitted, IterationFits, Subjects},
    guided::Guided,
    threads::RunEngine,
};
use crate::{
    bots::ScriptedGame,
    config::Config,
    encoding::Encoding,
    game::Player,
    inference::{BatchStatistics, HeadArchitectures, LaneNetworks, NetworkControl, StopFlag},
    network::Architecture,
    platform::transfers,
    replay::Memory,
    telemetry::DeviceWatch,
    traversal::{IterationWalks, Opposite, Traversers, WalkStatistics, Walker},
};
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

/// The iteration in hand, and what ends it early.
#[derive(Clone, Copy)]
struct Course<'a> {
    iteration: u32,
    stop: &'a StopFlag,
}

/// Everything that learns, and the engine it walks with.
pub struct Trainer<G: ScriptedGame, E> {
    config: Config,
    walker: Arc<Walker<G, E>>,
    walking: RunEngine,
    /// The engine of evaluation games, where they compute on another device than the walks.
    playing: Option<RunEngine>,
    architectures: HeadArchitectures,
    /// The critic and what belongs to value-guided walks, where these are walked.
    guided: Option<Guided<G, E>>,
    /// Who sits opposite in value-guided walks and does not learn.
    opposite: Option<Arc<dyn Opposite<G>>>,
    learners: [Learner; 3],
    memories: [Memory; 3],
    /// What tells how the device is used, where there is one.
    watch: Option<DeviceWatch>,
    /// How the average strategy comes about.
    average: Box<dyn Averaging>,
    /// The whole game, where its exploitability is asked for.
    meter: Option<Meter>,
    /// League snapshots of both advantage networks, oldest first.
    league: VecDeque<[Vec<f32>; 2]>,
    /// Iterations completed.
    iteration: u32,
}

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// Iterations completed.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// The game trained.
    pub fn walker(&self) -> &Walker<G, E> {
        &self.walker
    }

    /// The networks' shape.
    pub fn architecture(&self) -> &Architecture {
        self.learners[0].architecture()
    }

    /// The replay memories by [`Role::index`].
    pub fn memories(&self) -> &[Memory; 3] {
        &self.memories
    }

    /// The replay memories by [`Role::index`], for recording and restoring them.
    pub fn memories_mut(&mut self) -> &mut [Memory; 3] {
        &mut self.memories
    }

    /// Reaches the executor's networks.
    pub fn networks(&self) -> &NetworkControl<LaneNetworks> {
        &self.walking.networks
    }

    /// Networks and optimizers by [`Role::index`].
    ///
    /// # Errors
    /// Failures of the device.
    pub fn states(&self) -> anyhow::Result<[LearnerState; 3]> {
        let [p0, p1, strategy] = &self.learners;
        Ok([p0.state()?, p1.state()?, strategy.state()?])
    }

    /// The critic with its optimizer, where there is one.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn critic_state(&self) -> anyhow::Result<Option<LearnerState>> {
        self.guided.as_ref().map(Guided::critic_state).transpose()
    }

    /// The critic's shape, where there is one.
    pub fn critic_architecture(&self) -> Option<&Architecture> {
        self.architectures.critic.as_ref()
    }

    /// League snapshots, oldest first.
    pub fn league(&self) -> impl Iterator<Item = &[Vec<f32>; 2]> {
        self.league.iter()
    }

    /// The past policies that the average strategy is made of, oldest first; `None` where it is not.
    pub fn policies(&self) -> Option<&[KeptPolicy]> {
        self.average.history().map(PolicyHistory::entries)
    }

    /// Continues with these past policies, oldest first.
    pub fn restore_policies(&mut self, policies: Vec<KeptPolicy>) {
        self.average.restore(policies);
    }

    /// Continues after `iteration` with networks, optimizers and league as they were then.
    ///
    /// # Errors
    /// States of another network.
    pub fn restore(
        &mut self,
        iteration: u32,
        states: &[LearnerState; 3],
        critic: Option<&LearnerState>,
        league: Vec<[Vec<f32>; 2]>,
    ) -> anyhow::Result<()> {
        if let (Some(guided), Some(critic)) = (&mut self.guided, critic) {
            guided.restore_critic(critic)?;
        }
        for (learner, state) in self.learners.iter_mut().zip(states) {
            learner.load_state(state)?;
        }
        self.league = league.into();
        self.iteration = iteration;
        Ok(())
    }

    /// One iteration: walks, fits, evaluation, league snapshot when due. `due` is asked after the fits what to measure.
    ///
    /// # Errors
    /// [`IterationError::Interrupted`] soon after `stop` is raised, else what failed.
    pub fn iterate<'a>(
        &mut self,
        due: &dyn Fn(u32) -> Due<'a>,
        stop: &StopFlag,
        watcher: &mut dyn Watcher,
    ) -> Result<IterationReport<G>, IterationError> {
        let started = Instant::now();
        let iteration = self.iteration + 1;
        let mut clock = PhaseClock::default();
        self.upload()?;
        let walking = self.advantage_networks()?;
        let course = Course { iteration, stop };
        let (walks, fitted) = self.learn(&course, &mut clock, watcher)?;
        let batches = self.walking.engine.take_statistics();
        self.average.walked(iteration, walking);
        let evaluating = Instant::now();
        let due = due(iteration);
        let evaluation = self.evaluate(&due.opponents, iteration, stop, watcher)?;
        let exploitability = if due.exploitability {
            self.exploitability()?
        } else {
            None
        };
        if !evaluation.is_empty() || exploitability.is_some() {
            clock.add(Phase::Evaluation, evaluating.elapsed());
        }
        self.take_league_snapshot(iteration)?;
        self.iteration = iteration;
        Ok(IterationReport {
            iteration,
            clock,
            seconds: started.elapsed().as_secs_f64(),
            walks,
            batches,
            transfers: transfers::take(),
            fits: fitted.fits,
            critic: fitted.critic,
            compute: self.learners[0].compute(),
            device: self.watch.as_ref().map(DeviceWatch::take),
            mirrored: self
                .memories
                .iter()
                .filter(|memory| memory.is_mirrored())
                .count(),
            sample_seconds: fitted.sample_seconds,
            samples: self.memories.each_ref().map(Memory::len),
            first_open: self.memories.each_ref().map(Memory::first_open_len),
            evaluation,
            exploitability,
        })
    }

    /// Walks and fits, both players together or one after the other.
    fn learn(
        &mut self,
        course: &Course<'_>,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(WalkStatistics<G>, Fitted), IterationError> {
        let (mut walks, mut fitted) = (WalkStatistics::default(), Fitted::default());
        let roles = self.average.fits();
        let before = self.memories.each_ref().map(Memory::len);
        if self.guided.is_some() {
            self.learn_guided(course, &mut walks, &mut fitted, clock, watcher)?;
            self.expect_more(course.iteration, before);
            return Ok((walks, fitted));
        }
        match self.config.training.updates {
            Updates::Simultaneous => {
                self.walk(course, Traversers::Both, &mut walks, clock, watcher)?;
                self.expect_more(course.iteration, before);
                self.fit(course, roles, &mut fitted, clock, watcher)?;
            }
            Updates::Alternating => {
                for player in Player::BOTH {
                    let role = Role::Advantage(player);
                    self.walk(course, Traversers::Only(player), &mut walks, clock, watcher)?;
                    self.fit(course, &[role], &mut fitted, clock, watcher)?;
                    self.upload_role(role)?;
                }
                self.expect_more(course.iteration, before);
                let advantages = Player::BOTH.map(Role::Advantage).len();
                self.fit(course, &roles[advantages..], &mut fitted, clock, watcher)?;
            }
        }
        Ok((walks, fitted))
    }

    /// The traversal phase alone: all walks of `iteration` with the weights sent last; samples enter the memories in traversal
    /// order while later walks still run.
    ///
    /// # Errors
    /// As [`Trainer::iterate`].
    pub fn traverse(
        &mut self,
        iteration: u32,
        clock: &mut PhaseClock,
        stop: &StopFlag,
        watcher: &mut dyn Watcher,
    ) -> Result<(WalkStatistics<G>, BatchStatistics), IterationError> {
        let mut walks = WalkStatistics::default();
        let before = self.memories.each_ref().map(Memory::len);
        let course = Course { iteration, stop };
        self.walk(&course, Traversers::Both, &mut walks, clock, watcher)?;
        self.expect_more(iteration, before);
        Ok((walks, self.walking.engine.take_statistics()))
    }

    /// The walks of `traversers`, their counts added to `walks`.
    fn walk(
        &mut self,
        course: &Course<'_>,
        traversers: Traversers,
        walks: &mut WalkStatistics<G>,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let started = Instant::now();
        let Course { iteration, stop } = *course;
        let count = traversers.walks(self.config.traversal.traversals_per_player);
        let job = Arc::new(IterationWalks {
            walker: Arc::clone(&self.walker),
            seed: self.config.run.seed,
            iteration,
            snapshots: self.league.len(),
            traversers,
        });
        watcher.begin(Phase::Traversal, count);
        self.walking.networks.with(|_| tch::set_num_threads(1))?;
        let mut adding = Duration::ZERO;
        let memories = &mut self.memories;
        let in_flight = self.config.traversal.walks_in_flight();
        self.walking
            .engine
            .run(job, count, in_flight, stop, |index, walk| {
                walks.merge(&walk.statistics);
                let added = Instant::now();
                for view in walk.samples.advantage() {
                    memories[view.player.index()].add(&sample(&view, iteration));
                }
                for view in walk.samples.strategy() {
                    memories[Role::Strategy.index()].add(&sample(&view, iteration));
                }
                adding += added.elapsed();
                watcher.advance(index + 1, walks.counts.nodes);
            })?;
        clock.add(Phase::Traversal, started.elapsed());
        clock.add(Phase::MemoryAdd, adding);
        Ok(())
    }

    /// Has the memories, which held `before` samples, made ready for another iteration like this one, if there is one.
    fn expect_more(&mut self, iteration: u32, before: [usize; 3]) {
        if self.config.run.max_iterations != Some(iteration) {
            expect_as_many(&mut self.memories, before);
        }
    }

    fn fit(
        &mut self,
        course: &Course<'_>,
        roles: &[Role],
        fitted: &mut Fitted,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let fits = IterationFits {
            config: &self.config,
            iteration: course.iteration,
            stop: course.stop,
        };
        let subjects = Subjects {
            learners: &mut self.learners,
            memories: &mut self.memories,
            fitted,
        };
        fits.run(roles, subjects, clock, watcher)
    }
}
