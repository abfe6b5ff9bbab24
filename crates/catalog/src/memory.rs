//! Memory-optimised tables: what a definition may have, and how its trees come to live in memory.
//!
//! Promise: by the time that anybody can see a table's definition its trees are in memory, a durable table's rows with
//! them. Who opens a database waits for that.
//!
//! Source of what is refused: SQL Server's documentation, "Unsupported SQL Server features for In-Memory OLTP".

use crate::CatalogError;
use crate::catalog::Catalog;
use crate::def::*;
use crate::spec::{AlterTable, TableSpec};
use engine::{MemoryForm, MemoryKind};
use types::Value;

/// 10794.
pub fn unsupported(what: &str, name: &str) -> CatalogError {
    let text = format!("The {what} '{name}' is not supported with memory optimized tables.");
    CatalogError::refused(10794, text)
}

impl Catalog {
    /// What a memory-optimised table must and may not have: 41337, 41321, 41327, 10794, 12320.
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
        if spec.memory == Some(true) && spec.primary_key.is_none() {
            let name = &table.name;
            return Err(CatalogError::refused(
                41321,
                format!(
                    "The memory optimized table '{name}' with DURABILITY=SCHEMA_AND_DATA must have a primary key."
                ),
            ));
        }
        if spec.primary_key.is_none() && spec.unique.is_empty() && spec.indexes.is_empty() {
            let name = &table.name;
            return Err(CatalogError::refused(
                41327,
                format!(
                    "The memory optimized table '{name}' must have at least one index or a primary key."
                ),
            ));
        }
        if spec.filegroup.is_some() {
            return Err(unsupported("option", "ON filegroup"));
        }
        if spec.versioning.is_some() {
            return Err(unsupported("feature", "SYSTEM_VERSIONING"));
        }
        for index in &spec.indexes {
            match () {
                () if index.columnstore.is_some() => {
                    return Err(unsupported("feature", "columnstore indexes"));
                }
                () if index.filter.is_some() => {
                    return Err(unsupported("index option", "filtered index"));
                }
                () if !index.include.is_empty() => {
                    return Err(unsupported("index option", "INCLUDE"));
                }
                () if index.ignore_dup_key => {
                    return Err(unsupported("index option", "IGNORE_DUP_KEY"));
                }
                () => {}
            }
        }
        let ignores = |key: &crate::spec::KeySpec| key.ignore_dup_key;
        if spec.primary_key.iter().chain(&spec.unique).any(ignores) {
            return Err(unsupported("index option", "IGNORE_DUP_KEY"));
        }
        for column in &table.columns {
            if column.rowversion {
                return Err(unsupported("type", "timestamp"));
            }
            if column.marks.sparse {
                return Err(unsupported("column option", "SPARSE"));
            }
            if column.identity.is_some_and(|i| (i.seed, i.increment) != (1, 1)) {
                return Err(CatalogError::refused(
                    12320,
                    "The use of seed and increment values other than 1 is not supported with memory optimized tables.",
                ));
            }
        }
        Ok(())
    }

    /// Makes a table's trees live in memory, if it is that kind. Suspends.
    pub(crate) fn keep_in_memory(&self, table: &TableDef) -> Result<(), CatalogError> {
        let Some(memory) = table.memory else { return Ok(()) };
        let keep = |tree, buckets: Option<u32>, unique: bool| {
            let kind = match buckets {
                None => MemoryKind::Range,
                Some(n) => MemoryKind::Hash { buckets: n as usize, tailed: !unique },
            };
            self.db.keep_in_memory(tree, MemoryForm { kind, durable: memory.durable })
        };
        keep(table.tree, memory.buckets, true)?;
        if let Some(lob) = table.lob {
            keep(lob, None, true)?;
        }
        for index in table.indexes.iter().filter(|index| !index.clustered) {
            keep(index.tree, index.buckets, index.unique)?;
        }
        Ok(())
    }

    /// What ALTER TABLE, CREATE, ALTER and DROP INDEX may do to one: what changes no tree. 10794.
    pub(crate) fn check_memory_change(&self, change: &AlterTable) -> Result<(), CatalogError> {
        let what = match change {
            AlterTable::AddIndex(_) => "CREATE INDEX",
            AlterTable::DropIndex { .. } => "DROP INDEX",
            AlterTable::RebuildIndex { .. }
            | AlterTable::DisableIndex { .. }
            | AlterTable::SetIgnoreDupKey { .. }
            | AlterTable::SetIndexOptions { .. }
            | AlterTable::SetColumnstore { .. } => "ALTER INDEX",
            AlterTable::AddDefault { .. }
            | AlterTable::AddCheck(_)
            | AlterTable::RenameIndex { .. }
            | AlterTable::RenameConstraint { .. } => return Ok(()),
            _ => "ALTER TABLE",
        };
        Err(unsupported("statement", what))
    }
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
