//! A network on a set of colours, packed.
//!
//! The colours of all rows are the rows of the shared layers. What the common values or the mean over colours add is computed once per row of the
//! batch, and the sums of its colours start from there.

use super::{
    PackedScratch, grown,
    layer::{LayerTask, PackedLayer, Rows, TILE},
    sparse::{SparseLayer, SparseTask},
};
use crate::network::{
    blocks::Blocks,
    color_set::{ColorSet, LAYER},
};
use pulp::{Arch, Simd, WithSimd};

/// Rows that go through all layers together: the activations of all their colours stay in a core's own cache.
const CHUNK: usize = 24;

/// A colour-set network with its weights in panels.
pub(super) struct PackedColorSet {
    info: Blocks,
    answer: Blocks,
    /// From the common values to what the first layer adds to every colour, and from a colour's own values, most of which are zero.
    first: (PackedLayer, SparseLayer),
    /// The other layers.
    layers: Vec<SetLayer>,
    /// The answers of a colour.
    color: Option<PackedLayer>,
    /// The hidden layer and the output layer of the common answers.
    common: Option<[PackedLayer; 2]>,
}

struct SetLayer {
    /// From a colour's own values; its bias is not used.
    own: PackedLayer,
    /// From what the colours share, and the bias.
    shared: PackedLayer,
}

impl PackedColorSet {
    /// Packs the parts of `network`, in its layout's order, for vectors of `lanes` numbers.
    pub(super) fn new(network: &ColorSet, parts: &[&[f32]], lanes: usize) -> Self {
        let (layers, heads) = parts.split_at(LAYER * network.num_layers);
        let (first, others) = layers.split_at(LAYER);
        let term = PackedLayer::new(first[1], first[2], lanes);
        let own = SparseLayer::new(first[0], network.info.block, term.width);
        let layers = others.chunks_exact(LAYER).map(|part| SetLayer {
            own: PackedLayer::new(part[0], &vec![0.0; part[2].len()], lanes),
            shared: PackedLayer::new(part[1], part[2], lanes),
        });
        let (common, color) = heads.split_at(network.common_parts());
        let pack = |part: &[&[f32]]| PackedLayer::new(part[0], part[1], lanes);
        Self {
            info: network.info.clone(),
            answer: network.answer.clone(),
            first: (term, own),
            layers: layers.collect(),
            color: (!color.is_empty()).then(|| pack(color)),
            common: (!common.is_empty()).then(|| [pack(&common[..2]), pack(&common[2..])]),
        }
    }

    pub(super) fn inputs(&self) -> usize {
        self.info.len()
    }

    pub(super) fn outputs(&self) -> usize {
        self.answer.len()
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
        let count = rows.len() / self.inputs();
        let chunks = count.div_ceil(CHUNK);
        let chunk = count.div_ceil(chunks).next_multiple_of(TILE);
        let parts = rows.chunks(chunk * self.inputs());
        for (rows, answers) in parts.zip(answers.chunks_mut(chunk * self.outputs())) {
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
    pub network: &'a PackedColorSet,
    pub rows: &'a [f32],
    pub scratch: &'a mut PackedScratch,
    pub answers: &'a mut [f32],
}

impl WithSimd for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PackedColorSet { info, layers, .. } = self.network;
        let (colors, width) = (info.colors, self.network.first.1.width);
        let count = self.rows.len() / info.len();
        let of_colors = count * colors * width;
        let PackedScratch {
            from,
            to,
            shared,
            term,
            arranged,
            set,
        } = self.scratch;
        let rows = arrange(info, self.rows, arranged);
        let (term, shared) = (grown(term, count * width), grown(shared, count * width));
        let task = FirstLayer {
            network: self.network,
            rows,
            count,
        };
        task.run(simd, set, term, grown(from, of_colors));
        mean(&from[..of_colors], colors, width, shared);
        for (number, layer) in layers.iter().enumerate() {
            let following = layers.get(number + 1);
            let task = LayerTask {
                layer: &layer.shared,
                rows: Rows::apart(shared, width),
                count,
                start: None,
                rectify: false,
                following: &layer.own.weights,
            };
            task.run(simd, term);
            let task = LayerTask {
                layer: &layer.own,
                rows: Rows::apart(from, width),
                count: count * colors,
                start: Some(by_row(term, colors, width)),
                rectify: true,
                following: following.map_or(&[], |layer| &layer.shared.weights),
            };
            task.run(simd, grown(to, of_colors));
            std::mem::swap(from, to);
            mean(&from[..of_colors], colors, width, shared);
        }
        let heads = Heads {
            network: self.network,
            own: Rows::apart(from, width),
            common: Rows::apart(shared, width),
            count,
        };
        heads.run(simd, to, term, self.answers);
    }
}

