mod masked;
mod reduced;

use super::*;
use crate::{
    network::{Architecture, Settings},
    random::{Purpose, Randomness, Stream},
    training::{Compute, LearnerError, LearnerState, OptimizationSettings, WeightingMode},
};
use tch::{Device, Kind, Tensor};

const INPUTS: i64 = 5;
const ACTIONS: i64 = 3;

/// Minibatches of a made-up linear problem. Those named in `poisoned` have a target that is not a number.
struct Problem {
    stream: Stream,
    drawn: usize,
    poisoned: Vec<usize>,
    /// What targets are multiplied by.
    unit: f32,
    /// From this minibatch on targets have the wrong sign.
    wrong_from: usize,
    tensors: [Tensor; 4],
}

impl Problem {
    fn new(seed: u64) -> Self {
        Self {
            stream: Stream::new(seed, Purpose::Trial, 0, 0),
            drawn: 0,
            poisoned: vec![],
            unit: 1.0,
            wrong_from: usize::MAX,
            tensors: std::array::from_fn(|_| Tensor::new()),
        }
    }
}

impl Minibatches for Problem {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        let rows = 16;
        let wrong = self.drawn >= self.wrong_from;
        let unit = if wrong { -self.unit } else { self.unit };
        let info: Vec<f32> = std::iter::repeat_with(|| self.stream.uniform() as f32)
            .take(rows * INPUTS as usize)
            .collect();
        let mut target: Vec<f32> = info
            .chunks(INPUTS as usize)
            .flat_map(|row| [row[0] - row[1], 2.0 * row[2], -row[3]])
            .map(|target| target * unit)
            .collect();
        if self.poisoned.contains(&self.drawn) {
            target[7] = f32::NAN;
        }
        self.drawn += 1;
        self.tensors = [
            Tensor::from_slice(&info).view((-1, INPUTS)),
            Tensor::from_slice(&target).view((-1, ACTIONS)),
            Tensor::from_slice(&vec![1u8; target.len()]).view((-1, ACTIONS)),
            Tensor::from_slice(&vec![3i32; rows]),
        ];
        let [info, target, legal, iteration] = &self.tensors;
        Ok(Minibatch {
            info,
            info_of: None,
            target,
            legal,
            iteration,
        })
    }
}

fn learner(num_layers: usize) -> Learner {
    learner_computing(num_layers, Compute::CPU)
}

fn learner_computing(num_layers: usize, compute: Compute) -> Learner {
    let usual = OptimizationSettings::default();
    learner_clipping(num_layers, compute, usual.grad_clip)
}

fn learner_clipping(num_layers: usize, compute: Compute, grad_clip: f64) -> Learner {
    let settings = Settings {
        num_layers,
        hidden_size: 12,
        ..Settings::default()
    };
    let architecture =
        Architecture::new(&settings, INPUTS as usize, ACTIONS as usize, None).unwrap();
    let initial = architecture.initial(&mut Stream::new(5, Purpose::Weights, 0, 0));
    let optimization = OptimizationSettings {
        learning_rate: 1e-2,
        weight_decay: 1e-3,
        grad_clip,
        ..OptimizationSettings::default()
    };
    Learner::computing(architecture, &initial, &optimization, compute).unwrap()
}

const WEIGHTING: WeightingSettings = WeightingSettings {
    mode: WeightingMode::Lcfr,
    lcfr_alpha: 1.0,
    dcfr_alpha: 1.5,
    dcfr_beta: 0.0,
    dcfr_gamma: 2.0,
};

fn plan(steps: usize) -> FitPlan<'static> {
    FitPlan {
        loss: LossKind::Advantage,
        steps,
        iteration: 4,
        weighting: &WEIGHTING,
        keep: Keep::Last,
        held_out_checks: 1,
        rate: 1.0,
        schedule: RateSchedule::Constant,
    }
}

fn run(learner: &mut Learner, steps: usize, problem: &mut Problem) -> FitReport {
    fit(learner, &plan(steps), problem, || false).unwrap()
}

