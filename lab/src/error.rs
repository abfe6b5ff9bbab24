//! Why an experiment has no figures.

use std::fmt;
use std::path::PathBuf;

/// Why an experiment ended without figures.
#[derive(Debug)]
pub enum LabError {
    /// The options contradict each other.
    Options(String),
    /// A file in the folder.
    Io(std::io::Error),
    /// The folder for the data, or for the report.
    Folder { folder: PathBuf, error: std::io::Error },
    /// Ctrl-C. What was measured before it stands.
    Interrupted,
    /// The sessions ended before the window began.
    NoWindow,
    /// The engine does not open.
    Open(String),
    /// T-SQL failed; SQL Server's number and the text.
    Sql { number: i32, text: String, batch: String },
    /// The table does not hold what was acknowledged.
    Lost { acknowledged: u64, found: u64 },
    /// A load that checks itself has found what a correct server never shows.
    Wrong(Vec<String>),
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
            LabError::Folder { folder, error } => write!(
                f,
                "{}: {error}; give a folder that can be written to (--data for the database, --out for the report)",
                folder.display()
            ),
            LabError::Interrupted => write!(f, "ended by Ctrl-C"),
            LabError::NoWindow => write!(f, "the sessions ended before the window began"),
            LabError::Open(what) => write!(f, "{what}"),
            LabError::Sql { text, batch, .. } => write!(f, "{text}\nwhile running: {batch}"),
            LabError::Lost { acknowledged, found } => write!(
                f,
                "the run is void: {acknowledged} rows were acknowledged, the table holds {found}"
            ),
            LabError::Wrong(what) => write!(f, "the run is void: {}", what.join("; ")),
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
