//! The limit of everything that asks the network: torch alone, at its best.

use crate::report::median;
use coorl_async::{
    inference::BatchStatistics,
    network::Architecture,
    random::{Purpose, Stream},
};
use std::{
    sync::{Arc, Barrier},
    time::Instant,
};
use tch::{Device, Kind, Tensor};

/// Calls timed per batch size.
const CALLS: usize = 40;
/// Batches tried for the bare network.
const BATCHES: [usize; 6] = [32, 64, 128, 256, 512, 1024];

/// Microseconds per row of the bare network by batch size.
pub struct Bare(Vec<(usize, f64)>);

impl Bare {
    /// Times `threads` threads: the better of one call that all of them work on and of one call per thread with its share of the
    /// rows. Each the median of many.
    pub fn measure(architecture: &Architecture, threads: usize) -> anyhow::Result<Self> {
        let parameters = architecture.initial(&mut Stream::new(1, Purpose::Trial, 0, 0));
        let time = |rows: usize| -> anyhow::Result<f64> {
            tch::set_num_threads(threads as i32);
            let together = median_call(architecture, &parameters, rows, None)?;
            let share = rows.div_ceil(threads);
            let start = Arc::new(Barrier::new(threads));
            let runs: Vec<_> = (0..threads)
                .map(|_| {
                    let (architecture, parameters) = (architecture.clone(), parameters.clone());
                    let start = Arc::clone(&start);
                    std::thread::spawn(move || {
                        tch::set_num_threads(1);
                        median_call(&architecture, &parameters, share, Some(&start))
                    })
                })
                .collect();
            let mut apart = 0.0;
            for run in runs {
                apart = run.join().expect("the timing thread ran")?.max(apart);
            }
            tch::set_num_threads(threads as i32);
            Ok(together.min(apart) * 1e6 / rows as f64)
        };
        let times = BATCHES.into_iter().map(|rows| Ok((rows, time(rows)?)));
        Ok(Self(times.collect::<anyhow::Result<_>>()?))
    }

    /// The mean of two measurements, one before and one after what they are to be compared with.
    pub fn mean(&self, other: &Self) -> Self {
        let pairs = self.0.iter().zip(&other.0);
        Self(
            pairs
                .map(|(&(rows, first), &(_, last))| (rows, (first + last) / 2.0))
                .collect(),
        )
    }

    /// Microseconds per row at the batch size that has the least median over `all` measurements. Chosen over all of them: the least of many
    /// single timings would be the luckiest moment, not the best batch.
    pub fn at_best_of(&self, all: &[Self]) -> (usize, f64) {
        let of_all = |index: usize| median(all.iter().map(|bare| bare.0[index].1).collect());
        let best = (0..self.0.len()).min_by(|&a, &b| of_all(a).total_cmp(&of_all(b)));
        self.0[best.expect("batches were timed")]
    }

    /// Seconds the bare network needs for exactly the batch sizes that occurred, interpolated between the sizes timed.
    pub fn seconds(&self, batches: &BatchStatistics) -> f64 {
        batches
            .sizes()
            .map(|(rows, count)| rows as f64 * count as f64 * self.per_row(rows as f64) / 1e6)
            .sum()
    }

    fn per_row(&self, rows: f64) -> f64 {
        let Self(bare) = self;
        let above = bare.iter().position(|&(size, _)| size as f64 >= rows);
        match above {
            None => bare[bare.len() - 1].1,
            // Below the smallest size a call costs what that size costs.
            Some(0) => bare[0].1 * bare[0].0 as f64 / rows.max(1.0),
            Some(index) => {
                let ((low, slow), (high, fast)) = (bare[index - 1], bare[index]);
                slow + (fast - slow) * (rows - low as f64) / (high - low) as f64
            }
        }
    }
}

/// Median seconds of a call for `rows` rows, after a warm-up.
fn median_call(
    architecture: &Architecture,
    parameters: &[f32],
    rows: usize,
    start: Option<&Barrier>,
) -> anyhow::Result<f64> {
    let network = architecture.bind_snapshot(parameters, Device::Cpu)?;
    let input = Tensor::rand(
        [rows as i64, architecture.inputs() as i64],
        (Kind::Float, Device::Cpu),
    );
    let mut times = Vec::new();
    start.map(Barrier::wait);
    for _ in 0..CALLS {
        let started = Instant::now();
        drop(network.forward(&input)?);
        times.push(started.elapsed().as_secs_f64());
    }
    Ok(median(times))
}
