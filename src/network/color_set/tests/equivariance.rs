use super::{Order, Shape, answers, network, numbers, parameters, shuffle};
use crate::random::{Purpose, Stream};
use proptest::{prop_assert, proptest};

/// `values` with what belongs to colour `permutation[c]` where colour `c` has its own.
fn permuted(values: &[f32], colors: &[Vec<usize>], permutation: &[usize]) -> Vec<f32> {
    let mut to = values.to_vec();
    for (own, &other) in colors.iter().zip(permutation) {
        for (&own, &other) in own.iter().zip(&colors[other]) {
            to[own] = values[other];
        }
    }
    to
}

proptest! {
    #[test]
    fn exchanging_colors_exchanges_their_answers(
        seed in 0u64..1 << 40,
        colors in 1usize..8,
        block in 1usize..20,
        common in 1usize..6,
        actions in 0usize..5,
        others in 1usize..4,
        hidden in 1usize..40,
        layers in 1usize..4,
        count in 1usize..30,
        shuffled in proptest::bool::ANY,
    ) {
        let common_actions = if actions == 0 { 1 } else { others - 1 };
        let shape = Shape { colors, block, common, actions, common_actions };
        let stream = &mut Stream::new(seed, Purpose::Trial, 0, 0);
        let order = if shuffled { Order::Shuffled } else { Order::Arranged };
        let layout = shape.layout(order, stream);
        let network = network(hidden, layers, &shape, &layout);
        let parameters = parameters(&network, stream);
        let mut permutation: Vec<usize> = (0..colors).collect();
        shuffle(&mut permutation, stream);
        let rows = numbers(count * shape.inputs(), stream);
        let moved = |rows: &[f32], width: usize, colors: &[Vec<usize>]| -> Vec<f32> {
            let rows = rows.chunks(width);
            rows.flat_map(|row| permuted(row, colors, &permutation)).collect()
        };
        let before = answers(&network, &parameters, &rows);
        let after = answers(&network, &parameters, &moved(&rows, shape.inputs(), &layout.info));
        for (before, after) in before.iter().zip(&after) {
            let expected = moved(before, shape.outputs(), &layout.actions);
            for (expected, found) in expected.iter().zip(after) {
                prop_assert!((expected - found).abs() < 1e-5, "{expected}, {found}");
            }
        }
    }
}
