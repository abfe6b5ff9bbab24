//! Constraints of a table's definition: keys, checks and references.
//!
//! Source: SQL documentation, "ALTER TABLE table_constraint".

use ir::*;

use super::{DefaultFor, Parts};
use crate::context::Binder;
use catalog::{CheckSpec, ForeignKeySpec, KeySpec, RefAction, TableDef};
use semantics::index_definition::{self, index_options};
use semantics::names::{is_private, is_temporary};
use semantics::tree::space;
use semantics::{BindError, Result};
use syntax::ast;
use types::SqlType;

impl Binder<'_> {
    /// 1764: a CHECK constraint is over what rows keep.
    pub(super) fn check_kept(
        &self,
        table: &str,
        known: Option<&TableDef>,
        parts: &Parts,
        condition: &Expr,
    ) -> Result<()> {
        let before = known.map_or(0, |t| t.columns.len());
        let mut read = Vec::new();
        condition.columns(&mut read);
        self.check_no_set(table, known, parts, &read)?;
        let volatile = read.iter().find_map(|id| {
            let at = id.0 as usize;
            match at.checked_sub(before) {
                Some(i) => parts.columns.get(i).filter(|c| c.volatile).map(|c| &c.name),
                None => known.map(|t| &t.columns[at]).filter(|c| c.is_volatile()).map(|c| &c.name),
            }
        });
        let Some(column) = volatile else { return Ok(()) };
        Err(self.error(
            1764,
            format!(
                "Computed Column '{column}' in table '{table}' is invalid for use in 'CHECK CONSTRAINT' because it is not \
                 persisted."
            ),
        ))
    }

    /// 1736: a CHECK constraint or a computed column over a column set.
    pub(super) fn check_no_set(
        &self,
        table: &str,
        known: Option<&TableDef>,
        parts: &Parts,
        read: &[ColId],
    ) -> Result<()> {
        let before = known.map_or(0, |t| t.columns.len());
        let set = read.iter().find_map(|id| {
            let at = id.0 as usize;
            match at.checked_sub(before) {
                Some(i) => parts.columns.get(i).filter(|c| c.marks.column_set).map(|c| &c.name),
                None => {
                    known.map(|t| &t.columns[at]).filter(|c| c.marks.column_set).map(|c| &c.name)
                }
            }
        });
        let Some(column) = set else { return Ok(()) };
        let text = format!(
            "The column '{column}' in the table '{table}' cannot be referenced in a CHECK constraint or computed column \
             definition because the column is a sparse column set. A sparse column set cannot be referenced in a a CHECK \
             constraint or computed column definition."
        );
        Err(self.error(1736, text))
    }

    /// 8141: a CHECK constraint of a column is over that column alone.
    pub(super) fn check_column(
        &self,
        table: &str,
        check: &CheckSpec,
        columns: &[(&str, SqlType, bool)],
        condition: &Expr,
    ) -> Result<()> {
        let Some(of) = &check.column else { return Ok(()) };
        let mut read = Vec::new();
        condition.columns(&mut read);
        if read.iter().all(|id| catalog::same_name(columns[id.0 as usize].0, of)) {
            return Ok(());
        }
        let text = format!(
            "Column CHECK constraint for column '{of}' references another column, table '{table}'."
        );
        Err(self.error(8141, text).with_state(0))
    }

    pub(super) fn constraint(
        &mut self,
        constraint: &ast::TableConstraint,
        of: Option<&str>,
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        let name: Option<Box<str>> = constraint.name.as_ref().map(|n| n.value.as_str().into());
        let line = constraint.span.line.max(1);
        match &constraint.kind {
            ast::ConstraintKind::Key { hash: true, .. } if !parts.in_memory => {
                return Err(index_definition::hash_on_disk(line));
            }
            ast::ConstraintKind::Key { primary, clustered, columns, filegroup, options, hash } => {
                let hashed = hash.then_some(options);
                index_definition::check_bucket_count(hashed, name.as_deref(), table, line)?;
                let options = index_options(options, *hash, line)?;
                if parts.in_memory && !hash && clustered.unwrap_or(*primary) {
                    return Err(index_definition::clustered_in_memory(line));
                }
                let key = KeySpec {
                    name,
                    columns: columns
                        .iter()
                        .map(|c| (c.name.value.as_str().into(), c.descending))
                        .collect(),
                    // The rows of a table in memory lie under its primary key.
                    clustered: match parts.in_memory && !is_private(table) {
                        true => *primary,
                        false => clustered.unwrap_or(*primary) || is_private(table),
                    },
                    buckets: options.buckets,
                    ignore_dup_key: options.ignore_dup_key,
                    fill_factor: options.kept.fill_factor.unwrap_or(0),
                    options: options.kept.options(),
                    filegroup: filegroup.as_ref().map(space),
                };
                if key.columns.len() > catalog::KEY_COLUMNS_MAX {
                    let error = catalog::CatalogError::TooManyKeyColumns {
                        index: key.name.clone().unwrap_or_default(),
                        columns: key.columns.len(),
                    };
                    return Err(BindError::new(1904, 16, line, error.to_string()));
                }
                if !primary {
                    parts.unique.push(key);
                    return Ok(());
                }
                if parts.primary_key.is_some() {
                    return Err(BindError::new(
                        8110,
                        16,
                        line,
                        format!("Cannot add multiple PRIMARY KEY constraints to table '{table}'."),
                    )
                    .with_state(0));
                }
                parts.primary_said = clustered.is_some() || parts.in_memory || is_private(table);
                parts.primary_key = Some(key);
            }
            ast::ConstraintKind::Check { condition } => {
                let text = syntax::definition_text(condition, condition.span.text(text)).into();
                let only = || syntax::only_column(condition).map(|c| c.value.as_str());
                let column = of.or_else(only).map(Into::into);
                let check = CheckSpec { name, text, column, nocheck: false };
                parts.checks.push((check, condition.clone()));
            }
            // Foreign keys are not enforced on temporary tables.
            ast::ConstraintKind::ForeignKey { .. } if is_temporary(table) => {}
            ast::ConstraintKind::ForeignKey {
                columns,
                table,
                referenced,
                on_delete,
                on_update,
            } => {
                if table.database.is_some() {
                    return Err(self.error(
                        1763,
                        format!(
                            "Cross-database foreign key references are not supported. Foreign key \
                             '{table}'."
                        ),
                    ));
                }
                let names = |list: &[ast::Ident]| -> Vec<Box<str>> {
                    list.iter().map(|c| c.value.as_str().into()).collect()
                };
                parts.foreign_keys.push(ForeignKeySpec {
                    name,
                    columns: names(columns),
                    schema: table.schema.as_ref().map(|s| s.value.as_str().into()),
                    table: table.name.value.as_str().into(),
                    referenced: names(referenced),
                    on_delete: ref_action(on_delete.as_deref(), line)?,
                    on_update: ref_action(on_update.as_deref(), line)?,
                    nocheck: false,
                });
            }
            ast::ConstraintKind::DefaultFor { expr, column } => {
                let source = syntax::definition_text(expr, expr.span.text(text));
                parts.defaults.push(DefaultFor {
                    name,
                    column: column.value.as_str().into(),
                    text: source.into(),
                });
            }
        }
        Ok(())
    }
}

fn ref_action(words: Option<&str>, line: u32) -> Result<RefAction> {
    Ok(match words {
        None | Some("NO ACTION") => RefAction::NoAction,
        Some("CASCADE") => RefAction::Cascade,
        Some("SET NULL") => RefAction::SetNull,
        Some("SET DEFAULT") => RefAction::SetDefault,
        Some(other) => {
            return Err(BindError::new(102, 15, line, format!("Incorrect syntax near '{other}'.")));
        }
    })
}
