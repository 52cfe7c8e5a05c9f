//! What the walks cost and how much their targets scatter, and that they do not depend on how many branches wait at once.

use crate::{
    Part,
    exact::Exact,
    lost_cities, mode, outcome,
    recall::{Recall, info_set_of},
    robust, walk, walker,
};
use coorl_async::{
    game::{Player, lost_cities::LostCities},
    random::{Purpose, Stream},
    traversal::{SamplingMode, Settings, Walk},
};

const WALKS: u64 = 3_000;
const TRAVERSER: Player = Player::P0;

/// The walks of one scheme from one deal.
struct Measured {
    nodes: f64,
    /// Network calls per advantage sample.
    calls: f64,
    /// Of the root decision's targets: means, and the variances' sum.
    means: [f64; 16],
    variance: f64,
}

fn walks(part: &Part<LostCities>, settings: &Settings) -> Vec<Walk<Recall<LostCities>>> {
    let walker = walker(part, settings);
    let root = part.game.root(part.deals[0].0.clone());
    let one = |number| {
        let stream = Stream::new(1, Purpose::Trial, number, 0);
        walk(
            &walker,
            &root,
            TRAVERSER,
            settings.branches_in_flight,
            stream,
        )
    };
    (0..WALKS).map(one).collect()
}

fn measure(part: &Part<LostCities>, settings: &Settings) -> Measured {
    let walks = walks(part, settings);
    let (mut sums, mut squares) = ([0.0; 16], [0.0; 16]);
    let (mut nodes, mut requests, mut samples) = (0, 0, 0);
    for walk in &walks {
        let counts = &walk.statistics.counts;
        nodes += counts.nodes;
        requests += counts.requests;
        samples += counts.advantage_samples;
        let root = walk.samples.advantage().last().expect("the root decision");
        for (action, &target) in root.target.iter().enumerate() {
            sums[action] += f64::from(target);
            squares[action] += f64::from(target).powi(2);
        }
    }
    let count = WALKS as f64;
    let means = sums.map(|sum| sum / count);
    let second: f64 = squares.iter().map(|sum| sum / count).sum();
    Measured {
        nodes: nodes as f64 / count,
        calls: requests as f64 / samples as f64,
        means,
        variance: second - means.iter().map(|mean| mean * mean).sum::<f64>(),
    }
}

#[test]
fn cost_and_variance_of_the_walks() {
    let part = lost_cities(1, 8);
    let schemes = [
        ("outcome", outcome()),
        ("robust, 1 action", robust(1)),
        ("robust, 2 actions", robust(2)),
        ("all_actions", mode(SamplingMode::AllActions)),
        ("external", mode(SamplingMode::External)),
    ];
    let mut exact = Exact::new(&part.game, TRAVERSER, part.max_depth);
    let root = part.game.root(part.deals[0].0.clone());
    exact.value(&root, 0, 1.0);
    let root = &exact.info_sets[&part.game.info_set(&root, TRAVERSER)];
    println!("tiny Lost Cities, {WALKS} walks of one deal, the first decision's targets:");
    println!(
        "{:<18} {:>11} {:>17} {:>18} {:>20}",
        "walk", "nodes/walk", "calls per sample", "target deviation", "variance x nodes"
    );
    let measured = schemes.map(|(name, settings)| {
        let found = measure(&part, &settings);
        println!(
            "{name:<18} {:>11.1} {:>17.2} {:>18.2} {:>20.0}",
            found.nodes,
            found.calls,
            found.variance.sqrt(),
            found.variance * found.nodes
        );
        for action in root.legal.iter().map(usize::from) {
            let error = found.means[action] - (root.action_values[action] - root.value);
            let standard = (found.variance / WALKS as f64).sqrt();
            assert!(
                error.abs() < 6.0 * standard,
                "{name}: {error} of {standard}"
            );
        }
        found
    });
    let [outcome, one, two, all_actions, external] = measured;
    assert!(external.variance < outcome.variance);
    assert!(all_actions.variance < outcome.variance);
    assert!(two.variance < one.variance && external.variance < two.variance);
    assert!(external.nodes > two.nodes && two.nodes > one.nodes);
    assert!(all_actions.calls > outcome.calls);
}

/// What a walk leaves: value and nodes, and the samples with their info sets.
type Left = ([u64; 2], Vec<(u64, Vec<u32>)>);

/// Everything the walks leave, bit for bit and in its order.
fn left(walks: &[Walk<Recall<LostCities>>]) -> Vec<Left> {
    let bits = |target: &[f32]| target.iter().map(|value| value.to_bits()).collect();
    let all = walks.iter().map(|walk| {
        let samples = walk.samples.advantage().chain(walk.samples.strategy());
        let samples = samples.map(|sample| (info_set_of(sample.info), bits(sample.target)));
        let nodes = walk.statistics.counts.nodes;
        ([walk.value.to_bits(), nodes], samples.collect())
    });
    all.collect()
}

#[test]
fn robust_sampling_of_every_action_is_external_sampling() {
    let part = lost_cities(1, 8);
    let external = walks(&part, &mode(SamplingMode::External));
    assert_eq!(left(&walks(&part, &robust(128))), left(&external));
}

#[test]
fn how_many_branches_wait_at_once_changes_nothing() {
    let part = lost_cities(1, 8);
    for settings in [
        mode(SamplingMode::External),
        robust(2),
        mode(SamplingMode::AllActions),
    ] {
        let alone = left(&walks(&part, &settings));
        for branches_in_flight in [2, 5, 64] {
            let several = Settings {
                branches_in_flight,
                ..settings.clone()
            };
            assert_eq!(left(&walks(&part, &several)), alone, "{branches_in_flight}");
        }
    }
}
