//! What a transaction changes: a version on top of a row, at once or never.
//!
//! Invariant: the version of an unfinished transaction is on top of its row, with none of others above. So it is the
//! row's write lock, and a row that has one outlives the transaction.

use crate::memory::Kind;
use crate::memory::hash::Inserted;
use crate::memory::leaving::Leaving;
use crate::memory::reclaim::{Guard, Pin, pin};
use crate::memory::row::{Row, Top};
use crate::memory::sight::{Sight, States};
use crate::memory::table::{Sought, Table};
use crate::memory::version::Version;
use crate::row::RowImage;
use log_manager::Lsn;
use mvcc::{Stamp, Visibility, Xid, visible};

/// Why a write was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A row with that key is there.
    Duplicate,
    /// Another transaction has inserted that key since the snapshot, or is about to.
    Race,
    /// Another transaction has changed the row since the snapshot, or is about to.
    Conflict,
}

/// A change that its transaction has made: to be stamped, or taken back, once.
#[derive(Clone, Copy)]
pub struct Written {
    row: *const Row,
    version: *mut Version,
}

// SAFETY: rows and versions are shared memory; a transaction that moves to another thread takes its list with it.
unsafe impl Send for Written {}
// SAFETY: nothing is done through a shared reference to it but copying it.
unsafe impl Sync for Written {}

impl Table {
    /// Inserts a row.
    pub fn insert<S: States>(
        &self,
        key: &[u8],
        row: &RowImage<'_>,
        sight: &Sight<'_, S>,
    ) -> Result<Written, Refused> {
        let guard = pin();
        let sought = self.seek(key);
        // Most keys are new: the index looks for the key as it takes the row.
        let mut there = match self.insert_new(key, row, sought, sight.own, &guard) {
            Ok(written) => return Ok(written),
            Err(there) => there,
        };
        let mut version = Version::active(sight.own, Some(row), &self.slab);
        let size = version.size();
        loop {
            let on = match there.top(&guard) {
                Top::Dead => {
                    std::hint::spin_loop();
                    match self.insert_new(key, row, sought, sight.own, &guard) {
                        Ok(written) => return Ok(written),
                        Err(other) => there = other,
                    }
                    continue;
                }
                Top::Empty => None,
                Top::Version(top) => {
                    if !may_insert(sight, there, top, &guard)? {
                        continue;
                    }
                    Some(top)
                }
            };
            match there.push(on, version, &self.slab, &guard) {
                Ok(version) => {
                    self.weigh(size as i64);
                    self.note(|mine| &mine.inserts);
                    return Ok(Written::of(there, version));
                }
                Err(back) => version = back,
            }
        }
    }

