//! A network that learns, and the loop that fits it to minibatches.

use super::{
    Keep, LossKind, Minibatch, OptimizationSettings, WeightingSettings, selection::Selection,
};
use crate::network::{AdamW, Architecture, Moments, TensorError, clip};
use anyhow::{Context, ensure};
use std::time::Instant;
use tch::{TchError, Tensor};

/// Where minibatches come from: a replay memory with its sampler and its reused batch tensors.
pub trait Minibatches {
    /// Draws the next minibatch.
    ///
    /// # Errors
    /// Whatever keeps the memory from giving one; it ends the fit.
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>>;

    /// Samples that no minibatch has, the same throughout a fit, to measure it by; `None` where none are held out.
    fn held_out(&self) -> Option<Minibatch<'_>> {
        None
    }
}

/// What one fit does.
#[derive(Clone, Copy, Debug)]
pub struct FitPlan<'a> {
    /// The loss.
    pub loss: LossKind,
    /// Minibatches to draw, one optimizer step each.
    pub steps: usize,
    /// The iteration in hand, against which samples weigh.
    pub iteration: u32,
    /// Sample weights by iteration.
    pub weighting: &'a WeightingSettings,
    /// Which of the parameters that the fit comes through stay. Without held-out samples the last ones do.
    pub keep: Keep,
    /// Under [`Keep::BestHeldout`]: how often the held-out loss is taken, after equal numbers of steps and always after the last.
    pub held_out_checks: usize,
}

/// What a fit did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitReport {
    /// Minibatches drawn, those skipped included: fewer than planned only if the fit was stopped.
    pub steps_run: usize,
    /// Mean of the finite losses, 0 if there was none.
    pub mean_loss: f64,
    /// The last finite loss, 0 if there was none.
    pub last_loss: f64,
    /// Steps whose loss was not finite: no backward pass, no update, no part in the reported losses.
    pub nonfinite_losses: usize,
    /// Steps whose loss was finite and whose gradient was not: no update. Their losses are reported, as those of an overflow in
    /// mixed precision are.
    pub nonfinite_gradients: usize,
    /// The loss on held-out samples of the parameters that stay; `None` where none are held out.
    pub held_out_loss: Option<f64>,
    /// Points per unit of an advantage network's answers, where targets are scaled.
    pub target_scale: Option<f64>,
    /// Seconds spent in [`Minibatches::next`].
    pub batch_seconds: f64,
    /// Seconds of the fit as a whole.
    pub seconds: f64,
}

impl FitReport {
    /// The loss that stands for the fit: the mean of an advantage network's, the last of a strategy network's.
    pub fn reported_loss(&self, kind: LossKind) -> f64 {
        match kind {
            LossKind::Advantage => self.mean_loss,
            LossKind::Strategy => self.last_loss,
        }
    }

    /// Optimizer steps taken.
    pub fn updates(&self) -> usize {
        self.steps_run - self.nonfinite_losses - self.nonfinite_gradients
    }
}

/// A state that does not belong to the network.
#[derive(Debug, thiserror::Error)]
pub enum LearnerError {
    /// Made for a network of another shape.
    #[error(
        "{what} has {found} elements where the network has {expected} parameters: it belongs to a network of another shape; \
         set `network` and `encoding` as they were when it was saved"
    )]
    Length {
        /// Parameters, or a moment of the optimizer.
        what: &'static str,
        /// The network's number of parameters.
        expected: usize,
        /// Elements given.
        found: usize,
    },
    /// A tensor operation failed.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

impl From<TchError> for LearnerError {
    fn from(error: TchError) -> Self {
        Self::Tensor(error.into())
    }
}

/// Everything that a learner's next step depends on, besides its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerState {
    /// The flat parameters, `[num_parameters]`, whose answers are in units of `scale`.
    pub parameters: Vec<f32>,
    /// Target units per unit of the answers: see [`Learner::set_scale`].
    pub scale: f64,
    /// The optimizer's moments and step count.
    pub moments: Moments,
}

/// A network with its parameters and its optimizer. Both carry over from iteration to iteration.
pub struct Learner {
    architecture: Architecture,
    parameters: Tensor,
    scale: f64,
    optimizer: AdamW,
    grad_clip: f64,
}

impl Learner {
    /// A learner that starts at the parameters `initial` (`[num_parameters]`) and has taken no step. Of `settings` it keeps step
    /// size, decay and clipping.
    ///
    /// # Errors
    /// [`LearnerError::Length`] for parameters of another network; failures of the device.
    pub fn new(
        architecture: Architecture,
        initial: &[f32],
        settings: &OptimizationSettings,
    ) -> Result<Self, LearnerError> {
        expect_length(&architecture, "the parameter vector", initial)?;
        let parameters = Tensor::f_from_slice(initial)?.f_set_requires_grad(true)?;
        let optimizer = AdamW::new(&parameters, settings.learning_rate, settings.weight_decay)?;
        Ok(Self {
            architecture,
            parameters,
            scale: 1.0,
            optimizer,
            grad_clip: settings.grad_clip,
        })
    }

