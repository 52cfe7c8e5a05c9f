//! Regret matching.

use super::Fallback;
use crate::game::ActionSet;

/// How [`regret_matching`] came to its policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Whether no advantage was positive (or too little of it), so that the fallback decided.
    pub fallback: bool,
    /// Under the fallback: how many legal actions share the greatest advantage; else 0.
    pub tie_size: u32,
    /// Under the fallback: whether that is every legal action, and more than one.
    pub full_tie: bool,
}

/// Regret matching: `policy[a] = max(advantages[a], 0) / sum` over the legal actions, 0 elsewhere (Zinkevich et al. 2007,
/// equation 8; with a network's advantages Brown et al. 2019, section 3).
///
/// The positive parts are summed in float32, in pairwise order. A sum of at most `epsilon` (compared in float64) leaves
/// the policy to `fallback`. With no legal action the policy is all zero and counts as fallback.
///
/// An advantage that is not finite is not evidence of anything: it counts as not positive, and below all finite ones in
/// the fallback. Finite advantages whose sum exceeds float32 are scaled by the greatest first, so that the policy sums to 1.
///
/// `advantages` and `policy` are `[actions]`; every legal id must lie within both.
pub fn regret_matching(
    advantages: &[f32],
    legal: ActionSet,
    epsilon: f64,
    fallback: Fallback,
    policy: &mut [f32],
) -> Matched {
    policy.fill(0.0);
    for action in legal.iter() {
        policy[action as usize] = positive(advantages[action as usize]);
    }
    let mut sum = pairwise_sum(policy, legal);
    // `max` also turns a threshold that is no number into zero.
    if f64::from(sum) <= epsilon.max(0.0) {
        return fall_back(advantages, legal, epsilon, fallback, policy);
    }
    if sum.is_infinite() {
        let greatest = policy.iter().copied().fold(0.0, f32::max);
        policy.iter_mut().for_each(|part| *part /= greatest);
        sum = pairwise_sum(policy, legal);
    }
    policy.iter_mut().for_each(|part| *part /= sum);
    Matched::default()
}

/// The positive part of a finite value, 0 for anything else.
fn positive(value: f32) -> f32 {
    if value > 0.0 && value < f32::INFINITY {
        value
    } else {
        0.0
    }
}

/// The float32 sum of `values` over `legal`: up to seven one after the other, more in eight interleaved partial sums
/// that are added as a tree, what remains of the last eight at the end.
fn pairwise_sum(values: &[f32], legal: ActionSet) -> f32 {
    let whole = legal.len() & !7;
    let mut actions = legal.iter().map(|action| values[action as usize]);
    let mut r = [0.0f32; 8];
    for (value, position) in actions.by_ref().take(whole).zip(0..) {
        r[position % 8] += value;
    }
    let tree = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    actions.fold(tree, |sum, value| sum + value)
}

/// The policy of a node without positive advantage; `policy` is overwritten.
fn fall_back(
    advantages: &[f32],
    legal: ActionSet,
    epsilon: f64,
    fallback: Fallback,
    policy: &mut [f32],
) -> Matched {
    policy.fill(0.0);
    let (mut best, mut greatest, mut tie_size) = (None, f32::NEG_INFINITY, 0);
    for action in legal.iter() {
        let advantage = super::finite_or_least(advantages[action as usize]);
        if best.is_none() || advantage > greatest {
            (best, greatest, tie_size) = (Some(action), advantage, 1);
        } else if advantage == greatest {
            tie_size += 1;
        }
    }
    let count = legal.len();
    fallback.write(advantages, legal, epsilon, best, policy);
    Matched {
        fallback: true,
        tie_size,
        full_tie: tie_size > 1 && tie_size as usize == count,
    }
}
