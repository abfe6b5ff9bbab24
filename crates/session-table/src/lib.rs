//! A table nobody else can see needs no log, no lock and no latch: temporary tables (`#t`) and table variables (`@t`).
//!
//! Promises: rows lie in memory, ordered by the bytes of the primary key or else by a row id, and stay with the session
//! whatever database it is in; a change that fails leaves the table as it was; a `#table` obeys ROLLBACK, savepoints
//! and the failure of a statement, a table variable only the last; all private tables of a session together hold at
//! most [`BYTES_MAX`] bytes.
//!
//! Knows nothing of SQL text, plans, transactions' nesting or the storage engine: whoever runs statements says when one
//! begins, ends or fails.
//!
//! How it hangs together: a [`Table`] is rows and keys; [`PrivateTables`] is all tables of a session under their
//! [`catalog::Place`]s and names, with what is needed to undo changes.

#![forbid(unsafe_code)]

mod key;
mod private;
mod table;
mod undo;

pub use key::Key;
pub use private::{BYTES_MAX, Mark, PrivateTables};
pub use table::{Row, Table, TableError};

#[cfg(test)]
mod tests;
