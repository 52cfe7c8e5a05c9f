//! Settings of a run and of its fits.

use super::Reinitialise;
use crate::{network::AmpDtype, regret::UpdateRule, replay::RepeatedInfo};
use serde::{Deserialize, Serialize};

/// A run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Names the run's folder.
    pub experiment_name: String,
    /// The last iteration; null = until stopped.
    pub max_iterations: Option<u32>,
    /// Minutes after which the run ends with the iteration in hand; null = no limit.
    pub max_minutes: Option<f64>,
    /// Everything random in the run derives from it.
    pub seed: u64,
    /// Where networks compute: `auto` (a GPU if there is one, and the log says which and why), `cpu`, `cuda` (the first) or `cuda:N`. One that is
    /// asked for by name and not there is an error. ROCm builds of libtorch answer to `cuda`.
    pub device: String,
    /// Mixed precision of fits: forward and backward passes run in `amp_dtype`, parameters, optimizer, losses and softmax stay f32. Meant for
    /// GPUs; on a CPU it works and can be many times slower.
    pub use_amp: bool,
    /// The type of mixed precision: `bf16`, or `f16` with a loss scale that finds its size by itself (steps whose gradient overflows are left out).
    pub amp_dtype: AmpDtype,
    /// Makes results independent of how walks were batched where they are not already: libtorch's kernels then run at one padded batch shape.
    /// Packed kernels (`inference.kernels`) give the same bits in every batch.
    pub deterministic: bool,
    /// Threads of a fit's tensor operations; null = one per core, or where the network is small one, with both advantage networks fitted at the
    /// same time. For the walks see `traversal.worker_threads`.
    pub threads: Option<usize>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            experiment_name: "deep_cfr".into(),
            max_iterations: None,
            max_minutes: None,
            seed: 1,
            device: "auto".into(),
            use_amp: false,
            amp_dtype: AmpDtype::Bf16,
            deterministic: false,
            threads: None,
        }
    }
}

/// How the step size goes over the steps of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSchedule {
    /// It stays.
    #[default]
    Constant,
    /// It falls in equal parts, from the whole at the first step to one part of their number at the last.
    Linear,
}

impl RateSchedule {
    /// The share of the step size at `step` (from 0) of `steps`.
    pub fn factor(self, step: usize, steps: usize) -> f64 {
        match self {
            RateSchedule::Constant => 1.0,
            RateSchedule::Linear => 1.0 - step as f64 / steps.max(1) as f64,
        }
    }
}

/// How the minibatches of a fit follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MinibatchOrder {
    /// Each is drawn from the whole memory, whatever came before.
    #[default]
    Independent,
    /// They go through the memory: every sample is met before any is met again.
    Sweep,
}

/// The fits of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimizationSettings {
    /// Rows of an advantage minibatch, positive.
    pub advantage_batch_size: usize,
    /// Rows of a strategy minibatch, positive.
    pub strategy_batch_size: usize,
    /// Optimizer steps per iteration for each advantage network.
    pub advantage_updates_per_iteration: usize,
    /// Optimizer steps per iteration for the strategy network.
    pub strategy_updates_per_iteration: usize,
    /// How minibatches follow each other: `independent` draws, or `sweep`, through the memory from a random start. Where a fit meets every sample
    /// several times, sweeps leave much less of the minibatches' noise in the network. Not together with `advantage_first_open_fraction`.
    pub minibatches: MinibatchOrder,
    /// How often an info state that several samples of a minibatch share is computed: for `each`, or `once` for all of them, with the same loss
    /// and gradient. The latter is faster where info states repeat, as in games small enough to be solved, and slower where they do not.
    pub repeated_info: RepeatedInfo,
    /// Least share of first-open samples in an advantage minibatch, 0 to 1.
    pub advantage_first_open_fraction: f64,
    /// AdamW's step size, positive.
    pub learning_rate: f64,
    /// How the step size goes over the steps of a fit: `constant`, or `linear`, which falls from `learning_rate` to almost 0. The latter follows
    /// what has changed since the last fit as fast, and leaves less of the minibatches' noise in the network.
    pub learning_rate_schedule: RateSchedule,
    /// The step size in iteration `run.max_iterations`, reached in equal parts from `learning_rate` in the first; null = `learning_rate`
    /// throughout.
    pub learning_rate_final: Option<f64>,
    /// AdamW's decoupled weight decay, 0 or more.
    pub weight_decay: f64,
    /// Largest global L2 norm of a gradient; 0 = no clipping.
    pub grad_clip: f64,
}

