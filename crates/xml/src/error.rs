//! What may be wrong with a text or a query, with SQL Server's numbers (Database Engine events and errors, 2200 on, 6300
//! on, 9300 on, 9400 on).

use std::fmt;

/// An error that carries SQL Server's number and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlError {
    number: i32,
    text: String,
}

impl XmlError {
    /// An error of that number.
    pub fn new(number: i32, text: impl Into<String>) -> XmlError {
        XmlError { number, text: text.into() }
    }

    /// 6335: more than [`crate::DEPTH_MAX`] levels.
    pub(crate) fn too_deep() -> XmlError {
        XmlError::new(
            6335,
            "XML datatype instance has too many levels of nested nodes. Maximum allowed depth is 128 levels.",
        )
    }

    /// SQL Server's message number; 40510 for what this engine does not do.
    pub fn number(&self) -> i32 {
        self.number
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for XmlError {}

impl From<runtime::task::Stopped> for XmlError {
    #[cold]
    fn from(stopped: runtime::task::Stopped) -> Self {
        XmlError::new(stopped.number(), stopped.to_string())
    }
}

/// What an XQuery does wrong. The text lacks its beginning `XQuery [table.column.method()]: `, which the caller knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// A rule of XQuery that it breaks.
    Wrong {
        /// SQL Server's message number.
        number: i32,
        /// The text behind the place.
        text: String,
    },
    /// What SQL Server does and this crate does not, by name.
    Unsupported(String),
}

impl QueryError {
    pub(crate) fn new(number: i32, text: impl Into<String>) -> QueryError {
        QueryError::Wrong { number, text: text.into() }
    }

    /// 2389: something that may be several where one is wanted.
    pub(crate) fn singleton(who: &str, found: &str) -> QueryError {
        let text = format!(
            "'{who}' requires a singleton (or empty sequence), found operand of type '{found} *'"
        );
        QueryError::new(2389, text)
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Wrong { text, .. } => f.write_str(text),
            QueryError::Unsupported(what) => write!(f, "{what} is not supported"),
        }
    }
}

impl std::error::Error for QueryError {}
