//! Cards of one colour as a count of handshakes and a set of numbers.

use crate::game::lost_cities::{Card, Expedition, Rules};

/// Cards of one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ColorCards {
    pub handshakes: i32,
    /// Bit `r` says whether the number of rank r (1 or more) is among them.
    pub numbers: u32,
}

impl ColorCards {
    /// The cards of a game's colours.
    pub fn by_color(cards: impl Iterator<Item = Card>) -> [Self; Rules::MAX_COLORS] {
        let mut colors = [Self::default(); Rules::MAX_COLORS];
        cards.for_each(|card| colors[card.color as usize].add(card.rank));
        colors
    }

    /// The cards of an expedition.
    pub fn of_expedition(expedition: Expedition) -> Self {
        Self {
            handshakes: i32::from(expedition.handshakes),
            numbers: expedition.rank_bits,
        }
    }

    pub fn add(&mut self, rank: u8) {
        // Without a branch: a handshake's bit 0 is moved from the set into the count.
        let bits = self.numbers | 1 << rank;
        self.handshakes += (bits & 1) as i32;
        self.numbers = bits & !1;
    }

    /// Those that `expedition` takes as its next card.
    pub fn playable_on(self, expedition: Expedition) -> Self {
        Self {
            handshakes: self.handshakes * i32::from(expedition.last_rank == 0),
            numbers: self.numbers & numbers_above(expedition.last_rank),
        }
    }

    /// How many numbers there are, and the sum of their ranks.
    pub fn count_and_sum(self) -> [i32; 2] {
        let (mut count, mut sum) = (0, 0);
        let (mut rest, mut base) = (self.numbers, 0);
        while rest != 0 {
            let [ranks, offsets] = SUMS[(rest & 15) as usize];
            count += ranks;
            sum += base * ranks + offsets;
            rest >>= 4;
            base += 4;
        }
        [count, sum]
    }

    /// Writes the share `handshake` and, rank by rank, 1 or 0 into the first `types` values of `row`, and then zeros as
    /// [`write_marks`] does.
    pub fn write(self, types: usize, handshake: f32, row: &mut [f32]) {
        write_marks(self.numbers, types, row);
        row[0] = handshake;
    }
}

/// The bits of all ranks above `rank`.
fn numbers_above(rank: u8) -> u32 {
    !1 << rank
}

/// The least that [`write_marks`] writes: the types of the classic game in whole fours, without a loop over a length that varies.
const LEAST: usize = 12;

/// Writes bit after bit as 1 or 0 into the first `types` values of `row`, and then zeros up to [`LEAST`] values or a multiple of 4.
pub(super) fn write_marks(bits: u32, types: usize, row: &mut [f32]) {
    let (least, more) = row.split_at_mut(LEAST);
    let marks = |bits: u32| &MARKS[(bits & 15) as usize];
    for (four, at) in least.chunks_exact_mut(4).zip([0, 4, 8]) {
        four.copy_from_slice(marks(bits >> at));
    }
    let rest = types.saturating_sub(LEAST).div_ceil(4);
    for (four, at) in more.chunks_exact_mut(4).take(rest).zip(0..) {
        four.copy_from_slice(marks(bits >> (LEAST + 4 * at)));
    }
}

/// Four bits as numbers, the lowest first.
const MARKS: [[f32; 4]; 16] = {
    let mut marks = [[0.0; 4]; 16];
    let mut at = 0;
    while at < 64 {
        if (at / 4) >> (at % 4) & 1 == 1 {
            marks[at / 4][at % 4] = 1.0;
        }
        at += 1;
    }
    marks
};

/// How many of four bits are set, and the sum of their numbers.
const SUMS: [[i32; 2]; 16] = {
    let mut sums = [[0; 2]; 16];
    let mut at = 0;
    while at < 64 {
        if (at / 4) >> (at % 4) & 1 == 1 {
            sums[at / 4][0] += 1;
            sums[at / 4][1] += (at % 4) as i32;
        }
        at += 1;
    }
    sums
};
