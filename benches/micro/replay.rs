//! Replay: samples in, minibatches out, and the way to disk. Rows of random play in the default encoding (297 and 22 values).

use crate::inputs::{self, ACTIONS, INFO_LEN, Rows};
use coorl_async::{
    random::{Purpose, Stream},
    replay::{Batch, Journal, Memory},
};
use criterion::{BatchSize, Criterion, Throughput};
use std::hint::black_box;

/// Rows held; four times what the processor's address cache reaches in small pages, and still quick to make.
const CAPACITY: usize = 200_000;

fn full(source: &Rows) -> anyhow::Result<Memory> {
    let mut memory = inputs::memory(CAPACITY)?;
    for number in 0..CAPACITY {
        memory.add(&source.sample(number));
    }
    Ok(memory)
}

/// Input: 10,000 samples, added to an empty memory. A full one passes over more samples the more it has seen, so repeated passes say
/// little: see `ingest-replacing` of the limits.
pub fn ingest(criterion: &mut Criterion) -> anyhow::Result<()> {
    const ADDED: usize = 10_000;
    let source = Rows::new(4_096)?;
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Bytes(
        (ADDED * inputs::memory(1)?.bytes_per_sample()) as u64,
    ));
    group.bench_function("ingest_fresh", |bencher| {
        bencher.iter_batched_ref(
            || inputs::memory(CAPACITY),
            |memory| {
                for number in 0..ADDED {
                    if let Ok(memory) = memory {
                        memory.add(black_box(&source.sample(number)));
                    }
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
    Ok(())
}

/// Input: minibatches of 1,024 from a full memory, plain and with a quarter first-open.
pub fn minibatch(criterion: &mut Criterion) -> anyhow::Result<()> {
    let memory = full(&Rows::new(4_096)?)?;
    let mut batch = Batch::new(1_024, INFO_LEN, ACTIONS)?;
    let mut stream = Stream::new(1, Purpose::Minibatch, 0, 0);
    let mut group = criterion.benchmark_group("minibatch");
    for (name, fraction) in [("draw", 0.0), ("draw_stratified", 0.25)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| memory.draw_stratified(fraction, &mut stream, &mut batch));
        });
    }
    group.bench_function("draw_and_gather", |bencher| {
        bencher.iter(|| memory.sample_into(&mut stream, &mut batch));
    });
    group.finish();
    Ok(())
}

/// Input: 20,000 rows appended to a journal and flushed to disk; then read back and verified.
pub fn journal(criterion: &mut Criterion) -> anyhow::Result<()> {
    const ADDED: usize = 20_000;
    let source = Rows::new(4_096)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.journal");
    let mut group = criterion.benchmark_group("journal");
    let mut memory = inputs::memory(ADDED)?;
    let mut journal = Journal::create(&path, &mut memory)?;
    for number in 0..ADDED {
        memory.add(&source.sample(number));
    }
    let mark = journal.append(&mut memory)?;
    group.throughput(Throughput::Bytes(mark.bytes));
    group.bench_function("open", |bencher| {
        bencher.iter_batched(
            || inputs::memory(ADDED),
            |memory| -> anyhow::Result<_> { Ok(Journal::open(&path, &mark, &mut memory?)?) },
            BatchSize::PerIteration,
        );
    });
    let again = folder.path().join("append.journal");
    group.bench_function("append", |bencher| {
        bencher.iter_batched(
            || -> anyhow::Result<_> {
                let mut memory = inputs::memory(ADDED)?;
                let journal = Journal::create(&again, &mut memory)?;
                for number in 0..ADDED {
                    memory.add(&source.sample(number));
                }
                Ok((memory, journal))
            },
            |prepared| -> anyhow::Result<_> {
                let (mut memory, mut journal) = prepared?;
                Ok(journal.append(&mut memory)?)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
    Ok(())
}
