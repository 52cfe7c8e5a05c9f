//! Minibatches: which rows, and their copies in tensors that are allocated once.

use super::columns::{Column, FETCH_AHEAD};
use super::memory::{Columns, MemoryError};
use super::slot_set::{Noted, RankedSet};
use super::sweep::Sweep;
use crate::random::{Randomness, Stream};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use tch::Tensor;
use xxhash_rust::xxh3::xxh3_64;

/// How often an info state that several samples of a minibatch share is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedInfo {
    /// For each of them.
    #[default]
    Each,
    /// Once for all of them.
    Once,
}

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
    distinct: Option<Distinct>,
}

/// The distinct info states of a minibatch.
struct Distinct {
    /// A slot that holds each.
    slots: Vec<u32>,
    /// By hash: the number of the info state first met with it.
    numbers: HashMap<u64, u32>,
    /// By sample: the number of its info state.
    found: Vec<u32>,
    /// The same as a tensor.
    of: Column<i32>,
    /// `of` at the length of the last gather.
    view: Tensor,
}

/// The columns at the length of the last gather.
struct Views {
    len: usize,
    infos: usize,
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
        let views = Views::narrowed(&columns, 0, 0);
        Ok(Self {
            rows,
            noted: Noted::default(),
            drawn: Vec::with_capacity(rows),
            columns,
            views,
            distinct: None,
        })
    }

    /// The same with info states that repeat given as `repeated` says: see [`Batch::info_of`].
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn with_repeated(mut self, repeated: RepeatedInfo) -> Result<Self, MemoryError> {
        self.distinct = match repeated {
            RepeatedInfo::Each => None,
            RepeatedInfo::Once => {
                let of = Columns::allocate(self.rows, 0, 0)?.iteration;
                Some(Distinct {
                    slots: Vec::with_capacity(self.rows),
                    numbers: HashMap::with_capacity(self.rows),
                    found: Vec::with_capacity(self.rows),
                    view: of.tensor().narrow(0, 0, 0),
                    of,
                })
            }
        };
        Ok(self)
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

    /// Info states `[len, info_len]`, f32; where [`Batch::info_of`] says whose, the distinct ones `[at most len, info_len]`.
    pub fn info(&self) -> &Tensor {
        &self.views.info
    }

    /// The row of [`Batch::info`] that each sample has, `[len]`, i32, where info states that repeat are given once; else `None`: sample `i` has
    /// row `i`.
    pub fn info_of(&self) -> Option<&Tensor> {
        self.distinct.as_ref().map(|distinct| &distinct.view)
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

    /// Finds the drawn info states that repeat, where they are to be given once.
    pub(super) fn find_repeated(&mut self, info: &Column<f32>) {
        if let Some(distinct) = &mut self.distinct {
            distinct.find(info, &self.drawn);
        }
    }

    /// Slots of the distinct info states among those drawn, and the number among them of each sample's; `None` where every sample has its own.
    pub(super) fn distinct_infos(&self) -> Option<(&[u32], &[u32])> {
        let distinct = self.distinct.as_ref()?;
        Some((&distinct.slots, &distinct.found))
    }

    /// Copies the drawn rows and sets the views to their number.
    pub(super) fn gather(&mut self, from: &Columns) {
        self.find_repeated(&from.info);
        let infos = match &self.distinct {
            None => &self.drawn,
            Some(distinct) => &distinct.slots,
        };
        from.info.gather(infos, &mut self.columns.info);
        from.target.gather(&self.drawn, &mut self.columns.target);
        from.legal.gather(&self.drawn, &mut self.columns.legal);
        from.iteration
            .gather(&self.drawn, &mut self.columns.iteration);
        let (len, infos) = (self.drawn.len(), infos.len());
        if (len, infos) != (self.views.len, self.views.infos) {
            self.views = Views::narrowed(&self.columns, len, infos);
        }
    }
}

impl Distinct {
    /// Finds the distinct ones among the info states in the slots `drawn`. Two that differ are never taken for one; should their hashes be the
    /// same, the second is given anew each time it comes.
    fn find(&mut self, info: &Column<f32>, drawn: &[u32]) {
        self.slots.clear();
        self.found.clear();
        self.numbers.clear();
        for (sample, &slot) in drawn.iter().enumerate() {
            if let Some(&next) = drawn.get(sample + FETCH_AHEAD) {
                info.prefetch(next as usize);
            }
            let row = info.row(slot as usize);
            let fresh = self.slots.len() as u32;
            let hash = xxh3_64(bytemuck::cast_slice(row));
            let known = *self.numbers.entry(hash).or_insert(fresh);
            let same = |&first: &u32| info.row(first as usize) == row;
            let number = match self.slots.get(known as usize) {
                Some(first) if same(first) => known,
                _ => {
                    self.slots.push(slot);
                    fresh
                }
            };
            self.found.push(number);
            self.of.write(sample, &[number as i32]);
        }
        self.view = self.of.tensor().narrow(0, 0, drawn.len() as i64);
    }
}

impl Views {
    fn narrowed(columns: &Columns, len: usize, infos: usize) -> Self {
        let first = |tensor: &Tensor| tensor.narrow(0, 0, len as i64);
        Self {
            len,
            infos,
            info: columns.info.tensor().narrow(0, 0, infos as i64),
            target: first(columns.target.tensor()),
            legal: first(columns.legal.tensor()),
            iteration: first(columns.iteration.tensor()),
        }
    }
}
