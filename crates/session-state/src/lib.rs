//! What a session is: its settings, whom it acts as, what names mean to it, its transaction, and what expressions may ask
//! of it.
//!
//! Promises: a session's settings, transaction and identity live in [`SessionState`] and nowhere else; what it cannot know
//! it asks through two traits: [`Host`], whoever owns the instance, and [`Machine`], whoever runs programs.
//!
//! Knows nothing of bytecode, plans, the wire, or what statements do.

#![forbid(unsafe_code)]

mod database;
mod options;
mod state;

mod host;
mod machine;
mod media;

mod acting;
mod activity;
mod auditing;
mod branch;
mod branches;
mod bulk_rowset;
mod identity;
mod publish;
mod recovery;
mod statement_txn;
mod tag;
mod transaction;
mod view_asks;
mod view_changes;
mod view_plans;
mod visibility;

mod environment;
mod login_property;
mod name_parts;
mod names;
mod one_statement;
mod prepared_documents;
mod principal_functions;
mod settings;
pub mod shown;

mod format;
pub mod languages;
pub mod messages;

pub use acting::cannot_act_as;
pub use activity::{Activity, INPUT_BYTES_MAX, Input, InputKind, Published};
pub use auditing::{AuditEvent, AuditFileRows};
pub use branch::Decisions;
pub use bulk_rowset::{check_may_load, code_page, load_error, open_to_load};
pub use database::OpenDatabase;
pub use environment::{SessionEnvironment, number_as};
pub use format::{check_places, cut, format_message};
pub use host::{ConfigurationOption, Host, no_process};
pub use identity::{Depth, End, Identity};
pub use machine::{Caller, EvictedPlans, Halt, Halted, Machine};
pub use media::{FolderEntry, MediaOrder, MediaRows, PathFacts};
pub use name_parts::name_parts;
pub use names::{SessionNames, bind_error, is_temporary, module_by_id, module_columns};
pub use one_statement::OneStatement;
pub use options::{
    ANSI_WARNINGS, ARITHABORT, CURSOR_CLOSE_ON_COMMIT, NO_NULL_COLUMNS, NULL_COLUMNS,
    NUMERIC_ROUNDABORT, SWITCHES, SetOptions,
};
pub use recovery::Recoverable;
pub use settings::{check_settings, needs_settings};
pub use shown::Telling;
pub use state::{
    Client, Firing, GlobalTable, IdentityInsert, NESTING_MAX, NamesVersion, SessionState,
    descriptor, too_deep,
};
pub use statement_txn::StatementTxn;
pub use tag::Tag;
pub use transaction::{Transaction, durability};
pub use view_asks::{
    ViewAsks, check_server_state, check_view, database_state_denied, view_asks, views_that_ask,
};
pub use visibility::{object_target, target_in};
