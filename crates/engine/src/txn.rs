//! A transaction, and the object that a session keeps for all its transactions on one database.
//!
//! ```text
//! idle --begin--> active --commit/rollback--> idle        (insert_commit: idle -> idle, in one log record)
//! active --deadlock, full disk...--> doomed --rollback--> idle
//! ```
//! `write.rs` has its changes, `read.rs` its reads, `ddl.rs` making and dropping trees.
//!
//! What a full-durability answer may rest on: a commit is acknowledged when its record is durable, and locks and
//! stamps let others go on before that. Whoever writes after it has its commit record later in the same log, so
//! waiting for the own record waits for it too. Who only reads: in a database without delayed durability statements
//! read as of the durable LSN and see nothing that can be lost; otherwise they read as of the tail, and a full commit
//! waits for the tail of the newest snapshot by which it saw a row that was not durable yet.

use crate::commit_timer::CommitTimer;
use crate::memory::MemoryPart;
use crate::status::Status;
use crate::tracking::Tracked;
use crate::tree::{PendingDrop, Reshape};
use crate::{Database, Durability, EngineError, Isolation, Lsn, TreeId, TxnOptions};
use lock_manager::{Held, Owner};
use log_manager::{Appended, Lease};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use storage::memory::ImageWriter;
use telemetry::{Counter, counters};
use transaction::{Bug, Kind, Shared, SnapshotCell, TxnContext, planted, undo_to};

/// A place to roll back to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Savepoint {
    last: Lsn,
    /// Changes of memory trees.
    written: usize,
}

impl Savepoint {
    /// The beginning of any transaction.
    pub const BEGIN: Savepoint = Savepoint { last: Lsn::NONE, written: 0 };
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    savepoint: Savepoint,
    pub(crate) snapshot: Option<Lsn>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Idle,
    Active,
    Doomed,
}

/// A session's transaction. Reusable: [`Txn::begin`] after the end of one starts the next and allocates nothing.
/// Dropping an active one rolls it back.
pub struct Txn {
    pub(crate) db: Arc<Database>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: State,
    pub(crate) options: TxnOptions,
    pub(crate) context: TxnContext,
    pub(crate) held: Held,
    pub(crate) cell: Arc<SnapshotCell>,
    /// Whether `cell` holds a snapshot.
    pub(crate) published: bool,
    pub(crate) statements: Vec<Statement>,
    /// SNAPSHOT isolation: the one of the whole transaction.
    pub(crate) txn_snapshot: Option<Lsn>,
    /// The log's durable end when the last snapshot was taken.
    pub(crate) durable_then: Lsn,
    /// A full commit has seen what becomes durable here.
    pub(crate) must_harden: Lsn,
    /// Trees to drop at commit, and the record that says so.
    pub(crate) drops: Vec<(crate::Tree, Lsn)>,
    /// Trees that get another shape at commit, in the order of their shapes: the last one of a tree holds.
    pub(crate) reshapes: BTreeMap<(TreeId, u64), Reshape>,
    /// Trees in which it may have locked gaps.
    pub(crate) guards: Vec<crate::Tree>,
    /// NOWAIT, for the read in progress.
    pub(crate) no_wait: bool,
    /// It reads for another transaction, which holds the locks.
    pub(crate) is_reader: bool,
    /// What others may know of it.
    pub(crate) status: Arc<Status>,
    /// It has changed tracked rows.
    pub(crate) tracked: Option<Box<Tracked>>,
    /// Its next change commits it.
    pub(crate) fuses: bool,
    /// It changes rows without locking them before: see `found.rs`.
    pub(crate) passes_locks: bool,
    /// Where the change is that has.
    pub(crate) fused: Option<Appended>,
    /// What it has to do with memory trees.
    pub(crate) memory: MemoryPart,
    /// Memory for a record of several changes.
    pub(crate) together: Vec<u8>,
}

