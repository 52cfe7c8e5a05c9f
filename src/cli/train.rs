//! `coorl-async train`: a run from a configuration, or on from a checkpoint.

use super::{config::ConfigArgs, games::with_game, print, told};
use crate::{
    checkpoint::{Checkpoint, locate},
    config::{Config, Loaded},
    evaluation::table,
    inference::StopFlag,
    platform::leave,
    telemetry::{self, LogFormat, Logging, Progress, Retention, RunDir},
    training::{Ending, Outcome, Phase, Resumption, RunDevices, Session, Watcher, biases},
};
use anyhow::{Context, bail};
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};
use tracing::{error, info, warn};

/// The exit code of a run ended by Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// Arguments of `train`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TrainArgs {
    /// The sources of the configuration.
    #[command(flatten)]
    pub sources: ConfigArgs,
    /// Writes the run to this folder instead of a new one under runs/tmp
    #[arg(long, value_name = "DIR", conflicts_with = "keep")]
    pub run_dir: Option<PathBuf>,
    /// Writes the run under runs/ instead of runs/tmp
    #[arg(long)]
    pub keep: bool,
    /// Goes on from a run folder or a checkpoint in it, by the settings it has; --config, environment and --set change them
    #[arg(long, value_name = "PATH")]
    pub resume: Option<PathBuf>,
}

