//! Huge pages for whoever fills memory faster than the system zeroes it: touched before somebody needs them, and used again.
//!
//! ```text
//! keep, step ──> ready ──take──> Chunk ──drop──> ready, as long as it has room; else to the system
//! ```
//! A first touch costs more than what is done with the memory afterwards, most of all in a virtual machine whose host backs
//! memory when it is first touched. So while chunks are in use some more are made ready by a thread that has time
//! ([`step`]), and as many as an operator wants stay the process's ([`keep`]).
//!
//! Promises: a chunk begins on a boundary of [`HUGE_BYTES`] and has as many; what is in it, nobody knows. It lies on the memory
//! node of the thread that took it, where the system could; of a thread that prefers none ([`numa::Seat::preferred`]: one node,
//! or a machine taken as one) it lies where it was touched. What is ready counts as the process's memory, and as no
//! task's; of what nobody has asked to be kept it is at most [`AHEAD`] chunks for each node, and none where none are in use.

use crate::memory;
use crate::numa;
use crate::pages::{HUGE_BYTES, Pages};
use parking_lot::Mutex;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// So many are ready at most besides what is kept: 32 MiB.
const AHEAD: usize = 16;

/// What there is on a memory node.
#[derive(Default)]
struct Node {
    ready: Vec<Pages>,
    in_use: usize,
    /// In use and ready together, at least.
    kept: usize,
    /// The node itself, where who takes from here is to have its memory; `None`: where it is touched.
    preferred: Option<u16>,
}

impl Node {
    /// How many are to be ready.
    fn wanted(&self) -> usize {
        self.kept.saturating_sub(self.in_use).max(self.in_use.min(AHEAD))
    }

    /// Whether one more is to be.
    fn lacks(&self) -> bool {
        self.ready.len() < self.wanted()
    }

    /// Keeps nothing and prefers none; what is too many then.
    fn forget(&mut self) -> Vec<Pages> {
        (self.kept, self.preferred) = (0, None);
        self.surplus()
    }

    /// Those that are too many.
    fn surplus(&mut self) -> Vec<Pages> {
        self.ready.split_off(self.wanted().min(self.ready.len()))
    }
}

static NODES: Mutex<Vec<Node>> = Mutex::new(Vec::new());

/// Does something with what there is on a node.
fn on<R>(node: u16, act: impl FnOnce(&mut Node) -> R) -> R {
    let mut nodes = NODES.lock();
    let at = usize::from(node);
    if nodes.len() <= at {
        nodes.resize_with(at + 1, Node::default);
    }
    act(&mut nodes[at])
}

/// [`HUGE_BYTES`] of memory.
pub struct Chunk {
    pages: ManuallyDrop<Pages>,
    node: u16,
}

impl Chunk {
    /// One that is ready, or a new one. Where the system has none the process ends, as for any allocation.
    pub fn take() -> Chunk {
        let seat = numa::seat();
        let node = seat.place.memory;
        let ready = on(node, |node| {
            node.in_use += 1;
            node.preferred = seat.preferred.or(node.preferred);
            node.ready.pop()
        });
        let pages = match ready {
            Some(pages) => {
                memory::note_taken(HUGE_BYTES as i64);
                pages
            }
            None => Pages::map(HUGE_BYTES),
        };
        Chunk { pages: ManuallyDrop::new(pages), node }
    }

    /// Where it begins; valid for reads and writes of [`HUGE_BYTES`] as long as it lives.
    #[inline]
    pub fn base(&self) -> NonNull<u8> {
        self.pages.base()
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: nobody asks for it again: it is being dropped.
        let pages = unsafe { ManuallyDrop::take(&mut self.pages) };
        memory::note_taken(-(HUGE_BYTES as i64));
        give_back(on(self.node, |node| {
            node.in_use -= 1;
            node.ready.push(pages);
            node.surplus()
        }));
    }
}

/// What was ready, which no task has, goes back to the system.
fn give_back(pages: Vec<Pages>) {
    memory::note_taken(HUGE_BYTES as i64 * pages.len() as i64);
}

/// Of a memory node (`None`: of whichever, for threads that prefer none and are on node 0) so many bytes stay the process's, in
/// use or ready: [`step`] touches what is missing. Less than before: what is ready and too much goes back to the system.
pub fn keep(node: Option<u16>, bytes: u64) {
    give_back(on(node.unwrap_or(0), |of| {
        of.kept = (bytes / HUGE_BYTES as u64) as usize;
        of.preferred = node;
        of.surplus()
    }));
}

/// Of no node any more, and no node is preferred until somebody does.
pub fn keep_none() {
    let all: Vec<Pages> = NODES.lock().iter_mut().flat_map(Node::forget).collect();
    give_back(all);
}

