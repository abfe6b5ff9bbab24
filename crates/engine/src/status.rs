//! What others may know of a session's transactions, and how locks and waits are told to the statistics views.
//!
//! Invariants: a `Status` is written by its session alone, with relaxed stores to a line of its own; a reader may see
//! a mixture of two moments, as in SQL Server's views.

use crate::{Database, Isolation, Lsn, TreeId, Txn};
use lock_manager::{Deadlock, LockResource, Owner};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use stdx::CachePadded;

static LOG_DEADLOCKS: AtomicBool = AtomicBool::new(false);

/// Whether the graph of every deadlock goes to the log (trace flags 1204 and 1222); the last ones are kept either way.
pub fn log_deadlocks(on: bool) {
    LOG_DEADLOCKS.store(on, Relaxed);
}

const IDLE: u8 = 0;
const ACTIVE: u8 = 1;

#[derive(Default)]
struct Cells {
    session: AtomicU32,
    state: AtomicU8,
    isolation: AtomicU8,
    /// Counts transactions: with the owner, names one.
    number: AtomicU64,
    begun_unix_ns: AtomicU64,
    /// Transactions of one insert, which `number` does not count, and those of the others that wrote.
    singletons: AtomicU64,
    writes: AtomicU64,
    /// Of the transaction that is active: its log, as of its last statement.
    log_first: AtomicU64,
    log_last: AtomicU64,
    log_end: AtomicU64,
    /// The snapshot by which it reads memory trees; 0: it has not touched any.
    memory: AtomicU64,
}

/// See the file's first lines.
#[derive(Default)]
pub(crate) struct Status(CachePadded<Cells>);

impl Status {
    pub(crate) fn set_session(&self, session: u32) {
        self.0.session.store(session, Relaxed);
    }

    #[inline]
    pub(crate) fn begin(&self, isolation: Isolation) {
        self.0.isolation.store(isolation as u8, Relaxed);
        self.0.begun_unix_ns.store(runtime::clock::unix_ns(), Relaxed);
        self.note_log(0, 0, 0);
        self.0.number.store(self.0.number.load(Relaxed) + 1, Relaxed);
        self.0.state.store(ACTIVE, Relaxed);
    }

    /// When the transaction that is active began; UTC, ns since 1970.
    pub(crate) fn begun_unix_ns(&self) -> u64 {
        self.0.begun_unix_ns.load(Relaxed)
    }

    /// One more insert was its own transaction. The only store that such a transaction makes here.
    #[inline(always)]
    pub(crate) fn note_singleton(&self) {
        self.0.singletons.store(self.0.singletons.load(Relaxed) + 1, Relaxed);
    }

    /// The transaction that commits has written.
    #[inline]
    pub(crate) fn note_write(&self) {
        self.0.writes.store(self.0.writes.load(Relaxed) + 1, Relaxed);
    }

    /// The transaction's first and last record, and where that ends.
    #[inline]
    pub(crate) fn note_log(&self, first: u64, last: u64, end: u64) {
        self.0.log_first.store(first, Relaxed);
        self.0.log_last.store(last, Relaxed);
        self.0.log_end.store(end, Relaxed);
    }

    /// It reads memory trees by this snapshot from now on; none: that is over.
    #[inline]
    pub(crate) fn note_memory(&self, snapshot: Lsn) {
        self.0.memory.store(snapshot.0, Relaxed);
    }

    fn counts(&self) -> Activity {
        let singletons = self.0.singletons.load(Relaxed);
        Activity {
            transactions: self.0.number.load(Relaxed) + singletons,
            write_transactions: self.0.writes.load(Relaxed) + singletons,
        }
    }

    #[inline]
    pub(crate) fn end(&self) {
        self.0.state.store(IDLE, Relaxed);
    }
}

/// How much a database has been used since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Transactions begun, and of those committed the ones that wrote.
    pub transactions: u64,
    pub write_transactions: u64,
}

impl Activity {
    fn add(&mut self, other: Activity) {
        self.transactions += other.transactions;
        self.write_transactions += other.write_transactions;
    }
}

/// The sessions that have a transaction object on a database, and the figures of those that had one.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Known>);

#[derive(Default)]
struct Known {
    here: HashMap<Owner, Arc<Status>>,
    gone: Activity,
}

impl Sessions {
    pub(crate) fn register(&self, owner: Owner) -> Arc<Status> {
        let status = Arc::new(Status::default());
        self.0.lock().here.insert(owner, status.clone());
        status
    }

    pub(crate) fn forget(&self, owner: Owner) {
        let mut known = self.0.lock();
        if let Some(status) = known.here.remove(&owner) {
            known.gone.add(status.counts());
        }
    }

    fn session_of(&self, owner: Owner) -> Option<u32> {
        self.0.lock().here.get(&owner).map(|s| s.0.session.load(Relaxed)).filter(|s| *s != 0)
    }
}

