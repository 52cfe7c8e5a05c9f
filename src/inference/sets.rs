//! Networks of up to two architectures behind one engine, for policies that meet each other.

use super::{
    Engine, EngineError, EngineNetworks, EngineThreads, Head, HeadWeights, LaneNetworks, Network,
    NetworkControl, RowShape, Settings,
};
use crate::network::TensorError;
use std::time::Duration;

/// The first head of the second set.
const SECOND: u8 = 128;

impl Head {
    /// The most pairs of snapshots that a set has room for.
    pub const SNAPSHOTS_IN_SET: usize = 60;

    /// This head (below 128) in set 0 or 1.
    pub const fn of_set(self, set: Set) -> Head {
        match set {
            Set::First => self,
            Set::Second => Head(self.0 + SECOND),
        }
    }

    pub(super) fn set(self) -> (Set, Head) {
        match self.0.checked_sub(SECOND) {
            None => (Set::First, self),
            Some(number) => (Set::Second, Head(number)),
        }
    }
}

/// One of the two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Heads as they are.
    First,
    /// Heads from 128 on.
    Second,
}

/// The networks of one lane, in one or two sets, each with lengths of its own.
///
/// Rows are as long as the longest: a set reads the beginning of the info state and writes the beginning of the answer.
pub struct NetworkSets {
    first: LaneNetworks,
    /// Only where there are two: what rows look like, and the second set.
    second: Option<Second>,
}

struct Second {
    networks: LaneNetworks,
    /// Lengths by set, and the longest of each.
    shapes: [RowShape; 2],
    widest: RowShape,
    /// `[staged rows, widest.info_len]`.
    stage: Vec<f32>,
    /// `[staged rows, widest.actions]`.
    answers: Vec<f32>,
}

impl NetworkSets {
    /// Starts an engine with `capacity` slots for the networks of `first` and perhaps `second`; no head has weights yet. The threads are
    /// those of `first`.
    ///
    /// # Errors
    /// As [`Engine::start`].
    pub fn start(
        first: EngineNetworks<'_>,
        second: Option<EngineNetworks<'_>>,
        settings: &Settings,
        capacity: usize,
    ) -> Result<(Engine, NetworkControl<Self>), EngineError> {
        let own = first.shape();
        let shapes = [own, second.map_or(own, |second| second.shape())];
        let widest = RowShape {
            info_len: shapes[0].info_len.max(shapes[1].info_len),
            actions: shapes[0].actions.max(shapes[1].actions),
        };
        let build = || {
            let other = second.map(|second| second.lane(settings.max_batch));
            let networks = other.transpose()?;
            Ok(Self {
                first: first.lane(settings.max_batch)?,
                second: networks.map(|networks| Second {
                    networks,
                    shapes,
                    widest,
                    stage: Vec::new(),
                    answers: Vec::new(),
                }),
            })
        };
        let threads: EngineThreads = first.threads();
        Engine::start(settings, widest, capacity, threads, build)
    }

    /// Gives `head` of a set its weights.
    ///
    /// # Errors
    /// As [`LaneNetworks::load`]; a set that is not there.
    pub fn load(&mut self, set: Set, head: Head, weights: &HeadWeights) -> Result<(), TensorError> {
        if head.0 >= SECOND {
            return Err(TensorError::new(format!("head {} is beyond a set", head.0)));
        }
        match (set, &mut self.second) {
            (Set::First, _) => self.first.load(head, weights),
            (Set::Second, Some(second)) => second.networks.load(head, weights),
            (Set::Second, None) => Err(TensorError::new("there is no second set of networks")),
        }
    }
}

impl Network for NetworkSets {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        match &mut self.second {
            None => self.first.stage(rows),
            Some(second) => second.stage(rows),
        }
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        match (&mut self.second, head.set()) {
            (None, (Set::First, head)) => self.first.run(head, rows),
            (None, (Set::Second, _)) => Err(format!("head {} has no networks", head.0)),
            (Some(second), (set, head)) => second.run(&mut self.first, set, head, rows),
        }
    }

    fn device_time(&self) -> Option<Duration> {
        match &self.second {
            None => self.first.device_time(),
            // Which of them ran is forgotten.
            Some(_) => None,
        }
    }
}

