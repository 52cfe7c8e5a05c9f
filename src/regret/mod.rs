//! From advantages to policies: regret matching, sampling policies, draws.
//!
//! ```text
//! advantages --regret_matching--> policy --mix_uniform--> sampling policy --draw--> action
//! logits -----legal_softmax-----> policy --greedy, entropy
//! ```
//!
//! Pure functions on slices `[actions]`, one per formula; they run once per node and allocate nothing.

mod fallback;
mod matching;
mod policy;
mod softmax;
mod update;

pub use fallback::{ArgmaxTiebreak, Fallback, FallbackPolicy, NearBest, Uniform};
pub use matching::{Matched, regret_matching};
pub use policy::{draw, entropy, greedy, legal_softmax, mix_uniform};
pub use softmax::Softmax;
pub use update::{Bootstrapped, Hedge, Judged, Matching, Update, UpdateRule};

use serde::{Deserialize, Serialize};

/// Settings of regret matching.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What to play when no advantage is positive: `uniform`, `argmax_tiebreak`, or `near_best`, all that is within
    /// `traversal.regret_matching_epsilon` of the best.
    pub all_negative_fallback: Fallback,
}

/// A finite value as it is; anything else counts below every finite one.
fn finite_or_least(value: f32) -> f32 {
    if value.is_finite() {
        value
    } else {
        f32::NEG_INFINITY
    }
}

#[cfg(test)]
mod tests;
