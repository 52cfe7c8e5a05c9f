//! Running the program, and reading what it left.

#![allow(dead_code, reason = "no test uses all of it")]

pub use crate::outside::{Ended, ended};

use crate::outside::command;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A folder to run in; it goes with the value.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `coorl-async ARGUMENTS` in this folder, without settings from this process's environment.
    pub fn command(&self, arguments: &[&str]) -> std::process::Command {
        command(self.0.path(), arguments)
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments))
    }

    /// `train --config configs/smoke.yaml` into folder `run`, with more `--set`s.
    pub fn smoke(&self, run: &str, sets: &[&str]) -> Ended {
        self.run(&smoke(run, sets))
    }

    /// `train --resume PATH`, with more `--set`s.
    pub fn resume(&self, path: &str, sets: &[&str]) -> Ended {
        self.run(&with_sets(&["train", "--resume", path], sets))
    }

    pub fn file(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.file(path)).expect("text")
    }

    /// The rows of `run`'s metrics.
    pub fn rows(&self, run: &str) -> Vec<Map<String, Value>> {
        let text = self.text(&format!("{run}/metrics.jsonl"));
        let row = |line| serde_json::from_str(line).expect("a JSON object");
        text.lines().map(row).collect()
    }

    /// All files below `run` except its log, with their contents.
    pub fn contents(&self, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.path(run), &mut found);
        found.retain(|path, _| !path.ends_with("train.log"));
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).expect("a file"));
        }
    }
}

pub fn smoke_config() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/configs/smoke.yaml")
}

/// The arguments of [`Place::smoke`].
pub fn smoke<'a>(run: &'a str, sets: &[&'a str]) -> Vec<&'a str> {
    let start = ["train", "--config", smoke_config(), "--run-dir", run];
    with_sets(&start, sets)
}

pub fn with_sets<'a>(start: &[&'a str], sets: &[&'a str]) -> Vec<&'a str> {
    let sets = sets.iter().flat_map(|set| ["--set", *set]);
    start.iter().copied().chain(sets).collect()
}

impl Ended {
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Exit code 1, and every one of `words` in what it said.
    #[track_caller]
    pub fn refused(self, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(1), "{}", self.stderr);
        self.said(words)
    }

    #[track_caller]
    pub fn said(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

/// Whether a figure tells about time, the machine, or how walks happened to be batched.
///
/// Everything else is the same in every run of the same seed.
pub fn is_timing(name: &str) -> bool {
    let batching = name.starts_with("inference/") && name != "inference/requests";
    name.starts_with("time/")
        || name.starts_with("process/")
        || name.ends_with("_seconds")
        || name.ends_with("_per_second")
        || batching
}

/// The rows without what is timing.
pub fn without_timing(rows: Vec<Map<String, Value>>) -> Vec<Map<String, Value>> {
    let kept = |row: Map<String, Value>| {
        row.into_iter()
            .filter(|(name, _)| !is_timing(name))
            .collect()
    };
    rows.into_iter().map(kept).collect()
}

/// Panics with the figures that differ.
#[track_caller]
pub fn assert_same_rows(a: Vec<Map<String, Value>>, b: Vec<Map<String, Value>>) {
    let (a, b) = (without_timing(a), without_timing(b));
    assert_eq!(a.len(), b.len(), "rows");
    for (a, b) in a.iter().zip(&b) {
        let names = a.keys().chain(b.keys());
        let different: Vec<_> = names
            .filter(|name| a.get(*name) != b.get(*name))
            .map(|name| (name, a.get(name), b.get(name)))
            .collect();
        assert!(different.is_empty(), "{}: {different:?}", a["iteration"]);
    }
    assert!(a.iter().all(|row| row.len() > 40), "too little is compared");
}
