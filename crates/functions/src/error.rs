//! What a function refuses, with SQL Server's number and text.

use std::fmt;

use types::TypeError;

/// An error of a function. What it ends is said by whoever runs the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionError {
    /// SQL Server's number.
    pub number: i32,
    pub severity: u8,
    pub state: u8,
    pub text: String,
}

impl FunctionError {
    #[cold]
    pub fn new(number: i32, severity: u8, text: impl Into<String>) -> FunctionError {
        FunctionError { number, severity, state: 1, text: text.into() }
    }

    /// The same with a state.
    pub fn with_state(mut self, state: u8) -> FunctionError {
        self.state = state;
        self
    }
}

/// 701.
#[cold]
pub fn no_memory() -> FunctionError {
    FunctionError::new(
        701,
        17,
        "There is insufficient system memory in resource pool 'default' to run this query.",
    )
}

impl From<TypeError> for FunctionError {
    #[cold]
    fn from(error: TypeError) -> FunctionError {
        FunctionError::new(error.number(), error.severity(), error.to_string())
            .with_state(error.state())
    }
}

impl From<runtime::task::Stopped> for FunctionError {
    #[cold]
    fn from(stopped: runtime::task::Stopped) -> FunctionError {
        FunctionError::new(stopped.number(), stopped.severity(), stopped.to_string())
    }
}

impl From<xml::XmlError> for FunctionError {
    #[cold]
    fn from(error: xml::XmlError) -> FunctionError {
        let severity = if error.number() == 701 { 17 } else { 16 };
        FunctionError::new(error.number(), severity, error.text())
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Msg {}, Level {}, State {}\n{}",
            self.number, self.severity, self.state, self.text
        )
    }
}

impl std::error::Error for FunctionError {}
