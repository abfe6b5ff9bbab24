//! How a tree lies in its files: levels, the order of pages, how full they are, how large what they hold is.
//!
//! Pages are taken in the order of keys, as the pages above name them; only [`Measure::Limited`] never looks at leaves. A
//! page is *in order* when the one before it in that order is the one before it in the file too, but for inner pages
//! between them and for extents that may be others'. A *fragment* is a run of pages side by side in a file.
//!
//! Promise: it holds nothing and keeps nobody waiting. Each page is seen as it was at one moment, the tree at none: what
//! others split or compact meanwhile is counted as it was met.

use crate::alloc::EXTENT_PAGES;
use crate::node::Target;
use crate::sample::PageSample;
use crate::scan::LeafCopy;
use crate::slotted::{self, HEADER_BYTES, INNER, LEAF, Space};
use crate::{StorageError, Tree};
use buffer_pool::{PAGE_BYTES, PageBuf, PageId, PageWords, READ_AHEAD_MAX, header};
use mvcc::Stamp;
use runtime::task;
use std::collections::HashSet;
use std::sync::atomic::Ordering::Acquire;

/// Of trees with fewer leaves a sample is all of them.
const SAMPLED_LEAVES_MIN: u64 = 10_000;
/// One leaf in so many is in a sample of others.
const SAMPLED_ONE_IN: u64 = 100;

/// How closely a tree is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// At the pages above the leaves.
    Limited,
    /// At one leaf in a hundred too; at all of a small tree.
    Sampled,
    /// At every page.
    Detailed,
}

/// What a level's pages are like.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LevelFigures {
    /// 0 is the leaves'.
    pub level: u8,
    pub pages: u64,
    /// Runs of pages side by side.
    pub fragments: u64,
    /// Pages whose next one in the order of keys is not the next one in the file.
    pub out_of_order: u64,
    /// Extents met on the way, and those that do not lie behind the one before.
    pub extents: u64,
    pub extents_apart: u64,
    /// Pages that were looked at. What follows is theirs.
    pub looked_at: u64,
    /// Of their bytes, but for headers.
    pub used_bytes: u64,
    /// Rows, or children; without ghosts.
    pub records: u64,
    /// Ghosts that nobody needs any more, and the others.
    pub ghosts: u64,
    pub ghosts_needed: u64,
    /// Of a record, ghosts left out; 0 where there is none.
    pub record_bytes_min: u64,
    pub record_bytes_max: u64,
    pub record_bytes_sum: u64,
}

impl LevelFigures {
    /// Bytes of a page that records may take.
    pub const PAGE_ROOM: usize = PAGE_BYTES - HEADER_BYTES;

    fn look_at(&mut self, page: &PageBuf, needed: &mut dyn FnMut(Stamp, &[u8]) -> bool) {
        let space = Space::of(page);
        self.looked_at += 1;
        self.used_bytes += Self::PAGE_ROOM.saturating_sub(space.gap() + space.dead) as u64;
        for i in 0..space.slots {
            if self.level == 0 {
                let (head, key, _) = slotted::entry(page, i);
                if Stamp(head).is_ghost() {
                    let needed = needed(Stamp(head), key);
                    self.ghosts += u64::from(!needed);
                    self.ghosts_needed += u64::from(needed);
                    continue;
                }
            }
            let bytes = slotted::slot(page, i).bytes as u64;
            let first = self.records == 0;
            self.record_bytes_min = if first { bytes } else { self.record_bytes_min.min(bytes) };
            self.record_bytes_max = self.record_bytes_max.max(bytes);
            self.record_bytes_sum += bytes;
            self.records += 1;
        }
    }
}

/// The pages of a level, one after the other.
struct Order<'a> {
    inner: &'a HashSet<u64>,
    last: Option<PageId>,
}

impl Order<'_> {
    fn next(&mut self, page: PageId, figures: &mut LevelFigures) {
        figures.pages += 1;
        let extent = |page: PageId| page.0 / u64::from(EXTENT_PAGES);
        let Some(last) = self.last.replace(page) else {
            (figures.fragments, figures.extents) = (1, 1);
            return;
        };
        let beside = self.not_inner_from(last.0 + 1) == page.0;
        let follows = beside || self.goes_on_in(last, page);
        figures.fragments += u64::from(!beside);
        figures.out_of_order += u64::from(!follows);
        if extent(last) != extent(page) {
            figures.extents += 1;
            figures.extents_apart += u64::from(extent(last) + 1 != extent(page));
        }
    }

    fn not_inner_from(&self, mut page: u64) -> u64 {
        while self.inner.contains(&page) {
            page += 1;
        }
        page
    }

    /// Whether `last` ends its extent and `page` begins another one, behind it or in another file.
    fn goes_on_in(&self, last: PageId, page: PageId) -> bool {
        let extent = u64::from(EXTENT_PAGES);
        let behind = last.file() != page.file() || last < page;
        let ends = self.not_inner_from(last.0 + 1) >= last.0 / extent * extent + extent;
        behind && ends && self.not_inner_from(page.0 / extent * extent) == page.0
    }
}

