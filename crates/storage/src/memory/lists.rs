//! Rows in lists: of those to be cleaned (`clean.rs`), and of those that the tree beside lacks (`unwritten.rs`).

use crate::memory::row::Row;
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use stdx::{CachePadded, fetch};

/// A row in a list.
pub(crate) struct Listed(*const Row);

// SAFETY: a row is shared memory; who takes it out of a list may free it.
unsafe impl Send for Listed {}

impl Listed {
    pub fn of(row: &Row) -> Listed {
        Listed(row)
    }

    /// It will be looked at soon.
    #[inline]
    pub fn fetch(&self) {
        fetch(self.0);
    }

    /// # Safety
    /// The row lives.
    pub unsafe fn row(&self) -> &Row {
        // SAFETY: the caller's promise.
        unsafe { &*self.0 }
    }
}

/// Rows of one transaction that are about to be listed: their bits say that they are (`listed.rs`), so whoever holds this
/// gives them to [`Table::put_into_lists`](crate::memory::Table::put_into_lists), whatever happens.
#[derive(Default)]
pub struct RowsToList(pub(super) Vec<Listed>);

/// Rows that the tree beside lacks: a list for each slot.
pub(crate) struct Unwritten(Box<[CachePadded<Mutex<Vec<Listed>>>]>);

impl Default for Unwritten {
    fn default() -> Self {
        Unwritten((0..MAX_SLOTS).map(|_| CachePadded::default()).collect())
    }
}

impl Unwritten {
    pub fn push(&self, row: Listed) {
        self.0[slot()].lock().push(row);
    }

    /// All of `rows`, which is empty then.
    pub fn append(&self, rows: &mut Vec<Listed>) {
        self.0[slot()].lock().append(rows);
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.iter().map(|list| list.lock().len()).sum()
    }

    /// All of them.
    pub fn take(&self) -> Vec<Listed> {
        let mut rows = Vec::new();
        for list in &self.0 {
            rows.append(&mut list.lock());
        }
        rows
    }
}
