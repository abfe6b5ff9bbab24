//! Who is connected and what runs: sessions, connections, requests.
//!
//! Columns and types: SQL Server's documentation of sys.dm_exec_sessions, sys.dm_exec_connections,
//! sys.dm_exec_requests, sys.dm_tran_session_transactions and sys.sysprocesses. A session sees all others.

use crate::context::{ConnectionFacts, Context, SessionFacts, moment};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;
use types::datetime::DateTime;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SESSIONS, &CONNECTIONS, &REQUESTS, &PROCESSES];

fn sessions(context: &Context<'_>, _: &[Value]) -> Result<Vec<SessionFacts>, SqlError> {
    let mut all = context.server.sessions();
    // The session that asks is in the middle of a request: the others know of its end only.
    let me = context.session;
    if let Some(mine) = all.iter_mut().find(|s| s.id == me.spid as i32) {
        mine.database_id = me.database.id as i32;
        mine.open_transactions = me.trancount() as i32;
        mine.isolation = match me.options.isolation {
            engine::Isolation::ReadUncommitted => 1,
            engine::Isolation::ReadCommitted => 2,
            engine::Isolation::RepeatableRead => 3,
            engine::Isolation::Serializable => 4,
            engine::Isolation::Snapshot => 5,
        };
    }
    Ok(all)
}

fn requests(context: &Context<'_>, args: &[Value]) -> Result<Vec<SessionFacts>, SqlError> {
    Ok(sessions(context, args)?.into_iter().filter(|s| s.running).collect())
}

type Connected = (SessionFacts, ConnectionFacts);

fn connections(context: &Context<'_>, _: &[Value]) -> Result<Vec<Connected>, SqlError> {
    let all = sessions(context, &[])?.into_iter();
    Ok(all.filter_map(|mut s| s.connection.take().map(|c| (s, c))).collect())
}

impl SessionFacts {
    fn status(&self) -> &'static str {
        if self.running { "running" } else { "sleeping" }
    }

    /// When the last request began; the login before the first.
    fn request_start(&self) -> DateTime {
        moment(self.request_start_unix_ns.max(self.login_unix_ns))
    }

    fn request_end(&self) -> Option<DateTime> {
        (self.request_end_unix_ns > 0).then(|| moment(self.request_end_unix_ns))
    }

    /// Milliseconds of the running request, or of the last one.
    fn elapsed_ms(&self) -> i32 {
        let end = match self.running {
            true => runtime::clock::unix_ns(),
            false => self.request_end_unix_ns,
        };
        let ns = end.saturating_sub(self.request_start_unix_ns.max(self.login_unix_ns));
        (ns / 1_000_000).min(i32::MAX as u64) as i32
    }
}

view! {
    SESSIONS = "sys.dm_exec_sessions" of SessionFacts as s, rows sessions;
    session_id smallint = s.id as i16;
    login_time datetime = moment(s.login_unix_ns);
    host_name nvarchar(128) null = s.host.as_deref();
    program_name nvarchar(128) null = s.program.as_deref();
    host_process_id int null = s.host_process;
    client_version int null = s.connection.as_ref().map(|_| 7);
    client_interface_name nvarchar(32) null = s.interface.as_deref();
    security_id varbinary(85) = Value::binary(&[1]);
    login_name nvarchar(128) = &s.login;
    nt_domain nvarchar(128) null = NULL;
    nt_user_name nvarchar(128) null = NULL;
    status nvarchar(30) = s.status();
    context_info varbinary(128) null = NULL;
    cpu_time int = 0;
    memory_usage int = 2;
    total_scheduled_time int = 0;
    total_elapsed_time int = s.elapsed_ms();
    endpoint_id int = if s.connection.is_some() { 4 } else { 2 };
    last_request_start_time datetime = s.request_start();
    last_request_end_time datetime null = s.request_end();
    reads bigint = 0i64;
    writes bigint = 0i64;
    logical_reads bigint = 0i64;
    is_user_process bit = true;
    text_size int = -1;
    language nvarchar(128) null = "us_english";
    date_format nvarchar(3) null = "mdy";
    date_first smallint = 7i16;
    quoted_identifier bit = true;
    arithabort bit = true;
    ansi_null_dflt_on bit = true;
    ansi_defaults bit = false;
    ansi_warnings bit = true;
    ansi_padding bit = true;
    ansi_nulls bit = true;
    concat_null_yields_null bit = true;
    transaction_isolation_level smallint = s.isolation;
    lock_timeout int = -1;
    deadlock_priority int = 0;
    row_count bigint = 0i64;
    prev_error int = 0;
    original_security_id varbinary(85) = Value::binary(&[1]);
    original_login_name nvarchar(128) = &s.login;
    last_successful_logon datetime null = NULL;
    last_unsuccessful_logon datetime null = NULL;
    unsuccessful_logons bigint null = NULL;
    group_id int = 2;
    database_id smallint = s.database_id as i16;
    authenticating_database_id int null = 1;
    open_transaction_count int = s.open_transactions;
    page_server_reads bigint = 0i64;
    contained_availability_group_id uniqueidentifier null = NULL;
}

