//! Experiments: a workload that sets up, runs, checks itself and reports.
//!
//! An [`Experiment`] plans cells; the [`Bench`] measures each on a [`Target`], on one clock and the same way for all of
//! them; what comes out is a document ([`Run`]) that the terminal, the report and `lab compare` read. The engine under
//! test is asked only through a session's T-SQL and the statistics everyone sees: in this process ([`embedded`]), or
//! over the wire ([`remote`]). Targets may come from other crates.
//!
//! Knows nothing of command lines, and nothing of the engine's insides.
#![forbid(unsafe_code)]

pub mod audit;
mod batch;
pub mod bench;
mod catalogue;
pub mod checked;
mod commit_batch;
mod cpus;
pub mod document;
mod drive;
pub mod embedded;
mod error;
pub mod experiment;
mod flush;
mod host;
pub mod ledger;
mod limits;
mod load;
pub mod log_device;
mod log_writer_placement;
mod machine;
mod measure;
mod memory_optimised;
pub mod model;
mod native_insert;
pub mod pairs;
pub mod placement;
mod point_read;
mod profile;
mod published;
pub mod remote;
mod script;
mod shards;
mod singleton_insert;
pub mod steady;
pub mod student;
pub mod table;
pub mod target;
pub mod wait_category;
pub mod workload;
mod writelog;

pub use batch::Batch;
pub use bench::{Bench, Ended, run};
pub use catalogue::{EXPERIMENTS, find};
pub use document::{Cell, Run};
pub use error::LabError;
pub use experiment::{Experiment, OwnOption};
pub use steady::Steady;
pub use target::{Done, Figures, Load, Sample, Target, TargetKind};
pub use workload::{Durability, Kind, Mode, Procedure, Settings, Table, Workload};

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
