//! The list of databases, kept in `master`.
//!
//! Each change is a transaction of its own, durable when the call returns. `changing` keeps one
//! change at a time; it is held across waits, and waiters poll it, so no scheduler blocks.
//! The server's principals are here too; their changes are one after the other by a row lock.

use crate::audits::{AUDITS, AuditDefs};
use crate::catalog::in_transaction;
use crate::def::*;
use crate::governor::{GOVERNOR, GovernorDef};
use crate::principals::{self, Scope};
use crate::settings::{SETTINGS, Settings};
use crate::system::{Cells, MasterTables, SecurityTables, corrupt};
use crate::{CatalogError, Database, Txn};
use engine::TxnOptions;
use parking_lot::{Mutex, RwLock};
use security::Directory;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use telemetry::WaitType;
use types::Value;

/// First id of a user's database, as in SQL Server.
const FIRST_DATABASE_ID: i32 = 5;

/// The databases of an instance. Ids: master 1, tempdb 2, users from 5.
pub struct ServerCatalog {
    master: Arc<Database>,
    tables: MasterTables,
    list: RwLock<BTreeMap<i32, Arc<DatabaseDef>>>,
    changing: AtomicBool,
    security: SecurityTables,
    /// Held for look-ups and publication only.
    directory: RwLock<Arc<Directory>>,
    /// Held for look-ups and publication only.
    governor: RwLock<Arc<GovernorDef>>,
    /// Held for look-ups and publication only.
    audits: RwLock<Arc<AuditDefs>>,
    /// Held for look-ups and publication only.
    settings: RwLock<Settings>,
    /// Transactions over several databases that were decided to commit, and those of them that have done so everywhere.
    decisions: Mutex<Decisions>,
    /// Version of `directory`, for whoever caches what it has decided.
    directory_version: AtomicI64,
}

/// See [`ServerCatalog::decide`].
#[derive(Default)]
struct Decisions {
    made: HashSet<u128>,
    done: Vec<u128>,
}

/// Under this number the options of no database are kept, but decisions.
const NO_DATABASE: i32 = 0;

/// Ends a change, also on an error.
struct Changing<'a>(&'a AtomicBool);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl ServerCatalog {
    /// The empty list of a new `master`.
    pub fn create(master: &Arc<Database>) -> Result<ServerCatalog, CatalogError> {
        ServerCatalog::open(master)
    }

    /// Reads the list.
    pub fn open(master: &Arc<Database>) -> Result<ServerCatalog, CatalogError> {
        let tables = MasterTables::new(master);
        let mut txn = master.begin(TxnOptions::default());
        txn.begin_statement();
        let mut list = BTreeMap::new();
        for row in tables.databases.scan(&mut txn, &[])? {
            let def = read(&tables, &mut txn, row)?;
            list.insert(def.database_id, Arc::new(def));
        }
        let mut decisions = Decisions::default();
        for row in tables.options.scan(&mut txn, &[Value::Int(NO_DATABASE)])? {
            let mut cells = Cells::new(row);
            cells.skip()?;
            let number = u128::from_str_radix(&cells.text()?, 16);
            decisions.made.insert(number.map_err(|_| corrupt("a decision without a number"))?);
        }
        let governor = GovernorDef::load(&tables, &mut txn)?;
        let audits = AuditDefs::load(&tables, &mut txn)?;
        let settings = crate::settings::load(&tables, &mut txn)?;
        let security = SecurityTables::new(master);
        let directory = principals::load(&security, &mut txn, Scope::Server)?;
        txn.end_statement();
        txn.commit(engine::Durability::Full)?;
        Ok(ServerCatalog {
            security,
            directory_version: AtomicI64::new(directory.version),
            directory: RwLock::new(Arc::new(directory)),
            master: master.clone(),
            tables,
            list: RwLock::new(list),
            changing: AtomicBool::new(false),
            governor: RwLock::new(Arc::new(governor)),
            audits: RwLock::new(Arc::new(audits)),
            settings: RwLock::new(settings),
            decisions: Mutex::new(decisions),
        })
    }

