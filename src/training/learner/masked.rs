//! Steps that nobody waits for: the device itself finds out whether they are finite, and leaves out those that are not.

use super::Learner;
use crate::{network::TensorError, training::FitPlan, training::Minibatch};
use tch::{Kind, Tensor};

/// What a masked step leaves behind: its loss and the norm of its gradient (in units of the loss scale), f32 `[2]` on the device. A step was
/// taken where both are finite.
pub(in crate::training) struct Record(pub Tensor);

impl Learner {
    /// One forward and backward pass on `batch` and one optimizer step, which changes nothing where loss or gradient are not finite. The
    /// host waits for none of it.
    pub(in crate::training) fn masked_step(
        &mut self,
        batch: &Minibatch<'_>,
        plan: &FitPlan<'_>,
    ) -> Result<Record, TensorError> {
        let loss = self.loss(batch, plan)?;
        let mut gradient = match &self.loss_scale {
            None => self.gradient(&loss)?,
            Some(scale) => self.gradient(&scale.scaled(&loss)?)?,
        };
        let _guard = tch::no_grad_guard();
        let norm = gradient.f_norm()?;
        let record = Tensor::f_stack(&[loss.f_detach()?, norm.shallow_clone()], 0)?;
        // Nothing times a finite number is nothing; times another it is not a number.
        let nothing = record.f_mul_scalar(0.0)?.f_sum(Kind::Float)?;
        let taken = nothing.f_eq(0.0)?.f_to_kind(Kind::Float)?;
        if let Some(factor) = self.gradient_factor(&norm)? {
            let _ = gradient.f_mul_(&factor)?;
        }
        let _ = gradient.f_nan_to_num_(0.0, 0.0, 0.0)?;
        self.optimizer
            .step_where(&mut self.parameters, &gradient, &taken)?;
        if let Some(scale) = &mut self.loss_scale {
            scale.update(&taken)?;
        }
        Ok(Record(record))
    }

    /// What a gradient of this norm is multiplied by: the inverse of the loss scale, and what clips it.
    fn gradient_factor(&self, norm: &Tensor) -> Result<Option<Tensor>, TensorError> {
        let inverse = match &self.loss_scale {
            None => None,
            Some(scale) => Some(scale.inverse()?),
        };
        if self.grad_clip <= 0.0 {
            return Ok(inverse);
        }
        let norm = match &inverse {
            None => norm.shallow_clone(),
            Some(inverse) => norm.f_mul(inverse)?,
        };
        let longest = norm.f_add_scalar(1e-6)?.f_reciprocal()?;
        let clip = longest.f_mul_scalar(self.grad_clip)?.f_clamp_max(1.0)?;
        Ok(Some(match inverse {
            None => clip,
            Some(inverse) => clip.f_mul(&inverse)?,
        }))
    }

    /// Learns from the device how many masked steps were taken. Waits for it.
    pub(in crate::training) fn settle(&mut self) -> Result<(), TensorError> {
        self.optimizer.settle()
    }

    /// The factor of losses, in f16. Waits for the device.
    pub(in crate::training) fn loss_scale(&self) -> Result<Option<f64>, TensorError> {
        let scale = self.loss_scale.as_ref();
        let state = scale.map(|scale| scale.state()).transpose()?;
        Ok(state.map(|state| f64::from(state.scale)))
    }
}
