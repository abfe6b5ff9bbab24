//! What a change of tables changes in an indexed view: a query over the changed rows.

use std::sync::Arc;

use catalog::TableDef;

use super::query::Query;

/// A view's query over changed rows.
pub struct ViewChange {
    pub query: Query,
    /// For each of the tables given: the table variable whose rows stand for its.
    pub changed: Vec<Arc<TableDef>>,
    /// Each table of the view, and the columns of it that the query reads.
    pub used: Vec<(Arc<TableDef>, Vec<usize>)>,
    /// Of a view with GROUP BY: what each output column is.
    pub parts: Vec<ViewPart>,
}

/// What an output column of an indexed view with GROUP BY is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPart {
    Group,
    /// COUNT_BIG(*).
    Count,
    Sum,
}