    /// A transaction that is prepared in several databases commits in all of them: durable when this returns. From here
    /// on whoever opens one of them is told so. Suspends.
    pub fn decide(&self, transaction: u128) -> Result<(), CatalogError> {
        let done = std::mem::take(&mut self.decisions.lock().done);
        self.decisions.lock().made.insert(transaction);
        let key = |number: u128| [Value::Int(NO_DATABASE), Value::str(&format!("{number:032x}"))];
        let written = in_transaction(&self.master, |txn| {
            for number in &done {
                self.tables.options.delete(txn, &key(*number))?;
            }
            let [id, name] = key(transaction);
            self.tables.options.put(txn, &[id, name, Value::str("committed")])
        });
        let mut decisions = self.decisions.lock();
        match &written {
            Ok(()) => decisions.made.retain(|number| !done.contains(number)),
            Err(_) => {
                decisions.made.remove(&transaction);
                decisions.done.extend(done);
            }
        }
        written
    }

    /// It has committed in all of them, durably: nobody will ask any more.
    pub fn decided_everywhere(&self, transaction: u128) {
        self.decisions.lock().done.push(transaction);
    }

    /// Whether a prepared transaction was decided to commit.
    pub fn is_decided(&self, transaction: u128) -> bool {
        self.decisions.lock().made.contains(&transaction)
    }

    /// Every database of the list is open: what was undecided in one is settled.
    pub fn all_is_decided(&self) {
        let mut decisions = self.decisions.lock();
        decisions.done = decisions.made.iter().copied().collect();
    }

    /// The server's principals and permissions.
    pub fn directory(&self) -> Arc<Directory> {
        self.directory.read().clone()
    }

    /// Grows with every change of [`ServerCatalog::directory`].
    #[inline]
    pub fn directory_version(&self) -> i64 {
        self.directory_version.load(Ordering::Acquire)
    }

    /// Changes the server's principals, in a transaction of its own, durable and everyone's when this returns. What
    /// `work` refuses leaves everything as it was. Suspends.
    pub fn change_directory<E: From<CatalogError>>(
        &self,
        work: impl FnOnce(&mut Directory) -> Result<(), E>,
    ) -> Result<Arc<Directory>, E> {
        let _changing = self.change();
        let mut txn = self.master.begin(TxnOptions::default());
        txn.begin_statement();
        let current = || self.directory();
        match principals::change(&self.security, &mut txn, Scope::Server, current, work) {
            Ok(new) => {
                txn.end_statement();
                txn.commit(engine::Durability::Full).map_err(CatalogError::from)?;
                *self.directory.write() = new.clone();
                self.directory_version.store(new.version, Ordering::Release);
                Ok(new)
            }
            Err(e) => {
                txn.rollback().map_err(CatalogError::from)?;
                Err(e)
            }
        }
    }

