//! Settings of value-guided walks.

use serde::{Deserialize, Serialize};

/// What the critic knows, and how targets are made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Targets {
    /// The values of the actions of a state: one call for all of them.
    #[default]
    Q,
    /// The value of a state: one call for the state after each action, with chance sampled.
    Children,
}

/// Value-guided walks and their critic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `q`: the critic answers with one value per action. `children`: it answers with the value of a state to each player and is asked about the
    /// state after every legal action, which costs as many calls; `traversal.branches_in_flight` of them wait at once.
    pub targets: Targets,
    /// The share of decisions whose children are looked at, above 0 to 1; the others teach only the critic. Without effect under `q`.
    pub children_share: f64,
    /// Uniform share mixed into both players' policies in the first iteration, 0 to 1.
    pub exploration: f64,
    /// The same in iteration `run.max_iterations`, and in between in proportion; null = `exploration` throughout.
    pub exploration_final: Option<f64>,
    /// Share of walks, 0 to 1, whose first plies are played half at random and recorded by nobody, so that the policies also learn what to do
    /// where they would not lead: against another player they may be led there.
    pub scattered_starts: f64,
    /// The most such plies, positive; how many is drawn uniformly.
    pub scattered_plies: usize,
    /// How much of the policy network that plays stays from iteration to iteration, 0 to below 1: its parameters are a moving average of the
    /// fitted ones' (Polyak and Juditsky 1992), which takes most of a fit's noise out of what regret matching makes of small differences. In
    /// early iterations it reaches back a tenth of them. 0 = the fitted network plays.
    pub smoothing: f64,
    /// Points per unit of the critic's values, positive.
    pub points_per_unit: f64,
    /// What winning adds to the final value, in units; losing takes as much. 0 = points alone.
    pub win_bonus: f64,
    /// What a game that is cut off (`traversal.max_depth`, `stop_probability`) takes from both players, in units, 0 or more. Not zero-sum: it
    /// makes both of them finish. Off in evaluation.
    pub cut_cost: f64,
    /// Share of later values in the critic's returns, TD(lambda), 0 to 1: 0 trusts its own next value, 1 the walk's end.
    pub lambda: f64,
    /// Plies after which a game may stop at any ply, worth what it would be if scored then; null = never. It keeps games from being drawn out
    /// without end; see also `traversal.max_depth`.
    pub horizon_start: Option<usize>,
    /// The probability that it stops at such a ply, 0 to 1.
    pub stop_probability: f64,
    /// How often a fit of the critic goes through what the iteration recorded, positive.
    pub critic_passes: usize,
    /// Rows of a minibatch of the critic, positive.
    pub critic_batch_size: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            targets: Targets::Q,
            children_share: 0.5,
            exploration: 0.05,
            exploration_final: None,
            scattered_starts: 0.0,
            scattered_plies: 100,
            smoothing: 0.0,
            points_per_unit: 1.0,
            win_bonus: 0.0,
            cut_cost: 0.0,
            lambda: 0.95,
            horizon_start: None,
            stop_probability: 0.01,
            critic_passes: 2,
            critic_batch_size: 512,
        }
    }
}
