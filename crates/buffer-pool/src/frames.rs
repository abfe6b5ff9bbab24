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

use crate::mapping::{Mapping, Pages};
use crate::page::{PAGE_BYTES, PAGE_WORDS};
use runtime::spin::SpinLock;
use std::io;
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
/// Bytes kept populated ahead of use: as much as is in use, from a call's worth on, and this at most. A pool that holds a
/// few pages keeps no more than those.
const PREFAULT_AHEAD: usize = 64 << 20;
/// Frames of a stretch, at least: a huge page.
const STRETCH_MIN: usize = (2 << 20) / PAGE_BYTES;
/// Stretches of a pool, at most: the kernel keeps an area for each, and has not many.
const STRETCHES_MAX: usize = 1024;

/// Which frames are of which part: stretches of the frames, in turn.
#[derive(Clone, Copy, Debug)]
struct Parted {
    parts: u32,
    stretch: u32,
    count: u32,
}

impl Parted {
    fn new(count: usize, parts: usize) -> Parted {
        let least = count.div_ceil(STRETCHES_MAX).max(1).next_multiple_of(STRETCH_MIN);
        let stretch = if parts < 2 { count } else { least.min(count.div_ceil(parts)) };
        Parted { parts: parts.max(1) as u32, stretch: stretch.max(1) as u32, count: count as u32 }
    }

    #[inline]
    fn part_of(self, frame: u32) -> usize {
        if self.parts == 1 { 0 } else { (frame / self.stretch % self.parts) as usize }
    }

    /// The frame that is the `nth` of a part, if it has so many.
    fn frame(self, part: usize, nth: u32) -> Option<u32> {
        let (round, within) = (nth / self.stretch, nth % self.stretch);
        let stretch = u64::from(round) * u64::from(self.parts) + part as u64;
        let frame = stretch * u64::from(self.stretch) + u64::from(within);
        (frame < u64::from(self.count)).then_some(frame as u32)
    }
}

/// The frames of one node; on a machine of one node all of them.
struct Part {
    node: u16,
    /// Frames of it handed out at least once; may be counted past its end.
    fresh: AtomicU32,
    free: SpinLock<Vec<u32>>,
    trimmed: SpinLock<Vec<u32>>,
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
    pub(crate) fn new(count: usize, ask: &Ask<'_>) -> io::Result<Frames> {
        let pages = if ask.reserved_huge { Pages::Reserved } else { Pages::Advised };
        let arena = Mapping::new(count * PAGE_BYTES, pages)?;
        let meta = Mapping::new(count * size_of::<FrameMeta>(), Pages::Small)?;
        let parted = Parted::new(count, ask.nodes.len());
        let ready = if arena.is_reserved() { count * PAGE_BYTES } else { ask.prefault_bytes };
        let part = |node: &usize| Part {
            node: *node as u16,
            fresh: AtomicU32::new(0),
            free: SpinLock::new(SpinClass::BufFreeList, Vec::new()),
            trimmed: SpinLock::new(SpinClass::BufFreeList, Vec::new()),
        };
        let nodes = if ask.nodes.is_empty() { &[0] } else { ask.nodes };
        let frames = Frames {
            arena,
            meta,
            count,
            parted,
            parts: nodes.iter().map(part).collect(),
            has_nodes: !ask.nodes.is_empty(),
            out: AtomicUsize::new(0),
            target: AtomicUsize::new(count),
            populated: AtomicU64::new(ready as u64),
            told: AtomicU64::new(0),
        };
        if !ask.nodes.is_empty() {
            frames.bind();
        }
        if ask.locked {
            // Told by `is_locked`.
            let _ = frames.arena.lock();
        }
        let _ = frames.arena.populate(0, ask.prefault_bytes);
        runtime::memory::set_aside((count * PAGE_BYTES) as i64);
        frames.tell(ready.min(count * PAGE_BYTES));
        Ok(frames)
    }

    /// Each stretch to its node. A refusal leaves memory where it is touched first, and the look-ups tell.
    fn bind(&self) {
        let bytes = self.parted.stretch as usize * PAGE_BYTES;
        let stretches = (self.count * PAGE_BYTES).div_ceil(bytes);
        for i in 0..stretches {
            let node = self.parts[i % self.parts.len()].node;
            if self.arena.bind(i * bytes, bytes, node).is_err() {
                return;
            }
        }
    }