/// An active transaction: `sys.dm_tran_active_transactions`, `dm_tran_session_transactions` and
/// `dm_tran_database_transactions`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransactionInfo {
    /// The session's number, if it told one.
    pub session: Option<u32>,
    pub owner: Owner,
    /// `transaction_id`: unique in the database while it is open.
    pub id: u64,
    pub isolation: Isolation,
    pub begun_unix_ns: u64,
    /// It has logged something.
    pub writes: bool,
    /// Bytes of log since its first record (with what others wrote meanwhile), that record and the last one, as of its
    /// last statement; 0 before it wrote.
    pub log_bytes: u64,
    pub first_lsn: Lsn,
    pub last_lsn: Lsn,
    /// The snapshot by which it reads memory trees, if it has touched any.
    pub memory_snapshot: Option<Lsn>,
}

/// A row of `sys.dm_tran_locks`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockRow {
    pub session: Option<u32>,
    pub owner: Owner,
    pub resource: LockResource,
    /// The tree, for OBJECT and KEY resources.
    pub tree: Option<TreeId>,
    /// `request_mode`.
    pub mode: &'static str,
    /// `request_status`: GRANT or WAIT.
    pub granted: bool,
}

/// A wait for a lock: `sys.dm_os_waiting_tasks`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitRow {
    pub session: Option<u32>,
    pub owner: Owner,
    pub resource: LockResource,
    pub mode: &'static str,
    /// LCK_M_X and the like.
    pub wait_type: &'static str,
    pub wait_ns: u64,
    pub blocking_session: Option<u32>,
    pub blocking_owner: Option<Owner>,
}

fn tree_of(resource: LockResource) -> Option<TreeId> {
    match resource {
        LockResource::Table { tree }
        | LockResource::Key { tree, .. }
        | LockResource::EndOfTable { tree } => Some(TreeId(buffer_pool::PageId(tree))),
        LockResource::Application { .. } | LockResource::Transaction { .. } => None,
    }
}

impl Database {
    /// What is locked and waited for, but for uncontended intent locks.
    pub fn locks(&self) -> Vec<LockRow> {
        let row = |l: lock_manager::LockInfo| LockRow {
            session: self.sessions.session_of(l.owner),
            owner: l.owner,
            resource: l.resource,
            tree: tree_of(l.resource),
            mode: l.mode,
            granted: l.granted,
        };
        self.shared.locks.list().into_iter().map(row).collect()
    }

    /// Who waits for a lock.
    pub fn lock_waits(&self) -> Vec<WaitRow> {
        let row = |w: lock_manager::WaitInfo| WaitRow {
            session: self.sessions.session_of(w.owner),
            owner: w.owner,
            resource: w.resource,
            mode: w.mode,
            wait_type: w.wait_type.name(),
            wait_ns: w.wait_ns,
            blocking_session: w.blocker.and_then(|b| self.sessions.session_of(b)),
            blocking_owner: w.blocker,
        };
        self.shared.locks.waits().into_iter().map(row).collect()
    }

    /// Transactions since the database was opened.
    pub fn activity(&self) -> Activity {
        let known = self.sessions.0.lock();
        let mut all = known.gone;
        known.here.values().for_each(|status| all.add(status.counts()));
        all
    }

    /// The transactions that are active.
    pub fn transactions(&self) -> Vec<TransactionInfo> {
        let writers: Vec<Owner> = self.shared.xids.unfinished().into_iter().map(|x| x.1).collect();
        let sessions = self.sessions.0.lock();
        let active = sessions.here.iter().filter(|(_, s)| s.0.state.load(Relaxed) == ACTIVE);
        let levels = [
            Isolation::ReadUncommitted,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Snapshot,
            Isolation::Serializable,
        ];
        active
            .map(|(owner, s)| TransactionInfo {
                session: Some(s.0.session.load(Relaxed)).filter(|s| *s != 0),
                owner: *owner,
                id: owner.0 << 32 | s.0.number.load(Relaxed) & u64::from(u32::MAX),
                isolation: levels[usize::from(s.0.isolation.load(Relaxed)).min(4)],
                begun_unix_ns: s.0.begun_unix_ns.load(Relaxed),
                writes: writers.contains(owner),
                log_bytes: s.0.log_end.load(Relaxed).saturating_sub(s.0.log_first.load(Relaxed)),
                first_lsn: Lsn(s.0.log_first.load(Relaxed)),
                last_lsn: Lsn(s.0.log_last.load(Relaxed)),
                memory_snapshot: Some(Lsn(s.0.memory.load(Relaxed))).filter(|s| !s.is_none()),
            })
            .collect()
    }

    /// The last deadlocks as text, oldest first: what the log got.
    pub fn deadlock_graphs(&self) -> Vec<String> {
        self.shared.locks.deadlocks().iter().map(|d| self.graph_of(d)).collect()
    }

    fn graph_of(&self, deadlock: &Deadlock) -> String {
        deadlock.graph(|owner| match self.sessions.session_of(owner) {
            Some(session) => format!("spid{session}"),
            None => format!("owner{}", owner.0),
        })
    }

    #[cold]
    pub(crate) fn note_deadlock(&self, deadlock: &Deadlock) {
        if LOG_DEADLOCKS.load(Relaxed) {
            self.note_error(&self.graph_of(deadlock));
        }
    }
}

impl Txn {
    /// Its session's number, if it was told.
    pub fn session(&self) -> Option<u32> {
        Some(self.status.0.session.load(Relaxed)).filter(|s| *s != 0)
    }
}
