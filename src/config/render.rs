//! A configuration as YAML text.

use super::Config;
use super::error::Source;
use super::load::Loaded;
use super::schema::keys;
use serde_json::Value;
use std::collections::BTreeMap;

impl Config {
    /// Every key as YAML. Loading the text gives the same configuration again.
    pub fn to_yaml(&self) -> String {
        let lines = entries(self).into_iter().map(|entry| entry.text + "\n");
        lines.collect()
    }
}

impl Loaded {
    /// Every key as YAML, each with a comment that says where its value came from.
    pub fn to_annotated_yaml(&self) -> String {
        annotated(&self.config, &self.provenance)
    }
}

/// One line of the text: a section's name, or a key with its value.
struct Entry {
    path: Option<&'static str>,
    text: String,
}

fn entries(config: &Config) -> Vec<Entry> {
    let tree = tree(config);
    let mut entries = Vec::new();
    let mut open = "";
    for key in keys() {
        let (section, name) = key.path.rsplit_once('.').unwrap_or(("", key.path));
        if section != open {
            let text = format!("{section}:");
            entries.push(Entry { path: None, text });
            open = section;
        }
        let indent = if section.is_empty() { "" } else { "  " };
        let text = format!("{indent}{name}: {}", scalar(at(&tree, key.path)));
        entries.push(Entry {
            path: Some(key.path),
            text,
        });
    }
    entries
}

fn annotated(config: &Config, provenance: &BTreeMap<String, Source>) -> String {
    let entries = entries(config);
    let width = |entry: &Entry| entry.text.chars().count();
    // One long list must not push every comment to the right.
    let column = entries.iter().map(width).filter(|width| *width <= 60).max();
    let column = column.unwrap_or_default();
    let mut out = String::new();
    for entry in entries {
        let source = entry.path.and_then(|path| provenance.get(path));
        match source {
            Some(source) => out += &format!("{:column$}  # from {source}\n", entry.text),
            None => out += &format!("{}\n", entry.text),
        }
    }
    out
}

/// The value of a dotted key as YAML text.
pub(super) fn value_text(config: &Config, path: &str) -> String {
    scalar(at(&tree(config), path))
}

/// The configuration as plain data; settings are numbers, flags, texts and lists of texts, which always serialise.
fn tree(config: &Config) -> Value {
    serde_json::to_value(config).unwrap_or_default()
}

fn at<'a>(tree: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(tree, |value, part| &value[part])
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(scalar).collect();
            format!("[{}]", items.join(", "))
        }
        // JSON's numbers, flags and null are YAML's too.
        other => other.to_string(),
    }
}

/// A text without quotes where it can only be read as that text, else in JSON's quotes, which are YAML's too.
fn string(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'));
    let reads_as_another = matches!(
        text.to_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if plain && !reads_as_another {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}
