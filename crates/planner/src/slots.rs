//! Where a column lies among those of a row, asked many times.
//!
//! Promise: the first place of a column, as a search from the left finds it. A row of a few columns, or one that is asked
//! a few times, is searched; a wide one that is asked often has a table, so that an expression of a thousand columns over
//! a row of a thousand takes some thousand steps and not a million.

use std::collections::HashMap;

use ir::ColId;

/// Columns that are searched however often they are asked.
const FEW: usize = 64;
/// Questions before a table pays.
const ASKED: usize = 16;

/// See the file's first lines.
pub(crate) struct Slots<'c> {
    cols: &'c [ColId],
    asked: usize,
    table: HashMap<ColId, usize>,
}

impl<'c> Slots<'c> {
    pub fn new(cols: &'c [ColId]) -> Slots<'c> {
        Slots { cols, asked: 0, table: HashMap::new() }
    }

    /// The columns themselves.
    pub fn cols(&self) -> &'c [ColId] {
        self.cols
    }

    /// The place of a column, if it is there.
    pub fn of(&mut self, id: ColId) -> Option<usize> {
        if self.cols.len() <= FEW || self.asked < ASKED {
            self.asked += 1;
            return self.cols.iter().position(|col| *col == id);
        }
        if self.table.is_empty() {
            for (slot, col) in self.cols.iter().enumerate() {
                self.table.entry(*col).or_insert(slot);
            }
        }
        self.table.get(&id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_finds_what_a_search_finds() {
        // Every column twice: the first place counts.
        let cols: Vec<ColId> = (0..200).map(|i| ColId(i % 100)).collect();
        let mut slots = Slots::new(&cols);
        for asked in (0..3).flat_map(|_| 0..120) {
            let wanted = (asked < 100).then_some(asked as usize);
            assert_eq!(slots.of(ColId(asked)), wanted);
        }
        assert!(!slots.table.is_empty());
        let mut few = Slots::new(&cols[..3]);
        assert_eq!((0..50).filter_map(|id| few.of(ColId(id))).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(few.table.is_empty());
    }
}
