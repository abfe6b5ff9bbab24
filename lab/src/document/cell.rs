//! The figures of one cell: one combination of settings on one target.

use super::series::{Histogram, Series};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One measured combination of settings. The keys up to `version` are those that `--json` has always printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    pub experiment: String,
    /// A [`super::TargetDescription`]'s name.
    pub target: String,
    /// `procedure` or `roundtrip`; another word where the experiment has no such choice.
    pub mode: String,
    pub sessions: usize,
    pub durability: String,
    /// Rows of a transaction.
    pub commit_every: u64,
    pub rows_per_insert: u64,
    pub log_reserve: String,
    pub log_writer: String,
    /// Length of the measured window.
    pub seconds: f64,
    /// Rows (or reads, or writes: what the experiment counts) acknowledged in the window.
    pub rows: u64,
    /// Rows acknowledged in all, and found in the table afterwards.
    pub rows_verified: u64,
    pub rows_per_s: f64,
    pub commits_per_s: f64,
    /// Commit latency, from the call to the acknowledgement; of a round trip over the wire, the round trip's. Full
    /// commits are all timed, delayed ones by sample. Null when none was timed.
    pub p10_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub commits_timed: u64,
    /// CPU time of the engine's process in the window, user and system; null for a server in another process.
    pub cpu_s: Option<f64>,
    /// Schedulers, one per CPU; 0 for a target that has none.
    pub schedulers: usize,
    pub log_flushes_per_s: f64,
    pub log_bytes_per_flush: f64,
    pub log_mb_per_s: f64,
    pub log_bytes_per_row: f64,
    pub context_switches_per_s: f64,
    pub page_reads: u64,
    pub page_writes: u64,
    /// The device's own flush of one 4 KiB block, alone, measured before the cell (full durability).
    pub device_flush: Option<DeviceFlush>,
    /// By the target's own name of the wait; those that occurred, and WRITELOG on Millrace and SQL Server.
    pub waits: BTreeMap<String, Wait>,
    /// By SQL Server's name, every class.
    pub spins: BTreeMap<String, Spin>,
    /// By SQL Server's name; those that were waited for.
    pub latches: BTreeMap<String, Latch>,
    /// The course of the whole run, warm-up included, about four moments a second.
    pub course: Vec<Moment>,
    pub version: String,

    /// Every setting of this cell by name, `durability` and the like included, `sessions` and `target` not: what
    /// tells one line of a plot from another.
    pub settings: BTreeMap<String, String>,
    /// The settings in which this run's cells differ, as `full, spinlock`; empty when they differ in none.
    pub label: String,
    /// Set when the cell belongs to an interleaved pair.
    pub round: Option<Round>,
    pub cpu_ns_per_row: Option<f64>,
    /// What was cut before the window.
    pub warmup: Warmup,
    /// Why the figures are not to be trusted as they stand.
    pub marks: Vec<Mark>,
    /// Commits in flight, from three sources.
    pub audit: Option<Audit>,
    /// What the spins cost, by the calibrated clock; by spinlock.
    pub spin_cpu: BTreeMap<String, SpinCpu>,
    /// Where a log write's time went: `queue`, `submit`, `device`, `wake-up`.
    pub log_writes: Vec<WritePhase>,
    /// Of the window; empty when no latency was recorded.
    pub latency: Histogram,
    /// CPUs that the threads of the online schedulers may run on at the window's end, as the kernel has it, ascending; empty
    /// where the schedulers are another process's.
    pub scheduler_cpus: Vec<usize>,
    /// Nodes that these schedulers are counted by (docs/placement.md, "Soft-NUMA"), ascending.
    pub scheduler_nodes: Vec<usize>,
    /// Figures that only this experiment has, by name.
    pub figures: BTreeMap<String, Figure>,
    /// The wait types of `waits`, by the taxonomy that all targets share (`log write`, `log space`, `lock`, `latch`,
    /// `data I/O`, `client`, `idle`, `CPU and other`); a wait without an entry is `CPU and other`.
    pub wait_categories: BTreeMap<String, String>,
    /// Left out of `--json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Left out of `--json`; set when `--profile` was given and sampling was possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

impl Cell {
    /// The cell for `--json`: without raw series, histogram and profile.
    pub fn brief(&self) -> Cell {
        Cell { series: None, profile: None, latency: Histogram::default(), ..self.clone() }
    }

    pub fn is_marked(&self, kind: MarkKind) -> bool {
        self.marks.iter().any(|mark| mark.kind == kind)
    }
}

