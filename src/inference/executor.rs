//! The executor: collects tickets and decides when to run them. The lanes run them.
//!
//! Executor and lanes are tasks among those of the walks, on the same worker threads. A worker that has run a part of a flush wakes
//! that part's walks into its own queue and goes on with them at once, answers still in its cache; a worker without work takes some of
//! another's.

use super::{
    BatchStatistics, FlushReason, Head, Network, RowShape, Settings,
    lane::{Batch, Work},
    slots::{Slots, Stopped, Ticket},
};
use flume::{Receiver, Sender};
use futures::FutureExt;
use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicIsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// Heads a request can name.
const HEADS: usize = 256;
/// One of so many flushes has its queue waits recorded.
const WAIT_SAMPLING: u64 = 8;
/// Rows below which a part is not worth another lane.
const LEAST_PART: usize = 24;
/// The longest sleep: a lost wake-up would cost this much and no more.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// What walks and the executor share.
///
/// Tickets travel through the queue; the counters only say when waking the executor is worth a system call. A walk pushes
/// its ticket before it counts it, and counts before it reads `live`; a leaving walk takes itself off `live` before it reads
/// `waiting`. All of these are sequentially consistent, so whoever makes `waiting >= live` true also sees it and wakes the
/// executor, which then finds every counted ticket in the queue.
pub(super) struct Shared {
    pub(super) slots: Slots,
    queue: Sender<Ticket>,
    /// Tickets sent and not yet taken into a batch, all heads and per head. For a moment below the truth, so signed.
    waiting: AtomicIsize,
    waiting_by_head: Box<[AtomicIsize]>,
    /// Leases alive.
    live: AtomicIsize,
    /// Set before the executor drains the queue for the last time.
    closed: AtomicBool,
    /// Wakes the executor; remembered should it come between two looks.
    executor: Notify,
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
            waiting: AtomicIsize::new(0),
            waiting_by_head: (0..HEADS).map(|_| AtomicIsize::new(0)).collect(),
            live: AtomicIsize::new(0),
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
        let of_head = self.waiting_by_head[head.0 as usize].fetch_add(1, Ordering::SeqCst) + 1;
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        if waiting == 1
            || waiting >= self.live.load(Ordering::SeqCst)
            || of_head == self.max_batch as isize
        {
            self.wake_executor();
        }
        // The executor may have drained the queue for the last time before this ticket arrived.
        if self.closed.load(Ordering::SeqCst) {
            Err(Stopped)
        } else {
            Ok(())
        }
    }

    pub(super) fn joined(&self) {
        self.live.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn left(&self) {
        let live = self.live.fetch_sub(1, Ordering::SeqCst) - 1;
        if self.waiting.load(Ordering::SeqCst) >= live {
            self.wake_executor();
        }
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

    fn took(&self, head: Head, tickets: usize) {
        self.waiting_by_head[head.0 as usize].fetch_sub(tickets as isize, Ordering::SeqCst);
        self.waiting.fetch_sub(tickets as isize, Ordering::SeqCst);
    }
}

/// What the executor owns.
struct Executor<N> {
    shared: Arc<Shared>,
    lanes: Lanes<N>,
    tickets: Receiver<Ticket>,
    /// Waiting tickets per head in order of arrival, with their arrivals.
    pending: Vec<Vec<Ticket>>,
    arrivals: Vec<Vec<Instant>>,
    /// Waiting tickets of all heads.
    total: usize,
    oldest: Option<Instant>,
    timeout: Duration,
    max_batch: usize,
}

/// The lanes' inboxes, and where they all report.
pub(super) struct Lanes<N> {
    pub(super) inboxes: Vec<Sender<Work<N>>>,
    pub(super) reports: Receiver<Result<Duration, String>>,
}

/// Runs the executor until `engaged` has no sender left or a network call fails.
pub(super) async fn run<N: Network>(
    shared: Arc<Shared>,
    lanes: Lanes<N>,
    tickets: Receiver<Ticket>,
    engaged: Receiver<()>,
    settings: Settings,
) {
    let mut executor = Executor {
        shared,
        lanes,
        tickets,
        pending: (0..HEADS).map(|_| Vec::new()).collect(),
        arrivals: (0..HEADS).map(|_| Vec::new()).collect(),
        total: 0,
        oldest: None,
        timeout: Duration::from_micros(settings.collect_timeout_us),
        max_batch: settings.max_batch.max(1),
    };
    let outcome = AssertUnwindSafe(executor.serve(&engaged))
        .catch_unwind()
        .await;
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(message)) => executor.shared.fail(message),
        Err(panic) => executor
            .shared
            .fail(format!("it panicked: {}", panic_message(&*panic))),
    }
    executor.close();
}

/// The text of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into())
}

impl<N: Network> Executor<N> {
    async fn serve(&mut self, engaged: &Receiver<()>) -> Result<(), String> {
        while !engaged.is_disconnected() {
            self.collect();
            match self.due() {
                Some(reason) => self.flush(reason).await?,
                None => self.sleep().await,
            }
        }
        Ok(())
    }

