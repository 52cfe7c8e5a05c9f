//! A fully connected network laid out for the processor's vector registers: inference on the CPU.
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

use super::{Activation, mlp::Layers};
use crate::platform::prefetch;
use pulp::{Arch, Simd, WithSimd};

/// Rows whose accumulators are in registers at once: with two vectors each, 12 of the 16 registers of AVX2.
const TILE: usize = 6;
/// Inputs taken per step of the inner loop, so that it checks bounds once per step.
const STEP: usize = 8;
/// Numbers in a cache line.
const LINE: usize = 16;
/// Vectors in a panel.
const VECTORS: usize = 2;
/// Rows that go through all layers together: their activations stay in a core's own cache.
const CHUNK: usize = 96;

/// A multilayer perceptron with its weights in panels. Immutable: all threads may share one.
pub struct PackedMlp {
    layers: Vec<PackedLayer>,
    inputs: usize,
    outputs: usize,
    processor: Arch,
}

struct PackedLayer {
    inputs: usize,
    /// Whole panels: at least the layer's outputs.
    width: usize,
    /// `[panels, inputs, panel width]`.
    weights: Vec<f32>,
    /// `[width]`.
    bias: Vec<f32>,
}

/// Activations of one thread, reused from call to call.
#[derive(Default)]
pub struct PackedScratch {
    from: Vec<f32>,
    to: Vec<f32>,
}

impl PackedMlp {
    /// Whether there is a packed form: relu networks, on a processor with vectors of at least four numbers.
    pub(super) fn supports(activation: Activation) -> bool {
        activation == Activation::Relu && Arch::new().dispatch(Lanes) >= 4
    }

    /// Packs `layers` where [`PackedMlp::supports`] says so.
    pub(super) fn new(layers: &Layers<'_>, activation: Activation) -> Option<Self> {
        let processor = Arch::new();
        Self::supports(activation)
            .then(|| Self::with_lanes(layers, processor.dispatch(Lanes), processor))
    }

    fn with_lanes(layers: &Layers<'_>, lanes: usize, processor: Arch) -> Self {
        let pack = |&(weight, bias): &(&[f32], &[f32])| PackedLayer::new(weight, bias, lanes);
        let shape = |&(weight, bias): &(&[f32], &[f32])| (weight.len() / bias.len(), bias.len());
        Self {
            layers: layers.iter().map(pack).collect(),
            inputs: layers.first().map_or(0, |layer| shape(layer).0),
            outputs: layers.last().map_or(0, |layer| shape(layer).1),
            processor,
        }
    }

    /// Numbers in a row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers in an answer.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// `rows` (`[rows, inputs]`) to `answers` (`[rows, outputs]`), row-major.
    ///
    /// # Panics
    /// When the lengths do not fit each other.
    pub fn forward(&self, rows: &[f32], scratch: &mut PackedScratch, answers: &mut [f32]) {
        let count = rows.len() / self.inputs;
        assert_eq!(rows.len(), count * self.inputs, "whole rows");
        assert_eq!(
            answers.len(),
            count * self.outputs,
            "as many answers as rows"
        );
        if count == 0 {
            return;
        }
        // Chunks alike in size, of whole tiles.
        let chunks = count.div_ceil(CHUNK);
        let chunk = count.div_ceil(chunks).next_multiple_of(TILE);
        let parts = rows.chunks(chunk * self.inputs);
        for (rows, answers) in parts.zip(answers.chunks_mut(chunk * self.outputs)) {
            self.processor.dispatch(Chunk {
                layers: &self.layers,
                inputs: self.inputs,
                outputs: self.outputs,
                rows,
                scratch,
                answers,
            });
        }
    }
}

impl PackedLayer {
    /// Packs `weight` (`[outputs, inputs]`) and `bias` (`[outputs]`) for vectors of `lanes` numbers.
    fn new(weight: &[f32], bias: &[f32], lanes: usize) -> Self {
        let (inputs, panel) = (weight.len() / bias.len(), VECTORS * lanes);
        let width = bias.len().next_multiple_of(panel);
        let mut weights = vec![0.0; width * inputs];
        for (output, row) in weight.chunks_exact(inputs).enumerate() {
            let start = output / panel * panel * inputs + output % panel;
            for (to, &from) in weights[start..].iter_mut().step_by(panel).zip(row) {
                *to = from;
            }
        }
        let mut padded = bias.to_vec();
        padded.resize(width, 0.0);
        Self {
            inputs,
            width,
            weights,
            bias: padded,
        }
    }
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

/// Some rows through all layers.
struct Chunk<'a> {
    layers: &'a [PackedLayer],
    inputs: usize,
    outputs: usize,
    rows: &'a [f32],
    scratch: &'a mut PackedScratch,
    answers: &'a mut [f32],
}

impl WithSimd for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PackedScratch { from, to } = self.scratch;
        let count = self.rows.len() / self.inputs;
        let (mut stride, last) = (self.inputs, self.layers.len() - 1);
        for (number, layer) in self.layers.iter().enumerate() {
            let rows = if number == 0 { self.rows } else { &from[..] };
            if to.len() < count * layer.width {
                to.resize(count * layer.width, 0.0);
            }
            let following = self.layers.get(number + 1);
            let task = LayerTask {
                layer,
                rows: Rows {
                    rows,
                    stride,
                    count,
                },
                rectify: number < last,
                following: following.map_or(&[], |layer| &layer.weights),
            };
            task.run(simd, to);
            stride = layer.width;
            std::mem::swap(from, to);
        }
        for (answer, row) in self
            .answers
            .chunks_exact_mut(self.outputs)
            .zip(from.chunks(stride))
        {
            answer.copy_from_slice(&row[..self.outputs]);
        }
    }
}

