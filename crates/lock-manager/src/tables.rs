//! Locks on whole tables, with a fast path for the locks that every statement takes: IX, IS and Sch-S.
//!
//! Tables fall into buckets by number. Such a lock adds one to the counter of its bucket in the slot's own row of
//! counters, then looks at the bucket's `strong` count; while that is zero the lock is held, and releasing it
//! subtracts one from the counter of the slot that the owner then runs on. A strong request (S, U, SIX, X, Sch-M) raises
//! `strong`, which sends newcomers to the bucket's slow list, and waits until the counters add up to zero.
//!
//! Why that is sound: the addition and the look at `strong` are sequentially consistent, as are raising `strong` and
//! reading the counters: one of the two sees the other. While `strong` is raised counters only fall (an addition that
//! finds it raised is taken back in the same slot without suspending), so a sum of zero means that nobody is left,
//! in whatever order the counters were read. A counter is written by the one OS thread that has the slot.
//!
//! A releaser does not tell the strong waiter: it looks again every millisecond. That keeps a fence out of release.

use crate::held::{Held, HeldTable};
use crate::queue::{Queue, Waiter};
use crate::wait::WaitNode;
use crate::{Owner, TableMode};
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::*};
use std::sync::{Arc, OnceLock};
use stdx::CachePadded;

pub(crate) const BUCKETS: usize = 1024;

/// One slot's counters of the fast modes, per bucket.
struct Row {
    ix: Box<[AtomicI32]>,
    is: Box<[AtomicI32]>,
    sch_s: Box<[AtomicI32]>,
}

#[derive(Default)]
struct Bucket {
    strong: AtomicU32,
    slow: Mutex<HashMap<u64, Queue<TableMode>>>,
}

pub(crate) struct TableLocks {
    rows: Box<[CachePadded<OnceLock<Row>>]>,
    buckets: Box<[Bucket]>,
}

/// Trees begin at extents of 8 pages, so neighbours fall into neighbouring buckets.
pub(crate) fn bucket_of(tree: u64) -> usize {
    (((tree >> 3) ^ (tree >> 32)) % BUCKETS as u64) as usize
}

impl TableLocks {
    pub(crate) fn new() -> TableLocks {
        TableLocks {
            rows: (0..MAX_SLOTS).map(|_| CachePadded::new(OnceLock::new())).collect(),
            buckets: (0..BUCKETS).map(|_| Bucket::default()).collect(),
        }
    }

    #[inline]
    fn counter(&self, bucket: usize, mode: TableMode) -> &AtomicI32 {
        let row = self.rows[slot()].get_or_init(|| {
            let zeros = || (0..BUCKETS).map(|_| AtomicI32::new(0)).collect();
            Row { ix: zeros(), is: zeros(), sch_s: zeros() }
        });
        match mode {
            TableMode::IntentExclusive => &row.ix[bucket],
            TableMode::IntentShared => &row.is[bucket],
            _ => &row.sch_s[bucket],
        }
    }

    /// Takes a lock of a fast mode if no strong one is about. Does not note it in a `Held`.
    #[inline]
    pub(crate) fn try_fast(&self, tree: u64, mode: TableMode) -> bool {
        let bucket = bucket_of(tree);
        let counter = self.counter(bucket, mode);
        counter.swap(counter.load(Relaxed) + 1, SeqCst);
        if self.buckets[bucket].strong.load(SeqCst) == 0 {
            return true;
        }
        counter.store(counter.load(Relaxed) - 1, Release);
        false
    }

    #[inline]
    pub(crate) fn release_fast(&self, tree: u64, mode: TableMode) {
        let counter = self.counter(bucket_of(tree), mode);
        counter.store(counter.load(Relaxed) - 1, Release);
    }

    fn drained(&self, bucket: usize, mode: TableMode) -> bool {
        let mut sum = 0i64;
        for row in self.rows.iter().filter_map(|r| r.get()) {
            sum += i64::from(row.ix[bucket].load(SeqCst));
            if mode >= TableMode::Exclusive {
                sum += i64::from(row.is[bucket].load(SeqCst));
            }
            if mode == TableMode::SchemaModification {
                sum += i64::from(row.sch_s[bucket].load(SeqCst));
            }
        }
        sum == 0
    }

