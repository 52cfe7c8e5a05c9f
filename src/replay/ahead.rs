//! Pages of rows to come, made ready on a thread of their own.
//!
//! The first touch of a page costs more than the copy into it: the system clears it, and under a hypervisor the host may have to find it
//! first (seen on one machine: 0.5 to 5 GB/s into fresh pages, 6 to 9 GB/s into ready ones). So a thread stays ahead of the fill mark, and
//! whoever adds samples finds ready pages: a few thousand rows while samples arrive, and what is expected next in the time between.

use super::columns::Pages;
use std::{
    sync::mpsc::{self, Receiver, Sender, TryRecvError},
    thread::{self, JoinHandle},
};

/// Rows made ready ahead of the fill mark: 20 MB in the default encoding.
const ROWS_AHEAD: usize = 16_384;
/// Rows between two words to the thread.
const STRIDE: usize = 512;
/// Rows made ready at a time: some 5 MB.
const PIECE: usize = 4_096;
/// Memories below this size are not worth a thread.
const LEAST_BYTES: usize = 64 << 20;

/// The thread of one memory. Dropping it ends the thread, after a piece at most.
pub(super) struct Ahead {
    /// To the thread: rows that shall be ready.
    wanted: Option<Sender<usize>>,
    thread: Option<JoinHandle<()>>,
    /// The row at whose arrival the thread hears next.
    next: usize,
    capacity: usize,
}

impl Ahead {
    /// A thread for columns of `capacity` rows; none where they are small or no thread can be had: then pages come as they are touched.
    pub fn start(columns: Vec<Pages>, capacity: usize) -> Self {
        let bytes: usize = columns.iter().map(Pages::bytes).sum();
        let (wanted, rows) = mpsc::channel();
        let thread = if bytes < LEAST_BYTES {
            None
        } else {
            let builder = thread::Builder::new().name("replay pages".into());
            builder.spawn(move || populate(columns, &rows)).ok()
        };
        Self {
            wanted: thread.is_some().then_some(wanted),
            thread,
            next: 0,
            capacity,
        }
    }

    /// Notes that rows up to `row` are expected soon.
    pub fn expect(&mut self, row: usize) {
        if let Some(wanted) = &self.wanted {
            // As in `reached`.
            let _ = wanted.send(row.min(self.capacity));
        }
    }

    /// Notes that `row` is about to be written.
    #[inline]
    pub fn reached(&mut self, row: usize) {
        if row >= self.next {
            self.next = row + STRIDE;
            let rows = (row + STRIDE + ROWS_AHEAD).min(self.capacity);
            // A thread that has ended could not help: see `populate`.
            if let Some(wanted) = &self.wanted {
                let _ = wanted.send(rows);
            }
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Makes ready what is asked for, until nobody can ask any more or the system does not know how.
fn populate(mut columns: Vec<Pages>, wanted: &Receiver<usize>) {
    let (mut ready, mut most) = (0, 0);
    loop {
        if ready >= most {
            let Ok(rows) = wanted.recv() else { return };
            most = rows;
        }
        // Between pieces: what else is asked for, and whether anyone still can ask.
        loop {
            match wanted.try_recv() {
                Ok(rows) => most = most.max(rows),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        ready = most.min(ready + PIECE);
        if !columns.iter_mut().all(|pages| pages.populate(ready)) {
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
        // Linux before 5.14 does not know how; then pages come as they are touched.
        if pages.populate(4_096) {
            assert!(pages.populate(CAPACITY));
        }
        let column = writer.join().unwrap();
        assert_eq!(column.row(0), [1.5; 256]);
        for row in 1..4_096 {
            assert_eq!(column.row(row), [row as f32; 256], "row {row}");
        }
    }

    #[test]
    fn the_thread_hears_of_strides_up_to_the_capacity_and_ends_with_its_memory() {
        let (wanted, rows) = mpsc::channel();
        let mut ahead = Ahead {
            wanted: Some(wanted),
            thread: None,
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
        assert!(ahead.thread.is_some());
        ahead.reached(0);
        drop(ahead);
    }
}
