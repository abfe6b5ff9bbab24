//! A session: a spid, its state, and batches run one after the other.
//!
//! Invariant: after an error of severity 20 or more, or a panic, nothing runs here any more; the transaction that was
//! open is rolled back and holds nobody up.

use crate::Instance;
use crate::governor::Member;
use crate::host::InstanceHost;
use crate::registry::{self, Registered};
use executor::{ColumnMeta, Done, EnvironmentChange, ResultSink, SqlError, SqlMessage};
use interpreter::{BulkRows, Rpc, TransactionRequest};
use session_state::{Client, Identity, OpenDatabase};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use system_views::SessionFacts;
use telemetry::{Counter, counters};
use types::{SqlType, StoredCells, Value};

/// From here on an error ends the session.
const SEVERITY_ENDS_SESSION: u8 = 20;

const KILLED: &str = "Cannot continue the execution because the session is in the kill state.";

/// A user's session. Lives on one task or thread at a time; dropping it rolls an open transaction back and frees its
/// spid.
pub struct Session {
    instance: Arc<Instance>,
    host: InstanceHost,
    state: interpreter::Session,
    registered: Arc<Registered>,
    /// Its workload group.
    group: Member,
    /// The database of the login, to come back to on a reset.
    home: String,
    ended: bool,
    /// A login has opened it: its end is a logout.
    logged_in: bool,
}

/// Transactions over several databases are decided in `master`.
struct Deciding(Arc<catalog::ServerCatalog>);

impl session_state::Decisions for Deciding {
    fn decide(&self, transaction: u128) -> Result<(), executor::SqlError> {
        self.0.decide(transaction).map_err(crate::errors::catalog_error)
    }

    fn decided_everywhere(&self, transaction: u128) {
        self.0.decided_everywhere(transaction);
    }
}

impl Session {
    /// A fresh session in `master`, as `sa`, within this process.
    pub fn new(instance: &Arc<Instance>) -> Session {
        Session::of(instance, instance.master(), Client::default(), Identity::default())
    }

    pub(crate) fn of(
        instance: &Arc<Instance>,
        database: Arc<OpenDatabase>,
        client: Client,
        identity: Identity,
    ) -> Session {
        let (spid, registered) = instance.enter_session();
        if client.packet_size > 0 {
            counters::add(Counter::Logins, 1);
        }
        registered.tell(|facts| registry::describe(facts, &client));
        let home = database.name.clone();
        let plans = instance.plans.clone();
        let mut state = interpreter::Session::new(spid, database, plans);
        state.client = Arc::new(client);
        state.options = instance.first_options(false);
        state.keep_options();
        registered.follow(state.cancel.clone(), state.activity.clone());
        state.publish();
        state.identity = identity;
        state.transaction.decisions = Some(Arc::new(Deciding(instance.server.clone())));
        let host = InstanceHost::new(instance.clone(), spid);
        let (_, group) = instance.governor.enter(None);
        state.bounds = group.bounds().clone();
        Session {
            instance: instance.clone(),
            host,
            state,
            registered,
            group,
            home,
            ended: false,
            logged_in: false,
        }
    }

    /// Goes into a database, for whoever runs something there.
    pub(crate) fn go_to(&mut self, database: Arc<OpenDatabase>) {
        self.state.use_database(database);
    }

    /// Tells the others who this is: login, host, program, connection (sys.dm_exec_sessions).
    pub fn tell(&self, change: impl FnOnce(&mut SessionFacts)) {
        self.registered.tell(change);
    }

    /// @@SPID: from 51, as for users in SQL Server.
    pub fn spid(&self) -> u16 {
        self.state.spid
    }

    /// Runs one batch to its end; everything it has to say goes to `sink`. `Err` when an error of severity 11 or more
    /// was among it, or it was stopped through [`Session::cancel_flag`]. Suspends.
    #[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
    pub fn execute(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), ()> {
        self.run(sink, |state, host, sink| interpreter::execute_batch(state, host, batch, sink))
    }

