//! From strategy logits to an action.

use crate::game::{Action, ActionSet};
use crate::random::Randomness;
use crate::regret;
use serde::{Deserialize, Serialize};

/// How the evaluated policy picks an action from its strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    /// The likeliest legal action, the lowest number among equals.
    #[default]
    Greedy,
    /// A draw from the strategy: what counterfactual regret minimisation bounds.
    Sampled,
}

/// An action and how undecided the policy was about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The chosen action, in the numbers of the logits.
    pub action: Action,
    /// Entropy of the softmax over the legal logits, in nats.
    pub entropy: f64,
}

impl PolicyMode {
    /// Decides by the softmax of the `legal` entries of `logits` (`[actions]`). `None` when no action is legal or a legal logit is not
    /// finite. Only [`PolicyMode::Sampled`] takes a number from `rng`, one per decision.
    pub fn decide<R: Randomness>(
        self,
        logits: &[f32],
        legal: ActionSet,
        rng: &mut R,
    ) -> Option<Decision> {
        let finite = |action: Action| logits[action as usize].is_finite();
        if !legal.iter().all(finite) {
            return None;
        }
        let mut probabilities = [0.0; ActionSet::CAPACITY];
        let policy = &mut probabilities[..logits.len()];
        regret::legal_softmax(logits, legal, policy);
        // By logits: probabilities of different logits may round to one number.
        let best = regret::greedy(logits, legal)?;
        let action = match self {
            PolicyMode::Greedy => best,
            PolicyMode::Sampled => regret::draw(policy, legal, rng.uniform()).unwrap_or(best),
        };
        Some(Decision {
            action,
            entropy: regret::entropy(policy),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn legal(actions: &[Action]) -> ActionSet {
        actions.iter().copied().collect()
    }

    fn stream() -> Stream {
        Stream::new(1, Purpose::Trial, 0, 0)
    }

    #[test]
    fn greedy_takes_the_first_maximum_among_legal_actions_only() {
        let logits = [9.0, 1.0, 3.0, 3.0, -2.0];
        let decision = PolicyMode::Greedy
            .decide(&logits, legal(&[1, 2, 3, 4]), &mut stream())
            .unwrap();
        assert_eq!(decision.action, 2);
        let even = PolicyMode::Greedy
            .decide(&[5.0; 4], legal(&[1, 3]), &mut stream())
            .unwrap();
        assert_eq!(even.action, 1);
        assert!((even.entropy - 2f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn refuses_what_no_policy_follows_from() {
        let decide = |logits: &[f32], set| PolicyMode::Greedy.decide(logits, set, &mut stream());
        assert_eq!(decide(&[0.0; 3], ActionSet::EMPTY), None);
        assert_eq!(decide(&[0.0, f32::NAN, 0.0], legal(&[0, 1])), None);
        assert_eq!(decide(&[f32::INFINITY, 0.0], legal(&[0, 1])), None);
        assert!(decide(&[f32::NAN, 0.0], legal(&[1])).is_some());
    }

    #[test]
    fn sampled_frequencies_are_the_softmax() {
        // Probabilities 1/6, 2/6, 3/6 on actions 0, 2, 3; the standard error of a frequency is below 0.0036.
        let logits = [1f32.ln(), 50.0, 2f32.ln(), 3f32.ln()];
        let (mut rng, mut counts) = (stream(), [0; 4]);
        let n = 20_000;
        for _ in 0..n {
            let decision = PolicyMode::Sampled
                .decide(&logits, legal(&[0, 2, 3]), &mut rng)
                .unwrap();
            counts[decision.action as usize] += 1;
        }
        for (count, sixths) in counts.into_iter().zip([1.0, 0.0, 2.0, 3.0]) {
            assert!((f64::from(count) / f64::from(n) - sixths / 6.0).abs() < 0.015);
        }
    }
}
