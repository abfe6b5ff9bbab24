//! Tables as a statement reaches them: straight or through views and inline functions, whole or by some of their columns.
//!
//! Ownership chaining: along procedure, views and table a right is asked for only where the owner changes. What was
//! granted or denied on single columns counts where there is such a thing; else the table, view or function is asked for as
//! a whole, and nobody looks which columns a statement mentions.

use crate::Commands;
use catalog::{ProcedureDef, TableDef};
use executor::{SqlError, SqlMessage};
use ir::{ColId, ColumnUse, Expr, ExprKind, Rel, StmtKind, SubqueryKind, SystemView, Through};
use security::{Permission, Target};
use session_state::target_in;
use std::collections::HashSet;

/// A table, what is done with it, and how it is reached.
pub(crate) struct Reached<'a> {
    pub permission: Permission,
    pub table: &'a TableDef,
    /// The innermost view on the way.
    pub through: Option<&'a Through>,
    pub columns: Columns<'a>,
}

/// Which columns of a table a permission is asked for.
pub(crate) enum Columns<'a> {
    /// There is none for columns.
    Whole,
    /// By ordinal.
    These(Vec<usize>),
    /// Ids of all, by ordinal: those that the statement mentions.
    Read(&'a [ColId]),
}

/// An object that a permission is asked for.
struct Asked<'a> {
    target: Target,
    name: &'a str,
    schema: &'a str,
    columns: Vec<&'a str>,
}

