//! Nodes/s by traversals in flight and by worker threads.

use crate::{report::median, traversal::trainer};
use anyhow::Context;
use coorl_async::{
    config::Config,
    inference::StopFlag,
    platform,
    telemetry::{Axis, Chart, Point, Scale, Series},
    training::PhaseClock,
};
use std::{fmt::Write as _, path::PathBuf, time::Instant};

/// Traversals in flight.
const IN_FLIGHT: [usize; 5] = [64, 256, 1_024, 4_096, 16_384];
/// Walks of a phase at least: few in flight replace each other.
const LEAST_WALKS: usize = 2_048;
/// Nodes of a walk at most: all walks then end alike, and a phase of the most walks stays short.
const MOST_NODES: usize = 60;

/// Measures all points in rounds, so that a drift of the machine meets all alike, and writes table and plot.
pub fn run(config: &Config, rounds: u32) -> anyhow::Result<()> {
    let mut workers: Vec<usize> = std::iter::successors(Some(1), |count| Some(2 * count))
        .take_while(|&count| count < platform::logical_cores())
        .collect();
    workers.push(platform::logical_cores());
    let points: Vec<(usize, usize)> = workers
        .iter()
        .flat_map(|&workers| IN_FLIGHT.map(|in_flight| (workers, in_flight)))
        .collect();
    let mut rates = vec![Vec::new(); points.len()];
    for round in 1..=rounds {
        for (&(workers, in_flight), rates) in points.iter().zip(&mut rates) {
            let rate = nodes_per_second(config, workers, in_flight, round)?;
            println!("{workers} workers, {in_flight} in flight: {rate:.0} nodes/s");
            rates.push(rate);
        }
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let table = table(&workers, &rates, rounds);
    println!("\n{table}");
    let path = folder.join("scaling.md");
    std::fs::write(&path, table).with_context(|| format!("cannot write {}", path.display()))?;
    chart(&workers, &rates).write(&folder.join("scaling.svg"))?;
    Ok(())
}

/// One traversal phase of a fresh trainer.
fn nodes_per_second(
    config: &Config,
    workers: usize,
    in_flight: usize,
    round: u32,
) -> anyhow::Result<f64> {
    let mut config = config.clone();
    config.traversal.worker_threads = Some(workers);
    config.traversal.in_flight = Some(in_flight);
    config.traversal.max_nodes_per_traversal = Some(MOST_NODES);
    config.traversal.traversals_per_player = in_flight.max(LEAST_WALKS) / 2;
    let mut trainer = trainer(&config, 1)?;
    let started = Instant::now();
    let (statistics, _) = trainer.traverse(
        round,
        &mut PhaseClock::default(),
        &StopFlag::default(),
        &mut (),
    )?;
    Ok(statistics.counts.nodes as f64 / started.elapsed().as_secs_f64())
}

fn table(workers: &[usize], rates: &[Vec<f64>], rounds: u32) -> String {
    let mut text = format!(
        "Nodes/s by traversals in flight, {rounds} rounds: median (least to greatest). At least {LEAST_WALKS} walks of at \
         most {MOST_NODES} nodes a phase, fresh memories, initial weights. `cargo bench --bench limits -- --scaling --rounds {rounds}`\n\n| in flight |"
    );
    for workers in workers {
        let _ = write!(
            text,
            " {workers} worker{} |",
            if *workers == 1 { "" } else { "s" }
        );
    }
    text += "\n|---|";
    text += &"---|".repeat(workers.len());
    for (place, in_flight) in IN_FLIGHT.iter().enumerate() {
        let _ = write!(text, "\n| {in_flight} |");
        for series in rates.chunks_exact(IN_FLIGHT.len()) {
            let (low, middle, high) = spread(&series[place]);
            let _ = write!(text, " {middle:.0} ({low:.0} to {high:.0}) |");
        }
    }
    text + "\n"
}

fn spread(rates: &[f64]) -> (f64, f64, f64) {
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    (low, median(rates.to_vec()), high)
}

fn chart(workers: &[usize], rates: &[Vec<f64>]) -> Chart {
    let series = workers.iter().zip(rates.chunks_exact(IN_FLIGHT.len()));
    Chart {
        title: "Nodes per second by traversals in flight".into(),
        x: Axis {
            label: "traversals in flight".into(),
            scale: Scale::Log,
        },
        y: Axis {
            label: "nodes per second".into(),
            scale: Scale::Linear,
        },
        series: series
            .map(|(workers, rates)| Series {
                name: format!("{workers} worker threads"),
                points: IN_FLIGHT
                    .iter()
                    .zip(rates)
                    .map(|(&in_flight, rates)| {
                        let (low, y, high) = spread(rates);
                        Point {
                            x: in_flight as f64,
                            y,
                            low,
                            high,
                        }
                    })
                    .collect(),
            })
            .collect(),
    }
}
