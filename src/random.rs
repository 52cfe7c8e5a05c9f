//! Independent random streams.
//!
//! Every consumer of randomness (one walk, one reservoir, one evaluation game) owns a stream derived from the run's seed and
//! from what the consumer *is*, never from when it runs. Scheduling therefore changes speed and never results.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a walk or a bot needs from a random stream.
///
/// The golden tests drive the same walks with the reference's generator through this trait.
pub trait Randomness {
    /// A double uniform in `[0, 1)`.
    fn uniform(&mut self) -> f64;
    /// An index uniform in `0..n`; `n` must be positive.
    fn index(&mut self, n: usize) -> usize;
}

/// Who consumes a stream. Two purposes never share numbers, whatever their other coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// A traversal: coordinates `(iteration, 2 * index + traverser)`.
    Walk = 1,
    /// The replacement decisions of one replay memory: `(memory number, 0)`.
    Reservoir = 2,
    /// The minibatches of one network's fit: `(iteration, network number)`.
    Minibatch = 3,
    /// The deal and the players of one evaluation game: `(iteration, game)`.
    Evaluation = 4,
    /// The initial weights of one network: `(network number, 0)`, or `(network number, iteration)` where it starts anew.
    Weights = 5,
    /// The samples by which the scale of one network's targets is measured: `(iteration, network number)`.
    TargetScale = 7,
    /// The held-out samples by which one network's fit is measured: `(iteration, network number)`.
    HeldOut = 8,
    /// Benchmarks, self checks and tests.
    Trial = 6,
    /// What the learners of value-guided walks draw: `(iteration, number)`, or `(0, number)` for what lasts.
    Guided = 10,
    /// Which past policies of an average are kept, `(iteration, 0)`, and which play an evaluation: `(iteration, 1)`.
    Average = 9,
    /// The deal and the players of one game of `coorl-async evaluate`, which no training meets: `(deal, 0)` the deal, `(deal, 1 + seat)` what
    /// happens in the game where the policy has that seat.
    Judgement = 11,
}

/// A ChaCha8 stream whose 256-bit key spells out the seed, the purpose and two coordinates.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `purpose` at coordinates `a` and `b` under `seed`.
    pub fn new(seed: u64, purpose: Purpose, a: u64, b: u64) -> Self {
        let mut key = [0u8; 32];
        for (chunk, word) in key.chunks_exact_mut(8).zip([seed, purpose as u64, a, b]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A stream of its own, whose key is the next 256 bits of this one.
    pub fn fork(&mut self) -> Self {
        let mut key = [0u8; 32];
        self.fill_bytes(&mut key);
        Self(ChaCha8Rng::from_seed(key))
    }

    /// How many 32-bit words have been taken, for saving the stream's position.
    pub fn position(&self) -> u128 {
        self.0.get_word_pos()
    }

    /// Moves to a position taken from [`Stream::position`] on a stream of the same coordinates.
    pub fn seek(&mut self, position: u128) {
        self.0.set_word_pos(position);
    }
}

impl RngCore for Stream {
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

impl Randomness for Stream {
    fn uniform(&mut self) -> f64 {
        rand::Rng::random(self)
    }
    fn index(&mut self, n: usize) -> usize {
        rand::Rng::random_range(self, 0..n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_in_every_coordinate_and_resume_at_a_position() {
        let first = |seed, purpose, a, b| Stream::new(seed, purpose, a, b).next_u64();
        let base = first(1, Purpose::Walk, 2, 3);
        for other in [
            first(2, Purpose::Walk, 2, 3),
            first(1, Purpose::Reservoir, 2, 3),
            first(1, Purpose::Walk, 3, 3),
            first(1, Purpose::Walk, 2, 4),
        ] {
            assert_ne!(base, other);
        }
        let mut stream = Stream::new(9, Purpose::Trial, 0, 0);
        for _ in 0..5 {
            stream.next_u32();
        }
        let mut again = Stream::new(9, Purpose::Trial, 0, 0);
        again.seek(stream.position());
        assert_eq!(stream.next_u64(), again.next_u64());
    }
}
