//! What msdb keeps: the history of backups, and the jobs of SQL Server Agent, which nobody runs here.
//!
//! Its tables and procedures are T-SQL, `msdb.sql`, and made with it: when somebody goes there first, calls one of its
//! procedures, or makes a backup. Until then its tables are views without rows (crates/system-views).
//! Promise: a backup that was made is made, whether its history could be written or not (3009).

use crate::Instance;
use engine::BackupReport;
use executor::{Collected, SqlMessage};
use session_state::OpenDatabase;
use std::sync::Arc;
use types::datetime::datetime_from_unix_ns;
use types::{SqlType, Value, format};

const SCRIPT: &str = include_str!("msdb.sql");

/// Whether its tables are there; an older build's msdb has none.
pub(crate) fn is_furnished(msdb: &OpenDatabase) -> bool {
    msdb.catalog.object(None, Some("dbo"), "backupset").is_some()
}

/// Makes its tables and procedures. What it said if that failed. Suspends.
pub(crate) fn furnish(
    instance: &Arc<Instance>,
    msdb: &Arc<OpenDatabase>,
) -> Result<(), Vec<SqlMessage>> {
    run(instance, msdb, SCRIPT.split("\nGO\n").map(str::to_owned).collect())
}

/// Notes a backup in its history. What was said if that failed. Suspends.
pub(crate) fn note_backup(
    instance: &Arc<Instance>,
    report: &BackupReport,
    device: &str,
) -> Result<(), Vec<SqlMessage>> {
    let Some(msdb) = instance.enter_database("msdb") else { return Err(Vec::new()) };
    let (h, end) = (&report.header, &report.end);
    let text = |value: &str| format!("N'{}'", value.replace('\'', "''"));
    let opt = |value: &Option<String>| value.as_deref().map_or("NULL".to_owned(), text);
    let moment = |us: u64| {
        let value = Value::DateTime(datetime_from_unix_ns(us * 1000));
        format!("'{}'", format::shell(&value, SqlType::DateTime))
    };
    let lsn = |n: u64| if n == 0 { "NULL".to_owned() } else { n.to_string() };
    let guid = |hex: &str| format!("CONVERT(uniqueidentifier, CONVERT(binary(16), '{hex}', 2))");
    let is = |flag: bool| i32::from(flag);
    let is_log = h.kind == backup::SetKind::Log;
    let kind = if is_log { 'L' } else { 'D' };
    let disk = if device.to_uppercase().starts_with("NUL") { "NUL" } else { device };
    let batch = format!(
        "DECLARE @m int \
         INSERT dbo.backupmediaset (media_uuid, media_family_count, name, software_name, mirror_count, is_password_protected, \
         is_compressed, is_encrypted) VALUES (NEWID(), 1, NULL, 'Microsoft SQL Server', 1, 0, {compressed}, 0) \
         SET @m = SCOPE_IDENTITY() \
         INSERT dbo.backupmediafamily VALUES (@m, 1, NEWID(), 1, NULL, {device}, 2, 65536, 0) \
         INSERT dbo.backupset (backup_set_uuid, media_set_id, first_family_number, first_media_number, last_family_number, \
         last_media_number, position, name, description, user_name, software_major_version, first_lsn, last_lsn, checkpoint_lsn, \
         database_backup_lsn, database_creation_date, backup_start_date, backup_finish_date, type, backup_size, database_name, \
         server_name, machine_name, collation_name, is_password_protected, recovery_model, has_bulk_logged_data, is_snapshot, \
         is_readonly, is_single_user, has_backup_checksums, is_damaged, begins_log_chain, has_incomplete_metadata, \
         is_force_offline, is_copy_only, first_recovery_fork_guid, last_recovery_fork_guid, family_guid, compressed_backup_size, \
         compatibility_level) \
         SELECT {set}, @m, 1, 1, 1, 1, {position}, {name}, {description}, {user}, 16, {first}, {last}, {checkpoint}, {base}, \
         {created}, {started}, {finished}, '{kind}', {bytes}, {database}, {server}, {server}, \
         CONVERT(nvarchar(128), DATABASEPROPERTYEX({database}, 'Collation')), 0, {model}, 0, 0, 0, 0, 1, 0, 0, 0, 0, {copy}, \
         {fork}, {fork}, {family}, {bytes}, (SELECT compatibility_level FROM sys.databases WHERE name = {database})",
        compressed = is(h.compressed),
        device = text(disk),
        set = guid(&h.set_id),
        position = report.position,
        name = opt(&h.name),
        description = opt(&h.description),
        user = text(&h.user),
        first = lsn(h.first_lsn),
        last = lsn(end.last_lsn),
        checkpoint = lsn(h.checkpoint_lsn),
        base = lsn(h.database_backup_lsn),
        created = moment(h.created_unix_ns / 1000),
        started = moment(h.started_us),
        finished = moment(end.finished_us),
        bytes = end.raw_bytes,
        database = text(&h.database),
        server = text(&h.server),
        model = text(&h.recovery_model),
        copy = is(h.copy_only),
        fork = guid(&h.fork),
        family = guid(&h.family),
    );
    run(instance, &msdb, vec![batch])
}

/// Runs batches there, as the system, in a session of their own: whoever needs them may have a transaction open, or rights
/// of his own.
fn run(
    instance: &Arc<Instance>,
    msdb: &Arc<OpenDatabase>,
    batches: Vec<String>,
) -> Result<(), Vec<SqlMessage>> {
    let msdb = msdb.clone();
    let ran = instance.spawn_session("msdb", move |session| {
        session.go_to(msdb);
        let mut said = Collected::default();
        let done = batches.iter().all(|batch| session.execute(batch, &mut said).is_ok());
        if done { Ok(()) } else { Err(said.messages) }
    });
    match ran.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