/// What a statement mentions, found out when somebody asks.
pub(crate) enum Mentioned<'a> {
    Statement(&'a StmtKind),
    Expr(&'a Expr),
}

impl<'a> Mentioned<'a> {
    pub fn by_statement(kind: &'a StmtKind) -> Mentioned<'a> {
        Mentioned::Statement(kind)
    }

    pub fn by_expr(expr: &'a Expr) -> Mentioned<'a> {
        Mentioned::Expr(expr)
    }

    /// Those of an object's columns, by ordinal.
    fn among(&self, all: &[ColId]) -> Vec<usize> {
        let ids = self.ids();
        (0..all.len()).filter(|ordinal| ids.contains(&all[*ordinal])).collect()
    }

    fn ids(&self) -> HashSet<ColId> {
        let mut ids = HashSet::new();
        match self {
            Mentioned::Expr(expr) => in_expr(expr, &mut ids),
            Mentioned::Statement(kind) => {
                ir::masking::each_rel(kind, &mut |rel| in_rel(rel, &mut ids));
                ir::masking::each_value(kind, &mut |expr| in_expr(expr, &mut ids));
                if let StmtKind::Select(select) = kind {
                    ids.extend(select.query.output.iter().map(|column| column.id));
                }
                if let StmtKind::Cursor(cursor) = kind
                    && let ir::CursorStmt::Declare { definition, .. }
                    | ir::CursorStmt::Set { definition, .. } = &**cursor
                {
                    ids.extend(definition.query.output.iter().map(|column| column.id));
                }
            }
        }
        ids
    }
}

/// Whatever an operator takes of its inputs.
fn in_rel(rel: &Rel, ids: &mut HashSet<ColId>) {
    match rel {
        Rel::SetOp { left_columns, right_columns, .. } => {
            ids.extend(left_columns.iter().chain(right_columns));
        }
        Rel::Recursive { anchor_columns, step_columns, .. } => {
            ids.extend(anchor_columns.iter().chain(step_columns));
        }
        Rel::Distinct { over, .. } => ids.extend(over),
        Rel::Serialize { columns, .. } => ids.extend(columns),
        _ => {}
    }
    rel.own_exprs(&mut |expr| in_expr(expr, ids));
    rel.inputs().into_iter().for_each(|input| in_rel(input, ids));
}

fn in_expr(expr: &Expr, ids: &mut HashSet<ColId>) {
    match &expr.kind {
        ExprKind::Col(id) => {
            ids.insert(*id);
        }
        ExprKind::Subquery { query, kind, .. } => {
            in_rel(&query.rel, ids);
            // What EXISTS selects is not read.
            if !matches!(kind, SubqueryKind::Exists) {
                ids.extend(query.output.iter().map(|column| column.id));
            }
        }
        _ => {}
    }
    expr.for_each_child(&mut |child| in_expr(child, ids));
}

impl Commands<'_> {
    /// 229, 230. `chain` is the owner of the procedure whose statement it is.
    pub(crate) fn check_reached(
        &mut self,
        reached: &Reached<'_>,
        mentioned: &Mentioned<'_>,
        mut chain: Option<i32>,
    ) -> Result<(), SqlError> {
        let Reached { permission, table, .. } = reached;
        let mut way: Vec<&Through> = Vec::new();
        let mut next = reached.through;
        while let Some(module) = next {
            way.push(module);
            next = module.outer.as_deref();
        }
        let access = self.state.identity.access().clone();
        for module in way.into_iter().rev() {
            let target = target_in(&access, module.object_id, &module.schema);
            let owner = access.owner(target);
            if chain.is_none() || chain != owner {
                let known = module.columns();
                let columns = known.iter().map(|column| &*column.name).collect();
                let asked = Asked { target, name: &module.name, schema: &module.schema, columns };
                let whole = matches!(reached.columns, Columns::Whole);
                self.check_asked(*permission, &asked, whole, || match permission {
                    Permission::Update => module.used(ColumnUse::Written),
                    _ => module.used(ColumnUse::Read),
                })?;
            }
            chain = owner;
        }
        let target = self.table_target(table);
        // A view that a trigger stands in for is private too, and has an id of the database.
        let own = table.is_private() && table.object_id < 0;
        let chained = chain.is_some() && chain == access.owner(target);
        if own || chained || catalog::is_global_name(&table.name) {
            return Ok(());
        }
        let columns = table.columns.iter().map(|column| &*column.name).collect();
        let asked = Asked { target, name: &table.name, schema: &table.schema, columns };
        let whole = matches!(reached.columns, Columns::Whole);
        self.check_asked(*permission, &asked, whole, || match &reached.columns {
            Columns::Whole => Vec::new(),
            Columns::These(ordinals) => ordinals.clone(),
            Columns::Read(all) => mentioned.among(all),
        })
    }

    /// SELECT of the rows of a function with statements: 229, 230.
    pub(crate) fn check_rows(
        &self,
        function: &ProcedureDef,
        view: &SystemView,
        all: &[ColId],
        mentioned: &Mentioned<'_>,
    ) -> Result<(), SqlError> {
        let target = target_in(self.state.identity.access(), function.object_id, &function.schema);
        let columns = view.columns.iter().map(|column| &*column.name).collect();
        let asked = Asked { target, name: &function.name, schema: &function.schema, columns };
        self.check_asked(Permission::Select, &asked, false, || mentioned.among(all))
    }

    /// Asks for an object as a whole, or for the columns of it that are wanted: 229, 230.
    fn check_asked(
        &self,
        permission: Permission,
        asked: &Asked<'_>,
        whole: bool,
        wanted: impl FnOnce() -> Vec<usize>,
    ) -> Result<(), SqlError> {
        let access = self.state.identity.access();
        let denied = || Err(self.denied(permission, asked.name, asked.schema));
        let Target::Object { id, schema, .. } = asked.target else { return denied() };
        if whole || !access.has_column_grants(permission, id) {
            return if access.allows(permission, asked.target) { Ok(()) } else { denied() };
        }
        let may = |ordinal: usize| {
            access.allows(permission, Target::Column { id, schema, column: ordinal as i32 + 1 })
        };
        if !(0..asked.columns.len()).any(may) {
            return denied();
        }
        let refused = wanted().into_iter().filter(|ordinal| !may(*ordinal)).map(|ordinal| {
            let text = format!(
                "The {} permission was denied on the column '{}' of the object '{}', database '{}', schema '{}'.",
                permission.name(),
                asked.columns[ordinal],
                asked.name,
                self.state.database.name,
                asked.schema
            );
            SqlError::new(230, 14, text)
        });
        // Each of them is told.
        let mut refused: Vec<SqlError> = refused.collect();
        let Some(last) = refused.pop() else { return Ok(()) };
        let ahead = |error: &SqlError| SqlMessage { line: 0, ..error.to_message() };
        Err(last.with_ahead(refused.iter().map(ahead).collect()))
    }
}
