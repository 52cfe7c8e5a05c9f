//! The decisions of an iteration.

use super::SurrogateBatch;
use crate::{
    replay::{Batch, Memory, MemoryError, Sample, Sweep, uploaded},
    traversal::Taken,
};
use tch::{Device, TchError, Tensor};

/// Decisions with the actions that were taken. Targets of the memory's samples mean nothing.
pub struct Decisions {
    memory: Memory,
    /// By slot of the memory.
    taken: Vec<Taken>,
}

/// Minibatches of decisions, in reused tensors.
pub struct DecisionBatches<'a> {
    decisions: &'a Decisions,
    sweep: Sweep,
    batch: Batch,
    /// Where minibatches go; `None` = they stay in the host's memory.
    device: Option<Device>,
    /// The last one: info states `[rows, info_len]`, legal actions `[rows, actions]`, and `[rows]` each: numbers of the actions taken, log
    /// probabilities, weights, advantages.
    columns: [Tensor; 6],
}

impl Decisions {
    /// None yet, in `memory`.
    pub fn new(memory: Memory) -> Self {
        Self {
            memory,
            taken: Vec::new(),
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.taken.clear();
    }

    /// Adds a decision. One without a choice teaches nothing and is left out, and so is one whose action the policy gave no probability: only
    /// exploration took it, it weighs nothing, and a ratio to what it was does not exist.
    pub fn add(&mut self, sample: &Sample<'_>, taken: Taken) {
        if sample.legal.len() < 2 || taken.probability == 0.0 {
            return;
        }
        match self.memory.add(sample) {
            Some(slot) if slot < self.taken.len() => self.taken[slot] = taken,
            Some(_) => self.taken.push(taken),
            None => {}
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Minibatches of `rows` decisions that meet every decision before any is met again, in the order of `sweep`, copied to `device` if there is
    /// one.
    ///
    /// # Errors
    /// When the memory for a minibatch cannot be had.
    pub fn batches(
        &self,
        rows: usize,
        sweep: Sweep,
        device: Option<Device>,
    ) -> Result<DecisionBatches<'_>, MemoryError> {
        Ok(DecisionBatches {
            decisions: self,
            sweep,
            batch: Batch::new(rows, self.memory.info_len(), self.memory.actions())?,
            device,
            columns: std::array::from_fn(|_| Tensor::new()),
        })
    }

    /// What a sweep goes over.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl DecisionBatches<'_> {
    /// The next minibatch, its advantages made to have mean 0 and standard deviation 1.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn next(&mut self) -> Result<SurrogateBatch<'_>, TchError> {
        let memory = &self.decisions.memory;
        memory.sweep(&mut self.sweep, &mut self.batch);
        memory.gather(&mut self.batch);
        let slots = self.batch.slots().iter();
        let taken: Vec<_> = slots
            .map(|&slot| self.decisions.taken[slot as usize])
            .collect();
        let column = |value: fn(&Taken) -> f32| taken.iter().map(value).collect::<Vec<_>>();
        let actions: Vec<_> = taken.iter().map(|taken| i64::from(taken.action)).collect();
        let mut advantages = column(|taken| taken.advantage);
        standardise(&mut advantages);
        let placed = |host: Tensor| match self.device {
            None => Ok(host),
            Some(device) => uploaded(&host, device),
        };
        self.columns = [
            placed(self.batch.info().shallow_clone())?,
            placed(self.batch.legal().shallow_clone())?,
            placed(Tensor::f_from_slice(&actions)?)?,
            placed(Tensor::f_from_slice(&column(|taken| {
                taken.probability.ln()
            }))?)?,
            placed(Tensor::f_from_slice(&column(Taken::weight))?)?,
            placed(Tensor::f_from_slice(&advantages)?)?,
        ];
        let [info, legal, action, log_probability, weight, advantage] = &self.columns;
        Ok(SurrogateBatch {
            info,
            legal,
            action,
            log_probability,
            weight,
            advantage,
        })
    }
}

/// Shifts and scales to mean 0 and standard deviation 1; values that are all alike become 0.
fn standardise(values: &mut [f32]) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
    let squares = values
        .iter()
        .map(|&value| (f64::from(value) - mean).powi(2));
    let deviation = (squares.sum::<f64>() / count).sqrt();
    let scale = 1.0 / (deviation + 1e-8);
    for value in values {
        *value = ((f64::from(*value) - mean) * scale) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::ActionSet,
        platform::transfers,
        random::{Purpose, Stream},
    };