impl Txn {
    pub(crate) fn new(db: Arc<Database>, options: TxnOptions) -> Txn {
        let shared = db.shared.clone();
        let owner = Owner(db.next_owner());
        let status = db.sessions.register(owner);
        let mut txn = Txn {
            guards: Vec::new(),
            reshapes: BTreeMap::new(),
            no_wait: false,
            is_reader: false,
            tracked: None,
            fuses: false,
            passes_locks: false,
            fused: None,
            memory: MemoryPart::default(),
            together: Vec::new(),
            status,
            state: State::Idle,
            options,
            context: TxnContext::new(shared.clone(), owner),
            held: Held::new(owner),
            cell: shared.snapshots.register(),
            published: false,
            statements: Vec::new(),
            txn_snapshot: None,
            durable_then: Lsn::NONE,
            must_harden: Lsn::NONE,
            drops: Vec::new(),
            shared,
            db,
        };
        txn.set_options(options);
        txn
    }

    /// The database it belongs to.
    pub fn database(&self) -> &Arc<Database> {
        &self.db
    }

    /// [`Database::next_stamp`] for a rowversion of a row that the transaction writes: see
    /// [`Database::min_active_stamp`].
    pub fn next_stamp(&mut self) -> Result<u64, EngineError> {
        self.context
            .ensure_xid()
            .map_err(|_| EngineError::LogFull { reason: "ACTIVE_TRANSACTION" })?;
        Ok(self.db.next_stamp())
    }

    /// Starts a transaction. Costs nothing until it does something. Panics when one is active.
    #[inline]
    pub fn begin(&mut self) {
        assert!(self.state == State::Idle, "a transaction is active");
        self.state = State::Active;
        self.status.begin(self.options.isolation);
    }

    /// When the active transaction began; UTC, ns since 1970.
    pub fn begun_unix_ns(&self) -> u64 {
        self.status.begun_unix_ns()
    }

    /// Whether a transaction is active (doomed ones too).
    #[inline]
    pub fn is_active(&self) -> bool {
        self.state != State::Idle
    }

    /// Whether an error has left only rollback.
    pub fn is_doomed(&self) -> bool {
        self.state == State::Doomed
    }

    /// Whether it has changed anything.
    #[inline]
    pub fn has_written(&self) -> bool {
        !self.context.xid().is_none()
    }

    /// Whether there is nothing that its end would change: it has written nothing, and holds no lock and no snapshot.
    pub fn holds_nothing(&self) -> bool {
        !self.has_written()
            && self.held.is_empty()
            && self.txn_snapshot.is_none()
            && self.memory.is_untouched()
    }

    /// Options for the next lock request, statement or transaction.
    pub fn set_options(&mut self, options: TxnOptions) {
        self.options = options;
        self.held.priority = options.deadlock_priority;
    }

    /// Whose it is, for the views of locks and transactions: a session's number.
    pub fn set_session(&mut self, session: u32) {
        self.status.set_session(session);
    }

    /// A flag that somebody sets to end a wait for a lock: [`EngineError::Cancelled`] within 50 ms.
    pub fn set_cancel(&mut self, cancel: Option<Arc<AtomicBool>>) {
        self.held.cancel = cancel;
    }

    pub fn options(&self) -> TxnOptions {
        self.options
    }

    /// Begins a statement: the snapshot that READ COMMITTED reads by, taken at its first read, and the savepoint to
    /// which [`Txn::rollback_statement`] goes back. Statements nest (a procedure's inside EXEC): pairs with
    /// [`Txn::end_statement`]. Only within a transaction.
    #[inline]
    pub fn begin_statement(&mut self) {
        debug_assert!(self.is_active());
        self.statements.push(Statement { savepoint: self.savepoint(), snapshot: None });
    }

    /// Whether a statement is in progress.
    pub fn in_statement(&self) -> bool {
        !self.statements.is_empty()
    }

    /// Ends the statement; its snapshot no longer holds old versions back.
    #[inline]
    pub fn end_statement(&mut self) {
        self.statements.pop();
        if self.published
            && self.txn_snapshot.is_none()
            && self.memory.snapshot.is_none()
            && self.statements.iter().all(|s| s.snapshot.is_none())
        {
            self.cell.clear();
            self.published = false;
        }
        if self.statements.is_empty() {
            self.shared.locks.release_brief(&mut self.held);
        }
        self.note_statement();
    }

