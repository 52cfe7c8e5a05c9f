mod equivariance;

use crate::{
    encoding::ColorLayout,
    network::{Activation, Architecture, Kind, PackedScratch, Settings},
    random::{Purpose, Randomness, Stream},
};
use tch::{Device, Tensor};

/// A made-up game of colours.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct Shape {
    pub colors: usize,
    pub block: usize,
    pub common: usize,
    pub actions: usize,
    pub common_actions: usize,
}

/// Whether the blocks stand one after the other, before the common numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::network) enum Order {
    Arranged,
    Shuffled,
}

impl Shape {
    pub(in crate::network) fn inputs(&self) -> usize {
        self.colors * self.block + self.common
    }

    pub(in crate::network) fn outputs(&self) -> usize {
        self.colors * self.actions + self.common_actions
    }

    pub(in crate::network) fn layout(&self, order: Order, stream: &mut Stream) -> ColorLayout {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let info = blocks(self.colors, self.block, inputs, order, stream);
        let actions = match self.actions {
            0 => Vec::new(),
            each => blocks(self.colors, each, outputs, order, stream),
        };
        ColorLayout::new(info, inputs, actions, outputs)
    }
}

/// `[colors][block]` of the numbers below `length`.
fn blocks(
    colors: usize,
    block: usize,
    length: usize,
    order: Order,
    stream: &mut Stream,
) -> Vec<Vec<usize>> {
    let mut indices: Vec<usize> = (0..length).collect();
    if order == Order::Shuffled {
        shuffle(&mut indices, stream);
    }
    let blocks = indices.chunks(block.max(1)).take(colors);
    blocks.map(<[usize]>::to_vec).collect()
}

fn shuffle(values: &mut [usize], stream: &mut Stream) {
    for last in (1..values.len()).rev() {
        values.swap(last, stream.index(last + 1));
    }
}

pub(in crate::network) fn numbers(count: usize, stream: &mut Stream) -> Vec<f32> {
    let number = || (2.0 * stream.uniform() - 1.0) as f32;
    std::iter::repeat_with(number).take(count).collect()
}

pub(in crate::network) fn network(
    hidden_size: usize,
    num_layers: usize,
    shape: &Shape,
    layout: &ColorLayout,
) -> Architecture {
    let settings = Settings {
        kind: Kind::ColorSet,
        hidden_size,
        num_layers,
        ..Settings::default()
    };
    Architecture::new(&settings, shape.inputs(), shape.outputs(), Some(layout)).unwrap()
}

/// Parameters with which no layer is near zero.
fn parameters(network: &Architecture, stream: &mut Stream) -> Vec<f32> {
    let mut parameters = network.initial(stream);
    for view in network.layout() {
        let part = numbers(view.numel(), stream);
        let fan_in = (*view.shape.last().unwrap() as f32).sqrt();
        let scaled = part.iter().map(|x| x / fan_in);
        parameters.splice(view.range(), scaled);
    }
    parameters
}

fn tensor(rows: &[f32], width: usize) -> Tensor {
    Tensor::from_slice(rows).view([-1, width as i64])
}

fn values(tensor: &Tensor) -> Vec<f32> {
    Vec::try_from(tensor.view(-1)).unwrap()
}

/// The answers of every way of running a network: recorded, bound, packed.
fn answers(network: &Architecture, parameters: &[f32], rows: &[f32]) -> [Vec<f32>; 3] {
    let flat = Tensor::from_slice(parameters).set_requires_grad(true);
    let input = tensor(rows, network.inputs());
    let recorded = network.forward(&flat, &input).unwrap();
    assert!(recorded.requires_grad());
    let bound = network.bind_snapshot(parameters, Device::Cpu).unwrap();
    let bound = values(&bound.forward(&input).unwrap());
    let mut packed = vec![f32::NAN; bound.len()];
    match network.pack(parameters).unwrap() {
        Some(network) => network.forward(rows, &mut PackedScratch::default(), &mut packed),
        None => packed.clone_from(&bound),
    }
    assert_eq!(values(&input), rows, "the rows are unchanged");
    [values(&recorded), bound, packed]
}

const SHAPE: Shape = Shape {
    colors: 3,
    block: 7,
    common: 4,
    actions: 2,
    common_actions: 2,
};

