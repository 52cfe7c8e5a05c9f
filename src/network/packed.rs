//! Networks laid out for the processor's vector registers: inference on the CPU.
//!
//! ```text
//! weights  [outputs, inputs]  -->  panels of a few vectors of outputs, each contiguous by input
//! rows     6 at a time x 1 panel   accumulators stay in registers over all inputs
//! ```
//!
//! A library's matrix product lays its weights out anew at every call. For the hundred rows of a typical batch that costs as much as a
//! third of the arithmetic, for a dozen rows several times the arithmetic. Here it happens once per weight snapshot.
//!
//! While a panel is used the next one is fetched: the weights of a network do not fit into a core's own caches.
//!
//! An output is `bias + x[0] w[0] + x[1] w[1] + ...`, fused multiply-adds in this order. So a row's answer has the same bits in every batch, at
//! every place in it, on every processor with such instructions.

mod color_set;
mod layer;
mod mlp;
mod sparse;

use super::{Activation, color_set::ColorSet};
use color_set::PackedColorSet;
use mlp::PackedMlp;
use pulp::{Arch, Simd, WithSimd};

/// A network with its weights in panels. Immutable: all threads may share one.
pub struct PackedNetwork {
    form: Form,
    processor: Arch,
}

enum Form {
    Mlp(PackedMlp),
    ColorSet(Box<PackedColorSet>),
}

/// Activations of one thread, reused from call to call.
#[derive(Default)]
pub struct PackedScratch {
    from: Vec<f32>,
    to: Vec<f32>,
    /// What all colours of a row share: common values, then means.
    shared: Vec<f32>,
    /// What it adds to each of them.
    term: Vec<f32>,
    /// Rows arranged by colour.
    arranged: Vec<f32>,
    /// The inputs of a row that are not zero.
    set: Vec<u32>,
}

impl PackedNetwork {
    /// Whether there is a packed form: relu networks, on a processor with vectors of at least four numbers.
    pub(super) fn supports(activation: Activation) -> bool {
        activation == Activation::Relu && Arch::new().dispatch(Lanes) >= 4
    }

    /// Packs an mlp of these parts where [`PackedNetwork::supports`] says so.
    pub(super) fn mlp(parts: &[&[f32]]) -> Self {
        Self::of(|lanes| Form::Mlp(PackedMlp::new(parts, lanes)))
    }

    /// Packs `network` of these parts where [`PackedNetwork::supports`] says so.
    pub(super) fn color_set(network: &ColorSet, parts: &[&[f32]]) -> Self {
        Self::of(|lanes| Form::ColorSet(Box::new(PackedColorSet::new(network, parts, lanes))))
    }

    fn of(pack: impl FnOnce(usize) -> Form) -> Self {
        let processor = Arch::new();
        Self {
            form: pack(processor.dispatch(Lanes)),
            processor,
        }
    }

    /// Numbers in a row.
    pub fn inputs(&self) -> usize {
        match &self.form {
            Form::Mlp(network) => network.inputs,
            Form::ColorSet(network) => network.inputs(),
        }
    }

    /// Numbers in an answer.
    pub fn outputs(&self) -> usize {
        match &self.form {
            Form::Mlp(network) => network.outputs,
            Form::ColorSet(network) => network.outputs(),
        }
    }

    /// `rows` (`[rows, inputs]`) to `answers` (`[rows, outputs]`), row-major.
    ///
    /// # Panics
    /// When the lengths do not fit each other.
    pub fn forward(&self, rows: &[f32], scratch: &mut PackedScratch, answers: &mut [f32]) {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let count = rows.len() / inputs;
        assert_eq!(rows.len(), count * inputs, "whole rows");
        assert_eq!(answers.len(), count * outputs, "as many answers as rows");
        if count == 0 {
            return;
        }
        match &self.form {
            Form::Mlp(network) => network.forward(rows, scratch, answers, self.processor),
            Form::ColorSet(network) => network.forward(rows, scratch, answers, self.processor),
        }
    }
}

/// The first `length` numbers of `buffer`, which grows where it is shorter.
fn grown(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// How many numbers a vector of this processor holds; 1 without vectors.
struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

#[cfg(test)]
mod tests;
