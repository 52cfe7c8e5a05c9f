//! Counts of walks: per walk while it runs, merged once when it ends.

use crate::{
    game::{Action, DecisionProfile, Game},
    regret::Matched,
};
use std::collections::BTreeMap;

/// Width of the depth buckets of fallback decisions, in plies.
const FALLBACK_BUCKET_WIDTH: usize = 50;
/// Depth from which fallback decisions share one bucket, in plies.
const FALLBACK_BUCKET_MAX: usize = 400;

/// Counts over one or many walks.
pub struct WalkStatistics<G: Game> {
    /// What is counted in every game.
    pub counts: WalkCounts,
    /// What the game counts about fallback decisions.
    pub profile: G::Profile,
}

impl<G: Game> Default for WalkStatistics<G> {
    fn default() -> Self {
        Self {
            counts: WalkCounts::default(),
            profile: G::Profile::default(),
        }
    }
}

/// Counts over one or many walks; sums, except the greatest depth.
#[derive(Clone, Debug, Default)]
pub struct WalkCounts {
    /// Nodes entered, endpoints included.
    pub nodes: u64,
    /// Branches that ended with the game.
    pub terminals: u64,
    /// Branches cut off by `max_depth`.
    pub depth_cutoffs: u64,
    /// Walks cut off by `max_nodes_per_traversal`.
    pub node_limit_cutoffs: u64,
    /// The greatest depth reached, in plies.
    pub max_depth_reached: usize,
    /// Sum of the depths at which branches ended.
    pub endpoint_depth_sum: u64,
    /// Advantage samples recorded.
    pub advantage_samples: u64,
    /// Strategy samples recorded.
    pub strategy_samples: u64,
    /// Decisions of current advantage networks after which a walk went on with one action.
    pub sampled_actions: u64,
    /// Decisions by regret matching, league snapshots included.
    pub decisions: u64,
    /// Network calls.
    pub requests: u64,
    /// Cutoff playouts, their plies, and how many hit their limit.
    pub playouts: [u64; 3],
    /// Regret matching decisions without a positive advantage.
    pub fallbacks: u64,
    /// Sum of the depths of fallback decisions.
    pub fallback_depth_sum: u64,
    /// Fallbacks where several legal actions shared the greatest advantage.
    pub tie_count: u64,
    /// Sum over these of how many actions shared it.
    pub tie_size_sum: u64,
    /// Fallbacks where all legal actions shared it.
    pub full_tie_count: u64,
    /// Fallbacks per depth bucket, by the bucket's lower end.
    pub fallback_depth_buckets: BTreeMap<usize, u64>,
    /// Endpoints per depth bucket, by the bucket's lower end.
    pub endpoint_depth_buckets: BTreeMap<usize, u64>,
}

/// How the depth buckets of endpoints are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    pub(super) width: usize,
    pub(super) max: usize,
}

impl Buckets {
    fn low(self, depth: usize) -> usize {
        let low = depth / self.width.max(1) * self.width.max(1);
        low.min(self.max)
    }
}

const FALLBACK_BUCKETS: Buckets = Buckets {
    width: FALLBACK_BUCKET_WIDTH,
    max: FALLBACK_BUCKET_MAX,
};

/// Why a branch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Terminal,
    Depth,
    NodeLimit,
}

impl WalkCounts {
    pub(super) fn endpoint(&mut self, endpoint: Endpoint, depth: usize, buckets: Buckets) {
        *match endpoint {
            Endpoint::Terminal => &mut self.terminals,
            Endpoint::Depth => &mut self.depth_cutoffs,
            Endpoint::NodeLimit => &mut self.node_limit_cutoffs,
        } += 1;
        self.endpoint_depth_sum += depth as u64;
        *self
            .endpoint_depth_buckets
            .entry(buckets.low(depth))
            .or_default() += 1;
    }

    fn fallback(&mut self, depth: usize, matched: &Matched) {
        self.fallbacks += 1;
        self.fallback_depth_sum += depth as u64;
        *self
            .fallback_depth_buckets
            .entry(FALLBACK_BUCKETS.low(depth))
            .or_default() += 1;
        if matched.tie_size > 1 {
            self.tie_count += 1;
            self.tie_size_sum += u64::from(matched.tie_size);
            self.full_tie_count += u64::from(matched.full_tie);
        }
    }

    /// Endpoints of any kind.
    pub fn endpoints(&self) -> u64 {
        self.terminals + self.depth_cutoffs + self.node_limit_cutoffs
    }

