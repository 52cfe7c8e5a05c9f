//! Training against a policy that does not learn.

use super::Trainer;
use crate::{
    config::Config,
    encoding::Encoding,
    evaluation::{Contestant, Evaluated},
    game::Player,
    inference::{Head, Set},
    regret::Matching,
    training::{TrainedGame, exploit::Frozen, guided::reading},
};
use std::sync::Arc;

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// Fresh networks and empty memories.
    ///
    /// # Errors
    /// Settings that do not fit each other or the game, or threads and memory that could not be had.
    pub fn new(game: G, encoding: E, config: &Config) -> anyhow::Result<Self> {
        Self::with_rival(game, encoding, config, None)
    }

    /// The same for value-guided walks in which `frozen` has the other seat, sampled as it is.
    ///
    /// # Errors
    /// As [`Trainer::new`]; weights of other networks.
    pub fn against<R: Encoding<G>>(
        game: G,
        encoding: E,
        config: &Config,
        frozen: &Contestant<R>,
    ) -> anyhow::Result<Self> {
        let rival = frozen.architectures.policy.clone();
        let mut trainer = Self::with_rival(game, encoding, config, Some(rival))?;
        for (head, parameters) in &frozen.weights {
            trainer.upload_weights(head.of_set(Set::Second), parameters.clone())?;
        }
        trainer.opposite = Some(Arc::new(Frozen {
            encoding: frozen.encoding.clone(),
            policy: frozen.policy,
        }));
        Ok(trainer)
    }

    /// Says in which iteration the run will end, as far as is known: schedules go by it.
    pub fn expect_iterations(&mut self, iterations: u32) {
        self.config.run.max_iterations = Some(iterations);
    }

    /// The current policies, ready to be judged.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn contestant(&self) -> anyhow::Result<Contestant<E>> {
        let networks = Player::BOTH.map(Head::advantage).into_iter();
        let reading = reading(&self.config, Matching::of(&self.config));
        Ok(Contestant {
            encoding: self.walker.encoding().clone(),
            architectures: self.architecture().clone().into(),
            policy: Evaluated::Current(reading),
            weights: networks.zip(self.advantage_networks()?).collect(),
        })
    }
}
