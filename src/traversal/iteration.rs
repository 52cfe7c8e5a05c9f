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

/// Whose walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traversers {
    /// Both players': in turn, so that they are in flight together and the heads fill alike.
    #[default]
    Both,
    /// One player's.
    Only(Player),
}

impl Traversers {
    /// How many walks that is with `per_player` for each.
    pub fn walks(self, per_player: usize) -> usize {
        match self {
            Traversers::Both => 2 * per_player,
            Traversers::Only(_) => per_player,
        }
    }

    /// The number of walk `index` among both players' walks; those of player `p` are numbered `p`, `p + 2`, ...
    fn number(self, index: usize) -> usize {
        match self {
            Traversers::Both => index,
            Traversers::Only(player) => 2 * index + player.index(),
        }
    }
}

/// The walks of one iteration. What walk `n` of player `p` does is the same whoever walks beside it.
pub struct IterationWalks<G: ScriptedGame, E> {
    /// The walks' settings.
    pub walker: Arc<Walker<G, E>>,
    /// The run's seed.
    pub seed: u64,
    /// The iteration, from 1.
    pub iteration: u32,
    /// League snapshots that exist.
    pub snapshots: usize,
    /// Whose walks.
    pub traversers: Traversers,
}

impl<G: ScriptedGame, E: Encoding<G>> Job for IterationWalks<G, E> {
    type Output = Walk<G>;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<Walk<G>, Stopped> {
        let number = self.traversers.number(index);
        let iteration = self.iteration.into();
        let mut rng = Stream::new(self.seed, Purpose::Walk, iteration, number as u64);
        let task = WalkTask {
            state: self.walker.game().deal(&mut rng),
            traverser: Player::from_parity(number),
            snapshots: self.snapshots,
        };
        self.walker.walk(task, lease, rng).await
    }
}
