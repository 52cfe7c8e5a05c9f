//! What a value-guided walk records.

use super::{
    GuidedWalk, GuidedWalker, Targets,
    children::{Child, VALUES},
    questions::Answers,
    returns::{Stand, Step, returns, returns_to_both},
};
use crate::{
    encoding::Encoding,
    game::{ActionSet, Game, Player},
    regret::{Judged, Update},
    traversal::{SampleArena, WalkStatistics},
};

/// The action taken at a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// The action, in the encoding's numbers.
    pub action: u8,
    /// Its probability under the policy.
    pub probability: f32,
    /// The probability it was drawn with, exploration mixed in.
    pub walked: f32,
    /// Its TD(lambda) return minus the critic's value of the decision, in the critic's units.
    pub advantage: f32,
}

impl Taken {
    /// What makes an expectation over what was drawn one under the policy; at most 1 / (1 - exploration).
    pub fn weight(&self) -> f32 {
        self.probability / self.walked
    }
}

/// A decision that was made.
pub(super) struct Decided<'a, S> {
    pub mover: Player,
    pub legal: ActionSet,
    pub policy: &'a [f32],
    /// Without its advantage.
    pub taken: Taken,
    /// Player 0's value if the game were scored before it.
    pub standing: f64,
    /// The states after its legal actions, judged; none where nobody looked.
    pub children: &'a [Child<S>],
}

/// What a walk has recorded.
pub(super) struct Record<G: Game> {
    samples: SampleArena,
    critic: SampleArena,
    course: Course,
    /// By policy sample: the number of its decision, and the action taken, without its advantage.
    taken: Vec<(usize, Taken)>,
    /// Whether policies give strategy samples.
    strategy: bool,
    pub statistics: WalkStatistics<G>,
    /// Scratch: a decision's advantages.
    advantages: Vec<f32>,
}

/// What the critic's returns are made of.
enum Course {
    /// Its values of decisions, and the actions taken.
    Decisions(Vec<Step>, Vec<usize>),
    /// Its values of states.
    States(Vec<Stand>),
}

impl<G: Game> Record<G> {
    pub fn new<E: Encoding<G>>(walker: &GuidedWalker<G, E>) -> Self {
        let actions = walker.encoding.num_actions();
        Self {
            samples: SampleArena::new(walker.encoding.info_len(), actions),
            critic: SampleArena::new(walker.sight.info_len(), walker.critic_outputs()),
            course: match walker.settings.targets {
                Targets::Q => Course::Decisions(Vec::new(), Vec::new()),
                Targets::Children => Course::States(Vec::new()),
            },
            taken: Vec::new(),
            strategy: walker.strategy,
            statistics: WalkStatistics::default(),
            advantages: vec![0.0; actions],
        }
    }

    /// Records a decision's samples, the critic's without its return.
    pub fn decision<S>(
        &mut self,
        decided: &Decided<'_, S>,
        answers: &Answers,
        update: &dyn Update,
    ) {
        let Decided { mover, legal, .. } = *decided;
        let judged = self.course.judge(decided, answers, &mut self.advantages);
        let counts = &mut self.statistics.counts;
        if judged || self.strategy {
            let info = self.samples.push_info(&answers.info);
            if judged {
                let judged = Judged {
                    answer: &answers.policy,
                    advantages: &self.advantages,
                    legal,
                };
                let target = self.samples.push_advantage(info, mover, legal, false, 0);
                update.target(&judged, target);
                self.taken.push((counts.decisions as usize, decided.taken));
                counts.advantage_samples += 1;
            }
            if self.strategy {
                let policy = decided.policy;
                self.samples.push_strategy(info, mover, legal, policy, 0);
                counts.strategy_samples += 1;
            }
        }
        counts.decisions += 1;
        counts.sampled_actions += 1;
        let info = self.critic.push_info(&answers.open);
        let learned = match &self.course {
            Course::Decisions(..) => std::iter::once(decided.taken.action).collect(),
            Course::States(_) => (0..VALUES as u8).collect(),
        };
        self.critic.push_advantage(info, mover, learned, false, 0);
    }

    /// What the walk gives, once it has come to an end worth `end` to each player.
    pub fn finish(mut self, end: [f64; 2], lambda: f64) -> GuidedWalk<G> {
        // By decision: what the action taken brought more than the critic thought.
        let ahead: Vec<f64> = match self.course {
            Course::Decisions(steps, taken) => {
                let returns = returns(&steps, end, lambda);
                for (sample, (&value, action)) in returns.iter().zip(taken).enumerate() {
                    self.critic.target_mut(sample)[action] = value as f32;
                }
                let ahead = returns.iter().zip(&steps);
                ahead.map(|(value, step)| value - step.value).collect()
            }
            Course::States(stands) => {
                let returns = returns_to_both(&stands, end, lambda);
                for (sample, (values, stand)) in returns.iter().zip(&stands).enumerate() {
                    let own = stand.mover.index();
                    let target = self.critic.target_mut(sample);
                    target.copy_from_slice(&[values[own] as f32, values[1 - own] as f32]);
                }
                let ahead = returns.iter().zip(&stands).map(|(values, stand)| {
                    let own = stand.mover.index();
                    values[own] - stand.values[own]
                });
                ahead.collect()
            }
        };
        let taken = self.taken.into_iter().map(|(decision, taken)| Taken {
            advantage: ahead[decision] as f32,
            ..taken
        });
        GuidedWalk {
            samples: self.samples,
            taken: taken.collect(),
            critic: self.critic,
            statistics: self.statistics,
        }
    }
}

impl Course {
    /// Notes a decision, and writes the advantages of its legal actions to `advantages` (`[actions]`) where they are known; says whether they
    /// are.
    fn judge<S>(
        &mut self,
        decided: &Decided<'_, S>,
        answers: &Answers,
        advantages: &mut [f32],
    ) -> bool {
        let Decided {
            mover,
            legal,
            policy,
            taken: Taken { action, .. },
            standing,
            children,
        } = *decided;
        let actions = || legal.iter().map(usize::from);
        let mean = |values: &[f32]| {
            actions()
                .map(|action| policy[action] * values[action])
                .sum()
        };
        let value: f32 = match self {
            Self::Decisions(steps, taken) => {
                for action in actions() {
                    advantages[action] = answers.critic[action];
                }
                let value = mean(advantages);
                taken.push(action.into());
                steps.push(Step {
                    player: mover,
                    standing,
                    value: f64::from(value),
                });
                value
            }
            Self::States(stands) => {
                let [own, other] = [0, 1].map(|value| f64::from(answers.critic[value]));
                stands.push(Stand {
                    mover,
                    standing,
                    values: match mover {
                        Player::P0 => [own, other],
                        Player::P1 => [other, own],
                    },
                });
                if children.is_empty() {
                    return false;
                }
                for child in children {
                    advantages[child.action as usize] = child.value as f32;
                }
                mean(advantages)
            }
        };
        actions().for_each(|action| advantages[action] -= value);
        true
    }
}
