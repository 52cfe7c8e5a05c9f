//! What learns in a run of value-guided walks besides the policy: the critic, and the policy's samples of one iteration.

use super::{
    Compute, FitPlan, FitReport, IterationError, Keep, Learner, LearnerKind, LearnerState,
    LossKind, MinibatchOrder, RateSchedule, Role, RowSource, WeightingMode, WeightingSettings,
    fitting::{in_between, learning_rate_share},
    policy_gradient::{Decisions, PolicyFit},
    supply::Supply,
    threads::use_threads,
};
use crate::{
    config::Config,
    encoding::Encoding,
    evaluation::Reading,
    game::{Game, Player},
    inference::StopFlag,
    network::Architecture,
    random::{Purpose, Stream},
    regret::{Bootstrapped, Hedge, Matching, Softmax, Update, UpdateRule},
    replay::{Faults, Memory, RepeatedInfo},
    traversal::{GuidedTargets, GuidedWalker, SamplingMode},
};
use std::sync::Arc;

/// The critic's share of a trainer.
pub(super) struct Guided<G, E> {
    pub walker: Arc<GuidedWalker<G, E>>,
    pub critic: Learner,
    /// The critic's samples of the iteration in hand.
    pub returns: Memory,
    /// The policy's, under rules that do not replay.
    pub fresh: Memory,
    /// The policy's under policy gradient.
    pub decisions: Decisions,
}

/// Streams of [`Purpose::Guided`], by their second coordinate.
#[derive(Clone, Copy)]
enum Draws {
    CriticMemory,
    FreshMemory,
    CriticFit,
    PolicyFit,
    Imitation,
}

impl<G: Game, E: Encoding<G>> Guided<G, E> {
    /// What a run under `config` needs; `None` without value-guided walks.
    pub fn new(
        game: &G,
        encoding: &E,
        config: &Config,
        compute: Compute,
    ) -> anyhow::Result<Option<Self>> {
        if config.traversal.sampling_mode != SamplingMode::ValueGuided {
            return Ok(None);
        }
        let traversal = &config.traversal;
        let strategy = config.averaging.scheme == super::AveragingScheme::StrategyNetwork;
        let (game, encoding) = (game.clone(), encoding.clone());
        let settings = &config.value_guided;
        let walker = GuidedWalker::new(game, encoding, settings, traversal, strategy);
        let sight = walker.sight();
        let (info_len, outputs) = (sight.info_len(), walker.critic_outputs());
        let colors = sight.color_layout().map(|colors| match settings.targets {
            GuidedTargets::Q => colors,
            GuidedTargets::Children => colors.with_common_answers(outputs),
        });
        let architecture = Architecture::new(&config.network, info_len, outputs, colors.as_ref())?;
        let seed = config.run.seed;
        let initial = architecture.initial(&mut Stream::new(seed, Purpose::Weights, CRITIC, 0));
        let capacity = config.replay.advantage_capacity;
        let memory = |capacity, info_len, actions, draws| {
            let stream = stream(config, 0, draws);
            Memory::new(capacity, info_len, actions, stream)
        };
        let by_gradient = config.training.learner == LearnerKind::PolicyGradient;
        let decided = if by_gradient { capacity } else { 0 };
        let optimization = &config.optimization;
        let critic = Learner::computing(architecture, &initial, optimization, compute)?;
        let (policy_len, actions) = (
            walker.encoding().info_len(),
            walker.encoding().num_actions(),
        );
        Ok(Some(Self {
            walker: Arc::new(walker),
            critic,
            returns: memory(capacity, info_len, outputs, Draws::CriticMemory)?,
            fresh: memory(capacity, policy_len, actions, Draws::FreshMemory)?,
            decisions: Decisions::new(memory(decided, policy_len, actions, Draws::FreshMemory)?),
        }))
    }
}

impl<G, E> Guided<G, E> {
    /// The critic's shape.
    pub fn architecture(&self) -> &Architecture {
        self.critic.architecture()
    }

