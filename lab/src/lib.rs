//! Experiments: a workload that sets up, runs, checks itself and reports.
//!
//! Each experiment runs cells (one per number of sessions, say), measures a window after a warm-up,
//! and returns plain figures; [`table`] and [`report`] show them. The engine under test is asked only
//! through a session's T-SQL and the statistics everyone sees: in this process, or over the wire
//! ([`remote`]).
//!
//! Knows nothing of command lines, and nothing of the engine's insides.
#![forbid(unsafe_code)]

mod cell;
mod error;
mod flush;
pub mod ledger;
mod load;
pub mod log_device;
mod measure;
pub mod remote;
pub mod report;
mod script;
pub mod singleton_insert;
pub mod table;

pub use cell::{Cell, DeviceFlush, Latch, Moment, Spin, Wait};
pub use error::LabError;
pub use singleton_insert::Options;

/// An experiment's name, and what it shows.
pub struct Experiment {
    pub name: &'static str,
    pub what: &'static str,
}

/// Every experiment there is.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "singleton-insert",
        what: "N sessions insert row after row into a clustered table, each row its own transaction, \
               from a loop in a procedure, or one prepared statement per round trip (posts 3, 4 and 5)",
    },
    Experiment {
        name: "point-read",
        what: "N sessions read single rows of a million by key, at random, one prepared statement per \
               round trip (needs --target mssql://...)",
    },
];

/// What a running experiment tells while it runs.
pub trait Progress {
    /// A cell begins; its place among all.
    fn begin(&mut self, index: usize, cells: usize, title: &str);
    /// A step without figures: "creating the database".
    fn step(&mut self, what: &str);
    /// Rows acknowledged so far, and their present rate.
    fn tick(&mut self, elapsed_s: f64, rows: u64, rows_per_s: f64, warm: bool);
    /// A cell has ended.
    fn end(&mut self, cell: &Cell);
}

#[cfg(test)]
mod tests;
