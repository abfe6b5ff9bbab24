//! What a session keeps between batches.
//!
//! Promise: SET options, the open transaction and cached programs live here and nowhere else; dropping the
//! state rolls an open transaction back.

use crate::activity::Activity;
use crate::cache::TextCache;
use crate::host::OpenDatabase;
use crate::identity::Identity;
use crate::plan::{CodeState, NamesVersion};
use crate::plan_cache::{PlanCache, SessionPlan};
use crate::showplan::Telling;
use crate::transaction::Transaction;
use executor::SqlError;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::{Bytes, Value};

/// SET options of a session, with the defaults of SQL Server's drivers.
#[derive(Debug, Clone, PartialEq)]
pub struct SetOptions {
    /// SET NOCOUNT.
    pub nocount: bool,
    /// SET XACT_ABORT.
    pub xact_abort: bool,
    /// SET QUOTED_IDENTIFIER.
    pub quoted_identifier: bool,
    /// SET LOCK_TIMEOUT in ms; None waits forever.
    pub lock_timeout_ms: Option<u64>,
    /// SET ROWCOUNT; 0 is no limit.
    pub rowcount: u64,
    /// SET IMPLICIT_TRANSACTIONS.
    pub implicit_transactions: bool,
    /// SET DATEFIRST.
    pub datefirst: u8,
    /// SET DATEFORMAT.
    pub date_order: types::convert::DateOrder,
    /// SET LANGUAGE: @@LANGID.
    pub language: u8,
    /// SET TEXTSIZE; -1 is no limit.
    pub textsize: i32,
    /// Switches that are only remembered, as bits of @@OPTIONS.
    pub switches: u32,
    /// SET FMTONLY: queries tell their columns and do nothing.
    pub fmtonly: bool,
    /// SET NO_BROWSETABLE: queries tell of base tables and keys.
    pub browse: bool,
    /// SET NOEXEC: statements are compiled and not run.
    pub noexec: bool,
    /// SET SHOWPLAN_* and SET STATISTICS *.
    pub telling: Telling,
    /// SET DEADLOCK_PRIORITY, -10 to 10.
    pub deadlock_priority: i8,
    /// SET TRANSACTION ISOLATION LEVEL.
    pub isolation: engine::Isolation,
}

impl Default for SetOptions {
    fn default() -> SetOptions {
        SetOptions {
            nocount: false,
            xact_abort: false,
            quoted_identifier: true,
            lock_timeout_ms: None,
            rowcount: 0,
            implicit_transactions: false,
            datefirst: 7,
            date_order: types::convert::DateOrder::Mdy,
            language: 0,
            textsize: -1,
            switches: crate::set::SWITCHES,
            fmtonly: false,
            browse: false,
            noexec: false,
            telling: Telling::default(),
            deadlock_priority: 0,
            isolation: engine::Isolation::ReadCommitted,
        }
    }
}

impl SetOptions {
    /// @@OPTIONS.
    pub(crate) fn bits(&self) -> u32 {
        self.switches
            | (self.implicit_transactions as u32) << 1
            | (self.quoted_identifier as u32) << 8
            | (self.nocount as u32) << 9
            | (self.xact_abort as u32) << 14
    }

    /// Those that change what a text means when it is compiled, as bits.
    #[inline]
    pub(crate) fn meaning(&self) -> u32 {
        let settings = self.settings();
        self.quoted_identifier as u32
            | u32::from(!settings.ansi_nulls) << 1
            | u32::from(!settings.concat_null) << 2
            | u32::from(!settings.null_columns) << 3
            | u32::from(settings.browse) << 4
            // Filtered indexes ask for these.
            | u32::from(self.switches & 8 == 0) << 5
            | u32::from(self.switches & 16 == 0) << 6
    }

    /// The same, as the binder asks for them.
    pub(crate) fn settings(&self) -> binder::Settings {
        binder::Settings {
            ansi_nulls: self.switches & 32 != 0,
            concat_null: self.switches & 4096 != 0,
            null_columns: self.switches & 1024 != 0,
            browse: self.browse,
        }
    }
}

/// A transaction's number as clients know it.
pub(crate) fn descriptor(spid: u16, serial: u64) -> u64 {
    (spid as u64) << 40 | serial
}

