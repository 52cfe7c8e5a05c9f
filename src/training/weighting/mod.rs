//! How samples of different iterations weigh in a fit: one type per scheme.
//!
//! A new scheme is a file with a type that is [`SampleWeighting`], a [`WeightingMode`], and a row each in [`WeightingMode::ALL`] (by which the
//! tests of the losses meet it), in [`WeightingSettings::scheme`] and in the configuration's table of keys.

mod discounted;
mod linear;
mod uniform;

pub use discounted::Discounted;
pub use linear::Linear;
pub use uniform::Uniform;

use crate::network::TensorError;
use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

/// What samples weigh at an iteration, by the iteration that recorded them.
pub trait SampleWeighting {
    /// The weights of the entries of an advantage batch by its targets (`[batch, actions]`): f32 `[batch, 1]` or `[batch, actions]`, 0 or more;
    /// `None` where all weigh alike.
    ///
    /// # Errors
    /// Failures of the device.
    fn advantage(&self, ages: &Ages<'_>, target: &Tensor) -> Result<Option<Tensor>, TensorError>;

    /// The weights of the rows of a strategy batch: f32 `[batch]`, 0 or more; `None` where all weigh alike.
    ///
    /// # Errors
    /// Failures of the device.
    fn strategy(&self, ages: &Ages<'_>) -> Result<Option<Tensor>, TensorError>;

    /// What the policy of `iteration` (from 1) weighs in the average strategy; only ratios matter.
    fn policy(&self, iteration: u32) -> f64;

    /// Why fits with these weights estimate something else than a mean over iterations; `None` where they do not.
    fn bias(&self) -> Option<&'static str> {
        None
    }
}

/// When the samples of a batch were recorded, against the iteration in hand.
#[derive(Clone, Copy, Debug)]
pub struct Ages<'a> {
    /// The iteration `t` that recorded each sample: `[batch]`, any integer or float kind.
    pub iteration: &'a Tensor,
    /// The iteration `T` in hand.
    pub current: u32,
}

impl Ages<'_> {
    /// `clamp(t / max(1, T), 0, 1)^exponent` of each sample, f32 `[batch]`; all ones for exponent 0, at `t = 0` too.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn power(&self, exponent: f64) -> Result<Tensor, TensorError> {
        let iteration = self.iteration.f_to_kind(Kind::Float)?;
        if exponent == 0.0 {
            return Ok(iteration.f_ones_like()?);
        }
        let age = iteration.f_div_scalar(f64::from(self.current.max(1)))?;
        let age = age.f_clamp(0.0, 1.0)?;
        // A power of 1 changes no bit.
        if exponent == 1.0 {
            return Ok(age);
        }
        Ok(age.f_pow_tensor_scalar(exponent)?)
    }
}

/// Which scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightingMode {
    /// All alike: [`Uniform`].
    None,
    /// `(t / T)^lcfr_alpha`, linear CFR: [`Linear`].
    #[default]
    Lcfr,
    /// Discounted CFR, `dcfr_alpha` for targets of at least 0, `dcfr_beta` below, `dcfr_gamma` for the strategy: [`Discounted`].
    Dcfr,
}

impl WeightingMode {
    /// Every scheme.
    pub const ALL: [Self; 3] = [Self::None, Self::Lcfr, Self::Dcfr];
}

/// Sample weights by iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeightingSettings {
    /// `none`, `lcfr` or `dcfr`.
    pub mode: WeightingMode,
    /// Exponent of `lcfr`.
    pub lcfr_alpha: f64,
    /// Exponent of `dcfr` for advantage targets of at least 0.
    pub dcfr_alpha: f64,
    /// Exponent of `dcfr` for negative advantage targets.
    pub dcfr_beta: f64,
    /// Exponent of `dcfr` for the strategy.
    pub dcfr_gamma: f64,
}

impl Default for WeightingSettings {
    fn default() -> Self {
        Self {
            mode: WeightingMode::Lcfr,
            lcfr_alpha: 1.0,
            dcfr_alpha: 1.5,
            dcfr_beta: 0.0,
            dcfr_gamma: 2.0,
        }
    }
}

impl WeightingSettings {
    /// The scheme with its exponents.
    pub fn scheme(&self) -> Box<dyn SampleWeighting> {
        match self.mode {
            WeightingMode::None => Box::new(Uniform),
            WeightingMode::Lcfr => Box::new(Linear {
                exponent: self.lcfr_alpha,
            }),
            WeightingMode::Dcfr => Box::new(Discounted {
                alpha: self.dcfr_alpha,
                beta: self.dcfr_beta,
                gamma: self.dcfr_gamma,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_clamp_ages_and_exponent_zero_is_one_everywhere() {
        let iteration = Tensor::from_slice(&[0i32, 3, 12, 20]);
        let power = |current, exponent| {
            let iteration = &iteration;
            let weights = Ages { iteration, current }.power(exponent).unwrap();
            Vec::<f32>::try_from(weights).unwrap()
        };
        assert_eq!(power(12, 2.0), [0.0, 0.0625, 1.0, 1.0]);
        assert_eq!(power(12, 1.0), [0.0, 0.25, 1.0, 1.0]);
        assert_eq!(power(12, 0.0), [1.0; 4]);
        assert_eq!(power(0, 1.0), [0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn weights_are_rows_or_entries_and_never_negative() {
        let iteration = Tensor::from_slice(&[0i32, 3, 12, 20]);
        let ages = Ages {
            iteration: &iteration,
            current: 12,
        };
        let target = Tensor::from_slice(&[-1f32, 0.0, 1.0].repeat(4)).view((4, 3));
        for mode in WeightingMode::ALL {
            let scheme = WeightingSettings {
                mode,
                ..WeightingSettings::default()
            }
            .scheme();
            if let Some(weights) = scheme.advantage(&ages, &target).unwrap() {
                assert!(weights.expand([4, 3], false).min().double_value(&[]) >= 0.0);
            }
            if let Some(weights) = scheme.strategy(&ages).unwrap() {
                assert_eq!(weights.size(), [4], "{mode:?}");
                assert!(weights.min().double_value(&[]) >= 0.0, "{mode:?}");
            }
        }
    }
}
