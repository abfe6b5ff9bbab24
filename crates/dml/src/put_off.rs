//! Changes of entries that are put off, so that those of many rows are made in the order of their keys: each leaf of an
//! index is then come to once, and not for each row anew.
//!
//! Promises: the entries are, when the statement ends, those that would have been written row by row, and of one key what
//! goes goes before what comes. A statement of few rows puts nothing off. Nor is anything put off where somebody may look
//! before the statement ends: a function of the user's, IGNORE_DUP_KEY, and whoever looks through an index for what
//! foreign keys are about (`foreign.rs`: write first, then look), which holds for both sides and other transactions.
//!
//! Readers notice nothing: until the transaction ends they go by what was committed before, or wait for it at the row.

use crate::index::IndexWriter;
use crate::upkeep::Upkeep;
use catalog::TableDef;
use executor::{Cx, SqlError};
use runtime::task::{self, Breath};
use std::ops::Range;

/// So many changes of rows come first whose entries are written at once.
const FIRST: usize = 64;

/// Bytes that are put off at most.
const BYTES_MAX: usize = 32 << 20;

/// What the change of an entry counts for: a microsecond.
const ENTRY_STEPS: usize = 16;

/// What happens to an entry; of one key in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum What {
    Goes,
    /// What is stored under the key.
    Changes,
    Comes,
}

/// Changes of one index's entries.
#[derive(Default)]
pub(crate) struct Pending {
    /// Keys, each with the row behind it.
    bytes: Vec<u8>,
    changes: Vec<Change>,
}

struct Change {
    /// The key's first bytes as a number that compares as they do.
    head: u64,
    at: usize,
    key_len: u16,
    row_len: u16,
    what: What,
}

/// What a statement has put off.
#[derive(Default)]
pub(crate) struct PutOff {
    /// Changes of rows so far, up to [`FIRST`].
    rows: usize,
    /// Of each index of the [`Upkeep`]: whether its entries are written at once all the same.
    at_once: Vec<bool>,
    pending: Vec<Pending>,
    /// Memory that is accounted for.
    held: usize,
}

impl Pending {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn push(&mut self, what: What, key: &[u8], row: &[u8]) {
        let mut head = [0; 8];
        let len = key.len().min(8);
        head[..len].copy_from_slice(&key[..len]);
        self.changes.push(Change {
            head: u64::from_be_bytes(head),
            at: self.bytes.len(),
            key_len: key.len() as u16,
            row_len: row.len() as u16,
            what,
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(row);
    }

    /// Memory for one.
    pub fn bytes_of(key: &[u8], row: &[u8]) -> usize {
        key.len() + row.len() + size_of::<Change>()
    }

    fn bytes(&self) -> usize {
        self.bytes.len() + self.changes.len() * size_of::<Change>()
    }

    /// Makes the changes, in the order of keys; nothing is left.
    pub fn write(
        &mut self,
        writer: &mut IndexWriter,
        table: &TableDef,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let Pending { bytes, changes } = self;
        task::sort_by(changes, |a, b| {
            let rest = || bytes[a.key()].cmp(&bytes[b.key()]).then(a.what.cmp(&b.what));
            a.head.cmp(&b.head).then_with(rest)
        })?;
        let mut breath = Breath::new();
        for change in changes.iter() {
            breath.steps(ENTRY_STEPS)?;
            let (key, row) = (&bytes[change.key()], &bytes[change.row()]);
            match change.what {
                What::Goes => writer.delete_near(table, key, cx)?,
                What::Changes => writer.update_near(table, key, row, cx)?,
                What::Comes => writer.insert_near(table, key, row, cx)?,
            }
        }
        bytes.clear();
        changes.clear();
        Ok(())
    }
}

impl Change {
    fn key(&self) -> Range<usize> {
        self.at..self.at + usize::from(self.key_len)
    }

    fn row(&self) -> Range<usize> {
        let at = self.key().end;
        at..at + usize::from(self.row_len)
    }
}

impl PutOff {
    /// Whether changes of the index's entries are put off by now.
    #[inline]
    pub fn takes(&self, index: usize) -> bool {
        self.rows > FIRST && !self.at_once[index]
    }

    #[inline]
    pub fn push(&mut self, index: usize, what: What, key: &[u8], row: &[u8]) {
        self.pending[index].push(what, key, row);
    }
}

impl Upkeep {
    /// From here to the end of the statement, which sees to [`Upkeep::finish`], entries may be written later than their
    /// rows, or may not.
    pub fn may_put_off(&mut self, may: bool) {
        let may = may && !self.indexes.is_empty() && !self.ignores && self.runs_no_program();
        self.put_off = may.then(PutOff::default);
    }

    /// A row's entries are about to change.
    #[inline]
    pub(crate) fn begin_row(&mut self, table: &TableDef) {
        let Some(put_off) = &mut self.put_off else { return };
        if put_off.rows > FIRST {
            return;
        }
        put_off.rows += 1;
        if put_off.rows > FIRST {
            let columns = |writer: &IndexWriter| &table.indexes[writer.at].columns;
            let at_once = |writer| self.foreign.look_through(columns(writer));
            put_off.at_once = self.indexes.iter().map(at_once).collect();
            put_off.pending.resize_with(self.indexes.len(), Pending::default);
        }
    }

    /// They have, or are to: when there is no room for more, what was put off is written.
    #[inline]
    pub(crate) fn end_row(&mut self, table: &TableDef, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Some(put_off) = &mut self.put_off else { return Ok(()) };
        if put_off.rows <= FIRST {
            return Ok(());
        }
        let bytes: usize = put_off.pending.iter().map(Pending::bytes).sum();
        if bytes <= put_off.held {
            return Ok(());
        }
        if bytes <= BYTES_MAX && cx.try_hold(bytes - put_off.held)? {
            put_off.held = bytes;
            return Ok(());
        }
        self.write_put_off(table, cx)
    }

    /// Writes what was put off.
    pub(crate) fn write_put_off(
        &mut self,
        table: &TableDef,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let Some(put_off) = &mut self.put_off else { return Ok(()) };
        for (writer, pending) in self.indexes.iter_mut().zip(&mut put_off.pending) {
            if !pending.is_empty() {
                pending.write(writer, table, cx)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_key_what_goes_goes_first() {
        let mut order = [What::Comes, What::Goes, What::Changes];
        order.sort_unstable();
        assert_eq!(order, [What::Goes, What::Changes, What::Comes]);
    }
}
