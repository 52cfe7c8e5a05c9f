//! The table of keys: what each may hold. The defaults themselves stand in the settings structs.

pub use super::allowed::{Allowed, Outside};

/// One key of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The dotted path.
    pub path: &'static str,
    /// What it may hold.
    pub allowed: Allowed,
    /// Whether it may be null.
    pub nullable: bool,
}

impl Key {
    const fn new(path: &'static str, allowed: Allowed) -> Self {
        Self {
            path,
            allowed,
            nullable: false,
        }
    }

    const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// Replaces what becomes of a number outside the range.
    const fn outside(mut self, rule: Outside) -> Self {
        match &mut self.allowed {
            Allowed::Integer { outside, .. } | Allowed::Number { outside, .. } => *outside = rule,
            _ => {}
        }
        self
    }

    /// What the key may hold, in words.
    pub fn allowed_words(&self) -> String {
        if self.nullable {
            format!("{}, or null", self.allowed)
        } else {
            self.allowed.to_string()
        }
    }
}

const fn flag(path: &'static str) -> Key {
    Key::new(path, Allowed::Flag)
}

const fn integer(path: &'static str, low: i128, high: i128) -> Key {
    let outside = Outside::Refused;
    Key::new(path, Allowed::Integer { low, high, outside })
}

const fn number(path: &'static str, low: f64, high: f64) -> Key {
    Key::new(
        path,
        Allowed::Number {
            low,
            high,
            above_low: false,
            outside: Outside::Refused,
        },
    )
}

const fn positive(path: &'static str, high: f64) -> Key {
    Key::new(
        path,
        Allowed::Number {
            low: 0.0,
            high,
            above_low: true,
            outside: Outside::Refused,
        },
    )
}

const fn choice(path: &'static str, names: &'static [&'static str]) -> Key {
    choice_with(path, names, &[], &[])
}

const fn choice_with(
    path: &'static str,
    names: &'static [&'static str],
    aliases: &'static [(&'static str, &'static str)],
    missing: &'static [(&'static str, &'static str)],
) -> Key {
    Key::new(
        path,
        Allowed::Choice {
            names,
            aliases,
            missing,
        },
    )
}

/// The greatest count of anything that has no tighter bound: the last iteration number of the earlier trainer.
const COUNT: i128 = i32::MAX as i128;
/// The most rows in one network call, and the most walks or games in flight.
pub(super) const MAX_ROWS: i128 = 65_536;
/// The most threads of one kind.
pub(super) const MAX_THREADS: i128 = 1_024;
/// A bound on points that no game reaches.
const POINTS: f64 = 1e9;

use Outside::{Clamped, RaisedToLow};

