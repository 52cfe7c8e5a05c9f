//! AdamW on one flat parameter tensor.

mod masked;

use super::TensorError;
use masked::Taken;
use std::ops::Range;
use tch::Tensor;

/// Decay of the first moment's running mean.
const BETA_1: f64 = 0.9;
/// Decay of the second moment's running mean.
const BETA_2: f64 = 0.999;
/// Keeps the step finite where the second moment is 0.
const EPSILON: f64 = 1e-8;

/// AdamW (Loshchilov and Hutter, Decoupled Weight Decay Regularization, algorithm 2): step `t` on gradient `g` is
///
/// ```text
/// p <- p (1 - lr wd)      m <- 0.9 m + 0.1 g      v <- 0.999 v + 0.001 g^2
/// p <- p - lr (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8)
/// ```
///
/// Every tensor is allocated once; a step works in place.
pub struct AdamW {
    learning_rate: f64,
    weight_decay: f64,
    m: Tensor,
    v: Tensor,
    scratch: Tensor,
    /// Steps taken, without those that only `taken` knows of.
    steps: u64,
    /// The count where steps are masked.
    taken: Option<Taken>,
}

/// What [`AdamW`] carries from step to step.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Running mean of the gradients, `[num_parameters]`.
    pub m: Vec<f32>,
    /// Running mean of their squares, `[num_parameters]`.
    pub v: Vec<f32>,
    /// Steps taken.
    pub steps: u64,
}

impl AdamW {
    /// An optimizer of `parameters` (`[num_parameters]`, f32) that has taken no step.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn new(
        parameters: &Tensor,
        learning_rate: f64,
        weight_decay: f64,
    ) -> Result<Self, TensorError> {
        let _guard = tch::no_grad_guard();
        let zeros = || parameters.f_detach()?.f_zeros_like();
        Ok(Self {
            learning_rate,
            weight_decay,
            m: zeros()?,
            v: zeros()?,
            scratch: zeros()?,
            steps: 0,
            taken: None,
        })
    }

    /// Moves `parameters` one step against `gradient`, both of the shape given to [`AdamW::new`].
    ///
    /// # Errors
    /// A gradient of another shape (nothing has changed then), and failures of the device.
    pub fn step(&mut self, parameters: &mut Tensor, gradient: &Tensor) -> Result<(), TensorError> {
        let _guard = tch::no_grad_guard();
        // Refused here, by an operation that changes nothing: tch panics where one that takes a scalar fails.
        let gradient = gradient.f_view_as(&self.m)?;
        let squares = gradient.f_mul_out(&self.scratch, &gradient)?;
        let t = (self.steps + 1) as f64;
        let _ = self.v.f_lerp_(&squares, 1.0 - BETA_2)?;
        let _ = self.m.f_lerp_(&gradient, 1.0 - BETA_1)?;
        if self.weight_decay != 0.0 {
            let _ = parameters.f_mul_scalar_(1.0 - self.learning_rate * self.weight_decay)?;
        }
        // With c1 = 1 - 0.9^t and c2 = sqrt(1 - 0.999^t), the update is m over -(sqrt(v) + 1e-8 c2) c1 / (lr c2): four passes.
        let c1 = 1.0 - BETA_1.powf(t);
        let c2 = (1.0 - BETA_2.powf(t)).sqrt();
        let mut divisor = self.v.f_sqrt_out(&self.scratch)?;
        let _ = divisor.f_add_scalar_(EPSILON * c2)?;
        let _ = divisor.f_mul_scalar_(-c1 / (self.learning_rate * c2))?;
        let _ = parameters.f_addcdiv_(&self.m, &divisor)?;
        self.steps += 1;
        Ok(())
    }

    /// Takes steps of this size from now on.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.learning_rate = learning_rate;
    }

    /// Steps taken; those of [`AdamW::step_where`] since the last [`AdamW::settle`] are not counted yet.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Forgets the steps taken, as if the optimizer were new.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn reset(&mut self) -> Result<(), TensorError> {
        let _guard = tch::no_grad_guard();
        let _ = self.m.f_zero_()?;
        let _ = self.v.f_zero_()?;
        self.steps = 0;
        self.taken = None;
        Ok(())
    }

    /// Goes on as if the gradients so far had been `factor` times theirs, in the parameters of `range`.
    ///
    /// # Errors
    /// A range beyond the parameters, and failures of the device.
    pub fn scale_gradients(&mut self, range: Range<usize>, factor: f64) -> Result<(), TensorError> {
        let _guard = tch::no_grad_guard();
        let (start, length) = (range.start as i64, range.len() as i64);
        let mut m = self.m.f_narrow(0, start, length)?;
        let mut v = self.v.f_narrow(0, start, length)?;
        let _ = m.f_mul_scalar_(factor)?;
        let _ = v.f_mul_scalar_(factor * factor)?;
        Ok(())
    }

    /// A copy of what the next step depends on.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn moments(&self) -> Result<Moments, TensorError> {
        Ok(Moments {
            m: Vec::try_from(&self.m)?,
            v: Vec::try_from(&self.v)?,
            steps: self.counted()?,
        })
    }

    /// Continues from `moments` as if this optimizer had taken their steps. They must have the parameters' length.
    ///
    /// # Errors
    /// Moments of another length, before anything has changed; failures of the device.
    pub fn set_moments(&mut self, moments: &Moments) -> Result<(), TensorError> {
        let _guard = tch::no_grad_guard();
        let m = Tensor::f_from_slice(&moments.m)?.f_view_as(&self.m)?;
        let v = Tensor::f_from_slice(&moments.v)?.f_view_as(&self.v)?;
        self.m.f_copy_(&m)?;
        self.v.f_copy_(&v)?;
        self.steps = moments.steps;
        self.taken = None;
        Ok(())
    }
}

