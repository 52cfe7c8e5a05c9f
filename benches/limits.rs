//! How near the program comes to the limits that its network sets, as ratios within one process.
//!
//! `cargo bench --bench limits [-- --set PATH=VALUE ...]`: the traversal phase of `configs/default.yaml`, at its number of walks and at four
//! times that, against the time that the bare network needs for as many rows at its best batch.

use coorl_async::{
    config,
    encoding::Slots,
    game::lost_cities::LostCities,
    inference::{BatchStatistics, StopFlag},
    network::Architecture,
    platform,
    random::{Purpose, Stream},
    training::{PhaseClock, Trainer},
};
use std::{
    path::PathBuf,
    sync::{Arc, Barrier},
    time::Instant,
};
use tch::{Device, Kind, Tensor};

/// Traversal phases per row; the median counts.
const ROUNDS: u32 = 5;
/// Calls timed per batch size.
const CALLS: usize = 15;
/// Batches tried for the bare network.
const BATCHES: [usize; 8] = [64, 128, 192, 256, 384, 512, 768, 1024];

type LostCitiesTrainer = Trainer<LostCities, Slots>;

fn main() -> anyhow::Result<()> {
    platform::init();
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("configs/default.yaml");
    let sets: Vec<String> = std::env::args()
        .skip_while(|argument| argument != "--set")
        .skip(1)
        .collect();
    let mut config = config::load(&[file], config::process_environment(), &sets)?.config;
    let threads = config.run.threads.unwrap_or_else(platform::logical_cores);
    tch::set_num_threads(threads as i32);
    let base = config.traversal.traversals_per_player;
    for times in [1, 4] {
        config.traversal.traversals_per_player = base * times;
        let game = LostCities::new(config.rules.clone())?;
        let encoding = Slots::new(&game, &config.encoding);
        traversal(
            &mut Trainer::new(game, encoding, &config)?,
            base * times,
            threads,
        )?;
    }
    Ok(())
}

/// Microseconds per row of the bare network by batch size with `threads` threads: the better of one call that all threads
/// work on and of one call per thread with its share of the rows. Each the median of many.
fn bare(architecture: &Architecture, threads: usize) -> anyhow::Result<Vec<(usize, f64)>> {
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
    BATCHES
        .into_iter()
        .map(|rows| Ok((rows, time(rows)?)))
        .collect()
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
    times.sort_by(f64::total_cmp);
    Ok(times[CALLS / 2])
}

/// Seconds the bare network needs for exactly the batch sizes that occurred, interpolated between the sizes timed.
fn bare_seconds(batches: &BatchStatistics, bare: &[(usize, f64)]) -> f64 {
    let per_row = |rows: f64| {
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
    };
    batches
        .sizes()
        .map(|(rows, count)| rows as f64 * count as f64 * per_row(rows as f64) / 1e6)
        .sum()
}

fn traversal(trainer: &mut LostCitiesTrainer, walks: usize, threads: usize) -> anyhow::Result<()> {
    trainer.upload()?;
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let before = bare(trainer.architecture(), threads)?;
        let started = Instant::now();
        let mut clock = PhaseClock::default();
        let (statistics, batches) =
            trainer.traverse(round, &mut clock, &StopFlag::default(), &mut ())?;
        let seconds = started.elapsed().as_secs_f64();
        let after = bare(trainer.architecture(), threads)?;
        let bare: Vec<(usize, f64)> = before
            .iter()
            .zip(&after)
            .map(|(&(rows, first), &(_, last))| (rows, (first + last) / 2.0))
            .collect();
        let &(best_rows, best) = bare
            .iter()
            .min_by(|left, right| left.1.total_cmp(&right.1))
            .expect("batches were timed");
        let limit = batches.rows as f64 * best / 1e6 / seconds;
        let engine = bare_seconds(&batches, &bare) / seconds;
        ratios.push((limit, engine));
        println!(
            "{walks} x 2 walks: {seconds:.2} s, {} nodes, {:.0} nodes/s; limit {limit:.3} (best {best:.2} us at {best_rows}), engine \
             {engine:.3}; rows per flush {:.0}, per batch {:.0}; flushes {:?}; forward {:.2} s, walking {:.2} s",
            statistics.counts.nodes,
            statistics.counts.nodes as f64 / seconds,
            batches.mean_flush(),
            batches.mean_batch(),
            batches.flushes,
            batches.forward.as_secs_f64(),
            batches.idle.as_secs_f64(),
        );
    }
    ratios.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (limit, engine) = ratios[ratios.len() / 2];
    println!(
        "{walks} x 2 walks: traversal against the best-batch limit {limit:.3}, engine efficiency {engine:.3}"
    );
    Ok(())
}