/// Trains; the exit code is 130 after Ctrl-C.
///
/// # Errors
/// What is refused before the run has a log: a configuration, a checkpoint that cannot be read, a folder that is taken. What fails later
/// is logged, and the exit code is 1.
pub fn run(args: &TrainArgs, log_format: LogFormat) -> anyhow::Result<ExitCode> {
    let resumption = args.resume.as_deref().map(find_resumption).transpose()?;
    let loaded = sources(args, resumption.as_ref()).load()?;
    RunDevices::of(&loaded.config)?;
    let logging = Logging::init(log_format)?;
    let folder = choose_folder(args, &loaded.config, resumption.as_ref())?;
    logging.attach_file(&folder.log_file())?;
    // From here on what goes wrong belongs into the log, and so into train.log.
    let mut display = Display::new(loaded.config.traversal.progress_every_traversals);
    match train(&loaded, &folder, resumption.as_ref(), &mut display) {
        Ok(outcome) => {
            let resumed_at = resumption.map(|resumption| resumption.checkpoint.iteration);
            Ok(report(&outcome, &folder, resumed_at)?)
        }
        Err(error) => {
            error!("{}", told(&error));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The run itself, watched by `watcher`; Ctrl-C ends it.
pub(super) fn train(
    loaded: &Loaded,
    folder: &RunDir,
    resumption: Option<&Resumption>,
    watcher: &mut dyn Watcher,
) -> anyhow::Result<Outcome> {
    let Loaded { config, notes, .. } = loaded;
    notes.iter().for_each(|note| info!("{note}"));
    let devices = RunDevices::of(config)?;
    devices.lines().iter().for_each(|line| info!("{line}"));
    biases(config).iter().for_each(|bias| warn!("{bias}"));
    let stop = stop_on_ctrl_c(
        "stopping: the batch in hand is finished and the run saved; Ctrl-C again leaves at once",
    )?;
    match resumption {
        None => info!(
            "run starts in {} with seed {}",
            folder.path().display(),
            config.run.seed
        ),
        Some(resumption) => info!(
            "run goes on in {} after iteration {}",
            folder.path().display(),
            resumption.checkpoint.iteration
        ),
    }
    with_game!(config, |game, encoding| {
        let session = Session::new(game, encoding, config, folder.clone(), resumption)?;
        session.run(&stop, watcher)
    })
}

/// The configuration of a resumed run comes first; what is given now wins.
fn sources(args: &TrainArgs, resumption: Option<&Resumption>) -> ConfigArgs {
    let mut sources = args.sources.clone();
    if let Some(resumption) = resumption {
        let own = resumption.folder.join("config.yaml");
        if own.is_file() {
            sources.files.insert(0, own);
        }
    }
    sources
}

/// The checkpoint at `path`, and the folder of its run.
pub(super) fn find_resumption(path: &Path) -> anyhow::Result<Resumption> {
    let found = locate(path)?;
    let checkpoint = Checkpoint::load(&found)?;
    let folder = found
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    Ok(Resumption {
        checkpoint,
        folder: folder.unwrap_or(Path::new(".")).to_owned(),
    })
}

fn choose_folder(
    args: &TrainArgs,
    config: &Config,
    resumption: Option<&Resumption>,
) -> anyhow::Result<RunDir> {
    if let Some(path) = &args.run_dir {
        return Ok(RunDir::create_at(path)?);
    }
    if let Some(Resumption { checkpoint, folder }) = resumption {
        let newest = locate(folder).and_then(|path| Checkpoint::load(&path));
        let newest = newest.map_or(checkpoint.iteration, |newest| newest.iteration);
        if newest > checkpoint.iteration {
            bail!(
                "this checkpoint is of iteration {}, but the run in {} got to {newest}: resume {} to go on, or give --run-dir \
                 NEW to branch off",
                checkpoint.iteration,
                folder.display(),
                folder.display()
            );
        }
        return Ok(RunDir::open(folder)?);
    }
    let retention = if args.keep {
        Retention::Kept
    } else {
        Retention::Temporary
    };
    Ok(RunDir::create(
        Path::new("runs"),
        retention,
        &config.run.experiment_name,
    )?)
}

/// The first Ctrl-C asks for a stop and says `stopping`, the second leaves at once.
pub(super) fn stop_on_ctrl_c(stopping: &'static str) -> anyhow::Result<StopFlag> {
    let stop = StopFlag::default();
    let handler_flag = stop.clone();
    ctrlc::set_handler(move || {
        if handler_flag.is_raised() {
            leave(INTERRUPTED);
        }
        handler_flag.raise();
        info!("{stopping}");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// Says how the run, which began after iteration `resumed_at` unless it was new, ended and how to go on.
pub(super) fn report(
    outcome: &Outcome,
    folder: &RunDir,
    resumed_at: Option<u32>,
) -> io::Result<ExitCode> {
    let iteration = outcome.iteration;
    match outcome.ending {
        Ending::Finished if resumed_at == Some(iteration) => info!(
            "nothing left to do: run.max_iterations is reached at iteration {iteration}; set it higher to go on"
        ),
        Ending::Finished => info!("finished after iteration {iteration}"),
        Ending::TimeUp => info!("time is up (run.max_minutes) after iteration {iteration}"),
        Ending::Interrupted => info!(
            "interrupted in iteration {}, which does not count",
            iteration.saturating_add(1)
        ),
    }
    let more = match outcome.ending {
        Ending::Finished => " --set run.max_iterations=N",
        Ending::TimeUp | Ending::Interrupted => "",
    };
    info!(
        "checkpoint of iteration {iteration} in {}; go on with: coorl-async train --resume {}{more}",
        outcome.checkpoint.display(),
        folder.path().display()
    );
    let mut text = String::new();
    if !outcome.evaluation.is_empty() && outcome.ending != Ending::Interrupted {
        text += &table(&outcome.evaluation);
        text.push('\n');
    }
    if let Some(measured) = outcome.exploitability
        && outcome.ending != Ending::Interrupted
    {
        text += &format!(
            "NashConv: average strategy {:.4}, current policies {:.4}\n\n",
            measured.average, measured.current
        );
    }
    text += &format!("{}\n", folder.path().display());
    print(text.as_bytes())?;
    Ok(ExitCode::from(if outcome.ending == Ending::Interrupted {
        INTERRUPTED
    } else {
        0
    }))
}

/// Live lines on a terminal; in a pipe, lines of the log now and then if asked for.
pub(super) struct Display {
    progress: Progress,
    every: usize,
    phase: Option<(Phase, usize, telemetry::Phase)>,
}

impl Display {
    /// Tells the log after each `every` walks; 0: not at all.
    pub(super) fn new(every: usize) -> Self {
        Self {
            progress: Progress::new(),
            every,
            phase: None,
        }
    }
}

impl Watcher for Display {
    fn begin(&mut self, phase: Phase, total: usize) {
        // The line of the phase before goes first.
        self.phase = None;
        let name = match phase {
            Phase::Traversal => "walks",
            Phase::AdvantageFit => "advantage fit",
            Phase::StrategyFit => "strategy fit",
            Phase::CriticFit => "critic fit",
            Phase::Evaluation => "games",
            Phase::MemoryAdd => "memory",
            Phase::BatchTensor => "minibatches",
            Phase::Checkpoint => "checkpoint",
        };
        self.phase = Some((phase, total, self.progress.phase(name, total as u64)));
    }

    fn advance(&mut self, done: usize, nodes: u64) {
        let Some((phase, total, line)) = &self.phase else {
            return;
        };
        line.inc((done as u64).saturating_sub(line.position()));
        let seconds = line.elapsed().as_secs_f64().max(1e-3);
        if *phase == Phase::Traversal {
            line.message(|| format!("{:.0} nodes/s", nodes as f64 / seconds));
            if self.every > 0 && done.is_multiple_of(self.every) {
                info!(
                    "walks {done}/{total} nodes={nodes} seconds={seconds:.1} nodes_per_second={:.0}",
                    nodes as f64 / seconds
                );
            }
        }
        if done == *total {
            self.phase = None;
        }
    }
}
