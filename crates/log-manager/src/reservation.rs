//! Taking space in the stream: one `fetch_add` per record, and a lane per slot that tells who still copies.
//!
//! Words: the stream's positions are *reserved* below the tail, *leased* below `granted`, and *complete* below the
//! least announcement of a lane (or the tail, if no lane announces). Only complete bytes may be read by another
//! thread; only leased room may be reserved; only room below the limit may be leased.
//!
//! A worker, with room leased beforehand, does
//!
//! ```text
//! lane  := own last end  (Release)   a lower bound of what it will get
//! start := tail += len   (AcqRel)
//! copy
//! lane  := IDLE          (Release)
//! ```
//!
//! and whoever wants to know what is complete reads the tail first and the lanes afterwards (Acquire).
//!
//! Why that is sound:
//! 1. Let `fetch_add` A come before the value `hi` that the reader took from the tail. All changes of the tail are
//!    read-modify-writes, so the reader synchronises with A, and the announcement made before A is visible to it.
//! 2. If the reader's look at that lane finds the announcement, its bound is at most A's start: the end of the slot's
//!    latest record, which the tail has passed. If it finds anything later, that is a Release store made after A's copy (IDLE, or the next announcement): the copy is visible.
//! 3. A ring's byte is overwritten only by a reservation below the limit. The limit is stored (Release) after the
//!    byte was read for the last time; some thread loaded it (Acquire) to lease up to there, and reserved from that
//!    lease before or at our own `fetch_add`, which therefore happens after the reading. Leases that are given back
//!    change nothing: of the leases that something was reserved from by now, the one taken last found all of them, it
//!    included, within the limit that it had loaded.
//!
//! The announcement is the slot's own count and not the tail: reading the tail just before the `fetch_add` moves its
//! cache line twice between cores that append by turns, once to be read and once to be owned. The price is that, for
//! the length of a copy, what is complete may seem to end where the slot was last; so it may go back, and readers of
//! it keep what they had.
//!
//! Invariants: `tail <= granted`; `granted <= limit` but for seals ([`Reservation::seal`]), which the limit's owner
//! keeps room for. `own` is touched by its slot alone. No two of tail, lanes, limits and private counts share a line.
//!
//! The orderings are parameters ([`Protocol`]) so that the model checker can be shown that each is needed: the tests
//! under loom run this very code, as shipped and with one thing wrong at a time. Knows nothing of blocks or files.

use crate::sync::{AtomicU64, AtomicUsize, Ordering, Ordering::*};
use std::marker::PhantomData;
use stdx::CachePadded;

/// A lane that announces nothing.
const IDLE: u64 = u64::MAX;

/// When a lane's announcement is made.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "the wrong ones exist for the model checker")]
pub(crate) enum Announce {
    BeforeReserving,
    AfterReserving,
    Never,
}

/// The choices that make the protocol sound; [`Shipped`] has the right ones.
pub(crate) trait Protocol {
    const ANNOUNCE: Announce = Announce::BeforeReserving;
    const ANNOUNCE_ORDER: Ordering = Release;
    const RESERVE_ORDER: Ordering = AcqRel;
    const PUBLISH_ORDER: Ordering = Release;
    const TAIL_BEFORE_LANES: bool = true;
    const LANE_LOAD_ORDER: Ordering = Acquire;
    const LIMIT_LOAD_ORDER: Ordering = Acquire;
    /// Whether the scan is told of a slot before the slot first reserves.
    const ENROL_FIRST: bool = true;
}

/// What runs in the product.
pub(crate) struct Shipped;
impl Protocol for Shipped {}

/// What only the slot's own thread touches.
struct Own {
    /// Bytes leased and not yet reserved.
    leased: AtomicU64,
    /// End of the slot's latest record.
    last_end: AtomicU64,
    /// Whether `used` counts this slot.
    enrolled: AtomicU64,
}

struct Lane {
    announced: CachePadded<AtomicU64>,
    own: CachePadded<Own>,
}

/// The stream's tail, and who may move it.
pub(crate) struct Reservation<P: Protocol = Shipped> {
    tail: CachePadded<AtomicU64>,
    granted: CachePadded<AtomicU64>,
    limit: CachePadded<AtomicU64>,
    /// One more than the highest slot that ever reserved.
    used: CachePadded<AtomicUsize>,
    lanes: Box<[Lane]>,
    protocol: PhantomData<P>,
}

// `fn(P)`-like use only: no value of `P` exists.
impl<P: Protocol> Reservation<P> {
    /// A stream whose first free byte is `start`, for slots below `slots`; positions below `limit` may be leased.
    pub(crate) fn new(slots: usize, start: u64, limit: u64) -> Self {
        let lane = |_| Lane {
            announced: CachePadded::new(AtomicU64::new(IDLE)),
            own: CachePadded::new(Own {
                leased: AtomicU64::new(0),
                last_end: AtomicU64::new(0),
                enrolled: AtomicU64::new(0),
            }),
        };
        Reservation {
            tail: CachePadded::new(AtomicU64::new(start)),
            granted: CachePadded::new(AtomicU64::new(start)),
            limit: CachePadded::new(AtomicU64::new(limit)),
            used: CachePadded::new(AtomicUsize::new(0)),
            lanes: (0..slots).map(lane).collect(),
            protocol: PhantomData,
        }
    }

    /// Bytes that `slot` may still reserve.
    #[inline(always)]
    pub(crate) fn leased(&self, slot: usize) -> u64 {
        self.lanes[slot].own.leased.load(Relaxed)
    }

