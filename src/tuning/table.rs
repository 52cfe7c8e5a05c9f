//! Results as a table for people, in Markdown.

use super::{Measured, Results, Setting, Verdict};
use std::fmt::Write;

const HEADINGS: [&str; 14] = [
    "timeout µs",
    "max batch",
    "in flight",
    "nodes/s",
    "95 % interval",
    "rounds",
    "mean batch",
    "p99 batch",
    "fill rate",
    "full / timeout / quiescent",
    "wait p50 µs",
    "wait p99 µs",
    "forward share",
    "",
];

/// The settings measured, the fastest first, at most `most` of them; `start` is the configured one.
///
/// *nodes/s* is the median over rounds, the interval Student's t for their mean. Batch sizes are rows of a network call; their p99 and
/// the queue waits are medians over rounds of each round's quantile. Flush reasons are in per cent of all flushes. The last column marks
/// the best, those within noise of it, the recommended and the configured one, see [`Verdict`].
pub fn table(results: &Results, start: Setting, most: usize) -> String {
    let verdict = Verdict::of(results);
    let ranked = results.ranked();
    let hidden = ranked.len().saturating_sub(most);
    let rows = ranked.iter().take(most).map(|(setting, measured)| {
        let marks = marks(*setting, start, verdict.as_ref());
        cells(*setting, measured, marks)
    });
    let mut text = markdown(rows.collect());
    if hidden > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "({hidden} slower ones are not shown)");
    }
    text
}

fn marks(setting: Setting, start: Setting, verdict: Option<&Verdict>) -> String {
    let mut marks = Vec::new();
    if let Some(verdict) = verdict {
        if setting == verdict.best {
            marks.push("best");
        } else if verdict.is_within_noise(setting) {
            marks.push("within noise");
        }
        if setting == verdict.recommended {
            marks.push("recommended");
        }
    }
    if setting == start {
        marks.push("configured");
    }
    marks.join(", ")
}

fn cells(setting: Setting, measured: &Measured, marks: String) -> [String; 14] {
    let interval = measured.interval().map_or_else(
        || "-".into(),
        |interval| {
            let (low, high) = (interval.low.max(0.0), interval.high);
            format!("{low:.0} to {high:.0}")
        },
    );
    let flushes = measured.flushes();
    let all = flushes.iter().sum::<u64>().max(1) as f64;
    let [full, timeout, quiescent] = flushes.map(|count| 100.0 * count as f64 / all);
    [
        setting.collect_timeout_us.to_string(),
        setting.max_batch.to_string(),
        setting.in_flight.to_string(),
        format!("{:.0}", measured.nodes_per_second()),
        interval,
        measured.rounds().to_string(),
        format!("{:.1}", measured.mean_batch()),
        format!("{:.0}", measured.middle(|m| m.batch_p99)),
        format!("{:.3}", measured.fill_rate()),
        format!("{full:.0} / {timeout:.0} / {quiescent:.0}"),
        format!("{:.0}", measured.middle(|m| m.wait_p50_us)),
        format!("{:.0}", measured.middle(|m| m.wait_p99_us)),
        format!("{:.2}", measured.forward_share()),
        marks,
    ]
}

/// Rows under [`HEADINGS`], numbers to the right, every column as wide as its widest cell.
fn markdown(rows: Vec<[String; 14]>) -> String {
    let width = |text: &str| text.chars().count();
    let mut widths = HEADINGS.map(width);
    for row in &rows {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = width(cell).max(*column).max(2);
        }
    }
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let last = index + 1 == cells.len();
            // Writing to a String cannot fail.
            let _ = if last {
                writeln!(text, "| {cell:<width$} |")
            } else {
                write!(text, "| {cell:>width$} ")
            };
        }
    };
    line(&HEADINGS.map(String::from));
    let rule = |(index, width): (usize, usize)| match index + 1 {
        14 => "-".repeat(width),
        _ => format!("{}:", "-".repeat(width.saturating_sub(1))),
    };
    line(&widths.into_iter().enumerate().map(rule).collect::<Vec<_>>());
    rows.iter().for_each(|row| line(row));
    text
}
