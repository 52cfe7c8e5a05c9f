//! `profiles/gpu/check.sh` on the CPU: every step runs, and what was not measured says why.

#[path = "../outside/mod.rs"]
mod outside;

use outside::{Ended, ended, repository};
use std::{fs, path::Path, process::Command};

fn check(out: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new("sh");
    command.arg(repository("profiles/gpu/check.sh"));
    command.args(arguments).env("OUT", out);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("COORL_") {
            command.env_remove(&name);
        }
    }
    ended(command)
}

/// Python makes the table: on a machine without it there is none.
fn has_python() -> bool {
    let version = Command::new("python3").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// The cells of the row that begins with `what`.
fn row<'a>(table: &'a str, what: &str) -> Vec<&'a str> {
    let start = format!("| {what} |");
    let line = table.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("no row {what} in {table}"));
    line.split('|').map(str::trim).collect()
}

#[test]
fn a_dry_run_measures_every_row_and_judges_none() {
    if !has_python() {
        eprintln!("skipped: python3, which makes the table, is not here");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("check");
    let ended = check(&out, &["--cpu", env!("CARGO_BIN_EXE_coorl-async")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let table = &ended.stdout;
    assert!(!table.contains("failed"), "{table}");
    assert!(!table.contains("| yes |") && !table.contains("| no |"));
    for what in [
        "default iteration without evaluation",
        "- fits, 1,536 steps",
        "walks, 1,000 a player",
        "walks, 5,000 a player",
        "bf16: fits",
        "f16: walks",
        "`tune` recommends",
    ] {
        let value = row(table, what)[2].to_owned();
        assert!(value.contains(|c: char| c.is_ascii_digit()), "{what}");
    }
    assert_eq!(
        row(table, "default iteration without evaluation")[3..5],
        ["<= 1.0 s", "(dry run)"]
    );
    assert!(row(table, "fits, samples on the GPU")[2].starts_with("not run:"));
    // Both runs of the parity row are on the CPU here.
    let parity = "advantage loss beside a CPU run of the same seed, greatest relative difference of 3 iterations";
    assert_eq!(row(table, parity)[2], "0");
    assert_eq!(&fs::read_to_string(out.join("table.md")).unwrap(), table);
}

#[test]
fn a_step_that_fails_leaves_its_reason_and_no_number() {
    if !has_python() {
        eprintln!("skipped: python3, which makes the table, is not here");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("check");
    // A program that cannot do anything.
    let ended = check(&out, &["--cpu", "/bin/false"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let table = &ended.stdout;
    for what in [
        "`doctor`",
        "default iteration without evaluation",
        "walks, 5,000 a player",
        "`tune` recommends",
    ] {
        let cells = row(table, what);
        let failed = ["failed: exit code 1", "failed: as above"];
        assert!(failed.iter().any(|words| cells[2].starts_with(words)));
        assert!(matches!(cells[4], "" | "no"), "{cells:?}");
    }
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("kept"), "kept").unwrap();
    let ended = check(place.path(), &["--cpu", "/bin/false"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("is not empty"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}
