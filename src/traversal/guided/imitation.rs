//! Games of a policy that does not learn against itself, for another network to learn it by heart.

use super::{GuidedWalker, Opposite, Table, job::GAMES};
use crate::{
    encoding::Encoding,
    game::{ActionSet, Game, Player},
    inference::{Job, Lease, Stopped},
    random::{Purpose, Randomness, Stream},
    traversal::{SampleArena, seats::Seats},
};
use std::sync::Arc;

/// Such games.
pub struct ImitationWalks<G: Game, E> {
    /// How positions are shown to the network that learns.
    pub walker: Arc<GuidedWalker<G, E>>,
    /// The policy.
    pub opposite: Arc<dyn Opposite<G>>,
    /// The run's seed.
    pub seed: u64,
    /// The number of this round of games.
    pub round: u32,
}

/// The first round, where iterations of other walks end.
const ROUNDS: u64 = 1 << 32;

impl<G: Game, E: Encoding<G>> Job for ImitationWalks<G, E> {
    /// Strategy samples of both players.
    type Output = SampleArena;

    async fn run(&self, index: usize, lease: &mut Lease) -> Result<SampleArena, Stopped> {
        let round = ROUNDS + u64::from(self.round);
        let mut rng = Stream::new(self.seed, Purpose::Walk, round, index as u64);
        let (game, encoding) = (self.walker.game(), self.walker.encoding());
        let mut samples = SampleArena::new(encoding.info_len(), encoding.num_actions());
        let mut state = game.deal(&mut rng);
        let table = Table {
            opposite: &*self.opposite,
            learner: Player::P0,
            number: rng.index(GAMES),
        };
        let mut seats = Seats::new(lease, 1);
        let mut row = vec![0.0; encoding.info_len()];
        let mut policy = [0.0; ActionSet::CAPACITY];
        let mut depth = 0;
        while let Ok(mover) = self.walker.enter(&state, depth, 0, &mut rng) {
            let point = rng.uniform();
            let turn = table.turn(game, (&state, mover), &mut seats, point, &mut policy);
            let action = turn.await?;
            let legal = encoding.legal_actions(game, &state);
            encoding.encode(game, &state, mover, legal, &mut row);
            let mut target = vec![0.0; encoding.num_actions()];
            for own in legal.iter() {
                target[own as usize] = policy[encoding.to_game(game, &state, own) as usize];
            }
            // Where several of the game's actions are one of the encoding's, the others' share is missing.
            let sum: f32 = target.iter().sum();
            if sum > 0.0 {
                target
                    .iter_mut()
                    .for_each(|probability| *probability /= sum);
                let info = samples.push_info(&row);
                samples.push_strategy(info, mover, legal, &target, 0);
            }
            self.walker.apply(&mut state, action, &mut rng);
            depth += 1;
        }
        Ok(samples)
    }
}
