//! What is refused, what is noted, and what the message says.

use crate::{environment, file, only_problem, set, yaml};
use coorl_async::config::{Reason, Source, load};
use std::path::PathBuf;

#[test]
fn unknown_keys_are_refused_with_the_nearest() {
    let nearest = |result| match only_problem(result).reason {
        Reason::UnknownKey { nearest } => nearest,
        reason => panic!("{reason:?}"),
    };
    for (wrong, right) in [
        ("run.sede", "run.seed"),
        ("optimizer.learning_rate", "optimization.learning_rate"),
        ("learning_rate", "optimization.learning_rate"),
        (
            "traversal.max_node_per_traversal",
            "traversal.max_nodes_per_traversal",
        ),
        ("evaluation.eval-every", "evaluation.eval_every"),
        ("traversal.worker_thread", "traversal.worker_threads"),
        ("seed", "run.seed"),
    ] {
        let found = nearest(set(&[&format!("{wrong}=3")]));
        assert_eq!(found.as_deref(), Some(right), "{wrong}");
    }
    assert_eq!(nearest(set(&["zzzzzzzz=3"])), None);

    let problem = only_problem(yaml("game: lost_cities\n\nrun:\n  sede: 3\n"));
    assert_eq!(problem.key, "run.sede");
    let text = problem.to_string();
    for part in [
        "run.sede = 3",
        "run.yaml:4",
        "no such key",
        "nearest: run.seed",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let problem = only_problem(environment(&[("COORL_RUN__SEDE", "3")]));
    let text = problem.to_string();
    assert!(text.contains("environment COORL_RUN__SEDE"), "{text}");
    for (name, meant) in [
        ("COORL_RUN_SEED", "COORL_RUN__SEED"),
        (
            "COORL_SELF_PLAY_SNAPSHOT_EVERY",
            "COORL_SELF_PLAY__SNAPSHOT_EVERY",
        ),
        ("COORL_GAME", "COORL__GAME"),
    ] {
        let text = only_problem(environment(&[(name, "3")])).to_string();
        assert!(
            text.contains(&format!("environment {name}")) && text.contains(meant),
            "{text}"
        );
    }
    // A dot inside a key is no path.
    let problem = only_problem(yaml("run.seed: 3\n"));
    assert_eq!(problem.key, "\"run.seed\"");
}

#[test]
fn wrong_types_and_values_are_refused_with_what_is_allowed() {
    for (setting, parts) in [
        (
            "run.seed=1.5",
            ["wrong type", "an integer from 0 to 18446744073709551615"],
        ),
        ("run.seed=", ["null", "wrong type"]),
        ("run.seed=-1", ["not allowed", "an integer from 0"]),
        ("run.use_amp=maybe", ["\"maybe\"", "true or false"]),
        ("run.device=tpu", ["not allowed", "auto, cpu, cuda, cuda:N"]),
        (
            "run.max_minutes=.inf",
            ["not allowed", "from 0 to 10000000, or null"],
        ),
        (
            "optimization.learning_rate=0",
            ["not allowed", "a number above 0, at most 100"],
        ),
        (
            "optimization.learning_rate=.nan",
            ["not allowed", "a number above 0"],
        ),
        ("network.hidden_size=0", ["not allowed", "from 1 to 65536"]),
        (
            "network.hidden_size=1e300",
            ["wrong type", "from 1 to 65536"],
        ),
        (
            "training.reinitialise=alway",
            ["never, always, or every N", "nearest: always"],
        ),
        (
            "training.reinitialise=every 0",
            ["not allowed", "such as every 5"],
        ),
        (
            "training.held_out=0.6",
            ["not allowed", "a number from 0 to 0.5"],
        ),
        ("network.activation=gleu", ["relu, gelu", "nearest: gelu"]),
        (
            "network.kind=color_sets",
            ["mlp, color_shared, color_set", "nearest: color_set"],
        ),
        (
            "traversal.sampling_mode=extrenal",
            [
                "outcome, external, all_actions, robust",
                "nearest: external",
            ],
        ),
        (
            "traversal.opponent_policy=netwrok",
            [
                "network, average_strategy, self_play_league",
                "nearest: network",
            ],
        ),
        (
            "traversal.opponent_policy=safe_heuristc",
            ["or a bot: random", "nearest: safe_heuristic"],
        ),
        (
            "evaluation.opponents=[random, safe]",
            [
                "a list such as [random, safe_heuristic]",
                "safe_heuristic_strict",
            ],
        ),
        ("evaluation.opponents=random", ["wrong type", "a list"]),
        ("evaluation.opponents=[1]", ["wrong type", "a list"]),
        (
            "run.experiment_name='...'",
            ["not allowed", "letter or digit"],
        ),
        (
            "run.experiment_name='../..'",
            ["not allowed", "letter or digit"],
        ),
        (
            "run=3",
            ["wrong type", "a mapping of the keys of the section run"],
        ),
        ("run.seed={a: 1}", ["{a: 1}", "wrong type"]),
        ("rules.n_colors=17", ["not allowed", "from 1 to 16"]),
    ] {
        let problem = only_problem(set(&[setting]));
        let text = problem.to_string();
        let key = setting.split('=').next().unwrap();
        assert_eq!(problem.key, key, "{text}");
        assert_eq!(problem.source, Source::Set(setting.into()));
        for part in parts {
            assert!(text.contains(part), "{setting}: {text}");
        }
    }
}

#[test]
fn sources_that_cannot_be_read_are_named() {
    let missing = load(&[PathBuf::from("/nowhere/run.yaml")], [], &[]);
    let text = only_problem(missing).to_string();
    assert!(
        text.contains("/nowhere/run.yaml") && text.contains("cannot be read"),
        "{text}"
    );
    let folder = tempfile::tempdir().unwrap();
    let text = only_problem(load(&[folder.path().to_owned()], [], &[])).to_string();
    assert!(text.contains("cannot be read"), "{text}");
    let text = only_problem(yaml("run: [1\n")).to_string();
    assert!(
        text.contains("not valid YAML") && text.contains("line"),
        "{text}"
    );
    let text = only_problem(yaml("- run\n")).to_string();
    assert!(text.contains("a mapping of sections"), "{text}");
    for (argument, part) in [
        ("run.seed", "`=` is missing"),
        ("=3", "empty part"),
        ("run..seed=3", "empty part"),
        ("run.seed=[1", "not valid YAML"),
    ] {
        let text = only_problem(set(&[argument])).to_string();
        assert!(text.contains(part) && text.contains(argument), "{text}");
    }
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let file = file("run.yaml", "run:\n  sede: 3\nnetwork:\n  kind: 7\n");
    let variables = [("COORL_RUN__SEED".to_owned(), "x".to_owned())];
    let sets = ["rules.hand_size=30".to_owned(), "run.seed".to_owned()];
    let error = load(std::slice::from_ref(&file.1), variables, &sets).unwrap_err();
    let found: Vec<_> = error
        .problems
        .iter()
        .map(|problem| problem.key.as_str())
        .collect();
    assert_eq!(
        found,
        [
            "run.sede",
            "network.kind",
            "run.seed",
            "",
            "rules.hand_size"
        ],
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with("the configuration is refused, 5 problems:\n")
    );
}

#[test]
fn a_wrong_value_is_refused_even_where_a_later_source_wins() {
    let file = file("run.yaml", "run:\n  seed: x\n");
    let result = load(
        std::slice::from_ref(&file.1),
        [],
        &["run.seed=3".to_owned()],
    );
    assert_eq!(only_problem(result).key, "run.seed");
}

#[test]
fn contradictions_are_refused_with_every_key_they_need() {
    let never = [
        "traversal.store_strategy_on_traverser_nodes=false",
        "traversal.store_strategy_on_opponent_nodes=true",
    ];
    let cases: [(&[&str], &str, &[&str]); 33] = [
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "training.learner=policy_gradient",
                "averaging.scheme=current",
                "value_guided.targets=children",
            ],
            "value_guided.targets",
            &["learner = policy_gradient", "set targets to q"],
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "training.update=hedge",
                "averaging.scheme=current",
                "value_guided.smoothing=0.9",
            ],
            "value_guided.smoothing",
            &["update = hedge", "or update to regret_matching"],
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "training.learner=policy_gradient",
                "averaging.scheme=current",
                "value_guided.smoothing=0.9",
            ],
            "value_guided.smoothing",
            &["learner = policy_gradient", "set smoothing to 0"],
        ),
        (
            &[
                "training.learner=policy_gradient",
                "averaging.scheme=current",
            ],
            "training.learner",
            &["sampling_mode = outcome", "value_guided"],
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "training.learner=policy_gradient",
                "averaging.scheme=single_network",
            ],
            "averaging.scheme",
            &[
                "learner = policy_gradient",
                "set averaging.scheme to current",
            ],
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "training.learner=policy_gradient",
                "averaging.scheme=current",
                "training.update=hedge",
            ],
            "training.update",
            &["learner = policy_gradient", "leave training.update out"],
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "traversal.opponent_policy=self_play_league",
            ],
            "traversal.opponent_policy",
            &["sampling_mode = value_guided", "only outcome sampling"],
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "averaging.scheme=single_network",
                "training.update=hedge",
            ],
            "averaging.scheme",
            &["update = hedge", "current or strategy_network"],
        ),
        (
            &["encoding.kind=cards", "rules.n_colors=7"],
            "encoding.kind",
            &["rules.n_colors = 7 (--set", "148 actions", "at most 128"],
        ),
        (
            &["inference.kernels=packed", "network.activation=gelu"],
            "inference.kernels",
            &["network.activation = gelu", "auto or torch"],
        ),
        (
            &[
                "rules.n_colors=9",
                "evaluation.opponents=[random, heuristic_noisy]",
            ],
            "evaluation.opponents",
            &[
                "rules.n_colors = 9 (--set rules.n_colors=9)",
                "\"noisy_safe\" plays at most 8 colours",
            ],
        ),
        (
            &[
                "rules.n_colors=9",
                "evaluation.eval_every=0",
                "traversal.opponent_policy=self_play_league",
            ],
            "traversal.opponent_policy",
            &["\"safe_heuristic\" plays at most 8 colours"],
        ),
        (
            &[
                never[0],
                never[1],
                "traversal.opponent_policy=average_strategy",
            ],
            "traversal.opponent_policy",
            &[
                "store_strategy_on_traverser_nodes = false",
                "without ever being trained",
            ],
        ),
        (
            &[
                never[0],
                never[1],
                "traversal.opponent_policy=safe_heuristic",
            ],
            "traversal.opponent_policy",
            &[
                "traversal.opponent_policy = safe_heuristic",
                "eval_every to 0",
                "(default)",
            ],
        ),
        (
            &["traversal.store_strategy_on_opponent_nodes=false"],
            "traversal.store_strategy_on_opponent_nodes",
            &["store_strategy_on_opponent_nodes = false (--set"],
        ),
        (
            &["replay.device=device", "run.device=cpu"],
            "replay.device",
            &["run.device = cpu (--set", "set replay.device to auto"],
        ),
        (
            &["rules.hand_size=31"],
            "rules.hand_size",
            &[
                "rules.n_colors = 5 (default)",
                "60 cards",
                "two hands need 62",
            ],
        ),
        (
            &["rules.n_ranks=30", "rules.n_colors=16"],
            "rules.n_colors",
            &["at most 160", "rules.n_ranks = 30"],
        ),
        (
            &[
                "network.kind=color_shared",
                "game=leduc",
                "evaluation.eval_every=0",
            ],
            "network.kind",
            &["game = leduc (--set", "set network.kind to mlp"],
        ),
        (
            &[
                "network.kind=color_shared",
                "network.color_attention_layers=1",
                "network.color_attention_heads=3",
            ],
            "network.color_attention_heads",
            &["network.hidden_size = 64 (default)", "divides hidden_size"],
        ),
        (
            &["network.kind=color_set"],
            "network.kind",
            &["encoding.kind = slots (default)", "encoding.kind to cards"],
        ),
        (
            &[
                "network.kind=color_set",
                "encoding.kind=cards",
                "network.num_layers=0",
            ],
            "network.num_layers",
            &["network.kind = color_set", "to 1 or more"],
        ),
        (
            &["inference.precision=bf16", "inference.kernels=packed"],
            "inference.precision",
            &["inference.kernels = packed", "compute in f32", "to torch"],
        ),
        (
            &["network.compile=script", "inference.kernels=packed"],
            "network.compile",
            &["inference.kernels = packed", "to torch"],
        ),
        (
            &["network.kind=color_shared", "inference.kernels=packed"],
            "inference.kernels",
            &["network.kind = color_shared", "auto or torch"],
        ),
        (
            &["training.keep=best_heldout"],
            "training.keep",
            &["training.held_out = 0", "no rows would be held out"],
        ),
        (
            &[
                "optimization.minibatches=sweep",
                "optimization.advantage_first_open_fraction=0.5",
            ],
            "optimization.minibatches",
            &[
                "advantage_first_open_fraction = 0.5",
                "cannot prefer some samples",
            ],
        ),
        (
            &["evaluation.opponents=[]"],
            "evaluation.opponents",
            &["evaluation.opponents = []", "nobody to play"],
        ),
        (
            &["traversal.sampling_mode=robust"],
            "traversal.sampling_mode",
            &["max_depth = null (default)", "set max_depth"],
        ),
        (
            &[
                "traversal.sampling_mode=external",
                "traversal.max_depth=6",
                "traversal.max_nodes_per_traversal=10000",
            ],
            "traversal.max_nodes_per_traversal",
            &["sampling_mode = external (--set", "set it to null"],
        ),
        (
            &[
                "traversal.sampling_mode=external",
                "traversal.max_depth=6",
                "traversal.store_strategy_on_traverser_nodes=true",
            ],
            "traversal.sampling_mode",
            &["store_strategy_on_traverser_nodes = true", "to false"],
        ),
        (
            &[
                "traversal.sampling_mode=all_actions",
                "traversal.max_depth=6",
                "traversal.store_strategy_on_traverser_nodes=true",
                "traversal.opponent_policy=average_strategy",
            ],
            "traversal.opponent_policy",
            &["sampling_mode = all_actions", "opponent_policy to network"],
        ),
        (
            &[
                "traversal.sampling_mode=all_actions",
                "traversal.max_depth=6",
                "traversal.outcome_unsampled_first_open_prior_alpha=1",
            ],
            "traversal.outcome_unsampled_first_open_prior_alpha",
            &["sampling_mode = all_actions", "set it to 0"],
        ),
    ];
    for (sets, key, parts) in cases {
        let problem = only_problem(set(sets));
        assert_eq!(problem.key, key, "{problem}");
        assert!(
            matches!(problem.reason, Reason::Contradiction { .. }),
            "{problem}"
        );
        let text = problem.to_string();
        for part in parts {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
    // Without anything that needs the strategy network it need not learn.
    set(&[
        never[0],
        "traversal.store_strategy_on_opponent_nodes=false",
        "evaluation.eval_every=0",
    ])
    .unwrap();
    // A refused value is not held against the others.
    let problem = only_problem(set(&["rules.hand_size=33"]));
    assert!(
        matches!(problem.reason, Reason::OutOfRange { .. }),
        "{problem}"
    );
}

#[test]
fn the_built_in_limit_of_nodes_is_outcome_samplings() {
    let limit = |sets: &[&str]| set(sets).unwrap().config.traversal.max_nodes_per_traversal;
    assert_eq!(limit(&[]), Some(10_000));
    let external = ["traversal.sampling_mode=external", "traversal.max_depth=6"];
    assert_eq!(limit(&external), None);
    let nulled = "traversal.max_nodes_per_traversal=null";
    assert_eq!(limit(&[external[0], external[1], nulled]), None);
}

#[test]
fn settings_without_effect_are_noted() {
    for (sets, key, part) in [
        (
            &["run.use_amp=true", "run.device=cpu"][..],
            "run.use_amp",
            "brings no speed on run.device cpu",
        ),
        (
            &["run.amp_dtype=f16"],
            "run.amp_dtype",
            "unless run.use_amp is true",
        ),
        (
            &["replay.device=host", "run.device=cpu"],
            "replay.device",
            "no effect on run.device cpu",
        ),
        (
            &["inference.precision=bf16", "run.device=cpu"],
            "inference.precision",
            "no effect where packed kernels are, on run.device cpu",
        ),
        (
            &["network.compile=script", "run.device=cpu"],
            "network.compile",
            "no effect where packed kernels are, on run.device cpu",
        ),
        (
            &["inference.batches_in_flight=3", "run.device=cpu"],
            "inference.batches_in_flight",
            "no effect on run.device cpu",
        ),
        (
            &["evaluation.device=cpu", "evaluation.eval_every=0"],
            "evaluation.device",
            "evaluation.eval_every is 0",
        ),
        (
            &[
                "traversal.opponent_policy=average_strategy",
                "traversal.store_strategy_on_traverser_nodes=true",
                "traversal.store_strategy_on_opponent_nodes=true",
            ],
            "traversal.store_strategy_on_opponent_nodes",
            "no effect with average_strategy",
        ),
        (
            &["policy_gradient.clip=0.1"],
            "policy_gradient.clip",
            "unless training.learner is policy_gradient",
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "training.learner=policy_gradient",
                "averaging.scheme=current",
                "training.hedge_eta=1.0",
            ],
            "training.hedge_eta",
            "no effect under training.learner policy_gradient",
        ),
        (
            &["training.update=hedge"],
            "training.update",
            "unless traversal.sampling_mode is value_guided",
        ),
        (
            &[
                "traversal.sampling_mode=value_guided",
                "traversal.max_depth=100",
                "optimization.learning_rate_final=0.0001",
            ],
            "optimization.learning_rate_final",
            "unless run.max_iterations says",
        ),
        (
            &[
                "encoding.kind=cards",
                "encoding.slot_aware_playability=true",
            ],
            "encoding.slot_aware_playability",
            "unless encoding.kind is slots",
        ),
        (
            &["network.color_attention_layers=2"],
            "network.color_attention_layers",
            "network.kind is color_shared",
        ),
        (
            &["traversal.robust_actions=3"],
            "traversal.robust_actions",
            "sampling_mode is robust",
        ),
        (
            &[
                "traversal.sampling_mode=external",
                "traversal.max_depth=4",
                "traversal.outcome_sampling_explorers=both",
            ],
            "traversal.outcome_sampling_explorers",
            "sampling_mode is outcome",
        ),
        (
            &["traversal.cutoff_rollouts=3"],
            "traversal.cutoff_rollouts",
            "random_rollout",
        ),
        (
            &["evaluation.extended_eval_every=70"],
            "evaluation.extended_eval_every",
            "every 350th",
        ),
        (
            &["evaluation.eval_every=20", "run.max_iterations=10"],
            "evaluation.eval_every",
            "the last iteration is 10",
        ),
        (
            &["evaluation.eval_every=-5"],
            "evaluation.eval_every",
            "taken as 0",
        ),
        (
            &["self_play.anchor_probability=1.5"],
            "self_play.anchor_probability",
            "taken as 1",
        ),
    ] {
        let loaded = set(sets).unwrap();
        let [note] = loaded.notes.as_slice() else {
            panic!("{sets:?}: {:?}", loaded.notes);
        };
        assert_eq!(note.key, key);
        assert!(note.text.contains(part), "{note}");
    }
}
