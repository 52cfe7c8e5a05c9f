//! A network that learns.

mod copies;
mod masked;

use super::{Compute, FitPlan, Minibatch, OptimizationSettings};
use crate::network::{
    AdamW, AmpDtype, Architecture, LossScale, LossScaleState, Moments, TensorError, clip,
};
use anyhow::ensure;
use copies::copied;
use tch::{Kind, TchError, Tensor};

pub(super) use masked::Record;

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
    /// Where the loss scale stands, in f16.
    pub loss_scale: Option<LossScaleState>,
}

/// A network with its parameters and its optimizer. Both carry over from iteration to iteration, on the learner's device.
pub struct Learner {
    architecture: Architecture,
    compute: Compute,
    parameters: Tensor,
    scale: f64,
    optimizer: AdamW,
    /// Of the loss, in f16.
    loss_scale: Option<LossScale>,
    learning_rate: f64,
    grad_clip: f64,
}

impl Learner {
    /// A learner on the CPU, in f32: see [`Learner::computing`].
    ///
    /// # Errors
    /// [`LearnerError::Length`] for parameters of another network.
    pub fn new(
        architecture: Architecture,
        initial: &[f32],
        settings: &OptimizationSettings,
    ) -> Result<Self, LearnerError> {
        Self::computing(architecture, initial, settings, Compute::CPU)
    }

    /// A learner that starts at the parameters `initial` (`[num_parameters]`), has taken no step, and computes as `compute` says. Of
    /// `settings` it keeps step size, decay and clipping.
    ///
    /// # Errors
    /// [`LearnerError::Length`] for parameters of another network; failures of the device.
    pub fn computing(
        architecture: Architecture,
        initial: &[f32],
        settings: &OptimizationSettings,
        compute: Compute,
    ) -> Result<Self, LearnerError> {
        expect_length(&architecture, "the parameter vector", initial)?;
        let parameters = Tensor::f_from_slice(initial)?;
        let parameters = copied(compute.device, initial.len(), || {
            parameters.f_to_device(compute.device)
        })?;
        let parameters = parameters.f_set_requires_grad(true)?;
        let optimizer = AdamW::new(&parameters, settings.learning_rate, settings.weight_decay)?;
        let scales = compute.amp == Some(AmpDtype::F16);
        let loss_scale = scales.then(|| LossScale::new(LossScale::FIRST, compute.device));
        Ok(Self {
            architecture,
            compute,
            parameters,
            scale: 1.0,
            optimizer,
            loss_scale: loss_scale.transpose()?,
            learning_rate: settings.learning_rate,
            grad_clip: settings.grad_clip,
        })
    }

    /// Where and how it computes.
    pub fn compute(&self) -> Compute {
        self.compute
    }

    /// Starts anew at the parameters `initial` (`[num_parameters]`), with an optimizer that has taken no step. The scale stays.
    ///
    /// # Errors
    /// [`LearnerError::Length`], before anything has changed; failures of the device.
    pub fn reset(&mut self, initial: &[f32]) -> Result<(), LearnerError> {
        self.restore(initial)?;
        self.optimizer.reset()?;
        self.set_loss_scale(None)
    }

    /// Goes on with a loss scale of `state` where there is one, with a fresh one if `None`.
    fn set_loss_scale(&mut self, state: Option<LossScaleState>) -> Result<(), LearnerError> {
        if let Some(scale) = &mut self.loss_scale {
            let state = state.unwrap_or(LossScale::FIRST);
            *scale = LossScale::new(state, self.compute.device)?;
        }
        Ok(())
    }

    /// Takes steps of this share of the step size from now on.
    pub(super) fn set_step_share(&mut self, share: f64) {
        self.optimizer.set_learning_rate(self.learning_rate * share);
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
        let parameters = self.read_parameters()?;
        Ok(in_target_units(&self.architecture, parameters, self.scale))
    }

    /// Replaces the parameters (whose answers are in units of [`Learner::scale`]) and leaves the optimizer as it is.
    ///
    /// # Errors
    /// [`LearnerError::Length`], before anything has changed; failures of the device.
    pub fn restore(&mut self, parameters: &[f32]) -> Result<(), LearnerError> {
        expect_length(&self.architecture, "the parameter vector", parameters)?;
        let _guard = tch::no_grad_guard();
        let new = Tensor::f_from_slice(parameters)?;
        copied(self.compute.device, parameters.len(), || {
            self.parameters.f_copy_(&new)
        })?;
        Ok(())
    }

