//! The configurations that ship reach what they promise, with every seed.

use crate::runs::train;
use std::thread;

#[test]
fn kuhn_gets_to_0_03_within_20_seconds() {
    for seed in 1..=5 {
        let reached = train("configs/kuhn.yaml", &[format!("run.seed={seed}")]);
        println!("kuhn.yaml, seed {seed}: {reached:.4?}");
        assert!(
            reached.nash_conv.average <= 0.03,
            "seed {seed}: {reached:?}"
        );
        assert!(
            reached.time.as_secs_f64() <= 20.0,
            "seed {seed}: {reached:?}"
        );
    }
}

#[test]
fn leduc_gets_to_0_2_within_15_minutes() {
    const CONFIG: &str = "configs/leduc.yaml";
    // Side by side, which is slower for each of them and shorter for all.
    let reached = thread::scope(|scope| {
        let run = |seed| scope.spawn(move || train(CONFIG, &[format!("run.seed={seed}")]));
        let runs = [1, 2, 3].map(run);
        runs.map(|run| run.join().expect("a run that does not panic"))
    });
    for (reached, seed) in reached.into_iter().zip(1..) {
        println!("leduc.yaml, seed {seed}: {reached:.4?}");
        assert!(reached.nash_conv.average <= 0.2, "seed {seed}: {reached:?}");
        assert!(
            reached.time.as_secs_f64() <= 900.0,
            "seed {seed}: {reached:?}"
        );
    }
}
