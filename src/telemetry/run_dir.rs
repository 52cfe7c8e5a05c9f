//! The folder of a run.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Where a run's folder goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    /// Under `tmp/`, to be cleared at will.
    #[default]
    Temporary,
    /// Directly under the root.
    Kept,
}

/// Why a run has no folder.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// It cannot be made.
    #[error(
        "cannot create the run's folder {path}: {source}; make its parent writable, or choose another with --run-dir"
    )]
    Create {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A run already lives there.
    #[error(
        "{path} already holds a run; continue it with --resume {path}, or choose another folder"
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// There is no such folder.
    #[error("{path} is no folder of a run: give one that holds metrics.jsonl or a checkpoint")]
    Missing {
        /// The folder.
        path: PathBuf,
    },
}

/// A run's folder and the names in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

const CONFIG: &str = "config.yaml";
const METRICS: &str = "metrics.jsonl";
const LOG: &str = "train.log";
const LATEST: &str = "latest";

impl RunDir {
    /// Makes `<root>/tmp/<stamp>_<slug>` (`<root>/<stamp>_<slug>` if kept) with the local time as `YYYY-MM-DD_HHMMSS`. A name that is
    /// taken gets `-2`, `-3` and so on behind it: two runs never share a folder.
    ///
    /// # Errors
    /// [`RunDirError::Create`].
    pub fn create(
        root: &Path,
        retention: Retention,
        experiment_name: &str,
    ) -> Result<Self, RunDirError> {
        let stamp = stamp();
        let parent = match retention {
            Retention::Temporary => root.join("tmp"),
            Retention::Kept => root.to_owned(),
        };
        Self::create_named(&parent, &format!("{stamp}_{}", slug(experiment_name)))
    }

    fn create_named(parent: &Path, name: &str) -> Result<Self, RunDirError> {
        match fresh_folder(parent, name) {
            Ok(path) => Ok(Self { path }),
            Err(source) => Err(RunDirError::Create {
                path: parent.join(name),
                source,
            }),
        }
    }

    /// Makes the given folder, or takes it if it is there without a run in it.
    ///
    /// # Errors
    /// [`RunDirError::Occupied`] if it holds a run, [`RunDirError::Create`] if it cannot be made.
    pub fn create_at(path: &Path) -> Result<Self, RunDirError> {
        if holds_run(path) {
            return Err(RunDirError::Occupied {
                path: path.to_owned(),
            });
        }
        fs::create_dir_all(path).map_err(|source| RunDirError::Create {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Takes up the folder of an earlier run.
    ///
    /// # Errors
    /// [`RunDirError::Missing`] if no run lives there.
    pub fn open(path: &Path) -> Result<Self, RunDirError> {
        if !holds_run(path) {
            return Err(RunDirError::Missing {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The resolved configuration.
    pub fn config_file(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// One row per iteration.
    pub fn metrics_file(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    /// The log.
    pub fn log_file(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// The latest checkpoint.
    pub fn latest_checkpoint(&self) -> PathBuf {
        self.path.join(LATEST)
    }
}

/// The local time as `YYYY-MM-DD_HHMMSS`, for names of folders.
pub fn stamp() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d_%H%M%S").to_string()
}

/// Makes `<parent>/<name>`, or where that is taken `<name>-2`, `<name>-3` and so on.
///
/// # Errors
/// The folder, or its parent, cannot be made.
pub fn fresh_folder(parent: &Path, name: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    let mut path = parent.join(name);
    let mut copy = 1;
    loop {
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                copy += 1;
                path = parent.join(format!("{name}-{copy}"));
            }
            made => return made.map(|()| path),
        }
    }
}

fn holds_run(path: &Path) -> bool {
    [CONFIG, METRICS, LATEST]
        .iter()
        .any(|name| path.join(name).exists())
}

/// `name` in lower case, each run of characters outside a-z and 0-9 as one `-`, none at the ends; `run` if nothing is left.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        "run".into()
    } else {
        words.join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs() {
        for (name, expected) in [
            ("deep_cfr", "deep-cfr"),
            ("  Wide NET, 2.0!  ", "wide-net-2-0"),
            ("", "run"),
            ("---", "run"),
            ("Größe", "gr-e"),
        ] {
            assert_eq!(slug(name), expected, "{name:?}");
        }
    }

    #[test]
    fn two_runs_of_one_second_get_two_folders() {
        let root = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..3)
            .map(|_| RunDir::create_named(root.path(), "stamp_run").unwrap().path)
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["stamp_run", "stamp_run-2", "stamp_run-3"]);
    }

    #[test]
    fn temporary_runs_lie_under_tmp_and_are_stamped() {
        let root = tempfile::tempdir().unwrap();
        let temporary = RunDir::create(root.path(), Retention::Temporary, "My run").unwrap();
        let kept = RunDir::create(root.path(), Retention::Kept, "My run").unwrap();
        assert_eq!(temporary.path().parent().unwrap(), root.path().join("tmp"));
        assert_eq!(kept.path().parent().unwrap(), root.path());
        let name = kept
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let shape: String = name
            .chars()
            .map(|c| if c.is_ascii_digit() { '9' } else { c })
            .collect();
        assert_eq!(shape, "9999-99-99_999999_my-run");
    }

    #[test]
    fn a_folder_with_a_run_is_refused_and_can_be_opened() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("mine");
        assert!(matches!(
            RunDir::open(&path),
            Err(RunDirError::Missing { .. })
        ));
        let run = RunDir::create_at(&path).unwrap();
        // Empty, or with something of the user's in it: still free.
        fs::write(path.join("notes.txt"), "x").unwrap();
        RunDir::create_at(&path).unwrap();
        fs::write(run.metrics_file(), "").unwrap();
        let told = RunDir::create_at(&path).unwrap_err().to_string();
        assert!(told.contains("--resume"), "{told}");
        assert_eq!(RunDir::open(&path).unwrap(), run);
    }
}
