//! A replay memory: columns filled by reservoir sampling.

mod journaled;
mod mirrored;

use super::ahead::Ahead;
use super::columns::Column;
use super::held_out::HeldOut;
use super::minibatch::Batch;
use super::mirror::Mirror;
use super::slot_set::{Noted, RankedSet};
use super::sweep::Sweep;
use crate::game::ActionSet;
use crate::random::{Randomness, Stream};

/// One recorded decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The info state `[info_len]`.
    pub info: &'a [f32],
    /// Advantages in points, or the policy `[actions]`.
    pub target: &'a [f32],
    /// The legal actions, in the encoding's numbers.
    pub legal: ActionSet,
    /// The iteration that recorded it.
    pub iteration: u32,
    /// Whether an action that commits the mover to something new was legal.
    pub first_open: bool,
}

/// Why a memory or a batch could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The columns do not fit.
    #[error(
        "{gib:.1} GiB for {rows} samples of {values} values could not be reserved ({reason}): lower \
         replay.advantage_capacity and replay.strategy_capacity (or the batch sizes under optimization)"
    )]
    Allocation {
        /// Samples asked for.
        rows: usize,
        /// Info state and target values of a sample.
        values: usize,
        /// Size of all columns.
        gib: f64,
        /// What the allocator said.
        reason: String,
    },
}

/// The columns of a memory or of a batch.
pub(super) struct Columns {
    pub info: Column<f32>,
    pub target: Column<f32>,
    pub legal: Column<bool>,
    pub iteration: Column<i32>,
}

/// Up to `capacity` samples, each of all samples seen so far equally likely to be among them.
///
/// Info states `[capacity, info_len]` f32, targets `[capacity, actions]` f32, legal actions `[capacity, actions]` bool and
/// iterations `[capacity]` i32 are one CPU tensor each, allocated once. Pages that no sample reached cost nothing but for those that are made ready
/// for the next 16,384 samples.
pub struct Memory {
    columns: Columns,
    ahead: Ahead,
    capacity: usize,
    info_len: usize,
    actions: usize,
    size: usize,
    seen: u64,
    stream: Stream,
    held_out: HeldOut,
    /// First-open slots of the fitting side, and those held out.
    first_open: [RankedSet; 2],
    changes: Option<Noted>,
    mirror: Option<Mirror>,
}

impl Memory {
    /// An empty memory; `stream` decides the replacements.
    ///
    /// # Errors
    /// When the address space cannot be had. Memory itself is taken as samples arrive.
    ///
    /// # Panics
    /// When there are more actions than an [`ActionSet`] can name.
    pub fn new(
        capacity: usize,
        info_len: usize,
        actions: usize,
        stream: Stream,
    ) -> Result<Self, MemoryError> {
        assert!(actions <= ActionSet::CAPACITY, "{actions} actions");
        let columns = Columns::allocate(capacity, info_len, actions)?;
        let pages = vec![
            columns.info.pages(),
            columns.target.pages(),
            columns.legal.pages(),
            columns.iteration.pages(),
        ];
        Ok(Self {
            columns,
            ahead: Ahead::start(pages, capacity),
            capacity,
            info_len,
            actions,
            size: 0,
            seen: 0,
            stream,
            held_out: HeldOut::NONE,
            first_open: [RankedSet::new(capacity), RankedSet::new(capacity)],
            changes: None,
            mirror: None,
        })
    }

    /// The memory with `held_out` kept out of [`Memory::draw`] and [`Memory::draw_stratified`].
    ///
    /// # Panics
    /// When there are samples already.
    pub fn with_held_out(mut self, held_out: HeldOut) -> Self {
        assert!(
            self.is_empty(),
            "the sides of a memory are set before its first sample"
        );
        self.held_out = held_out;
        self
    }

    /// Forgets every sample. What was allocated stays.
    ///
    /// # Panics
    /// When a journal follows the memory, which cannot tell of this.
    pub fn clear(&mut self) {
        assert!(self.changes.is_none(), "a memory with a journal is cleared");
        self.size = 0;
        self.seen = 0;
        self.first_open = [RankedSet::new(self.capacity), RankedSet::new(self.capacity)];
        if let Some(mirror) = &mut self.mirror {
            mirror.clear();
        }
    }

