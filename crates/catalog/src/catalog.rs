//! The catalog of one database.
//!
//! Look-ups read the definitions in memory; data definition writes the system tables through its
//! transaction and collects the change in a [`DdlScope`], which the session applies after a commit
//! ([`Catalog::commit`]) or drops after a rollback.
//!
//! Between the end of a transaction (when its locks are free) and [`Catalog::commit`] the memory is
//! behind the system tables. Whoever defines something anew therefore compares `modified` of the
//! object's row with that of the definition it has, and waits for the memory to catch up
//! ([`Catalog::lock_table`]).
//!
//! Fields: `defs` is guarded by its RwLock, held for look-ups and publication only, never while
//! suspended. `versions` is taken from without a lock.

use crate::configuration::Configuration;
use crate::def::*;
use crate::identity::Identities;
use crate::scope::{Change, DdlScope, Entry, Local, name_key, name_key_of};
use crate::system::SystemTables;
use crate::{CatalogError, Database, Txn};
use engine::{Durability, EngineError, TableLock, TxnOptions};
use parking_lot::RwLock;
use runtime::task::NoSuspend;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use telemetry::WaitType;
use types::Value;

/// How long to wait for another session to publish what it has committed, in rounds of 1 ms.
pub(crate) const PUBLISH_ROUNDS_MAX: u32 = 30_000;

/// First id of a user's object.
pub(crate) const FIRST_OBJECT_ID: i32 = 1_000_001;

/// The definitions of one database.
pub struct Catalog {
    pub(crate) db: Arc<Database>,
    pub(crate) tables: SystemTables,
    pub(crate) defs: RwLock<Definitions>,
    /// Last version given to a definition.
    pub(crate) versions: AtomicU64,
    /// Version of the last publication.
    published: AtomicU64,
    pub(crate) next_object_id: AtomicI32,
    pub(crate) identities: Identities,
    pub(crate) shapes: crate::shapes::Shapes,
    /// The number of the database's collation: see `collation.rs`.
    pub(crate) collation: AtomicU32,
    /// The database's name, for messages; unknown until somebody says it.
    name: OnceLock<Box<str>>,
}

/// What is committed and published.
#[derive(Default)]
pub(crate) struct Definitions {
    pub(crate) by_name: HashMap<String, Entry>,
    pub(crate) by_id: BTreeMap<i32, ObjectRef>,
    /// Ids of the triggers that a table or view may have; some may be gone.
    pub(crate) triggers: HashMap<i32, Vec<i32>>,
    /// Ids of security policies.
    pub(crate) policies: Vec<i32>,
    pub(crate) filegroups: Vec<FilegroupDef>,
    pub(crate) directory: Arc<security::Directory>,
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) properties: Arc<crate::properties::Properties>,
}

impl Definitions {
    pub(crate) fn put(&mut self, entry: Entry) {
        let key = name_key_of(&entry.object);
        let id = entry.object.object_id();
        if let ObjectRef::Procedure(module) = &entry.object
            && let Some(trigger) = module.trigger
        {
            let list = self.triggers.entry(trigger.parent).or_default();
            if !list.contains(&id) {
                list.push(id);
            }
        }
        if let ObjectRef::Procedure(module) = &entry.object
            && let Some(schemas) = &module.xml_schema
        {
            schemas.publish();
        }
        if let ObjectRef::Procedure(module) = &entry.object
            && module.policy.is_some()
            && !self.policies.contains(&id)
        {
            self.policies.push(id);
        }
        self.by_id.insert(id, entry.object.clone());
        if let Some(old) = self.by_name.insert(key, entry)
            && old.object.object_id() != id
        {
            self.by_id.remove(&old.object.object_id());
        }
    }

    fn remove(&mut self, schema: &str, name: &str, object_id: i32) {
        if let Some(ObjectRef::Procedure(module)) = self.by_id.remove(&object_id)
            && let Some(trigger) = module.trigger
            && let Some(list) = self.triggers.get_mut(&trigger.parent)
        {
            list.retain(|id| *id != object_id);
        }
        self.policies.retain(|id| *id != object_id);
        let key = name_key(schema, name);
        // The name may belong to a newer object, published first.
        if self.by_name.get(&key).is_some_and(|e| e.object.object_id() == object_id) {
            self.by_name.remove(&key);
        }
    }
}

