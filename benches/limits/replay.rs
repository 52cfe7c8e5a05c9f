//! The replay memory at the default capacity: filling it, replacing in it, drawing minibatches from it, and what it holds per sample.
//!
//! 2,000,000 rows of random play in the default encoding; 3 GB of memory, more while the plain copy is measured.

use crate::{
    inputs::{self, ACTIONS, INFO_LEN, Rows},
    report::{Bound, Row, median},
};
use coorl_async::{
    random::{Purpose, Stream},
    replay::{Batch, Memory},
};
use std::{hint::black_box, time::Instant};

const CAPACITY: usize = 2_000_000;
/// Rows of a minibatch.
const ROWS: usize = 1_024;
/// Minibatches timed.
const STEPS: usize = 1_000;
/// Different rows that samples are copied from: 5 MB, as fresh in the caches as a walk's samples are.
const SOURCES: usize = 4_096;
/// Rows added in one timed stretch: about what an iteration of the default configuration adds to a memory.
const STRETCH: usize = 50_000;

/// All rows about replay.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let source = Rows::new(SOURCES)?;
    let mut memory = inputs::memory(CAPACITY)?;
    let sample_bytes = memory.reserved_bytes() as f64 / CAPACITY as f64;
    let mut rows = vec![fill(&mut memory, &source, sample_bytes)];
    rows.push(replace(&mut memory, &source, sample_bytes));
    rows.push(minibatch(&memory, sample_bytes)?);
    let values = (4 * (INFO_LEN + ACTIONS) + 16) as f64;
    rows.push(
        Row::new(
            "sample-bytes",
            "all columns and bookkeeping of a memory / its capacity / (4 (info_len + actions) + 16)",
            "",
            Bound::AtMost(1.05),
            vec![sample_bytes / values],
        )
        .against(format!("{values} bytes; here {sample_bytes:.1}"), 1.0),
    );
    Ok(rows)
}

/// GB/s of adding rows until the memory is full, by stretches, and of plain copies of whole stretches into fresh memory between them.
fn fill(memory: &mut Memory, source: &Rows, sample_bytes: f64) -> Row {
    let bytes = STRETCH as f64 * sample_bytes;
    let plain = vec![1u8; 4 << 20];
    let (mut added, mut copied) = (Vec::new(), Vec::new());
    for stretch in 0..CAPACITY / STRETCH {
        let started = Instant::now();
        for number in 0..STRETCH {
            memory.add(black_box(&source.sample(stretch * STRETCH + number)));
        }
        added.push(bytes / started.elapsed().as_secs_f64() / 1e9);
        if stretch % 4 == 0 {
            let started = Instant::now();
            // Not zeroed by the program: its pages are touched by the copy alone.
            let mut fresh = Vec::<u8>::with_capacity(bytes as usize);
            while fresh.len() + plain.len() <= fresh.capacity() {
                fresh.extend_from_slice(black_box(&plain));
            }
            copied.push(fresh.len() as f64 / started.elapsed().as_secs_f64() / 1e9);
            black_box(&fresh);
        }
    }
    Row::new(
        "ingest",
        format!("adding samples, {STRETCH} at a time, until {CAPACITY} are there"),
        "GB/s",
        Bound::AtLeast(2.0),
        added,
    )
    .known_to_miss(Bound::AtLeast(0.6))
    .against("plain copy into fresh memory", median(copied))
}

/// GB/s of what is written where samples replace others, and of plain copies to the same number of scattered places.
fn replace(memory: &mut Memory, source: &Rows, sample_bytes: f64) -> Row {
    let mut written_rate = Vec::new();
    for stretch in 0..CAPACITY / STRETCH / 2 {
        let started = Instant::now();
        let mut written = 0;
        for number in 0..STRETCH {
            let slot = memory.add(black_box(&source.sample(stretch * STRETCH + number)));
            written += usize::from(slot.is_some());
        }
        written_rate.push(written as f64 * sample_bytes / started.elapsed().as_secs_f64() / 1e9);
    }
    Row::new(
        "ingest-replacing",
        "bytes written by adding samples to the full memory, first half as many again",
        "GB/s",
        None,
        written_rate,
    )
    .against(
        "plain copies of as many bytes to places picked at random",
        scattered(sample_bytes as usize),
    )
}

/// GB/s of plain copies of `bytes` to random places of 2 GB that were touched before.
fn scattered(bytes: usize) -> f64 {
    let mut places = vec![1u8; 2 << 30];
    let row = vec![2u8; bytes];
    let mut state = 1u64;
    let mut rates = Vec::new();
    for _ in 0..10 {
        let started = Instant::now();
        for _ in 0..STRETCH {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (state >> 33) as usize % (places.len() - bytes);
            places[at..at + bytes].copy_from_slice(black_box(&row));
        }
        rates.push((STRETCH * bytes) as f64 / started.elapsed().as_secs_f64() / 1e9);
        black_box(&mut places);
    }
    median(rates)
}

/// Milliseconds of drawing and gathering a minibatch, between plain copies of as many bytes from one place.
fn minibatch(memory: &Memory, sample_bytes: f64) -> anyhow::Result<Row> {
    let mut batch = Batch::new(ROWS, INFO_LEN, ACTIONS)?;
    let mut stream = Stream::new(1, Purpose::Minibatch, 0, 0);
    let bytes = (ROWS as f64 * sample_bytes) as usize;
    let source = vec![1u8; 512 << 20];
    let mut copy = vec![0u8; bytes];
    let (mut times, mut copies) = (Vec::new(), Vec::new());
    let mut at = 0;
    for _ in 0..STEPS {
        let started = Instant::now();
        memory.sample_into(&mut stream, &mut batch);
        times.push(started.elapsed().as_secs_f64() * 1e3);
        black_box(batch.info());
        at = (at + 7 * bytes) % (source.len() - bytes);
        let started = Instant::now();
        copy.copy_from_slice(black_box(&source[at..at + bytes]));
        copies.push(started.elapsed().as_secs_f64() * 1e3);
        black_box(&mut copy);
    }
    Ok(Row::new(
        "minibatch",
        format!("drawing and gathering {ROWS} of {CAPACITY} rows, f32"),
        "ms",
        Bound::AtMost(0.3),
        times,
    )
    .known_to_miss(Bound::AtMost(0.8))
    .against("plain copy of one contiguous batch", median(copies)))
}
