//! An experiment: a name, a paragraph, the post's own figures, and a plan of cells.

use crate::bench::Bench;
use crate::document::{Cell, Published};
use crate::error::LabError;
use crate::workload::Settings;

/// A plan of cells.
pub trait Experiment: Sync {
    fn name(&self) -> &'static str;

    /// A paragraph for `lab list` and the report: what is done, what it shows.
    fn what(&self) -> &'static str;

    /// Which of the posts (1 to 5) it repeats.
    fn posts(&self) -> &'static [u8];

    /// The post's figures.
    fn published(&self) -> Vec<Published> {
        Vec::new()
    }

    /// Flags of `lab run` that it takes besides `--seconds`, `--warmup`, `--data`, `--out`, `--json`, `--keep`, `--cpus`
    /// and `--profile`; the others are refused when given.
    fn takes(&self) -> &'static [&'static str];

    /// Options of its own, given as `--set NAME=VALUE[,VALUE...]`.
    fn own_options(&self) -> &'static [OwnOption] {
        &[]
    }

    /// Settings for what is not given on the command line.
    fn defaults(&self) -> Settings {
        Settings::default()
    }

    /// Whether it runs against a target; else it has no `--target`.
    fn has_target(&self) -> bool {
        true
    }

    /// Figures of its own, worked out of a cell that a target measured.
    fn add_figures(&self, cell: &mut Cell) {
        let _ = cell;
    }

    /// Measures: each cell goes to the bench as soon as it is known, so that a later failure does not take it back.
    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError>;
}

/// An option of one experiment's own.
#[derive(Clone, Copy, Debug)]
pub struct OwnOption {
    pub name: &'static str,
    /// Allowed ones, in words or as a list.
    pub values: &'static str,
    pub default: &'static str,
    pub what: &'static str,
}
