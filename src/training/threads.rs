//! How many walks, threads and lanes a configuration asks for.

use crate::{
    config::Config,
    inference::{CpuNetworks, Engine, EngineError, LaneNetworks, NetworkControl},
    network::Architecture,
    platform::logical_cores,
    traversal,
};

/// The networks that a configuration's walks ask, and the threads that run them.
pub fn cpu_networks<'a>(config: &Config, architecture: &'a Architecture) -> CpuNetworks<'a> {
    CpuNetworks {
        architecture,
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
    architecture: &Architecture,
) -> Result<(Engine, NetworkControl<LaneNetworks>), EngineError> {
    let evaluation = &config.evaluation;
    let opponents = evaluation.opponents.len() + evaluation.extended_opponents.len();
    let games = opponents.saturating_mul(evaluation.batch_size.min(evaluation.games));
    let games = games.min(traversal::Settings::MOST_IN_FLIGHT);
    let capacity = config.traversal.walks_in_flight().max(games);
    cpu_networks(config, architecture).start(&config.inference, capacity)
}

/// Gives the tensor operations of this thread, the fits', as many threads as the configuration says.
///
/// The matrix library keeps one such number for the whole process, which the lanes' single-threaded calls set to 1: whoever computes next
/// says anew what it needs.
pub(super) fn use_threads(config: &Config) {
    let threads = config.run.threads.unwrap_or_else(logical_cores);
    tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
}
