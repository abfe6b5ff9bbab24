//! Changed pages on their way home, and frames on their way to others.
//!
//! A round: copy each page under a short latch, moving its `rec_lsn` to `flush_lsn`; harden the log up to the highest
//! page LSN of the copies; write them side by side into the double-write file, durably, but for those that were never
//! written before and that the log has whole; write them in place, sorted, neighbours in one write, several in flight;
//! sync the files once; clear `flush_lsn`.
//!
//! Invariants:
//! 1. No page is written whose page LSN is not durable in the log.
//! 2. `flush_lsn` is cleared only after the sync, so `min_rec_lsn` never skips a change that a power cut could undo.
//! 3. After a failed write or sync nothing more is written (`poisoned`): what is on disk is unknown.

use crate::doublewrite::{DoubleWrite, SLOT_PAGES};
use crate::frames::FrameMeta;
use crate::io::Group;
use crate::pool::BufferPool;
use crate::{PAGE_BYTES, PageBuf, PageId, PoolError, header, word};
use device::File;
use log_manager::Lsn;
use runtime::spin::Backoff;
use runtime::task::{self, NoSuspend};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{Ordering::*, fence};
use telemetry::WaitType;
use telemetry::counters::{self, Counter};

/// Frames beyond the target that one step of the cleaner frees.
const BEYOND_A_STEP: usize = 4096;

/// A latch of the flusher or evictor: lets go without a new version, since nothing changes.
struct Pause<'a> {
    word: &'a std::sync::atomic::AtomicU64,
    quiet: u64,
    _no_suspend: NoSuspend,
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.word.store(self.quiet, Release);
    }
}

/// Frames between which others get a turn where many are looked at.
const LOOKS_A_TURN: usize = 4096;

/// Frames that are looked at for clean pages where a statement waits for memory: so many, and so many for each page.
const LOOKS_MIN: usize = 4096;
const LOOKS_EACH: usize = 8;

impl BufferPool {
    /// Latches the page of frame `f` if it is still there and quiet.
    fn pause(&self, f: u32) -> Option<(Pause<'_>, PageId)> {
        let page = PageId(self.frames.meta(f).page.load(Acquire));
        if page.is_none() {
            return None;
        }
        let word = self.word(page).ok()?;
        let quiet = word.load(Acquire);
        if !word::is_quiet(quiet) || word::frame(quiet) != Some(f) {
            return None;
        }
        let no_suspend = NoSuspend::new();
        word.compare_exchange(quiet, quiet | word::LATCH, Acquire, Relaxed).ok()?;
        fence(Release);
        Some((Pause { word, quiet, _no_suspend: no_suspend }, page))
    }

    /// Writes up to `limit` pages whose first unwritten change is below `older_than`; returns how many were written.
    /// Walks the frames from where the last pass stopped, once around at most, so 0 means: there were none, or they
    /// were latched or being written. Suspends. At most 1,016 pages a pass, and one sync of the files for all of
    /// them, so a small limit costs throughput. Two passes may run at a time (one copies while the other's writes are
    /// in flight); a third waits.
    pub fn checkpoint_pass(&self, older_than: Lsn, limit: usize) -> Result<usize, PoolError> {
        let free = self.checkpoint.iter().find_map(|area| area.try_lock());
        let mut area = free.unwrap_or_else(|| self.checkpoint[0].lock(WaitType::CheckpointQueue));
        let used = self.frames.used();
        let limit = limit.min(area.capacity());
        let mut at = self.cursor.load(Relaxed);
        let mut picked = Vec::new();
        for _ in 0..used {
            if picked.len() >= limit {
                break;
            }
            at = if at + 1 >= used { 0 } else { at + 1 };
            let meta = self.frames.meta(at as u32);
            let rec = meta.rec_lsn.load(Acquire);
            if rec != 0 && rec < older_than.0 && meta.flush_lsn.load(Relaxed) == 0 {
                picked.push(at as u32);
            }
        }
        self.cursor.store(at, Relaxed);
        let written = self.write_back(&mut area, &picked)?;
        counters::add(Counter::CheckpointPages, written as u64);
        Ok(written)
    }

    /// Writes every dirty page, those that stay latched or being written for long excepted.
    pub fn flush_all(&self) -> Result<usize, PoolError> {
        let mut total = 0;
        let mut idle = 0;
        while idle < 50 {
            match self.checkpoint_pass(Lsn::MAX, usize::MAX)? {
                0 if self.dirty_pages() == 0 => break,
                0 => {
                    idle += 1;
                    task::sleep_ns(100_000, WaitType::SleepBpoolFlush);
                }
                n => total += n,
            }
        }
        Ok(total)
    }

