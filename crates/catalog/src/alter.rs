//! ALTER TABLE: the definition, and what work it leaves to do on the rows. Each kind of change has a file.

mod columns;
mod constraints;
mod indexes;
mod marks;
mod temporal;
mod tracking;

pub(crate) use columns::{mentions, same_kind_wider, unused};

pub(crate) use temporal::check_period;
pub(crate) use tracking::not_enabled;

use crate::catalog::Catalog;
use crate::def::*;
use crate::properties::PropertyTarget;
use crate::scope::DdlScope;
use crate::spec::AlterTable;
use crate::{CatalogError, Txn, Wanted};
use engine::{ReadOptions, ScanOptions};
use std::ops::Bound;
use std::sync::Arc;

/// A table before and after ALTER TABLE, and what is left to do with its rows.
#[derive(Clone, Debug)]
pub struct Altered {
    pub old: Arc<TableDef>,
    pub new: Arc<TableDef>,
    /// In order. Nothing for a table without rows.
    pub work: Vec<Work>,
}

/// What a changed definition asks of the rows; whoever changed it does this in the same statement, under the Sch-M
/// lock, or undoes everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// The rows lie in the old definition's trees and belong, with entries in every index, into the new one's:
    /// `columns[i]` is the old ordinal of column i, whose value is converted; `None`: its value of absence, or computed.
    Rewrite { columns: Vec<Option<usize>> },
    /// An index has no entries yet.
    Fill { index_id: i32 },
    /// Every row must satisfy a CHECK.
    VerifyCheck { object_id: i32 },
    /// Every row must find what it refers to.
    VerifyForeignKey { object_id: i32 },
    /// Every row must be valid from the past on, and without end.
    VerifyPeriod,
    /// Rows of the table of that id must be former versions of rows: ended, and never two of a row at a time.
    VerifyHistory { object_id: i32 },
}

