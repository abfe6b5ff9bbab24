//! Extents of 8 pages: who owns which. How files grow is in `growth`, what trees have left of theirs in `page_source`.
//!
//! ```text
//! file:      pages 0, 1 header copies | page 2 map page | pages 3..8 unused | extents of trees ...
//! interval:  8128 pages = 1016 extents; page 2 of each interval is its map page, its first extent the system's
//! map page:  header as in `slotted` (type 1) | words 8..1024: owner of extent 0..1016 of the interval:
//!            0 free, 1 system, else the page id of a tree's root
//! ```
//! Words: *owner* of an extent is a tree, by its root. A tree gives each slot (scheduler) extents of its own, so the
//! page words of pages being filled by different CPUs lie in different cache lines.
//!
//! Invariants:
//! 1. The map pages are the truth, changed by logged ops; the bitmaps here are a copy, read at first use after
//!    recovery, in which an extent being allocated is taken already.
//! 2. A file's length covers an interval's second extent only after its map page is durable. So a map page that was
//!    never written is damage, unless the file ends before that.
//! 3. Pages left over in a slot's extent when the database closes stay unused until the tree is dropped (at most 7
//!    per slot and tree).

mod growth;
mod page_source;

pub(crate) use growth::grow_file;
pub use growth::set_grow_together;
pub(crate) use page_source::PageSource;

use crate::slotted::SLOTS;
use crate::store::{DataFile, Store};
use crate::{FilegroupId, PageOp, StorageError, TreeId};
use buffer_pool::{
    DamageKind, FileId, PAGE_BYTES, PageBuf, PageId, PageWords, PageWordsMut, PoolError, header,
};
use growth::write_map;
use runtime::spin::SpinLock;
use runtime::task;
use std::sync::Arc;
use telemetry::counters::{self, Counter};
use telemetry::{SpinClass, WaitType};

/// Pages of an extent.
pub(crate) const EXTENT_PAGES: u32 = 8;
const EXTENT_BYTES: u64 = EXTENT_PAGES as u64 * PAGE_BYTES as u64;
/// Extents that a map page describes.
pub(crate) const MAP_EXTENTS: u32 = 1016;
/// The map page's number within its interval.
const MAP_PAGE: u32 = 2;
/// Type byte of a map page.
pub(crate) const MAP: u8 = 1;
const SYSTEM: u64 = 1;
/// Extents of a filegroup that are kept for the roots of new trees: TRUNCATE TABLE makes some, and must be able to when
/// everything else is full.
const KEPT_EXTENTS: u32 = 4;
const LOG_BYTES: usize = 256;

/// How full a data file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileSpace {
    /// Pages of whole extents.
    pub pages: u64,
    /// Of them, in extents that nobody has.
    pub free_pages: u64,
    /// Of them, in extents of trees: neither free nor with a map.
    pub used_pages: u64,
}

/// The free extents of one file, as far as memory knows.
pub(crate) struct Space {
    loaded: bool,
    /// Extents that lie in the file.
    extents: u32,
    /// A bit per extent, set when free.
    bits: Vec<u64>,
    /// A bit per extent, set when it was given away since the file was opened.
    given: Vec<u64>,
    free: u32,
    /// Where the next search begins, in words of `bits`.
    cursor: usize,
    /// See [`next_in_proportion`].
    credit: i64,
}

impl Space {
    pub(crate) fn unknown() -> SpinLock<Space> {
        SpinLock::new(SpinClass::Alloc, Space::of(false, 0))
    }

    fn of(loaded: bool, extents: u32) -> Space {
        let (bits, given) = (Vec::new(), Vec::new());
        Space { loaded, extents, bits, given, free: 0, cursor: 0, credit: 0 }
    }

    fn set_free(&mut self, extent: u32) {
        let (w, b) = (extent as usize / 64, extent % 64);
        if self.bits.len() <= w {
            self.bits.resize(w + 1, 0);
        }
        if self.bits[w] & 1 << b == 0 {
            self.bits[w] |= 1 << b;
            self.free += 1;
            self.cursor = self.cursor.min(w);
        }
    }