impl Tree {
    /// Measures the tree: a level each, the leaves first. `needed` tells whether somebody may yet read a ghost's row;
    /// `stop` is asked on the way, and what it ends is nothing to go by. Suspends.
    pub fn measure(
        &self,
        how: Measure,
        needed: &mut dyn FnMut(Stamp, &[u8]) -> bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<LevelFigures>, StorageError> {
        let root_level = self.root_level()?;
        let mut inner = HashSet::from([self.id().0.0]);
        let mut levels = vec![LevelFigures::default()];
        let (mut copy, mut leaves) = (LeafCopy::new(), 0);
        for level in (1..=root_level).rev() {
            let mut figures = LevelFigures { level, ..LevelFigures::default() };
            let mut pages = Vec::new();
            let mut from = Some(Vec::new());
            while let Some(at) = from {
                if stop() {
                    return Ok(levels);
                }
                if !self.copy_parent(level, Target::Key(&at), &mut copy)? {
                    break;
                }
                let page = copy.page();
                pages.push(PageId(page.word(header::PAGE_ID)));
                leaves = if level == 1 { leaves + copy.len() as u64 } else { 0 };
                figures.look_at(page, needed);
                from = slotted::upper_fence(page).map(<[u8]>::to_vec);
                task::maybe_yield();
            }
            let mut order = Order { inner: &inner, last: None };
            pages.iter().for_each(|page| order.next(*page, &mut figures));
            inner.extend(pages.iter().map(|page| page.0));
            levels.insert(1, figures);
        }
        if root_level == 0 {
            self.copy_leaf(Target::Key(&[]), false, &mut copy)?;
            Order { inner: &inner, last: None }.next(self.id().0, &mut levels[0]);
            levels[0].look_at(copy.page(), needed);
            return Ok(levels);
        }
        let sample = match how {
            Measure::Limited => PageSample::new(0, 0),
            Measure::Sampled if leaves >= SAMPLED_LEAVES_MIN => {
                PageSample::new(0, PageSample::ALL / SAMPLED_ONE_IN)
            }
            _ => PageSample::new(0, PageSample::ALL),
        };
        self.measure_leaves(sample, &inner, &mut levels[0], needed, stop)?;
        Ok(levels)
    }

    fn measure_leaves(
        &self,
        sample: PageSample,
        inner: &HashSet<u64>,
        figures: &mut LevelFigures,
        needed: &mut dyn FnMut(Stamp, &[u8]) -> bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), StorageError> {
        let pool = self.store.pool();
        let mut order = Order { inner, last: None };
        let (mut parent, mut page) = (LeafCopy::new(), PageBuf::boxed());
        let mut from = Some(Vec::new());
        while let Some(at) = from {
            task::maybe_yield();
            if stop() || !self.copy_parent(1, Target::Key(&at), &mut parent)? {
                break;
            }
            let children = (0..parent.len()).map(|i| PageId(slotted::entry_head(parent.page(), i)));
            let children: Vec<PageId> = children.collect();
            children.iter().for_each(|child| order.next(*child, figures));
            let looked_at = children.into_iter().filter(|child| sample.takes(child.0));
            let looked_at: Vec<PageId> = looked_at.collect();
            for pages in looked_at.chunks(READ_AHEAD_MAX) {
                pool.read_ahead(pages);
                for child in pages {
                    pool.copy_page(*child, &mut page)?;
                    let ours = page.word(slotted::OWNER) == self.id().0.0;
                    // Else it has left the tree since.
                    if ours && slotted::kind_of(&*page).0 == LEAF {
                        figures.look_at(&page, needed);
                    }
                    task::maybe_yield();
                    if stop() {
                        return Ok(());
                    }
                }
            }
            from = slotted::upper_fence(parent.page()).map(<[u8]>::to_vec);
        }
        Ok(())
    }

    /// Changes whenever the tree gains or loses a page, and never comes back: what was measured holds as long as it is the
    /// same. Since the store was opened.
    pub fn structure(&self) -> u64 {
        self.shared.structure.load(Acquire)
    }

    /// The level of the root page; that of a lone leaf is 0.
    pub(crate) fn root_level(&self) -> Result<u8, StorageError> {
        let root = self.id().0;
        loop {
            let look = self.store.pool().optimistic(root)?;
            let (kind, level) = slotted::kind_of(&look);
            let ours = look.word(slotted::OWNER) == root.0 && (kind == LEAF || kind == INNER);
            if look.validate() {
                let what = "not a page of the tree";
                return if ours {
                    Ok(level)
                } else {
                    Err(StorageError::Corrupt { page: root, what })
                };
            }
        }
    }
}
