//! What cannot exist here: keys and certificates, users' assemblies, FileTables, lists of stopwords; the waits of
//! single sessions, as waits are counted by scheduler; and pages of tempdb, as temporary tables are in memory.
//! Tools ask for them all the same: views with SQL Server's columns and without rows.
//!
//! Columns and types of certificates, asymmetric keys and FileTables were compared with SQL Server's documentation; those
//! of the other views have yet to be, page by page (hash_indexes lacks columns that sys.indexes has gained since 2016).

use super::objects::none;
use crate::declare::{Declared, NULL, view};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &CERTIFICATES,
    &ASYMMETRIC_KEYS,
    &SYMMETRIC_KEYS,
    &CREDENTIALS,
    &ASSEMBLY_MODULES,
    &NUMBERED_PROCEDURES,
    &NUMBERED_PARAMETERS,
    &FILETABLES,
    &FILETABLE_OBJECTS,
    &FULLTEXT_STOPLISTS,
    &PLAN_GUIDES,
    &ACTIVATED_TASKS,
    &SESSION_WAITS,
    &TASK_SPACE,
    &SESSION_SPACE,
];

/// A view without rows: every column is NULL where one looks.
macro_rules! absent {
    ($view:ident = $full:literal; $($column:ident $ty:ident $(($($arg:tt),+))? $($null:ident)?;)*) => {
        view! {
            $view = $full of () as x, rows none;
            $($column $ty $(($($arg),+))? $($null)? = NULL;)*
        }
    };
}

absent! {
    CERTIFICATES = "sys.certificates";
    name sysname;
    certificate_id int;
    principal_id int null;
    pvt_key_encryption_type char(2);
    pvt_key_encryption_type_desc nvarchar(60) null;
    is_active_for_begin_dialog bit null;
    issuer_name nvarchar(442) null;
    cert_serial_number nvarchar(64) null;
    sid varbinary(85) null;
    string_sid nvarchar(128) null;
    subject nvarchar(4000) null;
    expiry_date datetime null;
    start_date datetime null;
    thumbprint varbinary(32);
    attested_by nvarchar(260) null;
    pvt_key_last_backup_date datetime null;
    key_length int null;
}

absent! {
    ASYMMETRIC_KEYS = "sys.asymmetric_keys";
    name sysname;
    principal_id int null;
    asymmetric_key_id int;
    pvt_key_encryption_type char(2);
    pvt_key_encryption_type_desc nvarchar(60) null;
    thumbprint varbinary(32);
    algorithm char(2);
    algorithm_desc nvarchar(60) null;
    key_length int null;
    sid varbinary(85) null;
    string_sid nvarchar(128) null;
    public_key varbinary(max);
    attested_by nvarchar(260) null;
    provider_type nvarchar(120) null;
    cryptographic_provider_guid uniqueidentifier null;
    cryptographic_provider_algid sql_variant null;
}

absent! {
    SYMMETRIC_KEYS = "sys.symmetric_keys";
    name sysname;
    principal_id int null;
    symmetric_key_id int;
    key_length int;
    key_algorithm char(2);
    algorithm_desc nvarchar(60) null;
    create_date datetime;
    modify_date datetime;
    key_guid uniqueidentifier null;
    key_thumbprint sql_variant null;
    provider_type nvarchar(120) null;
    cryptographic_provider_guid uniqueidentifier null;
    cryptographic_provider_algid sql_variant null;
}

absent! {
    CREDENTIALS = "sys.credentials";
    credential_id int;
    name sysname;
    credential_identity nvarchar(4000) null;
    create_date datetime;
    modify_date datetime;
    target_type nvarchar(100) null;
    target_id int null;
}

absent! {
    ASSEMBLY_MODULES = "sys.assembly_modules";
    object_id int;
    assembly_id int;
    assembly_class sysname null;
    assembly_method sysname null;
    null_on_null_input bit null;
    execute_as_principal_id int null;
}

absent! {
    NUMBERED_PROCEDURES = "sys.numbered_procedures";
    object_id int;
    procedure_number smallint null;
    definition nvarchar(max) null;
}

absent! {
    NUMBERED_PARAMETERS = "sys.numbered_procedure_parameters";
    object_id int;
    procedure_number smallint null;
    name sysname null;
    parameter_id int;
    system_type_id tinyint;
    user_type_id int;
    max_length smallint;
    precision tinyint;
    scale tinyint;
    is_output bit;
    is_cursor_ref bit;
}

absent! {
    FILETABLES = "sys.filetables";
    object_id int;
    is_enabled bit;
    directory_name nvarchar(255) null;
    filename_collation_id int;
    filename_collation_name sysname null;
}

absent! {
    FILETABLE_OBJECTS = "sys.filetable_system_defined_objects";
    object_id int;
    parent_object_id int;
}

absent! {
    FULLTEXT_STOPLISTS = "sys.fulltext_stoplists";
    stoplist_id int;
    name sysname;
    create_date datetime;
    modify_date datetime;
    principal_id int null;
}

absent! {
    PLAN_GUIDES = "sys.plan_guides";
    plan_guide_id int;
    name sysname;
    create_date datetime;
    modify_date datetime;
    is_disabled bit;
    query_text nvarchar(max) null;
    scope_type tinyint;
    scope_type_desc nvarchar(60) null;
    scope_object_id int null;
    scope_batch nvarchar(max) null;
    parameters nvarchar(max) null;
    hints nvarchar(max) null;
}

absent! {
    ACTIVATED_TASKS = "sys.dm_broker_activated_tasks";
    spid int null;
    database_id smallint null;
    queue_id int null;
    procedure_name nvarchar(650) null;
    execute_as int null;
}

absent! {
    SESSION_WAITS = "sys.dm_exec_session_wait_stats";
    session_id smallint;
    wait_type nvarchar(60);
    waiting_tasks_count bigint;
    wait_time_ms bigint;
    max_wait_time_ms bigint;
    signal_wait_time_ms bigint;
}

absent! {
    TASK_SPACE = "sys.dm_db_task_space_usage";
    task_address varbinary(8);
    is_remote_task bit;
    session_id smallint null;
    request_id int null;
    exec_context_id int null;
    database_id int null;
    user_objects_alloc_page_count bigint null;
    user_objects_dealloc_page_count bigint null;
    internal_objects_alloc_page_count bigint null;
    internal_objects_dealloc_page_count bigint null;
}

absent! {
    SESSION_SPACE = "sys.dm_db_session_space_usage";
    session_id smallint null;
    database_id int null;
    user_objects_alloc_page_count bigint null;
    user_objects_dealloc_page_count bigint null;
    internal_objects_alloc_page_count bigint null;
    internal_objects_dealloc_page_count bigint null;
    user_objects_deferred_dealloc_page_count bigint null;
}
