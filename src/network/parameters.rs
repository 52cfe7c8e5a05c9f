//! The flat parameter tensor and its named parts.

use super::TensorError;
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
    /// Inputs of the layer it belongs to: its initial values lie within `1 / sqrt(fan_in)` of 0.
    pub(super) fan_in: usize,
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
        let shape = vec![outputs as i64, inputs as i64];
        self.push(format!("{name}.weight"), shape, inputs);
        self.push(format!("{name}.bias"), vec![outputs as i64], inputs);
    }

    fn push(&mut self, name: String, shape: Vec<i64>, fan_in: usize) {
        let view = ParameterView {
            name,
            shape,
            offset: self.numel(),
            fan_in,
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
