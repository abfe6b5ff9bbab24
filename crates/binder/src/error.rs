//! What binding refuses, with SQL Server's number and text.

use std::fmt;

/// A statement that cannot be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindError {
    /// SQL Server's number: 207, 208, 209, 137, 4104 ...
    pub number: i32,
    pub severity: u8,
    pub state: u8,
    /// Line in the batch or module, from 1.
    pub line: u32,
    pub text: String,
}

impl BindError {
    pub fn new(number: i32, severity: u8, line: u32, text: impl Into<String>) -> BindError {
        BindError { number, severity, state: 1, line, text: text.into() }
    }

    /// A missing object, column or database: something a DDL statement earlier in the batch may yet
    /// supply, so the statement is bound again when control reaches it.
    pub fn is_missing_object(&self) -> bool {
        matches!(self.number, 208 | 4701 | 4902 | 1088 | 911)
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Msg {}, Level {}, State {}, Line {}\n{}",
            self.number, self.severity, self.state, self.line, self.text
        )
    }
}

impl std::error::Error for BindError {}
