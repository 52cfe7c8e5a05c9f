//! One value against one key: lenient about spelling, strict about meaning.
//!
//! Numbers may come as text (`"1e-4"`, `2_000_000`), whole floats count as integers, `yes/no/on/off/true/false/1/0` are
//! flags, and words are trimmed and lower-cased. Everything else is refused with what is allowed.

use super::bot_names::{is_bot_name, nearest_name, normal};
use super::error::Reason;
use super::{
    allowed::{Allowed, NETWORK_POLICIES, Outside},
    schema::{Key, most_alike},
};
use crate::training::Reinitialise;
use figment::value::{Empty, Num, Value};

/// A value that its key may hold.
#[derive(Debug)]
pub(super) struct Coerced {
    /// In the key's own type.
    pub(super) value: Value,
    /// What it was changed to, where a number lay outside its range and the key takes the nearer end.
    pub(super) moved_to: Option<String>,
}

impl From<Value> for Coerced {
    fn from(value: Value) -> Self {
        Self {
            value,
            moved_to: None,
        }
    }
}

/// Brings `value` into the type and range of `key`, or says why it cannot be.
pub(super) fn coerce(key: &Key, value: &Value) -> Result<Coerced, Reason> {
    if let Value::Empty(..) = value {
        let null = Value::from(Empty::None).into();
        return key.nullable.then_some(null).ok_or_else(|| wrong_type(key));
    }
    match key.allowed {
        Allowed::Flag => flag(value)
            .map(|flag| Value::from(flag).into())
            .ok_or_else(|| wrong_type(key)),
        Allowed::Integer { low, high, outside } => {
            let number = integer(value).ok_or_else(|| wrong_type(key))?;
            let kept = within(number, low, high, outside);
            let kept = kept.ok_or_else(|| not_allowed(key, None))?;
            let moved_to = (kept != number).then(|| kept.to_string());
            let value = integer_value(kept).ok_or_else(|| not_allowed(key, None))?;
            Ok(Coerced { value, moved_to })
        }
        Allowed::Number {
            low,
            high,
            above_low,
            outside,
        } => {
            let number = number(value).ok_or_else(|| wrong_type(key))?;
            let possible = number.is_finite() && !(above_low && number <= low);
            let kept = possible.then(|| within(number, low, high, outside));
            let kept = kept.flatten().ok_or_else(|| not_allowed(key, None))?;
            Ok(Coerced {
                // Minus zero is zero: it would only confuse whoever reads it back.
                value: (kept + 0.0).into(),
                moved_to: (kept != number).then(|| kept.to_string()),
            })
        }
        Allowed::Bots => bots(key, value).map(Coerced::from),
        Allowed::Choice { .. }
        | Allowed::Name
        | Allowed::Occasions
        | Allowed::Device
        | Allowed::OpponentPolicy => {
            let text = text(value).ok_or_else(|| wrong_type(key))?;
            word(key, text).map(|word| Value::from(word).into())
        }
    }
}

fn wrong_type(key: &Key) -> Reason {
    Reason::WrongType {
        allowed: key.allowed_words(),
    }
}

fn not_allowed(key: &Key, nearest: Option<String>) -> Reason {
    Reason::OutOfRange {
        allowed: key.allowed_words(),
        nearest,
    }
}

/// A text as its key spells it.
fn word(key: &Key, text: String) -> Result<String, Reason> {
    let word = normal(&text);
    match key.allowed {
        Allowed::Choice {
            names,
            aliases,
            missing,
        } => match choose(&word, names, aliases, missing) {
            Ok(name) => Ok(name.to_owned()),
            Err(Some(remedy)) => Err(Reason::Unavailable { remedy }),
            Err(None) => Err(not_allowed(key, most_alike(&word, names.iter().copied()))),
        },
        Allowed::Occasions => {
            let known = ["never", "always"].into_iter();
            text.parse::<Reinitialise>()
                .map(|occasions| occasions.to_string())
                .map_err(|_| not_allowed(key, most_alike(&word, known)))
        }
        Allowed::Device => {
            let device = text.trim().to_lowercase();
            let known = ["auto", "cpu", "cuda"].into_iter();
            is_device(&device)
                .then_some(device)
                .ok_or_else(|| not_allowed(key, most_alike(&word, known)))
        }
        Allowed::OpponentPolicy if NETWORK_POLICIES.contains(&word.as_str()) => Ok(word),
        Allowed::OpponentPolicy if is_bot_name(&word) => Ok(text.trim().to_owned()),
        Allowed::OpponentPolicy => Err(not_allowed(key, nearest_name(&word, NETWORK_POLICIES))),
        _ => {
            let fits = text.chars().any(|c| c.is_ascii_alphanumeric())
                && text.chars().count() <= 200
                && !text.chars().any(char::is_control);
            fits.then_some(text).ok_or_else(|| not_allowed(key, None))
        }
    }
}

