//! The table of rows, as text and as JSON.

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
            limit: None,
            rounds,
        }
    }

    /// Names the limit taken in the same run, in the row's unit.
    pub fn against(mut self, what: impl Into<String>, value: f64) -> Self {
        self.limit = Some((what.into(), value));
        self
    }

    /// Whether the bound is met; rows without one are.
    pub fn passes(&self) -> bool {
        match self.bound {
            Some(Bound::AtLeast(least)) => self.value >= least,
            Some(Bound::AtMost(most)) => self.value <= most,
            None => true,
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.bound, self.passes()) {
            (None, _) => "",
            (Some(_), true) => "pass",
            (Some(_), false) => "miss",
        }
    }

    fn bound_text(&self) -> String {
        match self.bound {
            Some(Bound::AtLeast(least)) => format!(">= {least}"),
            Some(Bound::AtMost(most)) => format!("<= {most}"),
            None => String::new(),
        }
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
            "limit": self.limit.as_ref().map(|(what, value)| json!({
                "what": what, "value": value, "value_to_limit": self.value / value,
            })),
        })
    }
}

/// The middle value; of an even number the greater of the two in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
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
