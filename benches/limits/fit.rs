//! A fit step against forward, backward and update alone, on tensors that lie ready.

use crate::{
    inputs::{self, Rows},
    report::{Bound, Row, median},
};
use coorl_async::{
    config::Config,
    network::{AdamW, Architecture},
    platform,
    random::{Purpose, Stream},
    replay::{Batch, Memory},
    training::{FitPlan, Keep, Learner, LossKind, MemoryBatches, RateSchedule, fit},
};
use std::time::Instant;
use tch::{Kind, Tensor};

/// Samples in the memory that minibatches come from: 260 MB, far more than any cache.
const SAMPLES: usize = 200_000;
/// Steps timed together.
const STEPS: usize = 10;

/// The row of a fit step with the loss and the sizes of the advantage networks.
pub fn rows(config: &Config, rounds: u32) -> anyhow::Result<Vec<Row>> {
    let rows = config.optimization.advantage_batch_size;
    tch::set_num_threads(config.run.threads.unwrap_or_else(platform::logical_cores) as i32);
    let source = Rows::new(4_096)?;
    let mut memory = inputs::memory(SAMPLES)?;
    for number in 0..SAMPLES {
        memory.add(&source.sample(number));
    }
    let architecture = Architecture::new(&config.network, inputs::INFO_LEN, inputs::ACTIONS, None)?;
    let initial = architecture.initial(&mut Stream::new(1, Purpose::Weights, 0, 0));
    let mut learner = Learner::new(architecture.clone(), &initial, &config.optimization)?;
    let mut bare = Bare::new(architecture, &initial, config, &memory, rows)?;
    let plan = FitPlan {
        loss: LossKind::Advantage,
        steps: STEPS,
        iteration: 1,
        weighting: &config.training_weighting,
        keep: Keep::Last,
        held_out_checks: 1,
        rate: 1.0,
        schedule: RateSchedule::Constant,
    };
    let stream = Stream::new(1, Purpose::Minibatch, 0, 0);
    let mut minibatches = MemoryBatches::new(&memory, rows, stream, 0.0)?;
    bare.steps(STEPS)?;
    fit(&mut learner, &plan, &mut minibatches, || false)?;
    let (mut ratios, mut alone) = (Vec::new(), Vec::new());
    let mut batches = Vec::new();
    for _ in 0..2 * rounds {
        let before = bare.steps(STEPS)?;
        let report = fit(&mut learner, &plan, &mut minibatches, || false)?;
        let limit = (before + bare.steps(STEPS)?) / 2.0;
        ratios.push(report.seconds / limit);
        alone.push(limit / STEPS as f64 * 1e3);
        batches.push(report.batch_seconds / STEPS as f64 * 1e3);
    }
    Ok(vec![
        Row::new(
            "fit-step",
            format!(
                "one fit step of {rows} rows (minibatch, loss, clipping, checks; of that {:.2} ms minibatch) / the bare step",
                median(batches)
            ),
            "",
            Bound::AtMost(1.10),
            ratios,
        )
        .against(
            format!(
                "bare forward + backward + update, {:.2} ms",
                median(alone)
            ),
            1.0,
        ),
    ])
}

/// What no fit step can do without: forward, the plainest loss, backward, AdamW.
struct Bare {
    architecture: Architecture,
    parameters: Tensor,
    optimizer: AdamW,
    info: Tensor,
    target: Tensor,
}

impl Bare {
    fn new(
        architecture: Architecture,
        initial: &[f32],
        config: &Config,
        memory: &Memory,
        rows: usize,
    ) -> anyhow::Result<Self> {
        let optimization = &config.optimization;
        let parameters = Tensor::f_from_slice(initial)?.f_set_requires_grad(true)?;
        let optimizer = AdamW::new(
            &parameters,
            optimization.learning_rate,
            optimization.weight_decay,
        )?;
        let mut batch = Batch::new(rows, inputs::INFO_LEN, inputs::ACTIONS)?;
        memory.sample_into(&mut Stream::new(2, Purpose::Minibatch, 0, 0), &mut batch);
        Ok(Self {
            architecture,
            parameters,
            optimizer,
            info: batch.info().copy(),
            target: batch.target().copy(),
        })
    }

    /// Seconds of so many steps.
    fn steps(&mut self, steps: usize) -> anyhow::Result<f64> {
        let started = Instant::now();
        for _ in 0..steps {
            let predictions = self.architecture.forward(&self.parameters, &self.info)?;
            let loss = predictions
                .f_sub(&self.target)?
                .f_square()?
                .f_mean(Kind::Float)?;
            let gradients = Tensor::f_run_backward(&[&loss], &[&self.parameters], false, false)?;
            self.optimizer.step(&mut self.parameters, &gradients[0])?;
        }
        Ok(started.elapsed().as_secs_f64())
    }
}
