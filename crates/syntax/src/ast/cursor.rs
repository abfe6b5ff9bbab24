//! Cursors.

use super::{Expr, Ident, Query, Variable};

/// A cursor by its name or through a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorName {
    /// `[GLOBAL] name`.
    Name {
        /// Its name.
        name: Ident,
        /// GLOBAL.
        global: bool,
    },
    /// `@c`.
    Variable(Variable),
}

/// DECLARE name CURSOR.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareCursor {
    /// Its name.
    pub name: Ident,
    /// The rest.
    pub definition: CursorDefinition,
}

/// What stands behind CURSOR, in DECLARE and in SET.
#[derive(Clone, Debug, PartialEq)]
pub struct CursorDefinition {
    /// Upper case, those before CURSOR (INSENSITIVE, SCROLL) first.
    pub options: Vec<String>,
    /// What it walks over.
    pub query: Box<Query>,
    /// FOR READ ONLY.
    pub read_only: bool,
    /// FOR UPDATE, and the columns of OF; none: all.
    pub update: Option<Vec<Ident>>,
}

/// FETCH.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Where to.
    pub direction: FetchDirection,
    /// Of which cursor.
    pub cursor: CursorName,
    /// INTO; none: to the client.
    pub into: Vec<Variable>,
}

/// Where FETCH goes.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum FetchDirection {
    Next,
    Prior,
    First,
    Last,
    /// From the start, or for a negative number from the end, of the rows.
    Absolute(Expr),
    /// From the present row.
    Relative(Expr),
}

/// What else is done with a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum CursorVerb {
    Open,
    Close,
    Deallocate,
}
