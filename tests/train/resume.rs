//! Going on: a run in parts is the run in one.

use crate::program::{Place, assert_same_rows};

/// Small memories, so that the reservoirs replace.
const SMALL: [&str; 4] = [
    "replay.advantage_capacity=700",
    "replay.strategy_capacity=600",
    "checkpoint.save_every=1",
    "evaluation.games=4",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain(more.iter().copied()).collect()
}

#[track_caller]
fn assert_same_run(place: &Place, a: &str, b: &str, first_iteration: usize) {
    for file in ["networks.safetensors", "optimizers.safetensors"] {
        let file = |run| place.file(&format!("{run}/latest/{file}"));
        assert!(file(a) == file(b), "{a} and {b} have other numbers");
    }
    let a = place.rows(a).split_off(first_iteration - 1);
    assert_same_rows(a, place.rows(b));
}

/// Advantage samples of all rows.
fn rows_seen(rows: &[serde_json::Map<String, serde_json::Value>]) -> f64 {
    let seen = rows
        .iter()
        .map(|row| row["traversal/advantage_samples"].as_f64().unwrap());
    seen.sum()
}

#[test]
fn two_iterations_and_two_more_are_four() {
    let place = Place::new();
    place
        .smoke("whole", &with(&["run.max_iterations=4"]))
        .succeeded();
    place.smoke("parts", &with(&[])).succeeded();
    let ended = place.resume("parts", &["run.max_iterations=4"]).succeeded();
    ended.said(&[
        "run goes on in parts after iteration 2",
        "finished after iteration 4",
    ]);
    assert_same_run(&place, "whole", "parts", 1);
    let last = place.rows("whole").pop().unwrap();
    assert_eq!(last["memory/advantage_player_0"], 700);
    assert_eq!(last["memory/strategy"], 600);
    assert!(rows_seen(&place.rows("whole")) > 3.0 * 700.0);
    // And once more: the checkpoint of a resumed run, from within its folder.
    let mut command = place.command(&[
        "train",
        "--resume",
        "latest",
        "--set",
        "run.max_iterations=5",
    ]);
    command.current_dir(place.path("parts"));
    crate::program::ended(command).succeeded();
    place.resume("whole", &["run.max_iterations=5"]).succeeded();
    assert_same_run(&place, "whole", "parts", 1);
}

#[test]
fn a_critic_goes_on_where_it_was() {
    let place = Place::new();
    let strong: &[&str] = &[
        "value_guided.targets=children",
        "value_guided.scattered_starts=0.5",
        "value_guided.scattered_plies=10",
        "value_guided.smoothing=0.9",
        "regret_matching.all_negative_fallback=near_best",
        "traversal.regret_matching_epsilon=0.1",
    ];
    for (update, average, more) in [
        (
            "training.update=regret_matching",
            "strategy_network",
            &[][..],
        ),
        ("training.update=regret_matching", "current", strong),
        ("training.update=hedge", "strategy_network", &[]),
        ("training.learner=policy_gradient", "current", &[]),
    ] {
        let average = format!("averaging.scheme={average}");
        let guided = with(&[
            update,
            &average,
            "policy_gradient.entropy_final=0.0",
            "traversal.sampling_mode=value_guided",
            "traversal.max_depth=40",
            "traversal.max_nodes_per_traversal=null",
            "value_guided.horizon_start=20",
            "value_guided.exploration_final=0.0",
            "optimization.learning_rate_final=0.0001",
        ]);
        let all = [&guided[..], more, &["run.max_iterations=4"]].concat();
        let [whole, parts] = ["whole", "parts"].map(|name| format!("{name}-{update}-{average}"));
        place.smoke(&whole, &all).succeeded();
        // Both know from the start where they end: rates depend on it.
        place.smoke(&parts, &all).succeeded();
        let early = format!("{parts}/iteration_00002");
        let branch = format!("{parts}-branch");
        place
            .run(&["train", "--resume", &early, "--run-dir", &branch])
            .succeeded();
        assert_same_run(&place, &whole, &branch, 2);
        assert!(place.rows(&whole).iter().all(|row| {
            let loss = row["loss/critic"].as_f64();
            loss.is_some_and(f64::is_finite)
        }));
    }
}

#[test]
fn a_league_goes_on_with_its_snapshots() {
    let place = Place::new();
    let league = with(&[
        "traversal.opponent_policy=self_play_league",
        "traversal.store_strategy_on_traverser_nodes=true",
        "self_play.max_snapshots=2",
        "self_play.anchor_probability=0.2",
    ]);
    place
        .smoke("whole", &[&league[..], &["run.max_iterations=4"]].concat())
        .succeeded();
    place.smoke("parts", &league).succeeded();
    place.resume("parts", &["run.max_iterations=4"]).succeeded();
    assert_same_run(&place, "whole", "parts", 1);
    let snapshots = |run| place.file(&format!("{run}/latest/league.safetensors"));
    assert!(snapshots("whole") == snapshots("parts"));
}

