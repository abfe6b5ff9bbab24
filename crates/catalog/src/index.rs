//! Indexes beside the clustered primary key: their definitions, rows in the system tables, and trees.
//!
//! Promises: an index has a tree as long as its definition is there, empty while it is disabled; a clustered index has
//! the table's own. What entries a tree must have is not known here: whoever changes a definition is told what work is
//! left ([`crate::Work`]).

use crate::catalog::Catalog;
use crate::def::*;
use crate::index_options::IndexOptions;
use crate::keys::{
    check_key_bytes, find_columns, is_max, pack_key, pack_ordinals, shown, unpack_key,
    unpack_ordinals,
};
use crate::scope::DdlScope;
use crate::spec::{IndexSpec, KeySpec};
use crate::system::tree_id;
use crate::system::{Cells, corrupt, text_or_null};
use crate::{CatalogError, Txn, Wanted};
use types::row::ROW_BYTES_MAX;
use types::{KeyLayout, KeyPart, Len, RowColumn, RowLayout, SqlType, Value};

/// Columns of a table at most (1702).
pub const COLUMNS_MAX: usize = 1024;

/// Columns of an index's key at most (1904).
pub const KEY_COLUMNS_MAX: usize = 32;

/// The index_id of a table's first spatial index, as in SQL Server.
const SPATIAL_FROM: i32 = 384_000;
/// The same of its first XML index.
const XML_FROM: i32 = 256_000;

const UNIQUE: u8 = 1;
const CLUSTERED: u8 = 2;
const DISABLED: u8 = 4;
const IGNORE_DUP_KEY: u8 = 8;

impl Catalog {
    /// Adds an index to a locked table's definition, with an empty tree. 1902, 1904, 1911, 1909, 1913, 1919, 1921.
    /// A clustered one changes where every row lies: the caller renews the tables' trees.
    pub(crate) fn add_index(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        spec: &IndexSpec,
        kind: IndexKind,
    ) -> Result<i32, CatalogError> {
        if table.index(&spec.name).is_some() || table.is_clustered_key(&spec.name) {
            let (name, table) = (spec.name.clone(), shown(table));
            return Err(CatalogError::IndexExists { name, table });
        }
        let columnstore = match &spec.columnstore {
            Some(columnstore) => Some(crate::columnstore::check(table, spec, columnstore)?),
            None => None,
        };
        let alone = columnstore.as_ref().is_some_and(|c| c.in_memory);
        let clustered = spec.clustered && !alone;
        if clustered && let Some(index) = table.clustered_name() {
            let (table, index) = (shown(table), index.into());
            return Err(CatalogError::ClusteredExists { table, index });
        }
        if spec.columns.len() > KEY_COLUMNS_MAX {
            return Err(CatalogError::TooManyKeyColumns {
                index: spec.name.clone(),
                columns: spec.columns.len(),
            });
        }
        let columns = find_columns(&spec.columns, &table.name, &table.columns)?;
        check_key_bytes(&columns, &table.columns, clustered, &spec.name)?;
        check_volatile(&columns, table)?;
        check_precise(&columns, &spec.name, table)?;
        let mut include: Vec<usize> = Vec::with_capacity(spec.include.len());
        for name in &spec.include {
            let Some(i) = table.column(name) else {
                return Err(CatalogError::NoKeyColumn { column: name.clone() });
            };
            if include.contains(&i) || columns.iter().any(|(k, _)| *k == i) {
                return Err(CatalogError::DuplicateKeyColumn { column: name.clone() });
            }
            include.push(i);
        }
        let (number, filegroup, partitioned) = match &spec.filegroup {
            Some(space) => self.data_space(txn, scope, Some(space), &table.columns, &table.name)?,
            // With its table.
            None => {
                let (number, filegroup) = self.filegroup(Some(&table.filegroup))?;
                (number, filegroup, table.partitioned)
            }
        };
        if spec.unique {
            crate::partition::check_key(&table.columns, partitioned, &columns, &spec.name)?;
        }
        // Those without entries are numbered apart.
        let range = match (&spec.spatial, &spec.xml) {
            (Some(_), _) => SPATIAL_FROM..i32::MAX,
            (_, Some(_)) => XML_FROM..SPATIAL_FROM,
            _ => 2..XML_FROM,
        };
        let from = range.start - 1;
        let own = |id: &i32| range.contains(id);
        let highest = table.indexes.iter().map(|i| i.index_id).filter(own).max().unwrap_or(from);
        let constraint_id = if kind == IndexKind::Index { 0 } else { self.new_object_id() };
        let mut index = IndexDef {
            index_id: if clustered { 1 } else { highest.max(1) + 1 },
            constraint_id,
            name: spec.name.clone(),
            kind,
            unique: spec.unique,
            clustered,
            columns,
            include,
            columnstore,
            spatial: spec.spatial,
            xml: spec.xml,
            filter: spec.filter.clone(),
            disabled: false,
            ignore_dup_key: spec.ignore_dup_key,
            fill_factor: spec.fill_factor,
            options: spec.options,
            buckets: spec.buckets,
            filegroup,
            partitioned: partitioned.filter(|_| !clustered),
            tree: if clustered { table.tree } else { txn.create_tree(number)? },
            key_layout: KeyLayout::default(),
            stored: Vec::new(),
            layout: RowLayout::default(),
        };
        index.disabled = !index.has_entries();
        // A primary key's name is claimed with its row.
        if kind == IndexKind::Unique {
            self.claim_name(txn, &table.schema, &index.name, constraint_id, Wanted::Constraint)?;
        }
        self.put_index(txn, table.object_id, &index)?;
        let id = index.index_id;
        if clustered {
            self.divide_rows(txn, table, partitioned)?;
        } else {
            self.put_partitioned(txn, table.object_id, id, partitioned)?;
        }
        table.indexes.push(index);
        table.indexes.sort_by_key(|i| i.index_id);
        Ok(id)
    }

