//! DBCC CHECKCONSTRAINTS: rows that break CHECK and FOREIGN KEY constraints, whatever let them in.
//!
//! Promise: each constraint that is asked for is held against every row, and each row that breaks it told with values by
//! which WHERE finds it; 200 rows at most, unless ALL_ERRORMSGS is said. Nothing is changed, and no constraint becomes
//! trusted. A constraint that is unknown (NULL) is not broken.
//!
//! Source: the documentation of DBCC CHECKCONSTRAINTS.

use crate::Commands;
use catalog::{CheckDef, ForeignKeyDef, ObjectRef, TableDef};
use executor::{ColumnMeta, Command, SqlError};
use ir::{Expr, ExprKind};
use session_state::Halted;
use std::sync::Arc;
use syntax::ast::{bracketed, bracketed_in};
use types::{Len, SqlType, Value};

/// Rows told without ALL_ERRORMSGS.
const ROWS_MAX: usize = 200;

/// A constraint of a table.
enum Constraint<'t> {
    Check(usize, &'t CheckDef),
    ForeignKey(&'t ForeignKeyDef),
}

impl Commands<'_> {
    /// DBCC CHECKCONSTRAINTS [(table | constraint)] [WITH ALL_CONSTRAINTS, ALL_ERRORMSGS, NO_INFOMSGS]; 2501.
    pub(crate) fn check_constraints(
        &mut self,
        args: &[Value],
        options: &[String],
        guarded: bool,
    ) -> Result<(), Halted> {
        let has = |word: &str| options.iter().any(|o| o == word);
        let (tables, only) = match args.first() {
            None => (self.tables_with_constraints(), None),
            Some(asked) => {
                let (table, only) = self.table_or_constraint(asked)?;
                (vec![table], only)
            }
        };
        let mut left = if has("ALL_ERRORMSGS") { usize::MAX } else { ROWS_MAX };
        let mut found = Vec::new();
        for table in &tables {
            for constraint in constraints(table, only, has("ALL_CONSTRAINTS")) {
                if left == 0 {
                    break;
                }
                let text = self.query_of(table, &constraint, left)?;
                let Some(text) = text else { continue };
                let rows = self.rows_of_text(&text, guarded)?;
                left = left.saturating_sub(rows.len());
                found.extend(rows);
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let text = SqlType::NVarChar(Len::Max);
        let columns = ["Table", "Constraint", "Where"];
        self.sink.columns(&columns.map(|name| ColumnMeta::new(name, text, true)));
        found.iter().for_each(|row| self.sink.row(row));
        self.tell_done(Command::Dbcc, Some(found.len() as u64));
        Ok(())
    }

    /// All tables that the session may check.
    fn tables_with_constraints(&self) -> Vec<Arc<TableDef>> {
        let all = self.state.database.catalog.objects().into_iter();
        let tables = all.filter_map(|object| match object {
            ObjectRef::Table(table) => Some(table),
            _ => None,
        });
        tables.filter(|table| self.may_change(&ObjectRef::Table(table.clone()), false)).collect()
    }

    /// The table that a name or an id means, and the constraint where it is one's; 2501.
    fn table_or_constraint(&self, asked: &Value) -> Result<(Arc<TableDef>, Option<i32>), SqlError> {
        let id = asked.as_i64().and_then(|id| i32::try_from(id).ok());
        let name = asked.as_str().unwrap_or("");
        let mut parts = session_state::name_parts(name);
        let last = parts.pop().unwrap_or_default();
        let schema = parts.pop().filter(|schema| !schema.is_empty());
        for table in self.tables_with_constraints() {
            if id == Some(table.object_id) {
                return Ok((table, None));
            }
            if id.is_none()
                && schema.as_ref().is_some_and(|s| !catalog::same_name(s, &table.schema))
            {
                continue;
            }
            let checks = table.checks.iter().map(|c| (c.object_id, &c.name));
            let keys = table.foreign_keys.iter().map(|k| (k.object_id, &k.name));
            let one = checks
                .chain(keys)
                .find(|(object, own)| match id {
                    Some(id) => *object == id,
                    None => catalog::same_name(own, &last),
                })
                .map(|(object, _)| object);
            if one.is_some() {
                return Ok((table, one));
            }
        }
        Ok((self.dbcc_table(name)?, None))
    }

    /// The query for the rows that break a constraint; none where nothing can.
    fn query_of(
        &mut self,
        table: &Arc<TableDef>,
        constraint: &Constraint<'_>,
        most: usize,
    ) -> Result<Option<String>, SqlError> {
        let own = bracketed_in(&table.schema, &table.name);
        let (name, columns, broken) = match constraint {
            Constraint::Check(at, check) => {
                let columns = self.columns_of_check(table, *at)?;
                (&check.name, columns, format!("NOT ({})", check.text))
            }
            Constraint::ForeignKey(key) => {
                let catalog = &self.state.database.catalog;
                let Some(ObjectRef::Table(parent)) = catalog.object_by_id(key.table) else {
                    return Ok(None);
                };
                let mut known = Vec::new();
                let mut same = Vec::new();
                for (column, referenced) in key.columns.iter().zip(&key.referenced) {
                    let column = bracketed(&table.columns[*column].name);
                    known.push(format!("c.{column} IS NOT NULL"));
                    same.push(format!(
                        "p.{} = c.{column}",
                        bracketed(&parent.columns[*referenced].name)
                    ));
                }
                let parent = bracketed_in(&parent.schema, &parent.name);
                let broken = format!(
                    "{} AND NOT EXISTS (SELECT * FROM {parent} AS p WHERE {})",
                    known.join(" AND "),
                    same.join(" AND ")
                );
                (&key.name, key.columns.clone(), broken)
            }
        };
        let places: Vec<String> = columns
            .iter()
            .map(|at| {
                let column = &table.columns[*at];
                let style = match column.ty {
                    ty if ty.is_binary() => ", 1",
                    ty if ty.is_temporal() => ", 121",
                    _ => "",
                };
                let shown = bracketed(&column.name);
                let null = text_of(&format!("{shown} IS NULL"));
                let is = text_of(&format!("{shown} = '"));
                let value = format!("CONVERT(nvarchar(max), c.{shown}{style})");
                let value = format!("REPLACE({value}, {}, {})", text_of("'"), text_of("''"));
                format!("ISNULL({is} + {value} + {}, {null})", text_of("'"))
            })
            .collect();
        let places = match places.is_empty() {
            true => "N''".to_owned(),
            false => places.join(" + N' AND ' + "),
        };
        let top = if most == usize::MAX { String::new() } else { format!("TOP ({most}) ") };
        Ok(Some(format!(
            "SELECT {top}{}, {}, {places} FROM {own} AS c WHERE {broken}",
            text_of(&own),
            text_of(&bracketed(name))
        )))
    }

    /// Ordinals of the columns that a CHECK constraint reads.
    fn columns_of_check(
        &mut self,
        table: &Arc<TableDef>,
        at: usize,
    ) -> Result<Vec<usize>, SqlError> {
        let rules = self.with_cx(&mut [], |cx| {
            binder::rules_with(table, &|name| cx.env.function(name))
                .map_err(session_state::bind_error)
        })?;
        let mut columns = Vec::new();
        if let Some(rule) = rules.checks.get(at) {
            slots(rule, &mut columns);
        }
        columns.sort_unstable();
        columns.dedup();
        columns.retain(|at| *at < table.columns.len());
        Ok(columns)
    }
}

fn slots(e: &Expr, out: &mut Vec<usize>) {
    e.any(&mut |e| {
        if let ExprKind::Slot(at) = e.kind {
            out.push(at as usize);
        }
        false
    });
}

/// The constraints of a table that are to be checked: one, those that are enabled, or all.
fn constraints(table: &TableDef, only: Option<i32>, all: bool) -> Vec<Constraint<'_>> {
    let wanted = |id: i32, disabled: bool| match only {
        Some(only) => only == id,
        None => all || !disabled,
    };
    let checks = table.checks.iter().enumerate();
    let checks = checks
        .filter(|(_, check)| wanted(check.object_id, check.disabled))
        .map(|(at, check)| Constraint::Check(at, check));
    let keys = table.foreign_keys.iter().filter(|key| wanted(key.object_id, key.disabled));
    keys.map(Constraint::ForeignKey).chain(checks).collect()
}

/// A constant of the language.
fn text_of(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}
