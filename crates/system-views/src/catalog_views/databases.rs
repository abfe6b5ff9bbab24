//! Databases, their files and filegroups.
//!
//! Columns and types: SQL Server 2022's documentation of each view. Sizes are in pages of 8 KiB, as there.

use crate::context::{COMPATIBILITY_LEVEL, Context, Database, built_in, moment};
use crate::declare::{Declared, NULL, view};
use catalog::{DatabaseState, FilegroupDef, StatisticsSwitch};
use engine::{DelayedDurability, RecoveryModel};
use executor::SqlError;
use std::path::PathBuf;
use types::Value;
use types::datetime::DateTime;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&DATABASES, &FILEGROUPS, &DATABASE_FILES, &MASTER_FILES];

/// The sid of a database's owner: of its dbo; of `sa` while it is not open.
fn owner(database: &Database) -> Value {
    let directory = database.open.as_ref().map(|open| open.catalog.directory(None));
    let dbo = directory.as_ref().and_then(|d| d.principals.get(&security::database_role::DBO));
    let sid = dbo.and_then(|dbo| dbo.sid.as_deref());
    Value::binary(sid.unwrap_or(&[1]))
}

fn databases(context: &Context<'_>, _: &[Value]) -> Result<Vec<Database>, SqlError> {
    Ok(context.server.databases())
}

/// msdb.
const LAST_SYSTEM_DATABASE: i32 = 4;

impl Database {
    /// UTC.
    pub fn created(&self) -> DateTime {
        self.definition.as_ref().map_or_else(built_in, |d| moment(d.created_unix_ns))
    }

    /// `state` of sys.databases and its name.
    pub fn state(&self) -> (u8, &'static str) {
        match self.definition.as_ref().map(|d| d.state) {
            Some(DatabaseState::Offline) => (6, "OFFLINE"),
            Some(DatabaseState::Creating) => (2, "RECOVERING"),
            Some(DatabaseState::Restoring) => (1, "RESTORING"),
            _ if self.suspect
                || self.open.as_ref().is_some_and(|open| open.engine.is_suspect()) =>
            {
                (4, "SUSPECT")
            }
            // One of the system's that nobody has gone to yet is none the worse for it.
            _ if self.open.is_none() && self.id > LAST_SYSTEM_DATABASE => (3, "RECOVERY_PENDING"),
            _ => (0, "ONLINE"),
        }
    }

    /// The database's collation: as it was last said where the database is not open.
    pub fn collation(&self) -> types::Collation {
        match &self.open {
            Some(open) => open.catalog.collation(),
            None => {
                self.option("collation").and_then(types::Collation::of_name).unwrap_or_default()
            }
        }
    }

    /// `recovery_model` and its name.
    pub fn recovery(&self) -> (u8, &'static str) {
        match self.open.as_ref().map(|open| open.engine.recovery_model()) {
            Some(RecoveryModel::Full) => (1, "FULL"),
            Some(RecoveryModel::BulkLogged) => (2, "BULK_LOGGED"),
            _ => (3, "SIMPLE"),
        }
    }

    /// TARGET_RECOVERY_TIME, in seconds.
    pub fn target_recovery_time(&self) -> i32 {
        let set = self.open.as_ref().map_or(0, |open| open.engine.target_recovery_time());
        if set == 0 { 60 } else { set as i32 }
    }

    /// `log_reuse_wait` and its name.
    pub fn log_reuse_wait(&self) -> (u8, &'static str) {
        self.open.as_ref().map_or((0, "NOTHING"), |open| open.engine.log_reuse_wait())
    }

