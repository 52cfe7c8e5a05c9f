//! Steps of which the host does not know whether they are taken.

use super::{AdamW, BETA_1, BETA_2, EPSILON};
use crate::network::TensorError;
use tch::{Kind, Tensor};

/// The number of steps taken, on the device.
pub(super) struct Taken {
    /// f64, no dimension.
    steps: Tensor,
    /// Both decay rates, f64 `[2]`.
    betas: Tensor,
}

impl Taken {
    fn new(steps: u64, like: &Tensor) -> Result<Self, TensorError> {
        let device = like.device();
        let steps = Tensor::f_from_slice(&[steps as f64])?.f_to_device(device)?;
        Ok(Self {
            steps: steps.f_reshape([0i64; 0])?,
            betas: Tensor::f_from_slice(&[BETA_1, BETA_2])?.f_to_device(device)?,
        })
    }

    /// `1 - 0.9^t` and `sqrt(1 - 0.999^t)`, f64 without dimension; those of the first step before it.
    fn corrections(&self) -> Result<[Tensor; 2], TensorError> {
        let t = self.steps.f_clamp_min(1.0)?;
        let left = self.betas.f_pow(&t)?.f_rsub_scalar(1.0)?;
        Ok([left.f_select(0, 0)?, left.f_select(0, 1)?.f_sqrt()?])
    }
}

impl AdamW {
    /// [`AdamW::step`] where `taken` (f32, no dimension) is 1; where it is 0 nothing changes. `gradient` must be finite either way.
    ///
    /// The host does not wait for `taken`. So the count of steps is on the device too: see [`AdamW::settle`].
    ///
    /// # Errors
    /// A gradient of another shape (nothing has changed then), and failures of the device.
    pub fn step_where(
        &mut self,
        parameters: &mut Tensor,
        gradient: &Tensor,
        taken: &Tensor,
    ) -> Result<(), TensorError> {
        let _guard = tch::no_grad_guard();
        let gradient = gradient.f_view_as(&self.m)?;
        let count = match &mut self.taken {
            Some(count) => count,
            none => none.insert(Taken::new(self.steps, &self.m)?),
        };
        let _ = count.steps.f_add_(taken)?;
        let [c1, c2] = count.corrections()?;
        let share = |weight: f64| taken.f_mul_scalar(weight);
        // Nothing where the step is not taken: the square of a finite number may be infinite, and no part of that is not a number.
        let mut counts = gradient.f_mul_out(&self.scratch, taken)?;
        let _ = self.m.f_lerp_tensor_(&counts, &share(1.0 - BETA_1)?)?;
        let squares = counts.f_square_()?;
        let _ = self.v.f_lerp_tensor_(&squares, &share(1.0 - BETA_2)?)?;
        if self.weight_decay != 0.0 {
            let kept = share(self.learning_rate * self.weight_decay)?.f_rsub_scalar(1.0)?;
            let _ = parameters.f_mul_(&kept)?;
        }
        // As in `step`; a step that is not taken has an infinite divisor.
        let unit = c1.f_div(&c2)?.f_mul_scalar(-1.0 / self.learning_rate)?;
        let unit = unit.f_div(taken)?.f_to_kind(Kind::Float)?;
        let mut divisor = self.v.f_sqrt_out(&self.scratch)?;
        let _ = divisor.f_add_(&c2.f_mul_scalar(EPSILON)?)?;
        let _ = divisor.f_mul_(&unit)?;
        let _ = parameters.f_addcdiv_(&self.m, &divisor)?;
        Ok(())
    }

    /// Learns from the device how many of the masked steps were taken. Waits for it.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn settle(&mut self) -> Result<(), TensorError> {
        self.steps = self.counted()?;
        self.taken = None;
        Ok(())
    }

    /// Steps taken, masked ones included. Waits for the device if there are any.
    pub(super) fn counted(&self) -> Result<u64, TensorError> {
        match &self.taken {
            Some(taken) => Ok(taken.steps.f_double_value(&[])? as u64),
            None => Ok(self.steps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient(step: usize) -> Tensor {
        Tensor::from_slice(&[0.3f32, -40.0, 1e-4 * step as f32, 0.0])
    }

    fn start() -> (Tensor, AdamW) {
        let tensor = Tensor::from_slice(&[1.0f32, -2.0, 0.5, 0.0]);
        let optimizer = AdamW::new(&tensor, 3e-3, 0.1).unwrap();
        (tensor, optimizer)
    }

    fn numbers(tensor: &Tensor, optimizer: &AdamW) -> Vec<f32> {
        let moments = optimizer.moments().unwrap();
        let parameters = Vec::<f32>::try_from(tensor).unwrap();
        [parameters, moments.m, moments.v].concat()
    }

    #[test]
    fn a_gradient_whose_square_is_infinite_leaves_nothing_where_it_is_not_taken() {
        let (mut tensor, mut optimizer) = start();
        let (zero, one) = (Tensor::from(0f32), Tensor::from(1f32));
        (optimizer.step_where(&mut tensor, &gradient(1), &one)).unwrap();
        let before = numbers(&tensor, &optimizer);
        let huge = Tensor::from_slice(&[1e25f32, -1e25, f32::MAX, 0.0]);
        (optimizer.step_where(&mut tensor, &huge, &zero)).unwrap();
        assert_eq!(numbers(&tensor, &optimizer), before);
        (optimizer.step_where(&mut tensor, &gradient(2), &one)).unwrap();
        let after = numbers(&tensor, &optimizer);
        assert!(after.iter().all(|number| number.is_finite()), "{after:?}");
    }

    #[test]
    fn masked_steps_are_steps_where_they_are_taken_and_nothing_where_not() {
        let ((mut a, mut plain), (mut b, mut masked)) = (start(), start());
        let (zero, one) = (Tensor::from(0f32), Tensor::from(1f32));
        // The first of all is not taken.
        for step in 0..40 {
            if step % 3 == 0 {
                let before = numbers(&b, &masked);
                masked.step_where(&mut b, &gradient(7), &zero).unwrap();
                assert_eq!(numbers(&b, &masked), before, "step {step}");
            } else {
                plain.step(&mut a, &gradient(step)).unwrap();
                masked.step_where(&mut b, &gradient(step), &one).unwrap();
            }
        }
        masked.settle().unwrap();
        assert_eq!(masked.steps(), plain.steps());
        for (a, b) in numbers(&a, &plain).iter().zip(numbers(&b, &masked)) {
            assert!((a - b).abs() <= 1e-5 * a.abs(), "{a} {b}");
        }
        // Both ways of stepping may follow each other.
        plain.step(&mut a, &gradient(1)).unwrap();
        masked.step(&mut b, &gradient(1)).unwrap();
        assert_eq!(masked.moments().unwrap().steps, 27);
    }
}
