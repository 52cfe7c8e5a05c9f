//! The program from outside: started in a folder, run to its end, interrupted. For every test that does so.

#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// No run of these tests takes longer on a machine that is not broken: one that does hangs.
const LIMIT: Duration = Duration::from_secs(120);
/// How long a program may take to leave after Ctrl-C.
const LEAVE: Duration = Duration::from_secs(30);

/// What a run said, and how it ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// `coorl-async ARGUMENTS` in `folder`, without settings from this process's environment.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coorl-async"));
    command.args(arguments).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("COORL_") || text == "RUST_LOG" {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command to its end.
pub fn ended(command: Command) -> Ended {
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(LIMIT).output();
    let output = output.expect("the program runs and ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Runs a command until a line with `sign` on its standard error, sends it Ctrl-C, and waits until it left. What it said is told from the
/// line after that on.
pub fn interrupted(mut command: Command, sign: &str) -> Ended {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("its standard error"));
    let mut line = String::new();
    while !line.contains(sign) {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    let id = i32::try_from(child.id()).expect("a process number");
    // SAFETY: a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    // Its output is read so that it can go on writing.
    let mut stdout = child.stdout.take().expect("its standard output");
    let said = std::thread::spawn(move || text(&mut stderr));
    let printed = std::thread::spawn(move || text(&mut stdout));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("its state") {
            break status;
        }
        if started.elapsed() > LEAVE {
            child.kill().expect("it can be ended");
            panic!("it did not leave");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ended {
        code: status.code(),
        stdout: printed.join().expect("text"),
        stderr: said.join().expect("text"),
    }
}

fn text(from: &mut dyn Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).expect("UTF-8");
    text
}

/// A file of this repository.
pub fn repository(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join(path)
        .to_str()
        .expect("a path in UTF-8")
        .to_owned()
}
