//! The current policies in place of an average.

use super::{Averaging, Cast, Learned};
use crate::{
    evaluation::{Evaluated, Reading, exploitability::Profile},
    game::Player,
    inference::Head,
    random::Stream,
    training::{Role, exploitability::Meter},
};

/// No average: what was learned last plays.
#[derive(Clone, Copy, Debug)]
pub struct CurrentPolicy {
    /// What the networks' answers mean.
    pub reading: Reading,
}

impl Averaging for CurrentPolicy {
    fn fits(&self) -> &'static [Role] {
        &[Role::Advantage(Player::P0), Role::Advantage(Player::P1)]
    }

    fn walked(&mut self, _: u32, _: [Vec<f32>; 2]) {}

    fn cast<'a>(&'a self, learned: Learned<'a>, _: usize, _: &mut Stream) -> Cast<'a> {
        let weights = Player::BOTH.map(|player| {
            let network = &learned.advantages[player.index()];
            (Head::advantage(player), network.as_slice())
        });
        Cast {
            policy: Evaluated::Current(self.reading),
            weights: weights.into(),
        }
    }

    fn profile(&mut self, meter: &Meter, learned: Learned<'_>) -> anyhow::Result<Profile> {
        meter.current(learned.advantages)
    }
}
