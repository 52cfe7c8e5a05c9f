//! Columns of fixed-width rows in memory that a tensor (or a test's vector) owns: the only `unsafe` of the replay.
//!
//! A column hands out rows below its fill mark and nothing else, so that memory which was never written is never read.

use crate::platform::prefetch_bytes;
use std::ptr::NonNull;
use tch::{Device, Kind, TchError, Tensor};

/// Rows between the one being copied and the one being fetched. Measured on 2,000,000 rows of 1.2 KB: 16 and 8 save a third
/// of the time of plain copies, 4 and 2 less; fetching whole rows is no better than their first four lines.
pub(super) const FETCH_AHEAD: usize = 16;
/// Bytes fetched of each row: four cache lines.
const FETCH_BYTES: usize = 4 * 64;

/// A row element, with the tensor kind of the same layout.
pub(super) trait Element: Copy + Send + 'static {
    /// The tensor kind whose elements are laid out as `Self`.
    const KIND: Kind;
}

impl Element for f32 {
    const KIND: Kind = Kind::Float;
}
impl Element for i32 {
    const KIND: Kind = Kind::Int;
}
impl Element for bool {
    const KIND: Kind = Kind::Bool;
}

/// `rows` rows of `width` elements, the first `filled` of them written. `owner` keeps the memory alive.
pub(super) struct Slab<T, O> {
    data: NonNull<T>,
    rows: usize,
    width: usize,
    filled: usize,
    owner: O,
}

/// A slab in the memory of one CPU tensor `[rows, width]`, or `[rows]` for single values.
pub(super) type Column<T> = Slab<T, Tensor>;

// SAFETY: the pointer refers to memory that the owner holds, and moves to the other thread with it. A tensor may have further
// handles on that memory (a batch hands out views), which are as free to cross threads as any tensor of this library;
// what they ask of their users is written at `Batch`.
unsafe impl<T: Send, O: Send> Send for Slab<T, O> {}

impl<T: Element> Column<T> {
    /// Allocates `[rows, width]` without touching it: pages cost memory once rows are written.
    pub fn allocate(rows: usize, width: usize) -> Result<Self, TchError> {
        Self::with_shape(rows, width, &[rows as i64, width as i64])
    }

    /// Allocates `[rows]` single values, untouched.
    pub fn allocate_flat(rows: usize) -> Result<Self, TchError> {
        Self::with_shape(rows, 1, &[rows as i64])
    }

    fn with_shape(rows: usize, width: usize, shape: &[i64]) -> Result<Self, TchError> {
        let owner = Tensor::f_empty(shape, (T::KIND, Device::Cpu))?;
        let data = NonNull::new(owner.data_ptr().cast::<T>()).unwrap_or(NonNull::dangling());
        advise_huge_pages(data.as_ptr().cast(), rows * width * size_of::<T>());
        // SAFETY: a fresh CPU tensor is one contiguous block of `rows * width` elements of `T`'s layout, aligned by torch
        // to 64 bytes, that lives as long as `owner` and that nothing else refers to. A tensor without elements may have
        // no memory; then no row exists.
        Ok(unsafe { Self::new(data, rows, width, owner) })
    }

    /// The pages under the column.
    pub fn pages(&self) -> Pages {
        let row_bytes = self.width * size_of::<T>();
        let start = self.data.as_ptr() as usize;
        Pages {
            start,
            end: start + self.rows * row_bytes,
            row_bytes,
            next: start.next_multiple_of(Pages::UNIT),
            _owner: self.owner.shallow_clone(),
        }
    }

    /// The whole tensor. Rows at and above the fill mark hold arbitrary bits.
    pub fn tensor(&self) -> &Tensor {
        &self.owner
    }
}

impl<T: Copy, O> Slab<T, O> {
    /// A slab over `rows * width` elements at `data`, none written yet.
    ///
    /// # Safety
    /// `data` is aligned and valid for reads and writes of `rows * width` elements as long as `owner` lives, also after
    /// `owner` moved, and nothing else writes there while a method of the slab runs or a row is borrowed.
    unsafe fn new(data: NonNull<T>, rows: usize, width: usize, owner: O) -> Self {
        Self {
            data,
            rows,
            width,
            filled: 0,
            owner,
        }
    }

    /// Rows that were written; they are the first ones.
    #[cfg(test)]
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// A written row.
    pub fn row(&self, index: usize) -> &[T] {
        assert!(index < self.filled, "row {index} was never written");
        // SAFETY: `index < filled <= rows`, so the row lies inside the block and was written; the borrow of `self` keeps
        // writers (which take `&mut self`) and the owner's end away.
        unsafe {
            std::slice::from_raw_parts(self.data.as_ptr().add(index * self.width), self.width)
        }
    }

    /// Overwrites a written row or appends the next one.
    pub fn write(&mut self, index: usize, row: &[T]) {
        assert_eq!(row.len(), self.width, "length of a replay row");
        self.reserve(index);
        // SAFETY: `reserve` checked that the row lies inside the block; `row` cannot overlap it because a borrow of a row
        // would exclude `&mut self`.
        unsafe {
            let to = self.data.as_ptr().add(index * self.width);
            std::ptr::copy_nonoverlapping(row.as_ptr(), to, self.width);
        }
    }

    /// Overwrites a written row or appends the next one, element by element.
    pub fn write_with(&mut self, index: usize, mut element: impl FnMut(usize) -> T) {
        self.reserve(index);
        for column in 0..self.width {
            let value = element(column);
            // SAFETY: `reserve` checked that the row lies inside the block, and `column < width`.
            unsafe {
                self.data
                    .as_ptr()
                    .add(index * self.width + column)
                    .write(value)
            };
        }
    }

