//! More that cannot exist here: Service Broker, keys of Always Encrypted, external tables, mirroring and availability
//! groups. sqlpackage and SSMS read these views of every database: SQL Server's columns, and no rows.
//!
//! Compared with SQL Server's documentation, page by page: database_mirroring, database_scoped_credentials,
//! service_queues, routes, and external_data_sources and availability_replicas (of which the
//! pages lack the last columns, those of 2019 and later). The other views have yet to be.

use super::objects::none;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &EVENT_NOTIFICATIONS,
    &SERVICE_QUEUES,
    &SERVICES,
    &SERVICE_CONTRACTS,
    &SERVICE_MESSAGE_TYPES,
    &SERVICE_CONTRACT_USAGES,
    &SERVICE_CONTRACT_MESSAGES,
    &SERVICE_QUEUE_USAGES,
    &ROUTES,
    &REMOTE_BINDINGS,
    &CONVERSATION_PRIORITIES,
    &COLUMN_MASTER_KEYS,
    &COLUMN_ENCRYPTION_KEYS,
    &COLUMN_KEY_VALUES,
    &CRYPT_PROPERTIES,
    &KEY_ENCRYPTIONS,
    &CRYPTOGRAPHIC_PROVIDERS,
    &EXTERNAL_SOURCES,
    &SCOPED_CREDENTIALS,
    &BACKUP_DEVICES,
    &MIRRORING,
    &AVAILABILITY_GROUPS,
    &AVAILABILITY_REPLICAS,
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
    EVENT_NOTIFICATIONS = "sys.event_notifications";
    name sysname;
    object_id int;
    parent_class tinyint;
    parent_class_desc nvarchar(60) null;
    parent_id int;
    create_date datetime;
    modify_date datetime;
    service_name nvarchar(256) null;
    broker_instance nvarchar(128) null;
    creator_sid varbinary(85) null;
    principal_id int null;
}

absent! {
    SERVICE_QUEUES = "sys.service_queues";
    name sysname;
    object_id int;
    principal_id int null;
    schema_id int;
    parent_object_id int;
    type char(2) null;
    type_desc nvarchar(60) null;
    create_date datetime;
    modify_date datetime;
    is_ms_shipped bit;
    is_published bit;
    is_schema_published bit;
    max_readers smallint null;
    activation_procedure nvarchar(776) null;
    execute_as_principal_id int null;
    is_activation_enabled bit;
    is_receive_enabled bit;
    is_enqueue_enabled bit;
    is_retention_enabled bit;
    is_poison_message_handling_enabled bit null;
}

absent! {
    SERVICES = "sys.services";
    name sysname;
    service_id int;
    principal_id int null;
    service_queue_id int;
}

absent! {
    SERVICE_CONTRACTS = "sys.service_contracts";
    name sysname;
    service_contract_id int;
    principal_id int null;
}

absent! {
    SERVICE_MESSAGE_TYPES = "sys.service_message_types";
    name sysname;
    message_type_id int;
    principal_id int null;
    validation char(2);
    validation_desc nvarchar(60) null;
    xml_collection_id int null;
}

absent! {
    SERVICE_CONTRACT_USAGES = "sys.service_contract_usages";
    service_id int;
    service_contract_id int;
}

absent! {
    SERVICE_CONTRACT_MESSAGES = "sys.service_contract_message_usages";
    service_contract_id int;
    message_type_id int;
    is_sent_by_initiator bit;
    is_sent_by_target bit;
}

absent! {
    SERVICE_QUEUE_USAGES = "sys.service_queue_usages";
    service_id int;
    service_queue_id int;
}

absent! {
    ROUTES = "sys.routes";
    name sysname;
    route_id int;
    principal_id int null;
    remote_service_name nvarchar(256) null;
    broker_instance nvarchar(128) null;
    lifetime datetime null;
    address nvarchar(256) null;
    mirror_address nvarchar(256) null;
}

absent! {
    REMOTE_BINDINGS = "sys.remote_service_bindings";
    name sysname;
    remote_service_binding_id int;
    principal_id int null;
    remote_service_name nvarchar(256) null;
    service_contract_id int;
    remote_principal_id int null;
    is_anonymous_on bit;
}

absent! {
    CONVERSATION_PRIORITIES = "sys.conversation_priorities";
    priority_id int;
    name sysname;
    service_contract_id int null;
    local_service_id int null;
    remote_service_name nvarchar(256) null;
    priority tinyint;
}

absent! {
    COLUMN_MASTER_KEYS = "sys.column_master_keys";
    name sysname;
    column_master_key_id int;
    create_date datetime;
    modify_date datetime;
    key_store_provider_name sysname null;
    key_path nvarchar(4000) null;
    allow_enclave_computations bit;
    signature varbinary(max) null;
}

absent! {
    COLUMN_ENCRYPTION_KEYS = "sys.column_encryption_keys";
    name sysname;
    column_encryption_key_id int;
    create_date datetime;
    modify_date datetime;
}

absent! {
    COLUMN_KEY_VALUES = "sys.column_encryption_key_values";
    column_encryption_key_id int;
    column_master_key_id int;
    encrypted_value varbinary(8000) null;
    encryption_algorithm_name sysname null;
}

