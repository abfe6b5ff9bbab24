//! BULK INSERT: rows of a file on the server.
//!
//! ```text
//! file -> bulk_file::Rows -> Source: fields as values of columns -> the INSERT that takes a row from elsewhere
//! ```
//!
//! Promises: the target is what an `INSERT target (columns) EXEC ...` would take, so views, defaults, policies and
//! permissions are INSERT's own; a file is never in memory as a whole; a batch (BATCHSIZE; without it, the whole file)
//! is a statement of its own and stands or falls alone; a row that cannot be read costs one of MAXERRORS and is left
//! out, an error of the table (2627, 515, 547) ends the load.

mod fields;
mod rejects;
mod source;

use crate::bulk::find_table;
use crate::names::SessionNames;
use crate::statement::bind_error;
use crate::vm::{Halted, Vm};
use binder::ObjectName;
use binder::ir::{Expr, ExprKind, Insert, OutputColumn, StmtKind};
use executor::{Command, Reach, SqlError, SqlMessage};
use planner::{InsertPlan, InsertSource};
use security::Permission;
use source::{Column, Source};
use syntax::ast::{BulkInsert, bracketed};
use types::{SqlType, Value};

impl Vm<'_> {
    // Not a part of every statement's stack: procedures nest.
    #[cold]
    #[inline(never)]
    pub fn bulk_insert(
        &mut self,
        bulk: &BulkInsert,
        line: u32,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        if !self.may_on_server(Permission::AdministerBulkOperations) {
            let text = "You do not have permission to use the bulk load statement.";
            let error = SqlError::new(4834, 16, text).with_state(4);
            return Err(error.with_reach(Reach::Scope).into());
        }
        refuse(bulk)?;
        let columns = self.bulk_columns(bulk)?;
        let mut source = Source::open(self, bulk, columns, line, guarded)?;
        for column in &bulk.order {
            if !source.columns.iter().any(|c| catalog::same_name(&c.name, &column.value)) {
                let text = format!(
                    "Could not bulk load. The sorted column '{}' is not valid. The ORDER hint is ignored.",
                    column.value
                );
                self.sink.message(&SqlMessage::info(4817, line, text));
            }
        }
        let plan = self.bulk_plan(bulk, &mut source, frame)?;
        let loaded = self.load(bulk, &plan, &mut source, frame, guarded);
        let closed = source.close();
        self.failed |= source.told > 0;
        let total = loaded?;
        closed?;
        self.state.rowcount = total as i64;
        self.state.error = source.last_told;
        if !self.state.options.nocount {
            self.tell_done(Command::BulkInsert, Some(total));
        }
        Ok(())
    }

    /// Batch after batch; the number of rows.
    fn load(
        &mut self,
        bulk: &BulkInsert,
        plan: &InsertPlan,
        source: &mut Source,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<u64, Halted> {
        let InsertSource::Exec { row, .. } = &plan.source else {
            stdx::fatal!("rows from elsewhere are inserted as those of a procedure");
        };
        let batch = bulk.number("BATCHSIZE").filter(|rows| *rows > 0);
        let checked = bulk.has("CHECK_CONSTRAINTS");
        let mut hint = engine::InsertHint::default();
        let mut total = 0;
        loop {
            source.begin_batch(batch.unwrap_or(u64::MAX));
            let hint = &mut hint;
            let mut next = |values: &mut Vec<Value>, sink: &mut dyn executor::ResultSink| {
                source.next(values, sink)
            };
            let count = match plan.fires.clone() {
                Some(fires) => {
                    self.with_triggers(&fires, &plan.table, &[], frame, guarded, |cx, sink| {
                        let cx = &mut cx.reborrow();
                        executor::insert_stream(plan, row, &mut next, checked, hint, cx, sink)
                    })
                }
                None => self
                    .in_statement(frame, |cx, sink| {
                        let cx = &mut cx.reborrow();
                        executor::insert_stream(plan, row, &mut next, checked, hint, cx, sink)
                    })
                    .map_err(Halted::from),
            };
            let count = match count {
                Err(Halted::Error(error)) if error.stale => {
                    let text = "Bulk insert failed due to a schema change of the target table.";
                    return Err(SqlError::new(4892, 16, text).into());
                }
                other => other?,
            };
            total += count;
            if source.is_over() {
                return Ok(total);
            }
            if !self.state.options.nocount {
                self.tell_done(Command::BulkInsert, Some(count));
            }
        }
    }

    /// The columns that fields belong to, in order: those of `SELECT *`.
    fn bulk_columns(&mut self, bulk: &BulkInsert) -> Result<Vec<Column>, SqlError> {
        let text = format!("SELECT * FROM {}", bulk.table.to_text());
        let (code, _) = self.compile_text(&text, None)?;
        let StmtKind::Select(select) = self.bound(&code, 0)? else {
            return Err(SqlError::unsupported("BULK INSERT into this"));
        };
        let table = find_table(self.state, &ObjectName::from(&bulk.table));
        let keeps_identity = bulk.has("KEEPIDENTITY");
        let column = |column: &OutputColumn| {
            let name = column.name.as_deref().unwrap_or_default();
            let def = table.as_ref().and_then(|t| t.column(name).map(|i| &t.columns[i]));
            let is_made = def.is_some_and(catalog::ColumnDef::is_made);
            let is_identity = def.map_or(column.identity, |c| c.identity.is_some());
            Column {
                name: name.into(),
                ty: column.ty,
                nullable: column.nullable,
                is_wanted: !is_made && (keeps_identity || !is_identity),
                has_default: false,
            }
        };
        Ok(select.query.output.iter().map(column).collect())
    }

    /// The INSERT that takes the columns that the file has.
    fn bulk_plan(
        &mut self,
        bulk: &BulkInsert,
        source: &mut Source,
        frame: &mut [Value],
    ) -> Result<InsertPlan, SqlError> {
        let listed = source.listed();
        if listed.is_empty() {
            return Err(SqlError::unsupported("BULK INSERT without a column that takes a value"));
        }
        if !bulk.has("CHECK_CONSTRAINTS") {
            self.distrust(bulk, frame)?;
        }
        let names: Vec<String> =
            listed.iter().map(|c| bracketed(&source.columns[*c].name)).collect();
        let hint = if bulk.has("TABLOCK") { " WITH (TABLOCK)" } else { "" };
        let text = format!("INSERT {}{hint} ({}) EXEC [-]", bulk.table.to_text(), names.join(", "));
        let (code, _) = self.compile_text(&text, None)?;
        let bound = self.bound(&code, 0)?;
        if self.state.identity.is_limited() {
            self.check_statement(&bound, &code)?;
        }
        let StmtKind::Insert(mut insert) = bound else {
            stdx::fatal!("an INSERT is bound as one");
        };
        self.check_alter_for_bulk(bulk, &insert, source)?;
        if !bulk.has("FIRE_TRIGGERS") {
            let stands_in = |fires: &binder::ir::Fires| fires.instead.is_some();
            if insert.table.is_private() && insert.fires.as_deref().is_some_and(stands_in) {
                let what =
                    "BULK INSERT without FIRE_TRIGGERS into a view with an INSTEAD OF trigger";
                return Err(SqlError::unsupported(what));
            }
            insert.fires = None;
        }
        let known = self.known(&StmtKind::Insert(insert.clone()), &code, frame);
        let mut plan = planner::plan_insert(&insert, &known);
        if !bulk.has("KEEPNULLS") {
            self.defaults(&mut plan, &listed, source)?;
        }
        Ok(plan)
    }

    /// A NULL in the file becomes the default of its column.
    fn defaults(
        &mut self,
        plan: &mut InsertPlan,
        listed: &[usize],
        source: &mut Source,
    ) -> Result<(), SqlError> {
        let table = plan.table.clone();
        let InsertSource::Exec { row, .. } = &mut plan.source else { return Ok(()) };
        for (ordinal, expr) in row.iter_mut().enumerate() {
            if table.columns[ordinal].default.is_none() {
                continue;
            }
            let slots = 0..listed.len() as u32;
            let reads =
                |slot: &u32| expr.any(&mut |e| matches!(e.kind, ExprKind::Slot(s) if s == *slot));
            let Some(slot) = slots.into_iter().find(reads) else { continue };
            source.columns[listed[slot as usize]].has_default = true;
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

    /// Constraints that will not be looked at are not trusted from now on.
    fn distrust(&mut self, bulk: &BulkInsert, frame: &mut [Value]) -> Result<(), SqlError> {
        let Some(table) = find_table(self.state, &ObjectName::from(&bulk.table)) else {
            return Ok(());
        };
        let checks = table.checks.iter().any(|c| c.trusted);
        if table.is_private() || !(checks || table.foreign_keys.iter().any(|k| k.trusted)) {
            return Ok(());
        }
        self.check_alter(&table)?;
        self.apply_changes(
            Some(&table.schema),
            &table.name,
            &[catalog::AlterTable::DistrustConstraints],
            frame,
        )
    }

    /// ALTER of the table for what passes its rules over.
    fn check_alter_for_bulk(
        &self,
        bulk: &BulkInsert,
        insert: &Insert,
        source: &Source,
    ) -> Result<(), SqlError> {
        let table = &insert.table;
        let identity = table.identity().map(|i| &*table.columns[i].name);
        let keeps = identity.is_some_and(|identity| {
            source.columns.iter().any(|c| c.is_wanted && catalog::same_name(&c.name, identity))
        });
        let has_constraints = !table.checks.is_empty() || !table.foreign_keys.is_empty();
        let unchecked = has_constraints && !bulk.has("CHECK_CONSTRAINTS");
        let silent = !bulk.has("FIRE_TRIGGERS") && insert.fires.is_some();
        if keeps || unchecked || silent { self.check_alter(table) } else { Ok(()) }
    }
}

/// What is not here, and what makes no sense.
fn refuse(bulk: &BulkInsert) -> Result<(), SqlError> {
    for name in ["DATA_SOURCE", "FORMATFILE_DATA_SOURCE", "ERRORFILE_DATA_SOURCE"] {
        if let Some(source) = bulk.text(name) {
            let text = format!("Referenced external data source \"{source}\" not found.");
            return Err(SqlError::new(12703, 16, text).with_state(2));
        }
    }
    let kind = bulk.text("DATAFILETYPE").unwrap_or("CHAR");
    if matches!(kind, "WIDECHAR_ANSI" | "DTS_BUFFERS") {
        return Err(SqlError::unsupported(format!("BULK INSERT with DATAFILETYPE = '{kind}'")));
    }
    if bulk.has("INCLUDE_HIDDEN") {
        return Err(SqlError::unsupported("BULK INSERT with INCLUDE_HIDDEN"));
    }
    if bulk.has("FORMAT") && matches!(kind, "NATIVE" | "WIDENATIVE") {
        let text = "CSV format option is supported for char and widechar datafiletype options.";
        return Err(SqlError::new(5339, 16, text));
    }
    let one = |text: &str| text.chars().count() == 1 && text.encode_utf16().count() == 1;
    if !bulk.text("FIELDQUOTE").is_none_or(one) || !bulk.text("ESCAPECHAR").is_none_or(one) {
        return Err(SqlError::new(
            4878,
            16,
            "Invalid quote character specified for bulk load. Quote character can be one single byte or Unicode \
             character.",
        ));
    }
    let first = bulk.number("FIRSTROW").unwrap_or(1);
    if bulk.number("LASTROW").is_some_and(|last| last > 0 && first > last) {
        return Err(SqlError::new(
            4880,
            16,
            "Cannot bulk load. When you use the FIRSTROW and LASTROW parameters, the value for FIRSTROW cannot be \
             greater than the value for LASTROW.",
        ));
    }
    Ok(())
}
