//! Making and dropping trees, within transactions.
//!
//! A tree is made at once and freed again by a rollback. It is dropped in three steps: the intent in the transaction,
//! the commit, and then the freeing of its pages, which a restart carries out when a crash came between.

use crate::tree::{PendingDrop, Reshape};
use crate::txn::State;
use crate::{Database, EngineError, FilegroupId, Lsn, Tree, TreeId, Txn};
use lock_manager::TableMode;
use log_manager::Lease;
use storage::StorageError;
use telemetry::WaitType;
use transaction::Kind;

impl Txn {
    /// Makes an empty tree. Gone again if the transaction rolls back.
    pub fn create_tree(&mut self, filegroup: FilegroupId) -> Result<TreeId, EngineError> {
        self.check()?;
        self.db.check_writable()?;
        if !self.db.has_filegroup(filegroup) {
            return Err(EngineError::FilegroupFull { filegroup });
        }
        let made = self.try_create(filegroup);
        made.map_err(|e| self.doom(e))
    }

    fn try_create(&mut self, filegroup: FilegroupId) -> Result<TreeId, EngineError> {
        self.context
            .ensure_xid()
            .map_err(|_| EngineError::LogFull { reason: "ACTIVE_TRANSACTION" })?;
        let made = self.db.store.create_tree(filegroup);
        let made = made.map_err(|e| match e {
            StorageError::FilegroupFull => EngineError::FilegroupFull { filegroup },
            e => e.into(),
        });
        let id = made?.id();
        // A crash between the two records leaves an empty tree that nobody knows: one extent.
        if let Err(e) =
            self.context.log_note(Kind::TreeCreated, &id.0.0.to_le_bytes(), Lease::Normal)
        {
            self.db.store.free_tree(id)?;
            return Err(e.into());
        }
        self.db.welcome_tree(id);
        Ok(id)
    }

    /// Drops a tree; its pages become free at commit. Takes the Sch-M lock.
    pub fn drop_tree(&mut self, tree: &Tree) -> Result<(), EngineError> {
        self.enter(tree, TableMode::SchemaModification)?;
        self.db.check_writable()?;
        self.context
            .ensure_xid()
            .map_err(|_| EngineError::LogFull { reason: "ACTIVE_TRANSACTION" })?;
        let body = tree.id().0.0.to_le_bytes();
        let at = self.context.log_note(Kind::TreeDropped, &body, Lease::Normal);
        let at = at.map_err(|e| self.doom(e.into()))?;
        self.drops.push((tree.clone(), at.start));
        Ok(())
    }

    /// At commit the tree, whose Sch-M lock must be held, gets the shape `shape`, which is higher than any that it was
    /// given before; handles for another one are refused from then on. This transaction may use handles for the new one at once. Undone by a rollback to a savepoint that
    /// was made before the newest log record: call it after the change of the catalog that it stands for.
    pub fn reshape(&mut self, tree: &Tree, shape: u64) {
        debug_assert!(self.state == State::Active);
        let reshape = Reshape { tree: tree.clone(), at: self.context.last() };
        self.reshapes.insert((tree.id(), shape), reshape);
    }

    /// Whether the tree is to have the handle's shape.
    #[cold]
    pub(crate) fn reshapes(&self, tree: &Tree) -> bool {
        self.reshapes.contains_key(&(tree.id(), tree.shape))
            && tree.inner.shape.load(std::sync::atomic::Ordering::Acquire) != crate::tree::GONE
    }

    /// Enters a tree for a read that will look at its rows through others (a covering index): the lock that a reader of
    /// the tree itself would take, and the check that it is still there.
    pub fn enter_for_read(
        &mut self,
        tree: &Tree,
        options: crate::ReadOptions,
    ) -> Result<(), EngineError> {
        let (mode, brief) = self.reads(options)?.table_lock();
        let waiting = self.wait_as(options.no_wait);
        let entered = self.enter_for(tree, mode, brief);
        self.no_wait = waiting;
        entered
    }

    /// Whether a read with these options sees rows by versions, so that everything it reads is of one moment.
    pub fn reads_versions(&self, options: crate::ReadOptions) -> bool {
        matches!(self.reads(options), Ok(crate::locking::Reads::Versions))
    }

    /// TRUNCATE TABLE: makes a fresh empty tree in the same filegroup and drops the old one at commit, both undone by
    /// a rollback; the caller stores the new id in its catalog within this transaction.
    pub fn truncate_tree(&mut self, tree: &Tree) -> Result<TreeId, EngineError> {
        self.drop_tree(tree)?;
        debug_assert!(self.state == State::Active);
        self.create_tree(tree.inner.tree.filegroup())
    }
}

impl Database {
    /// A commit at `csn` has dropped these.
    pub(crate) fn dropped(&self, trees: impl Iterator<Item = TreeId>, csn: Lsn) {
        for id in trees {
            self.forget_tree(id);
            let mut drops = self.drops.lock();
            drops.iter_mut().filter(|d| d.tree == id).for_each(|d| d.csn = Some(csn));
        }
    }

    /// Frees the pages of the dropped trees that no snapshot can see any more: until then their names are not used
    /// again, so that whoever finds one in an older catalog is told that it is gone. What fails is tried again later,
    /// or when the database is opened next.
    pub(crate) fn carry_out_drops(&self) {
        let _one = self.dropping.lock(WaitType::Misc);
        let horizon = self.shared.snapshots.horizon();
        let due = |d: &&PendingDrop| d.csn.is_some_and(|csn| csn < horizon);
        let due: Vec<TreeId> = self.drops.lock().iter().filter(due).map(|d| d.tree).collect();
        for id in due {
            if let Err(e) = self.carry_out_drop(id) {
                self.note_error(&format!("pages of a dropped table were not freed: {e}"));
                return;
            }
            self.drops.lock().retain(|d| d.tree != id);
        }
    }

    pub(crate) fn carry_out_drop(&self, id: TreeId) -> Result<(), EngineError> {
        self.unread_rows.lock().remove(&id.0.0);
        self.store.free_tree(id)?;
        Ok(self.shared.log_drop(Kind::DropDone, id.0.0).map(|_| ())?)
    }

    /// Says again, further up in the log, which drops are still to be carried out, so that they keep no log. Before a
    /// checkpoint looks at what is needed.
    pub(crate) fn repeat_drops(&self) -> Result<(), EngineError> {
        // Nobody may carry one out in between: it must not be called pending after it was called done.
        let _one = self.dropping.lock(WaitType::Misc);
        let committed: Vec<TreeId> =
            self.drops.lock().iter().filter(|d| d.csn.is_some()).map(|d| d.tree).collect();
        for id in committed {
            let at = self.shared.log_drop(Kind::DropPending, id.0.0)?;
            self.drops.lock().iter_mut().filter(|d| d.tree == id).for_each(|d| d.first = at);
        }
        Ok(())
    }
}
