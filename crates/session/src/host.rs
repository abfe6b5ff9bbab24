//! What the interpreter may ask of the instance: whole databases, and the instance's settings.

use crate::create;
use crate::facts::InstanceFacts;
use crate::instance::{CloseRefused, Instance, absolute, options_of};
use binder::ObjectName;
use binder::ir::{FuncId, SystemView};
use catalog::{
    CatalogError, DatabaseDef, DatabaseState, FilegroupDef, ProcedureDef, StatisticsSwitch,
};
use device::{File, OpenOptions};
use engine::{Database, DelayedDurability, EngineError, RecoveryModel};
use executor::{SqlError, SqlMessage};
use interpreter::{
    ConfigurationOption, Host, MediaOrder, MediaRows, OpenDatabase, SessionState, no_process,
};
use security::{Directory, Password, PasswordHash};
use std::sync::Arc;
use syntax::ast::{
    AlterDatabaseAction, CreateDatabase, DatabaseOption, Literal, OptionValue, ProcessAffinity,
    RestoreKind, ServerSwitch,
};
use system_views::{functions, modules, registry};
use types::Value;

/// The instance as one session's interpreter sees it.
pub(crate) struct InstanceHost {
    instance: Arc<Instance>,
}

impl InstanceHost {
    pub(crate) fn new(instance: Arc<Instance>) -> InstanceHost {
        InstanceHost { instance }
    }

    fn def(&self, name: &str) -> Result<DatabaseDef, SqlError> {
        let def = self.instance.server.database(name).map_err(catalog_error)?;
        Ok((*def).clone())
    }

    fn store(&self, def: DatabaseDef) -> Result<(), SqlError> {
        self.instance.server.update(def).map(drop).map_err(catalog_error)
    }

    fn set(&self, open: &OpenDatabase, option: &DatabaseOption) -> Result<(), SqlError> {
        if option.name == "DELAYED_DURABILITY" {
            let value = match &option.value {
                OptionValue::Word(word) if word == "DISABLED" => DelayedDurability::Disabled,
                OptionValue::Word(word) if word == "ALLOWED" => DelayedDurability::Allowed,
                OptionValue::Word(word) if word == "FORCED" => DelayedDurability::Forced,
                _ => return Err(SqlError::unsupported("SET DELAYED_DURABILITY with this value")),
            };
            return open.engine.set_delayed_durability(value).map_err(engine_error);
        }
        let on = matches!(option.value, OptionValue::None | OptionValue::On);
        if option.name == "READ_COMMITTED_SNAPSHOT" {
            return open.engine.set_read_committed_snapshot(on).map_err(engine_error);
        }
        if let Some(switch) = StatisticsSwitch::of_name(&option.name) {
            let value = if on { "1" } else { "0" };
            let set = open.catalog.configure(switch.name(), false, Some(value));
            return set.map_err(catalog_error);
        }
        if option.name == "ALLOW_SNAPSHOT_ISOLATION" {
            return open.engine.set_allow_snapshot_isolation(on).map_err(engine_error);
        }
        if let ("TARGET_RECOVERY_TIME", OptionValue::Literal(Literal::Int(seconds))) =
            (&*option.name, &option.value)
        {
            let seconds = u64::try_from(*seconds).unwrap_or(0);
            return open.engine.set_target_recovery_time(seconds).map_err(engine_error);
        }
        if option.name == "RECOVERY" {
            let model = match &option.value {
                OptionValue::Word(word) if word == "SIMPLE" => RecoveryModel::Simple,
                OptionValue::Word(word) if word == "BULK_LOGGED" => RecoveryModel::BulkLogged,
                _ => RecoveryModel::Full,
            };
            return open.engine.set_recovery_model(model).map_err(engine_error);
        }
        Ok(())
    }
}

impl Host for InstanceHost {
    fn workspace(&self) -> Option<Arc<executor::Workspace>> {
        Some(self.instance.workspace.clone())
    }

    fn database(&mut self, name: &str) -> Option<Arc<OpenDatabase>> {
        self.instance.database(name)
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
        let def = instance.server.add(def).map_err(catalog_error)?;
        let built = self.build(&def).and_then(|()| {
            let Some(open) = self.instance.database(&def.name) else { return Ok(()) };
            let kept = |o: &&DatabaseOption| StatisticsSwitch::of_name(&o.name).is_some();
            statement.options.iter().filter(kept).try_for_each(|option| self.set(&open, option))
        });
        if built.is_err() {
            create::remove_files(&instance.config, &def);
            let _ = instance.server.remove(&def.name);
        }
        built
    }

