//! Frames: one mapped arena of pages, a line of metadata for each, and those that are free.
//!
//! On a machine of several nodes the frames are *parted*: stretches of them in turn, each bound to its node
//! ([`Parted`]), each part with a free list of its own; whoever takes a frame gets one of its own node while there is
//! one. Words: *used* frames are those below the highest that was ever handed out. The *target* is how many frames may
//! hold pages at one time; what is free beyond it is *trimmed*: its memory is given back.
//!
//! Invariants:
//! 1. A frame is on a free list, or trimmed, or in a reservation, or holds the page that its metadata names, whose word
//!    names the frame. While it changes hands, the word's LATCH or LOADING bit says so.
//! 2. `rec_lsn` is the start of the first record whose change is in the frame but in no copy of it under way to disk;
//!    `flush_lsn` the same for the copy under way. Both zero: the page on disk is as new as the frame.
//! 3. Both are written under the page's latch, but for the clearing of `flush_lsn` by the flusher that set it.
//! 4. The target is met in time, not at once: more frames may be handed out for a moment.

use crate::backed::Backed;
use crate::mapping::{Mapping, Pages};
use crate::page::{PAGE_BYTES, PAGE_WORDS};
use crate::parted::{HUGE_FRAMES, Parted};
use runtime::spin::SpinLock;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use telemetry::SpinClass;

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

/// Bytes populated at a time at most.
const PREFAULT_STEP: usize = 32 << 20;
/// And in one call of the system: it is milliseconds, as the pages are filled with zeros.
const PREFAULT_CALL: usize = 2 << 20;
/// Bytes kept populated ahead of use: of each part as much as is in use, from a call's worth on, and its share of this at
/// most. A part that holds a few pages keeps no more than those.
const PREFAULT_AHEAD: usize = 64 << 20;

/// The frames of one node; on a machine of one node all of them.
struct Part {
    node: u16,
    /// How many there are.
    len: u32,
    /// Frames of it handed out at least once; may be counted past its end.
    fresh: AtomicU32,
    free: SpinLock<Vec<u32>>,
    trimmed: SpinLock<Vec<u32>>,
}

impl Part {
    /// Frames of it handed out at least once.
    fn used(&self) -> u32 {
        self.fresh.load(Acquire).min(self.len)
    }
}

/// What the pages of a pool shall lie in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask<'a> {
    pub(crate) prefault_bytes: usize,
    /// Nodes to part the frames over; empty: wherever they are touched first.
    pub(crate) nodes: &'a [usize],
    pub(crate) reserved_huge: bool,
    pub(crate) locked: bool,
}

/// See the file.
pub(crate) struct Frames {
    arena: Mapping,
    meta: Mapping,
    count: usize,
    parted: Parted,
    parts: Box<[Part]>,
    has_nodes: bool,
    /// Frames handed out and not given back.
    out: AtomicUsize,
    target: AtomicUsize,
    backed: Backed,
    not_locked: Option<io::Error>,
}

impl Drop for Frames {
    fn drop(&mut self) {
        runtime::memory::set_aside(-((self.count * PAGE_BYTES) as i64));
    }
}

impl Frames {
    pub(crate) fn new(count: usize, ask: &Ask<'_>) -> io::Result<Frames> {
        let pages = if ask.reserved_huge { Pages::Reserved } else { Pages::Advised };
        let arena = Mapping::new(count * PAGE_BYTES, pages)?;
        let meta = Mapping::new(count * size_of::<FrameMeta>(), Pages::Small)?;
        let parted = Parted::new(count, ask.nodes.len());
        let ready = if arena.is_reserved() { count * PAGE_BYTES } else { ask.prefault_bytes };
        let part = |(at, node): (usize, &usize)| Part {
            node: *node as u16,
            len: parted.len(at),
            fresh: AtomicU32::new(0),
            free: SpinLock::new(SpinClass::BufFreeList, Vec::new()),
            trimmed: SpinLock::new(SpinClass::BufFreeList, Vec::new()),
        };
        let nodes = if ask.nodes.is_empty() { &[0] } else { ask.nodes };
        let not_locked = if ask.locked { arena.lock().err() } else { None };
        let frames = Frames {
            arena,
            meta,
            count,
            parted,
            parts: nodes.iter().enumerate().map(part).collect(),
            has_nodes: !ask.nodes.is_empty(),
            out: AtomicUsize::new(0),
            target: AtomicUsize::new(count),
            backed: Backed::new(count),
            not_locked,
        };
        if !ask.nodes.is_empty() {
            frames.bind();
        }
        let _ = frames.arena.populate(0, ask.prefault_bytes);
        runtime::memory::set_aside((count * PAGE_BYTES) as i64);
        frames.backed.note(0..(ready / PAGE_BYTES).min(count) as u32);
        Ok(frames)
    }

