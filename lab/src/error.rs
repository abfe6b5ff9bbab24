//! Why an experiment has no figures.

use std::fmt;

/// Why an experiment ended without figures.
#[derive(Debug)]
pub enum LabError {
    /// The options contradict each other.
    Options(String),
    /// The folder or a file in it.
    Io(std::io::Error),
    /// The engine does not open.
    Open(String),
    /// T-SQL failed; SQL Server's number and the text.
    Sql { number: i32, text: String, batch: String },
    /// The table does not hold what was acknowledged.
    Lost { acknowledged: u64, found: u64 },
    /// A session panicked.
    Panicked(String),
    /// The server cannot be reached, or the connection broke.
    Connection(String),
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Options(what) => write!(f, "{what}"),
            LabError::Io(error) => write!(f, "the data folder: {error}"),
            LabError::Open(what) => write!(f, "{what}"),
            LabError::Sql { text, batch, .. } => write!(f, "{text}\nwhile running: {batch}"),
            LabError::Lost { acknowledged, found } => write!(
                f,
                "the run is void: {acknowledged} rows were acknowledged, the table holds {found}"
            ),
            LabError::Panicked(what) => write!(f, "a session panicked: {what}"),
            LabError::Connection(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for LabError {}

impl From<std::io::Error> for LabError {
    fn from(error: std::io::Error) -> Self {
        LabError::Io(error)
    }
}

impl From<client::ClientError> for LabError {
    fn from(error: client::ClientError) -> Self {
        LabError::Connection(error.to_string())
    }
}
