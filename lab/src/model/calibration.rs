//! The parameters: out of micro-benchmarks, and of the cells of one session.

use super::costs::{self, Lines, Turns};
use super::flush_times::{self, FlushTimes, Point};
use super::parameters::{Parameters, Piece};
use super::posts::Reading;
use super::quiet::{Patience, was_quiet};
use crate::batch::Batch;
use crate::bench::Bench;
use crate::document::Cell;
use crate::embedded::Folder;
use crate::error::LabError;
use crate::workload::{Durability, Kind, Settings, Workload};
use device::{FileSystem, IoMode, RealFs};
use scheduler::{Config, Schedulers};
use std::sync::Arc;
use topology::Topology;
use topology::measure::{self, Effort};

/// What the name of a cell's part is, and this part's.
pub(super) const PART: &str = "model";
pub(super) const CALIBRATION: &str = "calibration";

/// Rows a commit of the calibration: one is a transaction in one record; a few, and so many that the commit is nothing,
/// tell a row and a commit apart.
const FEW: u64 = 2;
const MANY: u64 = 1000;
/// A cache line where there is one CPU only.
const LINE_NS: f64 = 60.0;
/// The log's buffer, the writes that may be outstanding, and how long a session keeps a CPU: the engine's.
const BUFFER_BYTES: f64 = 64.0 * 1024.0 * 1024.0;
const QUEUE_DEPTH: usize = 32;
const QUANTUM_NS: f64 = 4e6;
/// As a record of the calibration's rows, before they are known: only to measure the copy.
const RECORD_BYTES: usize = 160;

/// What was measured without an engine.
pub(super) struct Micro {
    line_ns: f64,
    lines: Lines,
    turns: Turns,
    /// The lock with a copy and without.
    lock: (f64, f64),
    spin_ns: f64,
    /// Nanoseconds of a cache line that comes in order from memory.
    sweep_ns: Option<f64>,
}

impl Micro {
    /// On the CPUs of `topology`.
    pub fn measure(
        bench: &mut Bench<'_>,
        topology: &Topology,
        patience: &mut Patience,
    ) -> Result<Micro, LabError> {
        patience.wait(bench);
        bench.progress().step("measuring cache lines, the lock, and memory");
        let cpus: Vec<usize> = topology.cpu_ids().into_iter().take(2).collect();
        let effort =
            Effort { rounds: 30, memory_bytes: 64 << 20, reads: 2_000, ..Effort::default() };
        // Rounds are short: thirty of them may all fall into a time slice of somebody else's.
        let ways = measure::lines(&cpus, Effort { rounds: 400, ..effort })?;
        let line_ns = ways.iter().map(|line| line.ns.p10).fold(f64::INFINITY, f64::min);
        let memory = measure::memory(topology, effort)?;
        let lines = costs::lines(&cpus, RECORD_BYTES)?;
        let lock = costs::on(cpus.first().copied(), || costs::lock(RECORD_BYTES))?;
        let schedulers = Schedulers::start(config(bench))?;
        let turns = costs::turns(&schedulers);
        schedulers.stop();
        costs::on(cpus.first().copied(), runtime::backoff::calibrate)?;
        Ok(Micro {
            line_ns: if line_ns.is_finite() { line_ns } else { LINE_NS },
            lines,
            turns: turns?,
            lock,
            spin_ns: telemetry::spins::cost().map_or(10.0, |cost| cost.ns),
            sweep_ns: memory.first().map(|of| 64.0 / (of.gib_per_s.p90 * 1.073_741_824)),
        })
    }

    /// In a sentence.
    pub fn tell(&self) -> String {
        format!(
            "Measured without an engine: a cache line {:.0} ns from CPU to CPU, {:.1} to read in order from another's \
             cache, {:.1} to write; the lock {:.1}, a record's copy {:.1}, a spin {:.1}; a task's turn {:.0} after a wake on \
             its scheduler, {:.0} from another.",
            self.line_ns,
            self.lines.read_ns,
            self.lines.taken_ns,
            self.lock.1,
            self.lock.0 - self.lock.1,
            self.spin_ns,
            self.turns.own_ns,
            self.turns.other_ns
        )
    }
}

