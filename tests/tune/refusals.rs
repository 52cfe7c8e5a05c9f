//! What is refused before anything is measured.

use crate::program::{Place, smoke};
use coorl_async::tuning::{Grid, GridError, List};

#[test]
fn lists_are_sorted_and_values_out_of_range_are_named() {
    assert_eq!(List::Timeouts.parse("200, 0,200,50"), Ok(vec![0, 50, 200]));
    for (list, text, words) in [
        (List::Batches, "0", "--max-batches: \"0\""),
        (List::InFlight, "0,8", "--in-flight: \"0\""),
        (List::Batches, "64,65537", "\"65537\""),
        (List::Timeouts, "60000001", "to 60000000"),
        (
            List::Timeouts,
            "99999999999999999999999",
            "99999999999999999999999",
        ),
        (List::Timeouts, "1,,2", "\"\""),
        (List::Timeouts, "-1", "\"-1\""),
        (List::Batches, "1e3", "\"1e3\""),
        (List::Batches, " ", "--max-batches is empty"),
    ] {
        let told = list.parse(text).unwrap_err().to_string();
        assert!(told.contains(words), "{text}: {told}");
    }
    let long: Vec<String> = (1..=Grid::LONGEST + 1)
        .map(|value| value.to_string())
        .collect();
    let told = List::Batches.parse(&long.join(",")).unwrap_err();
    assert!(matches!(told, GridError::Long { values: 33, .. }), "{told}");
}

#[test]
fn the_program_refuses_before_it_measures() {
    let place = Place::new();
    let refused = |more: &[&str], words: &[&str]| {
        let ended = place.run(&[&smoke("out")[..], more].concat());
        assert_eq!(ended.code, Some(1), "{more:?}: {}", ended.stderr);
        for word in words {
            assert!(
                ended.stderr.contains(word),
                "no {word:?} in {}",
                ended.stderr
            );
        }
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        assert!(!place.path("out").exists(), "{more:?} left a folder");
    };
    refused(
        &["--max-batches", "0"],
        &["--max-batches", "\"0\"", "1 to 65536"],
    );
    refused(&["--timeouts", ""], &["--timeouts is empty"]);
    refused(&["--timeouts", "70000000"], &["70000000", "0 to 60000000"]);
    refused(
        &["--in-flight", "8,100"],
        &["100 walks", "only 16", "traversals_per_player=50"],
    );
    refused(&["--budget", "0"], &["--budget 0", "above 0"]);
    refused(&["--budget=-5"], &["--budget -5"]);
    refused(&["--budget", "nan"], &["--budget NaN"]);
    refused(
        &["--set", "inference.max_batch=0"],
        &["inference.max_batch"],
    );
    refused(&["--set", "run.device=cuda:255"], &["run.device"]);
    refused(&["--checkpoint", "nowhere"], &["nowhere"]);
}

#[test]
fn a_folder_with_a_sweep_in_it_is_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).unwrap();
    std::fs::write(place.path("out/points.json"), "mine").unwrap();
    let ended = place.run(&smoke("out"));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("out already holds a sweep's points.json"),
        "{}",
        ended.stderr
    );
    assert_eq!(place.text("out/points.json"), "mine");
}
