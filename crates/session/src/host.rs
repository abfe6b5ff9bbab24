//! What the interpreter may ask of the instance: whole databases, and the instance's settings.

use crate::create;
use crate::database_options::noted;
use crate::errors::{catalog_error, engine_error};
use crate::facts::InstanceFacts;
use crate::instance::{CloseRefused, Instance};
use crate::options::{absolute, options_of};
use crate::own_files;
use crate::system_databases;
use catalog::{CatalogError, DatabaseDef, DatabaseState, ProcedureDef, StatisticsSwitch};
use device::{File, OpenOptions};
use engine::Database;
use executor::{SqlError, SqlMessage};
use ir::ObjectName;
use ir::{FuncId, SystemView};
use security::{Directory, Password, PasswordHash};
use session_state::{
    AuditEvent, AuditFileRows, ConfigurationOption, FolderEntry, Host, MediaOrder, MediaRows,
    OpenDatabase, PathFacts, SessionState, no_process,
};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use syntax::ast::{
    AlterDatabase, AuditStatement, CreateDatabase, DatabaseOption, GovernorStatement,
    ListenerNodes, ProcessAffinity, RestoreKind, ServerSwitch,
};
use system_views::{functions, modules, registry};
use types::Value;

/// The instance as one session's interpreter sees it.
pub(crate) struct InstanceHost {
    pub(crate) instance: Arc<Instance>,
    /// Of the session.
    pub(crate) spid: u16,
}

impl InstanceHost {
    pub(crate) fn new(instance: Arc<Instance>, spid: u16) -> InstanceHost {
        InstanceHost { instance, spid }
    }

    pub(crate) fn def(&self, name: &str) -> Result<DatabaseDef, SqlError> {
        let def = self.instance.server.database(name).map_err(catalog_error)?;
        Ok((*def).clone())
    }

    pub(crate) fn store(&self, def: DatabaseDef) -> Result<(), SqlError> {
        self.instance.server.update(def).map(drop).map_err(catalog_error)
    }
}

impl Host for InstanceHost {
    fn workspace(&self) -> Option<Arc<executor::Workspace>> {
        Some(self.instance.workspace.clone())
    }

    fn database(&mut self, name: &str) -> Option<Arc<OpenDatabase>> {
        self.instance.database(name)
    }

    fn enter_database(&mut self, name: &str) -> Option<Arc<OpenDatabase>> {
        self.instance.enter_database(name)
    }

    fn makes_database(&self, name: &str) -> bool {
        system_databases::named(name).is_some()
    }

    fn databases(&mut self) -> Vec<(u16, String)> {
        self.instance.databases().iter().map(|open| (open.id, open.name.clone())).collect()
    }

    fn why_closed(&mut self, name: &str) -> Option<SqlError> {
        self.instance.why_closed(name)
    }

    fn backup(
        &mut self,
        log: bool,
        order: &MediaOrder,
        tell: &mut dyn FnMut(SqlMessage),
    ) -> Result<(), SqlError> {
        let name = &order.database;
        let Some(open) = self.instance.database(name) else {
            let closed = self.instance.why_closed(name);
            return Err(closed.unwrap_or_else(|| {
                catalog_error(CatalogError::NoDatabase { name: name.as_str().into() })
            }));
        };
        crate::backup::backup(&self.instance, log, &open, order, tell)
    }

    fn restore(
        &mut self,
        kind: RestoreKind,
        order: &MediaOrder,
        tell: &mut dyn FnMut(SqlMessage),
    ) -> Result<Option<MediaRows>, SqlError> {
        match kind {
            RestoreKind::Database | RestoreKind::Log => {
                let log = kind == RestoreKind::Log;
                crate::restore::restore(&self.instance, log, order, tell).map(|()| None)
            }
            _ => crate::inspect::inspect(&self.instance, kind, order, tell),
        }
    }

    fn detach_database(&mut self, name: &str) -> Result<(), SqlError> {
        crate::attach::detach(&self.instance, name)
    }

