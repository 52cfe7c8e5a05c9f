//! Whole walks against the reference: the walk code that `train` runs, its executor and its networks, driven by the
//! reference's random stream.

use crate::{
    lcg::Lcg,
    traced::{Traced, TracedBot, TracedProfile, TracedSlots},
    vectors::{array, cards, fnv1a_floats, folder, game, integer, replay_row, rows},
};
use coorl_async::{
    bots::ScriptedGame,
    encoding::{self, Encoding, Slots},
    game::{
        Player,
        lost_cities::{ActionKind, FallbackProfile, LostCities},
    },
    inference::{
        Engine, EngineThreads, Head, HeadArchitectures, Job, Kernels, LaneNetworks, Lease,
        RowShape, StopFlag, Stopped,
    },
    network::{self, Architecture},
    random::Randomness,
    regret::{self, Fallback},
    traversal::{
        Explorers, Opponent, OpponentPolicy, SampleView, Settings, UnsampledRegret, Walk,
        WalkRandomness, WalkTask, Walker,
    },
};
use safetensors::SafeTensors;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// One row as a job: the walk, and the closing state of its generator.
struct RowWalk {
    walker: Walker<Traced, TracedSlots>,
    task: WalkTask<coorl_async::game::lost_cities::State>,
    seed: u32,
}

impl Job for RowWalk {
    type Output = (Walk<Traced>, Lcg);

    async fn run(&self, _: usize, lease: &mut Lease) -> Result<Self::Output, Stopped> {
        let rng = Watched(Arc::new(Mutex::new(Lcg::new(self.seed))));
        let walk = self
            .walker
            .walk(self.task.clone(), lease, rng.clone())
            .await?;
        let closing = rng.0.lock().unwrap().clone();
        Ok((walk, closing))
    }
}

/// The generator of one walk, watched from outside.
#[derive(Clone)]
struct Watched(Arc<Mutex<Lcg>>);

impl Randomness for Watched {
    fn uniform(&mut self) -> f64 {
        self.0.lock().unwrap().uniform()
    }
    fn index(&mut self, n: usize) -> usize {
        self.0.lock().unwrap().index(n)
    }
}

impl WalkRandomness for Watched {
    fn fork(&mut self) -> Self {
        unreachable!("outcome sampling has one branch")
    }
}

fn settings(row: &Value) -> Settings {
    let given = &row["traversal"];
    let number = |key: &str| given[key].as_f64().unwrap();
    let limit = |key: &str| given[key].as_u64().map(|limit| limit as usize);
    Settings {
        max_depth: limit("max_depth"),
        max_nodes_per_traversal: limit("max_nodes"),
        regret_matching_epsilon: number("regret_matching_epsilon"),
        outcome_sampling_epsilon: number("outcome_sampling_epsilon"),
        outcome_sampling_explorers: Explorers::Both,
        outcome_sampling_value_clip: given["outcome_sampling_value_clip"].as_f64(),
        outcome_unsampled_regret: match given["outcome_unsampled_regret"].as_str().unwrap() {
            "zero" => UnsampledRegret::Zero,
            "negative_node_value" => UnsampledRegret::NegativeNodeValue,
            other => panic!("unsampled regret {other}"),
        },
        outcome_unsampled_first_open_prior_alpha: number(
            "outcome_unsampled_first_open_prior_alpha",
        ),
        strategy_sample_interval: limit("strategy_sample_interval").unwrap(),
        store_strategy_on_traverser_nodes: given["store_strategy_on_traverser_nodes"]
            .as_bool()
            .unwrap(),
        store_strategy_on_opponent_nodes: given["store_strategy_on_opponent_nodes"]
            .as_bool()
            .unwrap(),
        endpoint_depth_bucket_width: limit("endpoint_depth_bucket_width").unwrap(),
        endpoint_depth_bucket_max: limit("endpoint_depth_bucket_max").unwrap(),
        ..Settings::default()
    }
}

