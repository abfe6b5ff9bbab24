//! Holding a page: a look that may prove wrong, or a latch that may not be slept on.
//!
//! The protocol is a sequence lock over the page's word. A writer swaps the LATCH bit in (Acquire, then a Release
//! fence), stores words Relaxed, and stores the next version (Release). A reader loads the word (Acquire), loads words
//! Relaxed, and after an Acquire fence finds the same word, or has read rubbish and starts again.
//!
//! Invariants: a [`PageWrite`] holds a `NoSuspend`; whoever changes a page through it calls `set_lsn` before letting
//! go, unless the page means the same as before (compaction).

use crate::frames::FrameMeta;
use crate::page::{
    LINE_WORDS, PAGE_WORDS, PageBuf, PageId, PageWords, PageWordsMut, copied_shared, copy_shared,
    header, prefetch_lines,
};
use crate::word;
use log_manager::Lsn;
use runtime::task::NoSuspend;
use std::sync::atomic::{AtomicU64, Ordering::*, fence};

/// An optimistic look at a page. What it shows is true only if `validate` says so afterwards.
#[derive(Clone, Copy)]
pub struct PageRead<'a> {
    pub(crate) word: &'a AtomicU64,
    pub(crate) frame: &'a [AtomicU64; PAGE_WORDS],
    pub(crate) meta: &'a FrameMeta,
    pub(crate) seen: u64,
    pub(crate) page: PageId,
}

impl<'a> PageRead<'a> {
    /// The page asked for.
    #[inline]
    pub fn id(&self) -> PageId {
        self.page
    }

    /// Word `i`, perhaps rubbish.
    #[inline]
    pub fn u64_at(&self, i: usize) -> u64 {
        self.frame[i % PAGE_WORDS].load(Relaxed)
    }

    /// Has the processor fetch these words, which are read soon, and what is known of the frame. A hint.
    #[inline]
    pub fn prefetch(&self, words: std::ops::Range<usize>) {
        let lines = words.start / LINE_WORDS..words.end.div_ceil(LINE_WORDS);
        prefetch_lines(self.frame, lines.start, lines.len());
        stdx::fetch(std::ptr::from_ref(self.meta));
    }

    /// Copies the page; whether the copy is one state of it.
    #[inline]
    pub fn copy_to(&self, out: &mut PageBuf) -> bool {
        copy_shared(self.frame, out.words_mut());
        self.validate()
    }

    /// Whether everything read so far belongs to one state of the page.
    #[inline]
    pub fn validate(&self) -> bool {
        fence(Acquire);
        self.word.load(Relaxed) == self.seen
    }

    /// Latches the page, if it is still in the state that was seen. Never waits.
    #[inline]
    pub fn try_exclusive(&self) -> Option<PageWrite<'a>> {
        PageWrite::try_latch(self.word, self.seen, self.frame, self.meta, self.page)
    }

    /// The word that was seen, for [`crate::BufferPool::try_exclusive_at`].
    #[inline]
    pub fn seen(&self) -> u64 {
        self.seen
    }
}

impl PageWords for PageRead<'_> {
    #[inline]
    fn word(&self, i: usize) -> u64 {
        self.u64_at(i)
    }
}

/// A page held exclusively. Dropping it lets go, one version later.
pub struct PageWrite<'a> {
    word: &'a AtomicU64,
    frame: &'a [AtomicU64; PAGE_WORDS],
    meta: &'a FrameMeta,
    /// The word to store when letting go.
    next: u64,
    page: PageId,
    _no_suspend: NoSuspend,
}

impl<'a> PageWrite<'a> {
    #[inline]
    pub(crate) fn try_latch(
        word: &'a AtomicU64,
        seen: u64,
        frame: &'a [AtomicU64; PAGE_WORDS],
        meta: &'a FrameMeta,
        page: PageId,
    ) -> Option<PageWrite<'a>> {
        debug_assert!(word::is_quiet(seen));
        let no_suspend = NoSuspend::new();
        if word.compare_exchange(seen, seen | word::LATCH, Acquire, Relaxed).is_err() {
            return None;
        }
        fence(Release);
        let next = seen.wrapping_add(word::VERSION_ONE);
        Some(PageWrite { word, frame, meta, next, page, _no_suspend: no_suspend })
    }

    /// Takes over a latch whose bit is set already; `quiet` is the word without it.
    pub(crate) fn adopt(
        word: &'a AtomicU64,
        quiet: u64,
        frame: &'a [AtomicU64; PAGE_WORDS],
        meta: &'a FrameMeta,
        page: PageId,
    ) -> PageWrite<'a> {
        fence(Release);
        let next = quiet.wrapping_add(word::VERSION_ONE);
        PageWrite { word, frame, meta, next, page, _no_suspend: NoSuspend::new() }
    }

    /// The page.
    #[inline]
    pub fn id(&self) -> PageId {
        self.page
    }

    /// The page LSN.
    #[inline]
    pub fn lsn(&self) -> Lsn {
        Lsn(self.word(header::LSN))
    }

    /// The page has the change of the record `start..end`: sets the page LSN, and marks the page dirty.
    #[inline]
    pub fn set_lsn(&mut self, start: Lsn, end: Lsn) {
        debug_assert!(start.0 != 0 && end > start);
        self.set_word(header::LSN, end.0);
        if self.meta.rec_lsn.load(Relaxed) == 0 {
            self.meta.rec_lsn.store(start.0, Release);
        }
    }

    /// Copies the page.
    pub fn copy_to(&self, out: &mut PageBuf) {
        copy_shared(self.frame, out.words_mut());
    }

    /// Overwrites the whole page but for its page LSN, which only `set_lsn` changes.
    pub fn copy_from(&mut self, from: &PageBuf) {
        let lsn = self.word(header::LSN);
        for (w, v) in self.frame.iter().zip(from.words()) {
            w.store(*v, Relaxed);
        }
        self.set_word(header::LSN, lsn);
    }

    /// Lets go and says which word [`crate::BufferPool::try_exclusive_at`] may find if nobody comes between.
    #[inline]
    pub fn unlock(self) -> u64 {
        self.next
    }

    /// Lets go of a page that was not changed: looks at it stay valid.
    pub fn unlock_unchanged(mut self) {
        self.next = self.next.wrapping_sub(word::VERSION_ONE);
    }
}

impl Drop for PageWrite<'_> {
    #[inline]
    fn drop(&mut self) {
        self.word.store(self.next, Release);
    }
}

impl PageWords for PageWrite<'_> {
    #[inline]
    fn word(&self, i: usize) -> u64 {
        self.frame[i % PAGE_WORDS].load(Relaxed)
    }

    #[inline]
    fn copied(&self) -> PageBuf {
        copied_shared(self.frame)
    }
}

impl PageWordsMut for PageWrite<'_> {
    #[inline]
    fn set_word(&mut self, i: usize, value: u64) {
        self.frame[i % PAGE_WORDS].store(value, Relaxed);
    }

    #[inline]
    fn set_words(&mut self, i: usize, values: &[u64]) {
        for (word, value) in self.frame[i..i + values.len()].iter().zip(values) {
            word.store(*value, Relaxed);
        }
    }
}