/// A procedure, compiled, with what this session has learnt of it.
pub(crate) struct CachedProcedure {
    /// Catalog version of the definition that was compiled.
    pub version: u64,
    pub code: Arc<SessionPlan>,
    /// Absent while it runs.
    pub state: Option<CodeState>,
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
    /// Who is at the other end.
    pub client: Arc<Client>,
    /// Whom it acts as.
    pub identity: Identity,
    /// What others may see of it.
    pub activity: Arc<Activity>,
    /// Set by another thread to stop the running batch at its next loop turn, statement or row batch.
    pub cancel: Arc<AtomicBool>,
    /// Memory that its requests have taken and not given back, in bytes.
    pub(crate) memory_taken: i64,
    pub(crate) transaction: Transaction,
    /// @@ROWCOUNT.
    pub(crate) rowcount: i64,
    /// The last number that the session took of each sequence, by its object id.
    pub(crate) sequence_numbers: Vec<(i32, types::Value)>,
    /// @@ERROR.
    pub(crate) error: i32,
    /// What its statements have written to files for want of memory, since somebody asked last.
    pub(crate) spilled: executor::SpillFigures,
    /// @@IDENTITY.
    pub(crate) last_identity: Option<i64>,
    /// SCOPE_IDENTITY(): that of the batch or procedure being run.
    pub(crate) scope_identity: Option<i64>,
    /// SET CONTEXT_INFO.
    pub(crate) context_info: Option<Bytes>,
    /// sp_set_session_context: key, value, read-only.
    pub(crate) session_context: Vec<(Box<str>, Value, bool)>,
    /// sp_xml_preparedocument.
    pub(crate) prepared_xml: crate::prepared_xml::PreparedDocuments,
    /// Trace flags of the session alone.
    pub(crate) trace_flags: std::collections::BTreeSet<i32>,
    /// Object id of the table under SET IDENTITY_INSERT ON.
    pub(crate) identity_insert: Option<i32>,
    /// @@NESTLEVEL.
    pub(crate) nesting: u32,
    pub(crate) cursors: crate::cursor::Cursors,
    /// Triggers running, one fired by another.
    pub(crate) triggers: Vec<crate::trigger::Firing>,
    /// The text of the EXEC of a system procedure whose doings DDL triggers may want to know of.
    pub(crate) command: Option<Arc<str>>,
    /// User-defined functions running, one in another.
    pub(crate) functions: u32,
    /// ATOMIC blocks running, one in another.
    pub(crate) atomic: u32,
    /// Global temporary tables to drop when it ends.
    pub(crate) global_tables: Vec<crate::global::GlobalTable>,
    /// The callee of an INSERT ... EXEC is running.
    pub(crate) gathering: bool,
    /// @@PROCID.
    pub(crate) procedure_id: i32,
    /// Errors of the CATCH blocks being run, innermost last.
    pub(crate) caught: Vec<SqlError>,
    /// What all sessions have compiled; one of its own where nobody has given it another.
    pub plans: Arc<PlanCache>,
    pub(crate) procedures: HashMap<(u16, i32), CachedProcedure>,
    /// `#procedures`, of this session alone.
    pub(crate) own_procedures: Vec<Arc<catalog::ProcedureDef>>,
    /// Those ever made, for ids and versions.
    pub(crate) own_procedures_made: u32,
    /// Compiled batches and parameterised texts.
    pub(crate) texts: TextCache,
    /// Frames not in use.
    pub(crate) frames: Vec<Vec<Value>>,
}

impl SessionState {
    /// A fresh session in `database`.
    pub fn new(spid: u16, database: Arc<OpenDatabase>) -> SessionState {
        let cancel = Arc::new(AtomicBool::new(false));
        SessionState {
            spid,
            database,
            options: SetOptions::default(),
            client: Arc::default(),
            identity: Identity::default(),
            activity: Arc::default(),
            transaction: Transaction::of_session(spid, cancel.clone()),
            cancel,
            memory_taken: 0,
            rowcount: 0,
            sequence_numbers: Vec::new(),
            error: 0,
            spilled: executor::SpillFigures::default(),
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
            cursors: Default::default(),
            triggers: Vec::new(),
            command: None,
            procedure_id: 0,
            caught: Vec::new(),
            plans: Arc::default(),
            procedures: HashMap::new(),
            own_procedures: Vec::new(),
            own_procedures_made: 0,
            texts: TextCache::default(),
            frames: Vec::new(),
        }
    }

    /// Tells the others how the session stands now ([`SessionState::activity`]).
    pub fn publish(&self) {
        self.activity.publish(self);
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
        self.options = SetOptions::default();
        self.procedures.clear();
        self.texts.clear();
        self.caught.clear();
        self.nesting = 0;
        self.functions = 0;
        self.atomic = 0;
        self.triggers.clear();
        self.cursors.clear();
        self.error = 0;
        self.rowcount = 0;
    }

    /// USE. A transaction belongs to one database: one that has done nothing yet goes along, unless a procedure or a text
    /// of EXECUTE would have to take it back again; any other refuses (by the answer).
    pub fn use_database(&mut self, database: Arc<OpenDatabase>) -> Result<(), SqlError> {
        if Arc::ptr_eq(&self.database, &database) {
            return Ok(());
        }
        if self.transaction.count > 0 && (self.nesting > 0 || !self.transaction.leave_database()) {
            return Err(SqlError::new(
                226,
                16,
                "USE statement not allowed within multi-statement transaction.",
            ));
        }
        self.transaction.forget_database();
        self.database = database;
        self.procedures.clear();
        self.texts.forget_plans();
        Ok(())
    }

    /// What names mean at the moment.
    #[inline]
    pub(crate) fn names_version(&self) -> NamesVersion {
        NamesVersion {
            database: self.database.id,
            identity: self.identity.stamp(),
            catalog: self.database.catalog.version(),
            uncommitted: self.transaction.definitions(),
        }
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
        let mut parts = crate::environment::name_parts(&synonym.text).into_iter().rev();
        let name = parts.next().unwrap_or_default();
        let mut part = || parts.next().filter(|p| !p.is_empty());
        let (schema, database) = (part(), part());
        if database.is_some_and(|d| !d.eq_ignore_ascii_case(&self.database.name)) {
            return None;
        }
        self.find_own(schema.as_deref(), &name).filter(|o| !is_synonym(o))
    }

    pub(crate) fn find_own(&self, schema: Option<&str>, name: &str) -> Option<catalog::ObjectRef> {
        let scope = self.transaction.scope();
        let catalog = &self.database.catalog;
        match (schema, self.default_schema()) {
            (None, Some(default)) => catalog
                .object(scope, Some(default), name)
                .or_else(|| catalog.object(scope, None, name)),
            _ => catalog.object(scope, schema, name),
        }
    }

    /// An empty frame, perhaps with memory from an earlier one.
    pub(crate) fn take_frame(&mut self) -> Vec<Value> {
        self.frames.pop().unwrap_or_default()
    }

    /// Gives a frame back.
    pub(crate) fn give_frame(&mut self, mut frame: Vec<Value>) {
        frame.clear();
        if self.frames.len() < 8 {
            self.frames.push(frame);
        }
    }
}
