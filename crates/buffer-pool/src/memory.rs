//! The pool's memory: whose it is, what lies where, how much of it there is; and pages that go before they must.
//!
//! Promise: nothing here loses a change. Only pages that are as their files have them leave; frames beyond a lower target
//! are freed by the cleaner, in its own time.

use crate::pool::BufferPool;
use crate::{PageId, PageRead, word};
use runtime::shortage::Gives;
use runtime::task;
use std::io;
use std::sync::atomic::Ordering::*;

/// Frames that a pool needs to get on.
const FRAMES_MIN: usize = 64;
/// Frames that it keeps however short of memory the process is, if it may have so many: branches of a plan, each with pages at
/// hand and others ahead, would else take each other's.
const FRAMES_LEAST: usize = 256;
/// Pages that the kernel is asked about at a time.
const ASKED_MAX: usize = 16_384;
/// Frames whose memory one call gives back.
const TRIM_STEP: usize = 2048;

/// Pages in memory by the node that they were asked to lie on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodePages {
    pub node: u16,
    pub pages: usize,
}

/// A page in memory.
pub struct Described<'a> {
    pub page: PageId,
    pub node: u16,
    pub is_modified: bool,
    /// What is in it, as long as it validates.
    pub look: PageRead<'a>,
}

/// Frames of a pool made for `own` bytes, of pools made for `all` together, where all else leaves `spare` bytes of the
/// limit. In steps of a 64th of the limit, so that it does not follow every statement.
fn share_of_spare(spare: u64, limit: u64, own: u64, all: u64) -> usize {
    let step = (limit / 64).max(1);
    // One step is left to who comes next.
    let spare = (spare / step).saturating_sub(1) * step;
    let bytes = u128::from(spare) * u128::from(own) / u128::from(all.max(own).max(1));
    usize::try_from(bytes / crate::PAGE_BYTES as u128).unwrap_or(usize::MAX)
}

impl BufferPool {
    /// Counts a look at a page, by the node of who looks.
    #[inline(never)]
    pub(crate) fn note_lookup(&self, frame: u32) {
        let here = runtime::numa::place();
        telemetry::nodes::looked_up(here.node, self.frames.node_of(frame) == here.memory);
    }

    /// How many bytes of pages it may hold from now on: at most `most`, and at least `least` (and what a pool needs to
    /// get on) when the process is short of memory. Those that are too many leave in time.
    pub fn set_bounds(&self, least: u64, most: u64) {
        let frames = |bytes: u64| {
            let frames = usize::try_from(bytes / crate::PAGE_BYTES as u64).unwrap_or(usize::MAX);
            frames.clamp(FRAMES_MIN.min(self.frames.count()), self.frames.count())
        };
        let most = frames(most);
        self.bounds.0.store(frames(least).max(FRAMES_LEAST).min(most), Relaxed);
        self.bounds.1.store(most, Relaxed);
        self.follow_memory();
    }

    /// Gives way when what the process has beside pages leaves less than the pool would hold, and takes it back afterwards.
    /// One step of a cleaner. Without a limit of the process ([`runtime::memory`]) it holds the most that it may.
    pub fn follow_memory(&self) {
        self.follow_memory_beside(0);
    }

    /// The same where all else has so many bytes more.
    fn follow_memory_beside(&self, bytes: u64) {
        let (least, most) = (self.bounds.0.load(Relaxed), self.bounds.1.load(Relaxed));
        let limit = runtime::memory::limit_bytes();
        let target = match limit >= i64::MAX as u64 {
            true => most,
            false => {
                let spare = runtime::memory::spare_for_pages_beside(bytes);
                let all = runtime::memory::aside_bytes();
                share_of_spare(spare, limit, self.most_bytes(), all).clamp(least, most)
            }
        };
        if target != self.frames.target() {
            self.frames.set_target(target);
        }
    }

    /// Bytes that it was made for.
    pub fn most_bytes(&self) -> u64 {
        (self.frames.count() * crate::PAGE_BYTES) as u64
    }

    /// Bytes that it may hold.
    pub fn target_bytes(&self) -> u64 {
        (self.frames.target() * crate::PAGE_BYTES) as u64
    }

    /// Gives the memory of free frames beyond the target back. One step of a cleaner; whether there was something.
    pub fn trim_step(&self) -> bool {
        self.frames.trim(TRIM_STEP) > 0
    }

    /// Takes every page out that is as its file has it, and that nobody is at; how many it were.
    pub fn drop_clean(&self) -> usize {
        let mut gone = 0;
        for f in 0..self.frames.used() as u32 {
            task::maybe_yield();
            gone += usize::from(self.try_evict(f));
        }
        gone
    }

