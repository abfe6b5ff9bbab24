//! The rivals as targets of the lab: one run, one document, one plot for Millrace, PostgreSQL, MariaDB and SQLite.
//!
//! Promises:
//! - A binary that registers [`KINDS`] has them all; one that does not compiles none of their drivers.
//! - The driver, the clock, the warm-up and the window are the lab's own, the same as for Millrace.
//! - Rows acknowledged are counted in the table at the end of each cell, or the cell is void.
//!
//! Knows nothing of any one database.
#![forbid(unsafe_code)]

mod target;

pub use target::Registered;

use lab::TargetKind;

/// All rivals there are.
pub static KINDS: [&dyn TargetKind; 3] = [
    &Registered(&rival_postgres::KIND),
    &Registered(&rival_mariadb::KIND),
    &Registered(&rival_sqlite::KIND),
];
