//! The pool: files, frames, and the way in.
//!
//! States of a page, and who walks each arrow:
//!
//! ```text
//!            load: LOADING          finish_load
//!   absent ----------------> loading ---------> quiet <-----> latched   (try_latch / drop of PageWrite)
//!     ^                         | error           |
//!     +-------------------------+                 | evict: latch, no frame, next version
//!     +-------------------------------------------+
//!   absent ---- create: LATCH with a reserved frame ---------> latched
//! ```
//!
//! A page that is behind its log after a crash is brought up to date while it is loading: see `redo.rs`.

use crate::classic;
use crate::doublewrite::{CHECKPOINT_AREAS, DoubleWrite};
use crate::frames::{Ask, FrameMeta, Frames};
use crate::io::{LoadWaiters, TaskMutex};
use crate::mapping::{Mapping, Pages};
use crate::word;
use crate::{
    DamageKind, FileId, PAGE_BYTES, PageBuf, PageId, PageRead, PageRedo, PageWait,
    PageWaitListener, PageWordsMut, PageWrite, PoolError, Redone, header,
};
use device::File;
use log_manager::{Harden, Lsn};
use parking_lot::Mutex;
use runtime::spin::Backoff;
use runtime::{clock, task};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, OnceLock, Weak};
use telemetry::counters::{self, Counter};
use telemetry::{WaitType, waits};

/// How large a pool is, and of what memory.
#[derive(Clone, Debug, Default)]
pub struct PoolConfig {
    /// Bytes of frames; rounded down to pages, at least 16 of them.
    pub bytes: usize,
    /// Bytes of frames touched at once, in huge pages where there are some.
    pub prefault_bytes: usize,
    /// NUMA nodes that its frames are spread over, each thread taking those of its own first; empty: they lie where
    /// they are touched first.
    pub nodes: Vec<usize>,
    /// Huge pages that the system has set apart (hugetlbfs), if there are as many.
    pub large_pages: bool,
    /// Kept in memory, if the process may.
    pub lock_pages: bool,
}

/// Figures of a pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolStats {
    /// Frames that may hold pages; more for a moment after they were made fewer.
    pub frames: usize,
    /// Frames that hold no page.
    pub free: usize,
    /// How long a page that nobody asks for stays, in nanoseconds: the time of the clock hand's last round, or of the
    /// one under way where that takes longer; `None` before the hand has been round.
    pub page_life_ns: Option<u64>,
}

/// Files that a pool can know, file 0 included.
const FILES: usize = 1024;
/// Frames that one reservation can hold.
const RESERVED_MAX: usize = 4;

pub(crate) struct FileEntry {
    pub(crate) file: Arc<dyn File>,
    words: Mapping,
    max_pages: u32,
}

/// See the crate.
pub struct BufferPool {
    pub(crate) frames: Frames,
    /// Frames that it may hold, at least and at most.
    pub(crate) bounds: (AtomicUsize, AtomicUsize),
    files: Box<[AtomicPtr<FileEntry>]>,
    /// Owns what `files` points at, also after `unregister_file`, since optimistic readers may still look.
    #[allow(clippy::vec_box, reason = "`files` points at the boxes, which must not move")]
    entries: Mutex<Vec<Box<FileEntry>>>,
    pub(crate) wal: Arc<dyn Harden>,
    pub(crate) checkpoint: [TaskMutex<DoubleWrite>; CHECKPOINT_AREAS],
    pub(crate) cleaner: TaskMutex<DoubleWrite>,
    pub(crate) poisoned: AtomicBool,
    pub(crate) hand: AtomicUsize,
    /// When the hand's round began, and what the one before it took; 0: there was none.
    pub(crate) round_began_ns: AtomicU64,
    pub(crate) last_round_ns: AtomicU64,
    pub(crate) cursor: AtomicUsize,
    loads: LoadWaiters,
    /// Who knows what pages lack after a crash, and whether there is somebody.
    pub(crate) redo: Mutex<Option<Arc<dyn PageRedo>>>,
    pub(crate) redo_on: AtomicBool,
    /// Held by who gives memory back for others.
    pub(crate) giving: Mutex<()>,
    /// Who is told of waits.
    listener: OnceLock<Arc<dyn PageWaitListener>>,
}

