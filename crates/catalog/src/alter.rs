//! ALTER TABLE: what changes no row, and what an empty table allows.

use crate::catalog::Catalog;
use crate::create::{add_column, default_name, define_key};
use crate::def::*;
use crate::scope::DdlScope;
use crate::spec::{AlterTable, ColumnSpec, KeySpec};
use crate::{CatalogError, Txn};
use engine::{ReadOptions, ScanOptions};
use std::ops::Bound;
use std::sync::Arc;
use types::Value;

impl Catalog {
    /// ALTER TABLE; 4902 when there is none. Takes the Sch-M lock. Rows are not rewritten: those
    /// written before an ADD read as [`ColumnDef::absent`]. Suspends.
    pub fn alter_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
        change: &AlterTable,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let Some((table, modified)) = self.lock_table(txn, scope, schema, name)? else {
            return Err(CatalogError::CannotFind { name: name.into() });
        };
        let empty = self.is_empty(txn, &table)?;
        self.change_table(txn, scope, &table, modified, |catalog, txn, table| match change {
            AlterTable::AddColumns(columns) => {
                columns.iter().try_for_each(|c| catalog.add_one(txn, table, c, empty))
            }
            AlterTable::AddDefault { name, column, text } => {
                catalog.add_default(txn, table, name.as_deref(), column, text)
            }
            AlterTable::AddPrimaryKey(key) => catalog.add_key(txn, table, key, empty),
            AlterTable::RenameColumn { from, to } => catalog.rename_column(txn, table, from, to),
            AlterTable::Rename { to } => {
                catalog.free_name(txn, &table.schema, &table.name)?;
                catalog.claim_name(txn, &table.schema, to, table.object_id)?;
                table.name = to.clone();
                Ok(())
            }
            AlterTable::DropConstraint { name, if_exists } => {
                catalog.drop_constraint(txn, table, name, *if_exists, empty)
            }
        })
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
        empty: bool,
    ) -> Result<(), CatalogError> {
        if table.primary_key.is_some() {
            return Err(CatalogError::PrimaryKeyExists { table: table.name.clone() });
        }
        if !empty {
            let what = "ALTER TABLE ADD PRIMARY KEY to a table with rows".into();
            return Err(CatalogError::NotSupported { what });
        }
        let nullable: Vec<Box<str>> =
            table.columns.iter().filter(|c| c.nullable).map(|c| c.name.clone()).collect();
        let key = define_key(spec, &table.name, table.object_id, &mut table.columns, |name| {
            nullable.iter().any(|n| same_name(n, name))
        })?;
        self.put_key(txn, table, &key)?;
        table.primary_key = Some(key);
        // A heap's tree has keys of another shape, ghosts among them.
        self.renew_tree(txn, table)
    }

    fn drop_constraint(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        if_exists: bool,
        empty: bool,
    ) -> Result<(), CatalogError> {
        let of_column =
            |c: &ColumnDef| c.default.as_ref().is_some_and(|d| same_name(&d.name, name));
        if let Some(ordinal) = table.columns.iter().position(of_column) {
            let column = &mut table.columns[ordinal];
            column.default = None;
            self.free_name(txn, &table.schema, name)?;
            return self.put_column(txn, table.object_id, ordinal, column);
        }
        if table.primary_key.as_ref().is_some_and(|k| same_name(&k.name, name)) {
            if !empty {
                let what = "ALTER TABLE DROP of the PRIMARY KEY of a table with rows".into();
                return Err(CatalogError::NotSupported { what });
            }
            table.primary_key = None;
            self.tables.keys.delete(txn, &[Value::Int(table.object_id)])?;
            self.free_name(txn, &table.schema, name)?;
            return self.renew_tree(txn, table);
        }
        if if_exists { Ok(()) } else { Err(CatalogError::NoConstraint { name: name.into() }) }
    }
}
