//! `predict`: parameters measured here, held against cells measured here, then taken to other machines.

use super::machine::Machine;
use super::posts::{self, Reading};
use super::simulation::{Load, Outcome, Parameters, Reserve, Writer, simulate};
use crate::batch::Batch;
use crate::bench::Bench;
use crate::document::{Cell, Figure, Published};
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::published::{POST_1, POST_3, Post};
use crate::workload::{Durability, Kind, Settings, Workload};
use runtime::clock;
use runtime::spin::SpinLock;
use telemetry::SpinClass;
use topology::Topology;
use topology::measure::{self, Effort};

/// `predict`.
pub struct Predict;

const OPTIONS: [OwnOption; 1] = [OwnOption {
    name: "machine",
    values: "SOCKETSxCORES[xTHREADS][@GHZ], or a folder with a copy of a machine's /sys",
    default: "2x10x2@2.3",
    what: "machine whose rates are told, as modelled",
}];

const MODELLED: &str = "rows/s, modelled";
const OVER: &str = "modelled over measured";
const PART: &str = "model";
const CALIBRATION: &str = "calibration";
const HELD_OUT: &str = "held out";
/// Seconds of a load that are simulated.
const SECONDS: f64 = 0.05;
const DURABLE_SECONDS: f64 = 0.5;
/// Within this much a prediction is a hit, and two rates are as good as equal.
const HIT: f64 = 0.2;
const EQUAL: f64 = 0.05;
/// What is not measured: a wake-up on a scheduler, and a cache line where there is one CPU only.
const WAKE_NS: f64 = 300.0;
const LINE_NS: f64 = 60.0;

const POST_2: Post = (2, "2 x 6-core X5690 3.47 GHz, SQL Server 2008 R2");

