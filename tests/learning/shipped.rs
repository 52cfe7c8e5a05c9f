//! The configurations that ship reach what they promise, with every seed.

use crate::runs::train;

#[test]
fn kuhn_gets_to_0_05_within_30_seconds() {
    for seed in 1..=5 {
        let reached = train("configs/kuhn.yaml", &[format!("run.seed={seed}")]);
        println!("kuhn.yaml, seed {seed}: {reached:.4?}");
        assert!(
            reached.nash_conv.average <= 0.05,
            "seed {seed}: {reached:?}"
        );
        assert!(
            reached.time.as_secs_f64() <= 30.0,
            "seed {seed}: {reached:?}"
        );
    }
}

#[test]
fn leduc_gets_below_a_tenth_of_uniform_play_within_10_minutes() {
    // Uniform play has 4.747.
    let reached = train("configs/leduc.yaml", &["run.seed=1".into()]);
    println!("leduc.yaml: {reached:.4?}");
    assert!(reached.nash_conv.average <= 0.47, "{reached:?}");
    assert!(reached.time.as_secs_f64() <= 600.0, "{reached:?}");
}
