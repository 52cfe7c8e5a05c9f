//! How near the program comes to the limits that machine and network set, as ratios within one process.
//!
//! `cargo bench --bench limits -- [--check] [--rows A,B] [--rounds N] [--json PATH] [--scaling] [--set PATH=VALUE ...]`
//!
//! Prints a table for `configs/default.yaml`: each row's value, what it must reach, and a limit taken in the same run. `--check` ends
//! with status 1 when a row misses, or a known miss gets worse than its own bound (`profiles/README.md` has the causes). `--rows` runs the groups that have one of the named rows. `--scaling` measures nodes/s by traversals in
//! flight and by worker threads instead and writes `profiles/scaling.{md,svg}`. All that follows `--set` are settings.

#[path = "../inputs/mod.rs"]
mod inputs;

mod bare;
mod fit;
mod replay;
mod report;
mod scaling;
mod steps;
mod traversal;

use anyhow::Context;
use coorl_async::{
    config::{self, Config},
    platform,
};
use report::Row;
use serde_json::json;
use std::{path::PathBuf, process::ExitCode};

/// What the command line asks for.
struct Options {
    check: bool,
    scaling: bool,
    rows: Vec<String>,
    rounds: u32,
    json: PathBuf,
    sets: Vec<String>,
}

/// Rows that are measured together.
struct Group {
    rows: &'static [&'static str],
    measure: fn(&Config, u32) -> anyhow::Result<Vec<Row>>,
}

const GROUPS: [Group; 5] = [
    Group {
        rows: &["encode", "step", "encode-cards", "step-cards"],
        measure: |_, _| steps::game(),
    },
    Group {
        rows: &["scheduling"],
        measure: |_, _| steps::scheduling(),
    },
    // Before the memories of the next group, so that nothing but the walks' own samples is in memory.
    Group {
        rows: &[
            "traversal",
            "traversal-4x",
            "engine",
            "engine-4x",
            "nodes",
            "nodes-4x",
            "scale",
            "memory-add",
            "memory-add-4x",
        ],
        measure: traversal::rows,
    },
    Group {
        rows: &["minibatch", "ingest", "ingest-replacing", "sample-bytes"],
        measure: |_, _| replay::rows(),
    },
    Group {
        rows: &["fit-step"],
        measure: fit::rows,
    },
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all is as `--check` wants it.
fn run() -> anyhow::Result<bool> {
    let options = Options::parse(std::env::args().skip(1))?;
    platform::init();
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("configs/default.yaml");
    let config = config::load(&[file], config::process_environment(), &options.sets)?.config;
    if options.scaling {
        scaling::run(&config, options.rounds)?;
        return Ok(true);
    }
    let mut rows = Vec::new();
    for group in GROUPS.iter().filter(|group| options.wants(group)) {
        rows.extend((group.measure)(&config, options.rounds)?);
    }
    if !options.rows.is_empty() {
        rows.retain(|row| options.rows.iter().any(|name| name == row.name));
    }
    println!("\n{}", report::markdown(&rows));
    let setting = json!({
        "cores": platform::logical_cores(), "rounds": options.rounds, "set": options.sets, "torch_simd": platform::simd_level().name(),
    });
    report::write_json(&options.json, &rows, &setting)?;
    println!("written: {}", options.json.display());
    let missed: Vec<_> = rows.iter().filter(|row| !row.is_accepted()).collect();
    for row in &missed {
        println!("missed: {}", row.name);
    }
    Ok(!options.check || missed.is_empty())
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self {
            check: false,
            scaling: false,
            rows: Vec::new(),
            rounds: 5,
            json: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/bench/limits.json"),
            sets: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .with_context(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--check" => options.check = true,
                "--scaling" => options.scaling = true,
                "--rows" => options.rows = value()?.split(',').map(str::to_owned).collect(),
                "--rounds" => {
                    options.rounds = value()?.parse().context("--rounds takes a number from 1")?;
                    anyhow::ensure!(options.rounds > 0, "--rounds takes a number from 1");
                }
                "--json" => options.json = value()?.into(),
                "--set" => options.sets = arguments.by_ref().collect(),
                // What cargo itself passes to every benchmark.
                "--bench" => {}
                other => anyhow::bail!(
                    "{other} is not known: --check, --rows A,B, --rounds N, --json PATH, --scaling, --set PATH=VALUE ..."
                ),
            }
        }
        // Cargo appends its own argument, and it may stand behind the settings.
        options
            .sets
            .retain(|set| set != "--bench" && set != "--set");
        let known = || GROUPS.iter().flat_map(|group| group.rows);
        for name in &options.rows {
            anyhow::ensure!(
                known().any(|row| row == name),
                "--rows: {name} is not a row; there are {}",
                known().copied().collect::<Vec<_>>().join(", ")
            );
        }
        Ok(options)
    }

    fn wants(&self, group: &Group) -> bool {
        self.rows.is_empty()
            || group
                .rows
                .iter()
                .any(|row| self.rows.iter().any(|name| name == row))
    }
}
