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
        "sys.dm_os_buffer_descriptors",
        true,
        "database_id int, file_id int, page_id int, page_level int, allocation_unit_id bigint, \
         page_type nvarchar(60), row_count int, free_space_in_bytes int, is_modified bit, numa_node int, \
         read_microsec bigint, is_in_bpool_extension bit",
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

/// Sources: reference pages of sys.dm_os_tasks, dm_os_workers, dm_os_threads, dm_os_nodes, dm_os_memory_nodes,
/// dm_os_waiting_tasks, dm_os_memory_clerks, dm_io_*, dm_tran_*, dm_db_*, dm_exec_*, dm_tcp_listener_states.
#[test]
fn views_of_execution_io_and_transactions() {
    check(
        "sys.dm_io_virtual_file_stats",
        true,
        "database_id smallint, file_id smallint, sample_ms bigint, num_of_reads bigint, num_of_bytes_read bigint, \
         io_stall_read_ms bigint, io_stall_queued_read_ms bigint, num_of_writes bigint, num_of_bytes_written bigint, \
         io_stall_write_ms bigint, io_stall_queued_write_ms bigint, io_stall bigint, size_on_disk_bytes bigint, \
         file_handle varbinary(8)",
    );
    check(
        "sys.dm_io_pending_io_requests",
        true,
        "io_completion_request_address varbinary(8), io_type nvarchar(60), io_pending_ms_ticks bigint, io_pending int, \
         io_completion_routine_address varbinary(8), io_user_data_address varbinary(8), \
         scheduler_address varbinary(8), io_handle varbinary(8), io_offset bigint, io_handle_path nvarchar(256)",
    );
    check(
        "sys.dm_os_tasks",
        true,
        "task_address varbinary(8), task_state nvarchar(60), context_switches_count int, pending_io_count int, \
         pending_io_byte_count bigint, pending_io_byte_average int, scheduler_id int, session_id smallint, \
         exec_context_id int, request_id int, worker_address varbinary(8), host_address varbinary(8), \
         parent_task_address varbinary(8)",
    );
    check(
        "sys.dm_os_workers",
        true,
        "worker_address varbinary(8), status int, is_preemptive bit, is_fiber bit, is_sick bit, \
         is_in_cc_exception bit, is_fatal_exception bit, is_inside_catch bit, \
         is_in_polling_io_completion_routine bit, context_switch_count int, pending_io_count int, \
         pending_io_byte_count bigint, pending_io_byte_average int, wait_started_ms_ticks bigint, \
         wait_resumed_ms_ticks bigint, task_bound_ms_ticks bigint, worker_created_ms_ticks bigint, exception_num int, \
         exception_severity int, exception_address varbinary(8), affinity bigint, state nvarchar(60), \
         start_quantum bigint, end_quantum bigint, last_wait_type nvarchar(60), return_code int, quantum_used bigint, \
         max_quantum bigint, boost_count int, tasks_processed_count int, fiber_address varbinary(8), \
         task_address varbinary(8), memory_object_address varbinary(8), thread_address varbinary(8), \
         signal_worker_address varbinary(8), scheduler_address varbinary(8), processor_group smallint",
    );
    check(
        "sys.dm_os_threads",
        true,
        "thread_address varbinary(8), started_by_sqlservr bit, os_thread_id int, status int, \
         instruction_address varbinary(8), creation_time datetime, kernel_time bigint, usermode_time bigint, \
         stack_base_address varbinary(8), stack_end_address varbinary(8), stack_bytes_committed int, \
         stack_bytes_used int, affinity bigint, Priority int, Locale int, Token varbinary(8), is_impersonating int, \
         is_waiting_on_loader_lock int, fiber_data varbinary(8), thread_handle varbinary(8), \
         event_handle varbinary(8), scheduler_address varbinary(8), worker_address varbinary(8), \
         fiber_context_address varbinary(8), self_address varbinary(8), processor_group smallint",
    );
    check(
        "sys.dm_os_nodes",
        true,
        "node_id smallint, node_state_desc nvarchar(256), memory_object_address varbinary(8), \
         memory_clerk_address varbinary(8), io_completion_worker_address varbinary(8), memory_node_id smallint, \
         cpu_affinity_mask bigint, online_scheduler_count smallint, idle_scheduler_count smallint, \
         active_worker_count int, avg_load_balance int, timer_task_affinity_mask bigint, \
         permanent_task_affinity_mask bigint, resource_monitor_state bit, online_scheduler_mask bigint, \
         processor_group smallint, cpu_count int",
    );
    check(
        "sys.dm_os_memory_nodes",
        true,
        "memory_node_id smallint, virtual_address_space_reserved_kb bigint, virtual_address_space_committed_kb bigint, \
         locked_page_allocations_kb bigint, pages_kb bigint, shared_memory_reserved_kb bigint, \
         shared_memory_committed_kb bigint, cpu_affinity_mask bigint, online_scheduler_mask bigint, \
         processor_group smallint, foreign_committed_kb bigint, target_kb bigint",
    );
    check(
        "sys.dm_os_memory_clerks",
        true,
        "memory_clerk_address varbinary(8), type nvarchar(60), name nvarchar(256), memory_node_id smallint, \
         pages_kb bigint, virtual_memory_reserved_kb bigint, virtual_memory_committed_kb bigint, \
         awe_allocated_kb bigint, shared_memory_reserved_kb bigint, shared_memory_committed_kb bigint, \
         page_size_in_bytes bigint, page_allocator_address varbinary(8), host_address varbinary(8)",
    );
    check(
        "sys.dm_os_memory_objects",
        true,
        "memory_object_address varbinary(8), parent_address varbinary(8), pages_in_bytes bigint, creation_options int, \
         bytes_used bigint, type nvarchar(60), name varchar(128), memory_node_id smallint, creation_time datetime, \
         page_size_in_bytes int, max_pages_in_bytes bigint, page_allocator_address varbinary(8), \
         creation_stack_address varbinary(8), sequence_num int, partition_type int, contention_factor real, \
         waiting_tasks_count bigint, exclusive_access_count bigint",
    );
    check(
        "sys.dm_os_waiting_tasks",
        true,
        "waiting_task_address varbinary(8), session_id smallint, exec_context_id int, wait_duration_ms bigint, \
         wait_type nvarchar(60), resource_address varbinary(8), blocking_task_address varbinary(8), \
         blocking_session_id smallint, blocking_exec_context_id int, resource_description nvarchar(3072)",
    );
    check(
        "sys.dm_db_index_operational_stats",
        true,
        "database_id smallint, object_id int, index_id int, partition_number int, hobt_id bigint, \
         leaf_insert_count bigint, leaf_delete_count bigint, leaf_update_count bigint, leaf_ghost_count bigint, \
         nonleaf_insert_count bigint, nonleaf_delete_count bigint, nonleaf_update_count bigint, \
         leaf_allocation_count bigint, nonleaf_allocation_count bigint, leaf_page_merge_count bigint, \
         nonleaf_page_merge_count bigint, range_scan_count bigint, singleton_lookup_count bigint, \
         forwarded_fetch_count bigint, lob_fetch_in_pages bigint, lob_fetch_in_bytes bigint, \
         lob_orphan_create_count bigint, lob_orphan_insert_count bigint, row_overflow_fetch_in_pages bigint, \
         row_overflow_fetch_in_bytes bigint, column_value_push_off_row_count bigint, \
         column_value_pull_in_row_count bigint, row_lock_count bigint, row_lock_wait_count bigint, \
         row_lock_wait_in_ms bigint, page_lock_count bigint, page_lock_wait_count bigint, page_lock_wait_in_ms bigint, \
         index_lock_promotion_attempt_count bigint, index_lock_promotion_count bigint, page_latch_wait_count bigint, \
         page_latch_wait_in_ms bigint, page_io_latch_wait_count bigint, page_io_latch_wait_in_ms bigint, \
         tree_page_latch_wait_count bigint, tree_page_latch_wait_in_ms bigint, tree_page_io_latch_wait_count bigint, \
         tree_page_io_latch_wait_in_ms bigint, page_compression_attempt_count bigint, \
         page_compression_success_count bigint, version_generated_inrow bigint, version_generated_offrow bigint, \
         ghost_version_inrow bigint, ghost_version_offrow bigint, insert_over_ghost_version_inrow bigint, \
         insert_over_ghost_version_offrow bigint",
    );
    check(
        "sys.dm_db_index_usage_stats",
        true,
        "database_id smallint, object_id int, index_id int, user_seeks bigint, user_scans bigint, user_lookups bigint, \
         user_updates bigint, last_user_seek datetime, last_user_scan datetime, last_user_lookup datetime, \
         last_user_update datetime, system_seeks bigint, system_scans bigint, system_lookups bigint, \
         system_updates bigint, last_system_seek datetime, last_system_scan datetime, last_system_lookup datetime, \
         last_system_update datetime",
    );
    check(
        "sys.dm_db_log_stats",
        true,
        "database_id int, recovery_model nvarchar(60), log_min_lsn nvarchar(24), log_end_lsn nvarchar(24), \
         current_vlf_sequence_number bigint, current_vlf_size_mb float, total_vlf_count bigint, \
         total_log_size_mb float, active_vlf_count bigint, active_log_size_mb float, \
         log_truncation_holdup_reason nvarchar(60), log_backup_time datetime, log_backup_lsn nvarchar(24), \
         log_since_last_log_backup_mb float, log_checkpoint_lsn nvarchar(24), log_since_last_checkpoint_mb float, \
         log_recovery_lsn nvarchar(24), log_recovery_size_mb float, recovery_vlf_count bigint",
    );
    check(
        "sys.dm_tran_locks",
        true,
        "resource_type nvarchar(60), resource_subtype nvarchar(60), resource_database_id int, \
         resource_description nvarchar(256), resource_associated_entity_id bigint, resource_lock_partition int, \
         request_mode nvarchar(60), request_type nvarchar(60), request_status nvarchar(60), \
         request_reference_count smallint, request_lifetime int, request_session_id int, \
         request_exec_context_id int, request_request_id int, request_owner_type nvarchar(60), \
         request_owner_id bigint, request_owner_guid uniqueidentifier, request_owner_lockspace_id nvarchar(32), \
         lock_owner_address varbinary(8)",
    );
    check(
        "sys.dm_tran_active_transactions",
        true,
        "transaction_id bigint, name nvarchar(32), transaction_begin_time datetime, transaction_type int, \
         transaction_uow uniqueidentifier, transaction_state int, transaction_status int, transaction_status2 int, \
         dtc_state int, dtc_status int, dtc_isolation_level int, filestream_transaction_id varbinary(128)",
    );
    check(
        "sys.dm_tran_session_transactions",
        true,
        "session_id int, transaction_id bigint, transaction_descriptor binary(8), enlist_count int, \
         is_user_transaction bit, is_local bit, is_enlisted bit, is_bound bit, open_transaction_count int",
    );
    check(
        "sys.dm_tran_database_transactions",
        false,
        "transaction_id bigint, database_id int, database_transaction_begin_time datetime, \
         database_transaction_type int, database_transaction_state int, \
         database_transaction_log_record_count bigint, database_transaction_log_bytes_used bigint",
    );
    check(
        "sys.dm_tran_version_store_space_usage",
        true,
        "database_id int, reserved_page_count bigint, reserved_space_kb bigint",
    );
    check(
        "sys.dm_tcp_listener_states",
        true,
        "listener_id int, ip_address nvarchar(48), is_ipv4 bit, port int, type tinyint, type_desc nvarchar(20), \
         state tinyint, state_desc nvarchar(16), start_time datetime",
    );
    // Not documented; as every server shows it.
    check(
        "sys.dm_os_ring_buffers",
        true,
        "ring_buffer_address varbinary(8), ring_buffer_type nvarchar(60), timestamp bigint, record nvarchar(3072)",
    );
    check(
        "sys.dm_exec_sql_text",
        true,
        "dbid smallint, objectid int, number smallint, encrypted bit, text nvarchar(max)",
    );
    check(
        "sys.dm_exec_input_buffer",
        true,
        "event_type nvarchar(256), parameters smallint, event_info nvarchar(max)",
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

#[test]
fn messages_and_dependencies() {
    check(
        "sys.messages",
        true,
        "message_id int, language_id smallint, severity tinyint, is_event_logged bit, text nvarchar(2048)",
    );
    check(
        "sys.sysmessages",
        true,
        "error int, severity tinyint, dlevel smallint, description nvarchar(255), msglangid smallint",
    );
    check(
        "sys.sql_expression_dependencies",
        true,
        "referencing_id int, referencing_minor_id int, referencing_class tinyint, referencing_class_desc nvarchar(60), \
         is_schema_bound_reference bit, referenced_class tinyint, referenced_class_desc nvarchar(60), \
         referenced_server_name nvarchar(128), referenced_database_name nvarchar(128), referenced_schema_name nvarchar(128), \
         referenced_entity_name nvarchar(128), referenced_id int, referenced_minor_id int, is_caller_dependent bit, \
         is_ambiguous bit",
    );
    check(
        "sys.dm_sql_referenced_entities",
        true,
        "referencing_minor_id int, referenced_server_name nvarchar(128), referenced_database_name nvarchar(128), \
         referenced_schema_name nvarchar(128), referenced_entity_name nvarchar(128), referenced_minor_name nvarchar(128), \
         referenced_id int, referenced_minor_id int, referenced_class tinyint, referenced_class_desc nvarchar(60), \
         is_caller_dependent bit, is_ambiguous bit, is_selected bit, is_updated bit, is_select_all bit, \
         is_all_columns_found bit, is_insert_all bit, is_incomplete bit",
    );
    check(
        "sys.dm_sql_referencing_entities",
        true,
        "referencing_schema_name nvarchar(128), referencing_entity_name nvarchar(128), referencing_id int, \
         referencing_class tinyint, referencing_class_desc nvarchar(60), is_caller_dependent bit",
    );
    check(
        "sys.sql_dependencies",
        true,
        "class tinyint, class_desc nvarchar(60), object_id int, column_id int, referenced_major_id int, \
         referenced_minor_id int, is_selected bit, is_updated bit, is_select_all bit",
    );
    check(
        "sys.sysdepends",
        true,
        "id int, depid int, number smallint, depnumber smallint, status smallint, deptype tinyint, depdbid smallint, \
         depsiteid smallint, selall bit, resultobj bit, readobj bit",
    );
}

#[test]
fn views_of_memory_optimized_tables() {
    check(
        "sys.dm_db_xtp_table_memory_stats",
        true,
        "object_id int, memory_allocated_for_table_kb bigint, memory_used_by_table_kb bigint, \
         memory_allocated_for_indexes_kb bigint, memory_used_by_indexes_kb bigint",
    );
    check(
        "sys.dm_db_xtp_hash_index_stats",
        true,
        "object_id int, xtp_object_id bigint, index_id int, total_bucket_count bigint, \
         empty_bucket_count bigint, avg_chain_length bigint, max_chain_length bigint",
    );
    check(
        "sys.dm_db_xtp_nonclustered_index_stats",
        true,
        "object_id int, xtp_object_id bigint, index_id int, delta_pages bigint, internal_pages bigint, \
         leaf_pages bigint, outstanding_retired_nodes bigint, page_update_count bigint, \
         page_update_retry_count bigint, page_consolidation_count bigint, \
         page_consolidation_retry_count bigint, page_split_count bigint, page_split_retry_count bigint, \
         key_split_count bigint, key_split_retry_count bigint, page_merge_count bigint, \
         page_merge_retry_count bigint, key_merge_count bigint, key_merge_retry_count bigint",
    );
    check(
        "sys.dm_db_xtp_index_stats",
        true,
        "object_id bigint, xtp_object_id bigint, index_id bigint, scans_started bigint, \
         scans_retries bigint, rows_returned bigint, rows_touched bigint, rows_expiring bigint, \
         rows_expired bigint, rows_expired_removed bigint, phantom_scans_started bigint, \
         phatom_scans_retries bigint, phantom_rows_touched bigint, phantom_expiring_rows_encountered bigint, \
         phantom_expired_rows_encountered bigint, phantom_expired_removed_rows_encountered bigint, \
         phantom_expired_rows_removed bigint, object_address varbinary(8)",
    );
    check(
        "sys.dm_db_xtp_object_stats",
        true,
        "object_id bigint, row_insert_attempts bigint, row_update_attempts bigint, \
         row_delete_attempts bigint, write_conflicts bigint, unique_constraint_violations bigint, \
         object_address varbinary(8)",
    );
    check(
        "sys.dm_db_xtp_memory_consumers",
        true,
        "memory_consumer_id bigint, memory_consumer_type int, memory_consumer_type_desc nvarchar(64), \
         memory_consumer_desc nvarchar(64), object_id bigint, xtp_object_id bigint, index_id int, \
         allocated_bytes bigint, used_bytes bigint, allocation_count int, partition_count int, \
         sizeclass_count int, min_sizeclass int, max_sizeclass int, memory_consumer_address varbinary(8)",
    );
    check(
        "sys.dm_xtp_system_memory_consumers",
        true,
        "memory_consumer_id bigint, memory_consumer_type int, memory_consumer_type_desc nvarchar(16), \
         memory_consumer_desc nvarchar(64), lookaside_id bigint, pagepool_id bigint, allocated_bytes bigint, \
         used_bytes bigint, allocation_count int, partition_count int, sizeclass_count int, \
         min_sizeclass int, max_sizeclass int, memory_consumer_address varbinary(8)",
    );
    check(
        "sys.dm_xtp_transaction_stats",
        true,
        "total_count bigint, read_only_count bigint, total_aborts bigint, user_aborts bigint, \
         validation_failures bigint, dependencies_taken bigint, dependencies_failed bigint, \
         savepoint_create bigint, savepoint_rollbacks bigint, savepoint_refreshes bigint, \
         log_bytes_written bigint, log_IO_count bigint, phantom_scans_started bigint, \
         phatom_scans_retries bigint, phantom_rows_touched bigint, phantom_rows_expiring bigint, \
         phantom_rows_expired bigint, phantom_rows_expired_removed bigint, scans_started bigint, \
         scans_retried bigint, rows_returned bigint, rows_touched bigint, rows_expiring bigint, \
         rows_expired bigint, rows_expired_removed bigint, rows_inserted bigint, rows_updated bigint, \
         rows_deleted bigint, write_conflicts bigint, unique_constraint_violations bigint",
    );
    check(
        "sys.dm_xtp_gc_stats",
        true,
        "rows_examined bigint, rows_no_sweep_needed bigint, rows_first_in_bucket bigint, \
         rows_first_in_bucket_removed bigint, rows_marked_for_unlink bigint, parallel_assist_count bigint, \
         idle_worker_count bigint, sweep_scans_started bigint, sweep_scans_retries bigint, \
         sweep_rows_touched bigint, sweep_rows_expiring bigint, sweep_rows_expired bigint, \
         sweep_rows_expired_removed bigint",
    );
    check(
        "sys.dm_xtp_gc_queue_stats",
        true,
        "queue_id int, total_enqueues bigint, total_dequeues bigint, current_queue_depth bigint, \
         maximum_queue_depth bigint, last_service_ticks bigint",
    );
    check(
        "sys.memory_optimized_tables_internal_attributes",
        true,
        "object_id int, xtp_object_id bigint, type int, type_desc nvarchar(60), minor_id int",
    );
    check(
        "sys.dm_db_xtp_transactions",
        false,
        "xtp_transaction_id bigint, transaction_id bigint, session_id smallint, begin_tsn bigint, end_tsn bigint, \
         state int, result int, last_error int, is_speculative bit, is_prepared bit, is_delayed_durability bit, \
         thread_id int, read_set_row_count int, log_bytes_required bigint, scan_area int, dependent_8_address varbinary(8)",
    );
    check(
        "sys.dm_db_xtp_checkpoint_stats",
        false,
        "last_lsn_processed bigint, end_of_log_lsn numeric(38;0), hardened_root_file_guid uniqueidentifier, \
         bytes_of_large_data_serialized bigint",
    );
}

#[test]
fn audit_views() {
    let audit = "audit_id int, name sysname, audit_guid uniqueidentifier, create_date datetime, modify_date datetime, \
                 principal_id int, type char(2), type_desc nvarchar(60), on_failure tinyint, on_failure_desc nvarchar(60)";
    check(
        "sys.server_audits",
        true,
        &format!("{audit}, is_state_enabled tinyint, queue_delay int, predicate nvarchar(3000)"),
    );
    check("sys.server_file_audits", false, audit);
    let specification = "name sysname, create_date datetime, modify_date datetime, audit_guid uniqueidentifier, \
                         is_state_enabled bit";
    check(
        "sys.server_audit_specifications",
        true,
        &format!("server_specification_id int, {specification}"),
    );
    check(
        "sys.database_audit_specifications",
        true,
        &format!("database_specification_id int, {specification}"),
    );
    check(
        "sys.dm_audit_actions",
        true,
        "action_id varchar(4), action_in_log bit, name sysname, class_desc nvarchar(120), parent_class_desc nvarchar(120), \
         covering_parent_action_name nvarchar(120), configuration_level nvarchar(10), containing_group_name nvarchar(120)",
    );
    check(
        "sys.fn_get_audit_file",
        false,
        "event_time datetime2, sequence_number int, action_id varchar(4), succeeded bit, permission_bitmask varbinary(16), \
         is_column_permission bit, session_id smallint, server_principal_id int, database_principal_id int, \
         target_server_principal_id int, target_database_principal_id int, object_id int, class_type varchar(2), \
         session_server_principal_name sysname, server_principal_name sysname, database_principal_name sysname, \
         target_server_principal_name sysname, target_database_principal_name sysname, server_instance_name sysname, \
         database_name sysname, schema_name sysname, object_name sysname, statement nvarchar(4000), \
         additional_information nvarchar(4000), audit_file_offset bigint, user_defined_event_id smallint, \
         user_defined_information nvarchar(4000), audit_schema_version int, transaction_id bigint, client_ip nvarchar(128), \
         application_name nvarchar(128), duration_milliseconds bigint, response_rows bigint, affected_rows bigint, \
         connection_id uniqueidentifier, host_name nvarchar(128)",
    );
}
