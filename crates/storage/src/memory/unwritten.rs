//! Rows whose newest state the tree beside their table does not have yet.
//!
//! Whoever is about to commit lists its rows, once each; whoever brings the tree beside up to date takes the lists.
//! Where a row is on that way its bits say: `listed.rs`.

use crate::memory::hash::Inserted;
use crate::memory::lists::{Listed, RowsToList};
use crate::memory::reclaim::{Pin, pin};
use crate::memory::row::Row;
use crate::memory::sight::{States, commit_of};
use crate::memory::table::Table;
use crate::memory::version::{Kept, Version};
use crate::memory::write::Written;
use crate::row::RowImage;
use mvcc::{Stamp, Xid};

/// A row that was taken from a list: to be given to [`Table::written`] or [`Table::put_back_unseen`], once.
pub struct Held(Listed);

/// What a row that was taken comes to.
#[derive(Clone, Copy)]
pub struct Newest<'a> {
    pub key: &'a [u8],
    /// The newest committed state; none: there is no such row.
    pub row: Option<Kept<'a>>,
    /// The tree beside has a row under the key.
    pub is_there: bool,
}

impl Table {
    /// What a change has made of its row, to the log, if no later change of the same transaction says it. The row is to be
    /// listed: it is in `listing`. For a transaction that is about to commit: neither images nor commit are logged before
    /// [`Table::put_into_lists`].
    #[inline]
    pub fn log_image(
        &self,
        written: Written,
        own: Xid,
        listing: &mut RowsToList,
        Pin(guard): &Pin,
        tell: impl FnOnce(&[u8], Option<&Kept<'_>>),
    ) {
        let (row, version) = written.row_and_version(guard);
        if !row.is_alone(version) {
            let is_newest = row.newest(guard).is_some_and(|v| std::ptr::eq(v, version));
            if !is_newest {
                return;
            }
            let mut at = version.older(guard);
            while let Some(v) = at.filter(|v| v.stamp().xid() == Some(own)) {
                at = v.older(guard);
            }
            if version.stamp().is_ghost() && at.is_none_or(|v| v.stamp().is_ghost()) {
                // Inserted and deleted again.
                return;
            }
        } else if version.stamp().is_ghost() {
            return;
        }
        if row.beside.list() {
            listing.0.push(Listed::of(row));
        }
        match version.stamp().is_ghost() {
            true => tell(row.key(), None),
            false => tell(row.key(), Some(&version.row())),
        }
    }

    /// What a transaction has gathered.
    #[inline]
    pub fn put_into_lists(&self, listing: &mut RowsToList) {
        if !listing.0.is_empty() {
            self.unwritten.append(&mut listing.0);
        }
    }

    fn list(&self, row: &Row) {
        if row.beside.list() {
            self.put_into_list(row);
        }
    }

    fn put_into_list(&self, row: &Row) {
        self.unwritten.push(Listed::of(row));
    }

    /// How many rows wait for the tree beside.
    #[cfg(test)]
    pub fn unwritten(&self) -> usize {
        self.unwritten.len()
    }

    /// All rows that wait, in no order. One at a time may take them, until it has given all back. Suspends.
    pub fn take_unwritten(&self) -> Vec<Held> {
        // Else a row that the cleaner is about to list would be missed: see `listed.rs`. He may be at it for long.
        let no_cleaner = loop {
            match self.cleaning.try_lock() {
                Some(lock) => break lock,
                None => runtime::task::yield_now(),
            }
        };
        let rows = self.unwritten.take();
        drop(no_cleaner);
        rows.into_iter().map(Held).collect()
    }

    /// Some of them, in the order of their keys.
    pub fn sort_unwritten(&self, rows: &mut [Held]) {
        // SAFETY: what is listed lives.
        rows.sort_unstable_by(|a, b| unsafe { a.0.row().key().cmp(b.0.row().key()) });
    }

    /// About how much its key and its newest state take, committed or not.
    pub fn bytes_of(&self, held: &Held) -> usize {
        // SAFETY: what is listed or held lives.
        let row = unsafe { held.0.row() };
        let guard = pin();
        row.key().len() + row.newest(&guard).map_or(0, Version::size)
    }

    /// The newest committed state of a row that was taken, to be written beside; and whether an unfinished transaction has
    /// one on top of it.
    pub fn newest<R>(
        &self,
        held: &Held,
        states: &impl States,
        tell: impl FnOnce(Newest<'_>) -> R,
    ) -> (R, bool) {
        // SAFETY: what is listed or held lives.
        let row = unsafe { held.0.row() };
        let is_there = row.beside.hold();
        let guard = pin();
        let mut at = row.newest(&guard);
        let mut is_unfinished = false;
        while let Some(version) = at.filter(|v| commit_of(v.stamp(), states).is_none()) {
            is_unfinished = true;
            at = version.older(&guard);
        }
        let state = at.filter(|v| !v.stamp().is_ghost()).map(Version::row);
        (tell(Newest { key: row.key(), row: state, is_there }), is_unfinished)
    }

    /// The tree beside has it as [`Table::newest`] has told it, for good.
    pub fn written(&self, held: Held, is_there: bool) {
        // SAFETY: what is held lives.
        unsafe { held.0.row() }.beside.release(is_there);
    }

    /// It is to be written once more. Between [`Table::newest`] and [`Table::written`].
    pub fn put_back(&self, held: &Held) {
        // SAFETY: what is held lives.
        self.list(unsafe { held.0.row() });
    }

    /// It was taken, and nobody has looked at it.
    pub fn put_back_unseen(&self, held: Held) {
        // Its bit has been set all the time.
        self.unwritten.push(held.0);
    }

    /// The cleaner is about to kill a row that is on top of nothing: whether it may.
    pub(crate) fn may_kill(&self, row: &Row) -> bool {
        row.beside.claim()
    }

    /// It has not: something has come on top.
    pub(crate) fn was_not_killed(&self, row: &Row) {
        self.put_into_list(row);
    }

    /// A row as the tree beside and the log have it, while a table is being filled and nobody else has it; none: it is gone,
    /// and the tree beside has it still. `is_there`: the tree beside has a row under the key; `is_written`: this one. False:
    /// the key is there.
    pub fn load(&self, key: &[u8], row: Option<&[u8]>, is_there: bool, is_written: bool) -> bool {
        let guard = pin();
        let sought = self.seek(key);
        let stamp = match row {
            Some(_) => Stamp::frozen(),
            None => Stamp::frozen().ghost(),
        };
        let image = RowImage::new(row.unwrap_or_default());
        let version = Version::stamped(stamp, &image, &self.slab);
        let size = version.size();
        let new = Row::make(key, sought.tag(), Some(version), is_there, &self.slab);
        let size = size + new.size();
        let Inserted::New(new) = self.add(new, sought, &guard) else { return false };
        self.weigh(size as i64);
        if !is_written {
            self.list(new);
        }
        if row.is_none() {
            self.queue(new);
        }
        true
    }
}
