//! Changes of the rows of a fetch buffer: sp_cursor.
//!
//! Promise: a change is a statement WHERE CURRENT OF, with its triggers, constraints and errors. Values come as parameters
//! named after their columns, or as text of the statement.

use super::fetch::{MISSING, SUCCEEDED};
use super::name_at;
use crate::call::{Called, number_of, scalar, text_of, throw};
use crate::rpc::RpcParam;
use crate::vm::Vm;
use executor::SqlError;
use session_state::Halt;
use syntax::ast::{bracketed, bracketed_in};
use types::Value;

impl Vm<'_> {
    /// sp_cursor cursor, optype, rownum, table, values...
    pub(super) fn change_rows(&mut self, params: &[RpcParam], guarded: bool) -> Called {
        const UPDATE: i32 = 1;
        const DELETE: i32 = 2;
        const INSERT: i32 = 4;
        const REFRESH: i32 = 8;
        let (handle, asked) = (number_of(params, 0), number_of(params, 1));
        let number = number_of(params, 2).max(0) as usize;
        // SETPOSITION and ABSOLUTE.
        let (positions, of_all) = (asked & 0x20 != 0, asked & 0x40 != 0);
        let operation = asked & !0x60;
        let (served, cursor) =
            self.programs.cursors.served_mut("sp_cursor", handle).map_err(throw)?;
        let id = served.id;
        let first_table = cursor.def.targets.first().map(|target| target.table);
        let rows: Vec<usize> = match (of_all, number) {
            (true, n) => vec![n],
            (false, 0) => served.buffer.clone().collect(),
            (false, n) if n <= served.buffer.len() => vec![served.buffer.start + n - 1],
            // A place that is none is the first.
            (false, _) if operation == 0 => vec![served.buffer.start],
            (false, _) => {
                let text = format!(
                    "sp_cursor: The value of the parameter 'rownum' ({number}) is not in the fetch buffer."
                );
                return Err(throw(SqlError::new(16930, 16, text)));
            }
        };
        let before = cursor.at;
        let table = match text_of(params, 3) {
            "" => match first_table.and_then(|id| self.state.database.catalog.object_by_id(id)) {
                Some(catalog::ObjectRef::Table(table)) => bracketed_in(&table.schema, &table.name),
                _ => String::new(),
            },
            named => named.to_owned(),
        };
        let values = params.get(4..).unwrap_or_default();
        match operation {
            0 => {}
            REFRESH => {
                let missing = self.refresh(id, handle).map_err(throw)?;
                let columns = self.served_columns(id);
                self.sink.columns(&columns);
                for at in &rows {
                    let (_, cursor) =
                        self.programs.cursors.served_mut("sp_cursor", handle).map_err(throw)?;
                    let visible = cursor.def.visible;
                    let found = cursor.rows.as_ref().and_then(|rows| rows.get(at.checked_sub(1)?));
                    let Some(found) = found else { break };
                    let mut row = found.get(..visible).unwrap_or_default().to_vec();
                    row.resize(visible, Value::Null);
                    row.push(Value::Int(if missing.contains(at) { MISSING } else { SUCCEEDED }));
                    self.sink.row(&row);
                }
                self.select_done(rows.len() as u64);
            }
            UPDATE | DELETE => {
                if table.is_empty() {
                    return Err(throw(SqlError::new(16929, 16, "The cursor is READ ONLY.")));
                }
                let name = name_at(self.state.nesting);
                let text = match operation {
                    DELETE => format!("DELETE FROM {table} WHERE CURRENT OF GLOBAL [{name}]"),
                    _ => update_text(&table, values, &declared(values), &name)?,
                };
                for at in &rows {
                    let (_, cursor) =
                        self.programs.cursors.served_mut("sp_cursor", handle).map_err(throw)?;
                    cursor.at = *at;
                    self.programs.cursors.name_for_now(&name, id);
                    let given = renamed(values);
                    let done = self.run_directly(&text, &declared(values), &given, 0, guarded);
                    self.programs.cursors.take_name(&name);
                    done?;
                }
            }
            INSERT => {
                if table.is_empty() {
                    return Err(throw(SqlError::new(16929, 16, "The cursor is READ ONLY.")));
                }
                let text = insert_text(&table, values)?;
                self.run_directly(&text, &declared(values), &renamed(values), 0, guarded)?;
            }
            other => {
                return Err(throw(SqlError::unsupported(format!(
                    "sp_cursor with the operation {other}"
                ))));
            }
        }
        let (_, cursor) = self.programs.cursors.served_mut("sp_cursor", handle).map_err(throw)?;
        cursor.at = if positions { rows.last().copied().unwrap_or(before) } else { before };
        self.sink.return_status(0);
        Ok(0)
    }
}

