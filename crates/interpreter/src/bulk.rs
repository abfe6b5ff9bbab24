//! INSERT BULK: a client announces columns, then sends rows.
//!
//! Promises: rows go through the same insert as an INSERT of values, plan and fast path included; all of them stand or
//! fall together, in a transaction of their own or under a savepoint of the session's; a load that is dropped before
//! [`BulkLoad::finish`] leaves nothing.
//!
//! A NULL for a column with a DEFAULT becomes the default unless KEEP_NULLS is asked for; values for the identity
//! column, where the client sends it, are kept.

use crate::call::first_mistake;
use crate::host::Host;
use crate::plan::CodeState;
use crate::plan_cache::SessionPlan;
use crate::state::SessionState;
use crate::vm::{Halt, Vm};
use catalog::TableDef;
use executor::{ColumnMeta, Done, ResultSink, SqlError, SqlMessage};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use syntax::LexOptions;
use syntax::ast::bracketed;
use types::{Len, SqlType, Value, convert};

/// No T-SQL can name it.
const SAVEPOINT: &str = "\u{1}INSERT BULK";

/// Whether a batch is an INSERT BULK: it announces rows and is given to [`BulkLoad`] instead of being run.
pub fn is_insert_bulk(batch: &str) -> bool {
    let mut words = batch.split_whitespace();
    words.next().is_some_and(|w| w.eq_ignore_ascii_case("insert"))
        && words.next().is_some_and(|w| w.eq_ignore_ascii_case("bulk"))
}

/// A bulk load under way. It holds its session.
pub struct BulkLoad<'s> {
    state: &'s mut SessionState,
    host: &'s mut dyn Host,
    table: Arc<TableDef>,
    /// The table's column of each value of a row.
    columns: Vec<usize>,
    code: Arc<SessionPlan>,
    learnt: CodeState,
    frame: Vec<Value>,
    rows: u64,
    /// The transaction was begun for it.
    own: bool,
    /// What SET IDENTITY_INSERT was.
    identity_insert: Option<i32>,
    finished: bool,
}

impl<'s> BulkLoad<'s> {
    /// Begins a load. 208 without the table, 207 without a column, 4818-like for none at all. Suspends.
    pub fn begin(
        state: &'s mut SessionState,
        host: &'s mut dyn Host,
        insert: &str,
    ) -> Result<BulkLoad<'s>, SqlError> {
        // INSERT is asked for when the statement is planned.
        state.follow_identity(host);
        let options = LexOptions { quoted_identifier: true };
        let bulk = syntax::parse_insert_bulk(insert, &options).map_err(first_mistake)?;
        let name = binder::ObjectName::from(&bulk.table);
        let table = find_table(state, &name)
            .ok_or_else(|| SqlError::new(208, 16, format!("Invalid object name '{name}'.")))?;
        let mut columns = Vec::with_capacity(bulk.columns.len());
        for (column, _) in &bulk.columns {
            let found =
                table.columns.iter().position(|c| catalog::same_name(&c.name, &column.value));
            columns.push(found.ok_or_else(|| {
                SqlError::new(207, 16, format!("Invalid column name '{}'.", column.value))
            })?);
        }
        if columns.is_empty() {
            columns = (0..table.columns.len()).collect();
        }
        let keep_nulls = bulk.options.iter().any(|o| o == "KEEP_NULLS");
        let (text, declarations) = statement(&bulk.table, &table, &columns, keep_nulls);
        let identity_insert = state.identity_insert;
        if table.identity().is_some_and(|i| columns.contains(&i)) {
            state.identity_insert = Some(table.object_id);
        }
        let code = compile(state, host, &text, &declarations);
        let code = match code {
            Ok(code) => code,
            Err(error) => {
                state.identity_insert = identity_insert;
                return Err(error);
            }
        };
        let own = state.transaction.count == 0;
        let begun = if own {
            state.transaction.begin(None, &state.options);
            Ok(())
        } else {
            state.transaction.save(SAVEPOINT.to_owned(), &state.database, &state.options)
        };
        if let Err(error) = begun {
            state.identity_insert = identity_insert;
            return Err(error);
        }
        Ok(BulkLoad {
            learnt: CodeState::new(&code),
            frame: code.template.clone(),
            state,
            host,
            table,
            columns,
            code,
            rows: 0,
            own,
            identity_insert,
            finished: false,
        })
    }

    /// Inserts one row: values as they came, one for each column announced. After an error only dropping is left.
    /// Suspends.
    pub fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        if row.len() != self.columns.len() {
            return Err(SqlError::new(
                4804,
                16,
                "While reading current row from host, a premature end-of-message was encountered.",
            ));
        }
        self.rows += 1;
        for (i, value) in row.iter().enumerate() {
            let column = &self.table.columns[self.columns[i]];
            let slot = &mut self.frame[i];
            *slot = match (value, column.ty) {
                (Value::Null, _) => Value::Null,
                (Value::Int(_), SqlType::Int) | (Value::BigInt(_), SqlType::BigInt) => {
                    value.clone()
                }
                (value, ty) => {
                    let value = &column.collation.mark(value.clone());
                    convert::assign(value, value.natural_type(), ty).map_err(|error| {
                        if is_too_long(value, ty) {
                            return SqlError::new(
                                4815,
                                16,
                                format!(
                                    "Received an invalid column length from the bcp client for colid {}.",
                                    i + 1
                                ),
                            );
                        }
                        SqlError::new(
                            4864,
                            16,
                            format!(
                                "Bulk load data conversion error (type mismatch or invalid character for the specified \
                                 codepage) for row {}, column {} ({}). {error}",
                                self.rows,
                                i + 1,
                                column.name
                            ),
                        )
                    })?
                }
            };
        }
        if self.rows.is_multiple_of(64) {
            runtime::task::maybe_yield();
            if self.state.cancel.load(Ordering::Relaxed) {
                return Err(executor::cancelled());
            }
        }
        let cancel = self.state.cancel.clone();
        let mut sink = Deaf;
        let mut vm =
            Vm { state: self.state, host: self.host, sink: &mut sink, cancel, failed: false };
        match vm.run(&self.code, &mut self.learnt, &mut self.frame, true) {
            Ok(_) => Ok(()),
            Err(Halt::Throw(error)) => Err(*error),
            Err(Halt::Batch) => Err(executor::doomed()),
        }
    }

    /// Ends the load; the number of rows. What was begun for it is committed. Suspends.
    pub fn finish(mut self) -> Result<u64, SqlError> {
        self.finished = true;
        self.state.identity_insert = self.identity_insert;
        let state = &mut *self.state;
        if self.own {
            if let Err(error) = state.transaction.commit(&state.database, None) {
                let _ = state.transaction.rollback_all();
                return Err(error);
            }
        } else {
            state.transaction.forget_savepoint(SAVEPOINT);
        }
        state.rowcount = self.rows as i64;
        state.error = 0;
        Ok(self.rows)
    }
}

