//! Sets of actions as one 128-bit word.

/// An action id, below [`ActionSet::CAPACITY`].
pub type Action = u8;

/// A set of action ids 0..128; iteration ascends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActionSet(u128);

impl ActionSet {
    /// The number of ids a set can hold.
    pub const CAPACITY: usize = 128;
    /// No action.
    pub const EMPTY: Self = Self(0);

    /// The set whose bit `i` says whether id `i` is in it.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Bit `i` says whether id `i` is in the set.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Adds an id.
    pub fn insert(&mut self, action: Action) {
        self.0 |= 1 << action;
    }

    /// Takes an id out.
    pub fn remove(&mut self, action: Action) {
        self.0 &= !(1 << action);
    }

    /// Whether the id is in the set.
    pub fn contains(self, action: Action) -> bool {
        (action as usize) < Self::CAPACITY && self.0 >> action & 1 == 1
    }

    /// The number of ids in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The lowest id.
    pub fn first(self) -> Option<Action> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as Action)
    }

    /// The id with `n` lower ids in the set.
    pub fn nth(self, n: usize) -> Option<Action> {
        self.iter().nth(n)
    }

    /// The ids, ascending.
    pub fn iter(self) -> impl Iterator<Item = Action> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let action = (rest != 0).then(|| rest.trailing_zeros() as Action)?;
            rest &= rest - 1;
            Some(action)
        })
    }
}

impl FromIterator<Action> for ActionSet {
    fn from_iter<I: IntoIterator<Item = Action>>(actions: I) -> Self {
        let mut set = Self::EMPTY;
        actions.into_iter().for_each(|action| set.insert(action));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_as_a_set_in_ascending_order() {
        let mut set: ActionSet = [127, 0, 64, 3].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 64, 127]);
        assert_eq!(
            (set.len(), set.first(), set.nth(2), set.nth(4)),
            (4, Some(0), Some(64), None)
        );
        set.remove(0);
        assert!(!set.contains(0) && set.contains(127) && !set.contains(200));
        assert_eq!(ActionSet::EMPTY.first(), None);
    }
}