impl Experiment for Predict {
    fn name(&self) -> &'static str {
        "predict"
    }

    fn what(&self) -> &'static str {
        "A discrete-event model of the log's tail, lanes, the spinlock with back-off, flushes, schedulers and cache lines \
         by distance. Its parameters are measured here: a cache line from CPU to CPU, the lock and the copy, a spin, the \
         device's flush, and two cells of one session. It is held against sixteen cells that it has not seen, then set \
         beside the posts' ratios, and tells rates of another machine. All of that is modelled, and says so. On a \
         loaded machine a cell's rate is compared for the CPU time that it had."
    }

    fn posts(&self) -> &'static [u8] {
        &[1, 2, 3]
    }

    fn published(&self) -> Vec<Published> {
        let row = |post, arm: &str, published: &str| Published::of(post, arm, "ratio", published);
        vec![
            row(POST_1, "log writer together, apart", "55 s, 85 s"),
            row(POST_1, "the same, memory-optimised", "10.434 s, 18.388 s"),
            row(POST_2, "remote memory", "about 5%"),
            row(
                POST_3,
                "log writer's core in, out of the mask, and with TF 8015",
                "187, 437, 500 thousand/s",
            ),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["buffer-pool-mb"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
    }

    fn defaults(&self) -> Settings {
        Settings { seconds: 1.5, warmup_seconds: Some(0.5), ..Settings::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let named = bench.settings().own.get("machine").cloned();
        let named = named.unwrap_or_else(|| vec![OPTIONS[0].default.to_owned()]);
        let parse = |name: &String| Machine::parse(name).map_err(LabError::Options);
        let machines = named.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let topology = Topology::machine()
            .ok_or_else(|| LabError::Options("the system does not tell its CPUs".to_owned()))?;
        let mut here = Machine::of(topology, "here");
        here.ghz = telemetry_ghz();
        bench.progress().step("measuring cache lines, the lock, and memory");
        let cpus: Vec<usize> = topology.cpu_ids().into_iter().take(2).collect();
        let effort =
            Effort { rounds: 30, memory_bytes: 64 << 20, reads: 2_000, ..Effort::default() };
        let lines = measure::lines(&cpus, effort)?;
        let line_ns = lines.iter().map(|line| line.ns.p10).fold(f64::INFINITY, f64::min);
        let line_ns = if line_ns.is_finite() { line_ns } else { LINE_NS };
        let memory = measure::memory(topology, effort)?;
        let sweep = memory.first().map(|memory| 64.0 / (memory.gib_per_s.p90 * 1.073_741_824));

        bench.measure_plan(&calibration(bench))?;
        let mut p = parameters(bench.cells(), line_ns)?;
        let reading = reading(bench.cells(), sweep);
        let plan = held_out(bench);
        let first = bench.cells().len();
        bench.measure_plan(&plan)?;
        let mut judged = Vec::new();
        let all = here.cpus.len();
        bench.change_cells(first, |cell, at| {
            let workload = &plan[at].1;
            if let Some(device) = cell.device_flush {
                p.flush_ns = device.p50_us * 1e3;
            }
            let load = load_of(workload, all);
            let seconds = if load.durable { DURABLE_SECONDS } else { SECONDS };
            judged.push(judge(cell, workload, simulate(&here, &p, &load, seconds)));
        });
        tell(bench, &p, &judged);
        for ratio in posts::ratios(&p, here.ghz, reading) {
            let verdict = if ratio.hits() { "hit" } else { "miss" };
            bench.conclude(format!(
                "Modelled, {}: published {:.2}, modelled {:.2}: {verdict} ({}).",
                ratio.what, ratio.published, ratio.modelled, ratio.assumed
            ));
        }
        for machine in &machines {
            rates(bench, machine, &p);
        }
        bench.cannot_show(
            "What the model says of other machines was measured on none of them: caches, memory bandwidth, page latches \
             and hyper-threads that slow each other are not in it.",
        );
        Ok(())
    }
}

/// GHz of the clock that spins were calibrated by.
fn telemetry_ghz() -> Option<f64> {
    runtime::backoff::calibrate();
    let cost = telemetry::spins::cost()?;
    let ghz = cost.cycles / cost.ns;
    (0.5..10.0).contains(&ghz).then_some(ghz)
}

/// One session on one CPU: a commit for each row, and for each ten; and the report of post 2.
fn calibration(bench: &Bench<'_>) -> Vec<(usize, Workload)> {
    let settings = Settings {
        sessions: vec![1],
        durability: vec![Durability::Delayed],
        commit_every: vec![1, 10],
        ..bench.settings().clone()
    };
    let cpu = runtime::threads::process_affinity().first().copied().unwrap_or(0);
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

/// Other numbers of sessions, durabilities, batches and forms of reservation.
fn held_out(bench: &Bench<'_>) -> Vec<(usize, Workload)> {
    let forms = ["spinlock", "lanes"].map(str::to_owned);
    let settings = Settings {
        sessions: vec![2, 10],
        durability: vec![Durability::Delayed, Durability::Full],
        commit_every: vec![1, 10],
        switches: [("log_reserve".to_owned(), forms.to_vec())].into(),
        ..bench.settings().clone()
    };
    let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
    let mut all = settings.workloads(Kind::Insert, &known);
    all.iter_mut().for_each(|workload| {
        workload.arm.insert(PART.to_owned(), HELD_OUT.to_owned());
    });
    all.into_iter().map(|workload| (0, workload)).collect()
}

/// Out of the two cells of inserts, and what was measured without an engine.
fn parameters(cells: &[Cell], line_ns: f64) -> Result<Parameters, LabError> {
    let of = |commit_every: u64| {
        let found = cells.iter().find(|cell| cell.commit_every == commit_every && cell.rows > 0);
        found.ok_or(LabError::NoWindow)
    };
    let (single, batch) = (of(1)?, of(10)?);
    let cost = |cell: &Cell| cell.cpu_ns_per_row.unwrap_or(1e9 / cell.rows_per_s.max(1.0));
    let (one, ten) = (cost(single), cost(batch));
    let row_bytes = single.log_bytes_per_row.max(64.0);
    let hold_ns = hold_ns(row_bytes as usize);
    let commit_ns = ((one - ten) / 0.9).clamp(0.0, one / 2.0);
    Ok(Parameters {
        row_ns: (one - commit_ns - hold_ns).max(one / 4.0),
        commit_ns,
        hold_ns,
        line_ns,
        spin_ns: telemetry::spins::cost().map_or(10.0, |cost| cost.ns),
        flush_ns: 100_000.0,
        wake_ns: WAKE_NS,
        row_bytes,
        buffer_bytes: 32.0 * 1024.0 * 1024.0,
        queue_depth: 32,
        quantum_ns: 4e6,
    })
}

fn reading(cells: &[Cell], line_ns: Option<f64>) -> Option<Reading> {
    let report =
        cells.iter().find(|cell| cell.figures.keys().any(|name| name.contains("look-ups")))?;
    let row_ns = report.cpu_ns_per_row?;
    // The columns of a row as they are stored, its key and its header.
    Some(Reading { row_ns, row_bytes: 250.0, line_ns: line_ns? })
}

/// The lock taken, so many bytes copied, and the lock let go: nobody else wants it.
fn hold_ns(bytes: usize) -> f64 {
    const TURNS: usize = 20_000;
    let from = vec![7u8; bytes];
    let lock = SpinLock::new(SpinClass::LogCacheAccess, vec![0u8; bytes * 1024]);
    let round = || {
        let began = clock::now_ns();
        for turn in 0..TURNS {
            let at = turn % 1024 * bytes;
            lock.lock()[at..at + bytes].copy_from_slice(std::hint::black_box(&from));
        }
        (clock::now_ns() - began) as f64 / TURNS as f64
    };
    (0..10).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn load_of(workload: &Workload, cpus: usize) -> Load {
    let is_spinlock = workload.switches.get("log_reserve").is_some_and(|form| form == "spinlock");
    Load {
        sessions: workload.sessions,
        cpus: (0..cpus).collect(),
        durable: workload.durability == Durability::Full,
        commit_every: workload.commit_every,
        reserve: if is_spinlock { Reserve::Spinlock } else { Reserve::Lanes },
        writer: Writer::Leader,
    }
}

/// A cell that was predicted.
struct Judged {
    /// All that it is but the form of reservation.
    load: (usize, Durability, u64),
    reserve: String,
    measured: f64,
    modelled: f64,
}

/// Puts the prediction into the cell.
fn judge(cell: &mut Cell, workload: &Workload, told: Outcome) -> Judged {
    // A machine that others load gives the cell less than its CPUs.
    let had = cell.cpu_s.map_or(1.0, |s| s / (cell.seconds * cell.schedulers.max(1) as f64));
    let share = match workload.durability {
        Durability::Delayed => (had / told.busy.max(0.01)).min(1.0),
        Durability::Full => 1.0,
    };
    let modelled = told.rows_per_s * share;
    let figure = |value: f64, unit: &str, what: &str| Figure {
        value,
        unit: unit.to_owned(),
        what: what.to_owned(),
    };
    let what = "by the model, for the CPU time that the cell had";
    cell.figures.insert(MODELLED.to_owned(), figure(modelled, "rows/s", what));
    let over = figure(modelled / cell.rows_per_s.max(1.0), "", "1 is right");
    cell.figures.insert(OVER.to_owned(), over);
    Judged {
        load: (workload.sessions, workload.durability, workload.commit_every),
        reserve: workload.switches.get("log_reserve").cloned().unwrap_or_default(),
        measured: cell.rows_per_s,
        modelled,
    }
}

/// Of pairs of cells that differ in the form of reservation alone: how many, and of how many the model has the order
/// right.
fn orders(judged: &[Judged]) -> (usize, usize) {
    let (mut pairs, mut right) = (0, 0);
    for a in judged.iter().filter(|cell| cell.reserve == "spinlock") {
        let beside = judged.iter().find(|b| b.load == a.load && b.reserve != a.reserve);
        let Some(b) = beside else { continue };
        pairs += 1;
        let order = |a: f64, b: f64| match a / b.max(1e-9) {
            ratio if (ratio - 1.0).abs() <= EQUAL => 0,
            ratio if ratio > 1.0 => 1,
            _ => -1,
        };
        let (measured, modelled) = (order(a.measured, b.measured), order(a.modelled, b.modelled));
        right += usize::from(measured == modelled || measured == 0 || modelled == 0);
    }
    (pairs, right)
}

fn tell(bench: &mut Bench<'_>, p: &Parameters, judged: &[Judged]) {
    bench.conclude(format!(
        "Measured here: a row {:.0} ns, a commit {:.0}, the lock held {:.0}, a cache line {:.0}, a spin {:.1}; {:.0} bytes of \
         log a row.",
        p.row_ns, p.commit_ns, p.hold_ns, p.line_ns, p.spin_ns, p.row_bytes
    ));
    let hits =
        judged.iter().filter(|j| (j.modelled / j.measured.max(1.0) - 1.0).abs() <= HIT).count();
    let (pairs, right) = orders(judged);
    bench.conclude(format!(
        "Held-out cells: {hits} of {} within {:.0}%, the order of the arms right in {right} of {pairs}.",
        judged.len(),
        HIT * 100.0
    ));
}

/// What the engine would do on a machine.
fn rates(bench: &mut Bench<'_>, machine: &Machine, p: &Parameters) {
    let cpus: Vec<usize> = (0..machine.cpus.len()).collect();
    let rate = |sessions: usize, reserve| {
        let load = Load {
            sessions,
            cpus: cpus.clone(),
            durable: false,
            commit_every: 1,
            reserve,
            writer: Writer::Leader,
        };
        simulate(machine, p, &load, 0.02)
    };
    let mut counts = vec![1, machine.cpus.len() / 2, machine.cpus.len(), machine.cpus.len() * 2];
    counts.retain(|n| *n > 0);
    counts.dedup();
    for sessions in counts {
        let (lanes, lock) = (rate(sessions, Reserve::Lanes), rate(sessions, Reserve::Spinlock));
        bench.conclude(format!(
            "Modelled, {} with {sessions} session(s), delayed durability: {:.0} rows/s with lanes, {:.0} with the spinlock \
             ({:.0}% of the CPUs' time in spinning).",
            machine.name,
            lanes.rows_per_s,
            lock.rows_per_s,
            lock.spinning * 100.0
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(sessions: usize, reserve: &str, measured: f64, modelled: f64) -> Judged {
        let load = (sessions, Durability::Delayed, 1);
        Judged { load, reserve: reserve.to_owned(), measured, modelled }
    }

    #[test]
    fn the_order_of_arms_is_right_wrong_or_no_matter() {
        let all = [
            judged(1, "spinlock", 100.0, 100.0),
            judged(1, "lanes", 200.0, 300.0),
            judged(2, "spinlock", 100.0, 400.0),
            judged(2, "lanes", 200.0, 300.0),
            // As good as equal here.
            judged(3, "spinlock", 100.0, 400.0),
            judged(3, "lanes", 102.0, 300.0),
            judged(4, "spinlock", 100.0, 100.0),
        ];
        assert_eq!(orders(&all), (3, 2));
    }

    #[test]
    fn the_parameters_are_those_of_the_cells() {
        let cell = |commit_every: u64, ns: f64| Cell {
            commit_every,
            rows: 1000,
            rows_per_s: 1e9 / ns,
            cpu_ns_per_row: Some(ns),
            log_bytes_per_row: 200.0,
            ..Cell::default()
        };
        let p = parameters(&[cell(1, 1000.0), cell(10, 820.0)], 50.0).expect("both are there");
        assert!((p.commit_ns - 200.0).abs() < 1e-6);
        assert!((p.row_ns + p.hold_ns - 800.0).abs() < 1e-6, "{p:?}");
        assert!(parameters(&[cell(1, 1000.0)], 50.0).is_err());
    }
}
