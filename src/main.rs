//! `coorl-async`: trains Deep CFR agents.

use clap::Parser;
use coorl_async::{cli, platform};
use std::process::ExitCode;

fn main() -> ExitCode {
    // `--help` and mistakes in the arguments need no libraries.
    let cli = cli::Cli::parse();
    platform::init();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", cli::told(&error));
            ExitCode::FAILURE
        }
    }
}
