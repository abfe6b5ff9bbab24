//! The bracket around a statement: in the transaction that is open, else in one of its own.
//!
//! ```text
//! begin   the engine's transaction, begun when there is none; marks in definitions and temporary tables
//! end     done: committed under autocommit          failed: what it changed is undone, and nothing else
//! ```
//!
//! Promise: whoever runs a statement's rows or definitions does it between [`StatementTxn::begin`] and
//! [`StatementTxn::end`]. What cannot be undone alone goes with the transaction.

use crate::branch::Place;
use crate::state::SessionState;
use crate::transaction::durability;
use engine::Txn;
use executor::{Reach, SqlError, from_engine};
use session_table::Mark;

/// A statement under way.
#[must_use = "a statement that begins ends"]
pub struct StatementTxn {
    /// The engine's object, in the statement's hands.
    pub txn: Box<Txn>,
    /// What to come back to in the uncommitted definitions and the temporary tables.
    definitions: usize,
    private: Mark,
    /// The same in other databases.
    others: Vec<Place>,
}

impl StatementTxn {
    /// Takes the engine's object out of the session, its transaction begun.
    #[inline]
    pub fn begin(state: &mut SessionState) -> StatementTxn {
        let mut txn = state.transaction.take(&state.database, &state.options);
        if !txn.is_active() {
            txn.begin();
        }
        let definitions = state.transaction.definitions_mark();
        let private = state.transaction.private.mark();
        txn.begin_statement();
        let others = state.transaction.places();
        if !others.is_empty() {
            state.transaction.begin_in_branches();
        }
        StatementTxn { txn, definitions, private, others }
    }

    /// Gives the engine's object back: committed under autocommit, or undone with the error. Suspends.
    #[inline]
    pub fn end<R>(
        self,
        state: &mut SessionState,
        result: Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        match result {
            Ok(value) => {
                let StatementTxn { mut txn, private, others, .. } = self;
                txn.end_statement();
                state.transaction.give(txn);
                state.transaction.private.end_statement(private);
                if !others.is_empty() {
                    state.transaction.end_in_branches();
                }
                if state.transaction.count == 0 {
                    let durability = durability(&state.database, None);
                    state.transaction.finish(&state.database, durability)?;
                }
                Ok(value)
            }
            Err(error) => Err(self.undo(state, error)),
        }
    }

    #[cold]
    fn undo(self, state: &mut SessionState, mut error: SqlError) -> SqlError {
        let StatementTxn { mut txn, definitions, private, others } = self;
        state.transaction.private.rollback_to(private);
        let elsewhere = state.transaction.branches_back_to(&others);
        state.transaction.end_in_branches();
        let undone = if state.transaction.count == 0 {
            txn.rollback()
        } else {
            state.transaction.forget_definitions(definitions);
            txn.rollback_statement()
        };
        if let Err(undo) = elsewhere {
            error.reach = error.reach.max(Reach::Transaction).max(undo.reach);
        }
        state.transaction.give(txn);
        if state.transaction.count == 0
            && let Err(undo) = state.transaction.rollback_all()
        {
            return undo;
        }
        if let Err(undo) = undone {
            let undo = from_engine(undo, None, &state.database.name);
            error.reach = error.reach.max(Reach::Transaction).max(undo.reach);
        }
        error
    }
}