    /// Each stretch to its node. A refusal leaves memory where it is touched first, and the look-ups tell.
    fn bind(&self) {
        let bytes = self.parted.stretch() * PAGE_BYTES;
        let stretches = (self.count * PAGE_BYTES).div_ceil(bytes);
        for i in 0..stretches {
            let node = self.parts[i % self.parts.len()].node;
            if self.arena.bind(i * bytes, bytes, node).is_err() {
                return;
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Frames ever handed out lie below this.
    pub(crate) fn used(&self) -> usize {
        let end = |(at, part): (usize, &Part)| {
            let last = part.used().checked_sub(1).and_then(|nth| self.parted.frame(at, nth));
            last.map_or(0, |frame| frame as usize + 1)
        };
        self.parts.iter().enumerate().map(end).max().unwrap_or(0)
    }

    /// The words of frame `f`.
    #[inline]
    pub(crate) fn words(&self, f: u32) -> &[AtomicU64; PAGE_WORDS] {
        debug_assert!((f as usize) < self.count);
        // SAFETY: every frame number in a page word is below `count` (they come from `take` alone), so the page lies
        // in the arena; it is aligned, and touched as atomics only.
        unsafe { &*self.arena.base().cast::<[AtomicU64; PAGE_WORDS]>().add(f as usize) }
    }

    /// The metadata of frame `f`.
    #[inline]
    pub(crate) fn meta(&self, f: u32) -> &FrameMeta {
        debug_assert!((f as usize) < self.count);
        // SAFETY: as `words`; all zeros is a valid `FrameMeta`, whose fields are atomics.
        unsafe { &*self.meta.base().cast::<FrameMeta>().add(f as usize) }
    }

    /// Whether the frames were given nodes.
    #[inline]
    pub(crate) fn has_nodes(&self) -> bool {
        self.has_nodes
    }

    /// Whether the frames are those of several nodes.
    fn is_parted(&self) -> bool {
        self.parted.parts() > 1
    }

    /// The node that the frame was asked to lie on.
    #[inline]
    pub(crate) fn node_of(&self, f: u32) -> u16 {
        self.parts[self.parted.part_of(f)].node
    }

    /// A free frame, if there is one without evicting: of the caller's node if it has one, else of the next.
    pub(crate) fn take(&self) -> Option<u32> {
        if self.out.fetch_add(1, Relaxed) < self.target.load(Relaxed) {
            let first = match self.is_parted() {
                true => {
                    let near = runtime::numa::place().memory;
                    self.parts.iter().position(|part| part.node == near).unwrap_or(0)
                }
                false => 0,
            };
            let n = self.parts.len();
            if let Some(f) = (0..n).find_map(|i| self.take_of((first + i) % n)) {
                return Some(f);
            }
        }
        self.out.fetch_sub(1, Relaxed);
        None
    }

    fn take_of(&self, at: usize) -> Option<u32> {
        let part = &self.parts[at];
        if let Some(f) = part.free.lock().pop() {
            return Some(f);
        }
        let f = match self.take_fresh(at) {
            Some(f) => f,
            None => part.trimmed.lock().pop()?,
        };
        self.backed.note(f..f + 1);
        Some(f)
    }

    /// The next frame of a part that was never handed out.
    fn take_fresh(&self, at: usize) -> Option<u32> {
        let part = &self.parts[at];
        if part.fresh.load(Relaxed) >= part.len {
            return None;
        }
        let fresh = self.parted.frame(at, part.fresh.fetch_add(1, AcqRel));
        if fresh.is_none() {
            part.fresh.fetch_sub(1, AcqRel);
        }
        fresh
    }

    /// Gives a frame back. It names no page.
    pub(crate) fn give(&self, f: u32) {
        debug_assert_eq!(self.meta(f).page.load(Relaxed), 0);
        self.parts[self.parted.part_of(f)].free.lock().push(f);
        self.out.fetch_sub(1, Relaxed);
    }

    /// Frames that can be had without evicting.
    pub(crate) fn available(&self) -> usize {
        self.target.load(Relaxed).saturating_sub(self.out.load(Relaxed))
    }

    /// Frames handed out beyond the target.
    pub(crate) fn beyond_target(&self) -> usize {
        self.out.load(Relaxed).saturating_sub(self.target.load(Relaxed))
    }

    /// Frames with memory behind them beyond the target.
    pub(crate) fn backed_beyond_target(&self) -> usize {
        let backed = (self.backed_bytes() / PAGE_BYTES as u64) as usize;
        backed.saturating_sub(self.target())
    }

    pub(crate) fn target(&self) -> usize {
        self.target.load(Relaxed)
    }

    /// How many frames may hold pages; all of them at most.
    pub(crate) fn set_target(&self, frames: usize) {
        self.target.store(frames.min(self.count), Relaxed);
    }

    /// Gives back the memory of at most `most` free frames where the target is below what there are; how many it were. Frames that
    /// are ready and were never handed out come after the others.
    pub(crate) fn trim(&self, most: usize) -> usize {
        if self.target() >= self.count {
            return 0;
        }
        let mut trimmed = 0;
        for part in &self.parts {
            while trimmed < most {
                // Taken out of the list while it is trimmed, so that nobody gets it meanwhile.
                let Some(f) = part.free.lock().pop() else { break };
                if !self.arena.give_back(f as usize * PAGE_BYTES, PAGE_BYTES) {
                    part.free.lock().push(f);
                    return trimmed;
                }
                self.backed.forget(f);
                part.trimmed.lock().push(f);
                trimmed += 1;
            }
        }
        for at in 0..self.parts.len() {
            trimmed += self.trim_ahead(at, most - trimmed);
        }
        trimmed
    }

    /// Of a part's frames that were never handed out: up to the last that has memory they count as handed out and given back
    /// from then on, so that nobody gets one while its memory goes.
    fn trim_ahead(&self, at: usize, most: usize) -> usize {
        let part = &self.parts[at];
        let Some(last) = self.last_ahead(at) else { return 0 };
        let mut trimmed = 0;
        while trimmed < most {
            let Some(f) = self.take_fresh(at) else { break };
            if !self.arena.give_back(f as usize * PAGE_BYTES, PAGE_BYTES) {
                part.free.lock().push(f);
                break;
            }
            trimmed += usize::from(self.backed.forget(f));
            part.trimmed.lock().push(f);
            if f >= last {
                break;
            }
        }
        trimmed
    }

    /// The last of a part's frames that was never handed out and has memory.
    fn last_ahead(&self, at: usize) -> Option<u32> {
        let part = &self.parts[at];
        let (mut nth, mut last) = (part.used(), None);
        while let Some(first) = self.parted.frame(at, nth).filter(|_| nth < part.len) {
            let stretch = first..self.parted.stretch_of(first).end;
            nth += stretch.len() as u32;
            last = self.backed.last_with(stretch).or(last);
        }
        last
    }

    /// Populates what is not yet populated, step by step; `step` is called between steps and says whether to go on.
    pub(crate) fn populate_all(&self, mut step: impl FnMut() -> bool) {
        let end = self.count as u32;
        let mut from = 0;
        while let Some(next) = self.backed.first_without(from..end) {
            if !step() {
                return;
            }
            from = self.populate(next, 0..end, PREFAULT_STEP);
        }
    }

    /// One step of so many bytes, from the huge page that `first` is in, of frames of `within`; where it ended. Others go
    /// first now and then.
    fn populate(&self, first: u32, within: Range<u32>, bytes: usize) -> u32 {
        let from = (first & !(HUGE_FRAMES - 1)).max(within.start);
        let to = from.saturating_add((bytes / PAGE_BYTES) as u32).min(within.end);
        let end = to as usize * PAGE_BYTES;
        for at in (from as usize * PAGE_BYTES..end).step_by(PREFAULT_CALL) {
            // A refusal leaves the pages to be touched on first use.
            let _ = self.arena.populate(at, PREFAULT_CALL.min(end - at));
            runtime::task::let_others();
        }
        self.backed.note(from..to);
        to
    }

    /// Populates one step of a part that has fewer than enough fresh bytes ready; whether there was one.
    pub(crate) fn prefault_step(&self) -> bool {
        // A pool that is to become smaller sets nothing ready.
        self.target() >= self.count && (0..self.parts.len()).any(|at| self.prefault(at))
    }

    fn prefault(&self, at: usize) -> bool {
        let used = self.parts[at].used();
        let share = (PREFAULT_AHEAD / self.parts.len()).max(PREFAULT_CALL);
        let ahead = (used as usize * PAGE_BYTES).min(share);
        if ahead < PREFAULT_CALL {
            return false;
        }
        let end = used.saturating_add((ahead / PAGE_BYTES) as u32).min(self.parts[at].len);
        let mut nth = used;
        while let Some(frame) = self.parted.frame(at, nth).filter(|_| nth < end) {
            let stretch = self.parted.stretch_of(frame);
            let looked_at = frame..stretch.end.min(frame + (end - nth));
            if let Some(first) = self.backed.first_without(looked_at.clone()) {
                let bytes = ahead.min(PREFAULT_STEP).next_multiple_of(PREFAULT_CALL);
                self.populate(first, stretch, bytes);
                return true;
            }
            nth += looked_at.len() as u32;
        }
        false
    }

    /// Bytes in huge pages.
    pub(crate) fn huge_bytes(&self) -> u64 {
        self.arena.huge_bytes()
    }

    /// Bytes backed by memory, as far as was told.
    pub(crate) fn backed_bytes(&self) -> u64 {
        self.backed.bytes()
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.arena.is_locked()
    }

    /// Why it is not locked, and why it is not of reserved huge pages, where it was to be.
    pub(crate) fn refused(&self) -> (Option<&io::Error>, Option<&io::Error>) {
        (self.not_locked.as_ref(), self.arena.why_not_reserved())
    }

    /// The nodes that frames really lie on, as the kernel tells.
    pub(crate) fn nodes_of(&self, frames: &[u32]) -> Vec<Option<usize>> {
        self.arena.nodes_of(frames.iter().map(|f| *f as usize * PAGE_BYTES))
    }

    /// Each node that the frames are parted over, and how many of its frames are handed out.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (u16, usize)> {
        self.parts.iter().map(|part| {
            let free = part.free.lock().len() + part.trimmed.lock().len();
            (part.node, (part.used() as usize).saturating_sub(free))
        })
    }
}

#[cfg(test)]
mod tests;
