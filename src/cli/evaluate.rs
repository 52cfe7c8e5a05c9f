//! `coorl-async evaluate`: how a saved policy plays, on deals that no training has met.

use super::{
    games::{with_game, with_pair},
    print,
    saved::{Described, Saved, StrategyArg},
    train::{INTERRUPTED, stop_on_ctrl_c},
};
use crate::{
    bots::{Bot, BotError, ScriptedGame},
    config::most_alike,
    encoding::Encoding,
    evaluation::{Judge, JudgeError, PolicyMode, Standing},
    inference::{Head, StopFlag},
    platform::{choose_device, logical_cores},
    telemetry::{LogFormat, Logging, Progress},
    training::{SavedRun, TrainedGame},
};
use anyhow::anyhow;
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};
use tch::Device;
use tracing::info;

/// What the other policy is called in the results.
const RIVAL: &str = "against";
/// Games against each scripted opponent.
const GAMES: u32 = 500;
/// Games against another policy.
const GAMES_HEAD_TO_HEAD: u32 = 1_000;

/// Arguments of `evaluate`.
#[derive(Clone, Debug, clap::Args)]
pub struct EvaluateArgs {
    /// The run folder, or a checkpoint in it, whose policy plays
    #[arg(value_name = "CHECKPOINT")]
    pub checkpoint: PathBuf,
    /// Plays against the policy of this run or checkpoint, in place of the scripted opponents; it must be of the same game and rules
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "opponents")]
    pub against: Option<PathBuf>,
    /// Games against each opponent, rounded up to whole deals [default: 500; with --against 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub games: Option<u32>,
    /// How a strategy becomes an action: a draw from it, its likeliest action, or both in turn
    #[arg(long, value_enum, default_value_t)]
    pub policy: Modes,
    /// Scripted opponents, apart by commas [default: all that the game has]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub opponents: Vec<String>,
    /// The average strategy, as the run has it, or the policies of the last iteration
    #[arg(long, value_enum, default_value_t)]
    pub strategy: StrategyArg,
    /// Deals and chance derive from it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Plies of both players after which a game is a timeout [default: evaluation.max_steps of the run]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub max_plies: Option<u32>,
    /// Threads that play; the numbers do not depend on them [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Where the networks compute: cpu, auto, cuda or cuda:N; the last bits of their answers depend on it
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: String,
    /// Prints one JSON document in place of the table
    #[arg(long)]
    pub json: bool,
}

/// The modes to play in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Modes {
    /// A draw from the strategy.
    Sampled,
    /// Its likeliest action.
    Greedy,
    /// One after the other.
    #[default]
    Both,
}

