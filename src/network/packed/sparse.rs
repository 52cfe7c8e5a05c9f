//! A layer for rows that are mostly zeros: only what is set is multiplied.

use super::layer::Rows;
use pulp::{Simd, WithSimd};

/// A layer's weights by input, for rows of which most inputs are zero, as those of info states by card: finding what is set costs less than
/// multiplying by the rest.
///
/// An output is `start + x[i] w[i] + x[j] w[j] + ...` over the inputs that are set, in ascending order, fused multiply-adds: the bits are those of
/// all inputs, unless a weight of an input that is not set is infinite or not a number.
pub(super) struct SparseLayer {
    inputs: usize,
    /// At least the layer's outputs, and an even number of vectors.
    pub width: usize,
    /// `[inputs, width]`.
    pub weights: Vec<f32>,
}

impl SparseLayer {
    /// Packs `weight` (`[outputs, inputs]`) into rows of `width` numbers.
    pub(super) fn new(weight: &[f32], inputs: usize, width: usize) -> Self {
        let mut weights = vec![0.0; width * inputs];
        for (output, row) in weight.chunks_exact(inputs).enumerate() {
            for (to, &from) in weights[output..].iter_mut().step_by(width).zip(row) {
                *to = from;
            }
        }
        Self {
            inputs,
            width,
            weights,
        }
    }
}

/// Some rows through a sparse layer and a rectifier.
pub(super) struct SparseTask<'a> {
    pub layer: &'a SparseLayer,
    pub rows: Rows<'a>,
    pub count: usize,
    /// What the sums start from, rows of `layer.width` numbers.
    pub start: Rows<'a>,
}

impl SparseTask<'_> {
    /// Fills `out` (`[count, layer.width]`). `set` is room for the numbers of the inputs that are set.
    #[inline(always)]
    pub(super) fn run<S: Simd>(self, simd: S, set: &mut Vec<u32>, out: &mut [f32]) {
        let SparseLayer { inputs, width, .. } = *self.layer;
        set.resize(inputs, 0);
        let rows = out.chunks_exact_mut(width).take(self.count);
        for (number, out) in rows.enumerate() {
            let [row] = self.rows.parts::<1>(number, 0, inputs);
            let [start] = self.start.parts::<1>(number, 0, width);
            let found = find(row, set);
            let set = &set[..found];
            let mut offset = 0;
            while offset < width {
                let sums = Sums {
                    weights: &self.layer.weights,
                    width,
                    row,
                    set,
                    start,
                    out: &mut *out,
                    offset,
                };
                // As many as can be added to while one of them is computed, where there are so many.
                offset += match (width - offset) / S::F32_LANES {
                    8.. => simd.vectorize(VectorsOf::<8>(sums)),
                    4.. => simd.vectorize(VectorsOf::<4>(sums)),
                    _ => simd.vectorize(VectorsOf::<2>(sums)),
                };
            }
        }
    }
}

/// Writes where `row` is not zero into `set`, which has as much room, and says how many they are. Without a branch on what is found.
#[inline(always)]
fn find(row: &[f32], set: &mut [u32]) -> usize {
    let mut found = 0;
    for (number, &input) in row.iter().enumerate() {
        set[found] = number as u32;
        found += usize::from(input != 0.0);
    }
    found
}

/// One row's outputs from `offset` on.
struct Sums<'a> {
    weights: &'a [f32],
    width: usize,
    row: &'a [f32],
    set: &'a [u32],
    start: &'a [f32],
    out: &'a mut [f32],
    offset: usize,
}

/// So many vectors of them; gives their numbers.
struct VectorsOf<'a, const VECTORS: usize>(Sums<'a>);

impl<const VECTORS: usize> WithSimd for VectorsOf<'_, VECTORS> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let Self(parts) = self;
        let length = VECTORS * S::F32_LANES;
        let start = &parts.start[parts.offset..][..length];
        let mut sums = S::as_simd_f32s(start).0.as_chunks::<VECTORS>().0[0];
        let weights = &parts.weights[parts.offset..];
        for &number in parts.set {
            let number = number as usize;
            let weights = &weights[number * parts.width..][..length];
            let weights = &S::as_simd_f32s(weights).0.as_chunks::<VECTORS>().0[0];
            let input = simd.splat_f32s(parts.row[number]);
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                *sum = simd.mul_add_f32s(input, weight, *sum);
            }
        }
        let zero = simd.splat_f32s(0.0);
        let out = &mut parts.out[parts.offset..][..length];
        for (out, sum) in S::as_mut_simd_f32s(out).0.iter_mut().zip(sums) {
            // In this order a sum that is not a number stays one.
            *out = simd.max_f32s(zero, sum);
        }
        length
    }
}
