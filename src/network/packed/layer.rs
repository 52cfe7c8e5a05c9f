//! Some rows through one layer: the kernel.

use crate::platform::prefetch;
use pulp::{Simd, WithSimd};

/// Rows whose accumulators are in registers at once: with two vectors each, 12 of the 16 registers of AVX2.
pub(super) const TILE: usize = 6;
/// Inputs taken per step of the inner loop, so that it checks bounds once per step.
const STEP: usize = 8;
/// Numbers in a cache line.
const LINE: usize = 16;
/// Vectors in a panel.
const VECTORS: usize = 2;

/// A layer's weights in panels.
pub(super) struct PackedLayer {
    inputs: usize,
    /// Whole panels: at least the layer's outputs.
    pub width: usize,
    /// `[panels, inputs, panel width]`.
    pub weights: Vec<f32>,
    /// `[width]`.
    bias: Vec<f32>,
}

impl PackedLayer {
    /// Packs `weight` (`[outputs, inputs]`) and `bias` (`[outputs]`) for vectors of `lanes` numbers.
    pub(super) fn new(weight: &[f32], bias: &[f32], lanes: usize) -> Self {
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

/// Rows of numbers: row `i` starts at `i / group * outer + i % group * inner`.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub values: &'a [f32],
    pub group: usize,
    pub outer: usize,
    pub inner: usize,
}

impl<'a> Rows<'a> {
    /// Rows `stride` numbers apart.
    pub(super) fn apart(values: &'a [f32], stride: usize) -> Self {
        Self {
            values,
            group: 1,
            outer: stride,
            inner: 0,
        }
    }

    /// The `length` numbers from `offset` on of each row from row `first` on.
    #[inline(always)]
    pub(super) fn parts<const ROWS: usize>(
        &self,
        first: usize,
        offset: usize,
        length: usize,
    ) -> [&'a [f32]; ROWS] {
        let mut start = first / self.group * self.outer + offset;
        let mut within = first % self.group;
        // A loop: as a closure it would be a call of its own in the midst of the kernel.
        let mut parts: [&[f32]; ROWS] = [&[]; ROWS];
        for part in &mut parts {
            *part = &self.values[start + within * self.inner..][..length];
            within += 1;
            if within == self.group {
                (start, within) = (start + self.outer, 0);
            }
        }
        parts
    }
}

/// Some rows through one layer.
pub(super) struct LayerTask<'a> {
    pub layer: &'a PackedLayer,
    pub rows: Rows<'a>,
    pub count: usize,
    /// What the sums start from, rows of `layer.width` numbers; `None`: the bias.
    pub start: Option<Rows<'a>>,
    pub rectify: bool,
    /// The weights needed after this layer's.
    pub following: &'a [f32],
}

impl LayerTask<'_> {
    /// Fills `out` (`[count, layer.width]`).
    #[inline(always)]
    pub(super) fn run<S: Simd>(self, simd: S, out: &mut [f32]) {
        let Self {
            layer, rows, count, ..
        } = self;
        let start = self.start.unwrap_or(Rows::apart(&layer.bias, 0));
        let panel = VECTORS * S::F32_LANES;
        let length = panel * layer.inputs;
        for (number, weights) in layer.weights.chunks_exact(length).enumerate() {
            let rest = &layer.weights[(number + 1) * length..];
            let next = if rest.is_empty() {
                self.following
            } else {
                rest
            };
            // The tiles of this panel fetch the next one between them, a share each.
            let next = &next[..length.min(next.len())];
            let mut shares = next.chunks(next.len().div_ceil(count.div_ceil(TILE)).max(1));
            let mut first = 0;
            while first < count {
                let tile = Tile {
                    rows,
                    first,
                    weights,
                    start,
                    offset: number * panel,
                    rectify: self.rectify,
                    ahead: shares.next().unwrap_or_default(),
                    out: &mut out[first * layer.width + number * panel..],
                    width: layer.width,
                };
                // A function of its own for each number of rows: compilers then keep its sums in registers.
                first += match count - first {
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
    rows: Rows<'a>,
    /// The first row of the tile.
    first: usize,
    /// `[inputs, panel width]`.
    weights: &'a [f32],
    /// What the sums start from.
    start: Rows<'a>,
    /// The panel's first output.
    offset: usize,
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
        let rows: [&[f32]; ROWS] = tile.rows.parts(tile.first, 0, weights.len());
        let panel = VECTORS * S::F32_LANES;
        let start: [&[f32]; ROWS] = tile.start.parts(tile.first, tile.offset, panel);
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
        for (sums, start) in sums.iter_mut().zip(start) {
            *sums = S::as_simd_f32s(start).0.as_chunks::<VECTORS>().0[0];
        }
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