/// Frames set aside, so that [`BufferPool::create`] need not wait while latches are held. Unused ones go back on drop.
pub struct FrameReservation<'a> {
    pool: &'a BufferPool,
    frames: [u32; RESERVED_MAX],
    len: usize,
}

impl FrameReservation<'_> {
    /// Sets more frames aside until there are `n`, at most 4. May evict, and so suspend.
    pub fn refill(&mut self, n: usize) -> Result<(), PoolError> {
        assert!(n <= RESERVED_MAX);
        while self.len < n {
            self.frames[self.len] = self.pool.take_frame()?;
            self.len += 1;
        }
        Ok(())
    }
}

impl Drop for FrameReservation<'_> {
    fn drop(&mut self) {
        self.frames[..self.len].iter().for_each(|&f| self.pool.frames.give(f));
    }
}

impl BufferPool {
    /// A pool over a double-write file, which no other pool uses.
    pub fn new(
        config: PoolConfig,
        wal: Arc<dyn Harden>,
        doublewrite: Arc<dyn File>,
    ) -> Result<Arc<BufferPool>, PoolError> {
        let failed = |error| PoolError::Io { page: PageId::NONE, action: "allocation", error };
        let count = (config.bytes / PAGE_BYTES).clamp(16, word::FRAMES_MAX);
        let prefault = config.prefault_bytes.min(count * PAGE_BYTES);
        let ask = Ask {
            prefault_bytes: prefault,
            nodes: &config.nodes,
            reserved_huge: config.large_pages,
            locked: config.lock_pages,
        };
        let frames = Frames::new(count, &ask).map_err(failed)?;
        let (checkpoint, cleaner) = DoubleWrite::areas(doublewrite).map_err(failed)?;
        let pool = Arc::new(BufferPool {
            frames,
            bounds: (AtomicUsize::new(count), AtomicUsize::new(count)),
            files: (0..FILES).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
            entries: Mutex::new(Vec::new()),
            wal,
            checkpoint: checkpoint.map(TaskMutex::new),
            cleaner: TaskMutex::new(cleaner),
            poisoned: AtomicBool::new(false),
            hand: AtomicUsize::new(0),
            round_began_ns: AtomicU64::new(clock::now_ns()),
            last_round_ns: AtomicU64::new(0),
            cursor: AtomicUsize::new(0),
            loads: LoadWaiters::new(),
            redo: Mutex::new(None),
            redo_on: AtomicBool::new(false),
            giving: Mutex::default(),
            listener: OnceLock::new(),
        });
        let giver: Weak<BufferPool> = Arc::downgrade(&pool);
        runtime::shortage::register(giver);
        Ok(pool)
    }

    /// Makes the pages of a file known; `max_pages` reserves 8 bytes of address space each, not memory.
    pub fn register_file(
        &self,
        id: FileId,
        file: Arc<dyn File>,
        max_pages: u32,
    ) -> Result<(), PoolError> {
        let page = PageId::new(id, 0);
        let slot = self.files.get(id as usize).ok_or(PoolError::OutOfRange(page))?;
        let words = Mapping::new(max_pages as usize * 8, Pages::Small)
            .map_err(|error| PoolError::Io { page, action: "allocation", error })?;
        let mut entries = self.entries.lock();
        entries.push(Box::new(FileEntry { file, words, max_pages }));
        let entry: *const FileEntry = &**entries.last().expect("just pushed");
        slot.store(entry.cast_mut(), Release);
        Ok(())
    }

    /// Forgets a file and drops its pages, written or not. Nobody may be using them.
    pub fn unregister_file(&self, id: FileId) {
        for f in 0..self.frames.used() as u32 {
            let meta = self.frames.meta(f);
            let page = PageId(meta.page.load(Acquire));
            if page.is_none() || page.file() != id {
                continue;
            }
            meta.rec_lsn.store(0, Release);
            while meta.flush_lsn.load(Acquire) != 0 {
                task::yield_now();
            }
            self.try_evict(f);
        }
        if let Some(slot) = self.files.get(id as usize) {
            slot.store(ptr::null_mut(), Release);
        }
    }

