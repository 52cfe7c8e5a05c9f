//! Whether training learns, in seconds: the short form of `make test-learning`.

#[path = "learning/runs.rs"]
mod runs;

use runs::train;

/// NashConv of the uniform policies on Kuhn poker.
const UNIFORM: f64 = 11.0 / 12.0;

#[test]
fn a_short_run_on_kuhn_gets_far_below_the_uniform_policy() {
    let sets = [
        "run.max_iterations=40",
        "traversal.traversals_per_player=100",
        "evaluation.exploitability_every=40",
    ];
    let reached = train("configs/kuhn.yaml", &sets.map(String::from));
    println!("{reached:.4?}");
    assert!(reached.nash_conv.average < 0.15 * UNIFORM, "{reached:?}");
    assert!(reached.nash_conv.current.is_finite(), "{reached:?}");
    assert!(reached.time.as_secs() < 60, "{reached:?}");
}

#[test]
fn a_policy_gradient_on_kuhn_gets_below_the_uniform_policy() {
    let sets = [
        "training.learner=policy_gradient",
        "averaging.scheme=current",
        "traversal.sampling_mode=value_guided",
        "traversal.traversals_per_player=1000",
        "policy_gradient.entropy=0.2",
        "run.max_iterations=40",
        "evaluation.exploitability_every=40",
    ];
    let reached = train("configs/kuhn.yaml", &sets.map(String::from));
    println!("{reached:.4?}");
    assert!(reached.nash_conv.current < 0.5 * UNIFORM, "{reached:?}");
    assert!(reached.time.as_secs() < 60, "{reached:?}");
}
