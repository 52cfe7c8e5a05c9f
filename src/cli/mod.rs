//! The command line: one file per subcommand. Each parses, calls one library function, and prints.
//!
//! ```text
//! argv --clap--> Cli --run--> train   config + folder + log --> training::Session --> exit code 0, 1 or 130
//!                        |--> evaluate  checkpoint --> evaluation::Judge --> table or JSON; exit code 0, 1 or 130
//!                        |--> exploit   checkpoint --> training::Exploit --> lines, table or JSON; exit code 0, 1 or 130
//!                        |--> tune    configuration + grid --> tuning::Sweep --> table, files; exit code 0, 1 or 130
//!                        |--> profile the same under a sampler, or the network alone
//!                        |--> config  the settings, each with where it came from
//!                        +--> doctor  this machine and installation; exit code 1 when something needed is missing
//! ```

pub mod config;
pub mod doctor;
pub mod evaluate;
pub mod exploit;
mod games;
pub mod profile;
mod saved;
pub mod train;
pub mod tune;

use crate::telemetry::LogFormat;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Trains Deep CFR agents for imperfect-information card games.
#[derive(Debug, clap::Parser)]
#[command(name = "coorl-async", version, about, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How log lines on standard error look; RUST_LOG says which are shown
    #[arg(long, global = true, value_enum, default_value_t, display_order = 100)]
    pub log_format: LogFormat,
}

/// The subcommands.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Trains, or goes on training
    ///
    /// Without --config the built-in settings count, which train until Ctrl-C. Examples:
    ///
    ///   coorl-async train --config configs/quick.yaml --set run.seed=2
    ///
    ///   coorl-async train --resume runs/tmp/2026-01-31_140559_quick
    ///
    /// The first Ctrl-C stops the run and saves the state after its last complete iteration; the second leaves at once. Exit code: 0
    /// when the run came to its end, 130 after Ctrl-C, 1 after an error.
    Train(train::TrainArgs),
    /// Plays what a run learned against the scripted opponents, or against another run
    ///
    /// Each deal is played twice, with seats exchanged, and no training has met these deals. The same command prints the same numbers.
    /// Examples:
    ///
    ///   coorl-async evaluate runs/tmp/2026-01-31_140559_quick
    ///
    ///   coorl-async evaluate runs/strong --against runs/tmp/2026-01-31_140559_quick/iteration_00050 --policy sampled
    ///
    /// Exit code: 0 when all games were played, 130 after Ctrl-C, 1 after an error.
    Evaluate(evaluate::EvaluateArgs),
    /// Tells how exploitable what a run learned is: what a best response gains that training finds
    ///
    /// The policy is frozen, and two learners that play nobody else (policy gradient and value-guided) train against it, half of the time
    /// each. What they gain a game is measured on the way and at the end, on deals that no training has met. It is a lower bound: who
    /// trains longer may find more. Examples:
    ///
    ///   coorl-async exploit runs/tmp/2026-01-31_140559_quick --minutes 10
    ///
    ///   coorl-async exploit runs/strong --strategy current --minutes 30 --json
    ///
    /// Ctrl-C prints what is known so far. Exit code: 0 when the time was used up, 130 after Ctrl-C, 1 after an error.
    Exploit(exploit::ExploitArgs),
    /// Finds the batching that makes this machine walk fastest
    ///
    /// Walks an iteration's walks again and again, with every timeout, batch size and number of walks in flight in turn, and recommends
    /// one of those that are not measurably slower than the best. Examples:
    ///
    ///   coorl-async tune --config configs/default.yaml --budget 300
    ///
    ///   coorl-async tune --config configs/default.yaml --timeouts 0,200,1000 --max-batches 256 --in-flight 280,560
    ///
    /// Ctrl-C keeps what was measured. Exit code: 0 when the sweep came to its end or the budget was used up, 130 after Ctrl-C, 1 after
    /// an error.
    Tune(tune::TuneArgs),
    /// Shows where the time goes: of a training run, or of the network by batch size
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// Prints the resolved configuration and where each value came from
    ///
    /// Built-in defaults, then each --config file, then environment variables COORL_SECTION__KEY, then each --set: later ones win, key
    /// by key. What is printed can be saved and given to --config.
    Config(config::ConfigCommand),
    /// Tells what this machine and installation are, and what is missing
    ///
    /// Exit code: 0 when everything needed is there, else 1.
    Doctor(doctor::DoctorArgs),
}

/// An error with its causes on one line. A cause that an earlier message tells already is not told twice.
pub fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Writes to standard output. A reader that went away (`| head`) is no error.
fn print(text: &[u8]) -> io::Result<()> {
    match io::stdout().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

impl Cli {
    /// Runs the command; the answer is the process's exit code.
    ///
    /// # Errors
    /// What is worth telling the user, with its causes.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Train(args) => train::run(&args, self.log_format),
            Command::Evaluate(args) => evaluate::run(&args, self.log_format),
            Command::Exploit(args) => exploit::run(&args, self.log_format),
            Command::Tune(args) => tune::run(&args, self.log_format),
            Command::Profile(command) => profile::run(&command, self.log_format),
            Command::Config(args) => config::run(&args).map(|()| ExitCode::SUCCESS),
            Command::Doctor(args) => {
                let healthy = doctor::run(&args)?;
                Ok(if healthy {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn causes_are_told_once() {
        let error = anyhow!("no space").context("cannot write x: no space; free some");
        assert_eq!(told(&error), "cannot write x: no space; free some");
        let error = Err::<(), _>(error).context("iteration 3 failed");
        let text = told(&error.unwrap_err());
        assert_eq!(
            text,
            "iteration 3 failed: cannot write x: no space; free some"
        );
    }
}
