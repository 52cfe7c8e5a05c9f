//! One source of settings as a list of leaves: a file, an environment variable, a `--set`.

use super::coerce::show;
use super::error::{Note, Problem, Reason, Source};
use super::lines::Lines;
use super::parse::{Syntax, parse};
use super::{earlier, schema};
use figment::value::{Dict, Value};
use std::path::Path;

/// What is found while sources are read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What is wrong.
    pub(super) problems: Vec<Problem>,
    /// What is worth knowing.
    pub(super) notes: Vec<Note>,
}

impl Findings {
    /// Adds what is wrong with a leaf.
    pub(super) fn refuse(&mut self, leaf: &Leaf, reason: Reason) {
        self.problems.push(Problem {
            key: leaf.written.clone(),
            value: Some(show(&leaf.value)),
            source: leaf.source.clone(),
            reason,
        });
    }

    /// Adds a note about a leaf.
    pub(super) fn note(&mut self, leaf: &Leaf, text: impl Into<String>) {
        self.notes.push(Note {
            key: leaf.written.clone(),
            value: Some(show(&leaf.value)),
            source: leaf.source.clone(),
            text: text.into(),
        });
    }

    fn unreadable(&mut self, source: Source, cause: String) {
        self.problems.push(Problem {
            key: String::new(),
            value: None,
            source,
            reason: Reason::Unreadable { cause },
        });
    }
}

/// One value of one source.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// The dotted path it sets.
    pub(super) path: String,
    /// The dotted path as it was written, where another name stood there.
    pub(super) written: String,
    /// The value as it was written.
    pub(super) value: Value,
    /// Where it stands.
    pub(super) source: Source,
}

/// The leaves of a file.
pub(super) fn from_file(path: &Path, findings: &mut Findings) -> Vec<Leaf> {
    let at = |line| Source::File {
        path: path.to_owned(),
        line,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let cause =
                format!("cannot be read: {error}; give the path of a YAML, TOML or JSON file");
            findings.unreadable(at(None), cause);
            return Vec::new();
        }
    };
    let syntax = Syntax::of(path);
    let parsed = match parse(&text, syntax) {
        Ok(parsed) => parsed,
        Err(cause) => {
            findings.unreadable(at(None), cause);
            return Vec::new();
        }
    };
    let lines = Lines::of(&text, syntax);
    for key in parsed.repeated {
        findings.notes.push(Note {
            source: at(lines.find(&key)),
            key,
            value: None,
            text: "stands more than once in its mapping; the last one counts, whole".to_owned(),
        });
    }
    match parsed.tree {
        Value::Empty(..) => Vec::new(),
        Value::Dict(_, sections) => {
            let mut leaves = flatten(&sections, |path| at(lines.find(path)), findings);
            leaves.sort_by_key(|leaf| lines.find(&leaf.path));
            leaves
        }
        other => {
            let cause = format!(
                "the top level is {}; a mapping of sections is needed, such as `run: {{seed: 1}}`",
                show(&other)
            );
            findings.unreadable(at(None), cause);
            Vec::new()
        }
    }
}

/// The leaves of an environment variable; `None` where it is no setting.
///
/// `COORL_SECTION__KEY` sets `section.key`, and `COORL__KEY` a key without a section. A name without `__` is something else's, unless it
/// only lacks the second underscore (`COORL_RUN_SEED`): that is refused, not overlooked.
pub(super) fn from_variable(name: &str, text: &str, findings: &mut Findings) -> Option<Vec<Leaf>> {
    let rest = name.strip_prefix("COORL_")?;
    let path = match rest.strip_prefix('_') {
        Some(key) => key.to_owned(),
        None if rest.contains("__") => rest.replace("__", "."),
        None => {
            if let Some(meant) = variable_of(&rest.to_lowercase()) {
                let cause = format!(
                    "two underscores stand between section and key; write {meant}, or unset it"
                );
                findings.unreadable(Source::Environment(name.to_owned()), cause);
            }
            return None;
        }
    };
    let source = Source::Environment(name.to_owned());
    Some(from_assignment(
        &path.to_lowercase(),
        text,
        source,
        findings,
    ))
}

/// The environment variable of the key whose path is `spelled` but for `_` in place of the dot.
fn variable_of(spelled: &str) -> Option<String> {
    let mut keys = schema::keys().iter();
    let key = keys.find(|key| key.path.replace('.', "_") == spelled)?;
    let name = match key.path.split_once('.') {
        Some((section, key)) => format!("COORL_{section}__{key}"),
        None => format!("COORL__{}", key.path),
    };
    Some(name.to_uppercase())
}

/// The leaves of a `--set PATH=VALUE`.
pub(super) fn from_set(argument: &str, findings: &mut Findings) -> Vec<Leaf> {
    let source = Source::Set(argument.to_owned());
    match argument.split_once('=') {
        Some((path, text)) => from_assignment(path.trim(), text, source, findings),
        None => {
            let cause = "`=` is missing; write --set PATH=VALUE, such as --set run.seed=3";
            findings.unreadable(source, cause.to_owned());
            Vec::new()
        }
    }
}

/// The value of an assignment is YAML: `[a, b]`, `null`, and empty for null.
fn from_assignment(path: &str, text: &str, source: Source, findings: &mut Findings) -> Vec<Leaf> {
    if path.split('.').any(|part| part.trim().is_empty()) {
        let cause =
            format!("the key \"{path}\" has an empty part; write SECTION.KEY, such as run.seed");
        findings.unreadable(source, cause);
        return Vec::new();
    }
    let value = match parse(text, Syntax::Yaml) {
        Ok(parsed) => parsed.tree,
        Err(cause) => {
            findings.unreadable(source, format!("the value of {path} is {cause}"));
            return Vec::new();
        }
    };
    let mut leaves = Vec::new();
    walk(
        path.to_owned(),
        &value,
        &|_| source.clone(),
        findings,
        &mut leaves,
    );
    leaves
}

fn flatten(entries: &Dict, source: impl Fn(&str) -> Source, findings: &mut Findings) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for (key, value) in entries {
        walk(segment(key), value, &source, findings, &mut leaves);
    }
    leaves
}

/// Takes a tree apart down to known keys, or to whatever is no mapping.
fn walk(
    path: String,
    value: &Value,
    source: &impl Fn(&str) -> Source,
    findings: &mut Findings,
    leaves: &mut Vec<Leaf>,
) {
    let known = schema::find(&path).is_some() || earlier::knows(&path);
    let section = schema::is_section(&path) || earlier::is_section(&path);
    match value {
        Value::Dict(_, entries) if !known && (section || !entries.is_empty()) => {
            for (key, value) in entries {
                walk(
                    format!("{path}.{}", segment(key)),
                    value,
                    source,
                    findings,
                    leaves,
                );
            }
        }
        // A section with nothing in it: all its lines are comments.
        Value::Empty(..) if section => {}
        value => {
            let leaf = Leaf {
                source: source(&path),
                written: path.clone(),
                path,
                value: value.clone(),
            };
            if section {
                let allowed = format!("a mapping of the keys of the section {}", leaf.path);
                findings.refuse(&leaf, Reason::WrongType { allowed });
            } else {
                leaves.push(leaf);
            }
        }
    }
}

/// A key as a part of a dotted path; in quotes where it holds a dot itself, so that it is never taken for a path.
fn segment(key: &str) -> String {
    if key.contains('.') || key.is_empty() {
        format!("{key:?}")
    } else {
        key.to_owned()
    }
}
