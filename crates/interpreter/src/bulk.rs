//! Bulk loads: rows that come from elsewhere, a file of the server (BULK INSERT) or a client (INSERT BULK).
//!
//! ```text
//! file.rs    file -> bulk_file::Rows -> Source: fields as values of columns -\
//! client.rs  what was announced + values as they came --------------------------> Loading: the INSERT of both
//! ```
//!
//! Promises: the target is what an `INSERT target (columns) EXEC ...` would take, so views, defaults, policies and
//! permissions are INSERT's own; the rows of a batch are one statement and stand or fall together; triggers fire once
//! for all of them, and only by FIRE_TRIGGERS; without CHECK_CONSTRAINTS, CHECK constraints and foreign keys are passed
//! over and not trusted from then on; a NULL for a column with a DEFAULT becomes the default unless nulls are kept; rows
//! that are said to come in the order of the clustered key do, or the load ends (sorted.rs).

mod client;
mod fields;
mod file;
mod rejects;
mod sorted;
mod source;

pub use client::{BulkRows, announce_bulk, is_insert_bulk, load_bulk};

use crate::vm::Vm;
use catalog::{ColumnDef, ObjectRef, TableDef};
use engine::InsertHint;
use executor::{ResultSink, SqlError};
use ir::ObjectName;
use ir::{Expr, ExprKind, OutputColumn, StmtKind};
use planner::{InsertPlan, InsertSource};
use session_state::Halted;
use session_state::SessionNames;
use session_state::SessionState;
use session_state::bind_error;
use std::sync::Arc;
use syntax::ast::bracketed;
use types::{Collation, SqlType, Value};

/// A column of the target, as `SELECT *` has it.
struct Column {
    name: Box<str>,
    ty: SqlType,
    collation: Collation,
    nullable: bool,
    is_identity: bool,
    /// Computed, or a rowversion: no value can be given.
    is_made: bool,
}

/// What a load is told to do other than an INSERT.
struct Rules<'a> {
    /// As errors name the statement.
    statement: &'static str,
    /// The target.
    table: &'a syntax::ast::ObjectName,
    /// NULL is NULL, where there is a default too.
    keeps_nulls: bool,
    checks_constraints: bool,
    fires_triggers: bool,
    locks_table: bool,
}

/// A load that has been planned.
struct Loading {
    plan: InsertPlan,
    checked: bool,
    hint: InsertHint,
    /// For each column that takes values: NULL becomes something else.
    has_default: Vec<bool>,
}

impl Loading {
    /// Inserts what `next` gives, until it has no more: a statement. Suspends.
    fn insert(
        &mut self,
        vm: &mut Vm<'_>,
        next: &mut dml::NextRow<'_>,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<u64, Halted> {
        let Loading { plan, checked, hint, .. } = self;
        let InsertSource::Exec { row, .. } = &plan.source else {
            stdx::fatal!("rows from elsewhere are inserted as those of a procedure");
        };
        let stream = |cx: &mut executor::Cx<'_>, sink: &mut dyn ResultSink| {
            dml::insert_stream(plan, row, next, *checked, hint, &mut cx.reborrow(), sink)
        };
        let count = match plan.fires.clone() {
            Some(fires) => vm.with_triggers(&fires, &plan.table, &[], frame, guarded, stream),
            None => vm.in_statement(frame, stream).map_err(Halted::from),
        };
        match count {
            Err(Halted::Error(error)) if error.stale => {
                let text = "Bulk insert failed due to a schema change of the target table.";
                Err(SqlError::new(4892, 16, text).into())
            }
            other => other,
        }
    }
}

