//! Where settings come from, and which source wins.

use crate::{environment, file, repository, set, yaml};
use coorl_async::config::{Config, Source, load};
use coorl_async::regret::Fallback;
use coorl_async::training::WeightingMode;
use coorl_async::traversal::UnsampledRegret;
use std::path::PathBuf;

#[test]
fn nothing_given_means_the_defaults() {
    let loaded = load(&[], [], &[]).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    assert!(
        loaded
            .provenance
            .values()
            .all(|source| *source == Source::Default)
    );
}

#[test]
fn later_sources_win_key_by_key() {
    let first = file(
        "a.yaml",
        "run: {seed: 1, device: cpu}\nevaluation:\n  games: 1\n  max_steps: 77\n",
    );
    let second = file(
        "b.toml",
        "[run]\nseed = 2\n\n[evaluation]\nopponents = [\"noisy-safe\"]\ngames = 2\n",
    );
    let third = file(
        "c.json",
        "{\n  \"evaluation\": {\n    \"games\": 3\n  }\n}\n",
    );
    let files = [first.1.clone(), second.1.clone(), third.1.clone()];
    let variables = [
        ("COORL_RUN__SEED", "3"),
        ("COORL_NETWORK__NUM_LAYERS", "1"),
        ("COORL_VECTORS", "/somewhere"),
        ("RUN__SEED", "9"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let sets = ["run.seed=4".to_owned(), "run.seed=5".to_owned()];
    let loaded = load(&files, variables, &sets).unwrap();
    let config = &loaded.config;
    assert_eq!(config.run.seed, 5);
    assert_eq!(config.run.device, "cpu");
    assert_eq!(config.evaluation.games, 3);
    assert_eq!(config.evaluation.max_steps, 77);
    assert_eq!(config.evaluation.opponents, ["noisy-safe"]);
    assert_eq!(config.network.num_layers, 1);
    assert_eq!(
        config.network.hidden_size,
        Config::default().network.hidden_size
    );

    let from = |key: &str| loaded.provenance[key].clone();
    let at = |path: &PathBuf, line| Source::File {
        path: path.clone(),
        line: Some(line),
    };
    assert_eq!(from("run.seed"), Source::Set("run.seed=5".into()));
    assert_eq!(from("run.device"), at(&first.1, 1));
    assert_eq!(from("evaluation.max_steps"), at(&first.1, 4));
    assert_eq!(from("evaluation.opponents"), at(&second.1, 5));
    assert_eq!(from("evaluation.games"), at(&third.1, 3));
    assert_eq!(
        from("network.num_layers"),
        Source::Environment("COORL_NETWORK__NUM_LAYERS".into())
    );
    assert_eq!(from("network.hidden_size"), Source::Default);
}

#[test]
fn a_set_value_is_yaml() {
    let sets = [
        "evaluation.opponents=[random, safe_heuristic_loose]",
        "evaluation.extended_opponents=[]",
        "traversal.max_nodes_per_traversal=null",
        "run.max_minutes=",
        "optimization.learning_rate=1e-4",
        "traversal.traversals_per_player=1_000",
        "run.experiment_name=a=b",
        "run.use_amp=yes",
        "rules={n_colors: 3, hand_size: 5}",
    ];
    let config = set(&sets).unwrap().config;
    assert_eq!(
        config.evaluation.opponents,
        ["random", "safe_heuristic_loose"]
    );
    assert!(config.evaluation.extended_opponents.is_empty());
    assert_eq!(config.traversal.max_nodes_per_traversal, None);
    assert_eq!(config.run.max_minutes, None);
    assert_eq!(config.optimization.learning_rate, 1e-4);
    assert_eq!(config.traversal.traversals_per_player, 1_000);
    assert_eq!(config.run.experiment_name, "a=b");
    assert!(config.run.use_amp);
    assert_eq!((config.rules.n_colors, config.rules.hand_size), (3, 5));
}

#[test]
fn environment_values_are_yaml_too() {
    let loaded = environment(&[
        ("COORL_EVALUATION__OPPONENTS", "[random]"),
        ("COORL_TRAVERSAL__MAX_NODES_PER_TRAVERSAL", ""),
        ("COORL__GAME", "lost_cities"),
        ("COORL_LOG", "debug"),
    ])
    .unwrap();
    assert_eq!(loaded.config.evaluation.opponents, ["random"]);
    assert_eq!(loaded.config.traversal.max_nodes_per_traversal, None);
    assert_eq!(
        loaded.provenance["game"],
        Source::Environment("COORL__GAME".into())
    );
}

#[test]
fn empty_files_and_sections_set_nothing() {
    for text in ["", "# only words\n", "run:\n# seed: 3\n", "{}"] {
        let loaded = yaml(text).unwrap();
        assert_eq!(loaded.config, Config::default(), "{text:?}");
    }
    let json = file("run.json", "");
    let loaded = load(std::slice::from_ref(&json.1), [], &[]).unwrap();
    assert_eq!(loaded.config, Config::default());
}

#[test]
fn a_repeated_key_counts_as_the_last_and_is_noted() {
    let loaded = yaml("run:\n  seed: 1\n  seed: 2\n").unwrap();
    assert_eq!(loaded.config.run.seed, 2);
    let [note] = loaded.notes.as_slice() else {
        panic!("{:?}", loaded.notes);
    };
    assert_eq!(note.key, "run.seed");
    assert!(note.to_string().contains("run.yaml:3"), "{note}");
}

#[test]
fn bots_go_by_many_names_and_keep_their_spelling() {
    let list = "[Random, discard_only, heuristic-balanced, NOISY_SAFE, ' safe-heuristic-strict ']";
    let loaded = set(&[
        &format!("evaluation.opponents={list}"),
        "traversal.opponent_policy=Heuristic-Balanced",
        "traversal.store_strategy_on_traverser_nodes=true",
        "traversal.store_strategy_on_opponent_nodes=false",
    ])
    .unwrap();
    assert_eq!(
        loaded.config.evaluation.opponents,
        [
            "Random",
            "discard_only",
            "heuristic-balanced",
            "NOISY_SAFE",
            " safe-heuristic-strict "
        ]
    );
    assert_eq!(
        loaded.config.traversal.opponent_policy,
        "Heuristic-Balanced"
    );
    let policy = set(&["traversal.opponent_policy= Self-Play-League "]).unwrap();
    assert_eq!(policy.config.traversal.opponent_policy, "self_play_league");
}

#[test]
fn shipped_files_load_without_notes() {
    for name in ["default", "smoke", "quick", "strong", "policy_gradient"] {
        let path = repository(&format!("configs/{name}.yaml"));
        let loaded = load(&[path], [], &[]).unwrap();
        assert!(loaded.notes.is_empty(), "{name}: {:?}", loaded.notes);
    }
    let config = load(&[repository("configs/default.yaml")], [], &[])
        .unwrap()
        .config;
    assert_eq!(config.traversal.traversals_per_player, 280);
    assert_eq!(
        config.traversal.outcome_unsampled_regret,
        UnsampledRegret::Zero
    );
    assert_eq!(
        config.regret_matching.all_negative_fallback,
        Fallback::ArgmaxTiebreak
    );
    assert_eq!(config.training_weighting.mode, WeightingMode::Lcfr);
}

#[test]
fn every_ablation_changes_strong() {
    let strong = repository("configs/strong.yaml");
    let alone = load(std::slice::from_ref(&strong), [], &[]).unwrap().config;
    let overlays = std::fs::read_dir(repository("configs/ablations")).unwrap();
    let mut seen = 0;
    for overlay in overlays {
        let path = overlay.unwrap().path();
        let config = load(&[strong.clone(), path.clone()], [], &[])
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            .config;
        assert_ne!(config, alone, "{}", path.display());
        assert!(config.run.experiment_name.starts_with("ablation-"));
        seen += 1;
    }
    assert!(seen >= 12);
}
