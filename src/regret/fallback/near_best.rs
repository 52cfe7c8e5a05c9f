//! All that may be the best.

use super::FallbackPolicy;
use crate::{
    game::{Action, ActionSet},
    regret::finite_or_least,
};

/// The actions whose advantage is within [`NearBest::width`] of the greatest, in proportion to how far they are above that: regret matching
/// with all advantages raised until the best has `width`. Two actions whose difference is within what a network can tell are both played, so
/// that no rounding of it decides for ever; at width 0 the best alone is.
#[derive(Clone, Copy, Debug)]
pub struct NearBest {
    /// In units of the advantages.
    pub width: f32,
}

impl FallbackPolicy for NearBest {
    #[inline]
    fn write(self, advantages: &[f32], legal: ActionSet, best: Option<Action>, policy: &mut [f32]) {
        let Some(best) = best else {
            return;
        };
        let least = finite_or_least(advantages[best as usize]) - self.width;
        let mut sum = 0.0;
        for action in legal.iter().map(usize::from) {
            let above = (finite_or_least(advantages[action]) - least).max(0.0);
            policy[action] = above;
            sum += above;
        }
        if sum > 0.0 && f32::is_finite(sum) {
            policy.iter_mut().for_each(|part| *part /= sum);
        } else {
            policy.fill(0.0);
            policy[best as usize] = 1.0;
        }
    }
}
