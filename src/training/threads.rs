//! How many walks, threads and lanes a configuration asks for.

use crate::{
    config::Config,
    inference::{Engine, EngineError, EngineThreads, LaneNetworks, NetworkControl, RowShape},
    network::Architecture,
    platform::logical_cores,
};

/// The most walks in flight unless the configuration says otherwise.
const MOST_IN_FLIGHT: usize = 4_096;

/// Walks in flight at once.
pub(super) fn in_flight(config: &Config) -> usize {
    let all = 2 * config.traversal.traversals_per_player;
    config
        .traversal
        .in_flight
        .unwrap_or(all.min(MOST_IN_FLIGHT))
        .max(1)
}

/// Starts the engine of a run: on the CPU as many lanes as workers.
pub(super) fn start_engine(
    config: &Config,
    shape: RowShape,
    architecture: &Architecture,
) -> Result<(Engine, NetworkControl<LaneNetworks>), EngineError> {
    let evaluation = &config.evaluation;
    let opponents = evaluation.opponents.len() + evaluation.extended_opponents.len();
    let games = opponents.saturating_mul(evaluation.batch_size.min(evaluation.games));
    let capacity = in_flight(config).max(games.min(MOST_IN_FLIGHT));
    let workers = config
        .traversal
        .worker_threads
        .unwrap_or_else(logical_cores);
    let threads = EngineThreads {
        workers,
        lanes: workers,
        // A lane's kernels are single-threaded: the lanes share the cores among them.
        prepare: || tch::set_num_threads(1),
    };
    let (inference, deterministic) = (&config.inference, config.run.deterministic);
    Engine::start(inference, shape, capacity, threads, || {
        LaneNetworks::new(architecture.clone(), inference, deterministic)
    })
}

/// Gives the tensor operations of this thread, the fits', as many threads as the configuration says.
///
/// The matrix library keeps one such number for the whole process, which the lanes' single-threaded calls set to 1: whoever computes next
/// says anew what it needs.
pub(super) fn use_threads(config: &Config) {
    let threads = config.run.threads.unwrap_or_else(logical_cores);
    tch::set_num_threads(i32::try_from(threads).unwrap_or(i32::MAX));
}
