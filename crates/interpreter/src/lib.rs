//! Batches and procedures, compiled once to register bytecode and run.
//!
//! Promises: a program is compiled once for all sessions, its statements are planned once per session and catalog version
//! (docs/plan-cache.md); the loop of a procedure over a singleton insert allocates nothing and writes no shared memory
//! per row besides what the storage engine writes; an error ends what SQL Server ends (statement, batch or transaction) and nothing more.
//!
//! Knows nothing of the wire, of other sessions, of files; whole databases and server settings come through
//! [`Host`].

#![forbid(unsafe_code)]

mod activity;
mod batch;
mod bulk;
mod host;
mod request;
mod result_sets;
mod rpc;
mod state;

mod identity;

mod activation;
mod atomic;
mod code;
mod compile;
mod insert;
mod kind;
mod plan;
mod point;
mod statement;
mod statistics;
mod transaction;
mod vm;
mod whole;

mod figures;
mod handles;
mod plan_cache;

mod applock;
mod arguments;
mod autostats;
mod backup;
mod bindings;
mod cache;
mod call;
mod checkdb;
mod configure;
mod cursor;
mod dbcc_session;
mod dbcc_statistics;
mod ddl_trigger;
mod define;
mod describe;
mod exec;
mod files;
mod format;
mod function;
mod global;
mod grants;
mod languages;
mod masking;
mod messages;
mod other;
mod parameter;
mod partition;
mod permission;
mod policy;
mod prepared_xml;
mod principal_functions;
mod principals;
mod private;
mod properties;
mod rare;
mod recovery;
mod rename;
mod reorganize;
mod scoped;
mod sequence;
mod set;
mod settings;
mod showplan;
mod simple;
mod switch;
mod system_procs;
mod textsize;
pub mod trace_flags;
mod tracking;
mod trigger;
mod undeclared;
mod user_types;

mod environment;
mod names;

pub use activity::{Activity, INPUT_BYTES_MAX, Input, InputKind, Published};
pub use backup::{MediaOrder, MediaRows};
pub use batch::{execute_batch, execute_call, execute_transaction};
pub use bulk::{BulkRows, announce_bulk, is_insert_bulk, load_bulk};
pub use ddl_trigger::logon;
pub use environment::name_parts;
pub use figures::{Spread, StatementFigures};
pub use files::{FolderEntry, PathFacts};
pub use global::{drop_global_tables, drop_stale_global_tables};
pub use handles::{plan_handle, sql_handle};
pub use host::{ConfigurationOption, Host, OpenDatabase, no_process};
pub use identity::Identity;
pub use messages::{ServerMessage, server_messages};
pub use plan_cache::{CachedPlan, PlanCache, PlanKind, PlanStatement};
pub use recovery::Recoverable;
pub use rpc::{
    BeginNext, Rpc, RpcName, RpcParam, RpcValue, TableValue, TransactionRequest, well_known,
};
pub use showplan::Telling;
pub use state::{Client, SessionState, SetOptions};
pub use tracking::{clean_tracked, clean_tracked_before};
