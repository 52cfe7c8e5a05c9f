//! Fixed random networks, and slots that answer at once.

use crate::recall::info_set_of;
use coorl_async::{
    game::ActionSet,
    inference::{Head, Stopped},
    traversal::WalkSlot,
};
use std::task::{Context, Poll};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The advantages of an info set by a hash: in (-0.5, 0.5), in a fifth of the info sets none positive.
pub fn advantage(head: Head, info_set: u64, action: usize) -> f32 {
    let seed = info_set ^ u64::from(head.0) << 56;
    let bits = xxh3_64_with_seed(&action.to_le_bytes(), seed);
    let value = (bits >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
    if xxh3_64_with_seed(b"all", seed).is_multiple_of(5) {
        -value.abs()
    } else {
        value
    }
}

/// The policy that regret matching makes of these, by its definition and in double precision; `[16]`.
pub fn policy(head: Head, info_set: u64, legal: ActionSet) -> [f64; 16] {
    let mut policy = [0.0; 16];
    for action in legal.iter() {
        policy[action as usize] = f64::from(advantage(head, info_set, action as usize)).max(0.0);
    }
    let sum: f64 = policy.iter().sum();
    for action in legal.iter() {
        let part = &mut policy[action as usize];
        *part = if sum > 0.0 {
            *part / sum
        } else {
            1.0 / legal.len() as f64
        };
    }
    policy
}

/// A slot whose requests are answered at once. `spare` more can be had.
pub struct Slot {
    info: [f32; 4],
    answer: [f32; 16],
    pub spare: usize,
}

impl Slot {
    pub fn new(spare: usize) -> Self {
        Self {
            info: [0.0; 4],
            answer: [0.0; 16],
            spare,
        }
    }
}

impl WalkSlot for Slot {
    fn info_mut(&mut self) -> &mut [f32] {
        &mut self.info
    }
    fn info(&self) -> &[f32] {
        &self.info
    }
    fn answer(&self) -> &[f32] {
        &self.answer
    }
    fn ask(&mut self, head: Head, _: &Context<'_>) -> Result<(), Stopped> {
        let info_set = info_set_of(&self.info);
        self.answer = std::array::from_fn(|action| advantage(head, info_set, action));
        Ok(())
    }
    fn poll_answer(&self, _: &Context<'_>) -> Poll<Result<(), Stopped>> {
        Poll::Ready(Ok(()))
    }
    fn another(&self) -> Option<Self> {
        (self.spare > 0).then(|| Self::new(self.spare - 1))
    }
}
