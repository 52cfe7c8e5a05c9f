//! Mixed precision on the CPU.

use super::*;
use crate::{
    encoding::ColorLayout,
    network::{AmpDtype, Kind as NetworkKind, LossScale, LossScaleState},
    training::{RowSource, StepChecks},
};

fn reduced(amp: AmpDtype) -> Compute {
    Compute::new(Device::Cpu, Some(amp), RowSource::InPlace)
}

#[test]
fn bf16_is_checked_by_the_host_of_a_cpu_and_f16_by_the_device() {
    assert_eq!(reduced(AmpDtype::Bf16).checks, StepChecks::OnHost);
    assert_eq!(reduced(AmpDtype::F16).checks, StepChecks::OnDevice);
    let cuda = Compute::new(Device::Cuda(0), None, RowSource::Mirrored);
    assert_eq!(cuda.checks, StepChecks::OnDevice);
    let cpu = Compute::new(Device::Cpu, None, RowSource::InPlace);
    assert_eq!(cpu, Compute::CPU);
}

/// The same samples again and again: 3 colours of 4 numbers and 6 common ones, 3 times 2 actions.
struct Rows {
    tensors: [Tensor; 4],
    rows: i64,
    next: i64,
}

const BATCH: i64 = 64;

impl Rows {
    fn new(actions: i64) -> Self {
        let (rows, inputs) = (640, 18);
        let mut stream = Stream::new(3, Purpose::Trial, 7, 0);
        let mut numbers =
            |count: i64| -> Vec<f32> { (0..count).map(|_| stream.uniform() as f32).collect() };
        let info = Tensor::from_slice(&numbers(rows * inputs)).view((rows, inputs));
        let mix = Tensor::from_slice(&numbers(inputs * actions)).view((inputs, actions));
        let target = (&info - 0.5).matmul(&(mix - 0.5));
        Self {
            tensors: [
                info,
                target,
                Tensor::ones([rows, actions], (Kind::Bool, Device::Cpu)),
                Tensor::full([rows], 3, (Kind::Int, Device::Cpu)),
            ],
            rows,
            next: 0,
        }
    }
}

/// The minibatch in hand.
struct Turn(Rows, [Tensor; 4]);

impl Minibatches for Turn {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        let Rows {
            tensors,
            rows,
            next,
        } = &mut self.0;
        self.1 = tensors
            .each_ref()
            .map(|tensor| tensor.narrow(0, *next, BATCH));
        *next = (*next + BATCH) % *rows;
        let [info, target, legal, iteration] = &self.1;
        Ok(Minibatch {
            info,
            info_of: None,
            target,
            legal,
            iteration,
        })
    }
}

fn network(kind: NetworkKind) -> Architecture {
    let settings = Settings {
        kind,
        hidden_size: 32,
        ..Settings::default()
    };
    let blocks = |len: usize| (0..3).map(|c| (c * len..(c + 1) * len).collect()).collect();
    let colors = ColorLayout::new(blocks(4), 18, blocks(2), 6);
    Architecture::new(&settings, 18, 6, Some(&colors)).unwrap()
}

/// The losses of 50 steps, one by one.
fn losses(kind: NetworkKind, loss: LossKind, compute: Compute) -> Vec<f64> {
    let architecture = network(kind);
    let initial = architecture.initial(&mut Stream::new(5, Purpose::Weights, 0, 0));
    let optimization = OptimizationSettings::default();
    let mut learner = Learner::computing(architecture, &initial, &optimization, compute).unwrap();
    let mut rows = Turn(Rows::new(6), std::array::from_fn(|_| Tensor::new()));
    if loss == LossKind::Strategy {
        rows.0.tensors[1] = rows.0.tensors[1].softmax(-1, Kind::Float);
    }
    let plan = FitPlan { loss, ..plan(1) };
    let mut step = || fit(&mut learner, &plan, &mut rows, || false).unwrap();
    (0..50).map(|_| step().last_loss).collect()
}

