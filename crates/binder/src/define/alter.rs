//! ALTER TABLE: what it adds is read as the parts of a definition, then told as changes to the catalog.

use ir::*;

use super::{DefaultFor, Parts};
use crate::context::Binder;
use catalog::{AlterTable as Change, CheckSpec, ForeignKeySpec, Mark, TableDef};
use semantics::versioning::{Versioning, versioning};
use semantics::{BindError, Result};
use syntax::ast;

impl Binder<'_> {
    /// 4902, 2705, 1752, and what the parts have.
    pub fn alter_table(&mut self, alter: &ast::AlterTable, text: &str) -> Result<ddl::AlterTable> {
        let name = ObjectName::from(&alter.name);
        let table = self.own_table(&alter.name).ok_or_else(|| {
            let (shown, line) = (&alter.name, alter.name.span.line.max(1));
            match self.names.has_object(&name) {
                true => {
                    let text = format!("Cannot alter '{shown}' because it is not a table.");
                    BindError::new(4909, 16, line, text)
                }
                false => BindError::cannot_find(4902, shown, line),
            }
        })?;
        let mut changes = Vec::new();
        let mut absent = Vec::new();
        let in_memory = table.is_memory();
        match &alter.action {
            ast::AlterTableAction::Add { definition, .. }
                if !in_memory && !definition.indexes.is_empty() =>
            {
                return Err(self.in_memory_only("ADD"));
            }
            ast::AlterTableAction::RebuildIndex { index, options, .. } => {
                if !in_memory {
                    return Err(self.in_memory_only("ALTER"));
                }
                changes.push(self.rebuild_in_memory(&table, index, options)?);
            }
            ast::AlterTableAction::Add { definition, nocheck } => {
                let mut parts = Parts { in_memory, ..Parts::default() };
                self.definition(definition, text, &table.name, &mut parts)?;
                self.settle(&table.name, Some(&table), &mut parts)?;
                for (i, column) in parts.columns.iter().enumerate() {
                    let with_values = definition.columns[i].default.as_ref();
                    let with_values = with_values.is_some_and(|d| d.with_values);
                    if table.columns.len() + i >= catalog::COLUMNS_MAX {
                        let line = self.line;
                        return Err(semantics::table_definition::too_many_columns(
                            &column.name,
                            &table.name,
                            line,
                        ));
                    }
                    if table.column(&column.name).is_some() {
                        return Err(self.error(
                            2705,
                            format!(
                                "Column names in each table must be unique. Column name '{}' in \
                                 table '{}' is specified more than once.",
                                column.name, alter.name
                            ),
                        ).with_state(4));
                    }
                    // Rows already there get the default when the column may not be NULL, or if asked for.
                    let value = match &column.default {
                        Some((_, text)) if with_values || column.nullable == Some(false) => {
                            let value = self.default_text(text)?;
                            Some(self.store(value, column.ty, column.collation, 0)?)
                        }
                        _ => None,
                    };
                    absent.push(value);
                }
                let period = self.period(definition, Some(&table), &parts)?;
                self.check_new_set(&table, &parts.columns)?;
                self.check_hidden(&table.name, &parts).or_else(|e| match e.number {
                    // There are others.
                    11904 => Ok(()),
                    _ => Err(e),
                })?;
                if !parts.columns.is_empty() {
                    changes.push(Change::AddColumns(parts.columns));
                }
                changes.extend(period.map(|(start, end)| Change::AddPeriod { start, end }));
                for DefaultFor { name, column, text } in parts.defaults {
                    let Some(ordinal) = table.column(&column) else {
                        return Err(self.error(
                            1752,
                            format!(
                                "Column '{column}' in table '{}' is invalid for creating a default \
                                 constraint.",
                                table.name
                            ),
                        ));
                    };
                    if table.columns[ordinal].rowversion {
                        let text = format!(
                            "Defaults cannot be created on columns of data type timestamp. Table '{}', column '{column}'.",
                            table.name
                        );
                        return Err(self.error(1755, text).with_state(0));
                    }
                    let value = self.default_text(&text)?;
                    self.coerce(value, table.columns[ordinal].ty, CastMode::Store { column: 0 })?;
                    changes.push(Change::AddDefault { name, column, text });
                }
                if let Some(key) = parts.primary_key {
                    changes.push(Change::AddPrimaryKey(key));
                }
                changes.extend(parts.unique.into_iter().map(Change::AddUnique));
                changes.extend(parts.indexes.into_iter().map(|(i, _)| Change::AddIndex(i)));
                for (check, _) in parts.checks {
                    changes.push(Change::AddCheck(CheckSpec { nocheck: *nocheck, ..check }));
                }
                for key in parts.foreign_keys {
                    changes
                        .push(Change::AddForeignKey(ForeignKeySpec { nocheck: *nocheck, ..key }));
                }
            }
            ast::AlterTableAction::Drop(items) => {
                for item in items {
                    let name: Box<str> = item.name.value.as_str().into();
                    let if_exists = item.if_exists;
                    changes.push(match item.kind {
                        ast::TablePart::Column => Change::DropColumn { name, if_exists },
                        ast::TablePart::Constraint => Change::DropConstraint { name, if_exists },
                        ast::TablePart::Index if !in_memory => {
                            return Err(self.in_memory_only("DROP").with_state(2));
                        }
                        ast::TablePart::Index if !has_index(&table, &name) => {
                            if if_exists {
                                continue;
                            }
                            return Err(no_index("drop", &name, item.name.span.line).with_state(21));
                        }
                        ast::TablePart::Index => Change::DropIndex { name },
                    });
                }
            }
            ast::AlterTableAction::AlterColumn { name, generated: true, .. } => {
                return Err(self.error(
                    13589,
                    format!(
                        "Column '{}' in table '{}' cannot be specified as 'GENERATED ALWAYS' in ALTER COLUMN \
                         statement.",
                        name.value,
                        self.shown_table(&table)
                    ),
                ));
            }
            ast::AlterTableAction::MarkColumn { name, mark, on } => {
                let mark = match mark {
                    ast::ColumnMark::RowGuidCol => Mark::RowGuidCol,
                    ast::ColumnMark::NotForReplication => Mark::NotForReplication,
                    ast::ColumnMark::Persisted => Mark::Persisted,
                    ast::ColumnMark::Sparse => Mark::Sparse,
                    ast::ColumnMark::Hidden => Mark::Hidden,
                };
                let name = name.value.as_str().into();
                changes.push(Change::MarkColumn { name, mark, on: *on });
            }
            ast::AlterTableAction::MaskColumn { name, function } => {
                let function = function.as_deref().map(Into::into);
                changes.push(Change::MaskColumn { name: name.value.as_str().into(), function });
            }
            ast::AlterTableAction::DropPeriod => changes.push(Change::DropPeriod),
            ast::AlterTableAction::AlterColumn { name, ty, nullable, collation, mask, .. } => {
                let named = semantics::table_definition::system_alias(ty);
                let line = name.span.line.max(1);
                if semantics::table_definition::is_rowversion(ty) {
                    let text =
                        format!("Cannot alter column '{}' to be data type timestamp.", name.value);
                    return Err(BindError::new(4927, 16, line, text));
                }
                let (ty, alias) = self.column_type(ty, &name.value, 1)?;
                if let Some(old) = table.column(&name.value).map(|i| &table.columns[i]) {
                    // 206 and 257, though there be no rows.
                    self.coerce(Expr::col(ColId(0), old.ty, true), ty, CastMode::Implicit)?;
                }
                let collation = self.column_collation(&table.name, collation.as_ref(), ty, line)?;
                let mask = mask.as_ref().map(|text| catalog::mask_of(text, &name.value, ty));
                let mask = mask.transpose().map_err(|e| BindError::of_catalog(e, line))?;
                let name = name.value.as_str().into();
                let nullable = nullable.or(alias.map(|a| a.nullable));
                let alias = alias.map(|a| a.id).or(named);
                changes.push(Change::AlterColumn { name, ty, nullable, alias, collation, mask });
            }
            ast::AlterTableAction::CheckConstraint { enable, verify, names } => {
                changes.push(Change::EnableConstraints {
                    names: names.iter().map(|n| n.value.as_str().into()).collect(),
                    enable: *enable,
                    verify: *verify && *enable,
                });
            }
            ast::AlterTableAction::EnableTracking { columns } => {
                changes.push(Change::StartTracking { columns: *columns });
            }
            ast::AlterTableAction::DisableTracking => changes.push(Change::StopTracking),
            ast::AlterTableAction::Rebuild(_, options) => {
                let line = alter.name.span.line.max(1);
                let change = semantics::index_definition::index_options(options, false, line)?.kept;
                if change != Default::default() {
                    changes.push(Change::SetIndexOptions { name: None, change, rows: true });
                }
                changes.push(Change::RebuildIndex { name: None });
            }
            ast::AlterTableAction::Set(options) => match versioning(options, self.line)? {
                Some(Versioning::On(spec)) => changes.push(Change::StartVersioning(spec)),
                Some(Versioning::Off) => changes.push(Change::StopVersioning),
                None => {}
            },
        }
        let rebuilds = matches!(alter.action, ast::AlterTableAction::Rebuild(..));
        let on_disk = rebuilds.then_some("ALTER TABLE REBUILD");
        Ok(ddl::AlterTable { name, changes, absent, on_disk })
    }

    /// ALTER INDEX name REBUILD WITH (BUCKET_COUNT = n): 3701, 10790.
    fn rebuild_in_memory(
        &self,
        table: &TableDef,
        index: &ast::Ident,
        options: &[ast::DatabaseOption],
    ) -> Result<Change> {
        let (name, line) = (index.value.as_str(), index.span.line.max(1));
        if !has_index(table, name) {
            return Err(no_index("alter", name, line).with_state(22));
        }
        let place = table.indexes.iter().position(|i| catalog::same_name(&i.name, name));
        let before = table.buckets(place);
        let said = semantics::index_definition::index_options(options, true, line)?.buckets;
        if before.is_none() && said.is_some() {
            return Err(
                semantics::index_definition::only_hash("BUCKET_COUNT", 16, line).with_state(4)
            );
        }
        Ok(Change::RebuildInMemory { name: name.into(), buckets: said.or(before) })
    }

    /// 10794: what tables in memory do not have.
    pub(super) fn not_in_memory(&self, what: &str, name: &str) -> BindError {
        self.error(10794, catalog::not_in_memory(what, name).to_string())
    }

    /// 10785: ALTER TABLE changes indexes of memory-optimised tables alone.
    fn in_memory_only(&self, verb: &str) -> BindError {
        let text = format!(
            "The operation 'ALTER TABLE {verb} INDEX' is supported only with memory optimized tables."
        );
        self.error(10785, text)
    }
}

/// Has the table an index of that name, or is it the primary key's?
fn has_index(table: &TableDef, name: &str) -> bool {
    let key = table.primary_key.as_ref();
    table.index(name).is_some() || key.is_some_and(|key| catalog::same_name(&key.name, name))
}

/// 3701.
fn no_index(verb: &str, name: &str, line: u32) -> BindError {
    let text = format!(
        "Cannot {verb} the index '{name}', because it does not exist or you do not have permission."
    );
    BindError::new(3701, 16, line.max(1), text)
}
