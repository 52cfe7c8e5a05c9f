//! The fit of the policy network.

use super::{Decisions, Surrogate, SurrogateBatch, decisions::DecisionBatches};
use crate::{
    config::Config,
    inference::StopFlag,
    network::TensorError,
    platform::transfers,
    random::Stream,
    training::{
        FitReport, IterationError, Learner, RowSource,
        fitting::{in_between, learning_rate_share},
        threads::use_threads,
    },
};
use anyhow::Context;
use std::time::Instant;
use tch::Tensor;

/// The fit of one iteration.
pub struct PolicyFit<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The iteration in hand.
    pub iteration: u32,
    /// Threads of its tensor operations.
    pub threads: usize,
}

impl PolicyFit<'_> {
    /// Fits `learner` to `decisions`, which `stream` orders; `None` where there are none.
    ///
    /// A loss or a gradient that is not finite leaves parameters and optimizer untouched and is counted.
    ///
    /// # Errors
    /// [`IterationError::Interrupted`] soon after `stop` is raised, else what failed.
    pub fn run(
        &self,
        learner: &mut Learner,
        decisions: &Decisions,
        mut stream: Stream,
        stop: &StopFlag,
    ) -> Result<Option<FitReport>, IterationError> {
        if decisions.len() == 0 {
            return Ok(None);
        }
        use_threads(self.threads);
        let started = Instant::now();
        let settings = &self.config.policy_gradient;
        let sweep = decisions.memory().start_sweep(&mut stream);
        let compute = learner.compute();
        let device = (compute.rows != RowSource::InPlace).then_some(compute.device);
        let mut batches = decisions
            .batches(settings.batch_size, sweep, device)
            .map_err(anyhow::Error::from)?;
        let before = transfers::of_this_thread();
        learner.set_step_share(learning_rate_share(self.config, self.iteration));
        let surrogate = self.surrogate();
        let steps = settings.passes * decisions.len().div_ceil(settings.batch_size.max(1));
        let (mut report, mut total) = (FitReport::default(), 0.0);
        while report.steps_run < steps {
            if stop.is_raised() {
                return Err(IterationError::Interrupted);
            }
            if let Some(loss) = step(learner, &surrogate, &mut batches, &mut report)? {
                total += loss;
                report.last_loss = loss;
            }
        }
        let counted = report.steps_run - report.nonfinite_losses;
        report.mean_loss = total / counted.max(1) as f64;
        report.seconds = started.elapsed().as_secs_f64();
        report.transfers = transfers::of_this_thread() - before;
        Ok(Some(report))
    }

    fn surrogate(&self) -> Surrogate {
        let settings = &self.config.policy_gradient;
        let (first, last) = (settings.entropy, settings.entropy_final);
        Surrogate {
            clip: settings.clip,
            entropy: in_between(first, last, self.config, self.iteration),
        }
    }
}

/// One minibatch, one loss, one update, and their counts. Returns the loss if it was finite.
fn step(
    learner: &mut Learner,
    surrogate: &Surrogate,
    batches: &mut DecisionBatches<'_>,
    report: &mut FitReport,
) -> anyhow::Result<Option<f64>> {
    let drawing = Instant::now();
    let batch = batches.next().map_err(TensorError::from)?;
    report.batch_seconds += drawing.elapsed().as_secs_f64();
    report.steps_run += 1;
    let (loss, gradient) = loss_and_gradient(learner, surrogate, &batch)
        .context("the forward or backward pass of a policy gradient failed")?;
    let Some(gradient) = gradient else {
        report.nonfinite_losses += 1;
        return Ok(None);
    };
    let updated = learner
        .update(gradient)
        .context("the optimizer step of a policy gradient failed")?;
    report.nonfinite_gradients += usize::from(!updated);
    Ok(Some(loss))
}

/// The loss of a minibatch and its gradient in the flat parameters; no gradient where the loss is not finite.
fn loss_and_gradient(
    learner: &Learner,
    surrogate: &Surrogate,
    batch: &SurrogateBatch<'_>,
) -> Result<(f64, Option<Tensor>), TensorError> {
    let parameters = learner.parameters();
    let logits = learner.architecture().forward(parameters, batch.info)?;
    let loss = surrogate.loss(&logits, batch)?;
    let value = loss.f_double_value(&[])?;
    if !value.is_finite() {
        return Ok((value, None));
    }
    let gradients = Tensor::f_run_backward(&[&loss], &[parameters], false, false)?;
    Ok((value, gradients.into_iter().next()))
}
