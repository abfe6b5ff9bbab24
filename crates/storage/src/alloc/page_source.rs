//! Pages of a tree that are not in use yet: what is left of the extents that it was given, by slot, and what it has had no
//! use for or done with.

use super::EXTENT_PAGES;
use crate::store::Store;
use crate::{FilegroupId, StorageError, TreeId};
use buffer_pool::PageId;
use runtime::spin::SpinLock;
use runtime::task::{self, MAX_SLOTS};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::*};
use stdx::CachePadded;
use telemetry::SpinClass;

/// Where a tree's next pages come from.
pub(crate) struct PageSource {
    /// Per slot: pages left << 48 | page id of the next.
    cursors: OnceLock<Box<[CachePadded<AtomicU64>]>>,
    /// Pages taken and not used after all.
    spares: SpinLock<Vec<PageId>>,
}

impl PageSource {
    pub(crate) fn new() -> PageSource {
        PageSource { cursors: OnceLock::new(), spares: SpinLock::new(SpinClass::Alloc, Vec::new()) }
    }

    fn cursor(&self) -> &AtomicU64 {
        let make = || (0..MAX_SLOTS).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
        &self.cursors.get_or_init(make)[task::slot()]
    }

    /// Puts `pages` pages from `first` on into the caller's slot.
    pub(crate) fn fill(&self, first: PageId, pages: u32) {
        let full = u64::from(pages) << 48 | first.0;
        let cursor = self.cursor();
        let now = cursor.load(Relaxed);
        if now >> 48 != 0 || cursor.compare_exchange(now, full, AcqRel, Relaxed).is_err() {
            // Another task of this slot came first.
            let rest = (0..u64::from(pages)).map(|i| PageId(first.0 + i));
            self.spares.lock().extend(rest);
        }
    }

    /// A page for the caller's slot. May log and suspend.
    pub(crate) fn take(
        &self,
        store: &Store,
        owner: TreeId,
        fg: FilegroupId,
    ) -> Result<PageId, StorageError> {
        loop {
            let cursor = self.cursor();
            let now = cursor.load(Relaxed);
            if now >> 48 != 0 {
                let next = now - (1 << 48) + 1;
                if cursor.compare_exchange(now, next, AcqRel, Relaxed).is_ok() {
                    return Ok(PageId(now & ((1 << 48) - 1)));
                }
                continue;
            }
            if let Some(page) = self.spares.lock().pop() {
                return Ok(page);
            }
            let first = store.allocate_extent(owner, fg)?;
            self.fill(PageId(first.0 + 1), EXTENT_PAGES - 1);
            return Ok(first);
        }
    }

    /// Takes out the extents of which every page is spare; their first pages.
    pub(crate) fn take_whole_extents(&self) -> Vec<PageId> {
        let mut pages = std::mem::take(&mut *self.spares.lock());
        pages.sort_unstable();
        let extent = |p: &PageId| (p.file(), p.page_no() / EXTENT_PAGES);
        let (mut whole, mut rest) = (Vec::new(), Vec::new());
        for pages in pages.chunk_by(|a, b| extent(a) == extent(b)) {
            match pages.len() == EXTENT_PAGES as usize {
                true => whole.push(pages[0]),
                false => rest.extend_from_slice(pages),
            }
        }
        self.spares.lock().append(&mut rest);
        whole
    }

    /// Takes a page back that was not used.
    pub(crate) fn give(&self, page: PageId) {
        self.spares.lock().push(page);
    }
}
