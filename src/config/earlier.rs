//! Files written for the trainer this one follows: its keys are mapped or reported, never silently lost.
//!
//! That program got its batches from worker processes, each with its own batcher or with one inference server; here one executor
//! gathers the requests of every walk. So what was per worker is multiplied by the workers: `interleave_width` becomes
//! `traversal.in_flight`, `interleave_max_batch` becomes `inference.max_batch`. Results do not depend on any of them.

use super::Config;
use super::coerce::{integer, show};
use super::error::{Note, Reason, Source};
use super::layer::{Findings, Leaf};
use super::render::value_text;
use super::schema::MAX_ROWS;
use figment::value::{Empty, Value};
use std::collections::BTreeMap;

/// What becomes of a key.
enum Fate {
    /// It goes by another name here.
    Renamed(&'static str),
    /// It says how batches come about: see [`Earlier::batching`].
    Batching,
    /// It has a word of its own for the training's device, which is null here; other words mean what they mean here.
    OwnDevice,
    /// It has no meaning here, for this reason.
    Dropped(&'static str),
}

use Fate::{Batching, Dropped, OwnDevice, Renamed};

const NO_SERVER: &str =
    "there is no inference server: the executor runs in this process, on run.device";

/// The keys that only the earlier trainer knows.
#[rustfmt::skip]
static KEYS: &[(&str, Fate)] = &[
    ("memory.advantage_capacity", Renamed("replay.advantage_capacity")),
    ("memory.strategy_capacity", Renamed("replay.strategy_capacity")),
    ("traversal.num_workers", Batching),
    ("traversal.scheduler", Batching),
    ("traversal.inference_backend", Batching),
    ("traversal.interleave_width", Batching),
    ("traversal.interleave_max_batch", Batching),
    ("inference_server.max_batch", Batching),
    ("inference_server.batch_window_us", Batching),
    ("traversal.worker_chunk_size", Dropped("no longer needed: walks are not dealt out in chunks, one executor serves them all")),
    ("inference_server.device", Dropped(NO_SERVER)),
    ("inference_server.num_slots", Dropped(NO_SERVER)),
    ("inference_server.weight_sync_every", Dropped("no longer needed: every iteration walks with the newest weights")),
    ("inference_server.use_amp", Dropped(NO_SERVER)),
    ("evaluation.device", OwnDevice),
    ("evaluation.num_workers", Dropped("no longer needed: the games of an evaluation share the executor's batches")),
    ("checkpoint.progress_interval_seconds", Dropped("never had an effect")),
];

/// Defaults of the earlier trainer that may differ from the ones here.
#[rustfmt::skip]
static DEFAULTS: &[(&str, &str)] = &[
    ("encoding.derived_playability", "false"),
    ("encoding.slot_aware_playability", "false"),
    ("traversal.traversals_per_player", "8"),
    ("traversal.max_nodes_per_traversal", "10000"),
    ("traversal.outcome_sampling_epsilon", "0.0"),
    ("traversal.outcome_sampling_explorers", "both"),
    ("traversal.outcome_unsampled_regret", "negative_node_value"),
    ("traversal.opponent_policy", "self_play_league"),
    ("traversal.store_strategy_on_traverser_nodes", "true"),
    ("traversal.store_strategy_on_opponent_nodes", "true"),
    ("training_weighting.mode", "none"),
    ("optimization.grad_clip", "0.0"),
    ("checkpoint.save_every", "1"),
    ("checkpoint.exact_resume", "false"),
    ("evaluation.games", "10"),
    ("evaluation.opponents", "[random, heuristic_balanced]"),
    ("evaluation.policy", "greedy"),
];

/// Whether a dotted path is a key that only the earlier trainer knows.
pub(super) fn knows(path: &str) -> bool {
    fate(path).is_some()
}

/// Whether a key is one that only the earlier trainer knows, or has a word that only it knows.
fn is_earlier(leaf: &Leaf) -> bool {
    match fate(&leaf.path) {
        Some(OwnDevice) => {
            let word = leaf.value.as_str().unwrap_or_default();
            word.trim().eq_ignore_ascii_case("trainer")
        }
        fate => fate.is_some(),
    }
}

/// Whether a path is a section that only the earlier trainer knows.
pub(super) fn is_section(path: &str) -> bool {
    matches!(path, "memory" | "inference_server")
}

fn fate(path: &str) -> Option<&'static Fate> {
    let entry = KEYS.iter().find(|(key, _)| *key == path);
    entry.map(|(_, fate)| fate)
}

/// The earlier trainer's keys of all sources so far.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    seen: BTreeMap<String, Leaf>,
    first: Option<Leaf>,
}

