//! What a profiled run leaves.

use crate::program::{Ended, command, ended, losses, repository, run};
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

fn profile(folder: &Path, out: &str, more: &[&str]) -> Ended {
    let config = repository("configs/smoke.yaml");
    let mut arguments = vec!["profile", "run", "--config", &config, "--out", out];
    arguments.extend(more);
    run(folder, &arguments)
}

/// The events of a trace.
fn events(path: &Path) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).expect("a JSON array")
}

/// Names of the spans that began.
fn begun(events: &[Value]) -> BTreeSet<&str> {
    let begun = events.iter().filter(|event| event["ph"] == "B");
    begun.filter_map(|event| event["name"].as_str()).collect()
}

#[test]
fn five_runs_end_with_the_results_of_a_run_without_a_profiler() {
    let place = tempfile::tempdir().unwrap();
    let config = repository("configs/smoke.yaml");
    let sets = ["--set", "traversal.traversals_per_player=40"];
    let mut plain = vec!["train", "--config", &config, "--run-dir", "plain"];
    plain.extend(sets);
    assert_eq!(run(place.path(), &plain).code, Some(0));
    let expected = losses(&place.path().join("plain/metrics.jsonl"));
    assert_eq!(expected.len(), 2);
    for number in 0..5 {
        let out = format!("out{number}");
        let mut more = vec!["--iterations", "2", "--frequency", "1000"];
        more.extend(sets);
        let ended = profile(place.path(), &out, &more);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let out = place.path().join(out);
        assert_eq!(losses(&out.join("run/metrics.jsonl")), expected);
        let svg = fs::read_to_string(out.join("flamegraph.svg")).unwrap();
        assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
        let phases = fs::read_to_string(out.join("phases.md")).unwrap();
        assert!(phases.contains("2 complete iterations") && phases.contains("| traversal |"));
        assert!(ended.stdout.contains(phases.trim()), "{}", ended.stdout);
        assert!(!ended.stderr.contains("cpu profiler"), "{}", ended.stderr);
        let folded = fs::read_to_string(out.join("stacks.folded")).unwrap();
        let counted = folded.lines().all(|line| {
            let count = line.rsplit_once(' ').map(|(_, count)| count.parse::<u64>());
            matches!(count, Some(Ok(1..)))
        });
        assert!(counted && folded.lines().count() > 0, "{folded}");
        let events = events(&out.join("trace.json"));
        let expected = [
            "advantage fit",
            "batch",
            "checkpoint",
            "evaluation",
            "strategy fit",
            "traversal",
        ];
        assert_eq!(begun(&events), BTreeSet::from(expected));
        let batch = events
            .iter()
            .find(|event| event["name"] == "batch")
            .unwrap();
        let rows: usize = batch["args"]["rows"].as_str().unwrap().parse().unwrap();
        assert!(
            (1..=80).contains(&rows) && batch["args"]["head"].is_string(),
            "{batch}"
        );
        assert!(
            ["Quiescent", "Timeout", "Full"].contains(&batch["args"]["reason"].as_str().unwrap())
        );
        assert!(events.iter().any(|event| event["name"] == "flush"));
    }
}

#[test]
fn walks_and_network_calls_are_found_by_name() {
    let place = tempfile::tempdir().unwrap();
    let long = [
        "--iterations",
        "2",
        "--frequency",
        "1000",
        "--set",
        "traversal.traversals_per_player=1000",
        // For names of C++ functions below the walks.
        "--set",
        "inference.kernels=torch",
    ];
    let ended = profile(place.path(), "out", &long);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let folded = fs::read_to_string(place.path().join("out/stacks.folded")).unwrap();
    let frame = |name: &str| {
        let in_walks = folded.lines().filter(|line| line.starts_with("walks;"));
        in_walks.filter(|line| line.contains(name)).count()
    };
    assert!(
        frame("coorl_async::traversal::") > 0,
        "no walk in\n{folded}"
    );
    assert!(
        frame("coorl_async::inference::lane::") > 0,
        "no lane in\n{folded}"
    );
    assert!(frame("at::_ops::addmm") > 0, "no C++ name in\n{folded}");
    let phases = fs::read_to_string(place.path().join("out/phases.md")).unwrap();
    assert!(
        phases.contains("| `walks` |") && phases.contains("| `inference::lane` |"),
        "{phases}"
    );
}

#[test]
fn a_sampler_that_cannot_start_costs_the_flamegraph_and_not_the_run() {
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
        "1",
    ];
    let mut command = command(place.path(), &arguments);
    // The sampler wants a temporary file.
    command.env("TMPDIR", place.path().join("missing"));
    let ended = ended(command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("WARN the sampler cannot be used here"),
        "{}",
        ended.stderr
    );
    let out = place.path().join("out");
    assert!(!out.join("flamegraph.svg").exists());
    assert!(
        fs::read_to_string(out.join("phases.md"))
            .unwrap()
            .contains("| traversal |")
    );
    assert!(begun(&events(&out.join("trace.json"))).contains("traversal"));
}

#[test]
fn folders_are_new_by_themselves_and_taken_ones_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let config = repository("configs/smoke.yaml");
    let arguments = ["profile", "run", "--config", &config, "--iterations", "1"];
    for _ in 0..2 {
        let ended = run(place.path(), &arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let made = fs::read_dir(place.path().join("profiles/runs")).unwrap();
    let made: Vec<_> = made.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(made.len(), 2, "{made:?}");
    assert!(
        made.iter()
            .all(|path| path.join("run/metrics.jsonl").is_file())
    );
    let taken = profile(place.path(), made[0].to_str().unwrap(), &[]);
    assert_eq!(taken.code, Some(1));
    assert!(taken.stderr.contains("already has a"), "{}", taken.stderr);
    let refused = profile(place.path(), "new", &["--iterations", "0"]);
    assert!(
        refused.code == Some(2) && refused.stderr.contains("--iterations"),
        "{refused:?}"
    );
    fs::write(place.path().join("file"), "").unwrap();
    let refused = profile(place.path(), "file", &[]);
    assert!(
        refused.code == Some(1) && refused.stderr.contains("--out"),
        "{refused:?}"
    );
}
