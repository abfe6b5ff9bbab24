//! What views and functions may know: the instance, the session that asks, the database it asks about.
//!
//! Promise: a session sees its own uncommitted definitions in its database, and only committed ones elsewhere.

use crate::facts::{AdminFacts, ListenerFacts, NonYielding, SessionFacts};
use catalog::{DatabaseDef, DdlScope, ObjectRef, TableDef, same_name};
use session_state::{OpenDatabase, SessionState};
use std::sync::Arc;
use types::datetime::{DateTime, datetime_from_unix_ns};

/// The instance, as the session crate answers for it.
pub trait Server {
    /// Every database that is listed, online or not, by id.
    fn databases(&self) -> Vec<Database>;
    /// The sessions by id: users', and those of the server's own tasks.
    fn sessions(&self) -> Vec<SessionFacts>;
    /// Every task of the schedulers.
    fn tasks(&self) -> Vec<scheduler::TaskInfo>;
    /// The sockets that take connections.
    fn listeners(&self) -> Vec<ListenerFacts>;
    /// The latest tasks that kept a scheduler to themselves, the last one last.
    fn non_yielding(&self) -> Vec<NonYielding>;
    /// What does not change while the instance runs.
    fn facts(&self) -> ServerFacts;
    /// Statistics of the schedulers.
    fn schedulers(&self) -> Vec<scheduler::Stats>;
    /// What serves the dedicated administrator connection.
    fn admin(&self) -> AdminFacts;
    /// This engine's own switches.
    fn switches(&self) -> Vec<crate::SwitchFacts>;
    /// The plans in the cache.
    fn plans(&self) -> Vec<Arc<interpreter::CachedPlan>>;
    /// How often plans of texts, and of modules, were looked for in it.
    fn plan_lookups(&self) -> [interpreter::CacheLookups; 2];
    /// What statements may hold in sorts and hash tables.
    fn query_memory(&self) -> Arc<executor::MemoryPool>;
    /// Resource Governor.
    fn governor(&self) -> crate::facts::GovernorFacts;
    /// Audits: as defined, and how those that are on stand.
    fn audits(&self) -> crate::facts::AuditFacts;
    /// What is at a path; nothing where that cannot be known.
    fn path_facts(&self, path: &str) -> session_state::PathFacts;
    /// The volume that a path lies on; none where nobody can tell.
    fn volume(&self, path: &str) -> Option<crate::facts::VolumeFacts>;
    /// A configuration option by its name: as configured, and in use.
    fn setting(&self, name: &str) -> Option<(i64, i64)>;
}

/// A database of the instance.
#[derive(Clone)]
pub struct Database {
    /// database_id.
    pub id: i32,
    /// Its name as created.
    pub name: String,
    /// Absent while it is not online.
    pub open: Option<Arc<OpenDatabase>>,
    /// Its recovery failed.
    pub suspect: bool,
    /// Its entry in `master`; `master` itself has none.
    pub definition: Option<Arc<DatabaseDef>>,
}

/// What does not change while the instance runs.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    /// @@SERVERNAME.
    pub name: String,
    /// SERVERPROPERTY('MachineName').
    pub machine: String,
    /// @@VERSION.
    pub version: String,
    /// UTC, ns since 1970.
    pub start_unix_ns: u64,
    /// Where files named without a path lie.
    pub data_dir: String,
    /// CPUs of the machine.
    pub cpus: i32,
    /// ALTER SERVER CONFIGURATION or an affinity mask chose the CPUs.
    pub manual_affinity: bool,
    /// Trace flag 834 was given at the start.
    pub large_pages: bool,
    /// Memory of the machine in KiB.
    pub memory_kb: i64,
    /// What of it the server may have: the least of that, of what it was started with and of 'max server memory (MB)'.
    pub limit_kb: i64,
}

/// The product version that clients are told: SQL Server 2022.
pub const PRODUCT_VERSION: &str = "16.0.1000.6";
/// Compatibility level of every database.
pub const COMPATIBILITY_LEVEL: u8 = 160;
/// The one collation.
pub const COLLATION: &str = "SQL_Latin1_General_CP1_CI_AS";

/// Who asks, and about what.
pub struct Context<'a> {
    /// The instance.
    pub server: &'a dyn Server,
    /// The session that asks.
    pub session: &'a SessionState,
    /// The database asked about: the session's own, or the one that a name has named.
    pub database: Arc<OpenDatabase>,
    /// It asks about `tempdb`, where the session's temporary tables are, and nothing else; `database` is then only a
    /// place for what every database has.
    pub temporary: bool,
    /// It asks about a database of the system that nobody has gone to yet: `database` is then master, only a place for what
    /// every database has.
    pub stand_in: Option<&'static str>,
}

/// Databases of the system beside master: name and id. They are made when somebody goes there.
pub const SYSTEM_DATABASES: [(&str, i32); 3] = [("tempdb", TEMPDB), ("model", 3), ("msdb", 4)];

/// database_id of `tempdb`.
pub const TEMPDB: i32 = 2;