    fn merge(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.terminals += other.terminals;
        self.depth_cutoffs += other.depth_cutoffs;
        self.node_limit_cutoffs += other.node_limit_cutoffs;
        self.max_depth_reached = self.max_depth_reached.max(other.max_depth_reached);
        self.endpoint_depth_sum += other.endpoint_depth_sum;
        self.advantage_samples += other.advantage_samples;
        self.strategy_samples += other.strategy_samples;
        self.sampled_actions += other.sampled_actions;
        self.decisions += other.decisions;
        self.requests += other.requests;
        self.playouts
            .iter_mut()
            .zip(other.playouts)
            .for_each(|(sum, count)| *sum += count);
        self.fallbacks += other.fallbacks;
        self.fallback_depth_sum += other.fallback_depth_sum;
        self.tie_count += other.tie_count;
        self.tie_size_sum += other.tie_size_sum;
        self.full_tie_count += other.full_tie_count;
        let pairs = [
            (
                &mut self.fallback_depth_buckets,
                &other.fallback_depth_buckets,
            ),
            (
                &mut self.endpoint_depth_buckets,
                &other.endpoint_depth_buckets,
            ),
        ];
        for (buckets, others) in pairs {
            others
                .iter()
                .for_each(|(low, count)| *buckets.entry(*low).or_default() += count);
        }
    }

    fn emit(&self, buckets: Buckets, out: &mut dyn FnMut(&str, f64)) {
        let endpoints = self.endpoints();
        for (name, value) in [
            ("nodes", self.nodes),
            ("terminals", self.terminals),
            ("depth_cutoffs", self.depth_cutoffs),
            ("node_limit_cutoffs", self.node_limit_cutoffs),
            ("max_depth_reached", self.max_depth_reached as u64),
            ("endpoint_depth_sum", self.endpoint_depth_sum),
            ("endpoints", endpoints),
            ("sampled_actions", self.sampled_actions),
            ("regret_matching_decisions", self.decisions),
            ("requests", self.requests),
            ("advantage_samples", self.advantage_samples),
            ("strategy_samples", self.strategy_samples),
            ("playouts", self.playouts[0]),
            ("playout_plies", self.playouts[1]),
            ("playout_timeouts", self.playouts[2]),
        ] {
            out(name, value as f64);
        }
        out(
            "avg_endpoint_depth",
            ratio(self.endpoint_depth_sum, endpoints),
        );
        emit_buckets(
            "endpoint_depth_bucket",
            &self.endpoint_depth_buckets,
            buckets,
            out,
        );
        let mut fallback = |name: &str, value: f64| out(&format!("regret_fallback_{name}"), value);
        fallback("count", self.fallbacks as f64);
        fallback("rate", ratio(self.fallbacks, self.decisions));
        fallback("avg_depth", ratio(self.fallback_depth_sum, self.fallbacks));
        fallback("argmax_tie_count", self.tie_count as f64);
        fallback("argmax_tie_rate", ratio(self.tie_count, self.fallbacks));
        fallback(
            "argmax_tie_size_mean",
            ratio(self.tie_size_sum, self.tie_count),
        );
        fallback("argmax_full_tie_count", self.full_tie_count as f64);
        fallback(
            "argmax_full_tie_rate",
            ratio(self.full_tie_count, self.fallbacks),
        );
        emit_buckets(
            "depth_bucket",
            &self.fallback_depth_buckets,
            FALLBACK_BUCKETS,
            &mut fallback,
        );
    }
}

impl<G: Game> WalkStatistics<G> {
    /// Records a regret matching decision: `action` (the game's id) was drawn at `state`.
    pub(super) fn decision(
        &mut self,
        game: &G,
        state: &G::State,
        action: Action,
        depth: usize,
        matched: &Matched,
    ) {
        self.counts.decisions += 1;
        if matched.fallback {
            self.counts.fallback(depth, matched);
            self.profile
                .record(game, state, game.legal_actions(state), action);
        }
    }

    /// Adds the counts of another walk.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.profile.merge(&other.profile);
    }

    /// Emits the metrics by name, without the prefix `traversal/`.
    pub(super) fn emit(&self, buckets: Buckets, out: &mut dyn FnMut(&str, f64)) {
        self.counts.emit(buckets, out);
        let mut fallback = |name: &str, value: f64| out(&format!("regret_fallback_{name}"), value);
        self.profile.emit(self.counts.fallbacks, &mut fallback);
    }
}
fn ratio(sum: u64, count: u64) -> f64 {
    sum as f64 / count.max(1) as f64
}

fn emit_buckets(
    name: &str,
    counts: &BTreeMap<usize, u64>,
    buckets: Buckets,
    out: &mut dyn FnMut(&str, f64),
) {
    for (&low, &count) in counts {
        let range = if low >= buckets.max {
            format!("{}_plus", buckets.max)
        } else {
            format!("{low}_{}", low + buckets.width.max(1) - 1)
        };
        out(&format!("{name}_{range}"), count as f64);
    }
}
