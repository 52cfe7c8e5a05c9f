//! Micro-benchmarks: one piece of the program each, over an input that its function describes.
//!
//! `cargo bench --bench micro [-- FILTER] [--quick]`. For ratios to limits taken in the same run see the `limits` benchmark.

#[path = "../inputs/mod.rs"]
mod inputs;

mod network;
mod replay;
mod steps;

use coorl_async::platform;
use criterion::Criterion;
use std::time::Duration;

fn main() -> anyhow::Result<()> {
    platform::init();
    tch::set_num_threads(platform::logical_cores() as i32);
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(10)
        .configure_from_args();
    steps::game(&mut criterion)?;
    steps::regret(&mut criterion);
    steps::executor(&mut criterion)?;
    network::forward(&mut criterion)?;
    network::fit_step(&mut criterion)?;
    network::color_set(&mut criterion)?;
    replay::ingest(&mut criterion)?;
    replay::minibatch(&mut criterion)?;
    replay::journal(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
