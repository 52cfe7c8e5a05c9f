//! Which of the parameters that a fit comes through stay.

use super::{FitPlan, Keep, Learner, LearnerState, Minibatch};
use anyhow::Context;

/// The parameters to keep, by their loss on held-out samples.
pub(super) struct Selection<'a> {
    plan: &'a FitPlan<'a>,
    best: Option<Checked>,
}

/// A learner at some step.
struct Checked {
    step: usize,
    loss: f64,
    state: LearnerState,
}

impl<'a> Selection<'a> {
    pub fn new(plan: &'a FitPlan<'a>) -> Self {
        Self { plan, best: None }
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
