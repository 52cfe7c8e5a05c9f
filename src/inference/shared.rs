//! What walks, the executor and the lanes share.

use super::{
    BatchStatistics, Head, RowShape, Settings,
    slots::{Slots, Stopped, Ticket},
};
use flume::{Receiver, Sender};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicIsize, Ordering},
    },
    time::Instant,
};
use tokio::sync::Notify;

/// Heads a request can name.
pub(super) const HEADS: usize = 256;

/// What walks, the executor and the lanes share.
///
/// Tickets travel through the queue; the counters only say when waking the executor is worth a system call. A walk pushes its ticket
/// before it takes itself off `running`, and a lane puts the walks it answers back on before it wakes them. All of these are sequentially
/// consistent: whoever brings `running` to nothing wakes the executor, which then finds every ticket of a walk that waits in the queue.
pub(super) struct Shared {
    pub(super) slots: Slots,
    queue: Sender<Ticket>,
    /// Tickets sent and not yet taken into a batch, per head. For a moment below the truth, so signed.
    waiting: Box<[AtomicIsize]>,
    /// The executor sleeps and has seen no ticket: the next one starts the clock.
    dozing: AtomicBool,
    /// Leases alive.
    live: AtomicIsize,
    /// Leases alive whose walks neither wait nor are being answered: they may still ask. For a moment off by one, so signed.
    running: AtomicIsize,
    /// When a lease was taken with none alive.
    since: Mutex<Option<Instant>>,
    /// Set before the executor drains the queue for the last time.
    pub(super) closed: AtomicBool,
    /// Wakes the executor; remembered should it come between two looks.
    pub(super) executor: Notify,
    max_batch: usize,
    statistics: Mutex<BatchStatistics>,
    failure: Mutex<Option<String>>,
}

impl Shared {
    pub(super) fn new(
        capacity: usize,
        shape: RowShape,
        settings: &Settings,
    ) -> (Self, Receiver<Ticket>) {
        let (queue, tickets) = flume::unbounded();
        let shared = Self {
            slots: Slots::new(capacity, shape),
            queue,
            dozing: AtomicBool::new(false),
            waiting: (0..HEADS).map(|_| AtomicIsize::new(0)).collect(),
            live: AtomicIsize::new(0),
            running: AtomicIsize::new(0),
            since: Mutex::default(),
            closed: AtomicBool::new(false),
            executor: Notify::new(),
            max_batch: settings.max_batch.max(1),
            statistics: Mutex::default(),
            failure: Mutex::default(),
        };
        (shared, tickets)
    }

    /// Queues a ticket; wakes the executor when this one starts a batch or may complete it.
    pub(super) fn submit(&self, ticket: Ticket) -> Result<(), Stopped> {
        let head = ticket.head;
        if let Err(flume::SendError(ticket)) = self.queue.send(ticket) {
            ticket.fail(&self.slots);
            return Err(Stopped);
        }
        let waiting = self.waiting[head.0 as usize].fetch_add(1, Ordering::SeqCst) + 1;
        let running = self.running.fetch_sub(1, Ordering::SeqCst) - 1;
        let first = self.dozing.load(Ordering::SeqCst) && self.dozing.swap(false, Ordering::SeqCst);
        if first || running <= 0 || waiting == self.max_batch as isize {
            self.wake_executor();
        }
        // The executor may have drained the queue for the last time before this ticket arrived.
        if self.closed.load(Ordering::SeqCst) {
            Err(Stopped)
        } else {
            Ok(())
        }
    }

    /// A lease was taken.
    pub(super) fn joined(&self) {
        if self.live.fetch_add(1, Ordering::SeqCst) == 0 {
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        self.running.fetch_add(1, Ordering::SeqCst);
    }

    /// A lease was given back. One that is given back while it waits is answered all the same, which evens out `running`.
    pub(super) fn left(&self) {
        self.live.fetch_sub(1, Ordering::SeqCst);
        if self.running.fetch_sub(1, Ordering::SeqCst) <= 1 {
            self.wake_executor();
        }
    }

    /// `tickets` were taken into batches.
    pub(super) fn took(&self, head: Head, tickets: usize) {
        self.waiting[head.0 as usize].fetch_sub(tickets as isize, Ordering::SeqCst);
    }

    /// Says whether the executor is about to sleep without having seen a ticket. It must look at the queue again after it said yes: a
    /// ticket that came before is in the queue, one that comes later wakes it.
    pub(super) fn set_dozing(&self, dozing: bool) {
        self.dozing.store(dozing, Ordering::SeqCst);
    }

    /// `walks` are about to be woken.
    pub(super) fn answered(&self, walks: usize) {
        self.running.fetch_add(walks as isize, Ordering::SeqCst);
    }

    /// Whether no walk can ask before a network call ends.
    pub(super) fn is_quiescent(&self) -> bool {
        self.running.load(Ordering::SeqCst) <= 0
    }

    /// Leases alive.
    pub(super) fn live(&self) -> usize {
        usize::try_from(self.live.load(Ordering::SeqCst)).unwrap_or(0)
    }

    /// Since when there have been leases alive.
    pub(super) fn since(&self) -> Option<Instant> {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn max_batch(&self) -> usize {
        self.max_batch
    }

    pub(super) fn wake_executor(&self) {
        self.executor.notify_one();
    }

    pub(super) fn statistics(&self) -> MutexGuard<'_, BatchStatistics> {
        self.statistics
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the executor stopped, if it did by itself.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Notes why the executor stops; the first reason counts.
    pub(super) fn fail(&self, message: String) {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(message);
    }
}
