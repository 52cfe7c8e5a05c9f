//! Which samples are kept out of fits, to measure them by.

use std::num::NonZeroUsize;

/// Every `n`-th slot of a memory, counted from slot `n - 1`, or none. The others are the fitting side.
///
/// A slot stays on its side whatever is written to it, and a sample in its slot, so no sample is fitted to now and measured by later. Slot 0 is always on the fitting side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldOut(Option<NonZeroUsize>);

impl HeldOut {
    /// No sample is held out.
    pub const NONE: Self = Self(None);

    /// One slot in `n`, where `n` is the whole number nearest to `1 / share`, at least 2; none for a share that is not positive.
    pub fn share(share: f64) -> Self {
        if share > 0.0 {
            let n = (1.0 / share).round().max(2.0);
            Self(NonZeroUsize::new(n as usize))
        } else {
            Self::NONE
        }
    }

    /// Whether a slot is held out.
    pub fn holds(self, slot: usize) -> bool {
        self.0.is_some_and(|n| slot % n == n.get() - 1)
    }

    /// The slots held out among the first `len`.
    pub fn count(self, len: usize) -> usize {
        self.0.map_or(0, |n| len / n)
    }

    /// The slot of the fitting side with `rank` smaller ones on its side.
    pub(super) fn fitting_slot(self, rank: u32) -> u32 {
        // No slot is beyond 32 bits, and a divisor that is has no held-out slot among them.
        match self.0.map(|n| u32::try_from(n.get() - 1)) {
            Some(Ok(between)) => rank + rank / between,
            _ => rank,
        }
    }

    /// The held-out slot with `rank` smaller ones.
    pub(super) fn held_out_slot(self, rank: u32) -> u32 {
        self.0
            .map_or(rank, |n| (rank + 1).saturating_mul(n.get() as u32) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_share_the_slots_and_each_finds_its_own() {
        for (share, n) in [(0.5, 2), (0.4, 3), (0.3, 3), (0.1, 10), (0.013, 77)] {
            let held_out = HeldOut::share(share);
            let (held, fitting): (Vec<_>, Vec<_>) =
                (0..500).partition(|&slot| held_out.holds(slot as usize));
            assert_eq!(held[0], n - 1, "{share}");
            for len in 0..500 {
                let count = held.iter().filter(|&&slot| slot < len).count();
                assert_eq!(held_out.count(len as usize), count, "{share}");
            }
            let found: Vec<_> = (0..held.len() as u32)
                .map(|rank| held_out.held_out_slot(rank))
                .collect();
            assert_eq!(found, held, "{share}");
            let found: Vec<_> = (0..fitting.len() as u32)
                .map(|rank| held_out.fitting_slot(rank))
                .collect();
            assert_eq!(found, fitting, "{share}");
        }
    }

    #[test]
    fn without_a_share_every_slot_is_fitted_to() {
        for held_out in [
            HeldOut::NONE,
            HeldOut::share(0.0),
            HeldOut::share(f64::NAN),
            HeldOut::share(1e-300),
        ] {
            assert!(!held_out.holds(0) && !held_out.holds(u32::MAX as usize));
            assert_eq!(held_out.count(u32::MAX as usize), 0);
            assert_eq!(held_out.fitting_slot(u32::MAX - 1), u32::MAX - 1);
        }
    }
}