    /// Starts anew at the parameters `initial` (`[num_parameters]`), with an optimizer that has taken no step. The scale stays.
    ///
    /// # Errors
    /// [`LearnerError::Length`], before anything has changed; failures of the device.
    pub fn reset(&mut self, initial: &[f32]) -> Result<(), LearnerError> {
        self.restore(initial)?;
        self.optimizer.reset()?;
        Ok(())
    }

    /// The network.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Whether no step was taken yet.
    pub fn is_fresh(&self) -> bool {
        self.optimizer.steps() == 0
    }

    /// Target units per unit of the answers that are fitted: 1 unless [`Learner::set_scale`] said otherwise.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Divides targets by `scale` (positive) from now on, so that answers are fitted in that unit. Of a network that has taken steps the last
    /// layer is changed so that it still means the same in target units; a fresh one is taken as it is.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn set_scale(&mut self, scale: f64) -> Result<(), LearnerError> {
        let _guard = tch::no_grad_guard();
        let factor = self.scale / scale;
        if !self.is_fresh() && factor != 1.0 {
            let last = self.architecture.output_layer();
            let (start, length) = (last.start as i64, last.len() as i64);
            let mut layer = self.parameters.f_narrow(0, start, length)?;
            let _ = layer.f_mul_scalar_(factor)?;
            // Errors change by `factor`, and so do gradients in the last layer; those before it once more by what they pass there.
            let all = 0..self.architecture.num_parameters();
            self.optimizer.scale_gradients(all, factor * factor)?;
            self.optimizer.scale_gradients(last, 1.0 / factor)?;
        }
        self.scale = scale;
        Ok(())
    }

    /// The flat parameters (`[num_parameters]`), a leaf that later steps change in place. Their answers are in units of [`Learner::scale`].
    pub fn parameters(&self) -> &Tensor {
        &self.parameters
    }

    /// Flat parameters (`[num_parameters]`) for inference or a league: those of the network whose answers are in target units, advantages in
    /// points.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn snapshot(&self) -> Result<Vec<f32>, LearnerError> {
        let mut parameters = Vec::<f32>::try_from(&self.parameters)?;
        if self.scale != 1.0 {
            let scaled = |parameter: f32| (f64::from(parameter) * self.scale) as f32;
            let last = &mut parameters[self.architecture.output_layer()];
            last.iter_mut().for_each(|p| *p = scaled(*p));
        }
        Ok(parameters)
    }

    /// Replaces the parameters (whose answers are in units of [`Learner::scale`]) and leaves the optimizer as it is.
    ///
    /// # Errors
    /// [`LearnerError::Length`], before anything has changed; failures of the device.
    pub fn restore(&mut self, parameters: &[f32]) -> Result<(), LearnerError> {
        expect_length(&self.architecture, "the parameter vector", parameters)?;
        let _guard = tch::no_grad_guard();
        self.parameters
            .f_copy_(&Tensor::f_from_slice(parameters)?)?;
        Ok(())
    }

    /// A copy of everything that a checkpoint keeps of this learner.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn state(&self) -> Result<LearnerState, LearnerError> {
        Ok(LearnerState {
            parameters: Vec::try_from(&self.parameters)?,
            scale: self.scale,
            moments: self.optimizer.moments()?,
        })
    }

    /// Continues from `state`: the next steps give the bits that they would have given there.
    ///
    /// # Errors
    /// [`LearnerError::Length`], before anything has changed; failures of the device.
    pub fn load_state(&mut self, state: &LearnerState) -> Result<(), LearnerError> {
        let moments = &state.moments;
        expect_length(&self.architecture, "the first moment", &moments.m)?;
        expect_length(&self.architecture, "the second moment", &moments.v)?;
        self.restore(&state.parameters)?;
        self.optimizer.set_moments(moments)?;
        self.scale = state.scale;
        Ok(())
    }

    /// The loss of `batch` under `plan` and its gradient in the flat parameters (`[num_parameters]`), which stay as they are.
    /// No gradient where the loss is not finite.
    ///
    /// # Errors
    /// Failures of the device.
    ///
    /// # Panics
    /// Where shapes do not fit the network or each other; [`fit`] refuses such a minibatch.
    pub fn loss_and_gradient(
        &self,
        batch: &Minibatch<'_>,
        plan: &FitPlan<'_>,
    ) -> Result<(f64, Option<Tensor>), TensorError> {
        let loss = self.loss(batch, plan)?;
        let value = loss.f_double_value(&[])?;
        if !value.is_finite() {
            return Ok((value, None));
        }
        // Handed over by autograd and not accumulated in `.grad`: nothing to clear before the next step, two passes fewer.
        let gradients = Tensor::f_run_backward(&[&loss], &[&self.parameters], false, false)?;
        Ok((value, gradients.into_iter().next()))
    }

    /// The loss of `batch` under `plan`, in units of the scale.
    fn loss(&self, batch: &Minibatch<'_>, plan: &FitPlan<'_>) -> Result<Tensor, TensorError> {
        let predictions = self.architecture.forward(&self.parameters, batch.info)?;
        let loss = |batch: &Minibatch<'_>| {
            plan.loss
                .loss(&predictions, batch, plan.iteration, plan.weighting)
        };
        if self.scale == 1.0 {
            return loss(batch);
        }
        let target = batch.target.f_div_scalar(self.scale)?;
        loss(&Minibatch {
            target: &target,
            ..*batch
        })
    }

    /// The loss of `batch` under `plan` as a number, without a gradient.
    ///
    /// # Errors
    /// A batch that does not fit the network, and failures of the device.
    pub(super) fn measured(
        &self,
        batch: &Minibatch<'_>,
        plan: &FitPlan<'_>,
    ) -> anyhow::Result<f64> {
        let _guard = tch::no_grad_guard();
        self.check(batch)?;
        let loss = self.loss(batch, plan)?;
        let value = loss.f_double_value(&[]).map_err(TensorError::from)?;
        Ok(value)
    }

    /// Clips `gradient` and takes an optimizer step, unless the gradient's norm is not finite; says whether it did.
    fn update(&mut self, mut gradient: Tensor) -> Result<bool, TensorError> {
        let norm = gradient.f_norm()?.f_double_value(&[])?;
        if !norm.is_finite() {
            return Ok(false);
        }
        clip(&mut gradient, norm, self.grad_clip)?;
        self.optimizer.step(&mut self.parameters, &gradient)?;
        Ok(true)
    }

    /// Refuses a minibatch that does not fit the network or itself.
    fn check(&self, batch: &Minibatch<'_>) -> anyhow::Result<()> {
        let (inputs, outputs) = (self.architecture.inputs(), self.architecture.outputs());
        let info = batch.info.size();
        let rows = info.first().copied().unwrap_or(0);
        let labels = [rows, outputs as i64];
        let fits = info == [rows, inputs as i64]
            && batch.target.size() == labels
            && batch.legal.size() == labels
            && batch.iteration.size() == [rows];
        ensure!(
            fits && rows > 0,
            "a minibatch of info {info:?}, target {:?}, legal {:?}, iteration {:?} does not fit a network from {inputs} to {outputs} \
             numbers: the replay memory was made for another encoding, or is empty",
            batch.target.size(),
            batch.legal.size(),
            batch.iteration.size(),
        );
        Ok(())
    }
}