    /// So much more of the arena is backed by memory.
    fn tell(&self, bytes: usize) {
        self.told.fetch_add(bytes as u64, Relaxed);
        runtime::memory::mapped(bytes as i64);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Frames ever handed out lie below this.
    pub(crate) fn used(&self) -> usize {
        let last = |(part, of): (usize, &Part)| {
            let mut nth = of.fresh.load(Acquire).min(self.count as u32);
            // One that was counted past the part's end has no frame.
            while nth > 0 {
                match self.parted.frame(part, nth - 1) {
                    Some(frame) => return frame as usize + 1,
                    None => nth -= 1,
                }
            }
            0
        };
        match &self.parts[..] {
            [only] => (only.fresh.load(Acquire) as usize).min(self.count),
            parts => parts.iter().enumerate().map(last).max().unwrap_or(0),
        }
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
        self.parted.parts > 1
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
        let has_more = |nth: u32| self.parted.frame(at, nth).is_some();
        if has_more(part.fresh.load(Relaxed)) {
            if let Some(f) = self.parted.frame(at, part.fresh.fetch_add(1, AcqRel)) {
                if u64::from(f) * PAGE_BYTES as u64 >= self.populated.load(Relaxed) {
                    self.tell(PAGE_BYTES);
                }
                return Some(f);
            }
            part.fresh.fetch_sub(1, AcqRel);
        }
        let f = part.trimmed.lock().pop()?;
        self.tell(PAGE_BYTES);
        Some(f)
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

    pub(crate) fn target(&self) -> usize {
        self.target.load(Relaxed)
    }

    /// How many frames may hold pages; all of them at most.
    pub(crate) fn set_target(&self, frames: usize) {
        self.target.store(frames.min(self.count), Relaxed);
    }

    /// Gives back the memory of at most `most` free frames that are beyond the target; how many it were.
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
                self.told.fetch_sub(PAGE_BYTES as u64, Relaxed);
                runtime::memory::mapped(-(PAGE_BYTES as i64));
                part.trimmed.lock().push(f);
                trimmed += 1;
            }
        }
        trimmed
    }

    /// Populates what is not yet populated, step by step; `step` is called between steps and says whether to go on.
    pub(crate) fn populate_all(&self, mut step: impl FnMut() -> bool) {
        let end = self.count * PAGE_BYTES;
        loop {
            let from = self.populated.load(Relaxed) as usize;
            if from >= end || !step() {
                return;
            }
            self.populate(from, PREFAULT_STEP);
        }
    }

    /// One step of so many bytes; others go first now and then.
    fn populate(&self, from: usize, bytes: usize) {
        for at in (from..from + bytes).step_by(PREFAULT_CALL) {
            // A refusal leaves the pages to be touched on first use.
            let _ = self.arena.populate(at, PREFAULT_CALL);
            runtime::task::let_others();
        }
        let to = (from + bytes).min(self.count * PAGE_BYTES);
        let before = self.populated.fetch_max((from + bytes) as u64, Relaxed) as usize;
        self.tell(to.saturating_sub(before.max(from)));
    }

    /// Populates one step when fewer than enough fresh bytes are ready; whether it did.
    pub(crate) fn prefault_step(&self) -> bool {
        let end = self.count * PAGE_BYTES;
        let ready = self.populated.load(Relaxed) as usize;
        let used = self.used() * PAGE_BYTES;
        let ahead = used.min(PREFAULT_AHEAD);
        let is_small = used < PREFAULT_CALL;
        if is_small || self.target() < self.count || ready >= end || ready >= used + ahead {
            return false;
        }
        let from = ready.max(used) & !((2 << 20) - 1);
        let bytes = ahead.min(PREFAULT_STEP).next_multiple_of(PREFAULT_CALL);
        self.populate(from, bytes);
        true
    }

    /// Bytes in huge pages.
    pub(crate) fn huge_bytes(&self) -> u64 {
        self.arena.huge_bytes()
    }

    /// Bytes backed by memory, as far as was told.
    pub(crate) fn backed_bytes(&self) -> u64 {
        self.told.load(Relaxed)
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.arena.is_locked()
    }

    /// The nodes that frames really lie on, as the kernel tells.
    pub(crate) fn nodes_of(&self, frames: &[u32]) -> Vec<Option<usize>> {
        self.arena.nodes_of(frames.iter().map(|f| *f as usize * PAGE_BYTES))
    }

    /// Each node that the frames are parted over, and how many of its frames are handed out.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (u16, usize)> {
        self.parts.iter().enumerate().map(|(at, part)| {
            let free = part.free.lock().len() + part.trimmed.lock().len();
            let mut fresh = part.fresh.load(Relaxed).min(self.count as u32);
            while fresh > 0 && self.parted.frame(at, fresh - 1).is_none() {
                fresh -= 1;
            }
            (part.node, (fresh as usize).saturating_sub(free))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn take_all(frames: &Frames) -> Vec<u32> {
        std::iter::from_fn(|| frames.take()).collect()
    }

    fn of_nodes(count: usize, nodes: &[usize]) -> Frames {
        Frames::new(count, &Ask { nodes, ..Ask::default() }).expect("mapped")
    }

    #[test]
    fn every_frame_is_of_one_part_and_is_handed_out_once() {
        for (count, nodes) in
            [(16, &[][..]), (1000, &[0, 1]), (777, &[3, 5, 9]), (17, &[0, 1, 2, 3])]
        {
            let frames = of_nodes(count, nodes);
            let all = take_all(&frames);
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), count, "{nodes:?}");
            assert!(all.iter().all(|f| (*f as usize) < count));
            assert_eq!((frames.used(), frames.available()), (count, 0));
            all.iter().for_each(|f| frames.give(*f));
            assert_eq!(frames.available(), count);
        }
    }

    #[test]
    fn a_thread_gets_frames_of_its_own_node_first() {
        let frames = of_nodes(1024, &[2, 7]);
        for node in [7, 2] {
            runtime::numa::set_place(runtime::numa::Place { node, memory: node });
            let mine: Vec<u32> = (0..512).filter_map(|_| frames.take()).collect();
            assert!(mine.iter().all(|f| frames.node_of(*f) == node), "{node}");
        }
        runtime::numa::set_place(runtime::numa::Place::default());
        assert_eq!(frames.take(), None);
    }

    #[test]
    fn a_lower_target_is_kept_and_a_higher_one_brings_frames_back() {
        let frames = of_nodes(100, &[]);
        let all = take_all(&frames);
        frames.set_target(40);
        assert_eq!((frames.beyond_target(), frames.available(), frames.take()), (60, 0, None));
        all[..70].iter().for_each(|f| frames.give(*f));
        assert_eq!((frames.beyond_target(), frames.available()), (0, 10));
        assert_eq!(frames.trim(1000), 70);
        assert_eq!(take_all(&frames).len(), 10);
        frames.set_target(usize::MAX);
        assert_eq!((frames.available(), take_all(&frames).len()), (60, 60));
    }
}
