//! Training against a policy that does not learn.

use super::Trainer;
use crate::{
    config::Config,
    encoding::Encoding,
    evaluation::{Contestant, Evaluated},
    game::Player,
    inference::{Head, Set, StopFlag},
    platform::logical_cores,
    regret::Matching,
    training::{
        IterationError, TrainedGame,
        batches::sample,
        exploit::Frozen,
        guided::{FITTED, Passes, reading},
    },
    traversal::{GuidedTargets, ImitationWalks},
};
use anyhow::ensure;
use std::sync::Arc;

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// The same for value-guided walks in which `frozen` has the other seat, sampled as it is. Where its networks are as the ones that learn,
    /// these begin as one of them.
    ///
    /// # Errors
    /// As [`Trainer::new`]; weights of other networks; settings that only self-play has a use for.
    pub fn against<R: Encoding<G>>(
        game: G,
        encoding: E,
        config: &Config,
        frozen: &Contestant<R>,
    ) -> anyhow::Result<Self> {
        ensure!(
            config.value_guided.targets == GuidedTargets::Q,
            "value_guided.targets = children does not go with an opponent that does not learn: the critic would be asked about states where \
             the opponent moves, whom it never saw decide; set targets to q"
        );
        ensure!(
            config.value_guided.smoothing == 0.0,
            "value_guided.smoothing = {} does not go with an opponent that does not learn: the learner begins as the network that is fitted, \
             which would not be the one that plays; set smoothing to 0",
            config.value_guided.smoothing
        );
        let rival = frozen.architectures.policy.clone();
        let mut trainer = Self::with_rival(game, encoding, config, Some(rival))?;
        for (head, parameters) in &frozen.weights {
            trainer.upload_weights(head.of_set(Set::Second), parameters.clone())?;
        }
        if *trainer.architecture() == frozen.architectures.policy
            && let Some((_, parameters)) = frozen.weights.first()
        {
            trainer.learners[FITTED.index()].restore(parameters)?;
        }
        trainer.opposite = Some(Arc::new(Frozen {
            encoding: frozen.encoding.clone(),
            policy: frozen.policy,
        }));
        Ok(trainer)
    }

    /// Plays an iteration's games by the opposite policy in both seats, and fits the policy network to what it does there: after some `round`s
    /// (from 1) training goes on from the policy that it is to exploit. For learners whose answers are logits.
    ///
    /// # Errors
    /// [`IterationError::Interrupted`] soon after `stop` is raised, else what failed.
    pub fn imitate(&mut self, round: u32, stop: &StopFlag) -> Result<(), IterationError> {
        let (Some(guided), Some(opposite)) = (&mut self.guided, &self.opposite) else {
            return Ok(());
        };
        let settings = &self.config.traversal;
        let (count, in_flight) = (settings.walks(), settings.walks_in_flight());
        let threads = self.config.run.threads.unwrap_or_else(logical_cores);
        self.walking.networks.with(|_| tch::set_num_threads(1))?;
        let job = Arc::new(ImitationWalks {
            walker: Arc::clone(&guided.walker),
            opposite: Arc::clone(opposite),
            seed: self.config.run.seed,
            round,
        });
        guided.fresh.clear();
        (self.walking.engine).run(job, count, in_flight, stop, |_, samples| {
            for view in samples.strategy() {
                guided.fresh.add(&sample(&view, round));
            }
        })?;
        let fit = Passes::of_imitation(&self.config, round);
        fit.run(
            &mut self.learners[FITTED.index()],
            &mut guided.fresh,
            threads,
            stop,
        )?;
        Ok(())
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
