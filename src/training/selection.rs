//! Which of the parameters that a fit comes through stay.

use super::{FitPlan, Keep, Learner, LearnerState, Minibatch};
use crate::network::TensorError;
use anyhow::Context;
use tch::Tensor;

/// The parameters to keep: those of the least loss on held-out samples, or a mean.
pub(super) struct Selection<'a> {
    plan: &'a FitPlan<'a>,
    best: Option<Checked>,
    tail: Option<Tail>,
}

/// The mean of the parameters so far.
struct Tail {
    mean: Tensor,
    steps: usize,
}

/// A learner at some step.
struct Checked {
    step: usize,
    loss: f64,
    state: LearnerState,
}

impl<'a> Selection<'a> {
    pub fn new(plan: &'a FitPlan<'a>) -> Self {
        Self {
            plan,
            best: None,
            tail: None,
        }
    }

    /// Takes in the parameters after `step` steps, where their mean is kept.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn take(&mut self, learner: &Learner, step: usize) -> Result<(), TensorError> {
        if self.plan.keep != Keep::TailAverage || 2 * step <= self.plan.steps {
            return Ok(());
        }
        let parameters = learner.parameters().f_detach()?;
        match &mut self.tail {
            None => {
                let mean = parameters.f_zeros_like()?.f_add(&parameters)?;
                self.tail = Some(Tail { mean, steps: 1 });
            }
            Some(tail) => {
                tail.steps += 1;
                let _ = tail.mean.f_lerp_(&parameters, 1.0 / tail.steps as f64)?;
            }
        }
        Ok(())
    }

    /// Whether the held-out loss is to be taken after `step` steps.
    pub fn is_due(&self, step: usize) -> bool {
        let checks = |step: usize| step as u128 * self.plan.held_out_checks as u128;
        let passed = |step| checks(step) / self.plan.steps.max(1) as u128;
        self.plan.keep == Keep::BestHeldout && passed(step) > passed(step - 1)
    }

    /// Takes the loss of `held_out`, and notes the learner where it is the least so far.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn check(
        &mut self,
        learner: &Learner,
        held_out: Option<Minibatch<'_>>,
        step: usize,
    ) -> anyhow::Result<()> {
        let Some(loss) = self.measured(learner, held_out)? else {
            return Ok(());
        };
        let least = self.best.as_ref().map_or(f64::INFINITY, |best| best.loss);
        if loss < least {
            let state = learner.state()?;
            self.best = Some(Checked { step, loss, state });
        }
        Ok(())
    }

    /// Gives the learner what it keeps after `steps` steps, and tells its held-out loss.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn finish(
        self,
        learner: &mut Learner,
        held_out: Option<Minibatch<'_>>,
        steps: usize,
    ) -> anyhow::Result<Option<f64>> {
        if let Some(tail) = &self.tail {
            learner.restore(&Vec::<f32>::try_from(&tail.mean)?)?;
        }
        match self.best {
            Some(best) => {
                if best.step != steps {
                    learner.load_state(&best.state)?;
                }
                Ok(Some(best.loss))
            }
            None => self.measured(learner, held_out),
        }
    }

    fn measured(
        &self,
        learner: &Learner,
        held_out: Option<Minibatch<'_>>,
    ) -> anyhow::Result<Option<f64>> {
        held_out
            .map(|batch| learner.measured(&batch, self.plan))
            .transpose()
            .context("the loss on held-out samples could not be taken")
    }
}
