//! Physical plans, executed: batches of rows flow from scans through joins, aggregates and sorts to a sink
//! or into a table.
//!
//! Promises: a statement sees one snapshot; a change re-reads and re-checks each row under its lock before it
//! changes it; long work yields to the scheduler. Every failure is a [`SqlError`] with SQL Server's number.
//!
//! Knows nothing of T-SQL text, of variables' names, of procedures and transactions' nesting (the interpreter
//! does), nor of clients (a [`ResultSink`] takes what comes).

#![forbid(unsafe_code)]

mod message;
mod sink;

pub use message::{Reach, SqlError, SqlMessage};
pub use sink::{Collected, ColumnMeta, ResultSet, ResultSink};
