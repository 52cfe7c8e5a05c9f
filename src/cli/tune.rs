//! `coorl-async tune`: which batching makes this machine walk fastest.

use super::{
    config::ConfigArgs,
    games::with_game,
    print, told,
    train::{INTERRUPTED, stop_on_ctrl_c},
};
use crate::{
    bots::ScriptedGame,
    checkpoint::{Checkpoint, locate},
    config::Config,
    encoding::Encoding,
    network::Architecture,
    platform::logical_cores,
    telemetry::{LiveText, LogFormat, Logging, Progress, fresh_folder, stamp},
    training::{RunDevices, engine_networks, tell_without_effect},
    traversal::{SamplingMode, Walker},
    tuning::{
        Ending, FILES, Grid, MeasureError, Measurer, Plan, Report, Setting, Sweep, Verdict,
        Walking, Weights, table,
    },
};
use anyhow::{Context, bail, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};
use tch::Device;
use tracing::{error, info};

/// Rows of the table that is drawn anew while it grows.
const LIVE_ROWS: usize = 16;

/// Arguments of `tune`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TuneArgs {
    /// The sources of the configuration.
    #[command(flatten)]
    pub sources: ConfigArgs,
    /// Walks with the networks of a run folder or a checkpoint in it, instead of the random ones that a run starts with
    #[arg(long, value_name = "PATH")]
    pub checkpoint: Option<PathBuf>,
    /// Values of inference.collect_timeout_us, apart by commas; the configured one is always tried, too
    #[arg(long, value_name = "US,...")]
    pub timeouts: Option<String>,
    /// Values of inference.max_batch, apart by commas; the configured one is always tried, too
    #[arg(long, value_name = "ROWS,...")]
    pub max_batches: Option<String>,
    /// Values of traversal.in_flight, apart by commas; the configured one is always tried, too
    #[arg(long, value_name = "WALKS,...")]
    pub in_flight: Option<String>,
    /// Seconds for everything; a grid that would take longer is searched one list at a time
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<f64>,
    /// Rounds at most [default: 5; with --budget as many as it has time for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// Writes to this folder instead of a new one under profiles/tune
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Measures, prints the table and writes the files; the exit code is 130 after Ctrl-C.
///
/// # Errors
/// What is refused before anything starts, a measurement that failed, or files that cannot be written.
pub fn run(args: &TuneArgs, log_format: LogFormat) -> anyhow::Result<ExitCode> {
    let loaded = args.sources.load()?;
    let config = &loaded.config;
    let devices = RunDevices::of(config)?;
    let plan = plan(args, config)?;
    let checkpoint = checkpoint(args, config)?;
    Logging::init(log_format)?;
    loaded.notes.iter().for_each(|note| info!("{note}"));
    devices.lines().iter().for_each(|line| info!("{line}"));
    with_game!(config, |game, encoding| tune(
        game,
        encoding,
        args,
        config,
        plan,
        checkpoint.as_ref(),
        devices.run.device
    ))
}

fn tune<G: ScriptedGame, E: Encoding<G>>(
    game: G,
    encoding: E,
    args: &TuneArgs,
    config: &Config,
    plan: Plan,
    checkpoint: Option<&Checkpoint>,
    device: Device,
) -> anyhow::Result<ExitCode> {
    let (inputs, outputs) = (encoding.info_len(), encoding.num_actions());
    let colors = encoding.color_layout();
    let architecture = Architecture::new(&config.network, inputs, outputs, colors.as_ref())?;
    let (walks, seed) = (config.traversal.walks(), config.run.seed);
    let weights = match checkpoint {
        Some(checkpoint) => Weights::of(checkpoint, &architecture)?,
        None => Weights::random(&architecture, seed),
    };
    let (traversal, regret, league) = (
        &config.traversal,
        &config.regret_matching,
        &config.self_play,
    );
    if traversal.sampling_mode == SamplingMode::ValueGuided {
        bail!(
            "traversal.sampling_mode is value_guided, whose walks tune does not measure yet: their batches are of `in_flight` rows a head \
             throughout, so set traversal.traversals_per_player for the batch size; or tune another mode with --set traversal.sampling_mode=..."
        );
    }
    let walker = Walker::new(game, encoding, traversal, regret, league)
        .context("traversal.opponent_policy or traversal.cutoff_rollout_policy is refused")?;
    let architectures = architecture.into();
    let networks = engine_networks(config, &architectures, device);
    tell_without_effect(config, &networks);
    let out = Out::create(args.out.as_deref())?;
    let stop = stop_on_ctrl_c(
        "stopping: what was measured is kept; Ctrl-C again leaves at once without it",
    )?;
    info!(
        "tuning {} settings, results go into {}",
        plan.grid.len(),
        out.path.display()
    );
    let walking = Walking::new(walker, networks, weights, seed, walks, plan.start, &stop);
    let mut walking = match walking {
        Ok(walking) => walking,
        Err(MeasureError::Interrupted) => return Ok(ExitCode::from(INTERRUPTED)),
        Err(MeasureError::Failed(error)) => return Err(error),
    };
    let about = about(args, config, checkpoint, walking.walks_measured());
    let mut sweep = Sweep::new(plan);
    let ending = watched(&mut sweep, &mut walking);
    finish(&sweep, ending, &about, &out)
}

