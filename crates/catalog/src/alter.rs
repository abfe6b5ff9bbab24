//! ALTER TABLE: the definition, and what work it leaves to do on the rows.

use crate::catalog::Catalog;
use crate::constraint::is_unique_key;
use crate::create::{add_column, default_name, define_key};
use crate::def::*;
use crate::scope::DdlScope;
use crate::spec::{AlterTable, ColumnSpec, KeySpec};
use crate::{CatalogError, Txn};
use engine::{ReadOptions, ScanOptions};
use std::ops::Bound;
use std::sync::Arc;
use types::Value;

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
        let Some((old, modified)) = self.lock_table(txn, scope, schema, name)? else {
            return Err(CatalogError::CannotFind { name: name.into() });
        };
        let empty = self.is_empty(txn, &old)?;
        let mut work = Vec::new();
        // Foreign keys define other tables too, so the scope is needed inside.
        let mut others = DdlScope { changes: std::mem::take(&mut scope.changes) };
        let new = self.change_table(txn, scope, &old, modified, |catalog, txn, table| {
            catalog.apply(txn, &mut others, table, change, empty, &mut work)
        });
        let own = std::mem::replace(&mut scope.changes, others.changes);
        scope.changes.extend(own);
        let new = new?;
        if empty {
            work.clear();
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
            AlterTable::AddColumns(columns) => {
                let before = table.columns.len();
                columns.iter().try_for_each(|c| self.add_one(txn, table, c, empty))?;
                // Values that the engine makes are in every row.
                if !empty && table.columns[before..].iter().any(ColumnDef::is_made) {
                    let columns = (0..table.columns.len()).map(|i| (i < before).then_some(i));
                    self.rewrite(txn, table, columns.collect(), work)?;
                }
                Ok(())
            }
            AlterTable::AddDefault { name, column, text } => {
                self.add_default(txn, table, name.as_deref(), column, text)
            }
            AlterTable::AddPrimaryKey(key) => self.add_key(txn, table, key, work),
            AlterTable::AddUnique(key) => {
                let id = self.add_unique(txn, table, key)?;
                self.filled(txn, table, id, work)
            }
            AlterTable::AddIndex(spec) => {
                if spec.drop_existing {
                    self.drop_index(txn, table, &spec.name, work)?;
                }
                let id = self.add_index(txn, table, spec, IndexKind::Index)?;
                self.filled(txn, table, id, work)
            }
            AlterTable::DropIndex { name } => self.drop_index(txn, table, name, work),
            AlterTable::RebuildIndex { name } => self.rebuild(txn, table, name.as_deref(), work),
            AlterTable::DisableIndex { name } => self.disable(txn, table, name.as_deref()),
            AlterTable::SetIgnoreDupKey { name, on } => {
                let i = position(table, name)?;
                table.indexes[i].ignore_dup_key = *on;
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
            AlterTable::AlterColumn { name, ty, nullable } => {
                self.alter_column(txn, table, name, *ty, *nullable, work)
            }
            AlterTable::DropColumn { name, if_exists } => {
                self.drop_column(txn, scope, table, name, *if_exists, work)
            }
            AlterTable::RenameColumn { from, to } => self.rename_column(txn, table, from, to),
            AlterTable::RenameIndex { from, to } => {
                if table.indexes.iter().any(|i| same_name(&i.name, to)) {
                    let (name, table) = (to.clone(), crate::index::shown(table));
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
                self.claim_name(txn, &table.schema, to, table.object_id)?;
                table.name = to.clone();
                Ok(())
            }
            AlterTable::DropConstraint { name, if_exists } => {
                self.drop_constraint(txn, scope, table, name, *if_exists, work)
            }
        }
    }

    /// An index has come: its entries, or every row when it is the clustered one.
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
        self.carry_identity(txn, &before, table)?;
        work.retain(|w| !matches!(w, Work::Fill { .. }));
        work.push(Work::Rewrite { columns });
        Ok(())
    }

    fn drop_index(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let shown = || format!("{}.{name}", table.name).into();
        let own_key = table.primary_key.as_ref().is_some_and(|k| same_name(&k.name, name));
        let Some(index) = table.index(name) else {
            return Err(match own_key {
                true => CatalogError::ConstraintIndex { name: shown(), kind: "PRIMARY KEY" },
                false => CatalogError::NoIndex { name: shown() },
            });
        };
        let kind = match index.kind {
            IndexKind::Index => None,
            IndexKind::PrimaryKey => Some("PRIMARY KEY"),
            IndexKind::Unique => Some("UNIQUE KEY"),
        };
        if let Some(kind) = kind {
            return Err(CatalogError::ConstraintIndex { name: shown(), kind });
        }
        let id = index.index_id;
        self.remove_index(txn, table, id)?;
        if id == 1 {
            self.move_rows(txn, table, work)?;
        }
        Ok(())
    }

    fn rebuild(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: Option<&str>,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let clustered = |table: &TableDef, name: &str| {
            table.primary_key.as_ref().is_some_and(|k| k.clustered && same_name(&k.name, name))
        };
        let all = match name {
            None => true,
            Some(name) if clustered(table, name) => false,
            Some(name) => {
                let i = position(table, name)?;
                let index = &mut table.indexes[i];
                if !index.clustered {
                    index.disabled = false;
                    index.tree = txn.truncate_tree(&self.db.tree(index.tree))?;
                    self.put_index(txn, table.object_id, &table.indexes[i])?;
                    work.push(Work::Fill { index_id: table.indexes[i].index_id });
                    return Ok(());
                }
                false
            }
        };
        if all {
            table.indexes.iter_mut().for_each(|i| i.disabled = false);
        }
        self.move_rows(txn, table, work)
    }

    fn disable(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: Option<&str>,
    ) -> Result<(), CatalogError> {
        let clustered = |i: &IndexDef| i.clustered;
        let refused = match name {
            Some(name) if table.index(name).is_none() => {
                let own = |k: &KeyDef| same_name(&k.name, name);
                if !table.primary_key.as_ref().is_some_and(own) {
                    position(table, name)?;
                }
                true
            }
            Some(name) => table.index(name).is_some_and(clustered),
            None => !table.is_heap(),
        };
        if refused {
            let what = "ALTER INDEX DISABLE of a clustered index".into();
            return Err(CatalogError::NotSupported { what });
        }
        for i in 0..table.indexes.len() {
            let index = &mut table.indexes[i];
            if index.disabled || name.is_some_and(|name| !same_name(&index.name, name)) {
                continue;
            }
            index.disabled = true;
            index.tree = txn.truncate_tree(&self.db.tree(index.tree))?;
            self.put_index(txn, table.object_id, &table.indexes[i])?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one statement")]
    fn enable(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        names: &[Box<str>],
        enable: bool,
        verify: bool,
        empty: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        for name in names {
            let known = table.checks.iter().map(|c| &c.name);
            let mut known = known.chain(table.foreign_keys.iter().map(|k| &k.name));
            if !known.any(|n| same_name(n, name)) {
                return Err(CatalogError::NoSuchConstraint { name: name.clone() });
            }
        }
        let meant = |name: &str| names.is_empty() || names.iter().any(|n| same_name(n, name));
        for i in 0..table.checks.len() {
            let check = &mut table.checks[i];
            if meant(&check.name) {
                let as_before = !check.disabled && check.trusted;
                check.disabled = !enable;
                check.trusted = enable && (verify || empty || as_before);
                if enable && verify {
                    work.push(Work::VerifyCheck { object_id: check.object_id });
                }
                self.put_check(txn, table.object_id, &table.checks[i])?;
            }
        }
        for i in 0..table.foreign_keys.len() {
            let key = &mut table.foreign_keys[i];
            if meant(&key.name) {
                let as_before = !key.disabled && key.trusted;
                key.disabled = !enable;
                key.trusted = enable && (verify || empty || as_before);
                if enable && verify {
                    work.push(Work::VerifyForeignKey { object_id: key.object_id });
                }
                self.put_foreign_key(txn, table.object_id, &table.foreign_keys[i])?;
            }
        }
        Ok(())
    }

    fn alter_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        ty: types::SqlType,
        nullable: Option<bool>,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        const ACTION: &str = "ALTER COLUMN";
        let Some(ordinal) = table.column(name) else {
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: ACTION, column, table });
        };
        let nullable = nullable.unwrap_or(true);
        let column = &table.columns[ordinal];
        if column.is_made() {
            let what = "ALTER COLUMN of a computed or rowversion column".into();
            return Err(CatalogError::NotSupported { what });
        }
        // What only grows, and keys that only grow, need not be let go first.
        let grows = same_kind_wider(column.ty, ty);
        let in_key = |i: &IndexDef| i.columns.iter().any(|(k, _)| *k == ordinal);
        let keyed =
            table.primary_key.as_ref().filter(|k| k.columns.iter().any(|(i, _)| *i == ordinal));
        let user = if let Some(key) = keyed.filter(|_| !grows || nullable) {
            Some(key.name.clone())
        } else if let Some(index) =
            table.indexes.iter().find(|i| !grows && (in_key(i) || i.include.contains(&ordinal)))
        {
            Some(index.name.clone())
        } else if let (Some(default), false) = (&column.default, grows || column.ty == ty) {
            Some(default.name.clone())
        } else {
            self.dependent(table, ordinal, !grows)
        };
        if let Some(object) = user {
            let column = column.name.clone();
            return Err(CatalogError::ColumnInUse { action: ACTION, column, object });
        }
        if crate::index::is_max(ty) && table.indexes.iter().any(in_key) {
            let (table, column) = (table.name.clone(), column.name.clone());
            return Err(CatalogError::InvalidKeyType { table, column });
        }
        let column = &mut table.columns[ordinal];
        (column.ty, column.nullable) = (ty, nullable && column.identity.is_none());
        column.absent = Value::Null;
        self.put_column(txn, table.object_id, ordinal, &table.columns[ordinal])?;
        self.move_rows(txn, table, work)
    }

    /// A constraint or computed column that depends on a column; with `types` those that only its type matters to.
    fn dependent(&self, table: &TableDef, ordinal: usize, types: bool) -> Option<Box<str>> {
        let name = &table.columns[ordinal].name;
        let names = |text: &str| mentions(text, name);
        if types && let Some(check) = table.checks.iter().find(|c| names(&c.text)) {
            return Some(check.name.clone());
        }
        let computed =
            table.columns.iter().find(|c| c.computed.as_ref().is_some_and(|k| names(&k.text)));
        if let Some(column) = computed {
            return Some(column.name.clone());
        }
        let filtered = |i: &&IndexDef| i.filter.as_ref().is_some_and(|f| names(f));
        if let Some(index) = table.indexes.iter().find(filtered) {
            return Some(index.name.clone());
        }
        let key = table.foreign_keys.iter().find(|k| {
            k.columns.contains(&ordinal)
                || (k.table == table.object_id && k.referenced.contains(&ordinal))
        });
        key.map(|k| k.name.clone())
    }

    fn drop_column(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        table: &mut TableDef,
        name: &str,
        if_exists: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        const ACTION: &str = "DROP COLUMN";
        let Some(gone) = table.column(name) else {
            if if_exists {
                return Ok(());
            }
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: ACTION, column, table });
        };
        let of_key = |k: &&KeyDef| k.columns.iter().any(|(i, _)| *i == gone);
        let of_index =
            |i: &&IndexDef| i.columns.iter().any(|(k, _)| *k == gone) || i.include.contains(&gone);
        let children = self.references_to(Some(scope), table);
        let refers = children
            .iter()
            .find(|(child, k)| child.foreign_keys[*k].referenced.contains(&gone))
            .map(|(child, k)| child.foreign_keys[*k].name.clone());
        let user = table.columns[gone].default.as_ref().map(|d| d.name.clone());
        let user = user
            .or_else(|| table.primary_key.as_ref().filter(of_key).map(|k| k.name.clone()))
            .or_else(|| table.indexes.iter().find(of_index).map(|i| i.name.clone()))
            .or_else(|| self.dependent(table, gone, true))
            .or(refers);
        if let Some(object) = user {
            let column = table.columns[gone].name.clone();
            return Err(CatalogError::ColumnInUse { action: ACTION, column, object });
        }
        if table.columns.iter().filter(|c| c.computed.is_none()).count() == 1
            && table.columns[gone].computed.is_none()
        {
            let (column, table) = (table.columns[gone].name.clone(), table.name.clone());
            return Err(CatalogError::LastColumn { column, table });
        }
        let columns = (0..table.columns.len()).filter(|i| *i != gone).map(Some).collect();
        table.columns.remove(gone);
        let id = Value::Int(table.object_id);
        for (ordinal, column) in table.columns.iter().enumerate().skip(gone) {
            self.put_column(txn, table.object_id, ordinal, column)?;
        }
        let last = Value::SmallInt(table.columns.len() as i16);
        self.tables.columns.delete(txn, &[id.clone(), last])?;
        // Whoever names columns by ordinal names them anew.
        let move_down = |i: &mut usize| *i -= usize::from(*i > gone);
        if let Some(key) = &mut table.primary_key {
            key.columns.iter_mut().for_each(|(i, _)| move_down(i));
            self.put_key_row(txn, table.object_id, key)?;
        }
        for index in &mut table.indexes {
            index.columns.iter_mut().for_each(|(i, _)| move_down(i));
            index.include.iter_mut().for_each(move_down);
        }
        for i in 0..table.checks.len() {
            table.checks[i].column.iter_mut().for_each(move_down);
            self.put_check(txn, table.object_id, &table.checks[i])?;
        }
        let own = table.object_id;
        for i in 0..table.foreign_keys.len() {
            let key = &mut table.foreign_keys[i];
            key.columns.iter_mut().for_each(move_down);
            if key.table == own {
                key.referenced.iter_mut().for_each(move_down);
            }
            self.put_foreign_key(txn, own, &table.foreign_keys[i])?;
        }
        if let Some((child, _)) = children
            .iter()
            .find(|(child, k)| child.foreign_keys[*k].referenced.iter().any(|i| *i > gone))
        {
            let what = format!(
                "ALTER TABLE DROP COLUMN before a column that table '{}' refers to",
                child.name
            );
            return Err(CatalogError::NotSupported { what: what.into() });
        }
        self.rewrite(txn, table, columns, work)
    }

    fn rename_constraint(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        from: &str,
        to: &str,
    ) -> Result<(), CatalogError> {
        self.claim_name(txn, &table.schema, to, table.object_id)?;
        self.free_name(txn, &table.schema, from)?;
        let id = table.object_id;
        if let Some(key) = table.primary_key.as_mut().filter(|k| same_name(&k.name, from)) {
            key.name = to.into();
            self.put_key_row(txn, id, key)?;
        }
        for i in 0..table.indexes.len() {
            if same_name(&table.indexes[i].name, from) {
                table.indexes[i].name = to.into();
                self.put_index(txn, id, &table.indexes[i])?;
            }
        }
        for i in 0..table.checks.len() {
            if same_name(&table.checks[i].name, from) {
                table.checks[i].name = to.into();
                self.put_check(txn, id, &table.checks[i])?;
            }
        }
        for i in 0..table.foreign_keys.len() {
            if same_name(&table.foreign_keys[i].name, from) {
                table.foreign_keys[i].name = to.into();
                self.put_foreign_key(txn, id, &table.foreign_keys[i])?;
            }
        }
        for i in 0..table.columns.len() {
            let column = &mut table.columns[i];
            if let Some(default) = column.default.as_mut().filter(|d| same_name(&d.name, from)) {
                default.name = to.into();
                self.put_column(txn, id, i, &table.columns[i])?;
            }
        }
        Ok(())
    }

    pub(crate) fn add_unique(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        key: &KeySpec,
    ) -> Result<i32, CatalogError> {
        let unlike = self.new_object_id();
        let name = key.name.clone().unwrap_or_else(|| {
            let first: String = table.name.chars().take(9).collect();
            let hash = (unlike as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("UQ__{first}__{hash:016X}").into()
        });
        self.add_key_index(txn, table, key, &name, IndexKind::Unique)
    }

    /// Has the table no row? Asked under its Sch-M lock, so nobody else is about to change it.
    fn is_empty(&self, txn: &mut Txn, table: &TableDef) -> Result<bool, CatalogError> {
        let tree = self.db.tree(table.tree);
        // The newest state counts, not that of the statement's snapshot.
        let options = ScanOptions { read: ReadOptions::nolock(), reverse: false };
        let mut scan = txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, options)?;
        Ok(scan.next(txn)?.is_none())
    }

    fn add_one(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        spec: &ColumnSpec,
        empty: bool,
    ) -> Result<(), CatalogError> {
        let name = table.name.clone();
        add_column(&mut table.columns, spec, &name, table.object_id)?;
        let ordinal = table.columns.len() - 1;
        let column = &mut table.columns[ordinal];
        column.absent = spec.absent.clone().unwrap_or_default();
        if spec.identity.is_some() && !empty {
            let what = "ALTER TABLE ADD of an IDENTITY column to a table with rows".into();
            return Err(CatalogError::NotSupported { what });
        }
        let unfilled = !column.nullable && column.absent.is_null();
        if unfilled && !empty {
            let column = spec.name.clone();
            return Err(CatalogError::AddNotNull { table: name, column });
        }
        if let Some(default) = &column.default {
            self.claim_name(txn, &table.schema, &default.name, table.object_id)?;
        }
        self.put_column(txn, table.object_id, ordinal, column)?;
        if unfilled {
            // A session that has waited for our lock with the old definition would leave a row
            // without this column. Its tree is gone then, and it must look again.
            self.renew_tree(txn, table)?;
        }
        Ok(())
    }

    fn rename_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        from: &str,
        to: &str,
    ) -> Result<(), CatalogError> {
        let Some(ordinal) = table.column(from) else {
            return Err(CatalogError::NoKeyColumn { column: from.into() });
        };
        if table.column(to).is_some_and(|taken| taken != ordinal) {
            let table = table.name.clone();
            return Err(CatalogError::DuplicateColumn { table, column: to.into() });
        }
        // Texts that name the column would lose it.
        if let Some(object) = self.dependent(&without_keys(table), ordinal, true) {
            let (action, column) = ("RENAME COLUMN", table.columns[ordinal].name.clone());
            return Err(CatalogError::ColumnInUse { action, column, object });
        }
        table.columns[ordinal].name = to.into();
        self.put_column(txn, table.object_id, ordinal, &table.columns[ordinal])
    }

    fn add_default(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: Option<&str>,
        column: &str,
        text: &str,
    ) -> Result<(), CatalogError> {
        let Some(ordinal) = table.column(column) else {
            let table = table.name.clone();
            return Err(CatalogError::NoDefaultColumn { column: column.into(), table });
        };
        let target = &mut table.columns[ordinal];
        if target.default.is_some() {
            return Err(CatalogError::DefaultExists { column: column.into() });
        }
        let generated = || default_name(&table.name, &target.name, table.object_id, ordinal);
        let name = name.map_or_else(generated, Into::into);
        self.claim_name(txn, &table.schema, &name, table.object_id)?;
        target.default = Some(DefaultDef { name, text: text.into() });
        self.put_column(txn, table.object_id, ordinal, target)
    }

    fn add_key(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        spec: &KeySpec,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        if table.primary_key.is_some() {
            return Err(CatalogError::PrimaryKeyExists { table: table.name.clone() });
        }
        if spec.clustered
            && let Some(index) = table.clustered_index()
        {
            let (table, index) = (crate::index::shown(table), index.name.clone());
            return Err(CatalogError::ClusteredExists { table, index });
        }
        // An empty table's columns may become NOT NULL.
        let nullable: Vec<Box<str>> =
            table.columns.iter().filter(|c| c.nullable).map(|c| c.name.clone()).collect();
        let unlike = self.new_object_id();
        let key = define_key(spec, &table.name, unlike, &mut table.columns, |name| {
            nullable.iter().any(|n| same_name(n, name))
        })?;
        self.put_key(txn, table, &key)?;
        let clustered = key.clustered;
        let name = key.name.clone();
        table.primary_key = Some(key);
        // A heap's tree has keys of another shape, ghosts among them: a clustered key moves the rows, if there are none too.
        let index_id = match clustered {
            true => 1,
            false => self.add_key_index(txn, table, spec, &name, IndexKind::PrimaryKey)?,
        };
        self.filled(txn, table, index_id, work)
    }

    fn drop_constraint(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        table: &mut TableDef,
        name: &str,
        if_exists: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let of_column =
            |c: &ColumnDef| c.default.as_ref().is_some_and(|d| same_name(&d.name, name));
        if let Some(ordinal) = table.columns.iter().position(of_column) {
            let column = &mut table.columns[ordinal];
            column.default = None;
            self.free_name(txn, &table.schema, name)?;
            return self.put_column(txn, table.object_id, ordinal, column);
        }
        if let Some(i) = table.checks.iter().position(|c| same_name(&c.name, name)) {
            let check = table.checks.remove(i);
            return self.forget_constraint(txn, table, check.object_id, &check.name);
        }
        if let Some(i) = table.foreign_keys.iter().position(|k| same_name(&k.name, name)) {
            let key = table.foreign_keys.remove(i);
            return self.forget_constraint(txn, table, key.object_id, &key.name);
        }
        let primary = table.primary_key.clone().filter(|k| same_name(&k.name, name));
        let index =
            table.indexes.iter().find(|i| i.kind != IndexKind::Index && same_name(&i.name, name));
        let index = index.map(|i| (i.index_id, i.columns.clone()));
        let columns = primary.as_ref().map(|k| k.columns.clone());
        let Some(columns) = columns.or(index.as_ref().map(|(_, c)| c.clone())) else {
            return match if_exists {
                true => Ok(()),
                false => Err(CatalogError::NoConstraint { name: name.into() }),
            };
        };
        let columns: Vec<usize> = columns.iter().map(|(i, _)| *i).collect();
        let clustered = primary.as_ref().is_some_and(|k| k.clustered)
            || index.as_ref().is_some_and(|(id, _)| *id == 1);
        if primary.is_some() {
            table.primary_key = None;
            self.tables.keys.delete(txn, &[Value::Int(table.object_id)])?;
        }
        match index {
            // It frees the name.
            Some((id, _)) => {
                self.remove_index(txn, table, id)?;
            }
            None => self.free_name(txn, &table.schema, name)?,
        }
        // A foreign key needs a key.
        let own = table.foreign_keys.iter().filter(|k| k.table == table.object_id);
        let own = own.map(|k| (table.name.clone(), k.clone()));
        let others = self.references_to(Some(scope), table);
        let others = others.iter().map(|(c, k)| (c.name.clone(), c.foreign_keys[*k].clone()));
        for (child, key) in own.chain(others) {
            let same = key.referenced.len() == columns.len()
                && key.referenced.iter().all(|i| columns.contains(i));
            if same && !is_unique_key(table, &key.referenced) {
                let by = key.name.clone();
                return Err(CatalogError::KeyReferenced { key: name.into(), table: child, by });
            }
        }
        if clustered {
            self.move_rows(txn, table, work)?;
        }
        Ok(())
    }
}