    /// Bytes in huge pages, and bytes backed by memory at all. Reads /proc.
    pub fn huge_bytes(&self) -> (u64, u64) {
        (self.frames.huge_bytes(), self.frames.backed_bytes())
    }

    /// Bytes backed by memory at all, as the process's account was told.
    pub fn backed_bytes(&self) -> u64 {
        self.frames.backed_bytes()
    }

    /// Whether it cannot be paged out.
    pub fn is_locked(&self) -> bool {
        self.frames.is_locked()
    }

    /// Why it can be paged out, and why it is not of reserved huge pages, where it was to be kept in memory or of those.
    pub fn refused(&self) -> (Option<&io::Error>, Option<&io::Error>) {
        self.frames.refused()
    }

    /// Frames with pages by node, as many rows as it has nodes. Cheap.
    pub fn node_pages(&self) -> Vec<NodePages> {
        self.frames.nodes().map(|(node, pages)| NodePages { node, pages }).collect()
    }

    /// About how many pages lie elsewhere than on the node that they were asked for, by that node, since it had no memory
    /// left: by what the kernel says of some of them. Nothing of a pool without nodes.
    pub fn pages_away(&self) -> Vec<NodePages> {
        if !self.frames.has_nodes() {
            return Vec::new();
        }
        let held: Vec<u32> = (0..self.frames.used() as u32)
            .filter(|f| self.frames.meta(*f).page.load(Relaxed) != 0)
            .collect();
        let every = held.len() / ASKED_MAX + 1;
        let asked: Vec<u32> = held.iter().copied().step_by(every).collect();
        let mut all = self.node_pages();
        all.iter_mut().for_each(|of| of.pages = 0);
        for (f, there) in asked.iter().zip(self.frames.nodes_of(&asked)) {
            let node = self.frames.node_of(*f);
            let is_away = there.is_some_and(|there| there != usize::from(node));
            if let Some(of) = all.iter_mut().find(|of| of.node == node && is_away) {
                of.pages += every;
            }
        }
        all
    }

    /// Tells of each page in memory, those aside that just change hands or are latched.
    pub fn describe<'a>(&'a self, mut tell: impl FnMut(Described<'a>)) {
        for f in 0..self.frames.used() as u32 {
            task::maybe_yield();
            let (meta, page) = self.frame_state(f);
            if page.is_none() {
                continue;
            }
            let Ok(word) = self.word(page) else { continue };
            let seen = word.load(Acquire);
            if !word::is_quiet(seen) || word::frame(seen) != Some(f) {
                continue;
            }
            let look = self.read_of(page, word, f, seen);
            let (node, is_modified) = (self.frames.node_of(f), meta.is_dirty());
            tell(Described { page, node, is_modified, look });
        }
    }
}

/// Before a statement is refused for want of memory, clean pages beyond the target go at once.
impl Gives for BufferPool {
    fn give(&self, bytes: u64) -> u64 {
        // One at a time is enough: the hand is the same for all.
        let Some(_giving) = self.giving.try_lock() else { return 0 };
        self.follow_memory_beside(bytes);
        let page = crate::PAGE_BYTES as u64;
        let wanted = usize::try_from(bytes.div_ceil(page)).unwrap_or(usize::MAX);
        // What is given within the target others would take again.
        let beyond = || self.frames.backed_beyond_target();
        let mut given = 0;
        while given < wanted {
            let now = beyond().min(wanted - given).min(TRIM_STEP);
            let trimmed = self.frames.trim(now);
            given += trimmed;
            if now == 0 || (trimmed < now && self.reclaim_clean(now - trimmed) < now - trimmed) {
                break;
            }
        }
        given += self.frames.trim(beyond().min(wanted.saturating_sub(given)));
        given as u64 * page
    }

    fn has_more(&self) -> bool {
        self.frames.beyond_target() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_give_way_in_steps_and_by_what_pools_were_made_for() {
        let mb = 1 << 20;
        let frames = |mb: u64| (mb * 128) as usize;
        // 1,024 MB in steps of 16: one step less than what is spare.
        assert_eq!(share_of_spare(1024 * mb, 1024 * mb, 512 * mb, 512 * mb), frames(1008));
        assert_eq!(share_of_spare(1023 * mb, 1024 * mb, 512 * mb, 512 * mb), frames(992));
        assert_eq!(share_of_spare(80 * mb, 1024 * mb, 256 * mb, 512 * mb), frames(32));
        assert_eq!(share_of_spare(0, 1024 * mb, 512 * mb, 512 * mb), 0);
    }
}
