//! PostgreSQL under the lab's workloads: one of its own, started for the run, or one that runs already.
//!
//! Promises:
//! - The procedure is PL/pgSQL with a COMMIT per row or every N, called outside a transaction; the round trip is a
//!   prepared statement of the extended protocol, written and answered in one exchange.
//! - Durability is `synchronous_commit`, set for each session: `on` waits for the log's flush, `off` leaves it to the
//!   WAL writer (within `3 x wal_writer_delay`), as delayed durability does.
//! - Waits are sampled from `pg_stat_activity` under PostgreSQL's own names (`LWLock:WALWrite`).
//!
//! Knows nothing of the lab's documents and nothing of Millrace.
#![forbid(unsafe_code)]

mod own;
mod server;
mod session;
mod sql;
mod waits;

use rival_harness::RivalKind;

pub use own::EXPECTED_MAJOR;
pub use server::Postgres;

/// PostgreSQL as a target of the lab.
pub static KIND: RivalKind = RivalKind {
    help: (
        "postgres[?port=N&bin=DIR&user=ACCOUNT] | postgres://USER[:PASSWORD]@HOST[:PORT][/DATABASE]",
        "a PostgreSQL of the lab's own, or one that runs already",
    ),
    name: "postgres",
    aliases: &["postgresql"],
    schemes: &["postgres", "postgresql"],
    in_process: false,
    check: own::check,
    start: |options, start| Ok(Box::new(Postgres::start(options, start)?)),
    connect: |address| Ok(Box::new(Postgres::connect(address)?)),
};