    /// Raises the flag for a strong request, and moves the requester's own intent locks in the bucket to the slow
    /// list, so that it does not wait for itself. Pairs with [`TableLocks::lower`].
    pub(crate) fn raise(&self, tree: u64, held: &mut Held) {
        let at = bucket_of(tree);
        let bucket = &self.buckets[at];
        let mut slow = bucket.slow.lock();
        bucket.strong.fetch_add(1, SeqCst);
        for t in held.tables.iter_mut().filter(|t| t.fast && bucket_of(t.tree) == at) {
            slow.entry(t.tree).or_default().add(held.owner, t.mode);
            t.fast = false;
            self.release_fast(t.tree, t.mode);
        }
    }

    pub(crate) fn lower(&self, tree: u64) {
        self.buckets[bucket_of(tree)].strong.fetch_sub(1, SeqCst);
    }

    /// Grants from the slow list or enqueues `node`. True when granted.
    pub(crate) fn request(
        &self,
        tree: u64,
        owner: Owner,
        mode: TableMode,
        node: Option<&Arc<WaitNode>>,
    ) -> bool {
        let bucket = bucket_of(tree);
        let mut slow = self.buckets[bucket].slow.lock();
        let queue = slow.entry(tree).or_default();
        let first = queue.holds(owner) || queue.lets_pass(mode, TableMode::compatible);
        if first && self.grantable(bucket, queue, owner, mode) {
            queue.add(owner, mode);
            return true;
        }
        if let Some(node) = node {
            node.arm();
            queue.enqueue(Waiter { owner, mode, node: node.clone() });
        } else if queue.is_unused() {
            slow.remove(&tree);
        }
        false
    }

    fn grantable(
        &self,
        bucket: usize,
        queue: &Queue<TableMode>,
        owner: Owner,
        mode: TableMode,
    ) -> bool {
        queue.fits(owner, mode, TableMode::compatible)
            && (!mode.is_strong() || self.drained(bucket, mode))
    }

    /// Grants what has become grantable. Called after releases, and every now and then by strong waiters.
    pub(crate) fn regrant(&self, tree: u64) {
        let bucket = bucket_of(tree);
        let mut slow = self.buckets[bucket].slow.lock();
        let Some(queue) = slow.get_mut(&tree) else { return };
        self.grant(bucket, queue);
        if queue.is_unused() {
            slow.remove(&tree);
        }
    }

    fn grant(&self, bucket: usize, queue: &mut Queue<TableMode>) {
        let fits = |queue: &Queue<TableMode>| {
            let has_room = |w: &Waiter<TableMode>| self.grantable(bucket, queue, w.owner, w.mode);
            queue.ready(has_room, TableMode::compatible)
        };
        while let Some(next) = fits(queue).and_then(|at| queue.waiters.remove(at)) {
            if next.node.grant() {
                queue.add(next.owner, next.mode);
            }
        }
    }

    pub(crate) fn release(&self, t: HeldTable, owner: Owner) {
        if t.fast {
            self.release_fast(t.tree, t.mode);
            return;
        }
        let bucket = bucket_of(t.tree);
        {
            let mut slow = self.buckets[bucket].slow.lock();
            if let Some(queue) = slow.get_mut(&t.tree) {
                queue.remove(owner, |m| m == t.mode);
                self.grant(bucket, queue);
                if queue.is_unused() {
                    slow.remove(&t.tree);
                }
            }
        }
        if t.mode.is_strong() {
            self.lower(t.tree);
        }
    }

    pub(crate) fn withdraw(&self, tree: u64, owner: Owner) -> bool {
        let bucket = bucket_of(tree);
        let mut slow = self.buckets[bucket].slow.lock();
        let Some(queue) = slow.get_mut(&tree) else { return false };
        let was_waiting = queue.withdraw(owner);
        self.grant(bucket, queue);
        if queue.is_unused() {
            slow.remove(&tree);
        }
        was_waiting
    }

    pub(crate) fn blockers(&self, tree: u64, owner: Owner, out: &mut Vec<Owner>) {
        if let Some(queue) = self.buckets[bucket_of(tree)].slow.lock().get(&tree) {
            queue.blockers(owner, TableMode::compatible, out);
        }
    }

    pub(crate) fn first_blocker(&self, tree: u64, owner: Owner) -> Option<Owner> {
        let slow = self.buckets[bucket_of(tree)].slow.lock();
        slow.get(&tree)?.first_blocker(owner, TableMode::compatible)
    }

    /// Calls `f` for every hold and wait of the slow lists.
    pub(crate) fn each(&self, mut f: impl FnMut(u64, Owner, TableMode, bool)) {
        for bucket in &self.buckets {
            for (tree, queue) in bucket.slow.lock().iter() {
                queue.holders().for_each(|(o, m)| f(*tree, o, m, true));
                queue.waiters.iter().for_each(|w| f(*tree, w.owner, w.mode, false));
            }
        }
    }
}
