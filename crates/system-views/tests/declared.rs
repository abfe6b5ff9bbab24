//! Declared columns against SQL Server's documentation, written down here as data: `name type, name type ...` in order.
//!
//! Source: the pages of each view in MicrosoftDocs/sql-docs (docs/relational-databases/system-dynamic-management-views,
//! system-catalog-views, system-compatibility-views, system-information-schema-views).

use system_views::registry;
use types::{Len, SqlType};

/// `nvarchar(60)` and the like; `sysname` is nvarchar(128).
fn parse(text: &str) -> SqlType {
    let (name, args) = match text.split_once('(') {
        None => (text, Vec::new()),
        Some((name, rest)) => {
            let args = rest.trim_end_matches(')').split(';').map(|arg| match arg {
                "max" => Len::Max,
                n => Len::N(n.parse().unwrap_or_else(|_| panic!("a length: {text}"))),
            });
            (name, args.collect())
        }
    };
    SqlType::from_name(name, &args).unwrap_or_else(|| panic!("a type: {text}"))
}

/// All columns, in order, when `whole`; else those, wherever they stand.
fn check(view: &str, whole: bool, facts: &str) {
    let (schema, name) = view.split_once('.').expect("a schema");
    let declared = registry::find(Some(schema), name).unwrap_or_else(|| panic!("no {view}"));
    let columns = declared.columns();
    let facts: Vec<(&str, SqlType)> = facts
        .split(',')
        .map(|fact| fact.trim().rsplit_once(' ').expect("a name and a type"))
        .map(|(name, ty)| (name, parse(ty)))
        .collect();
    for (i, (name, ty)) in facts.iter().enumerate() {
        let found = columns.iter().position(|c| c.name == *name);
        let found = found.unwrap_or_else(|| panic!("{view} has no column {name}"));
        assert_eq!(columns[found].ty, *ty, "{view}.{name}");
        if whole {
            assert_eq!(found, i, "{view}.{name} stands elsewhere");
        }
    }
    if whole {
        assert_eq!(columns.len(), facts.len(), "{view} has more columns");
    }
}

#[test]
fn statistics_views() {
    check(
        "sys.dm_os_spinlock_stats",
        true,
        "name nvarchar(256), collisions bigint, spins bigint, spins_per_collision real, sleep_time bigint, backoffs int",
    );
    check(
        "sys.dm_os_wait_stats",
        true,
        "wait_type nvarchar(60), waiting_tasks_count bigint, wait_time_ms bigint, max_wait_time_ms bigint, \
         signal_wait_time_ms bigint",
    );
    check(
        "sys.dm_os_latch_stats",
        true,
        "latch_class nvarchar(60), waiting_requests_count bigint, wait_time_ms bigint, max_wait_time_ms bigint",
    );
    check(
        "sys.dm_os_schedulers",
        true,
        "scheduler_address varbinary(8), parent_node_id int, scheduler_id int, cpu_id smallint, status nvarchar(60), \
         is_online bit, is_idle bit, preemptive_switches_count int, context_switches_count int, \
         idle_switches_count int, current_tasks_count int, runnable_tasks_count int, current_workers_count int, \
         active_workers_count int, work_queue_count bigint, pending_disk_io_count int, load_factor int, \
         yield_count int, last_timer_activity bigint, failed_to_create_worker bit, \
         active_worker_address varbinary(8), memory_object_address varbinary(8), \
         task_memory_object_address varbinary(8), quantum_length_us bigint, total_cpu_usage_ms bigint, \
         total_cpu_idle_capped_ms bigint, total_scheduler_delay_ms bigint, ideal_workers_limit int",
    );
    check(
        "sys.dm_os_performance_counters",
        true,
        "object_name nchar(128), counter_name nchar(128), instance_name nchar(128), cntr_value bigint, cntr_type int",
    );
    check(
        "sys.dm_os_sys_info",
        false,
        "cpu_ticks bigint, ms_ticks bigint, cpu_count int, hyperthread_ratio int, physical_memory_kb bigint, \
         virtual_memory_kb bigint, committed_kb int, committed_target_kb int, visible_target_kb int, \
         stack_size_in_bytes int, os_quantum bigint, max_workers_count int, scheduler_count int, \
         scheduler_total_count int, sqlserver_start_time_ms_ticks bigint, sqlserver_start_time datetime, \
         affinity_type int, affinity_type_desc varchar(60), process_kernel_time_ms bigint, \
         process_user_time_ms bigint, softnuma_configuration int, softnuma_configuration_desc nvarchar(60), \
         sql_memory_model int, sql_memory_model_desc nvarchar(120), socket_count int, cores_per_socket int, \
         numa_node_count int",
    );
    check(
        "sys.dm_db_log_info",
        true,
        "database_id int, file_id smallint, vlf_begin_offset bigint, vlf_size_mb float, \
         vlf_sequence_number bigint, vlf_active bit, vlf_status int, vlf_parity tinyint, \
         vlf_first_lsn nvarchar(48), vlf_create_lsn nvarchar(48)",
    );
    check(
        "sys.dm_db_log_space_usage",
        true,
        "database_id smallint, total_log_size_in_bytes bigint, used_log_space_in_bytes bigint, \
         used_log_space_in_percent real, log_space_in_bytes_since_last_backup bigint",
    );
    check(
        "sys.sysprocesses",
        true,
        "spid smallint, kpid smallint, blocked smallint, waittype binary(2), waittime bigint, \
         lastwaittype nchar(32), waitresource nchar(256), dbid smallint, uid smallint, cpu int, \
         physical_io bigint, memusage int, login_time datetime, last_batch datetime, ecid smallint, \
         open_tran smallint, status nchar(30), sid binary(86), hostname nchar(128), program_name nchar(128), \
         hostprocess nchar(10), cmd nchar(16), nt_domain nchar(128), nt_username nchar(128), \
         net_address nchar(12), net_library nchar(12), loginame nchar(128), context_info binary(128), \
         sql_handle binary(20), stmt_start int, stmt_end int, request_id int",
    );
}

#[test]
fn catalog_views() {
    check(
        "sys.objects",
        true,
        "name sysname, object_id int, principal_id int, schema_id int, parent_object_id int, type char(2), \
         type_desc nvarchar(60), create_date datetime, modify_date datetime, is_ms_shipped bit, \
         is_published bit, is_schema_published bit",
    );
    check(
        "sys.columns",
        false,
        "object_id int, name sysname, column_id int, system_type_id tinyint, user_type_id int, \
         max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_nullable bit, \
         is_ansi_padded bit, is_rowguidcol bit, is_identity bit, is_computed bit, default_object_id int",
    );
    check(
        "sys.index_columns",
        false,
        "object_id int, index_id int, index_column_id int, column_id int, key_ordinal tinyint, \
         partition_ordinal tinyint, is_descending_key bit, is_included_column bit",
    );
    check(
        "sys.foreign_key_columns",
        true,
        "constraint_object_id int, constraint_column_id int, parent_object_id int, parent_column_id int, \
         referenced_object_id int, referenced_column_id int",
    );
    check(
        "INFORMATION_SCHEMA.TABLES",
        true,
        "TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname, TABLE_TYPE varchar(10)",
    );
    check(
        "INFORMATION_SCHEMA.COLUMNS",
        false,
        "TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128), \
         COLUMN_NAME nvarchar(128), ORDINAL_POSITION int, COLUMN_DEFAULT nvarchar(4000), \
         IS_NULLABLE varchar(3), DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH int, \
         CHARACTER_OCTET_LENGTH int, NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, \
         NUMERIC_SCALE int, DATETIME_PRECISION smallint",
    );
}