impl Drop for BulkLoad<'_> {
    fn drop(&mut self) {
        if self.finished || std::thread::panicking() {
            return;
        }
        self.state.identity_insert = self.identity_insert;
        self.state.cancel.store(false, Ordering::Relaxed);
        let transaction = &mut self.state.transaction;
        if self.own || transaction.doomed || transaction.rollback(Some(SAVEPOINT)).is_err() {
            // A rollback that fails leaves a transaction that nobody can commit: the engine remembers.
            let _ = transaction.rollback_all();
        } else {
            transaction.forget_savepoint(SAVEPOINT);
        }
    }
}

pub(crate) fn find_table(state: &SessionState, name: &binder::ObjectName) -> Option<Arc<TableDef>> {
    if crate::private::is_temporary(&name.name) {
        return state.transaction.private.find(&name.name).cloned();
    }
    let current =
        name.database.as_ref().is_none_or(|d| d.eq_ignore_ascii_case(&state.database.name));
    let scope = state.transaction.scope();
    let catalog = &state.database.catalog;
    current.then(|| catalog.table(scope, name.schema.as_deref(), &name.name)).flatten()
}

/// The INSERT that takes one row from parameters, and their declarations.
fn statement(
    name: &syntax::ast::ObjectName,
    table: &TableDef,
    columns: &[usize],
    keep_nulls: bool,
) -> (String, String) {
    let mut target = String::new();
    if let Some(schema) = &name.schema {
        target = bracketed(&schema.value) + ".";
    }
    target += &bracketed(&name.name.value);
    let (mut names, mut values, mut declarations) = (String::new(), String::new(), String::new());
    for (i, column) in columns.iter().enumerate() {
        let column = &table.columns[*column];
        let comma = if i > 0 { ", " } else { "" };
        // Writing to a String does not fail.
        let _ = write!(names, "{comma}{}", bracketed(&column.name));
        let _ = write!(declarations, "{comma}@p{i} {}", column.ty);
        let _ = match &column.default {
            Some(default) if !keep_nulls => {
                write!(
                    values,
                    "{comma}CASE WHEN @p{i} IS NULL THEN {} ELSE @p{i} END",
                    default.text
                )
            }
            _ => write!(values, "{comma}@p{i}"),
        };
    }
    (format!("INSERT {target} ({names}) VALUES ({values})"), declarations)
}

fn compile(
    state: &mut SessionState,
    host: &mut dyn Host,
    text: &str,
    declarations: &str,
) -> Result<Arc<SessionPlan>, SqlError> {
    let cancel = state.cancel.clone();
    let mut sink = Deaf;
    let mut vm = Vm { state, host, sink: &mut sink, cancel, failed: false };
    vm.compile_text(text, Some(declarations)).map(|(code, _)| SessionPlan::alone(code))
}

/// Longer than the column can hold.
fn is_too_long(value: &Value, ty: SqlType) -> bool {
    match (value, ty) {
        (
            Value::Str(text),
            SqlType::VarChar(Len::N(n))
            | SqlType::NVarChar(Len::N(n))
            | SqlType::Char(n)
            | SqlType::NChar(n),
        ) => text.encode_utf16().count() > n as usize,
        (Value::Binary(bytes), SqlType::VarBinary(Len::N(n)) | SqlType::Binary(n)) => {
            bytes.len() > n as usize
        }
        _ => false,
    }
}

/// Rows are counted by the load itself, and errors thrown.
struct Deaf;

impl ResultSink for Deaf {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, _: &SqlMessage) {}
}
