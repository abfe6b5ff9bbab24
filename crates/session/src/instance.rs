//! The instance: one data folder, its databases, the schedulers that run its sessions.
//!
//! Invariants: `databases` holds every database that is online, `master` among them, under its folded name; an entry
//! is there only after its log was analysed; redo and undo may go on behind its users. The folder's lock is held as long as the instance lives. DDL on whole databases
//! passes one gate, one at a time.

use crate::auditor::Auditor;
use crate::config::{InstanceConfig, OpenError};
use crate::configuration::{Configuration, OftenAsked};
use crate::database_options::noted;
use crate::ending::Ending;
use crate::gate::Gate;
use crate::governor::Governor;
use crate::listening::Listening;
use crate::logins::Logins;
use crate::options::{absolute, decided, master_options, options_of};
use crate::registry::Registered;
use crate::session::Session;
use crate::switches::Switches;
use crate::system_sessions::SystemSessions;
use crate::tracking::Cleanup;
use crate::watchdog::Watchdog;
use catalog::{Catalog, DatabaseDef, DatabaseState, ServerCatalog};
use device::{LockGuard, OpenOptions};
use engine::{Database, DbFiles, DbOptions, EngineError};
use executor::{MemoryPool, SpillSpace, SqlError, Workspace};
use interpreter::PlanCache;
use parking_lot::{Mutex, RwLock};
use runtime::shortage::Gives;
use scheduler::{JoinHandle, Schedulers};
use security::Authenticator;
use session_state::OpenDatabase;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use system_views::SessionFacts;
use topology::Topology;

/// The first spid of a user's session; lower ones are the instance's own.
const FIRST_USER_SPID: u16 = 51;

/// See the file's first line.
pub struct Instance {
    pub(crate) config: InstanceConfig,
    schedulers: Arc<Schedulers>,
    pub(crate) server: Arc<ServerCatalog>,
    security: Authenticator,
    databases: RwLock<BTreeMap<String, Running>>,
    /// Databases that could not be opened, under their folded names.
    troubles: RwLock<BTreeMap<String, Trouble>>,
    /// CREATE, ALTER and DROP DATABASE go through here.
    pub(crate) databases_gate: Gate,
    /// The sessions by spid.
    sessions: Mutex<BTreeMap<u16, Arc<Registered>>>,
    /// UTC, ns since 1970.
    pub(crate) started_unix_ns: u64,
    pub(crate) settings: Mutex<Configuration>,
    pub(crate) often_asked: OftenAsked,
    /// RECONFIGURE and ALTER SERVER CONFIGURATION SET PROCESS AFFINITY, SOFTNUMA and LISTENER go through here: what one
    /// has checked is what it keeps and puts into force.
    pub(crate) configuration_gate: Gate,
    /// Somebody chose the CPUs that sessions run on.
    pub(crate) manual_affinity: AtomicBool,
    pub(crate) trace_flags: Mutex<BTreeSet<i32>>,
    pub(crate) switches: Mutex<Switches>,
    /// What statements share beside the databases.
    pub(crate) workspace: Arc<Workspace>,
    /// Who did what.
    pub(crate) auditor: Auditor,
    /// Who gets how much.
    pub(crate) governor: Governor,
    /// What the sessions have compiled.
    pub(crate) plans: Arc<PlanCache>,
    /// The sockets that take connections, as their server has told.
    pub(crate) listeners: Mutex<Vec<Listening>>,
    /// Those of the dedicated administrator connection, for as long as a server takes it.
    pub(crate) admin_schedulers: Mutex<Weak<Schedulers>>,
    /// The sessions of the databases' own tasks.
    system: Arc<SystemSessions>,
    /// SHUTDOWN.
    pub(crate) ending: Ending,
    /// Looks for tasks that do not let others go first.
    pub(crate) watchdog: Watchdog,
    _lock: LockGuard,
}

