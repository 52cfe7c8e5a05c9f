//! Networks that diverge, disks that are full.

use crate::program::{Ended, Place, smoke};
use std::os::unix::process::CommandExt;

/// Settings under which every network soon leaves the numbers.
const DIVERGING: [&str; 4] = [
    "optimization.learning_rate=100",
    "optimization.grad_clip=0",
    "network.num_layers=12",
    "optimization.advantage_updates_per_iteration=30",
];

#[test]
fn networks_that_diverge_are_counted_and_warned_of() {
    let place = Place::new();
    let sets = [
        &DIVERGING[..],
        &["evaluation.eval_every=0", "run.max_iterations=3"],
    ]
    .concat();
    let ended = place.smoke("run", &sets).succeeded();
    ended.said(&[
        "WARN",
        "optimizer steps were skipped",
        "optimization.learning_rate",
    ]);
    let rows = place.rows("run");
    assert_eq!(rows.len(), 3);
    let last = &rows[2];
    assert_eq!(last["amp/nonfinite_loss_count"], 64, "2 x 30 + 4 steps");
    assert!(
        last["traversal/nodes"].as_f64() > Some(1_000.0),
        "walks go on"
    );
    assert_eq!(place.text("run/train.log").matches("warning: ").count(), 3);
    place.resume("run", &["run.max_iterations=4"]).succeeded();
}

#[test]
fn a_strategy_that_is_no_number_cannot_be_evaluated() {
    let place = Place::new();
    let sets = [&DIVERGING[..], &["evaluation.eval_every=1"]].concat();
    let ended = place.smoke("run", &sets);
    ended.refused(&[
        "iteration 1 failed",
        "not a finite number",
        "optimization.learning_rate",
    ]);
    assert!(
        place
            .text("run/train.log")
            .contains("error: iteration 1 failed")
    );
}

/// Runs where no file can grow beyond `bytes`.
fn with_small_files(place: &Place, bytes: u64, arguments: &[&str]) -> Ended {
    let mut command = place.command(arguments);
    // SAFETY: both calls are safe between fork and exec. With the signal ignored, a write beyond the limit is an error.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let limit = libc::rlimit {
                rlim_cur: bytes,
                rlim_max: bytes,
            };
            match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    crate::program::ended(command)
}

#[test]
fn a_write_that_fails_ends_the_run_with_its_cause_and_what_is_saved_goes_on() {
    let place = Place::new();
    let sets = ["run.max_iterations=3"];
    place.smoke("whole", &sets).succeeded();
    let size = |file: &str| place.file(&format!("whole/{file}")).len() as u64;
    // The largest file of a run is a journal: its second or third part does not fit.
    let limit = size("strategy.journal") * 3 / 5;
    let ended = with_small_files(&place, limit, &smoke("journal", &sets));
    let ended = ended.refused(&[
        "strategy.journal",
        "File too large",
        "exact_resume",
        "is saved in journal/latest",
    ]);
    assert_eq!(
        ended.stderr.matches("File too large").count(),
        1,
        "{}",
        ended.stderr
    );
    let done = place.rows("journal").len();
    assert!((1..3).contains(&done), "{done} rows");
    assert!(
        ended
            .stderr
            .contains(&format!("iteration {} failed", done + 1)),
        "{}",
        ended.stderr
    );
    place.resume("journal", &[]).succeeded();
    crate::program::assert_same_rows(place.rows("whole"), place.rows("journal"));
    // Without journals the first thing that does not fit is the checkpoint.
    let sets = ["checkpoint.exact_resume=false"];
    let limit = size("latest/networks.safetensors") / 2;
    let ended = with_small_files(&place, limit, &smoke("checkpoint", &sets));
    ended.refused(&[
        "iteration 1 failed",
        "networks.safetensors",
        "File too large",
        "free space",
    ]);
    assert!(!place.path("checkpoint/latest").exists());
    assert!(!place.path("checkpoint/latest.new").exists());
}
