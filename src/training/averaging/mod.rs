//! The average strategy: what counterfactual regret minimisation converges to, and how a run comes by it.
//!
//! ```text
//! networks an iteration walked with --> Averaging --> who plays evaluation games
//! samples of the walks, fits        -->           --> the exact average in small games
//! ```
//!
//! A scheme is a type behind [`Averaging`]: one file, and one line in [`averaging`].

mod current;
mod history;
mod journal;
mod single_network;
mod strategy_network;

pub use current::CurrentPolicy;
pub use history::{KeptPolicy, PolicyHistory};
pub(super) use journal::{PolicyJournal, read as read_policies};
pub use single_network::SingleNetwork;
pub use strategy_network::StrategyNetwork;

use super::{Role, WeightingSettings, exploitability::Meter};
use crate::{
    config::Config,
    evaluation::{Evaluated, Reading, exploitability::Profile},
    inference::Head,
    random::Stream,
    regret::Matching,
};
use serde::{Deserialize, Serialize};

/// How the average strategy comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AveragingScheme {
    /// A network fitted to the policies that were seen at the opponent's decisions (Brown et al. 2019).
    #[default]
    StrategyNetwork,
    /// Every iteration's advantage networks are kept; a game is played by one pair of them, drawn by weight (single Deep CFR, Steinberger 2019).
    SingleNetwork,
    /// None: the current policies stand for it. Only they are what some ways of learning converge to, and the average is not (regularised ones,
    /// `training.update: hedge`); elsewhere it is a matter of measurement.
    Current,
}

/// The average strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `strategy_network`, `single_network` or `current`. The last two need no strategy samples and no strategy fits.
    pub scheme: AveragingScheme,
    /// MiB that past advantage networks may take under `single_network`, positive. Beyond it two neighbours in time become one, drawn by
    /// weight, that carries both weights: the average stays right in expectation.
    pub budget_mib: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scheme: AveragingScheme::StrategyNetwork,
            budget_mib: 1_024,
        }
    }
}

/// Flat parameters (`[num_parameters]`) of the networks as they are now.
#[derive(Clone, Copy, Debug)]
pub struct Learned<'a> {
    /// The advantage networks, by seat.
    pub advantages: &'a [Vec<f32>; 2],
    /// The strategy network.
    pub strategy: &'a [f32],
}

impl Matching {
    /// As a run with these settings matches regrets.
    pub fn of(config: &Config) -> Self {
        Self {
            epsilon: config.traversal.regret_matching_epsilon,
            fallback: config.regret_matching.all_negative_fallback,
        }
    }
}

/// Who plays evaluation games, and the weights that the executor needs for it.
pub struct Cast<'a> {
    /// Who is evaluated.
    pub policy: Evaluated,
    /// Flat parameters by head; none for heads that have theirs.
    pub weights: Vec<(Head, &'a [f32])>,
}

/// One way to come by the average strategy.
pub trait Averaging: Send {
    /// The networks that it has fitted, both advantage networks among them.
    fn fits(&self) -> &'static [Role] {
        &Role::ALL
    }

    /// Takes in the flat parameters of the advantage networks that `iteration` (from 1) walked with.
    fn walked(&mut self, iteration: u32, networks: [Vec<f32>; 2]);

    /// Who plays `games` games of an evaluation; what is drawn comes from `stream`.
    fn cast<'a>(&'a self, learned: Learned<'a>, games: usize, stream: &mut Stream) -> Cast<'a>;

    /// The exact average in the game that `meter` knows whole.
    ///
    /// # Errors
    /// Failures of the device.
    fn profile(&mut self, meter: &Meter, learned: Learned<'_>) -> anyhow::Result<Profile>;

    /// The past networks kept, if the scheme keeps any.
    fn history(&self) -> Option<&PolicyHistory> {
        None
    }

    /// Goes on from past networks kept earlier.
    fn restore(&mut self, _history: Vec<KeptPolicy>) {}
}

/// The scheme of these settings. `reading` says what the answers of the current networks mean, `matching` what those of past ones do.
pub fn averaging(
    settings: &Settings,
    weighting: &WeightingSettings,
    reading: Reading,
    matching: Matching,
    seed: u64,
) -> Box<dyn Averaging> {
    match settings.scheme {
        AveragingScheme::StrategyNetwork => Box::new(StrategyNetwork),
        AveragingScheme::Current => Box::new(CurrentPolicy { reading }),
        AveragingScheme::SingleNetwork => {
            let budget = settings.budget_mib << 20;
            let history = PolicyHistory::new(weighting.clone(), budget, seed);
            Box::new(SingleNetwork::new(history, matching))
        }
    }
}
