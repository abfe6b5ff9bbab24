//! Who is connected and what runs: sessions, connections, requests.
//!
//! Columns and types: SQL Server's documentation of sys.dm_exec_sessions, sys.dm_exec_connections,
//! sys.dm_exec_requests and sys.sysprocesses. A session sees all others if it may (VIEW SERVER STATE), else itself.
//!
//! CPU time is that on a scheduler. `logical_reads` are pages looked up in buffer pools, `reads` pages read from files
//! and `writes` pages written to files by the session's own task. A statement's place in its text is not known:
//! offsets are those of the whole text.

use super::locks::resource_text;
use super::snapshot::{ADMIN_NODE, Snapshot, Task, node_of};
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use crate::facts::{ConnectionFacts, SessionFacts, endpoint};
use executor::SqlError;
use interpreter::{CachedPlan, PlanKind};
use scheduler::Usage;
use std::sync::Arc;
use types::Value;
use types::datetime::DateTime;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SESSIONS, &CONNECTIONS, &REQUESTS, &PROCESSES];

/// A session with what it does at the moment.
pub struct Session {
    facts: SessionFacts,
    task: Option<Task>,
    lock_wait: Option<LockWait>,
    /// transaction_id of the one that is active.
    transaction: Option<i64>,
    /// It has changed something; a statement that only reads is no open transaction.
    writes: bool,
    /// The user that it is in its database, where that is known.
    user_id: i32,
    /// The handle of the text of the procedure that runs.
    module: Option<Vec<u8>>,
}

struct LockWait {
    blocker: Option<i32>,
    resource: String,
}

fn sessions(context: &Context<'_>, _: &[Value]) -> Result<Vec<Session>, SqlError> {
    let snapshot = Snapshot::take(context);
    let one = |facts: &SessionFacts| Session {
        task: snapshot.task_of(facts.id).cloned(),
        lock_wait: snapshot.lock_wait_of(facts.id).map(|(database, wait)| LockWait {
            blocker: wait.blocking_session.map(|s| s as i32),
            resource: resource_text(context, database, wait.resource),
        }),
        transaction: snapshot.transaction_id_of(facts.id),
        writes: snapshot.has_written(facts.id),
        user_id: 1,
        module: None,
        facts: facts.clone(),
    };
    Ok(snapshot.sessions.iter().map(one).collect())
}

fn requests(context: &Context<'_>, args: &[Value]) -> Result<Vec<Session>, SqlError> {
    let mut all: Vec<Session> =
        sessions(context, args)?.into_iter().filter(Session::works).collect();
    let plans = context.server.plans();
    for session in &mut all {
        let running = session.facts.published.plan;
        let module =
            |plan: &&Arc<CachedPlan>| plan.number() == running && plan.kind() == PlanKind::Proc;
        session.module = plans.iter().find(module).map(|plan| plan.sql_handle().to_vec());
    }
    Ok(all)
}

type Connected = (Session, ConnectionFacts, i16);

fn connections(context: &Context<'_>, _: &[Value]) -> Result<Vec<Connected>, SqlError> {
    let schedulers = context.server.schedulers();
    let node = |s: &Session, c: &ConnectionFacts| {
        if s.facts.dedicated {
            return ADMIN_NODE as i16;
        }
        let on = c.traffic.as_ref().and_then(|t| schedulers.get(t.scheduler()));
        node_of(on.and_then(|s| s.cpu)) as i16
    };
    let all = sessions(context, &[])?.into_iter();
    Ok(all
        .filter_map(|mut s| s.facts.connection.take().map(|c| (s, c)))
        .map(|(s, c)| {
            let node = node(&s, &c);
            (s, c, node)
        })
        .collect())
}

/// Whole milliseconds, as far as an int goes.
fn ms(ns: u64) -> i32 {
    (ns / 1_000_000).min(i32::MAX as u64) as i32
}

fn count(n: u64) -> i64 {
    n.min(i64::MAX as u64) as i64
}

impl Session {
    fn is_user(&self) -> bool {
        self.facts.system.is_none()
    }

