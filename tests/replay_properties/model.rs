//! Rows as vectors, and a reservoir over a vector.

use coorl_async::game::ActionSet;
use coorl_async::random::{Purpose, Randomness, Stream};
use coorl_async::replay::{Memory, Sample};

/// A sample that owns its values.
#[derive(Clone, Debug)]
pub struct Row {
    pub info: Vec<f32>,
    pub target: Vec<f32>,
    pub legal: u128,
    pub iteration: u32,
    pub first_open: bool,
}

/// Equal bit for bit, so that not-a-number equals itself.
impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        bits(&self.info) == bits(&other.info)
            && bits(&self.target) == bits(&other.target)
            && (self.legal, self.iteration, self.first_open)
                == (other.legal, other.iteration, other.first_open)
    }
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

impl Row {
    pub fn of(sample: &Sample<'_>) -> Self {
        Self {
            info: sample.info.to_vec(),
            target: sample.target.to_vec(),
            legal: sample.legal.bits(),
            iteration: sample.iteration,
            first_open: sample.first_open,
        }
    }

    pub fn sample(&self) -> Sample<'_> {
        Sample {
            info: &self.info,
            target: &self.target,
            legal: ActionSet::from_bits(self.legal),
            iteration: self.iteration,
            first_open: self.first_open,
        }
    }
}

/// A row of arbitrary bits, not-a-number among them.
pub fn row(info_len: usize, actions: usize, iteration: u32, stream: &mut Stream) -> Row {
    let mut value = || f32::from_bits((stream.index(1 << 32)) as u32);
    let info = (0..info_len).map(|_| value()).collect();
    let target = (0..actions).map(|_| value()).collect();
    let legal = (0..actions).fold(0, |set, action| set | (stream.index(2) as u128) << action);
    Row {
        info,
        target,
        legal,
        iteration,
        first_open: stream.index(3) == 0,
    }
}

pub fn stream(number: u64) -> Stream {
    Stream::new(number, Purpose::Trial, 1, 1)
}

pub fn reservoir_stream(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Reservoir, 0, 0)
}

pub fn memory(capacity: usize, info_len: usize, actions: usize, seed: u64) -> Memory {
    Memory::new(capacity, info_len, actions, reservoir_stream(seed)).unwrap()
}

/// Algorithm R over a vector.
pub struct Model {
    capacity: usize,
    pub rows: Vec<Row>,
    pub seen: u64,
    pub stream: Stream,
}

impl Model {
    pub fn new(capacity: usize, seed: u64) -> Self {
        Self {
            capacity,
            rows: Vec::new(),
            seen: 0,
            stream: reservoir_stream(seed),
        }
    }

    pub fn add(&mut self, row: Row) -> Option<usize> {
        self.seen += 1;
        if self.capacity == 0 {
            return None;
        }
        if self.rows.len() < self.capacity {
            self.rows.push(row);
            return Some(self.rows.len() - 1);
        }
        let slot = self.stream.index(self.seen as usize);
        *self.rows.get_mut(slot)? = row;
        Some(slot)
    }
}

/// Pearson's statistic of counts that should be equal and sum to `total`.
pub fn chi_square(counts: &[usize], total: usize) -> f64 {
    let expected = total as f64 / counts.len() as f64;
    let squares = counts
        .iter()
        .map(|&count| (count as f64 - expected).powi(2));
    squares.sum::<f64>() / expected
}
