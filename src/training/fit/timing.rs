//! What steps take on a device, by some of them.

use crate::platform::synchronize;
use std::time::{Duration, Instant};
use tch::Device;

/// One of so many steps is timed. Timing waits for the device before and after: each time would stall it.
const INTERVAL: usize = 64;
/// The first steps of a fit find its device still busy with something else, or not warm.
const FIRST: usize = 8;

/// Times the steps of one fit.
pub(super) struct StepTimer {
    device: Device,
    timed: u32,
    time: Duration,
}

impl StepTimer {
    /// Of a fit on `device`.
    pub fn new(device: Device) -> Self {
        Self {
            device,
            timed: 0,
            time: Duration::ZERO,
        }
    }

    /// Runs the work of `step`, counted from 0, and times it if it is its turn.
    pub fn run<R>(&mut self, step: usize, work: impl FnOnce() -> R) -> R {
        if step % INTERVAL != FIRST {
            return work();
        }
        synchronize(self.device);
        let started = Instant::now();
        let result = work();
        synchronize(self.device);
        self.time += started.elapsed();
        self.timed += 1;
        result
    }

    /// Seconds that a step takes by those that were timed; `None` where none was.
    pub fn step_seconds(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.time.as_secs_f64() / f64::from(self.timed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_of_64_is_timed() {
        let mut timer = StepTimer::new(Device::Cpu);
        for step in 0..FIRST {
            assert_eq!(timer.run(step, || step), step);
        }
        assert_eq!(timer.step_seconds(), None);
        for step in FIRST..3 * INTERVAL {
            timer.run(step, || std::thread::sleep(Duration::from_micros(10)));
        }
        assert_eq!(timer.timed, 3);
        assert!(timer.step_seconds().unwrap() >= 1e-5);
    }
}
