//! Post 3's last step: from the disk table to the memory-optimised one, and where the CPU goes at each.

use crate::bench::Bench;
use crate::document::{Cell, Figure, Profile, Published};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::limits;
use crate::published::POST_3;
use crate::workload::{Durability, Kind, Procedure, Settings, Table, Workload};

/// `memory-optimised`.
pub struct MemoryOptimised;

const LANGUAGE_SHARE: &str = "CPU in the language, %";
const XDESMGR_SHARE: &str = "CPU in XDESMGR, %";
/// The switch whose classic form has that spinlock.
const IDS: &str = "transaction_ids";

/// Crates of the language: from a statement's text to the change that it asks the engine for.
const LANGUAGE: &[&str] = &[
    "syntax",
    "ir",
    "binder",
    "planner",
    "functions",
    "executor",
    "dml",
    "interpreter",
    "native",
    "commands",
    "session_state",
    "session",
    "types",
];

impl Experiment for MemoryOptimised {
    fn name(&self) -> &'static str {
        "memory-optimised"
    }

    fn what(&self) -> &'static str {
        "Sessions insert row after row, each row its own transaction, into a table on disk and into memory-optimised ones, \
         durable and not, from a loop of an ordinary procedure and through a natively compiled one. The disk table also \
         with the transaction manager's spinlock as SQL Server has it. The CPU is sampled: the share of the language, \
         and of XDESMGR, stand beside the post's. Shows what a table without latches and a procedure without an \
         interpreter are worth, and what is left when both are there."
    }

    fn posts(&self) -> &'static [u8] {
        &[1, 3]
    }

    fn published(&self) -> Vec<Published> {
        let row = |figure: &str, published: &str, value: f64| {
            Published::of(POST_3, "34 sessions, disk table", figure, published)
                .with_value(value)
                .beside([("table", "disk"), (IDS, "spinlock")])
        };
        vec![row(LANGUAGE_SHARE, "12.32%", 12.32), row(XDESMGR_SHARE, "14.46%", 14.46)]
    }

    fn takes(&self) -> &'static [&'static str] {
        &[
            "sessions",
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
        Settings {
            sessions: vec![10],
            tables: vec![Table::Disk, Table::Memory, Table::MemorySchemaOnly],
            procedures: vec![Procedure::Interpreted, Procedure::Native],
            durability: vec![Durability::Delayed],
            profile: true,
            ..Settings::default()
        }
    }

    fn add_figures(&self, cell: &mut Cell) {
        let Some(profile) = &cell.profile else { return };
        let spins = profile.spinlocks.iter().find(|lock| lock.name == "XDESMGR");
        let shares = [
            (LANGUAGE_SHARE, language_share(profile), "samples in the language's own code"),
            (XDESMGR_SHARE, spins.map_or(0.0, |lock| lock.total), "samples that spun for it"),
        ];
        for (name, share, what) in shares {
            let figure =
                Figure { value: share * 100.0, unit: "%".to_owned(), what: what.to_owned() };
            cell.figures.insert(name.to_owned(), figure);
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        limits::of_cpus(bench, 20, "fewer sessions want XDESMGR at the same moment");
        limits::of_sockets(bench, 2);
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for workload in bench.settings().workloads(Kind::Insert, &known) {
            // The post's own form, first of the disk table's.
            if workload.table == Table::Disk && !workload.switches.contains_key(IDS) {
                plan.push((0, classic(&workload)));
            }
            plan.push((0, workload));
        }
        bench.measure_plan(&plan)
    }
}

fn classic(workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    workload.switches.insert(IDS.to_owned(), "spinlock".to_owned());
    workload
}

/// The share of samples whose innermost frame is the language's: of the stacks that the document keeps.
fn language_share(profile: &Profile) -> f64 {
    let all: u64 = profile.folded.iter().map(|(_, n)| n).sum();
    let is_language = |stack: &str| {
        let leaf = stack.rsplit(';').next().unwrap_or_default();
        crate_of(leaf).is_some_and(|name| LANGUAGE.contains(&name))
    };
    let found = profile.folded.iter().filter(|(stack, _)| is_language(stack));
    found.map(|(_, n)| n).sum::<u64>() as f64 / all.max(1) as f64
}

/// The crate of a frame: of `<executor::Cx as other::T>::f`, executor.
fn crate_of(frame: &str) -> Option<&str> {
    let from = frame.trim_start_matches(['<', '&', '(', '[']);
    from.split_once("::").map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_frame_tells_the_share() {
        let stack = |text: &str, n| (text.to_owned(), n);
        let profile = Profile {
            folded: vec![
                stack("main;interpreter::vm::run", 3),
                stack("main;interpreter::vm::run;engine::txn::insert", 5),
                stack("main;<executor::Cx as types::Clock>::now", 1),
                stack("clock_gettime", 1),
            ],
            ..Profile::default()
        };
        assert!((language_share(&profile) - 0.4).abs() < 1e-9);
    }
}