    /// Others may know what log a statement has written.
    #[inline]
    pub(crate) fn note_statement(&self) {
        if self.has_written() {
            let last = self.context.last().0;
            let first = last - self.context.log_bytes();
            self.status.note_log(first, last, self.context.end().0);
        }
    }

    /// Undoes what the statement in progress has changed, and ends it.
    pub fn rollback_statement(&mut self) -> Result<(), EngineError> {
        let undone = match self.statements.last() {
            // A doomed transaction is rolled back whole, soon.
            Some(s) if self.state == State::Active => self.rollback_to(s.savepoint),
            _ => Ok(()),
        };
        self.end_statement();
        undone
    }

    /// SAVE TRANSACTION.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { last: self.context.last(), written: self.memory.written.len() }
    }

    /// ROLLBACK TRANSACTION to a savepoint. Locks stay.
    pub fn rollback_to(&mut self, to: Savepoint) -> Result<(), EngineError> {
        self.check()?;
        self.take_memory_back(to.written);
        if self.context.last() > to.last {
            let undone = undo_to(
                &self.shared,
                &mut self.context,
                to.last,
                &crate::tree::CountedTrees(&self.db),
            );
            self.drops.retain(|(_, lsn)| *lsn <= to.last);
            self.reshapes.retain(|_, r| r.at <= to.last);
            undone.map_err(|e| self.doom(e.into()))?;
        }
        Ok(())
    }

    /// Commits, and waits for the disk if it must. Read-only: waits only if it is to be full and has seen rows that
    /// are not durable yet. The commit number, or [`Lsn::NONE`] when nothing was changed. The transaction is over
    /// also on an error: of a doomed one (3998), or when the log refuses; if it refuses while waiting for the disk
    /// the outcome is known only after the database has been opened again.
    pub fn commit(&mut self, durability: Durability) -> Result<Lsn, EngineError> {
        self.check_commits()?;
        let mut durability = self.db.resolve(durability);
        if let Some(at) = self.fused {
            let timed = CommitTimer::start(durability);
            self.end_fused(at);
            self.harden(at.end, durability)?;
            timed.stop();
            return Ok(at.start);
        }
        if self.must_validate() && !self.has_written() {
            self.prepare_or_roll_back()?;
        }
        if !self.has_written() {
            let seen = self.seen();
            self.finish();
            counters::add(Counter::Transactions, 1);
            if durability == Durability::Full && seen > self.shared.log.durable() {
                self.shared.log.wait_durable(seen)?;
            }
            return Ok(Lsn::NONE);
        }
        let timed = CommitTimer::start(durability);
        if let Some(tracked) = self.tracked.take()
            && let Err(e) = self.write_version(&tracked)
        {
            let _ = self.rollback();
            return Err(e);
        }
        let in_memory = !self.memory.written.is_empty();
        let mut images = ImageWriter::default();
        if in_memory || self.must_validate() {
            self.prepare_or_roll_back()?;
            images = std::mem::take(&mut self.memory.images);
        }
        let logged = images.images() > 0 || !self.context.last().is_none();
        if in_memory && !logged && self.seen() <= self.shared.log.durable() {
            // There is nothing in the log but that it has committed: nothing to wait for.
            durability = Durability::Delayed;
        }
        if !self.drops.is_empty() {
            let first = self.shared.xids.oldest_first_lsn(self.shared.log.tail());
            self.db.drops.lock().extend(self.drops.iter().map(|(t, _)| PendingDrop {
                tree: t.id(),
                first,
                csn: None,
            }));
        }
        let at = self.context.log_commit(images.bytes());
        self.memory.images = images;
        let at = match at {
            Ok(at) => at,
            Err(e) => {
                self.db.drops.lock().retain(|d| self.drops.iter().all(|(t, _)| t.id() != d.tree));
                let _ = self.rollback();
                return Err(e.into());
            }
        };
        if in_memory {
            self.stamp_memory(at.start);
        }
        let drops = std::mem::take(&mut self.drops);
        if !drops.is_empty() || !self.reshapes.is_empty() {
            self.note_filled(at.start);
            drops.iter().filter_map(|(tree, _)| tree.memory()).for_each(|memory| memory.retire());
        }
        self.db.dropped(drops.iter().map(|(t, _)| t.id()), at.start);
        for ((_, wanted), reshape) in std::mem::take(&mut self.reshapes) {
            // Its Sch-M lock is still ours. A tree that was dropped as well stays gone.
            let _ = reshape.tree.inner.shape.fetch_update(AcqRel, Acquire, |shape| {
                (shape != crate::tree::GONE).then_some(wanted)
            });
        }
        let forgotten = self.context.forget_versions(at.start);
        self.finish();
        counters::add(Counter::Transactions, 1);
        counters::add(Counter::WriteTransactions, 1);
        self.status.note_write();
        self.harden(at.end, durability)?;
        timed.stop();
        if !forgotten {
            // What is durable now may be forgotten where readers go by that.
            self.context.forget_versions(at.start);
        }
        Ok(at.start)
    }

    /// The first half of a commit together with other databases: when this returns, a crash leaves it to
    /// [`DbOptions::decided`](crate::DbOptions::decided) whether the transaction has committed. What follows is
    /// [`Txn::commit`], or [`Txn::rollback`]. Suspends. On an error the transaction is over.
    pub fn prepare(&mut self, decision: u128) -> Result<(), EngineError> {
        self.check_commits()?;
        if !self.has_written() {
            return Ok(());
        }
        let tracked = self.tracked.take();
        let prepared =
            tracked.map_or(Ok(()), |tracked| self.write_version(&tracked)).and_then(|()| {
                let body = decision.to_le_bytes();
                let at = self.context.log_note(Kind::Prepared, &body, Lease::Normal)?;
                Ok(self.shared.log.wait_durable(at.end)?)
            });
        if prepared.is_err() {
            let _ = self.rollback();
        }
        prepared
    }

    /// There is a transaction that may commit; a doomed one is over after this.
    #[inline]
    fn check_commits(&mut self) -> Result<(), EngineError> {
        match self.state {
            State::Active => Ok(()),
            State::Idle => Err(EngineError::NoTransaction),
            State::Doomed => {
                self.rollback()?;
                Err(EngineError::Doomed)
            }
        }
    }

    /// Whether it has read or changed memory trees, which end with their own database alone.
    pub fn is_in_memory(&self) -> bool {
        !self.memory.is_untouched()
    }

    fn prepare_or_roll_back(&mut self) -> Result<(), EngineError> {
        let prepared = self.prepare_memory();
        if prepared.is_err() {
            let _ = self.rollback();
        }
        prepared
    }

    /// Waits for the disk, or lets the log know that somebody did not.
    #[inline]
    pub(crate) fn harden(&self, end: Lsn, durability: Durability) -> Result<(), EngineError> {
        match durability {
            Durability::Full if planted(Bug::EarlyAcknowledge) => self.shared.log.note_delayed(),
            Durability::Full => self.shared.log.wait_durable(end)?,
            Durability::Delayed => self.shared.log.note_delayed(),
        }
        Ok(())
    }

    /// Undoes everything. The transaction is over even on an error; the database is then unusable until it is opened
    /// again, because some of the changes are still in place.
    pub fn rollback(&mut self) -> Result<(), EngineError> {
        if self.state == State::Idle {
            return Err(EngineError::NoTransaction);
        }
        let mut result = Ok(());
        if self.fused.is_some() {
            stdx::fatal!("a rollback of what is committed");
        }
        if self.memory.snapshot.is_some() {
            counters::add(Counter::XtpAborts, 1);
        }
        self.take_memory_back(0);
        if self.has_written() {
            result = self.undo_all();
        }
        self.drops.clear();
        self.reshapes.clear();
        self.tracked = None;
        self.finish();
        counters::add(Counter::Rollbacks, 1);
        result
    }

    fn undo_all(&mut self) -> Result<(), EngineError> {
        let trees = crate::tree::CountedTrees(&self.db);
        let undone = undo_to(&self.shared, &mut self.context, Lsn::NONE, &trees)
            .and_then(|()| self.context.log_abort().map_err(Into::into));
        undone.map_err(|e| {
            let e = EngineError::from(e);
            self.db.fail(&format!("a rollback could not be finished: {e}"));
            // Readers are shown the older versions; those who wait learn that it is over and find the database shut.
            self.context.publish_abort();
            e
        })
    }

    /// The transaction is over: gives back what it has.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.shared.locks.release_all(&mut self.held);
        if !self.guards.is_empty() {
            // After the locks: who finds the count at zero finds no lock either.
            for tree in self.guards.drain(..) {
                tree.inner.guards.fetch_sub(1, Release);
            }
        }
        self.status.end();
        if self.published {
            self.cell.clear();
            self.published = false;
        }
        self.statements.clear();
        (self.fuses, self.passes_locks, self.fused) = (false, false, None);
        self.txn_snapshot = None;
        self.must_harden = Lsn::NONE;
        if self.memory.snapshot.is_some() {
            self.finish_memory();
        }
        self.context.reset();
        self.state = State::Idle;
    }

    /// Up to where a full answer must be durable, from what has been read.
    pub(crate) fn seen(&self) -> Lsn {
        // A commit number is the start of its record: one more is inside, and the log hardens whole blocks.
        let saw = self.context.saw();
        let latest =
            if saw < self.shared.log.durable() { Lsn::NONE } else { self.shared.log.tail() };
        self.must_harden.max(latest)
    }

    #[inline]
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        match self.state {
            State::Active => self.db.check(),
            State::Idle => Err(EngineError::NoTransaction),
            State::Doomed => Err(EngineError::Doomed),
        }
    }

    /// Passes an error on, having noted what it means for the transaction.
    #[cold]
    pub(crate) fn doom(&mut self, e: EngineError) -> EngineError {
        if e.dooms() && self.state == State::Active {
            self.state = State::Doomed;
        }
        e
    }

    pub(crate) fn timeout_ns(&self) -> Option<u64> {
        if self.no_wait {
            return Some(0);
        }
        self.options.lock_timeout_ms.map(|ms| ms.saturating_mul(1_000_000))
    }

    /// Sets whether waits are refused, and returns how it was.
    pub(crate) fn wait_as(&mut self, no_wait: bool) -> bool {
        let before = self.no_wait;
        self.no_wait |= no_wait;
        before
    }

    pub(crate) fn is_snapshot(&self) -> bool {
        self.options.isolation == Isolation::Snapshot
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        self.db.sessions.forget(self.held.owner());
        if !std::thread::panicking() {
            self.shared.locks.release_session(&mut self.held);
        }
        if self.state == State::Idle {
            return;
        }
        if std::thread::panicking() && self.has_written() {
            // Undoing may suspend, and nothing suspends while unwinding: the background does it.
            let orphan = Orphan::of(self);
            self.db.adopt(orphan);
            self.state = State::Idle;
            return;
        }
        // Nobody is left to hear of an error; the database notes it.
        let _ = self.rollback();
    }
}

