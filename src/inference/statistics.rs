//! What the executor tells about its batches.

use super::FlushReason;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Counts over some time: an iteration, a benchmark.
#[derive(Clone, Debug)]
pub struct BatchStatistics {
    /// Network calls: rows of one head, run together.
    pub batches: u64,
    /// Rows run.
    pub rows: u64,
    /// Rows that would have run had every batch been `max_batch` rows.
    pub room: u64,
    /// Times the executor ran what was waiting (one or more heads, on the lanes that were idle) by [`FlushReason`]: full, timeout, quiescent.
    pub flushes: [u64; 3],
    /// Time in network calls, mean over the lanes.
    pub forward: Duration,
    /// Time without work though walks were alive, mean over the lanes: their walks were being advanced, or too few were left.
    pub idle: Duration,
    /// Time in which no lane had work though walks were alive: nothing was due, for the walks were being advanced.
    pub waiting_for_walks: Duration,
    /// Time in which every lane had work: what came had to wait for a network call, and on a device for its copies.
    pub waiting_for_lanes: Duration,
    /// Batches whose forward was timed on their device, one of so many.
    pub timed_batches: u64,
    /// The time these took there, copies excluded.
    pub timed: Duration,
    /// Rows per batch.
    sizes: Histogram<u32>,
    /// Nanoseconds from a request's arrival at the executor to the start of its batch; one of every eight flushes is looked at.
    waits: Histogram<u32>,
}

/// Two significant figures, an hour in nanoseconds at most.
fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 2).expect("the bounds are constant and valid")
}

impl Default for BatchStatistics {
    fn default() -> Self {
        Self {
            batches: 0,
            rows: 0,
            room: 0,
            flushes: [0; 3],
            forward: Duration::ZERO,
            idle: Duration::ZERO,
            waiting_for_walks: Duration::ZERO,
            waiting_for_lanes: Duration::ZERO,
            timed_batches: 0,
            timed: Duration::ZERO,
            sizes: histogram(),
            waits: histogram(),
        }
    }
}

impl BatchStatistics {
    pub(super) fn flush(&mut self, reason: FlushReason) {
        self.flushes[reason as usize] += 1;
    }

    pub(super) fn batch(&mut self, rows: usize, room: usize) {
        self.batches += 1;
        self.rows += rows as u64;
        self.room += room as u64;
        self.sizes.saturating_record(rows as u64);
    }

    /// A batch was timed on its device.
    pub(super) fn on_device(&mut self, time: Duration) {
        self.timed_batches += 1;
        self.timed += time;
    }

    pub(super) fn wait(&mut self, wait: Duration, rows: usize) {
        let nanoseconds = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        self.waits.saturating_record_n(nanoseconds, rows as u32);
    }

    /// Flushes for any reason.
    pub fn total_flushes(&self) -> u64 {
        self.flushes.iter().sum()
    }

    /// Mean rows of a network call; 0 without any.
    pub fn mean_batch(&self) -> f64 {
        self.rows as f64 / self.batches.max(1) as f64
    }

    /// Mean rows of a flush, all heads together; 0 without any.
    pub fn mean_flush(&self) -> f64 {
        self.rows as f64 / self.total_flushes().max(1) as f64
    }

    /// Seconds that all batches took on their device by those that were timed, copies excluded; `None` where none was.
    pub fn device_forward_seconds(&self) -> Option<f64> {
        let mean = self.timed.as_secs_f64() / self.timed_batches as f64;
        (self.timed_batches > 0).then_some(mean * self.batches as f64)
    }

    /// Rows run over rows that could have run.
    pub fn fill_rate(&self) -> f64 {
        self.rows as f64 / self.room.max(1) as f64
    }

    /// A quantile (0 to 1) of the batch size, in rows.
    pub fn batch_quantile(&self, quantile: f64) -> u64 {
        self.sizes.value_at_quantile(quantile)
    }

    /// A quantile (0 to 1) of the queue wait, in microseconds.
    pub fn wait_quantile_us(&self, quantile: f64) -> f64 {
        self.waits.value_at_quantile(quantile) as f64 / 1e3
    }

    /// Every batch size that occurred, to the histogram's two figures, with its count.
    pub fn sizes(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.sizes
            .iter_recorded()
            .map(|entry| (entry.value_iterated_to(), u64::from(entry.count_at_value())))
    }

    /// Emits the metrics by name, without prefix.
    pub fn emit(&self, out: &mut dyn FnMut(&str, f64)) {
        out("batches", self.batches as f64);
        out("requests", self.rows as f64);
        out("batch_size_mean", self.mean_batch());
        out("batch_size_p50", self.batch_quantile(0.5) as f64);
        out("batch_size_p99", self.batch_quantile(0.99) as f64);
        out("flush_rows_mean", self.mean_flush());
        out("fill_rate", self.fill_rate());
        for (reason, &count) in ["full", "timeout", "quiescent"].iter().zip(&self.flushes) {
            out(&format!("flushes_{reason}"), count as f64);
        }
        out("queue_wait_us_p50", self.wait_quantile_us(0.5));
        out("queue_wait_us_p99", self.wait_quantile_us(0.99));
        out("forward_seconds", self.forward.as_secs_f64());
        out("idle_seconds", self.idle.as_secs_f64());
        let waits = [
            ("waiting_for_walks_seconds", self.waiting_for_walks),
            ("waiting_for_lanes_seconds", self.waiting_for_lanes),
        ];
        for (name, time) in waits {
            out(name, time.as_secs_f64());
        }
        if let Some(seconds) = self.device_forward_seconds() {
            out("device_forward_seconds", seconds);
        }
    }
}
