//! Files of the earlier trainer.

use crate::{file, only_problem, repository, set, yaml};
use coorl_async::config::load;
use std::collections::BTreeSet;

#[test]
fn the_earlier_default_file_loads_as_it_is() {
    let path = repository("tests/seed_configs/default.yaml");
    let loaded = load(std::slice::from_ref(&path), [], &[]).unwrap();
    let ours = repository("configs/default.yaml");
    let mut expected = load(&[ours], [], &[]).unwrap().config;
    // What the two files say differently on purpose.
    expected.run.device = "cuda".into();
    expected.checkpoint.exact_resume = false;
    expected.traversal.worker_threads = Some(8);
    expected.traversal.in_flight = Some(64 * 8);
    expected.inference.max_batch = 128 * 8;
    expected.evaluation.opponents = ["random", "discard_only", "heuristic_cautious"]
        .map(str::to_owned)
        .into();
    expected.evaluation.extended_opponents = [
        "heuristic_balanced",
        "heuristic_aggressive",
        "heuristic_noisy",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(loaded.config, expected);

    let noted: BTreeSet<_> = loaded.notes.iter().map(|note| note.key.as_str()).collect();
    let expected = BTreeSet::from([
        "checkpoint.progress_interval_seconds",
        "evaluation.device",
        "evaluation.num_workers",
        "inference_server.batch_window_us",
        "inference_server.device",
        "inference_server.max_batch",
        "inference_server.num_slots",
        "inference_server.use_amp",
        "inference_server.weight_sync_every",
        "memory.advantage_capacity",
        "memory.strategy_capacity",
        "traversal.inference_backend",
        "traversal.interleave_max_batch",
        "traversal.interleave_width",
        "traversal.num_workers",
        "traversal.scheduler",
        "traversal.worker_chunk_size",
    ]);
    assert_eq!(noted, expected);
    // One each, and one about absent keys.
    assert_eq!(loaded.notes.len(), expected.len() + 1);
    let note = |key: &str| {
        let note = loaded.notes.iter().find(|note| note.key == key);
        note.unwrap_or_else(|| panic!("no note about {key}"))
            .to_string()
    };
    assert!(note("traversal.num_workers").contains("now traversal.worker_threads"));
    assert!(note("traversal.interleave_width").contains("now traversal.in_flight = 512"));
    assert!(note("inference_server.max_batch").contains("had no effect"));
    assert!(note("memory.strategy_capacity").ends_with("now replay.strategy_capacity"));
    assert!(
        note("traversal.num_workers").contains("default.yaml:42"),
        "{}",
        note("traversal.num_workers")
    );
}

#[test]
fn evaluation_on_the_trainers_device_is_null_and_other_devices_are_themselves() {
    let device = |word: &str| {
        let loaded = yaml(&format!("evaluation:\n  device: {word}\n")).unwrap();
        let noted = loaded
            .notes
            .iter()
            .any(|note| note.key == "evaluation.device");
        (loaded.config.evaluation.device, noted)
    };
    assert_eq!(device("Trainer"), (None, true));
    assert_eq!(device("cuda:1"), (Some("cuda:1".into()), false));
    assert_eq!(device("null"), (None, false));
    let problem = only_problem(yaml("evaluation:\n  device: tpu\n"));
    assert_eq!(problem.key, "evaluation.device");
}

#[test]
fn the_earlier_smoke_file_loads_and_names_the_defaults_that_differ() {
    let path = repository("tests/seed_configs/smoke.yaml");
    let loaded = load(&[path], [], &[]).unwrap();
    assert_eq!(loaded.config.replay.advantage_capacity, 1_000);
    assert_eq!(loaded.config.traversal.max_depth, Some(2));
    assert_eq!(loaded.config.optimization.learning_rate, 1e-3);
    assert!(!loaded.config.checkpoint.save_latest);
    let keys: Vec<_> = loaded.notes.iter().map(|note| note.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "memory.advantage_capacity",
            "memory.strategy_capacity",
            "memory.advantage_capacity"
        ]
    );
    let text = &loaded.notes[2].text;
    for part in [
        "traversal.opponent_policy (self_play_league there, network here)",
        "training_weighting.mode (none there, lcfr here)",
        "encoding.derived_playability (false there, true here)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Only what is absent and differs.
    for part in ["optimization.learning_rate", "checkpoint.save_every"] {
        assert!(!text.contains(part), "{text}");
    }
}

#[test]
fn the_earlier_server_settings_become_the_executors() {
    let text = "traversal: {inference_backend: server, num_workers: auto, worker_chunk_size: 8}\ninference_server: {max_batch: 300, batch_window_us: 150}\n";
    let loaded = yaml(text).unwrap();
    assert_eq!(loaded.config.inference.max_batch, 300);
    assert_eq!(loaded.config.inference.collect_timeout_us, 150);
    assert_eq!(loaded.config.traversal.worker_threads, None);
    assert_eq!(loaded.config.traversal.in_flight, None);
}

#[test]
fn earlier_keys_follow_the_order_of_the_sources() {
    let file = file(
        "run.yaml",
        "traversal: {num_workers: 8}\nmemory: {advantage_capacity: 10}\n",
    );
    let sets = [
        "replay.advantage_capacity=20".to_owned(),
        "traversal.num_workers=-1".to_owned(),
    ];
    let loaded = load(std::slice::from_ref(&file.1), [], &sets).unwrap();
    assert_eq!(loaded.config.replay.advantage_capacity, 20);
    assert_eq!(loaded.config.traversal.worker_threads, None);
    // Within one source the key of this program wins, and the other is reported as ignored.
    let loaded =
        yaml("memory: {advantage_capacity: 10}\nreplay: {advantage_capacity: 30}\n").unwrap();
    assert_eq!(loaded.config.replay.advantage_capacity, 30);
    assert!(
        loaded
            .notes
            .iter()
            .any(|note| note.text.contains("ignored: the same source"))
    );
}

#[test]
fn wrong_values_of_earlier_keys_are_refused_under_their_own_name() {
    for (setting, part) in [
        ("memory.advantage_capacity=-1", "from 1 to 1000000000"),
        ("traversal.num_workers=many", "an integer, or auto"),
        ("traversal.num_workers=5000", "from 1 to 1024"),
        ("traversal.scheduler=interleave", "recursive, interleaved"),
        ("traversal.inference_backend=3", "local, server"),
        ("memory=3", "the section memory"),
    ] {
        let problem = only_problem(set(&[setting]));
        assert_eq!(problem.key, setting.split('=').next().unwrap());
        assert!(problem.to_string().contains(part), "{problem}");
    }
    let text = "traversal: {scheduler: interleaved, interleave_width: 0}";
    assert_eq!(only_problem(yaml(text)).key, "traversal.interleave_width");
}

#[test]
fn an_earlier_on_max_steps_is_reported() {
    let loaded =
        yaml("memory: {strategy_capacity: 9}\nevaluation: {on_max_steps: loss}\n").unwrap();
    assert!(
        loaded
            .notes
            .iter()
            .any(|note| note.key == "evaluation.on_max_steps")
    );
    let loaded = yaml("evaluation: {on_max_steps: loss}\n").unwrap();
    assert!(loaded.notes.is_empty());
}
