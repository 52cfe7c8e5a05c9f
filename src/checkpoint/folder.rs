//! Replacing a checkpoint folder so that a crash at any moment leaves a complete one, and finding it again.

use super::CheckpointError;
use super::manifest::{MANIFEST, Manifest, NETWORKS};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder inside a run's that is rewritten after every iteration.
pub const LATEST: &str = "latest";

const NUMBERED_PREFIX: &str = "iteration_";

/// The folder of the checkpoint kept after `iteration`: `RUN/iteration_00050`.
pub fn numbered(run: &Path, iteration: u32) -> PathBuf {
    run.join(format!("{NUMBERED_PREFIX}{iteration:05}"))
}

/// The checkpoint folder that [`super::Checkpoint::load`] reads for `path`.
///
/// For a checkpoint folder: the complete one with the highest iteration among itself and what an interrupted save left
/// beside it (`.new`, `.old`). For a run folder: that of its `latest`, or else its highest numbered one.
///
/// # Errors
/// When there is none, or none is complete; the error is then that of the folder that was meant.
pub fn locate(path: &Path) -> Result<PathBuf, CheckpointError> {
    let latest = path.join(LATEST);
    for folder in [path, &latest] {
        if let Some(found) = best_of(folder) {
            return found.map(|(folder, _)| folder);
        }
    }
    let numbers = fs::read_dir(path).into_iter().flatten().flatten();
    let highest = numbers
        .filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix(NUMBERED_PREFIX)?;
            let number = number.trim_end_matches(".new").trim_end_matches(".old");
            number.parse::<u32>().ok()
        })
        .max();
    highest
        .and_then(|iteration| best_of(&numbered(path, iteration)))
        .map_or_else(
            || {
                Err(CheckpointError::NotFound {
                    path: path.to_path_buf(),
                })
            },
            |found| found.map(|(folder, _)| folder),
        )
}

/// The complete folder with the highest iteration among `folder` and its siblings, or the first one's error; `None` when
/// none of them holds a manifest.
fn best_of(folder: &Path) -> Option<Result<(PathBuf, u32), CheckpointError>> {
    let mut best: Option<Result<(PathBuf, u32), CheckpointError>> = None;
    for candidate in [
        folder.to_path_buf(),
        sibling(folder, "new"),
        sibling(folder, "old"),
    ] {
        // Of the folder that was meant, a lost manifest is worth an error; a new folder without one is just unfinished.
        let meant = candidate == folder && candidate.join(NETWORKS).exists();
        if !meant && !candidate.join(MANIFEST).exists() {
            continue;
        }
        let found = Manifest::read(&candidate).map(|manifest| (candidate, manifest.iteration));
        let better = match (&best, &found) {
            (None, _) | (Some(Err(_)), Ok(_)) => true,
            (Some(Ok((_, known))), Ok((_, iteration))) => iteration > known,
            (Some(_), Err(_)) => false,
        };
        if better {
            best = Some(found);
        }
    }
    best
}

/// `RUN/latest` with suffix `new`: `RUN/latest.new`.
fn sibling(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    folder.with_file_name(name)
}

/// What [`replace`] has just done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Finished or undone what an earlier crash had left.
    Settled,
    /// Written a file of the new folder.
    FileWritten,
    /// Flushed the new folder to disk.
    NewComplete,
    /// Renamed the previous folder to `.old`.
    OldAside,
    /// Renamed the new folder into place.
    NewInPlace,
    /// Removed the previous folder.
    OldRemoved,
}

/// Replaces folder `dir` by one with `files` (name and content). `after` is told of every step; an error from it ends the work there,
/// as a crash would.
pub(super) fn replace(
    dir: &Path,
    files: &[(String, Vec<u8>)],
    after: &mut dyn FnMut(Step) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    let (new, old) = (sibling(dir, "new"), sibling(dir, "old"));
    let parent = match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(CheckpointError::io(parent, "create"))?;
    settle(dir)?;
    after(Step::Settled)?;
    remove(&new)?;
    fs::create_dir(&new).map_err(CheckpointError::io(&new, "create"))?;
    for (name, content) in files {
        let path = new.join(name);
        if let Err(error) = write_durably(&path, content) {
            // Gives the space back; the error that matters is the one that is returned.
            let _ = fs::remove_dir_all(&new);
            return Err(CheckpointError::io(&path, "write")(error));
        }
        after(Step::FileWritten)?;
    }
    sync_folder(&new)?;
    after(Step::NewComplete)?;
    put_in_place(dir, &new, &old, after)?;
    sync_folder(parent)?;
    remove(&old)?;
    after(Step::OldRemoved)
}

/// Swaps a complete new folder for the one in place, which stays as `.old`.
fn put_in_place(
    dir: &Path,
    new: &Path,
    old: &Path,
    after: &mut dyn FnMut(Step) -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    if dir.exists() {
        remove(old)?;
        fs::rename(dir, old).map_err(CheckpointError::io(dir, "rename"))?;
        after(Step::OldAside)?;
    }
    fs::rename(new, dir).map_err(CheckpointError::io(new, "rename"))?;
    after(Step::NewInPlace)
}

/// Brings the best of what an interrupted save left to `dir`, so that the next one starts from a complete folder in place.
fn settle(dir: &Path) -> Result<(), CheckpointError> {
    let Some(Ok((best, _))) = best_of(dir) else {
        return Ok(());
    };
    if best == sibling(dir, "new") {
        put_in_place(dir, &best, &sibling(dir, "old"), &mut |_| Ok(()))
    } else if best != dir && !dir.exists() {
        fs::rename(&best, dir).map_err(CheckpointError::io(&best, "rename"))
    } else {
        Ok(())
    }
}

fn remove(folder: &Path) -> Result<(), CheckpointError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CheckpointError::io(folder, "remove")(error))
        }
        _ => Ok(()),
    }
}

fn write_durably(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn sync_folder(folder: &Path) -> Result<(), CheckpointError> {
    #[cfg(unix)]
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(CheckpointError::io(folder, "sync"))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
