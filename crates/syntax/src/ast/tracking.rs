//! Change tracking: what ALTER DATABASE says of it, and CHANGETABLE.

use super::{Expr, Ident, ObjectName, Span};

/// ALTER DATABASE SET CHANGE_TRACKING = ON (...) | = OFF | (...).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeTracking {
    /// ON, OFF, or only the options.
    pub on: Option<bool>,
    /// CHANGE_RETENTION.
    pub retention: Option<ChangeRetention>,
    /// AUTO_CLEANUP.
    pub auto_cleanup: Option<bool>,
}

/// How long changes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRetention {
    /// How many; with the unit at most 2147483647 minutes.
    pub number: i32,
    /// Of what.
    pub unit: RetentionUnit,
}

/// What CHANGE_RETENTION counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum RetentionUnit {
    Minutes,
    Hours,
    Days,
}

/// `CHANGETABLE (CHANGES t, version) AS c (a, b)`, `CHANGETABLE (VERSION t, (k), (1)) AS c`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeTable {
    /// The table whose changes are told.
    pub table: ObjectName,
    /// Which of them.
    pub of: ChangesOf,
    /// AS (SQL Server insists on one; the parser too).
    pub alias: Ident,
    /// New column names; empty when none were given.
    pub columns: Vec<Ident>,
    /// Where.
    pub span: Span,
}

/// Which changes CHANGETABLE tells.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangesOf {
    /// CHANGES: those after a version, which is a constant or a variable.
    After(Expr),
    /// VERSION: the last one of the row of this key.
    Row {
        /// Columns of the key.
        columns: Vec<Ident>,
        /// Their values.
        values: Vec<Expr>,
    },
}
