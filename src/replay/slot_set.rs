//! Sets of slots: a plain one with cheap clearing, and one that finds its k-th smallest member.

const WORD_BITS: usize = 64;
/// Words under one block count, blocks under one region count: 512 and 32,768 slots.
const BLOCK_WORDS: usize = 8;
const REGION_BLOCKS: usize = 64;

/// Slots noted in the order of their first mention; noting one again changes nothing. Clearing costs what was noted.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    words: Vec<u64>,
    slots: Vec<u32>,
}

impl Noted {
    /// Notes a slot; false when it was there already.
    pub fn insert(&mut self, slot: u32) -> bool {
        let (word, bit) = (
            slot as usize / WORD_BITS,
            1u64 << (slot as usize % WORD_BITS),
        );
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let fresh = self.words[word] & bit == 0;
        if fresh {
            self.words[word] |= bit;
            self.slots.push(slot);
        }
        fresh
    }

    /// The slots in the order they were first noted.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Forgets everything and keeps the room.
    pub fn clear(&mut self) {
        for &slot in &self.slots {
            self.words[slot as usize / WORD_BITS] = 0;
        }
        self.slots.clear();
    }
}

/// A set of slots below a bound that answers which is the `k`-th member.
///
/// Membership bits lie under counts of 512 and of 32,768 slots. A change touches one bit and two counts; a look-up scans
/// the upper counts (61 for two million slots), 64 lower ones and 8 words. What it answers depends on the members alone,
/// not on the order in which they came and went, so a restored set draws as the saved one did. Memory: 0.15 bytes a slot,
/// taken at the first insertion.
#[derive(Clone, Debug)]
pub(super) struct RankedSet {
    bound: usize,
    words: Vec<u64>,
    blocks: Vec<u16>,
    regions: Vec<u32>,
    len: usize,
}

impl RankedSet {
    /// The empty set of slots below `bound`.
    pub fn new(bound: usize) -> Self {
        Self {
            bound,
            words: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            len: 0,
        }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes that the set takes once it has a member.
    pub fn bytes(&self) -> usize {
        let regions = self.regions_needed();
        let blocks = regions * REGION_BLOCKS;
        regions * size_of::<u32>() + blocks * (size_of::<u16>() + BLOCK_WORDS * size_of::<u64>())
    }

    fn regions_needed(&self) -> usize {
        self.bound.div_ceil(WORD_BITS * BLOCK_WORDS * REGION_BLOCKS)
    }

    /// Whether `slot` is a member.
    pub fn contains(&self, slot: usize) -> bool {
        self.words
            .get(slot / WORD_BITS)
            .is_some_and(|word| word >> (slot % WORD_BITS) & 1 == 1)
    }

    /// Makes `slot` a member or not.
    pub fn set(&mut self, slot: usize, member: bool) {
        debug_assert!(slot < self.bound);
        if self.contains(slot) == member {
            return;
        }
        if self.words.is_empty() {
            let regions = self.regions_needed();
            self.regions = vec![0; regions];
            self.blocks = vec![0; regions * REGION_BLOCKS];
            self.words = vec![0; regions * REGION_BLOCKS * BLOCK_WORDS];
        }
        let word = slot / WORD_BITS;
        let block = word / BLOCK_WORDS;
        let region = block / REGION_BLOCKS;
        self.words[word] ^= 1 << (slot % WORD_BITS);
        if member {
            self.blocks[block] += 1;
            self.regions[region] += 1;
            self.len += 1;
        } else {
            self.blocks[block] -= 1;
            self.regions[region] -= 1;
            self.len -= 1;
        }
    }

    /// The member with `rank` smaller members; `rank` must be below [`RankedSet::len`].
    pub fn select(&self, rank: usize) -> usize {
        assert!(rank < self.len, "rank {rank} of {} slots", self.len);
        let mut rest = rank;
        let region = descend(&self.regions, &mut rest, |&count| count as usize);
        let below = region * REGION_BLOCKS;
        let blocks = &self.blocks[below..below + REGION_BLOCKS];
        let block = below + descend(blocks, &mut rest, |&count| count.into());
        let below = block * BLOCK_WORDS;
        let words = &self.words[below..below + BLOCK_WORDS];
        let word = below + descend(words, &mut rest, |bits| bits.count_ones() as usize);
        let mut bits = self.words[word];
        for _ in 0..rest {
            bits &= bits - 1;
        }
        word * WORD_BITS + bits.trailing_zeros() as usize
    }
}

/// The first part whose count exceeds what is left of `rest` after the parts before it.
fn descend<T>(parts: &[T], rest: &mut usize, count: impl Fn(&T) -> usize) -> usize {
    for (index, part) in parts.iter().enumerate() {
        let count = count(part);
        if *rest < count {
            return index;
        }
        *rest -= count;
    }
    unreachable!("the counts of a ranked set cover its members")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Randomness, Stream};
    use std::collections::BTreeSet;

    #[test]
    fn a_ranked_set_agrees_with_a_sorted_set_under_changes() {
        let mut stream = Stream::new(11, Purpose::Trial, 0, 0);
        for bound in [1, 63, 64, 513, 32_768, 100_000] {
            let (mut set, mut model) = (RankedSet::new(bound), BTreeSet::new());
            for step in 0..4_000 {
                let slot = stream.index(bound);
                let member = stream.index(3) > 0;
                set.set(slot, member);
                if member {
                    model.insert(slot);
                } else {
                    model.remove(&slot);
                }
                assert_eq!(set.len(), model.len(), "bound {bound} step {step}");
                assert_eq!(set.contains(slot), member);
            }
            let selected: Vec<_> = (0..set.len()).map(|rank| set.select(rank)).collect();
            assert_eq!(selected, model.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn noting_keeps_the_first_order_and_clears() {
        let mut noted = Noted::default();
        assert_eq!(
            [9, 700, 9, 0].map(|slot| noted.insert(slot)),
            [true, true, false, true]
        );
        assert_eq!(noted.slots(), [9, 700, 0]);
        noted.clear();
        assert!(noted.slots().is_empty() && noted.insert(700));
    }
}
