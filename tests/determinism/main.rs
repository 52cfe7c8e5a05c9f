//! How walks were batched and threaded changes speed and never results: same seed, same replay contents.

mod fake_network;
mod torch;

use coorl_async::{
    bots::ScriptedGame,
    encoding::{self, Encoding, Slots},
    game::lost_cities::LostCities,
    inference::{Engine, EngineThreads, RowShape, Settings as Inference, StopFlag},
    random::{Purpose, Stream},
    regret::{self, Fallback},
    replay::{Memory, Sample},
    training::IterationWalks,
    traversal::{
        CutoffPlayout, CutoffValue, LeagueSettings, SampleView, SamplingMode, Settings, Traversers,
        Walk, WalkStatistics, Walker,
    },
};
use fake_network::{FakeNetwork, Looks};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

const SEED: u64 = 5;
const WALKS: usize = 96;
/// Far below what two iterations record, so that the reservoirs replace.
const CAPACITIES: [usize; 3] = [500, 400, 300];

/// One way to run the same walks.
#[derive(Clone, Copy, Debug)]
struct Batching {
    max_batch: usize,
    collect_timeout_us: u64,
    in_flight: usize,
    workers: usize,
    lanes: usize,
}

impl Batching {
    /// How many branches of a walk may wait at once: one in the reference, in the others some number.
    fn branches(&self) -> usize {
        if self.in_flight == 1 {
            1
        } else {
            self.workers * self.lanes + 1
        }
    }
}

/// The first is the reference: one walk after the other, one row a call.
const BATCHINGS: [Batching; 6] = [
    batching(1, 0, 1, 1, 1),
    batching(1_024, 2_000, WALKS, 2, 2),
    batching(7, 0, 5, 3, 1),
    batching(64, 50, 24, 1, 3),
    batching(33, 1_000_000, 40, 4, 2),
    batching(3, 100, WALKS, 2, 4),
];

const fn batching(
    max_batch: usize,
    collect_timeout_us: u64,
    in_flight: usize,
    workers: usize,
    lanes: usize,
) -> Batching {
    Batching {
        max_batch,
        collect_timeout_us,
        in_flight,
        workers,
        lanes,
    }
}

/// Everything that two iterations of walks leave behind, bit for bit.
#[derive(Clone, Debug, PartialEq)]
struct Left {
    /// The root values of all walks, hashed in index order.
    values: u64,
    /// By network: samples seen, held, held and first-open, and all their contents hashed slot by slot.
    memories: Vec<(u64, usize, usize, u64)>,
    /// The walks' metrics with the bits of their values.
    statistics: Vec<(String, u64)>,
}

impl Left {
    fn count(&self, name: &str) -> f64 {
        let found = self.statistics.iter().find(|(known, _)| known == name);
        f64::from_bits(found.unwrap_or_else(|| panic!("no metric {name}")).1)
    }
}

fn memories_left(memories: &[Memory]) -> Vec<(u64, usize, usize, u64)> {
    let memory_left = |memory: &Memory| {
        let mut hash = Xxh3::new();
        hash.update(&memory.stream_position().to_le_bytes());
        for slot in 0..memory.len() {
            let sample = memory.sample(slot);
            for value in sample.info.iter().chain(sample.target) {
                hash.update(&value.to_bits().to_le_bytes());
            }
            hash.update(&sample.legal.bits().to_le_bytes());
            hash.update(&sample.iteration.to_le_bytes());
            hash.update(&[u8::from(sample.first_open)]);
        }
        (
            memory.seen(),
            memory.len(),
            memory.first_open_len(),
            hash.digest(),
        )
    };
    memories.iter().map(memory_left).collect()
}

fn statistics_left<G: ScriptedGame, E: Encoding<G>>(
    walker: &Walker<G, E>,
    walks: &WalkStatistics<G>,
) -> Vec<(String, u64)> {
    let mut left = Vec::new();
    walker.emit(walks, &mut |name, value| {
        left.push((name.to_owned(), value.to_bits()))
    });
    left
}

