//! Minibatches one after the other through a memory, so that every sample is met before any is met again.

use crate::random::{Randomness, Stream};

/// A walk through `len` numbers that meets each of them once in every `len` steps, at even distances: any stretch of it is spread over the
/// whole.
///
/// The steps are multiples of the whole number nearest to `len` times the golden ratio's fraction that has no divisor in common with `len`, from
/// a drawn start. (Multiples of the golden ratio leave the most even gaps: Knuth, The Art of Computer Programming 3, section 6.4.)
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    len: u64,
    stride: u64,
    next: u64,
}

impl Sweep {
    /// A sweep of `0..len` that starts where `stream` says.
    pub fn new(len: usize, stream: &mut Stream) -> Self {
        let length = len as u64;
        let golden = (len as f64 * 0.618_033_988_749_894_9) as u64;
        let stride = (golden.max(1)..).find(|&stride| coprime(stride, length));
        Self {
            len: length,
            stride: stride.unwrap_or(1),
            next: if len == 0 {
                0
            } else {
                stream.index(len) as u64
            },
        }
    }

    /// The next `count` numbers; distinct as long as there are no more than `len`.
    pub(super) fn take(&mut self, count: usize) -> impl Iterator<Item = u32> {
        (0..count).map(|_| {
            let number = self.next;
            self.next = (number + self.stride) % self.len.max(1);
            number as u32
        })
    }
}

fn coprime(mut a: u64, mut b: u64) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn sweep(len: usize) -> Sweep {
        Sweep::new(len, &mut Stream::new(1, Purpose::Minibatch, 0, 0))
    }

    #[test]
    fn every_number_comes_once_in_each_pass() {
        for len in [1, 2, 3, 6, 10, 97, 360, 1_024, 30_030] {
            let mut sweep = sweep(len);
            for pass in 0..2 {
                let mut found: Vec<_> = sweep.take(len).collect();
                found.sort_unstable();
                assert!(found.into_iter().eq(0..len as u32), "{len}, pass {pass}");
            }
        }
        assert_eq!(sweep(0).take(0).count(), 0);
    }

    #[test]
    fn any_stretch_is_spread_over_the_whole() {
        let (len, rows) = (1_000_003, 512);
        let mut sweep = sweep(len);
        for _ in 0..20 {
            let mut stretch: Vec<_> = sweep.take(rows).collect();
            stretch.sort_unstable();
            let wider = stretch.windows(2).map(|pair| pair[1] - pair[0]).max();
            let even = (len / rows) as u32;
            assert!(wider.unwrap() < 3 * even, "{wider:?} where {even} is even");
        }
    }

    #[test]
    fn sweeps_start_where_their_stream_says() {
        let start = |number| {
            let mut stream = Stream::new(1, Purpose::Minibatch, number, 0);
            Sweep::new(1_000, &mut stream).take(1).next()
        };
        assert_eq!(start(1), start(1));
        assert_ne!(start(1), start(2));
    }
}
