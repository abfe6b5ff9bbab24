//! CREATE, DROP and TRUNCATE of tables, and the rows that make a table.

use crate::alter::check_period;
use crate::catalog::Catalog;
use crate::def::*;
use crate::keys::{check_key_bytes, find_columns, pack_key};
use crate::load::{KIND_TABLE, lay_out};
use crate::made_names::{default_name, stem};
use crate::scope::{Change, DdlScope, Entry};
use crate::spec::{ColumnSpec, KeySpec, TableSpec};
use crate::system::text_or_null;
use crate::{CatalogError, Txn, Wanted};
use engine::FilegroupId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::row::ROW_BYTES_MAX;
use types::{RowColumn, RowLayout, Value};

impl Catalog {
    /// CREATE TABLE. The transaction must be active; so must a statement of it. Errors: 2714, 2760,
    /// 2705, 1911, 1909, 1919, 8111, 1921, 1701, 2744.
    pub fn create_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        spec: &TableSpec,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let schema = self.schema(scope, &spec.schema)?;
        let object_id = self.new_object_id();
        let mut columns: Vec<ColumnDef> = Vec::with_capacity(spec.columns.len());
        for column in &spec.columns {
            add_column(&mut columns, column, &spec.name, object_id)?;
        }
        for column in columns.iter_mut().filter(|column| column.alias.is_some()) {
            self.inherit_bindings(scope, column);
        }
        self.hold_xml_schemas(txn, scope, &columns)?;
        let primary_key = match &spec.primary_key {
            Some(key) => Some(define_key(key, &spec.name, object_id, &mut columns, |name| {
                // Not said means NOT NULL here; an explicit NULL is an error.
                spec.columns.iter().any(|c| same_name(&c.name, name) && c.nullable == Some(true))
            })?),
            None => None,
        };
        // Rows lie where the clustered key is said to.
        let keys = spec.primary_key.iter().chain(&spec.unique).filter(|k| k.clustered);
        let indexes = spec.indexes.iter().filter(|i| i.clustered).map(|i| &i.filegroup);
        let space = keys.map(|k| &k.filegroup).chain(indexes).find_map(|space| space.as_ref());
        let space = space.or(spec.filegroup.as_ref());
        let (number, filegroup, partitioned) =
            self.data_space(txn, scope, space, &columns, &spec.name)?;
        if let Some(key) = primary_key.as_ref().filter(|k| k.clustered) {
            crate::partition::check_key(&columns, partitioned, &key.columns, &key.name)?;
        }
        let mut table = TableDef {
            primary_key,
            partitioned,
            compression: spec.compression,
            database_collation: self.collation(),
            filegroup,
            version: self.new_version(),
            created_unix_ns: runtime::clock::unix_ns(),
            ..TableDef::bare(object_id, schema, spec.name.clone(), columns)
        };
        if let Some(durable) = spec.memory {
            let buckets = spec.primary_key.as_ref().and_then(|key| key.buckets);
            table.memory = Some(MemoryDef { durable, buckets });
            self.check_memory(&table, spec)?;
        }
        check_period(&table)?;
        lay_out(&mut table);
        check_row_size(&table)?;
        self.claim_name(txn, &table.schema, &table.name, object_id, Wanted::Table)?;
        table.tree = txn.create_tree(number)?;
        self.identities.begin_tree(object_id, table.tree);
        make_lob_tree(txn, &mut table, number)?;
        self.put_object(txn, &table.schema, &table.name, KIND_TABLE, object_id, 1, true)?;
        self.put_table_rows(txn, &table, number)?;
        self.put_partitioned(txn, object_id, 0, partitioned)?;
        for (ordinal, column) in table.columns.iter().enumerate() {
            self.put_column(txn, object_id, ordinal, column)?;
            if let Some(default) = &column.default {
                self.claim_name(txn, &table.schema, &default.name, object_id, Wanted::Constraint)?;
            }
        }
        if let Some(key) = table.primary_key.clone() {
            self.put_key(txn, &table, &key)?;
            if let (false, Some(spec)) = (key.clustered, &spec.primary_key) {
                let kind = IndexKind::PrimaryKey;
                self.add_key_index(txn, scope, &mut table, spec, &key.name, kind)?;
            }
        }
        for key in &spec.unique {
            self.add_unique(txn, scope, &mut table, key)?;
        }
        for index in &spec.indexes {
            self.add_index(txn, scope, &mut table, index, IndexKind::Index)?;
        }
        for check in &spec.checks {
            self.add_check(txn, &mut table, check, true)?;
        }
        for key in &spec.foreign_keys {
            self.add_foreign_key(txn, scope, &mut table, key, true)?;
        }
        lay_out(&mut table);
        check_row_size(&table)?;
        self.keep_in_memory(&table, false)?;
        let table = Arc::new(table);
        scope
            .changes
            .push(Change::Put(Entry { object: ObjectRef::Table(table.clone()), modified: 1 }));
        Ok(table)
    }

    /// DROP TABLE; 3701. Takes the Sch-M lock; the pages become free at commit. Suspends.
    pub fn drop_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        let Some((table, _)) = self.lock_table(txn, scope, schema, name)? else {
            return Err(CatalogError::CannotDrop { kind: "table", name: name.into() });
        };
        if table.temporal != Temporal::No {
            return Err(self.temporal(13552, "Drop table", &table));
        }
        if !self.references_to(Some(scope), &table).is_empty() {
            let table = format!("{}.{}", table.schema, table.name).into();
            return Err(CatalogError::Referenced { table });
        }
        for trigger in self.triggers_of(Some(scope), table.object_id) {
            let kind = ModuleKind::Trigger;
            self.drop_module(txn, scope, kind, Some(&trigger.schema), &trigger.name)?;
        }
        self.drop_fulltext_index(txn, scope, table.object_id)?;
        self.forget_grants(txn, scope, table.object_id)?;
        let constraints = table.constraint_ids();
        self.forget_properties(txn, scope, |target| {
            let mut of = constraints.iter().chain([&table.object_id]);
            of.any(|id| target.is_part_of(*id))
        })?;
        txn.drop_tree(&self.db.tree(table.tree))?;
        if let Some(lob) = table.lob {
            txn.drop_tree(&self.db.tree(lob))?;
        }
        self.drop_tracking(txn, &table)?;
        let mut rest = (*table).clone();
        while let Some(index) = rest.indexes.last() {
            let id = index.index_id;
            let of_key = index.kind == IndexKind::PrimaryKey;
            if of_key {
                // The key's row is deleted, and its name freed, below.
                rest.indexes.last_mut().expect("just seen").kind = IndexKind::Index;
            }
            self.remove_index(txn, &mut rest, id)?;
        }
        let checks = table.checks.iter().map(|c| (c.object_id, &c.name));
        let keys = table.foreign_keys.iter().map(|k| (k.object_id, &k.name));
        for (id, name) in checks.chain(keys) {
            self.forget_constraint(txn, &table, id, name)?;
        }
        let id = Value::Int(table.object_id);
        let t = &self.tables;
        let constraints = table.columns.iter().filter_map(|c| c.default.as_ref().map(|d| &d.name));
        let key = table.primary_key.as_ref().map(|k| &k.name);
        for constraint in constraints.chain(key) {
            self.free_name(txn, &table.schema, constraint)?;
        }
        for row in t.statistics.scan(txn, std::slice::from_ref(&id))? {
            t.statistics.delete(txn, &row[..3])?;
        }
        for ordinal in 0..table.columns.len() {
            t.columns.delete(txn, &[id.clone(), Value::SmallInt(ordinal as i16)])?;
        }
        t.keys.delete(txn, std::slice::from_ref(&id))?;
        self.put_partitioned(txn, table.object_id, 0, None)?;
        t.tables.delete(txn, std::slice::from_ref(&id))?;
        t.identities.delete(txn, &[id.clone(), Value::BigInt(table.tree.0.0 as i64)])?;
        t.objects.delete(txn, &[id])?;
        self.free_name(txn, &table.schema, &table.name)?;
        scope.changes.push(Change::Drop {
            schema: table.schema.clone(),
            name: table.name.clone(),
            object_id: table.object_id,
        });
        Ok(())
    }

    /// TRUNCATE TABLE: a new, empty tree; 4701. The identity starts at its seed again. Suspends.
    pub fn truncate_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        let (table, modified) = self.locked_to_truncate(txn, scope, schema, name)?;
        self.change_table(txn, scope, &table, modified, |catalog, txn, table| {
            catalog.renew_tracking(txn, table)?;
            catalog.renew_tree(txn, table)
        })?;
        Ok(())
    }

    /// TRUNCATE TABLE of some partitions: the table, under its Sch-M lock, whose rows the caller deletes. What 4701
    /// refuses is refused here too. Suspends.
    pub fn truncate_partitions(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let (table, modified) = self.locked_to_truncate(txn, scope, schema, name)?;
        if table.tracking.is_none() {
            return Ok(table);
        }
        self.change_table(txn, scope, &table, modified, |catalog, txn, table| {
            catalog.renew_tracking(txn, table)?;
            catalog.put_table(txn, table)
        })
    }

    /// The table to truncate: 4701, 13545, 4712.
    fn locked_to_truncate(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(Arc<TableDef>, i64), CatalogError> {
        let Some((table, modified)) = self.lock_table(txn, scope, schema, name)? else {
            return Err(CatalogError::CannotTruncate { name: name.into() });
        };
        if table.is_memory() {
            return Err(crate::memory::not_in_memory("statement", "TRUNCATE TABLE"));
        }
        if table.temporal != Temporal::No {
            let shown = self.shown(&table);
            return Err(CatalogError::refused(
                13545,
                format!(
                    "Truncate failed on table '{shown}' because it is not a supported operation on \
                     system-versioned tables."
                ),
            ));
        }
        if let Some(view) = table.views.iter().find_map(|id| self.table_by_id(Some(scope), *id)) {
            let text = format!(
                "Cannot TRUNCATE TABLE '{}' because it is being referenced by object '{}'.",
                table.name, view.name
            );
            return Err(CatalogError::refused(3729, text));
        }
        if !self.references_to(Some(scope), &table).is_empty() {
            return Err(CatalogError::TruncateReferenced { table: table.name.clone() });
        }
        Ok((table, modified))
    }

    /// Gives the table an empty tree in place of the one it has.
    pub(crate) fn renew_tree(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        let old = [Value::Int(table.object_id), Value::BigInt(table.tree.0.0 as i64)];
        table.tree = txn.truncate_tree(&self.db.tree(table.tree))?;
        self.identities.begin_tree(table.object_id, table.tree);
        if let Some(lob) = table.lob {
            table.lob = Some(txn.truncate_tree(&self.db.tree(lob))?);
        }
        self.renew_indexes(txn, table)?;
        self.tables.identities.delete(txn, &old)?;
        self.put_table(txn, table)
    }

    /// A changed copy of a locked table, under a new version, with its object row counted up.
    pub(crate) fn change_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &TableDef,
        modified: i64,
        change: impl FnOnce(&Catalog, &mut Txn, &mut TableDef) -> Result<(), CatalogError>,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let mut new = table.clone();
        change(self, txn, &mut new)?;
        lay_out(&mut new);
        check_row_size(&new)?;
        if new.lob.is_none() && new.layout.may_overflow() {
            let (number, _) = self.filegroup(Some(&new.filegroup))?;
            make_lob_tree(txn, &mut new, number)?;
            self.put_table_rows(txn, &new, number)?;
        }
        new.version = self.new_version();
        let modified = modified + 1;
        let kind = new.view.as_ref().map_or(KIND_TABLE, |view| view.module.kind.number());
        self.put_object(txn, &new.schema, &new.name, kind, new.object_id, modified, false)?;
        // Whoever waits for our lock with the definition as it was must look again; also one that is so old that its tree's
        // name is in use again, for this table: no two definitions have one shape.
        new.shape = new.version;
        txn.reshape(&self.db.tree(new.tree), new.shape);
        if new.name != table.name || new.schema != table.schema {
            scope.changes.push(Change::Rename {
                schema: table.schema.clone(),
                name: table.name.clone(),
                object_id: table.object_id,
            });
        }
        let new = Arc::new(new);
        scope
            .changes
            .push(Change::Put(Entry { object: ObjectRef::of_rows(new.clone()), modified }));
        Ok(new)
    }

    pub(crate) fn new_object_id(&self) -> i32 {
        self.next_object_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The schema's name as it was created; 2760.
    pub(crate) fn schema(&self, scope: &DdlScope, name: &str) -> Result<Box<str>, CatalogError> {
        let wanted = if name.is_empty() { "dbo" } else { name };
        let directory = self.directory(Some(scope));
        let found = directory.schema(wanted).map(|schema| schema.name.clone());
        found.ok_or_else(|| CatalogError::NoSchema { name: name.into() })
    }

    /// (number, name) of a filegroup; of the default one for `None` and DEFAULT. 1921.
    pub(crate) fn filegroup(
        &self,
        name: Option<&str>,
    ) -> Result<(FilegroupId, Box<str>), CatalogError> {
        let defs = self.defs.read();
        let wanted = name.filter(|n| !same_name(n, "default"));
        let found = defs.filegroups.iter().position(|g| match wanted {
            Some(name) => same_name(&g.name, name),
            None => g.is_default,
        });
        match (found, wanted) {
            (Some(i), _) => Ok((i as FilegroupId + 1, defs.filegroups[i].name.clone())),
            (None, None) => Ok((engine::PRIMARY, "PRIMARY".into())),
            (None, Some(name)) => Err(CatalogError::NoFilegroup { name: name.into() }),
        }
    }

    /// Takes a name for an object or a constraint; 2714. Waits for another transaction that has
    /// taken it and is not finished.
    pub(crate) fn claim_name(
        &self,
        txn: &mut Txn,
        schema: &str,
        name: &str,
        object_id: i32,
        wanted: Wanted,
    ) -> Result<(), CatalogError> {
        let row = [Value::str(schema), Value::str(name), object_id.into()];
        if self.tables.names.insert(txn, &row)? {
            Ok(())
        } else {
            // Names of their own begin with a mark: see `ModuleKind::key`.
            let name = name.trim_start_matches(|c: char| c < ' ');
            Err(CatalogError::AlreadyExists { name: name.into(), wanted })
        }
    }

    pub(crate) fn free_name(
        &self,
        txn: &mut Txn,
        schema: &str,
        name: &str,
    ) -> Result<(), CatalogError> {
        self.tables.names.delete(txn, &[Value::str(schema), Value::str(name)])?;
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the columns of one row")]
    pub(crate) fn put_object(
        &self,
        txn: &mut Txn,
        schema: &str,
        name: &str,
        kind: u8,
        object_id: i32,
        modified: i64,
        new: bool,
    ) -> Result<(), CatalogError> {
        let mut row = [
            object_id.into(),
            Value::str(schema),
            Value::str(name),
            Value::TinyInt(kind),
            Value::BigInt(runtime::clock::unix_ns() as i64),
            Value::BigInt(modified),
        ];
        if new {
            self.tables.objects.insert(txn, &row)?;
            return Ok(());
        }
        if let Some(old) = self.tables.objects.read_locked(txn, &row[..1])? {
            row[4] = old[4].clone();
        }
        self.tables.objects.put(txn, &row)
    }

    /// The row of a table that has one.
    pub(crate) fn put_table(&self, txn: &mut Txn, table: &TableDef) -> Result<(), CatalogError> {
        let (number, _) = self.filegroup(Some(&table.filegroup))?;
        self.put_table_rows(txn, table, number)
    }

    pub(crate) fn put_table_rows(
        &self,
        txn: &mut Txn,
        table: &TableDef,
        filegroup: FilegroupId,
    ) -> Result<(), CatalogError> {
        let retention = match table.temporal {
            Temporal::Versioned { retention, .. } => retention,
            _ => None,
        };
        let row = [
            table.object_id.into(),
            Value::BigInt(table.tree.0.0 as i64),
            Value::Int(filegroup as i32),
            table.lob.map(|tree| tree.0.0 as i64).into(),
            match table.temporal {
                Temporal::Versioned { history, .. } => Value::Int(history),
                _ => Value::Null,
            },
            retention.map(|r| r.number).into(),
            retention.map(|r| r.unit).into(),
            table.tracking.map(|t| t.changes.0.0 as i64).into(),
            table.tracking.map(|t| t.by_key.0.0 as i64).into(),
            table.tracking.map(|t| t.commits.0.0 as i64).into(),
            table.tracking.map(|t| t.columns).into(),
            table.tracking.map(|t| t.begin_version as i64).into(),
            table.tracking.map(|t| t.numbering).into(),
            table.memory.map_or(Value::Null, |m| Value::TinyInt(if m.durable { 1 } else { 2 })),
            table.memory.and_then(|m| m.buckets).map(|n| n as i32).into(),
            Value::TinyInt(table.compression as u8),
            table.view.as_ref().map_or(Value::Null, |view| view.packed()),
        ];
        self.tables.tables.put(txn, &row)
    }

    pub(crate) fn put_column(
        &self,
        txn: &mut Txn,
        object_id: i32,
        ordinal: usize,
        column: &ColumnDef,
    ) -> Result<(), CatalogError> {
        let (id, length, precision, scale) = crate::xml_schemas::stored_parts(column.ty);
        let default = column.default.as_ref();
        let absent = if column.absent.is_null() {
            Value::Null
        } else {
            let mut bytes = Vec::new();
            let one = RowLayout::new(&[RowColumn {
                ty: column.ty,
                nullable: true,
                rule: column.collation.rule(),
            }]);
            one.encode(std::slice::from_ref(&column.absent), &mut bytes)?;
            Value::binary(&bytes)
        };
        let row = [
            object_id.into(),
            Value::SmallInt(ordinal as i16),
            Value::str(&column.name),
            Value::TinyInt(id),
            Value::Int(length),
            Value::TinyInt(precision),
            Value::TinyInt(scale),
            column.nullable.into(),
            text_or_null(default.map(|d| &*d.name)),
            text_or_null(default.map(|d| &*d.text)),
            column.identity.map(|i| i.seed).into(),
            column.identity.map(|i| i.increment).into(),
            absent,
            text_or_null(column.computed.as_ref().map(|c| &*c.text)),
            Value::TinyInt(column_flags(column)),
            column.alias.into(),
            match column.collation == types::Collation::default() {
                true => Value::Null,
                false => Value::Int(column.collation.number() as i32),
            },
            text_or_null(column.mask.as_ref().map(|mask| mask.text())),
            column.rule.as_ref().map(|bound| bound.object_id).into(),
            column.bound_default.as_ref().map(|bound| bound.object_id).into(),
        ];
        self.tables.columns.put(txn, &row)
    }

    pub(crate) fn put_key(
        &self,
        txn: &mut Txn,
        table: &TableDef,
        key: &KeyDef,
    ) -> Result<(), CatalogError> {
        self.claim_name(txn, &table.schema, &key.name, table.object_id, Wanted::Constraint)?;
        self.put_key_row(txn, table.object_id, key)
    }

    pub(crate) fn put_key_row(
        &self,
        txn: &mut Txn,
        object_id: i32,
        key: &KeyDef,
    ) -> Result<(), CatalogError> {
        let row = [
            object_id.into(),
            Value::str(&key.name),
            key.clustered.into(),
            Value::binary(&pack_key(&key.columns)),
            key.ignore_dup_key.into(),
            Value::Int(key.options.pack() | i32::from(key.fill_factor) << 8),
        ];
        self.tables.keys.put(txn, &row)
    }
}

/// As stored: see the table in `system.rs`.
fn column_flags(column: &ColumnDef) -> u8 {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    let Marks { hidden, rowguidcol, sparse, column_set, not_for_replication } = column.marks;
    bit(column_set || column.computed.as_ref().is_some_and(|c| c.persisted), 1)
        | bit(column.rowversion || column.is_volatile(), 2)
        | bit(column.generated == Some(PeriodEdge::Start), 4)
        | bit(column.generated == Some(PeriodEdge::End), 8)
        | bit(hidden, 16)
        | bit(rowguidcol, 32)
        | bit(sparse, 64)
        | bit(not_for_replication, 128)
}

/// A tree for columns that do not fit into their rows, where there can be any.
fn make_lob_tree(
    txn: &mut Txn,
    table: &mut TableDef,
    filegroup: FilegroupId,
) -> Result<(), CatalogError> {
    if table.layout.may_overflow() {
        table.lob = Some(txn.create_tree(filegroup)?);
    }
    Ok(())
}

/// Appends a column; 2705, 2744.
pub(crate) fn add_column(
    columns: &mut Vec<ColumnDef>,
    spec: &ColumnSpec,
    table: &str,
    object_id: i32,
) -> Result<(), CatalogError> {
    if columns.iter().any(|c| same_name(&c.name, &spec.name)) {
        return Err(CatalogError::DuplicateColumn {
            table: table.into(),
            column: spec.name.clone(),
        });
    }
    if spec.identity.is_some() && columns.iter().any(|c| c.identity.is_some()) {
        return Err(CatalogError::MultipleIdentity { table: table.into() });
    }
    let default = spec.default.as_ref().map(|(name, text)| DefaultDef {
        name: name
            .clone()
            .unwrap_or_else(|| default_name(table, &spec.name, object_id, columns.len())),
        text: text.clone(),
    });
    if spec.rowversion && columns.iter().any(|c| c.rowversion) {
        let (table, column) = (table.into(), spec.name.clone());
        return Err(CatalogError::MultipleRowversion { table, column });
    }
    columns.push(ColumnDef {
        name: spec.name.clone(),
        ty: spec.ty,
        nullable: spec.nullable.unwrap_or(spec.identity.is_none()),
        default,
        identity: spec.identity,
        absent: Value::Null,
        computed: spec.computed.clone().map(|(text, persisted)| {
            let volatile = spec.volatile;
            ComputedDef { text, persisted, volatile }
        }),
        rowversion: spec.rowversion,
        alias: spec.alias,
        collation: spec.collation,
        generated: spec.generated,
        marks: spec.marks,
        mask: spec.mask.clone(),
        rule: None,
        bound_default: None,
    });
    Ok(())
}

/// Resolves a primary key and makes its columns NOT NULL. `explicit_null` tells of a column whether
/// NULL was asked for. 1911, 1909, 1919, 8111.
pub(crate) fn define_key(
    spec: &KeySpec,
    table: &str,
    object_id: i32,
    columns: &mut [ColumnDef],
    explicit_null: impl Fn(&str) -> bool,
) -> Result<KeyDef, CatalogError> {
    let key = find_columns(&spec.columns, table, columns)?;
    for ((i, _), (name, _)) in key.iter().zip(&spec.columns) {
        if explicit_null(name) {
            let (table, column) = (table.into(), columns[*i].name.clone());
            return Err(CatalogError::NullableKey { table, column });
        }
        columns[*i].nullable = false;
    }
    let name = spec.name.clone().unwrap_or_else(|| {
        let table = stem(table, object_id, 8);
        format!("PK__{table}__{:016X}", (object_id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .into()
    });
    check_key_bytes(&key, columns, spec.clustered, &name)?;
    Ok(KeyDef {
        name,
        columns: key,
        clustered: spec.clustered,
        ignore_dup_key: spec.ignore_dup_key,
        fill_factor: spec.fill_factor,
        options: spec.options,
    })
}

/// 1701 when no row could fit.
pub(crate) fn check_row_size(table: &TableDef) -> Result<(), CatalogError> {
    let bytes = table.layout.min_row_bytes();
    if bytes > ROW_BYTES_MAX {
        return Err(CatalogError::RowTooLarge { table: table.name.clone(), bytes });
    }
    Ok(())
}