impl Second {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        let length = rows * self.widest.info_len;
        if self.stage.len() < length {
            self.stage.resize(length, 0.0);
        }
        &mut self.stage[..length]
    }

    /// Narrows the staged rows to the set's length, runs them, and widens the answers.
    fn run(
        &mut self,
        first: &mut LaneNetworks,
        set: Set,
        head: Head,
        rows: usize,
    ) -> Result<&[f32], String> {
        let shape = self.shapes[set as usize];
        let networks = match set {
            Set::First => first,
            Set::Second => &mut self.networks,
        };
        let wide = self.stage.chunks_exact(self.widest.info_len);
        let narrow = networks.stage(rows).chunks_exact_mut(shape.info_len);
        for (narrow, wide) in narrow.zip(wide) {
            narrow.copy_from_slice(&wide[..shape.info_len]);
        }
        let narrow = networks.run(head, rows)?;
        self.answers.resize(rows * self.widest.actions, 0.0);
        let wide = self.answers.chunks_exact_mut(self.widest.actions);
        for (wide, narrow) in wide.zip(narrow.chunks_exact(shape.actions)) {
            wide[..shape.actions].copy_from_slice(narrow);
        }
        Ok(&self.answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        inference::{Computing, HeadArchitectures, Kernels},
        network::{self, Architecture},
        random::{Purpose, Randomness, Stream},
    };

    fn architecture(inputs: usize, outputs: usize) -> HeadArchitectures {
        let settings = network::Settings::default();
        let network = Architecture::new(&settings, inputs, outputs, None);
        network.unwrap().into()
    }

    fn weights(architectures: &HeadArchitectures, number: u64) -> HeadWeights {
        let mut stream = Stream::new(5, Purpose::Weights, number, 0);
        let parameters = architectures.policy.initial(&mut stream);
        let head = Head::STRATEGY;
        let computing = Kernels::Auto.into();
        LaneNetworks::prepare(architectures, &computing, head, parameters).unwrap()
    }

    fn lane(architectures: &HeadArchitectures) -> LaneNetworks {
        let computing = Computing {
            deterministic: true,
            ..Kernels::Auto.into()
        };
        LaneNetworks::new(architectures, &computing, 64).unwrap()
    }

    #[test]
    fn each_set_answers_as_if_it_were_alone_whatever_the_others_lengths() {
        let architectures = [architecture(7, 9), architecture(11, 4)];
        let shapes = [(7, 9), (11, 4)].map(|(info_len, actions)| RowShape { info_len, actions });
        let mut sets = NetworkSets {
            first: lane(&architectures[0]),
            second: Some(Second {
                networks: lane(&architectures[1]),
                shapes,
                widest: RowShape {
                    info_len: 11,
                    actions: 9,
                },
                stage: Vec::new(),
                answers: Vec::new(),
            }),
        };
        let head = Head::STRATEGY;
        for (set, architecture) in [Set::First, Set::Second].into_iter().zip(&architectures) {
            let weights = weights(architecture, set as u64);
            sets.load(set, head, &weights).unwrap();
        }
        let mut stream = Stream::new(5, Purpose::Trial, 0, 0);
        let rows: Vec<f32> = (0..3 * 11).map(|_| stream.uniform() as f32).collect();
        for (set, architecture) in [Set::First, Set::Second].into_iter().zip(&architectures) {
            let RowShape { info_len, actions } = shapes[set as usize];
            let mut alone = lane(architecture);
            alone
                .load(head, &weights(architecture, set as u64))
                .unwrap();
            let narrow = alone.stage(3).chunks_exact_mut(info_len);
            for (narrow, row) in narrow.zip(rows.chunks_exact(11)) {
                narrow.copy_from_slice(&row[..info_len]);
            }
            let wanted = alone.run(head, 3).unwrap()[..3 * actions].to_vec();
            sets.stage(3).copy_from_slice(&rows);
            let answers = sets.run(head.of_set(set), 3).unwrap();
            assert_eq!(answers.len(), 3 * 9);
            let answers = answers.chunks_exact(9).flat_map(|row| &row[..actions]);
            assert!(answers.eq(&wanted), "{set:?}");
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let architecture = architecture(7, 9);
        let mut sets = NetworkSets {
            first: lane(&architecture),
            second: None,
        };
        let weights = weights(&architecture, 0);
        assert!(sets.load(Set::Second, Head::STRATEGY, &weights).is_err());
        assert!(sets.load(Set::First, Head(128), &weights).is_err());
        sets.stage(1);
        assert!(sets.run(Head::STRATEGY, 1).is_err());
        assert!(sets.run(Head::STRATEGY.of_set(Set::Second), 1).is_err());
        let highest = Head::snapshot(Head::SNAPSHOTS_IN_SET as u8 - 1, crate::game::Player::P1);
        assert!(highest.0 < SECOND);
        assert_eq!(highest.of_set(Set::Second).set(), (Set::Second, highest));
    }
}
