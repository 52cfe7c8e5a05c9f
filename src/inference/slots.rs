//! Slots: the rows that walks and the executor share, and who may touch them when.
//!
//! A slot's rows belong to exactly one side, named by its state:
//!
//! | state | rows belong to | left by |
//! |---|---|---|
//! | `IDLE`, `ANSWERED`, `FAILED` | the lease | the lease, handing out a [`Ticket`] |
//! | `WAITING` | whoever holds the ticket | the ticket's answer; a dropped lease (`ABANDONED`) |
//! | `ABANDONED` | whoever holds the ticket | the ticket, which frees the slot |
//!
//! A lease is the only one of its slot and a ticket exists only while its slot is `WAITING` or `ABANDONED`, so two sides never
//! touch one row at once. State changes release, state reads acquire: what one side wrote, the other sees.

use super::{Head, shared::Shared};
use futures::task::AtomicWaker;
use std::{
    cell::UnsafeCell,
    future::poll_fn,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll},
};

const IDLE: u8 = 0;
const WAITING: u8 = 1;
const ANSWERED: u8 = 2;
const FAILED: u8 = 3;
const ABANDONED: u8 = 4;

/// The executor is gone: its network failed, or the run is being stopped. The walk ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the inference executor has stopped")]
pub struct Stopped;

/// Values per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// Values in an info state.
    pub info_len: usize,
    /// Values in an answer.
    pub actions: usize,
}

/// Rows for `capacity` slots, contiguous per kind, allocated in blocks that never move.
pub(super) struct Slots {
    shape: RowShape,
    info: Box<[UnsafeCell<f32>]>,
    answers: Box<[UnsafeCell<f32>]>,
    cells: Box<[Cell]>,
    free: Mutex<Vec<u32>>,
}

/// The shared part of a slot, on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Cell {
    state: AtomicU8,
    waker: AtomicWaker,
}

// SAFETY: the rows behind the `UnsafeCell`s are touched only by the side that the slot's state names (module documentation).
unsafe impl Sync for Slots {}
// SAFETY: plain memory; nothing in it is bound to a thread.
unsafe impl Send for Slots {}

impl Slots {
    pub(super) fn new(capacity: usize, shape: RowShape) -> Self {
        let rows = |len: usize| (0..capacity * len).map(|_| UnsafeCell::new(0.0)).collect();
        Self {
            shape,
            info: rows(shape.info_len),
            answers: rows(shape.actions),
            cells: (0..capacity).map(|_| Cell::default()).collect(),
            free: Mutex::new((0..capacity as u32).rev().collect()),
        }
    }

    pub(super) fn shape(&self) -> RowShape {
        self.shape
    }

    fn free_list(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, slot: u32) -> &Cell {
        &self.cells[slot as usize]
    }

    fn release(&self, slot: u32) {
        self.cell(slot).state.store(IDLE, Ordering::Release);
        self.free_list().push(slot);
    }
}

/// The row of `slot` in `rows`.
fn row(rows: &[UnsafeCell<f32>], slot: u32, len: usize) -> &[UnsafeCell<f32>] {
    &rows[slot as usize * len..][..len]
}

/// The right and the duty to answer one waiting slot. Never copied; see the module documentation.
pub(super) struct Ticket {
    slot: u32,
    pub(super) head: Head,
}

impl Ticket {
    /// Copies the waiting info state to `row` (`[info_len]`, or as much of its beginning as `row` holds).
    pub(super) fn copy_info(&self, slots: &Slots, target: &mut [f32]) {
        let cells = row(&slots.info, self.slot, slots.shape.info_len);
        // SAFETY: a ticket exists, so the slot is WAITING or ABANDONED and its rows are the ticket's; `UnsafeCell<f32>` has f32's layout.
        let info = unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<f32>(), cells.len()) };
        target.copy_from_slice(&info[..target.len()]);
    }

    /// Writes the answer (`[actions]`, or a beginning of it). The walk learns of it through [`Ticket::wake`].
    pub(super) fn write_answer(&mut self, slots: &Slots, answer: &[f32]) {
        let cells = row(&slots.answers, self.slot, slots.shape.actions);
        assert!(answer.len() <= cells.len(), "the length of an answer");
        for (cell, &value) in cells.iter().zip(answer) {
            // SAFETY: as in `copy_info`; the ticket is borrowed mutably, so no other reference into the row is alive.
            unsafe { *cell.get() = value };
        }
    }

    /// Hands the slot back to its walk, answered.
    pub(super) fn wake(self, slots: &Slots) {
        self.finish(slots, ANSWERED);
    }

    /// Hands the slot back to its walk, which ends with [`Stopped`].
    pub(super) fn fail(self, slots: &Slots) {
        self.finish(slots, FAILED);
    }

    fn finish(self, slots: &Slots, state: u8) {
        let cell = slots.cell(self.slot);
        let handed =
            cell.state
                .compare_exchange(WAITING, state, Ordering::AcqRel, Ordering::Acquire);
        match handed {
            Ok(_) => cell.waker.wake(),
            Err(_abandoned) => slots.release(self.slot),
        }
    }
}

