//! Where results go: columns, rows, row counts and messages, in the order in which they arise.
//!
//! Promise: for each result set `columns` comes first, then its rows, then `done`; messages may fall
//! anywhere between. A statement without a result set calls `done` alone, and not at all under NOCOUNT.

use crate::message::SqlMessage;
use types::{SqlType, Value};

/// One column of a result set.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMeta {
    /// Its name; empty for an expression without an alias.
    pub name: String,
    /// Its type, with length, precision and scale.
    pub ty: SqlType,
    /// Whether NULL may occur.
    pub nullable: bool,
}

/// Receives what a batch produces. Called on the session's own task; may suspend (a slow client).
pub trait ResultSink {
    /// A result set begins.
    fn columns(&mut self, columns: &[ColumnMeta]);
    /// One row of it; the values are only borrowed.
    fn row(&mut self, row: &[Value]);
    /// A statement is done; `rows` is its row count where it has one.
    fn done(&mut self, rows: Option<u64>);
    /// A message or an error.
    fn message(&mut self, message: &SqlMessage);
}

/// One result set, collected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultSet {
    /// Its columns.
    pub columns: Vec<ColumnMeta>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

/// Collects everything: for tests, for the shell's small results, for internal queries.
#[derive(Debug, Default)]
pub struct Collected {
    /// The result sets, in order.
    pub sets: Vec<ResultSet>,
    /// The messages, in order.
    pub messages: Vec<SqlMessage>,
    /// The row counts reported, in order.
    pub counts: Vec<Option<u64>>,
}

impl Collected {
    /// The numbers of the errors among the messages, in order.
    pub fn errors(&self) -> Vec<i32> {
        self.messages.iter().filter(|m| m.is_error()).map(|m| m.number).collect()
    }
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.sets.push(ResultSet { columns: columns.to_vec(), rows: Vec::new() });
    }

    fn row(&mut self, row: &[Value]) {
        if let Some(set) = self.sets.last_mut() {
            set.rows.push(row.to_vec());
        }
    }

    fn done(&mut self, rows: Option<u64>) {
        self.counts.push(rows);
    }

    fn message(&mut self, message: &SqlMessage) {
        self.messages.push(message.clone());
    }
}
