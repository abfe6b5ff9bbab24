//! From rows of the system tables to definitions.

use crate::CatalogError;
use crate::binding::{self, Binding, TypeBindings};
use crate::catalog::{Catalog, FIRST_OBJECT_ID};
use crate::constraint::{self, Constraint};
use crate::def::*;
use crate::index;
use crate::index_options::{Compression, IndexOptions};
use crate::principals::{self, Scope};
use crate::scope::Entry;
use crate::statistics::{Statistic, TableStatistics};
use crate::system::tree_id;
use crate::system::{Cells, corrupt};
use crate::tracking::Tracking;
use engine::TxnOptions;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::{KeyLayout, KeyPart, RowColumn, RowLayout, SqlType, Value};

pub(crate) const KIND_TABLE: u8 = 1;

impl Catalog {
    /// Reads everything; says what of it belongs to nothing.
    pub(crate) fn load(&self) -> Result<Vec<String>, CatalogError> {
        let mut txn = self.db.begin(TxnOptions::default());
        txn.begin_statement();
        let t = &self.tables;
        let configuration = self.load_configuration(&mut txn)?;
        self.load_collation(&configuration)?;
        let filegroups =
            filegroups(t.filegroups.scan(&mut txn, &[])?, t.files.scan(&mut txn, &[])?)?;
        let mut stored = StoredTables {
            catalog: self,
            filegroups: &filegroups,
            columns: by_object(t.columns.scan(&mut txn, &[])?)?,
            keys: by_object(t.keys.scan(&mut txn, &[])?)?,
            tables: by_object(t.tables.scan(&mut txn, &[])?)?,
            indexes: by_object(t.indexes.scan(&mut txn, &[])?)?,
            constraints: by_object(t.constraints.scan(&mut txn, &[])?)?,
            partitioned: by_object(t.partitioned.scan(&mut txn, &[])?)?,
            statistics: self.load_statistics(&mut txn)?,
            xml_schemas: HashMap::new(),
            highest: FIRST_OBJECT_ID - 1,
            referencing: HashMap::new(),
            versioned: HashMap::new(),
        };
        // Also those of tables that were never committed: no other table gets their ids.
        let known = stored.statistics.keys().max().copied().unwrap_or(0);
        stored.highest = stored.highest.max(known);
        let mut modules = by_object(t.modules.scan(&mut txn, &[])?)?;
        let mut entries = Vec::new();
        let objects = t.objects.scan(&mut txn, &[])?;
        // Before the tables, whose columns name them.
        stored.xml_schemas = crate::xml_schemas::stored(&objects, &modules)?;
        for row in objects {
            let mut cells = Cells::new(row);
            let object_id = cells.int()? as i32;
            let (schema, name) = (cells.text()?, cells.text()?);
            let (kind, created, modified) = (cells.int()? as u8, cells.int()? as u64, cells.int()?);
            stored.highest = stored.highest.max(object_id);
            let object = match kind {
                KIND_TABLE => {
                    let table = stored.table(object_id, (schema, name), created)?;
                    ObjectRef::Table(Arc::new(table.ok_or_else(|| corrupt("a table has no row"))?))
                }
                number => {
                    let Some(kind) = ModuleKind::of_number(number) else {
                        return Err(corrupt("an object of unknown kind"));
                    };
                    let parts = modules.remove(&object_id).unwrap_or_default();
                    let (mut text, mut quoted, mut nulls) = (String::new(), true, true);
                    let mut trigger = None;
                    let mut ddl_events = Vec::new();
                    let mut bindings = TypeBindings::default();
                    for row in parts {
                        let mut cells = Cells::new(row);
                        cells.int()?;
                        cells.int()?;
                        (quoted, nulls) = (cells.flag()?, cells.flag()?);
                        text.push_str(&cells.text()?);
                        let marks = (cells.opt_int()?, cells.opt_int()?);
                        ddl_events = cells.opt_bytes()?.unwrap_or_default();
                        if let (Some(parent), Some(flags)) = marks {
                            if kind == ModuleKind::AliasType {
                                bindings = TypeBindings::of_numbers(parent, flags);
                                continue;
                            }
                            let (parent, flags) = (parent as i32, flags as u32);
                            trigger = Some(TriggerDef { parent, flags });
                        }
                    }
                    let sequence = match kind {
                        ModuleKind::Sequence => SequenceDef::of_text(&text),
                        _ => None,
                    };
                    let module = ProcedureDef {
                        kind,
                        sequence,
                        policy: crate::procedures::policy_of(kind, &text),
                        partitioning: crate::partition::of_text(kind, &text)?,
                        xml_schema: stored.xml_schemas.get(&object_id).cloned(),
                        fulltext: crate::fulltext::of_text(kind, &text)?,
                        object_id,
                        schema,
                        name,
                        text: text.into(),
                        quoted_identifier: quoted,
                        ansi_nulls: nulls,
                        trigger,
                        ddl_events: crate::procedures::events_of(&ddl_events),
                        bindings,
                        rows: None,
                        version: self.new_version(),
                        created_unix_ns: created,
                    };
                    match kind {
                        ModuleKind::View => stored.view(module)?,
                        _ => ObjectRef::Procedure(Arc::new(module)),
                    }
                }
            };
            entries.push(Entry { object, modified });
        }
        let names = t.names.scan(&mut txn, &[])?;
        let named: HashSet<i64> =
            names.iter().filter_map(|row| row.get(2).and_then(Value::as_i64)).collect();
        let mut referencing = std::mem::take(&mut stored.referencing);
        let mut versioned = std::mem::take(&mut stored.versioned);
        let mut highest = stored.highest;
        let left = stored.left().into_iter().chain([("modules", modules)]);
        let mut alone = Vec::new();
        for (what, rows) in left {
            let mut ids: Vec<i32> = rows.into_keys().collect();
            ids.sort_unstable();
            let of =
                |id| format!("system table '{what}' has rows of object {id}, which is not there");
            alone.extend(ids.into_iter().map(of));
        }
        for entry in &entries {
            let id = entry.object.object_id();
            if !named.contains(&i64::from(id)) {
                alone.push(format!("object {id} has no row in system table 'names'"));
            }
        }
        let bindable = |object: &ObjectRef| match object {
            ObjectRef::Procedure(module)
                if matches!(module.kind, ModuleKind::Rule | ModuleKind::Default) =>
            {
                Some((module.object_id, Binding::of(module)))
            }
            _ => None,
        };
        let bindable: HashMap<i32, Binding> =
            entries.iter().filter_map(|entry| bindable(&entry.object)).collect();
        let histories: HashMap<i32, i32> =
            versioned.iter().map(|(table, (history, _))| (*history, *table)).collect();
        let views = entries.iter().filter_map(|entry| {
            // Of a disabled one no rows are kept.
            let rows = entry.object.rows().filter(|rows| !rows.is_disabled_view())?;
            Some((rows.object_id, rows.view.as_ref()?.tables.clone()))
        });
        let views: Vec<(i32, Vec<i32>)> = views.collect();
        for entry in &mut entries {
            let ObjectRef::Table(table) = &mut entry.object else { continue };
            let id = table.object_id;
            for (view, _) in views.iter().filter(|(_, tables)| tables.contains(&id)) {
                Arc::make_mut(table).views.push(*view);
            }
            if table.columns.iter().any(|c| c.rule.is_some() || c.bound_default.is_some()) {
                binding::resolve(Arc::make_mut(table), |id| bindable.get(&id).cloned());
            }
            if let Some(list) = referencing.remove(&table.object_id) {
                Arc::make_mut(table).referencing = list;
            }
            if let Some((history, retention)) = versioned.remove(&table.object_id) {
                Arc::make_mut(table).temporal = Temporal::Versioned { history, retention };
            } else if let Some(of) = histories.get(&table.object_id) {
                Arc::make_mut(table).temporal = Temporal::History { of: *of };
            }
        }
        let identities = t.identities.scan(&mut txn, &[])?;
        let properties = self.load_properties(&mut txn)?;
        let directory = principals::load(&t.security, &mut txn, Scope::Database)?;
        txn.end_statement();
        txn.commit(engine::Durability::Full)?;
        for entry in &entries {
            if let ObjectRef::Table(table) = &entry.object {
                self.keep_in_memory(table, false)?;
            }
        }
        let mut defs = self.defs.write();
        defs.filegroups = filegroups;
        defs.directory = Arc::new(directory);
        defs.configuration = Arc::new(configuration);
        defs.properties = Arc::new(properties);
        entries.into_iter().for_each(|entry| defs.put(entry));
        for row in identities {
            let mut cells = Cells::new(row);
            let (object_id, tree) = (cells.int()? as i32, tree_id(cells.int()?));
            highest = highest.max(object_id);
            if let Some(ObjectRef::Procedure(module)) = defs.by_id.get(&object_id)
                && module.sequence.is_some()
            {
                self.identities.load(object_id, tree, 1, cells.int()?);
                continue;
            }
            // Rows of tables that were never committed are passed over.
            if let Some(ObjectRef::Table(t)) = defs.by_id.get(&object_id)
                && let Some(identity) = t.identity().and_then(|i| t.columns[i].identity)
                && t.tree == tree
                // Where no row is left numbers begin anew.
                && t.memory.is_none_or(|memory| memory.durable)
            {
                self.identities.load(object_id, tree, identity.increment, cells.int()?);
            }
        }
        self.next_object_id.store(highest + 1, Ordering::Relaxed);
        Ok(alone)
    }
}

