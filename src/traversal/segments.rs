//! The order of a walk's samples, whatever order its branches were walked in.

/// The stretches of a walk between its branchings, as a tree. A stretch whose decision opens several branches ends there; each of them
/// begins one of its own.
pub(super) struct Segments {
    /// By segment: the first of its branches' segments and how many there are.
    branches: Vec<(u32, u32)>,
}

/// Places of segments, by segment.
pub(super) struct Places {
    /// In the order in which a depth-first walk begins them.
    pub(super) begun: Vec<u32>,
    /// In the order in which a depth-first walk ends them.
    pub(super) ended: Vec<u32>,
}

impl Segments {
    /// The first segment of every walk.
    pub(super) const ROOT: u32 = 0;

    pub(super) fn new() -> Self {
        Self {
            branches: vec![(0, 0)],
        }
    }

    /// Ends `segment` with `branches` branches; returns the first one's segment, the others' follow.
    pub(super) fn branch(&mut self, segment: u32, branches: usize) -> u32 {
        let first = self.branches.len() as u32;
        self.branches[segment as usize] = (first, branches as u32);
        self.branches.resize(self.branches.len() + branches, (0, 0));
        first
    }

    /// Where each segment comes in a depth-first walk; `None` when there is but one.
    pub(super) fn places(&self) -> Option<Places> {
        let count = self.branches.len();
        if count == 1 {
            return None;
        }
        let (mut begun, mut ended) = (vec![0; count], vec![0; count]);
        let (mut beginnings, mut endings) = (0, 0);
        // Each entry: a segment, and how many of its branches are done.
        let mut under_way = vec![(Self::ROOT, 0)];
        beginnings += 1;
        while let Some((segment, done)) = under_way.last_mut() {
            let (first, branches) = self.branches[*segment as usize];
            if *done < branches {
                let branch = first + *done;
                *done += 1;
                begun[branch as usize] = beginnings;
                beginnings += 1;
                under_way.push((branch, 0));
            } else {
                ended[*segment as usize] = endings;
                endings += 1;
                under_way.pop();
            }
        }
        Some(Places { begun, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_depth_first_walk() {
        let mut segments = Segments::new();
        assert!(segments.places().is_none());
        assert_eq!(segments.branch(Segments::ROOT, 2), 1);
        // The second branch is walked before the first.
        assert_eq!(segments.branch(2, 2), 3);
        assert_eq!(segments.branch(1, 1), 5);
        let Places { begun, ended } = segments.places().unwrap();
        assert_eq!(begun, [0, 1, 3, 4, 5, 2]);
        assert_eq!(ended, [5, 1, 4, 2, 3, 0]);
    }
}
