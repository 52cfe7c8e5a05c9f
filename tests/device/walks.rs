//! Walks that ask a device: what they do does not depend on batches, threads or the place, under `run.deterministic`.

use coorl_async::{
    encoding::{self, Encoding, Slots},
    game::lost_cities::LostCities,
    inference::{
        BatchStatistics, Computing, EngineNetworks, Head, HeadArchitectures, Settings, StopFlag,
    },
    network::Architecture,
    traversal::{self, IterationWalks, Traversers, Walker},
};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

const WALKS: usize = 60;

/// One way to run the same walks.
#[derive(Clone, Copy, Debug)]
struct Batching {
    max_batch: usize,
    in_flight: usize,
    workers: usize,
    batches_in_flight: usize,
}

fn walker() -> Walker<LostCities, Slots> {
    let game = LostCities::new(Default::default()).unwrap();
    let encoding = Slots::new(&game, &encoding::Settings::default());
    let settings = traversal::Settings {
        opponent_policy: "average_strategy".into(),
        max_nodes_per_traversal: Some(100),
        store_strategy_on_traverser_nodes: true,
        ..Default::default()
    };
    let (regret, league) = (Default::default(), Default::default());
    Walker::new(game, encoding, &settings, &regret, &league).unwrap()
}

/// The walks' values and samples hashed in their order, and what the executor counted.
fn walk(computing: Computing, batching: Batching) -> (u64, BatchStatistics) {
    let walker = Arc::new(walker());
    let (inputs, outputs) = (
        walker.encoding().info_len(),
        walker.encoding().num_actions(),
    );
    let network = coorl_async::network::Settings::default();
    let architecture = Architecture::new(&network, inputs, outputs, None).unwrap();
    let architectures = HeadArchitectures::from(architecture);
    let networks = EngineNetworks {
        architectures: &architectures,
        computing,
        workers: batching.workers,
        batches_in_flight: batching.batches_in_flight,
    };
    let settings = Settings {
        max_batch: batching.max_batch,
        ..Settings::default()
    };
    let slots = walker.slots(batching.in_flight);
    let (engine, control) = networks.start(&settings, slots).unwrap();
    for head in [Head(0), Head(1), Head::STRATEGY] {
        let parameters = crate::parameters(&architectures.policy, head.0.into());
        let weights = networks.prepare(head, parameters).unwrap();
        let loaded = control.with_all(move |lane| lane.load(head, &weights));
        assert!(loaded.unwrap().into_iter().all(|loaded| loaded.is_ok()));
    }
    let job = Arc::new(IterationWalks {
        walker,
        seed: 7,
        iteration: 1,
        snapshots: 0,
        traversers: Traversers::Both,
    });
    let mut hash = Xxh3::new();
    let (in_flight, stop) = (batching.in_flight, StopFlag::default());
    let each = |_, walk: traversal::Walk<LostCities>| {
        hash.update(&walk.value.to_bits().to_le_bytes());
        for view in walk.samples.advantage().chain(walk.samples.strategy()) {
            for value in view.info.iter().chain(view.target) {
                hash.update(&value.to_bits().to_le_bytes());
            }
        }
    };
    engine.run(job, WALKS, in_flight, &stop, each).unwrap();
    (hash.digest(), engine.take_statistics())
}

#[test]
fn walks_do_the_same_on_a_device_as_on_the_host_however_they_are_batched() {
    let deterministic = |computing: Computing| Computing {
        deterministic: true,
        ..computing
    };
    let one_by_one = Batching {
        max_batch: 1,
        in_flight: 1,
        workers: 1,
        batches_in_flight: 1,
    };
    let (expected, statistics) = walk(deterministic(crate::host()), one_by_one);
    assert_eq!(statistics.device_forward_seconds(), None);
    for (max_batch, in_flight, workers, batches_in_flight) in
        [(1_024, WALKS, 2, 2), (16, 30, 1, 3), (300, 55, 3, 1)]
    {
        let batching = Batching {
            max_batch,
            in_flight,
            workers,
            batches_in_flight,
        };
        let (left, statistics) = walk(deterministic(crate::stand_in()), batching);
        assert_eq!(left, expected, "{batching:?}");
        assert!(statistics.timed_batches > 0, "{batching:?}");
        let device = statistics.device_forward_seconds().unwrap();
        let timed = statistics.timed.as_secs_f64();
        assert!(device >= timed && timed > 0.0, "{device} of {timed}");
    }
}

#[test]
fn time_without_work_is_told_by_its_cause() {
    /// The share of the time without work that was spent waiting for lanes.
    fn for_lanes(statistics: &BatchStatistics) -> f64 {
        let [lanes, walks] = [statistics.waiting_for_lanes, statistics.waiting_for_walks];
        lanes.as_secs_f64() / (lanes + walks).as_secs_f64()
    }
    // One walk has one lane at most at work. Both of two seem to be for as long as the executor has not heard that the first is done.
    let alone = Batching {
        max_batch: 64,
        in_flight: 1,
        workers: 1,
        batches_in_flight: 2,
    };
    let (_, statistics) = walk(crate::stand_in(), alone);
    assert!(!statistics.waiting_for_walks.is_zero());
    let alone_for_lanes = for_lanes(&statistics);
    // The only lane is all lanes.
    let many = Batching {
        in_flight: WALKS,
        batches_in_flight: 1,
        ..alone
    };
    let (_, statistics) = walk(crate::stand_in(), many);
    assert!(!statistics.waiting_for_lanes.is_zero());
    let many_for_lanes = for_lanes(&statistics);
    assert!(
        alone_for_lanes < many_for_lanes,
        "{alone_for_lanes} {many_for_lanes}"
    );
    let mut names = Vec::new();
    statistics.emit(&mut |name, _| names.push(name.to_owned()));
    for name in ["waiting_for_walks_seconds", "waiting_for_lanes_seconds"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
}
