use super::*;
use crate::{network::Activation, random::Purpose};

fn architecture(num_layers: usize, activation: Activation) -> Architecture {
    let settings = Settings {
        num_layers,
        hidden_size: 7,
        activation,
        ..Settings::default()
    };
    Architecture::new(&settings, 5, 3, None).unwrap()
}

fn initial(architecture: &Architecture) -> Vec<f32> {
    architecture.initial(&mut Stream::new(1, Purpose::Weights, 2, 0))
}

#[test]
fn the_layout_names_every_part_without_gaps() {
    let layered = architecture(2, Activation::Relu);
    let found: Vec<_> = layered
        .layout()
        .iter()
        .map(|view| (view.name.as_str(), &view.shape[..], view.range()))
        .collect();
    assert_eq!(
        found,
        [
            ("net.0.weight", &[7, 5][..], 0..35),
            ("net.0.bias", &[7], 35..42),
            ("net.2.weight", &[7, 7], 42..91),
            ("net.2.bias", &[7], 91..98),
            ("net.4.weight", &[3, 7], 98..119),
            ("net.4.bias", &[3], 119..122),
        ]
    );
    assert_eq!(layered.num_parameters(), 122);
    assert_eq!(layered.output_layer(), 98..122);
    let linear = architecture(0, Activation::Relu);
    assert_eq!(
        (linear.num_parameters(), linear.output_layer()),
        (18, 0..18)
    );
}

#[test]
fn initial_parameters_fill_their_range_and_repeat() {
    let wide = Settings {
        hidden_size: 400,
        ..Settings::default()
    };
    let wide = Architecture::new(&wide, 25, 4, None).unwrap();
    let parameters = initial(&wide);
    assert_eq!(parameters, initial(&wide));
    assert_eq!(parameters.len(), wide.num_parameters());
    for (view, bound) in wide.layout().iter().zip([0.2, 0.2, 0.05, 0.05, 0.05, 0.05]) {
        let part = &parameters[view.range()];
        let most = part.iter().fold(0f32, |most, p| most.max(p.abs()));
        assert!(most <= bound, "{}: {most}", view.name);
        if part.len() > 100 {
            let mean = part.iter().sum::<f32>() / part.len() as f32;
            assert!(
                most > 0.95 * bound && mean.abs() < 0.1 * bound,
                "{}",
                view.name
            );
        }
    }
}

/// One row through the layers, number by number in f64.
fn by_hand(
    architecture: &Architecture,
    flat: &[f32],
    row: &[f32],
    act: fn(f64) -> f64,
) -> Vec<f64> {
    let mut hidden: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
    for (layer, pair) in architecture.layout().chunks(2).enumerate() {
        if layer > 0 {
            hidden.iter_mut().for_each(|x| *x = act(*x));
        }
        let (weight, bias) = (&flat[pair[0].range()], &flat[pair[1].range()]);
        let row_of = |(weights, bias): (&[f32], &f32)| {
            let terms = weights.iter().zip(&hidden).map(|(&w, x)| f64::from(w) * x);
            f64::from(*bias) + terms.sum::<f64>()
        };
        hidden = weight.chunks(hidden.len()).zip(bias).map(row_of).collect();
    }
    hidden
}

/// `x Phi(x)` by Simpson's rule.
fn gelu(x: f64) -> f64 {
    let density = |t: f64| (-t * t / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let step = x / 200.0;
    let sum: f64 = (0..100)
        .map(|i| f64::from(2 * i) * step)
        .map(|t| density(t) + 4.0 * density(t + step) + density(t + 2.0 * step))
        .sum();
    x * (0.5 + sum * step / 3.0)
}

#[test]
fn both_forward_passes_agree_with_the_layers_by_hand() {
    for layers in [0, 1, 3] {
        for (activation, act) in [
            (Activation::Relu, (|x| x.max(0.0)) as fn(f64) -> f64),
            (Activation::Gelu, gelu),
        ] {
            let network = architecture(layers, activation);
            let parameters: Vec<f32> = initial(&network).iter().map(|p| 3.0 * p).collect();
            let flat = Tensor::from_slice(&parameters).set_requires_grad(true);
            let rows: Vec<f32> = (0..10).map(|i| (i as f32 * 0.7).sin()).collect();
            let tensor = Tensor::from_slice(&rows).view((2, 5));
            let recorded = network.forward(&flat, &tensor).unwrap();
            let bound = network.bind(&flat).unwrap().forward(&tensor).unwrap();
            assert!(recorded.requires_grad() && !bound.requires_grad());
            assert_eq!(Vec::<f32>::try_from(tensor.view(-1)).unwrap(), rows);
            for outputs in [recorded, bound] {
                let outputs = Vec::<Vec<f32>>::try_from(outputs).unwrap();
                for (row, found) in rows.chunks(5).zip(outputs) {
                    let expected = by_hand(&network, &parameters, row, act);
                    for (found, expected) in found.iter().zip(&expected) {
                        let error = (f64::from(*found) - expected).abs();
                        assert!(error < 1e-5, "{layers} {activation:?}: {found} {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn bound_networks_share_a_tensor_and_copy_a_snapshot() {
    let network = architecture(1, Activation::Relu);
    let parameters = initial(&network);
    let mut flat = Tensor::from_slice(&parameters);
    let rows = Tensor::from_slice(&[1f32; 5]).view((1, 5));
    let shared = network.bind(&flat).unwrap();
    let copied = network.bind_snapshot(&parameters, Device::Cpu).unwrap();
    let run = |bound: &Bound| Vec::<f32>::try_from(bound.forward(&rows).unwrap().view(-1)).unwrap();
    let before = run(&shared);
    assert_eq!(before, run(&copied));
    let _ = flat.zero_();
    assert_eq!(run(&shared), [0.0; 3]);
    assert_eq!(run(&copied), before);
    assert!(
        network
            .bind_snapshot(&parameters[1..], Device::Cpu)
            .is_err()
    );
    let narrow = rows.narrow(1, 0, 4);
    assert!(shared.forward(&narrow).is_err() && network.forward(&flat, &narrow).is_err());
}

#[test]
fn shapes_out_of_range_are_named() {
    let refused = |hidden_size, num_layers, inputs, outputs| {
        let settings = Settings {
            hidden_size,
            num_layers,
            ..Settings::default()
        };
        match Architecture::new(&settings, inputs, outputs, None) {
            Err(ArchitectureError::Shape { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(0, 1, 5, 3), "network.hidden_size");
    assert_eq!(refused(8, 65, 5, 3), "network.num_layers");
    assert_eq!(refused(8, 1, 0, 3), "the length of an info state");
    assert_eq!(refused(8, 1, 5, 0), "the number of actions");
}