/// The reference's twin of the balanced heuristic stands in for `heuristic_balanced` (vectors README, section 3).
fn opponents(row: &Value, game: &LostCities) -> OpponentPolicy<TracedBot> {
    let name = row["traversal"]["opponent_policy"].as_str().unwrap();
    let opponent = match name {
        "network" => Opponent::Network,
        "average_strategy" => Opponent::AverageStrategy,
        "heuristic_balanced" => Opponent::Bot(TracedBot(game.bot(name).unwrap().twin())),
        _ => Opponent::Bot(TracedBot(game.bot(name).unwrap())),
    };
    OpponentPolicy::Always(opponent)
}

/// The flat parameters of one network in the file of weights.
fn parameters(tensors: &SafeTensors, prefix: &str) -> Vec<f32> {
    let mut flat = Vec::new();
    for layer in [0, 2, 4] {
        for part in ["weight", "bias"] {
            let tensor = tensors
                .tensor(&format!("{prefix}.net.{layer}.{part}"))
                .unwrap();
            let values = tensor
                .data()
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
            flat.extend(values);
        }
    }
    flat
}

fn engine(
    row: &Value,
    tensors: &SafeTensors,
    kernels: Kernels,
) -> (Engine, coorl_async::inference::NetworkControl<LaneNetworks>) {
    let weights = row["weights"].as_str().unwrap();
    let hidden = tensors
        .tensor(&format!("{weights}.adv0.net.0.bias"))
        .unwrap()
        .shape()[0];
    let shape = RowShape {
        info_len: integer(&row["input_dim"]) as usize,
        actions: integer(&row["action_size"]) as usize,
    };
    let settings = network::Settings {
        hidden_size: hidden,
        num_layers: 2,
        ..network::Settings::default()
    };
    let architecture = Architecture::new(&settings, shape.info_len, shape.actions, None).unwrap();
    let heads = [
        ("adv0", Head::advantage(Player::P0)),
        ("adv1", Head::advantage(Player::P1)),
        ("strat", Head::STRATEGY),
    ];
    let heads = heads.map(|(name, head)| (head, parameters(tensors, &format!("{weights}.{name}"))));
    let architectures = HeadArchitectures::from(architecture);
    let build = move || {
        let computing = kernels.into();
        let mut networks = LaneNetworks::new(&architectures, &computing, 1)?;
        for (head, parameters) in &heads {
            LaneNetworks::prepare(&architectures, &computing, *head, parameters.clone())
                .and_then(|weights| networks.load(*head, &weights))
                .map_err(|error| error.to_string())?;
        }
        Ok(networks)
    };
    let threads = EngineThreads::new(1, 1);
    Engine::start(&Default::default(), shape, 1, threads, build).unwrap()
}

/// How near the walks' floats are to the recorded ones.
///
/// Both sides round to f32 in their own order, and an entry near 0 is what is left of larger terms: a network computed in double precision
/// misses a recorded probability of 0.001 by 1e-4 of itself. So every entry must agree to the recordings' own tolerance (1e-4, or 1e-7
/// absolute below 1e-3), and all but one in a hundred to 1e-5. Kernels other than the recording's add up in another order still: of theirs one
/// entry in a thousand may be off by ten times as much.
struct Nearness {
    kernels: Kernels,
    entries: usize,
    beyond: usize,
    far: usize,
}

impl Nearness {
    fn check(&mut self, found: f64, expected: f64, what: &str) {
        let error = (found - expected).abs();
        let allowed = 1e-4 * expected.abs().max(1e-3);
        let most = match self.kernels {
            Kernels::Torch => allowed,
            Kernels::Packed | Kernels::Auto => 10.0 * allowed,
        };
        assert!(error <= most, "{what}: {found}, expected {expected}");
        self.entries += 1;
        self.far += usize::from(error > allowed);
        self.beyond += usize::from(error > 1e-5 * expected.abs());
    }

    fn finish(&self) {
        let Self {
            entries,
            beyond,
            far,
            ..
        } = self;
        assert!(*entries > 0, "no value was compared");
        assert!(
            100 * beyond <= *entries,
            "{beyond} of {entries} values differ by more than 1e-5 of themselves"
        );
        assert!(
            1_000 * far <= *entries,
            "{far} of {entries} values differ by more than the recordings allow"
        );
        println!("{beyond} of {entries} beyond 1e-5, {far} beyond the recordings' tolerance");
    }
}

