//! The value-guided walks of an iteration, as what an engine repeats.

use super::{GuidedWalk, GuidedWalker, Opposite, Table};
use crate::{
    encoding::Encoding,
    game::{Game, Player},
    inference::{Job, Lease, Stopped},
    random::{Purpose, Randomness, Stream},
    regret::Update,
};
use std::sync::Arc;

/// Numbers of games against a policy that may play by another network in each.
const GAMES: usize = 1 << 20;

/// The walks of one iteration. What a walk does is the same whoever walks beside it.
pub struct GuidedWalks<G: Game, E> {
    /// What they share with those of other iterations.
    pub walker: Arc<GuidedWalker<G, E>>,
    /// How answers become policies, and what they are to become.
    pub update: Box<dyn Update>,
    /// Who sits opposite the policy that learns, in turn in either seat; `None` where both seats learn.
    pub opposite: Option<Arc<dyn Opposite<G>>>,
    /// Uniform share of the policies walked by.
    pub exploration: f64,
    /// The run's seed.
    pub seed: u64,
    /// The iteration, from 1.
    pub iteration: u32,
}

impl<G: Game, E: Encoding<G>> Job for GuidedWalks<G, E> {
    type Output = GuidedWalk<G>;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<GuidedWalk<G>, Stopped> {
        let coordinates = (u64::from(self.iteration), index as u64);
        let mut rng = Stream::new(self.seed, Purpose::Walk, coordinates.0, coordinates.1);
        let state = self.walker.game().deal(&mut rng);
        let update = &*self.update;
        let table = self.opposite.as_deref().map(|opposite| Table {
            opposite,
            learner: Player::from_parity(index),
            number: rng.index(GAMES),
        });
        self.walker
            .walk_at(table, state, update, self.exploration, lease, rng)
            .await
    }
}