    fn works(&self) -> bool {
        self.facts.running || !self.is_user()
    }

    /// sys.dm_exec_sessions.
    fn status(&self) -> &'static str {
        if self.facts.running { "running" } else { "sleeping" }
    }

    /// sys.dm_exec_requests.
    fn request_status(&self) -> &'static str {
        match &self.task {
            _ if !self.is_user() => "background",
            Some(task) if task.state == "SUSPENDED" => "suspended",
            Some(task) if task.state == "RUNNABLE" => "runnable",
            _ => "running",
        }
    }

    /// The cached plan of the request that runs.
    fn plan_handle(&self) -> Option<Value> {
        let published = &self.facts.published;
        let runs = self.facts.running && published.plan != 0;
        let database = published.database_id as u16;
        runs.then(|| Value::binary(&interpreter::plan_handle(database, published.plan)))
    }

    /// What the request that runs has used.
    fn request(&self) -> Usage {
        match &self.task {
            Some(task) if self.facts.running => task.usage.since(&self.facts.used_before),
            Some(task) if !self.is_user() => task.usage,
            _ => Usage::default(),
        }
    }

    /// What all requests have used.
    fn total(&self) -> Usage {
        self.facts.used.plus(&self.request())
    }

    /// When the last request began; the login before the first.
    fn request_start(&self) -> DateTime {
        moment(self.facts.request_start_unix_ns.max(self.facts.login_unix_ns))
    }

    fn request_end(&self) -> Option<DateTime> {
        let end = self.facts.request_end_unix_ns;
        (end > 0).then(|| moment(end))
    }

    /// Nanoseconds since the request that runs began; 0 when none does.
    fn request_ns(&self) -> u64 {
        match self.facts.running {
            true => runtime::clock::unix_ns().saturating_sub(self.facts.request_start_unix_ns),
            false => 0,
        }
    }

    fn command(&self) -> String {
        match (self.facts.system, self.facts.published.command) {
            (Some(system), _) => system.to_owned(),
            (None, "") => first_word(&self.facts.input.text),
            (None, command) => command.to_owned(),
        }
    }

    fn switch(&self, bit: u32) -> bool {
        self.facts.published.switches & bit != 0
    }

    /// ANSI_DEFAULTS: all seven of them (with CURSOR_CLOSE_ON_COMMIT and IMPLICIT_TRANSACTIONS).
    fn ansi_defaults(&self) -> bool {
        [2, 4, 8, 16, 32, 256, 1024].into_iter().all(|bit| self.switch(bit))
    }

    fn wait(&self) -> Option<&'static str> {
        self.task.as_ref().and_then(|task| task.wait)
    }

    fn wait_ms(&self) -> i64 {
        self.task.as_ref().map_or(0, Task::waited_ms)
    }

    fn last_wait(&self) -> &'static str {
        self.task.as_ref().and_then(|task| task.last_wait).unwrap_or("MISCELLANEOUS")
    }

    fn wait_resource(&self) -> &str {
        self.lock_wait.as_ref().map_or("", |wait| &wait.resource)
    }

    fn blocker(&self) -> i16 {
        self.lock_wait.as_ref().and_then(|wait| wait.blocker).unwrap_or(0) as i16
    }

    fn open_transactions(&self) -> i32 {
        self.facts.published.trancount.max(i32::from(self.writes))
    }

    fn handle(&self) -> Option<Vec<u8>> {
        let text = &self.facts.input.text;
        (self.is_user() && !text.is_empty()).then(|| interpreter::sql_handle(text))
    }

    fn running_handle(&self) -> Value {
        match self.module.clone().or_else(|| self.handle()) {
            Some(handle) if self.facts.running => Value::binary(&handle),
            _ => Value::Null,
        }
    }

    fn context_info(&self) -> Value {
        self.facts.context_info.as_deref().map_or(Value::Null, Value::binary)
    }
}