fn config(bench: &Bench<'_>) -> Config {
    Config { cpus: bench.settings().cpus.clone(), ..Config::default() }
}

/// The device as it is now, when the machine is quiet.
pub(super) fn flushes(
    bench: &mut Bench<'_>,
    patience: &mut Patience,
) -> Result<FlushTimes, LabError> {
    patience.wait(bench);
    bench.progress().step("measuring the device's flushes, alone and beside busy CPUs");
    let folder = Folder::new(&bench.settings().data, false)?;
    let schedulers = Schedulers::start(config(bench))?;
    let fs: Arc<dyn FileSystem> = RealFs::new(IoMode::Auto)?;
    let measured = flush_times::measure(&schedulers, &fs, &folder.path);
    schedulers.stop();
    measured
}

/// In a sentence.
pub(super) fn tell_flushes(flushes: &FlushTimes) -> String {
    let flush = |bytes: f64, in_flight: f64, busy: bool| {
        let same = |p: &&Point| p.bytes == bytes && p.in_flight == in_flight && p.busy == busy;
        let found = flushes.points().iter().find(same);
        found.map_or_else(|| "-".to_owned(), |p| format!("{:.0}", p.mean_ns() / 1e3))
    };
    let row = |bytes: f64, name: &str| {
        let cell = |n| format!("{} ({})", flush(bytes, n, false), flush(bytes, n, true));
        format!("{name} {} / {} / {}", cell(1.0), cell(2.0), cell(8.0))
    };
    format!(
        "Durable writes of the device, mean us with 1 / 2 / 8 in flight (and with every CPU computing): {}; {}; {}; {}. One \
         of 4 KiB takes {:.1} us of the CPUs.",
        row(4096.0, "4 KiB"),
        row(16384.0, "16 KiB"),
        row(65536.0, "64 KiB"),
        row(1048576.0, "1 MiB"),
        flushes.cpu_ns(4096.0, 2.0) / 1e3
    )
}

/// One session on one CPU, the first of the run: a commit for each row, for a few, and for many; and the report of post 2.
pub(super) fn cells(bench: &Bench<'_>, topology: &Topology) -> Vec<(usize, Workload)> {
    let settings = Settings {
        sessions: vec![1],
        durability: vec![Durability::Delayed],
        commit_every: vec![1, FEW, MANY],
        ..bench.settings().clone()
    };
    let cpu = topology.cpus.first().map_or(0, |cpu| cpu.id);
    let mut all = settings.workloads(Kind::Insert, &[]);
    let mut report = settings.workloads(Kind::Batch(Batch::Report), &[]);
    report.truncate(1);
    report.iter_mut().for_each(|workload| workload.size = 20_000);
    all.extend(report);
    all.iter_mut().for_each(|workload| {
        workload.cpus = vec![cpu];
        workload.arm.insert(PART.to_owned(), CALIBRATION.to_owned());
    });
    all.into_iter().map(|workload| (0, workload)).collect()
}

fn is_calibration(cell: &&Cell) -> bool {
    cell.settings.get(PART).is_some_and(|part| part == CALIBRATION)
}

fn is_report(cell: &Cell) -> bool {
    cell.figures.keys().any(|name| name.contains("look-ups"))
}

/// The middle of several; of an even number the mean of the two.
pub(super) fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_unstable_by(f64::total_cmp);
    let last = all.len().checked_sub(1)?;
    Some((all[last / 2] + all[last.div_ceil(2)]) / 2.0)
}

