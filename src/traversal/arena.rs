//! The samples of one walk, contiguous, until replay copies them.

use super::segments::Places;
use crate::game::{ActionSet, Player};

/// Info states per block of an arena: large enough to be one allocation in many decisions, small enough to waste little.
const BLOCK: usize = 32;

/// Samples of one walk. Info states are stored once, in visit order; advantage and strategy samples point at them.
#[derive(Clone, Debug, Default)]
pub struct SampleArena {
    info_len: usize,
    actions: usize,
    /// Blocks of [`BLOCK`] info states, so that growing moves none of them.
    infos: Vec<Vec<f32>>,
    stored: usize,
    advantage: Kind,
    strategy: Kind,
}

/// One kind of samples in the order they were recorded.
#[derive(Clone, Debug, Default)]
struct Kind {
    rows: Vec<Row>,
    targets: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    info: u32,
    player: Player,
    first_open: bool,
    legal: ActionSet,
    /// Where its target lies among the targets.
    target: u32,
    segment: u32,
}

/// One sample as it lies in its arena.
#[derive(Clone, Copy, Debug)]
pub struct SampleView<'a> {
    /// The info state, `[info_len]`.
    pub info: &'a [f32],
    /// Advantages in points, or a policy; `[actions]`, 0 on illegal actions.
    pub target: &'a [f32],
    /// The legal actions.
    pub legal: ActionSet,
    /// Who decided.
    pub player: Player,
    /// Whether a legal action commits the mover to something new.
    pub first_open: bool,
}

/// An info state stored in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InfoIndex(u32);

impl SampleArena {
    pub(super) fn new(info_len: usize, actions: usize) -> Self {
        Self {
            info_len,
            actions,
            ..Self::default()
        }
    }

    /// Stores an info state for one or more samples.
    pub(super) fn push_info(&mut self, info: &[f32]) -> InfoIndex {
        let index = self.stored;
        if index.is_multiple_of(BLOCK) {
            self.infos.push(Vec::with_capacity(BLOCK * self.info_len));
        }
        self.infos[index / BLOCK].extend_from_slice(info);
        self.stored += 1;
        InfoIndex(index as u32)
    }

    /// Adds an advantage sample and returns its target row, all 0.
    pub(super) fn push_advantage(
        &mut self,
        info: InfoIndex,
        player: Player,
        legal: ActionSet,
        first_open: bool,
        segment: u32,
    ) -> &mut [f32] {
        let target = self.advantage.rows.len() as u32;
        self.advantage.rows.push(Row {
            info: info.0,
            player,
            first_open,
            legal,
            target,
            segment,
        });
        let start = self.advantage.targets.len();
        self.advantage.targets.resize(start + self.actions, 0.0);
        &mut self.advantage.targets[start..]
    }

    /// The target row (`[actions]`) of the advantage sample recorded as number `sample`.
    pub(super) fn target_mut(&mut self, sample: usize) -> &mut [f32] {
        let start = self.advantage.rows[sample].target as usize * self.actions;
        &mut self.advantage.targets[start..][..self.actions]
    }

    pub(super) fn push_strategy(
        &mut self,
        info: InfoIndex,
        player: Player,
        legal: ActionSet,
        policy: &[f32],
        segment: u32,
    ) {
        let target = self.strategy.rows.len() as u32;
        self.strategy.rows.push(Row {
            info: info.0,
            player,
            first_open: false,
            legal,
            target,
            segment,
        });
        self.strategy.targets.extend_from_slice(policy);
    }

    /// Puts the samples into the order in which a depth-first walk records them.
    pub(super) fn arrange(&mut self, places: &Places) {
        // Stable: samples of one segment are recorded in their order.
        self.advantage
            .rows
            .sort_by_key(|row| places.ended[row.segment as usize]);
        self.strategy
            .rows
            .sort_by_key(|row| places.begun[row.segment as usize]);
    }

    /// The advantage samples, deepest first: in the order in which a depth-first walk leaves their decisions.
    pub fn advantage(&self) -> impl ExactSizeIterator<Item = SampleView<'_>> {
        self.views(&self.advantage)
    }

    /// The strategy samples in the order in which a depth-first walk visits their decisions.
    pub fn strategy(&self) -> impl ExactSizeIterator<Item = SampleView<'_>> {
        self.views(&self.strategy)
    }

    fn info(&self, index: u32) -> &[f32] {
        let index = index as usize;
        &self.infos[index / BLOCK][index % BLOCK * self.info_len..][..self.info_len]
    }

    fn views<'a>(&'a self, kind: &'a Kind) -> impl ExactSizeIterator<Item = SampleView<'a>> {
        kind.rows.iter().map(|row| SampleView {
            info: self.info(row.info),
            target: &kind.targets[row.target as usize * self.actions..][..self.actions],
            legal: row.legal,
            player: row.player,
            first_open: row.first_open,
        })
    }
}
