//! Statements that have no plan, and system procedures: functions of the borrowed session and the statement's tree.
//!
//! Promises: a definition stands or falls with its statement; who may not is refused before anything is changed, in SQL
//! Server's words; what needs a program run asks [`session_state::Machine`].
//!
//! Knows nothing of bytecode, plans of queries, the wire, or other sessions.

#![forbid(unsafe_code)]

mod session;
mod statement;

mod define;
mod security;
mod server;
mod set;

mod dbcc;
mod procedures;

pub mod auditing;
pub mod ddl_events;

mod refusals;

pub use dbcc::trace_flags;
pub use define::native::under_snapshot;
pub use define::statistics::Watch;
pub use procedures::arguments::{self, Argument};
pub use procedures::tracking::{clean_tracked, clean_tracked_before};
pub use refusals::{
    cannot_drop, database_denied, dbcc_denied, no_database, no_object, no_procedure,
};
pub use security::RunsAs;
pub use security::principals::principal_statement;
pub use session::Commands;
pub use statement::{Site, engine_isolation};