/// Out of the cells of inserts, medians over their repeats, and what was measured without an engine.
pub(super) fn parameters(
    cells: &[Cell],
    micro: &Micro,
    flushes: &FlushTimes,
) -> Result<Parameters, LabError> {
    let of = |commit_every: u64, figure: &dyn Fn(&Cell) -> f64| {
        let all = cells.iter().filter(is_calibration).filter(|cell| !is_report(cell));
        let all = all.filter(|cell| cell.commit_every == commit_every && cell.rows > 0);
        let all: Vec<&Cell> = all.collect();
        let quiet: Vec<f64> =
            all.iter().filter(|cell| was_quiet(cell)).map(|cell| figure(cell)).collect();
        let told =
            if quiet.is_empty() { all.iter().map(|cell| figure(cell)).collect() } else { quiet };
        median(told).ok_or(LabError::NoWindow)
    };
    let cost = |cell: &Cell| cell.cpu_ns_per_row.unwrap_or(1e9 / cell.rows_per_s.max(1.0));
    let bytes = |cell: &Cell| cell.log_bytes_per_row;
    let copy_ns = (micro.lock.0 - micro.lock.1).max(1.0);
    // A row's share of the commit is one over the rows of the transaction.
    let parts = |few: f64, many: f64| {
        let commit = (few - many) / (1.0 / FEW as f64 - 1.0 / MANY as f64);
        (many - commit / MANY as f64, commit)
    };
    let (row_ns, commit_ns) = parts(of(FEW, &cost)?, of(MANY, &cost)?);
    let (row_bytes, commit_bytes) = parts(of(FEW, &bytes)?, of(MANY, &bytes)?);
    let piece = |ns: f64, bytes: f64| Piece { ns: (ns - copy_ns).max(0.0), bytes: bytes.max(32.0) };
    Ok(Parameters {
        single: piece(of(1, &cost)?, of(1, &bytes)?),
        row: piece(row_ns, row_bytes),
        commit: piece(commit_ns, commit_bytes),
        copy_ns,
        lock_ns: micro.lock.1,
        line_ns: micro.line_ns,
        taken_ns: micro.lines.taken_ns,
        read_ns: micro.lines.read_ns,
        spin_ns: micro.spin_ns,
        turn_ns: micro.turns.own_ns,
        turn_other_ns: micro.turns.other_ns,
        flushes: flushes.clone(),
        buffer_bytes: BUFFER_BYTES,
        // 64 MiB are more than a cache holds.
        buffer_is_cached: false,
        queue_depth: QUEUE_DEPTH,
        quantum_ns: QUANTUM_NS,
        sibling: 1.0,
    })
}

/// Of post 2's report.
pub(super) fn reading(cells: &[Cell], micro: &Micro) -> Option<Reading> {
    let reports = cells.iter().filter(is_calibration).filter(|cell| is_report(cell));
    let row_ns = median(reports.filter_map(|cell| cell.cpu_ns_per_row).collect())?;
    // The columns of a row as they are stored, its key and its header.
    Some(Reading { row_ns, row_bytes: 250.0, line_ns: micro.sweep_ns? })
}

#[cfg(test)]
fn some_micro() -> Micro {
    Micro {
        line_ns: 50.0,
        lines: Lines { read_ns: 10.0, taken_ns: 12.0 },
        turns: Turns { own_ns: 200.0, other_ns: 600.0 },
        lock: (50.0, 20.0),
        spin_ns: 15.0,
        sweep_ns: Some(5.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_are_those_of_the_cells() {
        let cell = |commit_every: u64, ns: f64, bytes: f64| Cell {
            commit_every,
            rows: 1000,
            rows_per_s: 1e9 / ns,
            cpu_ns_per_row: Some(ns),
            log_bytes_per_row: bytes,
            settings: [(PART.to_owned(), CALIBRATION.to_owned())].into(),
            ..Cell::default()
        };
        // A row of 500 ns and 150 bytes, a commit of 800 and 40; a single of 450 and 160. One repeat was disturbed.
        let mut cells = vec![
            cell(1, 450.0, 160.0),
            cell(2, 500.0 + 400.0, 170.0),
            cell(1000, 500.0 + 0.8, 150.0 + 0.04),
            cell(1, 900.0, 160.0),
            cell(1, 450.0, 160.0),
        ];
        let (micro, flushes) = (some_micro(), FlushTimes::constant(1e5));
        let p = parameters(&cells, &micro, &flushes).expect("all are there");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} and not {b}");
        near(p.single.ns + p.copy_ns, 450.0);
        near(p.row.ns + p.copy_ns, 500.0);
        near(p.commit.ns + p.copy_ns, 800.0);
        near(p.row.bytes, 150.0);
        near(p.commit.bytes, 40.0);
        assert_eq!((p.copy_ns, p.lock_ns), (30.0, 20.0));
        cells.remove(1);
        assert!(parameters(&cells, &micro, &flushes).is_err());
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