    fn take(&mut self) -> Option<u32> {
        while self.cursor < self.bits.len() {
            let word = &mut self.bits[self.cursor];
            if *word != 0 {
                let b = word.trailing_zeros();
                *word &= *word - 1;
                self.free -= 1;
                if self.given.len() <= self.cursor {
                    self.given.resize(self.bits.len(), 0);
                }
                self.given[self.cursor] |= 1 << b;
                return Some(self.cursor as u32 * 64 + b);
            }
            self.cursor += 1;
        }
        None
    }
}

/// Of files that together have more than `kept` free extents the one whose turn it is: in the long run each gets extents
/// in proportion to what is free in it, so that all are full at the same time (proportional fill). A smooth weighted round
/// robin: each turn adds to every file's credit what is free in it, and the file with most pays for all.
fn next_in_proportion(files: &[Arc<DataFile>], kept: u32) -> Option<&Arc<DataFile>> {
    if files.iter().map(|f| f.space.lock().free).sum::<u32>() <= kept {
        return None;
    }
    let mut total = 0;
    let mut richest: Option<(i64, &Arc<DataFile>)> = None;
    for file in files {
        let mut space = file.space.lock();
        if space.free == 0 {
            space.credit = 0;
            continue;
        }
        total += i64::from(space.free);
        space.credit += i64::from(space.free);
        if richest.is_none_or(|(credit, _)| space.credit > credit) {
            richest = Some((space.credit, file));
        }
    }
    let (_, file) = richest?;
    file.space.lock().credit -= total;
    Some(file)
}

/// The map page of an extent, and the extent's word there.
pub(crate) fn map_of(file: u16, extent: u32) -> (PageId, usize) {
    let interval = extent / MAP_EXTENTS;
    let page = PageId::new(file, interval * MAP_EXTENTS * EXTENT_PAGES + MAP_PAGE);
    (page, SLOTS + (extent % MAP_EXTENTS) as usize)
}

/// The extent of word `word` of a map page.
fn extent_of(map: PageId, word: usize) -> u32 {
    map.page_no() / EXTENT_PAGES + (word - SLOTS) as u32
}

impl Store {
    /// Gives `owner` an extent; returns its first page.
    fn allocate_extent(&self, owner: TreeId, fg: FilegroupId) -> Result<PageId, StorageError> {
        let (file, extent) = self.take_extent(fg, KEPT_EXTENTS)?;
        match self.record_extent(&file, extent, owner) {
            Ok(()) => {
                counters::add(Counter::PagesAllocated, u64::from(EXTENT_PAGES));
                Ok(PageId::new(file.id, extent * EXTENT_PAGES))
            }
            Err(e) => {
                file.space.lock().set_free(extent);
                Err(e)
            }
        }
    }

    /// Allocates the first extent of a new tree, whose root is the extent's first page.
    pub(crate) fn allocate_root(&self, fg: FilegroupId) -> Result<PageId, StorageError> {
        let (file, extent) = self.take_extent(fg, 0)?;
        let root = PageId::new(file.id, extent * EXTENT_PAGES);
        if let Err(e) = self.record_extent(&file, extent, TreeId(root)) {
            file.space.lock().set_free(extent);
            return Err(e);
        }
        Ok(root)
    }

    /// Takes a free extent out of the bitmaps: of the file of the filegroup whose turn it is, unless no more
    /// than `kept` are left.
    fn take_extent(
        &self,
        fg: FilegroupId,
        kept: u32,
    ) -> Result<(Arc<DataFile>, u32), StorageError> {
        loop {
            let files = self.files_of(fg);
            for file in &files {
                self.know_space(file)?;
            }
            match next_in_proportion(&files, kept) {
                // Else others have taken it meanwhile.
                Some(file) => {
                    if let Some(extent) = file.space.lock().take() {
                        return Ok((file.clone(), extent));
                    }
                }
                None => self.grow(&files, kept)?,
            }
        }
    }

