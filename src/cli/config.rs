//! `coorl-async config`: the resolved settings, and where each came from.

use crate::config::{ConfigError, Loaded, keys, load, process_environment};
use std::path::PathBuf;

/// Where settings come from besides the built-in defaults and the environment (`COORL_SECTION__KEY`).
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// Reads settings from a YAML, TOML or JSON file; may be repeated, later files win
    #[arg(long = "config", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Sets one key, such as run.seed=3; may be repeated; wins over files and environment
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
}

impl ConfigArgs {
    /// Loads the configuration of these arguments and this process's environment.
    ///
    /// # Errors
    /// See [`load`].
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.files, process_environment(), &self.sets)
    }
}

/// Prints the resolved settings as YAML, with a comment on each that says where it came from.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConfigCommand {
    /// The sources.
    #[command(flatten)]
    pub sources: ConfigArgs,
    /// Lists every key and what it may hold, in place of the settings
    #[arg(long)]
    pub keys: bool,
}

/// Prints the configuration to standard output and the notes to standard error.
///
/// # Errors
/// A refused configuration, or an output that cannot be written (a closed pipe is no error).
pub fn run(command: &ConfigCommand) -> anyhow::Result<()> {
    let text = if command.keys {
        key_list()
    } else {
        let loaded = command.sources.load()?;
        for note in &loaded.notes {
            eprintln!("note: {note}");
        }
        loaded.to_annotated_yaml()
    };
    Ok(super::print(text.as_bytes())?)
}

fn key_list() -> String {
    let width = keys().iter().map(|key| key.path.len()).max().unwrap_or(0);
    let line = |key: &crate::config::Key| format!("{:width$}  {}\n", key.path, key.allowed_words());
    keys().iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        command: ConfigCommand,
    }

    #[test]
    fn both_options_repeat_and_keep_their_order() {
        let line = [
            "config",
            "--set",
            "run.seed=-1",
            "--config",
            "a.yaml",
            "--set=run.seed=2",
            "--config",
            "b.toml",
        ];
        let sources = Line::parse_from(line).command.sources;
        assert_eq!(sources.sets, ["run.seed=-1", "run.seed=2"]);
        assert_eq!(sources.files, [PathBuf::from("a.yaml"), "b.toml".into()]);
    }

    #[test]
    fn the_list_names_every_key_with_what_it_may_hold() {
        let list = key_list();
        assert_eq!(list.lines().count(), keys().len());
        let line = list
            .lines()
            .find(|line| line.starts_with("run.max_minutes "));
        assert!(line.is_some_and(|line| line.ends_with("or null")), "{list}");
    }
}
