//! The bracket of a definition: a change of the catalog in the session's transaction, undone alone when it fails.

use crate::Commands;
use catalog::{Catalog, DdlScope};
use executor::{Cx, Reach, SqlError};
use session_state::SessionEnvironment;
use types::Value;

impl Commands<'_> {
    /// Runs a change of the catalog as a statement.
    pub fn in_catalog<R>(
        &mut self,
        frame: &mut [Value],
        body: impl FnOnce(&Catalog, &mut engine::Txn, &mut DdlScope) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        self.in_definition(frame, |catalog, cx, scope| body(catalog, writer(cx), scope))
    }

    /// The same for changes that touch rows too.
    pub(crate) fn in_definition<R>(
        &mut self,
        frame: &mut [Value],
        body: impl FnOnce(&Catalog, &mut Cx<'_>, &mut DdlScope) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        let catalog = self.state.database.catalog.clone();
        // The scope stays out of the session while the statement runs and is given back before it ends, so that a
        // commit under autocommit finds it.
        let mut scope = self.state.transaction.take_scope();
        let mark = scope.mark();
        let state = &mut *self.state;
        let mut txn = state.transaction.take(&state.database, &state.options);
        if !txn.is_active() {
            txn.begin();
        }
        txn.begin_statement();
        let result = {
            let mut env =
                SessionEnvironment { state, host: &mut *self.host, machine: &mut *self.machine };
            let mut cx = Cx::new(frame, &mut env, Some(&mut txn), &self.cancel);
            body(&catalog, &mut cx, &mut scope)
        };
        let state = &mut *self.state;
        match result {
            Ok(value) => {
                txn.end_statement();
                state.transaction.give(txn);
                state.transaction.give_scope(scope);
                if state.transaction.count == 0 {
                    let durability = session_state::durability(&state.database, None);
                    state.transaction.finish(&state.database, durability)?;
                }
                Ok(value)
            }
            Err(mut error) => {
                let undone = if state.transaction.count == 0 {
                    txn.rollback()
                } else {
                    scope.rollback_to(mark);
                    txn.rollback_statement()
                };
                state.transaction.give(txn);
                if state.transaction.count > 0 {
                    state.transaction.give_scope(scope);
                }
                if undone.is_err() {
                    error.reach = error.reach.max(Reach::Transaction);
                }
                Err(error)
            }
        }
    }
}

/// The transaction that a definition is made in.
pub(crate) fn writer<'c>(cx: &'c mut Cx<'_>) -> &'c mut engine::Txn {
    match cx.txn.as_deref_mut() {
        Some(txn) => txn,
        None => stdx::fatal!("a definition without a transaction"),
    }
}