/// The column that a value is for: the parameter's name behind `@`.
fn column(param: &RpcParam) -> Option<&str> {
    param.name.as_deref().map(|name| name.trim_start_matches('@')).filter(|name| !name.is_empty())
}

/// `@p1 int, @p2 nvarchar(10)`: of values that have names; those without are text of the statement.
fn declared(values: &[RpcParam]) -> String {
    let named = values.iter().filter(|param| column(param).is_some()).enumerate();
    let all: Vec<String> = named.map(|(i, param)| format!("@p{} {}", i + 1, param.ty)).collect();
    all.join(", ")
}

fn renamed(values: &[RpcParam]) -> Vec<RpcParam> {
    let named = values.iter().filter(|param| column(param).is_some()).enumerate();
    named
        .map(|(i, param)| {
            RpcParam { output: false, ..param.clone() }.named(&format!("@p{}", i + 1))
        })
        .collect()
}

fn texts(values: &[RpcParam]) -> Result<Vec<&str>, Halt> {
    let text =
        |param| scalar(param).map(|value| value.as_str().unwrap_or("").trim()).map_err(throw);
    values.iter().filter(|param| column(param).is_none()).map(text).collect()
}

/// SET of values that have names, or of texts `[UPDATE t] [SET] c = e`.
fn update_text(
    table: &str,
    values: &[RpcParam],
    declarations: &str,
    cursor: &str,
) -> Result<String, Halt> {
    let current = format!("WHERE CURRENT OF GLOBAL [{cursor}]");
    if !declarations.is_empty() {
        let named = values.iter().filter_map(column).enumerate();
        let sets: Vec<String> =
            named.map(|(i, name)| format!("{} = @p{}", bracketed(name), i + 1)).collect();
        return Ok(format!("UPDATE {table} SET {} {current}", sets.join(", ")));
    }
    let parts = texts(values)?;
    let text = parts.join(", ");
    Ok(match () {
        () if begins(&text, "UPDATE") => format!("{text} {current}"),
        () if begins(&text, "SET") => format!("UPDATE {table} {text} {current}"),
        () => format!("UPDATE {table} SET {text} {current}"),
    })
}

/// VALUES that have names, or texts `[INSERT [INTO] t] [VALUES] (e, ...)`.
fn insert_text(table: &str, values: &[RpcParam]) -> Result<String, Halt> {
    let named: Vec<&str> = values.iter().filter_map(column).collect();
    if !named.is_empty() {
        let columns: Vec<String> = named.iter().map(|name| bracketed(name)).collect();
        let places: Vec<String> = (1..=named.len()).map(|i| format!("@p{i}")).collect();
        return Ok(format!(
            "INSERT INTO {table} ({}) VALUES ({})",
            columns.join(", "),
            places.join(", ")
        ));
    }
    let parts = texts(values)?;
    let text = parts.join(", ");
    Ok(match () {
        () if text.is_empty() => format!("INSERT INTO {table} DEFAULT VALUES"),
        () if begins(&text, "INSERT") => text,
        () if begins(&text, "VALUES") => format!("INSERT INTO {table} {text}"),
        () if text.starts_with('(') => format!("INSERT INTO {table} VALUES {text}"),
        () => format!("INSERT INTO {table} VALUES ({text})"),
    })
}

fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}
