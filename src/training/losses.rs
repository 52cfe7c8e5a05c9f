//! The losses of Deep CFR's two kinds of network (Brown, Lerer, Gross and Sandholm 2019), weighted by a scheme.

use super::{Ages, WeightingSettings};
use crate::network::TensorError;
use tch::{Kind, Tensor};

/// Samples of one replay memory, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Minibatch<'a> {
    /// Info states, f32 `[batch, inputs]`; with `info_of` `[infos, inputs]`.
    pub info: &'a Tensor,
    /// The row of `info` that each sample has, `[batch]`, i32 or i64; `None` where sample `i` has row `i`.
    pub info_of: Option<&'a Tensor>,
    /// Advantages, or the probabilities of a policy: f32 `[batch, actions]`. Entries of illegal actions are ignored.
    pub target: &'a Tensor,
    /// Whether an action is legal: bool, or u8 of 0 and 1, `[batch, actions]`.
    pub legal: &'a Tensor,
    /// The iteration in which the sample was walked: `[batch]`, any integer or float kind.
    pub iteration: &'a Tensor,
}

impl Minibatch<'_> {
    /// How old its samples are in iteration `current`.
    fn ages(&self, current: u32) -> Ages<'_> {
        Ages {
            iteration: self.iteration,
            current,
        }
    }
}

/// Which loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// [`advantage_loss`].
    Advantage,
    /// [`strategy_loss`].
    Strategy,
}

impl LossKind {
    /// The loss of `predictions` (`[batch, actions]`) as a scalar tensor.
    ///
    /// # Errors
    /// Failures of the device.
    ///
    /// # Panics
    /// Where shapes do not fit each other; [`fit`](fn@super::fit) refuses such a minibatch before it comes here.
    pub fn loss(
        self,
        predictions: &Tensor,
        batch: &Minibatch<'_>,
        current_iteration: u32,
        weighting: &WeightingSettings,
    ) -> Result<Tensor, TensorError> {
        match self {
            Self::Advantage => advantage_loss(predictions, batch, current_iteration, weighting),
            Self::Strategy => strategy_loss(predictions, batch, current_iteration, weighting),
        }
    }
}

/// Keeps a weighted mean finite where every weight is 0; such a loss is 0.
const LEAST_WEIGHT: f64 = 1e-12;
/// The logit of an illegal action: the most negative finite f32.
const ILLEGAL_LOGIT: f64 = f32::MIN as f64;

/// Squared error of advantages, averaged over all legal entries of the batch.
///
/// With `m` the legal mask and `e = (prediction - target) m` in f32, sums over all rows and actions:
///
/// | weights of the scheme | loss |
/// |---|---|
/// | all alike | `sum e^2 / max(1, sum m)` |
/// | `u` | `sum w e^2 / max(1e-12, sum w)` with `w = m u` |
///
/// Targets of illegal entries are ignored, even if not finite; rows without a legal action contribute nothing.
///
/// # Errors
/// Failures of the device.
///
/// # Panics
/// Where shapes do not fit each other; [`fit`](fn@super::fit) refuses such a minibatch before it comes here.
pub fn advantage_loss(
    predictions: &Tensor,
    batch: &Minibatch<'_>,
    current_iteration: u32,
    weighting: &WeightingSettings,
) -> Result<Tensor, TensorError> {
    let predictions = predictions.f_to_kind(Kind::Float)?;
    let legal = batch.legal.f_to_kind(Kind::Bool)?;
    let error = predictions.f_sub(batch.target)?;
    let squares = error
        .f_masked_fill(&legal.f_logical_not()?, 0.0)?
        .f_square()?;
    let mask = legal.f_to_kind(Kind::Float)?;
    let ages = batch.ages(current_iteration);
    let Some(weights) = weighting.scheme().advantage(&ages, batch.target)? else {
        return mean(&squares, &mask, 1.0);
    };
    let weights = mask.f_mul(&weights)?;
    mean(&squares.f_mul(&weights)?, &weights, LEAST_WEIGHT)
}

/// The root mean square of the legal targets of `batch`, weighted as [`advantage_loss`] weighs them: divided by it, they have a loss of 1
/// where every prediction is 0. Not finite where a legal target is not.
///
/// # Errors
/// Failures of the device.
///
/// # Panics
/// As [`advantage_loss`].
pub fn root_mean_square(
    batch: &Minibatch<'_>,
    current_iteration: u32,
    weighting: &WeightingSettings,
) -> Result<f64, TensorError> {
    let nothing = batch.target.f_zeros_like()?;
    let loss = advantage_loss(&nothing, batch, current_iteration, weighting)?;
    Ok(loss.f_double_value(&[])?.sqrt())
}

