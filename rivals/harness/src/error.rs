//! Why a rival cannot be measured, and what to do about it.

use std::fmt;

/// What was wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RivalError {
    pub what: String,
    /// A sentence that tells what to do; empty when nobody can know.
    pub hint: String,
}

impl RivalError {
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> RivalError {
        RivalError { what: what.into(), hint: hint.into() }
    }

    /// Without advice.
    pub fn plain(what: impl Into<String>) -> RivalError {
        RivalError::new(what, "")
    }

    /// The same, told with what was being done.
    pub fn during(self, what: &str) -> RivalError {
        RivalError { what: format!("{what}: {}", self.what), ..self }
    }
}

impl fmt::Display for RivalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if !self.hint.is_empty() {
            write!(f, "\nwhat to do: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for RivalError {}
