//! Decisions whose branches are under way, and the fold of their values.

use super::{SampleArena, arena::InfoIndex, scheme::Departures};
use crate::game::{Action, ActionSet, Player};

/// Where a branch's value goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parent {
    /// It is the walk's.
    Root,
    /// It is a child's of a frame.
    Frame { frame: u32, child: u8 },
    /// Nobody asked.
    Nobody,
}

/// A decision that waits for the values of its branches.
pub(super) struct Frame {
    parent: Parent,
    children: Vec<Child>,
    /// Children without a value yet.
    missing: usize,
    /// The traverser's part; `None` at decisions of the opponent.
    own: Option<OwnFrame>,
}

/// One evaluated action of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) action: Action,
    /// Its probability under the policy.
    pub(super) policy: f32,
    /// The probability that it was evaluated.
    pub(super) probability: f64,
    /// Its value once known.
    pub(super) value: f64,
}

/// What the advantage sample of a traverser's decision needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnFrame {
    pub(super) info: InfoIndex,
    pub(super) segment: u32,
    pub(super) legal: ActionSet,
    pub(super) openings: ActionSet,
    /// The openings whose hand alone promises to pay; only with the first-open prior.
    pub(super) recovering: ActionSet,
}

/// The frames that are open; closed ones leave their place to later ones.
#[derive(Default)]
pub(super) struct Frames {
    places: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    /// Opens a frame and returns its number.
    pub(super) fn open(
        &mut self,
        parent: Parent,
        own: Option<OwnFrame>,
        children: impl Iterator<Item = Child>,
    ) -> u32 {
        if let Some(place) = self.free.pop() {
            let frame = &mut self.places[place as usize];
            frame.children.clear();
            frame.children.extend(children);
            (frame.parent, frame.own) = (parent, own);
            frame.missing = frame.children.len();
            return place;
        }
        let children: Vec<_> = children.collect();
        self.places.push(Frame {
            parent,
            missing: children.len(),
            children,
            own,
        });
        (self.places.len() - 1) as u32
    }

    /// Notes the value of a child. With the last one the frame is closed: returned, for [`Frame::fold`].
    pub(super) fn close(&mut self, frame: u32, child: u8, value: f64) -> Option<&mut Frame> {
        let place = &mut self.places[frame as usize];
        place.children[child as usize].value = value;
        place.missing -= 1;
        if place.missing > 0 {
            return None;
        }
        self.free.push(frame);
        Some(place)
    }
}

impl Frame {
    pub(super) fn parent(&self) -> Parent {
        self.parent
    }

    /// Whether the decision gives an advantage sample.
    pub(super) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// The decision's value `V`; writes the advantage sample of a decision of the traverser. Formulas: [`super::scheme::Scheme`].
    pub(super) fn fold(
        &mut self,
        departures: &Departures,
        traverser: Player,
        samples: &mut SampleArena,
    ) -> f64 {
        let mut value = 0.0;
        for child in &mut self.children {
            child.value /= child.probability;
            if let Some(clip) = departures.clip {
                child.value = child.value.clamp(-clip, clip);
            }
            value += f64::from(child.policy) * child.value;
        }
        let Some(own) = &self.own else {
            return value;
        };
        let first_open = !own.openings.is_empty();
        let target =
            samples.push_advantage(own.info, traverser, own.legal, first_open, own.segment);
        let unsampled = if departures.zero_unsampled {
            0.0
        } else {
            -value as f32
        };
        own.legal
            .iter()
            .for_each(|action| target[action as usize] = unsampled);
        let prior = departures.first_open_prior;
        if prior != 0.0 {
            for action in own.openings.iter() {
                let sign = if own.recovering.contains(action) {
                    1.0
                } else {
                    -1.0
                };
                target[action as usize] = (sign * prior) as f32;
            }
        }
        for child in &self.children {
            target[child.action as usize] = (child.value - value) as f32;
        }
        value
    }
}
