//! How many walks, threads and lanes a configuration asks for.

use crate::{
    config::Config,
    inference::{
        Computing, Engine, EngineError, EngineNetworks, Head, HeadArchitectures, LaneNetworks,
        NetworkControl, Place,
    },
    network::Architecture,
    platform::{ChosenDevice, DeviceError, choose_device, logical_cores},
    traversal,
};
use tch::Device;
use tracing::info;

/// Where the networks of a run compute: those of its walks and fits, and those of its evaluation games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDevices {
    /// `run.device`.
    pub run: ChosenDevice,
    /// `evaluation.device`; `None` where it is null.
    pub evaluation: Option<ChosenDevice>,
}

impl RunDevices {
    /// The devices of `config`, all there.
    ///
    /// # Errors
    /// One that is asked for and is not there.
    pub fn of(config: &Config) -> Result<Self, DeviceError> {
        let evaluation = config.evaluation.device.as_deref();
        Ok(Self {
            run: choose_device(RUN, &config.run.device)?,
            evaluation: evaluation
                .map(|text| choose_device(EVALUATION, text))
                .transpose()?,
        })
    }

    /// What the log says about them: nothing of the CPU where it was asked for.
    pub fn lines(&self) -> Vec<String> {
        let chosen = [
            (RUN, Some(&self.run)),
            (EVALUATION, self.evaluation.as_ref()),
        ];
        let told = chosen.into_iter().filter_map(|(key, chosen)| {
            let chosen = chosen?;
            let tells = chosen.why.is_some() || chosen.device != Device::Cpu;
            tells.then(|| chosen.line(key))
        });
        told.collect()
    }
}

const RUN: &str = "run.device";
const EVALUATION: &str = "evaluation.device";

/// The networks that a configuration's walks ask on `device`, and the threads that run them.
pub fn engine_networks<'a>(
    config: &Config,
    architectures: &'a HeadArchitectures,
    device: Device,
) -> EngineNetworks<'a> {
    EngineNetworks {
        architectures,
        computing: Computing {
            place: Place::of(device),
            kernels: config.inference.kernels,
            precision: config.inference.precision,
            compile: config.network.compile,
            deterministic: config.run.deterministic,
        },
        workers: config
            .traversal
            .worker_threads
            .unwrap_or_else(logical_cores),
        batches_in_flight: config.inference.batches_in_flight,
    }
}

/// Logs what the configuration asks of network calls in vain, where only the device that was chosen decides; that of the CPU asked for by name
/// is noted when the configuration is read.
pub fn tell_without_effect(config: &Config, networks: &EngineNetworks<'_>) {
    if config.run.device != "cpu" {
        for line in networks.computing.without_effect(networks.architectures) {
            info!("{line}");
        }
    }
}

/// An engine with the way to its networks.
pub(super) struct RunEngine {
    pub engine: Engine,
    pub networks: NetworkControl<LaneNetworks>,
    computing: Computing,
}

impl RunEngine {
    fn start(
        config: &Config,
        networks: EngineNetworks<'_>,
        capacity: usize,
    ) -> Result<Self, EngineError> {
        let (engine, control) = networks.start(&config.inference, capacity)?;
        Ok(Self {
            engine,
            networks: control,
            computing: networks.computing,
        })
    }

    /// The engine of a run's walks, and where its evaluation games compute elsewhere, that of the games.
    ///
    /// # Errors
    /// A device that is not there, or an engine that does not start.
    pub fn of_run(
        config: &Config,
        architectures: &HeadArchitectures,
    ) -> anyhow::Result<(Self, Option<Self>)> {
        let devices = RunDevices::of(config)?;
        let run = devices.run.device;
        let elsewhere = devices.evaluation.map(|chosen| chosen.device);
        let elsewhere = elsewhere.filter(|device| *device != run);
        let networks = |device| engine_networks(config, architectures, device);
        let (walks, games) = (walks_at_once(config), games_at_once(config));
        let capacity = match elsewhere {
            None => walks.max(games),
            Some(_) => walks,
        };
        tell_without_effect(config, &networks(run));
        let walking = Self::start(config, networks(run), capacity)?;
        let games = elsewhere
            .filter(|_| config.evaluation.eval_every > 0)
            .map(|device| Self::start(config, networks(device), games))
            .transpose()?;
        Ok((walking, games))
    }

    /// Gives every lane the weights of a head, flat parameters (`[num_parameters]`).
    ///
    /// # Errors
    /// Weights of another network, a device that fails, or an executor that has stopped.
    pub fn load(
        &self,
        architectures: &HeadArchitectures,
        head: Head,
        parameters: Vec<f32>,
    ) -> anyhow::Result<()> {
        let weights = LaneNetworks::prepare(architectures, &self.computing, head, parameters)?;
        let loaded = self
            .networks
            .with_all(move |networks| networks.load(head, &weights))?;
        Ok(loaded.into_iter().collect::<Result<(), _>>()?)
    }
}

fn walks_at_once(config: &Config) -> usize {
    let walks = config.traversal.walks_in_flight();
    config.traversal.slots(walks)
}

fn games_at_once(config: &Config) -> usize {
    let evaluation = &config.evaluation;
    let opponents = evaluation.opponents.len() + evaluation.extended_opponents.len();
    let games = opponents.saturating_mul(evaluation.batch_size.min(evaluation.games));
    games.min(traversal::Settings::MOST_IN_FLIGHT)
}

/// Multiplications of a network for a minibatch below which a fit step is faster on one thread.
const WORTH_A_SECOND_THREAD: usize = 16_000_000;

/// Threads of the tensor operations of one fit to minibatches of `rows`.
///
/// Where the configuration leaves it open, a small network gets one: its operations are over before a second thread has woken.
pub(super) fn fit_threads(config: &Config, architecture: &Architecture, rows: usize) -> usize {
    config.run.threads.unwrap_or_else(|| {
        let work = architecture.num_parameters().saturating_mul(rows);
        if work < WORTH_A_SECOND_THREAD {
            1
        } else {
            logical_cores()
        }
    })
}

/// Whether two fits may run at the same time: each has one thread, and nobody said that there is but one.
pub(super) fn two_at_once(config: &Config, architecture: &Architecture, rows: usize) -> bool {
    config.run.threads.is_none()
        && logical_cores() > 1
        && fit_threads(config, architecture, rows) == 1
}

/// Gives the tensor operations of this thread, the fits', so many threads.
///
/// The matrix library keeps one such number for the whole process, which the lanes' single-threaded calls set to 1: whoever computes next
/// says anew what it needs.
pub(super) fn use_threads(threads: usize) {
    tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
}
