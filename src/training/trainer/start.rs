//! A trainer before its first iteration.

use super::Trainer;
use crate::{
    config::Config,
    encoding::Encoding,
    inference::HeadArchitectures,
    network::Architecture,
    regret::Matching,
    replay::Faults,
    telemetry::DeviceWatch,
    training::{
        AveragingScheme, Compute, Role, TrainedGame,
        averaging::averaging,
        exploitability::Meter,
        fitting::new_learner,
        guided::{Guided, reading},
        placement::new_memory,
        threads::RunEngine,
    },
    traversal::Walker,
};
use anyhow::Context;
use std::{collections::VecDeque, sync::Arc};

impl<G: TrainedGame, E: Encoding<G>> Trainer<G, E> {
    /// Fresh networks and empty memories.
    ///
    /// # Errors
    /// Settings that do not fit each other or the game, or threads and memory that could not be had.
    pub fn new(game: G, encoding: E, config: &Config) -> anyhow::Result<Self> {
        Self::with_rival(game, encoding, config, None)
    }

    /// Fresh networks and empty memories, and room for the networks of a policy that does not learn.
    pub(super) fn with_rival(
        game: G,
        encoding: E,
        config: &Config,
        rival: Option<Architecture>,
    ) -> anyhow::Result<Self> {
        let (info_len, actions) = (encoding.info_len(), encoding.num_actions());
        let compute = Compute::of(config, info_len, actions)?;
        Self::build(game, encoding, config, rival, compute, &Faults::none())
    }

    /// Fresh networks and empty memories with fits that compute as `compute` says, whatever the configuration asks for, and `faults` of each
    /// memory's copy on the device.
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn computing(
        game: G,
        encoding: E,
        config: &Config,
        compute: Compute,
        faults: &Faults,
    ) -> anyhow::Result<Self> {
        Self::build(game, encoding, config, None, compute, faults)
    }

    fn build(
        game: G,
        encoding: E,
        config: &Config,
        rival: Option<Architecture>,
        compute: Compute,
        faults: &Faults,
    ) -> anyhow::Result<Self> {
        let (info_len, actions) = (encoding.info_len(), encoding.num_actions());
        let mut traversal = config.traversal.clone();
        if config.averaging.scheme != AveragingScheme::StrategyNetwork {
            traversal.store_strategy_on_traverser_nodes = false;
            traversal.store_strategy_on_opponent_nodes = false;
        }
        let walker = Walker::new(
            game,
            encoding,
            &traversal,
            &config.regret_matching,
            &config.self_play,
        )
        .context("traversal.opponent_policy or traversal.cutoff_rollout_policy is refused")?;
        let colors = walker.encoding().color_layout();
        let architecture = Architecture::new(&config.network, info_len, actions, colors.as_ref())?;
        let guided = Guided::new(walker.game(), walker.encoding(), config, compute)?;
        let architectures = HeadArchitectures {
            policy: architecture.clone(),
            critic: guided.as_ref().map(|guided| guided.architecture().clone()),
            rival,
        };
        let (walking, playing) = RunEngine::of_run(config, &architectures)?;
        let learner = |role| new_learner(config, &architecture, role, compute);
        let memory = |role| new_memory(config, role, [info_len, actions], compute, faults);
        let matching = Matching::of(config);
        let reading = reading(config, matching);
        let meter = (config.evaluation.exploitability_every > 0).then(|| {
            let (game, encoding) = (walker.game(), walker.encoding());
            Meter::new(game, encoding, &architecture, reading, config)
        });
        let average = averaging(
            &config.averaging,
            &config.training_weighting,
            reading,
            matching,
            config.run.seed,
        );
        let [p0, p1, strategy] = Role::ALL;
        Ok(Self {
            walker: Arc::new(walker),
            average,
            meter: meter.transpose()?,
            architectures,
            guided,
            opposite: None,
            watch: DeviceWatch::of(compute.device),
            walking,
            playing,
            learners: [learner(p0)?, learner(p1)?, learner(strategy)?],
            memories: [memory(p0)?, memory(p1)?, memory(strategy)?],
            league: VecDeque::new(),
            iteration: 0,
            config: config.clone(),
        })
    }
}