/// `count` rows, `stride` numbers apart.
#[derive(Clone, Copy)]
struct Rows<'a> {
    rows: &'a [f32],
    stride: usize,
    count: usize,
}

/// Some rows through one layer.
struct LayerTask<'a> {
    layer: &'a PackedLayer,
    rows: Rows<'a>,
    rectify: bool,
    /// The weights needed after this layer's.
    following: &'a [f32],
}

impl LayerTask<'_> {
    /// Fills `out` (`[count, layer.width]`).
    #[inline(always)]
    fn run<S: Simd>(self, simd: S, out: &mut [f32]) {
        let Self { layer, rows, .. } = self;
        let panel = VECTORS * S::F32_LANES;
        let length = panel * layer.inputs;
        let panels = layer.weights.chunks_exact(length);
        for (number, (weights, bias)) in panels.zip(layer.bias.chunks_exact(panel)).enumerate() {
            let rest = &layer.weights[(number + 1) * length..];
            let next = if rest.is_empty() {
                self.following
            } else {
                rest
            };
            // The tiles of this panel fetch the next one between them, a share each.
            let next = &next[..length.min(next.len())];
            let mut shares = next.chunks(next.len().div_ceil(rows.count.div_ceil(TILE)).max(1));
            let mut first = 0;
            while first < rows.count {
                let tile = Tile {
                    rows: &rows.rows[first * rows.stride..],
                    stride: rows.stride,
                    weights,
                    bias,
                    rectify: self.rectify,
                    ahead: shares.next().unwrap_or_default(),
                    out: &mut out[first * layer.width + number * panel..],
                    width: layer.width,
                };
                // A function of its own for each number of rows: compilers then keep its sums in registers.
                first += match rows.count - first {
                    1 => simd.vectorize(RowsOf::<1>(tile)),
                    2 => simd.vectorize(RowsOf::<2>(tile)),
                    3 => simd.vectorize(RowsOf::<3>(tile)),
                    4 => simd.vectorize(RowsOf::<4>(tile)),
                    5 => simd.vectorize(RowsOf::<5>(tile)),
                    _ => simd.vectorize(RowsOf::<TILE>(tile)),
                };
            }
        }
    }
}

/// A few rows times one panel.
struct Tile<'a> {
    rows: &'a [f32],
    stride: usize,
    /// `[inputs, panel width]`.
    weights: &'a [f32],
    /// `[panel width]`.
    bias: &'a [f32],
    rectify: bool,
    /// Weights to fetch meanwhile.
    ahead: &'a [f32],
    /// From the panel's first output of the first row on, `width` numbers a row.
    out: &'a mut [f32],
    width: usize,
}

/// A tile of so many rows; gives their number.
struct RowsOf<'a, const ROWS: usize>(Tile<'a>);

impl<const ROWS: usize> WithSimd for RowsOf<'_, ROWS> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let Self(tile) = self;
        let weights = S::as_simd_f32s(tile.weights).0.as_chunks::<VECTORS>().0;
        let bias = S::as_simd_f32s(tile.bias).0.as_chunks::<VECTORS>().0[0];
        let rows: [&[f32]; ROWS] =
            std::array::from_fn(|row| &tile.rows[row * tile.stride..][..weights.len()]);
        let mut sums = [bias; ROWS];
        let (steps, rest) = weights.as_chunks::<STEP>();
        let stepped = rows.map(|row| row.as_chunks::<STEP>());
        let lines = tile.ahead.as_chunks::<LINE>().0;
        let lines_per_step = lines.len().div_ceil(steps.len().max(1));
        let mut lines = lines.iter();
        for (step, weights) in steps.iter().enumerate() {
            lines
                .by_ref()
                .take(lines_per_step)
                .for_each(|line| prefetch(line));
            let inputs: [&[f32; STEP]; ROWS] = std::array::from_fn(|row| &stepped[row].0[step]);
            for (input, weights) in weights.iter().enumerate() {
                accumulate(simd, &mut sums, weights, |row| inputs[row][input]);
            }
        }
        for (input, weights) in rest.iter().enumerate() {
            accumulate(simd, &mut sums, weights, |row| stepped[row].1[input]);
        }
        let zero = simd.splat_f32s(0.0);
        for (row, sums) in sums.into_iter().enumerate() {
            let out = &mut tile.out[row * tile.width..][..VECTORS * S::F32_LANES];
            for (out, sum) in S::as_mut_simd_f32s(out).0.iter_mut().zip(sums) {
                // In this order a sum that is not a number stays one.
                *out = if tile.rectify {
                    simd.max_f32s(zero, sum)
                } else {
                    sum
                };
            }
        }
        ROWS
    }
}

/// Adds one input of each row times its weights.
#[inline(always)]
fn accumulate<S: Simd, const ROWS: usize>(
    simd: S,
    sums: &mut [[S::f32s; VECTORS]; ROWS],
    weights: &[S::f32s; VECTORS],
    input: impl Fn(usize) -> f32,
) {
    for (row, sums) in sums.iter_mut().enumerate() {
        let input = simd.splat_f32s(input(row));
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            *sum = simd.mul_add_f32s(input, weight, *sum);
        }
    }
}

#[cfg(test)]
mod tests;
