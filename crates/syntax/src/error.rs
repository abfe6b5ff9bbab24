//! The errors of reading, with SQL Server's numbers.

use std::fmt;

/// A batch that cannot be read.
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

/// Boxed: the good way is the one that should be narrow.
pub(crate) type ParseResult<T> = Result<T, Box<SyntaxError>>;

impl SyntaxError {
    /// 15, but for what SQL Server tells of rows of VALUES, of files as rows, of change tracking, of INSERT BULK and of a reading that was
    /// stopped.
    pub fn severity(&self) -> u8 {
        match self.number {
            428 | 491 | 10_709 | 22101..=22116 | runtime::task::CANCELLED => 16,
            701 => 17,
            _ => 15,
        }
    }

    /// SQL Server's state: which of its places raises the number.
    pub fn state(&self) -> u8 {
        match self.number {
            103 | 1038 => 4,
            153 => 2,
            1035 => 10,
            _ => 1,
        }
    }

    #[cold]
    pub(crate) fn new(
        number: i32,
        line: u32,
        near: impl Into<String>,
        message: impl Into<String>,
    ) -> Box<SyntaxError> {
        Box::new(SyntaxError { number, line, near: near.into(), message: message.into() })
    }
}

impl From<runtime::task::Stopped> for Box<SyntaxError> {
    #[cold]
    fn from(stopped: runtime::task::Stopped) -> Self {
        SyntaxError::new(stopped.number(), 0, "", stopped.to_string())
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (level, state) = (self.severity(), self.state());
        write!(
            f,
            "Msg {}, Level {level}, State {state}, Line {}\n{}",
            self.number, self.line, self.message
        )
    }
}

impl std::error::Error for SyntaxError {}

/// 1038.
pub(crate) const EMPTY_NAME: &str = "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other \
     statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change the alias to a valid \
     name.";

/// 428.
pub(crate) const BULK_ALONE: &str = "Insert bulk cannot be used in a multi-statement batch.";
