//! What statements that reach beyond a database hand to the [`crate::Host`], and what it answers: media of backups, facts
//! of files.

use executor::ColumnMeta;
use types::Value;

/// What a BACKUP or RESTORE names, as values.
#[derive(Debug, Clone, Default)]
pub struct MediaOrder {
    /// The database; empty where none is named.
    pub database: String,
    /// TO or FROM DISK.
    pub devices: Vec<String>,
    /// By name, in upper case: value, and TO of MOVE.
    pub options: Vec<(String, Option<Value>, Option<String>)>,
    /// Who asks.
    pub user: String,
}

impl MediaOrder {
    /// Whether an option is there.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(n, _, _)| n == name)
    }

    /// An option's value.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.options.iter().find(|(n, _, _)| n == name).and_then(|(_, v, _)| v.as_ref())
    }

    /// The same as a text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.value(name).and_then(Value::as_str).map(str::to_owned)
    }
}

/// Rows that a RESTORE of the reading kind answers.
pub struct MediaRows {
    pub columns: Vec<ColumnMeta>,
    pub rows: Vec<Vec<Value>>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathFacts {
    pub is_file: bool,
    pub is_folder: bool,
    pub has_parent: bool,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name alone.
    pub name: String,
    /// To look into it.
    pub path: String,
    pub is_folder: bool,
}
