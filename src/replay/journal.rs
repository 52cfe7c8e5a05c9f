//! Exact resume: an append-only file per memory with every row that changed.
//!
//! ```text
//! header  magic, version, info_len, actions, capacity                                  32 bytes, little-endian
//! record  slot u32, iteration u32, legal u128, flags u32, info f32 x info_len, target f32 x actions      repeated
//! ```
//!
//! After an iteration [`Journal::append`] writes each slot that changed once, with its last content, in the order of the
//! first change, and returns a [`MemoryMark`]: how far the file counts, and its checksum. The mark goes into the
//! checkpoint's manifest. What lies behind the mark of the manifest that is loaded (a torn write, an iteration that was
//! not saved) is cut off by [`Journal::open`], so a crash at any moment loses nothing that a manifest promises.
//!
//! **Durability.** `append` returns after `fdatasync`: no manifest can name bytes that the disk does not have.
//!
//! **Growth.** A full memory accepts `capacity / seen` of the samples, so after `seen` samples the file holds at most about
//! `capacity * (1 + ln(seen / capacity))` records: 3.3 times the memory after ten times its capacity. When
//! [`Journal::overwritten_share`] is too high for taste, [`Journal::create`] at another path writes the memory anew, and
//! the old file can go once a manifest with the new mark is in place. A resume into another run folder does the same.

mod error;
mod record;

pub use error::JournalError;

use super::checksum::Checksum;
use super::memory::Memory;
use record::{HEADER_LEN, Layout};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Bytes gathered before a write.
const BUFFER_BYTES: usize = 4 << 20;

/// What a manifest keeps of a memory: how far its journal counts, and the counters that are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryMark {
    /// The journal's file name, without folder.
    pub file: String,
    /// Bytes of the file that count.
    pub bytes: u64,
    /// Records in them.
    pub records: u64,
    /// Checksum of those bytes.
    pub checksum: Checksum,
    /// Samples held.
    pub size: u64,
    /// Samples seen.
    pub seen: u64,
    /// Position of the stream of replacements.
    #[serde(with = "decimal")]
    pub stream_position: u128,
}

/// The journal of one memory, open for appending.
pub struct Journal {
    path: PathBuf,
    file: File,
    layout: Layout,
    hash: Xxh3,
    bytes: u64,
    records: u64,
    buffer: Vec<u8>,
}

