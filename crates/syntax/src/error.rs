//! The errors of reading, with SQL Server's numbers.

use std::fmt;

/// A batch that cannot be read. Severity is 15, state 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// 102, 156, 105, 113, 191, ...
    pub number: i32,
    /// Line of the batch, from 1.
    pub line: u32,
    /// The text that the message quotes.
    pub near: String,
    /// SQL Server's text.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Msg {}, Level 15, State 1, Line {}: {}", self.number, self.line, self.message)
    }
}

impl std::error::Error for SyntaxError {}
