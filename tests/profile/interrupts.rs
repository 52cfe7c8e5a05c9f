//! Ctrl-C under the profiler.

use crate::program::{command, repository};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::Stdio,
    time::{Duration, Instant},
};

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
    let mut child = command(place.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("[i=3]") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    let id = i32::try_from(child.id()).unwrap();
    // SAFETY: a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    // Its output is read so that it can go on writing.
    let rest = std::thread::spawn(move || {
        let mut said = String::new();
        stderr.read_to_string(&mut said).map(|_| said)
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("it did not leave");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let said = rest.join().unwrap().unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("profile written to out"), "{said}");
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