fn expect_length(
    architecture: &Architecture,
    what: &'static str,
    values: &[f32],
) -> Result<(), LearnerError> {
    let (expected, found) = (architecture.num_parameters(), values.len());
    if found == expected {
        Ok(())
    } else {
        Err(LearnerError::Length {
            what,
            expected,
            found,
        })
    }
}

/// Fits `learner` as `plan` says: per step one minibatch, one loss, one update. `stop` is asked before each step; a fit that it
/// ends reports what it did.
///
/// A loss or a gradient that is not finite leaves parameters and optimizer untouched and is counted. The same inputs and thread
/// count give the same bits.
///
/// # Errors
/// A minibatch that cannot be drawn or does not fit the network, and failures of the device.
pub fn fit(
    learner: &mut Learner,
    plan: &FitPlan<'_>,
    minibatches: &mut impl Minibatches,
    mut stop: impl FnMut() -> bool,
) -> anyhow::Result<FitReport> {
    let started = Instant::now();
    let mut report = FitReport::default();
    let mut selection = Selection::new(plan);
    let mut total = 0.0;
    while report.steps_run < plan.steps && !stop() {
        if let Some(loss) = step(learner, plan, minibatches, &mut report)? {
            total += loss;
            report.last_loss = loss;
        }
        if selection.is_due(report.steps_run) {
            selection.check(learner, minibatches.held_out(), report.steps_run)?;
        }
    }
    report.held_out_loss = selection.finish(learner, minibatches.held_out(), report.steps_run)?;
    let counted = report.steps_run - report.nonfinite_losses;
    report.mean_loss = total / counted.max(1) as f64;
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// One minibatch, one loss, one update, and their counts. Returns the loss if it was finite.
fn step(
    learner: &mut Learner,
    plan: &FitPlan<'_>,
    minibatches: &mut impl Minibatches,
    report: &mut FitReport,
) -> anyhow::Result<Option<f64>> {
    let drawing = Instant::now();
    let batch = minibatches.next().context("cannot draw a minibatch")?;
    report.batch_seconds += drawing.elapsed().as_secs_f64();
    learner.check(&batch)?;
    report.steps_run += 1;
    let (loss, gradient) = learner
        .loss_and_gradient(&batch, plan)
        .context("the forward or backward pass of a fit failed")?;
    let Some(gradient) = gradient else {
        report.nonfinite_losses += 1;
        return Ok(None);
    };
    let updated = learner
        .update(gradient)
        .context("the optimizer step of a fit failed")?;
    report.nonfinite_gradients += usize::from(!updated);
    Ok(Some(loss))
}

#[cfg(test)]
mod tests;
