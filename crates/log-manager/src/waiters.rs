//! Who waits for what to become durable: a heap per slot, so that committers of different slots do not meet.
//!
//! `head` is the least LSN of the slot's heap. A waiter stores it and then looks at the durable LSN; whoever publishes
//! stores the durable LSN and then looks at `head` (all SeqCst): one of the two sees the other, so no wake-up is lost.

use crate::Lsn;
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, Waker};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use stdx::CachePadded;

struct Waiter {
    upto: Lsn,
    waker: Waker,
}

impl PartialEq for Waiter {
    fn eq(&self, other: &Self) -> bool {
        self.upto == other.upto
    }
}
impl Eq for Waiter {}
impl PartialOrd for Waiter {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiter {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.upto.cmp(&other.upto)
    }
}

struct Queue {
    head: AtomicU64,
    heap: Mutex<BinaryHeap<Reverse<Waiter>>>,
    /// Waits that are over, and their time; written by the thread that has the slot.
    waits: AtomicU64,
    wait_ns: AtomicU64,
}

/// The waiters of all slots.
pub(crate) struct Waiters {
    queues: Box<[CachePadded<Queue>]>,
    /// One more than the highest slot that ever waited.
    used: AtomicUsize,
}

impl Waiters {
    pub(crate) fn new() -> Waiters {
        let queue = |_| {
            CachePadded::new(Queue {
                head: AtomicU64::new(u64::MAX),
                heap: Mutex::new(BinaryHeap::new()),
                waits: AtomicU64::new(0),
                wait_ns: AtomicU64::new(0),
            })
        };
        Waiters { queues: (0..MAX_SLOTS).map(queue).collect(), used: AtomicUsize::new(0) }
    }

    /// From now on `waker` is woken when everything below `upto` is durable. The caller then looks once more itself.
    pub(crate) fn register(&self, slot: usize, upto: Lsn, waker: Waker) {
        if self.used.load(Relaxed) <= slot {
            self.used.fetch_max(slot + 1, SeqCst);
        }
        let queue = &self.queues[slot];
        let mut heap = queue.heap.lock();
        heap.push(Reverse(Waiter { upto, waker }));
        let head = heap.peek().map_or(u64::MAX, |w| w.0.upto.0);
        queue.head.store(head, SeqCst);
    }

    /// A wait of the slot's thread is over.
    pub(crate) fn note(&self, slot: usize, ns: u64) {
        let queue = &self.queues[slot];
        queue.waits.store(queue.waits.load(Relaxed) + 1, Relaxed);
        queue.wait_ns.store(queue.wait_ns.load(Relaxed) + ns, Relaxed);
    }

    /// All waits that are over, and their time in nanoseconds.
    pub(crate) fn waited(&self) -> (u64, u64) {
        let used = self.used.load(SeqCst);
        self.queues[..used].iter().fold((0, 0), |(waits, ns), queue| {
            (waits + queue.waits.load(Relaxed), ns + queue.wait_ns.load(Relaxed))
        })
    }

    /// Moves the wakers of those satisfied to `woken`.
    pub(crate) fn take_satisfied(&self, durable: Lsn, woken: &mut Vec<Waker>) {
        let used = self.used.load(SeqCst);
        for queue in &self.queues[..used] {
            if queue.head.load(SeqCst) > durable.0 {
                continue;
            }
            let mut heap = queue.heap.lock();
            while heap.peek().is_some_and(|w| w.0.upto <= durable) {
                woken.extend(heap.pop().map(|w| w.0.waker));
            }
            let head = heap.peek().map_or(u64::MAX, |w| w.0.upto.0);
            queue.head.store(head, SeqCst);
        }
    }
}