    /// Adds a row of an unfinished transaction, unless its key has a live one: that.
    #[inline]
    fn insert_new<'g>(
        &self,
        key: &[u8],
        row: &RowImage<'_>,
        sought: Sought,
        own: Xid,
        guard: &'g Guard,
    ) -> Result<Written, &'g Row> {
        let version = Version::active(own, Some(row), &self.slab);
        let (size, first) = (version.size(), version.as_ptr());
        let new = Row::make(key, sought.tag(), Some(version), false, &self.slab);
        let size = size + new.size();
        match self.add(new, sought, guard) {
            Inserted::New(new) => {
                self.weigh(size as i64);
                self.note(|mine| &mine.inserts);
                Ok(Written { row: new, version: first })
            }
            Inserted::There(there) => Err(there),
        }
    }

    /// Replaces the row under `key`, or deletes it (`None`). `Ok(None)`: it sees no such row.
    pub fn change<S: States>(
        &self,
        key: &[u8],
        row: Option<&RowImage<'_>>,
        sight: &Sight<'_, S>,
    ) -> Result<Option<Written>, Refused> {
        let guard = pin();
        let Some(there) = self.find(key, &guard) else { return Ok(None) };
        let mut made = None;
        loop {
            // Rows that it sees cannot die.
            let Top::Version(top) = there.top(&guard) else { return Ok(None) };
            match sees(sight, top.stamp()) {
                None => continue,
                Some(true) if top.stamp().is_ghost() => return Ok(None),
                Some(true) => {}
                Some(false) => {
                    return match sight.row(there, &guard) {
                        Some(_) => Err(Refused::Conflict),
                        None => Ok(None),
                    };
                }
            }
            let version =
                made.take().unwrap_or_else(|| Version::active(sight.own, row, &self.slab));
            let size = version.size();
            match there.push(Some(top), version, &self.slab, &guard) {
                Ok(version) => {
                    self.weigh(size as i64);
                    self.note(|mine| if row.is_some() { &mine.updates } else { &mine.deletes });
                    return Ok(Some(Written::of(there, version)));
                }
                Err(back) => made = Some(back),
            }
        }
    }

    /// Takes a change back. The newest first, before anybody learns that the transaction is over. How many rows there are more
    /// by that: -1, 0 or 1.
    pub fn take_back(&self, written: Written) -> i64 {
        let guard = pin();
        let row = written.row(&guard);
        // SAFETY: it is on top of its row, and lives.
        let version = unsafe { &*written.version };
        self.weigh(-(version.size() as i64));
        let was = version.older(&guard).is_some_and(|older| !older.stamp().is_ghost());
        let rows = i64::from(was) - i64::from(!version.stamp().is_ghost());
        let mut leaving = Leaving::default();
        row.pop(written.version);
        leaving.version(written.version);
        if row.newest(&guard).is_none() {
            self.queue(row);
        }
        // SAFETY: no link leads to the version any more.
        unsafe { leaving.go(&self.slab, &guard) };
        rows
    }

    /// Its transaction has committed at `csn`. While its snapshot is still in use.
    #[inline]
    pub fn stamp(&self, written: Written, own: Xid, csn: Lsn, Pin(guard): &Pin) {
        let row = written.row(guard);
        let mut at = row.newest(guard);
        let mut is_old = false;
        while let Some(version) = at {
            let stamp = version.stamp();
            if stamp.xid() != Some(own) {
                break;
            }
            let committed = Stamp::committed(csn);
            version.restamp(if stamp.is_ghost() { committed.ghost() } else { committed });
            at = version.older(guard);
            is_old |= at.is_some() || stamp.is_ghost();
        }
        if is_old {
            self.queue(row);
        }
    }
}

impl Written {
    fn of(row: &Row, version: &Version) -> Written {
        Written { row, version: std::ptr::from_ref(version).cast_mut() }
    }

    /// The row and the version, of a transaction that is not over.
    pub(super) fn row_and_version<'g>(&self, guard: &'g Guard) -> (&'g Row, &'g Version) {
        // SAFETY: it is on its row as long as the transaction is unfinished.
        (self.row(guard), unsafe { &*self.version })
    }

    fn row<'g>(&self, _: &'g Guard) -> &'g Row {
        // SAFETY: the row has a version of an unfinished transaction, whose list this is from (or its snapshot is still
        // in use), so it is not dead; and the guard keeps it from here on.
        unsafe { &*self.row }
    }
}

/// Whether what is on top is what the transaction sees; `None`: ask again.
fn sees<S: States>(sight: &Sight<'_, S>, stamp: Stamp) -> Option<bool> {
    match visible(stamp, sight.snapshot, sight.own, |xid| sight.states.status(xid)) {
        Visibility::Visible | Visibility::VisibleGhost => Some(true),
        Visibility::Older => Some(false),
        Visibility::Spin => None,
    }
}

/// Whether an insert may come on top; false: ask again.
fn may_insert<S: States>(
    sight: &Sight<'_, S>,
    row: &Row,
    top: &Version,
    guard: &Guard,
) -> Result<bool, Refused> {
    let stamp = top.stamp();
    match sees(sight, stamp) {
        None => Ok(false),
        Some(true) if stamp.is_ghost() => Ok(true),
        Some(true) => Err(Refused::Duplicate),
        Some(false) if sight.row(row, guard).is_some() => Err(Refused::Duplicate),
        // Inserted and deleted again since: nobody's any more.
        Some(false) if stamp.is_ghost() && sight.commit_of(stamp).is_some() => Ok(true),
        Some(false) => Err(Refused::Race),
    }
}

impl Table {
    /// Its kind, for who wants to know how it is best read.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}
