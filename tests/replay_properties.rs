//! Replay memories against simple models: reservoir, first-open set, minibatches, memory cost, journals.

#[path = "replay_properties/held_out.rs"]
mod held_out;
#[path = "replay_properties/journal.rs"]
mod journal;
#[path = "replay_properties/minibatch.rs"]
mod minibatch;
#[path = "replay_properties/model.rs"]
mod model;
#[path = "replay_properties/repeated.rs"]
mod repeated;

use coorl_async::random::{Purpose, Stream};
use coorl_async::replay::{Memory, MemoryError};
use model::{Model, Row, chi_square, memory, row, stream};
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_memory_holds_what_algorithm_r_keeps(
        capacity in 0usize..40, info_len in 0usize..9, actions in 1usize..=128, samples in 0usize..200, seed: u64,
    ) {
        let mut memory = memory(capacity, info_len, actions, seed);
        let mut model = Model::new(capacity, seed);
        let mut content = Stream::new(seed, Purpose::Trial, 0, 0);
        for number in 0..samples {
            let row = row(info_len, actions, number as u32, &mut content);
            let slot = memory.add(&row.sample());
            prop_assert_eq!(slot, model.add(row));
            prop_assert_eq!(memory.seen(), model.seen);
            prop_assert_eq!(memory.len(), model.rows.len());
            let first_open = model.rows.iter().filter(|row| row.first_open).count();
            prop_assert_eq!(memory.first_open_len(), first_open);
        }
        prop_assert_eq!(memory.is_empty(), model.rows.is_empty());
        for (slot, row) in model.rows.iter().enumerate() {
            prop_assert_eq!(&Row::of(&memory.sample(slot)), row, "slot {}", slot);
        }
        prop_assert_eq!(memory.stream_position(), model.stream.position());
    }
}

#[test]
fn every_sample_survives_equally_often() {
    const CAPACITY: usize = 10;
    const SAMPLES: usize = 40;
    const TRIALS: usize = 20_000;
    let mut survived = [0usize; SAMPLES];
    for trial in 0..TRIALS {
        let mut memory = memory(CAPACITY, 1, 1, trial as u64);
        for number in 0..SAMPLES {
            let row = Row {
                info: vec![number as f32],
                target: vec![0.0],
                legal: 1,
                iteration: 0,
                first_open: false,
            };
            memory.add(&row.sample());
        }
        let kept: Vec<usize> = (0..CAPACITY)
            .map(|slot| memory.sample(slot).info[0] as usize)
            .collect();
        for &number in &kept {
            survived[number] += 1;
        }
        let mut distinct = kept.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), CAPACITY, "trial {trial}: {kept:?}");
    }
    // Counts drawn without replacement vary by (1 - k/n) less than independent ones; 39 degrees of freedom, 1 in 1,000.
    let statistic =
        chi_square(&survived, TRIALS * CAPACITY) / (1.0 - CAPACITY as f64 / SAMPLES as f64);
    assert!(
        statistic < 72.1,
        "chi-square {statistic:.1} of {survived:?}"
    );
}

#[test]
fn a_memory_of_capacity_zero_stores_and_draws_nothing() {
    let mut memory = memory(0, 3, 2, 1);
    let row = row(3, 2, 5, &mut stream(1));
    for _ in 0..4 {
        assert_eq!(memory.add(&row.sample()), None);
    }
    assert_eq!(
        (memory.len(), memory.seen(), memory.stream_position()),
        (0, 4, 0)
    );
    let mut batch = coorl_async::replay::Batch::new(4, 3, 2).unwrap();
    memory.sample_stratified_into(0.5, &mut stream(2), &mut batch);
    assert!(batch.is_empty());
    assert_eq!(batch.info().size(), [0, 3]);
}

#[test]
fn a_sample_costs_no_more_than_its_values() {
    for (info_len, actions) in [(171, 22), (297, 22), (567, 106), (365, 22), (7, 2)] {
        let cost = memory(10, info_len, actions, 0).bytes_per_sample() as f64;
        let limit = 1.05 * (4 * (info_len + actions) + 16) as f64;
        assert!(cost <= limit, "{info_len} + {actions}: {cost} of {limit}");
    }
}

#[test]
fn a_memory_that_cannot_be_had_names_the_settings_to_lower() {
    for capacity in [1 << 40, usize::MAX, u32::MAX as usize] {
        let error = match Memory::new(capacity, 1 << 16, 128, stream(0)) {
            Err(error @ MemoryError::Allocation { .. }) => error.to_string(),
            Ok(_) => panic!("a memory of {capacity} samples was made"),
        };
        assert!(error.contains("replay.advantage_capacity"), "{error}");
        assert!(!error.contains('\n') && error.len() < 400, "{error}");
    }
}

/// Resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    1024 * line
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn untouched_pages_cost_nothing_and_touched_ones_little_more_than_their_rows() {
    let before = resident();
    let mut memory = memory(2_000_000, 297, 22, 0);
    // 2.6 GB reserved. The other tests of this process run beside it and take a few megabytes.
    let reserved = resident() - before.min(resident());
    assert!(reserved < 64 << 20, "{reserved} bytes resident");
    let row = row(297, 22, 1, &mut stream(3));
    for _ in 0..50_000 {
        memory.add(&row.sample());
    }
    let touched = resident() - before;
    let rows = 50_000 * memory.bytes_per_sample() as u64;
    assert!(
        touched > rows / 2 && touched < rows + (64 << 20),
        "{touched} bytes for {rows}"
    );
}
