//! What a journal asks of a memory.

use super::Memory;
use crate::replay::slot_set::Noted;

impl Memory {
    /// Notes from now on which slots change, for a journal.
    pub(in crate::replay) fn track_changes(&mut self) {
        self.changes = Some(Noted::default());
    }

    /// Counts every held sample as changed.
    pub(in crate::replay) fn mark_all_changed(&mut self) {
        let mut all = Noted::default();
        for slot in 0..self.size {
            all.insert(slot as u32);
        }
        self.changes = Some(all);
    }

    /// The slots changed since tracking began or was last cleared, in the order of their first change.
    pub(in crate::replay) fn changes(&self) -> &[u32] {
        self.changes.as_ref().map_or(&[], |changes| changes.slots())
    }

    pub(in crate::replay) fn clear_changes(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.clear();
        }
    }

    /// Takes up a saved memory's counters once its rows are in place.
    pub(in crate::replay) fn resume(&mut self, seen: u64, stream_position: u128) {
        self.seen = seen;
        self.stream.seek(stream_position);
    }
}