/// What is left of a transaction whose session panicked.
pub(crate) struct Orphan {
    context: TxnContext,
    held: Held,
    guards: Vec<crate::Tree>,
    memory: MemoryPart,
}

impl Orphan {
    fn of(txn: &mut Txn) -> Orphan {
        let owner = txn.held.owner();
        let context =
            std::mem::replace(&mut txn.context, TxnContext::new(txn.shared.clone(), owner));
        let held = std::mem::replace(&mut txn.held, Held::new(owner));
        txn.cell.clear();
        let guards = std::mem::take(&mut txn.guards);
        Orphan { context, held, guards, memory: std::mem::take(&mut txn.memory) }
    }

    pub(crate) fn roll_back(mut self, db: &Database) {
        self.memory.abandon();
        let undone =
            undo_to(&db.shared, &mut self.context, Lsn::NONE, &crate::tree::CountedTrees(db))
                .and_then(|()| self.context.log_abort().map_err(Into::into));
        if let Err(e) = undone {
            db.fail(&format!("a rollback could not be finished: {e}"));
            self.context.publish_abort();
        }
        db.shared.locks.release_all(&mut self.held);
        db.shared.locks.release_session(&mut self.held);
        for tree in self.guards {
            tree.inner.guards.fetch_sub(1, Release);
        }
    }
}
