use super::*;
use crate::{
    game::ActionSet,
    network::{Architecture, Settings},
    random::{Purpose, Randomness},
    replay::{Faults, HeldOut, Sample},
    training::{
        Compute, Keep, LearnerState, LossKind, OptimizationSettings, RateSchedule,
        WeightingSettings,
    },
};

const INFO: usize = 6;
const ACTIONS: usize = 3;
const ROWS: usize = 32;
const STEPS: usize = 20;

fn stream(number: u64) -> Stream {
    Stream::new(9, Purpose::Trial, number, 0)
}

/// Adds `count` samples of few different info states.
fn fill(memory: &mut Memory, count: usize, stream: &mut Stream) {
    for number in 0..count {
        let info: [f32; INFO] = std::array::from_fn(|_| stream.index(2) as f32);
        let target: [f32; ACTIONS] = std::array::from_fn(|_| stream.uniform() as f32);
        memory.add(&Sample {
            info: &info,
            target: &target,
            legal: ActionSet::from_bits(0b101 | (2 * (number as u128 % 2))),
            iteration: number as u32 % 5,
            first_open: stream.index(4) == 0,
        });
    }
}

fn memory(capacity: usize) -> Memory {
    let memory = Memory::new(capacity, INFO, ACTIONS, stream(1)).unwrap();
    memory.with_held_out(HeldOut::share(0.1))
}

fn learner(rows: RowSource) -> Learner {
    let settings = Settings {
        hidden_size: 16,
        ..Settings::default()
    };
    let architecture = Architecture::new(&settings, INFO, ACTIONS, None).unwrap();
    let initial = architecture.initial(&mut Stream::new(5, Purpose::Weights, 0, 0));
    let compute = Compute {
        rows,
        ..Compute::CPU
    };
    let optimization = OptimizationSettings::default();
    Learner::computing(architecture, &initial, &optimization, compute).unwrap()
}

fn supplies() -> Vec<Supply> {
    let usual = Supply {
        rows: ROWS,
        stream: stream(2),
        first_open: 0.0,
        repeated: RepeatedInfo::Each,
        order: MinibatchOrder::Independent,
        held_out: Some(stream(3)),
    };
    vec![
        usual.clone(),
        Supply {
            first_open: 0.4,
            ..usual.clone()
        },
        Supply {
            order: MinibatchOrder::Sweep,
            ..usual.clone()
        },
        Supply {
            repeated: RepeatedInfo::Once,
            held_out: None,
            ..usual
        },
    ]
}

fn fitted(supply: &Supply, learner: &mut Learner, memory: &mut Memory) -> FitReport {
    let weighting = WeightingSettings::default();
    let plan = FitPlan {
        loss: LossKind::Advantage,
        steps: STEPS,
        iteration: 5,
        weighting: &weighting,
        keep: Keep::Last,
        rate: 1.0,
        schedule: RateSchedule::Constant,
        held_out_checks: 1,
    };
    let supplied = supply.clone().fit(learner, &plan, memory, || false);
    supplied.unwrap().report
}

/// What two fits leave, with samples before and between them that overflow the memory.
fn trained(
    rows: RowSource,
    supply: &Supply,
    faults: Option<Faults>,
) -> (Vec<f64>, LearnerState, bool) {
    let (mut memory, mut samples) = (memory(300), stream(4));
    if let Some(faults) = faults {
        memory.try_mirror_on(Device::Cpu, 300, faults);
    }
    let mut learner = learner(rows);
    let mut losses = Vec::new();
    for added in [170, 400] {
        fill(&mut memory, added, &mut samples);
        let report = fitted(supply, &mut learner, &mut memory);
        losses.extend([report.mean_loss, report.last_loss]);
        losses.extend(report.held_out_loss);
    }
    (losses, learner.state().unwrap(), memory.is_mirrored())
}

#[test]
fn all_ways_supply_the_same_samples_in_the_same_order() {
    for (number, supply) in supplies().iter().enumerate() {
        let in_place = trained(RowSource::InPlace, supply, None);
        assert_eq!(
            in_place,
            trained(RowSource::Prefetched, supply, None),
            "{number}"
        );
        let (losses, state, mirrored) = trained(RowSource::Mirrored, supply, Some(Faults::none()));
        assert!(mirrored, "{number}");
        assert_eq!((losses, state), (in_place.0, in_place.1), "{number}");
    }
}

#[test]
fn a_mirror_that_fails_at_any_operation_changes_no_number() {
    for supply in supplies() {
        let (losses, state, _) = trained(RowSource::InPlace, &supply, None);
        let mut survived = false;
        // 0 the allocation, 1 a block, 2 to 21 minibatches, 22 and 23 the rest and the replaced rows, 24 to 43 minibatches.
        for operation in [0, 1, 2, 5, 21, 22, 23, 24, 43, 44] {
            let faults = Some(Faults::from_operation(operation));
            let found = trained(RowSource::Mirrored, &supply, faults);
            assert_eq!((&found.0, &found.1), (&losses, &state), "{operation}");
            assert_eq!(found.2, operation > 43, "{operation}");
            survived |= found.2;
        }
        assert!(survived);
    }
}