    /// Calls a procedure: its results, then its status, output parameters and end. As [`Session::execute`] otherwise.
    #[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
    pub fn call(&mut self, call: &Rpc, sink: &mut dyn ResultSink) -> Result<(), ()> {
        if call.resets_connection() && !self.ended && !self.is_killed() {
            self.go_back(false, sink);
            sink.return_status(0);
            sink.procedure_done(0);
            return Ok(());
        }
        self.run(sink, |state, host, sink| interpreter::execute_call(state, host, call, sink))
    }

    /// Begins, commits, rolls back or saves. As [`Session::execute`] otherwise.
    #[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
    pub fn transaction(
        &mut self,
        request: &TransactionRequest,
        sink: &mut dyn ResultSink,
    ) -> Result<(), ()> {
        self.run(sink, |state, host, sink| {
            interpreter::execute_transaction(state, host, request, sink)
        })
    }

    /// Answers an `INSERT BULK`: whether its rows may come. As [`Session::execute`] otherwise.
    #[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
    pub fn announce_bulk(&mut self, insert: &str, sink: &mut dyn ResultSink) -> Result<(), ()> {
        self.run(sink, |state, host, sink| interpreter::announce_bulk(state, host, insert, sink))
    }

    /// Loads the rows that an `INSERT BULK` announced, in one statement. As [`Session::execute`] otherwise.
    #[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
    pub fn load_bulk(
        &mut self,
        insert: &str,
        rows: &mut BulkRows<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<(), ()> {
        self.run(sink, |state, host, sink| interpreter::load_bulk(state, host, insert, rows, sink))
    }

    /// Makes the session as it was after its login, for the next user of a pooled connection: an open transaction is
    /// rolled back (unless it is to be kept), handles, cursors, temporary objects and options are gone, the login's database
    /// is current. What was compiled stays: the next user's texts are the same, as a rule.
    /// Suspends.
    pub fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) {
        self.go_back(keep_transaction, sink);
        sink.environment(EnvironmentChange::ResetDone);
    }

    /// What [`Session::reset`] does, and sp_reset_connection called by name.
    fn go_back(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) {
        counters::add(Counter::ConnectionResets, 1);
        // Who has had the connection until now is told to have gone.
        let _ = self.audit_login(true, true);
        let database = self.state.database.clone();
        let before = self.state.open_transaction();
        // What is let go of was taken by requests.
        let under = runtime::task::under(self.state.cancel.clone(), self.state.memory_taken);
        self.state.reset_connection(keep_transaction);
        self.state.memory_taken = under.end();
        interpreter::drop_global_tables(&mut self.state, &mut self.host);
        if let (Some(transaction), None) = (before, self.state.open_transaction()) {
            sink.environment(EnvironmentChange::Rollback { transaction });
        }
        // A kept transaction stays in its database.
        if self.state.trancount() == 0
            && database.name != self.home
            && let Some(home) = self.instance.database(&self.home)
        {
            self.state.use_database(home);
            executor::tell_database(
                sink,
                (&database.name, database.catalog.collation()),
                (&self.home, self.state.database.catalog.collation()),
            );
        }
        self.state.publish();
        if self.audit_login(false, true).is_err() {
            // It may not be used without a record of it.
            self.ended = true;
            self.state.reset();
        }
    }

    /// It was opened by a login, whose record an audit may have to have: 33239. The administrator's own connection comes in
    /// all the same. Suspends.
    pub(crate) fn log_in(&mut self, dedicated: bool) -> Result<(), SqlError> {
        self.logged_in = true;
        let audited = self.audit_login(false, false);
        if audited.is_err() && !dedicated {
            self.logged_in = false;
            return audited;
        }
        Ok(())
    }

    /// LOGIN SUCCEEDED, or LOGOUT; one look where no audit wants it.
    fn audit_login(&mut self, out: bool, pooled: bool) -> Result<(), SqlError> {
        let group = if out { audit::Group::Logout } else { audit::Group::SuccessfulLogin };
        if !self.logged_in || self.instance.auditor.wanted() & group.bit() == 0 {
            return Ok(());
        }
        self.state.follow_identity(&self.host);
        let event = crate::auditor::login_event(&self.instance.name(), &self.state, out, pooled);
        self.instance.auditor.keep(&event)
    }

