//! What a run leaves: its folder, its metrics, its lines.

use crate::program::{Place, smoke, smoke_config};
use coorl_async::config::load;
use serde_json::{Map, Value};

/// In every row.
const CORE: &str = "iteration loss/advantage loss/strategy samples/advantage samples/strategy samples/advantage_player_0
    samples/advantage_player_1 samples/advantage_player_0_first_open samples/advantage_player_1_first_open memory/advantage
    memory/advantage_player_0 memory/advantage_player_1 memory/strategy time/iteration_seconds time/nodes_per_second
    time/traversal_seconds time/memory_add_seconds time/advantage_train_seconds time/strategy_train_seconds
    time/advantage_player_0_sample_seconds time/advantage_player_1_sample_seconds time/strategy_sample_seconds
    time/batch_tensor_seconds time/checkpoint_seconds";

/// In every row, behind `traversal/`.
const TRAVERSAL: &str = "nodes terminals depth_cutoffs node_limit_cutoffs max_depth_reached endpoint_depth_sum endpoints
    avg_endpoint_depth sampled_actions regret_matching_decisions regret_fallback_count regret_fallback_rate
    regret_fallback_avg_depth regret_fallback_action_play_existing regret_fallback_action_open_new
    regret_fallback_action_discard regret_fallback_action_draw_deck regret_fallback_action_draw_pile
    regret_fallback_legal_actions_mean regret_fallback_legal_play_existing_mean regret_fallback_legal_open_new_mean
    regret_fallback_legal_discard_mean regret_fallback_legal_draw_deck_mean regret_fallback_legal_draw_pile_mean
    regret_fallback_open_new_available_rate regret_fallback_open_new_selected regret_fallback_open_new_selected_rate
    regret_fallback_open_new_selection_over_availability regret_fallback_avg_opened_colors_before_action
    regret_fallback_argmax_tie_count regret_fallback_argmax_tie_rate regret_fallback_argmax_tie_size_mean
    regret_fallback_argmax_full_tie_count regret_fallback_argmax_full_tie_rate";

/// In every row, behind `inference/`.
const INFERENCE: &str =
    "batches batch_size_mean batch_size_p50 batch_size_p99 fill_rate flushes_full flushes_timeout
    flushes_quiescent queue_wait_us_p50 queue_wait_us_p99 forward_seconds requests";

/// Behind `eval/<opponent>/` in rows of evaluation iterations.
const EVALUATION: &str = "games wins0 wins1 draws win_rate0 win_rate1 avg_score0 avg_score1 avg_score_diff0 avg_game_length
    max_step_timeouts elapsed_seconds games_per_second steps_per_second play_action_rate discard_action_rate draw_deck_rate
    draw_pile_rate policy_entropy avg_opened_colors 5_color_open_count avg_expedition_cards opening_play_actions
    bad_open_actions weak_open_actions good_open_actions bad_open_rate weak_open_rate good_open_rate
    opening_recoverable_score_mean score_per_opened_color per_game_positive_expeditions per_game_negative_expeditions
    per_game_breakeven_expeditions per_game_bonus_expeditions per_game_below_minus_20_expeditions positive_expedition_rate
    negative_expedition_rate bonus_expedition_rate avg_final_score_per_opened_expedition final_expedition_score_p25
    final_expedition_score_median final_expedition_score_p75 final_expedition_score_p90 positive_expedition_score_mean
    negative_expedition_score_mean first_open_recoverable_score_mean_for_positive_final
    first_open_recoverable_score_mean_for_negative_final policy_turns opponent_turns policy_select_seconds
    policy_legal_mask_seconds policy_encoding_seconds policy_network_seconds policy_postprocess_seconds opponent_act_seconds
    apply_action_seconds diagnostics_seconds final_scoring_seconds";

fn missing(row: &Map<String, Value>, prefix: &str, names: &str) -> Vec<String> {
    let names = names.split_whitespace();
    names
        .map(|name| format!("{prefix}{name}"))
        .filter(|name| !row.get(name).is_some_and(Value::is_number))
        .collect()
}

