//! Past advantage networks on disk: an append-only file beside the checkpoints that name its parts.
//!
//! A part is the two networks of one iteration, float32 in little-endian order, seat 0 first. A checkpoint's [`PolicyMark`]s say where
//! each lies and what its checksum is. What lies behind the last part that a loaded checkpoint names is cut off.

use super::KeptPolicy;
use crate::{checkpoint::PolicyMark, replay::Checksum};
use anyhow::{Context, ensure};
use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// The file, open for appending.
pub(in crate::training) struct PolicyJournal {
    path: PathBuf,
    file: File,
    /// What is written, in the order of the file.
    written: Vec<PolicyMark>,
    end: u64,
}

impl PolicyJournal {
    /// The file's name in a run's folder.
    pub(in crate::training) const FILE: &'static str = "policies.journal";

    /// An empty file at `path`, in place of one that is there.
    pub(in crate::training) fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| refused(path, "make"))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            written: Vec::new(),
            end: 0,
        })
    }

    /// Goes on behind the parts that `marks` name.
    pub(in crate::training) fn open(path: &Path, marks: &[PolicyMark]) -> anyhow::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| refused(path, "open"))?;
        let end = marks.iter().map(PolicyMark::end).max().unwrap_or(0);
        file.set_len(end).with_context(|| refused(path, "write"))?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
            written: marks.to_vec(),
            end,
        };
        journal
            .file
            .seek(SeekFrom::Start(end))
            .with_context(|| refused(path, "read"))?;
        Ok(journal)
    }

    /// Writes the policies of `history` that are not written yet, and returns where each of them lies.
    pub(in crate::training) fn append(
        &mut self,
        history: &[KeptPolicy],
    ) -> anyhow::Result<Vec<PolicyMark>> {
        let last = self.written.last().map_or(0, |mark| mark.iteration);
        let fresh: Vec<_> = history
            .iter()
            .filter(|policy| policy.iteration > last)
            .collect();
        for policy in &fresh {
            let bytes = content(policy);
            let written = self.file.write_all(&bytes);
            written.with_context(|| refused(&self.path, "write"))?;
            self.written.push(PolicyMark {
                iteration: policy.iteration,
                weight: policy.weight,
                offset: self.end,
                values: policy.networks.each_ref().map(Vec::len),
                checksum: Checksum::of(&bytes),
            });
            self.end += bytes.len() as u64;
        }
        if !fresh.is_empty() {
            let synced = self.file.sync_data();
            synced.with_context(|| refused(&self.path, "write"))?;
        }
        history.iter().map(|policy| self.mark(policy)).collect()
    }

    fn mark(&self, policy: &KeptPolicy) -> anyhow::Result<PolicyMark> {
        let found = self
            .written
            .binary_search_by_key(&policy.iteration, |mark| mark.iteration);
        let index = found.ok().with_context(|| {
            let path = self.path.display();
            format!(
                "{path} lacks the networks of iteration {}",
                policy.iteration
            )
        })?;
        Ok(PolicyMark {
            weight: policy.weight,
            ..self.written[index].clone()
        })
    }
}

/// Reads the policies that `marks` name from the file at `path`.
///
/// # Errors
/// A file that is missing, shorter, or not as it was written.
pub(in crate::training) fn read(
    path: &Path,
    marks: &[PolicyMark],
) -> anyhow::Result<Vec<KeptPolicy>> {
    let mut file = File::open(path).with_context(|| refused(path, "open"))?;
    let mut read_one = |mark: &PolicyMark| -> anyhow::Result<KeptPolicy> {
        let [first, second] = mark.values;
        let mut bytes = vec![0; (first + second) * size_of::<f32>()];
        file.seek(SeekFrom::Start(mark.offset))
            .and_then(|_| file.read_exact(&mut bytes))
            .with_context(|| refused(path, "read"))?;
        ensure!(
            Checksum::of(&bytes) == mark.checksum,
            "{} is damaged in the networks of iteration {}: use a copy of it, or resume with --set averaging.scheme=strategy_network",
            path.display(),
            mark.iteration
        );
        let values: Vec<f32> = bytes
            .chunks_exact(size_of::<f32>())
            .map(|chunk| f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
            .collect();
        let (own, other) = values.split_at(first);
        Ok(KeptPolicy {
            iteration: mark.iteration,
            weight: mark.weight,
            networks: [own.to_vec(), other.to_vec()],
        })
    };
    marks.iter().map(&mut read_one).collect()
}

fn content(policy: &KeptPolicy) -> Vec<u8> {
    let values = policy.networks.iter().flatten();
    values.flat_map(|value| value.to_le_bytes()).collect()
}

fn refused(path: &Path, action: &str) -> String {
    format!(
        "cannot {action} {}, which holds past networks of the average strategy: is it there, the disk full, or the folder read-only?",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(iteration: u32) -> KeptPolicy {
        let value = iteration as f32;
        KeptPolicy {
            iteration,
            weight: f64::from(iteration),
            networks: [vec![value, -value, 0.5], vec![value * 2.0]],
        }
    }

    #[test]
    fn what_marks_name_is_read_back_and_what_lies_behind_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PolicyJournal::FILE);
        let mut journal = PolicyJournal::create(&path).unwrap();
        let history: Vec<_> = (1..=3).map(policy).collect();
        let marks = journal.append(&history).unwrap();
        journal
            .append(&(1..=4).map(policy).collect::<Vec<_>>())
            .unwrap();
        drop(journal);
        assert_eq!(read(&path, &marks).unwrap(), history);

        let mut journal = PolicyJournal::open(&path, &marks).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 48);
        // Iteration 2 was merged into 1 meanwhile.
        let mut later = vec![policy(1), policy(3), policy(4)];
        later[0].weight = 3.0;
        let marks = journal.append(&later).unwrap();
        assert_eq!(read(&path, &marks).unwrap(), later);
    }

    #[test]
    fn a_damaged_part_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PolicyJournal::FILE);
        let mut journal = PolicyJournal::create(&path).unwrap();
        let marks = journal.append(&[policy(1), policy(2)]).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[17] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = read(&path, &marks).unwrap_err().to_string();
        assert!(error.contains("iteration 2"), "{error}");
        std::fs::write(&path, &bytes[..20]).unwrap();
        assert!(read(&path, &marks).is_err());
    }
}
