//! What makes one way of sampling the tree differ from another.

use super::WalkRandomness;
use crate::game::{Action, ActionSet};

/// A way of sampling the tree: with which actions a walk goes on after a decision of a current network, and how likely each was to be
/// among them. Everything else is common to all walks.
///
/// With `v_a = c_a / p_a` for an action that was evaluated (`c_a` its branch's value, `p_a` the probability that it was) and 0 for the
/// others, the value of the decision is `V = sum pi_a v_a` and the advantage target of each legal action `v_a - V`: unbiased whatever the
/// scheme, as long as the branches' values are.
pub(super) trait Scheme: Send + Sync {
    /// Decides how the walk goes on; `plan` is empty.
    fn follow<R: WalkRandomness>(&self, decision: &Decision<'_>, rng: &mut R, plan: &mut Plan);

    /// Where the values and targets depart from the formula above.
    fn departures(&self) -> Departures {
        Departures::default()
    }
}

/// Whose decision it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decider {
    Traverser,
    Opponent,
}

/// A decision of a current network.
pub(super) struct Decision<'a> {
    pub(super) decider: Decider,
    /// The regret-matched policy, `[actions]`.
    pub(super) policy: &'a [f32],
    pub(super) legal: ActionSet,
}

impl Decision<'_> {
    /// An action drawn from `policy` (`[actions]`), the decision's own or one made of it.
    pub(super) fn draw<R: WalkRandomness>(&self, policy: &[f32], rng: &mut R) -> Action {
        // A policy over a non-empty legal set always has mass; the lowest action stands in should that ever fail.
        rng.choose(policy, self.legal)
            .or(self.legal.first())
            .unwrap_or_default()
    }
}

/// How a walk goes on after a decision.
#[derive(Default)]
pub(super) struct Plan {
    /// The actions whose branches give the decision's value.
    pub(super) evaluated: Vec<Evaluated>,
    /// What is done along their branches.
    pub(super) along: Along,
    /// The action that the walk goes on with apart from these: its value is nobody's.
    pub(super) onward: Option<Action>,
    /// Whether the only branch's value is the decision's as it is.
    pub(super) passed_on: bool,
}

/// An action whose branch is walked for its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evaluated {
    pub(super) action: Action,
    /// The probability that it was chosen to be.
    pub(super) probability: f64,
}

/// What is done along a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Along {
    /// Decisions give samples and follow the scheme.
    #[default]
    Sampling,
    /// Both players follow their policies to the end; only the value counts.
    Rollout,
}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.evaluated.clear();
        self.along = Along::Sampling;
        self.onward = None;
        self.passed_on = false;
    }

    /// Goes on with `action` alone, whose value is the decision's: right where it was drawn from the policy itself.
    pub(super) fn pass_on(&mut self, action: Action) {
        self.evaluate(action, 1.0);
        self.passed_on = true;
    }

    /// Walks the branch of `action`, which was chosen with `probability`.
    pub(super) fn evaluate(&mut self, action: Action, probability: f64) {
        self.evaluated.push(Evaluated {
            action,
            probability,
        });
    }

    /// The action that the counts name as chosen.
    pub(super) fn chosen(&self) -> Action {
        let first = self.evaluated.first().map(|evaluated| evaluated.action);
        self.onward.or(first).unwrap_or_default()
    }

    /// Whether the walk goes on with one action only.
    pub(super) fn is_single(&self) -> bool {
        self.evaluated.len() == 1 && self.onward.is_none()
    }
}

/// Departures of values and targets from the unbiased formula, each a setting of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Departures {
    /// Greatest magnitude of `v_a`.
    pub(super) clip: Option<f64>,
    /// Whether legal actions that were not evaluated get 0 and not `-V`.
    pub(super) zero_unsampled: bool,
    /// Target of opening plays that were not evaluated, by magnitude; 0 = off.
    pub(super) first_open_prior: f64,
}
