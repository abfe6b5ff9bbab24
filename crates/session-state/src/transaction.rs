//! Transactions as T-SQL counts them, over the engine's.
//!
//! ```text
//! count 0 --BEGIN--> 1 --BEGIN--> 2 ...      COMMIT counts down and commits at 1; ROLLBACK ends all
//! ```
//!
//! Promises: BEGIN TRANSACTION touches no shared memory (the engine's transaction begins at the first statement that
//! needs it); a doomed transaction's changes are undone at once, though @@TRANCOUNT stays until ROLLBACK; uncommitted
//! definitions are published after the commit and forgotten with a rollback. In other databases it has branches
//! (`branches.rs`), which end with it.

use crate::branch::{Branch, Decisions, Place};
use crate::database::OpenDatabase;
use crate::options::SetOptions;
use catalog::DdlScope;
use engine::{DelayedDurability, Durability, Isolation, Txn, TxnOptions};
use executor::{SqlError, doomed, from_engine};
use session_table::{Mark, PrivateTables};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A session's transaction.
#[derive(Default)]
pub struct Transaction {
    /// @@TRANCOUNT.
    pub count: u32,
    /// Of an INSERT ... EXEC that runs: the count that no COMMIT in it goes below.
    pub floor: u32,
    /// A statement has begun it for itself and its triggers: what reads memory-optimised tables is autocommit.
    pub of_statement: bool,
    /// XACT_STATE() is -1: only ROLLBACK is possible.
    pub doomed: bool,
    /// The name given to the outermost BEGIN.
    name: Option<String>,
    savepoints: Vec<Saved>,
    /// The outermost BEGIN was under SNAPSHOT isolation; anything later is too late for it.
    snapshot: bool,
    /// What it has in the databases that the session is not in now.
    pub(crate) branches: Vec<Branch>,
    /// Who decides that it commits, where it has changed rows of several.
    pub decisions: Option<Arc<dyn Decisions>>,
    /// Whose it is: the session's number, and the flag that ends its waits.
    session: (u16, Option<Arc<AtomicBool>>),
    /// The engine's object, kept between transactions. Absent while a statement has it.
    pub(crate) txn: Option<Box<Txn>>,
    /// For each function that runs in a statement's transaction, what `txn` was before.
    lent: Vec<Option<Box<Txn>>>,
    /// Objects of the engine to put in the place of one that is lent.
    #[allow(clippy::vec_box, reason = "a box moves between here and `txn` as it is")]
    spare: Vec<Box<Txn>>,
    /// Uncommitted definitions.
    ddl: Option<Box<DdlScope>>,
    /// Counts the outermost transactions; the number of the one that is open, or of the last one.
    serial: u64,
    /// The one that was open when the request began, and whether it was rolled back.
    watched: (u64, bool),
    /// Grows with every uncommitted definition, so that no two states of them look alike to a cached plan.
    generation: u64,
    /// The session's temporary tables and table variables: the former are part of the transaction.
    pub private: PrivateTables,
}

/// A savepoint by its name: a place in each database, and in the temporary tables.
struct Saved {
    name: String,
    place: Place,
    others: Vec<Place>,
    private: Mark,
}

/// What a commit asks of the log, by the database's option and the statement's.
pub fn durability(database: &OpenDatabase, delayed: Option<bool>) -> Durability {
    match database.engine.delayed_durability() {
        DelayedDurability::Disabled => Durability::Full,
        DelayedDurability::Forced => Durability::Delayed,
        DelayedDurability::Allowed if delayed == Some(true) => Durability::Delayed,
        DelayedDurability::Allowed => Durability::Full,
    }
}

impl Transaction {
    /// None yet, of the session of that number, whose waits `cancel` ends.
    pub fn of_session(spid: u16, cancel: Arc<AtomicBool>) -> Transaction {
        Transaction { session: (spid, Some(cancel)), ..Transaction::default() }
    }

    /// BEGIN TRANSACTION.
    #[inline]
    pub fn begin(&mut self, name: Option<String>, options: &SetOptions) {
        self.count += 1;
        if self.count == 1 {
            self.serial += 1;
            self.name = name;
            self.snapshot = options.isolation == Isolation::Snapshot;
        }
    }

    /// The transaction that SET IMPLICIT_TRANSACTIONS has begin, unseen, before a statement that asks for one.
    pub fn begin_unseen(&mut self, options: &SetOptions) {
        if options.implicit_transactions && self.count == 0 && self.lent() == 0 {
            self.begin(None, options);
        }
    }

    /// The number of the open transaction, 0 when none is open.
    #[inline]
    pub fn open(&self) -> u64 {
        if self.count > 0 { self.serial } else { 0 }
    }

    /// A request begins: the transaction that is open now is the one to be told of.
    #[inline]
    pub fn watch(&mut self) -> u64 {
        self.watched = (self.open(), false);
        self.watched.0
    }

    /// Whether the watched transaction was rolled back.
    pub fn was_rolled_back(&self) -> bool {
        self.watched.1
    }

