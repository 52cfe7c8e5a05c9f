//! Minibatches: which rows are drawn, and that their copies are exact.

use super::model::{Row, bits, chi_square, memory, reservoir_stream, row, stream};
use coorl_async::random::{Randomness, Stream};
use coorl_async::replay::{Batch, Memory};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use tch::{Kind, Tensor};

fn filled(len: usize, capacity: usize, lengths: (usize, usize), seed: u64) -> (Memory, Vec<Row>) {
    let mut memory = memory(capacity, lengths.0, lengths.1, seed);
    let mut content = stream(seed);
    let rows: Vec<_> = (0..len as u32)
        .map(|number| row(lengths.0, lengths.1, number, &mut content))
        .collect();
    for row in &rows {
        memory.add(&row.sample());
    }
    (memory, rows)
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    Vec::try_from(tensor.reshape(-1)).unwrap()
}

fn distinct(slots: &[u32]) -> usize {
    slots.iter().collect::<std::collections::HashSet<_>>().len()
}

/// Compares every column of a gathered batch with the rows behind its slots.
fn assert_exact(batch: &Batch, rows: &[Row]) {
    let drawn: Vec<&Row> = batch
        .slots()
        .iter()
        .map(|&slot| &rows[slot as usize])
        .collect();
    let info: Vec<f32> = drawn.iter().flat_map(|row| row.info.clone()).collect();
    let target: Vec<f32> = drawn.iter().flat_map(|row| row.target.clone()).collect();
    assert_eq!(bits(&floats(batch.info())), bits(&info));
    assert_eq!(bits(&floats(batch.target())), bits(&target));
    let actions = batch.target().size()[1];
    let legal: Vec<bool> = drawn
        .iter()
        .flat_map(|row| (0..actions).map(|action| row.legal >> action & 1 == 1))
        .collect();
    assert_eq!(
        Vec::<bool>::try_from(batch.legal().reshape(-1)).unwrap(),
        legal
    );
    let iterations: Vec<i32> = drawn.iter().map(|row| row.iteration as i32).collect();
    assert_eq!(Vec::<i32>::try_from(batch.iteration()).unwrap(), iterations);
    let kinds = [
        batch.info(),
        batch.target(),
        batch.legal(),
        batch.iteration(),
    ]
    .map(Tensor::kind);
    assert_eq!(kinds, [Kind::Float, Kind::Float, Kind::Bool, Kind::Int]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gathered_rows_are_bit_for_bit_those_of_the_drawn_slots(
        len in 1usize..60, rows in 1usize..80, info_len in 0usize..40, actions in 1usize..=128, seed: u64,
        fraction in 0.0..1.0,
    ) {
        let (mut memory, mut model) = filled(len, 60, (info_len, actions), seed);
        let mut batch = Batch::new(rows, info_len, actions).unwrap();
        let mut draws = stream(seed ^ 1);
        // The same batch is refilled while the memory grows, so views must follow.
        for _ in 0..3 {
            memory.sample_into(&mut draws, &mut batch);
            prop_assert_eq!(batch.len(), rows.min(memory.len()));
            prop_assert_eq!(distinct(batch.slots()), batch.len());
            assert_exact(&batch, &model);
            memory.sample_stratified_into(fraction, &mut draws, &mut batch);
            prop_assert_eq!(batch.len(), rows.min(memory.len()));
            assert_exact(&batch, &model);
            if memory.len() < memory.capacity() {
                model.push(row(info_len, actions, 9, &mut draws));
                memory.add(&model[memory.len()].sample());
            }
        }
        prop_assert!(batch.info().size() == [batch.len() as i64, info_len as i64]);
    }
}

#[test]
fn every_sample_and_every_pair_is_drawn_equally_often() {
    const LEN: usize = 12;
    const ROWS: usize = 5;
    const DRAWS: usize = 60_000;
    let (memory, _) = filled(LEN, LEN, (1, 1), 3);
    let mut batch = Batch::new(ROWS, 1, 1).unwrap();
    let mut draws = stream(8);
    let (mut singles, mut pairs) = (vec![0; LEN], vec![0; LEN * (LEN - 1) / 2]);
    for _ in 0..DRAWS {
        memory.draw(&mut draws, &mut batch);
        for (index, &a) in batch.slots().iter().enumerate() {
            singles[a as usize] += 1;
            for &b in &batch.slots()[..index] {
                let (low, high) = (a.min(b) as usize, a.max(b) as usize);
                pairs[high * (high - 1) / 2 + low] += 1;
            }
        }
    }
    // 11 degrees of freedom, 1 in 1,000; see the reservoir's test for the factor.
    let statistic = chi_square(&singles, DRAWS * ROWS) / (1.0 - ROWS as f64 / LEN as f64);
    assert!(statistic < 31.3, "chi-square {statistic:.1} of {singles:?}");
    // Pairs of one draw depend on each other, so only a bound on each: 6 standard deviations.
    let expected = (DRAWS * ROWS * (ROWS - 1)) as f64 / (LEN * (LEN - 1)) as f64;
    for (pair, &count) in pairs.iter().enumerate() {
        assert!(
            (count as f64 - expected).abs() < 6.0 * expected.sqrt(),
            "pair {pair}: {count}"
        );
    }
}

/// Slots `0..first_open` are first-open, the others up to `len` are not.
fn mixed(first_open: usize, len: usize) -> Memory {
    let mut memory = memory(len, 1, 1, 0);
    for number in 0..len {
        let row = Row {
            info: vec![number as f32],
            target: vec![0.0],
            legal: 1,
            iteration: 1,
            first_open: number < first_open,
        };
        memory.add(&row.sample());
    }
    memory
}

/// The mean number of first-open samples in a batch, over many draws.
fn mean_first_open(memory: &Memory, rows: usize, fraction: f64, draws: &mut Stream) -> f64 {
    const DRAWS: usize = 4_000;
    let mut batch = Batch::new(rows, 1, 1).unwrap();
    let mut found = 0;
    for _ in 0..DRAWS {
        memory.draw_stratified(fraction, draws, &mut batch);
        assert_eq!(batch.slots().len(), rows.min(memory.len()));
        let first_open = memory.first_open_len() as u32;
        found += batch
            .slots()
            .iter()
            .filter(|&&slot| slot < first_open)
            .count();
    }
    found as f64 / DRAWS as f64
}

#[test]
fn stratified_batches_hold_their_share() {
    let mut draws = stream(4);
    // (first-open, held, rows, fraction, drawn from the first-open ones): halves round to even, at least one, at most all.
    for (first_open, len, rows, fraction, wanted) in [
        (100, 2_000, 10, 0.25, 2),
        (100, 2_000, 10, 0.35, 4),
        (100, 2_000, 10, 0.0001, 1),
        (100, 2_000, 10, 1.0, 10),
        (3, 2_000, 10, 0.5, 3),
        (4, 6, 10, 0.5, 3),
        (2_000, 2_000, 10, 0.1, 1),
        (100, 2_000, 10, 0.0, 0),
        (0, 2_000, 10, 0.7, 0),
    ] {
        let memory = mixed(first_open, len);
        let batch = rows.min(len);
        let share = first_open as f64 / len as f64;
        let expected = wanted as f64 + (batch - wanted) as f64 * share;
        let mean = mean_first_open(&memory, rows, fraction, &mut draws);
        // 6 standard deviations of the part drawn from the whole memory.
        let tolerance = 6.0 * (batch as f64 * share * (1.0 - share) / 4_000.0).sqrt() + 1e-9;
        assert!(
            (mean - expected).abs() <= tolerance,
            "{first_open} of {len}, fraction {fraction}: {mean} instead of {expected}"
        );
    }
}

#[test]
fn stratified_batches_are_shuffled_and_draw_each_first_open_sample_alike() {
    let memory = mixed(20, 4_000);
    let mut batch = Batch::new(8, 1, 1).unwrap();
    let mut draws = stream(5);
    let (mut places, mut slots) = ([0; 8], [0; 20]);
    for _ in 0..20_000 {
        memory.draw_stratified(0.5, &mut draws, &mut batch);
        for (place, &slot) in batch.slots().iter().enumerate() {
            if slot < 20 {
                places[place] += 1;
                slots[slot as usize] += 1;
            }
        }
    }
    let drawn = places.iter().sum();
    // 7 and 19 degrees of freedom, 1 in 1,000; drawing without replacement only lowers the statistic.
    let statistic = chi_square(&places, drawn);
    assert!(
        statistic < 24.3,
        "places: chi-square {statistic:.1} of {places:?}"
    );
    let statistic = chi_square(&slots, drawn);
    assert!(
        statistic < 43.8,
        "slots: chi-square {statistic:.1} of {slots:?}"
    );
}

#[test]
fn a_draw_depends_on_the_first_open_members_and_not_on_their_history() {
    let straight = mixed(30, 100);
    let mut detour = memory(100, 1, 1, 1);
    // Every slot starts with the opposite flag; slots are then overwritten in another order until all flags fit.
    let flagged = |first_open| Row {
        info: vec![0.0],
        target: vec![0.0],
        legal: 1,
        iteration: 1,
        first_open,
    };
    for slot in 0..100 {
        detour.add(&flagged(slot >= 30).sample());
    }
    let mut fitting = [false; 100];
    while fitting.contains(&false) {
        // The slot to come, seen ahead of time.
        let mut ahead = reservoir_stream(1);
        ahead.seek(detour.stream_position());
        let next = ahead.index(detour.seen() as usize + 1);
        if let Some(slot) = detour.add(&flagged(next < 30).sample()) {
            fitting[slot] = true;
        }
    }
    assert_eq!(detour.first_open_len(), 30);
    let (mut a, mut b) = (Batch::new(10, 1, 1).unwrap(), Batch::new(10, 1, 1).unwrap());
    straight.draw_stratified(0.4, &mut stream(6), &mut a);
    detour.draw_stratified(0.4, &mut stream(6), &mut b);
    assert_eq!(a.slots(), b.slots());
}
