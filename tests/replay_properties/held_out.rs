//! Samples kept out of fits: no draw for a fit meets them, and a draw of them meets no other.

use crate::model::{chi_square, memory, row, stream};
use coorl_async::replay::{Batch, HeldOut, Memory};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use std::collections::HashSet;

/// A memory that has seen `samples`, a third of them first-open.
fn filled(capacity: usize, samples: usize, held_out: HeldOut, seed: u64) -> Memory {
    let mut memory = memory(capacity, 1, 2, seed).with_held_out(held_out);
    let mut content = stream(seed);
    for number in 0..samples as u32 {
        memory.add(&row(1, 2, number, &mut content).sample());
    }
    memory
}

fn distinct(slots: &[u32]) -> usize {
    slots.iter().collect::<HashSet<_>>().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn draws_keep_to_their_side(
        capacity in 1usize..200, samples in 1usize..400, rows in 1usize..120, share in 0.0..0.5, fraction in 0.0..1.0, seed: u64,
    ) {
        let held_out = HeldOut::share(share);
        let memory = filled(capacity, samples, held_out, seed);
        let (mut batch, mut draws) = (Batch::new(rows, 1, 2).unwrap(), stream(seed ^ 1));
        let (len, held) = (memory.len(), held_out.count(memory.len()));
        prop_assert_eq!((memory.held_out_len(), memory.fitting_len()), (held, len - held));
        prop_assert!(memory.fitting_len() > 0);
        let first_open = |slot: usize| memory.sample(slot).first_open;
        prop_assert_eq!(memory.first_open_len(), (0..len).filter(|&slot| first_open(slot)).count());

        memory.sample_into(&mut draws, &mut batch);
        prop_assert_eq!(batch.len(), rows.min(len - held));
        prop_assert_eq!(distinct(batch.slots()), batch.len());
        prop_assert!(batch.slots().iter().all(|&slot| !held_out.holds(slot as usize)));

        memory.sample_stratified_into(fraction, &mut draws, &mut batch);
        prop_assert_eq!(batch.len(), rows.min(len - held));
        prop_assert!(batch.slots().iter().all(|&slot| !held_out.holds(slot as usize)));
        let share = (batch.len() as f64 * fraction).round_ties_even() as usize;
        let there = (0..len).filter(|&slot| first_open(slot) && !held_out.holds(slot)).count();
        let found = batch.slots().iter().filter(|&&slot| first_open(slot as usize)).count();
        prop_assert!(found >= share.min(there), "{} of {} first-open, {} there", found, share, there);

        memory.draw_held_out(&mut draws, &mut batch);
        prop_assert_eq!(batch.slots().len(), rows.min(held));
        prop_assert_eq!(distinct(batch.slots()), batch.slots().len());
        prop_assert!(batch.slots().iter().all(|&slot| held_out.holds(slot as usize)));
    }

    #[test]
    fn a_memory_that_holds_nothing_out_draws_as_ever(samples in 1usize..300, rows in 1usize..120, fraction in 0.0..1.0, seed: u64) {
        let plain = filled(200, samples, HeldOut::NONE, seed);
        let never = filled(200, samples, HeldOut::share(1e-9), seed);
        let (mut a, mut b) = (Batch::new(rows, 1, 2).unwrap(), Batch::new(rows, 1, 2).unwrap());
        plain.draw_stratified(fraction, &mut stream(seed), &mut a);
        never.draw_stratified(fraction, &mut stream(seed), &mut b);
        prop_assert_eq!(a.slots(), b.slots());
        never.draw_held_out(&mut stream(seed), &mut b);
        prop_assert!(b.slots().is_empty());
    }
}

#[test]
fn every_sample_of_a_side_is_drawn_equally_often() {
    const DRAWS: usize = 20_000;
    let held_out = HeldOut::share(0.25);
    let memory = filled(24, 24, held_out, 5);
    let (mut batch, mut draws) = (Batch::new(3, 1, 2).unwrap(), stream(9));
    let mut counts = [0; 24];
    for _ in 0..DRAWS {
        memory.draw(&mut draws, &mut batch);
        batch
            .slots()
            .iter()
            .for_each(|&slot| counts[slot as usize] += 1);
        memory.draw_held_out(&mut draws, &mut batch);
        batch
            .slots()
            .iter()
            .for_each(|&slot| counts[slot as usize] += 1);
    }
    let side = |held: bool| -> Vec<usize> {
        let slots = (0..24).filter(|&slot| held_out.holds(slot) == held);
        slots.map(|slot| counts[slot]).collect()
    };
    // 17 and 5 degrees of freedom, 1 in 1,000; drawing without replacement only lowers the statistic.
    for (counts, most) in [(side(false), 40.8), (side(true), 20.5)] {
        let statistic = chi_square(&counts, 3 * DRAWS);
        assert!(statistic < most, "chi-square {statistic:.1} of {counts:?}");
    }
}