    /// MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT.
    pub fn elevates(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.engine.elevates_to_snapshot())
    }

    /// `delayed_durability` and its name.
    pub fn durability(&self) -> (i32, &'static str) {
        match self.open.as_ref().map(|open| open.engine.delayed_durability()) {
            Some(DelayedDurability::Allowed) => (1, "ALLOWED"),
            Some(DelayedDurability::Forced) => (2, "FORCED"),
            _ => (0, "DISABLED"),
        }
    }

    /// An option of ALTER DATABASE SET, by its name in lower case.
    pub fn option(&self, name: &str) -> Option<&str> {
        let options = &self.definition.as_ref()?.options;
        options.iter().find(|(key, _)| **key == *name).map(|(_, value)| &**value)
    }

    /// AUTO_CREATE_STATISTICS and its like; as they are at first while the database is not open.
    pub fn statistics(&self, switch: StatisticsSwitch) -> bool {
        let configuration = self.open.as_ref().map(|open| open.catalog.configuration());
        configuration.unwrap_or_default().statistics(switch)
    }

    /// An option that is off unless switched on.
    pub fn is_on(&self, name: &str) -> bool {
        self.option(name) == Some("ON")
    }

    /// `compatibility_level`.
    pub fn compatibility_level(&self) -> u8 {
        let level = self.option("compatibility_level").and_then(|level| level.parse().ok());
        level.unwrap_or(COMPATIBILITY_LEVEL)
    }

    /// `user_access` and its name.
    pub fn user_access(&self) -> (u8, &'static str) {
        match self.option("user_access") {
            Some("SINGLE_USER") => (1, "SINGLE_USER"),
            Some("RESTRICTED_USER") => (2, "RESTRICTED_USER"),
            _ => (0, "MULTI_USER"),
        }
    }

    /// READ_ONLY.
    pub fn is_read_only(&self) -> bool {
        self.option("updateability") == Some("READ_ONLY")
    }

    /// `page_verify_option` and its name.
    pub fn page_verify(&self) -> (u8, &'static str) {
        match self.option("page_verify") {
            Some("NONE") => (0, "NONE"),
            Some("TORN_PAGE_DETECTION") => (1, "TORN_PAGE_DETECTION"),
            _ => (2, "CHECKSUM"),
        }
    }

    /// READ_COMMITTED_SNAPSHOT: on unless switched off.
    pub fn read_committed_snapshot(&self) -> bool {
        self.option("read_committed_snapshot") != Some("OFF")
    }

    /// ALLOW_SNAPSHOT_ISOLATION: on unless switched off.
    pub fn allow_snapshot(&self) -> bool {
        self.option("allow_snapshot_isolation") != Some("OFF")
    }

    /// Its filegroups; the first is PRIMARY.
    pub fn filegroups(&self) -> Vec<FilegroupDef> {
        match (&self.definition, &self.open) {
            (Some(definition), _) => definition.filegroups.clone(),
            (None, Some(open)) => open.catalog.filegroups(),
            (None, None) => Vec::new(),
        }
    }
}

