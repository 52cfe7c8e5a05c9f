//! The same with the real networks, fits and evaluation included: under `run.deterministic`, and on packed kernels always.

use crate::{Batching, memories_left, statistics_left};
use coorl_async::{
    config::Config,
    encoding::Slots,
    game::lost_cities::LostCities,
    inference::{Kernels, StopFlag},
    training::{Due, Trainer},
};

/// What two iterations leave: memories, the bits of all weights, the walks' metrics, the games' results.
#[derive(Debug, PartialEq)]
struct Trained {
    memories: Vec<(u64, usize, usize, u64)>,
    weights: Vec<Vec<u32>>,
    statistics: Vec<(String, u64)>,
    games: Vec<(String, u64)>,
}

fn config(batching: Batching, kernels: Kernels, deterministic: bool) -> Config {
    let mut config = Config::default();
    config.run.seed = 11;
    config.run.deterministic = deterministic;
    config.inference.kernels = kernels;
    config.network.hidden_size = 40;
    config.network.num_layers = 2;
    config.inference.max_batch = batching.max_batch;
    config.inference.collect_timeout_us = batching.collect_timeout_us;
    let traversal = &mut config.traversal;
    traversal.traversals_per_player = 60;
    traversal.in_flight = Some(batching.in_flight);
    traversal.worker_threads = Some(batching.workers);
    traversal.max_nodes_per_traversal = Some(150);
    config.replay.advantage_capacity = 900;
    config.replay.strategy_capacity = 700;
    config.optimization.advantage_updates_per_iteration = 6;
    config.optimization.strategy_updates_per_iteration = 6;
    config.evaluation.games = 12;
    config.evaluation.batch_size = batching.in_flight;
    config.evaluation.max_steps = 300;
    config
}

fn train(batching: Batching, kernels: Kernels, deterministic: bool) -> Trained {
    let config = config(batching, kernels, deterministic);
    let game = LostCities::new(config.rules.clone()).unwrap();
    let encoding = Slots::new(&game, &config.encoding);
    let mut trainer = Trainer::new(game, encoding, &config).unwrap();
    let (mut statistics, mut games) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let report = trainer
            .iterate(
                &|_| Due {
                    opponents: vec!["random", "safe_heuristic"],
                    ..Due::default()
                },
                &StopFlag::default(),
                &mut (),
            )
            .unwrap();
        statistics.extend(statistics_left(trainer.walker(), &report.walks));
        for opponent in &report.evaluation {
            opponent.emit(&mut |name, value: f64| {
                if !name.contains("second") {
                    games.push((name.to_owned(), value.to_bits()));
                }
            });
        }
    }
    let states = trainer.states().unwrap();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
    Trained {
        memories: memories_left(trainer.memories()),
        weights: states.map(|state| bits(&state.parameters)).to_vec(),
        statistics,
        games,
    }
}

/// Compares runs that batch differently with one that asks one row at a time.
fn alike(kernels: Kernels, deterministic: bool) {
    let train = |batching| train(batching, kernels, deterministic);
    let reference = train(crate::batching(1, 0, 1, 1, 1));
    assert!(reference.memories.iter().all(|memory| memory.0 > 3_000));
    for batching in [
        crate::batching(1_024, 2_000, 120, 2, 2),
        crate::batching(64, 0, 30, 1, 1),
        crate::batching(50, 100, 77, 2, 3),
        crate::batching(300, 1_000_000, 111, 3, 1),
    ] {
        assert_eq!(train(batching), reference, "{batching:?}");
    }
}

#[test]
fn deterministic_libtorch_answers_alike_in_every_batch() {
    alike(Kernels::Torch, true);
}

#[test]
fn packed_kernels_answer_alike_in_every_batch_without_being_asked_to() {
    alike(Kernels::Packed, false);
}
