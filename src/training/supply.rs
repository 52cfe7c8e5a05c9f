//! From a memory to a learner, wherever both are.
//!
//! ```text
//! in place     memory --gather--> batch --> fit
//! mirrored     memory's copy on the device --index_select--> batch --> fit           slot numbers cross
//! prefetched   memory --gather, copy on a thread--> batch k + 1      fit to batch k    rows cross
//! ```
//!
//! All three draw the same samples in the same order.

use super::{
    FitPlan, FitReport, Learner, Minibatch, MinibatchOrder, Minibatches, RowSource,
    batches::{Measured, MemoryBatches, minibatch_there},
    fit,
};
use crate::{
    network::TensorError,
    platform::transfers::{self, Copies},
    random::Stream,
    replay::{DeviceBatch, Memory, RepeatedInfo},
};
use anyhow::Context;
use std::{
    panic::resume_unwind,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::Duration,
};
use tch::Device;

/// Minibatches that wait for the fit, at most.
const AHEAD: usize = 2;

/// Which samples a fit gets.
#[derive(Clone)]
pub(super) struct Supply {
    /// Samples of a minibatch, at most.
    pub rows: usize,
    /// What draws them.
    pub stream: Stream,
    /// Least share of first-open samples.
    pub first_open: f64,
    /// How repeated info states are given.
    pub repeated: RepeatedInfo,
    /// How minibatches follow each other.
    pub order: MinibatchOrder,
    /// What draws the held-out samples, if the fit is measured by them.
    pub held_out: Option<Stream>,
}

/// A fit that is over, and the time spent drawing slots for it.
pub(super) struct Supplied {
    pub report: FitReport,
    pub sampling: Duration,
}

impl Supply {
    /// Fits `learner` to samples of `memory` as `plan` says.
    ///
    /// # Errors
    /// As [`fit`](fn@fit). The loss of the memory's copy on the device is none: the host has every sample.
    pub fn fit(
        self,
        learner: &mut Learner,
        plan: &FitPlan<'_>,
        memory: &mut Memory,
        stop: impl FnMut() -> bool,
    ) -> anyhow::Result<Supplied> {
        let compute = learner.compute();
        match compute.rows {
            RowSource::InPlace => {
                let mut batches = self.batches(memory)?;
                if let Some(mut stream) = self.held_out {
                    batches = batches.with_held_out(&mut stream)?;
                }
                let report = fit(learner, plan, &mut batches, stop)?;
                let sampling = batches.sampling();
                Ok(Supplied { report, sampling })
            }
            RowSource::Mirrored => {
                memory.update_mirror();
                if memory.is_mirrored() {
                    self.fit_mirrored(learner, plan, memory, stop)
                } else {
                    self.fit_prefetched(learner, plan, memory, stop)
                }
            }
            RowSource::Prefetched => self.fit_prefetched(learner, plan, memory, stop),
        }
    }

    fn fit_mirrored(
        self,
        learner: &mut Learner,
        plan: &FitPlan<'_>,
        memory: &mut Memory,
        stop: impl FnMut() -> bool,
    ) -> anyhow::Result<Supplied> {
        let device = learner.compute().device;
        let held_out = match self.held_out.clone() {
            None => None,
            Some(mut stream) => match Measured::draw(memory, &mut stream, Some(device)) {
                Ok(held_out) => held_out,
                Err(error) => {
                    // There is more room without the mirror.
                    let why = error.downcast::<TensorError>()?;
                    memory.lose_mirror(&why);
                    return self.fit_prefetched(learner, plan, memory, stop);
                }
            },
        };
        let batches = self.batches(memory)?.on_device(device);
        let mut batches = batches.measured_by(held_out);
        let report = fit(learner, plan, &mut batches, stop)?;
        let sampling = batches.sampling();
        if let Some(why) = batches.lost() {
            memory.lose_mirror(&why);
        }
        Ok(Supplied { report, sampling })
    }

    fn fit_prefetched(
        mut self,
        learner: &mut Learner,
        plan: &FitPlan<'_>,
        memory: &mut Memory,
        stop: impl FnMut() -> bool,
    ) -> anyhow::Result<Supplied> {
        // One that is not brought up to date must not be drawn from.
        memory.drop_mirror();
        let device = learner.compute().device;
        let held_out = match self.held_out.take() {
            Some(mut stream) => Measured::draw(memory, &mut stream, Some(device))?,
            None => None,
        };
        let (ready, batches) = sync_channel(AHEAD);
        let steps = plan.steps;
        thread::scope(|scope| {
            let producer = thread::Builder::new().name("minibatches".into());
            let producer = producer
                .spawn_scoped(scope, move || self.produce(memory, steps, device, &ready))
                .context("no thread for minibatches can be had")?;
            let mut prefetched = Prefetched {
                batches,
                current: None,
                held_out,
            };
            let report = fit(learner, plan, &mut prefetched, stop);
            // The thread ends once nobody waits for its minibatches.
            drop(prefetched);
            let produced = producer.join().unwrap_or_else(|panic| resume_unwind(panic));
            let mut report = report?;
            add(&mut report.transfers.to_device, produced.copies);
            Ok(Supplied {
                report,
                sampling: produced.sampling,
            })
        })
    }

    /// Draws at most `steps` minibatches and hands them over on `device`, until nobody takes them.
    fn produce(
        self,
        memory: &Memory,
        steps: usize,
        device: Device,
        ready: &SyncSender<anyhow::Result<DeviceBatch>>,
    ) -> Produced {
        let before = transfers::of_this_thread();
        let mut sampling = Duration::ZERO;
        match self.batches(memory) {
            Err(error) => drop(ready.send(Err(error))),
            Ok(mut batches) => {
                for _ in 0..steps {
                    let batch = batches.next_there(device).map_err(anyhow::Error::from);
                    let failed = batch.is_err();
                    if ready.send(batch).is_err() || failed {
                        break;
                    }
                }
                sampling = batches.sampling();
            }
        }
        Produced {
            sampling,
            copies: (transfers::of_this_thread() - before).to_device,
        }
    }

    fn batches<'a>(&self, memory: &'a Memory) -> anyhow::Result<MemoryBatches<'a>> {
        let stream = self.stream.clone();
        let batches = MemoryBatches::new(memory, self.rows, stream, self.first_open)?;
        Ok(batches.with_repeated(self.repeated)?.in_order(self.order))
    }
}

/// What the thread did.
struct Produced {
    sampling: Duration,
    copies: Copies,
}

/// Minibatches that a thread makes ready.
struct Prefetched {
    batches: Receiver<anyhow::Result<DeviceBatch>>,
    current: Option<DeviceBatch>,
    held_out: Option<Measured>,
}

impl Minibatches for Prefetched {
    fn next(&mut self) -> anyhow::Result<Minibatch<'_>> {
        let next = self.batches.recv();
        let next = next.context("the thread that makes minibatches has ended")??;
        Ok(minibatch_there(self.current.insert(next)))
    }

    fn held_out(&self) -> Option<Minibatch<'_>> {
        self.held_out.as_ref().map(Measured::minibatch)
    }
}

fn add(to: &mut Copies, more: Copies) {
    to.count += more.count;
    to.bytes += more.bytes;
    to.nanoseconds += more.nanoseconds;
}

#[cfg(test)]
mod tests;
