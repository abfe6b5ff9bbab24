//! What a table's definition says in T-SQL (computed columns, CHECK constraints, filters of indexes), bound once.
//!
//! Promise: the expressions read a row of all the table's columns by slot, and nothing else: no variable, no query, no
//! other table. They were bound when the definition came to be, so binding them again does not fail; but for a rule, whose
//! type is known only at the column, so that one that does not go with it fails each change, as it does in SQL Server.

use std::sync::Arc;

use catalog::{ProcedureDef, RefAction, TableDef};
use ir::*;
use syntax::ast;
use types::SqlType;

use crate::context::{Binder, Frame, Scope, ScopeColumn, ScopeTable};
use semantics::names::Names;
use semantics::{BindError, Result};

/// The expressions of a table's definition, over the slots of a row of all its columns.
#[derive(Debug, Default)]
pub struct TableRules {
    /// (ordinal, value in the column's type).
    pub computed: Vec<(usize, Expr)>,
    /// (ordinal, what CREATE RULE asks of the value).
    pub bound: Vec<(usize, Expr)>,
    /// For each of the table's checks.
    pub checks: Vec<Expr>,
    /// For each of the table's indexes: its filter.
    pub filters: Vec<Option<Expr>>,
    /// (ordinal, default) of columns that a foreign key sets to their default.
    pub defaults: Vec<(usize, Expr)>,
}

/// The rules of a table, bound at the first call and kept with its definition; 4121 where they call functions of users.
pub fn rules_of(table: &TableDef) -> Result<Arc<TableRules>> {
    rules_with(table, &|_| None)
}

/// The same with the functions that the rules may call.
pub fn rules_with(table: &TableDef, functions: &FindFunction<'_>) -> Result<Arc<TableRules>> {
    table.compiled.get_or_make(|| bind(table, functions))
}

/// Finds a user-defined function.
pub type FindFunction<'a> = dyn Fn(&ObjectName) -> Option<Arc<ProcedureDef>> + 'a;

fn bind(table: &TableDef, functions: &FindFunction<'_>) -> Result<TableRules> {
    let frame = Frame::default();
    let names = FunctionNames(functions);
    let mut binder = Binder::new(&names, &frame, 1).under(table.database_collation);
    binder.note_row(table);
    let columns = table.columns.iter().map(|c| (&*c.name, c.ty, c.nullable)).collect::<Vec<_>>();
    // One row for all of them: a wide table may have a rule for each column.
    let mut row = vec![row_of(&table.name, &columns)];
    let mut rules = TableRules::default();
    for (ordinal, column) in table.columns.iter().enumerate() {
        if let Some(computed) = column.computed.as_ref().filter(|c| !c.volatile) {
            let parsed = parsed(&computed.text, syntax::parse_expression)?;
            let value = binder.over(&mut row, |b| b.expr(&parsed))?;
            let value = binder.store(value, column.ty, column.collation, ordinal)?;
            // Whoever reads the column takes it that its texts go by its collation.
            let value = binder.as_column(value, column);
            rules.computed.push((ordinal, over_slots(value)));
        }
    }
    for (ordinal, column) in table.columns.iter().enumerate() {
        let Some(rule) = &column.rule else { continue };
        let value = Expr::col(ColId(ordinal as u32), column.ty, true);
        let bound = binder.over(&mut row, |b| b.rule_over(rule, value))?;
        rules.bound.push((ordinal, over_slots(bound)));
    }
    for check in &table.checks {
        let parsed = parsed(&check.text, syntax::parse_condition)?;
        let bound = binder.over(&mut row, |b| b.condition(&parsed))?;
        rules.checks.push(over_slots(bound));
    }
    for index in &table.indexes {
        let filter = match &index.filter {
            None => None,
            Some(text) => {
                let parsed = parsed(text, syntax::parse_condition)?;
                // Its entries were chosen by what it says, whatever the page of the database lacks.
                let bound = binder.over(&mut row, |b| {
                    b.having(|b| &mut b.whole_literals, true, |b| b.condition(&parsed))
                })?;
                Some(over_slots(bound))
            }
        };
        rules.filters.push(filter);
    }
    let sets = |k: &&catalog::ForeignKeyDef| {
        k.on_delete == RefAction::SetDefault || k.on_update == RefAction::SetDefault
    };
    for key in table.foreign_keys.iter().filter(sets) {
        for ordinal in &key.columns {
            let value = binder.default_value(table, *ordinal)?;
            let column = &table.columns[*ordinal];
            let value = binder.store(value, column.ty, column.collation, *ordinal)?;
            rules.defaults.push((*ordinal, value));
        }
    }
    Ok(rules)
}