/// Cross entropy of the legal softmax of logits against the target policy, averaged over rows.
///
/// `l = - sum_a target_a log softmax(logits with illegal ones at -3.4e38)_a` in f32, over legal actions only:
///
/// | weights of the scheme | loss |
/// |---|---|
/// | all alike | mean of `l` over all rows |
/// | `w` | `sum w l / max(1e-12, sum w)` |
///
/// A row without a legal action has `l = 0` and still counts in the denominators.
///
/// # Errors
/// Failures of the device.
///
/// # Panics
/// Where shapes do not fit each other; [`fit`](fn@super::fit) refuses such a minibatch before it comes here.
pub fn strategy_loss(
    logits: &Tensor,
    batch: &Minibatch<'_>,
    current_iteration: u32,
    weighting: &WeightingSettings,
) -> Result<Tensor, TensorError> {
    let illegal = batch.legal.f_to_kind(Kind::Bool)?.f_logical_not()?;
    let log_policy = log_policy(logits, &illegal)?;
    let target = batch.target.f_masked_fill(&illegal, 0.0)?;
    let losses = (target.f_mul(&log_policy)?)
        .f_sum_dim_intlist(-1, false, Kind::Float)?
        .f_neg()?;
    let ages = batch.ages(current_iteration);
    let Some(weights) = weighting.scheme().strategy(&ages)? else {
        return Ok(losses.f_mean(Kind::Float)?);
    };
    mean(&losses.f_mul(&weights)?, &weights, LEAST_WEIGHT)
}

/// The logs of the legal softmax of `logits`, 0 for illegal actions: f32 `[batch, actions]`. `illegal` is bool `[batch, actions]`.
pub(super) fn log_policy(logits: &Tensor, illegal: &Tensor) -> Result<Tensor, TensorError> {
    let logits = logits.f_to_kind(Kind::Float)?;
    let masked = logits.f_masked_fill(illegal, ILLEGAL_LOGIT)?;
    let logs = masked.f_log_softmax(-1, Kind::Float)?;
    Ok(logs.f_masked_fill(illegal, 0.0)?)
}