/// The first word of a text, in capitals: what is known of a batch before its first statement runs.
fn first_word(text: &str) -> String {
    let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    word.map_or("OTHER".to_owned(), |word| word.chars().take(32).collect::<String>().to_uppercase())
}

view! {
    SESSIONS = "sys.dm_exec_sessions" of Session as s, rows sessions;
    session_id smallint = s.facts.id as i16;
    login_time datetime = moment(s.facts.login_unix_ns);
    host_name nvarchar(128) null = s.facts.host.as_deref();
    program_name nvarchar(128) null = s.facts.program.as_deref();
    host_process_id int null = s.facts.host_process;
    client_version int null = s.facts.connection.as_ref().map(|_| 7);
    client_interface_name nvarchar(32) null = s.facts.interface.as_deref();
    security_id varbinary(85) = Value::binary(&[1]);
    login_name nvarchar(128) = &s.facts.login;
    nt_domain nvarchar(128) null = NULL;
    nt_user_name nvarchar(128) null = NULL;
    status nvarchar(30) = s.status();
    context_info varbinary(128) null = s.context_info();
    cpu_time int = ms(s.total().cpu_ns);
    memory_usage int = 2;
    total_scheduled_time int = ms(s.total().cpu_ns + s.total().signal_ns);
    total_elapsed_time int = ms(s.facts.elapsed_ns + s.request_ns());
    endpoint_id int = s.facts.endpoint();
    last_request_start_time datetime = s.request_start();
    last_request_end_time datetime null = s.request_end();
    reads bigint = count(s.total().page_reads);
    writes bigint = count(s.total().page_writes);
    logical_reads bigint = count(s.total().page_lookups);
    is_user_process bit = s.is_user();
    text_size int = s.facts.published.textsize;
    language nvarchar(128) null = s.facts.published.language;
    date_format nvarchar(3) null = s.facts.published.date_format;
    date_first smallint = i16::from(s.facts.published.datefirst);
    quoted_identifier bit = s.switch(256);
    arithabort bit = s.switch(64);
    ansi_null_dflt_on bit = s.switch(1024);
    ansi_defaults bit = s.ansi_defaults();
    ansi_warnings bit = s.switch(8);
    ansi_padding bit = s.switch(16);
    ansi_nulls bit = s.switch(32);
    concat_null_yields_null bit = s.switch(4096);
    transaction_isolation_level smallint = s.facts.published.isolation;
    lock_timeout int = s.facts.published.lock_timeout_ms;
    deadlock_priority int = s.facts.published.deadlock_priority;
    row_count bigint = s.facts.published.rows;
    prev_error int = s.facts.published.error;
    original_security_id varbinary(85) = Value::binary(&[1]);
    original_login_name nvarchar(128) = &s.facts.login;
    last_successful_logon datetime null = NULL;
    last_unsuccessful_logon datetime null = NULL;
    unsuccessful_logons bigint null = NULL;
    group_id int = s.facts.group.max(1);
    database_id smallint = s.facts.published.database_id as i16;
    authenticating_database_id int null = s.is_user().then_some(1);
    open_transaction_count int = s.open_transactions();
    page_server_reads bigint = 0i64;
    contained_availability_group_id uniqueidentifier null = NULL;
}

fn traffic(c: &ConnectionFacts) -> Option<(u64, u64)> {
    c.traffic.as_ref().map(|t| t.counts())
}

fn last(c: &ConnectionFacts, write: bool) -> Option<DateTime> {
    let (read_ns, write_ns) = c.traffic.as_ref()?.last_unix_ns();
    let ns = if write { write_ns } else { read_ns };
    (ns > 0).then(|| moment(ns))
}