impl Earlier {
    /// Takes the earlier trainer's keys out of a source's leaves and puts in their place what they mean here.
    pub(super) fn translate(&mut self, leaves: Vec<Leaf>, findings: &mut Findings) -> Vec<Leaf> {
        let (old, mut own): (Vec<_>, Vec<_>) = leaves.into_iter().partition(is_earlier);
        for leaf in &old {
            self.first.get_or_insert_with(|| leaf.clone());
            self.seen.insert(leaf.path.clone(), leaf.clone());
        }
        for leaf in old {
            let mapped = match fate(&leaf.path) {
                Some(Renamed(path)) => {
                    findings.note(&leaf, format!("now {path}"));
                    Some((*path, leaf.value.clone()))
                }
                Some(Batching) => self.batching(&leaf, findings),
                Some(OwnDevice) => {
                    findings.note(&leaf, "now null: evaluation runs on run.device");
                    Some(("evaluation.device", Value::from(Empty::None)))
                }
                Some(Dropped(reason)) => {
                    findings.note(&leaf, *reason);
                    None
                }
                None => None,
            };
            let Some((path, value)) = mapped else {
                continue;
            };
            if own.iter().any(|other| other.path == path) {
                findings.note(
                    &leaf,
                    format!("ignored: the same source sets {path} itself"),
                );
                continue;
            }
            own.push(Leaf {
                path: path.to_owned(),
                value,
                ..leaf
            });
        }
        own
    }

    /// What a key about workers, widths and servers means for the executor.
    fn batching(&self, leaf: &Leaf, findings: &mut Findings) -> Option<(&'static str, Value)> {
        let interleaved = self.word("traversal.scheduler") == "interleaved";
        let server = self.word("traversal.inference_backend") == "server";
        let without = |effect: &str| format!("had no effect {effect}; ignored");
        match leaf.path.as_str() {
            "traversal.num_workers" => workers(leaf, findings),
            "traversal.scheduler" => one_of(leaf, &["recursive", "interleaved"], findings),
            "traversal.inference_backend" => one_of(leaf, &["local", "server"], findings),
            "traversal.interleave_width" | "traversal.interleave_max_batch" if !interleaved => {
                findings.note(leaf, without("without traversal.scheduler: interleaved"));
                None
            }
            "traversal.interleave_width" => {
                let why = "remove it to have all walks of an iteration in flight, which makes the largest batches";
                self.per_worker(leaf, "traversal.in_flight", why, findings)
            }
            "traversal.interleave_max_batch" => {
                let why = "a limit only: it need not be reached";
                self.per_worker(leaf, "inference.max_batch", why, findings)
            }
            _ if !server => {
                findings.note(leaf, without("without traversal.inference_backend: server"));
                None
            }
            "inference_server.max_batch" => {
                findings.note(leaf, "now inference.max_batch");
                Some(("inference.max_batch", leaf.value.clone()))
            }
            _ => {
                findings.note(leaf, "now inference.collect_timeout_us");
                Some(("inference.collect_timeout_us", leaf.value.clone()))
            }
        }
    }

    /// A number that each worker had for itself, for the one executor.
    fn per_worker(
        &self,
        leaf: &Leaf,
        path: &'static str,
        why: &str,
        findings: &mut Findings,
    ) -> Option<(&'static str, Value)> {
        let Some(each) = integer(&leaf.value).filter(|each| *each > 0) else {
            let allowed = "a positive integer".to_owned();
            let reason = match integer(&leaf.value) {
                Some(_) => Reason::OutOfRange {
                    allowed,
                    nearest: None,
                },
                None => Reason::WrongType { allowed },
            };
            findings.refuse(leaf, reason);
            return None;
        };
        let workers = self.workers();
        let total = each.saturating_mul(workers).min(MAX_ROWS);
        let text = format!(
            "now {path} = {total}: {each} in each of {workers} workers, here together under one executor ({why}; results do not depend on it)"
        );
        findings.note(leaf, text);
        Some((path, (total as u64).into()))
    }

