//! Reduced precision: the policies of trained networks stay what they are, nearly.

use crate::{ask, lane, stand_in};
use coorl_async::{
    config::Config,
    encoding::Slots,
    game::{Player, lost_cities::LostCities},
    inference::{Computing, Head, HeadArchitectures, Place, StopFlag},
    network::Precision,
    regret::{Fallback, legal_softmax, regret_matching},
    replay::Sample,
    training::{Due, Role, Trainer},
};

/// The greatest mean total variation between policies in f32 and in another format.
const BOUND: f64 = 0.02;

fn config() -> Config {
    let mut config = Config::default();
    config.run.seed = 3;
    config.run.device = "cpu".into();
    config.network.hidden_size = 64;
    let traversal = &mut config.traversal;
    traversal.traversals_per_player = 80;
    traversal.max_nodes_per_traversal = Some(200);
    traversal.store_strategy_on_traverser_nodes = true;
    config.optimization.learning_rate = 1e-3;
    config.optimization.advantage_updates_per_iteration = 150;
    config.optimization.strategy_updates_per_iteration = 150;
    config
}

/// Half the sum of the differences.
fn total_variation(one: &[f32], other: &[f32]) -> f64 {
    let differences = one.iter().zip(other).map(|(a, b)| f64::from((a - b).abs()));
    0.5 * differences.sum::<f64>()
}

#[test]
fn policies_in_reduced_precision_are_those_of_f32_within_a_fiftieth() {
    let config = config();
    let game = LostCities::new(config.rules.clone()).unwrap();
    let encoding = Slots::new(&game, &config.encoding);
    let mut trainer = Trainer::new(game, encoding, &config).unwrap();
    for _ in 0..2 {
        let nothing = |_| Due::default();
        let iterated = trainer.iterate(&nothing, &StopFlag::default(), &mut ());
        assert!(iterated.is_ok_and(|report| report.evaluation.is_empty()));
    }
    let architectures = HeadArchitectures::from(trainer.architecture().clone());
    let states = trainer.states().unwrap();
    let roles = [
        (Role::Advantage(Player::P0), Head::advantage(Player::P0)),
        (Role::Strategy, Head::STRATEGY),
    ];
    let heads = roles.map(|(role, head)| (head, states[role.index()].parameters.clone()));
    for (role, head) in roles {
        let memory = &trainer.memories()[role.index()];
        let samples: Vec<_> = (0..memory.len().min(1_000))
            .map(|slot| memory.sample(slot))
            .collect();
        assert!(samples.len() == 1_000);
        let info: Vec<f32> = samples
            .iter()
            .flat_map(|sample| sample.info)
            .copied()
            .collect();
        let policies = |precision, place| {
            let computing = Computing {
                precision,
                place,
                ..crate::host()
            };
            let mut lane = lane(&architectures, &computing, 1_000, &heads);
            let actions = architectures.policy.outputs();
            let answers = ask(&mut lane, head, &info, architectures.policy.inputs());
            let read = |(answer, sample): (&[f32], &Sample<'_>)| {
                let mut policy = vec![0.0; actions];
                let legal = sample.legal;
                if head == Head::STRATEGY {
                    legal_softmax(answer, legal, &mut policy);
                } else {
                    let fallback = Fallback::ArgmaxTiebreak;
                    regret_matching(answer, legal, 1e-4, fallback, &mut policy);
                }
                policy
            };
            let answers = answers.chunks_exact(actions).zip(&samples);
            answers.map(read).collect::<Vec<_>>()
        };
        let exact = policies(Precision::F32, Place::Host);
        for precision in [Precision::Bf16, Precision::F16] {
            for place in [Place::Host, stand_in().place] {
                let reduced = policies(precision, place);
                let pairs = exact.iter().zip(&reduced);
                let distances: Vec<_> = pairs.map(|(a, b)| total_variation(a, b)).collect();
                let mean = distances.iter().sum::<f64>() / distances.len() as f64;
                println!("{role:?} {precision:?} {place:?}: mean {mean:.5}");
                assert!(mean > 0.0, "{precision:?} is f32");
                assert!(mean <= BOUND, "{role:?} {precision:?} {place:?}: {mean}");
            }
        }
    }
}
