//! `coorl-async profile`: where the time goes, of a run and of the network.

mod forward;

use super::{
    config::ConfigArgs,
    print, told,
    train::{Display, report, train},
};
use crate::{
    config::Loaded,
    profiling::{
        PhaseSpans, PhaseTable, Sampler, Stacks, Timeline, functions_table, samples_table,
    },
    telemetry::{LogFormat, Logging, Retention, RunDir},
    training::RunDevices,
};
use anyhow::{Context, bail};
use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};
use tracing::{error, info, warn};

/// What to profile.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum ProfileCommand {
    /// Trains under a sampling profiler that needs no privileges
    ///
    /// Writes into profiles/runs/TIME_NAME/ (or --out): flamegraph.svg and stacks.folded (where the threads were), phases.md (seconds by
    /// phase; samples by thread, module and function; also printed), trace.json (phases and batches over time, for chrome://tracing or
    /// ui.perfetto.dev) and run/, the run itself. Example:
    ///
    ///   coorl-async profile run --config profiles/traversal.yaml --iterations 2
    ///
    /// The first Ctrl-C ends the run, and what was sampled until then is written; the second leaves at once, without it. Exit code: as of
    /// `train`.
    Run(RunArgs),
    /// Measures the network alone, by batch size
    ///
    /// For every network of the configuration, or for the --shape given: microseconds per call and per state, and how many times cheaper a
    /// state is than in a call of its own; one group of columns per way of running it here. Below, the batch size after which a state gets
    /// no cheaper than noise can tell: the first thing to look at when choosing inference.max_batch. Example:
    ///
    ///   coorl-async profile forward --shape 365,512,512,512,22
    Forward(forward::ForwardArgs),
}

/// Arguments of `profile run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// The sources of the configuration.
    #[command(flatten)]
    pub sources: ConfigArgs,
    /// Ends after so many iterations (the configuration's run.max_iterations does not count)
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Samples per second of processor time; the kernel's clock, often 250 ticks per second, bounds it
    #[arg(long, value_name = "HZ", default_value_t = 199, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub frequency: u16,
    /// Writes to this folder instead of a new one under profiles/runs
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Runs what was asked for; the answer is the exit code.
///
/// # Errors
/// What is refused before anything ran. What fails later is logged, and the exit code is 1.
pub fn run(command: &ProfileCommand, log_format: LogFormat) -> anyhow::Result<ExitCode> {
    match command {
        ProfileCommand::Run(args) => profile_run(args, log_format),
        ProfileCommand::Forward(args) => forward::run(args).map(|()| ExitCode::SUCCESS),
    }
}

fn profile_run(args: &RunArgs, log_format: LogFormat) -> anyhow::Result<ExitCode> {
    let mut sources = args.sources.clone();
    sources
        .sets
        .push(format!("run.max_iterations={}", args.iterations));
    let loaded = sources.load()?;
    RunDevices::of(&loaded.config)?;
    let out = choose_folder(args.out.as_deref(), &loaded)?;
    let folder = RunDir::create_at(&out.join("run"))?;
    let trace = out.join("trace.json");
    let (timeline, layer) = Timeline::create(&trace).with_context(|| {
        format!(
            "cannot write {}; choose another folder with --out",
            trace.display()
        )
    })?;
    let logging = Logging::init_with(log_format, vec![layer])?;
    logging.attach_file(&folder.log_file())?;
    let sampler = Sampler::start(args.frequency)
        .inspect_err(|error| warn!("{error}"))
        .ok();
    let display = Display::new(loaded.config.traversal.progress_every_traversals);
    let outcome = train(&loaded, &folder, None, &mut PhaseSpans::new(display));
    // A run that failed has a profile too.
    let stacks = sampler.and_then(|sampler| {
        let stacks = sampler.finish();
        stacks.inspect_err(|error| warn!("{error}")).ok()
    });
    let written = write(&out, &folder, stacks.as_ref(), args);
    let traced = timeline
        .finish()
        .with_context(|| format!("{} is incomplete", trace.display()));
    let ended = outcome.and_then(|outcome| Ok(report(&outcome, &folder, None)?));

    let problems: Vec<anyhow::Error> = [written, traced]
        .into_iter()
        .filter_map(Result::err)
        .collect();
    problems
        .iter()
        .for_each(|problem| error!("{}", told(problem)));
    match ended {
        Ok(code) if problems.is_empty() => {
            info!("profile written to {}", out.display());
            Ok(code)
        }
        Ok(_) => Ok(ExitCode::FAILURE),
        Err(failure) => {
            error!("{}", told(&failure));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn choose_folder(out: Option<&Path>, loaded: &Loaded) -> anyhow::Result<PathBuf> {
    let Some(out) = out else {
        let name = &loaded.config.run.experiment_name;
        let folder = RunDir::create(Path::new("profiles/runs"), Retention::Kept, name)?;
        return Ok(folder.path().to_owned());
    };
    fs::create_dir_all(out).with_context(|| {
        format!(
            "cannot make {}; choose another folder with --out",
            out.display()
        )
    })?;
    for name in ["flamegraph.svg", "stacks.folded", "phases.md", "trace.json"] {
        if out.join(name).exists() {
            bail!(
                "{} already has a {name}; choose another folder with --out",
                out.display()
            );
        }
    }
    Ok(out.to_owned())
}

/// Writes what was sampled, and prints the tables.
fn write(
    out: &Path,
    folder: &RunDir,
    stacks: Option<&Stacks>,
    args: &RunArgs,
) -> anyhow::Result<()> {
    let phases =
        PhaseTable::read(&folder.metrics_file()).context("the run's metrics cannot be read")?;
    let mut text = format!(
        "# Where the time went\n\n{} complete iterations.\n\n{}",
        phases.iterations,
        phases.markdown()
    );
    if let Some(stacks) = stacks {
        text += &tables(stacks, args.frequency);
        save(&out.join("stacks.folded"), |file| {
            file.write_all(stacks.folded().as_bytes())
        })?;
        if stacks.samples() == 0 {
            warn!(
                "no sample was taken: the run was shorter than one; raise --iterations or --frequency for a flamegraph"
            );
        } else {
            save(&out.join("flamegraph.svg"), |file| {
                stacks.flamegraph("coorl-async profile run", file)
            })?;
        }
    }
    save(&out.join("phases.md"), |file| {
        file.write_all(text.as_bytes())
    })?;
    print(text.as_bytes())?;
    print(b"\n")?;
    Ok(())
}

fn tables(stacks: &Stacks, frequency: u16) -> String {
    format!(
        "\n{} samples, at most {frequency} per second of processor time (and no more than the kernel's clock ticks). A thread that \
         waits is not sampled.\n\n{}\n\
         The module of this program at work, itself or through a library it called:\n\n{}\n\
         Functions, most samples of their own first:\n\n{}",
        stacks.samples(),
        samples_table("thread", &stacks.by_thread(), 10),
        samples_table("module", &stacks.by_module(), 20),
        functions_table(stacks, 25)
    )
}

fn save(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()
    });
    written.with_context(|| {
        format!(
            "cannot write {}: is the disk full, or the folder read-only?",
            path.display()
        )
    })
}
