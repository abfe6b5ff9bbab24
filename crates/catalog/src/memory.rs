//! Memory-optimised tables: what a definition may have, and how its trees come to live in memory.
//!
//! Promise: by the time that anybody can see a table's definition its trees are in memory, a durable table's rows with
//! them. Who opens a database waits for that.
//!
//! ALTER TABLE is the disk tables' (`alter.rs`): rows that move go to new trees, which are made to live in memory before
//! anything is put there.
//!
//! Source of what is refused: SQL Server's documentation, "Unsupported SQL Server features for In-Memory OLTP", "Altering
//! Memory-Optimized Tables".

use crate::CatalogError;
use crate::catalog::Catalog;
use crate::def::*;
use crate::spec::{AlterTable, IndexSpec, KeySpec, Mark, TableSpec};
use engine::{MemoryForm, MemoryKind};
use types::Value;

/// 10794.
pub fn not_in_memory(what: &str, name: &str) -> CatalogError {
    let text = format!("The {what} '{name}' is not supported with memory optimized tables.");
    CatalogError::refused(10794, text)
}

impl Catalog {
    /// What a memory-optimised table must and may not have: 41337, 41321, 41327, 10664, 10794, 12339.
    pub(crate) fn check_memory(
        &self,
        table: &TableDef,
        spec: &TableSpec,
    ) -> Result<(), CatalogError> {
        let has_container =
            |g: &FilegroupDef| g.memory.as_ref().is_some_and(|containers| !containers.is_empty());
        if !self.defs.read().filegroups.iter().any(has_container) {
            return Err(CatalogError::refused(
                41337,
                "Cannot create memory optimized tables. To create memory optimized tables, the database must have a \
                 MEMORY_OPTIMIZED_FILEGROUP that is online and has at least one container.",
            ));
        }
        check_indexed(
            table,
            spec.primary_key.is_some(),
            !spec.unique.is_empty() || !spec.indexes.is_empty(),
        )?;
        if spec.filegroup.is_some() {
            return Err(not_in_memory("option", "ON filegroup"));
        }
        spec.indexes.iter().try_for_each(check_index)?;
        spec.primary_key.iter().chain(&spec.unique).try_for_each(check_key)?;
        table.columns.iter().try_for_each(check_column)
    }

    /// Makes a table's trees live in memory, if it is that kind; `filling`: those that are new get rows from a definition,
    /// in its transaction. Suspends.
    pub(crate) fn keep_in_memory(
        &self,
        table: &TableDef,
        filling: bool,
    ) -> Result<(), CatalogError> {
        let Some(memory) = table.memory else { return Ok(()) };
        let keep = |tree, buckets: Option<u32>, unique: bool| {
            let kind = match buckets {
                None => MemoryKind::Range,
                Some(n) => MemoryKind::Hash { buckets: n as usize, tailed: !unique },
            };
            let form = MemoryForm { kind, durable: memory.durable };
            match filling {
                true => self.db.fill_in_memory(tree, form),
                false => self.db.keep_in_memory(tree, form),
            }
        };
        keep(table.tree, memory.buckets, true)?;
        if let Some(lob) = table.lob {
            keep(lob, None, true)?;
        }
        for index in table.indexes.iter().filter(|index| !index.clustered && index.has_entries()) {
            keep(index.tree, index.buckets, index.unique)?;
        }
        Ok(())
    }

    /// What ALTER TABLE may do to one, and sp_rename. 10664, 10794, 12339.
    pub(crate) fn check_memory_change(&self, change: &AlterTable) -> Result<(), CatalogError> {
        let what = match change {
            AlterTable::AddColumns(columns) => {
                for column in columns {
                    let rows = (column.rowversion, column.marks.sparse, column.identity);
                    check_column_parts(rows)?;
                }
                return Ok(());
            }
            AlterTable::AddIndex(spec) => return check_index(spec),
            AlterTable::AddPrimaryKey(key) | AlterTable::AddUnique(key) => return check_key(key),
            AlterTable::RebuildIndex { .. }
            | AlterTable::DisableIndex { .. }
            | AlterTable::SetIgnoreDupKey { .. }
            | AlterTable::SetIndexOptions { .. }
            | AlterTable::SetColumnstore { .. } => "ALTER INDEX",
            AlterTable::StartTracking { .. } | AlterTable::StopTracking => "CHANGE_TRACKING",
            AlterTable::BindColumn { .. } => "sp_bindrule",
            AlterTable::MarkColumn { mark, .. } if *mark != Mark::Hidden => "ALTER COLUMN",
            _ => return Ok(()),
        };
        Err(not_in_memory("operation", what))
    }
}

/// 41321, 41327: a table has an index, a durable one a primary key.
pub(crate) fn check_indexed(
    table: &TableDef,
    has_key: bool,
    has_index: bool,
) -> Result<(), CatalogError> {
    let name = &table.name;
    if table.memory.is_some_and(|memory| memory.durable) && !has_key {
        return Err(CatalogError::refused(
            41321,
            format!(
                "The memory optimized table '{name}' with DURABILITY=SCHEMA_AND_DATA must have a primary key."
            ),
        ));
    }
    if !has_key && !has_index {
        return Err(CatalogError::refused(
            41327,
            format!(
                "The memory optimized table '{name}' must have at least one index or a primary key."
            ),
        ));
    }
    Ok(())
}

fn check_index(index: &IndexSpec) -> Result<(), CatalogError> {
    if index.columnstore.is_some() && !index.clustered {
        return Err(not_in_memory("feature", "nonclustered columnstore indexes"));
    }
    if index.filter.is_some() {
        let text = "The feature 'WHERE' is not supported with indexes on memory optimized tables.";
        return Err(CatalogError::refused(10794, text));
    }
    if !index.include.is_empty() {
        let text = "Cannot specify included columns for indexes on memory optimized tables.";
        return Err(CatalogError::refused(10664, text));
    }
    check_ignore_dup_key(index.ignore_dup_key)
}

fn check_key(key: &KeySpec) -> Result<(), CatalogError> {
    check_ignore_dup_key(key.ignore_dup_key)
}

fn check_ignore_dup_key(on: bool) -> Result<(), CatalogError> {
    if !on {
        return Ok(());
    }
    let text = "The index option 'ignore_dup_key' is not supported with indexes on memory optimized tables.";
    Err(CatalogError::refused(10794, text))
}

fn check_column(column: &ColumnDef) -> Result<(), CatalogError> {
    check_column_parts((column.rowversion, column.marks.sparse, column.identity))
}

fn check_column_parts(
    (rowversion, sparse, identity): (bool, bool, Option<Identity>),
) -> Result<(), CatalogError> {
    if rowversion {
        return Err(not_in_memory("type", "timestamp"));
    }
    if sparse {
        return Err(not_in_memory("column option", "SPARSE"));
    }
    if identity.is_some_and(|i| (i.seed, i.increment) != (1, 1)) {
        return Err(CatalogError::refused(
            12339,
            "The use of seed and increment values other than 1 is not supported with memory optimized tables.",
        ));
    }
    Ok(())
}

/// As stored: a line for each container, name and path with a tab between.
pub(crate) fn containers(text: &str) -> Vec<(Box<str>, Box<str>)> {
    let pair = |line: &str| line.split_once('\t').map(|(n, p)| (n.into(), p.into()));
    text.lines().filter_map(pair).collect()
}

pub(crate) fn containers_text(group: &FilegroupDef) -> Value {
    let Some(containers) = &group.memory else { return Value::Null };
    let lines: String = containers.iter().map(|(n, p)| format!("{n}\t{p}\n")).collect();
    Value::str(&lines)
}
