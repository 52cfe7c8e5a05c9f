//! What a key may hold.

use super::bot_names::bot_names;
use crate::training::Reinitialise;
use std::fmt;

/// What becomes of a number outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It is refused.
    Refused,
    /// Below the range it counts as the lowest value, with a note: "0 or less means off".
    RaisedToLow,
    /// It counts as the nearer end, with a note.
    Clamped,
}

/// What a key may hold.
#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    /// `true` or `false`.
    Flag,
    /// A whole number of a closed range.
    Integer {
        /// The least.
        low: i128,
        /// The greatest.
        high: i128,
        /// What becomes of others.
        outside: Outside,
    },
    /// A finite number of a range.
    Number {
        /// The least, or the bound that is not reached.
        low: f64,
        /// The greatest.
        high: f64,
        /// Whether `low` itself is outside.
        above_low: bool,
        /// What becomes of others.
        outside: Outside,
    },
    /// One of a few words.
    Choice {
        /// The words.
        names: &'static [&'static str],
        /// Other spellings, each with the word it stands for.
        aliases: &'static [(&'static str, &'static str)],
        /// Words that will have a meaning but have none yet, each with the remedy.
        missing: &'static [(&'static str, &'static str)],
    },
    /// A text that can name a folder.
    Name,
    /// When something happens: `never`, `always` or `every N`.
    Occasions,
    /// A device: `auto`, `cpu`, `cuda` or `cuda:N`.
    Device,
    /// A policy of networks, or a scripted opponent.
    OpponentPolicy,
    /// A list of scripted opponents.
    Bots,
}

/// The opponent policies that are not bots.
pub(super) const NETWORK_POLICIES: &[&str] = &["network", "average_strategy", "self_play_league"];

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Flag => f.write_str("true or false"),
            Allowed::Integer { low, high, .. } => write!(f, "an integer from {low} to {high}"),
            Allowed::Number {
                low,
                high,
                above_low: true,
                ..
            } => write!(f, "a number above {low}, at most {high}"),
            Allowed::Number { low, high, .. } => write!(f, "a number from {low} to {high}"),
            Allowed::Choice { names, .. } => f.write_str(&names.join(", ")),
            Allowed::Name => f.write_str(
                "a text of at most 200 characters on one line, with at least one letter or digit",
            ),
            Allowed::Occasions => f.write_str(Reinitialise::ALLOWED),
            Allowed::Device => f.write_str("auto, cpu, cuda, cuda:N"),
            Allowed::OpponentPolicy => {
                write!(f, "{}, or a bot: ", NETWORK_POLICIES.join(", "))?;
                f.write_str(&bot_names().join(", "))
            }
            Allowed::Bots => {
                f.write_str("a list such as [random, safe_heuristic], of the bots: ")?;
                f.write_str(&bot_names().join(", "))
            }
        }
    }
}
