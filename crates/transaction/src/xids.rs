//! Transaction ids and what has become of them.
//!
//! ```text
//! Xid: epoch 14 bits | slot 7 | counter 40      entry of an Xid: ring of its slot, counter % ring length
//! free --begin--> active --committing--> committed(csn)      active --> aborted(lsn)
//!                 active --preparing--> (committing or aborted; to others it is active)
//! ```
//! Invariants:
//! 1. An epoch is one opening of the database. Ids of other epochs are committed, but for the losers that recovery found
//!    at this opening: those count as active for as long as it lasts, since what they have changed is theirs until it is
//!    undone, and nobody's stamp afterwards.
//! 2. A slot's entries are given out only by the thread that has the slot; an entry is written by its transaction.
//! 3. An entry is reused only when its transaction ended below the horizon, so that every snapshot sees what it did
//!    or does not care, or after its state has moved to the overflow map. Hence an id of this epoch that is in
//!    neither is committed and visible to all.
//! 4. `Committing` is stored before the commit record is appended: who sees a tail above it sees at least that.

use crate::xdesmgr::{XdesMgr, XdesStats};
use lock_manager::Owner;
use log_manager::Lsn;
use mvcc::{Xid, XidStatus};
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::*, fence};
use stdx::CachePadded;

const COUNTER_BITS: u32 = 40;
const SLOT_BITS: u32 = 7;
const _: () = assert!(MAX_SLOTS <= 1 << SLOT_BITS);

/// The epoch in a transaction id: which opening of the database gave it.
pub fn epoch_of(xid: Xid) -> u64 {
    xid.0 >> (COUNTER_BITS + SLOT_BITS)
}

const ACTIVE: u64 = 1;
const COMMITTING: u64 = 2;
// LSNs are multiples of 8: the low bits are free.
const COMMITTED: u64 = 3;
const ABORTED: u64 = 4;
/// Active, and about to commit: it looks at what it has read.
const PREPARING: u64 = 5;
const TAG: u64 = 7;

/// Ids between two questions whether the horizon could move.
const LOOK_EVERY: u64 = 64;

#[derive(Default)]
struct Entry {
    xid: AtomicU64,
    state: AtomicU64,
    /// No record of the transaction is below.
    first_lsn: AtomicU64,
    owner: AtomicU64,
}

struct Ring {
    next: AtomicU64,
    entries: Box<[Entry]>,
}

/// Every entry of a slot is taken by an unfinished transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyTransactions;

/// Ids and states of one database.
pub struct XidTable {
    epoch: u64,
    ring_len: u64,
    rings: Box<[CachePadded<OnceLock<Ring>>]>,
    overflow: Mutex<HashMap<u64, u64>>,
    /// Sorted; set before anybody asks.
    losers: OnceLock<Box<[Xid]>>,
    xdesmgr: XdesMgr,
}

impl XidTable {
    /// `epoch` is above all earlier ones of the database; `ring_len` a power of two: how many transactions may be
    /// unfinished in a slot.
    pub fn new(epoch: u16, ring_len: usize) -> XidTable {
        assert!(ring_len.is_power_of_two() && epoch < 1 << 14 && epoch > 0);
        XidTable {
            epoch: u64::from(epoch),
            ring_len: ring_len as u64,
            rings: (0..MAX_SLOTS).map(|_| CachePadded::new(OnceLock::new())).collect(),
            overflow: Mutex::default(),
            losers: OnceLock::new(),
            xdesmgr: XdesMgr::new(),
        }
    }

    fn ring(&self, slot: usize) -> &Ring {
        self.rings[slot].get_or_init(|| Ring {
            next: AtomicU64::new(0),
            entries: (0..self.ring_len).map(|_| Entry::default()).collect(),
        })
    }

    fn entry(&self, xid: Xid) -> &Entry {
        let slot = (xid.0 >> COUNTER_BITS) as usize % MAX_SLOTS;
        &self.ring(slot).entries[(xid.0 % self.ring_len) as usize]
    }

    /// Switches to one counter behind the XDESMGR spinlock and back, at any moment.
    pub fn set_central(&self, on: bool) {
        self.xdesmgr.set(on);
    }

    /// Figures of that spinlock's data.
    pub fn central_stats(&self) -> XdesStats {
        self.xdesmgr.stats()
    }

    /// With the classic transaction manager switched on, makes the caller one of its active writers; says whether it
    /// did. For a transaction that needs no id: one that does gets it from [`XidTable::begin_central`].
    #[inline(always)]
    pub fn enter_central(&self) -> bool {
        self.xdesmgr.is_on() && {
            self.xdesmgr.draw(0);
            true
        }
    }

