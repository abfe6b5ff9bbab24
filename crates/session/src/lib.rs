//! A user's session, and the instance it belongs to.
//!
//! Promise: [`Instance::open`] makes or recovers everything in a data folder and leaves it to nobody else until
//! [`Instance::shutdown`]; a [`Session`] runs batches one after the other, keeps its database, options and transaction
//! between them, and tells everything, errors too, to a [`ResultSink`].
//!
//! Knows nothing of wire protocols, of files' formats, or of how a statement is run.

#![forbid(unsafe_code)]

mod access;
mod affinity;
mod affinity_masks;
mod alter;
mod attach;
mod auditing;
mod auditor;
mod backup;
mod config;
mod configuration;
mod create;
mod database_collation;
mod database_options;
mod ending;
mod errors;
mod facts;
mod gate;
mod governor;
mod host;
mod idle_memory;
mod inspect;
mod instance;
mod kept;
mod listeners;
mod listening;
mod login;
mod logins;
mod media;
mod memory;
mod modify_file;
mod msdb;
mod options;
mod own_files;
mod recovering;
mod registry;
mod remove_file;
mod restore;
mod session;
mod soft_numa;
pub mod switches;
mod system_databases;
mod system_sessions;
mod trace_flags;
mod tracking;
mod watchdog;

pub use auditing::FailedLogin;
pub use config::{InstanceConfig, OpenError};
pub use executor::{
    Collected, ColumnMeta, Command, Done, EnvironmentChange, ResultSet, ResultSink, SqlError,
    SqlMessage,
};
pub use instance::Instance;
pub use interpreter::{
    BeginNext, BulkRows, Rpc, RpcName, RpcParam, RpcValue, TableValue, TransactionRequest,
    is_insert_bulk,
};
pub use listening::{Listening, NodeMap, nodes_of};
pub use login::{Login, Recovered};
pub use session::Session;
pub use session_state::Recoverable;
pub use switches::Switches;
pub use system_views::{ConnectionFacts, ListenerFacts, SessionFacts, Traffic};
