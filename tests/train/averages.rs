//! The average strategy as past networks, and its exploitability.

use crate::program::{Place, assert_same_rows};
use serde_json::{Map, Value};

pub const KUHN: [&str; 12] = [
    "evaluation.eval_every=1",
    "game=kuhn",
    "traversal.sampling_mode=external",
    "traversal.max_nodes_per_traversal=null",
    "training.updates=alternating",
    "training.target_scaling=rms",
    "traversal.traversals_per_player=50",
    "averaging.scheme=single_network",
    "evaluation.exploitability_every=1",
    "evaluation.games=20",
    "checkpoint.save_every=1",
    "replay.advantage_capacity=300",
];

fn kuhn<'a>(more: &[&'a str]) -> Vec<&'a str> {
    KUHN.iter().copied().chain(more.iter().copied()).collect()
}

fn number(row: &Map<String, Value>, name: &str) -> f64 {
    let value = row.get(name).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no {name} in {row:?}"))
}

#[test]
fn past_networks_make_the_average_and_go_on_with_the_run() {
    let place = Place::new();
    let whole = place
        .smoke("whole", &kuhn(&["run.max_iterations=6"]))
        .succeeded();
    assert!(whole.stdout.contains("NashConv"), "{}", whole.stdout);
    place
        .smoke("parts", &kuhn(&["run.max_iterations=3"]))
        .succeeded();
    place.resume("parts", &["run.max_iterations=6"]).succeeded();
    assert_same_rows(place.rows("whole"), place.rows("parts"));
    let journal = |run| place.file(&format!("{run}/policies.journal"));
    assert!(journal("whole") == journal("parts"));

    let rows = place.rows("whole");
    for row in &rows {
        assert_eq!(row["loss/strategy"], 0.0, "the strategy network was fitted");
        for name in ["nash_conv_average", "nash_conv_current"] {
            let nash_conv = number(row, &format!("exploitability/{name}"));
            assert!((0.0..4.0).contains(&nash_conv), "{name} {nash_conv}");
        }
    }
    // After one iteration the average is what that iteration walked with: random networks, and not those it fitted.
    let first = &rows[0];
    assert_ne!(
        first["exploitability/nash_conv_average"],
        first["exploitability/nash_conv_current"]
    );

    // A branch from the middle writes a journal of its own.
    place
        .run(&[
            "train",
            "--resume",
            "whole/iteration_00003",
            "--run-dir",
            "branch",
        ])
        .succeeded();
    assert_same_rows(place.rows("whole")[2..].to_vec(), place.rows("branch"));
    assert!(journal("whole") == journal("branch"));
}

#[test]
fn a_byte_budget_keeps_fewer_networks() {
    let place = Place::new();
    // A pair of these networks takes 1.6 MiB.
    let sets = kuhn(&[
        "network.hidden_size=450",
        "averaging.budget_mib=4",
        "run.max_iterations=5",
    ]);
    place.smoke("run", &sets).succeeded();
    let manifest: Value = serde_json::from_str(&place.text("run/latest/manifest.json")).unwrap();
    let policies = manifest["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 2, "{policies:?}");
    let weight: f64 = policies
        .iter()
        .map(|policy| policy["weight"].as_f64().unwrap())
        .sum();
    assert_eq!(weight, 15.0);
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new();
    let average = [
        "averaging.scheme=single_network",
        "traversal.opponent_policy=average_strategy",
    ];
    place
        .smoke("run", &average)
        .refused(&["opponent_policy", "averaging.scheme = single_network"]);
    place
        .smoke("run", &["evaluation.exploitability_every=1"])
        .refused(&["evaluation.exploitability_every", "deals"]);
    place.smoke("kuhn", &kuhn(&[])).succeeded();
    place
        .resume("kuhn", &["game=leduc"])
        .refused(&["kuhn", "leduc", "game"]);
    let mut journal = place.file("kuhn/policies.journal");
    journal[10] ^= 1;
    std::fs::write(place.path("kuhn/policies.journal"), journal).unwrap();
    place
        .resume("kuhn", &["run.max_iterations=3"])
        .refused(&["policies.journal", "damaged"]);
}