    /// Where redo must start: the least LSN of a change that is not in its file, at most `tail`, which the caller
    /// read from the log BEFORE the call.
    pub fn min_rec_lsn(&self, tail: Lsn) -> Lsn {
        let mut least = tail.0;
        for f in 0..self.frames.used() as u32 {
            if f % 4096 == 4095 {
                task::maybe_yield();
            }
            let mut backoff = Backoff::new();
            loop {
                let (meta, page) = self.frame_state(f);
                let rec = meta.rec_lsn.load(Acquire);
                let flush = meta.flush_lsn.load(Acquire);
                if flush != 0 {
                    least = least.min(flush);
                }
                if rec != 0 {
                    least = least.min(rec);
                    break;
                }
                // Clean, unless a change is logged but not yet marked: then its latch is held since before the
                // caller read `tail`, and what we must not miss shows when it is let go.
                let Ok(word) = self.word(page) else { break };
                let w = word.load(Acquire);
                if w & word::LATCH == 0 || word::frame(w) != Some(f) {
                    if meta.rec_lsn.load(Acquire) == 0 {
                        break;
                    }
                    continue;
                }
                backoff.burst(|| word.load(Relaxed) & word::LATCH == 0);
            }
        }
        Lsn(least)
    }

    /// Keeps `free` frames at hand; writes dirty victims. One step of a cleaner; returns frames freed.
    pub fn evict_some(&self, free: usize) -> Result<usize, PoolError> {
        let free = free.min(self.frames.count() / 2);
        let have = self.frames.available();
        // What is beyond the target goes, too, but not so much at a time that others wait for frames.
        let want = free.saturating_sub(have) + self.frames.beyond_target().min(BEYOND_A_STEP);
        if want == 0 { Ok(0) } else { self.reclaim(want) }
    }

    /// The hand begins another round.
    #[cold]
    fn note_round(&self) {
        let now = runtime::clock::now_ns();
        let began = self.round_began_ns.swap(now, Relaxed);
        if self.hand.load(Relaxed) > 1 {
            self.last_round_ns.store(now.saturating_sub(began).max(1), Relaxed);
        }
    }

    /// Frees about `want` frames: the clock's hand passes over referenced pages once, and writes dirty ones.
    pub(crate) fn reclaim(&self, want: usize) -> Result<usize, PoolError> {
        let used = self.frames.used();
        // Whoever waits for a few frames writes a few; the cleaner writes as many as one sync is worth.
        let batch = if want <= 64 { SLOT_PAGES } else { DoubleWrite::CLEANER_PAGES };
        let mut dirty: Vec<u32> = Vec::new();
        let (mut freed, mut looks) = (0, used * 2);
        while freed < want && looks > 0 && dirty.len() < batch {
            let now = looks.min(LOOKS_A_TURN);
            freed += self.sweep(now, want - freed, |f, meta| {
                if meta.flush_lsn.load(Relaxed) == 0 {
                    dirty.push(f);
                }
                dirty.len() < batch
            });
            looks -= now;
            if looks > 0 {
                task::maybe_yield();
            }
        }
        if freed < want && !dirty.is_empty() {
            let mut area = self.cleaner.lock(WaitType::LazyWriterSleep);
            let have = self.frames.available();
            if have >= 2 * want {
                // The one before us has made enough for us, too.
                return Ok(have);
            }
            let written = self.write_back(&mut area, &dirty)?;
            drop(area);
            counters::add(Counter::LazyWrites, written as u64);
            freed += dirty.into_iter().filter(|&f| self.try_evict(f)).count();
        }
        Ok(freed)
    }

    /// Frees up to `want` frames of pages that are as their files have them. As `reclaim`, but it neither writes nor suspends,
    /// and looks at some frames for each only.
    pub(crate) fn reclaim_clean(&self, want: usize) -> usize {
        let looks = (self.frames.used() * 2).min(LOOKS_MIN + LOOKS_EACH * want);
        self.sweep(looks, want, |_, _| true)
    }

    /// Moves the clock's hand over at most so many frames, passing over referenced pages once, until `want` clean ones are
    /// out; how many it were. `dirty` is told of the others, and says whether to go on.
    fn sweep(
        &self,
        looks: usize,
        want: usize,
        mut dirty: impl FnMut(u32, &FrameMeta) -> bool,
    ) -> usize {
        let used = self.frames.used();
        let mut freed = 0;
        for _ in 0..looks {
            if freed >= want {
                break;
            }
            let f = (self.hand.fetch_add(1, Relaxed) % used) as u32;
            if f == 0 {
                self.note_round();
            }
            let (meta, page) = self.frame_state(f);
            if page.is_none() {
                continue;
            }
            if meta.referenced.load(Relaxed) {
                meta.referenced.store(false, Relaxed);
            } else if meta.is_dirty() {
                if !dirty(f, meta) {
                    break;
                }
            } else if self.try_evict(f) {
                freed += 1;
            }
        }
        freed
    }

    /// Takes the page out of frame `f` if it is clean and nobody is at it.
    pub(crate) fn try_evict(&self, f: u32) -> bool {
        let Some((mut pause, _)) = self.pause(f) else { return false };
        let meta = self.frames.meta(f);
        if meta.is_dirty() {
            return false;
        }
        meta.page.store(0, Release);
        // Letting go with no frame and the next version makes every look at the page invalid.
        pause.quiet = word::with_frame(pause.quiet, None).wrapping_add(word::VERSION_ONE);
        drop(pause);
        self.frames.give(f);
        true
    }