    /// An active writer is about to commit: whether there are others.
    pub fn is_more_than_one_writer_active(&self) -> bool {
        self.xdesmgr.is_more_than_one_writer_active()
    }

    /// An active writer has ended.
    pub fn leave_central(&self) {
        self.xdesmgr.leave();
    }

    /// As [`XidTable::begin`], by the classic transaction manager if that is switched on: the caller is then one of
    /// its active writers, which the second answer says.
    pub fn begin_central(
        &self,
        owner: Owner,
        tail: Lsn,
        horizon: Lsn,
    ) -> Result<(Xid, bool), TooManyTransactions> {
        if !self.xdesmgr.is_on() {
            return self.begin(owner, tail, horizon).map(|xid| (xid, false));
        }
        let drawn = self.xdesmgr.draw(self.ring(slot()).next.load(Relaxed));
        let begun = self.begin_from(drawn - 1, owner, tail, horizon);
        if begun.is_err() {
            self.xdesmgr.leave();
        }
        begun.map(|xid| (xid, true))
    }

    /// Whether the next id of the caller's slot would take the entry of a transaction that `horizon` is not yet above,
    /// so that its state would have to move to the map that all slots share: then the horizon is worth moving. Says so
    /// for one id in [`LOOK_EVERY`] alone: a long reader keeps the horizon where it is.
    #[inline]
    pub fn wants_horizon(&self, horizon: Lsn) -> bool {
        let ring = self.ring(slot());
        let next = ring.next.load(Relaxed) + 1;
        if !next.is_multiple_of(LOOK_EVERY) {
            return false;
        }
        let state = ring.entries[(next % self.ring_len) as usize].state.load(Acquire);
        ended_at(state).is_some_and(|at| at >= horizon)
    }

    /// A new active transaction. `tail` is the log's tail, read before.
    pub fn begin(&self, owner: Owner, tail: Lsn, horizon: Lsn) -> Result<Xid, TooManyTransactions> {
        self.begin_from(self.ring(slot()).next.load(Relaxed), owner, tail, horizon)
    }

    /// `counter`: not below the slot's last one.
    fn begin_from(
        &self,
        mut counter: u64,
        owner: Owner,
        tail: Lsn,
        horizon: Lsn,
    ) -> Result<Xid, TooManyTransactions> {
        let slot = slot();
        let ring = self.ring(slot);
        for _ in 0..self.ring_len {
            counter += 1;
            let entry = &ring.entries[(counter % self.ring_len) as usize];
            let state = entry.state.load(Acquire);
            if matches!(state & TAG, ACTIVE | COMMITTING | PREPARING) {
                continue;
            }
            if ended_at(state).is_some_and(|at| at >= horizon) {
                self.overflow.lock().insert(entry.xid.load(Relaxed), state);
            }
            ring.next.store(counter, Relaxed);
            let xid = (self.epoch << (COUNTER_BITS + SLOT_BITS))
                | ((slot as u64) << COUNTER_BITS)
                | (counter % (1 << COUNTER_BITS));
            // The name goes first and comes back last: a reader in between finds it missing and looks elsewhere.
            entry.xid.store(0, Relaxed);
            fence(Release);
            entry.owner.store(owner.0, Relaxed);
            entry.first_lsn.store(tail.0, Relaxed);
            entry.state.store(ACTIVE, Release);
            entry.xid.store(xid, SeqCst);
            return Ok(Xid(xid));
        }
        Err(TooManyTransactions)
    }

    /// It is about to commit, and looks whether it may.
    #[inline]
    pub fn preparing(&self, xid: Xid) {
        self.entry(xid).state.store(PREPARING, SeqCst);
    }

    /// Whether a transaction has said so, and has not been undone since: it prepares, is committing, or has committed.
    /// One look, since it may go on from each of these to the next at any moment.
    pub fn has_prepared(&self, xid: Xid) -> bool {
        let entry = self.entry(xid);
        let state = entry.state.load(SeqCst);
        if entry.xid.load(SeqCst) != xid.0 {
            return matches!(self.status(xid), XidStatus::Committing | XidStatus::Committed(_));
        }
        matches!(state & TAG, PREPARING | COMMITTING | COMMITTED)
    }

    /// The commit record is about to be appended.
    #[inline]
    pub fn committing(&self, xid: Xid) {
        self.entry(xid).state.store(COMMITTING, SeqCst);
    }

    /// The commit record is at `csn`.
    #[inline]
    pub fn committed(&self, xid: Xid, csn: Lsn) {
        self.entry(xid).state.store(csn.0 | COMMITTED, Release);
    }

    /// All is undone; `at` is the log's tail after that.
    pub fn aborted(&self, xid: Xid, at: Lsn) {
        self.entry(xid).state.store(at.0 & !TAG | ABORTED, Release);
    }

