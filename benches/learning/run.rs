//! What a run wrote.

use anyhow::Context;
use coorl_async::config::{self, Config};
use serde_json::{Map, Value};
use std::path::Path;

/// A finished run.
pub struct Run {
    pub config: Config,
    /// Iterations at which NashConv was measured; at least one.
    pub points: Vec<Point>,
}

/// Where a run stood after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub iteration: u64,
    /// Nodes of all walks so far.
    pub nodes: u64,
    /// Seconds so far, without those of evaluation and of checkpoints.
    pub seconds: f64,
    pub average: f64,
    pub current: Option<f64>,
}

impl Run {
    /// Reads `config.yaml` and `metrics.jsonl`.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let config = config::load(&[folder.join("config.yaml")], [], &[])?.config;
        let path = folder.join("metrics.jsonl");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}: is it a run's folder?", path.display()))?;
        let points = points(&text).with_context(|| path.display().to_string())?;
        anyhow::ensure!(
            !points.is_empty(),
            "{} has no exploitability/nash_conv_average: train with evaluation.exploitability_every above 0",
            path.display()
        );
        Ok(Self { config, points })
    }

    /// The last measured iteration.
    pub fn last(&self) -> Point {
        self.points[self.points.len() - 1]
    }
}

fn points(text: &str) -> anyhow::Result<Vec<Point>> {
    let (mut nodes, mut seconds) = (0, 0.0);
    let mut points = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let row: Map<String, Value> =
            serde_json::from_str(line).with_context(|| format!("line {number}"))?;
        let figure = |name: &str| row.get(name).and_then(Value::as_f64);
        let count = |name: &str| row.get(name).and_then(Value::as_u64);
        nodes += count("traversal/nodes").unwrap_or(0);
        seconds += figure("time/iteration_seconds").unwrap_or(0.0);
        for aside in ["time/evaluation_seconds", "time/checkpoint_seconds"] {
            seconds -= figure(aside).unwrap_or(0.0);
        }
        if let Some(average) = figure("exploitability/nash_conv_average") {
            points.push(Point {
                iteration: count("iteration").with_context(|| format!("line {number}"))?,
                nodes,
                seconds,
                average,
                current: figure("exploitability/nash_conv_current"),
            });
        }
    }
    Ok(points)
}
