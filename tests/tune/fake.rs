//! A measurer that knows the answer.

use coorl_async::tuning::{Grid, MeasureError, Measurement, Measurer, Plan, Setting, Sweep};
use std::time::Duration;

pub fn setting(collect_timeout_us: u64, max_batch: usize, in_flight: usize) -> Setting {
    Setting {
        collect_timeout_us,
        max_batch,
        in_flight,
    }
}

pub fn grid(timeouts: &str, batches: &str, in_flight: &str, start: Setting) -> Grid {
    let lists = [Some(timeouts), Some(batches), Some(in_flight)];
    Grid::new(lists, start, 4_096).expect("a grid")
}

pub fn plan(grid: Grid, start: Setting, rounds: Option<u32>, budget: Option<u64>) -> Plan {
    Plan {
        grid,
        start,
        rounds,
        budget: budget.map(Duration::from_secs),
    }
}

/// A measurement of so many nodes per second.
pub fn at(nodes_per_second: f64) -> Measurement {
    Measurement {
        nodes: 1_000_000,
        seconds: 1e6 / nodes_per_second,
        batches: 100,
        rows: 6_400,
        room: 12_800,
        flushes: [1, 2, 5],
        forward_seconds: 0.5e6 / nodes_per_second,
        batch_p99: 90.0,
        wait_p50_us: 120.0,
        wait_p99_us: 400.0,
    }
}

/// Answers from a function; each measurement takes a second of its clock.
pub struct Fake<F> {
    pub speed: F,
    /// What was asked for, in order.
    pub asked: Vec<(u32, Setting)>,
    /// After so many measurements something else happens.
    pub stop_after: usize,
    pub fails: bool,
}

impl<F: Fn(Setting, u32) -> f64> Fake<F> {
    pub fn new(speed: F) -> Self {
        Self {
            speed,
            asked: Vec::new(),
            stop_after: usize::MAX,
            fails: false,
        }
    }
}

impl<F: Fn(Setting, u32) -> f64> Measurer for Fake<F> {
    fn measure(&mut self, setting: Setting, round: u32) -> Result<Measurement, MeasureError> {
        if self.asked.len() == self.stop_after {
            return Err(if self.fails {
                MeasureError::Failed(anyhow::anyhow!("the device is gone"))
            } else {
                MeasureError::Interrupted
            });
        }
        self.asked.push((round, setting));
        Ok(at((self.speed)(setting, round)))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.asked.len() as u64)
    }
}

/// A sweep that was run over `speed`.
pub fn swept(plan: Plan, speed: impl Fn(Setting, u32) -> f64) -> Sweep {
    let mut sweep = Sweep::new(plan);
    sweep
        .run(&mut Fake::new(speed), &mut |_| {})
        .expect("it does not fail");
    sweep
}