    /// Takes the engine's object for a statement; give it back by [`Transaction::give`].
    #[inline]
    pub fn take(&mut self, database: &OpenDatabase, options: &SetOptions) -> Box<Txn> {
        let wanted = TxnOptions {
            isolation: options.isolation,
            too_late_for_snapshot: self.count > 0
                && options.isolation == Isolation::Snapshot
                && !self.snapshot,
            lock_timeout_ms: options.lock_timeout_ms,
            deadlock_priority: options.deadlock_priority,
        };
        match self.txn.take() {
            Some(mut txn) => {
                if txn.options() != wanted {
                    txn.set_options(wanted);
                }
                txn
            }
            None => {
                let mut txn = Box::new(database.engine.txn(wanted));
                txn.set_session(u32::from(self.session.0));
                txn.set_cancel(self.session.1.clone());
                txn
            }
        }
    }

    /// Gives the engine's object back.
    #[inline]
    pub fn give(&mut self, txn: Box<Txn>) {
        self.txn = Some(txn);
    }

    /// A function begins in the middle of a statement, which has the engine's object in its hands: it is lent to the
    /// function's own statements, for which it is a transaction that is open.
    pub fn lend(&mut self, txn: &mut Txn, database: &OpenDatabase, options: &SetOptions) {
        let mut lent = match self.spare.pop() {
            Some(spare) => spare,
            None => Box::new(database.engine.txn(txn.options())),
        };
        std::mem::swap(&mut *lent, txn);
        if self.count == 0 {
            self.snapshot = options.isolation == Isolation::Snapshot;
        }
        self.count += 1;
        self.lent.push(self.txn.replace(lent));
    }

    /// The function has ended: the statement gets back what [`Transaction::lend`] took.
    pub fn take_back(&mut self, txn: &mut Txn) {
        let Some(mut lent) = self.txn.take() else {
            stdx::fatal!("a transaction was lent and is gone");
        };
        std::mem::swap(&mut *lent, txn);
        self.spare.push(lent);
        self.txn = self.lent.pop().flatten();
        self.count -= 1;
    }

    /// How many of `count` stand for functions that run, and are no BEGIN TRANSACTION.
    #[inline]
    pub fn lent(&self) -> u32 {
        self.lent.len() as u32
    }

    /// Whether a single insert may commit this transaction in one go: nothing was written or saved in it.
    #[inline]
    pub fn is_fresh(&self) -> bool {
        self.savepoints.is_empty()
            && self.ddl.is_none()
            && self.branches.is_empty()
            && self.floor == 0
            && !self.private.has_changes()
            && !self.doomed
            && self.txn.as_ref().is_none_or(|txn| !txn.has_written())
    }

    /// The transaction has been committed by the engine together with its only insert.
    #[inline]
    pub fn committed_by_insert(&mut self) {
        self.count = 0;
        self.name = None;
    }

    /// COMMIT; 3902 without a transaction, 3930 for a doomed one. Suspends.
    pub fn commit(
        &mut self,
        database: &OpenDatabase,
        delayed: Option<bool>,
    ) -> Result<(), SqlError> {
        match self.count {
            0 => Err(SqlError::new(
                3902,
                16,
                "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.",
            )),
            _ if self.doomed => Err(doomed()),
            count if count == self.floor => Err(SqlError::new(
                3916,
                16,
                "Cannot use the COMMIT statement within an INSERT-EXEC statement unless BEGIN TRANSACTION is used first.",
            )
            .with_state(0)),
            1 => {
                self.count = 0;
                self.name = None;
                self.finish(database, durability(database, delayed))
            }
            _ => {
                self.count -= 1;
                Ok(())
            }
        }
    }

    /// Commits the engine's transaction and publishes definitions: the end of an autocommitted statement too.
    pub fn finish(
        &mut self,
        database: &OpenDatabase,
        durability: Durability,
    ) -> Result<(), SqlError> {
        self.savepoints.clear();
        if !self.branches.is_empty()
            && let Err(error) = self.finish_branches(database)
        {
            self.undo()?;
            return Err(error);
        }
        let ddl = self.ddl.take();
        if let Some(txn) = self.txn.as_deref_mut()
            && txn.is_active()
        {
            txn.commit(durability).map_err(|e| from_engine(e, None, &database.name))?;
        }
        if let Some(ddl) = ddl {
            database.catalog.commit(*ddl);
        }
        self.private.commit();
        Ok(())
    }

    /// Undoes everything and ends the transaction. Suspends.
    pub fn rollback_all(&mut self) -> Result<(), SqlError> {
        if self.count > 0 {
            self.watched.1 |= self.serial == self.watched.0;
        }
        self.count = 0;
        self.doomed = false;
        self.name = None;
        self.undo()
    }

    /// Undoes the changes; the count stays, the transaction is doomed.
    pub fn doom(&mut self) -> Result<(), SqlError> {
        self.doomed = self.count > 0;
        self.undo()
    }

    fn undo(&mut self) -> Result<(), SqlError> {
        self.savepoints.clear();
        self.ddl = None;
        self.private.rollback();
        self.undo_branches()?;
        if let Some(txn) = self.txn.as_deref_mut()
            && txn.is_active()
        {
            return txn.rollback().map_err(|e| from_engine(e, None, ""));
        }
        Ok(())
    }

