//! Configuration: the order of the sources, what is refused and how, files of the earlier trainer, text and back.

mod earlier;
mod refusals;
mod sources;
mod table;

use coorl_async::config::{ConfigError, Loaded, Problem, load};
use std::path::{Path, PathBuf};

/// A folder with one file, and the file's path.
struct File(
    #[expect(dead_code, reason = "the folder lives as long as this")] tempfile::TempDir,
    PathBuf,
);

fn file(name: &str, text: &str) -> File {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("writing a temporary file");
    File(folder, path)
}

fn set(sets: &[&str]) -> Result<Loaded, ConfigError> {
    let sets: Vec<_> = sets.iter().map(|set| set.to_string()).collect();
    load(&[], [], &sets)
}

fn yaml(text: &str) -> Result<Loaded, ConfigError> {
    let file = file("run.yaml", text);
    load(std::slice::from_ref(&file.1), [], &[])
}

fn environment(pairs: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()));
    load(&[], pairs, &[])
}

/// The only problem of a refused configuration.
fn only_problem(result: Result<Loaded, ConfigError>) -> Problem {
    let error = result.expect_err("this must be refused");
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems.into_iter().next().expect("one problem")
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
