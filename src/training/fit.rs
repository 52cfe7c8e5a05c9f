//! The loop that fits a network to minibatches.

mod records;
mod timing;

use super::{
    Keep, Learner, LossKind, Minibatch, RateSchedule, StepChecks, WeightingSettings,
    selection::Selection,
};
use crate::platform::transfers::{self, Transfers};
use anyhow::Context;
use records::Records;
use std::time::Instant;
use timing::StepTimer;

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
    /// Share of the step size that this fit begins with.
    pub rate: f64,
    /// How the step size goes over the steps.
    pub schedule: RateSchedule,
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
    /// The factor of losses after the last step, in f16.
    pub loss_scale: Option<f64>,
    /// Copies between the host and the device that the fit made.
    pub transfers: Transfers,
    /// Seconds that a step took on its device, drawing its minibatch excluded, by those that were timed, one of 64; `None` where the host waits
    /// for each, and in fits of fewer than nine steps.
    pub step_seconds: Option<f64>,
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

    /// Seconds that all steps took on their device by those that were timed.
    pub fn device_seconds(&self) -> Option<f64> {
        let seconds = self.step_seconds?;
        Some(seconds * self.steps_run as f64)
    }

    /// Optimizer steps taken.
    pub fn updates(&self) -> usize {
        self.steps_run - self.nonfinite_losses - self.nonfinite_gradients
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
    let before = transfers::of_this_thread();
    let mut report = FitReport::default();
    let mut selection = Selection::new(plan);
    let mut tally = Tally::default();
    let mut timer = StepTimer::new(learner.compute().device);
    let mut records = match learner.compute().checks {
        StepChecks::OnHost => None,
        StepChecks::OnDevice => Some(Records::new(learner.compute().device)?),
    };
    while report.steps_run < plan.steps && !stop() {
        let share = plan.schedule.factor(report.steps_run, plan.steps);
        learner.set_step_share(plan.rate * share);
        let batch = draw(minibatches, &mut report)?;
        learner.check(&batch)?;
        report.steps_run += 1;
        match &mut records {
            None => tally.add(step(learner, plan, &batch)?),
            Some(records) => {
                let number = report.steps_run - 1;
                let record = timer.run(number, || learner.masked_step(&batch, plan));
                let record = record.context(FAILED)?;
                records.push(&record, &mut tally).context(FAILED)?;
            }
        }
        if selection.is_due(report.steps_run) {
            selection.check(learner, minibatches.held_out(), report.steps_run)?;
        }
    }
    if let Some(mut records) = records {
        records.read(&mut tally).context(FAILED)?;
        learner.settle()?;
        report.loss_scale = learner.loss_scale()?;
    }
    report.held_out_loss = selection.finish(learner, minibatches.held_out(), report.steps_run)?;
    tally.tell(&mut report);
    report.step_seconds = timer.step_seconds();
    report.transfers = transfers::of_this_thread() - before;
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

const FAILED: &str = "a step of a fit failed";

/// What became of one step: its loss, and whether its gradient was finite.
#[derive(Clone, Copy, Debug)]
struct Step {
    loss: f64,
    finite_gradient: bool,
}

/// What the steps of a fit came to.
#[derive(Default)]
struct Tally {
    steps: usize,
    total: f64,
    last: f64,
    nonfinite_losses: usize,
    nonfinite_gradients: usize,
}

impl Tally {
    fn add(&mut self, step: Step) {
        self.steps += 1;
        if !step.loss.is_finite() {
            self.nonfinite_losses += 1;
            return;
        }
        self.total += step.loss;
        self.last = step.loss;
        self.nonfinite_gradients += usize::from(!step.finite_gradient);
    }

    fn tell(&self, report: &mut FitReport) {
        let counted = self.steps - self.nonfinite_losses;
        report.mean_loss = self.total / counted.max(1) as f64;
        report.last_loss = self.last;
        report.nonfinite_losses = self.nonfinite_losses;
        report.nonfinite_gradients = self.nonfinite_gradients;
    }
}

/// The next minibatch.
fn draw<'a>(
    minibatches: &'a mut impl Minibatches,
    report: &mut FitReport,
) -> anyhow::Result<Minibatch<'a>> {
    let drawing = Instant::now();
    let batch = minibatches.next().context("cannot draw a minibatch")?;
    report.batch_seconds += drawing.elapsed().as_secs_f64();
    Ok(batch)
}

/// One loss, one update, which the host waits for.
fn step(learner: &mut Learner, plan: &FitPlan<'_>, batch: &Minibatch<'_>) -> anyhow::Result<Step> {
    let (loss, gradient) = learner
        .loss_and_gradient(batch, plan)
        .context("the forward or backward pass of a fit failed")?;
    let finite_gradient = match gradient {
        None => false,
        Some(gradient) => learner
            .update(gradient)
            .context("the optimizer step of a fit failed")?,
    };
    Ok(Step {
        loss,
        finite_gradient,
    })
}

#[cfg(test)]
mod tests;