    /// ROLLBACK, to a savepoint or the transaction of that name; 3903, 6401.
    pub fn rollback(&mut self, name: Option<&str>) -> Result<(), SqlError> {
        if self.count == 0 {
            return Err(SqlError::new(
                3903,
                16,
                "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.",
            ));
        }
        let Some(name) = name else { return self.rollback_all() };
        if let Some(i) = self.savepoints.iter().rposition(|s| s.name.eq_ignore_ascii_case(name)) {
            if self.doomed {
                return Err(doomed());
            }
            self.savepoints.truncate(i + 1);
            let saved = &self.savepoints[i];
            self.private.rollback_to(saved.private);
            let places: Vec<Place> =
                std::iter::once(&saved.place).chain(&saved.others).cloned().collect();
            return self.back_to(&places);
        }
        if self.name.as_deref().is_some_and(|n| n.eq_ignore_ascii_case(name)) {
            return self.rollback_all();
        }
        Err(SqlError::new(
            6401,
            16,
            format!("Cannot roll back {name}. No transaction or savepoint of that name was found."),
        ))
    }

    /// Forgets the last savepoint of that name; what was done since then stays.
    pub fn forget_savepoint(&mut self, name: &str) {
        if let Some(i) = self.savepoints.iter().rposition(|s| s.name == name) {
            self.savepoints.remove(i);
        }
    }

    /// SAVE TRANSACTION; 628 without a transaction.
    pub fn save(
        &mut self,
        name: String,
        database: &OpenDatabase,
        options: &SetOptions,
    ) -> Result<(), SqlError> {
        if self.count == 0 {
            return Err(SqlError::new(
                628,
                16,
                "Cannot issue SAVE TRANSACTION when there is no active transaction.",
            ));
        }
        if self.doomed {
            return Err(doomed());
        }
        let mut txn = self.take(database, options);
        if !txn.is_active() {
            txn.begin();
        }
        let place = Place::of(&txn, self.ddl.as_deref());
        self.give(txn);
        let (others, private) = (self.places(), self.private.mark());
        self.savepoints.push(Saved { name, place, others, private });
        Ok(())
    }

    /// Goes back to these places, each in its database; in a database that is not among them, to its beginning.
    fn back_to(&mut self, places: &[Place]) -> Result<(), SqlError> {
        if let Some(txn) = self.txn.as_deref_mut()
            && txn.is_active()
            && Place::back(places, txn, &mut self.ddl)?
        {
            self.generation += 1;
        }
        self.branches_back_to(places)
    }

    /// Which uncommitted definitions are in force; 0 for none.
    #[inline]
    pub fn definitions(&self) -> u64 {
        if self.ddl.is_some() { self.generation } else { 0 }
    }

    /// The uncommitted definitions, for look-ups.
    #[inline]
    pub fn scope(&self) -> Option<&DdlScope> {
        self.ddl.as_deref()
    }

    /// The uncommitted definitions, to add to; take and give back around a statement.
    pub fn take_scope(&mut self) -> Box<DdlScope> {
        self.ddl.take().unwrap_or_default()
    }

    /// Gives the definitions back.
    pub fn give_scope(&mut self, scope: Box<DdlScope>) {
        self.generation += 1;
        if !scope.is_empty() {
            self.ddl = Some(scope);
        }
    }

    /// A place in the uncommitted definitions to come back to.
    pub fn definitions_mark(&self) -> usize {
        self.ddl.as_ref().map_or(0, |ddl| ddl.mark())
    }

    /// Forgets definitions made after the mark.
    pub fn forget_definitions(&mut self, mark: usize) {
        if let Some(ddl) = &mut self.ddl {
            ddl.rollback_to(mark);
            self.generation += 1;
            if ddl.is_empty() {
                self.ddl = None;
            }
        }
    }

    /// Whether the engine holds locks for it, or for the session beside it.
    pub fn holds_locks(&self) -> bool {
        !self.branches.is_empty() || self.txn.as_ref().is_some_and(|txn| !txn.holds_nothing())
    }

    /// The session goes from one database to another: what the transaction has in the one stays as a branch, what it
    /// had in the other goes on.
    pub fn go(&mut self, from: &Arc<OpenDatabase>, to: &OpenDatabase) {
        self.spare.clear();
        let txn = self.txn.take().filter(|txn| txn.is_active());
        let ddl = self.ddl.take();
        if let Some(txn) = txn {
            self.branches.push(Branch { database: from.clone(), txn: Some(txn), ddl });
        }
        if let Some(at) =
            self.branches.iter().position(|b| Arc::ptr_eq(&b.database.engine, &to.engine))
        {
            let branch = self.branches.swap_remove(at);
            (self.txn, self.ddl) = (branch.txn, branch.ddl);
        }
        self.generation += 1;
    }

    /// Lets go of all databases: when the session ends, or its connection is another's now.
    pub fn forget_database(&mut self) {
        // The engine's objects end their transactions when they are let go.
        self.txn = None;
        self.branches.clear();
        self.spare.clear();
        self.ddl = None;
        self.savepoints.clear();
    }
}
