//! A network whose answers are hashes of what it is asked.

use coorl_async::inference::{Head, Network, RowShape};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What an answer depends on besides the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// The row alone, as it must be.
    AtTheRow,
    /// How many rows there are too.
    AtTheBatch,
}

/// Answers in (-50, 50), every third row all below 0 so that regret matching falls back.
pub struct FakeNetwork {
    shape: RowShape,
    looks: Looks,
    stage: Vec<f32>,
    answers: Vec<f32>,
}

impl FakeNetwork {
    pub fn new(shape: RowShape, looks: Looks) -> Self {
        Self {
            shape,
            looks,
            stage: Vec::new(),
            answers: Vec::new(),
        }
    }
}

impl Network for FakeNetwork {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        self.stage.resize(rows * self.shape.info_len, 0.0);
        &mut self.stage
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        let seed = match self.looks {
            Looks::AtTheRow => u64::from(head.0),
            Looks::AtTheBatch => u64::from(head.0) + 1_000 * rows as u64,
        };
        self.answers.clear();
        for row in self.stage.chunks_exact(self.shape.info_len).take(rows) {
            let bytes: Vec<u8> = row
                .iter()
                .flat_map(|value| value.to_bits().to_le_bytes())
                .collect();
            let hash = xxh3_64_with_seed(&bytes, seed);
            let negative = hash.is_multiple_of(3);
            self.answers
                .extend((0..self.shape.actions as u64).map(|action| {
                    let bits = xxh3_64_with_seed(&action.to_le_bytes(), hash);
                    let value = (bits >> 40) as f32 / (1u64 << 24) as f32 * 100.0 - 50.0;
                    if negative { -value.abs() - 0.5 } else { value }
                }));
        }
        Ok(&self.answers)
    }
}
