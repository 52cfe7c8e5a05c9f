//! The configurations that ship reach what they promise, with every seed.

use crate::runs::train;

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
    for seed in 1..=3 {
        let reached = train("configs/leduc.yaml", &[format!("run.seed={seed}")]);
        println!("leduc.yaml, seed {seed}: {reached:.4?}");
        assert!(reached.nash_conv.average <= 0.2, "seed {seed}: {reached:?}");
        assert!(
            reached.time.as_secs_f64() <= 900.0,
            "seed {seed}: {reached:?}"
        );
    }
}
