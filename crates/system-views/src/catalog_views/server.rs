//! The instance: configuration options, languages, itself as a server, collations.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use super::configuration_options::{ConfigurationOption, OPTIONS};
use super::objects::none;
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, variant, view};
use crate::facts::endpoint;
use executor::SqlError;
use types::languages::{LANGUAGES as ALL_LANGUAGES, Language};
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &CONFIGURATIONS,
    &LANGUAGES,
    &SERVERS,
    &HELP_COLLATIONS,
    &LINKED_LOGINS,
    &ENDPOINTS,
    &TCP_ENDPOINTS,
    &QUERY_STORE_OPTIONS,
];

/// A configuration option with its value.
pub struct Setting {
    pub known: &'static ConfigurationOption,
    pub value: i64,
    pub in_use: i64,
}

pub fn settings(context: &Context<'_>, _: &[Value]) -> Result<Vec<Setting>, SqlError> {
    let setting = |known: &'static ConfigurationOption| {
        let default = (known.default, known.default);
        let (value, in_use) = context.server.setting(known.name).unwrap_or(default);
        Setting { known, value, in_use }
    };
    Ok(OPTIONS.iter().map(setting).collect())
}

view! {
    CONFIGURATIONS = "sys.configurations" of Setting as s, rows settings;
    configuration_id int = s.known.id;
    name nvarchar(35) = s.known.name;
    value sql_variant null = variant(s.value, SqlType::Int);
    minimum sql_variant null = variant(s.known.minimum, SqlType::Int);
    maximum sql_variant null = variant(s.known.maximum, SqlType::Int);
    value_in_use sql_variant null = variant(s.in_use, SqlType::Int);
    description nvarchar(255) = s.known.description;
    is_dynamic bit = s.known.is_dynamic;
    is_advanced bit = s.known.is_advanced;
}

fn one(_: &Context<'_>, _: &[Value]) -> Result<Vec<()>, SqlError> {
    Ok(vec![()])
}

