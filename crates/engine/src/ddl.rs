//! Making and dropping trees, within transactions.
//!
//! A tree is made at once and freed again by a rollback. It is dropped in three steps: the intent in the transaction,
//! the commit, and then the freeing of its pages, which a restart carries out when a crash came between.

use crate::txn::State;
use crate::{Database, EngineError, FilegroupId, Tree, TreeId, Txn};
use lock_manager::TableMode;
use log_manager::Lease;
use transaction::Kind;

impl Txn {
    /// Makes an empty tree. Gone again if the transaction rolls back.
    pub fn create_tree(&mut self, filegroup: FilegroupId) -> Result<TreeId, EngineError> {
        self.check()?;
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
        let id = self.db.store.create_tree(filegroup)?.id();
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
        self.context
            .ensure_xid()
            .map_err(|_| EngineError::LogFull { reason: "ACTIVE_TRANSACTION" })?;
        let body = tree.id().0.0.to_le_bytes();
        let at = self.context.log_note(Kind::TreeDropped, &body, Lease::Normal);
        let at = at.map_err(|e| self.doom(e.into()))?;
        self.drops.push((tree.clone(), at.start));
        Ok(())
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
    /// Frees the pages of dropped trees and logs that it is done. What fails here is carried out at the next opening.
    pub(crate) fn carry_out_drops(&self, trees: impl Iterator<Item = TreeId>) {
        for id in trees {
            let done = self.store.free_tree(id).map_err(EngineError::from).and_then(|()| {
                self.shared.log_drop_done(id.0.0)?;
                Ok(())
            });
            match done {
                Ok(()) => self.drops.lock().retain(|d| d.tree != id),
                Err(e) => self.note_error(&format!("pages of a dropped table were not freed: {e}")),
            }
        }
    }
}
