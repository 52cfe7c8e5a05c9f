//! A memory's columns once more, on the device that fits to them.
//!
//! ```text
//! Memory::add --> host columns (the truth: journals, checkpoints, repeated info states)
//!                    | new rows in blocks, replaced rows by number
//!                    v
//!                 Mirror on the device --index_select--> minibatch        slot numbers are all that crosses in a fit
//! ```
//!
//! Whatever goes wrong with the mirror, the host still has every sample: a memory that loses its mirror goes on without one. That costs the
//! host's memory for the same rows once more, which the host has in any case wherever contents are saved.

use super::device_batch::{DeviceBatch, uploaded};
use super::memory::{Columns, MemoryError};
use super::minibatch::Batch;
use super::slot_set::Noted;
use crate::network::TensorError;
use crate::platform::transfers::{Direction, counted};
use std::cell::Cell;
use tch::{Device, Kind, TchError, Tensor};

/// Rows that are copied at a time: 10 MB in the default encoding.
const BLOCK: usize = 8_192;

/// Failures to order, for tests: the operation of that number on a mirror and all later ones fail.
#[derive(Clone, Debug, Default)]
pub struct Faults(Cell<Option<u32>>);

impl Faults {
    /// Everything works but for what really fails.
    pub fn none() -> Self {
        Self::default()
    }

    /// The operation `number` (from 0: the allocation, then every block copied and every minibatch gathered) fails, as do those after it.
    pub fn from_operation(number: u32) -> Self {
        Self(Cell::new(Some(number)))
    }

    fn pass(&self) -> Result<(), TensorError> {
        match self.0.get() {
            None => Ok(()),
            Some(0) => Err(TensorError::new("out of memory, as ordered")),
            Some(left) => {
                self.0.set(Some(left - 1));
                Ok(())
            }
        }
    }
}

/// Rows on the device, `[capacity, ...]` as those of the memory.
pub(super) struct Mirror {
    device: Device,
    info: Tensor,
    target: Tensor,
    legal: Tensor,
    iteration: Tensor,
    /// The memory's first so many slots are here, but for those in `replaced`.
    filled: usize,
    replaced: Noted,
    /// Replaced rows on their way.
    staging: Option<Columns>,
    faults: Faults,
}

impl Mirror {
    /// Room for `capacity` rows on `device`, all of it taken at once.
    pub fn new(
        device: Device,
        capacity: usize,
        info_len: usize,
        actions: usize,
        faults: Faults,
    ) -> Result<Self, TensorError> {
        faults.pass()?;
        let (rows, info_len, actions) = (capacity as i64, info_len as i64, actions as i64);
        Ok(Self {
            device,
            info: Tensor::f_empty([rows, info_len], (Kind::Float, device))?,
            target: Tensor::f_empty([rows, actions], (Kind::Float, device))?,
            legal: Tensor::f_empty([rows, actions], (Kind::Bool, device))?,
            iteration: Tensor::f_empty([rows], (Kind::Int, device))?,
            filled: 0,
            replaced: Noted::default(),
            staging: None,
            faults,
        })
    }

    /// Where it is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Notes that the row of `slot` has changed. A row that is not here yet comes with the others.
    #[inline]
    pub fn changed(&mut self, slot: usize) {
        if slot < self.filled {
            self.replaced.insert(slot as u32);
        }
    }

    /// Whether a memory of `len` rows has a block's worth that is not here.
    #[inline]
    pub fn is_behind(&self, len: usize) -> bool {
        len - self.filled + self.replaced.slots().len() >= BLOCK
    }