#[test]
fn a_run_leaves_configuration_metrics_log_and_checkpoint() {
    let place = Place::new();
    let ended = place.smoke("run", &["run.seed=9"]).succeeded();
    let rows = place.rows("run");
    assert_eq!(rows.len(), 2);
    for (row, iteration) in rows.iter().zip(1..) {
        assert_eq!(row["iteration"], Value::from(iteration));
        for (prefix, names) in [
            ("", CORE),
            ("traversal/", TRAVERSAL),
            ("inference/", INFERENCE),
        ] {
            assert_eq!(missing(row, prefix, names), [""; 0], "row {iteration}");
        }
    }
    assert_eq!(TRAVERSAL.split_whitespace().count(), 34);
    assert_eq!(EVALUATION.split_whitespace().count(), 59);
    assert_eq!(missing(&rows[1], "eval/random/", EVALUATION), [""; 0]);
    assert!(rows[1].contains_key("time/evaluation_seconds"));
    assert!(!rows[0].keys().any(|name| name.contains("eval")));
    let mut names: Vec<_> = std::fs::read_dir(place.path("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names
            .iter()
            .filter(|name| !name.ends_with(".journal"))
            .collect::<Vec<_>>(),
        ["config.yaml", "latest", "metrics.jsonl", "train.log"]
    );
    let log = place.text("run/train.log");
    assert!(
        log.contains("[i=1] Iteration complete") && log.contains("seed 9"),
        "{log}"
    );
    // On standard output the table and the folder, nothing else.
    let lines: Vec<&str> = ended
        .stdout
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(lines.len(), 3, "{}", ended.stdout);
    assert!(lines[0].starts_with("opponent") && lines[1].starts_with("random"));
    assert_eq!(lines[2], "run");
}

#[test]
fn the_saved_configuration_loads_as_the_one_that_ran() {
    let place = Place::new();
    let sets = [
        "run.max_iterations=1",
        "evaluation.eval_every=0",
        "run.experiment_name=\"a: b # c\"",
    ];
    place.smoke("run", &sets).succeeded();
    let ran = load(&[smoke_config().into()], [], &sets.map(str::to_owned)).unwrap();
    let saved = load(&[place.path("run/config.yaml")], [], &[]).unwrap();
    assert_eq!(saved.config, ran.config);
    assert!(saved.notes.is_empty(), "{:?}", saved.notes);
}

#[test]
fn a_run_without_a_folder_given_gets_one_by_time_and_name() {
    let place = Place::new();
    let sets = ["run.max_iterations=1", "evaluation.eval_every=0"];
    for (option, parent) in [(None, "runs/tmp"), (Some("--keep"), "runs")] {
        let mut arguments = smoke("", &sets);
        arguments.drain(3..5);
        arguments.extend(option);
        let ended = place.run(&arguments).succeeded();
        let folder = ended.stdout.trim();
        assert!(
            folder.starts_with(parent) && folder.ends_with("_smoke"),
            "{folder}"
        );
        assert_eq!(place.rows(folder).len(), 1);
    }
}

#[test]
fn the_log_for_machines_is_json_and_the_log_for_pipes_is_plain() {
    let place = Place::new();
    let mut arguments = smoke(
        "json",
        &[
            "run.max_iterations=1",
            "traversal.progress_every_traversals=4",
        ],
    );
    arguments.extend(["--log-format", "json"]);
    let ended = place.run(&arguments).succeeded();
    let said: Vec<Map<String, Value>> = ended
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect();
    let message = |text: &str| {
        said.iter()
            .any(|line| line["message"].as_str().is_some_and(|m| m.contains(text)))
    };
    assert!(
        message("Iteration complete") && message("walks 4/16"),
        "{}",
        ended.stderr
    );
    assert!(
        said.iter()
            .all(|line| line["level"].is_string() && line["timestamp"].is_string())
    );
    let ended = place.smoke("plain", &[]).succeeded();
    for text in [ended.stdout, ended.stderr, place.text("plain/train.log")] {
        assert!(!text.contains(['\r', '\x1b', '\x08']), "{text:?}");
    }
}

#[test]
fn a_closed_standard_output_is_no_failure() {
    let place = Place::new();
    let mut command = place.command(&smoke("run", &["run.max_iterations=1"]));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer).stderr(std::process::Stdio::piped());
    let output = command.output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn auto_says_which_device_it_took_and_why() {
    let place = Place::new();
    let sets = [
        "run.device=auto",
        "evaluation.device=cpu",
        "run.max_iterations=1",
    ];
    let ended = place.smoke("run", &sets).succeeded();
    let ended = ended.said(&["run.device auto: ", ", because "]);
    assert!(
        !ended.stderr.contains("evaluation.device"),
        "asked for by name"
    );
    assert!(place.text("run/train.log").contains("run.device auto: "));
}

/// Configuration files of the earlier trainer, made small.
#[test]
fn files_of_the_earlier_trainer_train() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/seed_configs");
    let (default, smoke) = (
        format!("{folder}/default.yaml"),
        format!("{folder}/smoke.yaml"),
    );
    let place = Place::new();
    let start = ["train", "--config", &default, "--run-dir", "default"];
    let nowhere = crate::program::with_sets(&start, &["run.device=cuda:255"]);
    place
        .run(&nowhere)
        .refused(&["run.device", "cuda:255", "--set run.device=cpu"]);
    assert!(!place.path("default").exists());
    let sets = [
        "run.device=cpu",
        "run.max_iterations=1",
        "network.hidden_size=16",
        "traversal.traversals_per_player=3",
        "optimization.advantage_batch_size=16",
        "optimization.strategy_batch_size=16",
        "optimization.advantage_updates_per_iteration=2",
        "optimization.strategy_updates_per_iteration=2",
        "replay.advantage_capacity=2000",
        "replay.strategy_capacity=2000",
        "evaluation.games=2",
        "evaluation.max_steps=300",
    ];
    let ended = place
        .run(&crate::program::with_sets(&start, &sets))
        .succeeded();
    let ended = ended.said(&["inference_server", "num_workers"]);
    assert!(ended.stdout.contains("random"), "{}", ended.stdout);
    assert_eq!(place.rows("default").len(), 1);
    let ended = place
        .run(&["train", "--config", &smoke, "--run-dir", "smoke"])
        .succeeded();
    assert_eq!(ended.stdout.trim(), "smoke");
    assert_eq!(place.rows("smoke").len(), 1);
}