    /// A copy of everything that a checkpoint keeps of this learner.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn state(&self) -> Result<LearnerState, LearnerError> {
        Ok(LearnerState {
            parameters: self.read_parameters()?,
            scale: self.scale,
            moments: self.optimizer.moments()?,
            loss_scale: self.loss_scale.as_ref().map(LossScale::state).transpose()?,
        })
    }

    /// Continues from `state`: the next steps give the bits that they would have given there. A state of a learner without a loss scale
    /// leaves this one's at its first value.
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
        self.set_loss_scale(state.loss_scale)
    }

    /// The loss of `batch` under `plan` and its gradient in the flat parameters (`[num_parameters]`), which stay as they are.
    /// No gradient where the loss is not finite.
    ///
    /// # Errors
    /// Failures of the device.
    ///
    /// # Panics
    /// Where shapes do not fit the network or each other; [`fit`](fn@super::fit) refuses such a minibatch.
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
        let gradient = match &self.loss_scale {
            None => self.gradient(&loss)?,
            Some(scale) => (self.gradient(&scale.scaled(&loss)?)?).f_mul(&scale.inverse()?)?,
        };
        Ok((value, Some(gradient)))
    }

    /// The gradient of `loss` in the flat parameters, `[num_parameters]`.
    fn gradient(&self, loss: &Tensor) -> Result<Tensor, TensorError> {
        // Handed over by autograd and not accumulated in `.grad`: nothing to clear before the next step, two passes fewer.
        let gradients = Tensor::f_run_backward(&[loss], &[&self.parameters], false, false)?;
        let first = gradients.into_iter().next();
        first.ok_or_else(|| TensorError::new("a backward pass gave no gradient"))
    }

    /// The network's answers to `info` (`[infos, inputs]`), f32 whatever they were computed in.
    fn answers(&self, info: &Tensor) -> Result<Tensor, TensorError> {
        let Some(dtype) = self.compute.amp else {
            return self.architecture.forward(&self.parameters, info);
        };
        // One cast of all parameters, whose backward pass is one cast of the gradient.
        let parameters = self.parameters.f_to_kind(dtype.kind())?;
        let info = info.f_to_kind(dtype.kind())?;
        let answers = self.architecture.forward(&parameters, &info)?;
        Ok(answers.f_to_kind(Kind::Float)?)
    }

    /// The loss of `batch` under `plan`, in units of the scale.
    fn loss(&self, batch: &Minibatch<'_>, plan: &FitPlan<'_>) -> Result<Tensor, TensorError> {
        let answers = self.answers(batch.info)?;
        let predictions = match batch.info_of {
            None => answers,
            Some(rows) => Tensor::f_embedding(&answers, rows, -1, false, false)?,
        };
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
    pub(super) fn update(&mut self, mut gradient: Tensor) -> Result<bool, TensorError> {
        let norm = gradient.f_norm()?.f_double_value(&[])?;
        if !norm.is_finite() {
            return Ok(false);
        }
        clip(&mut gradient, norm, self.grad_clip)?;
        self.optimizer.step(&mut self.parameters, &gradient)?;
        Ok(true)
    }

    /// Refuses a minibatch that does not fit the network or itself.
    pub(super) fn check(&self, batch: &Minibatch<'_>) -> anyhow::Result<()> {
        let (inputs, outputs) = (self.architecture.inputs(), self.architecture.outputs());
        let info = batch.info.size();
        let infos = info.first().copied().unwrap_or(0);
        let rows = batch.info_of.map_or(infos, |of| of.numel() as i64);
        let labels = [rows, outputs as i64];
        let fits = info == [infos, inputs as i64]
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
        let (found, wanted) = (batch.info.device(), self.compute.device);
        ensure!(
            found == wanted,
            "a minibatch on {found:?} for a network on {wanted:?}"
        );
        Ok(())
    }
}

/// Flat parameters (`[num_parameters]`) of a network whose answers are in units of `scale`, made over so that they are in target units.
pub(super) fn in_target_units(
    architecture: &Architecture,
    mut parameters: Vec<f32>,
    scale: f64,
) -> Vec<f32> {
    if scale != 1.0 {
        let scaled = |parameter: f32| (f64::from(parameter) * scale) as f32;
        let last = &mut parameters[architecture.output_layer()];
        last.iter_mut().for_each(|p| *p = scaled(*p));
    }
    parameters
}

pub(super) fn expect_length(
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