/// Latency of the device's own durable write of 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceFlush {
    pub p10_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub flushes_per_s: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wait {
    pub waiting_tasks_count: u64,
    /// The signal wait included, as in SQL Server.
    pub wait_time_ms: f64,
    /// The longest of the window; `None` where only the longest of the server's life is known.
    pub max_wait_time_ms: Option<f64>,
    pub signal_wait_time_ms: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spin {
    pub collisions: u64,
    pub spins: u64,
    pub spins_per_collision: f64,
    pub sleep_time_ms: f64,
    pub backoffs: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latch {
    pub waiting_requests_count: u64,
    pub wait_time_ms: f64,
    /// As of a [`Wait`].
    pub max_wait_time_ms: Option<f64>,
}

/// The rate at a moment of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Moment {
    /// Seconds since the sessions started.
    pub at_s: f64,
    /// Over the time since the moment before.
    pub rows_per_s: f64,
}

/// A place among interleaved pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// From 0.
    pub pair: usize,
    /// Measured as the how-manieth of the whole run, from 0.
    pub turn: usize,
    /// The second arm, b, and not the first.
    pub b: bool,
}

/// The part of the load that was run and not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Warmup {
    pub seconds: f64,
    /// Throughput and mix of waits had settled when the window began; null when that was not asked (`--rows`, or a
    /// length given by `--warmup`).
    pub steady: Option<bool>,
    /// What the test saw, in words.
    pub why: String,
}

/// A reason for doubt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    pub kind: MarkKind,
    /// A sentence for the reader.
    pub text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// Ended before its time: Ctrl-C, or an error.
    CutShort,
    /// Throughput or the mix of waits changed over the window.
    Drifted,
    /// The warm-up ended at its limit, not because the load had settled.
    NotSteady,
    /// The hypervisor took CPU time away.
    Steal,
    /// The three counts of commits in flight do not agree: the accounting is wrong, or the load was not steady.
    Audit,
    /// The load's own client was short of CPU: it may be what was measured.
    Client,
    /// What the load checks itself for was found: the figures are of a server that is wrong.
    Wrong,
    /// Something could not be measured here, and why.
    #[default]
    Unmeasured,
}

/// Little's law: three sources of the mean number of commits in flight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Audit {
    /// Commits a second times the mean commit latency.
    pub by_throughput: f64,
    /// Looked at and counted, weighted by time.
    pub by_count: f64,
    /// Time waited for the log, of all tasks, over the window.
    pub by_waits: f64,
    /// Looks that `by_count` is made of.
    pub looks: u64,
    /// The largest distance of one from their median, as a share of it.
    pub spread: f64,
    /// `spread` is within the tolerance.
    pub agrees: bool,
    pub tolerance: f64,
}

/// CPU time spent spinning for a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpinCpu {
    pub spins_per_row: f64,
    pub ns_per_spin: f64,
    /// Cycles of the clock that the calibration counted, where there is one.
    pub cycles_per_spin: Option<f64>,
    /// Of the process's CPU time in the window, 0 to 1: spins times the cost of one.
    pub share_by_clock: f64,
    /// The same by the profile: samples with the lock's back-off on the stack.
    pub share_by_profile: Option<f64>,
}

/// One phase of the log's writes (or of a commit's wait for one).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WritePhase {
    pub phase: String,
    pub count: u64,
    pub mean_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

/// A figure of one experiment's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figure {
    pub value: f64,
    /// `us`, `rows/s`, `bytes` ...
    pub unit: String,
    /// What it is, in a few words.
    pub what: String,
}

/// CPU samples of the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// How it was sampled: `perf cpu-clock 997 Hz, frame pointers`.
    pub method: String,
    pub samples: u64,
    /// Samples that the kernel had no room for.
    pub lost: u64,
    /// Folded stacks, root first, frames separated by `;`, with their counts: the most frequent ones.
    pub folded: Vec<(String, u64)>,
    /// Drawn: root at the bottom.
    pub flame_svg: String,
    /// Drawn: merged from the leaf, who calls it below.
    pub inverted_svg: String,
    /// Time not on the CPU, from the engine's own wait accounting, as folded stacks in microseconds.
    pub off_cpu: Vec<(String, u64)>,
    /// Each function's share of the samples, by itself and with what it calls; the largest first.
    pub functions: Vec<StackShare>,
    /// Each spinlock's share of the samples, by SQL Server's name.
    pub spinlocks: Vec<StackShare>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StackShare {
    pub name: String,
    /// 0 to 1.
    pub itself: f64,
    pub total: f64,
}
