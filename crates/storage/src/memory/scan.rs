//! Reading several rows: a range by order, the rows of one hashed value, or all of them.

use crate::memory::hash::HashIndex;
use crate::memory::range::Step;
use crate::memory::reclaim::{Guard, pin};
use crate::memory::row::Row;
use crate::memory::sight::{Changed, Sight, States};
use crate::memory::table::{Index, Table};
use crate::memory::version::Kept;
use mvcc::Stamp;
use std::ops::{Bound, Range};

/// A step through a hash index ends behind so many buckets, or where so many rows were met.
const BUCKETS_MAX: usize = 1024;
const ROWS_ENOUGH: usize = 64;

/// Where a reading stands: what is still to come. Nothing is held between two steps.
#[derive(Clone, Debug)]
pub struct Cursor {
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    reverse: bool,
    /// Of a hash index: the next bucket, and the one at which to stop.
    bucket: usize,
    last: usize,
    is_over: bool,
}

impl Cursor {
    /// Keys between two bounds, a hash index's in no order.
    pub fn range(table: &Table, lower: Bound<&[u8]>, upper: Bound<&[u8]>, reverse: bool) -> Cursor {
        let last = match &table.index {
            Index::Hash(hash) => hash.buckets(),
            Index::Range(_) => 0,
        };
        let (lower, upper) = (lower.map(<[u8]>::to_vec), upper.map(<[u8]>::to_vec));
        Cursor { lower, upper, reverse, bucket: 0, last, is_over: false }
    }

    /// The same, of a hash index, when all that is hashed is known: it is the lower bound, which must be there.
    pub fn value(table: &Table, lower: &[u8], upper: Bound<&[u8]>) -> Cursor {
        let mut cursor = Cursor::range(table, Bound::Included(lower), upper, false);
        if let Index::Hash(hash) = &table.index {
            cursor.bucket = hash.place(lower);
            cursor.last = cursor.bucket + 1;
        }
        cursor
    }

    /// All of some buckets of a hash index.
    pub(super) fn of_buckets(buckets: Range<usize>) -> Cursor {
        let (lower, upper) = (Bound::Unbounded, Bound::Unbounded);
        let (bucket, last) = (buckets.start, buckets.end);
        Cursor { lower, upper, reverse: false, bucket, last, is_over: false }
    }

    fn holds(&self, key: &[u8]) -> bool {
        let above = match &self.lower {
            Bound::Included(low) => key >= &low[..],
            Bound::Excluded(low) => key > &low[..],
            Bound::Unbounded => true,
        };
        above
            && match &self.upper {
                Bound::Included(high) => key <= &high[..],
                Bound::Excluded(high) => key < &high[..],
                Bound::Unbounded => true,
            }
    }
}

impl Table {
    /// Shows the next rows that a transaction sees, a leaf or some buckets of them; false: that was the end.
    pub fn step<S: States>(
        &self,
        cursor: &mut Cursor,
        sight: &Sight<'_, S>,
        mut show: impl FnMut(&[u8], Kept<'_>, Stamp),
    ) -> bool {
        self.walk(cursor, |row, guard| {
            if let Some(version) = sight.row(row, guard) {
                show(row.key(), version.row(), version.stamp());
            }
        })
    }

    /// What has become of a range since a transaction has read it, as it commits: see [`Table::changed`].
    pub fn changed_within<S: States>(&self, cursor: &mut Cursor, sight: &Sight<'_, S>) -> Changed {
        let mut found = Changed::No;
        loop {
            let more = self.walk(cursor, |row, guard| {
                if found == Changed::No {
                    found = sight.changed(row, guard);
                }
            });
            if found != Changed::No || !more {
                return found;
            }
        }
    }

    /// The largest key that has ever had a row that is still there, of a range index.
    pub fn last_key(&self) -> Option<Vec<u8>> {
        let mut cursor = Cursor::range(self, Bound::Unbounded, Bound::Unbounded, true);
        let mut last = None;
        while self.walk(&mut cursor, |row, _| {
            if last.as_ref().is_none_or(|last: &Vec<u8>| row.key() > &last[..]) {
                last = Some(row.key().to_vec());
            }
        }) && (last.is_none() || matches!(self.index, Index::Hash(_)))
        {}
        last
    }

    /// Shows the newest version of every row, whoever wrote it, that is not deleted. Suspends between steps.
    pub fn each_newest(&self, mut show: impl FnMut(&[u8])) {
        let mut cursor = Cursor::range(self, Bound::Unbounded, Bound::Unbounded, false);
        let mut bytes = Vec::new();
        while self.walk(&mut cursor, |row, guard| {
            bytes.clear();
            if append_newest(row, guard, &mut bytes) {
                show(&bytes);
            }
        }) {
            runtime::task::maybe_yield();
        }
    }

    pub(super) fn walk(&self, cursor: &mut Cursor, mut each: impl FnMut(&Row, &Guard)) -> bool {
        if cursor.is_over {
            return false;
        }
        let guard = pin();
        match &self.index {
            Index::Hash(hash) => {
                let mut rows = 0;
                let end = cursor.last.min(cursor.bucket + BUCKETS_MAX);
                while cursor.bucket < end && rows < ROWS_ENOUGH {
                    let mut at = hash.first(cursor.bucket, &guard);
                    while let Some(row) = at {
                        if cursor.holds(row.key()) {
                            each(row, &guard);
                        }
                        rows += 1;
                        at = HashIndex::after(row, &guard);
                    }
                    cursor.bucket += 1;
                }
                cursor.is_over = cursor.bucket >= cursor.last;
            }
            Index::Range(range) => {
                let bounds = (as_slice(&cursor.lower), as_slice(&cursor.upper));
                let step = match cursor.reverse {
                    false => range.ascend(bounds, &guard, &mut each),
                    true => range.descend(bounds, &guard, &mut each),
                };
                match step {
                    Step::End => cursor.is_over = true,
                    Step::From(key) if cursor.reverse => cursor.upper = Bound::Excluded(key),
                    Step::From(key) => cursor.lower = Bound::Included(key),
                }
            }
        }
        !cursor.is_over
    }
}

/// Appends a row's newest version, whoever wrote it, unless it is deleted: false then.
pub(super) fn append_newest(row: &Row, guard: &Guard, bytes: &mut Vec<u8>) -> bool {
    match row.newest(guard).filter(|version| !version.stamp().is_ghost()) {
        Some(version) => {
            version.row().append_to(bytes);
            true
        }
        None => false,
    }
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
        Bound::Unbounded => Bound::Unbounded,
    }
}
