//! What is one statement to its user and several to the engine: all of it is done, or nothing.
//!
//! Promise: in the transaction that is open, whose savepoint it comes back to, else in one of its own. What the
//! statements in it have ended themselves (all was rolled back, or only a rollback is possible) is left as it is.

use crate::state::SessionState;
use executor::SqlError;

/// One that is under way.
#[must_use = "a statement that begins ends"]
pub struct OneStatement {
    /// It has begun the transaction.
    own: bool,
    savepoint: &'static str,
}

impl OneStatement {
    /// `savepoint` is a name that no T-SQL can write. Suspends.
    pub fn begin(
        state: &mut SessionState,
        savepoint: &'static str,
    ) -> Result<OneStatement, SqlError> {
        let own = state.transaction.count == 0;
        match own {
            true => {
                state.transaction.begin(None, &state.options);
                state.transaction.of_statement = true;
            }
            false => {
                state.transaction.save(savepoint.to_owned(), &state.database, &state.options)?;
            }
        }
        Ok(OneStatement { own, savepoint })
    }

    /// Keeps what was `done`, or undoes it. Suspends.
    pub fn end(self, state: &mut SessionState, done: bool) -> Result<(), SqlError> {
        let transaction = &mut state.transaction;
        transaction.of_statement &= !self.own;
        if transaction.count == 0 {
            return Ok(());
        }
        match (self.own, done) {
            (true, true) => transaction.commit(&state.database, None),
            (true, false) => transaction.rollback_all(),
            (false, _) if transaction.doomed => Ok(()),
            (false, done) => {
                let undone = match done {
                    true => Ok(()),
                    false => transaction.rollback(Some(self.savepoint)),
                };
                transaction.forget_savepoint(self.savepoint);
                undone
            }
        }
    }
}