/// A table, and of a view's rows the ids of the tables that they come from, as they are stored.
type WithSources = (TableDef, Option<Vec<u8>>);

/// Rows of a system table, by the object that they belong to.
type ByObject = HashMap<i32, Vec<Vec<Value>>>;

/// What the system tables say of tables, and what other tables must be told of those that were read.
struct StoredTables<'a> {
    catalog: &'a Catalog,
    filegroups: &'a [FilegroupDef],
    columns: ByObject,
    keys: ByObject,
    tables: ByObject,
    indexes: ByObject,
    constraints: ByObject,
    partitioned: ByObject,
    /// Collections of XML schemas, by their ids.
    xml_schemas: HashMap<i32, xml_schema::Registered>,
    statistics: BTreeMap<i32, Vec<Statistic>>,
    /// The highest id of an object or constraint.
    highest: i32,
    /// Tables with foreign keys to a table.
    referencing: HashMap<i32, Vec<i32>>,
    /// History tables.
    versioned: HashMap<i32, (i32, Option<Retention>)>,
}

impl StoredTables<'_> {
    /// A table by its id; none has no row.
    fn table(
        &mut self,
        object_id: i32,
        names: (Box<str>, Box<str>),
        created: u64,
    ) -> Result<Option<TableDef>, CatalogError> {
        Ok(self.read(object_id, names, created)?.map(|(table, _)| table))
    }

    /// A view, with its rows if it is indexed.
    fn view(&mut self, module: ProcedureDef) -> Result<ObjectRef, CatalogError> {
        let names = (module.schema.clone(), module.name.clone());
        let rows = self.read(module.object_id, names, module.created_unix_ns)?;
        let Some((mut rows, sources)) = rows else {
            return Ok(ObjectRef::Procedure(Arc::new(module)));
        };
        let tables = IndexedView::unpack(
            &sources.ok_or_else(|| corrupt("a view's rows come from nowhere"))?,
        );
        rows.view = Some(Arc::new(IndexedView { module, tables }));
        Ok(ObjectRef::of_rows(Arc::new(rows)))
    }

    /// What is left.
    fn left(self) -> [(&'static str, ByObject); 6] {
        [
            ("columns", self.columns),
            ("keys", self.keys),
            ("tables", self.tables),
            ("indexes", self.indexes),
            ("constraints", self.constraints),
            ("partitioned", self.partitioned),
        ]
    }

    fn read(
        &mut self,
        object_id: i32,
        names: (Box<str>, Box<str>),
        created: u64,
    ) -> Result<Option<WithSources>, CatalogError> {
        let row = self.tables.remove(&object_id).and_then(|mut rows| rows.pop());
        let Some(row) = row else { return Ok(None) };
        let mut cells = Cells::new(row);
        cells.int()?;
        let (tree, number) = (tree_id(cells.int()?), cells.int()?);
        let lob = cells.opt_int()?.map(tree_id);
        let history = cells.opt_int()?;
        let retention = match (cells.opt_int()?, cells.opt_int()?) {
            (Some(n), Some(unit)) => Some(Retention { number: n as i32, unit: unit as i32 }),
            _ => None,
        };
        if let Some(history) = history {
            self.versioned.insert(object_id, (history as i32, retention));
        }
        let tracking = match cells.opt_int()? {
            None => None,
            Some(changes) => Some(Tracking {
                changes: tree_id(changes),
                by_key: tree_id(cells.int()?),
                commits: tree_id(cells.int()?),
                columns: cells.flag()?,
                begin_version: cells.int()? as u64,
                numbering: cells.int()? as i32,
            }),
        };
        if tracking.is_none() {
            for _ in 0..5 {
                cells.skip()?;
            }
        }
        let memory = cells.opt_int()?.map(|n| n == 1);
        let buckets = cells.opt_int()?.map(|n| n as u32);
        let memory = memory.map(|durable| MemoryDef { durable, buckets });
        let compression = Compression::unpack(cells.opt_int()?.unwrap_or(0));
        let sources = cells.opt_bytes()?;
        let filegroup = self
            .filegroups
            .get(number as usize - 1)
            .map_or_else(|| "PRIMARY".into(), |g| g.name.clone());
        let columns = self.columns.remove(&object_id).unwrap_or_default();
        let ordinals = columns.iter().map(|row| row.get(1).and_then(Value::as_i64));
        if !ordinals.eq((0..columns.len() as i64).map(Some)) {
            return Err(corrupt("a table's columns are not all there"));
        }
        let mut columns = columns.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
        for column in &mut columns {
            column.ty = crate::xml_schemas::known(column.ty, &self.xml_schemas)?;
        }
        let key = self.keys.remove(&object_id).and_then(|mut rows| rows.pop());
        let mut table = TableDef {
            primary_key: key.map(primary_key).transpose()?,
            tree,
            lob,
            tracking,
            memory,
            compression,
            database_collation: self.catalog.collation(),
            filegroup,
            version: self.catalog.new_version(),
            created_unix_ns: created,
            ..TableDef::bare(object_id, names.0, names.1, columns)
        };
        for row in self.indexes.remove(&object_id).unwrap_or_default() {
            let index = index::index(row)?;
            self.highest = self.highest.max(index.constraint_id);
            table.indexes.push(index);
        }
        for row in self.constraints.remove(&object_id).unwrap_or_default() {
            match constraint::constraint(row)? {
                Constraint::Check(check) => {
                    self.highest = self.highest.max(check.object_id);
                    table.checks.push(check);
                }
                Constraint::ForeignKey(key) => {
                    self.highest = self.highest.max(key.object_id);
                    let list = self.referencing.entry(key.table).or_default();
                    if !list.contains(&object_id) {
                        list.push(object_id);
                    }
                    table.foreign_keys.push(key);
                }
            }
        }
        for row in self.partitioned.remove(&object_id).unwrap_or_default() {
            crate::partition::divide(&mut table, row)?;
        }
        check_ordinals(&table)?;
        lay_out(&mut table);
        let known = self.statistics.remove(&object_id).unwrap_or_default();
        table.statistics = TableStatistics::loaded(&table, known);
        Ok(Some((table, sources)))
    }
}

