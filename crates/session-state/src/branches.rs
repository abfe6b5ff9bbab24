//! What a transaction has in the databases that its session is not in.
//!
//! ```text
//! in a    txn of a               USE b, b..sp_executesql, INSERT b.dbo.t ...      in b    txn of b
//!         branches: -            ------------------------------------------->            branches: a
//! ```
//!
//! A transaction that has changed rows of several databases commits in two steps: it is prepared in each of them, durably;
//! then it is decided, in `master`; then each commits. After a crash between, each database asks for the decision when
//! it is opened.
//!
//! Promises: a session that comes back finds its transaction as it left it; all branches end with the transaction, one
//! way; what undoes a statement, or goes back to a savepoint, does so in all of them. A branch that began after a
//! savepoint goes back to its beginning.

use crate::branch::{Branch, Decisions, Place};
use crate::database::OpenDatabase;
use crate::transaction::{Transaction, durability};
use catalog::DdlScope;
use engine::{Durability, Txn};
use executor::{SqlError, from_engine};
use std::sync::Arc;

/// Databases of the system: master, which keeps decisions, and tempdb, which no crash survives.
const MASTER: u16 = 1;
const TEMPDB: u16 = 2;

/// That a transaction commits: who has decided it, and its number.
type Decided = (Arc<dyn Decisions>, u128);

impl Transaction {
    /// Where the branches are now; empty for nearly all transactions.
    pub(crate) fn places(&self) -> Vec<Place> {
        let parts =
            self.branches.iter().filter_map(|b| Some((b.txn.as_deref()?, b.ddl.as_deref())));
        parts.map(|(txn, ddl)| Place::of(txn, ddl)).collect()
    }

    /// Takes each branch back to its place among these.
    pub(crate) fn branches_back_to(&mut self, places: &[Place]) -> Result<(), SqlError> {
        for Branch { txn, ddl, .. } in &mut self.branches {
            if let Some(txn) = txn {
                Place::back(places, txn, ddl)?;
            }
        }
        Ok(())
    }

    /// A statement begins: it reads the branches too as of one moment.
    pub(crate) fn begin_in_branches(&mut self) {
        self.branches
            .iter_mut()
            .filter_map(|b| b.txn.as_deref_mut())
            .for_each(Txn::begin_statement);
    }

    /// A statement has ended.
    pub(crate) fn end_in_branches(&mut self) {
        self.branches.iter_mut().filter_map(|b| b.txn.as_deref_mut()).for_each(Txn::end_statement);
    }

    /// Commits all branches, and what it has in `database`, where the session is: all of them or none, whatever crashes.
    /// On an error the transaction is over.
    pub(crate) fn finish_branches(&mut self, database: &OpenDatabase) -> Result<(), SqlError> {
        let decided = self.prepare_branches(database).inspect_err(|_| {
            let _ = self.undo_branches();
        })?;
        let mut result = Ok(());
        for Branch { database, txn, ddl } in self.branches.drain(..) {
            if let Some(mut txn) = txn {
                let durability = match decided {
                    Some(_) => Durability::Full,
                    None => durability(&database, None),
                };
                let committed = txn.commit(durability);
                result = result
                    .and(committed.map(drop).map_err(|e| from_engine(e, None, &database.name)));
            }
            if let (Some(ddl), Ok(())) = (ddl, &result) {
                database.catalog.commit(*ddl);
            }
        }
        if decided.is_some()
            && let Some(txn) = self.txn.as_deref_mut()
            && txn.is_active()
        {
            let committed = txn.commit(Durability::Full);
            result =
                result.and(committed.map(drop).map_err(|e| from_engine(e, None, &database.name)));
        }
        if let (Some((decisions, number)), Ok(())) = (decided, &result) {
            decisions.decided_everywhere(number);
        }
        result
    }

    /// Of a transaction that has changed rows of several databases: prepares all of them, and decides. Nothing for any
    /// other.
    fn prepare_branches(&mut self, database: &OpenDatabase) -> Result<Option<Decided>, SqlError> {
        let own = self.txn.as_deref_mut().map(|txn| (database.id, &*database.name, txn));
        let others = self
            .branches
            .iter_mut()
            .filter_map(|b| Some((b.database.id, &*b.database.name, b.txn.as_deref_mut()?)));
        let writers = others.chain(own).filter(|(id, _, txn)| *id != TEMPDB && txn.has_written());
        let mut writers: Vec<(u16, &str, &mut Txn)> = writers.collect();
        if writers.len() < 2 {
            return Ok(None);
        }
        if writers.iter().any(|(_, _, txn)| txn.is_in_memory()) {
            return Err(SqlError::new(
                41317,
                16,
                "A user transaction that accesses memory optimized tables or natively compiled modules cannot access \
                 more than one user database or databases model and msdb, and it cannot write to master.",
            ));
        }
        let master = writers.iter().any(|(id, ..)| *id == MASTER);
        let Some(decisions) = self.decisions.clone().filter(|_| !master) else {
            let what = "a transaction that changes rows of master and of another database";
            return Err(SqlError::unsupported(what));
        };
        let mut number = [0; 16];
        runtime::random::fill(&mut number);
        let number = u128::from_le_bytes(number);
        for (_, name, txn) in &mut writers {
            txn.prepare(number).map_err(|e| from_engine(e, None, name))?;
        }
        decisions.decide(number)?;
        Ok(Some((decisions, number)))
    }

    /// Rolls all branches back.
    pub(crate) fn undo_branches(&mut self) -> Result<(), SqlError> {
        let mut result = Ok(());
        for Branch { database, txn, .. } in self.branches.drain(..) {
            if let Some(mut txn) = txn {
                result =
                    result.and(txn.rollback().map_err(|e| from_engine(e, None, &database.name)));
            }
        }
        result
    }

    /// The branch of that database, for reading there in the statement that runs; give it back by
    /// [`Transaction::give_branch`].
    pub(crate) fn take_branch(&mut self, engine: &Arc<engine::Database>) -> Option<Box<Txn>> {
        let branch = self.branches.iter_mut().find(|b| Arc::ptr_eq(&b.database.engine, engine))?;
        branch.txn.take_if(|txn| txn.in_statement())
    }

    /// The uncommitted definitions in that database.
    pub(crate) fn definitions_in(&self, engine: &Arc<engine::Database>) -> Option<&DdlScope> {
        let branch = self.branches.iter().find(|b| Arc::ptr_eq(&b.database.engine, engine))?;
        branch.ddl.as_deref()
    }

    /// Gives a branch back, or gives back what is none.
    pub(crate) fn give_branch(&mut self, txn: Box<Txn>) -> Option<Box<Txn>> {
        let mut lent = self.branches.iter_mut().filter(|b| b.txn.is_none());
        match lent.find(|b| Arc::ptr_eq(&b.database.engine, txn.database())) {
            Some(branch) => {
                branch.txn = Some(txn);
                None
            }
            None => Some(txn),
        }
    }
}
