//! Ctrl-C under the profiler.

use crate::outside::{command, interrupted, repository};
use std::fs;

#[test]
fn an_interrupted_run_leaves_what_was_sampled() {
    let place = tempfile::tempdir().unwrap();
    let config = repository("configs/smoke.yaml");
    let arguments = [
        "profile",
        "run",
        "--config",
        &config,
        "--out",
        "out",
        "--iterations",
        "1000000",
    ];
    let ended = interrupted(command(place.path(), &arguments), "[i=3]");
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.contains("profile written to out"), "{ended:?}");
    let out = place.path().join("out");
    assert!(
        fs::read_to_string(out.join("flamegraph.svg"))
            .unwrap()
            .contains("<svg")
    );
    let trace = fs::read_to_string(out.join("trace.json")).unwrap();
    let trace: Vec<serde_json::Value> = serde_json::from_str(&trace).expect("a whole trace");
    assert!(!trace.is_empty());
}