    /// Fires LOGON triggers; 17892.
    pub(crate) fn logon(&mut self) -> Result<(), SqlError> {
        let mut answer = Ok(());
        let ran = self.run(&mut executor::Collected::default(), |state, host, _| {
            answer = interpreter::logon(state, host);
            Ok(())
        });
        if let Err(refused) = answer {
            for message in refused.said {
                crate::recovering::say(&message.to_string());
            }
            return Err(refused.error);
        }
        let failed = "A system assertion check has failed.";
        ran.map_err(|()| SqlError::new(3624, SEVERITY_ENDS_SESSION, failed))
    }

    /// Finds the workload group: by the classifier, where there is one, and `default` where it fails or names none.
    /// Suspends.
    pub(crate) fn classify(&mut self) {
        let def = self.instance.governor.def();
        if !def.enabled || def.classifier == 0 {
            return;
        }
        let mut name = None;
        let _ = self.run(&mut executor::Collected::default(), |state, host, _| {
            name = interpreter::classify(state, host, def.classifier);
            Ok(())
        });
        self.join(self.instance.governor.enter(name.as_deref()));
    }

    /// Into the server's own group, which nobody limits: the administrator's own connection always gets in.
    pub(crate) fn join_internal(&mut self) {
        self.join(self.instance.governor.enter_by_id(catalog::INTERNAL_GROUP));
    }

    fn join(&mut self, (id, group): (i32, Member)) {
        self.registered.set_group(id);
        self.state.bounds = group.bounds().clone();
        self.group = group;
    }

    fn run(
        &mut self,
        sink: &mut dyn ResultSink,
        body: impl FnOnce(
            &mut interpreter::Session,
            &mut InstanceHost,
            &mut Watch<'_>,
        ) -> Result<(), ()>,
    ) -> Result<(), ()> {
        self.end_if_killed();
        if self.ended {
            sink.message(&severe(596, 21, KILLED));
            return Err(());
        }
        let mut watch = Watch { sink, worst: 0 };
        self.registered.begin();
        let open = self.state.trancount() > 0;
        if self.group.renew() {
            self.state.bounds = self.group.bounds().clone();
        }
        let request = self.group.begin(&self.state.cancel, open);
        let (state, host) = (&mut self.state, &mut self.host);
        state.options.year_cutoff = self.instance.often_asked.year_cutoff.load(Relaxed);
        state.options.server_cost_limit = self.instance.often_asked.cost_limit.load(Relaxed);
        let run = catch_unwind(AssertUnwindSafe(|| body(state, host, &mut watch)));
        let worst = watch.worst;
        let panicked = run.is_err();
        let result = run.unwrap_or_else(|panic| {
            // What was torn by the panic is the session's own; shared structures are left whole by their guards.
            let text = format!("A system assertion check has failed: {}.", panic_text(&*panic));
            sink.message(&severe(3624, SEVERITY_ENDS_SESSION, &text));
            Err(())
        });
        if worst >= SEVERITY_ENDS_SESSION || panicked {
            self.ended = true;
            self.state.reset();
        }
        drop(request);
        self.registered.end();
        if self.end_if_killed() {
            sink.message(&severe(596, 21, KILLED));
            return Err(());
        }
        result
    }

    /// Whether it has just ended because another session asked for it (KILL).
    fn end_if_killed(&mut self) -> bool {
        let ends = !self.ended && self.registered.is_killed();
        if ends {
            self.ended = true;
            self.state.reset();
        }
        ends
    }

    /// Drops global temporary tables that no session has any more: the database has just been opened. Suspends.
    pub(crate) fn drop_stale_global_tables(&mut self, there: &Arc<OpenDatabase>) {
        interpreter::drop_stale_global_tables(&mut self.state, &mut self.host, there);
    }

    /// What it would be recovered to if its connection broke now.
    pub fn recoverable(&self) -> session_state::Recoverable {
        self.state.recoverable()
    }