/// Every key, in the order of the settings structs.
#[rustfmt::skip]
static KEYS: &[Key] = &[
    choice("game", &["lost_cities", "kuhn", "leduc"]),

    Key::new("run.experiment_name", Allowed::Name),
    integer("run.max_iterations", 1, COUNT).or_null(),
    number("run.max_minutes", 0.0, 1e7).or_null(),
    integer("run.seed", 0, u64::MAX as i128),
    Key::new("run.device", Allowed::Device),
    flag("run.use_amp"),
    choice("run.amp_dtype", &["bf16", "f16"]),
    flag("run.deterministic"),
    integer("run.threads", 1, MAX_THREADS).or_null(),

    // As Rules::validate has it, so that every number is reported and not the first one only.
    integer("rules.n_colors", 1, 16),
    integer("rules.n_ranks", 1, 30),
    integer("rules.min_rank", 1, 1_000),
    integer("rules.n_handshakes", 0, 160),
    integer("rules.hand_size", 1, 32),
    integer("rules.expedition_penalty", -1_000_000, 1_000_000),
    integer("rules.bonus_threshold", 1, i32::MAX as i128),
    integer("rules.bonus_amount", -1_000_000, 1_000_000),

    choice("encoding.kind", &["slots", "cards"]),
    flag("encoding.derived_playability"),
    flag("encoding.slot_aware_playability"),

    choice("network.kind", &["mlp", "color_shared", "color_set"]),
    integer("network.hidden_size", 1, 65_536),
    integer("network.num_layers", 0, 64).outside(RaisedToLow),
    choice("network.activation", &["relu", "gelu"]),
    integer("network.color_attention_layers", 0, 64).outside(RaisedToLow),
    integer("network.color_attention_heads", 1, 1_024),
    choice("network.compile", &["none", "script"]),

    integer("traversal.traversals_per_player", 1, 10_000_000),
    integer("traversal.in_flight", 1, MAX_ROWS).or_null(),
    integer("traversal.branches_in_flight", 1, 1_024),
    integer("traversal.worker_threads", 1, MAX_THREADS).or_null(),
    choice("traversal.sampling_mode", &["outcome", "external", "all_actions", "robust", "value_guided"]),
    integer("traversal.robust_actions", 1, 128),
    integer("traversal.max_depth", 0, COUNT).or_null(),
    integer("traversal.max_nodes_per_traversal", 1, COUNT).or_null(),
    number("traversal.regret_matching_epsilon", 0.0, 1.0),
    number("traversal.outcome_sampling_epsilon", 0.0, 1.0),
    choice("traversal.outcome_sampling_explorers", &["traverser", "both"]),
    positive("traversal.outcome_sampling_value_clip", POINTS).or_null(),
    choice("traversal.outcome_unsampled_regret", &["negative_node_value", "zero"]),
    number("traversal.outcome_unsampled_first_open_prior_alpha", -POINTS, POINTS),
    choice("traversal.cutoff_value_mode", &["score_diff", "random_rollout"]),
    integer("traversal.cutoff_rollouts", 0, 1_000_000).outside(RaisedToLow),
    choice_with("traversal.cutoff_rollout_policy", &["random", "safe_heuristic"], &[("heuristic_balanced", "safe_heuristic")], &[]),
    integer("traversal.cutoff_rollout_max_steps", 1, COUNT),
    Key::new("traversal.opponent_policy", Allowed::OpponentPolicy),
    integer("traversal.strategy_sample_interval", 1, COUNT),
    flag("traversal.store_strategy_on_traverser_nodes"),
    flag("traversal.store_strategy_on_opponent_nodes"),
    integer("traversal.endpoint_depth_bucket_width", 1, 1_000_000),
    integer("traversal.endpoint_depth_bucket_max", 1, 1_000_000),
    integer("traversal.progress_every_traversals", 0, COUNT).outside(RaisedToLow),

    choice("value_guided.targets", &["q", "children"]),
    positive("value_guided.children_share", 1.0),
    number("value_guided.exploration", 0.0, 1.0),
    number("value_guided.exploration_final", 0.0, 1.0).or_null(),
    number("value_guided.scattered_starts", 0.0, 1.0),
    integer("value_guided.scattered_plies", 1, COUNT),
    number("value_guided.smoothing", 0.0, 0.999_999),
    positive("value_guided.points_per_unit", 1e9),
    number("value_guided.win_bonus", 0.0, 1e6),
    number("value_guided.cut_cost", 0.0, 1e6),
    number("value_guided.lambda", 0.0, 1.0),
    integer("value_guided.horizon_start", 0, COUNT).or_null(),
    number("value_guided.stop_probability", 0.0, 1.0),
    integer("value_guided.critic_passes", 1, COUNT),
    integer("value_guided.critic_batch_size", 1, 1_048_576),

    integer("self_play.snapshot_every", 1, COUNT).outside(RaisedToLow),
    integer("self_play.max_snapshots", 0, 100).outside(RaisedToLow),
    number("self_play.anchor_probability", 0.0, 1.0).outside(Clamped),
    number("self_play.current_weight", 0.0, 1e9).outside(RaisedToLow),
    number("self_play.recent_weight", 0.0, 1e9).outside(RaisedToLow),
    number("self_play.older_weight", 0.0, 1e9).outside(RaisedToLow),
    number("self_play.anchor_weight", 0.0, 1e9).outside(RaisedToLow),
    integer("self_play.recent_window", 1, COUNT).outside(RaisedToLow),

    choice("regret_matching.all_negative_fallback", &["uniform", "argmax_tiebreak", "near_best"]),

    integer("inference.collect_timeout_us", 0, 60_000_000),
    integer("inference.max_batch", 1, MAX_ROWS),
    choice("inference.kernels", &["auto", "packed", "torch"]),
    choice("inference.precision", &["f32", "bf16", "f16"]),
    integer("inference.batches_in_flight", 1, 64),

    integer("replay.advantage_capacity", 1, 1_000_000_000),
    integer("replay.strategy_capacity", 1, 1_000_000_000),
    choice("replay.device", &["auto", "device", "host"]),

    integer("optimization.advantage_batch_size", 1, 1_048_576),
    integer("optimization.strategy_batch_size", 1, 1_048_576),
    integer("optimization.advantage_updates_per_iteration", 0, COUNT),
    integer("optimization.strategy_updates_per_iteration", 0, COUNT),
    choice("optimization.minibatches", &["independent", "sweep"]),
    choice("optimization.repeated_info", &["each", "once"]),
    number("optimization.advantage_first_open_fraction", 0.0, 1.0),
    positive("optimization.learning_rate", 100.0),
    choice("optimization.learning_rate_schedule", &["constant", "linear"]),
    positive("optimization.learning_rate_final", 100.0).or_null(),
    number("optimization.weight_decay", 0.0, 100.0),
    number("optimization.grad_clip", 0.0, 1e9).outside(RaisedToLow),

    choice("averaging.scheme", &["strategy_network", "single_network", "current"]),
    integer("averaging.budget_mib", 1, 1_000_000),

    choice("training.updates", &["simultaneous", "alternating"]),
    choice("training.learner", &["deep_cfr", "policy_gradient"]),
    choice("training.update", &["regret_matching", "bootstrapped", "hedge"]),
    positive("training.hedge_eta", 1e6),
    number("training.hedge_tau", 0.0, 1e6),
    number("training.hedge_tau_final", 0.0, 1e6).or_null(),
    positive("training.hedge_clamp", 1e6),
    Key::new("training.reinitialise", Allowed::Occasions),
    Key::new("training.reinitialise_strategy", Allowed::Occasions),
    choice("training.target_scaling", &["none", "rms"]),
    number("training.held_out", 0.0, 0.5),
    integer("training.held_out_checks", 1, COUNT),
    choice("training.keep", &["last", "best_heldout"]),

    positive("policy_gradient.clip", 1e6),
    number("policy_gradient.entropy", 0.0, 1e6),
    number("policy_gradient.entropy_final", 0.0, 1e6).or_null(),
    integer("policy_gradient.passes", 1, COUNT),
    integer("policy_gradient.batch_size", 1, 1_048_576),

    choice("training_weighting.mode", &["none", "lcfr", "dcfr"]),
    number("training_weighting.lcfr_alpha", 0.0, 100.0),
    number("training_weighting.dcfr_alpha", 0.0, 100.0),
    number("training_weighting.dcfr_beta", 0.0, 100.0),
    number("training_weighting.dcfr_gamma", 0.0, 100.0),

    integer("evaluation.eval_every", 0, COUNT).outside(RaisedToLow),
    integer("evaluation.games", 1, 10_000_000),
    Key::new("evaluation.opponents", Allowed::Bots),
    integer("evaluation.extended_eval_every", 0, COUNT).outside(RaisedToLow),
    Key::new("evaluation.extended_opponents", Allowed::Bots),
    integer("evaluation.max_steps", 1, COUNT),
    choice("evaluation.on_max_steps", &["score_diff", "loss", "draw"]),
    integer("evaluation.batch_size", 1, MAX_ROWS),
    integer("evaluation.exploitability_every", 0, COUNT).outside(RaisedToLow),
    choice("evaluation.policy", &["greedy", "sampled"]),
    Key::new("evaluation.device", Allowed::Device).or_null(),

    integer("checkpoint.save_every", 0, COUNT).outside(RaisedToLow),
    flag("checkpoint.save_latest"),
    flag("checkpoint.exact_resume"),
];

/// Every key of the configuration, in the order of the settings structs.
pub fn keys() -> &'static [Key] {
    KEYS
}

/// The key of a dotted path.
pub(super) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Whether `path` names a section, or a part of the path of some key.
pub(super) fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| {
        key.path
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The known key most like a dotted path: by the whole path, or by its last part where only the section is wrong.
pub(super) fn nearest_key(path: &str) -> Option<String> {
    let path = path.to_lowercase().replace('-', "_");
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let score = |key: &Key| {
        let whole = strsim::normalized_damerau_levenshtein(&path, key.path);
        let part = strsim::normalized_damerau_levenshtein(&last(&path), &last(key.path));
        whole.max(0.9 * part)
    };
    best(KEYS.iter().map(|key| (score(key), key.path)))
}

/// The word most like `word`, if one is near enough to be what was meant.
pub(crate) fn most_alike(word: &str, known: impl Iterator<Item = &'static str>) -> Option<String> {
    best(known.map(|name| (strsim::normalized_damerau_levenshtein(word, name), name)))
}

fn best(scored: impl Iterator<Item = (f64, &'static str)>) -> Option<String> {
    let near = scored.filter(|(score, _)| *score >= 0.6);
    near.max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}
