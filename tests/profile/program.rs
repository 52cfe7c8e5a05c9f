//! Running the program, and reading what it left.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// No command of these tests takes longer on a machine that is not broken: one that does hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// `coorl-async ARGUMENTS` in `folder`, without settings from this process's environment.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coorl-async"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("COORL_") || text == "RUST_LOG" {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command to its end; one that hangs is ended and fails the test.
pub fn finish(command: &mut Command) -> Ended {
    let place = tempfile::tempdir().expect("a temporary folder");
    let (out, err) = (place.path().join("out"), place.path().join("err"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut child = command
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .expect("the program starts");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("its state") {
            break status;
        }
        if started.elapsed() > LIMIT {
            child.kill().expect("it can be ended");
            panic!(
                "it hangs: {}",
                std::fs::read_to_string(&err).unwrap_or_default()
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    Ended {
        code: status.code(),
        stdout: read(&out),
        stderr: read(&err),
    }
}

pub fn run(folder: &Path, arguments: &[&str]) -> Ended {
    finish(&mut command(folder, arguments))
}

/// A file of this repository.
pub fn repository(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join(path)
        .to_str()
        .expect("a path in UTF-8")
        .to_owned()
}

/// The losses of a run, row by row.
pub fn losses(metrics: &Path) -> Vec<(Value, Value)> {
    let text = std::fs::read_to_string(metrics).expect("metrics");
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON object");
        (row["loss/advantage"].clone(), row["loss/strategy"].clone())
    };
    text.lines().map(row).collect()
}