impl Catalog {
    /// Writes the system tables of a new database: the filegroup PRIMARY and its first file.
    pub fn create(db: &Arc<Database>) -> Result<Arc<Catalog>, CatalogError> {
        let catalog = Arc::new(Catalog::empty(db));
        let files = db
            .files()
            .data
            .iter()
            .filter(|f| f.filegroup == engine::PRIMARY)
            .map(|f| FileDef {
                file_id: f.file_id,
                name: f.path.file_stem().unwrap_or_default().to_string_lossy().into(),
                path: f.path.to_string_lossy().into(),
                size_bytes: f.initial_bytes,
                max_bytes: f.max_bytes,
            })
            .collect();
        let primary =
            FilegroupDef { name: "PRIMARY".into(), is_default: true, memory: None, files };
        catalog.set_filegroups(&[primary])?;
        catalog.defs.write().directory = Arc::new(security::Directory::database(&security::SA_SID));
        Ok(catalog)
    }

    /// Reads the system tables of a database that was recovered.
    pub fn open(db: &Arc<Database>) -> Result<Arc<Catalog>, CatalogError> {
        let catalog = Catalog::empty(db);
        catalog.load()?;
        Ok(Arc::new(catalog))
    }

    /// What the system tables of a database hold that belongs to nothing: each is damage. An error: they make no sense.
    pub fn check(db: &Arc<Database>) -> Result<Vec<String>, CatalogError> {
        Catalog::empty(db).load()
    }

    fn empty(db: &Arc<Database>) -> Catalog {
        Catalog {
            db: db.clone(),
            tables: SystemTables::new(db),
            defs: RwLock::default(),
            versions: AtomicU64::new(0),
            published: AtomicU64::new(0),
            next_object_id: AtomicI32::new(FIRST_OBJECT_ID),
            identities: Identities::default(),
            shapes: crate::shapes::Shapes::default(),
            collation: AtomicU32::new(types::Collation::default().number()),
            name: OnceLock::new(),
        }
    }

    /// Says what the database is called, once; messages with names in three parts want it.
    pub fn set_name(&self, name: &str) {
        let _ = self.name.set(name.into());
    }

    /// The database's name, as far as it is known.
    pub(crate) fn database_name(&self) -> &str {
        self.name.get().map_or("", |name| name)
    }

    /// `database.schema.table`, as far as the database's name is known.
    pub fn shown(&self, table: &TableDef) -> String {
        match self.name.get() {
            Some(name) => format!("{name}.{}.{}", table.schema, table.name),
            None => format!("{}.{}", table.schema, table.name),
        }
    }

    /// Grows with every committed change of a definition.
    #[inline]
    pub fn version(&self) -> u64 {
        self.published.load(Ordering::Acquire)
    }