    /// How many processes walked.
    fn workers(&self) -> i128 {
        let value = self
            .seen
            .get("traversal.num_workers")
            .map(|leaf| &leaf.value);
        match value {
            Some(value) if is_auto(value) => {
                std::thread::available_parallelism().map_or(1, |cores| cores.get() as i128 / 2)
            }
            Some(value) => integer(value).unwrap_or(1),
            None => 1,
        }
        .max(1)
    }

    fn word(&self, path: &str) -> String {
        let text = self.seen.get(path).and_then(|leaf| leaf.value.as_str());
        text.unwrap_or_default().trim().to_lowercase()
    }

    /// What can be said only when all sources are known.
    pub(super) fn finish(
        &self,
        config: &Config,
        provenance: &BTreeMap<String, Source>,
        findings: &mut Findings,
    ) {
        let Some(first) = &self.first else {
            return;
        };
        let absent = |path: &str| provenance.get(path) == Some(&Source::Default);
        let differing: Vec<_> = DEFAULTS
            .iter()
            .filter(|(path, _)| absent(path))
            .map(|(path, there)| (path, there, value_text(config, path)))
            .filter(|(_, there, here)| *there != here)
            .map(|(path, there, here)| format!("{path} ({there} there, {here} here)"))
            .collect();
        let which = match differing.as_slice() {
            [] => "which are the same for all of them".to_owned(),
            some => format!("which differ for {}", some.join(", ")),
        };
        findings.notes.push(Note {
            key: first.written.clone(),
            value: None,
            source: first.source.clone(),
            text: format!(
                "this key belongs to an earlier trainer; absent keys take this program's defaults, {which}; `coorl-async config` shows every value"
            ),
        });
        if let Some(source) = provenance.get("evaluation.on_max_steps")
            && value_text(config, "evaluation.on_max_steps") != "score_diff"
        {
            findings.notes.push(Note {
                key: "evaluation.on_max_steps".to_owned(),
                value: Some(value_text(config, "evaluation.on_max_steps")),
                source: source.clone(),
                text: "was never read by the earlier trainer; here it counts".to_owned(),
            });
        }
    }
}

/// `num_workers`: a number of processes then, of threads now.
fn workers(leaf: &Leaf, findings: &mut Findings) -> Option<(&'static str, Value)> {
    let path = "traversal.worker_threads";
    let null = Value::from(Empty::None);
    if is_auto(&leaf.value) {
        findings.note(leaf, format!("now {path} = null, one thread per core"));
        return Some((path, null));
    }
    match integer(&leaf.value) {
        Some(count) if count > 0 => {
            findings.note(leaf, format!("now {path}: threads of one process"));
            Some((path, leaf.value.clone()))
        }
        Some(_) => {
            let text = "no worker processes then; there are none now";
            findings.note(leaf, format!("{text}: {path} = null, one thread per core"));
            Some((path, null))
        }
        None => {
            let allowed = "an integer, or auto".to_owned();
            findings.refuse(leaf, Reason::WrongType { allowed });
            None
        }
    }
}

/// `scheduler` and `inference_backend`: nothing to choose any more, but a wrong word is still a mistake.
fn one_of(leaf: &Leaf, allowed: &[&str], findings: &mut Findings) -> Option<(&'static str, Value)> {
    let word = leaf
        .value
        .as_str()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    if allowed.contains(&word.as_str()) {
        let text = "no longer needed: every walk can be suspended, and one executor batches the requests of all";
        findings.note(leaf, text);
    } else {
        let allowed = allowed.join(", ");
        let nearest = None;
        findings.refuse(leaf, Reason::OutOfRange { allowed, nearest });
    }
    None
}

fn is_auto(value: &Value) -> bool {
    show(value)
        .trim_matches('"')
        .trim()
        .eq_ignore_ascii_case("auto")
}
