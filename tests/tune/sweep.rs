//! Rounds, interleaving, the budget, and coordinate descent.

use crate::fake::{Fake, grid, plan, setting, swept};
use coorl_async::tuning::{Ending, Method, Setting, Sweep, Verdict};
use std::collections::BTreeSet;

#[test]
fn every_round_measures_every_setting_once_and_turns_the_order() {
    let start = setting(100, 64, 8);
    let grid = grid("0,100", "64,128", "8,16", start);
    let settings = grid.settings();
    assert_eq!(settings.len(), 8);
    let mut sweep = Sweep::new(plan(grid, start, Some(3), None));
    let mut fake = Fake::new(|_, _| 100.0);
    let mut watched = Vec::new();
    let ending = sweep.run(&mut fake, &mut |sweep| {
        watched.push(sweep.results().measurements())
    });
    assert_eq!(ending.unwrap(), Ending::Complete);
    assert_eq!(sweep.method(), Some(Method::WholeGrid));
    assert_eq!(watched, (1..=24).collect::<Vec<_>>());
    let order = |round| -> Vec<Setting> {
        let of_round = fake.asked.iter().filter(|(of, _)| *of == round);
        of_round.map(|(_, setting)| *setting).collect()
    };
    let reversed: Vec<_> = settings.iter().rev().copied().collect();
    assert_eq!((order(1), order(2)), (settings.clone(), reversed));
    assert_eq!(order(3), settings);
    // Rounds do not mix.
    assert!(fake.asked.is_sorted_by_key(|(round, _)| *round));
}

#[test]
fn five_rounds_without_a_number() {
    let start = setting(0, 64, 8);
    let sweep = swept(
        plan(grid("0", "64", "8,16", start), start, None, None),
        |_, _| 1.0,
    );
    assert_eq!(sweep.results().measurements(), 10);
}

#[test]
fn a_budget_that_suffices_measures_the_whole_grid_until_it_is_used_up() {
    let start = setting(100, 64, 8);
    let grid = grid("0,100", "64,128", "8,16", start);
    let mut sweep = Sweep::new(plan(grid.clone(), start, None, Some(30)));
    let mut fake = Fake::new(|_, _| 100.0);
    let ending = sweep.run(&mut fake, &mut |_| {}).unwrap();
    assert_eq!(
        (ending, sweep.method()),
        (Ending::OutOfTime, Some(Method::WholeGrid))
    );
    assert_eq!(fake.asked.len(), 30);
    // The probe counts as part of the first round.
    let first: Vec<_> = fake.asked.iter().filter(|(round, _)| *round == 1).collect();
    assert_eq!(first.len(), grid.len());
    // With a number of rounds it may end earlier.
    let mut sweep = Sweep::new(plan(grid, start, Some(3), Some(30)));
    let ending = sweep
        .run(&mut Fake::new(|_, _| 100.0), &mut |_| {})
        .unwrap();
    assert_eq!(
        (ending, sweep.results().measurements()),
        (Ending::Complete, 24)
    );
}

/// A smooth hill with its top at 500 µs, 256 rows and 512 walks.
fn hill(setting: Setting) -> f64 {
    let off = |value: f64, top: f64| ((value + 1.0).ln() - (top + 1.0).ln()).abs();
    let away = off(setting.collect_timeout_us as f64, 500.0)
        + 2.0 * off(setting.max_batch as f64, 256.0)
        + 3.0 * off(setting.in_flight as f64, 512.0);
    50_000.0 / (1.0 + 0.1 * away)
}

#[test]
fn coordinate_descent_finds_a_known_top_and_compares_it_in_rounds() {
    let start = setting(5_000, 1_024, 64);
    let grid = grid(
        "0,100,200,500,1000,2000,5000",
        "32,64,128,256,512,1024",
        "64,128,256,512,1024",
        start,
    );
    // The machine drifts by more than settings differ, from round to round.
    let speed = |setting, round: u32| hill(setting) * (1.0 + 0.5 * f64::from(round % 3));
    let mut sweep = Sweep::new(plan(grid.clone(), start, None, Some(100)));
    let mut fake = Fake::new(speed);
    let ending = sweep.run(&mut fake, &mut |_| {}).unwrap();
    assert_eq!(sweep.method(), Some(Method::CoordinateDescent));
    assert_eq!(ending, Ending::OutOfTime);
    assert!(fake.asked.len() <= 100 && fake.asked.len() > 95);
    let tried: BTreeSet<_> = fake.asked.iter().map(|(_, setting)| *setting).collect();
    assert!(
        tried.len() < grid.len() / 4,
        "{} of {}",
        tried.len(),
        grid.len()
    );
    let top = setting(500, 256, 512);
    let verdict = Verdict::of(sweep.results()).unwrap();
    assert_eq!(verdict.best, top);
    assert!(sweep.results().get(top).unwrap().rounds() >= 4);
}

#[test]
fn a_budget_for_next_to_nothing_gives_what_there_is_time_for() {
    let start = setting(0, 64, 8);
    let grid = grid("0,100", "64,128", "8,16,32", start);
    for budget in [1, 2, 4] {
        let mut sweep = Sweep::new(plan(grid.clone(), start, None, Some(budget)));
        let mut fake = Fake::new(|_, _| 100.0);
        let ending = sweep.run(&mut fake, &mut |_| {}).unwrap();
        assert_eq!(ending, Ending::OutOfTime);
        assert_eq!(fake.asked.len() as u64, budget, "budget {budget}");
        assert!(Verdict::of(sweep.results()).is_some());
    }
}

#[test]
fn a_stop_and_a_failure_keep_what_was_measured() {
    let start = setting(0, 64, 8);
    let grid = grid("0,100", "64,128", "8,16", start);
    for budget in [None, Some(1_000)] {
        let mut sweep = Sweep::new(plan(grid.clone(), start, None, budget));
        let mut fake = Fake::new(|_, _| 100.0);
        fake.stop_after = 11;
        let ending = sweep.run(&mut fake, &mut |_| {}).unwrap();
        assert_eq!(ending, Ending::Interrupted);
        assert_eq!(sweep.results().measurements(), 11);

        let mut sweep = Sweep::new(plan(grid.clone(), start, None, budget));
        let mut fake = Fake::new(|_, _| 100.0);
        (fake.stop_after, fake.fails) = (5, true);
        let error = sweep.run(&mut fake, &mut |_| {}).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains("the device is gone") && text.contains("max batch"),
            "{text}"
        );
        assert_eq!(sweep.results().measurements(), 5);
    }
}
