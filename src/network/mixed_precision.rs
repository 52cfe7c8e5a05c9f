//! Mixed precision: which type forward and backward passes run in, and the scale that keeps small gradients in its range.

use super::TensorError;
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

/// The type of mixed precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AmpDtype {
    /// bfloat16: the range of f32 with 8 bits of precision. Needs no loss scale.
    #[default]
    Bf16,
    /// IEEE half precision: 11 bits, numbers up to 65,504. Needs a loss scale.
    F16,
}

impl AmpDtype {
    /// The tensor kind.
    pub fn kind(self) -> Kind {
        match self {
            Self::Bf16 => Kind::BFloat16,
            Self::F16 => Kind::Half,
        }
    }
}

/// What a [`LossScale`] carries from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossScaleState {
    /// The factor of losses, a power of two.
    pub scale: f32,
    /// Steps with a finite gradient since the scale last changed.
    pub good_steps: u32,
}

/// Dynamic loss scaling (Micikevicius et al., Mixed Precision Training, 2018, section 3.2): the loss is multiplied by a scale before the
/// backward pass, so that small gradients do not vanish in half precision, and gradients are divided by it afterwards. A gradient that is
/// not finite halves the scale, and 2,000 finite ones after one another double it.
///
/// Scale and count are tensors on the device of the fit: nothing waits for them.
pub struct LossScale {
    /// f32, no dimension.
    scale: Tensor,
    /// i32, no dimension.
    good_steps: Tensor,
}

impl LossScale {
    /// Where a fresh learner starts.
    pub const FIRST: LossScaleState = LossScaleState {
        scale: 65_536.0,
        good_steps: 0,
    };
    /// Finite gradients after one another that double the scale.
    pub const GROWTH_INTERVAL: i64 = 2_000;
    const GROWTH: f64 = 2.0;
    const BACKOFF: f64 = 0.5;
    /// The scale does not fall below this: a loss that is not finite at any scale must not make it 0.
    const LEAST: f64 = 1.0 / 65_536.0;

    /// A scale on `device` that continues from `state`.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn new(state: LossScaleState, device: Device) -> Result<Self, TensorError> {
        let good_steps = i32::try_from(state.good_steps).unwrap_or(i32::MAX);
        let place = |value: Tensor| value.f_to_device(device)?.f_reshape([0i64; 0]);
        Ok(Self {
            scale: place(Tensor::f_from_slice(&[state.scale])?)?,
            good_steps: place(Tensor::f_from_slice(&[good_steps])?)?,
        })
    }

    /// `loss` in units in which the backward pass loses nothing.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn scaled(&self, loss: &Tensor) -> Result<Tensor, TensorError> {
        Ok(loss.f_mul(&self.scale)?)
    }

    /// What gradients of a scaled loss are multiplied by: f32, no dimension.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn inverse(&self) -> Result<Tensor, TensorError> {
        Ok(self.scale.f_reciprocal()?)
    }

    /// Takes in whether the last gradient was finite: `taken`, f32 without dimension, is 1 then, else 0.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn update(&mut self, taken: &Tensor) -> Result<(), TensorError> {
        let _guard = tch::no_grad_guard();
        let found_inf = taken.f_rsub_scalar(1.0)?;
        let _ = self.scale.f_internal_amp_update_scale_(
            &self.good_steps,
            &found_inf,
            Self::GROWTH,
            Self::BACKOFF,
            Self::GROWTH_INTERVAL,
        )?;
        let _ = self.scale.f_clamp_min_(Self::LEAST)?;
        Ok(())
    }

    /// A copy of what the next step depends on. Waits for the device.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn state(&self) -> Result<LossScaleState, TensorError> {
        let good_steps = self.good_steps.f_int64_value(&[])?;
        Ok(LossScaleState {
            scale: self.scale.f_double_value(&[])? as f32,
            good_steps: u32::try_from(good_steps).unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: LossScaleState, finite: impl IntoIterator<Item = bool>) -> LossScaleState {
        let mut scale = LossScale::new(start, Device::Cpu).unwrap();
        for finite in finite {
            let taken = Tensor::from(f32::from(u8::from(finite)));
            scale.update(&taken).unwrap();
        }
        scale.state().unwrap()
    }

    fn state(scale: f32, good_steps: u32) -> LossScaleState {
        LossScaleState { scale, good_steps }
    }

    #[test]
    fn the_scale_halves_at_once_and_doubles_after_two_thousand_good_steps() {
        let first = LossScale::FIRST;
        assert_eq!(after(first, [true; 3]), state(65_536.0, 3));
        assert_eq!(after(first, [true, false]), state(32_768.0, 0));
        assert_eq!(after(first, [false; 3]), state(8_192.0, 0));
        assert_eq!(after(first, [true; 1_999]), state(65_536.0, 1_999));
        assert_eq!(after(first, [true; 2_000]), state(131_072.0, 0));
        assert_eq!(after(state(8.0, 1_999), [true]), state(16.0, 0));
    }

    #[test]
    fn a_scale_never_becomes_nothing() {
        let least = after(LossScale::FIRST, [false; 200]);
        assert!(least.scale > 0.0 && least.good_steps == 0, "{least:?}");
        assert_eq!(after(least, [true; 2_000]).scale, 2.0 * least.scale);
    }

    #[test]
    fn losses_and_gradients_are_scaled_by_each_others_inverse() {
        let scale = LossScale::new(state(4.0, 0), Device::Cpu).unwrap();
        let scaled = scale.scaled(&Tensor::from(3.0f32)).unwrap();
        assert_eq!(scaled.double_value(&[]), 12.0);
        let back = scaled * scale.inverse().unwrap();
        assert_eq!(back.double_value(&[]), 3.0);
    }
}