impl<'a> Context<'a> {
    /// About the session's own database.
    pub fn new(server: &'a dyn Server, session: &'a SessionState) -> Context<'a> {
        let database = session.database.clone();
        let temporary = i32::from(database.id) == TEMPDB;
        Context { server, session, database, temporary, stand_in: None }
    }

    /// About another database; `None` when there is none of that name online.
    pub fn of_database(
        server: &'a dyn Server,
        session: &'a SessionState,
        name: &str,
    ) -> Option<Context<'a>> {
        if same_name(name, &session.database.name) {
            return Some(Context::new(server, session));
        }
        let mut system = SYSTEM_DATABASES.iter().map(|(known, _)| *known);
        let system = system.find(|known| same_name(known, name));
        let all = server.databases();
        let open = |name: &str| all.iter().find(|d| same_name(&d.name, name))?.open.clone();
        let (database, stand_in) = match open(name) {
            Some(found) => (found, None),
            None => (open("master").filter(|_| system.is_some())?, system),
        };
        let temporary = system == Some("tempdb");
        Some(Context { server, session, database, temporary, stand_in })
    }

    /// The same for a database's id.
    pub fn of_database_id(&self, id: i64) -> Option<Context<'a>> {
        let found = self.server.databases().into_iter().find(|d| d.id as i64 == id)?;
        Context::of_database(self.server, self.session, &found.name)
    }

    /// The session's uncommitted definitions, if it asks about its own database.
    pub fn scope(&self) -> Option<&'a DdlScope> {
        let own = self.database.id == self.session.database.id;
        if own && self.stand_in.is_none() { self.session.definitions() } else { None }
    }

    /// Users' objects of the database, by id.
    pub fn objects(&self) -> Vec<ObjectRef> {
        if self.temporary {
            let all = self.session.temporary_tables();
            let own = self.session.database.catalog.objects_in(self.session.definitions());
            let all = all.into_iter().map(ObjectRef::Table);
            let mut all: Vec<ObjectRef> = all.chain(own.into_iter().filter(is_global)).collect();
            if self.stand_in.is_none() {
                let lasting = self.database.catalog.objects_in(self.scope());
                all.extend(lasting.into_iter().filter(|object| self.lists(object)));
            }
            return all;
        }
        if self.stand_in.is_some() {
            return Vec::new();
        }
        let mut all = self.database.catalog.objects_in(self.scope());
        all.retain(|object| self.lists(object));
        all
    }

    /// Is it among [`Context::objects`] of a database that is not tempdb?
    pub fn lists(&self, object: &ObjectRef) -> bool {
        let is_object = !matches!(object, ObjectRef::Procedure(p) if !p.kind.is_object());
        is_object && !is_global(object)
    }

    /// Rows of a table, about; 0 for temporary ones.
    pub fn rows_of(&self, table: &TableDef) -> i64 {
        if table.is_private() || catalog::is_global_name(&table.name) {
            return 0;
        }
        self.database.catalog.row_count(table).map_or(0, |rows| rows as i64)
    }

    /// The last value of a table's identity column.
    pub fn first_identity(&self, table: &TableDef) -> Option<i64> {
        if self.temporary { None } else { self.database.catalog.first_identity(table) }
    }

    pub fn current_identity(&self, table: &TableDef) -> Option<i64> {
        let is_temporary = table.is_private() || catalog::is_global_name(&table.name);
        if is_temporary { None } else { self.database.catalog.current_identity(table) }
    }

    /// The name of the database asked about.
    pub fn name(&self) -> &str {
        self.stand_in.unwrap_or(&self.database.name)
    }

    /// Its schemas: id and name.
    pub fn schemas(&self) -> Vec<(i32, Box<str>)> {
        self.database.catalog.schemas()
    }

    /// The id of a schema; that of `dbo` when there is none.
    pub fn schema_id(&self, name: &str) -> i32 {
        let directory = self.database.catalog.directory(self.scope());
        directory.schema(name).map_or(1, |schema| schema.id)
    }

    /// The owner of an object, type or collection of XML schemas that is not its schema's owner's.
    pub fn own_owner(&self, id: i32) -> Option<i32> {
        self.database.catalog.directory(self.scope()).owners.get(&id).copied()
    }

    /// Who owns what is in a schema: its own owner, or else the schema's.
    pub fn owner(&self, id: i32, schema_id: i32) -> i32 {
        let directory = self.database.catalog.directory(self.scope());
        let of_schema = || directory.schemas.get(&schema_id).map_or(1, |schema| schema.owner);
        directory.owners.get(&id).copied().unwrap_or_else(of_schema)
    }

    /// The name of a schema; `dbo` when there is none of that id.
    pub fn schema_name(&self, id: i32) -> String {
        let all = self.schemas();
        let found = all.iter().find(|(known, _)| *known == id);
        found.map_or("dbo", |(_, name)| name).to_string()
    }

    /// The entry of the database asked about.
    pub fn database_entry(&self) -> Database {
        let id = self.database.id as i32;
        let found = self.server.databases().into_iter().find(|d| d.id == id);
        found.unwrap_or_else(|| Database {
            id,
            name: self.database.name.clone(),
            open: Some(self.database.clone()),
            suspect: false,
            definition: None,
        })
    }
}

/// A moment as SQL Server shows it.
pub fn moment(unix_ns: u64) -> DateTime {
    datetime_from_unix_ns(unix_ns)
}

/// When things were made that are older than any instance: 2003-04-08 09:13:36.390, as in SQL Server's own master.
pub fn built_in() -> DateTime {
    moment(1_049_793_216_390_000_000)
}

/// A global temporary table: told of as one of tempdb.
fn is_global(object: &ObjectRef) -> bool {
    matches!(object, ObjectRef::Table(table) if catalog::is_global_name(&table.name))
}
