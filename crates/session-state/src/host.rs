//! What the interpreter asks of whoever owns the instance: databases as wholes, server settings.
//!
//! Promise: the interpreter reaches nothing beyond its session's database except through [`Host`].

use crate::auditing::{AuditEvent, AuditFileRows};
use crate::database::OpenDatabase;
use crate::media::{FolderEntry, MediaOrder, MediaRows, PathFacts};
use crate::state::SessionState;
use catalog::ProcedureDef;
use executor::{SqlError, SqlMessage};
use ir::ObjectName;
use ir::{FuncId, SystemView};
use security::{Directory, Password, PasswordHash};
use std::sync::Arc;
use syntax::ast::{
    AlterDatabase, AuditStatement, CreateDatabase, GovernorStatement, ListenerNodes,
    ProcessAffinity, RestoreKind, ServerSwitch,
};
use types::Value;

/// An option of sp_configure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfigurationOption {
    /// As SQL Server writes it.
    pub name: &'static str,
    /// The least and the greatest value.
    pub minimum: i64,
    /// See `minimum`.
    pub maximum: i64,
    /// As it was set last.
    pub configured: i64,
    /// Since the last RECONFIGURE.
    pub in_use: i64,
    /// Seen only while 'show advanced options' is 1.
    pub is_advanced: bool,
}

