//! The table of key locks, in shards, so that locks on different keys do not meet.

use crate::queue::{Queue, Waiter};
use crate::wait::WaitNode;
use crate::{KeyMode, Owner, RowKey};
use parking_lot::Mutex;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use stdx::{CachePadded, NumberMap};

type Shard = NumberMap<RowKey, Queue<KeyMode>>;

const SHARDS: usize = 128;

/// What became of a request.
pub(crate) enum Request {
    /// Held before, in a mode that covers the wanted one.
    Covered,
    /// Granted; the mode held before.
    Granted(KeyMode),
    /// Enqueued, or refused when there was no node; the mode held meanwhile.
    Blocked(KeyMode),
}

/// All key locks of a database.
pub(crate) struct KeyTable {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
}

impl KeyTable {
    pub(crate) fn new() -> KeyTable {
        KeyTable { shards: (0..SHARDS).map(|_| CachePadded::new(Mutex::default())).collect() }
    }

    fn shard(&self, key: RowKey) -> &Mutex<Shard> {
        &self.shards[(stdx::mix64(key.hash ^ key.tree) % SHARDS as u64) as usize]
    }

    /// Grants one lock (as a conversion, the union with what is held) or enqueues `node`.
    pub(crate) fn request(
        &self,
        key: RowKey,
        owner: Owner,
        mode: KeyMode,
        node: Option<&Arc<WaitNode>>,
    ) -> Request {
        let mut shard = self.shard(key).lock();
        let queue = match shard.entry(key) {
            // Most locks are nobody's.
            Entry::Vacant(place) => {
                place.insert(Queue::of(owner, mode));
                return Request::Granted(KeyMode::NONE);
            }
            Entry::Occupied(place) => place.into_mut(),
        };
        let before = queue.mode_of(owner);
        let wanted = before.unwrap_or_default().union(mode);
        if before == Some(wanted) {
            return Request::Covered;
        }
        let first = before.is_some() || queue.lets_pass(wanted, KeyMode::compatible);
        if first && queue.fits(owner, wanted, KeyMode::compatible) {
            match before {
                Some(_) => queue.set(owner, wanted),
                None => queue.add(owner, wanted),
            }
            return Request::Granted(before.unwrap_or_default());
        }
        if let Some(node) = node {
            node.arm();
            queue.enqueue(Waiter { owner, mode: wanted, node: node.clone() });
        } else if queue.is_unused() {
            shard.remove(&key);
        }
        Request::Blocked(before.unwrap_or_default())
    }

    /// Goes back to a weaker mode; [`KeyMode::NONE`] lets go.
    pub(crate) fn weaken(&self, key: RowKey, owner: Owner, mode: KeyMode) {
        let mut shard = self.shard(key).lock();
        let Entry::Occupied(mut place) = shard.entry(key) else { return };
        let queue = place.get_mut();
        if mode == KeyMode::NONE {
            queue.remove(owner, |_| true);
        } else {
            queue.set(owner, mode);
        }
        grant(queue);
        if queue.is_unused() {
            place.remove();
        }
    }

    /// Takes a waiter out of its queue. False when it had been granted.
    pub(crate) fn withdraw(&self, key: RowKey, owner: Owner) -> bool {
        let mut shard = self.shard(key).lock();
        let Some(queue) = shard.get_mut(&key) else { return false };
        let was_waiting = queue.withdraw(owner);
        grant(queue);
        if queue.is_unused() {
            shard.remove(&key);
        }
        was_waiting
    }

    /// Whether anybody holds the lock or waits for it.
    #[inline]
    pub(crate) fn is_used(&self, key: RowKey) -> bool {
        self.shard(key).lock().contains_key(&key)
    }

    pub(crate) fn mode_of(&self, key: RowKey, owner: Owner) -> KeyMode {
        let shard = self.shard(key).lock();
        shard.get(&key).and_then(|q| q.mode_of(owner)).unwrap_or_default()
    }

    pub(crate) fn blockers(&self, key: RowKey, owner: Owner, out: &mut Vec<Owner>) {
        if let Some(queue) = self.shard(key).lock().get(&key) {
            queue.blockers(owner, KeyMode::compatible, out);
        }
    }

    pub(crate) fn first_blocker(&self, key: RowKey, owner: Owner) -> Option<Owner> {
        self.shard(key).lock().get(&key)?.first_blocker(owner, KeyMode::compatible)
    }

    /// Calls `f` for every hold (granted) and wait.
    pub(crate) fn each(&self, mut f: impl FnMut(RowKey, Owner, KeyMode, bool)) {
        for shard in &self.shards {
            for (key, queue) in shard.lock().iter() {
                queue.holders().for_each(|(o, m)| f(*key, o, m, true));
                queue.waiters.iter().for_each(|w| f(*key, w.owner, w.mode, false));
            }
        }
    }
}

#[inline]
fn grant(queue: &mut Queue<KeyMode>) {
    if !queue.waiters.is_empty() {
        grant_waiters(queue);
    }
}

#[cold]
fn grant_waiters(queue: &mut Queue<KeyMode>) {
    let fits = |queue: &Queue<KeyMode>| {
        let has_room = |w: &Waiter<KeyMode>| queue.fits(w.owner, w.mode, KeyMode::compatible);
        queue.ready(has_room, KeyMode::compatible)
    };
    while let Some(next) = fits(queue).and_then(|at| queue.waiters.remove(at)) {
        if next.node.grant() {
            if queue.holds(next.owner) {
                queue.set(next.owner, next.mode);
            } else {
                queue.add(next.owner, next.mode);
            }
        }
    }
}
