//! Runs whose fits compute elsewhere than the walks, with the CPU standing in for the device: the same numbers, whatever becomes of the copies
//! of the memories there.

use coorl_async::{
    config::{Config, GameKind},
    encoding::KuhnBits,
    game::kuhn::Kuhn,
    inference::StopFlag,
    network::AmpDtype,
    regret::UpdateRule,
    replay::Faults,
    training::{Compute, Due, RowSource, StepChecks, Trainer},
    traversal::SamplingMode,
};
use tch::Device;

fn config() -> Config {
    let mut config = Config {
        game: GameKind::Kuhn,
        ..Config::default()
    };
    config.traversal.traversals_per_player = 40;
    config.traversal.worker_threads = Some(1);
    config.replay.advantage_capacity = 120;
    config.replay.strategy_capacity = 150;
    config.optimization.advantage_updates_per_iteration = 20;
    config.optimization.strategy_updates_per_iteration = 20;
    config.optimization.advantage_batch_size = 32;
    config.optimization.strategy_batch_size = 32;
    config.training.held_out = 0.1;
    config.run.deterministic = true;
    config
}

fn guided(update: UpdateRule) -> Config {
    let mut config = config();
    config.traversal.sampling_mode = SamplingMode::ValueGuided;
    config.training.update = update;
    config.value_guided.critic_batch_size = 16;
    config
}

fn trainer(config: &Config, compute: Compute, faults: &Faults) -> Trainer<Kuhn, KuhnBits> {
    Trainer::computing(Kuhn, KuhnBits, config, compute, faults).unwrap()
}

fn iterate(trainer: &mut Trainer<Kuhn, KuhnBits>) -> usize {
    let report = trainer.iterate(&|_| Due::default(), &StopFlag::default(), &mut ());
    report.unwrap().mirrored
}

/// The bits of all networks and optimizers after three iterations, the critic's included, and how many memories had a copy then.
fn trained(config: &Config, rows: RowSource, faults: &Faults) -> (Vec<u32>, usize) {
    let compute = Compute {
        rows,
        ..Compute::CPU
    };
    let mut trainer = trainer(config, compute, faults);
    let mirrored = (0..3).map(|_| iterate(&mut trainer)).last().unwrap();
    let critic = trainer.critic_state().unwrap();
    let states = trainer.states().unwrap().into_iter().chain(critic);
    let numbers = states.flat_map(|state| [state.parameters, state.moments.m, state.moments.v]);
    (numbers.flatten().map(f32::to_bits).collect(), mirrored)
}

#[test]
fn wherever_samples_lie_a_run_learns_the_same() {
    for (config, memories) in [
        (config(), 3),
        (guided(UpdateRule::RegretMatching), 2),
        (guided(UpdateRule::Hedge), 1),
    ] {
        let (expected, none) = trained(&config, RowSource::InPlace, &Faults::none());
        assert_eq!(none, 0);
        for (rows, copies) in [(RowSource::Prefetched, 0), (RowSource::Mirrored, memories)] {
            let (found, mirrored) = trained(&config, rows, &Faults::none());
            assert!(found == expected, "{rows:?}");
            assert_eq!(mirrored, copies, "{rows:?}");
        }
    }
}

#[test]
fn copies_that_fail_at_any_moment_cost_nothing_but_themselves() {
    for config in [config(), guided(UpdateRule::RegretMatching)] {
        let (expected, _) = trained(&config, RowSource::InPlace, &Faults::none());
        // The allocation, the first block, in the first fit, between fits, in the last one.
        for operation in [0, 1, 2, 7, 21, 22, 23, 24, 50, 60] {
            let faults = Faults::from_operation(operation);
            let (found, mirrored) = trained(&config, RowSource::Mirrored, &faults);
            assert!(found == expected, "{operation}");
            assert_eq!(mirrored, 0, "{operation}");
        }
    }
}

#[test]
fn masked_and_reduced_fits_run_through_whole_iterations() {
    for (amp, checks) in [
        (None, StepChecks::OnDevice),
        (Some(AmpDtype::Bf16), StepChecks::OnHost),
        (Some(AmpDtype::F16), StepChecks::OnDevice),
    ] {
        let compute = Compute {
            checks,
            ..Compute::new(Device::Cpu, amp, RowSource::Mirrored)
        };
        let mut trainer = trainer(&config(), compute, &Faults::none());
        (0..2).for_each(|_| assert_eq!(iterate(&mut trainer), 3));
        for state in trainer.states().unwrap() {
            assert!(state.moments.steps > 20, "{amp:?}");
            assert!(state.parameters.iter().all(|p| p.is_finite()), "{amp:?}");
            assert_eq!(state.loss_scale.is_some(), amp == Some(AmpDtype::F16));
        }
    }
}