/// A file that lies in the folder while `master` is being made: whoever finds it at the next opening knows that nothing
/// in the folder was ever in use, and begins again.
struct Making<'a> {
    config: &'a InstanceConfig,
    mark: PathBuf,
}

impl<'a> Making<'a> {
    /// Removes what an unfinished making has left.
    fn of_master(config: &'a InstanceConfig, files: &DbFiles) -> Result<Making<'a>, OpenError> {
        let making = Making { config, mark: config.data_dir.join("master.making") };
        if config.fs.exists(&making.mark).map_err(|e| making.refuse(e))? {
            // Some of its files may be missing.
            let _ = Database::remove(&*config.fs, files);
        }
        Ok(making)
    }

    /// Durable before the first file of `master` is.
    fn begin(&self) -> Result<(), OpenError> {
        let fs = &self.config.fs;
        let made = fs.open(&self.mark, OpenOptions::create()).map(drop);
        made.and_then(|()| fs.sync_dir(&self.config.data_dir)).map_err(|e| self.refuse(e))
    }

    /// `master` is whole. Durable on return.
    fn end(&self) -> Result<(), OpenError> {
        let fs = &self.config.fs;
        if !fs.exists(&self.mark).map_err(|e| self.refuse(e))? {
            return Ok(());
        }
        let gone = fs.remove(&self.mark);
        gone.and_then(|()| fs.sync_dir(&self.config.data_dir)).map_err(|e| self.refuse(e))
    }

    fn refuse(&self, error: io::Error) -> OpenError {
        OpenError::Folder { path: self.config.data_dir.clone(), what: error.to_string() }
    }
}

/// `master`, opened before there are schedulers: it says how they are set up.
struct Master {
    engine: Arc<Database>,
    catalog: Arc<Catalog>,
    server: Arc<ServerCatalog>,
}

impl Master {
    /// Opens it, or makes it. From a plain thread.
    fn open(config: &InstanceConfig) -> Result<Master, OpenError> {
        let master_path = config.data_dir.join("master.mdf");
        let files = DbFiles::named(&config.data_dir, "master");
        let making = Making::of_master(config, &files)?;
        let fresh = !config.fs.exists(&master_path).map_err(|e| making.refuse(e))?;
        if fresh {
            making.begin()?;
        }
        let engine = if fresh {
            Database::create(config.fs.clone(), &files, master_options(config))
        } else {
            Database::open(config.fs.clone(), &master_path, master_options(config))
        }
        .map_err(|error| OpenError::Database { name: "master".into(), error })?;
        let unreadable = |name: &str, error: catalog::CatalogError| OpenError::Catalog {
            name: name.to_owned(),
            what: error.to_string(),
        };
        let (catalog, server) = if fresh {
            (Catalog::create(&engine), ServerCatalog::create(&engine))
        } else {
            (Catalog::open(&engine), ServerCatalog::open(&engine))
        };
        let catalog = catalog.map_err(|error| unreadable("master", error))?;
        let server = Arc::new(server.map_err(|error| unreadable("master", error))?);
        making.end()?;
        Ok(Master { engine, catalog, server })
    }
}

/// A database that is listed and could not be opened.
#[derive(Clone, Debug)]
struct Trouble {
    /// Its pages or its log are damaged; else its files are not to be had.
    suspect: bool,
    why: String,
}

impl Trouble {
    fn of(error: &EngineError) -> Trouble {
        use EngineError::{CannotOpen, InUse, Io, NoMemory};
        let files = matches!(error, CannotOpen { .. } | InUse { .. } | Io { .. } | NoMemory);
        Trouble { suspect: !files, why: format!("Msg {}: {error}", error.number()) }
    }
}

/// A database with its background task.
struct Running {
    open: Arc<OpenDatabase>,
    stop: Arc<AtomicBool>,
    /// There where changes are tracked, or have been since the database was opened.
    cleanup: Option<Cleanup>,
    background: Vec<JoinHandle<()>>,
    /// While its recovery goes on. These hold the engine alone.
    recovery: Vec<JoinHandle<()>>,
    system: Arc<SystemSessions>,
}

/// The list of databases, those that are open, those that could not be.
type Opened = (Arc<ServerCatalog>, BTreeMap<String, Running>, BTreeMap<String, Trouble>);

impl Instance {
    /// Opens the folder, or makes it; recovers its databases; starts the schedulers. From a plain thread.
    pub fn open(config: InstanceConfig) -> Result<Arc<Instance>, OpenError> {
        let folder = |error: io::Error| OpenError::Folder {
            path: config.data_dir.clone(),
            what: error.to_string(),
        };
        config.fs.create_dir_all(&config.data_dir).map_err(folder)?;
        let lock =
            config.fs.lock_exclusive(&config.data_dir.join("millrace.lock")).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::WouldBlock => OpenError::InUse { path: config.data_dir.clone() },
                    _ => folder(error),
                }
            })?;
        if config.trace_flags.contains(&crate::trace_flags::ONE_NODE) {
            // Without an effect in a process that has looked at its machine before: an earlier instance's nodes stay.
            Topology::take_as_one_node();
        }
        let master = Master::open(&config)?;
        let configuration = Configuration::kept(&master.server.settings());
        crate::soft_numa::choose(&config, configuration.divides_nodes())?;
        crate::switches::check(&config)?;
        crate::memory::keep_for_tables(&config);
        let schedulers = Schedulers::start(scheduler::Config {
            cpus: config.cpus.clone(),
            ..scheduler::Config::default()
        })
        .map_err(|error| OpenError::Schedulers { what: error.to_string() })?;
        let system = Arc::new(SystemSessions::default());
        let spill = SpillSpace::open(config.fs.clone(), &config.data_dir.join("spill")).map_err(
            |error| {
                schedulers.stop();
                folder(error)
            },
        )?;
        match Self::open_databases(&config, &schedulers, &system, master) {
            Ok((server, databases, troubles)) => {
                let workspace = Workspace::new(
                    MemoryPool::new(config.query_memory_bytes as usize),
                    Some(Arc::new(spill)),
                    Some(schedulers.clone()),
                );
                let instance = Arc::new(Instance {
                    troubles: RwLock::new(troubles),
                    plans: Arc::default(),
                    workspace: Arc::new(workspace),
                    auditor: Auditor::default(),
                    governor: Governor::new(server.governor(), schedulers.shares()),
                    switches: Mutex::new(config.switches.clone()),
                    schedulers,
                    security: Authenticator::new(
                        Arc::new(Logins { server: server.clone(), rules: config.password_rules }),
                        security::Config {
                            rules: config.password_rules,
                            ..security::Config::default()
                        },
                    ),
                    config,
                    server,
                    databases: RwLock::new(databases),
                    databases_gate: Gate::default(),
                    sessions: Mutex::new(BTreeMap::new()),
                    started_unix_ns: runtime::clock::unix_ns(),
                    settings: Mutex::new(configuration),
                    often_asked: OftenAsked::default(),
                    configuration_gate: Gate::default(),
                    manual_affinity: AtomicBool::new(false),
                    trace_flags: Mutex::new(BTreeSet::new()),
                    listeners: Mutex::default(),
                    admin_schedulers: Mutex::default(),
                    ending: Ending::default(),
                    watchdog: Watchdog::default(),
                    system,
                    _lock: lock,
                });
                let plans: Arc<dyn Gives> = instance.plans.clone();
                runtime::shortage::register(Arc::downgrade(&plans));
                Watchdog::start(&instance);
                instance.start_switches();
                instance.start_trace_flags();
                for open in instance.databases() {
                    instance.follow_binding(&open);
                    instance.drop_stale_global_tables(&open);
                }
                instance.start_configuration();
                match instance.start_audits() {
                    Ok(()) => Ok(instance),
                    Err(error) => {
                        let _ = instance.shutdown();
                        Err(error)
                    }
                }
            }
            Err(error) => {
                schedulers.stop();
                Err(error)
            }
        }
    }

    fn open_databases(
        config: &InstanceConfig,
        schedulers: &Arc<Schedulers>,
        system: &Arc<SystemSessions>,
        master: Master,
    ) -> Result<Opened, OpenError> {
        let Master { engine, catalog, server } = master;
        let mut databases = BTreeMap::new();
        let master = OpenDatabase { id: 1, name: "master".into(), engine, catalog };
        databases.insert("master".to_owned(), Running::start(Arc::new(master), schedulers, system));
        let mut troubles = BTreeMap::new();
        for def in server.databases() {
            if def.database_id == system_views::TEMPDB {
                // It is made anew when somebody goes there.
                let _ = server.remove(&def.name);
                crate::create::remove_files(config, &def);
                continue;
            }
            match def.state {
                DatabaseState::Online => {}
                DatabaseState::Offline | DatabaseState::Restoring => continue,
                DatabaseState::Creating => {
                    // Its creation did not end: nobody was told that it exists.
                    let _ = server.remove(&def.name);
                    crate::create::remove_files(config, &def);
                    continue;
                }
            }
            // One damaged database does not keep the others from their users.
            match open_database(config, &def, &server) {
                Ok(open) => {
                    databases.insert(
                        fold(&def.name),
                        Running::start(Arc::new(open), schedulers, system),
                    );
                }
                Err(trouble) => {
                    tell_closed(&def.name, &trouble.why);
                    troubles.insert(fold(&def.name), trouble);
                }
            }
        }
        if server.databases().iter().all(|def| databases.contains_key(&fold(&def.name))) {
            server.all_is_decided();
        }
        Ok((server, databases, troubles))
    }

    /// Why a database of the list is not open; None when it is, or is not listed.
    pub(crate) fn why_closed(&self, name: &str) -> Option<SqlError> {
        let def = self.server.database(name).ok()?;
        let name = &def.name;
        let text = |number, what: String| Some(SqlError::new(number, 14, what));
        match def.state {
            DatabaseState::Restoring => text(
                927,
                format!("Database '{name}' cannot be opened. It is in the middle of a restore."),
            ),
            DatabaseState::Offline => {
                text(942, format!("Database '{name}' cannot be opened because it is offline."))
            }
            _ => {
                let trouble = self.troubles.read().get(&fold(name)).cloned()?;
                match trouble.suspect {
                    true => text(
                        926,
                        format!(
                            "Database '{name}' cannot be opened. It has been marked SUSPECT by recovery. See the SQL \
                             Server errorlog for more information. ({})",
                            trouble.why
                        ),
                    ),
                    false => text(
                        945,
                        format!(
                            "Database '{name}' cannot be opened due to inaccessible files or insufficient memory or disk \
                             space. See the SQL Server errorlog for details. ({})",
                            trouble.why
                        ),
                    ),
                }
            }
        }
    }

    /// Whether its recovery failed.
    pub(crate) fn is_suspect(&self, name: &str) -> bool {
        self.troubles.read().get(&fold(name)).is_some_and(|t| t.suspect)
    }

    /// The database is gone, or well again.
    pub(crate) fn forget_trouble(&self, name: &str) {
        self.troubles.write().remove(&fold(name));
    }

    /// ALTER DATABASE SET ONLINE: tries again to open what is offline or could not be opened. Suspends.
    pub(crate) fn bring_online(self: &Arc<Self>, def: &DatabaseDef) -> Result<(), SqlError> {
        let path = absolute(&self.config.data_dir, &def.filegroups[0].files[0].path);
        let options = DbOptions { decided: decided(&self.server), ..options_of(&self.config, def) };
        let opened = Database::open(self.config.fs.clone(), &path, options);
        match opened {
            Ok(engine) => crate::restore::into_service(self, def.clone(), engine),
            Err(error) => {
                let trouble = Trouble::of(&error);
                tell_closed(&def.name, &trouble.why);
                self.troubles.write().insert(fold(&def.name), trouble);
                Err(crate::errors::engine_error(error))
            }
        }
    }

    /// What a crash has left of global temporary tables goes in the background.
    fn drop_stale_global_tables(self: &Arc<Self>, open: &Arc<OpenDatabase>) {
        let stale = |object: &catalog::ObjectRef| matches!(object, catalog::ObjectRef::Table(table) if catalog::is_global_name(&table.name));
        if open.catalog.objects().iter().any(stale) {
            let open = open.clone();
            let dropped = self.spawn_session("global temporary tables", move |session| {
                session.drop_stale_global_tables(&open);
            });
            // Its end is nobody's concern: what stays is dropped at the next opening.
            drop(dropped);
        }
    }

    /// Touches the memory of every buffer pool, and what is kept for memory-optimised tables, now, so that no session pays
    /// for a first touch later (SQL Server's "lock pages in memory", in spirit). From a plain thread: it blocks, for seconds
    /// where memory is slow to come.
    pub fn populate_memory(&self) {
        for open in self.databases() {
            open.engine.populate_buffer_pool();
        }
        while runtime::chunks::step() {}
    }

    /// Starts a session on a scheduler and hands it to `body`.
    pub fn spawn_session<R: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        body: impl FnOnce(&mut Session) -> R + Send + 'static,
    ) -> JoinHandle<R> {
        let instance = self.clone();
        self.schedulers.spawn(name, None, move || body(&mut Session::new(&instance)))
    }

    /// What statements share beside the databases.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Who verifies passwords; `first_start` gives `sa` its first.
    pub fn security(&self) -> &Authenticator {
        &self.security
    }

    /// What runs the sessions.
    pub fn schedulers(&self) -> &Arc<Schedulers> {
        &self.schedulers
    }

    /// The database every session begins in.
    pub fn master(&self) -> Arc<OpenDatabase> {
        self.databases.read()["master"].open.clone()
    }

    /// An open database by name, any case.
    pub fn database(&self, name: &str) -> Option<Arc<OpenDatabase>> {
        self.databases.read().get(&fold(name)).map(|running| running.open.clone())
    }

    /// What is at a path; a relative one is in the data folder.
    pub(crate) fn path_facts(&self, path: &str) -> session_state::PathFacts {
        let (fs, path) = (&self.config.fs, absolute(&self.config.data_dir, path));
        // A file cannot be listed.
        let is_folder = fs.list(&path).is_ok();
        session_state::PathFacts {
            is_file: !is_folder && fs.exists(&path).unwrap_or(false),
            is_folder,
            has_parent: path.parent().is_some_and(|parent| fs.list(parent).is_ok()),
        }
    }

    /// Every open database.
    pub fn databases(&self) -> Vec<Arc<OpenDatabase>> {
        self.databases.read().values().map(|running| running.open.clone()).collect()
    }

    pub(crate) fn add_database(&self, open: OpenDatabase) {
        let key = fold(&open.name);
        self.follow_binding(&open);
        let running = Running::start(Arc::new(open), &self.schedulers, &self.system);
        let open = running.open.clone();
        self.databases.write().insert(key, running);
        self.tell_switches(&open);
        self.fit_audits();
    }

    /// Change tracking has been switched on in a database.
    pub(crate) fn track_changes(&self, name: &str) {
        if let Some(running) = self.databases.write().get_mut(&fold(name)) {
            running.clean_up(&self.schedulers);
        }
    }

    /// Takes a database out of service and closes it. `Err` gives it back when sessions still use it. Suspends.
    pub(crate) fn close_database(&self, name: &str) -> Result<(), CloseRefused> {
        let key = fold(name);
        let Some(running) = self.databases.write().remove(&key) else {
            return Err(CloseRefused::Unknown);
        };
        // Ours, and those of the background tasks.
        if Arc::strong_count(&running.open) > 1 + running.background.len() {
            self.databases.write().insert(key, running);
            return Err(CloseRefused::InUse);
        }
        let open = running.open.clone();
        running.end();
        // What a suspect database could not keep was told when it became suspect: it is out of service all the same.
        let suspect = open.engine.is_suspect();
        open.engine.close().or_else(|e| if suspect { Ok(()) } else { Err(CloseRefused::Engine(e)) })
    }

    /// Closes every database and stops the schedulers. Sessions must have ended. From a plain thread.
    pub fn shutdown(&self) -> Result<(), EngineError> {
        self.watchdog.stop();
        self.stop_audits();
        let all = std::mem::take(&mut *self.databases.write());
        let mut result = Ok(());
        for (_, running) in all {
            let open = running.open.clone();
            running.end();
            if let Err(error) = open.engine.close() {
                result = Err(error);
            }
        }
        self.schedulers.stop();
        result
    }

    /// Gives a session its spid and enters it into the list.
    pub(crate) fn enter_session(&self) -> (u16, Arc<Registered>) {
        let mut sessions = self.sessions.lock();
        let spid =
            (FIRST_USER_SPID..).find(|spid| !sessions.contains_key(spid)).unwrap_or(u16::MAX);
        let registered = Arc::new(Registered::new(spid));
        sessions.insert(spid, registered.clone());
        (spid, registered)
    }

    /// A session's last request.
    pub(crate) fn text_of_session(&self, spid: u32) -> Option<String> {
        let sessions = self.sessions.lock();
        Some(sessions.get(&u16::try_from(spid).ok()?)?.facts().input.text)
    }

    /// KILL; false when there is no such session.
    pub(crate) fn kill_session(&self, spid: u16) -> bool {
        let registered = self.sessions.lock().get(&spid).cloned();
        registered.is_some_and(|registered| {
            registered.kill();
            true
        })
    }

    /// Whether a session has been killed and is not gone yet; `None` when there is none.
    pub(crate) fn is_killed(&self, spid: u16) -> Option<bool> {
        self.sessions.lock().get(&spid).map(|registered| registered.is_killed())
    }

    /// Takes a session off the list.
    pub(crate) fn leave_session(&self, spid: u16) {
        self.sessions.lock().remove(&spid);
    }

    /// Whether a login has sessions.
    pub(crate) fn is_logged_in(&self, login: &str) -> bool {
        let users = self.sessions().into_iter().filter(|session| session.system.is_none());
        users.into_iter().any(|session| catalog::same_name(&session.login, login))
    }

    /// The number of the session of a database's own task; 0 when it has none.
    pub(crate) fn system_session(&self, command: &str, database: u16) -> u32 {
        self.system.of(command, database.into()).unwrap_or(0)
    }

    /// The users' sessions.
    pub(crate) fn registered(&self) -> Vec<Arc<Registered>> {
        self.sessions.lock().values().cloned().collect()
    }

    /// The sessions as sys.dm_exec_sessions shows them, by spid; those of the databases' own tasks are among them.
    pub fn sessions(&self) -> Vec<SessionFacts> {
        let mut all = self.system.facts();
        all.extend(self.sessions.lock().values().map(|registered| registered.facts()));
        all
    }

    /// @@SERVERNAME.
    pub fn name(&self) -> String {
        "millrace".to_owned()
    }

    /// @@VERSION: in SQL Server's form first, which clients take apart, then what it really is.
    pub fn version(&self) -> String {
        let kind = match std::env::consts::ARCH {
            "aarch64" => "ARM64",
            _ => "X64",
        };
        let (product, ours) = (system_views::PRODUCT_VERSION, env!("CARGO_PKG_VERSION"));
        format!(
            "Microsoft SQL Server 2022 (RTM) - {product} ({kind}) \n\tMillrace {ours}, which speaks its language\n\tDeveloper Edition (64-bit) on Linux <{kind}>"
        )
    }
}

