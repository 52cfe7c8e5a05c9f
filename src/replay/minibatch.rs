//! Minibatches: which rows, and their copies in tensors that are allocated once.

use super::memory::{Columns, MemoryError};
use super::slot_set::{Noted, RankedSet};
use super::sweep::Sweep;
use crate::random::{Randomness, Stream};
use tch::Tensor;

/// The rows of one minibatch, and where they are copied to. Made once and refilled for every step.
///
/// [`Batch::info`] and its siblings are views of the same memory at the length of the last gather; the next gather
/// overwrites what they show. A step that still needs the rows (its backward pass) must be over by then.
pub struct Batch {
    rows: usize,
    noted: Noted,
    drawn: Vec<u32>,
    columns: Columns,
    views: Views,
}

/// The columns at the length of the last gather.
struct Views {
    len: usize,
    info: Tensor,
    target: Tensor,
    legal: Tensor,
    iteration: Tensor,
}

impl Batch {
    /// Room for `rows` samples of `info_len` and `actions` values.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn new(rows: usize, info_len: usize, actions: usize) -> Result<Self, MemoryError> {
        let columns = Columns::allocate(rows, info_len, actions)?;
        let views = Views::narrowed(&columns, 0);
        Ok(Self {
            rows,
            noted: Noted::default(),
            drawn: Vec::with_capacity(rows),
            columns,
            views,
        })
    }

    /// The most samples it holds: the configured batch size.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The samples of the last gather.
    pub fn len(&self) -> usize {
        self.views.len
    }

    /// Whether the last gather found no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Info states `[len, info_len]`, f32.
    pub fn info(&self) -> &Tensor {
        &self.views.info
    }

    /// Targets `[len, actions]`, f32.
    pub fn target(&self) -> &Tensor {
        &self.views.target
    }

    /// Legal actions `[len, actions]`, bool.
    pub fn legal(&self) -> &Tensor {
        &self.views.legal
    }

    /// Iterations that recorded the samples `[len]`, i32.
    pub fn iteration(&self) -> &Tensor {
        &self.views.iteration
    }

    /// The memory slots of the last draw, in batch order.
    pub fn slots(&self) -> &[u32] {
        &self.drawn
    }

    /// Draws `min(rows, len)` distinct ones of `len` slots, of which `slot` tells the k-th.
    pub(super) fn draw(&mut self, len: usize, stream: &mut Stream, slot: impl Fn(u32) -> u32) {
        self.drawn.clear();
        self.draw_more(self.rows.min(len), len, stream, slot);
    }

    /// Takes the next `min(rows, len)` of `len` slots, of which `slot` tells the k-th, in the order of `sweep`, which is one of `len`.
    pub(super) fn sweep(&mut self, len: usize, sweep: &mut Sweep, slot: impl Fn(u32) -> u32) {
        self.drawn.clear();
        self.drawn.extend(sweep.take(self.rows.min(len)).map(slot));
    }

    /// Draws about `fraction` of the batch among `first_open`, the rest among all `len` slots, and shuffles.
    pub(super) fn draw_stratified(
        &mut self,
        len: usize,
        slot: impl Fn(u32) -> u32,
        first_open: &RankedSet,
        fraction: f64,
        stream: &mut Stream,
    ) {
        if fraction <= 0.0 || first_open.len() == 0 {
            return self.draw(len, stream, slot);
        }
        self.drawn.clear();
        let batch = self.rows.min(len);
        let share = (batch as f64 * fraction).round_ties_even() as usize;
        let wanted = share.max(1).min(batch).min(first_open.len());
        self.draw_more(wanted, first_open.len(), stream, |rank| {
            first_open.select(rank as usize) as u32
        });
        self.draw_more(batch - wanted, len, stream, slot);
        for last in (1..self.drawn.len()).rev() {
            self.drawn.swap(last, stream.index(last + 1));
        }
    }

    /// Appends `count` distinct numbers below `bound`, every set of them equally likely (Floyd's algorithm), as slots.
    fn draw_more(
        &mut self,
        count: usize,
        bound: usize,
        stream: &mut Stream,
        slot: impl Fn(u32) -> u32,
    ) {
        self.noted.clear();
        for last in bound - count..bound {
            if !self.noted.insert(stream.index(last + 1) as u32) {
                self.noted.insert(last as u32);
            }
        }
        self.drawn
            .extend(self.noted.slots().iter().map(|&number| slot(number)));
    }

    /// Copies the drawn rows and sets the views to their number.
    pub(super) fn gather(&mut self, from: &Columns) {
        from.info.gather(&self.drawn, &mut self.columns.info);
        from.target.gather(&self.drawn, &mut self.columns.target);
        from.legal.gather(&self.drawn, &mut self.columns.legal);
        from.iteration
            .gather(&self.drawn, &mut self.columns.iteration);
        if self.drawn.len() != self.views.len {
            self.views = Views::narrowed(&self.columns, self.drawn.len());
        }
    }
}

impl Views {
    fn narrowed(columns: &Columns, len: usize) -> Self {
        let first = |tensor: &Tensor| tensor.narrow(0, 0, len as i64);
        Self {
            len,
            info: first(columns.info.tensor()),
            target: first(columns.target.tensor()),
            legal: first(columns.legal.tensor()),
            iteration: first(columns.iteration.tensor()),
        }
    }
}
