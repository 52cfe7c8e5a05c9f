//! Tabular external-sampling MCCFR, measured on its way.

use crate::run;
use coorl_async::evaluation::exploitability::{GameTree, TabularMccfr};
use std::time::{Duration, Instant};

/// From one measure to the next, nodes grow at least so much; the run's own points are measured besides.
const GROWTH: f64 = 1.2;

/// Where MCCFR stood.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub iterations: u64,
    pub nodes: u64,
    pub seconds: f64,
    pub average: f64,
    pub current: f64,
}

/// NashConv of MCCFR from its first iteration on.
pub struct Curve {
    pub points: Vec<Point>,
}

impl Curve {
    /// Runs until the nodes and the seconds of every point of `run` are reached, and measures at each of them.
    pub fn measure(tree: &GameTree, seed: u64, run: &[run::Point]) -> Self {
        let mut nodes: Vec<u64> = run.iter().map(|point| point.nodes).collect();
        let mut seconds: Vec<f64> = run.iter().map(|point| point.seconds).collect();
        nodes.sort_unstable_by(|a, b| b.cmp(a));
        seconds.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut mccfr = TabularMccfr::new(tree, seed);
        let mut spent = Duration::ZERO;
        let mut points = Vec::new();
        let mut next = 1.0;
        while !nodes.is_empty() || !seconds.is_empty() {
            // The clock is read seldom once there is much to do.
            let started = Instant::now();
            for _ in 0..(mccfr.iterations() / 256).clamp(1, 64) {
                mccfr.iterate();
            }
            spent += started.elapsed();
            let elapsed = spent.as_secs_f64();
            let mut due = mccfr.nodes() as f64 >= next;
            while nodes.last().is_some_and(|&goal| mccfr.nodes() >= goal) {
                due |= nodes.pop().is_some();
            }
            while seconds.last().is_some_and(|&goal| elapsed >= goal) {
                due |= seconds.pop().is_some();
            }
            if due {
                points.push(point(tree, &mccfr, elapsed));
                next = next.max(GROWTH * mccfr.nodes() as f64);
            }
        }
        Self { points }
    }

    /// The first point with at least so many nodes, the last one at the latest.
    pub fn at_nodes(&self, nodes: u64) -> Option<&Point> {
        let reached = self.points.iter().find(|point| point.nodes >= nodes);
        reached.or(self.points.last())
    }

    /// The first point after at least so many seconds, the last one at the latest.
    pub fn at_seconds(&self, seconds: f64) -> Option<&Point> {
        let reached = self.points.iter().find(|point| point.seconds >= seconds);
        reached.or(self.points.last())
    }
}

fn point(tree: &GameTree, mccfr: &TabularMccfr<'_>, seconds: f64) -> Point {
    Point {
        iterations: mccfr.iterations(),
        nodes: mccfr.nodes(),
        seconds,
        average: tree.nash_conv(&mccfr.average()),
        current: tree.nash_conv(&mccfr.current()),
    }
}