/// One row through the layers, number by number in f64, from the formulas.
fn by_hand(network: &Architecture, layout: &ColorLayout, flat: &[f32], row: &[f32]) -> Vec<f64> {
    let part = |name: &str| {
        let view = network.layout().iter().find(|view| view.name == name);
        let view = view.unwrap_or_else(|| panic!("no part {name}"));
        let values = flat[view.range()].iter().map(|&x| f64::from(x));
        (values.collect::<Vec<_>>(), view.shape.clone())
    };
    let times = |name: &str, x: &[f64]| -> Vec<f64> {
        let (weight, shape) = part(name);
        let rows = weight.chunks(shape[1] as usize);
        rows.map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum())
            .collect()
    };
    let sum = |parts: &[&[f64]]| -> Vec<f64> {
        let entry = |i: usize| parts.iter().map(|part| part[i]).sum();
        (0..parts[0].len()).map(entry).collect()
    };
    let relu = |x: Vec<f64>| -> Vec<f64> { x.into_iter().map(|x| x.max(0.0)).collect() };
    let mean = |colors: &[Vec<f64>]| -> Vec<f64> {
        let parts: Vec<&[f64]> = colors.iter().map(Vec::as_slice).collect();
        sum(&parts)
            .into_iter()
            .map(|x| x / colors.len() as f64)
            .collect()
    };
    let take =
        |indices: &[usize]| -> Vec<f64> { indices.iter().map(|&i| f64::from(row[i])).collect() };
    let mut hidden: Vec<Vec<f64>> = layout.info.iter().map(|block| take(block)).collect();
    let mut shared = take(&layout.common);
    for layer in 0.. {
        let name = |part: &str| format!("layers.{layer}.{part}");
        if network
            .layout()
            .iter()
            .all(|view| view.name != name("bias"))
        {
            break;
        }
        let term = times(&name("shared"), &shared);
        let next = |x: &Vec<f64>| {
            relu(sum(&[
                &times(&name("weight"), x),
                &term,
                &part(&name("bias")).0,
            ]))
        };
        hidden = hidden.iter().map(next).collect();
        shared = mean(&hidden);
    }
    let mut answers = vec![0.0; network.outputs()];
    for (x, actions) in hidden.iter().zip(&layout.actions) {
        let found = sum(&[&times("color.weight", x), &part("color.bias").0]);
        actions
            .iter()
            .zip(found)
            .for_each(|(&action, value)| answers[action] = value);
    }
    let pooled = relu(sum(&[&times("pool.weight", &shared), &part("pool.bias").0]));
    let found = sum(&[&times("common.weight", &pooled), &part("common.bias").0]);
    layout
        .common_actions
        .iter()
        .zip(found)
        .for_each(|(&action, value)| answers[action] = value);
    answers
}

#[test]
fn every_form_agrees_with_the_formulas() {
    let stream = &mut Stream::new(1, Purpose::Trial, 0, 0);
    for (order, layers) in [
        (Order::Arranged, 1),
        (Order::Arranged, 3),
        (Order::Shuffled, 2),
    ] {
        let layout = SHAPE.layout(order, stream);
        let network = network(19, layers, &SHAPE, &layout);
        let parameters = parameters(&network, stream);
        let rows = numbers(5 * SHAPE.inputs(), stream);
        let found = answers(&network, &parameters, &rows);
        let rows = rows.chunks(SHAPE.inputs());
        let expected: Vec<f64> = rows
            .flat_map(|row| by_hand(&network, &layout, &parameters, row))
            .collect();
        for found in &found {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-5,
                    "{order:?}: {found}, {expected}"
                );
            }
        }
    }
}

#[test]
fn the_output_layer_multiplies_the_answers() {
    let stream = &mut Stream::new(2, Purpose::Trial, 0, 0);
    let critic = Shape {
        actions: 0,
        common_actions: 1,
        ..SHAPE
    };
    let by_color = Shape {
        common_actions: 0,
        ..SHAPE
    };
    for shape in [SHAPE, critic, by_color] {
        let layout = shape.layout(Order::Arranged, stream);
        let network = network(6, 2, &shape, &layout);
        let mut parameters = parameters(&network, stream);
        let rows = numbers(4 * shape.inputs(), stream);
        let before = answers(&network, &parameters, &rows);
        assert_eq!(network.output_layer().end, network.num_parameters());
        parameters[network.output_layer()]
            .iter_mut()
            .for_each(|p| *p *= 4.0);
        for (before, after) in before.iter().zip(answers(&network, &parameters, &rows)) {
            let expected: Vec<f32> = before.iter().map(|x| 4.0 * x).collect();
            assert_eq!(expected, after, "{shape:?}");
        }
    }
}

#[test]
fn answers_start_near_zero_and_hidden_units_do_not() {
    let shape = Shape {
        actions: 21,
        common_actions: 1,
        ..SHAPE
    };
    let layout = shape.layout(Order::Arranged, &mut Stream::new(3, Purpose::Trial, 0, 0));
    let network = network(64, 2, &shape, &layout);
    let initial = network.initial(&mut Stream::new(3, Purpose::Weights, 0, 0));
    for view in network.layout() {
        let part = &initial[view.range()];
        let squares: f32 = part.iter().map(|x| x * x).sum();
        let deviation = (squares / part.len() as f32).sqrt();
        let expected = match view.name.as_str() {
            "common.weight" | "color.weight" => 0.01,
            "common.bias" | "color.bias" => 0.0,
            "layers.0.shared" => 1.0 / (3.0 * shape.common as f32).sqrt(),
            "layers.0.weight" | "layers.0.bias" => 1.0 / (3.0 * shape.block as f32).sqrt(),
            _ => 1.0 / (3.0f32 * 64.0).sqrt(),
        };
        let name = &view.name;
        assert!(
            (deviation - expected).abs() <= 0.25 * expected,
            "{name}: {deviation}, {expected}"
        );
    }
}