/// A language and its place.
type Placed = (usize, &'static Language);

fn languages(_: &Context<'_>, _: &[Value]) -> Result<Vec<Placed>, SqlError> {
    Ok(ALL_LANGUAGES.iter().enumerate().collect())
}

/// Eleven languages have messages of their own; the others are told in English.
fn message_language(lcid: i32) -> i16 {
    match lcid {
        1028 | 1031 | 1036 | 1040..=1042 | 1046 | 1049 | 2052 | 3082 => lcid as i16,
        _ => 1033,
    }
}

view! {
    LANGUAGES = "sys.syslanguages" of Placed as l, rows languages;
    langid smallint = l.0 as i16;
    dateformat nchar(3) = l.1.order.name();
    datefirst tinyint = l.1.first;
    upgrade int null = 0;
    name sysname = l.1.name;
    alias sysname = l.1.alias;
    months nvarchar(372) null = l.1.months;
    shortmonths nvarchar(132) null = l.1.short_months;
    days nvarchar(217) null = l.1.days;
    lcid int = l.1.lcid;
    msglangid smallint = message_language(l.1.lcid);
}

/// The instance: its name and the moment of its start.
pub struct Myself(String, u64);

impl Myself {
    pub fn name(&self) -> &str {
        &self.0
    }

    pub fn start_unix_ns(&self) -> u64 {
        self.1
    }
}

pub fn myself(context: &Context<'_>, _: &[Value]) -> Result<Vec<Myself>, SqlError> {
    let facts = context.server.facts();
    Ok(vec![Myself(facts.name, facts.start_unix_ns)])
}

view! {
    SERVERS = "sys.servers" of Myself as s, rows myself;
    server_id int = 0;
    name sysname = &s.0;
    product sysname = "SQL Server";
    provider sysname = "SQLNCLI";
    data_source nvarchar(4000) null = &s.0;
    location nvarchar(4000) null = NULL;
    provider_string nvarchar(4000) null = NULL;
    catalog sysname null = NULL;
    connect_timeout int null = 0;
    query_timeout int null = 0;
    is_linked bit = false;
    is_remote_login_enabled bit = true;
    is_rpc_out_enabled bit = true;
    is_data_access_enabled bit = false;
    is_collation_compatible bit = false;
    uses_remote_collation bit = true;
    collation_name sysname null = NULL;
    lazy_schema_validation bit = false;
    is_system bit = false;
    is_publisher bit = false;
    is_subscriber bit null = false;
    is_distributor bit null = false;
    is_nonsql_subscriber bit null = false;
    is_remote_proc_transaction_promotion_enabled bit null = false;
    modify_date datetime = moment(s.1);
    is_rda_server bit = false;
}

/// A way in.
pub struct Endpoint {
    id: i32,
    name: &'static str,
    protocol: (u8, &'static str),
    is_open: bool,
}

const BY_TCP: (u8, &str) = (2, "TCP");
const IN_PROCESS: (u8, &str) = (4, "SHARED_MEMORY");

/// Those of SQL Server, but for named pipes, which there are none of here.
fn endpoints(context: &Context<'_>, _: &[Value]) -> Result<Vec<Endpoint>, SqlError> {
    let server = context.server;
    let of = |id, name, protocol, is_open| Endpoint { id, name, protocol, is_open };
    let admin = !server.admin().schedulers.is_empty();
    Ok(vec![
        of(endpoint::ADMIN, "Dedicated Admin Connection", BY_TCP, admin),
        of(endpoint::LOCAL, "TSQL Local Machine", IN_PROCESS, true),
        of(endpoint::TCP, "TSQL Default TCP", BY_TCP, !server.listeners().is_empty()),
    ])
}

fn tcp_endpoints(context: &Context<'_>, args: &[Value]) -> Result<Vec<Endpoint>, SqlError> {
    let mut all = endpoints(context, args)?;
    all.retain(|endpoint| endpoint.protocol == BY_TCP);
    Ok(all)
}

impl Endpoint {
    /// `state`: who is not listening is disabled.
    fn state(&self) -> (u8, &'static str) {
        if self.is_open { (0, "STARTED") } else { (2, "DISABLED") }
    }
}

macro_rules! endpoint_view {
    ($view:ident = $full:literal of $e:ident, rows $rows:ident; $($more:tt)*) => {
        view! {
            $view = $full of Endpoint as $e, rows $rows;
            name sysname = $e.name;
            endpoint_id int = $e.id;
            principal_id int null = 1;
            protocol tinyint = $e.protocol.0;
            protocol_desc nvarchar(60) null = $e.protocol.1;
            type tinyint = 2u8;
            type_desc nvarchar(60) null = "TSQL";
            state tinyint null = $e.state().0;
            state_desc nvarchar(60) null = $e.state().1;
            is_admin_endpoint bit = $e.id == endpoint::ADMIN;
            $($more)*
        }
    };
}

endpoint_view! { ENDPOINTS = "sys.endpoints" of e, rows endpoints; }

endpoint_view! {
    TCP_ENDPOINTS = "sys.tcp_endpoints" of e, rows tcp_endpoints;
    port int = 0;
    is_dynamic_port bit = e.id == endpoint::ADMIN;
    ip_address nvarchar(45) null = NULL;
}

view! {
    /// There is no query store: it is off.
    QUERY_STORE_OPTIONS = "sys.database_query_store_options" of () as q, rows one;
    desired_state smallint = 0i16;
    desired_state_desc nvarchar(60) null = "OFF";
    actual_state smallint = 0i16;
    actual_state_desc nvarchar(60) null = "OFF";
    readonly_reason int null = 0;
    current_storage_size_mb bigint null = 0i64;
    flush_interval_seconds bigint null = 900i64;
    interval_length_minutes bigint null = 60i64;
    max_storage_size_mb bigint null = 1000i64;
    stale_query_threshold_days bigint null = 30i64;
    max_plans_per_query bigint null = 200i64;
    query_capture_mode smallint = 2i16;
    query_capture_mode_desc nvarchar(60) null = "AUTO";
    capture_policy_execution_count int null = 30;
    capture_policy_total_compile_cpu_time_ms bigint null = 1000i64;
    capture_policy_total_execution_cpu_time_ms bigint null = 100i64;
    capture_policy_stale_threshold_hours int null = 24;
    size_based_cleanup_mode smallint = 1i16;
    size_based_cleanup_mode_desc nvarchar(60) null = "AUTO";
    wait_stats_capture_mode smallint = 1i16;
    wait_stats_capture_mode_desc nvarchar(60) null = "ON";
    actual_state_additional_info nvarchar(4000) null = NULL;
}

view! {
    LINKED_LOGINS = "sys.linked_logins" of () as l, rows none;
    server_id int = NULL;
    local_principal_id int null = NULL;
    uses_self_credential bit = NULL;
    remote_name sysname null = NULL;
    modify_date datetime = NULL;
}

fn collations(_: &Context<'_>, _: &[Value]) -> Result<Vec<types::Collation>, SqlError> {
    Ok(types::Collation::all())
}

view! {
    HELP_COLLATIONS = "sys.fn_helpcollations" of types::Collation as c, rows collations, params ();
    name sysname = c.name();
    description nvarchar(1000) null = c.description();
}
