//! Replay: filling, drawing and gathering, each against a plain copy of as many bytes in the same run.
//!
//! Input: 2,000,000 rows of the default Lost Cities encoding (297 inputs, 22 actions), minibatches of 1,024.
//! `cargo bench --bench replay`; 5 GB of memory.

use coorl_async::game::ActionSet;
use coorl_async::random::{Purpose, Stream};
use coorl_async::replay::{Batch, Journal, Memory, Sample};
use std::hint::black_box;
use std::time::{Duration, Instant};

const CAPACITY: usize = 2_000_000;
const INFO_LEN: usize = 297;
const ACTIONS: usize = 22;
const ROWS: usize = 1_024;
const STEPS: usize = 1_000;
const ROW_BYTES: usize = 4 * (INFO_LEN + ACTIONS) + ACTIONS + 4;

fn main() -> anyhow::Result<()> {
    let mut memory = Memory::new(
        CAPACITY,
        INFO_LEN,
        ACTIONS,
        Stream::new(1, Purpose::Reservoir, 0, 0),
    )?;
    println!("{CAPACITY} rows of {ROW_BYTES} bytes, minibatches of {ROWS}");
    fill(&mut memory);
    minibatches(&memory)?;
    journal(&mut memory)
}

fn rate(name: &str, bytes: usize, time: Duration, limit: Option<f64>) -> f64 {
    let rate = bytes as f64 / time.as_secs_f64() / 1e9;
    match limit {
        Some(limit) => println!(
            "{name:<44} {rate:6.2} GB/s  {:.2} of the limit",
            rate / limit
        ),
        None => println!("{name:<44} {rate:6.2} GB/s"),
    }
    rate
}

/// Adds rows until full, then as many again.
fn fill(memory: &mut Memory) {
    let (info, target) = (vec![0.5; INFO_LEN], vec![-1.0; ACTIONS]);
    let bytes = CAPACITY * ROW_BYTES;
    let start = Instant::now();
    let mut plain = Vec::with_capacity(bytes / 4);
    for _ in 0..bytes / 4 / INFO_LEN {
        plain.extend_from_slice(black_box(&info));
    }
    let limit = rate(
        "plain copy into fresh memory (limit)",
        4 * plain.len(),
        start.elapsed(),
        None,
    );
    drop(plain);
    for (name, limit) in [
        ("add, appending", Some(limit)),
        ("add, replacing about 0.69 of as many", None),
    ] {
        let start = Instant::now();
        let mut written = 0;
        for number in 0..CAPACITY {
            let slot = memory.add(&Sample {
                info: black_box(&info),
                target: black_box(&target),
                legal: ActionSet::from_bits(0x155),
                iteration: 1,
                first_open: number % 8 == 0,
            });
            written += usize::from(slot.is_some());
        }
        rate(name, written * ROW_BYTES, start.elapsed(), limit);
    }
}

/// Median and 90th percentile of what `step` takes, in microseconds.
fn quantiles(name: &str, mut step: impl FnMut() -> Duration) -> f64 {
    let mut times: Vec<f64> = (0..STEPS).map(|_| step().as_secs_f64() * 1e6).collect();
    times.sort_by(f64::total_cmp);
    let (median, p90) = (times[STEPS / 2], times[STEPS * 9 / 10]);
    println!(
        "{name:<44} {median:6.0} us median {p90:6.0} us p90 {:6.0} us least",
        times[0]
    );
    median
}

fn minibatches(memory: &Memory) -> anyhow::Result<()> {
    let mut batch = Batch::new(ROWS, INFO_LEN, ACTIONS)?;
    let mut stream = Stream::new(1, Purpose::Minibatch, 0, 0);
    let source = vec![1u8; 512 << 20];
    let mut copy = vec![0u8; ROWS * ROW_BYTES];
    let mut at = 0;
    let limit = quantiles("copy of one contiguous batch (limit)", || {
        at = (at + 7 * copy.len()) % (source.len() - copy.len());
        let rows = &source[at..at + copy.len()];
        let start = Instant::now();
        copy.copy_from_slice(rows);
        black_box(&mut copy);
        start.elapsed()
    });
    quantiles("draw, a quarter first-open", || {
        let start = Instant::now();
        memory.draw_stratified(0.25, &mut stream, &mut batch);
        start.elapsed()
    });
    let draw = quantiles("draw", || {
        let start = Instant::now();
        memory.draw(&mut stream, &mut batch);
        start.elapsed()
    });
    let gather = quantiles("gather", || {
        memory.draw(&mut stream, &mut batch);
        let start = Instant::now();
        memory.gather(&mut batch);
        start.elapsed()
    });
    println!(
        "draw and gather: {:.3} ms, {:.2} of the limit's speed",
        (draw + gather) / 1e3,
        limit / (draw + gather)
    );
    Ok(())
}

/// An iteration's worth of rows to disk and back.
fn journal(full: &mut Memory) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.journal");
    let mut memory = Memory::new(
        100_000,
        INFO_LEN,
        ACTIONS,
        Stream::new(1, Purpose::Reservoir, 1, 0),
    )?;
    let mut journal = Journal::create(&path, &mut memory)?;
    for slot in 0..100_000 {
        memory.add(&full.sample(slot));
    }
    let start = Instant::now();
    let mark = journal.append(&mut memory)?;
    rate(
        "journal append of 100,000 rows, flushed",
        mark.bytes as usize,
        start.elapsed(),
        None,
    );
    let mut again = Memory::new(
        100_000,
        INFO_LEN,
        ACTIONS,
        Stream::new(1, Purpose::Reservoir, 1, 0),
    )?;
    let start = Instant::now();
    Journal::open(&path, &mark, &mut again)?;
    rate(
        "journal open and verify",
        mark.bytes as usize,
        start.elapsed(),
        None,
    );
    Ok(())
}
