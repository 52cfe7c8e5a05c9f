//! How a policy network learns from the advantages of single decisions, where a critic gives those of every legal action.

use super::{Fallback, finite_or_least, legal_softmax, regret_matching};
use crate::game::ActionSet;
use serde::{Deserialize, Serialize};

/// What a policy network's answers mean, and what they are moved towards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateRule {
    /// [`Matching`].
    #[default]
    RegretMatching,
    /// [`Bootstrapped`].
    Bootstrapped,
    /// [`Hedge`].
    Hedge,
}

/// What is known of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// What the network answered, `[actions]`.
    pub answer: &'a [f32],
    /// The advantages of the legal actions, `[actions]`; other entries mean nothing.
    pub advantages: &'a [f32],
    /// The legal actions.
    pub legal: ActionSet,
}

/// One way to learn.
pub trait Update: Send + Sync {
    /// The policy that an answer (`[actions]`) stands for, written to `policy` (`[actions]`); 0 on illegal actions.
    fn policy(&self, answer: &[f32], legal: ActionSet, policy: &mut [f32]);

    /// Writes what the answer is to become to `target` (`[actions]`), which is 0: legal entries alone.
    fn target(&self, judged: &Judged<'_>, target: &mut [f32]);

    /// Whether samples of past iterations are learned from again.
    fn replays(&self) -> bool;
}

/// Deep CFR: answers are mean advantages over all iterations, learned from a memory of them, and policies are regret-matched (Brown et al.
/// 2019).
#[derive(Clone, Copy, Debug)]
pub struct Matching {
    /// Regret matching falls back when positive advantages sum to no more than this.
    pub epsilon: f64,
    /// What to play then.
    pub fallback: Fallback,
}

impl Update for Matching {
    fn policy(&self, answer: &[f32], legal: ActionSet, policy: &mut [f32]) {
        regret_matching(answer, legal, self.epsilon, self.fallback, policy);
    }

    fn target(&self, judged: &Judged<'_>, target: &mut [f32]) {
        for action in judged.legal.iter() {
            target[action as usize] = judged.advantages[action as usize];
        }
    }

    fn replays(&self) -> bool {
        true
    }
}

/// The running mean of advantages in the network itself: an answer moves a part `rate` of the way to this iteration's advantages. Policies are
/// regret-matched. (Bootstrapped regrets as in ARMAC, Gruslys et al. 2020.)
#[derive(Clone, Copy, Debug)]
pub struct Bootstrapped {
    /// How answers become policies.
    pub matching: Matching,
    /// `2 / (t + 1)` in iteration `t` is the mean with weights that grow linearly.
    pub rate: f32,
}

impl Update for Bootstrapped {
    fn policy(&self, answer: &[f32], legal: ActionSet, policy: &mut [f32]) {
        self.matching.policy(answer, legal, policy);
    }

    fn target(&self, judged: &Judged<'_>, target: &mut [f32]) {
        for action in judged.legal.iter().map(usize::from) {
            let answer = judged.answer[action];
            target[action] = answer + self.rate * (judged.advantages[action] - answer);
        }
    }

    fn replays(&self) -> bool {
        false
    }
}

/// The softmax of accumulated advantages that decay a little: `(1 - eta tau) (answer - mean) + eta advantage`, the mean over the legal actions
/// (multiplicative weights with magnet to the uniform policy, as in Sokota et al. 2023, Magnetic Mirror Descent).
#[derive(Clone, Copy, Debug)]
pub struct Hedge {
    /// Step size: logits per unit of advantage.
    pub eta: f32,
    /// Temperature of the fixed point.
    pub tau: f32,
    /// Greatest magnitude of a logit that is learned.
    pub clamp: f32,
}

impl Update for Hedge {
    fn policy(&self, answer: &[f32], legal: ActionSet, policy: &mut [f32]) {
        legal_softmax(answer, legal, policy);
    }

    fn target(&self, judged: &Judged<'_>, target: &mut [f32]) {
        let answer =
            |action: usize| Some(judged.answer[action]).filter(|answer| answer.is_finite());
        let legal = || judged.legal.iter().map(usize::from);
        let mean = legal().filter_map(answer).sum::<f32>() / judged.legal.len().max(1) as f32;
        for action in legal() {
            let centred = answer(action).unwrap_or_default() - mean;
            let advantage = judged.advantages[action];
            let logit = (1.0 - self.eta * self.tau) * centred + self.eta * advantage;
            target[action] = finite_or_least(logit).clamp(-self.clamp, self.clamp);
        }
    }

    fn replays(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGAL: [u8; 2] = [0, 2];

    fn target(update: &impl Update) -> Vec<f32> {
        let mut target = vec![0.0; 3];
        let judged = Judged {
            answer: &[3.0, 100.0, 1.0],
            advantages: &[0.5, 7.0, -0.25],
            legal: LEGAL.into_iter().collect(),
        };
        update.target(&judged, &mut target);
        target
    }

    #[test]
    fn targets_are_those_of_the_formulas_on_legal_actions_alone() {
        let matching = Matching {
            epsilon: 0.0,
            fallback: Fallback::Uniform,
        };
        assert_eq!(target(&matching), [0.5, 0.0, -0.25]);
        let bootstrapped = Bootstrapped {
            matching,
            rate: 0.5,
        };
        assert_eq!(target(&bootstrapped), [1.75, 0.0, 0.375]);
        let mut hedge = Hedge {
            eta: 2.0,
            tau: 0.25,
            clamp: 12.0,
        };
        assert_eq!(target(&hedge), [1.5, 0.0, -1.0]);
        hedge.clamp = 0.75;
        assert_eq!(target(&hedge), [0.75, 0.0, -0.75]);
    }

    #[test]
    fn hedge_rests_where_logits_are_advantages_over_the_temperature() {
        let hedge = Hedge {
            eta: 0.5,
            tau: 0.2,
            clamp: 12.0,
        };
        let legal: ActionSet = [0u8, 1].into_iter().collect();
        let advantages = [0.1, -0.1];
        let mut answer = vec![0.0f32; 2];
        for _ in 0..400 {
            let mut target = vec![0.0; 2];
            let judged = Judged {
                answer: &answer,
                advantages: &advantages,
                legal,
            };
            hedge.target(&judged, &mut target);
            answer = target;
        }
        assert!((answer[0] - 0.5).abs() < 1e-4 && (answer[1] + 0.5).abs() < 1e-4);
    }
}