/// What varies from test to test.
struct Scheme {
    settings: Settings,
    fallback: Fallback,
    /// League snapshots that exist.
    snapshots: usize,
    seed: u64,
    looks: Looks,
}

impl Scheme {
    fn new(opponent_policy: &str) -> Self {
        Self {
            settings: Settings {
                opponent_policy: opponent_policy.into(),
                max_nodes_per_traversal: Some(150),
                store_strategy_on_traverser_nodes: true,
                ..Settings::default()
            },
            fallback: Fallback::ArgmaxTiebreak,
            snapshots: 0,
            seed: SEED,
            looks: Looks::AtTheRow,
        }
    }

    /// Walks with several branches, of games cut off at `max_depth`.
    fn branching(sampling_mode: SamplingMode, max_depth: usize) -> Self {
        let scheme = Self::new("network");
        let settings = Settings {
            sampling_mode,
            max_depth: Some(max_depth),
            store_strategy_on_traverser_nodes: false,
            ..scheme.settings
        };
        Self { settings, ..scheme }
    }

    /// Walks cut off early and valued by playouts.
    fn with_playouts(mut self, playout: CutoffPlayout) -> Self {
        self.settings = Settings {
            max_depth: Some(40),
            cutoff_value_mode: CutoffValue::RandomRollout,
            cutoff_rollouts: 2,
            cutoff_rollout_policy: playout,
            cutoff_rollout_max_steps: 120,
            ..self.settings
        };
        self
    }

    fn walker(&self, batching: Batching) -> Walker<LostCities, Slots> {
        let settings = Settings {
            branches_in_flight: batching.branches(),
            ..self.settings.clone()
        };
        let game = LostCities::new(Default::default()).unwrap();
        let encoding = Slots::new(&game, &encoding::Settings::default());
        let league = LeagueSettings {
            anchor_probability: 0.1,
            anchor_weight: 0.1,
            ..LeagueSettings::default()
        };
        let regret = regret::Settings {
            all_negative_fallback: self.fallback,
        };
        Walker::new(game, encoding, &settings, &regret, &league).unwrap()
    }

    /// Two iterations of walks, their samples into the memories as training puts them there.
    fn run(&self, batching: Batching) -> Left {
        let walker = Arc::new(self.walker(batching));
        let shape = RowShape {
            info_len: walker.encoding().info_len(),
            actions: walker.encoding().num_actions(),
        };
        let settings = Inference {
            max_batch: batching.max_batch,
            collect_timeout_us: batching.collect_timeout_us,
            ..Inference::default()
        };
        let threads = EngineThreads::new(batching.workers, batching.lanes);
        let looks = self.looks;
        let (engine, _control) = Engine::start(
            &settings,
            shape,
            walker.slots(batching.in_flight),
            threads,
            move || Ok(FakeNetwork::new(shape, looks)),
        )
        .unwrap();
        let mut number = 0;
        let mut memories = CAPACITIES.map(|capacity| {
            let stream = Stream::new(self.seed, Purpose::Reservoir, number, 0);
            number += 1;
            Memory::new(capacity, shape.info_len, shape.actions, stream).unwrap()
        });
        let mut statistics = WalkStatistics::default();
        let mut values = Xxh3::new();
        for iteration in [1, 2] {
            let job = Arc::new(IterationWalks {
                walker: Arc::clone(&walker),
                seed: self.seed,
                iteration,
                snapshots: self.snapshots,
                traversers: Traversers::Both,
            });
            let stop = StopFlag::default();
            engine
                .run(job, WALKS, batching.in_flight, &stop, |_, walk| {
                    values.update(&walk.value.to_bits().to_le_bytes());
                    statistics.merge(&walk.statistics);
                    remember(&walk, iteration, &mut memories);
                })
                .unwrap();
        }
        Left {
            values: values.digest(),
            memories: memories_left(&memories),
            statistics: statistics_left(&walker, &statistics),
        }
    }

