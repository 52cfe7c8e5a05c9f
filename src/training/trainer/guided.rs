//! An iteration of value-guided walks.

use super::{Course, Trainer};
use crate::{
    encoding::Encoding,
    game::Player,
    platform::logical_cores,
    training::{
        FitReport, IterationError, LearnerKind, Phase, PhaseClock, Role, TrainedGame, Watcher,
        batches::sample,
        fits::{Fitted, IterationFits},
        guided::{
            FITTED, Guided, Passes, SMOOTHED, exploration, fit_by_gradient, smoothed, update,
        },
    },
    traversal::{GuidedWalks, WalkStatistics},
};
use std::{
    panic::resume_unwind,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Iterations against a policy that does not learn in which the critic learns alone: what it says before would spoil an imitation.
const CRITIC_ALONE: u32 = 4;

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// Walks and fits policy and critic side by side, then the strategy network if there is one.
    pub(super) fn learn_guided(
        &mut self,
        course: &Course<'_>,
        walks: &mut WalkStatistics<G>,
        fitted: &mut Fitted,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        self.walk_guided(course, walks, clock, watcher)?;
        let roles = self.average.fits();
        self.fit_guided(course, fitted, clock, watcher)?;
        self.smooth(course.iteration)?;
        let others = &roles[Player::BOTH.len()..];
        self.fit(course, others, fitted, clock, watcher)
    }

    /// The walks; samples enter the memories in walk order while later walks still run.
    fn walk_guided(
        &mut self,
        course: &Course<'_>,
        walks: &mut WalkStatistics<G>,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let Some(guided) = &mut self.guided else {
            return Ok(());
        };
        let started = Instant::now();
        let iteration = course.iteration;
        let settings = &self.config.traversal;
        let update = update(&self.config, iteration);
        let replays = update.replays();
        let job = Arc::new(GuidedWalks {
            walker: Arc::clone(&guided.walker),
            update,
            opposite: self.opposite.clone(),
            exploration: exploration(&self.config, iteration),
            seed: self.config.run.seed,
            iteration,
        });
        let (count, in_flight) = (settings.walks(), settings.walks_in_flight());
        watcher.begin(Phase::Traversal, count);
        self.walking.networks.with(|_| tch::set_num_threads(1))?;
        guided.returns.clear();
        guided.fresh.clear();
        guided.decisions.clear();
        let by_gradient = self.config.training.learner == LearnerKind::PolicyGradient;
        let mut adding = Duration::ZERO;
        let memories = &mut self.memories;
        self.walking
            .engine
            .run(job, count, in_flight, course.stop, |index, walk| {
                walks.merge(&walk.statistics);
                let added = Instant::now();
                for (view, taken) in walk.samples.advantage().zip(walk.taken) {
                    let sample = sample(&view, iteration);
                    if by_gradient {
                        guided.decisions.add(&sample, taken);
                        continue;
                    }
                    let memory = match replays {
                        true => &mut memories[FITTED.index()],
                        false => &mut guided.fresh,
                    };
                    memory.add(&sample);
                }
                for view in walk.samples.strategy() {
                    memories[Role::Strategy.index()].add(&sample(&view, iteration));
                }
                for view in walk.critic.advantage() {
                    guided.returns.add(&sample(&view, iteration));
                }
                adding += added.elapsed();
                watcher.advance(index + 1, walks.counts.nodes);
            })?;
        clock.add(Phase::Traversal, started.elapsed());
        clock.add(Phase::MemoryAdd, adding);
        Ok(())
    }

    /// Moves the network that plays towards the fitted one.
    fn smooth(&mut self, iteration: u32) -> Result<(), IterationError> {
        if self.config.value_guided.smoothing > 0.0 {
            let [mean, now] = [SMOOTHED, FITTED].map(|role| self.learners[role.index()].snapshot());
            let (mean, now) = (
                mean.map_err(anyhow::Error::from)?,
                now.map_err(anyhow::Error::from)?,
            );
            let mean = smoothed(&self.config, iteration, mean, &now);
            let playing = &mut self.learners[SMOOTHED.index()];
            playing.restore(&mean).map_err(anyhow::Error::from)?;
        }
        Ok(())
    }

    /// Fits policy and critic, at the same time where there are cores for it: they share nothing.
    fn fit_guided(
        &mut self,
        course: &Course<'_>,
        fitted: &mut Fitted,
        clock: &mut PhaseClock,
        watcher: &mut dyn Watcher,
    ) -> Result<(), IterationError> {
        let Some(guided) = &mut self.guided else {
            return Ok(());
        };
        let Guided {
            critic,
            returns,
            fresh,
            decisions,
            ..
        } = guided;
        let (config, stop, iteration) = (&self.config, course.stop, course.iteration);
        let threads = config.run.threads.unwrap_or_else(logical_cores);
        let at_once = threads > 1;
        // Halves of the cores each, or all of them one after the other.
        let each = (threads / 2).max(1);
        let learner = &mut self.learners[FITTED.index()];
        let memory = &mut self.memories[FITTED.index()];
        let mut sampling = 0.0;
        let mut fit_critic = move || {
            let fit = Passes::of_critic(config, iteration);
            fit.run(critic, returns, each, stop)
        };
        let rests = self.opposite.is_some() && iteration <= CRITIC_ALONE;
        let mut fit_policy = || {
            if rests {
                return Ok(None);
            }
            if config.training.learner == LearnerKind::PolicyGradient {
                return fit_by_gradient(config, iteration, each, learner, decisions, stop);
            }
            if !update(config, iteration).replays() {
                let fit = Passes::of_policy(config, iteration);
                return fit.run(learner, fresh, each, stop);
            }
            let fits = IterationFits {
                config,
                iteration,
                stop,
            };
            let fit = fits.of(FITTED).on_threads(each);
            fit.run(learner, memory, &mut sampling, stop, watcher)
        };
        let (policy, critic) = if at_once {
            thread::scope(|scope| {
                let critic = scope.spawn(fit_critic);
                let policy = fit_policy();
                let critic = critic.join().unwrap_or_else(|panic| resume_unwind(panic));
                (policy, critic)
            })
        } else {
            (fit_policy(), fit_critic())
        };
        let (policy, critic) = (policy?, critic?);
        let add = |clock: &mut PhaseClock, phase, fit: &Option<FitReport>| {
            if let Some(fit) = fit {
                clock.add(phase, Duration::from_secs_f64(fit.seconds));
                clock.add(
                    Phase::BatchTensor,
                    Duration::from_secs_f64(fit.batch_seconds),
                );
            }
        };
        add(clock, Phase::AdvantageFit, &policy);
        add(clock, Phase::CriticFit, &critic);
        fitted.fits[FITTED.index()] = policy;
        fitted.sample_seconds[FITTED.index()] = sampling;
        fitted.critic = critic;
        Ok(())
    }
}