/// Plays, and prints the table or the document; the exit code is 130 after Ctrl-C.
///
/// # Errors
/// Checkpoints that cannot be read or cannot meet, opponents that do not exist, networks that answer no numbers.
pub fn run(args: &EvaluateArgs, log_format: LogFormat) -> anyhow::Result<ExitCode> {
    let first = Saved::open(&args.checkpoint)?;
    let second = args.against.as_deref().map(Saved::open).transpose()?;
    if let Some(second) = &second {
        first.run.expect_same_game(&second.run)?;
    }
    let device = choose_device("--device", &args.device)?;
    Logging::init(log_format)?;
    if device.why.is_some() || device.device != Device::Cpu {
        info!("{}", device.line("--device"));
    }
    let stop = stop_on_ctrl_c("stopping: the games are dropped; Ctrl-C again leaves at once")?;
    let judge = judge(args, &first.run, device.device);
    let results = match &second {
        None => with_game!(&first.run.config, |game, encoding| {
            against_scripts(&game, encoding, args, &first, &judge, &stop)
        }),
        Some(second) => {
            with_pair!(&first.run.config, &second.run.config, |game, one, two| {
                head_to_head(&game, (one, &first), (two, second), args, &judge, &stop)
            })
        }
    };
    match results {
        Ok(results) => {
            let described = |saved: &Saved| saved.described(args.strategy);
            let report = Report {
                checkpoint: described(&first),
                against: second.as_ref().map(described),
                deals: judge.deals,
                games_per_row: judge.games(),
                seed: judge.seed,
                max_plies: judge.max_plies,
                results,
            };
            report.print(args.json)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if is_interrupted(&error) => {
            info!("interrupted: not all games were played, so nothing is printed");
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(error) => Err(error),
    }
}

fn is_interrupted(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<JudgeError>();
    error.is_some_and(JudgeError::is_interrupted)
}

fn judge(args: &EvaluateArgs, run: &SavedRun, device: Device) -> Judge {
    let default = match args.against {
        None => GAMES,
        Some(_) => GAMES_HEAD_TO_HEAD,
    };
    let games = args.games.unwrap_or(default);
    if !games.is_multiple_of(2) {
        info!(
            "{games} games are {} and a half deals: {} are played",
            games / 2,
            games + 1
        );
    }
    let max_plies = args.max_plies.and_then(|plies| usize::try_from(plies).ok());
    Judge {
        deals: games.div_ceil(2) as usize,
        seed: args.seed,
        max_plies: max_plies.unwrap_or(run.config.evaluation.max_steps),
        modes: args.policy.modes().to_vec(),
        threads: args.threads.map_or_else(logical_cores, usize::from),
        device,
    }
}

fn against_scripts<G: TrainedGame, E: Encoding<G>>(
    game: &G,
    encoding: E,
    args: &EvaluateArgs,
    saved: &Saved,
    judge: &Judge,
    stop: &StopFlag,
) -> anyhow::Result<Vec<Standing>> {
    let opponents = opponents(game, &args.opponents)?;
    let contestant = saved.contestant(encoding, args.strategy, judge.deals, args.seed)?;
    let line = Progress::new().phase("games", games_of(judge, opponents.len()));
    let mut progress = |done: usize| line.inc((done as u64).saturating_sub(line.position()));
    Ok(judge.against_scripts(game, &contestant, &opponents, stop, &mut progress)?)
}

fn head_to_head<G: TrainedGame, E: Encoding<G>, R: Encoding<G>>(
    game: &G,
    (encoding, saved): (E, &Saved),
    (other, rival): (R, &Saved),
    args: &EvaluateArgs,
    judge: &Judge,
    stop: &StopFlag,
) -> anyhow::Result<Vec<Standing>> {
    let pairs = judge.deals.min(Head::SNAPSHOTS_IN_SET);
    let contestant = saved.contestant(encoding, args.strategy, pairs, args.seed)?;
    let rival = rival.contestant(other, args.strategy, pairs, args.seed)?;
    let line = Progress::new().phase("games", games_of(judge, 1));
    let mut progress = |done: usize| line.inc((done as u64).saturating_sub(line.position()));
    let rival = (RIVAL, &rival);
    Ok(judge.head_to_head(game, &contestant, rival, stop, &mut progress)?)
}

fn games_of(judge: &Judge, opponents: usize) -> u64 {
    (opponents * judge.games() * judge.modes.len()) as u64
}

/// The canonical names of `names`, each once; all of the game's where there are none.
fn opponents<G: ScriptedGame>(game: &G, names: &[String]) -> anyhow::Result<Vec<&'static str>> {
    if names.is_empty() {
        let all = G::bot_names().iter().copied();
        let (able, unable): (Vec<_>, Vec<_>) = all.partition(|name| game.bot(name).is_ok());
        for name in unable {
            info!("{name} cannot play these rules and is left out");
        }
        return Ok(able);
    }
    let mut found = Vec::new();
    for name in names {
        let bot = game.bot(name).map_err(|error| match error {
            BotError::Unknown { .. } => match most_alike(name, G::bot_names().iter().copied()) {
                Some(near) => anyhow!("--opponents: {error}; the nearest is \"{near}\""),
                None => anyhow!("--opponents: {error}"),
            },
            BotError::Limit { .. } => anyhow!("--opponents: {error}"),
        })?;
        if !found.contains(&bot.name()) {
            found.push(bot.name());
        }
    }
    Ok(found)
}

impl Modes {
    fn modes(self) -> &'static [PolicyMode] {
        match self {
            Modes::Sampled => &[PolicyMode::Sampled],
            Modes::Greedy => &[PolicyMode::Greedy],
            Modes::Both => &[PolicyMode::Sampled, PolicyMode::Greedy],
        }
    }
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    checkpoint: Described,
    /// Only where two policies met.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Described>,
    deals: usize,
    games_per_row: usize,
    seed: u64,
    max_plies: usize,
    results: Vec<Standing>,
}

impl Report {
    fn print(&self, json: bool) -> anyhow::Result<()> {
        let text = if json {
            format!("{}\n", serde_json::to_string_pretty(self)?)
        } else {
            self.words()
        };
        Ok(print(text.as_bytes())?)
    }

    fn words(&self) -> String {
        let line = |who: &str, played: &Described| {
            format!(
                "{who}: {}\n    iteration {}, {}\n",
                played.path, played.iteration, played.strategy_is
            )
        };
        let mut text = line("checkpoint", &self.checkpoint);
        if let Some(against) = &self.against {
            text += &line(RIVAL, against);
        }
        text += &format!(
            "{} games a row: {} deals, each from both seats, seed {}; timeouts at {} plies\n\n",
            self.games_per_row, self.deals, self.seed, self.max_plies
        );
        text + &Standing::table(&self.results)
    }
}
