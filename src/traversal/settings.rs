//! Settings of the walks.

use serde::{Deserialize, Serialize};

/// How a walk samples the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplingMode {
    /// One action per decision of either player (outcome sampling).
    ///
    /// Targets are unbiased as the settings' defaults are. How often an info state is visited depends on how the traverser explores, so
    /// samples of different iterations are not weighted by counterfactual reach alone, as those of `external` are.
    #[default]
    Outcome,
    /// Every action of the traverser, one of the opponent (external sampling). Without variance from the traverser's own choices; the
    /// number of nodes grows exponentially with the traverser's decisions.
    External,
    /// One rollout per action of the traverser at the decisions of one sampled path.
    AllActions,
    /// `robust_actions` actions of the traverser, chosen uniformly, one of the opponent (robust sampling).
    Robust,
    /// One path by the current policies of both players, whose decisions both give samples; a critic values every legal action (section
    /// `value_guided`). One policy network plays both seats.
    ValueGuided,
}

/// Who explores under outcome sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Explorers {
    /// The traverser; the opponent plays their own policy, and their decisions weigh nothing.
    #[default]
    Traverser,
    /// Both players: biased, kept to repeat the seed's runs. Values are weighted back, but what is visited is not: an info state's sample
    /// is an average over the hands that an exploring opponent gets there with, not over those that their policy does.
    Both,
}

/// The advantage target of legal actions that were not sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnsampledRegret {
    /// Minus the node's value: together with the sampled entry unbiased when no clip is set.
    #[default]
    NegativeNodeValue,
    /// Zero: biased (the expectation becomes `(1 - pi_a) Q_a`), kept to repeat the seed's runs.
    Zero,
}

/// The value of a walk cut off by a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutoffValue {
    /// The payoff as the position stands.
    #[default]
    ScoreDiff,
    /// The mean payoff of `cutoff_rollouts` playouts.
    RandomRollout,
}

/// Who plays a cutoff playout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutoffPlayout {
    /// Uniform over legal actions.
    #[default]
    Random,
    /// The bot `safe_heuristic`.
    #[serde(alias = "heuristic_balanced")]
    SafeHeuristic,
}

/// Settings of the walks of one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Traversals per traverser and iteration, positive.
    pub traversals_per_player: usize,
    /// Walks in flight at once, both traversers together; null = all of an iteration, at most 4,096.
    pub in_flight: Option<usize>,
    /// Branches of one walk that may wait for network calls at once, each in a slot; positive. Walks of `outcome` have one branch. Changes
    /// speed and never results.
    pub branches_in_flight: usize,
    /// Threads that advance walks and run their network calls; null = one per core.
    pub worker_threads: Option<usize>,
    /// `outcome`, `external`, `all_actions`, `robust` or `value_guided`.
    pub sampling_mode: SamplingMode,
    /// Actions of the traverser that a decision is sampled by under `robust`, all if there are fewer; positive.
    pub robust_actions: usize,
    /// Plies after which the game ends, in every branch alike, worth `cutoff_value_mode`; null = no limit. Targets are those of the
    /// game so shortened, without bias.
    pub max_depth: Option<usize>,
    /// Nodes after which a walk is cut off, under `outcome`; null = no limit. As a walk has one path there, this shortens the game as
    /// `max_depth` does. The other modes have no such limit: what it would cut off depends on which branches were walked first.
    pub max_nodes_per_traversal: Option<usize>,
    /// Regret matching falls back when positive advantages sum to no more than this (points, or units of `value_guided.points_per_unit`), and
    /// `regret_matching.all_negative_fallback: near_best` takes for equal what differs by less; also the least sampling probability divided by under
    /// `outcome`, where it biases if it exceeds `outcome_sampling_epsilon` over the number of legal actions.
    pub regret_matching_epsilon: f64,
    /// Uniform share mixed into the sampling policy under `outcome`, and into the traverser's path under `all_actions`; 0 to 1. At 0 the
    /// traverser never tries what their policy does not play.
    pub outcome_sampling_epsilon: f64,
    /// Who explores under `outcome`: `traverser` or `both`. `both` is biased.
    pub outcome_sampling_explorers: Explorers,
    /// Clip of the importance-weighted value at every weighted decision under `outcome`, in points; null = none. Biased when it binds: an
    /// action that is seldom tried counts as plus or minus the clip whatever it is worth, and so do the decisions above it.
    pub outcome_sampling_value_clip: Option<f64>,
    /// Target of legal actions that were not sampled: `negative_node_value` or `zero`.
    pub outcome_unsampled_regret: UnsampledRegret,
    /// Hand-made target, in points, for opening plays that were not sampled under `outcome`; 0 = off. Biased: mixed into the regression it
    /// estimates a guess from the hand, not an advantage.
    pub outcome_unsampled_first_open_prior_alpha: f64,
    /// Value of a cut-off walk: `score_diff` or `random_rollout`.
    pub cutoff_value_mode: CutoffValue,
    /// Playouts per cutoff under `random_rollout`; 0 = the payoff as it stands.
    pub cutoff_rollouts: usize,
    /// Who plays them: `random` or `safe_heuristic`.
    pub cutoff_rollout_policy: CutoffPlayout,
    /// Plies after which a playout is scored as it stands.
    pub cutoff_rollout_max_steps: usize,
    /// Who moves for the player that is not the traverser: `network`, `average_strategy`, `self_play_league`, or a bot's name. All but
    /// `network` are biased: the advantages are those against another player than the current one, which approaches a best response to
    /// them and has none of CFR's guarantees.
    pub opponent_policy: String,
    /// Plies between stored strategy samples, positive.
    pub strategy_sample_interval: usize,
    /// Whether decisions of the traverser give strategy samples. Biased: the average is then weighted by how the traverser explores, not
    /// by how they play. Refused under `external` and `robust`.
    pub store_strategy_on_traverser_nodes: bool,
    /// Whether decisions of the opponent give strategy samples. Only those of the current advantage network do: under `network`, and
    /// under `self_play_league` in walks that drew it.
    pub store_strategy_on_opponent_nodes: bool,
    /// Width of the endpoint depth buckets in the metrics, in plies.
    pub endpoint_depth_bucket_width: usize,
    /// Depth from which endpoints share one bucket, in plies.
    pub endpoint_depth_bucket_max: usize,
    /// Finished traversals between progress lines in the log; 0 = none.
    pub progress_every_traversals: usize,
}