/// Scales `gradient` by `min(1, max_norm / (norm + 1e-6))` in place where `max_norm` is positive; `norm` is its L2 norm.
///
/// # Errors
/// Failures of the device.
pub fn clip(gradient: &mut Tensor, norm: f64, max_norm: f64) -> Result<(), TensorError> {
    let factor = max_norm / (norm + 1e-6);
    if max_norm > 0.0 && factor < 1.0 {
        let _guard = tch::no_grad_guard();
        let _ = gradient.f_mul_scalar_(factor)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of [`AdamW`] in f64, as they are written.
    #[test]
    fn steps_follow_the_formulas() {
        let (rate, decay) = (3e-3, 0.1);
        let mut tensor = Tensor::from_slice(&[1.0f32, -2.0, 0.5, 0.0]).set_requires_grad(true);
        let mut optimizer = AdamW::new(&tensor, rate, decay).unwrap();
        let mut expected = [1.0f64, -2.0, 0.5, 0.0].map(|p| (p, 0.0f64, 0.0f64));
        for step in 1..=50 {
            let gradient = [0.3, -40.0, 1e-4 * f64::from(step), 0.0].map(|g: f64| g as f32);
            optimizer
                .step(&mut tensor, &Tensor::from_slice(&gradient))
                .unwrap();
            for ((p, m, u), g) in expected.iter_mut().zip(gradient.map(f64::from)) {
                *p *= 1.0 - rate * decay;
                *m = 0.9 * *m + 0.1 * g;
                *u = 0.999 * *u + 0.001 * g * g;
                let mean = *m / (1.0 - 0.9f64.powi(step));
                let square = *u / (1.0 - 0.999f64.powi(step));
                *p -= rate * mean / (square.sqrt() + 1e-8);
            }
            let found = Vec::<f32>::try_from(&tensor).unwrap();
            for (found, (expected, ..)) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected).abs();
                assert!(error < 1e-6, "step {step}: {found} instead of {expected}");
            }
        }
        assert_eq!(optimizer.steps(), 50);
    }

    #[test]
    fn a_gradient_of_another_shape_changes_nothing() {
        let mut tensor = Tensor::from_slice(&[1.0f32, 2.0]);
        let mut optimizer = AdamW::new(&tensor, 0.1, 0.1).unwrap();
        optimizer
            .step(&mut tensor, &Tensor::from_slice(&[1.0f32, 1.0]))
            .unwrap();
        let before = (optimizer.moments().unwrap(), Vec::<f32>::try_from(&tensor));
        let wrong = Tensor::from_slice(&[1.0f32; 3]);
        let error = optimizer.step(&mut tensor, &wrong).unwrap_err();
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
        let after = (optimizer.moments().unwrap(), Vec::<f32>::try_from(&tensor));
        assert_eq!((before.0, before.1.unwrap()), (after.0, after.1.unwrap()));
        assert!(
            optimizer
                .set_moments(&Moments {
                    m: vec![0.0; 2],
                    v: vec![0.0; 3],
                    steps: 1,
                })
                .is_err()
        );
    }

    #[test]
    fn clipping_scales_only_what_is_too_long() {
        for (most, expected) in [(0.0, [3.0, 4.0]), (10.0, [3.0, 4.0]), (1.0, [0.6, 0.8])] {
            let mut gradient = Tensor::from_slice(&[3.0f32, 4.0]);
            clip(&mut gradient, 5.0, most).unwrap();
            let found = Vec::<f32>::try_from(&gradient).unwrap();
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{most}: {found}");
            }
        }
    }
}
