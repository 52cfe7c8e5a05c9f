//! Later iterations count for more.

use super::{Ages, SampleWeighting};
use crate::network::TensorError;
use tch::Tensor;

/// `(t / T)^exponent` for advantages and strategies alike. Linear CFR, exponent 1, is what Deep CFR uses (Brown et al. 2019).
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// 0 or more.
    pub exponent: f64,
}

impl SampleWeighting for Linear {
    fn advantage(&self, ages: &Ages<'_>, _: &Tensor) -> Result<Option<Tensor>, TensorError> {
        Ok(Some(ages.power(self.exponent)?.f_unsqueeze(1)?))
    }

    fn strategy(&self, ages: &Ages<'_>) -> Result<Option<Tensor>, TensorError> {
        Ok(Some(ages.power(self.exponent)?))
    }

    fn policy(&self, iteration: u32) -> f64 {
        f64::from(iteration).powf(self.exponent)
    }
}
