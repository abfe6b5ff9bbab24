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
use catalog::TableDef;
use executor::{Cx, SqlError};
use runtime::task::{self, Breath};
use std::ops::Range;

/// So many changes of rows come first whose entries are written at once.
pub(crate) const FIRST: usize = 64;

/// Bytes that are put off at most.
pub(crate) const BYTES_MAX: usize = 32 << 20;

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
    pub rows: usize,
    /// Of each index that is kept up: whether its entries are written at once all the same.
    pub at_once: Vec<bool>,
    pub pending: Vec<Pending>,
    /// Memory that is accounted for.
    pub held: usize,
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

    /// Memory for all.
    pub fn bytes(&self) -> usize {
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