    #[test]
    fn advantages_are_made_comparable() {
        let mut values = [1.0, 2.0, 3.0, 6.0];
        standardise(&mut values);
        // Mean 3, deviations 2, 1, 0, 3: a standard deviation of sqrt(14 / 4).
        let unit = 3.5f64.sqrt();
        for (found, expected) in values.iter().zip([-2.0, -1.0, 0.0, 3.0]) {
            assert!((f64::from(*found) - expected / unit).abs() < 1e-6);
        }
        let mut alike = [0.5; 3];
        standardise(&mut alike);
        assert_eq!(alike, [0.0; 3]);
    }

    #[test]
    fn rows_keep_what_was_done_there_also_when_the_memory_is_full() {
        let stream = || Stream::new(1, Purpose::Trial, 0, 0);
        let memory = Memory::new(4, 1, 3, stream()).unwrap();
        let mut decisions = Decisions::new(memory);
        for number in 0..20u8 {
            let sample = Sample {
                info: &[f32::from(number)],
                target: &[0.0; 3],
                legal: [0u8, 1, 2]
                    .into_iter()
                    .take(1 + number as usize % 3)
                    .collect::<ActionSet>(),
                iteration: 1,
                first_open: false,
            };
            let taken = Taken {
                action: number % 2,
                probability: 0.5,
                walked: 0.5,
                advantage: f32::from(number),
            };
            decisions.add(&sample, taken);
        }
        assert_eq!(decisions.len(), 4);
        for slot in 0..4 {
            let sample = decisions.memory.sample(slot);
            assert!(sample.legal.len() > 1);
            assert_eq!(sample.info[0], decisions.taken[slot].advantage);
        }
        let sweep = decisions.memory.start_sweep(&mut stream());
        let batches = |device| decisions.batches(2, sweep, device).unwrap();
        let (mut here, mut there) = (batches(None), batches(Some(Device::Cpu)));
        for _ in 0..3 {
            let before = transfers::of_this_thread();
            let batch = here.next().unwrap();
            assert_eq!(transfers::of_this_thread(), before);
            let infos = Vec::<f32>::try_from(batch.info.view(-1)).unwrap();
            let actions = Vec::<i64>::try_from(batch.action).unwrap();
            for (info, action) in infos.into_iter().zip(actions) {
                assert_eq!(info as i64 % 2, action);
            }
            // On a device it is the same one, every column of it a copy.
            let copied = there.next().unwrap();
            let copies = transfers::of_this_thread() - before;
            assert_eq!((copies.to_device.count, copies.to_host.count), (6, 0));
            for (here, there) in [
                (batch.info, copied.info),
                (batch.legal, copied.legal),
                (batch.action, copied.action),
                (batch.log_probability, copied.log_probability),
                (batch.weight, copied.weight),
                (batch.advantage, copied.advantage),
            ] {
                assert!(here.equal(there));
            }
        }
    }

    #[test]
    fn an_action_without_probability_is_left_out() {
        let stream = || Stream::new(1, Purpose::Trial, 0, 0);
        let mut decisions = Decisions::new(Memory::new(4, 1, 2, stream()).unwrap());
        for probability in [0.0, f32::MIN_POSITIVE, 0.0, 0.5] {
            let sample = Sample {
                info: &[probability],
                target: &[0.0; 2],
                legal: [0u8, 1].into_iter().collect::<ActionSet>(),
                iteration: 1,
                first_open: false,
            };
            let taken = Taken {
                action: 0,
                probability,
                walked: 0.25,
                advantage: probability,
            };
            decisions.add(&sample, taken);
        }
        assert_eq!(decisions.len(), 2);
        let sweep = decisions.memory().start_sweep(&mut stream());
        let mut batches = decisions.batches(2, sweep, None).unwrap();
        let logs = Vec::<f32>::try_from(batches.next().unwrap().log_probability).unwrap();
        assert!(logs.iter().all(|log| log.is_finite()), "{logs:?}");
    }
}