/// The checkpoint asked for, of a game with the configured rules.
fn checkpoint(args: &TuneArgs, config: &Config) -> anyhow::Result<Option<Checkpoint>> {
    let Some(path) = &args.checkpoint else {
        return Ok(None);
    };
    let checkpoint = Checkpoint::load(&locate(path)?)?;
    ensure!(
        checkpoint.rules == serde_json::to_value(&config.rules)?,
        "the checkpoint in {} was trained under other rules: give the config.yaml of its run to --config",
        path.display()
    );
    Ok(Some(checkpoint))
}

/// The grid and the limits, all checked.
fn plan(args: &TuneArgs, config: &Config) -> anyhow::Result<Plan> {
    let walks = config.traversal.walks();
    let start = Setting {
        collect_timeout_us: config.inference.collect_timeout_us,
        max_batch: config.inference.max_batch,
        in_flight: config.traversal.walks_in_flight().min(walks),
    };
    let lists = [&args.timeouts, &args.max_batches, &args.in_flight];
    let budget = match args.budget {
        None => None,
        Some(seconds) => match Duration::try_from_secs_f64(seconds) {
            Ok(budget) if !budget.is_zero() => Some(budget),
            _ => bail!("--budget {seconds} is not allowed; allowed: seconds above 0"),
        },
    };
    Ok(Plan {
        grid: Grid::new(lists.map(Option::as_deref), start, walks)?,
        start,
        rounds: args.rounds,
        budget,
    })
}

fn about(
    args: &TuneArgs,
    config: &Config,
    checkpoint: Option<&Checkpoint>,
    walks: usize,
) -> Vec<(&'static str, String)> {
    let files = args.sources.files.iter();
    let files: Vec<_> = files.map(|file| file.display().to_string()).collect();
    let weights = match checkpoint {
        Some(checkpoint) => format!("checkpoint of iteration {}", checkpoint.iteration),
        None => "random".to_owned(),
    };
    vec![
        ("configuration", files.join(", ")),
        ("weights", weights),
        ("seed", config.run.seed.to_string()),
        ("walks in a measurement", walks.to_string()),
        ("logical cores", logical_cores().to_string()),
    ]
}

/// Sweeps with the table drawn live on a terminal, or a log line per round in a pipe.
fn watched(sweep: &mut Sweep, walking: &mut dyn Measurer) -> anyhow::Result<Ending> {
    let live = LiveText::new(&Progress::new());
    let mut last = (0, 0);
    let mut told = |sweep: &Sweep| {
        let (round, count) = (sweep.round(), sweep.results().measurements());
        if live.is_watched() {
            let start = sweep.plan().start;
            let table = table(sweep.results(), start, LIVE_ROWS);
            live.show(format!("{table}round {round}, {count} measurements"));
        } else if round > last.0 && last.0 > 0 {
            round_line(sweep, last.0, last.1);
        }
        last = (round, count);
    };
    let ending = sweep.run(walking, &mut told);
    if !live.is_watched() && last.0 > 0 {
        round_line(sweep, last.0, last.1);
    }
    ending
}

/// Tells in the log what is known after a round.
fn round_line(sweep: &Sweep, round: u32, measurements: usize) {
    if let Some(verdict) = Verdict::of(sweep.results()) {
        let best = sweep.results().get(verdict.best);
        info!(
            "round {round}, {measurements} measurements: best so far {:.0} nodes/s with {}",
            best.map_or(0.0, |best| best.nodes_per_second()),
            verdict.best
        );
    }
}

/// Prints and writes what was measured, however it ended.
fn finish(
    sweep: &Sweep,
    ending: anyhow::Result<Ending>,
    about: &[(&'static str, String)],
    out: &Out,
) -> anyhow::Result<ExitCode> {
    let report = Report {
        sweep,
        ending: ending.as_ref().ok().copied(),
        about,
    };
    if sweep.results().is_empty() {
        info!("nothing was measured");
    } else {
        let start = sweep.plan().start;
        let text = table(sweep.results(), start, usize::MAX);
        print(format!("{text}\n{}", report.summary()).as_bytes())?;
        report.write(&out.path)?;
        let snippet = out.path.join(FILES[3]);
        print(
            format!(
                "written: {0}; take it up with --config {1}\n",
                out.path.display(),
                snippet.display()
            )
            .as_bytes(),
        )?;
    }
    match ending {
        Ok(Ending::Interrupted) => Ok(ExitCode::from(INTERRUPTED)),
        Ok(Ending::Complete | Ending::OutOfTime) => Ok(ExitCode::SUCCESS),
        Err(failure) => {
            error!("{}", told(&failure));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The folder written to. It is made before anything is measured, and goes again if nothing was.
struct Out {
    path: PathBuf,
    /// Whether it was not there before.
    is_new: bool,
}

impl Out {
    fn create(wanted: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = wanted else {
            let parent = Path::new("profiles/tune");
            let path = fresh_folder(parent, &stamp()).with_context(|| {
                format!(
                    "cannot make a folder in {}; choose another with --out",
                    parent.display()
                )
            })?;
            return Ok(Self { path, is_new: true });
        };
        if let Some(name) = FILES.iter().find(|name| path.join(name).exists()) {
            bail!(
                "{} already holds a sweep's {name}: choose another folder with --out",
                path.display()
            );
        }
        let is_new = !path.exists();
        fs::create_dir_all(path).with_context(|| {
            format!("cannot make {}; choose another with --out", path.display())
        })?;
        Ok(Self {
            path: path.to_owned(),
            is_new,
        })
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        if self.is_new {
            // Only an empty folder can be removed like this.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
