//! Cursors: what a program says about them. Where they stand is the session's affair.

use super::expr::{Expr, VarId};
use super::query::Query;

/// A cursor by name, or in a cursor variable by its number among the program's.
#[derive(Debug, Clone, PartialEq)]
pub enum CursorRef {
    Name {
        name: String,
        global: bool,
    },
    Variable(u16),
    /// The one that FETCH moves; its tables go by their places among the targets.
    Fetched,
}

/// A statement about a cursor.
#[derive(Debug, Clone)]
pub enum CursorStmt {
    /// DECLARE name CURSOR; `local`: of this batch or procedure.
    Declare {
        name: String,
        local: bool,
        definition: CursorDef,
    },
    /// SET @c = CURSOR ...
    Set {
        variable: u16,
        definition: CursorDef,
    },
    /// SET @c = other
    Assign {
        variable: u16,
        from: CursorRef,
    },
    Open(CursorRef),
    Close(CursorRef),
    Deallocate(CursorRef),
    Fetch {
        cursor: CursorRef,
        direction: FetchDirection,
        into: Vec<VarId>,
    },
}

/// Where FETCH goes; the numbers are bigint.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchDirection {
    Next,
    Prior,
    First,
    Last,
    Absolute(Expr),
    Relative(Expr),
}

/// What a cursor walks over.
#[derive(Debug, Clone)]
pub struct CursorDef {
    /// Its output is the cursor's columns, and behind them those that `targets` name.
    pub query: Query,
    /// Of a KEYSET or DYNAMIC cursor whose rows can be found again: the row that it stands on, as it is now.
    pub again: Option<Query>,
    /// How many columns are shown.
    pub visible: usize,
    /// Tables whose rows it shows as they are.
    pub targets: Vec<CursorTarget>,
    /// OPTIMISTIC: what somebody else has changed since FETCH is not changed through it (16934).
    pub optimistic: bool,
    pub kind: CursorKind,
    /// Any FETCH, not only NEXT.
    pub scroll: bool,
    /// WHERE CURRENT OF is refused: 16929.
    pub read_only: bool,
    /// FOR UPDATE OF: the columns that may be changed (16932); empty: all.
    pub update_of: Vec<String>,
}

/// A table among those of a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorTarget {
    pub table: i32,
    /// Position of the row's locator in the query's output.
    pub locator: usize,
    /// Ordinals of the clustered key's columns, and their positions in the output.
    pub key: Vec<(usize, usize)>,
    /// Positions in the output of `again` of the columns by which a change by others is known.
    pub watched: Vec<usize>,
}

/// As CURSOR_STATUS and @@CURSOR_ROWS tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorKind {
    Static,
    Keyset,
    Dynamic,
    FastForward,
}
