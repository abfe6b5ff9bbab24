//! Reading a range of a tree in key order, a leaf at a time, as the isolation level has it: by a snapshot, by locks (`locking.rs`), or as it is.

use crate::locking::{Reads, Walk};
use crate::memory::MemoryScan;
use crate::{EngineError, ReadOptions, Tree, Txn};
use log_manager::Lsn;
use mvcc::Stamp;
use std::ops::Bound;

/// A scan in progress. Owns its position and buffers, so any number may be open in a transaction; the transaction is
/// handed to each step. By versions, it reads as of the snapshot of the statement that began it.
pub struct Scan {
    /// Of a memory tree; then most of the rest means nothing.
    pub(crate) memory: Option<Box<MemoryScan>>,
    pub(crate) inner: storage::Scan,
    pub(crate) tree: Tree,
    pub(crate) reads: Reads,
    pub(crate) options: ReadOptions,
    pub(crate) reverse: bool,
    pub(crate) snapshot: Lsn,
    /// Of a scan of gaps: where its range ends. The walk below goes on to the next key.
    pub(crate) upper: Bound<Vec<u8>>,
    pub(crate) walk: Walk,
    pub(crate) key: Vec<u8>,
    pub(crate) row: Vec<u8>,
    pub(crate) spots: Vec<Spot>,
}

/// Where a stored row lies in the bytes that it is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub at: u32,
    pub len: u32,
}

impl Spot {
    /// The row.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.at as usize..][..self.len as usize]
    }

    fn whole(row: &[u8]) -> Spot {
        Spot { at: 0, len: row.len() as u32 }
    }
}

/// Rows in memory that [`Scan::visit_leaf`] is done with in a call.
const MEMORY_ROWS: usize = 128;

/// What to do with a row that the scan has met.
enum Take {
    InPlace,
    Older,
    Skip,
}

