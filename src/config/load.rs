//! From the sources to one checked configuration.

use super::Config;
use super::coerce::coerce;
use super::contradictions;
use super::earlier::Earlier;
use super::error::{ConfigError, Note, Problem, Reason, Source};
use super::layer::{self, Findings, Leaf};
use super::schema;
use crate::traversal::SamplingMode;
use figment::providers::Serialized;
use figment::util::nest;
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A checked configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Every setting.
    pub config: Config,
    /// Where each dotted key's value came from.
    pub provenance: BTreeMap<String, Source>,
    /// What is worth knowing: keys of the earlier trainer that were mapped or have no meaning here, keys without effect.
    pub notes: Vec<Note>,
}

/// The environment of this process, for [`load`]. Text that is not Unicode is kept as well as it goes, so that it is refused and not
/// overlooked.
pub fn process_environment() -> Vec<(String, String)> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    std::env::vars_os()
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

/// Loads a configuration: built-in defaults, then each of `files`, then the settings among `environment`
/// (`COORL_SECTION__KEY`, in the order of their names), then each of `sets` (`PATH=VALUE`). Later sources win key by key; a list
/// is replaced whole.
///
/// # Errors
/// Every problem of every source at once: unreadable files, unknown keys, wrong types, values that are not allowed (also where a
/// later source overrides them), and contradictions between keys.
pub fn load(
    files: &[PathBuf],
    environment: impl IntoIterator<Item = (String, String)>,
    sets: &[String],
) -> Result<Loaded, ConfigError> {
    let mut loader = Loader::new();
    for path in files {
        let leaves = layer::from_file(path, &mut loader.findings);
        loader.add(leaves);
    }
    let variables: BTreeMap<_, _> = environment.into_iter().collect();
    for (name, text) in &variables {
        if let Some(leaves) = layer::from_variable(name, text, &mut loader.findings) {
            loader.add(leaves);
        }
    }
    for argument in sets {
        let leaves = layer::from_set(argument, &mut loader.findings);
        loader.add(leaves);
    }
    loader.finish()
}

/// The sources seen so far, merged.
struct Loader {
    figment: Figment,
    provenance: BTreeMap<String, Source>,
    earlier: Earlier,
    findings: Findings,
}

impl Loader {
    fn new() -> Self {
        let keys = schema::keys().iter();
        Self {
            figment: Figment::from(Serialized::defaults(Config::default())),
            provenance: keys
                .map(|key| (key.path.to_owned(), Source::Default))
                .collect(),
            earlier: Earlier::default(),
            findings: Findings::default(),
        }
    }

    /// Checks one source and lays it over the ones before.
    fn add(&mut self, leaves: Vec<Leaf>) {
        for leaf in self.earlier.translate(leaves, &mut self.findings) {
            if let Some(value) = check(&leaf, &mut self.findings) {
                let figment = std::mem::take(&mut self.figment);
                self.figment = figment.merge(Layer {
                    source: leaf.source.to_string(),
                    entries: nest(&leaf.path, value).into_dict().unwrap_or_default(),
                });
                self.provenance.insert(leaf.path, leaf.source);
            }
        }
    }

    /// The configuration of all sources, if nothing is wrong with any.
    fn finish(mut self) -> Result<Loaded, ConfigError> {
        let mut config = match self.figment.extract::<Config>() {
            Ok(config) => config,
            Err(error) => {
                // The table of keys allows something that the settings do not: still an answer and no panic.
                self.findings
                    .problems
                    .extend(error.into_iter().map(as_problem));
                return Err(self.findings.into());
            }
        };
        lift_unasked_limit(&mut config, &self.provenance);
        contradictions::find(&config, &self.provenance, &mut self.findings);
        self.earlier
            .finish(&config, &self.provenance, &mut self.findings);
        if !self.findings.problems.is_empty() {
            return Err(self.findings.into());
        }
        Ok(Loaded {
            config,
            provenance: self.provenance,
            notes: self.findings.notes,
        })
    }
}

/// The built-in limit of nodes is outcome sampling's: unless somebody set one, the other modes have none.
fn lift_unasked_limit(config: &mut Config, provenance: &BTreeMap<String, Source>) {
    const LIMIT: &str = "traversal.max_nodes_per_traversal";
    if config.traversal.sampling_mode != SamplingMode::Outcome
        && provenance.get(LIMIT) == Some(&Source::Default)
    {
        config.traversal.max_nodes_per_traversal = None;
    }
}

impl From<Findings> for ConfigError {
    fn from(findings: Findings) -> Self {
        Self {
            problems: findings.problems,
        }
    }
}

/// The value of a leaf in its key's own type, if it is allowed.
fn check(leaf: &Leaf, findings: &mut Findings) -> Option<Value> {
    let Some(key) = schema::find(&leaf.path) else {
        let nearest = schema::nearest_key(&leaf.path);
        findings.refuse(leaf, Reason::UnknownKey { nearest });
        return None;
    };
    match coerce(key, &leaf.value) {
        Ok(coerced) => {
            if let Some(taken) = coerced.moved_to {
                findings.note(leaf, format!("taken as {taken}"));
            }
            Some(coerced.value)
        }
        Err(reason) => {
            findings.refuse(leaf, reason);
            None
        }
    }
}

fn as_problem(error: figment::Error) -> Problem {
    let source = error.metadata.as_ref().map(|data| data.name.to_string());
    Problem {
        key: error.path.join("."),
        value: None,
        source: Source::Default,
        reason: Reason::Unreadable {
            cause: format!("{} ({})", error.kind, source.unwrap_or_default()),
        },
    }
}

/// Checked settings of one source, for figment.
struct Layer {
    source: String,
    entries: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.source.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.entries.clone()))
    }
}
