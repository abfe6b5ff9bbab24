//! The figures of one cell, as `--json` prints them. Field names are part of the interface.

use crate::{LabError, Progress};
use serde::Serialize;
use std::collections::BTreeMap;

/// One measured combination of settings.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub experiment: &'static str,
    pub target: &'static str,
    pub mode: &'static str,
    pub sessions: usize,
    pub durability: &'static str,
    pub commit_every: u64,
    pub rows_per_insert: u64,
    pub log_reserve: &'static str,
    pub log_writer: &'static str,
    /// Length of the measured window.
    pub seconds: f64,
    /// Rows acknowledged in the window.
    pub rows: u64,
    /// Rows acknowledged in all, and found in the table afterwards.
    pub rows_verified: u64,
    pub rows_per_s: f64,
    pub commits_per_s: f64,
    /// Commit latency, from the call to the acknowledgement. Full commits are all timed, delayed ones
    /// by sample. Null when none was timed.
    pub p10_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub commits_timed: u64,
    /// CPU time of the process in the window, user and system; null for a server in another process.
    pub cpu_s: Option<f64>,
    /// Schedulers, one per CPU.
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
    /// By SQL Server's name; those that occurred, and WRITELOG.
    pub waits: BTreeMap<String, Wait>,
    /// By SQL Server's name, every class.
    pub spins: BTreeMap<String, Spin>,
    /// By SQL Server's name; those that were waited for.
    pub latches: BTreeMap<String, Latch>,
    /// The course of the whole run, warm-up included.
    pub course: Vec<Moment>,
    pub version: &'static str,
}

/// Latency of the device's own durable write of 4 KiB.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DeviceFlush {
    pub p10_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    pub flushes_per_s: f64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Wait {
    pub waiting_tasks_count: u64,
    pub wait_time_ms: f64,
    pub max_wait_time_ms: f64,
    pub signal_wait_time_ms: f64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Spin {
    pub collisions: u64,
    pub spins: u64,
    pub spins_per_collision: f64,
    pub sleep_time_ms: f64,
    pub backoffs: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Latch {
    pub waiting_requests_count: u64,
    pub wait_time_ms: f64,
    pub max_wait_time_ms: f64,
}

/// The rate at a moment of the run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Moment {
    /// Seconds since the sessions started.
    pub at_s: f64,
    /// Over the time since the moment before.
    pub rows_per_s: f64,
}

/// Runs a cell for each number of sessions; the first that fails ends the run.
pub(crate) fn each_cell(
    sessions: &[usize],
    progress: &mut dyn Progress,
    mut run: impl FnMut(usize, &mut dyn Progress) -> Result<Cell, LabError>,
) -> Result<Vec<Cell>, LabError> {
    let mut cells = Vec::new();
    for (index, &n) in sessions.iter().enumerate() {
        let title = format!("{n} session{}", if n == 1 { "" } else { "s" });
        progress.begin(index, sessions.len(), &title);
        let cell = run(n, progress)?;
        progress.end(&cell);
        cells.push(cell);
    }
    Ok(cells)
}
