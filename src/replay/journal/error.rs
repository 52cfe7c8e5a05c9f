//! What can go wrong with a journal, and what then helps.

use std::io;
use std::path::{Path, PathBuf};

/// Why a journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file is gone.
    #[error(
        "replay journal {path} is missing: put it back, or resume with checkpoint.exact_resume = false to start with \
         empty memories", path = path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error(
        "cannot {action} the replay journal {path}: {source}; free disk space or permissions there, or switch it off with \
         checkpoint.exact_resume = false", path = path.display()
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Not a journal, or one of another version.
    #[error(
        "{path} is not a replay journal this program reads ({found}): resume with the version that wrote it, or with \
         checkpoint.exact_resume = false to start with empty memories", path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// What its header says.
        found: String,
    },
    /// Written for a memory of another shape.
    #[error(
        "replay journal {path} holds {found}, the configuration wants {wanted}: restore replay.*_capacity and the \
         encoding, or resume with checkpoint.exact_resume = false to start with empty memories", path = path.display()
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// The shape it was written for.
        found: String,
        /// The shape asked for.
        wanted: String,
    },
    /// Shorter than the manifest says.
    #[error(
        "replay journal {path} has {found} bytes, the checkpoint counts on {expected}: resume from another checkpoint, or \
         with checkpoint.exact_resume = false to start with empty memories", path = path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length of the mark.
        expected: u64,
    },
    /// The content is not what was written.
    #[error(
        "replay journal {path} is damaged, {what}: resume from another checkpoint, or with checkpoint.exact_resume = false \
         to start with empty memories", path = path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
}

impl JournalError {
    /// Wraps an error of the operating system.
    pub(super) fn io<'a>(
        path: &'a Path,
        action: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + use<'a> {
        move |source| {
            let path = path.to_path_buf();
            if source.kind() == io::ErrorKind::NotFound && action == "open" {
                return Self::Missing { path };
            }
            Self::Io {
                path,
                action,
                source,
            }
        }
    }

    pub(super) fn damaged(path: &Path, what: &str) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            what: what.to_owned(),
        }
    }
}