    /// The index of a UNIQUE constraint, or of a nonclustered primary key.
    pub(crate) fn add_key_index(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        key: &KeySpec,
        name: &str,
        kind: IndexKind,
    ) -> Result<i32, CatalogError> {
        let spec = IndexSpec {
            name: name.into(),
            columns: key.columns.clone(),
            unique: true,
            clustered: key.clustered,
            filegroup: key.filegroup.clone(),
            ignore_dup_key: key.ignore_dup_key,
            fill_factor: key.fill_factor,
            options: key.options,
            buckets: key.buckets,
            ..IndexSpec::default()
        };
        self.add_index(txn, scope, table, &spec, kind)
    }

    /// Takes an index out of a locked table's definition. The tree of a clustered one stays: it is the table's.
    pub(crate) fn remove_index(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        index_id: i32,
    ) -> Result<IndexDef, CatalogError> {
        let at = table.indexes.iter().position(|i| i.index_id == index_id);
        let index = table.indexes.remove(at.ok_or_else(|| corrupt("no such index"))?);
        if !index.clustered {
            txn.drop_tree(&self.db.tree(index.tree))?;
        }
        if index.kind != IndexKind::Index {
            self.free_name(txn, &table.schema, &index.name)?;
        }
        let key = [Value::Int(table.object_id), Value::Int(index.index_id)];
        self.tables.indexes.delete(txn, &key)?;
        if !index.clustered {
            self.put_partitioned(txn, table.object_id, index.index_id, None)?;
        }
        Ok(index)
    }

    /// Gives the secondary indexes empty trees in place of those they have.
    pub(crate) fn renew_indexes(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        let tree = table.tree;
        for i in 0..table.indexes.len() {
            let index = &mut table.indexes[i];
            index.tree =
                if index.clustered { tree } else { txn.truncate_tree(&self.db.tree(index.tree))? };
            self.put_index(txn, table.object_id, &table.indexes[i])?;
        }
        Ok(())
    }

    pub(crate) fn put_index(
        &self,
        txn: &mut Txn,
        object_id: i32,
        index: &IndexDef,
    ) -> Result<(), CatalogError> {
        let bit = |on: bool, bit: u8| if on { bit } else { 0 };
        let flags = bit(index.unique, UNIQUE)
            | bit(index.clustered, CLUSTERED)
            | bit(index.disabled, DISABLED)
            | bit(index.ignore_dup_key, IGNORE_DUP_KEY);
        let row = [
            object_id.into(),
            index.index_id.into(),
            Value::str(&index.name),
            index.constraint_id.into(),
            Value::TinyInt(match index.kind {
                IndexKind::Index => 0,
                IndexKind::PrimaryKey => 1,
                IndexKind::Unique => 2,
            }),
            Value::TinyInt(flags),
            Value::TinyInt(index.fill_factor),
            Value::BigInt(index.tree.0.0 as i64),
            Value::str(&index.filegroup),
            Value::binary(&pack_key(&index.columns)),
            Value::binary(&pack_ordinals(&index.include)),
            text_or_null(index.filter.as_deref()),
            index.columnstore.as_ref().map_or(Value::Null, crate::columnstore::pack),
            index.buckets.map(|n| n as i32).into(),
            index.options.pack().into(),
            match (&index.spatial, &index.xml) {
                (Some(spatial), _) => crate::spatial_index::pack(spatial),
                (_, Some(xml)) => crate::xml_index::pack(xml),
                _ => Value::Null,
            },
        ];
        self.tables.indexes.put(txn, &row)
    }
}

