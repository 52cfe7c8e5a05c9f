//! What to play where no advantage is positive: one type per scheme.
//!
//! A new scheme is a file with a type that is [`FallbackPolicy`], a variant of [`Fallback`] with its rows here, and a word in the
//! configuration's table of keys.

mod argmax_tiebreak;
mod near_best;
mod uniform;

pub use argmax_tiebreak::ArgmaxTiebreak;
pub use near_best::NearBest;
pub use uniform::Uniform;

use crate::game::{Action, ActionSet};
use serde::{Deserialize, Serialize};

/// A policy for nodes where regret matching has none.
pub trait FallbackPolicy {
    /// Writes the policy into `policy` (`[actions]`, all 0 before) for the `advantages` (`[actions]`) of the `legal` actions. `best` is the legal
    /// action of greatest advantage, the lowest number among equals; `None` where none is legal, and then nothing is written.
    fn write(self, advantages: &[f32], legal: ActionSet, best: Option<Action>, policy: &mut [f32]);
}

/// What to play when no advantage is positive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Every legal action alike: [`Uniform`].
    #[default]
    Uniform,
    /// The legal action of greatest advantage, the lowest number among equals: [`ArgmaxTiebreak`].
    ArgmaxTiebreak,
    /// The actions whose advantages are within `traversal.regret_matching_epsilon` of the greatest: [`NearBest`].
    NearBest,
}

impl Fallback {
    /// Every scheme.
    pub const ALL: [Self; 3] = [Self::Uniform, Self::ArgmaxTiebreak, Self::NearBest];
}

impl Fallback {
    /// As [`FallbackPolicy::write`] by the scheme named, where positive advantages sum to no more than `epsilon`. A match and not a table of
    /// functions, so that it costs a walk nothing.
    #[inline]
    pub(super) fn write(
        self,
        advantages: &[f32],
        legal: ActionSet,
        epsilon: f64,
        best: Option<Action>,
        policy: &mut [f32],
    ) {
        let width = epsilon as f32;
        match self {
            Self::Uniform => Uniform.write(advantages, legal, best, policy),
            Self::ArgmaxTiebreak => ArgmaxTiebreak.write(advantages, legal, best, policy),
            Self::NearBest => NearBest { width }.write(advantages, legal, best, policy),
        }
    }
}