    /// The transactions that recovery has to undo. Once, before anybody uses the database.
    pub fn set_losers(&self, mut losers: Vec<Xid>) {
        losers.sort_unstable();
        if !losers.is_empty() && self.losers.set(losers.into()).is_err() {
            stdx::fatal!("the losers of an opening are known already");
        }
    }

    /// Whether recovery had, or still has, to undo `xid`.
    #[inline]
    pub fn is_loser(&self, xid: Xid) -> bool {
        self.losers.get().is_some_and(|losers| losers.binary_search(&xid).is_ok())
    }

    /// What has become of `xid`.
    #[inline]
    pub fn status(&self, xid: Xid) -> XidStatus {
        if epoch_of(xid) != self.epoch {
            let loser = self.is_loser(xid);
            return if loser { XidStatus::Active } else { XidStatus::Committed(Lsn::NONE) };
        }
        let entry = self.entry(xid);
        if entry.xid.load(Acquire) == xid.0 {
            let state = entry.state.load(Acquire);
            fence(Acquire);
            if entry.xid.load(Relaxed) == xid.0 {
                return status_of(state);
            }
        }
        self.overflown(xid)
    }

    #[cold]
    fn overflown(&self, xid: Xid) -> XidStatus {
        self.overflow.lock().get(&xid.0).map_or(XidStatus::Committed(Lsn::NONE), |s| status_of(*s))
    }

    /// Whether it may still change its mind.
    pub fn is_unfinished(&self, xid: Xid) -> bool {
        matches!(self.status(xid), XidStatus::Active | XidStatus::Committing)
    }

    /// Whether it ended, either way, and everybody's snapshot is above that.
    pub fn ended_below(&self, xid: Xid, horizon: Lsn) -> bool {
        let entry = self.entry(xid);
        let named =
            xid.0 >> (COUNTER_BITS + SLOT_BITS) == self.epoch && entry.xid.load(Acquire) == xid.0;
        let mut state = named.then(|| entry.state.load(Acquire));
        fence(Acquire);
        if entry.xid.load(Relaxed) != xid.0 {
            state = None;
        }
        let state = state.or_else(|| self.overflow.lock().get(&xid.0).copied());
        state.is_none_or(|state| ended_at(state).is_some_and(|at| at < horizon))
    }

    /// Whose transaction it is, as long as it is unfinished. A loser is nobody's.
    pub fn owner(&self, xid: Xid) -> Option<Owner> {
        if self.is_loser(xid) {
            return None;
        }
        let entry = self.entry(xid);
        let owner = entry.owner.load(Acquire);
        self.is_unfinished(xid).then_some(Owner(owner))
    }

    /// At most the first LSN of every unfinished transaction that has logged something below `tail`, which was read
    /// before the call; `tail` when there is none.
    pub fn oldest_first_lsn(&self, tail: Lsn) -> Lsn {
        fence(SeqCst);
        let mut oldest = tail.0;
        for ring in self.rings.iter().filter_map(|r| r.get()) {
            for entry in &ring.entries {
                let first = entry.first_lsn.load(Acquire);
                if matches!(entry.state.load(Acquire) & TAG, ACTIVE | COMMITTING | PREPARING) {
                    oldest = oldest.min(first).min(entry.first_lsn.load(Acquire));
                }
            }
        }
        Lsn(oldest)
    }

    /// Unfinished transactions: (xid, owner).
    pub fn unfinished(&self) -> Vec<(Xid, Owner)> {
        let rings = self.rings.iter().filter_map(|r| r.get());
        rings
            .flat_map(|r| r.entries.iter())
            .filter(|e| matches!(e.state.load(Acquire) & TAG, ACTIVE | COMMITTING | PREPARING))
            .map(|e| (Xid(e.xid.load(Acquire)), Owner(e.owner.load(Acquire))))
            .filter(|(x, _)| !x.is_none())
            .collect()
    }

    /// Forgets overflown states below the horizon.
    pub fn trim(&self, horizon: Lsn) {
        self.overflow.lock().retain(|_, state| *state & !TAG >= horizon.0);
    }
}

/// Where the transaction of that state ended, either way.
fn ended_at(state: u64) -> Option<Lsn> {
    matches!(state & TAG, COMMITTED | ABORTED).then_some(Lsn(state & !TAG))
}

fn status_of(state: u64) -> XidStatus {
    match state & TAG {
        ACTIVE | PREPARING => XidStatus::Active,
        COMMITTING => XidStatus::Committing,
        COMMITTED => XidStatus::Committed(Lsn(state & !TAG)),
        _ => XidStatus::Aborted,
    }
}
