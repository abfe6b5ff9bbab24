//! Post 4's load: 64 sessions, a commit every thousand rows, with index usage counted in each form.

use crate::bench::Bench;
use crate::document::{Cell, Figure, Published};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::limits;
use crate::published::Post;
use crate::workload::{Durability, Kind, Mode, Procedure, Settings};

/// `commit-batch`.
pub struct CommitBatch;

const POST_4: Post = (4, "8-socket, 64-core DL980, 8 data files");
const WRITELOG_SHARE: &str = "WRITELOG, share of waits";

impl Experiment for CommitBatch {
    fn name(&self) -> &'static str {
        "commit-batch"
    }

    fn what(&self) -> &'static str {
        "64 sessions insert row after row; 999 rows are a transaction and the thousandth is one by itself, as the \
         post's loop has it. The use of the index is counted in three forms: by each scheduler for itself, in one place \
         behind the spinlock OPT_IDX_STATS as in SQL Server, and not at all (trace flag 2330). Shows what a shared \
         counter per statement costs once the log is out of the way, and how much of the waiting is for the log. \
         --commit-every changes the thousand."
    }

    fn posts(&self) -> &'static [u8] {
        &[4]
    }

    fn published(&self) -> Vec<Published> {
        let row = |arm: &str, figure: &str, published: &str, value, form: Option<&str>| {
            let row = Published::of(POST_4, arm, figure, published).with_value(value);
            match form {
                Some(form) => row.beside([
                    ("sessions", "64"),
                    ("durability", "full"),
                    ("index_statistics", form),
                ]),
                None => row,
            }
        };
        let on = "64 sessions of 2,500,000 rows, index usage counted";
        vec![
            row(on, "rows/s", "at least 270,000/s", Some(270_000.0), Some("spinlock")),
            row(on, "rows/s, peaks", "up to four times that", Some(1_080_000.0), None),
            row(on, WRITELOG_SHARE, "about 70%", Some(70.0), Some("spinlock")),
            row(on, "OPT_IDX_STATS spins", "among the largest (no figure)", None, Some("spinlock")),
            row(on, "seconds", "150 to 600 s, by NUMA node", None, None),
            row(
                "trace flag 2330",
                "OPT_IDX_STATS spins",
                "gone; a minor gain in throughput",
                Some(0.0),
                Some("off"),
            ),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &[
            "sessions",
            "target",
            "rows",
            "table",
            "procedure",
            "durability",
            "commit-every",
            "switches",
            "buffer-pool-mb",
            "pairs",
        ]
    }

    fn defaults(&self) -> Settings {
        let forms = ["scheduler", "spinlock", "off"].map(str::to_owned);
        Settings {
            sessions: vec![64],
            commit_every: vec![1000],
            durability: vec![Durability::Full],
            switches: [("index_statistics".to_owned(), forms.to_vec())].into(),
            ..Settings::default()
        }
    }

    fn add_figures(&self, cell: &mut Cell) {
        let waits = || cell.waits.iter().filter(|(name, _)| !crate::measure::is_idle(name));
        let all: f64 = waits().map(|(_, wait)| wait.wait_time_ms).sum();
        if let Some(log) = cell.waits.get("WRITELOG").filter(|_| all > 0.0) {
            let what = "time waited for the log's device, of all time waited";
            let value = log.wait_time_ms / all * 100.0;
            let figure = Figure { value, unit: "%".to_owned(), what: what.to_owned() };
            cell.figures.insert(WRITELOG_SHARE.to_owned(), figure);
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let settings = bench.settings();
        if settings.mode != Mode::Procedure || settings.commit_every.iter().any(|&n| n < 2) {
            let why = "commit-batch is a loop of at least 2 rows a commit, in a procedure";
            return Err(LabError::Options(why.to_owned()));
        }
        limits::of_cpus(bench, 64, "fewer sessions want a spinlock at the same moment");
        limits::of_sockets(bench, 8);
        limits::of_device(bench);
        bench.cannot_show(
            "The post's rows are the default values of a table that it does not show; these are the other posts' rows.",
        );
        let mut plan = Vec::new();
        let mut whole = Vec::new();
        let targets = bench.targets().map(|(name, known)| (name.to_owned(), known));
        for (index, (name, known)) in targets.enumerate() {
            // Others have their own loops, which the lab's crates for them write.
            let alone = matches!(name.as_str(), "embedded" | "mssql");
            if !alone {
                whole.push(name);
            }
            for mut workload in bench.settings().workloads(Kind::Insert, &known) {
                // An atomic block is the thousand.
                workload.last_alone = alone && workload.procedure == Procedure::Interpreted;
                plan.push((index, workload));
            }
        }
        for name in whole {
            bench.cannot_show(format!(
                "{name}: every thousandth row is part of its transaction, and not one by itself."
            ));
        }
        bench.measure_plan(&plan)
    }
}
