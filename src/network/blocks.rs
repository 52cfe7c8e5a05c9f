//! Rows by colour: where the blocks of a row lie, as views where they can be.

use super::{ArchitectureError, TensorError};
use crate::encoding::ColorLayout;
use crate::platform::transfers::{Waiting, to_device};
use std::sync::{Arc, Mutex, PoisonError};
use tch::{Device, Tensor};

/// A row of so many numbers for each colour, and some common ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The number of colours; 0 where no number is by colour.
    pub colors: usize,
    /// Numbers of each colour.
    pub block: usize,
    /// Numbers of no colour.
    pub common: usize,
    /// Where the arranged row, all blocks and then the common numbers, takes its numbers from. `None`: the row is arranged as it is.
    order: Option<Order>,
}

/// An order of the numbers of a row.
#[derive(Clone, Debug)]
struct Order {
    /// Where each number comes from.
    from: Vec<usize>,
    /// The same as an index, and the index that undoes it, by device: brought to each once, not with every call.
    indices: Arc<Mutex<Vec<(Device, Indices)>>>,
}

#[derive(Debug)]
struct Indices {
    arranging: Tensor,
    restoring: Tensor,
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.from == other.from
    }
}

impl Eq for Order {}

impl Order {
    fn new(from: Vec<usize>) -> Self {
        Self {
            from,
            indices: Arc::default(),
        }
    }

    /// The numbers of `rows` as `index` picks them.
    fn select(&self, rows: &Tensor, index: fn(&Indices) -> &Tensor) -> Result<Tensor, TensorError> {
        let device = rows.device();
        let mut indices = self.indices.lock().unwrap_or_else(PoisonError::into_inner);
        let known = indices.iter().position(|(known, _)| *known == device);
        let place = match known {
            Some(place) => place,
            None => {
                indices.push((device, self.indices_on(device)?));
                indices.len() - 1
            }
        };
        let index = index(&indices[place].1).shallow_clone();
        drop(indices);
        Ok(rows.f_index_select(1, &index)?)
    }

    fn indices_on(&self, device: Device) -> Result<Indices, TensorError> {
        let mut places = vec![0; self.from.len()];
        for (place, &index) in self.from.iter().enumerate() {
            places[index] = place as i64;
        }
        let from: Vec<i64> = self.from.iter().map(|&index| index as i64).collect();
        let there = |values: &[i64]| -> Result<Tensor, TensorError> {
            let values = Tensor::f_from_slice(values)?;
            match device {
                Device::Cpu => Ok(values),
                device => Ok(to_device(&values, device, Waiting::Blocking)?),
            }
        };
        Ok(Indices {
            arranging: there(&from)?,
            restoring: there(&places)?,
        })
    }
}

impl Blocks {
    /// The blocks of an info state of `inputs` numbers.
    ///
    /// # Errors
    /// A layout without colours or common values, or of another length.
    pub(super) fn of_info(layout: &ColorLayout, inputs: usize) -> Result<Self, ArchitectureError> {
        let what = "the info state";
        let blocks = Self::new(what, &layout.info, &layout.common, inputs)?;
        let empty = match &blocks {
            Self { block: 0, .. } => "no number is by colour",
            Self { common: 0, .. } => "every number is by colour",
            _ => return Ok(blocks),
        };
        Err(refused(what, inputs, empty))
    }

    /// The blocks of an answer of `outputs` numbers.
    ///
    /// # Errors
    /// A layout of another length.
    pub(super) fn of_answer(
        layout: &ColorLayout,
        outputs: usize,
    ) -> Result<Self, ArchitectureError> {
        let what = "the answer";
        let blocks = Self::new(what, &layout.actions, &layout.common_actions, outputs)?;
        if blocks.block > 0 && blocks.colors != layout.colors() {
            return Err(refused(
                what,
                outputs,
                "the info state has another number of colours",
            ));
        }
        Ok(blocks)
    }

    fn new(
        what: &'static str,
        colors: &[Vec<usize>],
        common: &[usize],
        length: usize,
    ) -> Result<Self, ArchitectureError> {
        let block = colors.first().map_or(0, Vec::len);
        if colors.iter().any(|indices| indices.len() != block) {
            return Err(refused(what, length, "the blocks differ in length"));
        }
        let order: Vec<usize> = colors.iter().flatten().chain(common).copied().collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..length) {
            return Err(refused(what, length, "they do not name each of them once"));
        }
        Ok(Self {
            colors: if block == 0 { 0 } else { colors.len() },
            block,
            common: common.len(),
            order: (!order.iter().copied().eq(0..length)).then(|| Order::new(order)),
        })
    }

    /// Numbers in a row.
    pub(super) fn len(&self) -> usize {
        self.colors * self.block + self.common
    }

    /// Where an arranged row takes its numbers from; `None` where rows are arranged as they are.
    pub(super) fn order(&self) -> Option<&[usize]> {
        self.order.as_ref().map(|order| order.from.as_slice())
    }

    /// Rows (`[batch, len]`) arranged: all blocks, then the common numbers.
    ///
    /// # Errors
    /// Rows of another length, and failures of the device.
    pub(super) fn arranged(&self, rows: &Tensor) -> Result<Tensor, TensorError> {
        let (length, size) = (self.len(), rows.size());
        if size.len() != 2 || size[1] != length as i64 {
            return Err(TensorError::new(format!(
                "rows of shape {size:?} where [batch, {length}] belong"
            )));
        }
        match &self.order {
            None => Ok(rows.shallow_clone()),
            Some(order) => order.select(rows, |indices| &indices.arranging),
        }
    }

    /// Arranged rows (`[batch, len]`) in their own order: what [`Blocks::arranged`] undoes.
    pub(super) fn restored(&self, arranged: Tensor) -> Result<Tensor, TensorError> {
        match &self.order {
            None => Ok(arranged),
            Some(order) => order.select(&arranged, |indices| &indices.restoring),
        }
    }

    /// The blocks of arranged rows, `[batch, colors, block]`, a view.
    pub(super) fn of(&self, arranged: &Tensor) -> Result<Tensor, TensorError> {
        let (colors, block) = (self.colors as i64, self.block as i64);
        let blocks = arranged.f_narrow(1, 0, colors * block)?;
        Ok(blocks.f_view([-1, colors, block])?)
    }

    /// The common numbers of arranged rows, `[batch, common]`, a view.
    pub(super) fn common_of(&self, arranged: &Tensor) -> Result<Tensor, TensorError> {
        let start = (self.colors * self.block) as i64;
        Ok(arranged.f_narrow(1, start, self.common as i64)?)
    }
}

fn refused(what: &'static str, length: usize, why: &'static str) -> ArchitectureError {
    ArchitectureError::Colors { what, length, why }
}