    /// The critic's flat parameters as the executor gets them.
    pub fn critic_snapshot(&self) -> anyhow::Result<Vec<f32>> {
        Ok(self.critic.snapshot()?)
    }

    /// What a checkpoint keeps of the critic.
    pub fn critic_state(&self) -> anyhow::Result<LearnerState> {
        Ok(self.critic.state()?)
    }

    /// Goes on with a critic of a checkpoint.
    pub fn restore_critic(&mut self, state: &LearnerState) -> anyhow::Result<()> {
        Ok(self.critic.load_state(state)?)
    }
}

/// The critic's number among the networks, behind those of [`super::Role`].
const CRITIC: u64 = 3;

fn stream(config: &Config, iteration: u32, draws: Draws) -> Stream {
    let seed = config.run.seed;
    Stream::new(seed, Purpose::Guided, iteration.into(), draws as u64)
}

/// How the policy learns in `iteration`.
pub(super) fn update(config: &Config, iteration: u32) -> Box<dyn Update> {
    let training = &config.training;
    let matching = Matching::of(config);
    if training.learner == LearnerKind::PolicyGradient {
        return Box::new(Softmax);
    }
    match training.update {
        UpdateRule::RegretMatching => Box::new(matching),
        UpdateRule::Bootstrapped => Box::new(Bootstrapped {
            matching,
            rate: 2.0 / (iteration as f32 + 1.0),
        }),
        UpdateRule::Hedge => Box::new(Hedge {
            eta: training.hedge_eta as f32,
            tau: in_between(
                training.hedge_tau,
                training.hedge_tau_final,
                config,
                iteration,
            ) as f32,
            clamp: training.hedge_clamp as f32,
        }),
    }
}

/// The policy network that value-guided walks are fitted to: there is one for both seats.
pub(super) const FITTED: Role = Role::Advantage(Player::P0);

/// Where its moving average is kept, which has no optimizer.
pub(super) const SMOOTHED: Role = Role::Advantage(Player::P1);

/// The moving average `mean` of a network's parameters (`[num_parameters]`, answers in target units) after `iteration`, which fitted `now`:
/// over the last tenth of all iterations until that is longer than `value_guided.smoothing` says.
pub(super) fn smoothed(config: &Config, iteration: u32, mean: Vec<f32>, now: &[f32]) -> Vec<f32> {
    let growing = f64::from(iteration.saturating_sub(1)) / (f64::from(iteration) + 9.0);
    let kept = config.value_guided.smoothing.min(growing) as f32;
    let mix = |(mean, now): (f32, &f32)| kept * mean + (1.0 - kept) * now;
    mean.into_iter().zip(now).map(mix).collect()
}

/// The network that plays in the place of `role`: under value-guided walks one plays both seats.
pub(super) fn playing(config: &Config, role: Role) -> Role {
    let guided = config.traversal.sampling_mode == SamplingMode::ValueGuided;
    match role {
        Role::Advantage(_) if guided && config.value_guided.smoothing > 0.0 => SMOOTHED,
        Role::Advantage(_) if guided => FITTED,
        role => role,
    }
}

/// What the answers of the current policy networks mean.
pub(super) fn reading(config: &Config, matching: Matching) -> Reading {
    let guided = config.traversal.sampling_mode == SamplingMode::ValueGuided;
    let training = &config.training;
    let logits =
        training.learner == LearnerKind::PolicyGradient || training.update == UpdateRule::Hedge;
    if guided && logits {
        return Reading::Logits;
    }
    let Matching { epsilon, fallback } = matching;
    Reading::Advantages { epsilon, fallback }
}

/// The uniform share of the policies that `iteration` walks by.
pub(super) fn exploration(config: &Config, iteration: u32) -> f64 {
    let settings = &config.value_guided;
    let (first, last) = (settings.exploration, settings.exploration_final);
    in_between(first, last, config, iteration)
}

