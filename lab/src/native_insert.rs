//! Post 1's second test: memory-optimised tables filled by native procedures, the log writer near and far.

use crate::bench::Bench;
use crate::document::{Cell, Published};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::limits;
use crate::log_writer_placement::{
    ANYWHERE, ARM, BACKOFF_SHARE, IN_MASK, OTHER_NODE, OUT_OF_MASK, SAME_NODE, add_spin_figures,
    arms, refuse_own_switches, usable_cpus,
};
use crate::published::POST_1;
use crate::workload::{Durability, Kind, Procedure, Settings, Table};

/// `native-insert`.
pub struct NativeInsert;

/// Rows of an atomic block: a call of the post's is one of 2,500,000, too long for a window of seconds.
const BLOCK_ROWS: u64 = 10_000;

impl Experiment for NativeInsert {
    fn name(&self) -> &'static str {
        "native-insert"
    }

    fn what(&self) -> &'static str {
        "10 sessions fill a memory-optimised table through a natively compiled procedure, each call one atomic block and \
         one commit, through the classic spinlock and through lanes, with the log's thread on the workers' node and on \
         the other; where there is one node, anywhere, on a core that workers share, and on one that they keep off. \
         Shows what is left of the distance to the log once tables have no latches and procedures are machine code. \
         --commit-every is the rows of a block; --rows with --sessions makes it a run of the post's size."
    }

    fn posts(&self) -> &'static [u8] {
        &[1]
    }

    fn published(&self) -> Vec<Published> {
        let row = |arm: &str, figure: &str, published: &str, placement: &str| {
            Published::of(POST_1, arm, figure, published)
                .beside([("log_reserve", "spinlock"), (ARM, placement)])
        };
        let (together, apart) =
            ("ten logical CPUs of the log writer's socket", "ten logical CPUs of the other socket");
        let share = |of: f64, all: f64| format!("{:.2}% ({of} of {all} sampled)", of / all * 100.0);
        vec![
            row(together, "seconds", "10.434 s", SAME_NODE),
            row(apart, "seconds", "18.388 s", OTHER_NODE),
            row(together, "LOGCACHE_ACCESS spins", "113,246,628", SAME_NODE),
            row(apart, "LOGCACHE_ACCESS spins", "6,692,284,057", OTHER_NODE),
            row(together, BACKOFF_SHARE, &share(215.31, 131_969.88), SAME_NODE),
            row(apart, BACKOFF_SHARE, &share(374.22, 146_277.34), OTHER_NODE),
        ]
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
        ]
    }

    fn defaults(&self) -> Settings {
        let forms = ["spinlock", "lanes"].map(str::to_owned);
        Settings {
            sessions: vec![10],
            tables: vec![Table::Memory],
            procedures: vec![Procedure::Native],
            durability: vec![Durability::Full],
            commit_every: vec![BLOCK_ROWS],
            switches: [("log_reserve".to_owned(), forms.to_vec())].into(),
            ..Settings::default()
        }
    }

    fn add_figures(&self, cell: &mut Cell) {
        add_spin_figures(cell);
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        refuse_own_switches(bench, self.name())?;
        let all = arms(&usable_cpus(bench)?);
        let has_nodes = all.iter().any(|arm| arm.name == OTHER_NODE);
        let wanted: &[&str] =
            if has_nodes { &[SAME_NODE, OTHER_NODE] } else { &[ANYWHERE, IN_MASK, OUT_OF_MASK] };
        limits::of_cpus(bench, 12, "fewer threads want the log's buffer at one time");
        limits::of_sockets(bench, 2);
        bench.cannot_show(
            "The post tells how long its run took, and of how many rows only the procedure's default (2,500,000 a call): \
             its seconds stand beside the ratio of the arms here, not beside their rates.",
        );
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for workload in bench.settings().workloads(Kind::Insert, &known) {
            let arms = all.iter().filter(|arm| wanted.contains(&arm.name));
            plan.extend(arms.map(|arm| (0, arm.on(&workload))));
        }
        bench.measure_plan(&plan)
    }
}
