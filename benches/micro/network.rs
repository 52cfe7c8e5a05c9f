//! The network alone: answering and fitting. Both with the default shape, 297-512-512-512-22, on all cores.

use crate::inputs::{self, Rows};
use coorl_async::{
    encoding::{Cards, Encoding},
    game::lost_cities::{LostCities, Rules},
    network::{Activation, AdamW, Architecture, Kind, PackedScratch, Settings},
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
        rate: 1.0,
        schedule: RateSchedule::Constant,
    };
    criterion.bench_function("fit/step_of_1024", |bencher| {
        bencher.iter(|| fit(&mut learner, &plan, &mut minibatches, || false));
    });
    Ok(())
}

/// Input: made-up rows by card, one value in seven set, through three layers of 64 on one thread: the forward pass by libtorch and by the packed
/// kernels, and forward, backward and update for a minibatch of 512.
pub fn color_set(criterion: &mut Criterion) -> anyhow::Result<()> {
    let encoding = Cards::new(&LostCities::new(Rules::default())?)?;
    let settings = Settings {
        kind: Kind::ColorSet,
        num_layers: 3,
        ..Settings::default()
    };
    let (inputs, outputs) = (encoding.info_len(), encoding.num_actions());
    let layout = encoding.color_layout();
    let architecture = Architecture::new(&settings, inputs, outputs, layout.as_ref())?;
    let parameters = initial(&architecture);
    tch::set_num_threads(1);
    let bound = architecture.bind_snapshot(&parameters, Device::Cpu)?;
    let packed = architecture.pack(&parameters)?;
    let mut group = criterion.benchmark_group("color_set");
    for rows in [16usize, 128, 256, 512] {
        let values: Vec<f32> = (0..rows * inputs)
            .map(|i| {
                f32::from(u8::from(
                    i * 2_654_435_761 % 4_294_967_296 < 4_294_967_296 / 7,
                ))
            })
            .collect();
        let input = Tensor::from_slice(&values).view([rows as i64, inputs as i64]);
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(BenchmarkId::new("torch", rows), |bencher| {
            bencher.iter(|| black_box(bound.forward(&input)));
        });
        if let Some(packed) = &packed {
            let (mut scratch, mut answers) = (PackedScratch::default(), vec![0.0; rows * outputs]);
            group.bench_function(BenchmarkId::new("packed", rows), |bencher| {
                bencher.iter(|| packed.forward(black_box(&values), &mut scratch, &mut answers));
            });
        }
        if rows == 512 {
            let mut flat = Tensor::from_slice(&parameters).set_requires_grad(true);
            let mut optimizer = AdamW::new(&flat, 1e-3, 1e-4)?;
            group.bench_function(BenchmarkId::new("step", rows), |bencher| {
                bencher.iter(|| -> anyhow::Result<()> {
                    let loss = architecture.forward(&flat, &input)?.f_square()?;
                    let loss = loss.f_mean(tch::Kind::Float)?;
                    let gradient = Tensor::f_run_backward(&[&loss], &[&flat], false, false)?;
                    Ok(optimizer.step(&mut flat, &gradient[0])?)
                });
            });
        }
    }
    group.finish();
    tch::set_num_threads(coorl_async::platform::logical_cores() as i32);
    Ok(())
}
