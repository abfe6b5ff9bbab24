//! Who waits for whom. Kept only for owners that wait; searched when a wait begins, and now and then while it lasts.
//!
//! A new wait adds edges only from the owner that begins it, so a cycle, if there is one, goes through it. Edges are
//! read from the queues at the time of the search, so a record that is out of date has none. The graph's mutex is
//! taken before the mutexes of queues, never after.

use crate::mode::TableMode;
use crate::tables::bucket_of;
use crate::wait::WaitNode;
use crate::{LockManager, Owner, RowKey};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Row(RowKey),
    Table(u64, TableMode),
    /// The end of this owner's transaction.
    End(Owner),
}

pub(crate) struct WaitRecord {
    pub(crate) target: Target,
    pub(crate) priority: i8,
    pub(crate) node: Arc<WaitNode>,
    /// Intent locks that the waiter holds by the fast path: (bucket, mode).
    pub(crate) fast: Vec<(usize, TableMode)>,
}

#[derive(Default)]
pub(crate) struct Graph {
    waits: Mutex<HashMap<Owner, WaitRecord>>,
}

impl Graph {
    pub(crate) fn begin(&self, owner: Owner, record: WaitRecord) {
        self.waits.lock().insert(owner, record);
    }

    pub(crate) fn end(&self, owner: Owner) {
        self.waits.lock().remove(&owner);
    }

    /// Looks for a cycle through `owner` and, if there is one, condemns its least important member (`owner` itself
    /// among equals).
    pub(crate) fn check(&self, owner: Owner, locks: &LockManager) {
        let waits = self.waits.lock();
        let mut path = vec![owner];
        let mut seen = HashSet::from([owner]);
        if !search(&waits, locks, owner, owner, &mut path, &mut seen) {
            return;
        }
        let victim = path
            .iter()
            .filter_map(|o| waits.get(o).map(|w| (w.priority, *o != owner, *o)))
            .min()
            .and_then(|(.., o)| waits.get(&o));
        if let Some(victim) = victim
            && victim.node.sacrifice()
        {
            telemetry::counters::add(telemetry::Counter::Deadlocks, 1);
        }
    }
}

fn search(
    waits: &HashMap<Owner, WaitRecord>,
    locks: &LockManager,
    start: Owner,
    at: Owner,
    path: &mut Vec<Owner>,
    seen: &mut HashSet<Owner>,
) -> bool {
    let Some(record) = waits.get(&at) else { return false };
    let mut next = Vec::new();
    match record.target {
        Target::Row(key) => locks.rows.blockers(key, at, &mut next),
        Target::End(owner) => next.push(owner),
        Target::Table(tree, mode) => {
            locks.tables.blockers(tree, at, &mut next);
            if mode.is_strong() {
                let bucket = bucket_of(tree);
                let blocks = |r: &WaitRecord| {
                    r.fast.iter().any(|&(b, m)| b == bucket && !mode.compatible(m))
                };
                next.extend(waits.iter().filter(|(o, r)| **o != at && blocks(r)).map(|(o, _)| *o));
            }
        }
    }
    for owner in next {
        if owner == start {
            return true;
        }
        if seen.insert(owner) {
            path.push(owner);
            if search(waits, locks, start, owner, path, seen) {
                return true;
            }
            path.pop();
        }
    }
    false
}
