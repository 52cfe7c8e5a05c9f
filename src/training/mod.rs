//! The iteration: traverse, remember, fit, evaluate, checkpoint.
//!
//! ```text
//! Session   RUN folder, metrics, checkpoints, when to end
//!    | iterate
//! Trainer   weights --> executor    walks --> memories --> fits --> games against opponents
//! ```

mod averaging;
mod batches;
mod biases;
mod clock;
mod compute;
mod contestant;
mod durable;
mod exploit;
mod exploitability;
mod fit;
mod fits;
mod fitting;
mod game;
mod guided;
mod learner;
mod losses;
mod metrics;
mod placement;
mod policy_gradient;
mod reinitialise;
mod report;
mod role;
mod selection;
mod session;
mod settings;
mod supply;
mod threads;
mod trainer;
mod weighting;

pub use crate::traversal::IterationWalks;
pub use averaging::{AveragingScheme, Settings as AveragingSettings};
pub use batches::MemoryBatches;
pub use biases::biases;
pub use clock::{Phase, PhaseClock};
pub use compute::{Compute, RowSource, StepChecks};
pub use contestant::{SavedPolicy, SavedRun};
pub use durable::Resumption;
pub use exploit::{Budget, Exploit, Found, Gain, Way};
pub use exploitability::Exploitability;
pub use fit::{FitPlan, FitReport, Minibatches, fit};
pub use game::TrainedGame;
pub use learner::{Learner, LearnerError, LearnerState};
pub use losses::{LossKind, Minibatch, advantage_loss, root_mean_square, strategy_loss};
pub use policy_gradient::{Settings as PolicyGradientSettings, Surrogate, SurrogateBatch};
pub use reinitialise::{Reinitialise, UnknownOccasion};
pub use report::{Due, IterationError, IterationReport, Watcher};
pub use role::Role;
pub use session::{Ending, Outcome, Session};
pub use settings::{
    Keep, LearnerKind, MinibatchOrder, OptimizationSettings, RateSchedule, RunSettings,
    TargetScaling, TrainingSettings, Updates,
};
pub use threads::{RunDevices, engine_networks, tell_without_effect};
pub use trainer::Trainer;
pub use weighting::{
    Ages, Discounted, Linear, SampleWeighting, Uniform, WeightingMode, WeightingSettings,
};
