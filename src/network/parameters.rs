//! The flat parameter tensor and its named parts.

use super::TensorError;
use crate::random::{Randomness, Stream};
use tch::Tensor;

/// One named part of a network's flat parameter tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterView {
    /// The part's name, for example `net.0.weight`; unique within an architecture.
    pub name: String,
    /// Its shape: `[outputs, inputs]` of a weight, `[outputs]` of a bias.
    pub shape: Vec<i64>,
    /// Index of its first element in the flat tensor, in elements.
    pub offset: usize,
    pub(super) initial: Initial,
}

/// What a part is before any step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Initial {
    /// Uniform within `1 / sqrt(inputs of the layer)` of 0.
    FanIn(usize),
    /// Uniform within `sqrt(6 / (4 width))` of 0: queries, keys and values of an attention (Glorot and Bengio 2010 for `[3 width, width]`).
    Projections(usize),
    /// Uniform with a standard deviation of 0.01.
    NearZero,
    /// All 0.
    Zero,
    /// All 1.
    One,
}

impl Initial {
    /// The next `count` values; a constant draws nothing.
    pub(super) fn extend(self, parameters: &mut Vec<f32>, count: usize, stream: &mut Stream) {
        let bound = match self {
            Self::FanIn(inputs) => 1.0 / (inputs as f64).sqrt(),
            Self::Projections(width) => (6.0 / (4 * width) as f64).sqrt(),
            Self::NearZero => 0.01 * 3f64.sqrt(),
            Self::Zero => return parameters.extend(std::iter::repeat_n(0.0, count)),
            Self::One => return parameters.extend(std::iter::repeat_n(1.0, count)),
        };
        let draws = std::iter::repeat_with(|| ((2.0 * stream.uniform() - 1.0) * bound) as f32);
        parameters.extend(draws.take(count));
    }
}

impl ParameterView {
    /// Its number of elements.
    pub fn numel(&self) -> usize {
        self.shape.iter().map(|&length| length as usize).product()
    }

    /// Where its elements lie in the flat tensor, row-major.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.numel()
    }
}

/// The parts of one network in the order in which they lie in the flat tensor, without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    views: Vec<ParameterView>,
    sizes: Vec<i64>,
}

impl Layout {
    /// Appends the weight and the bias of a linear layer, `<name>.weight` and `<name>.bias`.
    pub(super) fn push_linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        let initial = Initial::FanIn(inputs);
        self.push(format!("{name}.weight"), &[outputs, inputs], initial);
        self.push(format!("{name}.bias"), &[outputs], initial);
    }

    /// Appends one part.
    pub(super) fn push(&mut self, name: String, shape: &[usize], initial: Initial) {
        let view = ParameterView {
            name,
            shape: shape.iter().map(|&length| length as i64).collect(),
            offset: self.numel(),
            initial,
        };
        self.sizes.push(view.numel() as i64);
        self.views.push(view);
    }

    pub(super) fn views(&self) -> &[ParameterView] {
        &self.views
    }

    /// Elements of the flat tensor.
    pub(super) fn numel(&self) -> usize {
        self.views.last().map_or(0, |view| view.range().end)
    }

    /// The parts of `flat` as tensors of their shapes that share its memory. One split for all of them: its backward is one
    /// concatenation, whatever the depth.
    pub(super) fn split(&self, flat: &Tensor) -> Result<Vec<Tensor>, TensorError> {
        let parts = flat.f_split_with_sizes(&self.sizes[..], 0)?;
        let shaped = parts.iter().zip(&self.views);
        shaped
            .map(|(part, view)| Ok(part.f_view(&view.shape[..])?))
            .collect()
    }
}