impl Default for OptimizationSettings {
    fn default() -> Self {
        Self {
            advantage_batch_size: 256,
            strategy_batch_size: 256,
            advantage_updates_per_iteration: 64,
            strategy_updates_per_iteration: 64,
            minibatches: MinibatchOrder::Independent,
            repeated_info: RepeatedInfo::Each,
            advantage_first_open_fraction: 0.0,
            learning_rate: 1e-3,
            learning_rate_schedule: RateSchedule::Constant,
            learning_rate_final: None,
            weight_decay: 0.0,
            grad_clip: 1.0,
        }
    }
}

/// What advantage targets are divided by before they are fitted. Policies are the same under all: answers are multiplied by it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetScaling {
    /// Nothing: losses are in squared points.
    #[default]
    None,
    /// The root mean square of the legal targets in the memory, weighted as the loss weighs: the loss of a network that answers 0 is then 1.
    Rms,
}

/// Which of the parameters that a fit comes through stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The last ones.
    #[default]
    Last,
    /// Those of the least loss on held-out samples, with their optimizer.
    BestHeldout,
}

/// When a player's network learns what the other's walks play against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Updates {
    /// Both players walk against the networks of the iteration before, then both are fitted.
    #[default]
    Simultaneous,
    /// Player 0 walks and is fitted, then player 1 walks against the new network and is fitted.
    Alternating,
}

/// How policies are learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearnerKind {
    /// From the advantages of all actions.
    #[default]
    DeepCfr,
    /// From the actions taken, by the clipped surrogate of section `policy_gradient`: what Deep CFR is measured by.
    PolicyGradient,
}

/// Where fits start, what they learn from, and which weights they keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingSettings {
    /// `simultaneous`, or `alternating` as in Deep CFR (Brown et al. 2019, algorithm 1): converges in fewer iterations, but batches are half
    /// as large and only one advantage network is fitted at a time.
    pub updates: Updates,
    /// How policies are learned: `deep_cfr`, or `policy_gradient`, the yardstick, which needs value-guided walks and has no average strategy.
    pub learner: LearnerKind,
    /// What value-guided walks teach the policy network: `regret_matching` (Deep CFR: mean advantages over all iterations, from the replay
    /// memory), `bootstrapped` (their running mean in the network itself) or `hedge` (the softmax of accumulated advantages). The last two
    /// learn from the iteration's own samples, each once, and keep no replay memory.
    pub update: UpdateRule,
    /// Logits per unit of advantage that `hedge` adds in an iteration, positive.
    pub hedge_eta: f64,
    /// Temperature at which `hedge` comes to rest, in units of advantage; 0 or more. Higher stays closer to uniform play.
    pub hedge_tau: f64,
    /// The same in iteration `run.max_iterations`, and in between in proportion; null = `hedge_tau` throughout.
    pub hedge_tau_final: Option<f64>,
    /// Greatest magnitude of a logit that `hedge` learns, positive.
    pub hedge_clamp: f64,
    /// When the advantage networks start anew, before the fits of an iteration: `never`, `always` or `every N`. A fresh network needs more
    /// steps (`optimization.advantage_updates_per_iteration`) than one that goes on.
    pub reinitialise: Reinitialise,
    /// The same for the strategy network. It learns one policy, whose samples only gather: going on loses nothing and needs fewer steps.
    pub reinitialise_strategy: Reinitialise,
    /// What advantage targets are divided by: `none` or `rms`. The scale is taken anew before each fit; a network that goes on changes to it
    /// when it is off by more than a quarter, and means the same before and after.
    pub target_scaling: TargetScaling,
    /// Share of every memory kept out of fits, 0 to 0.5, to measure the networks by. It is one row in N, with N the whole number nearest to
    /// its inverse; 0 = none.
    pub held_out: f64,
    /// How often in a fit the held-out loss is taken where `keep` needs it, positive.
    pub held_out_checks: usize,
    /// Which parameters of a fit stay: `last`, or `best_heldout`, those of the least loss on at most 4,096 held-out rows.
    pub keep: Keep,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            updates: Updates::Simultaneous,
            learner: LearnerKind::DeepCfr,
            update: UpdateRule::RegretMatching,
            hedge_eta: 2.0,
            hedge_tau: 0.02,
            hedge_tau_final: None,
            hedge_clamp: 12.0,
            reinitialise: Reinitialise::Never,
            reinitialise_strategy: Reinitialise::Never,
            target_scaling: TargetScaling::None,
            held_out: 0.0,
            held_out_checks: 8,
            keep: Keep::Last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_steps_shrink_to_one_part_of_their_number() {
        let factors = |schedule: RateSchedule| [0, 5, 9].map(|step| schedule.factor(step, 10));
        assert_eq!(factors(RateSchedule::Constant), [1.0; 3]);
        let linear = factors(RateSchedule::Linear);
        for (found, expected) in linear.into_iter().zip([1.0, 0.5, 0.1]) {
            assert!((found - expected).abs() < 1e-12, "{linear:?}");
        }
    }
}
