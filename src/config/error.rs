//! What is wrong with a configuration, what is worth knowing about it, and where a value came from.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The built-in default.
    Default,
    /// A `--config` file.
    File {
        /// The path as it was given.
        path: PathBuf,
        /// The line of the key, from 1, where it could be told.
        line: Option<usize>,
    },
    /// An environment variable, by name.
    Environment(String),
    /// A `--set` argument, as it was given.
    Set(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File {
                path,
                line: Some(line),
            } => write!(f, "file {}:{line}", path.display()),
            Source::File { path, line: None } => write!(f, "file {}", path.display()),
            Source::Environment(name) => write!(f, "environment {name}"),
            Source::Set(argument) => write!(f, "--set {argument}"),
        }
    }
}

/// Why a key is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No key of that name.
    UnknownKey {
        /// The known key whose name is most alike, if one is near enough.
        nearest: Option<String>,
    },
    /// A value of another type.
    WrongType {
        /// What is allowed, in words.
        allowed: String,
    },
    /// A value of the right type that is not allowed.
    OutOfRange {
        /// What is allowed, in words.
        allowed: String,
        /// The allowed word that is most alike, if one is near enough.
        nearest: Option<String>,
    },
    /// A value that will have a meaning but has none yet.
    Unavailable {
        /// What to write instead.
        remedy: String,
    },
    /// Values that are fine one by one and make no sense together.
    Contradiction {
        /// The other keys with their values and sources, why they clash, and the remedy.
        explanation: String,
    },
    /// A source that cannot be read at all.
    Unreadable {
        /// What went wrong and the remedy.
        cause: String,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The dotted key as it was written; empty where the source as a whole is meant.
    pub key: String,
    /// The value as it was written, shortened; `None` where no value is meant.
    pub value: Option<String>,
    /// Where it came from.
    pub source: Source,
    /// What is wrong with it.
    pub reason: Reason,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cite(f, &self.key, self.value.as_deref(), &self.source)?;
        let near = |f: &mut fmt::Formatter<'_>, nearest: &Option<String>| match nearest {
            Some(name) => write!(f, "; nearest: {name}"),
            None => Ok(()),
        };
        match &self.reason {
            Reason::UnknownKey { nearest } => {
                f.write_str("there is no such key")?;
                near(f, nearest)
            }
            Reason::WrongType { allowed } => write!(f, "wrong type; allowed: {allowed}"),
            Reason::OutOfRange { allowed, nearest } => {
                write!(f, "not allowed; allowed: {allowed}")?;
                near(f, nearest)
            }
            Reason::Unavailable { remedy } => write!(f, "not available yet; {remedy}"),
            Reason::Contradiction { explanation } => write!(f, "contradiction: {explanation}"),
            Reason::Unreadable { cause } => f.write_str(cause),
        }
    }
}

/// `key = value (source): `, without the parts that are empty.
fn cite(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    value: Option<&str>,
    source: &Source,
) -> fmt::Result {
    match (key, value) {
        ("", _) => write!(f, "{source}: "),
        (key, Some(value)) => write!(f, "{key} = {value} ({source}): "),
        (key, None) => write!(f, "{key} ({source}): "),
    }
}

/// Something worth knowing that stops nothing: a key that was mapped, has no meaning here, or has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The dotted key as it was written.
    pub key: String,
    /// The value as it was written, shortened; `None` where no value is meant.
    pub value: Option<String>,
    /// Where it came from.
    pub source: Source,
    /// What became of it.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cite(f, &self.key, self.value.as_deref(), &self.source)?;
        f.write_str(&self.text)
    }
}

/// A refused configuration, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// At least one problem, in the order of the sources.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => f.write_str("the configuration is refused:")?,
            count => write!(f, "the configuration is refused, {count} problems:")?,
        }
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}
