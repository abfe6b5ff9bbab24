//! Who waits for whom. Kept only for owners that wait; searched when a wait begins, and now and then while it lasts.
//!
//! A new wait adds edges only from the owner that begins it, so a cycle, if there is one, goes through it. Edges are
//! read from the queues at the time of the search, so a record that is out of date has none. The graph's mutex is
//! taken before the mutexes of queues, never after.
//!
//! The victim is the member of the cycle with the lowest priority; among those the one that has logged least; among
//! those the owner whose wait closed the cycle.

use crate::manager::{DEADLOCKS_KEPT, Target};
use crate::report::{Deadlock, DeadlockMember};
use crate::tables::bucket_of;
use crate::wait::{Verdict, WaitNode};
use crate::{LockManager, Owner, TableMode};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub(crate) struct WaitRecord {
    pub(crate) target: Target,
    pub(crate) priority: i8,
    pub(crate) cost: u64,
    pub(crate) since_ns: u64,
    pub(crate) node: Arc<WaitNode>,
    /// Intent locks that the waiter holds by the fast path: (tree, mode).
    pub(crate) fast: Vec<(u64, TableMode)>,
}

impl WaitRecord {
    fn waits(&self) -> bool {
        self.node.verdict() == Verdict::Waiting
    }
}

#[derive(Default)]
pub(crate) struct Graph {
    waits: Mutex<BTreeMap<Owner, WaitRecord>>,
    /// The last few, newest last.
    pub(crate) deadlocks: Mutex<VecDeque<Arc<Deadlock>>>,
}

impl Graph {
    pub(crate) fn begin(&self, owner: Owner, record: WaitRecord) {
        self.waits.lock().insert(owner, record);
    }

    pub(crate) fn end(&self, owner: Owner) {
        self.waits.lock().remove(&owner);
    }

    /// Calls `f` for every wait.
    pub(crate) fn each(&self, mut f: impl FnMut(Owner, &WaitRecord)) {
        self.waits.lock().iter().filter(|(_, r)| r.waits()).for_each(|(o, r)| f(*o, r));
    }

    /// Looks for a cycle through `owner` and, if there is one, condemns a member of it; the report.
    pub(crate) fn check(&self, owner: Owner, locks: &LockManager) -> Option<Arc<Deadlock>> {
        let waits = self.waits.lock();
        let cycle = cycle_through(&waits, locks, owner)?;
        let victim = cycle
            .iter()
            .filter_map(|o| waits.get(o).map(|w| (w.priority, w.cost, *o != owner, *o)))
            .min()
            .map(|(.., o)| o)?;
        if !waits.get(&victim)?.node.sacrifice() {
            return None;
        }
        telemetry::counters::add(telemetry::Counter::Deadlocks, 1);
        let member = |o: &Owner| {
            let record = &waits[o];
            let (resource, mode, _) = record.target.describe();
            DeadlockMember {
                owner: *o,
                priority: record.priority,
                log_bytes: record.cost,
                resource,
                mode,
                wait_ns: runtime::clock::now_ns().saturating_sub(record.since_ns),
            }
        };
        let members = cycle.iter().map(member).collect();
        let report = Arc::new(Deadlock { victim, members });
        let mut kept = self.deadlocks.lock();
        if kept.len() == DEADLOCKS_KEPT {
            kept.pop_front();
        }
        kept.push_back(report.clone());
        Some(report)
    }
}

/// The members of a cycle, `start` first, each waiting for the next (perhaps by others between them); breadth first,
/// so that the shortest is found and the stack does not grow with it.
fn cycle_through(
    waits: &BTreeMap<Owner, WaitRecord>,
    locks: &LockManager,
    start: Owner,
) -> Option<Vec<Owner>> {
    let mut found_from: BTreeMap<Owner, Owner> = BTreeMap::new();
    let mut todo = VecDeque::from([start]);
    let mut next = Vec::new();
    while let Some(at) = todo.pop_front() {
        let Some(record) = waits.get(&at).filter(|r| r.waits()) else { continue };
        next.clear();
        edges(waits, locks, at, record, &mut next);
        for owner in next.drain(..) {
            if owner == start {
                let mut cycle = vec![at];
                while let Some(before) = found_from.get(cycle.last()?) {
                    cycle.push(*before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if owner != at && waits.contains_key(&owner) && !found_from.contains_key(&owner) {
                found_from.insert(owner, at);
                todo.push_back(owner);
            }
        }
    }
    None
}

fn edges(
    waits: &BTreeMap<Owner, WaitRecord>,
    locks: &LockManager,
    at: Owner,
    record: &WaitRecord,
    next: &mut Vec<Owner>,
) {
    match record.target {
        Target::Key(key, _) => locks.keys.blockers(key, at, next),
        Target::End(owner, ..) => next.push(owner),
        Target::Table(tree, mode) => {
            locks.tables.blockers(tree, at, next);
            if mode.is_strong() {
                let bucket = bucket_of(tree);
                let blocks = |r: &WaitRecord| {
                    r.fast.iter().any(|&(t, m)| bucket_of(t) == bucket && !mode.compatible(m))
                };
                next.extend(waits.iter().filter(|(o, r)| **o != at && blocks(r)).map(|(o, _)| *o));
            }
        }
    }
}
