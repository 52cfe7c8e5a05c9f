//! How many walks, threads and lanes a configuration asks for.

use crate::{
    config::Config,
    inference::{
        CpuNetworks, Engine, EngineError, HeadArchitectures, LaneNetworks, NetworkControl,
    },
    network::Architecture,
    platform::logical_cores,
    traversal,
};

/// The networks that a configuration's walks ask, and the threads that run them.
pub fn cpu_networks<'a>(config: &Config, architectures: &'a HeadArchitectures) -> CpuNetworks<'a> {
    CpuNetworks {
        architectures,
        kernels: config.inference.kernels,
        deterministic: config.run.deterministic,
        workers: config
            .traversal
            .worker_threads
            .unwrap_or_else(logical_cores),
    }
}

/// Starts the engine of a run.
pub(super) fn start_engine(
    config: &Config,
    architectures: &HeadArchitectures,
) -> Result<(Engine, NetworkControl<LaneNetworks>), EngineError> {
    let evaluation = &config.evaluation;
    let opponents = evaluation.opponents.len() + evaluation.extended_opponents.len();
    let games = opponents.saturating_mul(evaluation.batch_size.min(evaluation.games));
    let games = games.min(traversal::Settings::MOST_IN_FLIGHT);
    let walks = config.traversal.walks_in_flight();
    let capacity = config.traversal.slots(walks).max(games);
    cpu_networks(config, architectures).start(&config.inference, capacity)
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
