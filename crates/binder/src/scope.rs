//! Columns in sight: the scopes that names are looked for in, and what one SELECT has met so far.
//!
//! Scopes form a stack, innermost last; a name is looked for from the inside out, and an outer hit
//! makes the inner query correlated (nothing else marks it: column ids are unique in a statement).

use syntax::ast;
use types::SqlType;

use ir::*;

/// A column that a name can find.
#[derive(Debug, Clone)]
pub(crate) struct ScopeColumn {
    pub name: Option<String>,
    pub id: ColId,
    pub ty: SqlType,
    pub nullable: bool,
    pub identity: Option<catalog::Identity>,
    /// See [`OutputColumn::updatable`].
    pub updatable: bool,
    /// ROWGUIDCOL, of a table's own column.
    pub rowguid: bool,
}

impl ScopeColumn {
    pub fn is_named(&self, name: &str) -> bool {
        self.name.as_deref().is_some_and(|own| catalog::same_name(own, name))
    }

    /// Is meant by what it is marked as.
    pub fn is_marked(&self, name: &syntax::ast::Ident) -> bool {
        (self.identity.is_some() && (name.is("$identity") || name.is("identitycol")))
            || (self.rowguid && (name.is("$rowguid") || name.is("rowguidcol")))
    }
}

/// A source of FROM under the name it is exposed by.
#[derive(Debug, Clone)]
pub(crate) struct ScopeTable {
    /// Alias, or the table's own name.
    pub name: String,
    /// Of a table without alias: qualifiers may name it.
    pub schema: Option<String>,
    /// The table as FROM names it, for messages.
    pub shown: String,
    pub columns: Vec<ScopeColumn>,
}

/// A bound source and what names can find in it.
pub(crate) struct Source {
    pub rel: Rel,
    pub tables: Vec<ScopeTable>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub tables: Vec<ScopeTable>,
    pub place: Place,
}

/// Where the rows of a scope are seen, as far as it matters for aggregates of their columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    #[default]
    Other,
    /// On the right side of an APPLY, of which they are the left.
    Applied,
    /// In the condition of a join.
    On,
    /// In the SET of an UPDATE.
    Set,
    /// In the OUTPUT of a change.
    Output,
    /// In the condition of a clause of MERGE.
    MergeCondition(syntax::ast::MergeWhen),
}

impl Scope {
    pub fn of(tables: Vec<ScopeTable>) -> Scope {
        Scope { tables, place: Place::Other }
    }

    pub fn has(&self, id: ColId) -> bool {
        self.tables.iter().flat_map(|t| &t.columns).any(|c| c.id == id)
    }
}

/// A common table expression in sight.
#[derive(Debug, Clone)]
pub(crate) struct CteDef {
    pub cte: std::rc::Rc<ast::Cte>,
    /// How many of the list its query may see: those before it.
    pub visible: usize,
    /// How many scopes were open where it was written.
    pub scopes: usize,
}

/// The clause being bound, for what may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    SelectList,
    OrderBy,
    Having,
    Where,
    On,
    GroupBy,
    /// Outside a SELECT: SET, VALUES, IF ...
    Other,
}

/// One SELECT in progress: aggregates and window functions met so far.
#[derive(Debug)]
pub(crate) struct SelectState {
    /// How many scopes there are with its own, which is the last of them.
    pub depth: usize,
    pub clause: Clause,
    pub in_aggregate: bool,
    pub in_window: bool,
    pub aggs: Vec<Aggregate>,
    pub windows: Vec<Window>,
    /// The expressions grouped by, and the column that tells grouping sets apart.
    pub groups: Vec<Expr>,
    pub mask: Option<ColId>,
    /// The WINDOW clause.
    pub named: Vec<ast::NamedWindow>,
    /// The place in their order that rows have which take numbers of a sequence.
    pub numbered: Option<Expr>,
}

impl SelectState {
    pub fn new(depth: usize) -> SelectState {
        SelectState {
            depth,
            clause: Clause::Other,
            in_aggregate: false,
            in_window: false,
            aggs: Vec::new(),
            windows: Vec::new(),
            groups: Vec::new(),
            mask: None,
            named: Vec::new(),
            numbered: None,
        }
    }
}
