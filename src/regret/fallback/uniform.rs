//! No advantage, no preference.

use super::FallbackPolicy;
use crate::game::{Action, ActionSet};

/// Every legal action alike (Zinkevich et al. 2007, equation 8).
#[derive(Clone, Copy, Debug)]
pub struct Uniform;

impl FallbackPolicy for Uniform {
    #[inline]
    fn write(self, _: &[f32], legal: ActionSet, _: Option<Action>, policy: &mut [f32]) {
        let share = 1.0 / legal.len() as f32;
        for action in legal.iter() {
            policy[action as usize] = share;
        }
    }
}