    /// Copies the given written rows to the first rows of `out`, fetching ahead of the copy.
    pub fn gather<P>(&self, rows: &[u32], out: &mut Slab<T, P>) {
        for (to, &from) in rows.iter().enumerate() {
            if let Some(&next) = rows.get(to + FETCH_AHEAD) {
                self.prefetch(next as usize);
            }
            out.write(to, self.row(from as usize));
        }
    }

    /// Asks the processor for the first lines of a row; its own prefetcher follows from there.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        let start = self.data.as_ptr().wrapping_add(index * self.width);
        let bytes = self.width * size_of::<T>();
        prefetch_bytes(start.cast(), bytes.min(FETCH_BYTES));
    }

    /// Checks that `index` is a written row or the next one, and counts it as written.
    fn reserve(&mut self, index: usize) {
        assert!(
            index <= self.filled && index < self.rows,
            "row {index} of {} with {} written",
            self.rows,
            self.filled
        );
        self.filled = self.filled.max(index + 1);
    }
}

/// The pages of one column, to be taken into memory ahead of the first write. Keeps the column's memory alive.
pub(super) struct Pages {
    start: usize,
    end: usize,
    row_bytes: usize,
    /// Pages below this address are there.
    next: usize,
    _owner: Tensor,
}

impl Pages {
    /// A multiple of any system's page size, few enough bytes for waste not to matter.
    const UNIT: usize = 64 << 10;

    /// Bytes of the column.
    pub fn bytes(&self) -> usize {
        self.end - self.start
    }

    /// Takes the pages of the first `rows` rows, rounded up to whole huge pages, into memory, without a change to what they hold. False
    /// where the system cannot.
    pub fn populate(&mut self, rows: usize) -> bool {
        let last = self.end / Self::UNIT * Self::UNIT;
        let until = (self.start + rows * self.row_bytes).next_multiple_of(HUGE_PAGE);
        while self.next < until.min(last) {
            let piece = (self.next + 1).next_multiple_of(HUGE_PAGE).min(last) - self.next;
            if !populate(self.next, piece) {
                return false;
            }
            self.next += piece;
        }
        true
    }
}

/// Takes whole pages into memory; false where the system cannot. They belong to a live block, see [`Pages`].
fn populate(address: usize, bytes: usize) -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: the range lies inside one live allocation (`Pages` holds a handle on it); the advice changes no content, so it may run
        // beside reads and writes of the same bytes.
        let given = unsafe {
            let start = std::ptr::with_exposed_provenance_mut::<libc::c_void>(address);
            libc::madvise(start, bytes, libc::MADV_POPULATE_WRITE)
        };
        given == 0
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = (address, bytes);
        false
    }
}

/// Bytes of a huge page on x86-64, and on Arm with small pages of 4 KB.
const HUGE_PAGE: usize = 2 << 20;

/// Asks for huge pages where whole ones fit, and ignores a refusal: rows picked at random then miss the address cache once,
/// not at every column of every row, and filling takes a 500th of the page faults.
fn advise_huge_pages(start: *mut u8, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let skip = start.align_offset(HUGE_PAGE);
        let inside = bytes.saturating_sub(skip) / HUGE_PAGE * HUGE_PAGE;
        if inside > 0 {
            // SAFETY: the range lies inside one live allocation and starts on a page; the advice changes no content.
            unsafe { libc::madvise(start.add(skip).cast(), inside, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slab in a vector's memory: no tensor, so Miri can watch it.
    fn slab(rows: usize, width: usize) -> Slab<f32, Vec<f32>> {
        let mut owner = Vec::with_capacity(rows * width);
        let data = NonNull::new(owner.as_mut_ptr()).unwrap();
        // SAFETY: the vector's block holds `rows * width` elements, is never touched through the vector again, and does
        // not move with it.
        unsafe { Slab::new(data, rows, width, owner) }
    }

    #[test]
    fn rows_are_what_was_written_last() {
        let mut slab = slab(3, 2);
        slab.write(0, &[1.0, f32::NAN]);
        slab.write_with(1, |column| column as f32);
        slab.write(2, &[5.0, 6.0]);
        slab.write(1, &[7.0, 8.0]);
        assert_eq!(slab.filled(), 3);
        assert!(slab.row(0)[1].is_nan());
        assert_eq!(
            (slab.row(1), slab.row(2)),
            (&[7.0, 8.0][..], &[5.0, 6.0][..])
        );
    }

    #[test]
    fn gathers_rows_in_the_order_asked_for_on_another_thread() {
        let mut from = slab(40, 3);
        for row in 0..40 {
            from.write_with(row, |column| (row * 3 + column) as f32);
        }
        let gathered = std::thread::spawn(move || {
            let mut to = slab(20, 3);
            let rows: Vec<u32> = (0..20).map(|i| i * 7 % 40).collect();
            from.gather(&rows, &mut to);
            rows.iter()
                .enumerate()
                .all(|(to_row, &row)| to.row(to_row)[2] == (row * 3 + 2) as f32)
        });
        assert!(gathered.join().unwrap());
    }

    #[test]
    #[should_panic(expected = "never written")]
    fn a_row_that_was_not_written_is_refused() {
        slab(3, 2).row(0);
    }

    #[test]
    #[should_panic(expected = "row 2 of 3 with 0 written")]
    fn a_gap_is_refused() {
        slab(3, 2).write(2, &[0.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "row 3 of 3")]
    fn a_row_past_the_end_is_refused() {
        let mut slab = slab(3, 2);
        for row in 0..4 {
            slab.write(row, &[0.0, 0.0]);
        }
    }

    #[test]
    #[should_panic(expected = "length of a replay row")]
    fn a_row_of_another_length_is_refused() {
        slab(3, 2).write(0, &[0.0]);
    }
}
