//! What each statistics view asks for, in one table: SQL Server 2022's documentation of each view. VIEW SERVER STATE implies
//! both of the server's permissions here, and VIEW DATABASE STATE those of the database.
//!
//! Two views follow what SQL Server 2022 and later have been seen to answer, where their pages say otherwise:
//! dm_os_host_info is everybody's, and dm_hadr_database_replica_states asks for a permission on the database. This
//! engine's own views (`dm_millrace_`) are performance.
//!
//! Invariant: every view whose name begins with `dm_` has a place here, and nothing else but sys.fn_get_audit_file has
//! (`crates/system-views/tests/asked.rs`).

use crate::host::Host;
use crate::state::SessionState;
use catalog::same_name;
use executor::{SqlError, SqlMessage};
use ir::SystemView;
use security::{Access, Permission, Target, database_role};
use std::sync::Arc;

/// What is asked of who reads a statistics view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewAsks {
    /// Nothing: what somebody may not know of is not among the rows that he gets, or the function looks at its
    /// arguments first.
    Nothing,
    /// A permission on the server; else 300 and 297.
    Server(Permission),
    /// A permission on the database that the view is read in; else 262 and 297.
    Database(Permission),
    /// A permission on the server for the rows of other sessions than one's own, which this column tells.
    OtherSessions(Permission, &'static str),
    /// The same of a function whose first argument is a session.
    OtherSession(Permission),
}

/// Views by what they ask for.
const VIEWS: &[(ViewAsks, &[&str])] = &[
    (ViewAsks::Nothing, NOTHING),
    (ViewAsks::OtherSessions(Permission::ViewServerPerformanceState, "session_id"), OF_SESSIONS),
    (ViewAsks::OtherSession(Permission::ViewServerPerformanceState), &["dm_exec_input_buffer"]),
    (ViewAsks::Server(Permission::ViewServerSecurityState), SECURITY),
    (ViewAsks::Server(Permission::ViewServerSecurityAudit), &["fn_get_audit_file"]),
    (ViewAsks::Database(Permission::ViewDatabasePerformanceState), DATABASE_PERFORMANCE),
    (ViewAsks::Server(Permission::ViewServerPerformanceState), PERFORMANCE),
];

const NOTHING: &[&str] = &[
    "dm_audit_actions",
    "dm_audit_class_type_map",
    "dm_cryptographic_provider_properties",
    "dm_db_index_operational_stats",
    "dm_db_index_physical_stats",
    "dm_db_stats_histogram",
    "dm_db_stats_properties",
    "dm_db_uncontained_entities",
    "dm_db_xtp_memory_consumers",
    "dm_db_xtp_table_memory_stats",
    "dm_exec_describe_first_result_set",
    "dm_exec_describe_first_result_set_for_object",
    "dm_os_host_info",
    "dm_sql_referenced_entities",
    "dm_sql_referencing_entities",
];

const OF_SESSIONS: &[&str] = &["dm_exec_sessions", "dm_exec_requests"];

const SECURITY: &[&str] = &[
    "dm_cluster_endpoints",
    "dm_database_encryption_keys",
    "dm_server_audit_status",
    "dm_server_services",
    "dm_tcp_listener_states",
];

const DATABASE_PERFORMANCE: &[&str] = &[
    "dm_db_column_store_row_group_physical_stats",
    "dm_db_log_info",
    "dm_db_page_info",
    "dm_db_partition_stats",
    "dm_db_persisted_sku_features",
    "dm_db_xtp_checkpoint_files",
    "dm_db_xtp_checkpoint_stats",
    "dm_db_xtp_gc_cycle_stats",
    "dm_db_xtp_hash_index_stats",
    "dm_db_xtp_index_stats",
    "dm_db_xtp_merge_requests",
    "dm_db_xtp_nonclustered_index_stats",
    "dm_db_xtp_object_stats",
    "dm_db_xtp_transactions",
    "dm_exec_query_profiles",
    "dm_hadr_database_replica_states",
    "dm_xe_database_session_targets",
    "dm_xe_database_sessions",
];

