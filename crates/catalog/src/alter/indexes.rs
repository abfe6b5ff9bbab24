//! Indexes that go, are rebuilt or disabled.

use super::{Work, position};
use crate::catalog::Catalog;
use crate::def::*;
use crate::index_options::IndexOptionsChange;
use crate::keys::shown;
use crate::spec::IndexSpec;
use crate::{CatalogError, Txn};

impl Catalog {
    /// The id of the index that is gone.
    pub(super) fn drop_index(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        work: &mut Vec<Work>,
    ) -> Result<i32, CatalogError> {
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
        // A primary XML index takes those along that are over it.
        let over = |i: &&IndexDef| i.xml.is_some_and(|xml| xml.primary == id);
        let over: Vec<i32> = table.indexes.iter().filter(over).map(|i| i.index_id).collect();
        for secondary in over {
            self.remove_index(txn, table, secondary)?;
        }
        let gone = self.remove_index(txn, table, id)?;
        // Without a clustered columnstore index the table is the heap that it was.
        if id == 1 && gone.columnstore.is_none() {
            self.move_rows(txn, table, work)?;
        }
        Ok(id)
    }

    /// The index whose place another takes, DROP_EXISTING: 1925, 7999.
    pub(super) fn drop_existing(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        spec: &IndexSpec,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        if table.index(&spec.name).is_none() && !table.is_clustered_key(&spec.name) {
            let text = format!(
                "Could not find any index named '{}' for table '{}'.",
                spec.name,
                shown(table)
            );
            return Err(CatalogError::refused(7999, text));
        }
        if !spec.clustered && table.index(&spec.name).is_some_and(|index| index.clustered) {
            let text = "Cannot convert a clustered index to a nonclustered index by using the DROP_EXISTING option. To \
                        change the index type from clustered to nonclustered, delete the clustered index, and then \
                        create a nonclustered index by using two separate statements.";
            return Err(CatalogError::refused(1925, text));
        }
        self.drop_index(txn, table, &spec.name, work).map(drop)
    }

    pub(super) fn rebuild(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: Option<&str>,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let all = match name {
            None => true,
            Some(name) if table.is_clustered_key(name) => false,
            Some(name) => {
                let i = position(table, name)?;
                let index = &mut table.indexes[i];
                if index.set_off(false) {
                    return self.put_index(txn, table.object_id, &table.indexes[i]);
                }
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
            for index in &mut table.indexes {
                if !index.set_off(false) {
                    index.disabled = false;
                }
            }
        }
        self.move_rows(txn, table, work)
    }

    /// An index of a table in memory, with so many buckets. 2727.
    pub(super) fn rebuild_in_memory(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        buckets: Option<u32>,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let of_rows = table.is_clustered_key(name);
        match &mut table.memory {
            // The rows themselves lie under it.
            Some(memory) if of_rows => memory.buckets = buckets,
            _ => {
                let i = position(table, name)?;
                table.indexes[i].buckets = buckets;
            }
        }
        self.rebuild(txn, table, Some(name), work)
    }

    /// Options that are only kept: of an index, of all, or (`rows`) of the table's rows. 2727.
    pub(super) fn set_options(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: Option<&str>,
        change: &IndexOptionsChange,
        rows: bool,
    ) -> Result<(), CatalogError> {
        let clustered = table.clustered_name().map(str::to_owned);
        let name = match (rows, &clustered) {
            (true, None) => {
                table.compression = change.compression.unwrap_or(table.compression);
                return self.put_table(txn, table);
            }
            (true, Some(name)) => Some(name.as_str()),
            (false, _) => name,
        };
        if let Some(name) = name.filter(|name| !table.is_clustered_key(name)) {
            position(table, name)?;
        }
        if apply(change, table, name)
            && let Some(key) = &table.primary_key
        {
            self.put_key_row(txn, table.object_id, key)?;
        }
        for index in &table.indexes {
            if name.is_none_or(|name| same_name(&index.name, name)) {
                self.put_index(txn, table.object_id, index)?;
            }
        }
        Ok(())
    }

    pub(super) fn disable(
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
            if name.is_none_or(|name| same_name(&index.name, name)) && index.set_off(true) {
                self.put_index(txn, table.object_id, &table.indexes[i])?;
                continue;
            }
            if index.disabled || name.is_some_and(|name| !same_name(&index.name, name)) {
                continue;
            }
            index.disabled = true;
            index.tree = txn.truncate_tree(&self.db.tree(index.tree))?;
            self.put_index(txn, table.object_id, &table.indexes[i])?;
        }
        Ok(())
    }
}

/// Changes the options of the indexes of that name, or of all; true: of the clustered primary key too. A columnstore
/// index has none of them.
fn apply(change: &IndexOptionsChange, table: &mut TableDef, name: Option<&str>) -> bool {
    let is_meant = |own: &str| name.is_none_or(|name| same_name(own, name));
    for index in table.indexes.iter_mut().filter(|index| is_meant(&index.name)) {
        if index.columnstore.is_none() {
            change.apply(&mut index.options, &mut index.fill_factor);
        }
    }
    let key = table.primary_key.as_mut().filter(|key| key.clustered && is_meant(&key.name));
    key.map(|key| change.apply(&mut key.options, &mut key.fill_factor)).is_some()
}