impl Journal {
    /// Starts a journal at `path`, replacing a file that is there. The first append writes all of `memory`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, memory: &mut Memory) -> Result<Self, JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .map_err(JournalError::io(path, "create"))?;
        let layout = Layout::of(memory);
        let mut journal = Self::at_start(path, file, layout);
        let header = layout.header();
        journal
            .file
            .write_all(&header)
            .map_err(JournalError::io(path, "write"))?;
        journal.hash.update(&header);
        journal.bytes = HEADER_LEN as u64;
        sync_parent(path)?;
        memory.mark_all_changed();
        Ok(journal)
    }

    /// Fills an empty `memory` from the journal at `path` as it was at `mark`, cuts off what lies behind, and goes on.
    ///
    /// # Errors
    /// When the file is missing, shorter than the mark, of another version or for a memory of another shape, or when its
    /// content is not what was written. The memory is then of no use; the file is as it was.
    ///
    /// # Panics
    /// When `memory` is not empty.
    pub fn open(path: &Path, mark: &MemoryMark, memory: &mut Memory) -> Result<Self, JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(JournalError::io(path, "open"))?;
        let mut journal = Self::at_start(path, file, Layout::of(memory));
        journal.replay(mark, memory)?;
        journal
            .file
            .set_len(mark.bytes)
            .map_err(JournalError::io(path, "shorten"))?;
        memory.track_changes();
        Ok(journal)
    }

    /// Fills an empty `memory` from the journal at `path` as it was at `mark`, and leaves the file alone.
    ///
    /// # Errors
    /// As [`Journal::open`].
    ///
    /// # Panics
    /// When `memory` is not empty.
    pub fn read(path: &Path, mark: &MemoryMark, memory: &mut Memory) -> Result<(), JournalError> {
        let file = File::open(path).map_err(JournalError::io(path, "open"))?;
        Self::at_start(path, file, Layout::of(memory)).replay(mark, memory)
    }

    /// Writes the rows that changed since the last append, makes them durable, and returns the new mark.
    ///
    /// # Errors
    /// When the disk is full or fails. Memory and journal are then as before; a later append writes the same rows.
    ///
    /// # Panics
    /// When `memory` has another shape than the journal's.
    pub fn append(&mut self, memory: &mut Memory) -> Result<MemoryMark, JournalError> {
        assert_eq!(self.layout, Layout::of(memory), "journal of another memory");
        let mut hash = self.hash.clone();
        match self.write_rows(memory, &mut hash) {
            Ok(bytes) => {
                self.hash = hash;
                self.bytes += bytes;
                self.records += memory.changes().len() as u64;
                memory.clear_changes();
                Ok(self.mark(memory))
            }
            Err(source) => {
                // The next append starts at the same place whether or not this succeeds.
                let _ = self.file.set_len(self.bytes);
                Err(JournalError::io(&self.path, "write")(source))
            }
        }
    }

    /// The share of records that later ones overwrote, 0 to 1.
    pub fn overwritten_share(&self, memory: &Memory) -> f64 {
        1.0 - memory.len().min(self.records as usize) as f64 / self.records.max(1) as f64
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn at_start(path: &Path, file: File, layout: Layout) -> Self {
        Self {
            path: path.to_path_buf(),
            file,
            layout,
            hash: Xxh3::new(),
            bytes: 0,
            records: 0,
            buffer: Vec::new(),
        }
    }

    fn mark(&self, memory: &Memory) -> MemoryMark {
        let name = self.path.file_name().unwrap_or_default();
        MemoryMark {
            file: name.to_string_lossy().into_owned(),
            bytes: self.bytes,
            records: self.records,
            checksum: Checksum::running(&self.hash),
            size: memory.len() as u64,
            seen: memory.seen(),
            stream_position: memory.stream_position(),
        }
    }

    /// Writes the changed rows behind the counted bytes; returns how many bytes.
    fn write_rows(&mut self, memory: &Memory, hash: &mut Xxh3) -> std::io::Result<u64> {
        self.file.seek(SeekFrom::Start(self.bytes))?;
        let mut written = 0;
        for rows in memory
            .changes()
            .chunks(self.layout.records_in(BUFFER_BYTES))
        {
            self.buffer.clear();
            for &slot in rows {
                record::encode(slot, &memory.sample(slot as usize), &mut self.buffer);
            }
            hash.update(&self.buffer);
            self.file.write_all(&self.buffer)?;
            written += self.buffer.len() as u64;
        }
        self.file.sync_data()?;
        Ok(written)
    }

    /// Reads header and records up to the mark into the memory.
    fn replay(&mut self, mark: &MemoryMark, memory: &mut Memory) -> Result<(), JournalError> {
        assert!(
            memory.is_empty() && memory.seen() == 0,
            "a journal fills an empty memory"
        );
        let path = self.path.clone();
        let damaged = |what: &str| JournalError::damaged(&path, what);
        let there = self
            .file
            .metadata()
            .map_err(JournalError::io(&path, "read"))?;
        if there.len() < mark.bytes {
            return Err(JournalError::Truncated {
                found: there.len(),
                expected: mark.bytes,
                path,
            });
        }
        self.check_header()?;
        if self.layout.bytes(mark.records) != Some(mark.bytes) {
            return Err(damaged("its length does not fit its number of records"));
        }
        self.replay_records(mark.records, memory)?;
        if Checksum::running(&self.hash) != mark.checksum {
            return Err(damaged("its checksum is not the one in the manifest"));
        }
        if memory.len() as u64 != mark.size || mark.seen < mark.size {
            return Err(damaged(
                "it does not hold the number of samples in the manifest",
            ));
        }
        memory.resume(mark.seen, mark.stream_position);
        self.bytes = mark.bytes;
        self.records = mark.records;
        Ok(())
    }

    fn replay_records(&mut self, records: u64, memory: &mut Memory) -> Result<(), JournalError> {
        let mut scratch = self.layout.scratch();
        let mut left = records;
        while left > 0 {
            let count = left.min(self.layout.records_in(BUFFER_BYTES) as u64);
            self.fill_buffer(count as usize * self.layout.record_len())?;
            for bytes in self.buffer.chunks_exact(self.layout.record_len()) {
                match record::decode(bytes, self.layout, &mut scratch) {
                    Some((slot, sample)) if slot <= memory.len() && slot < memory.capacity() => {
                        memory.put(slot, &sample);
                    }
                    _ => {
                        let what = "a record holds impossible values";
                        return Err(JournalError::damaged(&self.path, what));
                    }
                }
            }
            left -= count;
        }
        Ok(())
    }

    fn check_header(&mut self) -> Result<(), JournalError> {
        self.fill_buffer(HEADER_LEN)?;
        let found = Layout::from_header(&self.buffer, &self.path)?;
        if found != self.layout {
            return Err(JournalError::Shape {
                path: self.path.clone(),
                found: found.to_string(),
                wanted: self.layout.to_string(),
            });
        }
        Ok(())
    }

    /// Reads and hashes the next `len` bytes.
    fn fill_buffer(&mut self, len: usize) -> Result<(), JournalError> {
        self.buffer.resize(len, 0);
        self.file
            .read_exact(&mut self.buffer)
            .map_err(JournalError::io(&self.path, "read"))?;
        self.hash.update(&self.buffer);
        Ok(())
    }
}

/// Makes the file's name durable.
fn sync_parent(path: &Path) -> Result<(), JournalError> {
    #[cfg(unix)]
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(JournalError::io(folder, "sync"))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// A number too wide for JSON readers, as text.
mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| D::Error::custom(format!("`{text}` is not a stream position")))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::game::ActionSet;
    use crate::random::{Purpose, Stream};
    use crate::replay::Sample;

    #[test]
    fn a_full_disk_leaves_memory_and_journal_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("strategy.journal");
        let memory = || Memory::new(8, 2, 1, Stream::new(1, Purpose::Reservoir, 0, 0)).unwrap();
        let mut full = memory();
        let mut journal = Journal::create(&path, &mut full).unwrap();
        let mut add = |value: f32| {
            full.add(&Sample {
                info: &[value, 1.0],
                target: &[-value],
                legal: ActionSet::from_bits(1),
                iteration: 1,
                first_open: true,
            })
        };
        (0..5).for_each(|number| assert!(add(number as f32).is_some()));
        let device = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let disk = std::mem::replace(&mut journal.file, device);
        let error = journal.append(&mut full).unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert_eq!((full.len(), full.changes().len()), (5, 5));
        journal.file = disk;
        let mark = journal.append(&mut full).unwrap();
        let mut restored = memory();
        Journal::read(&path, &mark, &mut restored).unwrap();
        assert!((0..5).all(|slot| restored.sample(slot) == full.sample(slot)));
    }
}
