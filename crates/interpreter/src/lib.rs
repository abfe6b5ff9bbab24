//! Batches and procedures, compiled once to register bytecode and run.
//!
//! Promises: a program is compiled once for all sessions, its statements are planned once per session and catalog version
//! (docs/plan-cache.md); the loop of a procedure over a singleton insert allocates nothing and writes no shared memory
//! per row besides what the storage engine writes; an error ends what SQL Server ends (statement, batch or transaction) and nothing more.
//!
//! Knows nothing of the wire, of other sessions, of files; statements without a plan are done by `commands`, whole
//! databases and server settings come through [`session_state::Host`].

#![forbid(unsafe_code)]

mod batch;
mod bulk;
mod dispatch;
mod programs;
mod request;
mod result_sets;
mod rpc;
mod system_calls;

mod activation;
mod arguments;
mod atomic;
mod block;
mod classic;
mod code;
mod compile;
mod compiled;
mod insert;
mod kind;
mod machine;
mod machine_code;
mod mistakes;
mod named_database;
mod op;
mod plan;
mod point;
mod scalar;
mod singleton;
mod statement;
mod vm;
mod whole;

mod figures;
mod handles;
mod plan_cache;

mod cache;
mod call;
mod cursor;
mod ddl_trigger;
mod describe;
mod elsewhere;
mod exec;
mod function;
mod global;
mod parameter;
mod prepared_calls;
mod showplan;
mod simple;
mod textsize;
mod trigger;
mod undeclared;
mod usual_call;

pub use batch::{execute_batch, execute_call, execute_transaction};
pub use bulk::{BulkRows, announce_bulk, is_insert_bulk, load_bulk};
pub use classic::{SharedForms, set_shared_forms};
pub use compiled::use_machine_code;
pub use ddl_trigger::{classify, logon};
pub use figures::{Spread, StatementFigures};
pub use global::{drop_global_tables, drop_stale_global_tables};
pub use handles::{plan_handle, sql_handle};
pub use plan_cache::{CacheLookups, CachedPlan, PlanCache, PlanKind, PlanStatement};
pub use programs::{Programs, Session};
pub use rpc::{
    BeginNext, Rpc, RpcName, RpcParam, RpcValue, TableValue, TransactionRequest, well_known,
};
