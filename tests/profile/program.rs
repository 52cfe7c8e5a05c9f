//! Running the program, and reading what it left.

pub use crate::outside::{Ended, command, ended, repository};

use serde_json::Value;
use std::path::Path;

pub fn run(folder: &Path, arguments: &[&str]) -> Ended {
    ended(command(folder, arguments))
}

/// The losses of a run, row by row.
pub fn losses(metrics: &Path) -> Vec<(Value, Value)> {
    let text = std::fs::read_to_string(metrics).expect("metrics");
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a JSON object");
        (row["loss/advantage"].clone(), row["loss/strategy"].clone())
    };
    text.lines().map(row).collect()
}