impl Settings {
    /// The most walks in flight unless `in_flight` says otherwise.
    pub const MOST_IN_FLIGHT: usize = 4_096;

    /// Walks of an iteration, both traversers together.
    pub fn walks(&self) -> usize {
        2 * self.traversals_per_player
    }

    /// Slots that so many walks in flight can make use of.
    pub fn slots(&self, walks_in_flight: usize) -> usize {
        let branches = match self.sampling_mode {
            SamplingMode::Outcome => 1,
            SamplingMode::External
            | SamplingMode::AllActions
            | SamplingMode::Robust
            | SamplingMode::ValueGuided => self.branches_in_flight,
        };
        let slots = walks_in_flight.saturating_mul(branches);
        slots.min(Self::MOST_IN_FLIGHT).max(walks_in_flight)
    }

    /// The nodes after which a walk is cut off, if it is.
    pub(super) fn node_limit(&self) -> Option<usize> {
        match self.sampling_mode {
            SamplingMode::Outcome => self.max_nodes_per_traversal,
            SamplingMode::External
            | SamplingMode::AllActions
            | SamplingMode::Robust
            | SamplingMode::ValueGuided => None,
        }
    }

    /// Walks in flight at once.
    pub fn walks_in_flight(&self) -> usize {
        let all = self.walks().min(Self::MOST_IN_FLIGHT);
        self.in_flight.unwrap_or(all).max(1)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            traversals_per_player: 280,
            in_flight: None,
            branches_in_flight: 8,
            worker_threads: None,
            sampling_mode: SamplingMode::Outcome,
            robust_actions: 2,
            max_depth: None,
            max_nodes_per_traversal: Some(10_000),
            regret_matching_epsilon: 1e-8,
            outcome_sampling_epsilon: 0.05,
            outcome_sampling_explorers: Explorers::Traverser,
            outcome_sampling_value_clip: None,
            outcome_unsampled_regret: UnsampledRegret::NegativeNodeValue,
            outcome_unsampled_first_open_prior_alpha: 0.0,
            cutoff_value_mode: CutoffValue::ScoreDiff,
            cutoff_rollouts: 0,
            cutoff_rollout_policy: CutoffPlayout::Random,
            cutoff_rollout_max_steps: 10_000,
            opponent_policy: "network".into(),
            strategy_sample_interval: 1,
            store_strategy_on_traverser_nodes: false,
            store_strategy_on_opponent_nodes: true,
            endpoint_depth_bucket_width: 100,
            endpoint_depth_bucket_max: 1_000,
            progress_every_traversals: 0,
        }
    }
}

/// Past networks as opponents, for `traversal.opponent_policy: self_play_league`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeagueSettings {
    /// Iterations between snapshots of the advantage networks, positive.
    pub snapshot_every: usize,
    /// Snapshots kept, the oldest dropped first; 0 = none; at most 100.
    pub max_snapshots: usize,
    /// Probability that the opponent is `safe_heuristic`, before the weights are looked at.
    pub anchor_probability: f64,
    /// Weight of the current networks.
    pub current_weight: f64,
    /// Weight of the newest `recent_window` snapshots.
    pub recent_weight: f64,
    /// Weight of the older snapshots.
    pub older_weight: f64,
    /// Weight of `safe_heuristic`.
    pub anchor_weight: f64,
    /// How many snapshots count as recent, positive.
    pub recent_window: usize,
}

impl Default for LeagueSettings {
    fn default() -> Self {
        Self {
            snapshot_every: 1,
            max_snapshots: 20,
            anchor_probability: 0.0,
            current_weight: 0.5,
            recent_weight: 0.3,
            older_weight: 0.2,
            anchor_weight: 0.0,
            recent_window: 5,
        }
    }
}
