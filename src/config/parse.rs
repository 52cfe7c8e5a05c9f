//! Text to a tree of values: YAML, JSON and TOML. A key given twice is kept as the last one says, and reported.

use figment::providers::{Format, Toml};
use figment::value::{Dict, Empty, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::cell::RefCell;
use std::fmt;
use std::path::Path;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

impl Syntax {
    /// By the file's suffix; YAML, of which JSON is a part, where it is none of the known ones.
    pub(super) fn of(path: &Path) -> Self {
        let suffix = path.extension().map(|suffix| suffix.to_ascii_lowercase());
        match suffix.as_ref().and_then(|suffix| suffix.to_str()) {
            Some("json") => Syntax::Json,
            Some("toml") => Syntax::Toml,
            _ => Syntax::Yaml,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Syntax::Yaml => "YAML",
            Syntax::Json => "JSON",
            Syntax::Toml => "TOML",
        }
    }
}

/// A parsed text.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The tree; null for an empty text.
    pub(super) tree: Value,
    /// The dotted keys that stood there more than once.
    pub(super) repeated: Vec<String>,
}

/// Parses `text`. The error is one line that names the place.
pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Parsed, String> {
    let text = text.trim_start_matches('\u{feff}');
    let empty = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "---" || line == "..."
    };
    if text.lines().all(empty) {
        let tree = Value::from(Empty::Unit);
        let repeated = Vec::new();
        return Ok(Parsed { tree, repeated });
    }
    let repeated = RefCell::new(Vec::new());
    let seed = Tree {
        path: String::new(),
        repeated: &repeated,
    };
    let tree = match syntax {
        Syntax::Yaml => seed
            .deserialize(serde_norway::Deserializer::from_str(text))
            .map_err(|error| error.to_string()),
        Syntax::Json => {
            let mut json = serde_json::Deserializer::from_str(text);
            seed.deserialize(&mut json)
                .and_then(|tree| json.end().map(|()| tree))
                .map_err(|error| error.to_string())
        }
        Syntax::Toml => Toml::from_str(text).map_err(|error| error.to_string()),
    };
    let one_line = |error: String| {
        let words = error.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("not valid {}: {words}", syntax.name())
    };
    Ok(Parsed {
        tree: tree.map_err(one_line)?,
        repeated: repeated.into_inner(),
    })
}

/// Builds the tree at `path`, noting repeated keys on the way.
struct Tree<'a> {
    path: String,
    repeated: &'a RefCell<Vec<String>>,
}

impl<'a> Tree<'a> {
    fn child(&self, key: &str) -> Tree<'a> {
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        Tree {
            path,
            repeated: self.repeated,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plain value, a list or a mapping")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Empty::Unit.into())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.child("[]"))? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Dict::new();
        let mut merged = Vec::new();
        while let Some(key) = access.next_key::<String>()? {
            let child = self.child(&key);
            let path = child.path.clone();
            let value = access.next_value_seed(child)?;
            match (key.as_str(), value) {
                // YAML's merge key: what it brings stands below the mapping's own entries.
                ("<<", Value::Dict(_, brought)) => merged.push(brought),
                ("<<", Value::Array(_, list)) => {
                    merged.extend(list.into_iter().filter_map(Value::into_dict));
                }
                (_, value) => {
                    if entries.insert(key, value).is_some() {
                        self.repeated.borrow_mut().push(path);
                    }
                }
            }
        }
        for (key, value) in merged.into_iter().flatten() {
            entries.entry(key).or_insert(value);
        }
        Ok(entries.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::coerce::show;

    fn yaml(text: &str) -> Parsed {
        parse(text, Syntax::Yaml).unwrap()
    }

    #[test]
    fn a_text_without_content_is_null() {
        for syntax in [Syntax::Yaml, Syntax::Json, Syntax::Toml] {
            for text in ["", "\n\n", "# nothing\n", "---\n"] {
                let tree = parse(text, syntax).unwrap().tree;
                assert_eq!(show(&tree), "null", "{text:?}");
            }
        }
    }

    #[test]
    fn the_last_of_a_repeated_key_counts_and_is_reported() {
        let text = "run:\n  seed: 1\n  seed: 2\nrun:\n  seed: 3\n";
        let parsed = yaml(text);
        assert_eq!(show(&parsed.tree), "{run: {seed: 3}}");
        assert_eq!(parsed.repeated, ["run.seed", "run"]);
        let json = parse("{\"game\": 1, \"game\": 2}", Syntax::Json).unwrap();
        assert_eq!(show(&json.tree), "{game: 2}");
        assert_eq!(json.repeated, ["game"]);
    }

    #[test]
    fn anchors_and_merges() {
        let text = "a: &base {x: 1, y: 2}\nb:\n  <<: *base\n  y: 3\n";
        assert_eq!(show(&yaml(text).tree), "{a: {x: 1, y: 2}, b: {x: 1, y: 3}}");
    }

    #[test]
    fn a_broken_text_is_named_on_one_line() {
        for (text, syntax, name) in [
            ("run: [1", Syntax::Yaml, "YAML"),
            ("run: 1\n- x\n", Syntax::Yaml, "YAML"),
            ("{\"run\": }", Syntax::Json, "JSON"),
            ("{} {}", Syntax::Json, "JSON"),
            ("run = \n", Syntax::Toml, "TOML"),
        ] {
            let error = parse(text, syntax).unwrap_err();
            assert!(
                error.contains(name) && error.contains("line"),
                "{text:?}: {error}"
            );
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        let text = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&text, Syntax::Yaml).is_err());
        assert!(parse(&text, Syntax::Json).is_err());
    }
}
