//! When a network starts anew.

use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZeroU32, str::FromStr};

/// Before which iterations' fits a network gets fresh parameters and a fresh optimizer.
///
/// Written `never`, `always`, or `every N`, which is iterations N, 2N, 3N, ...
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reinitialise {
    /// The network goes on from the iteration before (a warm start).
    #[default]
    Never,
    /// Every iteration fits from scratch (Brown et al. 2019, algorithm 1).
    Always,
    /// Every so many iterations.
    Every(NonZeroU32),
}

impl Reinitialise {
    /// What may be written, in words.
    pub const ALLOWED: &str = "never, always, or every N (such as every 5)";

    /// Whether `iteration`, counted from 1, fits from scratch.
    pub fn is_due(self, iteration: u32) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Every(iterations) => iteration.is_multiple_of(iterations.get()),
        }
    }
}

/// A text that names no occasion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be {}", Reinitialise::ALLOWED)]
pub struct UnknownOccasion;

impl FromStr for Reinitialise {
    type Err = UnknownOccasion;

    /// Reads any case, and any space between the words.
    fn from_str(text: &str) -> Result<Self, UnknownOccasion> {
        let text = text.to_lowercase();
        let words: Vec<_> = text.split_whitespace().collect();
        match words[..] {
            ["never"] => Ok(Self::Never),
            ["always"] => Ok(Self::Always),
            ["every", number] => number.parse().map(Self::Every).or(Err(UnknownOccasion)),
            _ => Err(UnknownOccasion),
        }
    }
}

impl fmt::Display for Reinitialise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Always => f.write_str("always"),
            Self::Every(iterations) => write!(f, "every {iterations}"),
        }
    }
}

impl TryFrom<String> for Reinitialise {
    type Error = UnknownOccasion;

    fn try_from(text: String) -> Result<Self, UnknownOccasion> {
        text.parse()
    }
}

impl From<Reinitialise> for String {
    fn from(occasion: Reinitialise) -> Self {
        occasion.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Reinitialise, UnknownOccasion> {
        text.parse()
    }

    #[test]
    fn texts_are_read_and_written() {
        for (text, written) in [
            ("never", "never"),
            (" Always ", "always"),
            ("EVERY  5", "every 5"),
            ("every 1", "every 1"),
        ] {
            assert_eq!(read(text).unwrap().to_string(), written);
        }
        for text in [
            "",
            "every",
            "every 0",
            "every -1",
            "every 1.5",
            "5",
            "every 5 6",
            "often",
        ] {
            assert_eq!(read(text), Err(UnknownOccasion), "{text}");
        }
    }

    #[test]
    fn occasions_are_multiples() {
        let due = |text| {
            let occasion = read(text).unwrap();
            (1..=10).filter(move |&iteration| occasion.is_due(iteration))
        };
        assert_eq!(due("never").count(), 0);
        assert_eq!(due("always").count(), 10);
        assert_eq!(due("every 4").collect::<Vec<_>>(), [4, 8]);
        assert_eq!(due("every 1").count(), 10);
    }
}
