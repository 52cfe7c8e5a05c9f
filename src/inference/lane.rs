//! Lanes: the tasks that run network calls. On CPU one per core, with single-threaded
//! kernels, so that calls run side by side without a barrier inside any layer or between them.

use super::{FlushReason, Head, Network, executor::panic_message, shared::Shared, slots::Ticket};
use flume::{Receiver, Sender};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use tracing::trace_span;

/// Something to be done with a lane's network between its batches.
pub(super) type Errand<N> = Box<dyn FnOnce(&mut N) + Send>;

/// Rows of one head that run together.
pub(super) struct Batch {
    pub(super) head: Head,
    /// Why it runs now.
    pub(super) reason: FlushReason,
    pub(super) tickets: Vec<Ticket>,
}

/// What a lane is sent.
pub(super) enum Work<N> {
    Batches(Vec<Batch>),
    Errand(Errand<N>),
}

impl<N> Work<N> {
    /// Ends the walks that wait for it.
    pub(super) fn fail(self, shared: &Shared) {
        if let Self::Batches(batches) = self {
            batches
                .into_iter()
                .flat_map(|batch| batch.tickets)
                .for_each(|ticket| ticket.fail(&shared.slots));
        }
    }
}

/// What a lane tells when it has run its batches.
pub(super) struct Report {
    pub(super) lane: usize,
    /// The time in the network.
    pub(super) outcome: Result<Duration, String>,
}

/// One lane: a network, and the batches it is running.
pub(super) struct Lane<N> {
    shared: Arc<Shared>,
    number: usize,
    network: N,
}

impl<N: Network> Lane<N> {
    pub(super) fn new(shared: Arc<Shared>, number: usize, network: N) -> Self {
        Self {
            shared,
            number,
            network,
        }
    }

    /// Runs what arrives until the sender is gone, reporting every part.
    pub(super) async fn serve(mut self, inbox: Receiver<Work<N>>, reports: Sender<Report>) {
        while let Ok(work) = inbox.recv_async().await {
            match work {
                Work::Errand(errand) => self.errand(errand),
                Work::Batches(batches) => {
                    let report = Report {
                        lane: self.number,
                        outcome: self.run(batches),
                    };
                    // Without an executor nobody counts any more, but errands are still answered: the inbox's end is the lane's.
                    if reports.send(report).is_ok() {
                        self.shared.wake_executor();
                    }
                }
            }
        }
    }

    pub(super) fn errand(&mut self, errand: Errand<N>) {
        // Whoever sent it is told by the reply that does not come.
        drop(catch_unwind(AssertUnwindSafe(|| errand(&mut self.network))));
    }

    /// Runs `batches` and wakes their walks once all have run; returns the time in the network. Should a call fail or panic, every walk
    /// of the part ends.
    pub(super) fn run(&mut self, mut batches: Vec<Batch>) -> Result<Duration, String> {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            batches.iter_mut().try_fold(Duration::ZERO, |sum, batch| {
                Ok(sum + self.run_batch(batch)?)
            })
        }));
        let outcome =
            outcome.unwrap_or_else(|panic| Err(format!("it panicked: {}", panic_message(&*panic))));
        if let Err(message) = &outcome {
            // Before any walk learns that it is over, so that whoever asks why finds the answer.
            self.shared.fail(message.clone());
        }
        self.shared
            .answered(batches.iter().map(|batch| batch.tickets.len()).sum());
        let slots = &self.shared.slots;
        for ticket in batches.into_iter().flat_map(|batch| batch.tickets) {
            match outcome {
                Ok(_) => ticket.wake(slots),
                Err(_) => ticket.fail(slots),
            }
        }
        outcome
    }

    fn run_batch(&mut self, batch: &mut Batch) -> Result<Duration, String> {
        let slots = &self.shared.slots;
        let rows = batch.tickets.len();
        let own = self.network.row_shape(batch.head);
        let shape = own.unwrap_or(slots.shape());
        let _span = trace_span!(
            target: "coorl_async::timeline", "batch", head = batch.head.0, rows, reason = ?batch.reason
        )
        .entered();
        let stage = self.network.stage(rows);
        for (ticket, row) in batch
            .tickets
            .iter()
            .zip(stage.chunks_exact_mut(shape.info_len))
        {
            ticket.copy_info(slots, row);
        }
        let started = Instant::now();
        let answers = self.network.run(batch.head, rows)?;
        let forward = started.elapsed();
        if answers.len() != rows * shape.actions {
            return Err(format!(
                "head {} gave {} values for {rows} rows",
                batch.head.0,
                answers.len()
            ));
        }
        for (ticket, answer) in batch
            .tickets
            .iter_mut()
            .zip(answers.chunks_exact(shape.actions))
        {
            ticket.write_answer(slots, answer);
        }
        let mut statistics = self.shared.statistics();
        statistics.batch(rows, self.shared.max_batch());
        if let Some(time) = self.network.device_time() {
            statistics.on_device(time);
        }
        Ok(forward)
    }
}
