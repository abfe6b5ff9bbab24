//! Pages that a crash has left behind their log: brought up to date on their way in, before anybody sees them.
//!
//! Recovery says which pages lack changes ([`PageRedo`]) and knows how to make them; the pool asks when it reads a page.
//!
//! Invariants:
//! 1. A page that is in a frame and quiet lacks nothing. So the way to a page in memory asks nobody, and costs what it
//!    always did.
//! 2. A page is forgotten by [`PageRedo::done`] only after its frame has the changes and says from which record on
//!    (`rec_lsn`), or after somebody has made it anew. So whoever looks for the oldest change that is in no file asks
//!    recovery first and [`BufferPool::min_rec_lsn`] afterwards, and misses none.
//! 3. Who brings a page up to date in private ([`BufferPool::install`]) holds nothing meanwhile. What it made counts
//!    only if the page is still absent and still pending when it takes the LOADING bit: as every way into the pool ends
//!    with `done`, nobody can have had the page, or written it, since.
//!
//! The bit and the words are the pool's (`word.rs`); the list is recovery's, behind its own mutexes: nothing here is
//! lock-free that was not so before.

use crate::io::Group;
use crate::pool::{BufferPool, Loading, check_page};
use crate::{DamageKind, PAGE_BYTES, PageBuf, PageId, PoolError, word};
use log_manager::Lsn;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use telemetry::WaitType;
use telemetry::counters::{self, Counter};

/// What bringing a page up to date did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Redone {
    /// The start of the first record that was applied, or found to be applied already; [`Lsn::NONE`]: there was nothing to
    /// do.
    pub rec_lsn: Lsn,
    /// The log has all of the page from there on.
    pub whole: bool,
}

impl Redone {
    /// The page was as its file has it.
    pub const NOTHING: Redone = Redone { rec_lsn: Lsn::NONE, whole: false };
}

/// Who knows what pages lack.
pub trait PageRedo: Send + Sync {
    /// Whether changes of the page may be missing in its file.
    fn is_pending(&self, page: PageId) -> bool;

    /// Puts the page as it must be into `buf`. `read` reads it from its file, and is called only where the log does not
    /// have all of it. Nothing is latched; may suspend.
    fn redo(
        &self,
        page: PageId,
        buf: &mut PageBuf,
        read: &dyn Fn(&mut PageBuf) -> Result<(), PoolError>,
    ) -> Result<Redone, PoolError>;

    /// The page is in a frame and lacks nothing. Perhaps latched: never suspends.
    fn done(&self, page: PageId);
}

impl BufferPool {
    /// From now on `redo` is asked about every page that is read in; `None`: nobody is, every page is up to date. Set
    /// before the first page is read, or when nothing is pending any more.
    pub fn set_redo(&self, redo: Option<Arc<dyn PageRedo>>) {
        let on = redo.is_some();
        *self.redo.lock() = redo;
        self.redo_on.store(on, Release);
    }

    /// Who is to be asked about `page`, if it may lack something.
    #[inline]
    pub(crate) fn redo_of(&self, page: PageId) -> Option<Arc<dyn PageRedo>> {
        if self.redo_on.load(Acquire) { self.pending_redo(page) } else { None }
    }

    #[cold]
    fn pending_redo(&self, page: PageId) -> Option<Arc<dyn PageRedo>> {
        let redo = self.redo.lock().clone();
        redo.filter(|redo| redo.is_pending(page))
    }

    /// Reads pages as their files have them, past the frames, neighbours in one read; `pages` is sorted. What is wrong
    /// with each, if anything. Suspends.
    pub fn read_pages(&self, pages: &[PageId], bufs: &mut [PageBuf]) -> Vec<Result<(), PoolError>> {
        assert_eq!(pages.len(), bufs.len());
        let group = Group::new();
        let mut i = 0;
        while i < pages.len() {
            let first = pages[i];
            let run = pages[i..].iter().enumerate();
            let n = run.take_while(|(k, p)| p.0 == first.0 + *k as u64).count();
            if let Ok(file) = self.file(first) {
                let bytes = std::ptr::slice_from_raw_parts_mut(
                    bufs[i..i + n].as_mut_ptr().cast::<u8>(),
                    n * PAGE_BYTES,
                );
                let at = u64::from(first.page_no()) * PAGE_BYTES as u64;
                // SAFETY: the buffers are the caller's and stay borrowed until the wait below; a `PageBuf` is
                // `PAGE_BYTES` plain bytes without padding, so `n` of them in a row are as many bytes; each goes to one
                // read.
                unsafe { group.read(&*file.file, at, bytes) };
            }
            i += n;
        }
        let failed = group.wait(WaitType::PageIoLatchEx).err();
        counters::add(Counter::PageReads, pages.len() as u64);
        let check = |(page, buf): (&PageId, &PageBuf)| match (check_page(*page, buf), &failed) {
            (Err(PoolError::Checksum { .. }), Some(e)) => {
                let error = std::io::Error::new(e.kind(), e.to_string());
                Err(PoolError::Io { page: *page, action: "read", error })
            }
            (checked, _) => checked,
        };
        pages.iter().zip(bufs.iter()).map(check).collect()
    }

    /// Puts a page that `redo` has brought up to date into a frame, unless it is there or need not be any more; whether
    /// it did. May evict, and so suspend.
    pub fn install(
        &self,
        redo: &dyn PageRedo,
        page: PageId,
        content: &PageBuf,
        redone: Redone,
    ) -> Result<bool, PoolError> {
        let word = self.word(page)?;
        let seen = word.load(Acquire);
        let absent = seen & (word::LOADING | word::LATCH) == 0 && word::frame(seen).is_none();
        if !absent || word.compare_exchange(seen, seen | word::LOADING, AcqRel, Relaxed).is_err() {
            return Ok(false);
        }
        let mut loading = Loading { pool: self, page, word, seen, frame: None };
        if !redo.is_pending(page) {
            return Ok(false);
        }
        loading.fill(content, redone)?;
        redo.done(page);
        Ok(true)
    }

    /// Writes what is dirty and takes every page out of its frame, so that each is read in again. Nobody else uses the
    /// pool. Suspends.
    pub fn empty(&self) -> Result<(), PoolError> {
        self.flush_all()?;
        for f in 0..self.frames.used() as u32 {
            self.try_evict(f);
        }
        Ok(())
    }

    /// Reads a page from its file and checks it.
    pub(crate) fn read_page(
        &self,
        page: PageId,
        buf: &mut PageBuf,
        io: WaitType,
    ) -> Result<(), PoolError> {
        let file = &self.file(page)?.file;
        let offset = u64::from(page.page_no()) * PAGE_BYTES as u64;
        file.read_exact_at(offset, buf.bytes_mut(), io).map_err(|error| {
            if error.kind() == std::io::ErrorKind::UnexpectedEof {
                return PoolError::Checksum { page, kind: DamageKind::NeverWritten };
            }
            PoolError::Io { page, action: "read", error }
        })?;
        counters::add(Counter::PageReads, 1);
        check_page(page, buf)
    }
}