#[test]
fn the_gradient_is_that_of_the_answers() {
    let stream = &mut Stream::new(4, Purpose::Trial, 0, 0);
    let layout = SHAPE.layout(Order::Arranged, stream);
    let network = network(16, 2, &SHAPE, &layout);
    let parameters = parameters(&network, stream);
    // In f64, so that no step of the difference crosses a kink.
    let double = |tensor: Tensor| tensor.to_kind(tch::Kind::Double);
    let input = double(tensor(
        &numbers(20 * SHAPE.inputs(), stream),
        SHAPE.inputs(),
    ));
    let weights = double(tensor(
        &numbers(20 * SHAPE.outputs(), stream),
        SHAPE.outputs(),
    ));
    let direction = double(Tensor::from_slice(&numbers(parameters.len(), stream)));
    let loss = |flat: &Tensor| (network.forward(flat, &input).unwrap() * &weights).sum(None);
    let flat = double(Tensor::from_slice(&parameters)).set_requires_grad(true);
    let gradient = Tensor::run_backward(&[loss(&flat)], &[&flat], false, false).remove(0);
    let slope = (&gradient * &direction).sum(None).double_value(&[]);
    let step = 1e-7;
    let along = |share: f64| loss(&(flat.detach() + &direction * share)).double_value(&[]);
    let measured = (along(step) - along(-step)) / (2.0 * step);
    assert!(
        (slope - measured).abs() < 1e-5 * slope.abs(),
        "{slope}, {measured}"
    );
}

#[test]
fn what_cannot_be_built_says_what_to_do() {
    let layout = SHAPE.layout(Order::Arranged, &mut Stream::new(5, Purpose::Trial, 0, 0));
    let refused = |kind, num_layers, outputs, layout: Option<&ColorLayout>| {
        let settings = Settings {
            kind,
            num_layers,
            ..Settings::default()
        };
        Architecture::new(&settings, SHAPE.inputs(), outputs, layout)
            .unwrap_err()
            .to_string()
    };
    let outputs = SHAPE.outputs();
    for kind in [Kind::ColorSet, Kind::ColorShared] {
        let told = refused(kind, 2, outputs, None);
        assert!(
            told.contains(kind.name()) && told.contains("set network.kind to mlp"),
            "{told}"
        );
    }
    let by_slot = ColorLayout {
        actions: vec![],
        common_actions: (0..outputs).collect(),
        ..layout.clone()
    };
    let told = refused(Kind::ColorSet, 2, outputs, Some(&by_slot));
    assert!(told.contains("set encoding.kind to cards"), "{told}");
    assert!(refused(Kind::ColorSet, 0, outputs, Some(&layout)).contains("network.num_layers"));
    let told = refused(Kind::ColorSet, 1, outputs + 1, Some(&layout));
    assert!(told.contains("the answer"), "{told}");
    let uneven = ColorLayout {
        info: vec![vec![0], vec![1, 2]],
        ..layout
    };
    let told = refused(Kind::ColorSet, 1, outputs, Some(&uneven));
    assert!(
        told.contains("the info state") && told.contains("differ in length"),
        "{told}"
    );
}

#[test]
fn rows_of_another_length_are_refused() {
    let layout = SHAPE.layout(Order::Arranged, &mut Stream::new(6, Purpose::Trial, 0, 0));
    for (kind, activation) in [
        (Kind::ColorSet, Activation::Relu),
        (Kind::ColorShared, Activation::Gelu),
    ] {
        let settings = Settings {
            kind,
            activation,
            ..Settings::default()
        };
        let network =
            Architecture::new(&settings, SHAPE.inputs(), SHAPE.outputs(), Some(&layout)).unwrap();
        let flat = Tensor::zeros(
            [network.num_parameters() as i64],
            (tch::Kind::Float, Device::Cpu),
        );
        for width in [SHAPE.inputs() - 1, SHAPE.inputs() + 1] {
            let rows = Tensor::zeros([2, width as i64], (tch::Kind::Float, Device::Cpu));
            assert!(network.forward(&flat, &rows).is_err(), "{kind:?}, {width}");
            assert!(network.bind(&flat).unwrap().forward(&rows).is_err());
        }
    }
}
