//! What a session keeps between batches.
//!
//! Promise: SET options and the open transaction live here and nowhere else; dropping the state rolls an open
//! transaction back. What a session has compiled is not here: it is the interpreter's.

use crate::activity::Activity;
use crate::database::OpenDatabase;
use crate::identity::Identity;
use crate::name_parts::name_parts;
use crate::options::SetOptions;
use crate::prepared_documents::PreparedDocuments;
use crate::transaction::Transaction;
use executor::SqlError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::{Bytes, Value};

/// How deep procedures may call each other.
pub const NESTING_MAX: u32 = 32;

/// A table whose identity column takes the values that INSERT gives.
#[derive(Debug, Clone)]
pub struct IdentityInsert {
    /// database_id; 0 of a temporary table.
    pub database: u16,
    pub object: i32,
    /// `database.schema.table`
    pub shown: Arc<str>,
}

/// A version of everything a name can mean in a session: database, committed and own uncommitted definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamesVersion {
    pub database: u16,
    /// Who it was allowed to: [`Identity::stamp`].
    pub identity: u32,
    pub catalog: u64,
    pub uncommitted: u64,
}

/// A trigger that runs.
#[derive(Default)]
pub struct Firing {
    pub object_id: i32,
    /// COLUMNS_UPDATED(): a bit for each column, the first in the lowest of the first byte.
    pub updated: Vec<u8>,
    /// It is INSTEAD OF.
    pub instead_of: bool,
    /// Of a DDL or logon trigger: what EVENTDATA() tells it.
    pub event: Option<Arc<str>>,
    /// A trigger of the server: its id is one of `master`.
    pub of_server: bool,
    /// @@NESTLEVEL of its own statements.
    pub level: u32,
    /// It may send no result set to the client.
    pub without_results: bool,
}

/// A global temporary table that this session has to drop when it ends.
#[derive(Debug)]
pub struct GlobalTable {
    pub database: String,
    pub name: Box<str>,
    pub object_id: i32,
}

/// A transaction's number as clients know it.
pub fn descriptor(spid: u16, serial: u64) -> u64 {
    (spid as u64) << 40 | serial
}

/// Who is at the other end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The login's name: ORIGINAL_LOGIN().
    pub login: Box<str>,
    /// HOST_NAME(): the client's machine.
    pub host: Box<str>,
    /// APP_NAME(): the client's program.
    pub application: Box<str>,
    /// The client library's name.
    pub interface: Box<str>,
    /// The client's process id.
    pub process_id: u32,
    /// The peer's address, `<local machine>` when it is in this process.
    pub address: Box<str>,
    /// The port that took the connection; 0 without one.
    pub local_port: u16,
    /// How requests come: `TCP`, or `Shared memory` in this process.
    pub transport: Box<str>,
    /// The connection is encrypted.
    pub encrypted: bool,
    /// Packets of the wire, in bytes; 0 without a wire.
    pub packet_size: u32,
}

impl Default for Client {
    fn default() -> Client {
        Client {
            login: "sa".into(),
            host: "localhost".into(),
            application: "millrace".into(),
            interface: "".into(),
            process_id: std::process::id(),
            address: "<local machine>".into(),
            local_port: 0,
            transport: "Shared memory".into(),
            encrypted: false,
            packet_size: 0,
        }
    }
}

/// A session: its database, options, transaction and caches.
pub struct SessionState {
    /// @@SPID.
    pub spid: u16,
    /// The current database. Change it through [`SessionState::use_database`].
    pub database: Arc<OpenDatabase>,
    /// SET options.
    pub options: SetOptions,
    /// What they were after the login, and are again after a reset.
    first_options: SetOptions,
    /// Who is at the other end.
    pub client: Arc<Client>,
    /// Whom it acts as.
    pub identity: Identity,
    /// What others may see of it.
    pub activity: Arc<Activity>,
    /// Set by another thread to stop the running batch at its next loop turn, statement or row batch.
    pub cancel: Arc<AtomicBool>,
    /// What the request's workload group lets it have.
    pub bounds: executor::Bounds,
    /// What was planned for the indexed views above tables that it changes.
    pub view_plans: crate::view_plans::ViewPlans,
    /// Memory that its requests have taken and not given back, in bytes.
    pub memory_taken: i64,
    pub transaction: Transaction,
    /// @@ROWCOUNT.
    pub rowcount: i64,
    /// The last number that the session took of each sequence, by its object id.
    pub sequence_numbers: Vec<(i32, types::Value)>,
    /// @@ERROR.
    pub error: i32,
    /// What its statements have written to files for want of memory, since somebody asked last.
    pub spilled: executor::SpillFigures,
    /// What the statement that runs is to warn of.
    pub warnings: executor::Warnings,
    /// Messages that it has to tell with them: numbers and texts.
    pub notices: Vec<(i32, String)>,
    /// @@IDENTITY.
    pub last_identity: Option<i64>,
    /// SCOPE_IDENTITY(): that of the batch or procedure being run.
    pub scope_identity: Option<i64>,
    /// SET CONTEXT_INFO.
    pub context_info: Option<Bytes>,
    /// sp_set_session_context: key, value, read-only.
    pub session_context: Vec<(Box<str>, Value, bool)>,
    /// sp_xml_preparedocument.
    pub prepared_xml: PreparedDocuments,
    /// Trace flags of the session alone.
    pub trace_flags: std::collections::BTreeSet<i32>,
    /// The table under SET IDENTITY_INSERT ON.
    pub identity_insert: Option<IdentityInsert>,
    /// @@NESTLEVEL.
    pub nesting: u32,
    /// Triggers running, one fired by another.
    pub triggers: Vec<Firing>,
    /// The text of the EXEC of a system procedure whose doings DDL triggers may want to know of.
    pub command: Option<Arc<str>>,
    /// The transaction is the statement's own, and there for a DDL trigger that is to fire.
    pub watched: bool,
    /// User-defined functions running, one in another.
    pub functions: u32,
    /// ATOMIC blocks running, one in another.
    pub atomic: u32,
    /// Global temporary tables to drop when it ends.
    pub global_tables: Vec<GlobalTable>,
    /// The callee of an INSERT ... EXEC is running.
    pub gathering: bool,
    /// @@PROCID.
    pub procedure_id: i32,
    /// Errors of the CATCH blocks being run, innermost last.
    pub caught: Vec<SqlError>,
    /// `#procedures`, of this session alone.
    pub own_procedures: Vec<Arc<catalog::ProcedureDef>>,
    /// Those ever made, for ids and versions.
    pub own_procedures_made: u32,
}

