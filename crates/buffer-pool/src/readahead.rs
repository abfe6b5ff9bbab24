//! Reading pages in before anybody waits for each of them.
//!
//! Promise: a hint and no more. A page that could not be read, or is not what it should be, stays absent, and whoever
//! then asks for it meets the error.

use crate::io::Group;
use crate::pool::{BufferPool, Loading, check_page};
use crate::{PAGE_BYTES, PageBuf, PageId, Redone, word};
use std::sync::atomic::Ordering::*;
use stdx::AlignedBuf;
use telemetry::WaitType;
use telemetry::counters::{self, Counter};

/// Pages that one call reads at most, and no more than a 32nd of what the pool may hold: what comes ahead must not push out what
/// is in use, nor what others have read ahead.
pub const READ_AHEAD_MAX: usize = 64;

impl BufferPool {
    /// Reads those of `pages` that are absent, of the first [`READ_AHEAD_MAX`], side by side, neighbours in one read; waits
    /// for all. Suspends, so the caller holds no latch.
    pub fn read_ahead(&self, pages: &[PageId]) {
        let mut loading: Vec<Loading<'_>> = Vec::new();
        let most = READ_AHEAD_MAX.min(self.frames.target() / 32);
        for &page in pages.iter().take(most) {
            let Ok(word) = self.word(page) else { continue };
            let seen = word.load(Acquire);
            let absent = seen & (word::LOADING | word::LATCH) == 0 && word::frame(seen).is_none();
            // What is behind its log is brought up to date by whoever asks for it.
            if absent
                && self.redo_of(page).is_none()
                && word.compare_exchange(seen, seen | word::LOADING, AcqRel, Relaxed).is_ok()
            {
                loading.push(Loading { pool: self, page, word, seen, frame: None });
            }
        }
        if loading.is_empty() {
            return;
        }
        loading.sort_unstable_by_key(|l| l.page);
        let mut buf = AlignedBuf::zeroed(loading.len() * PAGE_BYTES);
        let group = Group::new();
        let mut i = 0;
        while i < loading.len() {
            let first = loading[i].page;
            let run = loading[i..].iter().enumerate();
            let n = run.take_while(|(k, l)| l.page.0 == first.0 + *k as u64).count();
            let bytes = &raw mut buf[i * PAGE_BYTES..(i + n) * PAGE_BYTES];
            if let Ok(file) = self.file(first) {
                let at = u64::from(first.page_no()) * PAGE_BYTES as u64;
                // SAFETY: the buffer is ours, each range goes to one read, and the group is waited for below.
                unsafe { group.read(&*file.file, at, bytes) };
            }
            i += n;
        }
        if group.wait(WaitType::PageIoLatchSh).is_err() {
            return;
        }
        counters::add(Counter::PageReads, loading.len() as u64);
        counters::add(Counter::ReadaheadPages, loading.len() as u64);
        for (i, load) in loading.iter_mut().enumerate() {
            let bytes = &buf[i * PAGE_BYTES..(i + 1) * PAGE_BYTES];
            // SAFETY: a `PageBuf` is 8 KiB of u64 aligned to 4096; so is the buffer, and the offset is a multiple.
            let page: &PageBuf = unsafe { &*bytes.as_ptr().cast() };
            if check_page(load.page, page).is_ok() {
                let _ = load.fill(page, Redone::NOTHING);
            }
        }
    }
}