/// The instance as a session sees it. The session layer implements it.
pub trait Host {
    /// What statements share beside the databases; none where there is no instance.
    fn workspace(&self) -> Option<Arc<executor::Workspace>> {
        None
    }
    /// The open database of that name (any case), for USE and three-part names.
    fn database(&mut self, name: &str) -> Option<Arc<OpenDatabase>>;
    /// The same for who goes there: one of the system's that was not there is made. Suspends.
    fn enter_database(&mut self, name: &str) -> Option<Arc<OpenDatabase>> {
        self.database(name)
    }
    /// Is it a database of the system that is made when somebody goes there?
    fn makes_database(&self, name: &str) -> bool {
        let _ = name;
        false
    }
    /// Every database: id and name.
    fn databases(&mut self) -> Vec<(u16, String)>;
    /// CREATE DATABASE; 1801 when it exists.
    fn create_database(&mut self, statement: &CreateDatabase) -> Result<(), SqlError>;
    /// ALTER DATABASE; 5011/911 when it does not exist.
    fn alter_database(
        &mut self,
        name: &str,
        alter: &AlterDatabase,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError>;
    /// Why the session may not go into a database that it has the permission for: 923 or 924, by the state that ALTER
    /// DATABASE has set. `may_restricted`: whether the session is one of its administrators.
    fn refuses_entry(
        &self,
        database: &OpenDatabase,
        may_restricted: &dyn Fn() -> bool,
    ) -> Option<SqlError> {
        let _ = (database, may_restricted);
        None
    }
    /// DROP DATABASE; 3701 when it does not exist, 3702 when it is in use. The interpreter has already refused
    /// to drop the session's own current database.
    fn drop_database(&mut self, name: &str) -> Result<(), SqlError>;
    /// Why the database of that name is not open: 927 while it is restored, 926 when its recovery failed, 942 when it is
    /// offline. None when there is none of that name.
    fn why_closed(&mut self, name: &str) -> Option<SqlError> {
        let _ = name;
        None
    }
    /// BACKUP LOG or DATABASE; `tell` gets progress and the closing messages. Suspends.
    fn backup(
        &mut self,
        log: bool,
        order: &MediaOrder,
        tell: &mut dyn FnMut(SqlMessage),
    ) -> Result<(), SqlError> {
        let _ = (log, order, tell);
        Err(SqlError::unsupported("BACKUP without a server"))
    }
    /// RESTORE in its forms; rows of those that only read. Suspends.
    fn restore(
        &mut self,
        kind: RestoreKind,
        order: &MediaOrder,
        tell: &mut dyn FnMut(SqlMessage),
    ) -> Result<Option<MediaRows>, SqlError> {
        let _ = (kind, order, tell);
        Err(SqlError::unsupported("RESTORE without a server"))
    }
    /// A file that a statement names, to read; a path without a folder is in the data folder.
    fn open_file(&mut self, path: &str) -> std::io::Result<Arc<dyn device::File>> {
        let _ = path;
        Err(std::io::ErrorKind::NotFound.into())
    }
    /// A file that was not there before, to write.
    fn create_file(&mut self, path: &str) -> std::io::Result<Arc<dyn device::File>> {
        let _ = path;
        Err(std::io::ErrorKind::PermissionDenied.into())
    }
    /// What is at a path; nothing where that cannot be known.
    fn path_facts(&mut self, path: &str) -> PathFacts {
        let _ = path;
        PathFacts::default()
    }
    /// What is in a folder; nothing where it cannot be read.
    fn folder_entries(&mut self, path: &str) -> Vec<FolderEntry> {
        let _ = path;
        Vec::new()
    }
    /// Makes a folder and those above it that lack.
    fn create_folder(&mut self, path: &str) -> std::io::Result<()> {
        let _ = path;
        Err(std::io::ErrorKind::PermissionDenied.into())
    }
    /// sp_detach_db: takes a database off the list and leaves its files. Suspends.
    fn detach_database(&mut self, name: &str) -> Result<(), SqlError> {
        let _ = name;
        Err(SqlError::unsupported("sp_detach_db without a server"))
    }
    /// The options of sp_configure, by name.
    fn configuration(&self) -> Vec<ConfigurationOption> {
        Vec::new()
    }
    /// The value of one that is in use; none where there is no such option, or no server.
    fn option_in_use(&self, name: &str) -> Option<i64> {
        let _ = name;
        None
    }
    /// 'disallow results from triggers', which every trigger asks for.
    fn refuses_trigger_results(&self) -> bool {
        false
    }
    /// Sets one, by its name in full; it comes into use by RECONFIGURE. 15129 for a value out of range.
    fn configure(&mut self, name: &str, value: i64) -> Result<(), SqlError> {
        let _ = value;
        Err(SqlError::new(15123, 16, format!("The configuration option '{name}' does not exist.")))
    }
    /// RECONFIGURE; what cannot come into use changes nothing. 5829, 5831 and 5832, and where it is not `overridden` 5807,
    /// 5808 and 5834. Suspends.
    fn reconfigure(&mut self, overridden: bool) -> Result<(), SqlError> {
        let _ = overridden;
        Ok(())
    }
    /// ALTER SERVER CONFIGURATION SET MILLRACE: all of them, or, with an error, none. 155 for a switch that there is
    /// not, 15129 for a value that it does not take.
    fn alter_switches(&mut self, switches: &[ServerSwitch]) -> Result<(), SqlError> {
        let _ = switches;
        Err(SqlError::unsupported("ALTER SERVER CONFIGURATION without a server"))
    }
    /// ALTER SERVER CONFIGURATION SET PROCESS AFFINITY; 5832 when a CPU or node is not there.
    fn process_affinity(&mut self, affinity: &ProcessAffinity) -> Result<(), SqlError> {
        let _ = affinity;
        Err(SqlError::unsupported("ALTER SERVER CONFIGURATION without a server"))
    }
    /// ALTER SERVER CONFIGURATION SET LISTENER; 15129 for an address without a listener, 5832 when a node is not there.
    fn map_listener(&mut self, address: &str, nodes: &ListenerNodes) -> Result<(), SqlError> {
        let _ = (address, nodes);
        Err(SqlError::unsupported("ALTER SERVER CONFIGURATION without a server"))
    }
    /// ALTER SERVER CONFIGURATION SET SOFTNUMA: from the next start on.
    fn set_soft_numa(&mut self, on: bool) -> Result<(), SqlError> {
        let _ = on;
        Err(SqlError::unsupported("ALTER SERVER CONFIGURATION without a server"))
    }
    /// A statement of Resource Governor, of somebody who may; `classifier` is the id of the function that it names.
    fn govern(&mut self, statement: &GovernorStatement, classifier: i32) -> Result<(), SqlError> {
        let _ = (statement, classifier);
        Err(SqlError::unsupported("ALTER RESOURCE GOVERNOR without a server"))
    }
    /// Bits of the groups ([`audit::Group::bit`]) that audits in force want, of the server or in some database; 0 nearly
    /// always.
    fn audited(&self) -> u64 {
        0
    }
    /// Before something of these groups happens: 33239 where an audit that must have a record of it could not keep one
    /// now. True: it must not stand without its record.
    fn check_audits(&self, groups: u64, database: u16) -> Result<bool, SqlError> {
        let _ = (groups, database);
        Ok(false)
    }
    /// Keeps a record in each audit that wants it; 33239 where one must have it and has not. Suspends.
    fn audit(&mut self, event: AuditEvent) -> Result<(), SqlError> {
        let _ = event;
        Ok(())
    }
    /// A statement about audits, of somebody who may; `by` is a record of his session, which is in
    /// `database`. Suspends.
    fn define_audit(
        &mut self,
        statement: &AuditStatement,
        by: &audit::Record,
        database: &OpenDatabase,
    ) -> Result<(), SqlError> {
        let _ = (statement, by, database);
        Err(SqlError::unsupported("CREATE SERVER AUDIT without a server"))
    }
    /// sys.fn_get_audit_file, for a session that may. Suspends.
    fn audit_file(&mut self, args: &[Value]) -> Result<AuditFileRows, SqlError> {
        let _ = args;
        Ok(AuditFileRows::default())
    }
    /// sp_xtp_bind_db_resource_pool, of somebody who may: the ids of the database and of the pool. 911, 41370 to 41373.
    fn bind_pool(&mut self, database: &str, pool: &str) -> Result<(i32, i32), SqlError> {
        let _ = (database, pool);
        Err(SqlError::unsupported("sp_xtp_bind_db_resource_pool without a server"))
    }
    /// sp_xtp_unbind_db_resource_pool, of somebody who may. 911, 41374.
    fn unbind_pool(&mut self, database: &str) -> Result<(), SqlError> {
        let _ = database;
        Err(SqlError::unsupported("sp_xtp_unbind_db_resource_pool without a server"))
    }
    /// The function that classifies, by its id in `master`: it stays as it is (10920).
    fn classifier(&self) -> i32 {
        0
    }
    /// DBCC TRACEON / TRACEOFF for the whole server; unknown flags are accepted.
    fn trace_flag(&mut self, flag: i32, on: bool);
    /// The flags that are on for the whole server, in order.
    fn trace_flags(&self) -> Vec<i32> {
        Vec::new()
    }
    /// @@SERVERNAME.
    fn server_name(&self) -> String {
        "millrace".to_string()
    }
    /// @@VERSION.
    fn version(&self) -> String {
        format!("Millrace {}", env!("CARGO_PKG_VERSION"))
    }
    /// A system view or table-valued system function, if there is one of that name. A name may name a database.
    fn system_view(&mut self, name: &ObjectName) -> Option<Arc<SystemView>> {
        let _ = name;
        None
    }
    /// The rows of such a view as a session sees them, in the order of its columns.
    fn view_rows(
        &mut self,
        view: &SystemView,
        args: &[Value],
        session: &SessionState,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        let _ = (args, session);
        Err(SqlError::new(208, 16, format!("Invalid object name '{}'.", view.name)))
    }
    /// A built-in procedure that is written in T-SQL; it runs in the session's database, or in the one its name names.
    fn system_procedure(&self, name: &ObjectName) -> Option<Arc<ProcedureDef>> {
        let _ = name;
        None
    }
    /// A function about what exists (OBJECT_ID, COLUMNPROPERTY, SERVERPROPERTY ...) as a session sees it. NULL for
    /// what is not there.
    fn metadata(
        &mut self,
        func: FuncId,
        args: &[Value],
        session: &SessionState,
    ) -> Result<Value, SqlError> {
        let _ = (func, args, session);
        Ok(Value::Null)
    }
    /// The server's principals and permissions.
    fn server_directory(&self) -> Arc<Directory> {
        Arc::new(Directory::server())
    }
    /// Grows with every change of them.
    fn server_directory_version(&self) -> i64 {
        0
    }
    /// Changes them, durably; what `change` refuses leaves them as they were. Suspends.
    fn change_server(
        &mut self,
        change: &mut dyn FnMut(&mut Directory) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let _ = change;
        Err(SqlError::unsupported("changing principals of a server that is not there"))
    }
    /// Hashes a password on a thread of its own. Suspends.
    fn hash_password(&mut self, password: &Password) -> Result<PasswordHash, SqlError> {
        let _ = password;
        Err(SqlError::unsupported("passwords without a server"))
    }
    /// Whether a password has that hash. Suspends.
    fn password_matches(
        &mut self,
        hash: &PasswordHash,
        password: &Password,
    ) -> Result<bool, SqlError> {
        let _ = (hash, password);
        Err(SqlError::unsupported("passwords without a server"))
    }
    /// What the server's rules make of passwords in time.
    fn password_rules(&self) -> security::PasswordRules {
        security::PasswordRules::default()
    }
    /// Wrong passwords of a login one after the other, and when the last one came.
    fn bad_passwords(&self, login: i32) -> Option<(u32, u64)> {
        let _ = login;
        None
    }
    /// They do not count any more.
    fn forget_bad_passwords(&mut self, login: i32) {
        let _ = login;
    }
    /// Whether a login has sessions (15434).
    fn is_logged_in(&self, login: &str) -> bool {
        let _ = login;
        false
    }
    /// KILL WITH STATUSONLY: 6106 when there is no such session, 6120 when it has not been killed.
    fn rollback_report(&mut self, spid: u16) -> Result<String, SqlError> {
        Err(no_process(spid))
    }
    /// SHUTDOWN: asks whoever runs the server to end it. Unless `no_wait` what other sessions than `spid` run is waited
    /// for first: `waits` is told once how many there are, `is_cancelled` gives the waiting up. Suspends.
    fn shutdown(
        &mut self,
        no_wait: bool,
        spid: u16,
        waits: &mut dyn FnMut(usize),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        let _ = (no_wait, spid, waits, is_cancelled);
        Err(SqlError::unsupported("SHUTDOWN without a server"))
    }
    /// KILL; 6106 when there is no such session.
    fn kill(&mut self, spid: u16) -> Result<(), SqlError> {
        Err(no_process(spid))
    }
}

/// 6106: there is no such session.
pub fn no_process(spid: u16) -> SqlError {
    SqlError::new(6106, 16, format!("Process ID {spid} is not an active process ID.")).with_state(2)
}