fn bits(state: &LearnerState) -> Vec<u32> {
    let numbers = [&state.parameters, &state.moments.m, &state.moments.v];
    numbers.into_iter().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn a_fit_learns_with_and_without_hidden_layers() {
    for layers in [0, 2] {
        let mut learner = learner(layers);
        let mut problem = Problem::new(1);
        let first = run(&mut learner, 1, &mut problem);
        assert_eq!(first.mean_loss, first.last_loss);
        let rest = run(&mut learner, 600, &mut problem);
        let (start, end) = (first.last_loss, rest.last_loss);
        assert!(end < 0.02 * start, "{layers} layers: {start} to {end}");
        assert_eq!((rest.steps_run, rest.updates()), (600, 600));
    }
}

#[test]
fn an_info_state_that_repeats_may_be_computed_once() {
    let mut problem = Problem::new(21);
    let distinct = problem.next().unwrap();
    let rows = Tensor::from_slice(&[3i32, 0, 3, 15, 3, 7, 7, 1]);
    let select = |tensor: &Tensor| tensor.index_select(0, &rows);
    let (info, legal, iteration) = (
        select(distinct.info),
        select(distinct.legal),
        select(distinct.iteration),
    );
    // Samples of one info state have targets of their own.
    let own = Tensor::arange(8, (Kind::Float, Device::Cpu)).view((8, 1));
    let target = select(distinct.target) + own;
    let each = Minibatch {
        info: &info,
        info_of: None,
        target: &target,
        legal: &legal,
        iteration: &iteration,
    };
    let once = Minibatch {
        info: distinct.info,
        info_of: Some(&rows),
        ..each
    };
    let learner = learner(2);
    for loss in [LossKind::Advantage, LossKind::Strategy] {
        let plan = FitPlan { loss, ..plan(1) };
        let run = |batch| {
            let (loss, gradient) = learner.loss_and_gradient(batch, &plan).unwrap();
            (loss, Vec::<f32>::try_from(gradient.unwrap()).unwrap())
        };
        let ((expected, slopes), (found, same)) = (run(&each), run(&once));
        assert!((expected - found).abs() < 1e-6 * expected.abs(), "{loss:?}");
        let largest = slopes
            .iter()
            .fold(0f32, |most, slope| most.max(slope.abs()));
        for (slope, same) in slopes.iter().zip(&same) {
            let error = (slope - same).abs();
            assert!(error < 1e-5 * largest, "{loss:?}: {slope} {same}");
        }
    }
    learner.check(&once).unwrap();
    let short = rows.narrow(0, 0, 7);
    let short = Minibatch {
        info_of: Some(&short),
        ..once
    };
    assert!(learner.check(&short).is_err());
}

#[test]
fn a_saved_learner_continues_bit_for_bit() {
    let (mut whole, mut first, mut second) = (learner(2), learner(2), learner(2));
    run(&mut whole, 30, &mut Problem::new(2));
    let mut problem = Problem::new(2);
    run(&mut first, 13, &mut problem);
    let saved = first.state().unwrap();
    assert_eq!(saved.moments.steps, 13);
    second.load_state(&saved).unwrap();
    run(&mut second, 17, &mut problem);
    let (whole, second) = (whole.state().unwrap(), second.state().unwrap());
    assert_eq!(whole.moments.steps, second.moments.steps);
    assert_eq!(bits(&whole), bits(&second));
}

#[test]
fn a_scaled_learner_learns_the_same_in_its_unit() {
    // A power of two, so that no digit is lost on the way.
    const UNIT: f64 = 64.0;
    let (mut plain, mut scaled) = (learner(2), learner(2));
    scaled.set_scale(UNIT).unwrap();
    let mut problem = Problem::new(8);
    problem.unit = UNIT as f32;
    let report = run(&mut scaled, 40, &mut problem);
    assert_eq!(
        report,
        FitReport {
            seconds: report.seconds,
            batch_seconds: report.batch_seconds,
            ..run(&mut plain, 40, &mut Problem::new(8))
        }
    );
    let (plain_state, scaled_state) = (plain.state().unwrap(), scaled.state().unwrap());
    assert_eq!(bits(&plain_state), bits(&scaled_state));
    assert_eq!((plain_state.scale, scaled_state.scale), (1.0, UNIT));
    // Answers in points are those of the last layer times the unit.
    let mut expected = plain.snapshot().unwrap();
    let last = plain.architecture().output_layer();
    expected[last].iter_mut().for_each(|p| *p *= UNIT as f32);
    assert_eq!(scaled.snapshot().unwrap(), expected);
    // A saved one goes on.
    let mut restored = learner(2);
    restored.load_state(&scaled_state).unwrap();
    let mut again = Problem::new(9);
    again.unit = UNIT as f32;
    run(&mut restored, 5, &mut again);
    run(&mut plain, 5, &mut Problem::new(9));
    let restored = restored.state().unwrap();
    assert_eq!(bits(&restored), bits(&plain.state().unwrap()));
}

#[test]
fn a_network_means_the_same_in_another_unit() {
    let mut fresh = learner(1);
    let initial = fresh.state().unwrap();
    fresh.set_scale(3.0).unwrap();
    assert_eq!(
        fresh.state().unwrap(),
        LearnerState {
            scale: 3.0,
            ..initial
        }
    );
    let mut learner = fresh;
    run(&mut learner, 20, &mut Problem::new(3));
    let (before, meant) = (learner.state().unwrap(), learner.snapshot().unwrap());
    learner.set_scale(0.7).unwrap();
    let (after, means) = (learner.state().unwrap(), learner.snapshot().unwrap());
    let last = learner.architecture().output_layer();
    for (a, b) in meant.iter().zip(&means) {
        assert!((a - b).abs() <= 1e-6 * a.abs(), "{a} {b}");
    }
    let factor = 3.0f64 / 0.7;
    let power = |index: usize| if last.contains(&index) { 1 } else { 2 };
    let assert_scaled = |before: &[f32], after: &[f32], order: i32| {
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            let expected = f64::from(*before) * factor.powi(order * power(index));
            let error = (expected - f64::from(*after)).abs();
            assert!(error <= 1e-5 * expected.abs(), "{index}: {after}");
        }
    };
    assert_scaled(&before.moments.m, &after.moments.m, 1);
    assert_scaled(&before.moments.v, &after.moments.v, 2);
}