/// Why a database stays open.
pub(crate) enum CloseRefused {
    Unknown,
    InUse,
    Engine(EngineError),
}

impl Running {
    fn start(
        open: Arc<OpenDatabase>,
        schedulers: &Arc<Schedulers>,
        system: &Arc<SystemSessions>,
    ) -> Running {
        open.catalog.set_name(&open.name);
        crate::memory::tell_refused(&open.name, &open.engine);
        let session = |command| system.enter(command, open.id.into()).unwrap_or(0);
        session("LOG WRITER");
        let (checkpoint, lazy_writer) = (session("CHECKPOINT"), session("LAZY WRITER"));
        let stop = Arc::new(AtomicBool::new(false));
        let (theirs, until) = (open.clone(), stop.clone());
        let name = format!("background of {}", open.name);
        let background = schedulers.spawn(&name, None, move || {
            scheduler::set_session(checkpoint);
            theirs.engine.run_background(&until);
        });
        let (theirs, until) = (open.clone(), stop.clone());
        let name = format!("lazy writer of {}", open.name);
        let lazy = schedulers.spawn(&name, None, move || {
            scheduler::set_session(lazy_writer);
            theirs.engine.run_lazy_writer(&until);
        });
        let recovery = crate::recovering::start(&open, schedulers, system, &stop);
        let background = vec![background, lazy];
        let (cleanup, system) = (None, system.clone());
        let mut running = Running { open, stop, cleanup, background, recovery, system };
        running.clean_up(schedulers);
        running
    }