/// Whether the columns are all there that keys and indexes name.
fn check_ordinals(table: &TableDef) -> Result<(), CatalogError> {
    let key = table.primary_key.iter().flat_map(|key| &key.columns);
    let parts = table.indexes.iter().flat_map(|index| &index.columns);
    let included = table.indexes.iter().flat_map(|index| &index.include);
    let ordered = table.indexes.iter().filter_map(|index| index.columnstore.as_ref());
    let ordered = ordered.flat_map(|columnstore| &columnstore.order);
    let mut named = key.chain(parts).map(|(ordinal, _)| ordinal).chain(included).chain(ordered);
    match named.any(|ordinal| *ordinal >= table.columns.len()) {
        true => Err(corrupt("an index of a column that is not there")),
        false if table.columns.is_empty() => Err(corrupt("a table without columns")),
        false => Ok(()),
    }
}

/// Rows grouped by their first column.
fn by_object(rows: Vec<Vec<Value>>) -> Result<ByObject, CatalogError> {
    let mut groups = ByObject::new();
    for row in rows {
        let id = row.first().and_then(Value::as_i64).ok_or_else(|| corrupt("no object id"))?;
        groups.entry(id as i32).or_default().push(row);
    }
    Ok(groups)
}

fn filegroups(
    groups: Vec<Vec<Value>>,
    files: Vec<Vec<Value>>,
) -> Result<Vec<FilegroupDef>, CatalogError> {
    let mut out = Vec::new();
    for row in groups {
        let mut cells = Cells::new(row);
        // Numbers are places: scanned in their order, without a hole.
        if cells.int()? as usize != out.len() + 1 {
            return Err(corrupt("a filegroup is missing"));
        }
        out.push(FilegroupDef {
            name: cells.text()?,
            is_default: cells.flag()?,
            memory: cells.opt_text()?.map(|text| crate::memory::containers(&text)),
            files: Vec::new(),
        });
    }
    for row in files {
        let mut cells = Cells::new(row);
        let file_id = cells.int()? as u16;
        let group = cells.int()? as usize;
        let file = FileDef {
            file_id,
            name: cells.text()?,
            path: cells.text()?,
            size_bytes: cells.int()? as u64,
            max_bytes: cells.opt_int()?.map(|b| b as u64),
        };
        let group = out.get_mut(group.wrapping_sub(1));
        group.ok_or_else(|| corrupt("a file has no filegroup"))?.files.push(file);
    }
    Ok(out)
}

