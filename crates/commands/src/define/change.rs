//! The bracket of a definition: a change of the catalog in the session's transaction, undone alone when it fails.

use crate::Commands;
use catalog::{Catalog, DdlScope};
use executor::{Cx, SqlError};
use session_state::{SessionEnvironment, StatementTxn};
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
        let mut statement = StatementTxn::begin(self.state);
        // The scope stays out of the session while the statement runs and is given back before it ends, so that a
        // commit under autocommit finds it.
        let mut scope = self.state.transaction.take_scope();
        let result = {
            let mut env = SessionEnvironment {
                state: &mut *self.state,
                host: &mut *self.host,
                machine: &mut *self.machine,
            };
            let mut cx = Cx::new(frame, &mut env, Some(&mut statement.txn), self.cancel);
            body(&catalog, &mut cx, &mut scope)
        };
        self.state.transaction.give_scope(scope);
        statement.end(self.state, result)
    }
}

/// The transaction that a definition is made in.
pub(crate) fn writer<'c>(cx: &'c mut Cx<'_>) -> &'c mut engine::Txn {
    match cx.txn.as_deref_mut() {
        Some(txn) => txn,
        None => stdx::fatal!("a definition without a transaction"),
    }
}
