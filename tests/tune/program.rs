//! The program from outside, on the smallest configuration.

use crate::outside::{Ended, command, ended, interrupted};
use coorl_async::{config, tuning::FILES};
use serde_json::Value;
use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

const SMOKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/smoke.yaml");

/// Eight settings with the configured one.
const LISTS: [&str; 6] = [
    "--timeouts",
    "0,2000",
    "--max-batches",
    "8,1024",
    "--in-flight",
    "4,16",
];

/// A folder to run in; it goes with the value.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        command(self.0.path(), arguments)
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments))
    }
}

/// `tune` on the smoke configuration into folder `out`.
pub fn smoke(out: &str) -> Vec<&str> {
    vec!["tune", "--config", SMOKE, "--out", out]
}

/// That every element of `svg` is closed by its own end, quotes and all.
pub fn check_svg(svg: &str) {
    assert!(svg.contains("<svg"), "{svg}");
    let mut open: Vec<String> = Vec::new();
    let mut rest = svg;
    while let Some((_, tag)) = rest.split_once('<') {
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        rest = after;
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        if tag.starts_with(['?', '!']) || tag.ends_with('/') {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name.trim()), "</{tag}>"),
            None => open.push(tag.split_whitespace().next().unwrap_or("").to_owned()),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn a_tiny_grid_end_to_end() {
    let place = Place::new();
    let ended = place.run(&[&smoke("out")[..], &LISTS, &["--rounds", "2"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .contains("the whole grid of 8 settings, in 2 rounds, to its end")
    );
    assert!(ended.stdout.contains("recommended") && ended.stdout.contains("| nodes/s |"));
    assert!(!ended.stdout.contains('\u{1b}'), "no redrawing in a pipe");
    for round in ["round 1, 8 measurements", "round 2, 16 measurements"] {
        assert!(ended.stderr.contains(round), "{}", ended.stderr);
    }
    let points: Value = serde_json::from_str(&place.text("out/points.json")).unwrap();
    let settings = points["points"].as_array().unwrap();
    assert_eq!(settings.len(), 8);
    let nodes = |round: usize| -> Vec<&Value> {
        let nodes = |point: &'_ Value| point["rounds"][round]["measurement"]["nodes"].clone();
        let first = nodes(&settings[0]);
        assert!(first.as_u64() > Some(100), "{first}");
        assert!(
            settings.iter().all(|point| nodes(point) == first),
            "other walks"
        );
        settings.iter().collect()
    };
    // Every setting walks the same walks in a round, and other ones in the next.
    nodes(0);
    nodes(1);
    let first = &settings[0]["rounds"];
    assert_ne!(
        first[0]["measurement"]["nodes"],
        first[1]["measurement"]["nodes"]
    );
    for point in settings {
        let share = point["forward_share"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{point}");
        assert!(point["batch_size_mean"].as_f64().unwrap() >= 1.0);
        let rows = &point["rounds"][0]["measurement"]["rows"];
        assert!(rows.as_u64() > Some(0));
        // Every setting walks the same walks: nothing of the warm-up is counted.
        assert_eq!(*rows, first[0]["measurement"]["rows"]);
        let most = point["setting"]["max_batch"].as_f64();
        assert!(point["batch_size_p99"].as_f64() <= most, "{point}");
    }
    check_svg(&place.text("out/timeouts.svg"));
    let loaded = config::load(
        &[PathBuf::from(SMOKE), place.path("out").join(FILES[3])],
        [],
        &[],
    );
    let config = loaded.unwrap().config;
    assert_eq!(
        Value::from(config.traversal.in_flight),
        points["recommended"]["in_flight"]
    );
    assert!(place.text("out/table.md").contains("- weights: random"));
}

#[test]
fn a_checkpoint_gives_the_weights_and_must_fit() {
    let place = Place::new();
    let train = ["train", "--config", SMOKE, "--run-dir", "run"];
    let trained = place.run(&[&train[..], &["--set", "run.max_iterations=1"]].concat());
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let one = [
        "--timeouts",
        "2000",
        "--max-batches",
        "1024",
        "--in-flight",
        "16",
        "--rounds",
        "1",
    ];
    let arguments = [&smoke("out")[..], &one, &["--checkpoint", "run"]].concat();
    let ended = place.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        place
            .text("out/table.md")
            .contains("checkpoint of iteration 1")
    );
    let other = [&smoke("other")[..], &["--checkpoint", "run"]].concat();
    for (set, words) in [
        ("network.hidden_size=16", "parameters"),
        ("rules.n_handshakes=2", "other rules"),
    ] {
        let ended = place.run(&[&other[..], &["--set", set]].concat());
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(
            ended.stderr.contains(words) && ended.stderr.contains("--config"),
            "{}",
            ended.stderr
        );
        assert!(!place.path("other").exists());
    }
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let place = Place::new();
    let command = place.command(&[&smoke("out")[..], &LISTS, &["--rounds", "1000"]].concat());
    let Ended {
        code,
        stdout,
        stderr,
    } = interrupted(command, "round 1,");
    assert_eq!(code, Some(130));
    assert!(
        stderr.contains("stopping: what was measured is kept"),
        "{stderr}"
    );
    assert!(stdout.contains("until it was interrupted"), "{stdout}");
    let points: Value = serde_json::from_str(&place.text("out/points.json")).unwrap();
    assert_eq!(points["ending"], "interrupted");
    assert!(!points["points"].as_array().unwrap().is_empty());
    for name in FILES {
        assert!(!place.text(&format!("out/{name}")).is_empty());
    }
}

#[test]
fn a_short_budget_says_that_the_grid_was_not_measured_whole() {
    let place = Place::new();
    let started = Instant::now();
    let ended = place.run(&[&smoke("out")[..], &["--budget", "4"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(
        ended.stdout.contains("coordinate descent"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("until the budget was used up"),
        "{}",
        ended.stdout
    );
}