    /// End of the latest record of `slot`; 0 before the first.
    #[inline(always)]
    pub(crate) fn last_end(&self, slot: usize) -> u64 {
        self.lanes[slot].own.last_end.load(Relaxed)
    }

    /// Adds `bytes` to the lease of `slot`, the caller's, if `granted` then stays within both the limit and
    /// `ceiling`; says whether it did.
    pub(crate) fn lease(&self, slot: usize, bytes: u64, ceiling: u64) -> bool {
        let limit = self.limit.load(P::LIMIT_LOAD_ORDER).min(ceiling);
        let mut granted = self.granted.load(Relaxed);
        loop {
            if granted + bytes > limit {
                return false;
            }
            match self.granted.compare_exchange_weak(granted, granted + bytes, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => granted = now,
            }
        }
        let own = &self.lanes[slot].own;
        own.leased.store(own.leased.load(Relaxed) + bytes, Relaxed);
        true
    }

    /// Gives back what the lease of `slot`, the caller's, has above `keep`; says whether that was anything.
    pub(crate) fn give_back(&self, slot: usize, keep: u64) -> bool {
        let own = &self.lanes[slot].own;
        let Some(surplus) = own.leased.load(Relaxed).checked_sub(keep).filter(|n| *n > 0) else {
            return false;
        };
        own.leased.store(keep, Relaxed);
        self.granted.fetch_sub(surplus, AcqRel);
        true
    }

    /// Reserves `len` bytes of the lease of `slot`, the caller's, lets `copy` fill them, and publishes them. Returns
    /// where they begin. `copy` must not panic.
    #[inline(always)]
    pub(crate) fn append(&self, slot: usize, len: u64, copy: impl FnOnce(u64)) -> u64 {
        let lane = &self.lanes[slot];
        let leased = lane.own.leased.load(Relaxed);
        if leased < len {
            overdrawn(leased, len);
        }
        lane.own.leased.store(leased - len, Relaxed);
        if P::ENROL_FIRST && lane.own.enrolled.load(Relaxed) == 0 {
            self.enrol(slot);
        }
        if P::ANNOUNCE == Announce::BeforeReserving {
            lane.announced.store(lane.own.last_end.load(Relaxed), P::ANNOUNCE_ORDER);
        }
        let start = self.tail.fetch_add(len, P::RESERVE_ORDER);
        if P::ANNOUNCE == Announce::AfterReserving {
            lane.announced.store(start, P::ANNOUNCE_ORDER);
        }
        if !P::ENROL_FIRST && lane.own.enrolled.load(Relaxed) == 0 {
            self.enrol(slot);
        }
        copy(start);
        lane.announced.store(IDLE, P::PUBLISH_ORDER);
        lane.own.last_end.store(start + len, Relaxed);
        start
    }

    /// Moves the tail from `from` to `to` if it is at `from`, without a lease: for filling up a block. `slot` is the
    /// caller's. The owner of the limit keeps room for it.
    pub(crate) fn seal(&self, slot: usize, from: u64, to: u64, fill: impl FnOnce()) -> bool {
        let lane = &self.lanes[slot];
        if lane.own.enrolled.load(Relaxed) == 0 {
            self.enrol(slot);
        }
        // Granted first, so that it is never below the tail; taken back if the tail has moved.
        self.granted.fetch_add(to - from, AcqRel);
        lane.announced.store(from, P::ANNOUNCE_ORDER);
        let won = self.tail.compare_exchange(from, to, P::RESERVE_ORDER, Relaxed).is_ok();
        if won {
            fill();
        }
        lane.announced.store(IDLE, P::PUBLISH_ORDER);
        if !won {
            self.granted.fetch_sub(to - from, AcqRel);
        }
        won
    }

    /// Every byte below is complete. Also says where the tail was.
    pub(crate) fn complete(&self) -> Complete {
        if !P::TAIL_BEFORE_LANES {
            let low = self.lowest_lane();
            let tail = self.tail.load(Acquire);
            return Complete { upto: low.min(tail), tail };
        }
        let tail = self.tail.load(Acquire);
        Complete { upto: self.lowest_lane().min(tail), tail }
    }

    fn lowest_lane(&self) -> u64 {
        let used = self.used.load(Acquire);
        let lanes = self.lanes[..used].iter();
        lanes.map(|lane| lane.announced.load(P::LANE_LOAD_ORDER)).min().unwrap_or(IDLE)
    }

    #[inline(always)]
    pub(crate) fn tail(&self) -> u64 {
        self.tail.load(Acquire)
    }

    pub(crate) fn granted(&self) -> u64 {
        self.granted.load(Acquire)
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// Allows leases up to `limit`. One caller at a time, who has read what will be overwritten for the last time.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Release);
    }

    #[cold]
    fn enrol(&self, slot: usize) {
        // Before the slot's first `fetch_add`, which orders it for whoever reads the tail.
        self.used.fetch_max(slot + 1, AcqRel);
        self.lanes[slot].own.enrolled.store(1, Relaxed);
    }
}

/// What [`Reservation::complete`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Complete {
    pub(crate) upto: u64,
    pub(crate) tail: u64,
}

#[cold]
#[inline(never)]
fn overdrawn(leased: u64, len: u64) -> ! {
    stdx::fatal!("a record of {len} bytes was appended on a lease of {leased}");
}

#[cfg(all(test, loom))]
mod loom_tests;
