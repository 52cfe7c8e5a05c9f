//! How fast a run learned: its NashConv beside that of tabular external-sampling MCCFR, by nodes and by seconds.
//!
//! `cargo bench --bench learning -- --run FOLDER [--out profiles/leduc] [--seed 1]`
//!
//! Reads the configuration and the metrics of a finished run of a game small enough for exact measures
//! (`evaluation.exploitability_every`), runs MCCFR with a table (Lanctot et al. 2009) on the same game for as many seconds and nodes, and
//! writes OUT.md and OUT.svg. Measuring is not counted in either's seconds.

mod report;
mod run;
mod yardstick;

use anyhow::Context;
use coorl_async::{
    config::{Config, GameKind},
    encoding::{self, Cards, KuhnBits, LeducBits, Slots},
    evaluation::exploitability::{GameTree, TreeError},
    game::{kuhn::Kuhn, leduc::Leduc, lost_cities::LostCities},
};
use std::{path::PathBuf, process::ExitCode};

/// Nodes of a tree at most.
const MOST_NODES: usize = 10_000_000;

/// What the command line asks for.
struct Options {
    run: PathBuf,
    /// Where the report goes, without the names' endings.
    out: PathBuf,
    seed: u64,
}

fn main() -> ExitCode {
    match learn() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn learn() -> anyhow::Result<()> {
    let options = Options::parse(std::env::args().skip(1))?;
    let run = run::Run::read(&options.run)?;
    let tree = tree(&run.config)?;
    let last = run.last();
    println!(
        "{} iterations, {} nodes, {:.0} s; now MCCFR on {} info sets",
        last.iteration,
        last.nodes,
        last.seconds,
        tree.info_sets()
    );
    let curve = yardstick::Curve::measure(&tree, options.seed, &run.points);
    let report = report::Report {
        game: name(run.config.game),
        run: &run,
        curve: &curve,
        command: options.command(),
    };
    report.write(&options.out)
}

fn tree(config: &Config) -> anyhow::Result<GameTree> {
    let horizon = config.traversal.max_depth;
    let built: Result<GameTree, TreeError> = match config.game {
        GameKind::LostCities => {
            let game = LostCities::new(config.rules.clone())?;
            match config.encoding.kind {
                encoding::Kind::Slots => {
                    let slots = Slots::new(&game, &config.encoding);
                    GameTree::build(&game, &slots, horizon, MOST_NODES)
                }
                encoding::Kind::Cards => {
                    GameTree::build(&game, &Cards::new(&game)?, horizon, MOST_NODES)
                }
            }
        }
        GameKind::Kuhn => GameTree::build(&Kuhn, &KuhnBits, horizon, MOST_NODES),
        GameKind::Leduc => GameTree::build(&Leduc, &LeducBits, horizon, MOST_NODES),
    };
    Ok(built?)
}

fn name(game: GameKind) -> &'static str {
    match game {
        GameKind::LostCities => "Lost Cities",
        GameKind::Kuhn => "Kuhn poker",
        GameKind::Leduc => "Leduc poker",
    }
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let (mut run, mut out, mut seed) = (None, None, 1);
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .with_context(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--run" => run = Some(PathBuf::from(value()?)),
                "--out" => out = Some(PathBuf::from(value()?)),
                "--seed" => seed = value()?.parse().context("--seed takes a whole number")?,
                // What cargo itself passes to every benchmark.
                "--bench" => {}
                other => {
                    anyhow::bail!("{other} is not known: --run FOLDER, --out PATH, --seed N")
                }
            }
        }
        let run: PathBuf = run.context("--run FOLDER is missing: the folder of a finished run")?;
        let out = out.unwrap_or_else(|| run.join("learning"));
        Ok(Self { run, out, seed })
    }

    /// The command that repeats the report.
    fn command(&self) -> String {
        format!(
            "cargo bench --bench learning -- --run {} --out {} --seed {}",
            self.run.display(),
            self.out.display(),
            self.seed
        )
    }
}
