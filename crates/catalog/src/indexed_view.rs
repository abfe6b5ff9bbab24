//! Indexed views: a view whose rows are kept, in a tree like a table's, under the key of its unique clustered index.
//!
//! ```text
//! CREATE UNIQUE CLUSTERED INDEX   the view gets rows ([`ProcedureDef::rows`]), each table below it its id
//! other indexes                   those of the rows: whatever changes a table's indexes changes these
//! DROP of that index, DROP and ALTER VIEW   the rows go, with all indexes, and the tables forget the view
//! ```
//!
//! Invariants: the rows have the view's id, schema and name; a table knows each indexed view above it
//! ([`TableDef::views`]), so that whoever changes its rows need not look. What the rows must be is not known here: whoever
//! makes an index on a view fills it, under the Sch-M locks of all its tables, which are ours until the transaction ends.

use crate::catalog::Catalog;
use crate::create::add_column;
use crate::def::*;
use crate::load::lay_out;
use crate::scope::{Change, DdlScope, Entry};
use crate::spec::{ColumnSpec, IndexSpec};
use crate::{CatalogError, Txn};
use std::sync::Arc;
use types::Value;

impl Catalog {
    /// Gives a view rows, none so far, under the key of a unique clustered index. 208 where the view or one of the tables
    /// is gone; what is refused of any index. Takes the Sch-M locks of the tables. Suspends.
    pub fn index_view(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        view: &ProcedureDef,
        columns: &[ColumnSpec],
        tables: &[i32],
        spec: &IndexSpec,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let gone = || CatalogError::InvalidObject { name: view.name.clone() };
        let (old, modified) = self.lock_definition(txn, scope, view)?;
        if old.version != view.version || old.rows.is_some() {
            // Somebody was faster.
            return Err(gone());
        }
        if !self.tell_tables(txn, scope, tables, old.object_id, true)? {
            return Err(gone());
        }
        let (number, filegroup) = self.filegroup(None)?;
        let mut own = Vec::with_capacity(columns.len());
        for column in columns {
            add_column(&mut own, column, &old.name, old.object_id)?;
        }
        let view = IndexedView { module: (*old).clone(), tables: tables.to_vec() };
        let mut rows = TableDef {
            tree: txn.create_tree(number)?,
            view: Some(Arc::new(view)),
            database_collation: self.collation(),
            filegroup,
            version: self.new_version(),
            created_unix_ns: old.created_unix_ns,
            ..TableDef::bare(old.object_id, old.schema.clone(), old.name.clone(), own)
        };
        for (ordinal, column) in rows.columns.iter().enumerate() {
            self.put_column(txn, rows.object_id, ordinal, column)?;
        }
        self.put_table_rows(txn, &rows, number)?;
        self.add_index(txn, scope, &mut rows, spec, IndexKind::Index)?;
        lay_out(&mut rows);
        // A row too large is refused, and one that may be so gets a place for large values.
        self.change_table(txn, scope, &rows, modified, |_, _, _| Ok(()))
    }

    /// DROP INDEX of a view's clustered index: nothing is kept of it any more. Suspends.
    pub fn unindex_view(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        view: &ProcedureDef,
    ) -> Result<(), CatalogError> {
        let (old, modified) = self.lock_definition(txn, scope, view)?;
        self.forget_view_rows(txn, scope, &old)?;
        let new = ProcedureDef { rows: None, version: self.new_version(), ..(*old).clone() };
        let (kind, id, modified) = (new.kind.number(), new.object_id, modified + 1);
        self.put_object(txn, &new.schema, &new.name, kind, id, modified, false)?;
        let object = ObjectRef::Procedure(Arc::new(new));
        scope.changes.push(Change::Put(Entry { object, modified }));
        Ok(())
    }

    /// The rows of a locked view go, if it has any, and its tables forget it.
    pub(crate) fn forget_view_rows(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        view: &ProcedureDef,
    ) -> Result<(), CatalogError> {
        let Some(rows) = &view.rows else { return Ok(()) };
        // Whoever changes a row locks its table before the view.
        let tables = rows.view.iter().flat_map(|view| view.tables.iter().copied());
        let tables: Vec<i32> = tables.collect();
        self.tell_tables(txn, scope, &tables, view.object_id, false)?;
        let mut rest = (**rows).clone();
        while let Some(index) = rest.indexes.last() {
            let id = index.index_id;
            self.remove_index(txn, &mut rest, id)?;
        }
        txn.drop_tree(&self.db.tree(rows.tree))?;
        if let Some(lob) = rows.lob {
            txn.drop_tree(&self.db.tree(lob))?;
        }
        let id = Value::Int(rows.object_id);
        let t = &self.tables;
        for row in t.statistics.scan(txn, std::slice::from_ref(&id))? {
            t.statistics.delete(txn, &row[..3])?;
        }
        for ordinal in 0..rows.columns.len() {
            t.columns.delete(txn, &[id.clone(), Value::SmallInt(ordinal as i16)])?;
        }
        self.put_partitioned(txn, rows.object_id, 0, None)?;
        t.tables.delete(txn, std::slice::from_ref(&id))?;
        Ok(())
    }

    /// Tables are to keep a view true to their rows, or to forget it. False: one of them is gone.
    fn tell_tables(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        tables: &[i32],
        view: i32,
        keep: bool,
    ) -> Result<bool, CatalogError> {
        for id in tables {
            let Some(table) = self.table_by_id(Some(scope), *id) else { return Ok(false) };
            let locked = self.lock_table(txn, scope, Some(&table.schema), &table.name)?;
            let locked = locked.filter(|(table, _)| table.object_id == *id);
            let Some((table, modified)) = locked else { return Ok(false) };
            self.change_table(txn, scope, &table, modified, |_, _, table| {
                table.views.retain(|id| *id != view);
                table.views.extend(keep.then_some(view));
                Ok(())
            })?;
        }
        Ok(true)
    }

    /// ALTER INDEX DISABLE of a view's clustered index, and so of all: the definitions stay, and no rows.
    pub(crate) fn disable_view(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        rows: &mut TableDef,
    ) -> Result<(), CatalogError> {
        let tables = rows.view.as_ref().map(|view| view.tables.clone()).unwrap_or_default();
        self.tell_tables(txn, scope, &tables, rows.object_id, false)?;
        rows.indexes.iter_mut().for_each(|index| index.disabled = true);
        self.renew_tree(txn, rows)
    }

    /// ALTER INDEX REBUILD of a view whose rows are not kept: they are from here on, and the caller fills them in. `all`
    /// of its indexes, or the clustered one.
    pub(crate) fn enable_view(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        rows: &mut TableDef,
        all: bool,
    ) -> Result<(), CatalogError> {
        let tables = rows.view.as_ref().map(|view| view.tables.clone()).unwrap_or_default();
        self.tell_tables(txn, scope, &tables, rows.object_id, true)?;
        let enabled = rows.indexes.iter_mut().filter(|index| all || index.clustered);
        enabled.for_each(|index| index.disabled = false);
        self.renew_tree(txn, rows)
    }

    /// The rows of a view that has another name or schema now.
    pub(crate) fn moved_view_rows(&self, module: &ProcedureDef) -> Option<Arc<TableDef>> {
        let rows = module.rows.as_ref()?;
        let tables = rows.view.as_ref()?.tables.clone();
        let view = IndexedView { module: ProcedureDef { rows: None, ..module.clone() }, tables };
        let (schema, name) = (module.schema.clone(), module.name.clone());
        let (view, version) = (Some(Arc::new(view)), module.version);
        Some(Arc::new(TableDef { schema, name, view, version, ..(**rows).clone() }))
    }
}
