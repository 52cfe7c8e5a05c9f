//! What a sweep leaves in its folder.

use super::{Ending, Measured, Method, Results, Setting, Sweep, Verdict, table};
use crate::telemetry::{Axis, Chart, PlotError, Point, Scale, Series};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The files of a sweep.
pub const FILES: [&str; 4] = [
    "table.md",
    "points.json",
    "timeouts.svg",
    "recommended.yaml",
];
/// The most lines of the plot.
const LINES: usize = 6;

/// A sweep with what it was about.
#[derive(Debug)]
pub struct Report<'a> {
    /// The sweep.
    pub sweep: &'a Sweep,
    /// How it ended; `None` when a measurement failed.
    pub ending: Option<Ending>,
    /// What was measured, as name and value: the seed, the weights, the machine.
    pub about: &'a [(&'static str, String)],
}

/// Why a report is not complete.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Nothing was measured.
    #[error("nothing was measured, so there is nothing to write: give it more time")]
    Empty,
    /// A file could not be written.
    #[error(
        "cannot write {path}: {source}; is the disk full, or the folder read-only? choose another with --out"
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The plot could not be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl Report<'_> {
    /// Writes all [`FILES`] into `folder`.
    ///
    /// # Errors
    /// Nothing was measured, or a file could not be written.
    pub fn write(&self, folder: &Path) -> Result<(), ReportError> {
        let verdict = Verdict::of(self.sweep.results()).ok_or(ReportError::Empty)?;
        let [table, points, timeouts, recommended] = FILES.map(|name| folder.join(name));
        let write = |path: PathBuf, text: String| {
            fs::write(&path, text).map_err(|source| ReportError::Write { path, source })
        };
        write(table, self.markdown(&verdict))?;
        write(points, format!("{:#}\n", self.points(&verdict)))?;
        write(recommended, self.recommended(&verdict))?;
        Ok(timeouts_chart(self.sweep.results()).write(&timeouts)?)
    }

    /// What was done and found, in a few lines.
    pub fn summary(&self) -> String {
        let Some(verdict) = Verdict::of(self.sweep.results()) else {
            return "nothing was measured\n".into();
        };
        let results = self.sweep.results();
        let rate = |setting| results.get(setting).map_or(0.0, Measured::nodes_per_second);
        let (count, all) = (results.iter().count(), self.sweep.plan().grid.len());
        let how = match self.sweep.method() {
            Some(Method::WholeGrid) => format!("the whole grid of {all} settings"),
            Some(Method::CoordinateDescent) => format!(
                "coordinate descent, because the grid of {all} settings would take longer than the budget: {count} of them"
            ),
            None => format!("{count} of {all} settings, too few to choose how to go on"),
        };
        let end = match self.ending {
            Some(Ending::Complete) => "to its end",
            Some(Ending::OutOfTime) => "until the budget was used up",
            Some(Ending::Interrupted) => "until it was interrupted",
            None => "until a measurement failed",
        };
        let noise = match verdict.within_noise.len() - 1 {
            0 => "no other within noise of it".into(),
            others => format!("{others} within noise of it"),
        };
        format!(
            "measured: {how}, in {} rounds, {end}\n\
             best: {}: {:.0} nodes/s, {noise}\n\
             recommended: {}: {:.0} nodes/s\n",
            self.sweep.round(),
            verdict.best,
            rate(verdict.best),
            verdict.recommended,
            rate(verdict.recommended),
        )
    }

    fn markdown(&self, verdict: &Verdict) -> String {
        let about = self.about.iter();
        let about = about.map(|(name, value)| format!("- {name}: {value}\n"));
        let summary = self.summary();
        let summary = summary.lines().map(|line| format!("- {line}\n"));
        format!(
            "# Batching, swept\n\n{}{}\n{}\n\
             nodes/s is the median over rounds, the interval Student's t (95 %) for their mean. Within noise of the best are the settings \
             whose ratio to it, round by round, is not shown to be below 1. Of these the one with the shortest wait is recommended:\n\n\
             ```yaml\n{}```\n",
            about.collect::<String>(),
            summary.collect::<String>(),
            table(self.sweep.results(), self.sweep.plan().start, usize::MAX),
            snippet(verdict.recommended)
        )
    }

    fn points(&self, verdict: &Verdict) -> Value {
        let about: serde_json::Map<String, Value> = self
            .about
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let ranked = self.sweep.results().ranked();
        json!({
            "about": about,
            "method": self.sweep.method(),
            "ending": self.ending,
            "rounds": self.sweep.round(),
            "configured": self.sweep.plan().start,
            "best": verdict.best,
            "within_noise": verdict.within_noise,
            "recommended": verdict.recommended,
            "points": ranked.iter().map(|(setting, measured)| point(*setting, measured)).collect::<Vec<_>>(),
        })
    }

    fn recommended(&self, verdict: &Verdict) -> String {
        let rate = self.sweep.results().get(verdict.recommended);
        let rate = rate.map_or(0.0, Measured::nodes_per_second);
        format!(
            "# From coorl-async tune: {rate:.0} nodes/s. Give it to --config behind the file it was measured with.\n{}",
            snippet(verdict.recommended)
        )
    }
}

