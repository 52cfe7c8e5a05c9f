//! The bytes of a journal: its header and its records, little-endian.

use super::JournalError;
use crate::game::ActionSet;
use crate::replay::memory::{Memory, Sample};
use std::fmt;
use std::path::Path;

const MAGIC: &[u8; 8] = b"coorlrpl";
const VERSION: u32 = 1;
/// Bytes before the first record.
pub(super) const HEADER_LEN: usize = 32;
/// Bytes of a record before its values.
const RECORD_HEAD: usize = 28;
const FIRST_OPEN: u32 = 1;

/// The shape of a memory, which fixes the length of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    info_len: usize,
    actions: usize,
    capacity: usize,
}

impl Layout {
    pub fn of(memory: &Memory) -> Self {
        Self {
            info_len: memory.info_len(),
            actions: memory.actions(),
            capacity: memory.capacity(),
        }
    }

    pub fn header(self) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        // Rows longer than 4 GiB and larger memories do not exist.
        header[12..16].copy_from_slice(&(self.info_len as u32).to_le_bytes());
        header[16..20].copy_from_slice(&(self.actions as u32).to_le_bytes());
        header[24..32].copy_from_slice(&(self.capacity as u64).to_le_bytes());
        header
    }

    pub fn from_header(header: &[u8], path: &Path) -> Result<Self, JournalError> {
        let mut fields = Fields(header);
        let magic = fields.take::<8>();
        let version = u32::from_le_bytes(fields.take());
        if &magic != MAGIC || version != VERSION {
            let found = if &magic == MAGIC {
                format!("version {version}, not {VERSION}")
            } else {
                "its first bytes are something else".to_owned()
            };
            let path = path.to_path_buf();
            return Err(JournalError::Version { path, found });
        }
        let info_len = u32::from_le_bytes(fields.take()) as usize;
        let actions = u32::from_le_bytes(fields.take()) as usize;
        fields.take::<4>();
        Ok(Self {
            info_len,
            actions,
            capacity: u64::from_le_bytes(fields.take()) as usize,
        })
    }

    /// Bytes of a record.
    pub fn record_len(self) -> usize {
        RECORD_HEAD + 4 * (self.info_len + self.actions)
    }

    /// Bytes of a file with so many records.
    pub fn bytes(self, records: u64) -> Option<u64> {
        (self.record_len() as u64)
            .checked_mul(records)?
            .checked_add(HEADER_LEN as u64)
    }

    /// Records that fit `bytes`, at least one.
    pub fn records_in(self, bytes: usize) -> usize {
        (bytes / self.record_len()).max(1)
    }

    /// Room for the values of a record.
    pub fn scratch(self) -> Vec<f32> {
        vec![0.0; self.info_len + self.actions]
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} samples of {} inputs and {} actions",
            self.capacity, self.info_len, self.actions
        )
    }
}

/// Appends a record to `out`.
pub(super) fn encode(slot: u32, sample: &Sample<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&slot.to_le_bytes());
    out.extend_from_slice(&sample.iteration.to_le_bytes());
    out.extend_from_slice(&sample.legal.bits().to_le_bytes());
    let flags = if sample.first_open { FIRST_OPEN } else { 0 };
    out.extend_from_slice(&flags.to_le_bytes());
    for values in [sample.info, sample.target] {
        let start = out.len();
        out.resize(start + 4 * values.len(), 0);
        for (bytes, value) in out[start..].chunks_exact_mut(4).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// Reads a record; `None` when it holds what no memory of this layout could have written.
pub(super) fn decode<'a>(
    bytes: &[u8],
    layout: Layout,
    scratch: &'a mut [f32],
) -> Option<(usize, Sample<'a>)> {
    let mut fields = Fields(bytes);
    let slot = u32::from_le_bytes(fields.take());
    let iteration = u32::from_le_bytes(fields.take());
    let legal = u128::from_le_bytes(fields.take());
    let flags = u32::from_le_bytes(fields.take());
    for (value, bytes) in scratch.iter_mut().zip(fields.0.chunks_exact(4)) {
        *value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let possible = i32::try_from(iteration).is_ok()
        && flags & !FIRST_OPEN == 0
        && legal.checked_shr(layout.actions as u32).unwrap_or(0) == 0;
    let (info, target) = scratch.split_at(layout.info_len);
    possible.then_some((
        slot as usize,
        Sample {
            info,
            target,
            legal: ActionSet::from_bits(legal),
            iteration,
            first_open: flags & FIRST_OPEN != 0,
        },
    ))
}

/// Fixed-size pieces from the front of a slice that is long enough.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (piece, rest) = self.0.split_at(N);
        self.0 = rest;
        let mut bytes = [0; N];
        bytes.copy_from_slice(piece);
        bytes
    }
}
