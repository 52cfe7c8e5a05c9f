//! The fit of one network in one iteration, as the configuration wants it.

use super::{
    Compute, FitPlan, FitReport, IterationError, Learner, LearnerError, Phase, Reinitialise, Role,
    TargetScaling, Watcher,
    batches::{minibatch, sampled},
    root_mean_square,
    supply::{Supplied, Supply},
    threads::{fit_threads, use_threads},
};
use crate::{
    config::Config,
    inference::StopFlag,
    network::Architecture,
    random::{Purpose, Stream},
    replay::Memory,
};

/// A scale this many times another may stand for it.
const NEAR_ENOUGH: f64 = 1.25;

/// The learner of `role` at its first parameters.
///
/// # Errors
/// Failures of the device.
pub(super) fn new_learner(
    config: &Config,
    architecture: &Architecture,
    role: Role,
    compute: Compute,
) -> Result<Learner, LearnerError> {
    let initial = initial_parameters(config, architecture, role, 0);
    let optimization = &config.optimization;
    Learner::computing(architecture.clone(), &initial, optimization, compute)
}

/// The parameters at which `role` starts in `iteration`; 0 is the beginning of the run.
fn initial_parameters(
    config: &Config,
    architecture: &Architecture,
    role: Role,
    iteration: u32,
) -> Vec<f32> {
    let number = role.index() as u64;
    let seed = config.run.seed;
    architecture.initial(&mut Stream::new(
        seed,
        Purpose::Weights,
        number,
        iteration.into(),
    ))
}

/// The share of `optimization.learning_rate` in `iteration`.
pub(super) fn learning_rate_share(config: &Config, iteration: u32) -> f64 {
    let first = config.optimization.learning_rate;
    let last = config.optimization.learning_rate_final;
    in_between(first, last, config, iteration) / first
}

/// A setting that goes from `first` in the first iteration to `last` in the last one, if it does.
pub(super) fn in_between(first: f64, last: Option<f64>, config: &Config, iteration: u32) -> f64 {
    let (Some(last), Some(most)) = (last, config.run.max_iterations) else {
        return first;
    };
    let way = f64::from(iteration.saturating_sub(1)) / f64::from(most.saturating_sub(1).max(1));
    first + (last - first) * way.min(1.0)
}

/// One network's fit.
pub(super) struct RoleFit<'a> {
    pub config: &'a Config,
    pub role: Role,
    pub iteration: u32,
    /// Threads of its tensor operations; `None` = what the configuration and the network ask for.
    pub threads: Option<usize>,
}

/// What the settings say for one kind of network.
struct Amounts {
    steps: usize,
    rows: usize,
    first_open: f64,
    phase: Phase,
    reinitialise: Reinitialise,
}

impl RoleFit<'_> {
    /// The same fit on so many threads.
    pub fn on_threads(self, threads: usize) -> Self {
        Self {
            threads: Some(threads),
            ..self
        }
    }

    /// Fits `learner` to minibatches of `memory`; `None` where there is nothing to fit to or no step to take.
    ///
    /// # Errors
    /// [`IterationError::Interrupted`] soon after `stop` is raised, else what failed.
    pub fn run(
        &self,
        learner: &mut Learner,
        memory: &mut Memory,
        sample_seconds: &mut f64,
        stop: &StopFlag,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<FitReport>, IterationError> {
        let amounts = self.amounts();
        if memory.is_empty() || amounts.steps == 0 {
            return Ok(None);
        }
        watcher.begin(amounts.phase, amounts.steps);
        let architecture = learner.architecture();
        let usual = || fit_threads(self.config, architecture, amounts.rows);
        use_threads(self.threads.unwrap_or_else(usual));
        if amounts.reinitialise.is_due(self.iteration) {
            let initial = initial_parameters(self.config, architecture, self.role, self.iteration);
            learner.reset(&initial).map_err(anyhow::Error::from)?;
        }
        self.scale(learner, memory)?;
        let optimization = &self.config.optimization;
        let supply = Supply {
            rows: amounts.rows,
            stream: self.stream(Purpose::Minibatch),
            first_open: amounts.first_open,
            repeated: optimization.repeated_info,
            order: optimization.minibatches,
            held_out: Some(self.stream(Purpose::HeldOut)),
        };
        let plan = FitPlan {
            loss: self.role.loss(),
            steps: amounts.steps,
            iteration: self.iteration,
            weighting: &self.config.training_weighting,
            keep: self.config.training.keep,
            rate: learning_rate_share(self.config, self.iteration),
            schedule: optimization.learning_rate_schedule,
            held_out_checks: self.config.training.held_out_checks,
        };
        let mut step = 0;
        let supplied = supply.fit(learner, &plan, memory, || {
            watcher.advance(step, 0);
            step += 1;
            stop.is_raised()
        })?;
        let Supplied {
            mut report,
            sampling,
        } = supplied;
        watcher.advance(report.steps_run, 0);
        report.target_scale = self.scales().then(|| learner.scale());
        *sample_seconds = sampling.as_secs_f64();
        if stop.is_raised() {
            Err(IterationError::Interrupted)
        } else {
            Ok(Some(report))
        }
    }

    /// Whether targets are scaled.
    fn scales(&self) -> bool {
        self.role != Role::Strategy && self.config.training.target_scaling == TargetScaling::Rms
    }

    /// Sets the unit of the network's answers. A network that goes on keeps its own while that is near enough.
    fn scale(&self, learner: &mut Learner, memory: &Memory) -> anyhow::Result<()> {
        let scale = if self.scales() {
            let batch = sampled(memory, &mut self.stream(Purpose::TargetScale))?;
            let weighting = &self.config.training_weighting;
            let scale = root_mean_square(&minibatch(&batch), self.iteration, weighting)?;
            // A memory of zeros has no scale, nor has one of overflown targets.
            if scale.is_normal() {
                scale
            } else {
                learner.scale()
            }
        } else {
            1.0
        };
        let change = (scale / learner.scale()).max(learner.scale() / scale);
        if change > NEAR_ENOUGH || learner.is_fresh() || !self.scales() {
            learner.set_scale(scale)?;
        }
        Ok(())
    }

    fn amounts(&self) -> Amounts {
        let (optimization, training) = (&self.config.optimization, &self.config.training);
        match self.role {
            Role::Advantage(_) => Amounts {
                steps: optimization.advantage_updates_per_iteration,
                rows: optimization.advantage_batch_size,
                first_open: optimization.advantage_first_open_fraction,
                phase: Phase::AdvantageFit,
                reinitialise: training.reinitialise,
            },
            Role::Strategy => Amounts {
                steps: optimization.strategy_updates_per_iteration,
                rows: optimization.strategy_batch_size,
                first_open: 0.0,
                phase: Phase::StrategyFit,
                reinitialise: training.reinitialise_strategy,
            },
        }
    }

    /// This fit's stream of a purpose with coordinates `(iteration, network number)`.
    fn stream(&self, purpose: Purpose) -> Stream {
        let number = self.role.index() as u64;
        Stream::new(self.config.run.seed, purpose, self.iteration.into(), number)
    }
}