    fn create_database(&mut self, statement: &CreateDatabase) -> Result<(), SqlError> {
        let attaches = |o: &DatabaseOption| matches!(&*o.name, "ATTACH" | "ATTACH_REBUILD_LOG");
        if statement.options.iter().any(attaches) {
            return crate::attach::attach(&self.instance, statement);
        }
        let def = create::define(statement)?;
        let instance = self.instance.clone();
        let _passage = instance.databases_gate.enter();
        if instance.server.database(&def.name).is_err() {
            create::check_new(&instance.config, &def)?;
        }
        let def = instance.server.add(def).map_err(catalog_error)?;
        let built = self.build(&def).and_then(|()| {
            let Some(open) = self.instance.database(&def.name) else { return Ok(()) };
            let kept = |o: &&DatabaseOption| StatisticsSwitch::of_name(&o.name).is_some();
            let mut options = statement.options.iter().filter(kept);
            options.try_for_each(|option| crate::database_options::carry_out(&open, option))
        });
        if built.is_err() {
            create::remove_files(&instance.config, &def);
            let _ = instance.server.remove(&def.name);
        }
        built
    }

    fn alter_database(
        &mut self,
        name: &str,
        alter: &AlterDatabase,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        self.alter(name, alter, is_cancelled)
    }

    fn refuses_entry(
        &self,
        database: &OpenDatabase,
        may_restricted: &dyn Fn() -> bool,
    ) -> Option<SqlError> {
        self.instance.refuses_entry(database, self.spid, may_restricted)
    }

    fn drop_database(&mut self, name: &str) -> Result<(), SqlError> {
        let instance = self.instance.clone();
        let _passage = instance.databases_gate.enter();
        if name.eq_ignore_ascii_case("master") || system_databases::named(name).is_some() {
            return Err(catalog_error(CatalogError::SystemDatabase { name: name.into() }));
        }
        let def = self.def(name).map_err(|_| {
            SqlError::new(
                3701,
                11,
                format!(
                    "Cannot drop the database '{name}', because it does not exist or you do not \
                     have permission."
                ),
            )
        })?;
        match instance.close_database(name) {
            Ok(()) | Err(CloseRefused::Unknown) => {}
            Err(CloseRefused::InUse) => {
                return Err(SqlError::new(
                    3702,
                    16,
                    format!("Cannot drop database \"{name}\" because it is currently in use."),
                ));
            }
            Err(CloseRefused::Engine(error)) => return Err(engine_error(error)),
        }
        // Off the list first: files without an entry are litter, an entry without files does not open.
        instance.server.remove(name).map_err(catalog_error)?;
        instance.forget_trouble(name);
        instance.plans.throw_out(|plan| i32::from(plan.database_id()) == def.database_id);
        create::remove_files(&instance.config, &def);
        Ok(())
    }

