//! The walks of an iteration, as what an engine repeats.

use super::{Walk, WalkTask, Walker};
use crate::{
    bots::ScriptedGame,
    encoding::Encoding,
    game::Player,
    inference::{Job, Lease, Stopped},
    random::{Purpose, Stream},
};
use std::sync::Arc;

/// The walks of one iteration. Walk `index` samples for player `index % 2`, so that both traversers' walks are in flight together and
/// the heads fill alike.
pub struct IterationWalks<G: ScriptedGame, E> {
    /// The walks' settings.
    pub walker: Arc<Walker<G, E>>,
    /// The run's seed.
    pub seed: u64,
    /// The iteration, from 1.
    pub iteration: u32,
    /// League snapshots that exist.
    pub snapshots: usize,
}

impl<G: ScriptedGame, E: Encoding<G>> Job for IterationWalks<G, E> {
    type Output = Walk<G>;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<Walk<G>, Stopped> {
        let mut rng = Stream::new(
            self.seed,
            Purpose::Walk,
            self.iteration.into(),
            index as u64,
        );
        let task = WalkTask {
            state: self.walker.game().deal(&mut rng),
            traverser: Player::from_parity(index),
            snapshots: self.snapshots,
        };
        self.walker.walk(task, lease, rng).await
    }
}
