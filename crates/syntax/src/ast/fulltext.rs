//! What full-text search is asked.

use super::{ColumnRef, Expr, Ident, ObjectName, Span};

/// CONTAINS and FREETEXT, as a condition or of the rows of CONTAINSTABLE and FREETEXTTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct Fulltext {
    /// FREETEXT; else CONTAINS.
    pub freetext: bool,
    /// Which columns.
    pub columns: FulltextColumns,
    /// What is looked for.
    pub condition: Expr,
    /// LANGUAGE.
    pub language: Option<Expr>,
    /// It yields the rank, NULL where it does not hold; else whether it does.
    pub ranks: bool,
    /// Where.
    pub span: Span,
}

/// Columns that are searched.
#[derive(Clone, Debug, PartialEq)]
pub enum FulltextColumns {
    /// These.
    Named(Vec<ColumnRef>),
    /// `*`, `t.*`: all that are indexed of the one table, or of the one that is named.
    All(Vec<Ident>),
    /// `PROPERTY (c, 'name')`, which needs a list of properties.
    Property,
}

/// CONTAINSTABLE and FREETEXTTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct FulltextRows {
    /// The table that is searched.
    pub table: ObjectName,
    /// What for.
    pub ask: Fulltext,
    /// So many rows of the best ranks.
    pub top: Option<Expr>,
    /// AS, or the word itself.
    pub alias: Ident,
    /// New column names; empty when none were given.
    pub columns: Vec<Ident>,
}
