//! Pages of rows to come, made ready on a thread of their own.
//!
//! The first touch of a page costs more than the copy into it: the system clears it, and under a hypervisor the host may have to find it
//! first (measured: 0.5 GB/s into pages that the host has not given yet, 5 GB/s into those that only have to be cleared, 7 GB/s
//! into ready ones). So a helper stays a few thousand rows ahead of the fill mark, and whoever adds samples finds ready pages.

use super::columns::Pages;
use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread::{self, JoinHandle},
};

/// Rows made ready ahead of the fill mark: 20 MB in the default encoding.
const ROWS_AHEAD: usize = 16_384;
/// Rows between two words to the helper.
const STRIDE: usize = 512;
/// Memories below this size are not worth a thread.
const LEAST_BYTES: usize = 64 << 20;

/// The helper of one memory. Dropping it ends the thread, after a few pages at most.
pub(super) struct Ahead {
    /// To the helper: rows that shall be ready.
    wanted: Option<Sender<usize>>,
    helper: Option<JoinHandle<()>>,
    /// The row at whose arrival the helper hears next.
    next: usize,
    capacity: usize,
}

impl Ahead {
    /// A helper for columns of `capacity` rows; none where they are small or no thread can be had: then pages come as they are touched.
    pub fn start(columns: Vec<Pages>, capacity: usize) -> Self {
        let bytes: usize = columns.iter().map(Pages::bytes).sum();
        let (wanted, rows) = mpsc::channel();
        let helper = if bytes < LEAST_BYTES {
            None
        } else {
            let builder = thread::Builder::new().name("replay pages".into());
            builder.spawn(move || populate(columns, &rows)).ok()
        };
        Self {
            wanted: helper.is_some().then_some(wanted),
            helper,
            next: 0,
            capacity,
        }
    }

    /// Notes that `row` is about to be written.
    #[inline]
    pub fn reached(&mut self, row: usize) {
        if row >= self.next {
            self.next = row + STRIDE;
            let rows = (row + STRIDE + ROWS_AHEAD).min(self.capacity);
            // A helper that has ended could not help: see `populate`.
            if let Some(wanted) = &self.wanted {
                let _ = wanted.send(rows);
            }
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(helper) = self.helper.take() {
            drop(helper.join());
        }
    }
}

/// Makes ready what is asked for, until nobody can ask any more or the system does not know how.
fn populate(mut columns: Vec<Pages>, wanted: &Receiver<usize>) {
    while let Ok(rows) = wanted.recv() {
        let rows = wanted.try_iter().last().unwrap_or(rows);
        if !columns.iter_mut().all(|pages| pages.populate(rows)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::columns::Column;

    /// Rows of 1 KB in 128 MB.
    const CAPACITY: usize = 128 << 10;

    #[test]
    #[cfg(target_os = "linux")]
    fn pages_are_ready_ahead_and_hold_what_was_written() {
        let mut column = Column::<f32>::allocate(CAPACITY, 256).unwrap();
        column.write(0, &[1.5; 256]);
        let mut pages = column.pages();
        let writer = std::thread::spawn(move || {
            for row in 1..4_096 {
                column.write(row, &[row as f32; 256]);
            }
            column
        });
        assert!(pages.populate(4_096) && pages.populate(CAPACITY));
        let column = writer.join().unwrap();
        assert_eq!(column.row(0), [1.5; 256]);
        for row in 1..4_096 {
            assert_eq!(column.row(row), [row as f32; 256], "row {row}");
        }
    }

    #[test]
    fn the_helper_hears_of_strides_up_to_the_capacity_and_ends_with_its_memory() {
        let (wanted, rows) = mpsc::channel();
        let mut ahead = Ahead {
            wanted: Some(wanted),
            helper: None,
            next: 0,
            capacity: 20_000,
        };
        (0..5_000).for_each(|row| ahead.reached(row));
        drop(ahead);
        let heard: Vec<_> = rows.iter().collect();
        assert_eq!(heard[..2], [STRIDE + ROWS_AHEAD, 2 * STRIDE + ROWS_AHEAD]);
        assert_eq!((heard.len(), heard[9]), (10, 20_000));
        let column = Column::<f32>::allocate(CAPACITY, 256).unwrap();
        let mut ahead = Ahead::start(vec![column.pages()], CAPACITY);
        assert!(ahead.helper.is_some());
        ahead.reached(0);
        drop(ahead);
    }
}
