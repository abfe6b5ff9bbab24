//! MariaDB (or MySQL, at an address) under the lab's workloads: one of its own, started for the run, or one that runs
//! already.
//!
//! Promises:
//! - The procedure is a stored one with START TRANSACTION and COMMIT per row or every N; the round trip is a statement
//!   prepared on the server, sent in the binary protocol.
//! - Durability is `innodb_flush_log_at_trx_commit`: 1 flushes at each commit, 0 leaves writing and flushing to the
//!   log writer, once a second, as delayed durability does. On a server that is not the lab's own it is read, and a
//!   cell that asks for another one is refused.
//! - Waits are sampled: from the state of each session's thread in the process list and in the kernel, which costs the
//!   server next to nothing; or from the performance schema where `waits=performance_schema` asks for it.
//!
//! Knows nothing of the lab's documents and nothing of Millrace.
#![forbid(unsafe_code)]

mod own;
mod server;
mod session;
mod sql;
mod waits;

use rival_harness::RivalKind;

pub use server::MariaDb;

/// MariaDB as a target of the lab.
pub static KIND: RivalKind = RivalKind {
    help: (
        "mariadb[?port=N&bin=FILE&user=ACCOUNT&waits=performance_schema] | mysql://USER[:PASSWORD]@HOST[:PORT]",
        "a MariaDB of the lab's own, or one (or a MySQL) that runs already",
    ),
    name: "mariadb",
    aliases: &[],
    schemes: &["mysql", "mariadb"],
    in_process: false,
    check: own::check,
    start: |options, start| Ok(Box::new(MariaDb::start(options, start)?)),
    connect: |address| Ok(Box::new(MariaDb::connect(address)?)),
};
