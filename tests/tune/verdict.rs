//! Best, within noise, recommended.

use crate::fake::{at, setting};
use coorl_async::tuning::{Results, Setting, Verdict};

/// Results with these speeds by round.
fn results(points: &[(Setting, &[f64])]) -> Results {
    let mut results = Results::default();
    for (setting, speeds) in points {
        for (round, speed) in speeds.iter().enumerate() {
            results.add(*setting, round as u32 + 1, at(*speed));
        }
    }
    results
}

fn verdict(points: &[(Setting, &[f64])]) -> Verdict {
    Verdict::of(&results(points)).expect("results")
}

#[test]
fn the_shortest_timeout_within_noise_is_recommended() {
    let (slow, long, short) = (
        setting(0, 64, 8),
        setting(2_000, 64, 8),
        setting(200, 64, 8),
    );
    let found = verdict(&[
        (slow, &[60.0, 61.0, 62.0, 60.0]),
        (long, &[100.0, 103.0, 98.0, 101.0]),
        (short, &[99.0, 103.5, 97.0, 101.0]),
    ]);
    assert_eq!(found.best, long);
    assert_eq!(found.within_noise, [short, long]);
    assert_eq!(found.recommended, short);
}

#[test]
fn rounds_share_the_drift_so_a_steady_loss_is_seen_under_it() {
    // Single rounds scatter by half, and still the second is 2 % slower in each.
    let (first, second) = (setting(500, 64, 8), setting(0, 64, 8));
    let drift = [50.0, 100.0, 75.0, 120.0];
    let slower: Vec<f64> = [0.979, 0.981, 0.980, 0.980]
        .iter()
        .zip(drift)
        .map(|(share, speed)| share * speed)
        .collect();
    let found = verdict(&[(first, &drift), (second, &slower)]);
    assert_eq!((found.best, found.recommended), (first, first));
    // The same speeds in other rounds would pass for noise.
    let shuffled = [1, 2, 3, 0].map(|round: usize| slower[round]);
    let found = verdict(&[(first, &drift), (second, &shuffled)]);
    assert_eq!((found.best, found.recommended), (first, second));
}

#[test]
fn two_noisy_rounds_do_not_excuse_a_slow_setting() {
    let (fast, slow) = (setting(500, 64, 8), setting(0, 64, 8));
    let found = verdict(&[(fast, &[100.0, 100.0]), (slow, &[99.0, 70.0])]);
    assert_eq!(found.recommended, fast);
    // A mean that is only 2 % lower is as good.
    let found = verdict(&[(fast, &[100.0, 100.0]), (slow, &[100.5, 95.5])]);
    assert_eq!(found.recommended, slow);
}

#[test]
fn one_round_tells_nothing_about_noise() {
    let (fast, near) = (setting(500, 64, 8), setting(0, 64, 8));
    let found = verdict(&[(fast, &[100.0]), (near, &[99.9])]);
    assert_eq!((found.recommended, found.within_noise.len()), (fast, 1));
    assert_eq!(Verdict::of(&Results::default()), None);
}

#[test]
fn a_lucky_round_is_not_the_best() {
    let (steady, lucky) = (setting(500, 64, 8), setting(0, 64, 8));
    let found = verdict(&[
        (steady, &[100.0, 101.0, 99.0, 100.0]),
        (lucky, &[150.0, 90.0]),
    ]);
    assert_eq!(found.best, steady);
    // A round that was cut short leaves some with one round less: they still count.
    let found = verdict(&[(steady, &[100.0, 101.0, 99.0]), (lucky, &[150.0, 151.0])]);
    assert_eq!(found.best, lucky);
}

#[test]
fn of_equal_timeouts_the_shorter_measured_wait_is_taken() {
    let (a, b) = (setting(0, 64, 8), setting(0, 128, 8));
    let mut results = Results::default();
    for round in 1..=3 {
        let mut long = at(100.0 + f64::from(round % 2));
        long.wait_p50_us = 300.0;
        results.add(a, round, long);
        results.add(b, round, at(100.0 + f64::from((round + 1) % 2)));
    }
    let found = Verdict::of(&results).unwrap();
    assert_eq!((found.within_noise.len(), found.recommended), (2, b));
}