/// `setting` as configuration.
fn snippet(setting: Setting) -> String {
    format!(
        "inference:\n  collect_timeout_us: {}\n  max_batch: {}\ntraversal:\n  in_flight: {}\n",
        setting.collect_timeout_us, setting.max_batch, setting.in_flight
    )
}

fn point(setting: Setting, measured: &Measured) -> Value {
    let [full, timeout, quiescent] = measured.flushes();
    let rounds = measured.iter().map(|(round, measurement)| {
        json!({"round": round, "nodes_per_second": measurement.nodes_per_second(), "measurement": measurement})
    });
    json!({
        "setting": setting,
        "nodes_per_second": measured.nodes_per_second(),
        "nodes_per_second_interval": measured.interval(),
        "batch_size_mean": measured.mean_batch(),
        "batch_size_p99": measured.middle(|m| m.batch_p99),
        "fill_rate": measured.fill_rate(),
        "flushes": {"full": full, "timeout": timeout, "quiescent": quiescent},
        "queue_wait_us_p50": measured.middle(|m| m.wait_p50_us),
        "queue_wait_us_p99": measured.middle(|m| m.wait_p99_us),
        "forward_share": measured.forward_share(),
        "rounds": rounds.collect::<Vec<_>>(),
    })
}

/// Nodes per second against the timeout: a line for each pair of the other two settings, those with the fastest points only.
fn timeouts_chart(results: &Results) -> Chart {
    let mut lines: BTreeMap<(usize, usize), Vec<Point>> = BTreeMap::new();
    for (setting, measured) in results.iter() {
        let y = measured.nodes_per_second();
        let interval = measured.interval();
        let line = lines.entry((setting.max_batch, setting.in_flight));
        line.or_default().push(Point {
            x: setting.collect_timeout_us as f64,
            y,
            low: interval.map_or(y, |interval| interval.low.max(0.0)),
            high: interval.map_or(y, |interval| interval.high),
        });
    }
    let top = |points: &[Point]| points.iter().map(|point| point.y).fold(0.0, f64::max);
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by(|a, b| top(&b.1).total_cmp(&top(&a.1)));
    lines.truncate(LINES);
    let series = lines
        .into_iter()
        .map(|((max_batch, in_flight), points)| Series {
            name: format!("max_batch {max_batch}, in_flight {in_flight}"),
            points,
        });
    Chart {
        title: "Traversal speed by collect timeout (bars: 95 % intervals over rounds)".into(),
        x: Axis {
            label: "inference.collect_timeout_us, µs".into(),
            scale: Scale::Log,
        },
        y: Axis {
            label: "nodes/s, median over rounds".into(),
            scale: Scale::Linear,
        },
        series: series.collect(),
    }
}
