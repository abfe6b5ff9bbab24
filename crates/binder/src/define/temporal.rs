//! PERIOD FOR SYSTEM_TIME and SYSTEM_VERSIONING, as definitions say them.
//!
//! Numbers and texts: SQL Server's messages 13501 to 13749.

use ir::ObjectName;

use super::Parts;
use crate::context::Binder;
use catalog::{PeriodEdge, Retention, TableDef, VersioningSpec, same_name};
use semantics::{BindError, Result};
use syntax::ast;

/// `SYSTEM_VERSIONING = ...`
pub(super) enum Versioning {
    Off,
    On(VersioningSpec),
}

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

    /// What the options of a table say of its versioning, if anything. 13539, 13743, 13744; LEDGER is refused by name.
    pub(super) fn versioning(&self, options: &[ast::DatabaseOption]) -> Result<Option<Versioning>> {
        let mut found = None;
        for option in options {
            if option.name == "LEDGER" && option.value != ast::OptionValue::Off {
                return Err(BindError::unsupported("LEDGER tables", option.span.line));
            }
            if option.name != "SYSTEM_VERSIONING" {
                continue;
            }
            if found.is_some() {
                let text = "You cannot specify SYSTEM_VERSIONING clause more than once.";
                return Err(self.error(13512, text));
            }
            found = Some(match &option.value {
                ast::OptionValue::Off => Versioning::Off,
                ast::OptionValue::On => Versioning::On(VersioningSpec::default()),
                ast::OptionValue::List(list) => Versioning::On(self.versioning_spec(list)?),
                _ => return Err(self.error(102, "Incorrect syntax near 'SYSTEM_VERSIONING'.")),
            });
        }
        Ok(found)
    }

    fn versioning_spec(&self, options: &[ast::DatabaseOption]) -> Result<VersioningSpec> {
        let mut spec = VersioningSpec::default();
        for option in options {
            match (&*option.name, &option.value) {
                ("HISTORY_TABLE", ast::OptionValue::Name(name)) => {
                    let parts = ObjectName::from(name);
                    let (Some(schema), None) = (&parts.schema, &parts.database) else {
                        return Err(self.error(
                            13539,
                            format!(
                                "Setting SYSTEM_VERSIONING to ON failed because history table '{name}' is not \
                                 specified in two-part name format."
                            ),
                        ));
                    };
                    spec.history = Some((schema.as_str().into(), parts.name.as_str().into()));
                }
                ("DATA_CONSISTENCY_CHECK", ast::OptionValue::On) => spec.unchecked = false,
                ("DATA_CONSISTENCY_CHECK", ast::OptionValue::Off) => spec.unchecked = true,
                ("HISTORY_RETENTION_PERIOD", ast::OptionValue::Word(word))
                    if word == "INFINITE" => {}
                ("HISTORY_RETENTION_PERIOD", ast::OptionValue::Word(word)) => {
                    spec.retention = Some(self.retention(word)?);
                }
                (name, _) => {
                    return Err(self.error(102, format!("Incorrect syntax near '{name}'.")));
                }
            }
        }
        Ok(spec)
    }

    /// `6 MONTHS`.
    fn retention(&self, text: &str) -> Result<Retention> {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        let number = match number.parse::<i32>() {
            Ok(number) if number > 0 => number,
            _ => {
                return Err(self.error(
                    13743,
                    format!(
                        "{number} is not a valid value for system versioning history retention period."
                    ),
                ));
            }
        };
        let unit = match unit.strip_suffix('S').unwrap_or(unit) {
            "DAY" => 3,
            "WEEK" => 4,
            "MONTH" => 5,
            "YEAR" => 6,
            _ => {
                return Err(self.error(
                    13744,
                    format!(
                        "'{unit}' is not a valid history retention period unit for system versioning."
                    ),
                ));
            }
        };
        Ok(Retention { number, unit })
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
