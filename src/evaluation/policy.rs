//! From a network's answer to an action.

use crate::game::{Action, ActionSet};
use crate::random::Randomness;
use crate::regret::{self, Fallback};
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

/// How a network's answer (`[actions]`) becomes a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reading {
    /// The logits of a strategy network: their softmax over the legal actions.
    #[default]
    Logits,
    /// The advantages of an advantage network: regret matching, as in the walks.
    Advantages {
        /// Falls back when positive advantages sum to no more than this.
        epsilon: f64,
        /// What to play then.
        fallback: Fallback,
    },
}

impl Reading {
    /// Writes the policy that follows from `answer` to `policy`, both `[actions]`; 0 on illegal actions.
    pub fn policy(self, answer: &[f32], legal: ActionSet, policy: &mut [f32]) {
        match self {
            Reading::Logits => regret::legal_softmax(answer, legal, policy),
            Reading::Advantages { epsilon, fallback } => {
                regret::regret_matching(answer, legal, epsilon, fallback, policy);
            }
        }
    }
}

/// An action and how undecided the policy was about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The chosen action, in the numbers of the answer.
    pub action: Action,
    /// Entropy of the policy over the legal actions, in nats.
    pub entropy: f64,
}

impl PolicyMode {
    /// Decides by the policy that `reading` makes of the `legal` entries of `answer` (`[actions]`). `None` when no action is legal or a
    /// legal entry is not finite. Only [`PolicyMode::Sampled`] takes a number from `rng`, one per decision.
    pub fn decide<R: Randomness>(
        self,
        reading: Reading,
        answer: &[f32],
        legal: ActionSet,
        rng: &mut R,
    ) -> Option<Decision> {
        let finite = |action: Action| answer[action as usize].is_finite();
        if !legal.iter().all(finite) {
            return None;
        }
        let mut probabilities = [0.0; ActionSet::CAPACITY];
        let policy = &mut probabilities[..answer.len()];
        reading.policy(answer, legal, policy);
        let best = match reading {
            // Probabilities of different logits may round to one number.
            Reading::Logits => regret::greedy(answer, legal)?,
            Reading::Advantages { .. } => regret::greedy(policy, legal)?,
        };
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
            .decide(
                Reading::Logits,
                &logits,
                legal(&[1, 2, 3, 4]),
                &mut stream(),
            )
            .unwrap();
        assert_eq!(decision.action, 2);
        let even = PolicyMode::Greedy
            .decide(Reading::Logits, &[5.0; 4], legal(&[1, 3]), &mut stream())
            .unwrap();
        assert_eq!(even.action, 1);
        assert!((even.entropy - 2f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn advantages_are_regret_matched() {
        let reading = Reading::Advantages {
            epsilon: 0.0,
            fallback: Fallback::Uniform,
        };
        let decide = |answer: &[f32]| {
            let mut rng = stream();
            PolicyMode::Greedy
                .decide(reading, answer, legal(&[0, 1, 3]), &mut rng)
                .unwrap()
        };
        let split = decide(&[1.0, 3.0, 9.0, -5.0]);
        assert_eq!(split.action, 1);
        let expected = -(0.25 * 0.25f64.ln() + 0.75 * 0.75f64.ln());
        assert!((split.entropy - expected).abs() < 1e-6);
        let none = decide(&[-1.0, -3.0, 9.0, -0.5]);
        assert!((none.entropy - 3f64.ln()).abs() < 1e-6);
        assert_eq!(none.action, 0);
    }

    #[test]
    fn refuses_what_no_policy_follows_from() {
        let decide = |logits: &[f32], set| {
            PolicyMode::Greedy.decide(Reading::Logits, logits, set, &mut stream())
        };
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
                .decide(Reading::Logits, &logits, legal(&[0, 2, 3]), &mut rng)
                .unwrap();
            counts[decision.action as usize] += 1;
        }
        for (count, sixths) in counts.into_iter().zip([1.0, 0.0, 2.0, 3.0]) {
            assert!((f64::from(count) / f64::from(n) - sixths / 6.0).abs() < 0.015);
        }
    }
}
