//! Lock statistics by kind of resource: what the performance object `SQLServer:Locks` shows.
//!
//! Intent locks that a singleton insert takes for a moment are not recorded one by one: [`snapshot`] adds one request
//! of a table per [`Counter::SingletonInserts`].

use crate::counters::{Counter, get};
use crate::shard::{bump, each, mine};
use std::sync::atomic::Ordering::Relaxed;

named! {
    /// What is locked, under the names of the counter's instances.
    pub enum LockKind {
        Object = "Object",
        Key = "Key",
        Application = "Application",
        Xact = "Xact",
    }
}

/// Figures of one kind since the process began. Time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockStat {
    pub kind: &'static str,
    pub requests: u64,
    /// Waits that are over.
    pub waits: u64,
    pub wait_ns: u64,
    pub timeouts: u64,
    /// Waits that a deadlock ended.
    pub deadlocks: u64,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Granted,
    TimedOut,
    Deadlock,
    Cancelled,
}

/// Somebody asks for a lock.
#[inline]
pub fn request(kind: LockKind) {
    if crate::RECORDING {
        bump(&mine().locks[kind as usize].requests, 1);
    }
}

/// A wait is over.
pub fn waited(kind: LockKind, wait_ns: u64, ended: Ended) {
    if !crate::RECORDING {
        return;
    }
    let cell = &mine().locks[kind as usize];
    bump(&cell.waits, 1);
    bump(&cell.wait_ns, wait_ns);
    match ended {
        Ended::TimedOut => bump(&cell.timeouts, 1),
        Ended::Deadlock => bump(&cell.deadlocks, 1),
        Ended::Granted | Ended::Cancelled => {}
    }
}

/// Every kind, in the enum's order.
pub fn snapshot() -> Vec<LockStat> {
    let mut all: Vec<LockStat> =
        LockKind::ALL.iter().map(|k| LockStat { kind: k.name(), ..LockStat::default() }).collect();
    each(|shard| {
        for (stat, cell) in all.iter_mut().zip(&shard.locks) {
            stat.requests += cell.requests.load(Relaxed);
            stat.waits += cell.waits.load(Relaxed);
            stat.wait_ns += cell.wait_ns.load(Relaxed);
            stat.timeouts += cell.timeouts.load(Relaxed);
            stat.deadlocks += cell.deadlocks.load(Relaxed);
        }
    });
    all[LockKind::Object as usize].requests += get(Counter::SingletonInserts);
    all
}