/// One leased slot: a row for the info state, a row for the answer. Dropping it gives the slot back.
pub struct Lease {
    shared: Arc<Shared>,
    slot: u32,
}

impl Lease {
    /// Leases a free slot, `None` when all are taken.
    pub(super) fn new(shared: &Arc<Shared>) -> Option<Self> {
        let slot = shared.slots.free_list().pop()?;
        shared.joined();
        Some(Self {
            shared: Arc::clone(shared),
            slot,
        })
    }

    /// Leases one more slot, `None` when none is free. The executor waits for it as for any other: it is to be held only while something
    /// is asked in it or about to be.
    pub fn another(&self) -> Option<Self> {
        Self::new(&self.shared)
    }

    /// The rows are the lease's exactly when no ticket is out.
    fn assert_owned(&self) {
        let state = self
            .shared
            .slots
            .cell(self.slot)
            .state
            .load(Ordering::Acquire);
        assert!(
            state != WAITING,
            "a slot's rows were touched while its request was in flight"
        );
    }

    /// The info state row (`[info_len]`) to encode into.
    pub fn info_mut(&mut self) -> &mut [f32] {
        self.assert_owned();
        let slots = &self.shared.slots;
        let cells = row(&slots.info, self.slot, slots.shape.info_len);
        let first = UnsafeCell::raw_get(cells.as_ptr());
        // SAFETY: no ticket is out, so the row is the lease's, and the lease is borrowed mutably for as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(first, cells.len()) }
    }

    /// The info state row (`[info_len]`).
    pub fn info(&self) -> &[f32] {
        self.assert_owned();
        let slots = &self.shared.slots;
        let cells = row(&slots.info, self.slot, slots.shape.info_len);
        // SAFETY: as in `info_mut`, shared.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<f32>(), cells.len()) }
    }

    /// The answer to the last request (`[actions]`): advantages or logits, illegal entries included.
    pub fn answer(&self) -> &[f32] {
        self.assert_owned();
        let slots = &self.shared.slots;
        let cells = row(&slots.answers, self.slot, slots.shape.actions);
        // SAFETY: as in `info`.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<f32>(), cells.len()) }
    }

    /// Asks `head` about the info state row; suspends until the batch it joins has run. The answer is then in
    /// [`Lease::answer`].
    ///
    /// # Errors
    /// [`Stopped`] when the executor failed or was shut down.
    pub async fn request(&mut self, head: Head) -> Result<(), Stopped> {
        let mut asked = false;
        poll_fn(move |context| {
            if asked {
                return self.poll_answer(context);
            }
            asked = true;
            match self.ask(head, context) {
                Ok(()) => Poll::Pending,
                Err(Stopped) => Poll::Ready(Err(Stopped)),
            }
        })
        .await
    }

    /// Asks `head` about the info state row without waiting: [`Lease::poll_answer`] says when the answer is there. For whoever waits in
    /// several slots at once.
    ///
    /// # Errors
    /// [`Stopped`] when the executor failed or was shut down.
    ///
    /// # Panics
    /// When a request is in flight.
    pub fn ask(&mut self, head: Head, context: &Context<'_>) -> Result<(), Stopped> {
        self.assert_owned();
        let cell = self.shared.slots.cell(self.slot);
        cell.waker.register(context.waker());
        cell.state.store(WAITING, Ordering::Release);
        self.shared.submit(Ticket {
            slot: self.slot,
            head,
        })
    }

    /// Whether the answer to the request made by [`Lease::ask`] is there; if not, the task of `context` is woken when it is.
    ///
    /// # Errors
    /// As [`Lease::request`].
    pub fn poll_answer(&self, context: &Context<'_>) -> Poll<Result<(), Stopped>> {
        let cell = self.shared.slots.cell(self.slot);
        let read = || match cell.state.load(Ordering::Acquire) {
            ANSWERED => Poll::Ready(Ok(())),
            FAILED => Poll::Ready(Err(Stopped)),
            _ => Poll::Pending,
        };
        if read().is_ready() {
            return read();
        }
        // Polled for another reason than the answer: the waker may be a new one, and the answer may come meanwhile.
        cell.waker.register(context.waker());
        read()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let slots = &self.shared.slots;
        let cell = slots.cell(self.slot);
        let abandoned =
            cell.state
                .compare_exchange(WAITING, ABANDONED, Ordering::AcqRel, Ordering::Acquire);
        if abandoned.is_err() {
            slots.release(self.slot);
        }
        self.shared.left();
    }
}

#[cfg(test)]
mod tests;