/// Some arranged rows through the first layer.
struct FirstLayer<'a> {
    network: &'a PackedColorSet,
    rows: &'a [f32],
    count: usize,
}

impl FirstLayer<'_> {
    /// Fills `out` (`[count * colors, width]`) by way of `term` (`[count, width]`).
    #[inline(always)]
    fn run<S: Simd>(self, simd: S, set: &mut Vec<u32>, term: &mut [f32], out: &mut [f32]) {
        let PackedColorSet { info, first, .. } = self.network;
        let (common, own) = first;
        let task = LayerTask {
            layer: common,
            rows: Rows::apart(&self.rows[info.colors * info.block..], info.len()),
            count: self.count,
            start: None,
            rectify: false,
            following: &own.weights,
        };
        task.run(simd, term);
        let task = SparseTask {
            layer: own,
            rows: Rows {
                values: self.rows,
                group: info.colors,
                outer: info.len(),
                inner: info.block,
            },
            count: self.count * info.colors,
            start: by_row(term, info.colors, own.width),
        };
        task.run(simd, set, out);
    }
}

/// The output layers of some rows.
struct Heads<'a> {
    network: &'a PackedColorSet,
    /// Hidden units of each colour.
    own: Rows<'a>,
    /// Their mean over colours.
    common: Rows<'a>,
    count: usize,
}

impl Heads<'_> {
    /// Fills `answers` by way of `to` and `pooled` (`[count, width]`).
    #[inline(always)]
    fn run<S: Simd>(self, simd: S, to: &mut Vec<f32>, pooled: &mut [f32], answers: &mut [f32]) {
        let (answer, count) = (&self.network.answer, self.count);
        let colors = answer.colors;
        let task = |layer, rows, count, rectify| LayerTask {
            layer,
            rows,
            count,
            start: None,
            rectify,
            following: &[],
        };
        if let Some(layer) = &self.network.color {
            let out = grown(to, count * colors * layer.width);
            task(layer, self.own, count * colors, false).run(simd, out);
            for (row, out) in answers
                .chunks_exact_mut(answer.len())
                .zip(out.chunks_exact(colors * layer.width))
            {
                for (color, values) in out.chunks_exact(layer.width).enumerate() {
                    place(answer, row, color * answer.block, &values[..answer.block]);
                }
            }
        }
        if let Some([pool, layer]) = &self.network.common {
            task(pool, self.common, count, true).run(simd, pooled);
            let out = grown(to, count * layer.width);
            task(layer, Rows::apart(pooled, pool.width), count, false).run(simd, out);
            for (row, values) in answers
                .chunks_exact_mut(answer.len())
                .zip(out.chunks_exact(layer.width))
            {
                place(answer, row, colors * answer.block, &values[..answer.common]);
            }
        }
    }
}

/// Rows of `width` numbers of which each is that of `colors` successive colours.
fn by_row(values: &[f32], colors: usize, width: usize) -> Rows<'_> {
    Rows {
        values,
        group: colors,
        outer: width,
        inner: 0,
    }
}

/// The rows with all blocks before the common values.
fn arrange<'a>(info: &Blocks, rows: &'a [f32], arranged: &'a mut Vec<f32>) -> &'a [f32] {
    let Some(order) = info.order() else {
        return rows;
    };
    let arranged = grown(arranged, rows.len());
    for (to, from) in arranged
        .chunks_exact_mut(order.len())
        .zip(rows.chunks_exact(order.len()))
    {
        for (to, &index) in to.iter_mut().zip(order) {
            *to = from[index];
        }
    }
    arranged
}

/// Puts `values`, which stand from `start` on in an arranged answer, where they belong in `row`.
#[inline(always)]
fn place(answer: &Blocks, row: &mut [f32], start: usize, values: &[f32]) {
    match answer.order() {
        None => row[start..][..values.len()].copy_from_slice(values),
        Some(order) => {
            for (&index, &value) in order[start..].iter().zip(values) {
                row[index] = value;
            }
        }
    }
}

/// The mean of each `colors` successive rows of `width` numbers.
#[inline(always)]
fn mean(rows: &[f32], colors: usize, width: usize, means: &mut [f32]) {
    let share = 1.0 / colors as f32;
    let groups = rows.chunks_exact(colors * width);
    for (mean, group) in means.chunks_exact_mut(width).zip(groups) {
        let (first, others) = group.split_at(width);
        mean.copy_from_slice(first);
        for row in others.chunks_exact(width) {
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        mean.iter_mut().for_each(|sum| *sum *= share);
    }
}