/// Fits the policy network by policy gradient; `None` where there is nothing to fit to.
pub(super) fn fit_by_gradient(
    config: &Config,
    iteration: u32,
    threads: usize,
    learner: &mut Learner,
    decisions: &Decisions,
    stop: &StopFlag,
) -> Result<Option<FitReport>, IterationError> {
    let fit = PolicyFit {
        config,
        iteration,
        threads,
    };
    let stream = stream(config, iteration, Draws::PolicyFit);
    fit.run(learner, decisions, stream, stop)
}

/// A fit that goes through one iteration's samples so many times.
pub(super) struct Passes<'a> {
    pub config: &'a Config,
    pub iteration: u32,
    pub passes: usize,
    pub rows: usize,
    loss: LossKind,
    draws: Draws,
}

impl<'a> Passes<'a> {
    /// The critic's.
    pub fn of_critic(config: &'a Config, iteration: u32) -> Self {
        Self {
            config,
            iteration,
            passes: config.value_guided.critic_passes,
            rows: config.value_guided.critic_batch_size,
            loss: LossKind::Advantage,
            draws: Draws::CriticFit,
        }
    }

    /// The policy's, under a rule that does not replay.
    pub fn of_policy(config: &'a Config, iteration: u32) -> Self {
        Self {
            config,
            iteration,
            passes: 1,
            rows: config.optimization.advantage_batch_size,
            loss: LossKind::Advantage,
            draws: Draws::PolicyFit,
        }
    }

    /// The policy's to the policy of another.
    pub fn of_imitation(config: &'a Config, round: u32) -> Self {
        Self {
            loss: LossKind::Strategy,
            draws: Draws::Imitation,
            ..Self::of_policy(config, round)
        }
    }

    /// Fits `learner` to `memory` on `threads` threads; `None` where there is nothing to fit to.
    pub fn run(
        &self,
        learner: &mut Learner,
        memory: &mut Memory,
        threads: usize,
        stop: &StopFlag,
    ) -> Result<Option<FitReport>, IterationError> {
        if memory.is_empty() {
            return Ok(None);
        }
        use_threads(threads);
        let supply = Supply {
            rows: self.rows,
            stream: stream(self.config, self.iteration, self.draws),
            first_open: 0.0,
            repeated: RepeatedInfo::Each,
            order: MinibatchOrder::Sweep,
            held_out: None,
        };
        // All samples are of one iteration.
        let weighting = WeightingSettings {
            mode: WeightingMode::None,
            ..WeightingSettings::default()
        };
        let plan = FitPlan {
            loss: self.loss,
            steps: self.passes * memory.len().div_ceil(self.rows.max(1)),
            iteration: self.iteration,
            weighting: &weighting,
            keep: Keep::Last,
            rate: learning_rate_share(self.config, self.iteration),
            schedule: RateSchedule::Constant,
            held_out_checks: 1,
        };
        mirror_for_a_fit(memory, learner.compute());
        let supplied = supply.fit(learner, &plan, memory, || stop.is_raised());
        memory.drop_mirror();
        let report = supplied?.report;
        if stop.is_raised() {
            return Err(IterationError::Interrupted);
        }
        Ok(Some(report))
    }
}

/// Has the samples of one iteration copied to the device for the length of a fit, where fits take them from there: they are few, and the next
/// iteration's are others.
fn mirror_for_a_fit(memory: &mut Memory, compute: Compute) {
    if compute.rows == RowSource::Mirrored {
        memory.try_mirror_on(compute.device, memory.len(), Faults::none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_reach_back_a_tenth_of_all_iterations_until_that_is_long() {
        let mut config = Config::default();
        config.value_guided.smoothing = 0.9;
        // The first keeps nothing of a network that was never fitted.
        assert_eq!(
            smoothed(&config, 1, vec![8.0, -4.0], &[1.0, 2.0]),
            [1.0, 2.0]
        );
        // (11 - 1) / (11 + 9)
        assert_eq!(
            smoothed(&config, 11, vec![8.0, -4.0], &[1.0, 2.0]),
            [4.5, -1.0]
        );
        let late = smoothed(&config, 100_000, vec![8.0], &[-2.0]);
        assert!((late[0] - 7.0).abs() < 1e-5, "{late:?}");
    }
}