view! {
    CONNECTIONS = "sys.dm_exec_connections" of Connected as c, rows connections;
    session_id int null = c.0.id;
    most_recent_session_id int null = c.0.id;
    connect_time datetime = moment(c.1.connect_unix_ns);
    net_transport nvarchar(40) = &c.1.transport;
    protocol_type nvarchar(40) null = "TSQL";
    protocol_version int null = c.1.protocol_version;
    endpoint_id int null = 4;
    encrypt_option nvarchar(40) = if c.1.encrypted { "TRUE" } else { "FALSE" };
    auth_scheme nvarchar(40) = "SQL";
    node_affinity smallint = 0i16;
    num_reads int null = NULL;
    num_writes int null = NULL;
    last_read datetime null = c.0.request_start();
    last_write datetime null = c.0.request_end();
    net_packet_size int null = c.1.packet_bytes;
    client_net_address varchar(48) null = c.1.client_address.as_deref();
    client_tcp_port int null = c.1.client_port;
    local_net_address varchar(48) null = c.1.local_address.as_deref();
    local_tcp_port int null = c.1.local_port;
    connection_id uniqueidentifier = id_of(&c.0);
    parent_connection_id uniqueidentifier null = NULL;
    most_recent_sql_handle varbinary(64) null = NULL;
}

/// The id of a session's connection: of its number and the time of its login.
fn id_of(session: &SessionFacts) -> [u8; 16] {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&session.id.to_le_bytes());
    id[8..].copy_from_slice(&session.login_unix_ns.to_be_bytes());
    id
}

view! {
    REQUESTS = "sys.dm_exec_requests" of SessionFacts as s, rows requests;
    session_id smallint = s.id as i16;
    request_id int = 0;
    start_time datetime = s.request_start();
    status nvarchar(30) = "running";
    command nvarchar(32) = "SELECT";
    sql_handle varbinary(64) null = NULL;
    statement_start_offset int null = NULL;
    statement_end_offset int null = NULL;
    plan_handle varbinary(64) null = NULL;
    database_id smallint = s.database_id as i16;
    user_id int = 1;
    connection_id uniqueidentifier null = s.connection.as_ref().map(|_| id_of(s));
    blocking_session_id smallint null = 0i16;
    wait_type nvarchar(60) null = NULL;
    wait_time int = 0;
    last_wait_type nvarchar(60) = "";
    wait_resource nvarchar(256) = "";
    open_transaction_count int = s.open_transactions;
    open_resultset_count int = 1;
    transaction_id bigint = 0i64;
    context_info varbinary(128) null = NULL;
    percent_complete real = 0f32;
    estimated_completion_time bigint = 0i64;
    cpu_time int = 0;
    total_elapsed_time int = s.elapsed_ms();
    scheduler_id int null = NULL;
    task_address varbinary(8) null = NULL;
    reads bigint = 0i64;
    writes bigint = 0i64;
    logical_reads bigint = 0i64;
    text_size int = -1;
    language nvarchar(128) null = "us_english";
    date_format nvarchar(3) null = "mdy";
    date_first smallint = 7i16;
    quoted_identifier bit = true;
    arithabort bit = true;
    ansi_null_dflt_on bit = true;
    ansi_defaults bit = false;
    ansi_warnings bit = true;
    ansi_padding bit = true;
    ansi_nulls bit = true;
    concat_null_yields_null bit = true;
    transaction_isolation_level smallint = s.isolation;
    lock_timeout int = -1;
    deadlock_priority int = 0;
    row_count bigint = 0i64;
    prev_error int = 0;
    nest_level int = 0;
    granted_query_memory int = 0;
    executing_managed_code bit = false;
    group_id int = 2;
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

view! {
    PROCESSES = "sys.sysprocesses" of SessionFacts as s, rows sessions;
    spid smallint = s.id as i16;
    kpid smallint = 0i16;
    blocked smallint = 0i16;
    waittype binary(2) = Value::binary(&[0, 0]);
    waittime bigint = 0i64;
    lastwaittype nchar(32) = padded("MISCELLANEOUS", 32);
    waitresource nchar(256) = padded("", 256);
    dbid smallint = s.database_id as i16;
    uid smallint null = 1i16;
    cpu int = 0;
    physical_io bigint = 0i64;
    memusage int = 2;
    login_time datetime = moment(s.login_unix_ns);
    last_batch datetime = s.request_start();
    ecid smallint = 0i16;
    open_tran smallint = s.open_transactions as i16;
    status nchar(30) = padded(s.status(), 30);
    sid binary(86) = Value::binary(&{ let mut sid = [0u8; 86]; sid[0] = 1; sid });
    hostname nchar(128) = padded(s.host.as_deref().unwrap_or(""), 128);
    program_name nchar(128) = padded(s.program.as_deref().unwrap_or(""), 128);
    hostprocess nchar(10) = padded(&s.host_process.map_or(String::new(), |p| p.to_string()), 10);
    cmd nchar(16) = padded(if s.running { "SELECT" } else { "AWAITING COMMAND" }, 16);
    nt_domain nchar(128) = padded("", 128);
    nt_username nchar(128) = padded("", 128);
    net_address nchar(12) = padded("", 12);
    net_library nchar(12) = padded(s.connection.as_ref().map_or("LPC", |_| "TCP/IP"), 12);
    loginame nchar(128) = padded(&s.login, 128);
    context_info binary(128) = Value::binary(&[0; 128]);
    sql_handle binary(20) = Value::binary(&[0; 20]);
    stmt_start int = 0;
    stmt_end int = 0;
    request_id int = 0;
}
