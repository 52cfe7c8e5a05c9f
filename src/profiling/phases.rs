//! The tables of a profiled run: phases by wall time, samples by thread, module and function.

use super::Stacks;
use crate::training::Phase;
use serde_json::{Map, Value};
use std::{fmt::Write as _, io, path::Path};

/// Seconds by phase, summed over iterations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseTable {
    /// Complete iterations.
    pub iterations: usize,
    /// Seconds of all of them.
    pub seconds: f64,
    /// Seconds by phase, in the order of [`Phase::ALL`].
    pub phases: [f64; Phase::ALL.len()],
}

impl PhaseTable {
    /// Reads the metrics of a run. A file that is not there has no iterations.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is no row.
    pub fn read(metrics: &Path) -> io::Result<Self> {
        let text = match std::fs::read_to_string(metrics) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let mut table = Self::default();
        for line in text.lines() {
            table.add(&serde_json::from_str(line)?);
        }
        Ok(table)
    }

    fn add(&mut self, row: &Map<String, Value>) {
        let seconds = |name: &str| {
            let value = row.get(&format!("time/{name}_seconds"));
            value.and_then(Value::as_f64).unwrap_or(0.0)
        };
        self.iterations += 1;
        self.seconds += seconds("iteration");
        for (sum, phase) in self.phases.iter_mut().zip(Phase::ALL) {
            *sum += seconds(phase.metric());
        }
    }

    /// Seconds of a phase.
    pub fn of(&self, phase: Phase) -> f64 {
        self.phases[phase as usize]
    }

    /// Its share of all seconds, 0 to 1.
    pub fn share(&self, phase: Phase) -> f64 {
        self.of(phase) / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// A Markdown table: the phases that follow one another, each with those that run inside it, and what is in none.
    pub fn markdown(&self) -> String {
        let mut text = String::from("| phase | seconds | share |\n|---|---:|---:|\n");
        let mut outside = self.seconds;
        let mut line = |name: &str, seconds: f64| {
            let share = 100.0 * seconds / self.seconds.max(f64::MIN_POSITIVE);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {name} | {seconds:.3} | {share:.1} % |");
        };
        for phase in Phase::ALL {
            let (name, inside) = words(phase);
            line(name, self.of(phase));
            if !inside {
                outside -= self.of(phase);
            }
        }
        line("weights to the lanes, bookkeeping", outside.max(0.0));
        line("all", self.seconds);
        text
    }
}

/// What a reader calls a phase, and whether it runs inside others.
fn words(phase: Phase) -> (&'static str, bool) {
    match phase {
        Phase::Traversal => ("traversal", false),
        Phase::MemoryAdd => ("- of it: samples into the memories", true),
        Phase::AdvantageFit => ("advantage fits", false),
        Phase::StrategyFit => ("strategy fit", false),
        Phase::CriticFit => ("- beside the advantage fit: critic fit", true),
        Phase::BatchTensor => ("- of all fits: making minibatches", true),
        Phase::Evaluation => ("evaluation", false),
        Phase::Checkpoint => ("checkpoint", false),
    }
}

/// A Markdown table of samples by `what`; at most `most` rows, the rest summed up in one.
pub fn samples_table(what: &str, counts: &[(String, u64)], most: usize) -> String {
    let all: u64 = counts.iter().map(|(_, samples)| samples).sum();
    let mut text = format!("| {what} | samples | share |\n|---|---:|---:|\n");
    let mut line = |name: &str, samples: u64| {
        let _ = writeln!(
            text,
            "| {} | {samples} | {} |",
            cell(name),
            percent(samples, all)
        );
    };
    let (shown, rest) = counts.split_at(counts.len().min(most));
    for (name, samples) in shown {
        line(name, *samples);
    }
    if !rest.is_empty() {
        let name = format!("{} others", rest.len());
        line(&name, rest.iter().map(|(_, samples)| samples).sum());
    }
    text
}

/// A Markdown table of the `most` functions with the most samples of their own.
pub fn functions_table(stacks: &Stacks, most: usize) -> String {
    let all = stacks.samples();
    let mut text = String::from("| own | with callees | function |\n|---:|---:|---|\n");
    for function in stacks.by_function().iter().take(most) {
        let (own, total) = (percent(function.own, all), percent(function.total, all));
        let _ = writeln!(text, "| {own} | {total} | {} |", cell(&function.name));
    }
    text
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// Names in a table are cut here: those of C++ templates go on for pages.
const LONGEST_NAME: usize = 110;

/// A name as code in a cell.
fn cell(name: &str) -> String {
    let mut shown: String = name.chars().take(LONGEST_NAME).collect();
    if shown.len() < name.len() {
        shown.push_str("...");
    }
    format!("`{}`", shown.replace('|', "\\|").replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_summed_over_iterations_and_the_rest_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let metrics = folder.path().join("metrics.jsonl");
        assert_eq!(PhaseTable::read(&metrics).unwrap(), PhaseTable::default());
        let rows = concat!(
            r#"{"time/traversal_seconds":2.0,"time/memory_add_seconds":0.5,"time/iteration_seconds":4.0,"loss/strategy":9.0}"#,
            "\n",
            r#"{"time/traversal_seconds":1.0,"time/evaluation_seconds":1.5,"time/iteration_seconds":4.0}"#,
            "\n"
        );
        std::fs::write(&metrics, rows).unwrap();
        let table = PhaseTable::read(&metrics).unwrap();
        assert_eq!((table.iterations, table.seconds), (2, 8.0));
        assert_eq!(
            (table.of(Phase::Traversal), table.share(Phase::Traversal)),
            (3.0, 0.375)
        );
        let text = table.markdown();
        assert!(text.contains("| traversal | 3.000 | 37.5 % |"), "{text}");
        // Inserting samples is part of the traversal: it is not taken off twice.
        assert!(text.contains("bookkeeping | 3.500 |"), "{text}");
        std::fs::write(&metrics, "torn").unwrap();
        assert!(PhaseTable::read(&metrics).is_err());
    }

    #[test]
    fn nothing_measured_gives_no_nonsense() {
        let text = PhaseTable::default().markdown();
        assert!(
            text.contains("| all | 0.000 | 0.0 % |") && !text.contains("NaN"),
            "{text}"
        );
    }

    #[test]
    fn long_lists_end_in_a_sum() {
        let counts: Vec<(String, u64)> = (0..5).map(|i| (format!("t|{i}"), 10 - i)).collect();
        let text = samples_table("thread", &counts, 3);
        assert!(text.contains("| `t\\|0` | 10 | 25.0 % |"), "{text}");
        assert!(text.ends_with("| `2 others` | 13 | 32.5 % |\n"), "{text}");
    }
}
