//! SQLite under the lab's workloads, in the lab's own process: one connection and one thread for each session.
//!
//! Promises:
//! - "Procedure" is a loop over a prepared statement in the session's thread, each row (or every N) a transaction of its
//!   own; "round trip" is the same with one row a call: there is no server and no network, and the notes say so.
//! - Durability is `PRAGMA synchronous` in WAL mode: FULL flushes the log at each commit; NORMAL flushes it at
//!   checkpoints only, so that a power loss takes the last commits and leaves the database whole, as delayed durability
//!   does.
//! - SQLite has one writer at a time. Sessions queue for a mutex of the process, as an application that is tuned for
//!   throughput does; `sqlite?queue=busy` leaves them to SQLite's own busy handler.
//! - Waits are sampled from what each session says it does and what the kernel says of its thread.
//!
//! Knows nothing of the lab's documents and nothing of Millrace.
#![forbid(unsafe_code)]

mod database;
mod gauge;
mod session;
mod sql;

use rival_harness::{RivalError, RivalKind};

pub use database::Sqlite;

/// SQLite as a target of the lab.
pub static KIND: RivalKind = RivalKind {
    help: ("sqlite[?queue=mutex|busy&page=BYTES]", "SQLite, in this process"),
    name: "sqlite",
    aliases: &["sqlite:"],
    schemes: &[],
    in_process: true,
    check: |options| database::options(options).map(drop),
    start: |options, start| Ok(Box::new(Sqlite::start(options, start)?)),
    connect: |_| Err(RivalError::plain("SQLite runs in this process and has no address")),
};

#[cfg(test)]
mod tests;
