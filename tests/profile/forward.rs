//! `profile forward`.

use crate::program::{Ended, run};
use serde_json::Value;

fn forward(arguments: &[&str]) -> Ended {
    let place = tempfile::tempdir().unwrap();
    let mut all = vec!["profile", "forward"];
    all.extend(arguments);
    run(place.path(), &all)
}

#[test]
fn every_head_of_the_configuration_is_measured_in_every_way() {
    let small = [
        "--set",
        "network.hidden_size=16",
        "--batches",
        "4,1,64",
        "--json",
    ];
    let ended = forward(&small);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let heads: Vec<Value> = serde_json::from_str(&ended.stdout).expect("a JSON array");
    let names: Vec<&str> = heads
        .iter()
        .filter_map(|head| head["head"].as_str())
        .collect();
    assert_eq!(names, ["advantage_0", "advantage_1", "strategy"]);
    for head in &heads {
        assert_eq!(head["widths"].as_array().unwrap()[1], 16);
        let ways = head["ways"].as_array().unwrap();
        assert!(
            ways.iter().any(|way| way["way"] == "torch, 1 thread"),
            "{head}"
        );
        assert!(
            ways.iter().any(|way| way["way"] == "packed, 1 lane"),
            "{head}"
        );
        for way in ways {
            let points = way["points"].as_array().unwrap();
            let batches: Vec<_> = points.iter().filter_map(|p| p["batch"].as_u64()).collect();
            assert_eq!(batches, [1, 4, 64]);
            // What a state costs depends on the machine's mood; how the columns follow from each other does not.
            let alone = points[0]["us_per_state"].as_f64().unwrap();
            for point in points {
                let number = |name: &str| point[name].as_f64().unwrap();
                let state = number("us_per_state");
                assert!(state > 0.0 && state.is_finite(), "{way}");
                let call = number("batch") * state;
                assert!((number("us_per_call") / call - 1.0).abs() < 1e-9, "{way}");
                let speed_up = alone / state;
                assert!((number("speed_up") / speed_up - 1.0).abs() < 1e-9, "{way}");
            }
            assert!(way["flat_from"].is_u64());
        }
    }
}

#[test]
fn a_given_shape_is_measured_alone_and_printed_as_a_table() {
    let ended = forward(&["--shape", "20,8,8,3", "--batches", "1,32"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stdout
            .starts_with("the given shape: 20 - 8 - 8 - 3, 267 parameters"),
        "{}",
        ended.stdout
    );
    for word in ["µs/call", "µs/state", "speed-up", "1.0x", "torch, 1 thread"] {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
}

#[test]
fn bad_shapes_and_batches_are_refused_with_the_remedy() {
    for (arguments, told) in [
        (["--shape", "365"], "two widths at least"),
        (["--shape", "365,512,256,22"], "equally wide"),
        (["--shape", "365,99999,22"], "network.hidden_size is 99999"),
        (["--shape", "365,-1,22"], "--shape"),
        (["--batches", "1,0"], "has 0"),
    ] {
        let ended = forward(&arguments);
        assert!(
            matches!(ended.code, Some(1 | 2)),
            "{arguments:?}: {ended:?}"
        );
        assert!(
            ended.stderr.contains(told),
            "{arguments:?}: {}",
            ended.stderr
        );
    }
}