    fn record_extent(
        &self,
        file: &DataFile,
        extent: u32,
        owner: TreeId,
    ) -> Result<(), StorageError> {
        let (map, word) = map_of(file.id, extent);
        loop {
            let look = self.pool().optimistic(map)?;
            self.log.ensure(LOG_BYTES)?;
            let Some(mut w) = look.try_exclusive() else { continue };
            if w.word(word) != 0 {
                return Err(StorageError::Corrupt {
                    page: map,
                    what: "a free extent has an owner",
                });
            }
            let logged = self.log.log(&PageOp::AllocExtent { map, extent, owner });
            apply_alloc(&mut w, extent, owner);
            w.set_lsn(logged.start, logged.end);
            return Ok(());
        }
    }

    /// Reads the map pages of a file.
    fn load_space(&self, file: &DataFile) -> Result<(), StorageError> {
        let _turn = self.growing.lock(WaitType::PreemptiveOsFileOps);
        if file.space.lock().loaded {
            return Ok(());
        }
        let len = file.file.len().map_err(StorageError::File)?;
        let extents = (len / EXTENT_BYTES) as u32;
        let mut found = Space::of(true, extents);
        let mut copy = PageBuf::boxed();
        for first in (0..extents).step_by(MAP_EXTENTS as usize) {
            let (map, _) = map_of(file.id, first);
            loop {
                match self.pool().optimistic(map) {
                    Ok(look) => {
                        if look.copy_to(&mut copy) {
                            break;
                        }
                    }
                    Err(PoolError::Checksum { kind: DamageKind::NeverWritten, .. })
                        if extents == first + 1 =>
                    {
                        // Growth was cut short between the extent and its map page.
                        write_map(&*file.file, map)?;
                    }
                    Err(e) => return Err(e.into()),
                }
            }
            if header::page_type(&*copy) != MAP {
                return Err(StorageError::Corrupt { page: map, what: "not a map page" });
            }
            for e in first..extents.min(first + MAP_EXTENTS) {
                if copy.word(map_of(file.id, e).1) == 0 {
                    found.set_free(e);
                }
            }
        }
        *file.space.lock() = found;
        Ok(())
    }

    /// A data file whose maps have been read.
    fn mapped_file(&self, id: FileId) -> Result<Option<Arc<DataFile>>, StorageError> {
        let file = self.all_files().into_iter().find(|f| f.id == id);
        file.as_ref().map_or(Ok(()), |file| self.know_space(file))?;
        Ok(file)
    }

    /// Sees to it that the file's maps have been read.
    fn know_space(&self, file: &DataFile) -> Result<(), StorageError> {
        let known = file.space.lock().loaded;
        if known { Ok(()) } else { self.load_space(file) }
    }

    /// Pages of a data file, and those of them in extents that nobody has; none for what is no data file. May read the
    /// file's maps. Suspends.
    pub fn file_space(&self, id: FileId) -> Result<Option<FileSpace>, StorageError> {
        let Some(file) = self.mapped_file(id)? else { return Ok(None) };
        let space = file.space.lock();
        let pages = |extents: u32| u64::from(extents) * u64::from(EXTENT_PAGES);
        let maps = space.extents.div_ceil(MAP_EXTENTS);
        let used = space.extents.saturating_sub(space.free + maps);
        let (free_pages, used_pages) = (pages(space.free), pages(used));
        Ok(Some(FileSpace { pages: pages(space.extents), free_pages, used_pages }))
    }

    /// Frees all extents of a tree. The caller sees to it that nobody uses the tree any more. Repeating it is harmless.
    pub fn free_tree(&self, id: TreeId) -> Result<(), StorageError> {
        self.forget_tree(id);
        for file in self.all_files() {
            if !file.space.lock().loaded {
                self.load_space(&file)?;
            }
            let extents = file.space.lock().extents;
            for first in (0..extents).step_by(MAP_EXTENTS as usize) {
                let (map, _) = map_of(file.id, first);
                let freed = self.free_in_map(map, id)?;
                counters::add(Counter::PagesDeallocated, freed.len() as u64 * 8);
                let mut space = file.space.lock();
                freed.into_iter().for_each(|e| space.set_free(e));
            }
            task::maybe_yield();
        }
        Ok(())
    }