impl Vm<'_> {
    /// The columns of a target; 208.
    fn bulk_columns(&mut self, rules: &Rules<'_>) -> Result<Vec<Column>, SqlError> {
        let text = format!("SELECT * FROM {}", rules.table.to_text());
        let (code, _) = self.compile_text(&text, None)?;
        let StmtKind::Select(select) = self.bound(&code, 0)? else {
            return Err(SqlError::unsupported(format!("{} into this", rules.statement)));
        };
        let table = find_table(self.state, &ObjectName::from(rules.table));
        let column = |column: &OutputColumn| {
            let name = column.name.as_deref().unwrap_or_default();
            let def = table.as_ref().and_then(|t| t.column(name).map(|i| &t.columns[i]));
            Column {
                name: name.into(),
                ty: column.ty,
                collation: column.collation,
                nullable: column.nullable,
                is_identity: def.map_or(column.identity.is_some(), |c| c.identity.is_some()),
                is_made: def.is_some_and(ColumnDef::is_made),
            }
        };
        Ok(select.query.output.iter().map(column).collect())
    }

    /// The sparse columns of a target with a column set, which `SELECT *` shows in their place: a load may name them.
    fn sparse_columns(&self, rules: &Rules<'_>) -> Vec<Column> {
        let Some(table) = find_table(self.state, &ObjectName::from(rules.table)) else {
            return Vec::new();
        };
        let column = |def: &ColumnDef| Column {
            name: def.name.clone(),
            ty: def.ty,
            collation: def.collation,
            nullable: def.nullable,
            is_identity: false,
            is_made: def.is_made(),
        };
        let is_in_set = table.is_in_set();
        table.columns.iter().filter(|def| is_in_set(def)).map(column).collect()
    }

    /// Plans a load that is to run now: constraints that it passes over are not trusted from here on.
    fn open_bulk(
        &mut self,
        rules: &Rules<'_>,
        columns: &[&Column],
        frame: &mut [Value],
    ) -> Result<Loading, SqlError> {
        if !columns.is_empty() && !rules.checks_constraints {
            self.distrust(rules, frame)?;
        }
        self.plan_bulk(rules, columns, frame)
    }

    /// Plans the INSERT of these columns. Changes nothing.
    fn plan_bulk(
        &mut self,
        rules: &Rules<'_>,
        columns: &[&Column],
        frame: &mut [Value],
    ) -> Result<Loading, SqlError> {
        let into = rules.statement;
        if columns.is_empty() {
            let text = format!("{into} without a column that takes a value");
            return Err(SqlError::unsupported(text));
        }
        let names: Vec<String> = columns.iter().map(|c| bracketed(&c.name)).collect();
        let hint = if rules.locks_table { " WITH (TABLOCK)" } else { "" };
        let target = rules.table.to_text();
        let text = format!("INSERT {target}{hint} ({}) EXEC [-]", names.join(", "));
        let (code, _) = self.compile_text(&text, None)?;
        let bound = self.bound(&code, 0)?;
        if self.state.identity.is_limited() {
            self.commands().check_statement(&bound, code.object_id)?;
        }
        let StmtKind::Insert(mut insert) = bound else {
            stdx::fatal!("an INSERT is bound as one");
        };
        let has_constraints =
            !insert.table.checks.is_empty() || !insert.table.foreign_keys.is_empty();
        let unchecked = has_constraints && !rules.checks_constraints;
        let silent = insert.fires.is_some() && !rules.fires_triggers;
        if unchecked || silent || columns.iter().any(|c| c.is_identity) {
            self.commands().check_alter(&insert.table)?;
        }
        if !rules.fires_triggers {
            let stands_in = |fires: &ir::Fires| fires.instead.is_some();
            if insert.table.is_private() && insert.fires.as_deref().is_some_and(stands_in) {
                return Err(SqlError::unsupported(format!(
                    "{into} without FIRE_TRIGGERS into a view with an INSTEAD OF trigger"
                )));
            }
            insert.fires = None;
        }
        let known = self.known(&StmtKind::Insert(insert.clone()), &code, frame);
        let plan = planner::plan_insert(&insert, &known);
        let mut loading = Loading {
            plan,
            checked: rules.checks_constraints,
            hint: InsertHint::default(),
            has_default: vec![false; columns.len()],
        };
        if !rules.keeps_nulls {
            self.put_defaults(&mut loading)?;
        }
        Ok(loading)
    }

    /// A NULL that comes becomes the default of its column.
    fn put_defaults(&mut self, loading: &mut Loading) -> Result<(), SqlError> {
        let table = loading.plan.table.clone();
        let InsertSource::Exec { row, .. } = &mut loading.plan.source else { return Ok(()) };
        for (ordinal, expr) in row.iter_mut().enumerate() {
            if table.columns[ordinal].default.is_none() {
                continue;
            }
            let slots = 0..loading.has_default.len() as u32;
            let reads =
                |slot: &u32| expr.any(&mut |e| matches!(e.kind, ExprKind::Slot(s) if s == *slot));
            let Some(slot) = slots.into_iter().find(reads) else { continue };
            loading.has_default[slot as usize] = true;
            let names = SessionNames::new(self.state, self.host);
            let default = binder::bind_default(&table, ordinal, &names).map_err(bind_error)?;
            let ty = expr.ty;
            let value = std::mem::replace(expr, Expr::constant(Value::Null, ty));
            let given = Box::new(Expr::new(ExprKind::Slot(slot), ty, true));
            let kind = ExprKind::IsNull { input: given, negated: false };
            let is_null = Expr::new(kind, SqlType::Bit, false);
            let branches = vec![(is_null, default)];
            let kind = ExprKind::Case { branches, otherwise: Some(Box::new(value)) };
            *expr = Expr::new(kind, ty, true);
        }
        Ok(())
    }

    fn distrust(&mut self, rules: &Rules<'_>, frame: &mut [Value]) -> Result<(), SqlError> {
        let Some(table) = find_table(self.state, &ObjectName::from(rules.table)) else {
            return Ok(());
        };
        let checks = table.checks.iter().any(|c| c.trusted);
        let trusted = checks || table.foreign_keys.iter().any(|k| k.trusted);
        if table.is_private() || !trusted {
            return Ok(());
        }
        self.commands().check_alter(&table)?;
        self.commands().apply_changes(
            Some(&table.schema),
            &table.name,
            &[catalog::AlterTable::DistrustConstraints],
            frame,
        )
    }
}

/// A value that is none of its column: 4864.
const TYPE_MISMATCH: &str = "type mismatch or invalid character for the specified codepage";

/// 4863, 4864, 4867: why a value cannot be its column's.
fn unfit(number: i32, why: &str, row: u64, place: usize, column: &Column) -> SqlError {
    let text = format!(
        "Bulk load data conversion error ({why}) for row {row}, column {place} ({}).",
        column.name
    );
    SqlError::new(number, 16, text)
}

/// The table of this name, or the one that its synonym means.
fn find_table(state: &SessionState, name: &ObjectName) -> Option<Arc<TableDef>> {
    if session_state::is_temporary(&name.name) {
        return state.transaction.private.find(&name.name).cloned();
    }
    let current =
        name.database.as_ref().is_none_or(|d| d.eq_ignore_ascii_case(&state.database.name));
    let found = current.then(|| state.find_object(name.schema.as_deref(), &name.name)).flatten();
    match found {
        Some(ObjectRef::Table(table)) => Some(table),
        _ => None,
    }
}
