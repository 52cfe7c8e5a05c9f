//! The clipped surrogate.

use crate::{network::TensorError, training::losses::log_policy};
use tch::{Kind, Tensor};

/// Decisions row by row.
#[derive(Clone, Copy, Debug)]
pub struct SurrogateBatch<'a> {
    /// Info states, f32 `[batch, inputs]`.
    pub info: &'a Tensor,
    /// Whether an action is legal: bool `[batch, actions]`; at least one in each row.
    pub legal: &'a Tensor,
    /// The action taken: i64 `[batch]`.
    pub action: &'a Tensor,
    /// The log of its probability under the policy that the walks were by: f32 `[batch]`.
    pub log_probability: &'a Tensor,
    /// That probability over the one it was drawn with: f32 `[batch]`; 1 where nobody explored.
    pub weight: &'a Tensor,
    /// What it was worth above the policy: f32 `[batch]`.
    pub advantage: &'a Tensor,
}

/// The clipped surrogate with an entropy bonus (Schulman et al. 2017, equations 7 and 9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surrogate {
    /// How far a ratio of probabilities counts.
    pub clip: f64,
    /// What a nat of entropy is worth.
    pub entropy: f64,
}

impl Surrogate {
    /// The loss of `logits` (`[batch, actions]`) as a scalar tensor. With `pi` their softmax over the legal actions, `a` the action taken and
    /// `r = pi_a / old pi_a`:
    ///
    /// ```text
    /// - mean(weight min(r A, clamp(r, 1 - clip, 1 + clip) A)) - entropy mean(- sum_b pi_b ln pi_b)
    /// ```
    ///
    /// # Errors
    /// Failures of the device.
    ///
    /// # Panics
    /// Where shapes do not fit each other.
    pub fn loss(&self, logits: &Tensor, batch: &SurrogateBatch<'_>) -> Result<Tensor, TensorError> {
        let illegal = batch.legal.f_to_kind(Kind::Bool)?.f_logical_not()?;
        let log_policy = log_policy(logits, &illegal)?;
        let taken = log_policy.f_gather(1, &batch.action.f_unsqueeze(1)?, false)?;
        let ratio = taken
            .f_squeeze_dim(1)?
            .f_sub(batch.log_probability)?
            .f_exp()?;
        let clipped = ratio.f_clamp(1.0 - self.clip, 1.0 + self.clip)?;
        let gain = (ratio.f_mul(batch.advantage)?)
            .f_minimum(&clipped.f_mul(batch.advantage)?)?
            .f_mul(batch.weight)?
            .f_mean(Kind::Float)?;
        // Illegal entries have a log of 0 here, and so no part in the sum.
        let negative_entropy = (log_policy.f_exp()?.f_mul(&log_policy)?)
            .f_sum_dim_intlist(-1, false, Kind::Float)?
            .f_mean(Kind::Float)?;
        Ok(negative_entropy.f_mul_scalar(self.entropy)?.f_sub(&gain)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [[f32; 3]; 4] = [
        [0.3, -1.1, 0.8],
        [1.5, 0.2, -0.4],
        [-0.7, 0.9, 0.1],
        [2.0, -2.0, 0.5],
    ];
    const LEGAL: [[bool; 3]; 4] = [
        [true, true, true],
        [true, false, true],
        [true, true, false],
        [true, true, true],
    ];
    const ACTION: [i64; 4] = [2, 0, 0, 1];
    /// Ratios of 1.9, 0.92, 0.19 and 0.29: the first and the third are clipped, the last one's advantage says not to.
    const OLD: [f32; 4] = [0.3, 0.95, 0.9, 0.05];
    const WEIGHT: [f32; 4] = [1.0, 1.05, 0.5, 1.0];
    const ADVANTAGE: [f32; 4] = [1.5, -0.5, -2.0, 0.7];
    const SURROGATE: Surrogate = Surrogate {
        clip: 0.2,
        entropy: 0.02,
    };

    /// The formula, term by term in f64.
    fn by_hand(logits: &[[f32; 3]; 4]) -> f64 {
        let mut sum = 0.0;
        for row in 0..4 {
            let exp = |action: usize| match LEGAL[row][action] {
                true => f64::from(logits[row][action]).exp(),
                false => 0.0,
            };
            let total = exp(0) + exp(1) + exp(2);
            let ratio = exp(ACTION[row] as usize) / total / f64::from(OLD[row]);
            let advantage = f64::from(ADVANTAGE[row]);
            let clipped = ratio.clamp(0.8, 1.2);
            let gain = (ratio * advantage).min(clipped * advantage) * f64::from(WEIGHT[row]);
            let entropy: f64 = (0..3)
                .map(|action| exp(action) / total)
                .filter(|&probability| probability > 0.0)
                .map(|probability| -probability * probability.ln())
                .sum();
            sum -= gain + 0.02 * entropy;
        }
        sum / 4.0
    }

    fn run(logits: &[[f32; 3]; 4]) -> (f64, Vec<f32>) {
        let logits = Tensor::from_slice(logits.as_flattened())
            .view((4, 3))
            .set_requires_grad(true);
        let batch = SurrogateBatch {
            info: &Tensor::new(),
            legal: &Tensor::from_slice(LEGAL.as_flattened()).view((4, 3)),
            action: &Tensor::from_slice(&ACTION),
            log_probability: &Tensor::from_slice(&OLD.map(f32::ln)),
            weight: &Tensor::from_slice(&WEIGHT),
            advantage: &Tensor::from_slice(&ADVANTAGE),
        };
        let loss = SURROGATE.loss(&logits, &batch).unwrap();
        let gradients = Tensor::run_backward(&[&loss], &[&logits], false, false);
        let gradient = Vec::try_from(gradients[0].view(-1)).unwrap();
        (loss.double_value(&[]), gradient)
    }

    #[test]
    fn the_loss_is_the_formula() {
        let (found, _) = run(&LOGITS);
        assert!((found - by_hand(&LOGITS)).abs() < 1e-6, "{found}");
    }

    #[test]
    fn gradients_agree_with_central_differences_and_leave_illegal_actions_alone() {
        let (_, gradient) = run(&LOGITS);
        for (index, &slope) in gradient.iter().enumerate() {
            let moved = |offset: f32| {
                let mut logits = LOGITS;
                logits.as_flattened_mut()[index] += offset;
                by_hand(&logits)
            };
            let difference = (moved(1e-3) - moved(-1e-3)) / 2e-3;
            assert!(
                (difference - f64::from(slope)).abs() < 1e-4,
                "entry {index}: {difference} and {slope}"
            );
        }
        assert_eq!((gradient[4], gradient[8]), (0.0, 0.0));
    }

    #[test]
    fn a_move_beyond_the_clip_counts_no_further() {
        // The first row's action has become likelier by more than a fifth and was good: only its entropy still counts.
        let (_, gradient) = run(&LOGITS);
        assert!(gradient[..3].iter().all(|slope| slope.abs() < 0.02 / 4.0));
        // The third one's action was bad and is less likely by more than a fifth: the same.
        assert!(gradient[6..9].iter().all(|slope| slope.abs() < 0.02 / 4.0));
        // The second one's is within.
        assert!(gradient[3].abs() > 0.02);
    }
}
