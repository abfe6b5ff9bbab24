//! What a binder notes down of its statement for one part of it to find again.
//!
//! Plain data: whoever fills or reads a note says how in a file of his own ([`crate::collate`], [`crate::browse`],
//! [`crate::versions`], [`crate::recursive`], [`crate::xml`]).

use std::collections::HashMap;
use std::sync::Arc;

use catalog::TableDef;
use ir::*;
use types::SqlType;
use types::collation::{Collation, Rule};
use xml::{Given, NodeType, Typing};
use xml_schema::Schema;

use crate::scope::ScopeColumn;

/// Columns with a collation of their own.
pub(crate) type Collated = HashMap<ColId, Label>;

/// The collation of an expression, where it is not just the database's.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub rule: Rule,
    pub name: String,
    pub explicit: bool,
    /// Two implicit ones met.
    pub conflict: Option<String>,
    /// Its values do not carry the rule.
    pub bare: bool,
}

/// The collation of the database whose text is bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usual {
    pub collation: Collation,
    /// Its rule where a text has to be given it: none for [`Rule::CiAs`], which texts go by anyway.
    pub rule: Option<Rule>,
}

impl Usual {
    pub fn of(collation: Collation) -> Usual {
        let rule = Some(collation).filter(|c| *c != Collation::default()).map(Collation::rule);
        Usual { collation, rule: rule.filter(|rule| *rule != Rule::CiAs) }
    }
}

/// A table that is read.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub table: Arc<TableDef>,
    /// The id of its first column; the others follow.
    pub first: u32,
    /// When it is not the current one.
    pub database: Option<Box<str>>,
}

impl Base {
    /// The place among the table's columns.
    pub fn place_of(&self, id: ColId) -> Option<usize> {
        let place = id.0.checked_sub(self.first)? as usize;
        (place < self.table.columns.len()).then_some(place)
    }

    /// The columns that find a row: of the primary key, or of a unique one that has no NULL.
    pub fn key(&self) -> Vec<usize> {
        let columns = &self.table.columns;
        let whole = |key: &[(usize, bool)]| key.iter().all(|(at, _)| !columns[*at].nullable);
        let primary = self.table.primary_key.iter().map(|key| &key.columns);
        let private = self.table.unique.iter().map(|key| &key.columns);
        let usable = |i: &&catalog::IndexDef| i.unique && i.filter.is_none() && !i.disabled;
        let indexes = self.table.indexes.iter().filter(usable).map(|index| &index.columns);
        let mut keys = primary.chain(private).chain(indexes).filter(|key| whole(key));
        keys.next().map_or_else(Vec::new, |key| key.iter().map(|(at, _)| *at).collect())
    }

    pub fn parts(&self) -> Vec<String> {
        let name = self.table.name.to_string();
        if self.table.is_private() {
            return vec![name];
        }
        let database = self.database.iter().map(|name| name.to_string());
        database.chain([self.table.schema.to_string(), name]).collect()
    }
}

/// What a column in sight is of a view or inline function.
#[derive(Debug, Clone)]
pub(crate) struct Exposed {
    pub of: Arc<Through>,
    pub ordinal: usize,
    /// The name that finds it.
    pub name: Box<str>,
}

/// A FOR SYSTEM_TIME whose moments are bound.
#[derive(Debug, Clone)]
pub(crate) enum Moments {
    All,
    AsOf(Expr),
    FromTo(Expr, Expr),
    Between(Expr, Expr),
    ContainedIn(Expr, Expr),
}

/// Levels below the anchor unless OPTION (MAXRECURSION n) says otherwise.
pub(crate) const MAXRECURSION: u32 = 100;

/// The recursion whose step is being bound.
pub(crate) struct Recursion {
    pub name: String,
    pub columns: Vec<ScopeColumn>,
    /// References met in the present member.
    pub used: usize,
    /// How deep in subqueries the members stand.
    pub subqueries: usize,
}

impl Recursion {
    /// The column belongs to the row that the step goes on from.
    pub fn has(&self, id: ColId) -> bool {
        self.columns.iter().any(|c| c.id == id)
    }
}

/// What is known of xml that a query is asked of: its schemas, what `/` is and what `.` may be.
#[derive(Clone, Debug)]
pub(crate) struct KnownXml {
    schema: Option<Arc<Schema>>,
    root: NodeType,
    pub context: Vec<NodeType>,
}

impl KnownXml {
    pub fn of(value: &Expr, nodes: &HashMap<ColId, KnownXml>) -> KnownXml {
        if let ExprKind::Col(id) = &value.kind
            && let Some(known) = nodes.get(id)
        {
            return known.clone();
        }
        let typed = match value.ty {
            SqlType::TypedXml { schema, document } => {
                xml_schema::current(schema).map(|schema| (schema, document))
            }
            _ => None,
        };
        let (schema, root) = match typed {
            Some((schema, document)) => (Some(schema), NodeType::Document(document)),
            None => (None, NodeType::Unknown),
        };
        KnownXml { schema, root, context: vec![root] }
    }

    pub fn given(&self) -> Given<'_> {
        let typing = self.schema.as_deref().map(|schema| schema as &dyn Typing);
        Given { typing, root: self.root, context: &self.context }
    }
}

/// What the columns of a SELECT tell of the tables behind them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Browsing {
    #[default]
    No,
    /// Their names, as a driver's cursor tells them.
    Names,
    /// Their names, and the keys, which are added to the result where the list lacks them: browse mode.
    Keys,
}