    #[inline]
    pub(crate) fn file(&self, page: PageId) -> Result<&FileEntry, PoolError> {
        let p = match self.files.get(page.file() as usize) {
            Some(slot) => slot.load(Acquire),
            None => ptr::null_mut(),
        };
        // SAFETY: a non-null pointer is to a box in `entries`, which only grows, so it lives as long as the pool.
        unsafe { p.as_ref() }.ok_or(PoolError::OutOfRange(page))
    }

    /// The word of a page.
    #[inline]
    pub(crate) fn word(&self, page: PageId) -> Result<&AtomicU64, PoolError> {
        let file = self.file(page)?;
        if page.page_no() >= file.max_pages {
            return Err(PoolError::OutOfRange(page));
        }
        Ok(&file.words.words()[page.page_no() as usize])
    }

    #[inline]
    fn look<'a>(&'a self, page: PageId, word: &'a AtomicU64, seen: u64) -> PageRead<'a> {
        let f = word::frame(seen).expect("quiet words name a frame");
        if self.frames.has_nodes() {
            self.note_lookup(f);
        }
        self.read_of(page, word, f, seen)
    }

    #[inline]
    pub(crate) fn read_of<'a>(
        &'a self,
        page: PageId,
        word: &'a AtomicU64,
        f: u32,
        seen: u64,
    ) -> PageRead<'a> {
        PageRead { word, frame: self.frames.words(f), meta: self.frames.meta(f), seen, page }
    }

    /// A page to read optimistically; read in first when absent (suspends). Waits while it is latched.
    #[inline]
    pub fn optimistic(&self, page: PageId) -> Result<PageRead<'_>, PoolError> {
        let word = self.word(page)?;
        let mut seen = word.load(Acquire);
        if !word::is_quiet(seen) {
            seen = self.until_quiet(page, word, WaitType::PageIoLatchSh)?;
        }
        if classic::readers_latch() {
            seen = self.latch_to_look(page, word, seen)?;
        }
        let look = self.look(page, word, seen);
        if !look.meta.referenced.load(Relaxed) {
            look.meta.referenced.store(true, Relaxed);
        }
        Ok(look)
    }

    /// In the classic form: takes the page's latch and lets go of it; the word under which that was.
    #[cold]
    fn latch_to_look(
        &self,
        page: PageId,
        word: &AtomicU64,
        mut seen: u64,
    ) -> Result<u64, PoolError> {
        loop {
            if word::is_quiet(seen)
                && let Some(frame) = word::frame(seen)
                && let Some(held) = self.read_of(page, word, frame, seen).try_exclusive()
            {
                held.unlock_unchanged();
                return Ok(seen);
            }
            seen = word.load(Acquire);
            if !word::is_quiet(seen) {
                seen = self.until_quiet(page, word, WaitType::PageIoLatchSh)?;
            }
        }
    }

    /// A page to read optimistically, if that can be had without waiting. Nobody is told that it is in use.
    #[inline]
    pub fn optimistic_now(&self, page: PageId) -> Option<PageRead<'_>> {
        let word = self.word(page).ok()?;
        let seen = word.load(Acquire);
        let f = word::frame(seen).filter(|_| word::is_quiet(seen))?;
        Some(self.read_of(page, word, f, seen))
    }

    /// A page to write; read in first when absent (suspends). Waits while it is latched.
    pub fn exclusive(&self, page: PageId) -> Result<PageWrite<'_>, PoolError> {
        let word = self.word(page)?;
        loop {
            let mut seen = word.load(Acquire);
            if !word::is_quiet(seen) {
                seen = self.until_quiet(page, word, WaitType::PageIoLatchEx)?;
            }
            let look = self.look(page, word, seen);
            if let Some(held) = look.try_exclusive() {
                if !look.meta.referenced.load(Relaxed) {
                    look.meta.referenced.store(true, Relaxed);
                }
                return Ok(held);
            }
        }
    }

    /// Latches a page if its word is still `seen`. One compare-and-swap; never waits.
    #[inline]
    pub fn try_exclusive_at(&self, page: PageId, seen: u64) -> Option<PageWrite<'_>> {
        if !word::is_quiet(seen) {
            return None;
        }
        let word = self.word(page).ok()?;
        self.look(page, word, seen).try_exclusive()
    }

    /// Latches a page if that can be had without I/O and without a long wait.
    #[inline]
    pub fn try_exclusive_now(&self, page: PageId) -> Option<PageWrite<'_>> {
        let word = self.word(page).ok()?;
        let mut seen = word.load(Acquire);
        if seen & word::LATCH != 0 {
            for _ in 0..64 {
                std::hint::spin_loop();
                seen = word.load(Acquire);
                if seen & word::LATCH == 0 {
                    break;
                }
            }
        }
        self.try_exclusive_at(page, seen)
    }

    /// Waits until the page is in memory and unlatched; returns its word.
    #[cold]
    #[inline(never)]
    fn until_quiet(&self, page: PageId, word: &AtomicU64, io: WaitType) -> Result<u64, PoolError> {
        let mut backoff = Backoff::new();
        let (mut began, mut began_io) = (None, None);
        loop {
            let seen = word.load(Acquire);
            if word::is_quiet(seen) {
                if let Some(began_io) = began_io {
                    self.tell(page, word, seen, PageWait::Io, clock::now_ns() - began_io);
                }
                if let Some(began) = began {
                    let sh = io == WaitType::PageIoLatchSh;
                    let wait = if sh { WaitType::PageLatchSh } else { WaitType::PageLatchEx };
                    let waited_ns = clock::now_ns() - began;
                    waits::record(wait, waited_ns, 0);
                    telemetry::latches::record(telemetry::latches::LatchClass::Buffer, waited_ns);
                    self.tell(page, word, seen, PageWait::Latch, waited_ns);
                }
                return Ok(seen);
            }
            if seen & word::LOADING != 0 {
                began_io.get_or_insert_with(clock::now_ns);
                self.loads.wait(page, || word.load(Acquire) & word::LOADING != 0, io);
            } else if word::frame(seen).is_none() {
                began_io.get_or_insert_with(clock::now_ns);
                self.load(page, word, seen, io)?;
            } else {
                // Latched: the holder never suspends, so it runs on another OS thread, or has lost its CPU.
                began.get_or_insert_with(clock::now_ns);
                backoff.burst(|| word.load(Relaxed) & word::LATCH == 0);
            }
        }
    }

    /// Who is told of waits for pages from here on: one for a pool.
    pub fn tell_waits(&self, listener: Arc<dyn PageWaitListener>) {
        if self.listener.set(listener).is_err() {
            stdx::fatal!("two want to know of a pool's waits");
        }
    }

    fn tell(&self, page: PageId, word: &AtomicU64, seen: u64, what: PageWait, waited_ns: u64) {
        if let (Some(listener), Some(frame)) = (self.listener.get(), word::frame(seen)) {
            listener.waited(&self.read_of(page, word, frame, seen), what, waited_ns);
        }
    }

    /// Reads an absent page in, unless somebody else has begun to.
    fn load(
        &self,
        page: PageId,
        word: &AtomicU64,
        seen: u64,
        io: WaitType,
    ) -> Result<(), PoolError> {
        if word.compare_exchange(seen, seen | word::LOADING, AcqRel, Relaxed).is_err() {
            return Ok(());
        }
        let mut loading = Loading { pool: self, page, word, seen, frame: None };
        let mut buf = PageBuf::boxed();
        if let Some(redo) = self.redo_of(page) {
            let read = |buf: &mut PageBuf| self.read_page(page, buf, io);
            let redone = redo.redo(page, &mut buf, &read)?;
            loading.fill(&buf, redone)?;
            redo.done(page);
            return Ok(());
        }
        self.read_page(page, &mut buf, io)?;
        loading.fill(&buf, Redone::NOTHING)
    }

    /// Sets `n` frames aside, at most 4. May evict, and so suspend.
    pub fn reserve(&self, n: usize) -> Result<FrameReservation<'_>, PoolError> {
        let mut r = FrameReservation { pool: self, frames: [0; RESERVED_MAX], len: 0 };
        r.refill(n)?;
        Ok(r)
    }

    /// A page to be written whole, whatever was there before; its page LSN is zero, the rest is whatever the frame
    /// held. The caller logs all of it with the first record about it: until the page was written once, a torn write
    /// is mended from the log alone. Never suspends: takes its frame from the reservation. `None` when the page is just being read in:
    /// let go of everything and try again.
    pub fn create<'a>(
        &'a self,
        page: PageId,
        reserved: &mut FrameReservation<'_>,
    ) -> Result<Option<PageWrite<'a>>, PoolError> {
        let word = self.word(page)?;
        let mut backoff = Backoff::new();
        loop {
            let seen = word.load(Acquire);
            if seen & word::LOADING != 0 {
                return Ok(None);
            }
            if seen & word::LATCH != 0 {
                backoff.burst(|| word.load(Relaxed) & word::LATCH == 0);
                continue;
            }
            if word::frame(seen).is_some() {
                let look = self.look(page, word, seen);
                let Some(mut held) = look.try_exclusive() else { continue };
                look.meta.imaged.store(true, Relaxed);
                held.set_word(header::LSN, 0);
                return Ok(Some(held));
            }
            assert!(reserved.len > 0, "a frame was reserved for every page created");
            let f = reserved.frames[reserved.len - 1];
            let quiet = word::with_frame(seen, Some(f));
            let latched = quiet | word::LATCH;
            if word.compare_exchange(seen, latched, AcqRel, Relaxed).is_err() {
                continue;
            }
            reserved.len -= 1;
            let meta = self.frames.meta(f);
            meta.referenced.store(true, Relaxed);
            meta.imaged.store(true, Relaxed);
            let mut held = PageWrite::adopt(word, quiet, self.frames.words(f), meta, page);
            held.set_word(header::LSN, 0);
            // Under the latch, before any record about the page: `min_rec_lsn` relies on it.
            meta.page.store(page.0, Release);
            if let Some(redo) = self.redo_of(page) {
                // What it was in another life matters to nobody.
                redo.done(page);
            }
            return Ok(Some(held));
        }
    }

    /// As `create`, for callers that hold nothing.
    pub fn create_or_wait(&self, page: PageId) -> Result<PageWrite<'_>, PoolError> {
        loop {
            let mut reserved = self.reserve(1)?;
            if let Some(held) = self.create(page, &mut reserved)? {
                return Ok(held);
            }
            drop(reserved);
            let word = self.word(page)?;
            let loading = || word.load(Acquire) & word::LOADING != 0;
            self.loads.wait(page, loading, WaitType::PageIoLatchEx);
        }
    }

    /// Whether the page is in memory.
    pub fn is_resident(&self, page: PageId) -> bool {
        self.word(page).is_ok_and(|w| word::frame(w.load(Acquire)).is_some())
    }

    /// Has the processor fetch a page that will be copied soon, if it is in memory. A hint.
    #[inline]
    pub fn prefetch(&self, page: PageId) {
        if page.is_none() {
            return;
        }
        let Ok(word) = self.word(page) else { return };
        if let Some(f) = word::frame(word.load(Relaxed)) {
            crate::page::prefetch(self.frames.words(f));
        }
    }

    /// The page LSN of a page in memory, if its file must have the page just so; `None` when it is not in memory, or not
    /// written since it was changed.
    pub fn written_lsn(&self, page: PageId) -> Option<Lsn> {
        let word = self.word(page).ok()?;
        let seen = word.load(Acquire);
        if !word::is_quiet(seen) {
            return None;
        }
        let look = self.look(page, word, seen);
        let lsn = Lsn(look.u64_at(header::LSN));
        // One that was to be created, and then was not, has none.
        (!look.meta.is_dirty() && look.validate() && lsn != Lsn::NONE).then_some(lsn)
    }

    fn take_frame(&self) -> Result<u32, PoolError> {
        for attempt in 0..400 {
            if let Some(f) = self.frames.take() {
                return Ok(f);
            }
            if attempt == 0 {
                counters::add(Counter::FreeListStalls, 1);
            }
            let want = 16.min(self.frames.count() / 4);
            if self.reclaim(want)? == 0 {
                // Everything is latched, loading or being written: that passes.
                task::sleep_ns(50_000 * (1 + attempt / 20), WaitType::LazyWriterSleep);
            }
        }
        Err(PoolError::NoFrames)
    }

    /// Touches every frame now, for whoever would rather wait once than at first uses (where memory is slow to come,
    /// as in a young virtual machine, a first touch costs more than the insert that causes it). Blocks the thread for
    /// milliseconds at a time: not for tasks. `step` is called between steps and says whether to go on.
    pub fn populate_all(&self, step: impl FnMut() -> bool) {
        self.frames.populate_all(step);
    }

    /// Touches the next frames before they are needed; `false` when enough are ready. One step of a cleaner.
    pub fn prefault_step(&self) -> bool {
        self.frames.prefault_step()
    }

    /// The files that are registered, by number.
    pub fn files(&self) -> Vec<(FileId, Arc<dyn File>)> {
        let known = |id: usize| {
            let entry = self.file(PageId::new(id as FileId, 0)).ok()?;
            Some((id as FileId, entry.file.clone()))
        };
        (0..self.files.len()).filter_map(known).collect()
    }

    /// Figures. Cheap.
    pub fn stats(&self) -> PoolStats {
        let round_ns = self.last_round_ns.load(Relaxed);
        let under_way = clock::now_ns().saturating_sub(self.round_began_ns.load(Relaxed));
        PoolStats {
            frames: self.frames.target() + self.frames.beyond_target(),
            free: self.frames.available(),
            page_life_ns: (round_ns > 0).then(|| round_ns.max(under_way)),
        }
    }

    /// Pages changed since they were last written. Walks all frames.
    pub fn dirty_pages(&self) -> usize {
        (0..self.frames.used() as u32).filter(|&f| self.frames.meta(f).is_dirty()).count()
    }

    pub(crate) fn frame_state(&self, f: u32) -> (&FrameMeta, PageId) {
        let meta = self.frames.meta(f);
        (meta, PageId(meta.page.load(Acquire)))
    }
}