#[test]
fn slot_numbers_are_all_that_crosses_in_a_fit_from_a_mirror() {
    for mut supply in supplies().into_iter().take(3) {
        supply.held_out = None;
        let mut memory = memory(500);
        memory.mirror_on(Device::Cpu, 500, Faults::none()).unwrap();
        fill(&mut memory, 400, &mut stream(4));
        memory.update_mirror();
        let report = fitted(&supply, &mut learner(RowSource::Mirrored), &mut memory);
        let copies = report.transfers.to_device;
        let numbers = STEPS * ROWS * size_of::<i32>();
        assert_eq!((copies.count, copies.bytes), (STEPS as u64, numbers as u64));
        assert_eq!(report.transfers.to_host.count, 0);
        // From the host whole rows cross, on the thread that makes them ready.
        let report = fitted(&supply, &mut learner(RowSource::Prefetched), &mut memory);
        let copies = report.transfers.to_device;
        let rows = STEPS * ROWS * (4 * (INFO + ACTIONS) + ACTIONS + 4);
        assert_eq!(
            (copies.count, copies.bytes),
            (4 * STEPS as u64, rows as u64)
        );
    }
}

#[test]
fn a_mirror_gets_what_changed_and_no_more() {
    let mut memory = memory(300);
    memory.mirror_on(Device::Cpu, 300, Faults::none()).unwrap();
    let mut samples = stream(4);
    let row = 4 * (INFO + ACTIONS) + ACTIONS + 4;
    let mut moved = |memory: &mut Memory, added: usize| {
        fill(memory, added, &mut samples);
        let before = transfers::of_this_thread();
        memory.update_mirror();
        (transfers::of_this_thread() - before).to_device.bytes as usize
    };
    assert_eq!(moved(&mut memory, 200), 200 * row);
    assert_eq!(moved(&mut memory, 0), 0);
    assert_eq!(moved(&mut memory, 100), 100 * row);
    // A full memory replaces some; a number of each goes with it.
    let replaced = moved(&mut memory, 50);
    assert_eq!(replaced % (row + 8), 0);
    assert!((1..50 * (row + 8)).contains(&replaced), "{replaced}");
    memory.clear();
    assert_eq!(moved(&mut memory, 10), 10 * row);
}

#[test]
fn a_mirror_fills_in_blocks_while_samples_arrive() {
    let mut memory = memory(20_000);
    memory
        .mirror_on(Device::Cpu, 20_000, Faults::none())
        .unwrap();
    let row = 4 * (INFO + ACTIONS) + ACTIONS + 4;
    let before = transfers::of_this_thread();
    fill(&mut memory, 20_000, &mut stream(4));
    let moved = || (transfers::of_this_thread() - before).to_device.bytes as usize;
    assert_eq!(moved(), 2 * 8_192 * row);
    // Half of 20,000 more replace a row, some of them the same.
    fill(&mut memory, 20_000, &mut stream(5));
    memory.update_mirror();
    assert!(moved() > 20_000 * row + 5_000 * (row + 8), "{}", moved());
    let mut batch = crate::replay::Batch::new(3_000, INFO, ACTIONS).unwrap();
    memory.draw(&mut stream(6), &mut batch);
    let there = memory.gather_mirrored(&mut batch).unwrap().unwrap();
    memory.gather(&mut batch);
    for (here, there) in [
        (batch.info(), &there.info),
        (batch.target(), &there.target),
        (batch.legal(), &there.legal),
        (batch.iteration(), &there.iteration),
    ] {
        assert!(here.equal(there));
    }
}

#[test]
fn a_fit_that_is_stopped_ends_the_thread() {
    let (mut memory, supply) = (memory(300), &supplies()[0]);
    fill(&mut memory, 200, &mut stream(4));
    let mut learner = learner(RowSource::Prefetched);
    let weighting = WeightingSettings::default();
    let plan = FitPlan {
        loss: LossKind::Advantage,
        steps: 1_000_000,
        iteration: 5,
        weighting: &weighting,
        keep: Keep::Last,
        rate: 1.0,
        schedule: RateSchedule::Constant,
        held_out_checks: 1,
    };
    let mut asked = 0;
    let stop = || {
        asked += 1;
        asked > 3
    };
    let supplied = supply.clone().fit(&mut learner, &plan, &mut memory, stop);
    assert_eq!(supplied.unwrap().report.steps_run, 3);
}