view! {
    CONNECTIONS = "sys.dm_exec_connections" of Connected as c, rows connections;
    session_id int null = c.0.facts.id;
    most_recent_session_id int null = c.0.facts.id;
    connect_time datetime = moment(c.1.connect_unix_ns);
    net_transport nvarchar(40) = &c.1.transport;
    protocol_type nvarchar(40) null = "TSQL";
    protocol_version int null = c.1.protocol_version;
    endpoint_id int null = if c.0.facts.dedicated { endpoint::ADMIN } else { endpoint::TCP };
    encrypt_option nvarchar(40) = if c.1.encrypted { "TRUE" } else { "FALSE" };
    auth_scheme nvarchar(40) = "SQL";
    node_affinity smallint = c.2;
    num_reads int null = traffic(&c.1).map(|(reads, _)| reads.min(i32::MAX as u64) as i32);
    num_writes int null = traffic(&c.1).map(|(_, writes)| writes.min(i32::MAX as u64) as i32);
    last_read datetime null = last(&c.1, false).or(Some(c.0.request_start()));
    last_write datetime null = last(&c.1, true).or(c.0.request_end());
    net_packet_size int null = c.1.packet_bytes;
    client_net_address varchar(48) null = c.1.client_address.as_deref();
    client_tcp_port int null = c.1.client_port;
    local_net_address varchar(48) null = c.1.local_address.as_deref();
    local_tcp_port int null = c.1.local_port;
    connection_id uniqueidentifier = id_of(&c.0.facts);
    parent_connection_id uniqueidentifier null = NULL;
    most_recent_sql_handle varbinary(64) null = c.0.handle().map_or(Value::Null, |h| Value::binary(&h));
}

/// The id of a session's connection: of its number and the time of its login.
fn id_of(session: &SessionFacts) -> [u8; 16] {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&session.id.to_le_bytes());
    id[8..].copy_from_slice(&session.login_unix_ns.to_be_bytes());
    id
}

view! {
    REQUESTS = "sys.dm_exec_requests" of Session as s, rows requests;
    session_id smallint = s.facts.id as i16;
    request_id int = 0;
    start_time datetime = s.request_start();
    status nvarchar(30) = s.request_status();
    command nvarchar(32) = s.command();
    sql_handle varbinary(64) null = s.running_handle();
    statement_start_offset int null = s.facts.running.then_some(0);
    statement_end_offset int null = s.facts.running.then_some(-1);
    plan_handle varbinary(64) null = s.plan_handle();
    database_id smallint = s.facts.published.database_id as i16;
    user_id int = s.user_id;
    connection_id uniqueidentifier null = s.facts.connection.as_ref().map(|_| id_of(&s.facts));
    blocking_session_id smallint null = s.blocker();
    wait_type nvarchar(60) null = s.wait();
    wait_time int = s.wait_ms().min(i32::MAX.into()) as i32;
    last_wait_type nvarchar(60) = s.last_wait();
    wait_resource nvarchar(256) = s.wait_resource();
    open_transaction_count int = s.open_transactions();
    open_resultset_count int = i32::from(s.facts.running);
    transaction_id bigint = s.transaction.unwrap_or(0);
    context_info varbinary(128) null = s.context_info();
    percent_complete real = 0f32;
    estimated_completion_time bigint = 0i64;
    cpu_time int = ms(s.request().cpu_ns);
    total_elapsed_time int = ms(s.request_ns());
    scheduler_id int null = s.task.as_ref().map(|t| t.scheduler_id);
    task_address varbinary(8) null = s.task.as_ref().map_or(Value::Null, Task::address);
    reads bigint = count(s.request().page_reads);
    writes bigint = count(s.request().page_writes);
    logical_reads bigint = count(s.request().page_lookups);
    text_size int = s.facts.published.textsize;
    language nvarchar(128) null = s.facts.published.language;
    date_format nvarchar(3) null = s.facts.published.date_format;
    date_first smallint = i16::from(s.facts.published.datefirst);
    quoted_identifier bit = s.switch(256);
    arithabort bit = s.switch(64);
    ansi_null_dflt_on bit = s.switch(1024);
    ansi_defaults bit = s.ansi_defaults();
    ansi_warnings bit = s.switch(8);
    ansi_padding bit = s.switch(16);
    ansi_nulls bit = s.switch(32);
    concat_null_yields_null bit = s.switch(4096);
    transaction_isolation_level smallint = s.facts.published.isolation;
    lock_timeout int = s.facts.published.lock_timeout_ms;
    deadlock_priority int = s.facts.published.deadlock_priority;
    row_count bigint = s.facts.published.rows;
    prev_error int = s.facts.published.error;
    nest_level int = s.facts.published.nest_level;
    granted_query_memory int = 0;
    executing_managed_code bit = false;
    group_id int = s.facts.group.max(1);
    query_hash binary(8) null = NULL;
    query_plan_hash binary(8) null = NULL;
    statement_sql_handle varbinary(64) null = NULL;
    statement_context_id bigint null = NULL;
    dop int = 1;
    parallel_worker_count int null = NULL;
    external_script_request_id uniqueidentifier null = NULL;
    is_resumable bit = false;
    page_resource binary(8) null = NULL;
    page_server_reads bigint = 0i64;
    dist_statement_id uniqueidentifier = [0u8; 16];
}

