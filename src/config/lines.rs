//! On which line of a file a key stands, as far as its layout tells.

use super::parse::Syntax;
use std::collections::BTreeMap;

/// Lines of the dotted keys of one file, from 1.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// Reads the layout of `text`: nesting by indentation (YAML, and JSON as it is usually printed) or by `[section]` (TOML).
    pub(super) fn of(text: &str, syntax: Syntax) -> Self {
        match syntax {
            Syntax::Toml => Self::by_section(text),
            Syntax::Yaml | Syntax::Json => Self::by_indentation(text),
        }
    }

    /// The line of a dotted key, or of the nearest part of its path that has one (`run: {seed: 1}`).
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(line) = self.0.get(path) {
                return Some(*line);
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    fn by_indentation(text: &str) -> Self {
        let mut lines = BTreeMap::new();
        let mut open: Vec<(usize, String)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let content = line.trim_start();
            let Some(key) = key_before(content, ':') else {
                continue;
            };
            let indent = line.len() - content.len();
            while open.last().is_some_and(|(outer, _)| *outer >= indent) {
                open.pop();
            }
            open.push((indent, key));
            let path: Vec<_> = open.iter().map(|(_, key)| key.as_str()).collect();
            lines.insert(path.join("."), number + 1);
        }
        Self(lines)
    }

    fn by_section(text: &str) -> Self {
        let mut lines = BTreeMap::new();
        let mut section = String::new();
        for (number, line) in text.lines().enumerate() {
            let content = line.trim();
            if let Some(rest) = content.strip_prefix('[') {
                section = rest.split(']').next().unwrap_or_default().trim().to_owned();
                lines.insert(section.clone(), number + 1);
            } else if let Some(key) = key_before(content, '=') {
                let path = match section.as_str() {
                    "" => key,
                    section => format!("{section}.{key}"),
                };
                lines.insert(path, number + 1);
            }
        }
        Self(lines)
    }
}

/// The key at the start of a line, without quotes; `None` for comments, list items and anything else.
fn key_before(content: &str, separator: char) -> Option<String> {
    if content.starts_with(['#', '-']) {
        return None;
    }
    let (key, _) = content.split_once(separator)?;
    let key = key.trim().trim_matches(['"', '\'']);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(plain)).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_by_indentation() {
        let text = "# run: no\nrun:\n  seed: 1\n\n  device: cpu # run\nrules: {n_ranks: 9}\nevaluation:\n  opponents:\n  - random\n  games: 3\n";
        let lines = Lines::of(text, Syntax::Yaml);
        assert_eq!(lines.find("run.seed"), Some(3));
        assert_eq!(lines.find("run.device"), Some(5));
        assert_eq!(lines.find("rules.n_ranks"), Some(6));
        assert_eq!(lines.find("evaluation.games"), Some(10));
        assert_eq!(lines.find("network.kind"), None);
    }

    #[test]
    fn json_as_it_is_printed() {
        let text = "{\n  \"run\": {\n    \"seed\": 1,\n    \"device\": \"cpu\"\n  }\n}\n";
        let lines = Lines::of(text, Syntax::Json);
        assert_eq!(lines.find("run.device"), Some(4));
    }

    #[test]
    fn toml_by_section() {
        let text = "game = \"lost_cities\"\n[run]\nseed = 1\n\n[network] # shape\nkind = \"mlp\"\n";
        let lines = Lines::of(text, Syntax::Toml);
        assert_eq!(lines.find("game"), Some(1));
        assert_eq!(lines.find("network.kind"), Some(6));
    }
}