    /// Says that some `samples` more are about to come: their memory is made ready in the background.
    pub fn expect(&mut self, samples: usize) {
        self.ahead.expect(self.size.saturating_add(samples));
    }

    /// Adds a sample and tells the slot it was written to; `None` when it was passed over.
    ///
    /// Algorithm R (Vitter, Random sampling with a reservoir, 1985): sample number `seen` replaces a uniformly chosen slot with
    /// probability `capacity / seen`. A memory of capacity 0 stores nothing and draws nothing.
    ///
    /// # Panics
    /// When a row does not have the memory's length.
    pub fn add(&mut self, sample: &Sample<'_>) -> Option<usize> {
        self.seen += 1;
        let slot = if self.size < self.capacity {
            self.size
        } else if self.capacity == 0 {
            return None;
        } else {
            self.stream.index(self.seen as usize)
        };
        if slot >= self.capacity {
            return None;
        }
        self.put(slot, sample);
        Some(slot)
    }

    /// Writes a sample to a slot in use or to the next free one.
    pub(super) fn put(&mut self, slot: usize, sample: &Sample<'_>) {
        debug_assert!(self.actions == 128 || sample.legal.bits() >> self.actions == 0);
        let legal = sample.legal.bits();
        self.ahead.reached(slot);
        self.columns.prefetch(slot);
        self.columns.info.write(slot, sample.info);
        self.columns.target.write(slot, sample.target);
        self.columns
            .legal
            .write_with(slot, |action| legal >> action & 1 == 1);
        let iteration = i32::try_from(sample.iteration).unwrap_or(i32::MAX);
        self.columns.iteration.write(slot, &[iteration]);
        let side = usize::from(self.held_out.holds(slot));
        self.first_open[side].set(slot, sample.first_open);
        self.size = self.size.max(slot + 1);
        if let Some(changes) = &mut self.changes {
            changes.insert(slot as u32);
        }
        if let Some(mirror) = &mut self.mirror {
            mirror.changed(slot);
            if mirror.is_behind(self.size) {
                self.update_mirror();
            }
        }
    }

    /// The sample in a slot below [`Memory::len`].
    ///
    /// # Panics
    /// When no sample was written there.
    pub fn sample(&self, slot: usize) -> Sample<'_> {
        let legal = self.columns.legal.row(slot).iter().enumerate();
        Sample {
            info: self.columns.info.row(slot),
            target: self.columns.target.row(slot),
            legal: ActionSet::from_bits(legal.fold(0, |bits, (action, &legal)| {
                bits | u128::from(legal) << action
            })),
            iteration: self.columns.iteration.row(slot)[0].unsigned_abs(),
            first_open: self.first_open.iter().any(|side| side.contains(slot)),
        }
    }

    /// Draws `min(batch.rows(), len)` distinct samples, every set of them equally likely. [`Memory::gather`] then copies them.
    ///
    /// Of a memory with samples held out, as here and in [`Memory::draw_stratified`], it draws from the others, and `len` is their number.
    pub fn draw(&self, stream: &mut Stream, batch: &mut Batch) {
        batch.draw(self.fitting_len(), stream, |rank| {
            self.held_out.fitting_slot(rank)
        });
    }

    /// A sweep of the samples that fits may draw, as long as no more are added.
    pub fn start_sweep(&self, stream: &mut Stream) -> Sweep {
        Sweep::new(self.fitting_len(), stream)
    }

    /// Takes the next `min(batch.rows(), len)` samples of `sweep`, which [`Memory::start_sweep`] gave since the last sample was added.
    pub fn sweep(&self, sweep: &mut Sweep, batch: &mut Batch) {
        batch.sweep(self.fitting_len(), sweep, |rank| {
            self.held_out.fitting_slot(rank)
        });
    }

    /// Draws a share of first-open samples, `max(1, round_half_even(batch * fraction))` of them or all there are, fills up
    /// from the whole memory (which may repeat a slot), and shuffles. A plain draw when `fraction` is 0 or there is none.
    pub fn draw_stratified(&self, fraction: f64, stream: &mut Stream, batch: &mut Batch) {
        let [first_open, _] = &self.first_open;
        let slot = |rank| self.held_out.fitting_slot(rank);
        batch.draw_stratified(self.fitting_len(), slot, first_open, fraction, stream);
    }

    /// Draws `min(batch.rows(), held_out_len)` distinct samples among those held out, every set of them equally likely.
    pub fn draw_held_out(&self, stream: &mut Stream, batch: &mut Batch) {
        batch.draw(self.held_out_len(), stream, |rank| {
            self.held_out.held_out_slot(rank)
        });
    }

    /// Copies the drawn samples into the batch's tensors.
    ///
    /// # Panics
    /// When the batch was drawn from a larger memory or has rows of other lengths.
    pub fn gather(&self, batch: &mut Batch) {
        batch.gather(&self.columns);
    }

    /// [`Memory::draw`], then [`Memory::gather`].
    pub fn sample_into(&self, stream: &mut Stream, batch: &mut Batch) {
        self.draw(stream, batch);
        self.gather(batch);
    }

    /// [`Memory::draw_stratified`], then [`Memory::gather`].
    pub fn sample_stratified_into(&self, fraction: f64, stream: &mut Stream, batch: &mut Batch) {
        self.draw_stratified(fraction, stream, batch);
        self.gather(batch);
    }

    /// The samples held.
    pub fn len(&self) -> usize {
        self.size
    }

    /// The samples among them that are kept out of fits.
    pub fn held_out_len(&self) -> usize {
        self.held_out.count(self.size)
    }

    /// The samples among them that fits may draw.
    pub fn fitting_len(&self) -> usize {
        self.size - self.held_out_len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The samples it can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Values of an info state.
    pub fn info_len(&self) -> usize {
        self.info_len
    }

    /// Values of a target.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The samples added so far, held or not.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The held samples marked first-open.
    pub fn first_open_len(&self) -> usize {
        self.first_open.iter().map(RankedSet::len).sum()
    }

    /// Bytes of memory per held sample, bookkeeping included (rounded up).
    pub fn bytes_per_sample(&self) -> usize {
        bytes_per_row(self.info_len, self.actions) + 1
    }

    /// Bytes of address space that all columns and the bookkeeping take once `capacity` samples are there.
    pub fn reserved_bytes(&self) -> usize {
        let [fitting, held_out] = &self.first_open;
        let held_out = if self.held_out == HeldOut::NONE {
            0
        } else {
            held_out.bytes()
        };
        self.columns.bytes() + fitting.bytes() + held_out
    }

    /// Where the stream of replacements stands.
    pub fn stream_position(&self) -> u128 {
        self.stream.position()
    }
}

