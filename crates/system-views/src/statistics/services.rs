//! The server as a service of its system, files as the server sees them, and how databases came to be recovered.
//!
//! Columns and types: SQL Server's documentation of sys.dm_server_services, sys.dm_os_file_exists and
//! sys.database_recovery_status.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SERVICES, &FILE_EXISTS, &RECOVERY_STATUS];

/// This process: its name as a service, its id and the moment of its start (UTC, ns since 1970).
pub struct Service {
    process: i32,
    start_unix_ns: u64,
    program: String,
}

fn services(context: &Context<'_>, _: &[Value]) -> Result<Vec<Service>, SqlError> {
    let program = std::env::current_exe().map(|path| path.to_string_lossy().into_owned());
    Ok(vec![Service {
        process: std::process::id() as i32,
        start_unix_ns: context.server.facts().start_unix_ns,
        program: program.unwrap_or_default(),
    }])
}

/// A moment in UTC, as a datetimeoffset.
fn offset_moment(unix_ns: u64) -> Value {
    let shown = crate::context::moment(unix_ns);
    let (from, to) = (types::SqlType::DateTime, types::SqlType::DateTimeOffset(7));
    types::convert::cast(&Value::DateTime(shown), from, to, 0).unwrap_or(Value::Null)
}

view! {
    SERVICES = "sys.dm_server_services" of Service as s, rows services;
    servicename nvarchar(256) = "SQL Server (MSSQLSERVER)";
    startup_type int null = 2;
    startup_type_desc nvarchar(256) = "Automatic";
    status int null = 4;
    status_desc nvarchar(256) = "Running";
    process_id int null = s.process;
    last_startup_time datetimeoffset null = offset_moment(s.start_unix_ns);
    service_account nvarchar(256) = std::env::var("USER").unwrap_or_default();
    filename nvarchar(256) = s.program.chars().take(256).collect::<String>();
    is_clustered nvarchar(1) = "N";
    cluster_nodename nvarchar(256) null = NULL;
    instant_file_initialization_enabled nvarchar(1) = "Y";
}

/// Whether a path is a file, a folder, and in a folder that is there. Who is not sysadmin is told of nothing.
fn file_exists(context: &Context<'_>, args: &[Value]) -> Result<Vec<[bool; 3]>, SqlError> {
    let path = args.first().and_then(Value::as_str);
    let Some(path) = path.filter(|_| context.session.identity.access().is_sysadmin()) else {
        return Ok(vec![[false; 3]]);
    };
    let found = context.server.path_facts(path);
    Ok(vec![[found.is_file, found.is_folder, found.has_parent]])
}

view! {
    FILE_EXISTS = "sys.dm_os_file_exists" of [bool; 3] as f, rows file_exists, params (nvarchar(256));
    file_exists tinyint = u8::from(f[0]);
    file_is_a_directory tinyint = u8::from(f[1]);
    parent_directory_exists tinyint = u8::from(f[2]);
}

/// A database that is open: its id, and what all its copies share.
pub struct Recovered(i32, [u8; 16]);

fn recovered(context: &Context<'_>, _: &[Value]) -> Result<Vec<Recovered>, SqlError> {
    let bytes = |text: &str| {
        let mut id = [0u8; 16];
        for (byte, pair) in id.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            *byte = u8::from_str_radix(pair, 16).unwrap_or(0);
        }
        id
    };
    let all = context.server.databases().into_iter();
    let open = all.filter_map(|database| Some((database.id, database.open?)));
    Ok(open.map(|(id, open)| Recovered(id, bytes(&open.engine.family()))).collect())
}

view! {
    RECOVERY_STATUS = "sys.database_recovery_status" of Recovered as r, rows recovered;
    database_id int = r.0;
    database_guid uniqueidentifier null = r.1;
    family_guid uniqueidentifier null = r.1;
    // Where the next log backup begins is not kept under such a number.
    last_log_backup_lsn numeric(25, 0) null = NULL;
    recovery_fork_guid uniqueidentifier null = NULL;
    first_recovery_fork_guid uniqueidentifier null = NULL;
    fork_point_lsn numeric(25, 0) null = NULL;
}