fn check_samples<'a>(
    views: impl ExactSizeIterator<Item = SampleView<'a>>,
    expected: &Value,
    nearness: &mut Nearness,
    what: &str,
) {
    let expected = array(expected);
    assert_eq!(views.len(), expected.len(), "{what}: samples");
    for (number, (view, expected)) in views.zip(expected).enumerate() {
        let what = format!("{what} {number}");
        assert_eq!(
            view.player.index() as i64,
            integer(&expected["p"]),
            "{what}: player"
        );
        assert_eq!(
            fnv1a_floats(view.info),
            expected["fnv"].as_str().unwrap(),
            "{what}: info state"
        );
        let legal: Vec<i64> = view.legal.iter().map(i64::from).collect();
        assert_eq!(
            legal,
            array(&expected["legal"])
                .iter()
                .map(integer)
                .collect::<Vec<_>>(),
            "{what}: legal"
        );
        assert_eq!(
            view.first_open,
            expected["open"].as_bool().unwrap(),
            "{what}: open"
        );
        for (action, target) in legal.iter().zip(array(&expected["target"])) {
            nearness.check(
                view.target[*action as usize].into(),
                target.as_f64().unwrap(),
                &format!("{what}: target {action}"),
            );
        }
        let illegal = (0..view.target.len()).filter(|&action| !view.legal.contains(action as u8));
        assert!(
            illegal.into_iter().all(|action| view.target[action] == 0.0),
            "{what}: illegal targets"
        );
    }
}

fn buckets(expected: &Value) -> BTreeMap<usize, u64> {
    let low = |key: &str| key.split('_').next().unwrap().parse().unwrap();
    let entries = expected.as_object().unwrap().iter();
    entries
        .map(|(key, count)| (low(key), count.as_u64().unwrap()))
        .collect()
}

fn check_statistics(walk: &Walk<Traced>, expected: &Value, what: &str) {
    let counts = &walk.statistics.counts;
    for (key, found) in [
        ("nodes", counts.nodes),
        ("terminals", counts.terminals),
        ("depth_cutoffs", counts.depth_cutoffs),
        ("node_limit_cutoffs", counts.node_limit_cutoffs),
        ("max_depth_reached", counts.max_depth_reached as u64),
        ("advantage_samples", counts.advantage_samples),
        ("strategy_samples", counts.strategy_samples),
        ("sampled_actions", counts.sampled_actions),
        ("regret_matching_decisions", counts.decisions),
        ("regret_fallback_count", counts.fallbacks),
        ("regret_fallback_depth_sum", counts.fallback_depth_sum),
        ("regret_fallback_argmax_tie_count", counts.tie_count),
        ("regret_fallback_argmax_tie_size_sum", counts.tie_size_sum),
        (
            "regret_fallback_argmax_full_tie_count",
            counts.full_tie_count,
        ),
        ("endpoint_depth_sum", counts.endpoint_depth_sum),
    ] {
        assert_eq!(found, expected[key].as_u64().unwrap(), "{what}: {key}");
    }
    assert_eq!(
        counts.endpoint_depth_buckets,
        buckets(&expected["endpoint_depth_buckets"]),
        "{what}: endpoint buckets"
    );
    let fallback = buckets(&expected["regret_fallback_depth_buckets"]);
    assert_eq!(
        counts.fallback_depth_buckets, fallback,
        "{what}: fallback buckets"
    );
    let TracedProfile(profile) = &walk.statistics.profile;
    check_profile(profile, expected, what);
}

fn check_profile(profile: &FallbackProfile, expected: &Value, what: &str) {
    let number = |key: &str| expected[format!("regret_fallback_{key}")].as_u64().unwrap();
    assert_eq!(
        profile.opened_colors_sum(),
        number("opened_colors_sum"),
        "{what}: opened colours"
    );
    assert_eq!(
        profile.legal_actions_sum(),
        number("legal_actions_sum"),
        "{what}: legal actions"
    );
    for kind in ActionKind::ALL {
        let name = kind.name();
        assert_eq!(
            profile.legal_sum(kind),
            number(&format!("legal_{name}_sum")),
            "{what}: legal {name}"
        );
        assert_eq!(
            profile.chosen(kind),
            number(&format!("action_{name}")),
            "{what}: chosen {name}"
        );
    }
    for (key, counts) in [
        ("opened_colors_buckets", profile.opened_colors()),
        ("open_new_available_by_color", profile.open_new_available()),
        ("open_new_selected_by_color", profile.open_new_selected()),
    ] {
        let found = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let found: BTreeMap<usize, u64> = found.map(|(number, &count)| (number, count)).collect();
        let expected = buckets(&expected[format!("regret_fallback_{key}")]);
        let expected: BTreeMap<_, _> = expected
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(found, expected, "{what}: {key}");
    }
}