#[test]
fn networks_fitted_at_the_same_time_are_those_fitted_in_turn() {
    let place = Place::new();
    place.smoke("at_once", &with(&[])).succeeded();
    // Said to be one thread, fits follow each other.
    place
        .smoke("in_turn", &with(&["run.threads=1"]))
        .succeeded();
    assert_same_run(&place, "at_once", "in_turn", 1);
}

#[test]
fn networks_that_start_anew_do_so_in_parts_too() {
    let place = Place::new();
    let anew = with(&[
        "training.reinitialise=every 3",
        "training.reinitialise_strategy=always",
    ]);
    place
        .smoke("whole", &[&anew[..], &["run.max_iterations=4"]].concat())
        .succeeded();
    // Left right before the advantage networks start anew.
    place.smoke("parts", &anew).succeeded();
    place.resume("parts", &["run.max_iterations=4"]).succeeded();
    assert_same_run(&place, "whole", "parts", 1);
    let steps = |folder: &str| {
        let manifest: serde_json::Value =
            serde_json::from_slice(&place.file(&format!("{folder}/manifest.json"))).unwrap();
        let networks = manifest["networks"].as_array().unwrap().clone();
        let steps = networks.into_iter().map(|network| network["step"].as_u64());
        steps.map(Option::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(steps("whole/iteration_00002"), [8, 8, 4]);
    assert_eq!(steps("whole/iteration_00003"), [4, 4, 4]);
    assert_eq!(steps("whole/iteration_00004"), [8, 8, 4]);
}

#[test]
fn scaled_targets_and_held_out_rows_go_on_exactly() {
    let place = Place::new();
    let sets = with(&[
        "training.target_scaling=rms",
        "training.held_out=0.2",
        "training.keep=best_heldout",
        "training.held_out_checks=3",
        "optimization.advantage_first_open_fraction=0.3",
    ]);
    place
        .smoke("whole", &[&sets[..], &["run.max_iterations=4"]].concat())
        .succeeded();
    place.smoke("parts", &sets).succeeded();
    place.resume("parts", &["run.max_iterations=4"]).succeeded();
    assert_same_run(&place, "whole", "parts", 1);
    for row in place.rows("whole") {
        let figure = |name: &str| row[name].as_f64().unwrap();
        for player in 0..2 {
            let scale = figure(&format!("loss/advantage_scale_player_{player}"));
            // Points of Lost Cities, weighted up.
            assert!(scale > 5.0, "{scale}");
        }
        // A held-out loss is that of few rows, and importance weights are rare and large.
        for (name, most) in [("loss/advantage", 10.0), ("loss/advantage_held_out", 100.0)] {
            assert!(
                (0.1..most).contains(&figure(name)),
                "{name} {}",
                figure(name)
            );
        }
        assert!(figure("loss/strategy_held_out") > 0.0);
    }
    // In points again: a network that was scaled goes on as what it means.
    let sets = ["training.target_scaling=none", "run.max_iterations=5"];
    place.resume("whole", &sets).succeeded();
    let last = place.rows("whole").pop().unwrap();
    assert!(last.get("loss/advantage_scale_player_0").is_none());
    assert!(last["loss/advantage"].as_f64().unwrap() > 25.0);
}

#[test]
fn without_replay_contents_a_run_goes_on_with_empty_memories() {
    let place = Place::new();
    let sets = ["checkpoint.exact_resume=false", "run.max_iterations=2"];
    place.smoke("run", &sets).succeeded();
    assert!(!place.path("run/strategy.journal").exists());
    let ended = place.resume("run", &["run.max_iterations=3"]).succeeded();
    ended.said(&["WARN", "memories start empty"]);
    let rows = place.rows("run");
    let size = |row: usize| rows[row]["memory/strategy"].as_u64().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(size(1) > size(0) && size(2) < size(1));
    // A run that kept them until now and does not want them any more.
    place.smoke("kept", &[]).succeeded();
    let sets = ["run.max_iterations=3", "checkpoint.exact_resume=false"];
    place
        .resume("kept", &sets)
        .succeeded()
        .said(&["WARN", "memories start empty"]);
    assert_eq!(
        place.rows("kept")[2]["memory/strategy"],
        rows[2]["memory/strategy"]
    );
}

#[test]
fn an_older_checkpoint_goes_on_elsewhere_only() {
    let place = Place::new();
    place
        .smoke("run", &with(&["run.max_iterations=3"]))
        .succeeded();
    let before = place.contents("run");
    let ended = place.resume("run/iteration_00002", &[]);
    ended.refused(&[
        "iteration 2",
        "got to 3",
        "resume run to go on",
        "--run-dir",
    ]);
    assert!(place.contents("run") == before, "a refusal changed the run");
    let elsewhere = [
        "train",
        "--resume",
        "run/iteration_00002",
        "--run-dir",
        "branch",
    ];
    place.run(&elsewhere).succeeded();
    assert_same_run(&place, "run", "branch", 2);
    assert!(place.contents("run") == before, "a branch changed the run");
}

#[test]
fn a_branch_that_is_left_before_its_first_iteration_goes_on() {
    let place = Place::new();
    place
        .smoke("run", &with(&["run.max_iterations=3"]))
        .succeeded();
    let elsewhere = [
        "train",
        "--resume",
        "run/iteration_00001",
        "--run-dir",
        "branch",
    ];
    let nothing = [&elsewhere[..], &["--set", "run.max_iterations=1"]].concat();
    place
        .run(&nothing)
        .succeeded()
        .said(&["checkpoint of iteration 1 in branch/latest"]);
    place
        .resume("branch", &["run.max_iterations=3"])
        .succeeded();
    assert_same_run(&place, "run", "branch", 1);
}

#[test]
fn a_run_that_has_nothing_left_to_do_says_so_and_changes_nothing() {
    let place = Place::new();
    place.smoke("run", &[]).succeeded();
    let before = place.contents("run");
    let ended = place.resume("run", &[]).succeeded();
    ended.said(&[
        "nothing left to do",
        "run.max_iterations",
        "checkpoint of iteration 2 in run/latest",
    ]);
    assert!(place.contents("run") == before);
}

#[test]
fn a_row_that_was_lost_behind_its_checkpoint_comes_back() {
    let place = Place::new();
    place.smoke("run", &[]).succeeded();
    let rows = place.rows("run");
    let metrics = place.text("run/metrics.jsonl");
    let first = metrics.lines().next().unwrap();
    std::fs::write(
        place.path("run/metrics.jsonl"),
        format!("{first}\n{{\"iter"),
    )
    .unwrap();
    place.resume("run", &["run.max_iterations=3"]).succeeded();
    let mut again = place.rows("run");
    assert_eq!(again.pop().unwrap()["iteration"], 3);
    assert_same_rows(rows, again);
}

#[test]
fn a_checkpoint_of_another_network_or_other_rules_is_refused() {
    let place = Place::new();
    place.smoke("run", &["run.max_iterations=1"]).succeeded();
    let before = place.contents("run");
    for (set, words) in [
        ("network.hidden_size=48", ["parameters", "`network`"]),
        (
            "encoding.slot_aware_playability=false",
            ["parameters", "`encoding`"],
        ),
        ("encoding.kind=cards", ["parameters", "`encoding`"]),
        (
            "rules.hand_size=6",
            ["other rules", "rules.hand_size = 8 there, 6 here"],
        ),
        (
            "replay.advantage_capacity=50",
            ["advantage_0.journal", "replay.*_capacity"],
        ),
    ] {
        let ended = place.resume("run", &[set, "run.max_iterations=2"]);
        ended.refused(&words);
        assert!(place.contents("run") == before, "{set} changed the run");
    }
    place.resume("run", &["run.max_iterations=2"]).succeeded();
}

#[test]
fn damage_is_refused_by_name_and_another_checkpoint_serves() {
    let place = Place::new();
    place.smoke("run", &with(&[])).succeeded();
    let flip = |file: &str| {
        let mut content = place.file(file);
        let middle = content.len() / 2;
        content[middle] ^= 4;
        std::fs::write(place.path(file), content).unwrap();
    };
    flip("run/strategy.journal");
    let more = "run.max_iterations=3";
    let ended = place.resume("run", &[more]);
    ended.refused(&[
        "strategy.journal",
        "damaged",
        "checkpoint.exact_resume = false",
    ]);
    flip("run/strategy.journal");
    flip("run/latest/networks.safetensors");
    place.resume("run", &[more]).refused(&[
        "run/latest/networks.safetensors",
        "damaged",
        "another checkpoint",
    ]);
    std::fs::remove_file(place.path("run/latest/manifest.xxh3")).unwrap();
    place
        .resume("run", &[more])
        .refused(&["run/latest/manifest.xxh3", "missing"]);
    place.resume("run/iteration_00002", &[more]).succeeded();
    place.smoke("whole", &with(&[more])).succeeded();
    assert_same_run(&place, "whole", "run", 1);
    // The remedy that is named for a damaged journal serves too.
    flip("run/strategy.journal");
    let sets = ["run.max_iterations=4", "checkpoint.exact_resume=false"];
    place
        .resume("run", &sets)
        .succeeded()
        .said(&["memories start empty"]);
    assert_eq!(place.rows("run").len(), 4);
}

#[test]
fn what_is_not_there_cannot_go_on_and_what_is_taken_stays() {
    let place = Place::new();
    place
        .resume("nowhere", &[])
        .refused(&["no checkpoint at nowhere", "latest/"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    place
        .resume("empty", &[])
        .refused(&["no checkpoint at empty"]);
    assert!(!place.path("nowhere").exists() && !place.path("runs").exists());
    place.smoke("run", &["run.max_iterations=1"]).succeeded();
    let before = place.contents("run");
    place
        .smoke("run", &[])
        .refused(&["run already holds a run", "--resume run"]);
    place
        .run(&["train", "--resume", "run", "--run-dir", "run"])
        .refused(&["run already holds a run"]);
    assert!(place.contents("run") == before);
}
