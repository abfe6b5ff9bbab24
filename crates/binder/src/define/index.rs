//! CREATE INDEX, ALTER INDEX and indexes inside a table's definition.

use ir::*;

use super::{Parts, row_columns};
use crate::context::Binder;
use catalog::{AlterTable as Change, IndexSpec, TableDef};
use semantics::columnstore::{self, Statement};
use semantics::index_definition::{
    check_alterable, check_bucket_count, clustered_in_memory, hash_on_disk, index_options,
    index_spec, is_columnstore, named_index, reorganize_options, unique_key,
};
use semantics::names::is_private;
use semantics::{BindError, Result, spatial, xml_index};
use syntax::ast;

impl Binder<'_> {
    /// CREATE INDEX on a temporary table: a unique one is a constraint, any other has no effect, for rows in memory are
    /// found by the primary key or by looking at all of them. 1088.
    pub fn private_index(&mut self, create: &ast::CreateIndex, text: &str) -> Result<StmtKind> {
        let name = ObjectName::from(&create.table);
        self.indexed_table(&create.table)?;
        let index = &create.index;
        if index.columnstore {
            columnstore::spec(index, text)?;
        }
        if let Some(asked) = &index.spatial {
            let table = self.indexed_table(&create.table)?;
            spatial::spec(index, asked, &table, IndexSpec::default())?;
        }
        if let Some(asked) = &index.xml {
            let table = self.indexed_table(&create.table)?;
            xml_index::spec(index, asked, &table, IndexSpec::default())?;
        }
        if !index.unique {
            return Ok(StmtKind::Nothing);
        }
        if index.filter.is_some() {
            return Err(BindError::unsupported("UNIQUE INDEX with a filter", index.span.line));
        }
        let key = unique_key(index);
        Ok(StmtKind::Ddl(Box::new(ddl::Ddl::PrivateUnique { table: name, key })))
    }

    /// The table of an index, or the rows of an indexed view; 1088.
    fn indexed_table(&self, name: &ast::ObjectName) -> Result<std::sync::Arc<TableDef>> {
        let wanted = ObjectName::from(name);
        let line = name.span.line.max(1);
        let found = self.own_table(name).or_else(|| self.indexed_rows(&wanted));
        found.ok_or_else(|| {
            let is_view = self.names.view(&wanted).is_some() && !self.names.is_synonym(&wanted);
            if !is_view && self.names.has_object(&wanted) {
                let text = format!(
                    "Index cannot be created on object '{name}' because the object is not a user table or view."
                );
                return BindError::new(1914, 16, line, text);
            }
            BindError::cannot_find(1088, name, line).with_state(12)
        })
    }

    /// CREATE UNIQUE CLUSTERED INDEX on a view that has no rows so far, if it is one.
    pub fn first_index(
        &mut self,
        create: &ast::CreateIndex,
        text: &str,
    ) -> Result<Option<ddl::IndexView>> {
        let wanted = ObjectName::from(&create.table);
        let view = match self.table(&wanted) {
            None => self.names.view(&wanted).filter(|view| view.rows.is_none()),
            Some(_) => None,
        };
        let Some(view) = view else { return Ok(None) };
        let spec = index_spec(&create.index, text)?;
        Ok(Some(self.index_view(&view, create, spec)?))
    }

    /// The same for ALTER INDEX, whose 1088 has a state of its own.
    fn altered_table(&self, name: &ast::ObjectName) -> Result<std::sync::Arc<TableDef>> {
        self.indexed_table(name).map_err(|e| match e.number {
            1088 => e.with_state(9),
            _ => e,
        })
    }

    /// CREATE INDEX: 1088, 155.
    pub fn create_index(
        &mut self,
        create: &ast::CreateIndex,
        text: &str,
    ) -> Result<ddl::AlterTable> {
        let table = self.indexed_table(&create.table)?;
        let mut spec = index_spec(&create.index, text)?;
        if table.view.is_some() {
            semantics::indexed_view::check_further(&spec, &create.index, &table)?;
        }
        if let Some(asked) = &create.index.spatial {
            spec = spatial::spec(&create.index, asked, &table, spec)?;
        }
        if let Some(asked) = &create.index.xml {
            spec = xml_index::spec(&create.index, asked, &table, spec)?;
        }
        if let Some(filter) = &create.index.filter {
            let columns = row_columns(Some(&table), &[]);
            let columns: Vec<_> = columns.iter().map(|(n, t, null)| (&**n, *t, *null)).collect();
            let is_computed =
                |at: usize| table.columns.get(at).is_some_and(|c| c.computed.is_some());
            let name = &create.index.name.value;
            self.filter(name, &table.name, &columns, &is_computed, filter)?;
            spec.filter = spec.filter.map(|text| self.kept_filter(filter, &text));
        }
        let changes = vec![Change::AddIndex(spec)];
        Ok(ddl::AlterTable {
            name: ObjectName::from(&create.table),
            changes,
            absent: Vec::new(),
            on_disk: Some("CREATE INDEX"),
        })
    }

    /// ALTER INDEX: 1088, 155; 10638 and 10680, for a rebuild that may be resumed is done at once.
    pub fn alter_index(&mut self, alter: &ast::AlterIndex) -> Result<ddl::AlterTable> {
        let table = self.altered_table(&alter.table)?;
        let line = alter.table.span.line.max(1);
        let name: Option<Box<str>> = alter.index.as_ref().map(|n| n.value.as_str().into());
        let mut changes = Vec::new();
        let of_columns = is_columnstore(&table, name.as_deref());
        let mut options = |options: &[ast::DatabaseOption], statement| -> Result<()> {
            if let (true, Some(name)) = (of_columns, &name) {
                let found = columnstore::options(options, name, line, statement)?;
                if found.archive.is_some() || found.delay_minutes.is_some() {
                    let (archive, delay_minutes) = (found.archive, found.delay_minutes);
                    let name = name.clone();
                    changes.push(Change::SetColumnstore { name, archive, delay_minutes });
                }
                return Ok(());
            }
            columnstore::only_columnstore(options, line, statement)?;
            let found = index_options(options, false, line)?;
            if found.kept != Default::default() {
                let (name, change) = (name.clone(), found.kept);
                changes.push(Change::SetIndexOptions { name, change, rows: false });
            }
            let said = options.iter().any(|o| o.name == "IGNORE_DUP_KEY");
            if let (true, Some(name)) = (said, &name) {
                let on = found.ignore_dup_key;
                check_alterable(&table, name, on, line)?;
                // A clustered key stays as it is.
                if !table.is_clustered_key(name) {
                    changes.push(Change::SetIgnoreDupKey { name: name.clone(), on });
                }
            }
            Ok(())
        };
        match &alter.action {
            ast::AlterIndexAction::Rebuild(with) => {
                options(with, Statement::Rebuild)?;
                changes.push(Change::RebuildIndex { name });
            }
            ast::AlterIndexAction::Set(with) => options(with, Statement::Set)?,
            ast::AlterIndexAction::Disable => changes.push(Change::DisableIndex { name }),
            ast::AlterIndexAction::Resumable(what) => {
                let of = &table.name;
                return Err(match &name {
                    None => {
                        let text = format!(
                            "ALTER INDEX ALL '{what}' failed. There is no pending resumable index operation on '{of}'."
                        );
                        BindError::new(10680, 11, line, text)
                    }
                    Some(name) => {
                        named_index(&table, name, line)?;
                        let text = format!(
                            "ALTER INDEX '{what}' failed. There is no pending resumable index operation for the index \
                             '{name}' on '{of}'."
                        );
                        let state = if *what == "RESUME" { 1 } else { 2 };
                        BindError::new(10638, 16, line, text).with_state(state)
                    }
                });
            }
            // No change of a definition: see `reorganize`.
            ast::AlterIndexAction::Reorganize(_) => {}
        }
        Ok(ddl::AlterTable {
            name: ObjectName::from(&alter.table),
            changes,
            absent: Vec::new(),
            on_disk: Some("ALTER INDEX"),
        })
    }

    /// ALTER INDEX REORGANIZE, or REBUILD of a partition, if it is one: 1088, 155.
    pub fn reorganize(&mut self, alter: &ast::AlterIndex) -> Result<Option<ddl::Reorganize>> {
        let partition = self.partition(alter.partition.as_ref())?;
        let (with, rebuild) = match &alter.action {
            ast::AlterIndexAction::Reorganize(with) => (with, false),
            // The rows of a partition lie among the others: all are brought together, and nobody is kept out.
            ast::AlterIndexAction::Rebuild(with) if partition.is_some() => (with, true),
            _ => return Ok(None),
        };
        let table = self.altered_table(&alter.table)?;
        if table.is_memory() {
            return Err(self.not_in_memory("operation", "ALTER INDEX"));
        }
        let line = alter.table.span.line.max(1);
        let name = alter.index.as_ref().map(|n| n.value.as_str());
        let large_values = match rebuild {
            true => index_options(with, false, line).map(|_| true)?,
            false => {
                reorganize_options(with, name.is_none_or(|_| is_columnstore(&table, name)), line)?
            }
        };
        let (table, index) = (ObjectName::from(&alter.table), name.map(Into::into));
        Ok(Some(ddl::Reorganize { table, index, large_values, partition, rebuild }))
    }

    /// An index in a table's definition: the unique ones of private tables are constraints, their others have no effect.
    pub(super) fn inline_index(
        &mut self,
        index: &ast::IndexDefinition,
        text: &str,
        table: &str,
        parts: &mut Parts,
    ) -> Result<()> {
        if index.columnstore && table.starts_with('@') {
            let text = "The statement failed because columnstore indexes are not allowed on table types and table \
                        variables. Remove the column store index specification from the table type or table variable \
                        declaration.";
            return Err(BindError::new(35310, 15, index.span.line.max(1), text));
        }
        if parts.in_memory && index.clustered == Some(true) && !index.columnstore {
            return Err(clustered_in_memory(index.span.line.max(1)));
        }
        if index.hash && !parts.in_memory {
            return Err(hash_on_disk(index.span.line.max(1)));
        }
        let hash = index.hash.then_some(&index.options);
        check_bucket_count(hash, Some(&index.name.value), table, index.span.line.max(1))?;
        if !is_private(table) {
            parts.indexes.push((index_spec(index, text)?, index.filter.clone()));
        } else if index.columnstore {
            columnstore::spec(index, text)?;
        } else if index.unique && index.filter.is_none() {
            parts.unique.push(unique_key(index));
        }
        Ok(())
    }
}