view! {
    DATABASES = "sys.databases" of Database as d, rows databases;
    name sysname = &d.name;
    database_id int = d.id;
    source_database_id int null = NULL;
    owner_sid varbinary(85) null = owner(d);
    create_date datetime = d.created();
    compatibility_level tinyint = d.compatibility_level();
    collation_name sysname null = Some(d.collation().name());
    user_access tinyint null = d.user_access().0;
    user_access_desc nvarchar(60) null = d.user_access().1;
    is_read_only bit null = d.is_read_only();
    is_auto_close_on bit = d.is_on("auto_close");
    is_auto_shrink_on bit null = d.is_on("auto_shrink");
    state tinyint null = d.state().0;
    state_desc nvarchar(60) null = d.state().1;
    is_in_standby bit null = false;
    is_cleanly_shutdown bit null = false;
    is_supplemental_logging_enabled bit null = false;
    snapshot_isolation_state tinyint null = u8::from(d.allow_snapshot());
    snapshot_isolation_state_desc nvarchar(60) null = if d.allow_snapshot() { "ON" } else { "OFF" };
    is_read_committed_snapshot_on bit null = d.read_committed_snapshot();
    recovery_model tinyint null = d.recovery().0;
    recovery_model_desc nvarchar(60) null = d.recovery().1;
    page_verify_option tinyint null = d.page_verify().0;
    page_verify_option_desc nvarchar(60) null = d.page_verify().1;
    is_auto_create_stats_on bit null = d.statistics(StatisticsSwitch::AutoCreate);
    is_auto_create_stats_incremental_on bit null = false;
    is_auto_update_stats_on bit null = d.statistics(StatisticsSwitch::AutoUpdate);
    is_auto_update_stats_async_on bit null = d.statistics(StatisticsSwitch::AutoUpdateAsync);
    is_ansi_null_default_on bit null = d.is_on("ansi_null_default");
    is_ansi_nulls_on bit null = d.is_on("ansi_nulls");
    is_ansi_padding_on bit null = d.is_on("ansi_padding");
    is_ansi_warnings_on bit null = d.is_on("ansi_warnings");
    is_arithabort_on bit null = d.is_on("arithabort");
    is_concat_null_yields_null_on bit null = d.is_on("concat_null_yields_null");
    is_numeric_roundabort_on bit null = false;
    is_quoted_identifier_on bit null = d.is_on("quoted_identifier");
    is_recursive_triggers_on bit null = false;
    is_cursor_close_on_commit_on bit null = false;
    is_local_cursor_default bit null = false;
    is_fulltext_enabled bit null = d.id > 4;
    is_trustworthy_on bit null = d.is_on("trustworthy");
    is_db_chaining_on bit null = d.id == 1 || d.is_on("db_chaining");
    is_parameterization_forced bit null = d.option("parameterization") == Some("FORCED");
    is_master_key_encrypted_by_server bit = false;
    is_query_store_on bit null = false;
    is_published bit = false;
    is_subscribed bit = false;
    is_merge_published bit = false;
    is_distributor bit = false;
    is_sync_with_backup bit = false;
    service_broker_guid uniqueidentifier = [0u8; 16];
    is_broker_enabled bit = false;
    log_reuse_wait tinyint null = d.log_reuse_wait().0;
    log_reuse_wait_desc nvarchar(60) null = d.log_reuse_wait().1;
    is_date_correlation_on bit = d.is_on("date_correlation_optimization");
    is_cdc_enabled bit = false;
    is_encrypted bit null = false;
    is_honor_broker_priority_on bit null = false;
    replica_id uniqueidentifier null = NULL;
    group_database_id uniqueidentifier null = NULL;
    resource_pool_id int null = d.option("resource_pool_id").and_then(|id| id.parse::<i32>().ok());
    default_language_lcid smallint null = NULL;
    default_language_name sysname null = NULL;
    default_fulltext_language_lcid int null = NULL;
    default_fulltext_language_name sysname null = NULL;
    is_nested_triggers_on bit null = NULL;
    is_transform_noise_words_on bit null = NULL;
    two_digit_year_cutoff smallint null = NULL;
    containment tinyint null = 0u8;
    containment_desc nvarchar(60) null = "NONE";
    target_recovery_time_in_seconds int null = d.target_recovery_time();
    delayed_durability int null = d.durability().0;
    delayed_durability_desc nvarchar(60) null = d.durability().1;
    is_memory_optimized_elevate_to_snapshot_on bit null = d.elevates();
    is_federation_member bit null = false;
    is_remote_data_archive_enabled bit null = false;
    is_mixed_page_allocation_on bit null = false;
    is_temporal_history_retention_enabled bit null = false;
    catalog_collation_type int = 0;
    catalog_collation_type_desc nvarchar(60) null = "DATABASE_DEFAULT";
    physical_database_name nvarchar(128) null = &d.name;
    is_result_set_caching_on bit null = false;
    is_accelerated_database_recovery_on bit null = false;
    is_tempdb_spill_to_remote_store bit null = false;
    is_stale_page_detection_on bit null = false;
    is_memory_optimized_enabled bit null = false;
    is_data_retention_enabled bit null = false;
    is_ledger_on bit null = false;
    is_change_feed_enabled bit null = false;
}

