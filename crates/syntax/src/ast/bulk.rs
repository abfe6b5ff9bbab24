//! Rows from elsewhere: BULK INSERT reads a file of the server, INSERT BULK announces rows that a client sends.

use super::*;

/// BULK INSERT.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkInsert {
    /// A table or view.
    pub table: ObjectName,
    /// The file.
    pub from: String,
    /// In the order of the text; none comes twice.
    pub options: Vec<BulkOption>,
    /// ORDER (column [ASC | DESC], ...).
    pub order: Vec<IndexColumn>,
}

impl BulkInsert {
    /// Whether an option is there.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|o| o.name == name)
    }

    /// An option that is a text, or a number where it may be either.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|o| o.name == name).and_then(|o| o.text.as_deref())
    }

    /// An option that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

/// `NAME`, `NAME = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkOption {
    /// In upper case.
    pub name: String,
    /// A text, or the digits of a number.
    pub text: Option<String>,
}

/// INSERT BULK.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertBulk {
    /// The table.
    pub table: ObjectName,
    /// Columns whose values follow, with the types they come in; none: all of the table's.
    pub columns: Vec<(Ident, TypeName)>,
    /// KEEP_NULLS, TABLOCK ...: upper case; their values are of no consequence.
    pub options: Vec<String>,
    /// ORDER (column [ASC | DESC], ...).
    pub order: Vec<IndexColumn>,
}
