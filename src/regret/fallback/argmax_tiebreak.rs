//! The least of the evils.

use super::FallbackPolicy;
use crate::game::{Action, ActionSet};

/// The legal action of greatest advantage, the lowest number among equals (Brown et al. 2019: it copes better with advantages that are
/// approximate).
#[derive(Clone, Copy, Debug)]
pub struct ArgmaxTiebreak;

impl FallbackPolicy for ArgmaxTiebreak {
    #[inline]
    fn write(self, _: &[f32], _: ActionSet, best: Option<Action>, policy: &mut [f32]) {
        if let Some(action) = best {
            policy[action as usize] = 1.0;
        }
    }
}