/// A problem with samples held out.
struct Measured(Problem, Problem);

impl Measured {
    /// Minibatches that turn wrong after `good` of them.
    fn new(good: usize) -> Self {
        let (mut problem, mut held_out) = (Problem::new(11), Problem::new(12));
        problem.wrong_from = good;
        held_out.next().unwrap();
        Self(problem, held_out)
    }
}

impl Minibatches for Measured {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        self.0.next()
    }

    fn held_out(&self) -> Option<Minibatch<'_>> {
        let [info, target, legal, iteration] = &self.1.tensors;
        Some(Minibatch {
            info,
            info_of: None,
            target,
            legal,
            iteration,
        })
    }
}

#[test]
fn the_parameters_of_the_least_held_out_loss_stay() {
    let best = FitPlan {
        keep: Keep::BestHeldout,
        held_out_checks: 4,
        ..plan(80)
    };
    let fitted = |plan: &FitPlan<'_>| {
        let mut learner = learner(2);
        let report = fit(&mut learner, plan, &mut Measured::new(40), || false).unwrap();
        (learner.state().unwrap(), report)
    };
    let (state, report) = fitted(&best);
    let (half, good) = fitted(&plan(40));
    assert_eq!(state, half);
    assert_eq!(report.held_out_loss, good.held_out_loss);
    assert_eq!((report.steps_run, state.moments.steps), (80, 40));
    let (last, bad) = fitted(&plan(80));
    assert!(bad.held_out_loss > report.held_out_loss && last != state);
    // Where the last ones are the best nothing is undone, however many checks there are.
    for checks in [1, 40, 1_000] {
        let plan = FitPlan {
            held_out_checks: checks,
            steps: 30,
            ..best
        };
        let (state, report) = fitted(&plan);
        assert!(
            state.moments.steps > 20 && report.held_out_loss.is_some(),
            "{checks}"
        );
    }
    let without = run(&mut learner(2), 3, &mut Problem::new(1));
    assert_eq!(without.held_out_loss, None);
}

#[test]
fn linear_steps_end_nearer_to_where_they_began() {
    let moved = |schedule| {
        let plan = FitPlan {
            schedule,
            ..plan(30)
        };
        let mut learner = learner(2);
        let before = learner.snapshot().unwrap();
        fit(&mut learner, &plan, &mut Problem::new(3), || false).unwrap();
        let after = learner.snapshot().unwrap();
        let moved = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
        moved.sum::<f32>()
    };
    let (constant, linear) = (moved(RateSchedule::Constant), moved(RateSchedule::Linear));
    assert!(linear < 0.8 * constant, "{linear} {constant}");
}