    /// Starts the task that cleans up after change tracking, where it is wanted and not there.
    fn clean_up(&mut self, schedulers: &Arc<Schedulers>) {
        if self.cleanup.is_some() || self.open.catalog.configuration().tracking().is_none() {
            return;
        }
        let cleanup = Cleanup::default();
        let (theirs, until) = (self.open.clone(), cleanup.clone());
        let name = format!("change tracking of {}", self.open.name);
        self.background.push(schedulers.spawn(&name, None, move || until.run(&theirs)));
        self.cleanup = Some(cleanup);
    }

    fn end(mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(cleanup) = &self.cleanup {
            cleanup.stop();
        }
        for task in self.background.drain(..).chain(self.recovery.drain(..)) {
            let _ = task.join();
        }
        self.system.leave(self.open.id.into());
    }
}

/// Opens a database of the list.
fn open_database(
    config: &InstanceConfig,
    def: &DatabaseDef,
    server: &Arc<ServerCatalog>,
) -> Result<OpenDatabase, Trouble> {
    let path = absolute(&config.data_dir, &def.filegroups[0].files[0].path);
    let options = DbOptions { decided: decided(server), ..options_of(config, def) };
    let engine =
        Database::open(config.fs.clone(), &path, options).map_err(|error| Trouble::of(&error))?;
    engine.set_read_only(noted(def, "updateability") == Some("READ_ONLY"));
    let catalog = Catalog::open(&engine).map_err(|error| Trouble {
        suspect: true,
        why: format!("its catalog cannot be read: {error}"),
    })?;
    engine
        .set_elevates_to_snapshot(noted(def, "memory_optimized_elevate_to_snapshot") == Some("ON"));
    Ok(OpenDatabase { id: def.database_id as u16, name: def.name.to_string(), engine, catalog })
}

/// What the server's log says of a database that stays closed.
fn tell_closed(name: &str, why: &str) {
    tell_operator(&format!(
        "Database '{name}' cannot be opened and stays closed; the others are not touched. {why}. Put its files in order \
         and say ALTER DATABASE [{name}] SET ONLINE, or restore it from a backup."
    ));
}

/// A line of the server's log.
pub(crate) fn tell_operator(line: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::warn!("{line}");
    } else if !runtime::sim::active() {
        use std::io::Write;
        // A disk that is full keeps no database from its users.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Database names ignore case.
pub(crate) fn fold(name: &str) -> String {
    name.to_lowercase()
}