const PERFORMANCE: &[&str] = &[
    "dm_broker_activated_tasks",
    "dm_db_file_space_usage",
    "dm_db_fts_index_physical_stats",
    "dm_db_index_usage_stats",
    "dm_db_log_space_usage",
    "dm_db_log_stats",
    "dm_db_mirroring_connections",
    "dm_db_missing_index_columns",
    "dm_db_missing_index_details",
    "dm_db_missing_index_group_stats",
    "dm_db_missing_index_groups",
    "dm_db_session_space_usage",
    "dm_db_task_space_usage",
    "dm_db_tuning_recommendations",
    "dm_exec_background_job_queue",
    "dm_exec_cached_plans",
    "dm_exec_connections",
    "dm_exec_function_stats",
    "dm_exec_plan_attributes",
    "dm_exec_procedure_stats",
    "dm_exec_query_memory_grants",
    "dm_exec_query_optimizer_info",
    "dm_exec_query_plan",
    "dm_exec_query_resource_semaphores",
    "dm_exec_query_stats",
    "dm_exec_session_wait_stats",
    "dm_exec_sql_text",
    "dm_exec_text_query_plan",
    "dm_exec_trigger_stats",
    "dm_fts_active_catalogs",
    "dm_fts_index_population",
    "dm_hadr_availability_group_states",
    "dm_hadr_availability_replica_cluster_nodes",
    "dm_hadr_availability_replica_cluster_states",
    "dm_hadr_availability_replica_states",
    "dm_hadr_cluster",
    "dm_hadr_cluster_members",
    "dm_hadr_cluster_networks",
    "dm_hadr_database_replica_cluster_states",
    "dm_io_cluster_shared_drives",
    "dm_io_cluster_valid_path_names",
    "dm_io_pending_io_requests",
    "dm_io_virtual_file_stats",
    "dm_millrace_log_write_timing",
    "dm_millrace_switches",
    "dm_os_buffer_descriptors",
    "dm_os_cluster_nodes",
    "dm_os_enumerate_fixed_drives",
    "dm_os_file_exists",
    "dm_os_latch_stats",
    "dm_os_loaded_modules",
    "dm_os_memory_cache_counters",
    "dm_os_memory_clerks",
    "dm_os_memory_nodes",
    "dm_os_memory_objects",
    "dm_os_memory_pools",
    "dm_os_nodes",
    "dm_os_performance_counters",
    "dm_os_process_memory",
    "dm_os_ring_buffers",
    "dm_os_schedulers",
    "dm_os_server_diagnostics_log_configurations",
    "dm_os_spinlock_stats",
    "dm_os_sys_info",
    "dm_os_sys_memory",
    "dm_os_tasks",
    "dm_os_threads",
    "dm_os_volume_stats",
    "dm_os_wait_stats",
    "dm_os_waiting_tasks",
    "dm_os_windows_info",
    "dm_os_workers",
    "dm_resource_governor_configuration",
    "dm_resource_governor_resource_pool_affinity",
    "dm_resource_governor_resource_pools",
    "dm_resource_governor_workload_groups",
    "dm_server_memory_dumps",
    "dm_server_registry",
    "dm_tran_active_snapshot_database_transactions",
    "dm_tran_active_transactions",
    "dm_tran_commit_table",
    "dm_tran_current_snapshot",
    "dm_tran_database_transactions",
    "dm_tran_locks",
    "dm_tran_persistent_version_store_stats",
    "dm_tran_session_transactions",
    "dm_tran_top_version_generators",
    "dm_tran_version_store_space_usage",
    "dm_xe_map_values",
    "dm_xe_object_columns",
    "dm_xe_objects",
    "dm_xe_packages",
    "dm_xe_session_event_actions",
    "dm_xe_session_events",
    "dm_xe_session_object_columns",
    "dm_xe_session_targets",
    "dm_xe_sessions",
    "dm_xtp_gc_queue_stats",
    "dm_xtp_gc_stats",
    "dm_xtp_system_memory_consumers",
    "dm_xtp_transaction_stats",
];

/// The names in the table, without their schema.
pub fn views_that_ask() -> impl Iterator<Item = &'static str> {
    VIEWS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// What a view asks for, by its name with the schema; `None` of a view that is not one of statistics.
pub fn view_asks(view: &str) -> Option<ViewAsks> {
    let name = view.strip_prefix("sys.")?;
    if name == "sysprocesses" {
        return Some(ViewAsks::OtherSessions(Permission::ViewServerState, "spid"));
    }
    let found = VIEWS.iter().find(|(_, names)| names.contains(&name));
    found.map(|(asks, _)| *asks)
}

/// May the session read a view at all? 300 and 297, or 262 and 297.
pub fn check_view(
    view: &SystemView,
    state: &SessionState,
    host: &mut dyn Host,
) -> Result<(), SqlError> {
    let Some(asks) = view_asks(&view.name) else { return Ok(()) };
    let access = state.identity.access();
    match asks {
        ViewAsks::Nothing | ViewAsks::OtherSessions(..) | ViewAsks::OtherSession(_) => Ok(()),
        ViewAsks::Server(permission) => check_server_state(permission, access),
        ViewAsks::Database(permission) => {
            let own = &state.database.name;
            let other = view.database.as_deref().filter(|other| !same_name(other, own));
            let allowed = match other {
                None => access.allows(permission, Target::Database),
                Some(other) => access_in(other, access, host).allows(permission, Target::Database),
            };
            let denied = || database_state_denied(permission, other.unwrap_or(own));
            if allowed { Ok(()) } else { Err(denied()) }
        }
    }
}

/// The session's login in another database; as a guest where it is no user there. A system database that is not there by
/// itself is seen as `master`.
fn access_in(other: &str, access: &Access, host: &mut dyn Host) -> Access {
    let open = host.database(other).or_else(|| host.database("master"));
    let there = open.map_or_else(Arc::default, |open| open.catalog.directory(None));
    let guest = database_role::GUEST;
    let as_guest = || Access::new(access.server().clone(), access.login(), there.clone(), guest);
    access.elsewhere(there.clone()).unwrap_or_else(as_guest)
}

/// 300 and 297.
pub fn check_server_state(permission: Permission, access: &Access) -> Result<(), SqlError> {
    if access.allows(permission, Target::Server) {
        return Ok(());
    }
    let name = permission.name();
    let text = format!("{name} permission was denied on object 'server', database 'master'.");
    Err(denied_after(300, text))
}

/// 262 and 297.
pub fn database_state_denied(permission: Permission, database: &str) -> SqlError {
    let name = permission.name();
    denied_after(262, format!("{name} permission denied in database '{database}'."))
}

/// 297, with what it was that was denied before it.
fn denied_after(number: i32, text: String) -> SqlError {
    let ahead = SqlMessage { severity: 14, ..SqlMessage::info(number, 0, text) };
    let text = "The user does not have permission to perform this action.";
    SqlError::new(297, 16, text).with_ahead(vec![ahead])
}
