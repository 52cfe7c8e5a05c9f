//! The whole configuration: composed settings, layered sources, validation, provenance.
//!
//! ```text
//! defaults < each --config file < COORL_SECTION__KEY < each --set     (later wins, key by key; lists whole)
//!             |                                         |
//!             +--> layer: leaves with their source ---- + --> earlier trainer's keys mapped, reported as notes
//!                                                             | checked and coerced against the table of keys
//!                                                             v
//!                                    figment merges the layers --> Config --> contradictions --> Loaded
//! ```
//!
//! Everything wrong is found before anything starts, and reported at once: [`ConfigError`] lists each [`Problem`] with its
//! key, the value, where the value came from and what is allowed.

mod allowed;
mod bot_names;
mod coerce;
mod contradictions;
mod earlier;
mod error;
mod layer;
mod lines;
mod load;
mod parse;
mod render;
mod schema;

pub use error::{ConfigError, Note, Problem, Reason, Source};
pub use load::{Loaded, load, process_environment};
pub(crate) use schema::most_alike;
pub use schema::{Allowed, Key, keys};

use serde::{Deserialize, Serialize};

/// Which game is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameKind {
    /// Lost Cities and its variants (`rules`).
    #[default]
    LostCities,
    /// Kuhn poker.
    Kuhn,
    /// Leduc poker.
    Leduc,
}

/// Every setting of a run. Sections are owned by the modules that read them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The game: `lost_cities`, `kuhn` or `leduc`.
    pub game: GameKind,
    /// The run as a whole.
    pub run: crate::training::RunSettings,
    /// The rules of Lost Cities.
    pub rules: crate::game::lost_cities::Rules,
    /// The info state.
    pub encoding: crate::encoding::Settings,
    /// The networks' shape.
    pub network: crate::network::Settings,
    /// The walks.
    pub traversal: crate::traversal::Settings,
    /// Value-guided walks and their critic.
    pub value_guided: crate::traversal::GuidedSettings,
    /// Past networks as opponents.
    pub self_play: crate::traversal::LeagueSettings,
    /// Regret matching.
    pub regret_matching: crate::regret::Settings,
    /// The batching executor.
    pub inference: crate::inference::Settings,
    /// The replay memories.
    pub replay: crate::replay::Settings,
    /// The fits.
    pub optimization: crate::training::OptimizationSettings,
    /// The average strategy.
    pub averaging: crate::training::AveragingSettings,
    /// Where fits start, what they learn from, which weights they keep.
    pub training: crate::training::TrainingSettings,
    /// Policy gradient.
    pub policy_gradient: crate::training::PolicyGradientSettings,
    /// Sample weights by iteration.
    pub training_weighting: crate::training::WeightingSettings,
    /// Evaluation.
    pub evaluation: crate::evaluation::Settings,
    /// Checkpoints.
    pub checkpoint: crate::checkpoint::Settings,
}