fn primary_key(row: Vec<Value>) -> Result<KeyDef, CatalogError> {
    let mut cells = Cells::new(row);
    cells.int()?;
    let (name, clustered) = (cells.text()?, cells.flag()?);
    let columns = crate::keys::unpack_key(&cells.opt_bytes()?.unwrap_or_default());
    let ignore_dup_key = cells.opt_int()? == Some(1);
    let packed = cells.opt_int()?.unwrap_or(0) as i32;
    let (fill_factor, options) = ((packed >> 8) as u8, IndexOptions::unpack(packed));
    Ok(KeyDef { name, columns, clustered, ignore_dup_key, fill_factor, options })
}

fn column(row: Vec<Value>) -> Result<ColumnDef, CatalogError> {
    let mut cells = Cells::new(row);
    cells.int()?;
    cells.int()?;
    let name = cells.text()?;
    let (id, length, precision, scale) =
        (cells.int()? as u8, cells.int()?, cells.int()? as u8, cells.int()? as u8);
    let ty = SqlType::from_parts(id, length, precision, scale)
        .ok_or_else(|| corrupt("a column of unknown type"))?;
    let nullable = cells.flag()?;
    let default = match (cells.opt_text()?, cells.opt_text()?) {
        (Some(name), Some(text)) => Some(DefaultDef { name, text }),
        _ => None,
    };
    let identity = match (cells.opt_int()?, cells.opt_int()?) {
        (Some(seed), Some(increment)) => Some(Identity { seed, increment }),
        _ => None,
    };
    let absent = cells.opt_bytes()?;
    let computed = cells.opt_text()?;
    let flags = cells.opt_int()?.unwrap_or(0);
    let computed = computed.map(|text| {
        let volatile = flags & 2 != 0;
        ComputedDef { text, persisted: flags & 1 != 0, volatile }
    });
    let rowversion = flags & 2 != 0 && computed.is_none();
    let generated = match (flags & 4 != 0, flags & 8 != 0) {
        (true, _) => Some(PeriodEdge::Start),
        (_, true) => Some(PeriodEdge::End),
        _ => None,
    };
    let marks = Marks {
        hidden: flags & 16 != 0,
        rowguidcol: flags & 32 != 0,
        sparse: flags & 64 != 0,
        column_set: flags & 1 != 0 && computed.is_none(),
        not_for_replication: flags & 128 != 0,
    };
    let alias = cells.opt_int()?.map(|id| id as i32);
    let collation = match cells.opt_int()? {
        None => types::Collation::default(),
        Some(number) => {
            u32::try_from(number).ok().and_then(types::Collation::of_number).ok_or_else(|| {
                corrupt("a column of a collation whose order this build does not have")
            })?
        }
    };
    let mask = cells.opt_text()?;
    let mask = mask.map(|text| crate::mask_of(&text, &name, ty)).transpose();
    let mask = mask.map_err(|_| corrupt("a column of an unknown masking function"))?;
    let rule = binding::unresolved(cells.opt_int()?);
    let bound_default = binding::unresolved(cells.opt_int()?);
    let absent = match absent {
        None => Value::Null,
        Some(bytes) => {
            let rule = collation.rule();
            let one = RowLayout::new(&[RowColumn { ty, nullable: true, rule }]);
            one.decode_column(&bytes, 0).ok_or_else(|| corrupt("an absent value is empty"))?
        }
    };
    Ok(ColumnDef {
        name,
        ty,
        nullable,
        default,
        identity,
        absent,
        computed,
        rowversion,
        alias,
        collation,
        generated,
        marks,
        mask,
        rule,
        bound_default,
    })
}

/// Fills in the layouts from columns and key.
pub(crate) fn lay_out(table: &mut TableDef) {
    let row: Vec<RowColumn> = table
        .columns
        .iter()
        .map(|c| RowColumn { ty: c.ty, nullable: c.nullable, rule: c.collation.rule() })
        .collect();
    table.layout = RowLayout::new(&row);
    let part = |&(i, desc): &(usize, bool)| {
        let c = &table.columns[i];
        KeyPart { ty: c.ty, nullable: c.nullable, desc, rule: c.collation.rule() }
    };
    table.key_layout = KeyLayout::new(table.clustered_key().iter().map(part).collect());
    index::lay_out_indexes(table);
}
