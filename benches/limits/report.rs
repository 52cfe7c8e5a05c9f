//! The table of rows, as text and as JSON.

use coorl_async::tuning::{self, mean_interval};
use serde_json::{Value, json};
use std::path::Path;

/// What a row's value must reach.
#[derive(Clone, Copy)]
pub enum Bound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Bound {
    fn text(self) -> String {
        match self {
            Bound::AtLeast(least) => format!(">= {least}"),
            Bound::AtMost(most) => format!("<= {most}"),
        }
    }
}

/// One line of the table.
pub struct Row {
    /// What `--rows` calls it.
    pub name: &'static str,
    /// What was measured.
    pub what: String,
    /// Its unit; empty for ratios.
    pub unit: &'static str,
    /// The median of all rounds.
    pub value: f64,
    /// What it must reach; `None` for a line that only informs.
    pub bound: Option<Bound>,
    /// For a row that is known to miss its bound, for reasons in `profiles/README.md`: what it must keep all the same.
    pub known_miss: Option<Bound>,
    /// Whether a bound inside the rounds' noise counts as met: for ratios that may well be 1.
    pub allows_noise: bool,
    /// The limit it is seen against, taken in the same run: what it is, its value in `unit`, and the row's share of it (1 is the limit).
    pub limit: Option<(String, f64)>,
    /// The values of the single rounds.
    pub rounds: Vec<f64>,
}

impl Row {
    /// A row from its rounds.
    pub fn new(
        name: &'static str,
        what: impl Into<String>,
        unit: &'static str,
        bound: impl Into<Option<Bound>>,
        rounds: Vec<f64>,
    ) -> Self {
        Self {
            name,
            what: what.into(),
            unit,
            value: median(rounds.clone()),
            bound: bound.into(),
            known_miss: None,
            allows_noise: false,
            limit: None,
            rounds,
        }
    }

    /// Names the limit taken in the same run, in the row's unit.
    pub fn against(mut self, what: impl Into<String>, value: f64) -> Self {
        self.limit = Some((what.into(), value));
        self
    }

    /// Marks a known miss that must keep `bound`.
    pub fn known_to_miss(mut self, bound: Bound) -> Self {
        self.known_miss = Some(bound);
        self
    }

    /// Counts the bound as met when the 95 % interval of the rounds' mean (Student's t) reaches it.
    pub fn within_noise(mut self) -> Self {
        self.allows_noise = true;
        self
    }

    /// The bound is not met, and the rounds do not show that it is missed.
    fn is_within_noise(&self) -> bool {
        let interval = mean_interval(&self.rounds).filter(|_| self.allows_noise);
        match (self.bound, interval) {
            (Some(Bound::AtLeast(least)), Some(interval)) => interval.high >= least,
            (Some(Bound::AtMost(most)), Some(interval)) => interval.low <= most,
            _ => false,
        }
    }

    fn keeps(&self, bound: Option<Bound>) -> bool {
        match bound {
            Some(Bound::AtLeast(least)) => self.value >= least,
            Some(Bound::AtMost(most)) => self.value <= most,
            None => true,
        }
    }

    /// Whether the bound is met; rows without one are.
    pub fn passes(&self) -> bool {
        self.keeps(self.bound)
    }

    /// Whether `--check` lets it pass: its bound is met, or it is a known miss that got no worse.
    pub fn is_accepted(&self) -> bool {
        self.passes()
            || self.is_within_noise()
            || (self.known_miss.is_some() && self.keeps(self.known_miss))
    }

    fn verdict(&self) -> String {
        match (self.bound, self.passes(), self.known_miss) {
            (None, ..) => String::new(),
            (Some(_), true, _) => "pass".into(),
            (Some(_), false, None) if self.is_within_noise() => "within noise".into(),
            (Some(_), false, None) => "miss".into(),
            (Some(_), false, Some(bound)) => format!("known miss, must keep {}", bound.text()),
        }
    }

    fn bound_text(&self) -> String {
        self.bound.map(Bound::text).unwrap_or_default()
    }

    fn json(&self) -> Value {
        let (bound, direction) = match self.bound {
            Some(Bound::AtLeast(least)) => (Some(least), Some("at_least")),
            Some(Bound::AtMost(most)) => (Some(most), Some("at_most")),
            None => (None, None),
        };
        json!({
            "name": self.name, "what": self.what, "unit": self.unit, "value": self.value, "rounds": self.rounds,
            "bound": bound, "direction": direction, "pass": self.bound.map(|_| self.passes()),
            "known_miss": self.known_miss.map(Bound::text),
            "limit": self.limit.as_ref().map(|(what, value)| json!({
                "what": what, "value": value, "value_to_limit": self.value / value,
            })),
        })
    }
}

/// The median; not a number without values.
pub fn median(values: Vec<f64>) -> f64 {
    tuning::median(&values).unwrap_or(f64::NAN)
}

/// The table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| row | what | value | must reach | | limit in the same run | value / limit |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (limit, ratio) = row
            .limit
            .as_ref()
            .map_or_else(Default::default, |(what, value)| {
                (
                    format!("{} {} ({what})", rounded(*value), row.unit),
                    rounded(row.value / value),
                )
            });
        text += &format!(
            "| {} | {} | {} {} | {} | {} | {limit} | {ratio} |\n",
            row.name,
            row.what,
            rounded(row.value),
            row.unit,
            row.bound_text(),
            row.verdict(),
        );
    }
    text
}

fn rounded(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// Writes the rows and what they were measured with.
pub fn write_json(path: &Path, rows: &[Row], setting: &Value) -> anyhow::Result<()> {
    use anyhow::Context;
    let text = serde_json::to_string_pretty(&json!({
        "setting": setting,
        "rows": rows.iter().map(Row::json).collect::<Vec<_>>(),
    }))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| {
            format!(
                "{} could not be made: choose another --json",
                folder.display()
            )
        })?;
    }
    std::fs::write(path, text + "\n").with_context(|| {
        format!(
            "{} could not be written: choose another --json",
            path.display()
        )
    })
}
