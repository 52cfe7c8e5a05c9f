//! Info states that repeat in a minibatch, and sweeps through a memory.

use super::model::{Row, bits, memory, stream};
use coorl_async::random::{Randomness, Stream};
use coorl_async::replay::{Batch, HeldOut, Memory, RepeatedInfo};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use std::collections::HashSet;
use tch::Tensor;

const INFO: usize = 3;

/// A memory of `len` samples whose info states are a few patterns of bits, numbered by their targets.
fn patterns(len: usize, kinds: usize, content: &mut Stream) -> Memory {
    let mut memory = memory(len, INFO, 1, 7);
    for number in 0..len {
        let kind = content.index(kinds);
        let info = (0..INFO).map(|bit| (kind >> bit & 1) as f32).collect();
        let row = Row {
            info,
            target: vec![number as f32],
            legal: 1,
            iteration: 1,
            first_open: false,
        };
        memory.add(&row.sample());
    }
    memory
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    Vec::try_from(tensor.reshape(-1)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn repeated_info_states_are_given_once_and_found_again(
        len in 1usize..80, rows in 1usize..50, kinds in 1usize..=8, seed: u64,
    ) {
        let memory = patterns(len, kinds, &mut stream(seed));
        let mut each = Batch::new(rows, INFO, 1).unwrap();
        let mut once = Batch::new(rows, INFO, 1)
            .and_then(|batch| batch.with_repeated(RepeatedInfo::Once))
            .unwrap();
        let (mut a, mut b) = (stream(seed ^ 1), stream(seed ^ 1));
        for _ in 0..3 {
            memory.sample_into(&mut a, &mut each);
            memory.sample_into(&mut b, &mut once);
            prop_assert_eq!(each.slots(), once.slots());
            prop_assert!(each.info_of().is_none());
            let found = once.info().index_select(0, once.info_of().unwrap());
            prop_assert_eq!(bits(&floats(&found)), bits(&floats(each.info())));
            prop_assert_eq!(floats(once.target()), floats(each.target()));
            let infos = floats(each.info());
            let distinct: HashSet<_> = infos.chunks(INFO).map(bits).collect();
            prop_assert_eq!(once.info().size(), [distinct.len() as i64, INFO as i64]);
        }
    }

    #[test]
    fn a_sweep_meets_every_sample_of_the_fitting_side_before_any_again(
        len in 1usize..300, rows in 1usize..40, share in 0.0..0.5f64, seed: u64,
    ) {
        let held_out = HeldOut::share(share);
        let mut memory = memory(len, 1, 1, seed).with_held_out(held_out);
        for number in 0..len {
            let row = Row {
                info: vec![number as f32],
                target: vec![0.0],
                legal: 1,
                iteration: 1,
                first_open: false,
            };
            memory.add(&row.sample());
        }
        let fitting = memory.fitting_len();
        let mut sweep = memory.start_sweep(&mut stream(seed));
        let mut batch = Batch::new(rows, 1, 1).unwrap();
        let mut met = Vec::new();
        while met.len() < 3 * fitting {
            memory.sweep(&mut sweep, &mut batch);
            prop_assert_eq!(batch.slots().len(), rows.min(fitting));
            met.extend_from_slice(batch.slots());
        }
        for pass in met.chunks_exact(fitting) {
            let distinct: HashSet<_> = pass.iter().collect();
            prop_assert_eq!(distinct.len(), fitting);
            prop_assert!(pass.iter().all(|&slot| !held_out.holds(slot as usize)));
        }
    }
}
