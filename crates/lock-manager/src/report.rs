//! What the lock manager tells about itself: locks, waits, deadlocks. Names of tables and sessions are put in above.

use crate::Owner;
use std::fmt;
use telemetry::WaitType;

/// What a lock is on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockResource {
    /// OBJECT: a table, by the number of its tree.
    Table { tree: u64 },
    /// KEY: a row, by the hash of its key.
    Key { tree: u64, hash: u64 },
    /// KEY: above the last row of a table.
    EndOfTable { tree: u64 },
    /// APPLICATION.
    Application { hash: u64 },
    /// XACT: the end of a transaction that has changed the row in question and has no lock of its own on it.
    Transaction { xid: u64 },
}

impl fmt::Display for LockResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockResource::Table { tree } => write!(f, "OBJECT: tree {tree:x}"),
            LockResource::Key { tree, hash } => write!(f, "KEY: tree {tree:x} ({hash:016x})"),
            LockResource::EndOfTable { tree } => write!(f, "KEY: tree {tree:x} (ffffffffffff)"),
            LockResource::Application { hash } => write!(f, "APPLICATION: ({hash:016x})"),
            LockResource::Transaction { xid } => write!(f, "XACT: {xid:x}"),
        }
    }
}

/// One row of `sys.dm_tran_locks`. Intent locks of the fast path are counted, not listed, but for those of waiters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockInfo {
    pub owner: Owner,
    pub resource: LockResource,
    /// `request_mode`.
    pub mode: &'static str,
    /// `request_status`: GRANT, or WAIT (CONVERT when the owner holds a weaker mode too).
    pub granted: bool,
}

/// One row of `sys.dm_os_waiting_tasks`, as far as locks go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitInfo {
    pub owner: Owner,
    pub resource: LockResource,
    pub mode: &'static str,
    pub wait_type: WaitType,
    /// How long it has waited, in nanoseconds.
    pub wait_ns: u64,
    /// The first one in its way; absent when that is an uncounted intent lock.
    pub blocker: Option<Owner>,
}

/// A member of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockMember {
    pub owner: Owner,
    pub priority: i8,
    pub log_bytes: u64,
    /// What it waited for, and in which mode.
    pub resource: LockResource,
    pub mode: &'static str,
    pub wait_ns: u64,
}

/// A deadlock that was broken. Each member waited for the next, the last one for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    pub victim: Owner,
    pub members: Vec<DeadlockMember>,
}

impl Deadlock {
    /// The graph as SQL Server's trace flag 1222 writes it, with each owner named by `name`.
    pub fn graph(&self, name: impl Fn(Owner) -> String) -> String {
        let mut text = format!("deadlock-list\n deadlock victim={}\n", name(self.victim));
        text.push_str("  process-list\n");
        for m in &self.members {
            text.push_str(&format!(
                "   process id={} priority={} logused={} waitresource={} waittime={} lockMode={}\n",
                name(m.owner),
                m.priority,
                m.log_bytes,
                m.resource,
                m.wait_ns / 1_000_000,
                m.mode,
            ));
        }
        text.push_str("  resource-list\n");
        for (i, m) in self.members.iter().enumerate() {
            let next = &self.members[(i + 1) % self.members.len()];
            text.push_str(&format!(
                "   {} waiter={} owner={}\n",
                m.resource,
                name(m.owner),
                name(next.owner)
            ));
        }
        text
    }
}
