//! What is done with a policy: from logits, mixed for sampling, drawn from, played greedily, measured.

use super::finite_or_least;
use crate::game::{Action, ActionSet};

/// The softmax of `logits` over the legal actions, 0 elsewhere; all zero when none is legal.
///
/// The greatest legal logit is subtracted first. A logit that is not finite gets no mass; when no legal logit is finite
/// the legal actions share it equally. `logits` and `policy` are `[actions]`.
pub fn legal_softmax(logits: &[f32], legal: ActionSet, policy: &mut [f32]) {
    policy.fill(0.0);
    let mut greatest = f32::NEG_INFINITY;
    for action in legal.iter() {
        greatest = greatest.max(finite_or_least(logits[action as usize]));
    }
    if greatest == f32::NEG_INFINITY {
        for action in legal.iter() {
            policy[action as usize] = 1.0 / legal.len() as f32;
        }
        return;
    }
    let mut sum = 0.0;
    for action in legal.iter() {
        let weight = (finite_or_least(logits[action as usize]) - greatest).exp();
        policy[action as usize] = weight;
        sum += weight;
    }
    policy.iter_mut().for_each(|weight| *weight /= sum);
}

/// The legal action of greatest value (probability or logit), the lowest id among equals; a value that is not finite
/// counts below all others. `None` when none is legal.
pub fn greedy(values: &[f32], legal: ActionSet) -> Option<Action> {
    let mut actions = legal.iter();
    let value = |action: Action| finite_or_least(values[action as usize]);
    let first = actions.next()?;
    let (best, _) = actions.fold((first, value(first)), |(best, greatest), action| {
        if value(action) > greatest {
            (action, value(action))
        } else {
            (best, greatest)
        }
    });
    Some(best)
}

/// The entropy of a policy in nats; a probability inside the logarithm counts as at least 1e-12.
pub fn entropy(policy: &[f32]) -> f64 {
    let terms = policy.iter().filter(|&&probability| probability > 0.0);
    // From positive zero, so that a sure action has entropy 0 and not -0.
    terms.fold(0.0, |sum, &probability| {
        let probability = f64::from(probability);
        sum - probability * probability.max(1e-12).ln()
    })
}

/// The sampling policy of outcome sampling: `(1 - epsilon) policy + epsilon / n` over the `n` legal actions, 0 elsewhere;
/// the policy itself when `epsilon` is not positive. In float32. `policy` and `out` are `[actions]`, of one length.
pub fn mix_uniform(policy: &[f32], legal: ActionSet, epsilon: f64, out: &mut [f32]) {
    if epsilon.is_nan() || epsilon <= 0.0 {
        out.copy_from_slice(policy);
        return;
    }
    out.fill(0.0);
    let keep = (1.0 - epsilon) as f32;
    let share = (epsilon / legal.len() as f64) as f32;
    for action in legal.iter() {
        out[action as usize] = keep * policy[action as usize] + share;
    }
}

/// The legal action that `r`, uniform in `[0, 1)`, draws from `policy`: ids ascend, probabilities that are not positive
/// are passed over, the first whose cumulative sum (float64) exceeds `r` wins, and when rounding leaves none the last
/// positive one. `None` when no legal action has a positive probability.
pub fn draw(policy: &[f32], legal: ActionSet, r: f64) -> Option<Action> {
    const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;
    let r = r.clamp(0.0, BELOW_ONE);
    let (mut cumulative, mut last) = (0.0, None);
    for action in legal.iter() {
        let probability = policy[action as usize];
        if probability > 0.0 {
            cumulative += f64::from(probability);
            last = Some(action);
            if r < cumulative {
                break;
            }
        }
    }
    last
}
