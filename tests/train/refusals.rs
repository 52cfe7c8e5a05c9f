//! What is refused before anything starts: nothing is made, and the message names key and source.

use crate::program::{Ended, Place, smoke_config};

/// Runs `train` with these arguments and environment where a run would go to `runs/`.
#[track_caller]
fn refused(
    place: &Place,
    arguments: &[&str],
    environment: &[(&str, &str)],
    words: &[&str],
) -> Ended {
    let mut command = place.command(&[&["train"], arguments].concat());
    command.envs(environment.iter().copied());
    let ended = crate::program::ended(command).refused(words);
    assert!(!place.path("runs").exists(), "{arguments:?} made a folder");
    assert_eq!(ended.stdout, "");
    ended
}

#[test]
fn a_configuration_with_a_mistake_makes_no_folder() {
    let place = Place::new();
    std::fs::write(place.path("a.yaml"), "run:\n  seed: 3\n  sead: 4\n").unwrap();
    std::fs::write(place.path("broken.yaml"), "run: [1, 2\n").unwrap();
    std::fs::write(place.path("a.ini"), "seed=1\n").unwrap();
    let smoke = ["--config", smoke_config()];
    let set = |text| [&smoke[..], &["--set", text]].concat();
    for (arguments, words) in [
        (
            set("run.sead=4"),
            ["run.sead", "--set run.sead=4", "run.seed"],
        ),
        (
            set("run.seed=-1"),
            ["run.seed", "--set run.seed=-1", "allowed"],
        ),
        (
            set("network.activation=sofsplus"),
            ["network.activation", "--set network.activation", "relu"],
        ),
        (
            // No machine has so many, and this one perhaps none.
            set("run.device=cuda:255"),
            ["run.device", "cuda:255", "--set run.device=cpu"],
        ),
        (set("nonsense"), ["nonsense", "--set", "="]),
        (
            vec!["--config", "a.yaml"],
            ["run.sead", "a.yaml:3", "run.seed"],
        ),
        (
            vec!["--config", "broken.yaml"],
            ["broken.yaml", "refused", "line"],
        ),
        (
            vec!["--config", "a.ini"],
            ["a.ini", "mapping of sections", "refused"],
        ),
        (
            vec!["--config", "none.yaml"],
            ["none.yaml", "No such file", "refused"],
        ),
        (
            set("evaluation.opponents=[]"),
            ["evaluation.opponents", "contradiction", "eval_every"],
        ),
    ] {
        refused(&place, &arguments, &[], &words);
    }
    let variable = [("COORL_RUN__MAX_ITERATIONS", "many")];
    refused(
        &place,
        &smoke,
        &variable,
        &["run.max_iterations", "COORL_RUN__MAX_ITERATIONS"],
    );
    refused(
        &place,
        &smoke,
        &[("RUST_LOG", "a=b=c")],
        &["RUST_LOG=a=b=c"],
    );
}

#[test]
fn every_mistake_is_told_at_once() {
    let place = Place::new();
    let arguments = ["--set", "run.sead=4", "--set", "network.hidden_size=0"];
    let variable = [("COORL_REPLAY__STRATEGY_CAPACITY", "-5")];
    let words = [
        "3 problems",
        "run.sead",
        "network.hidden_size",
        "replay.strategy_capacity",
    ];
    refused(&place, &arguments, &variable, &words);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let place = Place::new();
    std::fs::write(place.path("file"), "").unwrap();
    place
        .smoke("file/run", &[])
        .refused(&["file/run", "--run-dir"]);
}
