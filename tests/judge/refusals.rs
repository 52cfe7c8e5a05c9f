//! What is refused, and with which words; Ctrl-C.

use crate::{
    KUHN, SMALL,
    outside::interrupted,
    program::{Ended, Place},
    with,
};
use std::fs;

/// Refused with every one of `words` and nothing on standard output.
#[track_caller]
fn refused(place: &Place, arguments: &[&str], words: &[&str]) -> Ended {
    let ended = place.run(&with(&["evaluate"], arguments)).refused(words);
    assert_eq!(ended.stdout, "");
    ended
}

#[test]
fn arguments_that_make_no_sense() {
    let place = Place::new();
    place.smoke("small", &SMALL).succeeded();
    place.smoke("kuhn", &KUHN).succeeded();
    let other = with(&SMALL, &["rules.hand_size=5"]);
    place.smoke("other", &other).succeeded();
    for (arguments, words) in [
        (
            &["nowhere"][..],
            &["no checkpoint at nowhere", "run folder"][..],
        ),
        (
            &["small", "--opponents", "random,save_heuristic"],
            &[
                "--opponents",
                "save_heuristic",
                "nearest",
                "\"safe_heuristic\"",
            ],
        ),
        (
            &["kuhn", "--opponents", "safe_heuristic"],
            &["--opponents", "safe_heuristic", "known: random"],
        ),
        (
            &["small", "--against", "other"],
            &["different rules", "rules.hand_size = 5 there, 4 here"],
        ),
        (
            &["small", "--against", "kuhn"],
            &["different games", "lost_cities", "kuhn"],
        ),
        (
            &["small", "--against", "nowhere"],
            &["no checkpoint at nowhere"],
        ),
    ] {
        refused(&place, arguments, words);
    }
    for arguments in [
        &["small", "--games", "0"][..],
        &["small", "--games", "-2"],
        &["small", "--against", "small", "--opponents", "random"],
        &["small", "--policy", "bold"],
        &["small", "--threads", "0"],
        &[],
    ] {
        let ended = place.run(&with(&["evaluate"], arguments));
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn checkpoints_that_are_damaged() {
    let place = Place::new();
    place.smoke("kuhn", &KUHN).succeeded();
    fs::rename(place.path("kuhn/policies.journal"), place.path("journal")).unwrap();
    refused(&place, &["kuhn"], &["kuhn cannot play", "policies.journal"]);
    let current = ["evaluate", "kuhn", "--strategy", "current", "--games", "2"];
    place.run(&current).succeeded();
    fs::rename(place.path("journal"), place.path("kuhn/policies.journal")).unwrap();

    let networks = place.path("kuhn/latest/networks.safetensors");
    let whole = fs::read(&networks).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    for content in [&changed[..], &whole[..whole.len() / 2], &[]] {
        fs::write(&networks, content).unwrap();
        refused(&place, &["kuhn"], &["networks.safetensors", "damaged"]);
    }
    fs::write(&networks, &whole).unwrap();
    let manifest = place.path("kuhn/latest/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("external", "internal")).unwrap();
    refused(&place, &["kuhn"], &["manifest.json", "damaged"]);
}

#[test]
fn ctrl_c_ends_it_with_130_and_prints_nothing() {
    let place = Place::new();
    place.smoke("small", &SMALL).succeeded();
    let command = place.command(&["evaluate", "small", "--games", "9999999", "--json"]);
    let ended = interrupted(command, "are played");
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("interrupted"), "{}", ended.stderr);
}
