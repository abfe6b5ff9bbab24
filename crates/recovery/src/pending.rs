//! What each page may lack: the positions of its records, in the order of the log.
//!
//! Four bytes a record: positions are multiples of 8 and are kept from a base on, so a list spans 32 GiB of log. What a
//! record says stays in the log, but for allocations: a map page has thousands of them, far apart and tiny, and is the
//! first that an insert wants, so its list holds the changes themselves. A record that makes a page anew ends all that
//! was noted before for the page.

use log_manager::Lsn;
use stdx::NumberMap;
use storage::{PageOp, TreeId};

/// Bytes of memory that a page on the list takes beside its records, about.
const PAGE_COST: u64 = 120;
/// And a record: vectors grow by doubling.
const RECORD_COST: u64 = 6;

/// By the numbers of pages.
pub(crate) type PageMap<V> = NumberMap<u64, V>;

/// A change of a map page: all of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapChange {
    pub(crate) at: u32,
    /// The record's length, in units of 8 bytes.
    pub(crate) len: u32,
    /// `None`: all extents of the owner become free.
    pub(crate) extent: Option<u32>,
    pub(crate) owner: TreeId,
}

/// What one page may lack.
#[derive(Debug)]
pub(crate) struct Changes {
    /// The first record makes the page anew: what is in the file does not matter.
    pub(crate) anew: bool,
    /// Positions of records; of a map page none.
    pub(crate) at: Vec<u32>,
    pub(crate) map: Vec<MapChange>,
}

impl Changes {
    /// Position of the first.
    pub(crate) fn first(&self) -> u32 {
        let map = self.map.first().map(|c| c.at);
        self.at.first().copied().into_iter().chain(map).min().unwrap_or(0)
    }

    /// Position of the last.
    pub(crate) fn last(&self) -> u32 {
        let map = self.map.last().map(|c| c.at);
        self.at.last().copied().into_iter().chain(map).max().unwrap_or(0)
    }
}

/// The list as analysis makes it.
#[derive(Debug)]
pub struct Pending {
    pub(crate) base: Lsn,
    pub(crate) end: Lsn,
    pub(crate) pages: PageMap<Changes>,
    pub(crate) records: u64,
    full: bool,
}

impl Pending {
    /// An empty list of records from `base` on.
    pub fn from(base: Lsn) -> Pending {
        // Records may begin a little below where they must be on their pages.
        let base = Lsn(base.0.saturating_sub(log_manager::RECORD_BYTES_MAX as u64) & !7);
        Pending { base, end: base, pages: PageMap::default(), records: 0, full: false }
    }

    /// Memory that it takes, about.
    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE_COST + self.records * RECORD_COST
    }

    /// Pages on it.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Whether nothing further up in the log can be noted.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Notes an op logged at `start..end`; they come in the order of the log.
    pub(crate) fn note(&mut self, op: &PageOp<'_>, start: Lsn, end: Lsn) {
        debug_assert!(start >= self.base && !self.full);
        let at = ((start.0 - self.base.0) / 8) as u32;
        // The next one might not fit any more.
        self.full = end.0 - self.base.0 >= 8 * (u64::from(u32::MAX) - (1 << 20));
        self.end = end;
        for touched in op.pages() {
            let none = || Changes { anew: false, at: Vec::new(), map: Vec::new() };
            let changes = self.pages.entry(touched.page.0).or_insert_with(none);
            if touched.anew {
                self.records -= (changes.at.len() + changes.map.len()) as u64;
                changes.anew = true;
                changes.at.clear();
                changes.map.clear();
            }
            self.records += 1;
            let len = ((end.0 - start.0) / 8) as u32;
            let map = |extent, owner| MapChange { at, len, extent, owner };
            match *op {
                PageOp::AllocExtent { extent, owner, .. } => {
                    changes.map.push(map(Some(extent), owner));
                }
                PageOp::FreeExtents { owner, .. } => changes.map.push(map(None, owner)),
                _ => changes.at.push(at),
            }
        }
    }
}