absent! {
    CRYPT_PROPERTIES = "sys.crypt_properties";
    class tinyint;
    class_desc nvarchar(60) null;
    major_id int;
    thumbprint varbinary(32);
    crypt_type char(4);
    crypt_type_desc nvarchar(60) null;
    crypt_property varbinary(max);
}

absent! {
    KEY_ENCRYPTIONS = "sys.key_encryptions";
    key_id int;
    thumbprint varbinary(32) null;
    crypt_type char(4);
    crypt_type_desc nvarchar(60) null;
    crypt_property varbinary(max) null;
}

absent! {
    CRYPTOGRAPHIC_PROVIDERS = "sys.cryptographic_providers";
    provider_id int;
    name sysname;
    guid uniqueidentifier null;
    version nvarchar(24) null;
    dll_path nvarchar(520) null;
    is_enabled bit null;
}

absent! {
    EXTERNAL_SOURCES = "sys.external_data_sources";
    data_source_id int;
    name sysname;
    location nvarchar(4000);
    type_desc nvarchar(255) null;
    type tinyint;
    resource_manager_location nvarchar(4000) null;
    credential_id int;
    database_name sysname null;
    shard_map_name sysname null;
    connection_options nvarchar(4000) null;
    pushdown nvarchar(256);
}

absent! {
    SCOPED_CREDENTIALS = "sys.database_scoped_credentials";
    name sysname;
    credential_id int;
    principal_id int null;
    credential_identity nvarchar(4000) null;
    create_date datetime;
    modify_date datetime;
    target_type nvarchar(100) null;
    target_id int null;
}

absent! {
    BACKUP_DEVICES = "sys.backup_devices";
    name sysname;
    type tinyint null;
    type_desc nvarchar(60) null;
    physical_name nvarchar(260) null;
}

fn databases(context: &Context<'_>, _: &[Value]) -> Result<Vec<i32>, SqlError> {
    Ok(context.server.databases().iter().map(|database| database.id).collect())
}

view! {
    /// A row per database, of which none is mirrored.
    MIRRORING = "sys.database_mirroring" of i32 as d, rows databases;
    database_id int = *d;
    mirroring_guid uniqueidentifier null = NULL;
    mirroring_state tinyint null = NULL;
    mirroring_state_desc nvarchar(60) null = NULL;
    mirroring_role tinyint null = NULL;
    mirroring_role_desc nvarchar(60) null = NULL;
    mirroring_role_sequence int null = NULL;
    mirroring_safety_level tinyint null = NULL;
    mirroring_safety_level_desc nvarchar(60) null = NULL;
    mirroring_safety_sequence int null = NULL;
    mirroring_partner_name nvarchar(128) null = NULL;
    mirroring_partner_instance nvarchar(128) null = NULL;
    mirroring_witness_name nvarchar(128) null = NULL;
    mirroring_witness_state tinyint null = NULL;
    mirroring_witness_state_desc nvarchar(60) null = NULL;
    mirroring_failover_lsn numeric(25, 0) null = NULL;
    mirroring_connection_timeout int null = NULL;
    mirroring_redo_queue int null = NULL;
    mirroring_redo_queue_type nvarchar(60) null = NULL;
    mirroring_end_of_log_lsn numeric(25, 0) null = NULL;
    mirroring_replication_lsn numeric(25, 0) null = NULL;
}

absent! {
    AVAILABILITY_GROUPS = "sys.availability_groups";
    group_id uniqueidentifier;
    name sysname null;
    resource_id nvarchar(40) null;
    resource_group_id nvarchar(40) null;
    failure_condition_level int null;
    health_check_timeout int null;
    automated_backup_preference tinyint null;
    automated_backup_preference_desc nvarchar(60) null;
    version smallint null;
    basic_features bit null;
    dtc_support bit null;
    db_failover bit null;
    is_distributed bit null;
    cluster_type tinyint null;
    cluster_type_desc nvarchar(60) null;
    required_synchronized_secondaries_to_commit int null;
    sequence_number bigint null;
    is_contained bit null;
}

absent! {
    AVAILABILITY_REPLICAS = "sys.availability_replicas";
    replica_id uniqueidentifier null;
    group_id uniqueidentifier null;
    replica_metadata_id int null;
    replica_server_name nvarchar(256) null;
    owner_sid varbinary(85) null;
    endpoint_url nvarchar(128) null;
    availability_mode tinyint null;
    availability_mode_desc nvarchar(60) null;
    failover_mode tinyint null;
    failover_mode_desc nvarchar(60) null;
    session_timeout int null;
    primary_role_allow_connections tinyint null;
    primary_role_allow_connections_desc nvarchar(60) null;
    secondary_role_allow_connections tinyint null;
    secondary_role_allow_connections_desc nvarchar(60) null;
    create_date datetime null;
    modify_date datetime null;
    backup_priority int null;
    read_only_routing_url nvarchar(256) null;
    seeding_mode tinyint null;
    seeding_mode_desc nvarchar(60) null;
    read_write_routing_url nvarchar(256) null;
}