    /// Runs all batchings, compares them with the first, and returns what it left.
    fn check(&self) -> Left {
        let [reference, others @ ..] = &BATCHINGS;
        let expected = self.run(*reference);
        for batching in others {
            assert_eq!(
                self.run(*batching),
                expected,
                "{batching:?} against {reference:?}, opponent {}",
                self.settings.opponent_policy
            );
        }
        for (memory, capacity) in expected.memories.iter().zip(CAPACITIES) {
            assert!(
                memory.1 == 0 || memory.0 > 2 * capacity as u64,
                "{memory:?}"
            );
        }
        assert!(expected.count("regret_fallback_count") > 100.0);
        assert!(expected.count("regret_fallback_rate") < 0.9);
        expected
    }
}

/// As `Trainer::traverse` does.
fn remember(walk: &Walk<LostCities>, iteration: u32, memories: &mut [Memory; 3]) {
    for view in walk.samples.advantage() {
        memories[view.player.index()].add(&sample(&view, iteration));
    }
    for view in walk.samples.strategy() {
        memories[2].add(&sample(&view, iteration));
    }
}

fn sample<'a>(view: &SampleView<'a>, iteration: u32) -> Sample<'a> {
    Sample {
        info: view.info,
        target: view.target,
        legal: view.legal,
        iteration,
        first_open: view.first_open,
    }
}

#[test]
fn network_opponents() {
    let left = Scheme::new("network").check();
    assert!(left.memories.iter().all(|memory| memory.1 > 0));
    let uniform = Scheme {
        fallback: Fallback::Uniform,
        ..Scheme::new("network")
    };
    assert_ne!(uniform.check(), left);
}

#[test]
fn average_strategy_opponents() {
    let left = Scheme::new("average_strategy").check();
    assert!(left.count("requests") > left.count("regret_matching_decisions"));
}

#[test]
fn league_opponents() {
    // Some recent, some older, some anchors.
    let league = Scheme {
        snapshots: 8,
        ..Scheme::new("self_play_league")
    };
    let left = league.check();
    assert!(left.count("requests") > left.count("sampled_actions"));
    let younger = Scheme {
        snapshots: 1,
        ..Scheme::new("self_play_league")
    };
    assert_ne!(younger.run(BATCHINGS[1]), left);
}

#[test]
fn scripted_opponents() {
    let calm = Scheme::new("safe_heuristic").check();
    let noisy = Scheme::new("noisy_safe").check();
    assert_ne!(calm, noisy);
    assert_eq!(calm.count("requests"), calm.count("sampled_actions"));
}

#[test]
fn walks_with_several_branches() {
    let external = Scheme::branching(SamplingMode::External, 5).check();
    let robust = Scheme::branching(SamplingMode::Robust, 10).check();
    let all_actions = Scheme::branching(SamplingMode::AllActions, 40).check();
    assert_ne!(external, robust);
    // Rollouts give no samples.
    let samples = all_actions.count("advantage_samples") + all_actions.count("strategy_samples");
    assert!(all_actions.count("requests") > 3.0 * samples);
}

#[test]
fn cutoffs_valued_by_playouts() {
    let random = Scheme::new("network")
        .with_playouts(CutoffPlayout::Random)
        .check();
    assert!(random.count("playouts") > WALKS as f64);
    let scripted = Scheme::new("network")
        .with_playouts(CutoffPlayout::SafeHeuristic)
        .check();
    assert_ne!(random, scripted);
}

#[test]
fn the_comparison_sees_another_seed_and_an_answer_that_depends_on_neighbours() {
    let scheme = Scheme::new("network");
    let reference = scheme.run(BATCHINGS[0]);
    let another = Scheme {
        seed: SEED + 1,
        ..Scheme::new("network")
    };
    assert_ne!(another.run(BATCHINGS[0]), reference);
    let nosy = Scheme {
        looks: Looks::AtTheBatch,
        ..Scheme::new("network")
    };
    assert_ne!(nosy.run(BATCHINGS[1]), nosy.run(BATCHINGS[0]));
}
