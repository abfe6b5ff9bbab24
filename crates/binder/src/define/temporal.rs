//! PERIOD FOR SYSTEM_TIME and hidden columns, as definitions say them.
//!
//! Numbers and texts: SQL Server's messages 13502 to 13509, 13597, 11903, 11904.

use super::Parts;
use crate::context::Binder;
use catalog::{PeriodEdge, TableDef, same_name};
use semantics::Result;
use syntax::ast;

impl Binder<'_> {
    /// The period that a definition gives: its columns' names. `known`: the table that the parts are added to. 13502 to
    /// 13509, 13597.
    pub(super) fn period(
        &self,
        definition: &ast::TableDefinition,
        known: Option<&TableDef>,
        parts: &Parts,
    ) -> Result<Option<(Box<str>, Box<str>)>> {
        let ends = |edge| {
            let of = move |c: &&catalog::ColumnSpec| c.generated == Some(edge);
            parts.columns.iter().filter(of).map(|c| &*c.name).collect::<Vec<&str>>()
        };
        let (starts, ends) = (ends(PeriodEdge::Start), ends(PeriodEdge::End));
        let twice = |number: i32, edge: &str| {
            self.error(
                number,
                format!(
                    "System-versioned table cannot have more than one 'GENERATED ALWAYS AS ROW {edge}' column."
                ),
            )
        };
        if starts.len() > 1 {
            return Err(twice(13502, "START"));
        }
        if ends.len() > 1 {
            return Err(twice(13503, "END"));
        }
        let (start, end) = match &definition.periods[..] {
            [] if starts.is_empty() && ends.is_empty() => return Ok(None),
            [] => {
                return Err(self.error(
                    13509,
                    "Cannot create generated always column when SYSTEM_TIME period is not defined.",
                ));
            }
            [_] if known.is_some_and(|t| t.period().is_some()) => {
                let shown = known.map(|t| self.shown_table(t)).unwrap_or_default();
                return Err(self.error(
                    13597,
                    format!("Temporal SYSTEM_TIME period is already defined on table '{shown}'."),
                ));
            }
            [period] => period,
            _ => {
                return Err(self.error(
                    13508,
                    "System-versioned table cannot have more than one SYSTEM_TIME period definition.",
                ));
            }
        };
        let is_known = |name: &str| known.is_some_and(|t| t.column(name).is_some());
        for (name, column, missing, other, edge) in [
            (start, starts.first(), 13504, 13506, "START"),
            (end, ends.first(), 13505, 13507, "END"),
        ] {
            match column {
                Some(column) if same_name(column, &name.value) => {}
                None if is_known(&name.value) => {}
                Some(_) => {
                    let which = if edge == "START" { "start" } else { "end" };
                    return Err(self.error(
                        other,
                        format!(
                            "System-versioned table SYSTEM_TIME period definition {which} column name not matching \
                             'GENERATED ALWAYS AS ROW {edge}' column name."
                        ),
                    ));
                }
                None => {
                    return Err(self.error(
                        missing,
                        format!(
                            "Temporal 'GENERATED ALWAYS AS ROW {edge}' column definition missing."
                        ),
                    ));
                }
            }
        }
        Ok(Some((start.value.as_str().into(), end.value.as_str().into())))
    }

    /// 11903, 11904: columns that `*` leaves out.
    pub(super) fn check_hidden(&self, table: &str, parts: &Parts) -> Result<()> {
        let unfilled = parts.columns.iter().find(|c| {
            c.marks.hidden
                && c.nullable == Some(false)
                && c.default.is_none()
                && c.generated.is_none()
                && c.identity.is_none()
        });
        if let Some(column) = unfilled {
            return Err(self.error(
                11903,
                format!(
                    "Cannot create table '{table}' because non-nullable column '{}' cannot be declared as hidden \
                     without either a DEFAULT constraint, the GENERATED ALWAYS attribute, or the IDENTITY attribute.",
                    column.name
                ),
            ));
        }
        if !parts.columns.is_empty() && parts.columns.iter().all(|c| c.marks.hidden) {
            return Err(self.error(
                11904,
                format!(
                    "Cannot create table '{table}' because at least one column must be declared as non-hidden."
                ),
            ));
        }
        Ok(())
    }
}