    pub(crate) fn new_version(&self) -> u64 {
        self.versions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The definition under a name: the transaction's own first.
    pub(crate) fn entry(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Entry> {
        let key = name_key(schema.filter(|s| !s.is_empty()).unwrap_or("dbo"), name);
        match scope.map_or(Local::Unknown, |s| s.find(&key)) {
            Local::Defined(entry) => Some(entry.clone()),
            Local::Dropped => None,
            Local::Unknown => self.defs.read().by_name.get(&key).cloned(),
        }
    }

    /// A table by schema (`None`: dbo) and name, any case; first what `scope` has defined.
    pub fn table(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Arc<TableDef>> {
        match self.object(scope, schema, name)? {
            ObjectRef::Table(table) => Some(table),
            ObjectRef::Procedure(_) => None,
        }
    }

    /// A procedure, likewise.
    pub fn procedure(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Arc<ProcedureDef>> {
        self.module(scope, schema, name, ModuleKind::Procedure)
    }

    /// A module of that kind, likewise.
    pub fn module(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
        kind: ModuleKind,
    ) -> Option<Arc<ProcedureDef>> {
        match self.object(scope, schema, &kind.key(name))? {
            ObjectRef::Procedure(module) if module.kind == kind => Some(module),
            _ => None,
        }
    }

    /// For OBJECT_ID.
    pub fn object(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<ObjectRef> {
        self.entry(scope, schema, name).map(|e| e.object)
    }

    /// A committed object by its id.
    pub fn object_by_id(&self, object_id: i32) -> Option<ObjectRef> {
        self.defs.read().by_id.get(&object_id).cloned()
    }

    /// An object by its id, as a transaction sees it.
    pub fn object_in(&self, scope: Option<&DdlScope>, object_id: i32) -> Option<ObjectRef> {
        match scope.map_or(Local::Unknown, |scope| scope.find_object(object_id)) {
            Local::Defined(entry) => Some(entry.object.clone()),
            Local::Dropped => None,
            Local::Unknown => self.object_by_id(object_id),
        }
    }

    /// All committed objects, by id (sys.objects, sys.tables).
    pub fn objects(&self) -> Vec<ObjectRef> {
        self.defs.read().by_id.values().cloned().collect()
    }

    /// The same as a transaction sees them: with what `scope` has defined, without what it has dropped.
    pub fn objects_in(&self, scope: Option<&DdlScope>) -> Vec<ObjectRef> {
        let Some(scope) = scope.filter(|s| !s.is_empty()) else { return self.objects() };
        let mut all = self.defs.read().by_id.clone();
        for change in &scope.changes {
            match change {
                Change::Put(entry) => all.insert(entry.object.object_id(), entry.object.clone()),
                Change::Drop { object_id, .. } => all.remove(object_id),
                Change::Rename { .. }
                | Change::Directory(_)
                | Change::Property(_)
                | Change::Reseed(_) => None,
            };
        }
        all.into_values().collect()
    }

    /// (schema_id, name), as in sys.schemas, by id.
    pub fn schemas(&self) -> Vec<(i32, Box<str>)> {
        let defs = self.defs.read();
        defs.directory.schemas.values().map(|schema| (schema.id, schema.name.clone())).collect()
    }

    /// In order of their numbers: the first is PRIMARY, number 1.
    pub fn filegroups(&self) -> Vec<FilegroupDef> {
        self.defs.read().filegroups.clone()
    }

    /// Replaces the list of filegroups (ALTER DATABASE ADD FILEGROUP, ADD FILE, MODIFY FILEGROUP).
    /// A filegroup's number is its place from 1; numbers in use must keep their place. Durable when
    /// this returns. Suspends.
    pub fn set_filegroups(&self, filegroups: &[FilegroupDef]) -> Result<(), CatalogError> {
        self.in_transaction(|catalog, txn| {
            let t = &catalog.tables;
            for (group, number) in filegroups.iter().zip(1i32..) {
                let row = [
                    number.into(),
                    Value::str(&group.name),
                    group.is_default.into(),
                    crate::memory::containers_text(group),
                ];
                t.filegroups.put(txn, &row)?;
                for file in &group.files {
                    let row = [
                        (file.file_id as i32).into(),
                        number.into(),
                        Value::str(&file.name),
                        Value::str(&file.path),
                        Value::BigInt(file.size_bytes as i64),
                        file.max_bytes.map(|b| b as i64).into(),
                    ];
                    t.files.put(txn, &row)?;
                }
            }
            Ok(())
        })?;
        self.defs.write().filegroups = filegroups.to_vec();
        self.publish();
        Ok(())
    }

    /// Runs `work` in a transaction of its own, committed in full. Suspends.
    pub(crate) fn in_transaction<T>(
        &self,
        work: impl FnOnce(&Catalog, &mut Txn) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        in_transaction(&self.db, |txn| work(self, txn))
    }

    /// Changes definitions in a transaction of its own, durable and everyone's when this returns: those of `master` that
    /// sessions of other databases change. Suspends.
    pub fn define_alone<T, E: From<CatalogError>>(
        &self,
        work: impl FnOnce(&Catalog, &mut Txn, &mut DdlScope) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut scope = DdlScope::default();
        let made = in_transaction(&self.db, |txn| work(self, txn, &mut scope))?;
        self.commit(scope);
        Ok(made)
    }

    pub(crate) fn publish(&self) {
        let version = self.new_version();
        self.published.fetch_max(version, Ordering::Release);
    }

    /// Makes a committed scope's definitions everyone's. Call right after `Txn::commit`.
    /// Suspends when an identity goes on from elsewhere.
    pub fn commit(&self, mut scope: DdlScope) {
        if scope.is_empty() {
            return;
        }
        let changes = std::mem::take(&mut scope.changes);
        for change in &changes {
            if let Change::Reseed(reseed) = change {
                self.keep_reseed(reseed);
            }
        }
        // What goes may have compiled rules, which are dropped step by step; not with everybody waiting for the lock.
        let held = NoSuspend::new();
        let mut defs = self.defs.write();
        for change in changes {
            match change {
                Change::Reseed(_) => {}
                Change::Put(entry) => defs.put(entry),
                Change::Drop { schema, name, object_id } => {
                    defs.remove(&schema, &name, object_id);
                    self.identities.forget(object_id);
                }
                Change::Rename { schema, name, object_id } => {
                    defs.remove(&schema, &name, object_id)
                }
                Change::Directory(directory) => defs.directory = directory,
                Change::Property(change) => change.apply(Arc::make_mut(&mut defs.properties)),
            }
        }
        drop(defs);
        drop(held);
        self.publish();
    }

    /// Takes the Sch-M lock of a table, or of the rows of an indexed view, and gives its definition as it is under the lock. `None`:
    /// there is no such table (any more). Suspends.
    pub fn lock_table(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<(Arc<TableDef>, i64)>, CatalogError> {
        for _ in 0..PUBLISH_ROUNDS_MAX {
            let Some(Entry { object, modified }) = self.entry(Some(scope), schema, name) else {
                return Ok(None);
            };
            let Some(table) = object.rows().cloned() else { return Ok(None) };
            match txn.lock_table(&self.db.tree(table.tree), TableLock::SchemaModification) {
                Ok(()) => {}
                // Dropped or truncated while we waited; the memory will say so in a moment.
                Err(EngineError::NoSuchTree) => {
                    self.wait_for_publication();
                    continue;
                }
                Err(e) => return Err(e.into()),
            }
            if self.stored_modified(txn, table.object_id)? == Some(modified) {
                return Ok(Some((table, modified)));
            }
            self.wait_for_publication();
        }
        Err(behind())
    }

    /// `modified` of an object's row, which is locked by this; `None` when the object is gone.
    pub(crate) fn stored_modified(
        &self,
        txn: &mut Txn,
        object_id: i32,
    ) -> Result<Option<i64>, CatalogError> {
        let row = self.tables.objects.read_locked(txn, &[object_id.into()])?;
        // The last column: see the table in `system.rs`.
        Ok(row.and_then(|row| row.last().and_then(Value::as_i64)))
    }

    /// Another session has committed a definition and is about to publish it. Suspends.
    pub(crate) fn wait_for_publication(&self) {
        runtime::task::sleep_ns(1_000_000, WaitType::SleepTask);
    }
}

/// The memory did not catch up: a session died between commit and publication.
pub(crate) fn behind() -> CatalogError {
    CatalogError::Engine(EngineError::LockTimeout)
}

/// Runs `work` in a transaction of its own, committed in full. Suspends.
pub(crate) fn in_transaction<T, E: From<CatalogError>>(
    db: &Arc<Database>,
    work: impl FnOnce(&mut Txn) -> Result<T, E>,
) -> Result<T, E> {
    let mut txn = db.begin(TxnOptions::default());
    txn.begin_statement();
    match work(&mut txn) {
        Ok(result) => {
            txn.end_statement();
            txn.commit(Durability::Full).map_err(CatalogError::from)?;
            Ok(result)
        }
        Err(e) => {
            txn.rollback().map_err(CatalogError::from)?;
            Err(e)
        }
    }
}
