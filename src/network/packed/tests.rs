use super::*;
use crate::network::{
    Architecture, Settings,
    color_set::tests::{Order, Shape, network, numbers as drawn},
};
use crate::random::{Purpose, Stream};
use pulp::{Scalar256b, Scalar512b};
use tch::{Device, Tensor};

const INPUTS: usize = 29;

fn mlp(hidden_size: usize, num_layers: usize) -> Architecture {
    let settings = Settings {
        hidden_size,
        num_layers,
        ..Settings::default()
    };
    Architecture::new(&settings, INPUTS, 5, None).unwrap()
}

/// Five colours of five values and four common ones: rows of the same length.
fn color_set(hidden_size: usize, num_layers: usize, order: Order) -> Architecture {
    let shape = Shape {
        colors: 5,
        block: 5,
        common: 4,
        actions: 3,
        common_actions: 2,
    };
    let layout = shape.layout(order, &mut Stream::new(1, Purpose::Trial, 0, 0));
    network(hidden_size, num_layers, &shape, &layout)
}

fn packed_and_parameters(architecture: &Architecture) -> (PackedNetwork, Vec<f32>) {
    let mut parameters = architecture.initial(&mut Stream::new(3, Purpose::Weights, 0, 0));
    // Output layers may start near zero, where every answer looks right.
    let output = architecture.output_layer();
    let length = output.len();
    parameters.splice(output, numbers(length, 6));
    (architecture.pack(&parameters).unwrap().unwrap(), parameters)
}

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    drawn(count, &mut Stream::new(seed, Purpose::Trial, 0, 0))
}

fn answers(packed: &PackedNetwork, rows: &[f32]) -> Vec<f32> {
    let mut answers = vec![f32::NAN; rows.len() / packed.inputs() * packed.outputs()];
    packed.forward(rows, &mut PackedScratch::default(), &mut answers);
    answers
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn agrees_with_libtorch() {
    for architecture in [
        mlp(1, 1),
        mlp(7, 2),
        mlp(32, 0),
        mlp(40, 3),
        mlp(130, 1),
        color_set(1, 1, Order::Arranged),
        color_set(40, 3, Order::Arranged),
        color_set(64, 2, Order::Shuffled),
        color_set(130, 2, Order::Arranged),
    ] {
        let (packed, parameters) = packed_and_parameters(&architecture);
        let bound = architecture
            .bind_snapshot(&parameters, Device::Cpu)
            .unwrap();
        for count in [1, 5, 6, 7, 23, 24, 25, 95, 96, 97, 250] {
            let rows = numbers(count * INPUTS, 7);
            let input = Tensor::from_slice(&rows).view([count as i64, INPUTS as i64]);
            let expected = Vec::<f32>::try_from(bound.forward(&input).unwrap().view([-1])).unwrap();
            for (found, expected) in answers(&packed, &rows).iter().zip(expected) {
                let off = (found - expected).abs();
                assert!(off < 2e-5, "{architecture:?}, {count}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_in_every_batch() {
    for architecture in [
        mlp(67, 3),
        color_set(67, 3, Order::Arranged),
        color_set(20, 1, Order::Shuffled),
    ] {
        let (packed, _) = packed_and_parameters(&architecture);
        let rows = numbers(300 * INPUTS, 8);
        let together = answers(&packed, &rows);
        for count in [1, 2, 3, 4, 5, 6, 11, 100, 203] {
            let apart: Vec<f32> = rows
                .chunks(count * INPUTS)
                .flat_map(|rows| answers(&packed, rows))
                .collect();
            assert_eq!(bits(&apart), bits(&together), "{count} at a time");
        }
    }
}

/// Packs and runs as on a processor with vectors of another width.
fn on<S: Simd>(simd: S, parts: &[&[f32]], rows: &[f32]) -> Vec<f32> {
    let network = PackedMlp::new(parts, S::F32_LANES);
    let mut answers = vec![0.0; rows.len() / network.inputs * network.outputs];
    let chunk = mlp::Chunk {
        network: &network,
        rows,
        scratch: &mut PackedScratch::default(),
        answers: &mut answers,
    };
    chunk.with_simd(simd);
    answers
}

#[test]
fn the_width_of_the_vectors_changes_no_bit() {
    let (first, second) = (numbers(20 * INPUTS, 1), numbers(3 * 20, 2));
    let (bias, last) = (numbers(20, 3), numbers(3, 4));
    let parts = [&first[..], &bias[..], &second[..], &last[..]];
    let rows = numbers(13 * INPUTS, 5);
    let here = answers(&PackedNetwork::mlp(&parts), &rows);
    assert_eq!(bits(&on(Scalar256b, &parts, &rows)), bits(&here));
    assert_eq!(bits(&on(Scalar512b, &parts, &rows)), bits(&here));
}

#[test]
fn what_is_not_a_number_stays_visible() {
    for architecture in [mlp(9, 2), color_set(9, 2, Order::Arranged)] {
        let mut parameters = packed_and_parameters(&architecture).1;
        parameters[0] = f32::NAN;
        let packed = architecture.pack(&parameters).unwrap().unwrap();
        assert!(
            answers(&packed, &[1.0; INPUTS])
                .iter()
                .all(|answer| answer.is_nan())
        );
    }
}

#[test]
fn other_activations_and_lengths_are_not_packed() {
    let settings = Settings {
        activation: Activation::Gelu,
        ..Settings::default()
    };
    let gelu = Architecture::new(&settings, 3, 2, None).unwrap();
    assert!(!gelu.packs());
    let parameters = vec![0.0; gelu.num_parameters()];
    assert!(gelu.pack(&parameters).unwrap().is_none());
    let told = mlp(8, 1).pack(&[0.0; 3]).err().unwrap().to_string();
    assert!(told.contains("3 parameters for a network of"), "{told}");
}
