//! The table and the two charts.

use crate::{
    run::{self, Run},
    yardstick::{self, Curve},
};
use anyhow::Context;
use coorl_async::telemetry::{Axis, Chart, Point, Scale, Series, write_stacked};
use std::{fmt::Write as _, path::Path};

/// From one row of the table to the next, iterations grow at least so much.
const GROWTH: f64 = 1.25;

/// A run beside MCCFR.
pub struct Report<'a> {
    /// The game's name.
    pub game: &'static str,
    pub run: &'a Run,
    pub curve: &'a Curve,
    /// What makes this report.
    pub command: String,
}

impl Report<'_> {
    /// Writes `out` with `.md` and with `.svg`.
    pub fn write(&self, out: &Path) -> anyhow::Result<()> {
        let table = self.table();
        println!("\n{table}");
        let path = out.with_extension("md");
        std::fs::write(&path, table).with_context(|| format!("cannot write {}", path.display()))?;
        let by_nodes = self.chart(
            "nodes",
            |point| point.nodes as f64,
            |point| point.nodes as f64,
        );
        let by_seconds = self.chart("seconds", |point| point.seconds, |point| point.seconds);
        write_stacked(&[by_nodes, by_seconds], &out.with_extension("svg"))?;
        println!("written: {}, .svg", path.display());
        Ok(())
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{}: NashConv of the average policy and of the current one, and of the average policy of tabular external-sampling MCCFR \
             after as many nodes and after as many seconds. Evaluation and checkpoints are not counted in the seconds.\n\n    {}\n\n\
             | iteration | nodes | seconds | NashConv, average | current | MCCFR, same nodes | MCCFR, same seconds |\n\
             |---:|---:|---:|---:|---:|---:|---:|\n",
            self.game, self.command
        );
        for point in self.rows() {
            let current = point
                .current
                .map_or("".into(), |value| format!("{value:.4}"));
            let mccfr = |point: Option<&yardstick::Point>| {
                point.map_or("".into(), |point| format!("{:.4}", point.average))
            };
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "| {} | {} | {:.1} | {:.4} | {current} | {} | {} |",
                point.iteration,
                point.nodes,
                point.seconds,
                point.average,
                mccfr(self.curve.at_nodes(point.nodes)),
                mccfr(self.curve.at_seconds(point.seconds)),
            );
        }
        if let Some(last) = self.curve.points.last() {
            let _ = writeln!(
                text,
                "\nMCCFR's last point: {} iterations, {} nodes, {:.1} s, NashConv {:.4} (current policy {:.4}).",
                last.iterations, last.nodes, last.seconds, last.average, last.current
            );
        }
        text
    }

    /// The first and the last measured iterations, and between them some spaced by a factor.
    fn rows(&self) -> Vec<run::Point> {
        let mut next = 0.0;
        let last = self.run.last().iteration;
        let mut rows = self.run.points.clone();
        rows.retain(|point| {
            let due = point.iteration as f64 >= next || point.iteration == last;
            if due {
                next = GROWTH * point.iteration as f64;
            }
            due
        });
        rows
    }

    fn chart(
        &self,
        unit: &str,
        own: impl Fn(&run::Point) -> f64,
        other: impl Fn(&yardstick::Point) -> f64,
    ) -> Chart {
        let own = self
            .run
            .points
            .iter()
            .map(|point| (own(point), point.average));
        let curve = self.curve.points.iter();
        let other = curve.map(|point| (other(point), point.average));
        Chart {
            title: format!("{}: NashConv of the average policy by {unit}", self.game),
            x: Axis {
                label: unit.into(),
                scale: Scale::Log,
            },
            y: Axis {
                label: "NashConv".into(),
                scale: Scale::Log,
            },
            series: vec![
                series("coorl-async (Deep CFR)", own.collect()),
                series("MCCFR with a table, external sampling", other.collect()),
            ],
        }
    }
}

fn series(name: &str, points: Vec<(f64, f64)>) -> Series {
    let point = |(x, y)| Point {
        x,
        y,
        low: y,
        high: y,
    };
    Series {
        name: name.into(),
        points: points.into_iter().map(point).collect(),
    }
}