/// A list of bots. Their spelling stays: it is the metrics' key.
fn bots(key: &Key, value: &Value) -> Result<Value, Reason> {
    let items = value.as_array().ok_or_else(|| wrong_type(key))?;
    for item in items {
        let name = item.as_str().ok_or_else(|| wrong_type(key))?;
        if !is_bot_name(name) {
            return Err(not_allowed(key, nearest_name(name, &[])));
        }
    }
    Ok(items.to_vec().into())
}

/// The number the key takes for `number`, `None` where it is refused.
fn within<N: PartialOrd>(number: N, low: N, high: N, outside: Outside) -> Option<N> {
    if number < low {
        (outside != Outside::Refused).then_some(low)
    } else if number > high {
        (outside == Outside::Clamped).then_some(high)
    } else {
        Some(number)
    }
}

/// The name `word` stands for; otherwise the remedy if it is one that is still missing.
fn choose(
    word: &str,
    names: &[&'static str],
    aliases: &[(&'static str, &'static str)],
    missing: &[(&'static str, &'static str)],
) -> Result<&'static str, Option<String>> {
    let of = |pairs: &[(&'static str, &'static str)]| {
        let pair = pairs.iter().find(|(from, _)| *from == word);
        pair.map(|(_, to)| *to)
    };
    let name = names.iter().copied().find(|name| *name == word);
    name.or_else(|| of(aliases))
        .ok_or_else(|| of(missing).map(str::to_owned))
}

fn is_device(device: &str) -> bool {
    let number = device.strip_prefix("cuda:");
    matches!(device, "auto" | "cpu" | "cuda")
        || number.is_some_and(|number| {
            number.chars().all(|c| c.is_ascii_digit()) && number.parse::<u8>().is_ok()
        })
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(_, flag) => Some(*flag),
        Value::Num(_, number) => match whole(*number)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        },
        Value::String(_, text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The integer a value stands for: a whole number, or a text of one.
pub(super) fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Num(_, number) => whole(*number).or_else(|| whole_float(number.to_f64()?)),
        Value::String(_, text) => {
            let text = plain_digits(text)?;
            text.parse()
                .ok()
                .or_else(|| whole_float(text.parse().ok()?))
        }
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Num(_, number) => number
            .to_f64()
            .or_else(|| whole(*number).map(|whole| whole as f64)),
        Value::String(_, text) => plain_digits(text)?.parse().ok(),
        _ => None,
    }
}

/// A text; a number or a flag counts as the text of it (`experiment_name: 7`).
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(_, text) => Some(text.clone()),
        Value::Char(_, letter) => Some(letter.to_string()),
        Value::Bool(..) | Value::Num(..) => Some(show(value)),
        _ => None,
    }
}

fn whole(number: Num) -> Option<i128> {
    number
        .to_i128()
        .or_else(|| i128::try_from(number.to_u128()?).ok())
}

fn whole_float(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128)
}

/// The text without surrounding space and without `_` between digits (`2_000_000`, as YAML 1.1 and Python write it).
fn plain_digits(text: &str) -> Option<String> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    let between = bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| *byte != b'_' || (digit(at.checked_sub(1)) && digit(Some(at + 1))));
    between.then(|| text.replace('_', ""))
}

fn integer_value(number: i128) -> Option<Value> {
    let unsigned = u64::try_from(number).map(Value::from);
    unsigned
        .or_else(|_| i64::try_from(number).map(Value::from))
        .ok()
}

/// A value as a message shows it: text in quotes, shortened to 80 characters.
pub(super) fn show(value: &Value) -> String {
    let full = match value {
        Value::String(_, text) => format!("{text:?}"),
        Value::Char(_, letter) => format!("{letter:?}"),
        Value::Bool(_, flag) => flag.to_string(),
        Value::Num(_, number) => match whole(*number) {
            Some(whole) => whole.to_string(),
            // `1e-8` and `0.5` as people write them.
            None => format!("{:?}", number.to_f64().unwrap_or_default()),
        },
        Value::Empty(..) => "null".to_owned(),
        Value::Dict(_, entries) => {
            let parts = entries
                .iter()
                .map(|(key, value)| format!("{key}: {}", show(value)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        Value::Array(_, items) => {
            format!(
                "[{}]",
                items.iter().map(show).collect::<Vec<_>>().join(", ")
            )
        }
    };
    if full.chars().count() <= 80 {
        return full;
    }
    full.chars().take(77).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests;