#[test]
fn reduced_precision_follows_f32_within_two_percent() {
    for kind in [
        NetworkKind::Mlp,
        NetworkKind::ColorSet,
        NetworkKind::ColorShared,
    ] {
        for loss in [LossKind::Advantage, LossKind::Strategy] {
            let exact = losses(kind, loss, Compute::CPU);
            assert!(exact[49] < exact[0]);
            for amp in [AmpDtype::Bf16, AmpDtype::F16] {
                let found = losses(kind, loss, reduced(amp));
                for (step, (found, exact)) in found.iter().zip(&exact).enumerate() {
                    let off = (found / exact - 1.0).abs();
                    assert!(
                        off < 0.02,
                        "{kind:?} {loss:?} {amp:?} {step}: {found} {exact}"
                    );
                }
            }
        }
    }
}

#[test]
fn f16_halves_its_scale_where_a_gradient_overflows_and_goes_on() {
    let mut learner = learner_computing(2, reduced(AmpDtype::F16));
    // Targets of 1e3 at a scale of 65,536 overflow half precision; smaller scales do not.
    let mut problem = Problem::new(4);
    problem.unit = 1e3;
    let report = run(&mut learner, 60, &mut problem);
    let state = learner.state().unwrap();
    let scale = state.loss_scale.unwrap();
    let skipped = report.nonfinite_gradients + report.nonfinite_losses;
    assert!((1..30).contains(&skipped), "{skipped} steps left out");
    assert_eq!(f64::from(scale.scale), 65_536.0 / 2f64.powi(skipped as i32));
    assert_eq!(report.loss_scale, Some(scale.scale.into()));
    assert_eq!(state.moments.steps as usize, report.updates());
    assert!(state.parameters.iter().all(|p| p.is_finite()));
}

#[test]
fn a_saved_f16_learner_continues_bit_for_bit_with_its_scale() {
    let new = || learner_computing(2, reduced(AmpDtype::F16));
    let (mut whole, mut first, mut second) = (new(), new(), new());
    let problem = || {
        let mut problem = Problem::new(2);
        problem.unit = 1e3;
        problem
    };
    run(&mut whole, 30, &mut problem());
    let mut samples = problem();
    run(&mut first, 7, &mut samples);
    let saved = first.state().unwrap();
    assert_ne!(saved.loss_scale, Some(LossScale::FIRST));
    second.load_state(&saved).unwrap();
    run(&mut second, 23, &mut samples);
    assert_eq!(whole.state().unwrap(), second.state().unwrap());
    // A state without a scale, as of f32, starts one.
    let plain = learner(2).state().unwrap();
    assert_eq!(plain.loss_scale, None);
    second.load_state(&plain).unwrap();
    assert_eq!(second.state().unwrap().loss_scale, Some(LossScale::FIRST));
    let odd = LossScaleState {
        scale: 2.0,
        good_steps: 9,
    };
    second
        .load_state(&LearnerState {
            loss_scale: Some(odd),
            ..plain
        })
        .unwrap();
    assert_eq!(second.state().unwrap().loss_scale, Some(odd));
    let initial = second.snapshot().unwrap();
    second.reset(&initial).unwrap();
    assert_eq!(second.state().unwrap().loss_scale, Some(LossScale::FIRST));
}

#[test]
fn a_gradient_that_is_asked_for_is_not_scaled() {
    let mut problem = Problem::new(1);
    let batch = problem.next().unwrap();
    let gradient = |compute| {
        let learner = learner_computing(2, compute);
        let (_, gradient) = learner.loss_and_gradient(&batch, &plan(1)).unwrap();
        gradient.unwrap().norm().double_value(&[])
    };
    let (exact, found) = (gradient(Compute::CPU), gradient(reduced(AmpDtype::F16)));
    assert!((found / exact - 1.0).abs() < 0.02, "{found} {exact}");
}