    /// Goes on as the session that was. Its database may be gone or closed by now: 4060.
    pub(crate) fn recover(&mut self, was: &crate::Recovered) -> Result<(), SqlError> {
        if let Some(language) = was.language.as_deref().filter(|name| !name.is_empty()) {
            self.set_language(language);
        }
        let states = was.states.iter().map(|(id, bytes)| (*id, bytes.as_slice()));
        if !self.state.recover(states) {
            let text = "The session to be recovered has states that are not known.";
            return Err(SqlError::new(17832, 20, text));
        }
        if let Some(name) = was.database.as_deref().filter(|name| !name.is_empty()) {
            self.state.enter(&mut self.host, name).ok_or_else(|| {
                let text = format!(
                    "Cannot open database \"{name}\" requested by the login. The login failed."
                );
                SqlError::new(4060, 11, text)
            })?;
        }
        self.state.publish();
        Ok(())
    }

    /// @@LANGUAGE.
    pub fn language(&self) -> &'static str {
        self.state.language()
    }

    /// Its client is a driver that sets options against 'user options'.
    pub(crate) fn begin_as_driver(&mut self) {
        self.state.options = self.instance.first_options(true);
    }

    /// The options that it has now are those that a reset comes back to.
    pub(crate) fn keep_options(&mut self) {
        self.state.keep_options();
    }

    pub(crate) fn set_language(&mut self, name: &str) -> bool {
        self.state.set_language(name)
    }

    /// Has `act` done, by the session that says KILL, once this one is to end: whoever serves it wakes its request, or
    /// drops it when it is idle. It must not wait.
    pub fn on_kill(&self, act: impl Fn() + Send + Sync + 'static) {
        self.registered.on_kill(Box::new(act));
    }

    /// Whether KILL has asked for the end of this session: an idle one is to be dropped.
    pub fn is_killed(&self) -> bool {
        self.registered.is_killed()
    }

    /// Whether an error has ended it: every further batch is refused (596).
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Set it from elsewhere to stop the request that runs: it ends within 100 ms, says nothing of being stopped, and
    /// clears the flag. An open transaction stays open unless XACT_ABORT is ON.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.state.cancel.clone()
    }

    /// @@TRANCOUNT.
    pub fn trancount(&self) -> u32 {
        self.state.trancount()
    }

    /// What texts of the current database go by.
    pub fn collation(&self) -> types::Collation {
        self.state.database.catalog.collation()
    }

    /// The current database's name.
    pub fn database_name(&self) -> &str {
        &self.state.database.name
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.audit_login(true, false);
            if !self.ended {
                self.state.reset_connection(false);
                interpreter::drop_global_tables(&mut self.state, &mut self.host);
            }
            self.state.reset();
        }
        if self.state.client.packet_size > 0 {
            counters::add(Counter::Logouts, 1);
        }
        self.instance.leave_session(self.state.spid);
    }
}

/// Passes everything on and remembers the worst.
struct Watch<'a> {
    sink: &'a mut dyn ResultSink,
    worst: u8,
}

impl ResultSink for Watch<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.sink.columns(columns);
    }

    fn row(&mut self, row: &[Value]) {
        self.sink.row(row);
    }

    fn stored(&mut self, row: &dyn StoredCells) {
        self.sink.stored(row);
    }

    fn rest(&mut self) {
        self.sink.rest();
    }

    fn done(&mut self, done: Done) {
        self.sink.done(done);
    }

    fn message(&mut self, message: &SqlMessage) {
        self.worst = self.worst.max(message.severity);
        let kind = match message.severity {
            0..=10 => Counter::InfoErrors,
            11..SEVERITY_ENDS_SESSION => Counter::UserErrors,
            _ => Counter::ConnectionErrors,
        };
        counters::add(kind, 1);
        self.sink.message(message);
    }

    fn return_status(&mut self, status: i32) {
        self.sink.return_status(status);
    }

    fn output(&mut self, ordinal: u16, name: &str, ty: SqlType, value: &Value) {
        self.sink.output(ordinal, name, ty, value);
    }

    fn procedure_done(&mut self, status: i32) {
        self.sink.procedure_done(status);
    }

    fn environment(&mut self, change: EnvironmentChange<'_>) {
        self.sink.environment(change);
    }
}

fn severe(number: i32, severity: u8, text: &str) -> SqlMessage {
    SqlMessage { number, severity, state: 1, line: 1, procedure: None, text: text.to_owned() }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "no reason given".to_owned())
}
