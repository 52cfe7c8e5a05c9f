//! What can go wrong with a checkpoint, and what then helps.

use std::io;
use std::path::{Path, PathBuf};

/// Why a checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// There is none.
    #[error(
        "no checkpoint at {path}: name a run folder that holds latest/ or iteration_*/, or one of these folders itself",
        path = path.display()
    )]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}; check permissions and free space there", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file that belongs to it is gone.
    #[error("{path} is missing: restore it from a copy, or use another checkpoint of the run", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Written by a program with another format.
    #[error(
        "{path} has format version {found}, this program reads {supported}: use the program version that wrote it \
         ({program})", path = path.display()
    )]
    Version {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The version read here.
        supported: u32,
        /// The program that wrote it, as far as it says.
        program: String,
    },
    /// The content is not what was written, or not what it should be.
    #[error("{path} is damaged, {what}: use another checkpoint of the run", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// What was to be saved contradicts itself; nothing was written.
    #[error(
        "checkpoint not written: network `{network}` {what}; this is an error in the program, please report it"
    )]
    Inconsistent {
        /// The network.
        network: String,
        /// What does not fit.
        what: String,
    },
}

impl CheckpointError {
    /// Wraps an error of the operating system.
    pub(super) fn io<'a>(
        path: &'a Path,
        action: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| {
            let path = path.to_path_buf();
            if source.kind() == io::ErrorKind::NotFound && action == "read" {
                return Self::Missing { path };
            }
            Self::Io {
                path,
                action,
                source,
            }
        }
    }

    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            what: what.into(),
        }
    }
}
