//! The queue of one lock, and the table of row locks.
//!
//! A queue is fair: a newcomer waits behind conflicting waiters; a holder that wants more (a conversion) goes first.

use crate::wait::WaitNode;
use crate::{Owner, RowKey, RowMode};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use stdx::CachePadded;

pub(crate) struct Waiter<M> {
    pub(crate) owner: Owner,
    pub(crate) mode: M,
    pub(crate) node: Arc<WaitNode>,
}

/// Holders and waiters of one lock. The first holder lies in the struct: most locks have one.
pub(crate) struct Queue<M> {
    first: Option<(Owner, M)>,
    more: Vec<(Owner, M)>,
    pub(crate) waiters: VecDeque<Waiter<M>>,
}

impl<M> Default for Queue<M> {
    fn default() -> Self {
        Queue { first: None, more: Vec::new(), waiters: VecDeque::new() }
    }
}

impl<M: Copy> Queue<M> {
    pub(crate) fn holders(&self) -> impl Iterator<Item = (Owner, M)> + '_ {
        self.first.iter().chain(&self.more).copied()
    }

    pub(crate) fn holds(&self, owner: Owner) -> bool {
        self.holders().any(|(o, _)| o == owner)
    }

    pub(crate) fn add(&mut self, owner: Owner, mode: M) {
        if self.first.is_none() {
            self.first = Some((owner, mode));
        } else {
            self.more.push((owner, mode));
        }
    }

    /// Changes the mode of a holder.
    pub(crate) fn set(&mut self, owner: Owner, mode: M) {
        for holder in self.first.iter_mut().chain(&mut self.more) {
            if holder.0 == owner {
                holder.1 = mode;
            }
        }
    }

    /// Removes one hold of `owner` for which `which` is true.
    pub(crate) fn remove(&mut self, owner: Owner, which: impl Fn(M) -> bool) {
        if self.first.is_some_and(|(o, m)| o == owner && which(m)) {
            self.first = self.more.pop();
        } else if let Some(i) = self.more.iter().position(|&(o, m)| o == owner && which(m)) {
            self.more.swap_remove(i);
        }
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.first.is_none() && self.waiters.is_empty()
    }

    /// Whether `owner` could hold `mode` beside the other holders.
    pub(crate) fn fits(&self, owner: Owner, mode: M, compatible: impl Fn(M, M) -> bool) -> bool {
        self.holders().all(|(o, m)| o == owner || compatible(mode, m))
    }

    pub(crate) fn enqueue(&mut self, waiter: Waiter<M>) {
        if self.holds(waiter.owner) {
            self.waiters.push_front(waiter);
        } else {
            self.waiters.push_back(waiter);
        }
    }

    /// Takes a waiter out. False when it is not there (any more).
    pub(crate) fn withdraw(&mut self, owner: Owner) -> bool {
        let before = self.waiters.len();
        self.waiters.retain(|w| w.owner != owner);
        self.waiters.len() != before
    }

    /// Whom `owner` waits for here: conflicting holders, and conflicting waiters before it.
    pub(crate) fn blockers(
        &self,
        owner: Owner,
        compatible: impl Fn(M, M) -> bool,
        out: &mut Vec<Owner>,
    ) {
        let Some(at) = self.waiters.iter().position(|w| w.owner == owner) else { return };
        let mode = self.waiters[at].mode;
        out.extend(
            self.holders().filter(|&(o, m)| o != owner && !compatible(mode, m)).map(|(o, _)| o),
        );
        out.extend(self.waiters.range(..at).filter(|w| !compatible(mode, w.mode)).map(|w| w.owner));
    }
}

#[derive(Default)]
pub(crate) struct RowHasher(u64);

impl Hasher for RowHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = stdx::mix64(self.0 ^ n);
    }
}

type Shard = HashMap<RowKey, Queue<RowMode>, BuildHasherDefault<RowHasher>>;

const SHARDS: usize = 128;

/// All row locks of a database, in shards.
pub(crate) struct RowTable {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
}

impl RowTable {
    pub(crate) fn new() -> RowTable {
        RowTable { shards: (0..SHARDS).map(|_| CachePadded::new(Mutex::default())).collect() }
    }

    pub(crate) fn shard(&self, key: RowKey) -> &Mutex<Shard> {
        &self.shards[(stdx::mix64(key.hash ^ key.tree) % SHARDS as u64) as usize]
    }

    /// Grants one lock or enqueues `node`. True when granted.
    pub(crate) fn request(
        &self,
        key: RowKey,
        owner: Owner,
        mode: RowMode,
        node: Option<&Arc<WaitNode>>,
    ) -> bool {
        let mut shard = self.shard(key).lock();
        let queue = shard.entry(key).or_default();
        let conversion = queue.holds(owner);
        if queue.fits(owner, mode, RowMode::compatible) && (conversion || queue.waiters.is_empty())
        {
            if conversion {
                queue.set(owner, mode);
            } else {
                queue.add(owner, mode);
            }
            return true;
        }
        if let Some(node) = node {
            node.arm();
            queue.enqueue(Waiter { owner, mode, node: node.clone() });
        }
        false
    }

    pub(crate) fn release(&self, key: RowKey, owner: Owner) {
        let mut shard = self.shard(key).lock();
        if let Some(queue) = shard.get_mut(&key) {
            queue.remove(owner, |_| true);
            grant_rows(queue);
            if queue.is_unused() {
                shard.remove(&key);
            }
        }
    }

    /// Takes a waiter out of its queue. False when it had been granted.
    pub(crate) fn withdraw(&self, key: RowKey, owner: Owner) -> bool {
        let mut shard = self.shard(key).lock();
        let Some(queue) = shard.get_mut(&key) else { return false };
        let was_waiting = queue.withdraw(owner);
        grant_rows(queue);
        if queue.is_unused() {
            shard.remove(&key);
        }
        was_waiting
    }

    pub(crate) fn blockers(&self, key: RowKey, owner: Owner, out: &mut Vec<Owner>) {
        if let Some(queue) = self.shard(key).lock().get(&key) {
            queue.blockers(owner, RowMode::compatible, out);
        }
    }

    /// Calls `f` for every hold (granted) and wait.
    pub(crate) fn each(&self, mut f: impl FnMut(RowKey, Owner, RowMode, bool)) {
        for shard in &self.shards {
            for (key, queue) in shard.lock().iter() {
                queue.holders().for_each(|(o, m)| f(*key, o, m, true));
                queue.waiters.iter().for_each(|w| f(*key, w.owner, w.mode, false));
            }
        }
    }
}

fn grant_rows(queue: &mut Queue<RowMode>) {
    while let Some(next) = queue.waiters.front() {
        if !queue.fits(next.owner, next.mode, RowMode::compatible) {
            return;
        }
        let next = queue.waiters.pop_front().expect("there is a front");
        if next.node.grant() {
            if queue.holds(next.owner) {
                queue.set(next.owner, next.mode);
            } else {
                queue.add(next.owner, next.mode);
            }
        }
    }
}