    fn alter_database(&mut self, name: &str, action: &AlterDatabaseAction) -> Result<(), SqlError> {
        let instance = self.instance.clone();
        let _passage = instance.databases_gate.enter();
        if let AlterDatabaseAction::Set(options) = action
            && let [only] = &options[..]
            && matches!(&*only.name, "ONLINE" | "OFFLINE")
        {
            return crate::attach::set_online(&instance, name, only.name == "ONLINE");
        }
        let open = self.instance.database(name);
        let open = open
            .ok_or_else(|| instance.why_closed(name).unwrap_or_else(|| unknown_database(name)))?;
        if open.id == 1 {
            if let AlterDatabaseAction::ChangeTracking(_) = action {
                let text = format!(
                    "Database '{}' is a system database. Change tracking settings cannot be modified for system \
                     databases.",
                    open.name
                );
                return Err(SqlError::new(5090, 16, text));
            }
            return Err(SqlError::unsupported("ALTER DATABASE master"));
        }
        let mut def = self.def(name)?;
        match action {
            AlterDatabaseAction::Set(options) => {
                for option in options {
                    create::set_option(&mut def, option)?;
                }
                for option in options {
                    self.set(&open, option)?;
                }
                self.store(def)
            }
            AlterDatabaseAction::AddFilegroup { name, memory_optimized: false } => {
                if def.filegroups.iter().any(|g| catalog::same_name(&g.name, &name.value)) {
                    return Err(SqlError::new(
                        5035,
                        16,
                        format!("Filegroup '{}' already exists in this database.", name.value),
                    ));
                }
                let group = FilegroupDef {
                    name: name.value.as_str().into(),
                    is_default: false,
                    files: Vec::new(),
                };
                def.filegroups.push(group);
                self.apply_filegroups(&open, &def)?;
                self.store(def)
            }
            AlterDatabaseAction::AddFile { files, filegroup } => {
                let group = filegroup.as_ref().map_or("PRIMARY", |g| &g.value);
                let index = def
                    .filegroups
                    .iter()
                    .position(|g| catalog::same_name(&g.name, group))
                    .ok_or_else(|| {
                        SqlError::new(1921, 16, format!("Invalid filegroup '{group}' specified."))
                    })?;
                for spec in files {
                    let file = create::one_more_file(&def, spec)?;
                    let data = create::data_file(&instance.config, index as u16 + 1, &file);
                    open.engine.add_file(data).map_err(engine_error)?;
                    def.filegroups[index].files.push(file);
                    self.apply_filegroups(&open, &def)?;
                    self.store(def.clone())?;
                }
                Ok(())
            }
            AlterDatabaseAction::ModifyFilegroup { name, action, .. } if action == "DEFAULT" => {
                if !def.filegroups.iter().any(|g| catalog::same_name(&g.name, &name.value)) {
                    return Err(SqlError::new(
                        1921,
                        16,
                        format!("Invalid filegroup '{}' specified.", name.value),
                    ));
                }
                for group in &mut def.filegroups {
                    group.is_default = catalog::same_name(&group.name, &name.value);
                }
                self.apply_filegroups(&open, &def)?;
                self.store(def)
            }
            AlterDatabaseAction::ModifyFile(spec) => {
                self.store(crate::modify_file::modify(&open, def, spec)?)
            }
            AlterDatabaseAction::ChangeTracking(tracking) => {
                let spec = crate::tracking::spec(tracking);
                open.catalog.set_tracking(&open.name, &spec).map_err(catalog_error)?;
                instance.track_changes(&open.name);
                Ok(())
            }
            AlterDatabaseAction::Collate(name) => create::check_collation(&name.value),
            _ => Err(SqlError::unsupported("ALTER DATABASE with this clause")),
        }
    }

    fn drop_database(&mut self, name: &str) -> Result<(), SqlError> {
        let instance = self.instance.clone();
        let _passage = instance.databases_gate.enter();
        if name.eq_ignore_ascii_case("master") {
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
        let path = absolute(&config.data_dir, path);
        // Not every file system says so of a name that is not there.
        if !config.fs.exists(&path)? {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        config.fs.open(&path, OpenOptions::read_only())
    }

    fn create_file(&mut self, path: &str) -> std::io::Result<Arc<dyn File>> {
        let config = &self.instance.config;
        config.fs.open(&absolute(&config.data_dir, path), OpenOptions::create_new())
    }

    fn configuration(&self) -> Vec<ConfigurationOption> {
        self.instance.configuration()
    }

    fn configure(&mut self, name: &str, value: i64) -> Result<(), SqlError> {
        self.instance.configure(name, value)
    }

    fn reconfigure(&mut self) -> Result<(), SqlError> {
        self.instance.reconfigure()
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

    fn process_affinity(&mut self, affinity: &ProcessAffinity) -> Result<(), SqlError> {
        self.instance.set_process_affinity(affinity)
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
            name.eq_ignore_ascii_case("tempdb") || self.instance.database(name).is_some()
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
        self.store(DatabaseDef { state: DatabaseState::Online, ..(**def).clone() })?;
        self.instance.add_database(open);
        Ok(())
    }

    /// The database's own catalog must know the filegroups' names too.
    fn apply_filegroups(&self, open: &OpenDatabase, def: &DatabaseDef) -> Result<(), SqlError> {
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

pub(crate) fn catalog_error(error: CatalogError) -> SqlError {
    SqlError::new(error.number(), error.severity(), error.to_string())
}

pub(crate) fn engine_error(error: EngineError) -> SqlError {
    SqlError::new(error.number(), 16, error.to_string())
}

fn unknown_database(name: &str) -> SqlError {
    SqlError::new(
        5011,
        14,
        format!(
            "User does not have permission to alter database '{name}', the database does not exist, \
             or the database is not in a state that allows access checks."
        ),
    )
}
