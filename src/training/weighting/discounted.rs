//! Regrets that turned out wrong are forgotten sooner.

use super::{Ages, SampleWeighting};
use crate::network::TensorError;
use tch::Tensor;

/// After discounted CFR (Brown and Sandholm, Solving imperfect-information games via discounted regret minimization, 2019), with its
/// running discounts replaced by powers of age, and the sign of the accumulated regret by that of the sample's.
#[derive(Clone, Copy, Debug)]
pub struct Discounted {
    /// Advantages of at least 0 weigh `(t / T)^alpha`.
    pub alpha: f64,
    /// Advantages below 0 weigh `(t / T)^beta`.
    pub beta: f64,
    /// Strategies weigh `(t / T)^gamma`.
    pub gamma: f64,
}

impl SampleWeighting for Discounted {
    fn advantage(&self, ages: &Ages<'_>, target: &Tensor) -> Result<Option<Tensor>, TensorError> {
        let above = ages.power(self.alpha)?.f_unsqueeze(1)?;
        let below = ages.power(self.beta)?.f_unsqueeze(1)?;
        Ok(Some(above.f_where_self(&target.f_ge(0.0)?, &below)?))
    }

    fn strategy(&self, ages: &Ages<'_>) -> Result<Option<Tensor>, TensorError> {
        Ok(Some(ages.power(self.gamma)?))
    }

    fn policy(&self, iteration: u32) -> f64 {
        f64::from(iteration).powf(self.gamma)
    }

    fn bias(&self) -> Option<&'static str> {
        // Weights that differ by the sign of a noisy sample move its mean; by that of the accumulated regret they would not.
        (self.alpha != self.beta).then_some(
            "dcfr weighs samples by their own sign, so that what is fitted is no mean of theirs, and on Kuhn poker it does not converge; lcfr does",
        )
    }
}