impl SessionState {
    /// A fresh session in `database`.
    pub fn new(spid: u16, database: Arc<OpenDatabase>) -> SessionState {
        let cancel = Arc::new(AtomicBool::new(false));
        SessionState {
            spid,
            database,
            options: SetOptions::default(),
            first_options: SetOptions::default(),
            client: Arc::default(),
            identity: Identity::default(),
            activity: Arc::default(),
            transaction: Transaction::of_session(spid, cancel.clone()),
            cancel,
            bounds: executor::Bounds::default(),
            view_plans: Default::default(),
            memory_taken: 0,
            rowcount: 0,
            sequence_numbers: Vec::new(),
            error: 0,
            spilled: executor::SpillFigures::default(),
            warnings: executor::Warnings::default(),
            notices: Vec::new(),
            last_identity: None,
            scope_identity: None,
            context_info: None,
            session_context: Vec::new(),
            prepared_xml: Default::default(),
            trace_flags: Default::default(),
            identity_insert: None,
            nesting: 0,
            functions: 0,
            atomic: 0,
            global_tables: Vec::new(),
            gathering: false,
            triggers: Vec::new(),
            command: None,
            watched: false,
            procedure_id: 0,
            caught: Vec::new(),
            own_procedures: Vec::new(),
            own_procedures_made: 0,
        }
    }

    /// @@TRANCOUNT.
    pub fn trancount(&self) -> u32 {
        self.transaction.count - self.transaction.lent()
    }

    /// The temporary tables in sight.
    pub fn temporary_tables(&self) -> Vec<Arc<catalog::TableDef>> {
        self.transaction.private.definitions().cloned().collect()
    }

    /// What the open transaction has defined and not committed.
    pub fn definitions(&self) -> Option<&catalog::DdlScope> {
        self.transaction.scope()
    }

