//! Policies that are the softmax of answers, learned from the actions taken.

use super::{Judged, Update, legal_softmax};
use crate::game::ActionSet;

/// Answers are logits. What they become does not follow from a decision's advantages but from the gradient of a loss, so there is no target.
#[derive(Clone, Copy, Debug)]
pub struct Softmax;

impl Update for Softmax {
    fn policy(&self, answer: &[f32], legal: ActionSet, policy: &mut [f32]) {
        legal_softmax(answer, legal, policy);
    }

    fn target(&self, _: &Judged<'_>, _: &mut [f32]) {}

    fn replays(&self) -> bool {
        false
    }
}
