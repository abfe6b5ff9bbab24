//! What may be wrong with a text or a path, with SQL Server's numbers (Database Engine events and errors, 13600 on).

use std::fmt;

/// An error of JSON text, of a path, or of both together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// 13609: the text breaks JSON's rules at this character (position counted in characters from 0).
    Text {
        /// What stands there; `.` at the end of the text.
        found: char,
        /// Where.
        position: usize,
    },
    /// 13607: the path breaks its rules.
    Path {
        /// What stands there; a blank at the end of the path.
        found: char,
        /// Where.
        position: usize,
    },
    /// 13606: more than 128 levels.
    TooDeep,
    /// 13608: a strict path leads nowhere.
    NotFound,
    /// 13619: JSON_MODIFY of `$`, the whole text.
    Root,
    /// 13621: `append` on something that is no array, under a strict path.
    NotAnArray,
    /// 3617, 701: what reads is to stop.
    Stopped(runtime::task::Stopped),
}

impl JsonError {
    /// SQL Server's message number.
    pub fn number(&self) -> i32 {
        match self {
            JsonError::Text { .. } => 13609,
            JsonError::Path { .. } => 13607,
            JsonError::TooDeep => 13606,
            JsonError::NotFound => 13608,
            JsonError::Root => 13619,
            JsonError::NotAnArray => 13621,
            JsonError::Stopped(stopped) => stopped.number(),
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonError::Text { found, position } => write!(
                f,
                "JSON text is not properly formatted. Unexpected character '{found}' is found at \
                 position {position}."
            ),
            JsonError::Path { found, position } => write!(
                f,
                "JSON path is not properly formatted. Unexpected character '{found}' is found at \
                 position {position}."
            ),
            JsonError::TooDeep => {
                f.write_str("JSON text that has more than 128 nesting levels cannot be parsed.")
            }
            JsonError::NotFound => {
                f.write_str("Property cannot be found on the specified JSON path.")
            }
            JsonError::Root => {
                f.write_str("Unsupported JSON path found in argument 2 of JSON_MODIFY.")
            }
            JsonError::Stopped(stopped) => stopped.fmt(f),
            JsonError::NotAnArray => {
                f.write_str("Array cannot be found in the specified JSON path.")
            }
        }
    }
}

impl std::error::Error for JsonError {}

impl From<runtime::task::Stopped> for JsonError {
    fn from(stopped: runtime::task::Stopped) -> Self {
        JsonError::Stopped(stopped)
    }
}
