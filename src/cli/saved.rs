//! A saved policy as an argument of a subcommand.

use super::train::find_resumption;
use crate::{
    config::GameKind,
    encoding::Encoding,
    evaluation::Contestant,
    training::{SavedPolicy, SavedRun, TrainedGame},
};
use anyhow::Context;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Which policy of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum StrategyArg {
    /// The average strategy.
    #[default]
    Average,
    /// The policies of the last iteration.
    Current,
}

impl StrategyArg {
    pub(super) fn saved(self) -> SavedPolicy {
        match self {
            StrategyArg::Average => SavedPolicy::Average,
            StrategyArg::Current => SavedPolicy::Current,
        }
    }
}

/// A checkpoint whose policy plays.
pub(super) struct Saved {
    pub path: PathBuf,
    pub run: SavedRun,
}

impl Saved {
    /// Reads it.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let run = SavedRun::new(find_resumption(path)?);
        Ok(Self {
            path: path.to_owned(),
            run: run.with_context(|| format!("{} cannot play", path.display()))?,
        })
    }

    /// The policy, ready to play; of past policies at most `pairs`, drawn from `seed`.
    pub fn contestant<G: TrainedGame, E: Encoding<G>>(
        &self,
        encoding: E,
        strategy: StrategyArg,
        pairs: usize,
        seed: u64,
    ) -> anyhow::Result<Contestant<E>> {
        let contestant = self.run.contestant(encoding, strategy.saved(), pairs, seed);
        contestant.with_context(|| format!("{} cannot play", self.path.display()))
    }

    /// Who plays.
    pub fn described(&self, strategy: StrategyArg) -> Described {
        let policy = strategy.saved();
        Described {
            path: self.path.display().to_string(),
            game: self.run.config.game,
            iteration: self.run.saved.checkpoint.iteration,
            strategy: policy,
            strategy_is: self.run.words(policy),
        }
    }
}

/// Who plays.
#[derive(Serialize)]
pub(super) struct Described {
    pub path: String,
    pub game: GameKind,
    pub iteration: u32,
    pub strategy: SavedPolicy,
    pub strategy_is: String,
}
