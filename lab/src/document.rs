//! A run as data: what `--out DIR` writes as `run.json`, what the report draws, what `lab compare` reads, and, cell by
//! cell, what `--json` prints.
//!
//! Promises:
//! - Everything a reader needs stands in here: the machine, the exact command, the settings of each target, each cell's
//!   figures, its raw series, and every mark that says why a figure is not to be trusted.
//! - Field names are an interface. New ones may come (a reader of an older document finds them empty); none is renamed.
//! - Units are at the end of each name: `_s`, `_ms`, `_us`, `_ns`, `_bytes`, `_per_s`.
//!
//! Knows nothing of who measured, and nothing of how it is shown.

mod cell;
mod machine;
mod series;

pub use cell::{
    Audit, Cell, DeviceFlush, Figure, Latch, Mark, MarkKind, Moment, Profile, Round, Spin, SpinCpu,
    StackShare, Wait, Warmup, WritePhase,
};
pub use machine::{Device, Machine, Node};
pub use series::{Histogram, LatencyMoment, Series, Tick};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The form of the document; rises when a reader of the older form would misread it.
pub const FORMAT: u32 = 1;

/// One `lab run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    pub format: u32,
    pub experiment: String,
    /// A paragraph: what the experiment does, and what it shows.
    pub what: String,
    /// Which of the posts (1 to 5) it repeats; empty: none.
    pub posts: Vec<u8>,
    /// As typed, without passwords.
    pub command: String,
    /// The lab's own.
    pub version: String,
    /// Seconds since 1970, when the run began.
    pub began_unix_s: f64,
    pub seconds: f64,
    /// Ctrl-C, or an error after some cells had been measured: see `marks`.
    pub cut_short: bool,
    pub machine: Machine,
    pub targets: Vec<TargetDescription>,
    /// What the post printed, to stand beside the cells.
    pub published: Vec<Published>,
    /// What this machine cannot show of the experiment, a sentence each.
    pub cannot_show: Vec<String>,
    /// What the cells together say, a sentence each.
    pub conclusions: Vec<String>,
    /// In the order of measuring.
    pub cells: Vec<Cell>,
    /// Of interleaved pairs (`--pairs`).
    pub comparisons: Vec<Comparison>,
    /// About the run as a whole; a cell has its own.
    pub marks: Vec<Mark>,
}

/// A database under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetDescription {
    /// As in [`Cell::target`].
    pub name: String,
    /// As it tells it.
    pub version: String,
    /// Those that matter to the workload, by the target's own names.
    pub settings: BTreeMap<String, String>,
    /// How the workload and the durability were mapped to it, a sentence each.
    pub notes: Vec<String>,
}

/// A row of a post's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Published {
    /// 1 to 5.
    pub post: u8,
    pub machine: String,
    /// What was varied: "40 sessions, all CPUs".
    pub arm: String,
    /// What was measured: "rows/s", "LOGCACHE_ACCESS spins".
    pub figure: String,
    /// As printed: "186,915/s", "x4.5".
    pub published: String,
    /// As a number in the figure's unit, where the print is one.
    pub value: Option<f64>,
    /// Which cells it stands beside: names and values of [`Cell::settings`] (and `sessions`); all of them must agree.
    pub beside: BTreeMap<String, String>,
}

/// Two settings, measured in interleaved pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// What is compared: a key of a cell, as `rows_per_s` or `cpu_ns_per_row`.
    pub figure: String,
    /// The labels of the two arms; the ratio is b over a.
    pub a: String,
    pub b: String,
    pub pairs: usize,
    /// Geometric mean of b/a, and its 95% confidence interval (Student's t on the logarithms).
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    /// The same of a against a and b against b, neighbours in the same run: what nothing changed looks like.
    pub floor: f64,
    pub floor_low: f64,
    pub floor_high: f64,
    /// The least ratio away from 1, up or down, that this many pairs of this noise show in 8 of 10 runs (power 80%).
    pub least_detectable: f64,
    pub verdict: Verdict,
    /// b/a of each pair, in order.
    pub ratios: Vec<f64>,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval leaves out 1, and the effect is larger than what equal arms showed.
    Differs,
    /// The interval holds 1, or the effect is no larger than what equal arms showed.
    #[default]
    CannotTell,
}