/// A filegroup with its number.
pub struct Group {
    pub number: i32,
    pub def: FilegroupDef,
}

pub fn groups(context: &Context<'_>, _: &[Value]) -> Result<Vec<Group>, SqlError> {
    let all = context.database.catalog.filegroups();
    Ok(all.into_iter().zip(1..).map(|(def, number)| Group { number, def }).collect())
}

macro_rules! group_view {
    ($view:ident = $full:literal as $g:ident; $($more:tt)*) => {
        view! {
            $view = $full of Group as $g, rows groups;
            name sysname = &$g.def.name;
            data_space_id int = $g.number;
            type char(2) = if $g.def.memory.is_some() { "FX" } else { "FG" };
            type_desc nvarchar(60) null = match $g.def.memory {
                Some(_) => "MEMORY_OPTIMIZED_DATA_FILEGROUP",
                None => "ROWS_FILEGROUP",
            };
            // Among its kind: a database has one of memory.
            is_default bit null = $g.def.is_default || $g.def.memory.is_some();
            is_system bit null = false;
            $($more)*
        }
    };
}

group_view! {
    FILEGROUPS = "sys.filegroups" as g;
    filegroup_guid uniqueidentifier null = NULL;
    log_filegroup_id int null = NULL;
    is_read_only bit null = false;
    is_autogrow_all_files bit null = false;
}

/// A file of a database.
#[derive(Clone)]
pub struct File {
    pub database_id: i32,
    pub id: i32,
    /// 0 for the log.
    pub filegroup: i32,
    pub name: String,
    pub path: String,
    pub bytes: u64,
    pub max_bytes: Option<u64>,
    pub growth_bytes: u64,
    /// A container of memory-optimised data, which is a name and has no size.
    pub is_container: bool,
}

/// Bytes of a page.
pub const PAGE: u64 = 8192;

/// The most that a log grows by at a time.
const LOG_GROWTH: u64 = 64 << 20;

/// The first container's file_id, behind those of files.
const FIRST_CONTAINER: i32 = 65537;

impl File {
    /// Whether it is the log.
    pub fn is_log(&self) -> bool {
        self.filegroup == 0
    }

    /// As sys.database_files numbers them.
    fn kind(&self) -> (u8, &'static str) {
        match self {
            _ if self.is_container => (2, "FILESTREAM"),
            _ if self.is_log() => (1, "LOG"),
            _ => (0, "ROWS"),
        }
    }

    /// In pages.
    pub fn size(&self) -> i32 {
        (self.bytes / PAGE) as i32
    }

    /// In pages; -1 for no limit.
    pub fn max_size(&self) -> i32 {
        match self.max_bytes {
            Some(bytes) => (bytes / PAGE) as i32,
            // A log's limit is SQL Server's 2 TB.
            None if self.is_log() => 268_435_456,
            None => -1,
        }
    }
}