    /// @@LANGUAGE.
    pub fn language(&self) -> &'static str {
        crate::languages::LANGUAGES[self.options.language as usize].name
    }

    /// SET LANGUAGE of a login; false when there is no such language.
    pub fn set_language(&mut self, name: &str) -> bool {
        let Some(found) = crate::languages::find(name) else { return false };
        let language = &crate::languages::LANGUAGES[found as usize];
        self.options.language = found;
        self.options.date_order = language.order;
        self.options.datefirst = language.first;
        true
    }

    /// The login is over: a reset comes back to the options that are now.
    pub fn keep_options(&mut self) {
        self.first_options = self.options.clone();
    }

    /// The open transaction as clients are told of it.
    pub fn open_transaction(&self) -> Option<u64> {
        let open = self.transaction.open();
        (open != 0).then_some(descriptor(self.spid, open))
    }

    /// Rolls back whatever is open; for a closing connection. Suspends.
    pub fn reset(&mut self) {
        self.reset_connection(false);
        self.transaction.forget_database();
    }

    /// Is IDENTITY_INSERT on for a table of the current database, or for a temporary one?
    #[inline]
    pub fn takes_identity(&self, table: &catalog::TableDef) -> bool {
        let Some(on) = &self.identity_insert else { return false };
        on.object == table.object_id && on.database == self.home_of(table)
    }

    /// Where a table is, as [`IdentityInsert`] tells it.
    pub fn home_of(&self, table: &catalog::TableDef) -> u16 {
        if table.is_private() { 0 } else { self.database.id }
    }

    /// Makes everything as it was at the beginning, but for the database and, where it is to be kept, the transaction.
    /// Suspends.
    pub fn reset_connection(&mut self, keep_transaction: bool) {
        self.cancel.store(false, Ordering::Relaxed);
        if !keep_transaction || self.transaction.doomed {
            let _ = self.transaction.rollback_all();
        }
        self.last_identity = None;
        self.scope_identity = None;
        self.context_info = None;
        self.session_context.clear();
        self.prepared_xml = Default::default();
        self.trace_flags.clear();
        self.identity_insert = None;
        self.revert_all();
        self.transaction.private.clear();
        self.own_procedures.clear();
        self.options = self.first_options.clone();
        self.caught.clear();
        self.nesting = 0;
        self.functions = 0;
        self.atomic = 0;
        self.triggers.clear();
        self.error = 0;
        self.rowcount = 0;
    }

    /// USE: an open transaction goes along, and keeps what it has in the database that is left.
    pub fn use_database(&mut self, database: Arc<OpenDatabase>) {
        if !Arc::ptr_eq(&self.database, &database) {
            self.transaction.go(&self.database, &database);
            self.database = database;
        }
    }

    /// What names mean at the moment.
    #[inline]
    pub fn names_version(&self) -> NamesVersion {
        NamesVersion {
            database: self.database.id,
            identity: self.identity.stamp(),
            catalog: self.database.catalog.version(),
            uncommitted: self.transaction.definitions(),
        }
    }

    /// A collection of XML schemas by name: without a schema in the user's default one, then in dbo.
    pub fn find_xml_schemas(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Arc<catalog::ProcedureDef>> {
        let kind = catalog::ModuleKind::XmlSchemaCollection;
        let of = |schema| self.database.catalog.module(self.definitions(), schema, name, kind);
        let own = self.default_schema().filter(|_| schema.is_none());
        own.and_then(|own| of(Some(own))).or_else(|| of(schema))
    }

    /// An object by name: without a schema in the user's default one, then in dbo; the transaction's own first.
    /// A synonym gives what it stands for, if that is an object of this database and no synonym.
    pub fn find_object(&self, schema: Option<&str>, name: &str) -> Option<catalog::ObjectRef> {
        use catalog::{ModuleKind, ObjectRef};
        let is_synonym =
            |o: &ObjectRef| matches!(o, ObjectRef::Procedure(p) if p.kind == ModuleKind::Synonym);
        let found = self.find_own(schema, name)?;
        let ObjectRef::Procedure(synonym) = &found else { return Some(found) };
        if synonym.kind != ModuleKind::Synonym {
            return Some(found);
        }
        let mut parts = name_parts(&synonym.text).into_iter().rev();
        let name = parts.next().unwrap_or_default();
        let mut part = || parts.next().filter(|p| !p.is_empty());
        let (schema, database) = (part(), part());
        if database.is_some_and(|d| !d.eq_ignore_ascii_case(&self.database.name)) {
            return None;
        }
        self.find_own(schema.as_deref(), &name).filter(|o| !is_synonym(o))
    }

    /// What a name of this database stands for that is a synonym of something in another one.
    pub fn stands_for(&self, name: &ir::ObjectName) -> Option<ir::ObjectName> {
        use catalog::{ModuleKind, ObjectRef};
        let is_here = |d: &str| d.eq_ignore_ascii_case(&self.database.name);
        if name.database.as_deref().is_some_and(|d| !is_here(d)) {
            return None;
        }
        let schema = name.schema.as_deref().filter(|schema| !schema.is_empty());
        let ObjectRef::Procedure(synonym) = self.find_own(schema, &name.name)? else { return None };
        if synonym.kind != ModuleKind::Synonym {
            return None;
        }
        let parts = name_parts(&synonym.text);
        let [database, schema, name] = &parts[..] else { return None };
        Some(ir::ObjectName {
            database: Some(database.clone()).filter(|d| !d.is_empty() && !is_here(d)),
            schema: Some(schema.clone()).filter(|s| !s.is_empty()),
            name: name.clone(),
        })
        .filter(|name| name.database.is_some())
    }

    pub fn find_own(&self, schema: Option<&str>, name: &str) -> Option<catalog::ObjectRef> {
        let scope = self.transaction.scope();
        let catalog = &self.database.catalog;
        match (schema, self.default_schema()) {
            (None, Some(default)) => catalog
                .object(scope, Some(default), name)
                .or_else(|| catalog.object(scope, None, name)),
            _ => catalog.object(scope, schema, name),
        }
    }

    /// 217 at the level below which nothing may be called.
    pub fn check_nesting(&self) -> Result<(), SqlError> {
        if self.nesting >= NESTING_MAX { Err(too_deep()) } else { Ok(()) }
    }
}

/// 217.
pub fn too_deep() -> SqlError {
    SqlError::new(
        217,
        16,
        "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).",
    )
}
