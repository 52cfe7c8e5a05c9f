//! The network alone: answering and fitting. Both with the default shape, 297-512-512-512-22, on all cores.

use crate::inputs::{self, Rows};
use coorl_async::{
    network::{Activation, Architecture, Kind, Settings},
    random::{Purpose, Stream},
    training::{
        FitPlan, Keep, Learner, LossKind, MemoryBatches, OptimizationSettings, RateSchedule,
        WeightingSettings, fit,
    },
};
use criterion::{BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use tch::{Device, Tensor};

fn architecture() -> anyhow::Result<Architecture> {
    let settings = Settings {
        kind: Kind::Mlp,
        hidden_size: 512,
        num_layers: 3,
        activation: Activation::Relu,
        ..Settings::default()
    };
    Ok(Architecture::new(
        &settings,
        inputs::INFO_LEN,
        inputs::ACTIONS,
        None,
    )?)
}

fn initial(architecture: &Architecture) -> Vec<f32> {
    architecture.initial(&mut Stream::new(1, Purpose::Weights, 0, 0))
}

/// Input: batches of uniformly random rows.
pub fn forward(criterion: &mut Criterion) -> anyhow::Result<()> {
    let architecture = architecture()?;
    let network = architecture.bind_snapshot(&initial(&architecture), Device::Cpu)?;
    let mut group = criterion.benchmark_group("forward");
    for rows in [1usize, 16, 64, 256, 1_024] {
        let shape = [rows as i64, inputs::INFO_LEN as i64];
        let input = Tensor::rand(shape, (tch::Kind::Float, Device::Cpu));
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(BenchmarkId::new("rows", rows), |bencher| {
            bencher.iter(|| black_box(network.forward(&input)));
        });
    }
    group.finish();
    Ok(())
}

/// Input: minibatches of 1,024 from a memory of 50,000 rows of random play, the advantage loss of linear CFR.
pub fn fit_step(criterion: &mut Criterion) -> anyhow::Result<()> {
    const SAMPLES: usize = 50_000;
    let architecture = architecture()?;
    let source = Rows::new(1_024)?;
    let mut memory = inputs::memory(SAMPLES)?;
    for number in 0..SAMPLES {
        memory.add(&source.sample(number));
    }
    let weights = initial(&architecture);
    let optimization = OptimizationSettings::default();
    let mut learner = Learner::new(architecture, &weights, &optimization)?;
    let stream = Stream::new(1, Purpose::Minibatch, 0, 0);
    let mut minibatches = MemoryBatches::new(&memory, 1_024, stream, 0.0)?;
    let plan = FitPlan {
        loss: LossKind::Advantage,
        steps: 1,
        iteration: 1,
        weighting: &WeightingSettings::default(),
        keep: Keep::Last,
        held_out_checks: 1,
        schedule: RateSchedule::Constant,
    };
    criterion.bench_function("fit/step_of_1024", |bencher| {
        bencher.iter(|| fit(&mut learner, &plan, &mut minibatches, || false));
    });
    Ok(())
}