    /// Forgets every row.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.replaced.clear();
    }

    /// Copies what changed among the first `len` rows of `host`.
    pub fn follow(&mut self, host: &Columns, len: usize) -> Result<(), TensorError> {
        while self.filled < len {
            let rows = BLOCK.min(len - self.filled);
            self.faults.pass()?;
            self.append(host, rows)?;
            self.filled += rows;
        }
        if !self.replaced.slots().is_empty() {
            let slots: Vec<u32> = self.replaced.slots().to_vec();
            for slots in slots.chunks(BLOCK) {
                self.faults.pass()?;
                self.replace(host, slots)?;
            }
            self.replaced.clear();
        }
        Ok(())
    }

    /// Copies the next `rows` rows, which lie side by side here and there.
    fn append(&mut self, host: &Columns, rows: usize) -> Result<(), TensorError> {
        let (start, rows) = (self.filled as i64, rows as i64);
        let copy = |from: &Tensor, to: &Tensor| -> Result<(), TchError> {
            let mut to = to.f_narrow(0, start, rows)?;
            let from = from.f_narrow(0, start, rows)?;
            let bytes = from.numel() * from.kind().elt_size_in_bytes();
            counted(Direction::ToDevice, bytes as u64, || to.f_copy_(&from))
        };
        copy(host.info.tensor(), &self.info)?;
        copy(host.target.tensor(), &self.target)?;
        copy(host.legal.tensor(), &self.legal)?;
        copy(host.iteration.tensor(), &self.iteration)?;
        Ok(())
    }

    /// Copies the rows of at most a block of `slots`.
    fn replace(&mut self, host: &Columns, slots: &[u32]) -> Result<(), TensorError> {
        let staging = match &mut self.staging {
            Some(staging) => staging,
            none => {
                let (info_len, actions) = (self.info.size()[1], self.target.size()[1]);
                let rows = Columns::allocate(BLOCK, info_len as usize, actions as usize);
                none.insert(rows.map_err(|error: MemoryError| TensorError::new(error.to_string()))?)
            }
        };
        host.info.gather(slots, &mut staging.info);
        host.target.gather(slots, &mut staging.target);
        host.legal.gather(slots, &mut staging.legal);
        host.iteration.gather(slots, &mut staging.iteration);
        let (index, device) = (slot_numbers(&[slots])?.f_to_kind(Kind::Int64)?, self.device);
        let index = uploaded(&index, device)?;
        let rows = slots.len() as i64;
        let copy = |from: &Tensor, to: &mut Tensor| -> Result<(), TchError> {
            let from = uploaded(&from.f_narrow(0, 0, rows)?, device)?;
            to.f_index_copy_(0, &index, &from).map(drop)
        };
        copy(staging.info.tensor(), &mut self.info)?;
        copy(staging.target.tensor(), &mut self.target)?;
        copy(staging.legal.tensor(), &mut self.legal)?;
        copy(staging.iteration.tensor(), &mut self.iteration)?;
        Ok(())
    }

    /// The rows drawn in `batch`, whose repeated info states are found if it wants them found. One copy of slot numbers, and no other.
    pub fn gather(&self, batch: &Batch) -> Result<DeviceBatch, TensorError> {
        self.faults.pass()?;
        let drawn = batch.slots();
        let (rows, device) = (drawn.len() as i64, self.device);
        let Some((infos, of)) = batch.distinct_infos() else {
            let slots = uploaded(&slot_numbers(&[drawn])?, device)?;
            return self.select(&slots, &slots, None);
        };
        let numbers = uploaded(&slot_numbers(&[drawn, of, infos])?, device)?;
        let part = |start: i64, len: i64| numbers.f_narrow(0, start, len);
        let (slots, of) = (part(0, rows)?, part(rows, rows)?);
        let infos = part(2 * rows, infos.len() as i64)?;
        self.select(&slots, &infos, Some(of))
    }

    fn select(
        &self,
        slots: &Tensor,
        infos: &Tensor,
        info_of: Option<Tensor>,
    ) -> Result<DeviceBatch, TensorError> {
        let of = |column: &Tensor, slots: &Tensor| column.f_index_select(0, slots);
        Ok(DeviceBatch {
            info: of(&self.info, infos)?,
            info_of,
            target: of(&self.target, slots)?,
            legal: of(&self.legal, slots)?,
            iteration: of(&self.iteration, slots)?,
        })
    }
}

/// Numbers, list after list, as one i32 tensor; none is beyond 31 bits, since no memory has so many rows.
fn slot_numbers(lists: &[&[u32]]) -> Result<Tensor, TchError> {
    match lists {
        [only] => Tensor::f_from_slice(bytemuck::cast_slice::<u32, i32>(only)),
        _ => Tensor::f_from_slice(bytemuck::cast_slice::<u32, i32>(&lists.concat())),
    }
}
