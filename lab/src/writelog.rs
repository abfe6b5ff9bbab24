//! Post 5's load: two rows an insert, sessions by durability by how many log writes may be outstanding.

use crate::bench::Bench;
use crate::document::{Cell, Figure, Published};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::limits;
use crate::published::POST_5;
use crate::workload::{Durability, Kind, Settings};

/// `writelog`.
pub struct Writelog;

const STALL: &str = "log write stall, ms";
const WAIT: &str = "WRITELOG wait, ms";

impl Experiment for Writelog {
    fn name(&self) -> &'static str {
        "writelog"
    }

    fn what(&self) -> &'static str {
        "N sessions insert two rows a statement, each statement a transaction, under full and delayed durability, with \
         8, 32 and 112 log writes allowed to be outstanding (SQL Server's limits before and since 2012). Shows where a \
         commit's time goes: WRITELOG against the device's own stall, flushes a second, bytes a flush. A WRITELOG wait \
         much longer than the stall is a queue, and then the depth shows; else it does not."
    }

    fn posts(&self) -> &'static [u8] {
        &[5]
    }

    fn published(&self) -> Vec<Published> {
        let row = |figure: &str, published: &str, value: f64| {
            let arm = "full durability, two rows an insert, the set-up of 500,000 inserts/s";
            Published::of(POST_5, arm, figure, published)
                .with_value(value)
                .beside([("durability", "full"), ("log_queue_depth", "112")])
        };
        vec![
            row("log flushes/s", "about 15,000/s", 15_000.0),
            row("log MB/s", "100 MB/s", 100.0),
            row(STALL, "0.1 ms", 0.1),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &[
            "sessions",
            "target",
            "rows",
            "durability",
            "commit-every",
            "rows-per-insert",
            "switches",
            "buffer-pool-mb",
            "pairs",
        ]
    }

    fn defaults(&self) -> Settings {
        let depths = ["8", "32", "112"].map(str::to_owned);
        Settings {
            sessions: vec![1, 10, 40, 128],
            seconds: 5.0,
            rows_per_insert: vec![2],
            durability: vec![Durability::Full, Durability::Delayed],
            switches: [("log_queue_depth".to_owned(), depths.to_vec())].into(),
            ..Settings::default()
        }
    }

    fn add_figures(&self, cell: &mut Cell) {
        let mut figure = |name: &str, value: f64, what: &str| {
            let figure = Figure { value, unit: "ms".to_owned(), what: what.to_owned() };
            cell.figures.insert(name.to_owned(), figure);
        };
        if let Some(device) = cell.log_writes.iter().find(|p| p.phase == "device" && p.count > 0) {
            figure(STALL, device.mean_us / 1e3, "mean time that the device had a log write");
        }
        if let Some(wait) = cell.waits.get("WRITELOG").filter(|w| w.waiting_tasks_count > 0) {
            let mean_ms = wait.wait_time_ms / wait.waiting_tasks_count as f64;
            figure(WAIT, mean_ms, "mean wait of a task for its commit to be durable");
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        limits::of_cpus(
            bench,
            12,
            "the load that fills the log is not reached by so many sessions at once",
        );
        limits::of_sockets(bench, 2);
        limits::of_device(bench);
        bench.measure(Kind::Insert)
    }
}