    /// Frees one extent of a tree, none of whose pages is in use, now or by anybody who goes by the map.
    pub(crate) fn free_extent(&self, first: PageId, owner: TreeId) -> Result<(), StorageError> {
        let extent = first.page_no() / EXTENT_PAGES;
        let (map, word) = map_of(first.file(), extent);
        let file = self.mapped_file(first.file())?;
        let no_file = StorageError::Corrupt { page: first, what: "a page of no file" };
        let file = file.ok_or(no_file)?;
        self.next_epoch();
        loop {
            let look = self.pool().optimistic(map)?;
            self.log.ensure(LOG_BYTES)?;
            let Some(mut w) = look.try_exclusive() else { continue };
            if w.word(word) != owner.0.0 {
                w.unlock_unchanged();
                let what = "the allocation map names another owner";
                return Err(StorageError::Corrupt { page: map, what });
            }
            let nobody = TreeId(PageId::NONE);
            let logged = self.log.log(&PageOp::AllocExtent { map, extent, owner: nobody });
            apply_alloc(&mut w, extent, nobody);
            w.set_lsn(logged.start, logged.end);
            break;
        }
        counters::add(Counter::PagesDeallocated, u64::from(EXTENT_PAGES));
        file.space.lock().set_free(extent);
        Ok(())
    }

    /// Whether an extent has been its owner's since before the file was opened.
    pub(crate) fn is_old_extent(&self, first: PageId) -> Result<bool, StorageError> {
        let extent = first.page_no() / EXTENT_PAGES;
        let file = self.mapped_file(first.file())?;
        Ok(file.is_some_and(|file| {
            let given = &file.space.lock().given;
            given.get(extent as usize / 64).is_none_or(|w| w & 1 << (extent % 64) == 0)
        }))
    }

    fn free_in_map(&self, map: PageId, owner: TreeId) -> Result<Vec<u32>, StorageError> {
        loop {
            let look = self.pool().optimistic(map)?;
            let owned: Vec<u32> = (SLOTS..SLOTS + MAP_EXTENTS as usize)
                .filter(|&w| look.u64_at(w) == owner.0.0)
                .map(|w| extent_of(map, w))
                .collect();
            if !look.validate() {
                continue;
            }
            if owned.is_empty() {
                return Ok(owned);
            }
            self.log.ensure(LOG_BYTES)?;
            let Some(mut w) = look.try_exclusive() else { continue };
            let logged = self.log.log(&PageOp::FreeExtents { map, owner });
            apply_free(&mut w, owner);
            w.set_lsn(logged.start, logged.end);
            return Ok(owned);
        }
    }

    /// The owner of the extent that a page is in; `None` when it is free or the system's.
    pub fn owner_of(&self, page: PageId) -> Result<Option<TreeId>, StorageError> {
        let (map, word) = map_of(page.file(), page.page_no() / EXTENT_PAGES);
        loop {
            let look = self.pool().optimistic(map)?;
            let owner = look.u64_at(word);
            if look.validate() {
                return Ok((owner > SYSTEM).then_some(TreeId(PageId(owner))));
            }
        }
    }
}

/// The change of a logged allocation.
pub(crate) fn apply_alloc(w: &mut impl PageWordsMut, extent: u32, owner: TreeId) {
    w.set_word(SLOTS + (extent % MAP_EXTENTS) as usize, owner.0.0);
}

/// The change of a logged release.
pub(crate) fn apply_free(w: &mut impl PageWordsMut, owner: TreeId) {
    for i in SLOTS..SLOTS + MAP_EXTENTS as usize {
        if w.word(i) == owner.0.0 {
            w.set_word(i, 0);
        }
    }
}