impl Scan {
    /// The next visible row as (key, row), or `None` at the end. Yields by itself when its quantum is over.
    #[allow(clippy::should_implement_trait, clippy::type_complexity, reason = "a lending iterator")]
    pub fn next<'a>(
        &'a mut self,
        txn: &mut Txn,
    ) -> Result<Option<(&'a [u8], &'a [u8])>, EngineError> {
        if self.memory.is_some() {
            return self.next_in_memory(txn);
        }
        let found = match self.reads {
            Reads::Dirty | Reads::Versions => self.next_seen(txn)?,
            Reads::Newest => {
                let waiting = txn.wait_as(self.options.no_wait);
                let found = self.next_newest(txn);
                txn.no_wait = waiting;
                found?
            }
            Reads::Locked { mode, keep, gaps } => {
                let waiting = txn.wait_as(self.options.no_wait);
                let found = self.next_locked(txn, mode, keep, gaps);
                txn.no_wait = waiting;
                found?
            }
        };
        Ok(found.then_some((&self.key[..], &self.row[..])))
    }

    #[allow(clippy::type_complexity, reason = "as above")]
    fn next_in_memory<'a>(
        &'a mut self,
        txn: &mut Txn,
    ) -> Result<Option<(&'a [u8], &'a [u8])>, EngineError> {
        let Some(memory) = &mut self.memory else { return Ok(None) };
        Ok(memory.advance(txn)?.then(|| memory.current()))
    }

    /// Whether [`Scan::visit`] can be called: rows are not locked.
    pub fn can_visit(&self) -> bool {
        matches!(self.reads, Reads::Dirty | Reads::Versions)
    }

    /// Shows the visible rows from here on to `each` as (key, row), where they lie, until it says `false`. `Ok(false)`
    /// at the end of the range. Yields by itself between rows. Only where [`Scan::can_visit`].
    #[inline]
    pub fn visit(
        &mut self,
        txn: &mut Txn,
        mut each: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<bool, EngineError> {
        if let Some(memory) = &mut self.memory {
            while memory.advance(txn)? {
                let (key, row) = memory.current();
                if !each(key, row) {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let dirty = self.reads == Reads::Dirty;
        debug_assert!(self.can_visit());
        loop {
            runtime::task::maybe_yield();
            let Some((stamp, key, row)) = self.inner.next()? else { return Ok(false) };
            let more = match decide(txn, stamp, self.snapshot, dirty) {
                Take::InPlace => each(key, row),
                Take::Skip => true,
                Take::Older => {
                    self.key.clear();
                    self.key.extend_from_slice(key);
                    let row = &mut self.row;
                    !txn.older(&self.tree, &self.key, stamp, self.snapshot, row)?
                        || each(&self.key, row)
                }
            };
            if !more {
                return Ok(true);
            }
        }
    }

    /// Shows the next visible rows to `each`, some of the tree's at a time: bytes, and where in them the rows lie. A call
    /// is done with those of one leaf, or with as many in memory; there may be none. `Ok(false)` at the end of the range.
    /// Yields by itself between calls of `each`. Only where [`Scan::can_visit`].
    pub fn visit_leaf(
        &mut self,
        txn: &mut Txn,
        mut each: impl FnMut(&[u8], &mut Vec<Spot>),
    ) -> Result<bool, EngineError> {
        let dirty = self.reads == Reads::Dirty;
        debug_assert!(self.can_visit());
        let Scan { memory, inner, tree, snapshot, key: own_key, row: own_row, spots, .. } = self;
        if let Some(memory) = memory {
            for _ in 0..MEMORY_ROWS {
                if !memory.advance(txn)? {
                    return Ok(false);
                }
                let row = memory.current().1;
                spots.clear();
                spots.push(Spot::whole(row));
                each(row, spots);
            }
            return Ok(true);
        }
        runtime::task::maybe_yield();
        let Some(stretch) = inner.next_stretch()? else { return Ok(false) };
        let bytes = stretch.bytes();
        spots.clear();
        let rows = stretch.rows();
        spots.reserve(rows.len());
        // Rows written together have one stamp, of which it is asked once: what this snapshot sees, it goes on seeing.
        let mut seen = None;
        for (stamp, number, (at, len)) in rows {
            let spot = Spot { at: at as u32, len: len as u32 };
            if seen == Some(stamp) {
                spots.push(spot);
                continue;
            }
            match decide(txn, stamp, *snapshot, dirty) {
                Take::InPlace => {
                    seen = Some(stamp);
                    spots.push(spot);
                }
                Take::Skip => {}
                Take::Older => {
                    own_key.clear();
                    own_key.extend_from_slice(stretch.key(number));
                    if txn.older(tree, own_key, stamp, *snapshot, own_row)? {
                        // In their order.
                        if !spots.is_empty() {
                            each(bytes, spots);
                        }
                        spots.clear();
                        spots.push(Spot::whole(own_row));
                        each(own_row, spots);
                        spots.clear();
                    }
                }
            }
        }
        if !spots.is_empty() {
            each(bytes, spots);
        }
        Ok(true)
    }

    /// At most `n` of the rows that may come next, as far as they are known without reading a page: a hint.
    pub fn coming(&self, n: usize) -> impl Iterator<Item = &[u8]> {
        self.inner.coming(n).map(|(_, _, row)| row)
    }

    /// Gives the rows of some pages alone.
    pub fn sample(&mut self, sample: storage::PageSample) {
        self.inner.sample(sample);
    }

    fn next_seen(&mut self, txn: &mut Txn) -> Result<bool, EngineError> {
        let dirty = self.reads == Reads::Dirty;
        loop {
            runtime::task::maybe_yield();
            let Some((stamp, key, row)) = self.inner.next()? else { return Ok(false) };
            let take = decide(txn, stamp, self.snapshot, dirty);
            if matches!(take, Take::Skip) {
                continue;
            }
            self.key.clear();
            self.key.extend_from_slice(key);
            if matches!(take, Take::Older) {
                let row = &mut self.row;
                if !txn.older(&self.tree, &self.key, stamp, self.snapshot, row)? {
                    continue;
                }
            } else {
                self.row.clear();
                self.row.extend_from_slice(row);
            }
            return Ok(true);
        }
    }
}

#[inline]
fn decide(txn: &mut Txn, stamp: Stamp, snapshot: Lsn, dirty: bool) -> Take {
    use mvcc::Visibility::*;
    if dirty {
        return if stamp.is_ghost() { Take::Skip } else { Take::InPlace };
    }
    match txn.sees(stamp, snapshot) {
        Visible => Take::InPlace,
        Older if txn.may_have_older(stamp) => Take::Older,
        VisibleGhost | Older | Spin => Take::Skip,
    }
}
