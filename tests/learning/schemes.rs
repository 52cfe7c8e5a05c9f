//! Every combination of schemes learns Kuhn poker. A new scheme is one row here.

use crate::runs::train;

/// How the tree is sampled, and the NashConv that the walks must get below.
const WALKS: &[(&[&str], f64)] = &[
    (&["traversal.sampling_mode=outcome"], 0.35),
    (&["traversal.sampling_mode=external"], 0.15),
    (
        &[
            "traversal.sampling_mode=robust",
            "traversal.robust_actions=1",
        ],
        0.35,
    ),
    (&["traversal.sampling_mode=all_actions"], 0.2),
];
/// How samples of different iterations weigh, and how far that stays from equilibrium whatever the walks. Discounts by the sign of
/// single samples discount noise: they are biased, and do not get far below uniform play's 0.917.
const WEIGHTINGS: &[(&str, f64)] = &[
    ("training_weighting.mode=none", 0.0),
    ("training_weighting.mode=lcfr", 0.0),
    ("training_weighting.mode=dcfr", 0.3),
];
/// What is played where no advantage is positive.
const FALLBACKS: &[&str] = &[
    "regret_matching.all_negative_fallback=uniform",
    "regret_matching.all_negative_fallback=argmax_tiebreak",
];
/// How the average strategy comes about.
const AVERAGES: &[&str] = &[
    "averaging.scheme=strategy_network",
    "averaging.scheme=single_network",
];

#[test]
fn every_combination_learns_kuhn() {
    let mut failed = Vec::new();
    for &(walk, bound) in WALKS {
        for &(weighting, floor) in WEIGHTINGS {
            for fallback in FALLBACKS {
                for average in AVERAGES {
                    let choice = [walk, &[weighting, fallback, average]].concat();
                    let short = [
                        "run.max_iterations=60",
                        "evaluation.exploitability_every=60",
                    ];
                    let sets = choice.iter().copied().chain(short).map(String::from);
                    let reached = train("configs/kuhn.yaml", &sets.collect::<Vec<_>>());
                    let line = format!("{:.4} {}", reached.nash_conv.average, choice.join(" "));
                    println!("{line}");
                    if reached.nash_conv.average.is_nan()
                        || reached.nash_conv.average > bound + floor
                    {
                        failed.push(line);
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