    fn change(&self) -> Changing<'_> {
        while self.changing.swap(true, Ordering::Acquire) {
            runtime::task::sleep_ns(1_000_000, WaitType::SleepTask);
        }
        Changing(&self.changing)
    }

    /// By id; `master` is not among them.
    pub fn databases(&self) -> Vec<Arc<DatabaseDef>> {
        self.list.read().values().cloned().collect()
    }

    /// 911 when there is none.
    pub fn database(&self, name: &str) -> Result<Arc<DatabaseDef>, CatalogError> {
        let list = self.list.read();
        let found = list.values().find(|d| same_name(&d.name, name)).cloned();
        found.ok_or_else(|| CatalogError::NoDatabase { name: name.into() })
    }

    /// Adds a database (1801 when the name is taken); the id in `def` is ignored, the one given is
    /// in the answer. Durable when this returns. Suspends.
    pub fn add(&self, mut def: DatabaseDef) -> Result<Arc<DatabaseDef>, CatalogError> {
        let _changing = self.change();
        let reserved = ["master", "tempdb", "model", "msdb"];
        let taken = reserved.iter().any(|n| same_name(n, &def.name));
        if taken || self.database(&def.name).is_ok() {
            return Err(CatalogError::DatabaseExists { name: def.name });
        }
        def.database_id = {
            let list = self.list.read();
            // The lowest free one, as SQL Server gives.
            (FIRST_DATABASE_ID..).find(|id| !list.contains_key(id)).unwrap_or(FIRST_DATABASE_ID)
        };
        self.store(def)
    }

    /// Adds a database of the system, with the id in `def`; 1801. Durable when this returns. Suspends.
    pub fn add_system(&self, def: DatabaseDef) -> Result<Arc<DatabaseDef>, CatalogError> {
        let _changing = self.change();
        if self.list.read().contains_key(&def.database_id) {
            return Err(CatalogError::DatabaseExists { name: def.name });
        }
        self.store(def)
    }

    /// Replaces the entry with this id (state, options, files). Durable when this returns. Suspends.
    pub fn update(&self, def: DatabaseDef) -> Result<Arc<DatabaseDef>, CatalogError> {
        let _changing = self.change();
        if !self.list.read().contains_key(&def.database_id) {
            return Err(CatalogError::NoDatabase { name: def.name });
        }
        self.store(def)
    }

    /// Removes the entry; 911. Durable when this returns. Suspends.
    pub fn remove(&self, name: &str) -> Result<(), CatalogError> {
        let _changing = self.change();
        let def = self.database(name)?;
        in_transaction(&self.master, |txn| delete(&self.tables, txn, def.database_id))?;
        self.list.write().remove(&def.database_id);
        Ok(())
    }

    fn store(&self, def: DatabaseDef) -> Result<Arc<DatabaseDef>, CatalogError> {
        in_transaction(&self.master, |txn| {
            delete(&self.tables, txn, def.database_id)?;
            write(&self.tables, txn, &def)
        })?;
        let def = Arc::new(def);
        self.list.write().insert(def.database_id, def.clone());
        Ok(def)
    }
}

impl ServerCatalog {
    /// Resource Governor as defined.
    pub fn governor(&self) -> Arc<GovernorDef> {
        self.governor.read().clone()
    }

    /// Changes its definition, durably when this returns; what `work` refuses leaves it as it was. Suspends.
    pub fn change_governor<E: From<CatalogError>>(
        &self,
        work: impl FnOnce(&mut GovernorDef) -> Result<(), E>,
    ) -> Result<Arc<GovernorDef>, E> {
        let _changing = self.change();
        let mut def = GovernorDef::clone(&self.governor());
        work(&mut def)?;
        self.keep_options(GOVERNOR, def.rows())?;
        let def = Arc::new(def);
        *self.governor.write() = def.clone();
        Ok(def)
    }

    /// Audits as defined.
    pub fn audits(&self) -> Arc<AuditDefs> {
        self.audits.read().clone()
    }

    /// Changes their definitions, durably when this returns; what `work` refuses leaves them as they were. Suspends.
    pub fn change_audits<E: From<CatalogError>>(
        &self,
        work: impl FnOnce(&mut AuditDefs) -> Result<(), E>,
    ) -> Result<Arc<AuditDefs>, E> {
        let _changing = self.change();
        let mut defs = AuditDefs::clone(&self.audits());
        work(&mut defs)?;
        self.keep_options(AUDITS, defs.rows())?;
        let defs = Arc::new(defs);
        *self.audits.write() = defs.clone();
        Ok(defs)
    }

    /// The server's settings as they were kept last.
    pub fn settings(&self) -> Settings {
        self.settings.read().clone()
    }

    /// Changes the settings that are kept, durably when this returns. Suspends.
    pub fn change_settings(&self, work: impl FnOnce(&mut Settings)) -> Result<(), CatalogError> {
        let _changing = self.change();
        let mut settings = self.settings();
        work(&mut settings);
        if settings != *self.settings.read() {
            self.keep_options(SETTINGS, settings.clone().into_iter().collect())?;
            *self.settings.write() = settings;
        }
        Ok(())
    }

    /// Replaces what is kept under the number of no database.
    fn keep_options(&self, id: i32, rows: Vec<(String, String)>) -> Result<(), CatalogError> {
        in_transaction(&self.master, |txn| {
            for row in self.tables.options.scan(txn, &[Value::Int(id)])? {
                self.tables.options.delete(txn, &row[..2])?;
            }
            for (key, text) in rows {
                let row = [Value::Int(id), Value::str(&key), Value::str(&text)];
                self.tables.options.put(txn, &row)?;
            }
            Ok(())
        })
    }
}