/// Makes one more ready, where one is missing and memory is not short; whether it did. Takes a few milliseconds where memory
/// is slow to come.
pub fn step() -> bool {
    if memory::is_short() {
        return false;
    }
    let lacking = {
        let nodes = NODES.lock();
        nodes.iter().position(Node::lacks).map(|node| (node, nodes[node].preferred))
    };
    let Some((node, preferred)) = lacking else { return false };
    let pages = Pages::map(HUGE_BYTES);
    if let Some(preferred) = preferred {
        // Refused, it comes from where it is touched: slower, not wrong.
        let _ = numa::bind(pages.base().as_ptr(), HUGE_BYTES, preferred.into());
    }
    pages.touch();
    memory::note_taken(-(HUGE_BYTES as i64));
    on(node as u16, |node| node.ready.push(pages));
    true
}

/// What is ready, in bytes.
pub fn ready_bytes() -> u64 {
    NODES.lock().iter().map(|node| node.ready.len() as u64 * HUGE_BYTES as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, since the chunks are the process's.
    #[test]
    fn chunks_are_kept_ready_and_come_again() {
        let taken = memory::taken_bytes();
        assert!(!step(), "nobody uses any");
        let first = Chunk::take();
        assert_eq!(memory::taken_bytes() - taken, HUGE_BYTES as i64);
        assert!(step() && !step(), "one in use, one ahead");
        assert_eq!(ready_bytes(), HUGE_BYTES as u64);
        assert_eq!(memory::taken_bytes() - taken, HUGE_BYTES as i64, "what is ready is nobody's");
        let second = Chunk::take();
        assert_eq!(ready_bytes(), 0);
        let bases = [first.base(), second.base()];
        assert!(bases.iter().all(|base| base.addr().get() % HUGE_BYTES == 0));
        // SAFETY: ours, and as long.
        unsafe {
            second.base().write_bytes(7, HUGE_BYTES);
        }
        keep(None, 3 * HUGE_BYTES as u64);
        drop((first, second));
        assert_eq!(memory::taken_bytes(), taken);
        assert!(step() && !step());
        assert_eq!(ready_bytes(), 3 * HUGE_BYTES as u64);
        let again: Vec<Chunk> = (0..4).map(|_| Chunk::take()).collect();
        assert!(bases.iter().all(|base| again.iter().any(|chunk| chunk.base() == *base)));
        drop(again);
        assert_eq!(ready_bytes(), 3 * HUGE_BYTES as u64, "one too many went back");
        keep(None, 0);
        assert_eq!(ready_bytes(), 0);
        let some: Vec<Chunk> = (0..3).map(|_| Chunk::take()).collect();
        while step() {}
        assert_eq!(ready_bytes(), 3 * HUGE_BYTES as u64, "as many ahead as are in use");
        drop(some);
        assert_eq!((ready_bytes(), memory::taken_bytes()), (0, taken));
        nodes_are_those_that_somebody_prefers();
        assert_eq!((ready_bytes(), memory::taken_bytes()), (0, taken));
    }

    /// What the kernel was told of the memory at an address; `None` where it does not tell.
    fn policy(at: NonNull<u8>) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/numa_maps").ok()?;
        let areas = maps.lines().filter_map(|line| {
            let mut words = line.split(' ');
            Some((usize::from_str_radix(words.next()?, 16).ok()?, words.next()?))
        });
        let below = areas.filter(|(from, _)| *from <= at.addr().get());
        below.max_by_key(|(from, _)| *from).map(|(_, policy)| policy.to_owned())
    }

    fn nodes_are_those_that_somebody_prefers() {
        let preferred = |at: u16| on(at, |node| node.preferred);
        let touched = |node| {
            keep(node, HUGE_BYTES as u64);
            assert!(step());
            let told = policy(Chunk::take().base());
            keep_none();
            told
        };
        // A sandbox may take a policy and tell of none.
        let told = touched(None);
        assert!(told.is_none_or(|told| !told.contains(':')), "nothing was bound");
        let told = touched(Some(0));
        assert!(told.is_none_or(|told| told == "prefer:0" || told == "default"));

        let seat = numa::seat();
        let place = numa::Place { node: 3, memory: 3 };
        for (prefers, then) in [(None, None), (Some(3), Some(3)), (None, Some(3))] {
            // Said as of who began the thread: the kernel need not have the node.
            numa::inherit(numa::Seat { place, preferred: prefers });
            drop(Chunk::take());
            assert_eq!(preferred(3), then, "who prefers none leaves it");
        }
        numa::inherit(seat);
        keep(Some(3), 0);
        assert_eq!(preferred(3), Some(3));
        keep_none();
        assert_eq!(preferred(3), None);
    }
}