/// A text padded with blanks to the length of an nchar column.
fn padded(text: &str, length: usize) -> String {
    format!("{text:<length$.length$}")
}

/// A binary column of `N` bytes.
fn fixed<const N: usize>(bytes: &[u8]) -> Value {
    let mut all = [0u8; N];
    let n = bytes.len().min(N);
    all[..n].copy_from_slice(&bytes[..n]);
    Value::binary(&all)
}

impl Session {
    fn cmd(&self) -> String {
        if self.works() { self.command() } else { "AWAITING COMMAND".to_owned() }
    }

    fn process_status(&self) -> &'static str {
        if self.works() { self.request_status() } else { "sleeping" }
    }

    /// A number for a wait, where there is one: other than 0.
    fn waittype(&self) -> [u8; 2] {
        let all = telemetry::WaitType::ALL;
        let at = self.wait().and_then(|name| all.iter().position(|w| w.name() == name));
        at.map_or([0, 0], |at| (at as u16 + 1).to_be_bytes())
    }
}

view! {
    PROCESSES = "sys.sysprocesses" of Session as s, rows sessions;
    spid smallint = s.facts.id as i16;
    kpid smallint = s.task.as_ref().map_or(0, |t| t.scheduler_id as i16 + 1);
    blocked smallint = s.blocker();
    waittype binary(2) = Value::binary(&s.waittype());
    waittime bigint = s.wait_ms();
    lastwaittype nchar(32) = padded(s.last_wait(), 32);
    waitresource nchar(256) = padded(s.wait_resource(), 256);
    dbid smallint = s.facts.published.database_id as i16;
    uid smallint null = s.user_id as i16;
    cpu int = ms(s.total().cpu_ns);
    physical_io bigint = count(s.total().page_reads + s.total().page_writes);
    memusage int = 2;
    login_time datetime = moment(s.facts.login_unix_ns);
    last_batch datetime = s.request_start();
    ecid smallint = 0i16;
    open_tran smallint = s.open_transactions() as i16;
    status nchar(30) = padded(s.process_status(), 30);
    sid binary(86) = fixed::<86>(&[1]);
    hostname nchar(128) = padded(s.facts.host.as_deref().unwrap_or(""), 128);
    program_name nchar(128) = padded(s.facts.program.as_deref().unwrap_or(""), 128);
    hostprocess nchar(10) = padded(&s.facts.host_process.map_or(String::new(), |p| p.to_string()), 10);
    cmd nchar(16) = padded(&s.cmd(), 16);
    nt_domain nchar(128) = padded("", 128);
    nt_username nchar(128) = padded("", 128);
    net_address nchar(12) = padded("", 12);
    net_library nchar(12) = padded(s.facts.connection.as_ref().map_or("LPC", |_| "TCP/IP"), 12);
    loginame nchar(128) = padded(&s.facts.login, 128);
    context_info binary(128) = fixed::<128>(s.facts.context_info.as_deref().unwrap_or(&[]));
    sql_handle binary(20) = fixed::<20>(&s.handle().unwrap_or_default());
    stmt_start int = 0;
    stmt_end int = if s.facts.running { -1 } else { 0 };
    request_id int = 0;
}
