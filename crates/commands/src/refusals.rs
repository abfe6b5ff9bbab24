//! What several commands refuse in the same words.

use executor::SqlError;
use session_state::Host;

/// 1088.
pub fn no_object(name: &str) -> SqlError {
    SqlError::new(
        1088,
        16,
        format!(
            "Cannot find the object \"{name}\" because it does not exist or you do not have permissions."
        ),
    )
}

/// 3701.
pub fn cannot_drop(kind: &str, name: &str) -> SqlError {
    SqlError::new(
        3701,
        14,
        format!(
            "Cannot drop the {kind} '{name}', because it does not exist or you do not have permission."
        ),
    )
}

/// 262.
pub fn database_denied(permission: &str, database: &str) -> SqlError {
    SqlError::new(262, 14, format!("{permission} permission denied in database '{database}'."))
}

/// 2571.
pub fn dbcc_denied(user: &str, name: &str) -> SqlError {
    let text = format!("User '{user}' does not have permission to run DBCC {name}.");
    SqlError::new(2571, 14, text)
}

/// Why a database cannot be entered: it is not open (927, 926, 945 ...), or it is not there (911).
pub fn no_database(host: &mut dyn Host, name: &str) -> SqlError {
    host.why_closed(name).unwrap_or_else(|| {
        SqlError::new(
            911,
            16,
            format!(
                "Database '{name}' does not exist. Make sure that the name is entered correctly."
            ),
        )
    })
}

/// 2812.
pub fn no_procedure(name: &str) -> SqlError {
    SqlError::new(2812, 16, format!("Could not find stored procedure '{name}'.")).with_state(62)
}

/// Procedures that are refused by name (40510): what they do is not there.
pub const REFUSED_PROCEDURES: &[&str] = &[
    // The log goes to whoever runs the server; nothing is started by itself, and no commands of the machine are run.
    "sp_cycle_errorlog",
    "sp_readerrorlog",
    "xp_readerrorlog",
    "sp_procoption",
    "xp_fixeddrives",
    "sp_addextendedproc",
    "sp_resetstatus",
    "sp_dbcmptlevel",
    "sp_server_diagnostics",
    "xp_logevent",
    // Other servers, and what they replicate; change data capture.
    "sp_addlinkedserver",
    "sp_linkedservers",
    "sp_addlinkedsrvlogin",
    "sp_droplinkedsrvlogin",
    "sp_serveroption",
    "sp_addserver",
    "sp_dropserver",
    "sp_testlinkedserver",
    "sp_catalogs",
    "sp_tables_ex",
    "sp_columns_ex",
    "sp_addpublication",
    "sp_replicationdboption",
    "sp_helpreplicationdboption",
    "sp_get_distributor",
    "sp_cdc_enable_db",
    "sp_cdc_disable_db",
    "sp_cdc_enable_table",
    "sp_cdc_disable_table",
    // Plans that are kept, and traces.
    "sp_create_plan_guide",
    "sp_control_plan_guide",
    "sp_get_query_template",
    "sp_query_store_force_plan",
    "sp_query_store_unforce_plan",
    "sp_query_store_set_hints",
    "sp_query_store_clear_hints",
    "sp_query_store_flush_db",
    "sp_query_store_remove_query",
    "sp_query_store_remove_plan",
    "sp_trace_create",
    "sp_trace_setevent",
    "sp_trace_setfilter",
    "sp_trace_setstatus",
    "sp_trace_generateevent",
    "sp_dbmmonitorresults",
    // Backup devices with names; logins of an operating system; what runs elsewhere, or in another's transaction.
    "sp_addumpdevice",
    "sp_dropdevice",
    "sp_helpdevice",
    "sp_audit_write",
    "sp_grantlogin",
    "sp_denylogin",
    "sp_revokelogin",
    "sp_migrate_user_to_contained",
    "xp_logininfo",
    "sp_execute_external_script",
    "sp_getbindtoken",
    "sp_bindsession",
    "sp_describe_cursor",
    "sp_cursor_list",
];
