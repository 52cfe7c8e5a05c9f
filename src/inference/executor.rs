//! The executor: collects tickets and decides when to run them. The lanes run them.
//!
//! Executor and lanes are tasks among those of the walks, on the same worker threads. A worker that has run a part of a flush wakes
//! that part's walks into its own queue and goes on with them at once, answers still in its cache; a worker without work takes some of
//! another's. Lanes do not wait for each other: whichever is idle gets its share as soon as there is a reason, and while it runs the
//! walks that another lane has answered go on.

use super::{
    FlushReason, Head, Network, Settings,
    deal::{Portion, Waiting, deal, serve},
    lane::{Batch, Report, Work},
    shared::{HEADS, Shared},
    slots::Ticket,
};
use flume::{Receiver, Sender, TryRecvError};
use futures::FutureExt;
use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};
use tracing::trace;

/// One of so many flushes has its queue waits recorded.
const WAIT_SAMPLING: u64 = 8;
/// The longest sleep: a lost wake-up would cost this much and no more.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// The lanes' inboxes, and where they all report.
pub(super) struct Lanes<N> {
    pub(super) inboxes: Vec<Sender<Work<N>>>,
    pub(super) reports: Receiver<Report>,
}

/// Since when no lane has had work, or every one; both at most while it is so.
#[derive(Default)]
struct Occupation {
    all_idle: Option<Instant>,
    all_busy: Option<Instant>,
}

/// What the executor owns.
struct Executor<N> {
    shared: Arc<Shared>,
    lanes: Lanes<N>,
    /// Lanes without work, each with the time of its last report.
    idle: Vec<(usize, Option<Instant>)>,
    occupation: Occupation,
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
        idle: (0..lanes.inboxes.len())
            .rev()
            .map(|lane| (lane, None))
            .collect(),
        occupation: Occupation::default(),
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
            self.hear_lanes()?;
            self.collect();
            match self.due() {
                Some(reason) => self.flush(reason)?,
                None => self.sleep().await,
            }
        }
        Ok(())
    }

    /// Takes what the lanes have reported: each reports every part it was given, panics included.
    fn hear_lanes(&mut self) -> Result<(), String> {
        loop {
            match self.lanes.reports.try_recv() {
                Ok(Report { lane, outcome }) => {
                    let time = outcome?;
                    let lanes = self.lanes.inboxes.len() as u32;
                    let now = Instant::now();
                    let mut statistics = self.shared.statistics();
                    statistics.forward += time / lanes;
                    if let Some(since) = self.occupation.all_busy.take() {
                        statistics.waiting_for_lanes += now.saturating_duration_since(since);
                    }
                    drop(statistics);
                    self.idle.push((lane, Some(now)));
                    if self.idle.len() == self.lanes.inboxes.len() {
                        self.occupation.all_idle = Some(now);
                    }
                }
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => {
                    return Err("the inference lanes are gone".into());
                }
            }
        }
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

    /// Why to run now, if there is a reason and a lane for it.
    fn due(&mut self) -> Option<FlushReason> {
        if self.idle.is_empty() {
            return None;
        }
        if self.shared.is_quiescent() {
            // Whoever made it so has queued its ticket before.
            self.collect();
            return self.oldest.map(|_| FlushReason::Quiescent);
        }
        let oldest = self.oldest?;
        let full = |tickets: &Vec<Ticket>| tickets.len() >= self.max_batch;
        if self.pending.iter().any(full) {
            Some(FlushReason::Full)
        } else if oldest.elapsed() >= self.timeout {
            Some(FlushReason::Timeout)
        } else {
            None
        }
    }

    async fn sleep(&mut self) {
        self.shared.set_dozing(self.oldest.is_none());
        if self.oldest.is_none() && !self.tickets.is_empty() {
            return;
        }
        let left = self
            .oldest
            .filter(|_| !self.idle.is_empty())
            .map(|oldest| self.timeout.saturating_sub(oldest.elapsed()));
        let longest = left.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP);
        // Whether a wake-up or the clock ended the sleep, the queues say what is due.
        let _ = tokio::time::timeout(longest, self.shared.executor.notified()).await;
        self.shared.set_dozing(false);
    }

    /// Runs full batches and what is late when full is the reason, else what waits; each idle lane gets its share.
    fn flush(&mut self, reason: FlushReason) -> Result<(), String> {
        let now = Instant::now();
        let waiting = serve(self.waiting(now), reason, self.max_batch);
        // Requests of walks that were dropped are waiting and not alive.
        let walks = self.shared.live().max(self.total);
        let share = walks.div_ceil(self.lanes.inboxes.len());
        let parts = deal(&waiting, self.idle.len(), share, self.max_batch);
        trace!(name: "flush", target: "coorl_async::timeline", ?reason, parts = parts.len());
        let looked_at = {
            let mut statistics = self.shared.statistics();
            statistics.flush(reason);
            statistics.total_flushes() % WAIT_SAMPLING == 1
        };
        for part in parts {
            let batches = part
                .into_iter()
                .map(|portion| self.take(portion, reason, looked_at.then_some(now)))
                .collect();
            self.send(batches, now)?;
        }
        self.oldest = self
            .arrivals
            .iter()
            .filter_map(|arrivals| arrivals.first())
            .min()
            .copied();
        Ok(())
    }

    /// What waits by head.
    fn waiting(&self, now: Instant) -> Vec<Waiting> {
        let heads = self.pending.iter().zip(&self.arrivals).zip(0u8..=u8::MAX);
        heads
            .filter_map(|((tickets, arrivals), head)| {
                let oldest = arrivals.first()?;
                Some(Waiting {
                    portion: Portion {
                        head,
                        rows: tickets.len(),
                    },
                    late: now - *oldest >= self.timeout,
                })
            })
            .collect()
    }

    /// Takes a portion out of the queue; `looked_at` has its waits until then recorded.
    fn take(&mut self, portion: Portion, reason: FlushReason, looked_at: Option<Instant>) -> Batch {
        let Portion { head, rows } = portion;
        self.shared.took(Head(head), rows);
        self.total -= rows;
        let arrivals = self.arrivals[head as usize].drain(..rows);
        match looked_at {
            Some(now) => {
                let mut statistics = self.shared.statistics();
                arrivals.for_each(|arrival| statistics.wait(now - arrival, 1));
            }
            None => drop(arrivals),
        }
        Batch {
            head: Head(head),
            reason,
            tickets: self.pending[head as usize].drain(..rows).collect(),
        }
    }

    /// Gives `batches` to an idle lane, of which there is one per part.
    fn send(&mut self, batches: Vec<Batch>, now: Instant) -> Result<(), String> {
        let Some((lane, since)) = self.idle.pop() else {
            return Err("a batch was made without a lane for it".into());
        };
        // The time before this run of walks began is nobody's.
        let began = self.shared.since();
        if let Some(since) = since.max(began) {
            let lanes = self.lanes.inboxes.len() as u32;
            self.shared.statistics().idle += now.saturating_duration_since(since) / lanes;
        }
        if self.idle.len() + 1 == self.lanes.inboxes.len()
            && let Some(since) = self.occupation.all_idle.take().max(began)
        {
            let waited = now.saturating_duration_since(since);
            self.shared.statistics().waiting_for_walks += waited;
        }
        if self.idle.is_empty() {
            self.occupation.all_busy = Some(now);
        }
        self.lanes.inboxes[lane]
            .send(Work::Batches(batches))
            .map_err(|flume::SendError(work)| {
                work.fail(&self.shared);
                "an inference lane is gone".to_owned()
            })
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