    /// One round over `picked`, at most the area's capacity. Returns how many pages were written.
    fn write_back(&self, area: &mut DoubleWrite, picked: &[u32]) -> Result<usize, PoolError> {
        if picked.is_empty() {
            return Ok(0);
        }
        if self.poisoned.load(Acquire) {
            return Err(PoolError::Poisoned);
        }
        // Those that the log has whole come last: they need no second copy.
        let mut sorted: Vec<(bool, PageId, u32)> = picked
            .iter()
            .map(|&f| {
                let (meta, page) = self.frame_state(f);
                (meta.imaged.load(Relaxed), page, f)
            })
            .collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|(_, _, f)| *f);
        let doubled = sorted.partition_point(|(imaged, ..)| !imaged);
        let room = area.prepare(sorted.len(), doubled);
        if room < doubled {
            // Those beyond stay dirty; they come with a later round.
            sorted.truncate(room);
        }

        let mut ids: Vec<PageId> = Vec::with_capacity(sorted.len());
        let mut taken: Vec<u32> = Vec::with_capacity(sorted.len());
        let mut doubled = 0;
        let mut end = Lsn::NONE;
        for (imaged, _, f) in sorted {
            let copy = area.page_mut(ids.len());
            let Some(page) = self.copy_for_flush(f, imaged, copy) else { continue };
            copy.seal();
            end = end.max(Lsn(copy.words()[header::LSN]));
            ids.push(page);
            taken.push(f);
            doubled += usize::from(!imaged);
            if ids.len().is_multiple_of(64) {
                task::maybe_yield();
            }
        }
        if ids.is_empty() {
            return Ok(0);
        }
        let done = self.write_copies(area, &ids, doubled, end);
        if done.is_err() {
            // `flush_lsn` stays: the log keeps what the file may not have.
            self.poisoned.store(true, Release);
        }
        done?;
        for f in &taken {
            self.frames.meta(*f).flush_lsn.store(0, Release);
        }
        counters::add(Counter::PageWrites, ids.len() as u64);
        Ok(ids.len())
    }

    /// Copies a dirty page and marks it as being written; `None` when it is latched, gone, clean or being written, or
    /// no longer as `imaged` says.
    fn copy_for_flush(&self, f: u32, imaged: bool, copy: &mut PageBuf) -> Option<PageId> {
        let (_pause, page) = self.pause(f)?;
        let meta = self.frames.meta(f);
        let rec = meta.rec_lsn.load(Acquire);
        if rec == 0 || meta.flush_lsn.load(Acquire) != 0 || meta.imaged.load(Relaxed) != imaged {
            return None;
        }
        meta.imaged.store(false, Relaxed);
        // In this order: `min_rec_lsn` reads them in the other one.
        meta.flush_lsn.store(rec, Release);
        meta.rec_lsn.store(0, Release);
        for (c, w) in copy.words_mut().iter_mut().zip(self.frames.words(f)) {
            *c = w.load(Relaxed);
        }
        Some(page)
    }

    /// Writes the copies of `ids`, of which the first `doubled` are written into the area's file before.
    fn write_copies(
        &self,
        area: &mut DoubleWrite,
        ids: &[PageId],
        doubled: usize,
        end: Lsn,
    ) -> Result<(), PoolError> {
        self.wal.wait_durable(end)?;
        let failed = |action| move |error: io::Error| PoolError::Io { page: ids[0], action, error };

        let file = area.file.clone();
        let group = Group::new();
        for (at, bytes) in area.seal(&ids[..doubled]) {
            // SAFETY: the area is ours until we return, and nothing changes it before the wait below.
            unsafe { group.write(&*file, at, bytes, true) };
        }
        group.wait(WaitType::WriteCompletion).map_err(failed("double write"))?;

        let mut files: Vec<(u16, &Arc<dyn File>)> = Vec::new();
        let group = Group::new();
        let mut i = 0;
        while i < ids.len() {
            let mut n = 1;
            while i + n < ids.len()
                && ids[i + n].0 == ids[i].0 + n as u64
                && DoubleWrite::adjoin(i + n - 1)
            {
                n += 1;
            }
            let file = match self.file(ids[i]) {
                Ok(entry) => &entry.file,
                // Forgotten meanwhile: its pages are of no interest.
                Err(_) => {
                    i += n;
                    continue;
                }
            };
            if files.last().is_none_or(|(id, _)| *id != ids[i].file()) {
                files.push((ids[i].file(), file));
            }
            let at = u64::from(ids[i].page_no()) * PAGE_BYTES as u64;
            // SAFETY: as above.
            unsafe { group.write(&**file, at, area.pages(i, n), false) };
            i += n;
        }
        group.wait(WaitType::WriteCompletion).map_err(failed("write"))?;

        let group = Group::new();
        files.iter().for_each(|(_, file)| group.sync(&***file));
        group.wait(WaitType::WriteCompletion).map_err(failed("sync"))
    }
}
