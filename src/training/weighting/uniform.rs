//! Every iteration counts the same.

use super::{Ages, SampleWeighting};
use crate::network::TensorError;
use tch::Tensor;

/// All samples alike: vanilla CFR.
#[derive(Clone, Copy, Debug)]
pub struct Uniform;

impl SampleWeighting for Uniform {
    fn advantage(&self, _: &Ages<'_>, _: &Tensor) -> Result<Option<Tensor>, TensorError> {
        Ok(None)
    }

    fn strategy(&self, _: &Ages<'_>) -> Result<Option<Tensor>, TensorError> {
        Ok(None)
    }

    fn policy(&self, _: u32) -> f64 {
        1.0
    }
}
