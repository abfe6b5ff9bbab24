//! Frames: one mapped arena of pages, a line of metadata for each, and those that are free.
//!
//! Words: *used* frames are those below `fresh`, handed out at least once; the others have never been touched.
//! Invariants:
//! 1. A frame is on the free list, or in a reservation, or holds the page that its metadata names, whose word names
//!    the frame. While it changes hands, the word's LATCH or LOADING bit says so.
//! 2. `rec_lsn` is the start of the first record whose change is in the frame but in no copy of it under way to disk;
//!    `flush_lsn` the same for the copy under way. Both zero: the page on disk is as new as the frame.
//! 3. Both are written under the page's latch, but for the clearing of `flush_lsn` by the flusher that set it.

use crate::page::{PAGE_BYTES, PAGE_WORDS};
use runtime::spin::SpinLock;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};
use telemetry::SpinClass;

/// A private anonymous mapping: zero, lazily backed, never moved.
pub(crate) struct Mapping {
    base: *mut u8,
    len: usize,
}

// SAFETY: a mapping is memory; who may touch which bytes is the business of its users.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn new(len: usize, huge: bool) -> io::Result<Mapping> {
        // SAFETY: a fresh private anonymous mapping at an address of the kernel's choice touches nothing of ours.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len.max(1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if huge {
            // SAFETY: advice about our own mapping; a refusal changes nothing.
            unsafe { libc::madvise(base, len, libc::MADV_HUGEPAGE) };
        }
        Ok(Mapping { base: base.cast(), len: len.max(1) })
    }

    /// The mapping as atomic words.
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, zeroed, lives as long as `self`, and is touched as atomics only.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.len / 8) }
    }

    /// Backs a range with memory now.
    fn populate(&self, from: usize, len: usize) {
        const MADV_POPULATE_WRITE: libc::c_int = 23;
        let len = len.min(self.len.saturating_sub(from));
        if len != 0 {
            // SAFETY: the range is inside of our mapping; populating changes no contents. A refusal (old kernel)
            // leaves the pages to be touched on first use.
            unsafe { libc::madvise(self.base.add(from).cast(), len, MADV_POPULATE_WRITE) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` are of the mmap in `new`; borrows of the mapping have ended.
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

/// What is known of a frame. A line of its own. See the file's invariants.
#[repr(C, align(64))]
#[derive(Default)]
pub(crate) struct FrameMeta {
    /// The page in the frame, or 0.
    pub(crate) page: AtomicU64,
    pub(crate) rec_lsn: AtomicU64,
    pub(crate) flush_lsn: AtomicU64,
    /// Used since the clock's hand passed. Set only when clear.
    pub(crate) referenced: AtomicBool,
    /// Never written since [`crate::BufferPool::create`]: the log has all of it from `rec_lsn` on, so a torn write of
    /// it needs no other copy. Written under the page's latch or LOADING bit.
    pub(crate) imaged: AtomicBool,
}

impl FrameMeta {
    /// Whether the frame has what its file has not.
    pub(crate) fn is_dirty(&self) -> bool {
        self.rec_lsn.load(Acquire) != 0 || self.flush_lsn.load(Acquire) != 0
    }
}

/// Bytes populated at a time.
const PREFAULT_STEP: usize = 32 << 20;
/// Bytes kept populated ahead of use.
const PREFAULT_AHEAD: usize = 64 << 20;

/// See the file.
pub(crate) struct Frames {
    arena: Mapping,
    meta: Mapping,
    count: usize,
    fresh: AtomicU32,
    free: SpinLock<Vec<u32>>,
    /// Bytes of the arena populated so far.
    populated: AtomicU64,
    /// Bytes told to the account of the process.
    told: AtomicU64,
}

impl Drop for Frames {
    fn drop(&mut self) {
        runtime::memory::mapped(-(self.told.load(Relaxed) as i64));
        runtime::memory::set_aside(-((self.count * PAGE_BYTES) as i64));
    }
}

impl Frames {
    pub(crate) fn new(count: usize, prefault_bytes: usize) -> io::Result<Frames> {
        let arena = Mapping::new(count * PAGE_BYTES, true)?;
        let meta = Mapping::new(count * size_of::<FrameMeta>(), false)?;
        arena.populate(0, prefault_bytes);
        let frames = Frames {
            arena,
            meta,
            count,
            fresh: AtomicU32::new(0),
            free: SpinLock::new(SpinClass::BufFreeList, Vec::new()),
            populated: AtomicU64::new(prefault_bytes as u64),
            told: AtomicU64::new(0),
        };
        runtime::memory::set_aside((count * PAGE_BYTES) as i64);
        frames.tell(prefault_bytes.min(count * PAGE_BYTES));
        Ok(frames)
    }

    /// So much more of the arena is backed by memory.
    fn tell(&self, bytes: usize) {
        self.told.fetch_add(bytes as u64, Relaxed);
        runtime::memory::mapped(bytes as i64);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Frames ever handed out.
    pub(crate) fn used(&self) -> usize {
        (self.fresh.load(Acquire) as usize).min(self.count)
    }

    /// The words of frame `f`.
    #[inline]
    pub(crate) fn words(&self, f: u32) -> &[AtomicU64; PAGE_WORDS] {
        debug_assert!((f as usize) < self.count);
        // SAFETY: every frame number in a page word is below `count` (they come from `take` alone), so the page lies
        // in the arena; it is aligned, and touched as atomics only.
        unsafe { &*self.arena.base.cast::<[AtomicU64; PAGE_WORDS]>().add(f as usize) }
    }

    /// The metadata of frame `f`.
    #[inline]
    pub(crate) fn meta(&self, f: u32) -> &FrameMeta {
        debug_assert!((f as usize) < self.count);
        // SAFETY: as `words`; all zeros is a valid `FrameMeta`, whose fields are atomics.
        unsafe { &*self.meta.base.cast::<FrameMeta>().add(f as usize) }
    }

    /// A free frame, if there is one without evicting.
    pub(crate) fn take(&self) -> Option<u32> {
        if let Some(f) = self.free.lock().pop() {
            return Some(f);
        }
        if self.fresh.load(Relaxed) as usize >= self.count {
            return None;
        }
        let f = self.fresh.fetch_add(1, AcqRel);
        if (f as usize) < self.count {
            if f as u64 * PAGE_BYTES as u64 >= self.populated.load(Relaxed) {
                self.tell(PAGE_BYTES);
            }
            return Some(f);
        }
        self.fresh.fetch_sub(1, AcqRel);
        None
    }

    /// Gives a frame back. It names no page.
    pub(crate) fn give(&self, f: u32) {
        debug_assert_eq!(self.meta(f).page.load(Relaxed), 0);
        self.free.lock().push(f);
    }

    /// Frames that can be had without evicting.
    pub(crate) fn available(&self) -> usize {
        self.free.lock().len() + (self.count - self.used())
    }

    /// Populates what is not yet populated, step by step; `step` is called between steps and says whether to go on.
    pub(crate) fn populate_all(&self, mut step: impl FnMut() -> bool) {
        let end = self.count * PAGE_BYTES;
        loop {
            let from = self.populated.load(Relaxed) as usize;
            if from >= end || !step() {
                return;
            }
            self.populate(from);
        }
    }

    fn populate(&self, from: usize) {
        self.arena.populate(from, PREFAULT_STEP);
        let to = (from + PREFAULT_STEP).min(self.count * PAGE_BYTES);
        let before = self.populated.fetch_max((from + PREFAULT_STEP) as u64, Relaxed) as usize;
        self.tell(to.saturating_sub(before.max(from)));
    }

    /// Populates one step when fewer than enough fresh bytes are ready; whether it did.
    pub(crate) fn prefault_step(&self) -> bool {
        let end = self.count * PAGE_BYTES;
        let ready = self.populated.load(Relaxed) as usize;
        if ready >= end || ready >= self.used() * PAGE_BYTES + PREFAULT_AHEAD {
            return false;
        }
        let from = ready.max(self.used() * PAGE_BYTES) & !((2 << 20) - 1);
        self.populate(from);
        true
    }
}