    /// Takes what has arrived.
    fn collect(&mut self) {
        let before = self.total;
        for ticket in self.tickets.drain() {
            self.pending[ticket.head.0 as usize].push(ticket);
            self.total += 1;
        }
        if self.total > before {
            let now = Instant::now();
            self.oldest.get_or_insert(now);
            for (pending, arrivals) in self.pending.iter().zip(&mut self.arrivals) {
                arrivals.resize(pending.len(), now);
            }
        }
    }

    /// Why to run now, if there is a reason.
    fn due(&self) -> Option<FlushReason> {
        let oldest = self.oldest?;
        if self.total as isize >= self.shared.live.load(Ordering::SeqCst) {
            Some(FlushReason::Quiescent)
        } else if self
            .pending
            .iter()
            .any(|tickets| tickets.len() >= self.max_batch)
        {
            Some(FlushReason::Full)
        } else if oldest.elapsed() >= self.timeout {
            Some(FlushReason::Timeout)
        } else {
            None
        }
    }

    async fn sleep(&mut self) {
        let left = self
            .oldest
            .map(|oldest| self.timeout.saturating_sub(oldest.elapsed()));
        let started = Instant::now();
        let longest = left.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP);
        // Whether a wake-up or the clock ended the sleep, the queues say what is due.
        let _ = tokio::time::timeout(longest, self.shared.executor.notified()).await;
        self.shared.statistics().idle += started.elapsed();
    }

    /// Runs full batches only when that is the reason, else everything that waits, spread over the lanes.
    async fn flush(&mut self, reason: FlushReason) -> Result<(), String> {
        let parts = self.take(reason, Instant::now());
        let count = parts.len();
        let mut outcome = Ok(());
        for (part, lane) in parts.into_iter().zip(&self.lanes.inboxes) {
            if let Err(flume::SendError(work)) = lane.send(Work::Batches(part)) {
                work.fail(&self.shared);
                return Err("an inference lane is gone".to_owned());
            }
        }
        let mut forward = Duration::ZERO;
        for _ in 0..count {
            // Lanes report every part they were given, panics included, and hang up when they end.
            let report = self.lanes.reports.recv_async().await;
            match report.unwrap_or_else(|_| Err("the inference lanes are gone".to_owned())) {
                Ok(time) => forward = forward.max(time),
                Err(message) => outcome = Err(message),
            }
        }
        let mut statistics = self.shared.statistics();
        statistics.flush(reason);
        statistics.forward += forward;
        outcome
    }

    /// Takes what a flush for `reason` runs out of the queues: batches of one head and at most `max_batch` rows, in one part
    /// per lane, the parts alike in rows.
    fn take(&mut self, reason: FlushReason, now: Instant) -> Vec<Vec<Batch>> {
        let least = if reason == FlushReason::Full {
            self.max_batch
        } else {
            1
        };
        let looked_at = self
            .shared
            .statistics()
            .total_flushes()
            .is_multiple_of(WAIT_SAMPLING);
        let rows_of = |waiting: usize| {
            if least == 1 {
                waiting
            } else {
                waiting - waiting % self.max_batch
            }
        };
        let rows: usize = self
            .pending
            .iter()
            .map(|tickets| rows_of(tickets.len()))
            .sum();
        let lanes = (rows / LEAST_PART).clamp(1, self.lanes.inboxes.len());
        let mut parts: Vec<Vec<Batch>> = vec![Vec::new()];
        // Rows still to go into the part in hand.
        let mut room = rows.div_ceil(lanes);
        for head in 0..HEADS {
            let mut left = rows_of(self.pending[head].len());
            if left > 0 {
                self.shared.took(Head(head as u8), left);
                self.total -= left;
            }
            while left > 0 {
                if room == 0 {
                    parts.push(Vec::new());
                    room = rows.div_ceil(lanes);
                }
                let count = left.min(room).min(self.max_batch);
                let arrivals = self.arrivals[head].drain(..count);
                if looked_at {
                    let mut statistics = self.shared.statistics();
                    arrivals.for_each(|arrival| statistics.wait(now - arrival, 1));
                } else {
                    drop(arrivals);
                }
                let tickets = self.pending[head].drain(..count).collect();
                let part = parts.len() - 1;
                parts[part].push(Batch {
                    head: Head(head as u8),
                    tickets,
                });
                left -= count;
                room -= count;
            }
        }
        self.oldest = self
            .arrivals
            .iter()
            .filter_map(|arrivals| arrivals.first())
            .min()
            .copied();
        parts
    }

    /// Ends every walk that waits or will ask.
    fn close(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        let slots = &self.shared.slots;
        let rest = self
            .pending
            .iter_mut()
            .flat_map(|tickets| tickets.drain(..));
        for ticket in rest.chain(self.tickets.drain()) {
            ticket.fail(slots);
        }
    }
}