impl BufferPool {
    /// A copy of a page as it is now, read in when absent. Its checksum is whatever it was when it was last written.
    /// Suspends.
    pub fn copy_page(&self, page: PageId, out: &mut PageBuf) -> Result<(), PoolError> {
        while !self.optimistic(page)?.copy_to(out) {}
        Ok(())
    }
}

/// Whether a page read from disk is what it should be: its checksum, its name, and not all zeros.
pub fn check_page(page: PageId, buf: &PageBuf) -> Result<(), PoolError> {
    let kind = if buf.is_zero() {
        DamageKind::NeverWritten
    } else if !buf.is_sealed() {
        DamageKind::Checksum
    } else if buf.words()[header::PAGE_ID] != page.0 {
        DamageKind::Misplaced
    } else {
        return Ok(());
    };
    Err(PoolError::Checksum { page, kind })
}

/// A read under way. However it ends, LOADING goes and the waiters wake.
pub(crate) struct Loading<'a> {
    pub(crate) pool: &'a BufferPool,
    pub(crate) page: PageId,
    pub(crate) word: &'a AtomicU64,
    pub(crate) seen: u64,
    pub(crate) frame: Option<u32>,
}

impl Loading<'_> {
    /// Puts what was read, and perhaps brought up to date, into a frame. May evict, and so suspend.
    pub(crate) fn fill(&mut self, buf: &PageBuf, redone: Redone) -> Result<(), PoolError> {
        let f = self.pool.take_frame()?;
        for (w, v) in self.pool.frames.words(f).iter().zip(buf.words()) {
            w.store(*v, Relaxed);
        }
        let meta = self.pool.frames.meta(f);
        meta.referenced.store(true, Relaxed);
        meta.imaged.store(redone.whole, Relaxed);
        meta.rec_lsn.store(redone.rec_lsn.0, Release);
        meta.page.store(self.page.0, Release);
        self.frame = Some(f);
        Ok(())
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let next = word::with_frame(self.seen, self.frame).wrapping_add(word::VERSION_ONE);
        self.word.store(next, Release);
        self.pool.loads.wake(self.page);
    }
}