#[test]
fn a_learner_that_starts_anew_is_a_new_one() {
    let (mut used, mut new) = (learner(2), learner(2));
    let initial = new.snapshot().unwrap();
    run(&mut used, 9, &mut Problem::new(6));
    used.reset(&initial).unwrap();
    assert_eq!(used.state().unwrap(), new.state().unwrap());
    run(&mut used, 5, &mut Problem::new(7));
    run(&mut new, 5, &mut Problem::new(7));
    assert_eq!(bits(&used.state().unwrap()), bits(&new.state().unwrap()));
    assert!(used.reset(&initial[1..]).is_err());
}

#[test]
fn a_loss_that_is_not_finite_changes_nothing_and_is_counted() {
    let mut learner = learner(2);
    run(&mut learner, 3, &mut Problem::new(3));
    let before = learner.state().unwrap();
    let mut all = Problem::new(3);
    all.poisoned = vec![0, 1];
    let report = run(&mut learner, 2, &mut all);
    assert_eq!(before, learner.state().unwrap());
    assert_eq!((report.steps_run, report.nonfinite_losses), (2, 2));
    assert_eq!((report.mean_loss, report.last_loss), (0.0, 0.0));
    let mut some = Problem::new(3);
    some.poisoned = vec![1, 2];
    let report = run(&mut learner, 3, &mut some);
    assert_eq!((report.updates(), report.nonfinite_losses), (1, 2));
    assert!(report.mean_loss > 0.0 && report.mean_loss == report.last_loss);
}

#[test]
fn a_gradient_that_is_not_finite_changes_nothing_and_is_counted() {
    let mut learner = learner(0);
    learner
        .restore(&vec![0.0; learner.architecture().num_parameters()])
        .unwrap();
    // Predictions of 0 and errors of 1e10 have a finite square, and a slope of 1e10 * 1e30 in the weights.
    struct Huge([Tensor; 4]);
    impl Minibatches for Huge {
        fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
            let [info, target, legal, iteration] = &self.0;
            Ok(Minibatch {
                info,
                info_of: None,
                target,
                legal,
                iteration,
            })
        }
    }
    let ones = Tensor::from_slice(&[1f32; 5]);
    let mut huge = Huge([
        ones.view((1, INPUTS)) * 1e30,
        ones.narrow(0, 0, ACTIONS).view((1, ACTIONS)) * 1e10,
        Tensor::from_slice(&[true; 3]).view((1, ACTIONS)),
        Tensor::from_slice(&[4i32]),
    ]);
    let before = learner.state().unwrap();
    let report = fit(&mut learner, &plan(2), &mut huge, || false).unwrap();
    assert_eq!(before, learner.state().unwrap());
    let counts = (report.nonfinite_losses, report.nonfinite_gradients);
    assert_eq!((counts, report.updates()), ((0, 2), 0));
    assert!((report.mean_loss / 1e20 - 1.0).abs() < 1e-5);
}

#[test]
fn a_stop_ends_the_fit_between_steps() {
    let asked = std::cell::Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) == 4;
    let report = fit(&mut learner(1), &plan(9), &mut Problem::new(4), stop).unwrap();
    assert_eq!((report.steps_run, report.updates()), (4, 4));
    assert!(report.seconds >= report.batch_seconds);
}

#[test]
fn what_does_not_fit_the_network_is_refused() {
    let mut learner = learner(1);
    let before = learner.state().unwrap();
    let mut state = before.clone();
    state.moments.v.pop();
    assert!(matches!(
        learner.load_state(&state),
        Err(LearnerError::Length {
            what: "the second moment",
            ..
        })
    ));
    assert!(learner.restore(&[0.0; 4]).is_err());
    assert_eq!(before, learner.state().unwrap());

    struct Narrow(Problem, Tensor);
    impl Minibatches for Narrow {
        fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
            let batch = self.0.next()?;
            self.1 = batch.info.narrow(1, 0, INPUTS - 1);
            Ok(Minibatch {
                info: &self.1,
                info_of: None,
                ..batch
            })
        }
    }
    let mut narrow = Narrow(Problem::new(1), Tensor::new());
    let error = fit(&mut learner, &plan(1), &mut narrow, || false).unwrap_err();
    assert!(error.to_string().contains("another encoding"), "{error:#}");

    struct Broken;
    impl Minibatches for Broken {
        fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
            anyhow::bail!("no rows")
        }
    }
    let error = fit(&mut learner, &plan(1), &mut Broken, || false).unwrap_err();
    assert!(format!("{error:#}").contains("no rows"), "{error:#}");
}