impl Catalog {
    /// ALTER TABLE, CREATE, ALTER and DROP INDEX; 4902 when there is no such table. Takes the Sch-M lock. Columns that
    /// are added rewrite no row: those there read as [`ColumnDef::absent`]. Suspends.
    pub fn alter_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
        change: &AlterTable,
    ) -> Result<Altered, CatalogError> {
        self.alter(txn, scope, schema, name, change, false)
    }

    /// The same of a history table, on behalf of the table whose history it is: see [`Catalog::change_of_history`].
    pub fn alter_history(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        history: &TableDef,
        change: &AlterTable,
    ) -> Result<Altered, CatalogError> {
        self.alter(txn, scope, Some(&history.schema), &history.name, change, true)
    }

    fn alter(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
        change: &AlterTable,
        on_behalf: bool,
    ) -> Result<Altered, CatalogError> {
        let Some((old, modified)) = self.lock_table(txn, scope, schema, name)? else {
            return Err(CatalogError::CannotFind { name: name.into() });
        };
        if !on_behalf {
            self.check_versioning(&old, change)?;
        }
        self.check_tracking(&old, change)?;
        if old.is_memory() {
            self.check_memory_change(change)?;
        }
        let empty = self.is_empty(txn, &old)?;
        let mut work = Vec::new();
        // Foreign keys define other tables too, so the scope is needed inside.
        let mut others = DdlScope { changes: std::mem::take(&mut scope.changes) };
        let new = self.change_table(txn, scope, &old, modified, |catalog, txn, table| {
            catalog.apply(txn, &mut others, table, change, empty, &mut work)
        });
        let own = std::mem::replace(&mut scope.changes, std::mem::take(&mut others.changes));
        scope.changes.extend(own);
        let new = new?;
        if new.is_memory() {
            let has_index = !new.indexes.is_empty();
            crate::memory::check_indexed(&new, new.primary_key.is_some(), has_index)?;
            self.keep_in_memory(&new, true)?;
        }
        if empty {
            // What the rows of another table must be is asked all the same.
            work.retain(|w| matches!(w, Work::VerifyHistory { .. }));
        }
        Ok(Altered { old, new, work })
    }

    fn apply(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        change: &AlterTable,
        empty: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        match change {
            AlterTable::AddPeriod { start, end } => self.add_period(txn, table, start, end, work),
            AlterTable::DropPeriod => self.drop_period(txn, table),
            AlterTable::StartVersioning(spec) => {
                self.start_versioning(txn, scope, table, spec, work)
            }
            AlterTable::StopVersioning => self.stop_versioning(txn, scope, table),
            AlterTable::StartTracking { columns } => self.start_tracking(txn, table, *columns),
            AlterTable::StopTracking => self.stop_tracking(txn, table),
            AlterTable::BindColumn { name, kind, to } => {
                self.bind_column(txn, table, name, *kind, to.as_ref())
            }
            AlterTable::MarkColumn { name, mark, on } => {
                self.mark_column(txn, table, name, *mark, *on)
            }
            AlterTable::MaskColumn { name, function } => {
                self.mask_column(txn, table, name, function.as_deref())
            }
            AlterTable::AddColumns(columns) => {
                let before = table.columns.len();
                columns.iter().try_for_each(|c| self.add_one(txn, scope, table, c, empty))?;
                self.hold_xml_schemas(txn, scope, &table.columns[before..])?;
                // Values that the engine makes are in every row, and so are an identity's numbers.
                let given = |c: &ColumnDef| c.identity.is_some() || c.is_made() && !c.is_volatile();
                if !empty && table.columns[before..].iter().any(given) {
                    let columns = (0..table.columns.len()).map(|i| (i < before).then_some(i));
                    self.rewrite(txn, table, columns.collect(), work)?;
                }
                Ok(())
            }
            AlterTable::AddDefault { name, column, text } => {
                self.add_default(txn, table, name.as_deref(), column, text)
            }
            AlterTable::AddPrimaryKey(key) => self.add_key(txn, scope, table, key, work),
            AlterTable::AddUnique(key) => {
                let id = self.add_unique(txn, scope, table, key)?;
                self.filled(txn, table, id, work)
            }
            AlterTable::AddIndex(spec) => {
                let before = table.index(&spec.name).map(|index| index.index_id);
                if spec.drop_existing {
                    self.drop_existing(txn, table, spec, work)?;
                }
                let id = self.add_index(txn, scope, table, spec, IndexKind::Index)?;
                if let Some(before) = before {
                    let of = |minor| PropertyTarget::index(table.object_id, minor);
                    let to = |target| Some(if target == of(before) { of(id) } else { target });
                    self.move_properties(txn, scope, to)?;
                }
                let has_entries = table.indexes.iter().any(|i| i.index_id == id && i.has_entries());
                if has_entries { self.filled(txn, table, id, work) } else { Ok(()) }
            }
            AlterTable::DropIndex { name } => {
                if let Some(id) = table.index_id_of(name) {
                    self.check_fulltext(scope, table, Some((name, id)), None)?;
                }
                let gone = self.drop_index(txn, table, name, work)?;
                let gone = PropertyTarget::index(table.object_id, gone);
                self.forget_properties(txn, scope, |target| target == gone)
            }
            AlterTable::RebuildIndex { name } if table.is_disabled_view() => {
                let of_rows = |name: &str| table.index(name).is_some_and(|i| i.clustered);
                match name {
                    Some(name) if !of_rows(name) => Err(CatalogError::refused(
                        1974,
                        format!(
                            "Cannot perform the specified operation on view '{}' because its clustered index '{}' is \
                             disabled.",
                            table.name,
                            table.clustered_name().unwrap_or_default()
                        ),
                    )),
                    _ => self.enable_view(txn, scope, table, name.is_none()),
                }
            }
            AlterTable::RebuildIndex { name } => self.rebuild(txn, table, name.as_deref(), work),
            AlterTable::RebuildInMemory { name, buckets } => {
                self.rebuild_in_memory(txn, table, name, *buckets, work)
            }
            AlterTable::DisableIndex { name }
                if table.view.is_some()
                    && name
                        .as_ref()
                        .is_none_or(|n| table.index(n).is_some_and(|i| i.clustered)) =>
            {
                self.disable_view(txn, scope, table)
            }
            AlterTable::DisableIndex { name } => self.disable(txn, table, name.as_deref()),
            AlterTable::SetIgnoreDupKey { name, on } => {
                let i = position(table, name)?;
                table.indexes[i].ignore_dup_key = *on;
                self.put_index(txn, table.object_id, &table.indexes[i])
            }
            AlterTable::SetIndexOptions { name, change, rows } => {
                self.set_options(txn, table, name.as_deref(), change, *rows)
            }
            AlterTable::SetColumnstore { name, archive, delay_minutes } => {
                let i = position(table, name)?;
                if let Some(columnstore) = &mut table.indexes[i].columnstore {
                    columnstore.archive = archive.unwrap_or(columnstore.archive);
                    columnstore.delay_minutes = delay_minutes.unwrap_or(columnstore.delay_minutes);
                }
                self.put_index(txn, table.object_id, &table.indexes[i])
            }
            AlterTable::AddCheck(check) => {
                let object_id = self.add_check(txn, table, check, empty)?;
                if !check.nocheck {
                    work.push(Work::VerifyCheck { object_id });
                }
                Ok(())
            }
            AlterTable::AddForeignKey(key) => {
                let object_id = self.add_foreign_key(txn, scope, table, key, empty)?;
                if !key.nocheck {
                    work.push(Work::VerifyForeignKey { object_id });
                }
                Ok(())
            }
            AlterTable::EnableConstraints { names, enable, verify } => {
                self.enable(txn, table, names, *enable, *verify, empty, work)
            }
            AlterTable::DistrustConstraints => self.distrust(txn, table),
            AlterTable::AlterColumn { name, ty, nullable, alias, collation, mask } => {
                self.check_fulltext(scope, table, None, Some(name))?;
                if let Some(ordinal) = table.column(name) {
                    table.columns[ordinal].mask = mask.clone();
                }
                self.alter_column(txn, table, name, *ty, *nullable, *alias, *collation, work)?;
                match table.column(name) {
                    Some(i) => self.hold_xml_schemas(txn, scope, &table.columns[i..=i]),
                    None => Ok(()),
                }
            }
            AlterTable::DropColumn { name, if_exists } => {
                self.check_fulltext(scope, table, None, Some(name))?;
                self.renumber_tracked(table);
                self.drop_column(txn, scope, table, name, *if_exists, work)
            }
            AlterTable::RenameColumn { from, to } => self.rename_column(txn, table, from, to),
            AlterTable::RenameIndex { from, to } => {
                if table.indexes.iter().any(|i| same_name(&i.name, to)) {
                    let (name, table) = (to.clone(), crate::keys::shown(table));
                    return Err(CatalogError::IndexExists { name, table });
                }
                let i = position(table, from)?;
                if table.indexes[i].kind != IndexKind::Index {
                    return self.rename_constraint(txn, table, from, to);
                }
                table.indexes[i].name = to.clone();
                self.put_index(txn, table.object_id, &table.indexes[i])
            }
            AlterTable::RenameConstraint { from, to } => {
                self.rename_constraint(txn, table, from, to)
            }
            AlterTable::Rename { to } => {
                self.free_name(txn, &table.schema, &table.name)?;
                self.claim_name(txn, &table.schema, to, table.object_id, Wanted::Table)?;
                table.name = to.clone();
                Ok(())
            }
            AlterTable::DropConstraint { name, if_exists } => {
                if let Some(id) = table.index_id_of(name) {
                    self.check_fulltext(scope, table, Some((name, id)), None)?;
                    check_key_unused(table, name, id)?;
                }
                self.drop_constraint(txn, scope, table, name, *if_exists, work)
            }
        }
    }

    /// An index has come: its entries, or every row when it is the clustered one; a clustered columnstore index is the
    /// heap that was there.
    fn filled(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        index_id: i32,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        if index_id != 1 {
            work.push(Work::Fill { index_id });
            return Ok(());
        }
        if table.clustered_index().is_some_and(|index| index.columnstore.is_some()) {
            return Ok(());
        }
        self.move_rows(txn, table, work)
    }

    /// Rows move to new trees as they are.
    fn move_rows(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let same = (0..table.columns.len()).map(Some).collect();
        self.rewrite(txn, table, same, work)
    }

    /// Rows move to new trees, all indexes with them; the identity goes on where it is.
    fn rewrite(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        columns: Vec<Option<usize>>,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let before = table.clone();
        self.renew_tree(txn, table)?;
        self.carry_identity(&before, table)?;
        work.retain(|w| !matches!(w, Work::Fill { .. }));
        work.push(Work::Rewrite { columns });
        Ok(())
    }

    /// Has the table no row? Asked under its Sch-M lock, so nobody else is about to change it.
    fn is_empty(&self, txn: &mut Txn, table: &TableDef) -> Result<bool, CatalogError> {
        let tree = self.db.tree(table.tree);
        // The newest state counts, not that of the statement's snapshot.
        let options = ScanOptions { read: ReadOptions::nolock(), reverse: false, one_value: false };
        let mut scan = txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, options)?;
        Ok(scan.next(txn)?.is_none())
    }
}

/// Where the index of that name is; 3701-like 2727.
fn position(table: &TableDef, name: &str) -> Result<usize, CatalogError> {
    let found = table.indexes.iter().position(|i| same_name(&i.name, name));
    found.ok_or_else(|| CatalogError::NoSuchIndex { name: name.into() })
}

/// Foreign keys know columns by ordinal, whatever they are called.
fn without_keys(table: &TableDef) -> TableDef {
    TableDef { foreign_keys: Vec::new(), ..table.clone() }
}

/// 3734: XML and spatial indexes need the clustered primary key.
fn check_key_unused(table: &TableDef, name: &str, index_id: i32) -> Result<(), CatalogError> {
    let is_key = table.primary_key.as_ref().is_some_and(|key| same_name(&key.name, name));
    let needs_key = |index: &IndexDef| index.spatial.is_some() || index.xml.is_some();
    if !is_key || index_id != 1 || !table.indexes.iter().any(needs_key) {
        return Ok(());
    }
    Err(CatalogError::refused(
        3734,
        format!(
            "Could not drop the primary key constraint '{name}' because the table has an XML or spatial index."
        ),
    ))
}