/// From a row of `indexes`.
pub(crate) fn index(row: Vec<Value>) -> Result<IndexDef, CatalogError> {
    let mut cells = Cells::new(row);
    cells.int()?;
    let index_id = cells.int()? as i32;
    let name = cells.text()?;
    let constraint_id = cells.int()? as i32;
    let kind = match cells.int()? {
        0 => IndexKind::Index,
        1 => IndexKind::PrimaryKey,
        _ => IndexKind::Unique,
    };
    let flags = cells.int()? as u8;
    let fill_factor = cells.int()? as u8;
    let tree = tree_id(cells.int()?);
    let filegroup = cells.text()?;
    let columns = unpack_key(&cells.opt_bytes()?.unwrap_or_default());
    let include = unpack_ordinals(&cells.opt_bytes()?.unwrap_or_default());
    let filter = cells.opt_text()?;
    let columnstore = cells.opt_bytes()?;
    let columnstore = columnstore.map(|bytes| crate::columnstore::unpack(&bytes)).transpose()?;
    let buckets = cells.opt_int()?.map(|n| n as u32);
    let options = IndexOptions::unpack(cells.opt_int()?.unwrap_or(0) as i32);
    let asked = cells.opt_bytes()?;
    let xml = asked.as_deref().and_then(crate::xml_index::unpack);
    let spatial = asked.filter(|_| xml.is_none());
    let spatial = spatial.map(|bytes| crate::spatial_index::unpack(&bytes)).transpose()?;
    Ok(IndexDef {
        index_id,
        constraint_id,
        name,
        kind,
        unique: flags & UNIQUE != 0,
        clustered: flags & CLUSTERED != 0,
        columns,
        include,
        columnstore,
        spatial,
        xml,
        filter,
        disabled: flags & DISABLED != 0,
        ignore_dup_key: flags & IGNORE_DUP_KEY != 0,
        fill_factor,
        options,
        buckets,
        filegroup,
        partitioned: None,
        tree,
        key_layout: KeyLayout::default(),
        stored: Vec::new(),
        layout: RowLayout::default(),
    })
}

/// Fills in the layouts of the indexes. Key columns and those of the clustered key are always in the entries; included
/// ones as far as they are bound to fit, so that no entry is ever too large.
pub(crate) fn lay_out_indexes(table: &mut TableDef) {
    let clustered: Vec<usize> = table.clustered_key().iter().map(|(i, _)| *i).collect();
    let columns = &table.columns;
    for index in &mut table.indexes {
        let part = |&(i, desc): &(usize, bool)| {
            let c = &columns[i];
            KeyPart { ty: c.ty, nullable: c.nullable, desc, rule: c.collation.rule() }
        };
        index.key_layout = KeyLayout::new(index.columns.iter().map(part).collect());
        index.stored = Vec::new();
        if index.clustered {
            index.layout = RowLayout::default();
            continue;
        }
        let keys = index.columns.iter().map(|(i, _)| *i);
        for ordinal in keys.chain(clustered.iter().copied()) {
            if !index.stored.contains(&ordinal) {
                index.stored.push(ordinal);
            }
        }
        let layout = |stored: &[usize]| {
            let locator = RowColumn {
                ty: SqlType::VarBinary(Len::N(LOCATOR_BYTES)),
                nullable: false,
                rule: types::collation::Rule::CiAs,
            };
            let rest = stored.iter().map(|i| RowColumn {
                ty: columns[*i].ty,
                nullable: columns[*i].nullable,
                rule: columns[*i].collation.rule(),
            });
            RowLayout::new(&std::iter::once(locator).chain(rest).collect::<Vec<_>>())
        };
        for ordinal in &index.include {
            index.stored.push(*ordinal);
            // Key columns may fill a storage key twice over.
            if is_max(columns[*ordinal].ty)
                || layout(&index.stored).max_row_bytes() > ROW_BYTES_MAX - 1024
            {
                index.stored.pop();
            }
        }
        index.layout = layout(&index.stored);
    }
}

/// A row's storage key: a clustered key of 900 bytes with a row id, or a row id. Texts' weights may make it longer.
const LOCATOR_BYTES: u16 = 908;

/// 2799: what is computed with floats at every reading is no key.
fn check_precise(key: &[(usize, bool)], index: &str, table: &TableDef) -> Result<(), CatalogError> {
    let is_imprecise = |c: &ColumnDef| {
        matches!(c.ty, types::SqlType::Float | types::SqlType::Real)
            && c.computed.as_ref().is_some_and(|computed| !computed.persisted)
    };
    match key.iter().map(|(i, _)| &table.columns[*i]).find(|c| is_imprecise(c)) {
        None => Ok(()),
        Some(column) => Err(CatalogError::refused(
            2799,
            format!(
                "Cannot create index or statistics '{index}' on table '{}' because the computed column '{}' is imprecise \
                 and not persisted. Consider removing column from index or statistics key or marking computed column \
                 persisted.",
                table.name, column.name
            ),
        )),
    }
}

/// 2729: what is computed anew at every reading is no key.
pub(crate) fn check_volatile(key: &[(usize, bool)], table: &TableDef) -> Result<(), CatalogError> {
    match key.iter().find(|(i, _)| table.columns[*i].is_volatile()) {
        None => Ok(()),
        Some((i, _)) => {
            let column = &table.columns[*i].name;
            let text = format!(
                "Column '{column}' in table '{}' cannot be used in an index or statistics or as a partition key because \
                 it is non-deterministic.",
                shown(table)
            );
            Err(CatalogError::refused(2729, text))
        }
    }
}
