//! How well what was learned plays.

use super::Trainer;
use crate::{
    encoding::Encoding,
    evaluation::{Arena, Deals, OpponentReport},
    inference::StopFlag,
    random::{Purpose, Stream},
    training::{
        Exploitability, IterationError, Phase, Role, TrainedGame, Watcher,
        averaging::{Cast, Learned},
    },
};

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// NashConv of the current policies and of the average strategy; `None` where `evaluation.exploitability_every` is 0.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn exploitability(&mut self) -> anyhow::Result<Option<Exploitability>> {
        let networks = self.advantage_networks()?;
        let strategy = &self.snapshot(Role::Strategy)?;
        let Some(meter) = &self.meter else {
            return Ok(None);
        };
        let current = meter.current(&networks)?;
        let learned = Learned {
            advantages: &networks,
            strategy,
        };
        let average = self.average.profile(meter, learned)?;
        Ok(Some(Exploitability {
            current: meter.nash_conv(&current),
            average: meter.nash_conv(&average),
        }))
    }

    /// Plays the average strategy against `opponents` on the deals of `iteration`.
    ///
    /// # Errors
    /// As [`Trainer::iterate`].
    pub fn evaluate(
        &self,
        opponents: &[&str],
        iteration: u32,
        stop: &StopFlag,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<OpponentReport>, IterationError> {
        if opponents.is_empty() {
            return Ok(Vec::new());
        }
        let learned = Learned {
            advantages: &self.advantage_networks()?,
            strategy: &self.snapshot(Role::Strategy)?,
        };
        let mut stream = Stream::new(self.config.run.seed, Purpose::Average, iteration.into(), 1);
        let count = self.config.evaluation.games;
        let Cast { policy, weights } = self.average.cast(learned, count, &mut stream);
        let games = self.playing.as_ref().unwrap_or(&self.walking);
        for (head, parameters) in weights {
            let parameters = parameters.to_vec();
            games.load(&self.architectures, head, parameters)?;
        }
        games.networks.with(|_| tch::set_num_threads(1))?;
        watcher.begin(
            Phase::Evaluation,
            opponents.len() * self.config.evaluation.games,
        );
        let arena = Arena {
            engine: &games.engine,
            policy,
            game: self.walker.game(),
            encoding: self.walker.encoding(),
            settings: &self.config.evaluation,
            seed: self.config.run.seed,
        };
        let deals = Deals::Fresh { iteration };
        let reports = arena.evaluate(opponents, deals, stop, |games| watcher.advance(games, 0))?;
        // What the executor counted belongs to the games, not to the next iteration's walks.
        drop(games.engine.take_statistics());
        Ok(reports)
    }
}