/// `sum terms / max(least, sum weights)`.
fn mean(terms: &Tensor, weights: &Tensor, least: f64) -> Result<Tensor, TensorError> {
    let total = weights.f_sum(Kind::Float)?.f_clamp_min(least)?;
    Ok(terms.f_sum(Kind::Float)?.f_div(&total)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::WeightingMode;

    const ROWS: i64 = 4;
    const ACTIONS: i64 = 3;

    /// Four rows of three actions; the last row has no legal action.
    struct Sample {
        predictions: Vec<f32>,
        target: Vec<f32>,
        legal: Vec<bool>,
        iteration: Vec<i32>,
    }

    fn sample() -> Sample {
        Sample {
            predictions: vec![
                0.3, -1.1, 0.8, 1.5, 0.2, -0.4, -0.7, 0.9, 0.1, 2.0, -2.0, 0.5,
            ],
            target: vec![0.5, 0.0, 0.5, -1.0, 0.7, 0.3, 0.2, -0.6, 0.4, 1.0, 1.0, 1.0],
            legal: [[1, 1, 1], [1, 0, 1], [0, 1, 0], [0, 0, 0]]
                .as_flattened()
                .iter()
                .map(|&bit| bit == 1)
                .collect(),
            iteration: vec![1, 5, 9, 4],
        }
    }

    /// The loss and its gradient in the predictions at iteration 8.
    fn run(kind: LossKind, sample: &Sample, weighting: &WeightingSettings) -> (f64, Vec<f32>) {
        let shaped = |values: &[f32]| Tensor::from_slice(values).view((-1, ACTIONS));
        let predictions = shaped(&sample.predictions).set_requires_grad(true);
        let batch = Minibatch {
            info: &Tensor::new(),
            info_of: None,
            target: &shaped(&sample.target),
            legal: &Tensor::from_slice(&sample.legal).view((-1, ACTIONS)),
            iteration: &Tensor::from_slice(&sample.iteration),
        };
        let loss = kind.loss(&predictions, &batch, 8, weighting).unwrap();
        let gradients = Tensor::run_backward(&[&loss], &[&predictions], false, false);
        let gradient = Vec::try_from(gradients[0].view(-1)).unwrap();
        (loss.double_value(&[]), gradient)
    }

    fn each(mut check: impl FnMut(LossKind, &WeightingSettings, &str)) {
        for kind in [LossKind::Advantage, LossKind::Strategy] {
            for mode in WeightingMode::ALL {
                let weighting = WeightingSettings {
                    mode,
                    dcfr_beta: 0.5,
                    ..WeightingSettings::default()
                };
                check(kind, &weighting, &format!("{kind:?} {mode:?}"));
            }
        }
    }

    #[test]
    fn gradients_agree_with_central_differences() {
        each(|kind, weighting, label| {
            let base = sample();
            let (_, gradient) = run(kind, &base, weighting);
            for (index, &slope) in gradient.iter().enumerate() {
                let loss_at = |offset: f32| {
                    let mut moved = sample();
                    moved.predictions[index] += offset;
                    run(kind, &moved, weighting).0
                };
                let difference = (loss_at(0.02) - loss_at(-0.02)) / 0.04;
                assert!(
                    (difference - f64::from(slope)).abs() < 2e-4,
                    "{label}: entry {index}: {difference} and {slope}"
                );
                let legal = base.legal[index];
                assert!(legal || slope == 0.0, "{label}: entry {index} is illegal");
            }
        });
    }

    #[test]
    fn illegal_entries_are_ignored_whatever_they_hold() {
        each(|kind, weighting, label| {
            let base = run(kind, &sample(), weighting);
            for junk in [1e30, f32::NAN, f32::NEG_INFINITY] {
                let mut other = sample();
                for (target, &legal) in other.target.iter_mut().zip(&other.legal) {
                    *target = if legal { *target } else { junk };
                }
                assert_eq!(run(kind, &other, weighting), base, "{label}: {junk}");
            }
        });
    }

    #[test]
    fn rows_without_a_legal_action_count_only_in_the_strategy_mean() {
        each(|kind, weighting, label| {
            let (with, gradient) = run(kind, &sample(), weighting);
            assert_eq!(gradient[9..], [0.0; 3], "{label}");
            let mut shorter = sample();
            let kept = (ROWS - 1) as usize;
            for list in [&mut shorter.predictions, &mut shorter.target] {
                list.truncate(kept * ACTIONS as usize);
            }
            shorter.legal.truncate(kept * ACTIONS as usize);
            shorter.iteration.truncate(kept);
            let (without, _) = run(kind, &shorter, weighting);
            // What the rows with a legal action weigh of all, in the scheme's own words.
            let iteration = &Tensor::from_slice(&sample().iteration);
            let ages = Ages {
                iteration,
                current: 8,
            };
            let weights = weighting.scheme().strategy(&ages).unwrap();
            let weights = weights.unwrap_or_else(|| Tensor::from_slice(&[1f32; ROWS as usize]));
            let sum = |rows| {
                weights
                    .narrow(0, 0, rows)
                    .sum(Kind::Float)
                    .double_value(&[])
            };
            let share = match kind {
                LossKind::Advantage => 1.0,
                LossKind::Strategy => sum(ROWS - 1) / sum(ROWS),
            };
            assert!((with - share * without).abs() < 1e-6, "{label}");
        });
    }

    #[test]
    fn a_batch_of_no_weight_has_loss_and_gradient_zero() {
        each(|kind, weighting, label| {
            let mut old = sample();
            old.iteration.fill(0);
            let (loss, gradient) = run(kind, &old, weighting);
            let iteration = &Tensor::from_slice(&old.iteration);
            let ages = Ages {
                iteration,
                current: 8,
            };
            match weighting.scheme().strategy(&ages).unwrap() {
                None => assert!(loss > 0.0, "{label}"),
                Some(weights) => {
                    assert_eq!(weights.sum(Kind::Float).double_value(&[]), 0.0, "{label}");
                    let flat = gradient.iter().all(|&g| g == 0.0);
                    assert!(loss == 0.0 && flat, "{label}: {loss}");
                }
            }
        });
    }

    #[test]
    fn advantage_entries_weigh_by_the_sign_of_their_target() {
        let weighting = WeightingSettings {
            mode: WeightingMode::Dcfr,
            dcfr_alpha: 1.0,
            dcfr_beta: 2.0,
            ..WeightingSettings::default()
        };
        let only = Sample {
            predictions: vec![1.0, 1.0, 2.0],
            target: vec![0.0, -1.0, 0.0],
            legal: vec![true, true, false],
            iteration: vec![4],
        };
        // Weights 1/2 (a target of 0 counts as positive) and 1/4, squared errors 1 and 4.
        let (loss, _) = run(LossKind::Advantage, &only, &weighting);
        assert!((loss - (0.5 + 0.25 * 4.0) / 0.75).abs() < 1e-6, "{loss}");
    }
}