#[test]
fn traversals() {
    walk_recorded(Kernels::Torch);
}

#[test]
fn traversals_on_packed_kernels() {
    walk_recorded(Kernels::Packed);
}

/// Walks every recorded walk again and compares all it leaves.
fn walk_recorded(kernels: Kernels) {
    let bytes = std::fs::read(folder().join("traversal_weights.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut nearness = Nearness {
        kernels,
        entries: 0,
        beyond: 0,
        far: 0,
    };
    for row in rows("traversals.jsonl.gz") {
        let what = format!("traversals row {}", row["id"]);
        let plain = game(&row);
        let log = Arc::new(Mutex::new(Vec::new()));
        let flags = encoding::Settings {
            derived_playability: row["traversal"]["derived_playability"].as_bool().unwrap(),
            slot_aware_playability: row["traversal"]["slot_aware_playability"]
                .as_bool()
                .unwrap(),
            ..Default::default()
        };
        let slots = TracedSlots(Slots::new(&plain, &flags));
        assert_eq!(
            slots.info_len() as i64,
            integer(&row["input_dim"]),
            "{what}: input_dim"
        );
        let fallback = match row["traversal"]["all_negative_fallback"].as_str().unwrap() {
            "uniform" => Fallback::Uniform,
            _ => Fallback::ArgmaxTiebreak,
        };
        let regret = regret::Settings {
            all_negative_fallback: fallback,
        };
        let opponents = opponents(&row, &plain);
        assert!(!cards(&row["deck"]).is_empty());
        let root = replay_row(&row);
        let traced = Traced {
            game: plain,
            log: Arc::clone(&log),
        };
        let walker =
            Walker::with_opponents(traced, slots, &settings(&row), &regret, opponents).unwrap();
        let traverser = Player::from_parity(integer(&row["traverser"]) as usize);
        let task = WalkTask {
            state: root,
            traverser,
            snapshots: 0,
        };
        let job = RowWalk {
            walker,
            task,
            seed: integer(&row["rng"]) as u32,
        };

        let (engine, _control) = engine(&row, &tensors, kernels);
        let mut outcome = None;
        engine
            .run(Arc::new(job), 1, 1, &StopFlag::default(), |_, output| {
                outcome = Some(output)
            })
            .unwrap();
        let (walk, rng) = outcome.unwrap();

        let expected: Vec<(u8, i64)> = array(&row["trace"])
            .iter()
            .map(|step| (integer(&step[0]) as u8, integer(&step[1])))
            .collect();
        assert_eq!(*log.lock().unwrap(), expected, "{what}: trace");
        nearness.check(
            walk.value,
            row["value"].as_f64().unwrap(),
            &format!("{what}: value"),
        );
        assert_eq!(
            i64::from(rng.state),
            integer(&row["rng_final"]),
            "{what}: rng_final"
        );
        assert_eq!(
            rng.u32_draws as i64,
            integer(&row["u32_draws"]),
            "{what}: u32_draws"
        );
        assert_eq!(
            rng.policy_draws as i64,
            integer(&row["policy_draws"]),
            "{what}: policy_draws"
        );
        let requests = walk.statistics.counts.requests;
        assert_eq!(
            requests as i64,
            integer(&row["policy_requests"]),
            "{what}: requests"
        );
        check_statistics(&walk, &row["stats"], &what);
        check_samples(
            walk.samples.advantage(),
            &row["advantage"],
            &mut nearness,
            &format!("{what}, advantage"),
        );
        check_samples(
            walk.samples.strategy(),
            &row["strategy"],
            &mut nearness,
            &format!("{what}, strategy"),
        );
    }
    nearness.finish();
}