impl Columns {
    pub fn allocate(rows: usize, info_len: usize, actions: usize) -> Result<Self, MemoryError> {
        let values = info_len.saturating_add(actions);
        let failed = |reason: String| MemoryError::Allocation {
            rows,
            values,
            gib: rows as f64 * bytes_per_row(info_len, actions) as f64 / (1u64 << 30) as f64,
            reason,
        };
        // Slots are 32-bit numbers, and torch counts bytes in signed 64 bits.
        let bytes = rows as u128 * (values as u128 + 1) * 4;
        if u32::try_from(rows).is_err() || i64::try_from(bytes).is_err() {
            return Err(failed("more than can be addressed".into()));
        }
        // Torch appends a stack trace to its message.
        let first_line = |error: tch::TchError| {
            failed(error.to_string().lines().next().unwrap_or_default().into())
        };
        Ok(Self {
            info: Column::allocate(rows, info_len).map_err(first_line)?,
            target: Column::allocate(rows, actions).map_err(first_line)?,
            legal: Column::allocate(rows, actions).map_err(first_line)?,
            iteration: Column::allocate_flat(rows).map_err(first_line)?,
        })
    }

    /// Bytes of all four columns.
    fn bytes(&self) -> usize {
        [
            self.info.tensor(),
            self.target.tensor(),
            self.legal.tensor(),
            self.iteration.tensor(),
        ]
        .into_iter()
        .map(|tensor| tensor.numel() * tensor.kind().elt_size_in_bytes())
        .sum()
    }

    /// Starts fetching a row of every column, so that their misses overlap.
    fn prefetch(&self, row: usize) {
        self.info.prefetch(row);
        self.target.prefetch(row);
        self.legal.prefetch(row);
        self.iteration.prefetch(row);
    }
}

/// Bytes of a row in the four columns.
fn bytes_per_row(info_len: usize, actions: usize) -> usize {
    let values = info_len.saturating_add(actions);
    values.saturating_mul(size_of::<f32>()) + actions * size_of::<bool>() + size_of::<i32>()
}
