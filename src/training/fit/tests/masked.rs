//! Steps that the device checks by itself, with the CPU standing in for it.

use super::*;
use crate::training::{RowSource, StepChecks};

const MASKED: Compute = Compute {
    checks: StepChecks::OnDevice,
    rows: RowSource::Prefetched,
    ..Compute::CPU
};

fn assert_close(found: &LearnerState, expected: &LearnerState) {
    assert_eq!(found.moments.steps, expected.moments.steps);
    let numbers = |state: &LearnerState| {
        [&state.parameters, &state.moments.m, &state.moments.v]
            .map(Clone::clone)
            .concat()
    };
    for (found, expected) in numbers(found).iter().zip(numbers(expected)) {
        let error = (found - expected).abs();
        assert!(
            error <= 1e-4 * (1e-2 + expected.abs()),
            "{found} {expected}"
        );
    }
}

#[test]
fn masked_steps_learn_what_checked_ones_do() {
    // More steps than are read at once, and some left over.
    let steps = 2 * Records::CAPACITY + 17;
    for poisoned in [vec![], vec![0, 1, 5, 64, 70]] {
        let (mut host, mut device) = (learner(2), learner_computing(2, MASKED));
        let fitted = |learner: &mut Learner| {
            let mut problem = Problem::new(2);
            problem.poisoned.clone_from(&poisoned);
            run(learner, steps, &mut problem)
        };
        let (expected, found) = (fitted(&mut host), fitted(&mut device));
        let counts = |report: &FitReport| {
            (
                report.steps_run,
                report.nonfinite_losses,
                report.nonfinite_gradients,
            )
        };
        assert_eq!(counts(&expected), (steps, poisoned.len(), 0));
        assert_eq!(counts(&found), counts(&expected));
        for (found, expected) in [
            (found.mean_loss, expected.mean_loss),
            (found.last_loss, expected.last_loss),
        ] {
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
        assert_close(&device.state().unwrap(), &host.state().unwrap());
        assert!(!device.is_fresh());
        // The host reads the losses three times and nothing else.
        let read = found.transfers.to_host;
        assert_eq!((read.count, read.bytes), (3, 8 * steps as u64));
        assert_eq!(expected.transfers, Transfers::default());
    }
}

#[test]
fn masked_steps_that_are_not_finite_change_nothing() {
    let mut learner = learner_computing(2, MASKED);
    run(&mut learner, 3, &mut Problem::new(3));
    let before = learner.state().unwrap();
    let mut all = Problem::new(3);
    all.poisoned = (0..70).collect();
    let report = run(&mut learner, 70, &mut all);
    assert_eq!(before, learner.state().unwrap());
    assert_eq!((report.updates(), report.nonfinite_losses), (0, 70));
    assert_eq!((report.mean_loss, report.last_loss), (0.0, 0.0));
    // The very first steps of a learner, too.
    let mut fresh = learner_computing(1, MASKED);
    let before = fresh.state().unwrap();
    run(&mut fresh, 2, &mut all_poisoned());
    assert_eq!(before, fresh.state().unwrap());
    assert!(fresh.is_fresh());
}

fn all_poisoned() -> Problem {
    let mut problem = Problem::new(5);
    problem.poisoned = (0..9).collect();
    problem
}

#[test]
fn a_saved_masked_learner_continues_bit_for_bit() {
    let new = || learner_computing(2, MASKED);
    let (mut whole, mut first, mut second) = (new(), new(), new());
    run(&mut whole, 30, &mut Problem::new(2));
    let mut problem = Problem::new(2);
    run(&mut first, 13, &mut problem);
    second.load_state(&first.state().unwrap()).unwrap();
    run(&mut second, 17, &mut problem);
    assert_eq!(whole.state().unwrap(), second.state().unwrap());
}

#[test]
fn the_best_held_out_parameters_stay_in_masked_fits_too() {
    let best = FitPlan {
        keep: Keep::BestHeldout,
        held_out_checks: 4,
        ..plan(80)
    };
    let mut learner = learner_computing(2, MASKED);
    let report = fit(&mut learner, &best, &mut Measured::new(40), || false).unwrap();
    assert_eq!(report.steps_run, 80);
    assert_eq!(learner.state().unwrap().moments.steps, 40);
    assert!(report.held_out_loss.is_some());
}

#[test]
fn finite_gradients_of_a_loss_that_is_not_leave_nothing_without_a_clip() {
    let mut learner = learner_clipping(2, MASKED, 0.0);
    run(&mut learner, 3, &mut Problem::new(3));
    let before = learner.state().unwrap();
    let mut huge = Problem::new(3);
    // Their squares are infinite, and so are those of the gradient.
    huge.unit = 1e25;
    let report = run(&mut learner, 2, &mut huge);
    assert_eq!((report.steps_run, report.nonfinite_losses), (2, 2));
    assert_eq!(learner.state().unwrap(), before);
    let report = run(&mut learner, 3, &mut Problem::new(4));
    assert_eq!(report.updates(), 3);
}
