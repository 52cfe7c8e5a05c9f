//! Fully connected layers, packed.

use super::{
    PackedScratch, grown,
    layer::{LayerTask, PackedLayer, Rows, TILE},
};
use pulp::{Arch, Simd, WithSimd};

/// Rows that go through all layers together: their activations stay in a core's own cache.
const CHUNK: usize = 96;

/// A multilayer perceptron with its weights in panels.
pub(super) struct PackedMlp {
    layers: Vec<PackedLayer>,
    pub inputs: usize,
    pub outputs: usize,
}

impl PackedMlp {
    /// Packs weight (`[outputs, inputs]`) and bias (`[outputs]`) of each layer, from the input on, for vectors of `lanes` numbers.
    pub(super) fn new(parts: &[&[f32]], lanes: usize) -> Self {
        let layers = parts.chunks_exact(2);
        let layers = layers.map(|part| PackedLayer::new(part[0], part[1], lanes));
        let first = parts.first().map_or(0, |weight| weight.len());
        Self {
            layers: layers.collect(),
            inputs: first / parts.get(1).map_or(1, |bias| bias.len()),
            outputs: parts.last().map_or(0, |bias| bias.len()),
        }
    }

    /// Whole rows to as many answers.
    pub(super) fn forward(
        &self,
        rows: &[f32],
        scratch: &mut PackedScratch,
        answers: &mut [f32],
        processor: Arch,
    ) {
        // Chunks alike in size, of whole tiles.
        let count = rows.len() / self.inputs;
        let chunks = count.div_ceil(CHUNK);
        let chunk = count.div_ceil(chunks).next_multiple_of(TILE);
        let parts = rows.chunks(chunk * self.inputs);
        for (rows, answers) in parts.zip(answers.chunks_mut(chunk * self.outputs)) {
            processor.dispatch(Chunk {
                network: self,
                rows,
                scratch,
                answers,
            });
        }
    }
}

/// Some rows through all layers.
pub(super) struct Chunk<'a> {
    pub network: &'a PackedMlp,
    pub rows: &'a [f32],
    pub scratch: &'a mut PackedScratch,
    pub answers: &'a mut [f32],
}

impl WithSimd for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PackedScratch { from, to, .. } = self.scratch;
        let PackedMlp {
            layers,
            inputs,
            outputs,
        } = self.network;
        let count = self.rows.len() / inputs;
        let (mut stride, last) = (*inputs, layers.len() - 1);
        for (number, layer) in layers.iter().enumerate() {
            let rows = if number == 0 { self.rows } else { &from[..] };
            let following = layers.get(number + 1);
            let task = LayerTask {
                layer,
                rows: Rows::apart(rows, stride),
                count,
                start: None,
                rectify: number < last,
                following: following.map_or(&[], |layer| &layer.weights),
            };
            task.run(simd, grown(to, count * layer.width));
            stride = layer.width;
            std::mem::swap(from, to);
        }
        let answers = self.answers.chunks_exact_mut(*outputs);
        for (answer, row) in answers.zip(from.chunks(stride)) {
            answer.copy_from_slice(&row[..*outputs]);
        }
    }
}
