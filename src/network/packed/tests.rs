use super::*;
use crate::{
    network::{Architecture, Settings},
    random::{Purpose, Randomness, Stream},
};
use pulp::{Scalar256b, Scalar512b};
use tch::{Device, Tensor};

const INPUTS: usize = 29;

fn architecture(hidden_size: usize, num_layers: usize) -> Architecture {
    let settings = Settings {
        hidden_size,
        num_layers,
        ..Settings::default()
    };
    Architecture::new(&settings, INPUTS, 5).unwrap()
}

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut stream = Stream::new(seed, Purpose::Trial, 0, 0);
    let number = || (2.0 * stream.uniform() - 1.0) as f32;
    std::iter::repeat_with(number).take(count).collect()
}

fn answers(packed: &PackedMlp, rows: &[f32]) -> Vec<f32> {
    let mut answers = vec![f32::NAN; rows.len() / packed.inputs * packed.outputs];
    packed.forward(rows, &mut PackedScratch::default(), &mut answers);
    answers
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn agrees_with_libtorch() {
    for (hidden, layers) in [(1, 1), (7, 2), (32, 0), (40, 3), (130, 1)] {
        let architecture = architecture(hidden, layers);
        let parameters = architecture.initial(&mut Stream::new(3, Purpose::Weights, 0, 0));
        let packed = architecture.pack(&parameters).unwrap().unwrap();
        let bound = architecture
            .bind_snapshot(&parameters, Device::Cpu)
            .unwrap();
        for count in [1, 5, 6, 7, 95, 96, 97, 250] {
            let rows = numbers(count * INPUTS, 7);
            let input = Tensor::from_slice(&rows).view([count as i64, INPUTS as i64]);
            let expected = Vec::<f32>::try_from(bound.forward(&input).unwrap().view([-1])).unwrap();
            for (found, expected) in answers(&packed, &rows).iter().zip(expected) {
                let off = (found - expected).abs();
                assert!(
                    off < 1e-5,
                    "{hidden}x{layers}, {count}: {found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn a_row_has_the_same_bits_in_every_batch() {
    let architecture = architecture(67, 3);
    let parameters = architecture.initial(&mut Stream::new(4, Purpose::Weights, 0, 0));
    let packed = architecture.pack(&parameters).unwrap().unwrap();
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

/// Packs and runs as on a processor with vectors of another width.
fn on<S: Simd>(simd: S, layers: &Layers<'_>, rows: &[f32]) -> Vec<f32> {
    let packed = PackedMlp::with_lanes(layers, S::F32_LANES, Arch::new());
    let mut answers = vec![0.0; rows.len() / packed.inputs * packed.outputs];
    let chunk = Chunk {
        layers: &packed.layers,
        inputs: packed.inputs,
        outputs: packed.outputs,
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
    let layers = [(&first[..], &bias[..]), (&second[..], &last[..])];
    let rows = numbers(13 * INPUTS, 5);
    let here = answers(&PackedMlp::new(&layers, Activation::Relu).unwrap(), &rows);
    assert_eq!(bits(&on(Scalar256b, &layers, &rows)), bits(&here));
    assert_eq!(bits(&on(Scalar512b, &layers, &rows)), bits(&here));
}

#[test]
fn what_is_not_a_number_stays_visible() {
    let architecture = architecture(9, 2);
    let mut parameters = architecture.initial(&mut Stream::new(5, Purpose::Weights, 0, 0));
    parameters[0] = f32::NAN;
    let packed = architecture.pack(&parameters).unwrap().unwrap();
    assert!(
        answers(&packed, &[1.0; INPUTS])
            .iter()
            .all(|answer| answer.is_nan())
    );
}

#[test]
fn other_activations_and_lengths_are_not_packed() {
    let settings = Settings {
        activation: Activation::Gelu,
        ..Settings::default()
    };
    let gelu = Architecture::new(&settings, 3, 2).unwrap();
    assert!(!gelu.packs());
    let parameters = vec![0.0; gelu.num_parameters()];
    assert!(gelu.pack(&parameters).unwrap().is_none());
    let told = architecture(8, 1)
        .pack(&[0.0; 3])
        .err()
        .unwrap()
        .to_string();
    assert!(told.contains("3 parameters for a network of"), "{told}");
}