fn delete(tables: &MasterTables, txn: &mut Txn, id: i32) -> Result<(), CatalogError> {
    let prefix = [Value::Int(id)];
    for table in [&tables.options, &tables.filegroups, &tables.files] {
        for row in table.scan(txn, &prefix)? {
            table.delete(txn, &row[..2])?;
        }
    }
    tables.databases.delete(txn, &prefix)?;
    Ok(())
}

fn write(tables: &MasterTables, txn: &mut Txn, def: &DatabaseDef) -> Result<(), CatalogError> {
    let id = Value::Int(def.database_id);
    let state = match def.state {
        DatabaseState::Creating => 0,
        DatabaseState::Online => 1,
        DatabaseState::Offline => 2,
        DatabaseState::Restoring => 3,
    };
    let created = Value::BigInt(def.created_unix_ns as i64);
    tables
        .databases
        .put(txn, &[id.clone(), Value::str(&def.name), Value::TinyInt(state), created])?;
    for (name, value) in &def.options {
        tables.options.put(txn, &[id.clone(), Value::str(name), Value::str(value)])?;
    }
    let log = (0, &def.log);
    let data = def
        .filegroups
        .iter()
        .zip(1..)
        .flat_map(|(group, number)| group.files.iter().map(move |file| (number, file)));
    for (number, file) in data.chain([log]) {
        let row = [
            id.clone(),
            Value::Int(file.file_id as i32),
            Value::Int(number),
            Value::str(&file.name),
            Value::str(&file.path),
            Value::BigInt(file.size_bytes as i64),
            file.max_bytes.map(|b| b as i64).into(),
        ];
        tables.files.put(txn, &row)?;
    }
    for (group, number) in def.filegroups.iter().zip(1..) {
        let row = [
            id.clone(),
            Value::Int(number),
            Value::str(&group.name),
            group.is_default.into(),
            crate::memory::containers_text(group),
        ];
        tables.filegroups.put(txn, &row)?;
    }
    Ok(())
}

fn read(
    tables: &MasterTables,
    txn: &mut Txn,
    row: Vec<Value>,
) -> Result<DatabaseDef, CatalogError> {
    let mut cells = Cells::new(row);
    let database_id = cells.int()? as i32;
    let name = cells.text()?;
    let state = match cells.int()? {
        0 => DatabaseState::Creating,
        1 => DatabaseState::Online,
        2 => DatabaseState::Offline,
        3 => DatabaseState::Restoring,
        _ => return Err(corrupt("a database in an unknown state")),
    };
    let created_unix_ns = cells.int()? as u64;
    let prefix = [Value::Int(database_id)];
    let mut options = Vec::new();
    for row in tables.options.scan(txn, &prefix)? {
        let mut cells = Cells::new(row);
        cells.int()?;
        options.push((cells.text()?, cells.text()?));
    }
    let mut filegroups = Vec::new();
    for row in tables.filegroups.scan(txn, &prefix)? {
        let mut cells = Cells::new(row);
        cells.int()?;
        cells.int()?;
        let (name, is_default) = (cells.text()?, cells.flag()?);
        let memory = cells.opt_text()?.map(|text| crate::memory::containers(&text));
        filegroups.push(FilegroupDef { name, is_default, memory, files: Vec::new() });
    }
    let mut log = None;
    for row in tables.files.scan(txn, &prefix)? {
        let mut cells = Cells::new(row);
        cells.int()?;
        let (file_id, number) = (cells.int()? as u16, cells.int()? as usize);
        let file = FileDef {
            file_id,
            name: cells.text()?,
            path: cells.text()?,
            size_bytes: cells.int()? as u64,
            max_bytes: cells.opt_int()?.map(|b| b as u64),
        };
        match number {
            0 => log = Some(file),
            n => filegroups
                .get_mut(n - 1)
                .ok_or_else(|| corrupt("a file has no filegroup"))?
                .files
                .push(file),
        }
    }
    let log = log.ok_or_else(|| corrupt("a database has no log"))?;
    Ok(DatabaseDef { database_id, name, state, options, log, filegroups, created_unix_ns })
}