type Parse =
    fn(&str, &syntax::LexOptions) -> std::result::Result<ast::Expr, Vec<syntax::SyntaxError>>;

fn parsed(text: &str, parse: Parse) -> Result<ast::Expr> {
    parse(text, &syntax::LexOptions::default()).map_err(|errors| {
        let first = errors.into_iter().next();
        let (number, message) = first.map_or((102, String::new()), |e| (e.number, e.message));
        BindError::new(number, 15, 1, message)
    })
}

/// Columns by the ordinals that their ids are.
fn over_slots(mut expr: Expr) -> Expr {
    fn walk(e: &mut Expr) {
        match e.kind {
            ExprKind::Col(id) => e.kind = ExprKind::Slot(id.0),
            _ => e.for_each_child_mut(&mut walk),
        }
    }
    walk(&mut expr);
    expr
}

/// A row of these columns, whose ids are their ordinals.
pub(crate) fn row_of(table: &str, columns: &[(&str, SqlType, bool)]) -> ScopeTable {
    let column = |(i, (name, ty, nullable)): (usize, &(&str, SqlType, bool))| ScopeColumn {
        name: Some((*name).to_string()),
        id: ColId(i as u32),
        ty: *ty,
        nullable: *nullable,
        identity: None,
        updatable: false,
        rowguid: false,
    };
    ScopeTable {
        name: table.to_string(),
        schema: None,
        shown: table.to_string(),
        columns: columns.iter().enumerate().map(column).collect(),
    }
}

impl Binder<'_> {
    /// Binds over a row of these columns, whose ids are their ordinals; 1046 for a subquery.
    pub fn over_row(
        &mut self,
        table: &str,
        columns: &[(&str, SqlType, bool)],
        bind: impl FnOnce(&mut Self) -> Result<Expr>,
    ) -> Result<Expr> {
        self.breath.steps(columns.len())?;
        self.over(&mut vec![row_of(table, columns)], bind)
    }

    /// The same over a row that was made before, by [`row_of`].
    pub fn over(
        &mut self,
        row: &mut Vec<ScopeTable>,
        bind: impl FnOnce(&mut Self) -> Result<Expr>,
    ) -> Result<Expr> {
        let scope = Scope::of(std::mem::take(row));
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let selects = std::mem::take(&mut self.selects);
        let bound = self.in_definition(bind);
        let within = std::mem::replace(&mut self.scopes, scopes);
        *row = within.into_iter().next().map(|scope| scope.tables).unwrap_or_default();
        self.selects = selects;
        let bound = bound?;
        if bound.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. })) {
            let text =
                "Subqueries are not allowed in this context. Only scalar expressions are allowed.";
            return Err(BindError::new(1046, 15, self.line, text));
        }
        Ok(bound)
    }
}

/// Rules name nothing outside of their table but functions.
struct FunctionNames<'a>(&'a FindFunction<'a>);

impl Names for FunctionNames<'_> {
    fn function(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        (self.0)(name)
    }
    fn version(&self) -> u64 {
        0
    }
    fn table(&self, _: &ObjectName) -> Option<Arc<TableDef>> {
        None
    }
    fn system_view(&self, _: &ObjectName) -> Option<Arc<SystemView>> {
        None
    }
    fn database(&self) -> String {
        String::new()
    }
}