    fn open_file(&mut self, path: &str) -> std::io::Result<Arc<dyn File>> {
        let config = &self.instance.config;
        let path = own_files::of_user(&self.instance, path)?;
        // Not every file system says so of a name that is not there.
        if !config.fs.exists(&path)? {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        config.fs.open(&path, OpenOptions::read_only())
    }

    fn create_file(&mut self, path: &str) -> std::io::Result<Arc<dyn File>> {
        let path = own_files::of_user(&self.instance, path)?;
        self.instance.config.fs.open(&path, OpenOptions::create_new())
    }

    fn path_facts(&mut self, path: &str) -> PathFacts {
        self.instance.path_facts(path)
    }

    fn folder_entries(&mut self, path: &str) -> Vec<FolderEntry> {
        let config = &self.instance.config;
        let found = config.fs.list(&absolute(&config.data_dir, path)).unwrap_or_default();
        let entry = |path: std::path::PathBuf| {
            let name = path.file_name()?.to_str()?.to_string();
            let path = path.to_str()?.to_string();
            let is_folder = self.path_facts(&path).is_folder;
            Some(FolderEntry { name, path, is_folder })
        };
        found.into_iter().filter_map(entry).collect()
    }

    fn create_folder(&mut self, path: &str) -> std::io::Result<()> {
        let config = &self.instance.config;
        config.fs.create_dir_all(&absolute(&config.data_dir, path))
    }

    fn configuration(&self) -> Vec<ConfigurationOption> {
        self.instance.configuration()
    }

    fn option_in_use(&self, name: &str) -> Option<i64> {
        self.instance.option_in_use(name)
    }

    fn refuses_trigger_results(&self) -> bool {
        self.instance.often_asked.no_trigger_results.load(Relaxed)
    }

    fn configure(&mut self, name: &str, value: i64) -> Result<(), SqlError> {
        self.instance.configure(name, value)
    }

    fn reconfigure(&mut self, overridden: bool) -> Result<(), SqlError> {
        self.instance.reconfigure(overridden)
    }

    fn alter_switches(&mut self, wanted: &[ServerSwitch]) -> Result<(), SqlError> {
        self.instance
            .change_switches(|switches| {
                for switch in wanted {
                    switches.set(&switch.name, switch.value.as_deref())?;
                }
                Ok(())
            })
            .map_err(|error| SqlError::new(error.number(), error.severity(), error.to_string()))
    }

    fn govern(&mut self, statement: &GovernorStatement, classifier: i32) -> Result<(), SqlError> {
        self.instance.govern(statement, classifier)
    }

    fn audited(&self) -> u64 {
        self.instance.auditor.wanted()
    }

    fn check_audits(&self, groups: u64, database: u16) -> Result<bool, SqlError> {
        self.instance.auditor.check(groups, database)
    }

    fn audit(&mut self, event: AuditEvent) -> Result<(), SqlError> {
        self.instance.auditor.keep(&event)
    }

    fn define_audit(
        &mut self,
        statement: &AuditStatement,
        by: &audit::Record,
        database: &OpenDatabase,
    ) -> Result<(), SqlError> {
        self.instance.define_audit(statement, by, database)
    }

    fn audit_file(&mut self, args: &[Value]) -> Result<AuditFileRows, SqlError> {
        self.instance.audit_file(args)
    }

    fn bind_pool(&mut self, database: &str, pool: &str) -> Result<(i32, i32), SqlError> {
        self.instance.bind_pool(database, pool)
    }

    fn unbind_pool(&mut self, database: &str) -> Result<(), SqlError> {
        self.instance.unbind_pool(database)
    }

    fn classifier(&self) -> i32 {
        self.instance.server.governor().classifier
    }

    fn process_affinity(&mut self, affinity: &ProcessAffinity) -> Result<(), SqlError> {
        self.instance.set_process_affinity(affinity)
    }

    fn map_listener(&mut self, address: &str, nodes: &ListenerNodes) -> Result<(), SqlError> {
        self.instance.map_listener(address, nodes)
    }

    fn set_soft_numa(&mut self, on: bool) -> Result<(), SqlError> {
        self.instance.set_soft_numa(on)
    }

    fn server_name(&self) -> String {
        self.instance.name()
    }

    fn version(&self) -> String {
        self.instance.version()
    }

    fn system_view(&mut self, name: &ObjectName) -> Option<Arc<SystemView>> {
        // A database that is not there: the name is told as it was written.
        let there = |name: &str| {
            system_databases::named(name).is_some() || self.instance.database(name).is_some()
        };
        if name.database.as_deref().is_some_and(|d| !there(d)) {
            return None;
        }
        registry::resolve(name)
    }

    fn view_rows(
        &mut self,
        view: &SystemView,
        args: &[Value],
        session: &SessionState,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        system_views::rows(view, args, &InstanceFacts(&self.instance), session)
    }

    fn rollback_report(&mut self, spid: u16) -> Result<String, SqlError> {
        // How much is left is not known, as in SQL Server's own report when it begins.
        match self.instance.is_killed(spid) {
            Some(true) => Ok(format!(
                "SPID {spid}: transaction rollback in progress. Estimated rollback completion: 0%. Estimated time left: 0 \
                 seconds."
            )),
            Some(false) => Err(SqlError::new(
                6120,
                16,
                format!(
                    "Status report cannot be obtained. Rollback operation for Process ID {spid} is not in progress."
                ),
            )),
            None => Err(no_process(spid)),
        }
    }

    fn shutdown(
        &mut self,
        no_wait: bool,
        spid: u16,
        waits: &mut dyn FnMut(usize),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        self.instance.end_server(no_wait, spid, waits, is_cancelled)
    }

    fn kill(&mut self, spid: u16) -> Result<(), SqlError> {
        if self.instance.kill_session(spid) {
            return Ok(());
        }
        let all = system_views::Server::sessions(&InstanceFacts(&self.instance));
        if all.iter().any(|s| s.id == i32::from(spid) && s.system.is_some()) {
            return Err(SqlError::new(6107, 16, "Only user processes can be killed."));
        }
        Err(no_process(spid))
    }

    fn system_procedure(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        modules::definition(name.schema.as_deref(), &name.name)
    }

    fn metadata(
        &mut self,
        func: FuncId,
        args: &[Value],
        session: &SessionState,
    ) -> Result<Value, SqlError> {
        let found = functions::call(func, args, &InstanceFacts(&self.instance), session);
        found.ok_or_else(|| SqlError::unsupported(format!("{func:?}")))
    }

    fn server_directory(&self) -> Arc<Directory> {
        self.instance.server.directory()
    }

    fn server_directory_version(&self) -> i64 {
        self.instance.server.directory_version()
    }

    fn change_server(
        &mut self,
        change: &mut dyn FnMut(&mut Directory) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.instance.server.change_directory(change).map(drop)
    }

    fn hash_password(&mut self, password: &Password) -> Result<PasswordHash, SqlError> {
        self.instance.security().hash(password).ok_or_else(too_busy)
    }

    fn password_matches(
        &mut self,
        hash: &PasswordHash,
        password: &Password,
    ) -> Result<bool, SqlError> {
        self.instance.security().matches(hash, password).ok_or_else(too_busy)
    }

    fn password_rules(&self) -> security::PasswordRules {
        self.instance.security().rules()
    }

    fn bad_passwords(&self, login: i32) -> Option<(u32, u64)> {
        self.instance.security().bad_passwords(login)
    }

    fn forget_bad_passwords(&mut self, login: i32) {
        self.instance.security().forget_bad_passwords(login);
    }

    fn is_logged_in(&self, login: &str) -> bool {
        self.instance.is_logged_in(login)
    }

    fn trace_flag(&mut self, flag: i32, on: bool) {
        self.instance.set_trace_flag(flag, on);
    }

    fn trace_flags(&self) -> Vec<i32> {
        self.instance.trace_flags()
    }
}

impl InstanceHost {
    /// Files, engine, catalog; then it is online.
    fn build(&self, def: &Arc<DatabaseDef>) -> Result<(), SqlError> {
        let config = &self.instance.config;
        let files = create::files_of(config, def);
        let engine = Database::create(config.fs.clone(), &files, options_of(config, def))
            .map_err(engine_error)?;
        let catalog = catalog::Catalog::create(&engine).map_err(catalog_error)?;
        let open = OpenDatabase {
            id: def.database_id as u16,
            name: def.name.to_string(),
            engine,
            catalog,
        };
        self.apply_filegroups(&open, def)?;
        if let Some(name) = noted(def, crate::database_options::COLLATION) {
            let collation = crate::database_options::collation_named(name)?;
            open.catalog.set_collation(collation).map_err(catalog_error)?;
        }
        self.store(DatabaseDef { state: DatabaseState::Online, ..(**def).clone() })?;
        self.instance.add_database(open);
        Ok(())
    }

    /// The database's own catalog must know the filegroups' names too.
    pub(crate) fn apply_filegroups(
        &self,
        open: &OpenDatabase,
        def: &DatabaseDef,
    ) -> Result<(), SqlError> {
        open.catalog.set_filegroups(&def.filegroups).map_err(catalog_error)
    }
}

/// More passwords wait to be hashed than may.
fn too_busy() -> SqlError {
    SqlError::new(
        17189,
        16,
        "The server is evaluating too many passwords at the moment. Try again later.",
    )
}