/// The files of a database that is online.
pub fn files_of(database: &Database) -> Vec<File> {
    let Some(open) = &database.open else { return Vec::new() };
    let on_disk = open.engine.files();
    let mut files = Vec::new();
    for (group, number) in database.filegroups().iter().zip(1..) {
        for file in &group.files {
            let real = on_disk.data.iter().find(|d| d.file_id == file.file_id);
            files.push(File {
                database_id: database.id,
                id: file.file_id as i32,
                filegroup: number,
                name: file.name.to_string(),
                path: real.map_or(file.path.to_string(), |d| d.path.to_string_lossy().into()),
                bytes: real.map_or(file.size_bytes, |d| d.initial_bytes.max(file.size_bytes)),
                max_bytes: file.max_bytes,
                growth_bytes: real.map_or(0, |d| d.growth_bytes),
                is_container: false,
            });
        }
        let containers = group.memory.iter().flatten();
        for (name, path) in containers {
            let folder = on_disk.data.first().and_then(|first| first.path.parent());
            let path = folder.map_or_else(|| PathBuf::from(&**path), |folder| folder.join(&**path));
            files.push(File {
                database_id: database.id,
                id: FIRST_CONTAINER + files.iter().filter(|f| f.is_container).count() as i32,
                filegroup: number,
                name: name.to_string(),
                path: path.to_string_lossy().into(),
                bytes: 0,
                max_bytes: None,
                growth_bytes: 0,
                is_container: true,
            });
        }
    }
    let log = database.definition.as_ref().map(|d| d.log.clone());
    let named = format!("{}log", if database.id == 1 { "mast" } else { "" });
    let log_bytes = open.engine.stats().log_size_bytes;
    let log_limit = log.as_ref().and_then(|l| l.max_bytes);
    let log_file = File {
        database_id: database.id,
        id: 2,
        filegroup: 0,
        name: log.as_ref().map_or(named, |l| l.name.to_string()),
        path: on_disk.log.to_string_lossy().into(),
        bytes: log_bytes,
        max_bytes: log_limit,
        growth_bytes: if log_limit.is_some_and(|max| max <= log_bytes) { 0 } else { LOG_GROWTH },
        is_container: false,
    };
    files.insert(1.min(files.len()), log_file);
    files
}

fn own_files(context: &Context<'_>, _: &[Value]) -> Result<Vec<File>, SqlError> {
    Ok(files_of(&context.database_entry()))
}

pub fn all_files(context: &Context<'_>, _: &[Value]) -> Result<Vec<File>, SqlError> {
    Ok(context.server.databases().iter().flat_map(files_of).collect())
}

macro_rules! file_view {
    ($view:ident = $full:literal as $f:ident, rows $rows:expr;
     first { $($first:tt)* } last { $($last:tt)* }) => {
        view! {
            $view = $full of File as $f, rows $rows;
            $($first)*
            file_id int = $f.id;
            file_guid uniqueidentifier null = NULL;
            type tinyint = $f.kind().0;
            type_desc nvarchar(60) null = $f.kind().1;
            data_space_id int = $f.filegroup;
            name sysname = &$f.name;
            physical_name nvarchar(260) = &$f.path;
            state tinyint null = 0u8;
            state_desc nvarchar(60) null = "ONLINE";
            size int = $f.size();
            max_size int = $f.max_size();
            growth int = ($f.growth_bytes / PAGE) as i32;
            is_media_read_only bit = false;
            is_read_only bit = false;
            is_sparse bit = false;
            is_percent_growth bit = false;
            is_name_reserved bit = false;
            is_persistent_log_buffer bit = false;
            create_lsn numeric(25, 0) null = NULL;
            drop_lsn numeric(25, 0) null = NULL;
            read_only_lsn numeric(25, 0) null = NULL;
            read_write_lsn numeric(25, 0) null = NULL;
            differential_base_lsn numeric(25, 0) null = NULL;
            differential_base_guid uniqueidentifier null = NULL;
            differential_base_time datetime null = NULL;
            redo_start_lsn numeric(25, 0) null = NULL;
            redo_start_fork_guid uniqueidentifier null = NULL;
            redo_target_lsn numeric(25, 0) null = NULL;
            redo_target_fork_guid uniqueidentifier null = NULL;
            backup_lsn numeric(25, 0) null = NULL;
            $($last)*
        }
    };
}

file_view! { DATABASE_FILES = "sys.database_files" as f, rows own_files; first {} last {} }

file_view! {
    MASTER_FILES = "sys.master_files" as f, rows all_files;
    first { database_id int = f.database_id; }
    last { credential_id int null = NULL; }
}
