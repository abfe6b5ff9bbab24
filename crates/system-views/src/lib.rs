//! Ask the house about itself: system views, catalog procedures and metadata functions, under SQL Server's names.
//!
//! Promises: a view has SQL Server's columns, in its order, with its types, and is declared in one place, a line per
//! column ([`declare`]); what does not exist here (triggers, foreign keys) is a view without rows, never an invented
//! row; a session sees its own uncommitted definitions. Names are found in any case, from any database, and for any
//! database that is online.
//!
//! It knows nothing of connections, plans or how rows are filtered: it is asked through [`Context`], and gives all rows.
#![forbid(unsafe_code)]

pub mod context;
pub mod declare;
pub mod facts;
pub mod registry;

pub mod functions;
pub mod modules;
pub mod object;
pub mod shape;
pub mod types_table;
pub mod visibility;

mod base_tables;
mod built_in_procedures;
mod catalog_views;
mod compatibility;
mod empty;
mod information_schema;
mod msdb;
mod odbc;
mod paging;
mod statistics;

pub use catalog_views::audits::{AuditRow, audit_file_row};
pub use catalog_views::configuration_options::{
    ConfigurationOption, OPTIONS as CONFIGURATION_OPTIONS,
};
pub use context::{
    Context, Database, PRODUCT_VERSION, SYSTEM_DATABASES, Server, ServerFacts, TEMPDB,
};
pub use facts::{
    AdminFacts, AuditFacts, ConnectionFacts, GovernorFacts, GroupFigures, ListenerFacts,
    NonYielding, QuotaFigures, SessionFacts, Traffic, VolumeFacts,
};

pub use statistics::switches::SwitchFacts;

use declare::Declared;
use executor::SqlError;
use ir::SystemView;
use types::Value;

/// The views of every file. A new file of views is listed here.
static PARTS: &[&[&dyn Declared]] = &[
    catalog_views::absent::VIEWS,
    catalog_views::spatial::VIEWS,
    catalog_views::xml::VIEWS,
    catalog_views::fulltext::VIEWS,
    catalog_views::absent_services::VIEWS,
    catalog_views::audits::VIEWS,
    catalog_views::governor::VIEWS,
    catalog_views::columns::VIEWS,
    catalog_views::configuration::VIEWS,
    catalog_views::constraints::VIEWS,
    catalog_views::databases::VIEWS,
    catalog_views::dependencies::VIEWS,
    catalog_views::indexes::VIEWS,
    catalog_views::statistics::VIEWS,
    catalog_views::messages::VIEWS,
    catalog_views::time_zones::VIEWS,
    catalog_views::modules::VIEWS,
    catalog_views::objects::VIEWS,
    catalog_views::partition_space::VIEWS,
    catalog_views::partitions::VIEWS,
    catalog_views::policies::VIEWS,
    catalog_views::principals::VIEWS,
    catalog_views::properties::VIEWS,
    catalog_views::sequences::VIEWS,
    catalog_views::server::VIEWS,
    catalog_views::my_permissions::VIEWS,
    catalog_views::tracking::VIEWS,
    catalog_views::triggers::VIEWS,
    compatibility::VIEWS,
    compatibility::PRINCIPALS,
    compatibility::SERVER,
    odbc::VIEWS,
    information_schema::VIEWS,
    information_schema::CONSTRAINTS,
    information_schema::PRIVILEGES,
    information_schema::ROUTINES,
    information_schema::DOMAINS,
    information_schema::USAGE,
    msdb::VIEWS,
    statistics::buffers::VIEWS,
    statistics::counters::VIEWS,
    statistics::io::VIEWS,
    statistics::locks::VIEWS,
    statistics::log::VIEWS,
    statistics::log_timing::VIEWS,
    statistics::plans::VIEWS,
    statistics::sessions::VIEWS,
    statistics::memory::VIEWS,
    statistics::memory_engine::VIEWS,
    statistics::memory_tables::VIEWS,
    statistics::modules::VIEWS,
    statistics::operations::VIEWS,
    statistics::physical::VIEWS,
    statistics::services::VIEWS,
    statistics::space::VIEWS,
    statistics::switches::VIEWS,
    statistics::system::VIEWS,
    statistics::clerks::VIEWS,
    statistics::nodes::VIEWS,
    statistics::tasks::VIEWS,
    statistics::text::VIEWS,
    statistics::usage::VIEWS,
    statistics::waits::VIEWS,
];

/// The rows of a view that [`registry::resolve`] has given; 208 when it is none of ours.
pub fn rows(
    view: &SystemView,
    args: &[Value],
    server: &dyn Server,
    session: &session_state::SessionState,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let declared = registry::of(view);
    let context = match &view.database {
        None => Some(Context::new(server, session)),
        Some(name) => Context::of_database(server, session, name),
    };
    match (declared, context) {
        (Some(declared), Some(context)) => declared.rows(&context, args),
        _ => Err(SqlError::new(208, 16, format!("Invalid object name '{}'.", view.name))),
    }
}