/// Where the index of that name is; 3701-like 2727.
fn position(table: &TableDef, name: &str) -> Result<usize, CatalogError> {
    let found = table.indexes.iter().position(|i| same_name(&i.name, name));
    found.ok_or_else(|| CatalogError::NoSuchIndex { name: name.into() })
}

/// Every value of `old` is one of `new`, told in the same way: varchar(10) and varchar(20).
fn same_kind_wider(old: types::SqlType, new: types::SqlType) -> bool {
    use types::{Len, SqlType::*};
    let wider = |a: Len, b: Len| a.limit() <= b.limit() && (b != Len::Max || a == Len::Max);
    match (old, new) {
        (VarChar(a), VarChar(b)) | (NVarChar(a), NVarChar(b)) | (VarBinary(a), VarBinary(b)) => {
            wider(a, b)
        }
        (a, b) => a == b,
    }
}

/// Does a text of T-SQL use a name? Looked for as a whole word, in brackets or not.
fn mentions(text: &str, name: &str) -> bool {
    let text = text.to_lowercase();
    let name = name.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$');
    text.match_indices(&name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Foreign keys know columns by ordinal, whatever they are called.
fn without_keys(table: &TableDef) -> TableDef {
    TableDef { foreign_keys: Vec::new(), ..table.clone() }
}
