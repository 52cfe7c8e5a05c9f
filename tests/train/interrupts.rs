//! Ctrl-C: the iteration in hand is dropped, what was complete is saved, and the resumed run is the run that was not stopped.

use crate::program::{Place, assert_same_rows, smoke};
use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStderr, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// How long a run may take to leave.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run under way.
struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    /// Starts a run and waits until it listens.
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("its standard error"));
        let mut line = String::new();
        while !line.contains("run starts") && !line.contains("run goes on") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended early");
        }
        Self { child, stderr }
    }

    fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).unwrap();
        // SAFETY: a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    }

    /// Waits for the end; exit code and what was still said.
    fn end(mut self) -> (Option<i32>, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("it did not leave within {PATIENCE:?}");
            }
            sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(130), "{status}: {said}");
        (status.code(), said)
    }
}

fn wait_for(path: &Path, grown: impl Fn(&str) -> bool) {
    let started = Instant::now();
    while !std::fs::read_to_string(path).is_ok_and(|text| grown(&text)) {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{}",
            path.display()
        );
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_end() {
    let place = Place::new();
    let sets = [
        "run.max_iterations=6",
        "traversal.traversals_per_player=40",
        "replay.advantage_capacity=900",
        "replay.strategy_capacity=900",
    ];
    place.smoke("whole", &sets).succeeded();
    // In the walks, and later in the iteration.
    for (run, wait) in [("early", 5), ("late", 60)] {
        let running = Running::start(&place, &smoke(run, &sets));
        let metrics = place.path(&format!("{run}/metrics.jsonl"));
        wait_for(&metrics, |text| text.lines().count() >= 2);
        sleep(Duration::from_millis(wait));
        running.interrupt();
        let (_, said) = running.end();
        let done = place.rows(run).len();
        assert!((2..6).contains(&done), "{said}");
        for words in [
            "stopping".to_owned(),
            format!("interrupted in iteration {}", done + 1),
            format!("checkpoint of iteration {done} in {run}/latest"),
            format!("coorl-async train --resume {run}"),
        ] {
            assert!(said.contains(&words), "no {words:?} in {said}");
        }
        place.resume(run, &[]).succeeded();
        assert_same_rows(place.rows("whole"), place.rows(run));
        let networks = |run| place.file(&format!("{run}/latest/networks.safetensors"));
        assert!(networks("whole") == networks(run), "{run} ended elsewhere");
    }
}

#[test]
fn every_phase_ends_soon_and_the_first_iteration_can_be_taken_up() {
    let place = Place::new();
    let small = ["traversal.traversals_per_player=2", "run.max_iterations=1"];
    place.smoke("whole", &small).succeeded();
    for (run, long) in [
        ("walks", "traversal.traversals_per_player=1000000"),
        (
            "advantage",
            "optimization.advantage_updates_per_iteration=10000000",
        ),
        (
            "strategy",
            "optimization.strategy_updates_per_iteration=10000000",
        ),
        ("games", "evaluation.games=100000"),
    ] {
        let sets = [&small[..], &[long]].concat();
        let running = Running::start(&place, &smoke(run, &sets));
        sleep(Duration::from_millis(400));
        running.interrupt();
        let (_, said) = running.end();
        assert!(
            said.contains("interrupted in iteration 1,"),
            "{run}: {said}"
        );
        assert!(place.rows(run).is_empty());
        let short = [
            "traversal.traversals_per_player=2",
            "optimization.advantage_updates_per_iteration=4",
            "optimization.strategy_updates_per_iteration=4",
            "evaluation.games=8",
        ];
        place.resume(run, &short).succeeded();
        assert_same_rows(place.rows("whole"), place.rows(run));
    }
}

#[test]
fn a_second_signal_leaves_at_once_and_leaves_a_checkpoint_that_loads() {
    let place = Place::new();
    let sets = [
        "run.max_iterations=1000",
        "optimization.strategy_updates_per_iteration=40",
    ];
    for (number, wait) in [0, 1, 3].into_iter().enumerate() {
        let run = format!("run{number}");
        let running = Running::start(&place, &smoke(&run, &sets));
        wait_for(&place.path(&format!("{run}/metrics.jsonl")), |text| {
            !text.is_empty()
        });
        sleep(Duration::from_millis(30 * wait));
        running.interrupt();
        sleep(Duration::from_millis(wait));
        running.interrupt();
        running.end();
        let more = format!("run.max_iterations={}", place.rows(&run).len() + 2);
        place.resume(&run, &[&more]).succeeded();
    }
}
