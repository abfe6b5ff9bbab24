//! Posts 3 and 1: where the log writer runs, and whether anyone else runs there.

use crate::bench::Bench;
use crate::cpus::alike;
use crate::document::{Cell, Figure, Published};
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::limits;
use crate::published::{POST_1, POST_3};
use crate::workload::{Durability, Kind, Settings, Workload};
use std::collections::BTreeMap;
use topology::{Cpu, Topology};

/// `log-writer-placement`.
pub struct LogWriterPlacement;

pub(crate) const ARM: &str = "placement";
const LEADER: &str = "no writer of its own";
pub(crate) const ANYWHERE: &str = "own thread, anywhere";
pub(crate) const IN_MASK: &str = "own thread, its core in the workers' mask";
pub(crate) const OUT_OF_MASK: &str = "own thread, its core out of the workers' mask";
const SCHEDULER: &str = "on a scheduler with workers";
pub(crate) const SAME_NODE: &str = "own thread, on the workers' node";
pub(crate) const OTHER_NODE: &str = "own thread, on the other node";
pub(crate) const BACKOFF_SHARE: &str = "CPU in LOGCACHE_ACCESS back-off, %";
pub(crate) const SPINS_PER_ROW: &str = "LOGCACHE_ACCESS spins per row";

impl Experiment for LogWriterPlacement {
    fn name(&self) -> &'static str {
        "log-writer-placement"
    }

    fn what(&self) -> &'static str {
        "40 sessions insert row after row under delayed durability, through the classic spinlock and through lanes, \
         while the log is written out by whoever commits, by a thread anywhere, by a thread on a core of its own that \
         workers share, by one on a core that they keep off (the post's affinity mask), or by a task on a scheduler \
         beside sessions; with several nodes also from the workers' node and from the other one. Shows what it costs \
         when the writer is descheduled while everybody waits for the line of LOGCACHE_ACCESS."
    }

    fn posts(&self) -> &'static [u8] {
        &[1, 3]
    }

    fn published(&self) -> Vec<Published> {
        let row = |post, arm: &str, figure: &str, published: &str, value, placement: &str| {
            Published::of(post, arm, figure, published)
                .with_value(value)
                .beside([("log_reserve", "spinlock"), (ARM, placement)])
        };
        let (all, without) =
            ("40 sessions, all CPUs", "38 sessions, the log writer's core removed");
        let (together, apart) = ("10 sessions on the writer's socket", "10 sessions on the other");
        vec![
            row(POST_3, all, "rows/s", "186,915/s", Some(186_915.0), IN_MASK),
            row(POST_3, without, "rows/s", "436,781/s", Some(436_781.0), OUT_OF_MASK),
            row(POST_3, all, BACKOFF_SHARE, "23.89%", Some(23.89), IN_MASK),
            row(POST_3, without, BACKOFF_SHARE, "1.43%", Some(1.43), OUT_OF_MASK),
            row(POST_1, together, "seconds", "55 s", None, SAME_NODE),
            row(POST_1, apart, "seconds", "85 s", None, OTHER_NODE),
            row(POST_1, apart, "LOGCACHE_ACCESS spins", "4.5 times as many", None, OTHER_NODE),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &[
            "sessions",
            "rows",
            "durability",
            "commit-every",
            "rows-per-insert",
            "switches",
            "buffer-pool-mb",
        ]
    }

    fn defaults(&self) -> Settings {
        let forms = ["spinlock", "lanes"].map(str::to_owned);
        Settings {
            sessions: vec![40],
            durability: vec![Durability::Delayed],
            switches: [("log_reserve".to_owned(), forms.to_vec())].into(),
            ..Settings::default()
        }
    }

    fn add_figures(&self, cell: &mut Cell) {
        add_spin_figures(cell);
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        refuse_own_switches(bench, self.name())?;
        let arms = arms(&usable_cpus(bench)?);
        limits::of_cpus(
            bench,
            20,
            "fewer threads spin at one time, and the writer's core is a larger part of all",
        );
        limits::of_sockets(bench, 2);
        if !arms.iter().any(|arm| arm.name == OUT_OF_MASK) {
            bench.cannot_show(
                "There is one core: the workers cannot keep off the writer's, so no arm shows the post's mask.",
            );
        }
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for workload in bench.settings().workloads(Kind::Insert, &known) {
            plan.extend(arms.iter().map(|arm| (0, arm.on(&workload))));
        }
        bench.measure_plan(&plan)
    }
}

/// What the spinlock before the log's buffer costs a row, and of the CPU.
pub(crate) fn add_spin_figures(cell: &mut Cell) {
    let mut figure = |name: &str, value: f64, unit: &str, what: &str| {
        let figure = Figure { value, unit: unit.to_owned(), what: what.to_owned() };
        cell.figures.insert(name.to_owned(), figure);
    };
    if let Some(spin) = cell.spins.get("LOGCACHE_ACCESS").filter(|_| cell.rows > 0) {
        figure(SPINS_PER_ROW, spin.spins as f64 / cell.rows as f64, "spins", "by each row");
        let cost_ns = telemetry::spins::cost().map(|cost| cost.ns);
        if let (Some(ns), Some(cpu_s)) = (cost_ns, cell.cpu_s.filter(|s| *s > 0.0)) {
            let share = spin.spins as f64 * ns / (cpu_s * 1e9) * 100.0;
            figure(BACKOFF_SHARE, share, "%", "spins times the calibrated cost of one");
        }
    }
}

/// A place of the writer and one of the workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arm {
    pub name: &'static str,
    writer: &'static str,
    place: String,
    /// Empty: all.
    workers: Vec<usize>,
}

impl Arm {
    pub fn on(&self, workload: &Workload) -> Workload {
        let mut workload = workload.clone();
        workload.switches.insert("log_writer".to_owned(), self.writer.to_owned());
        workload.switches.insert("log_writer_place".to_owned(), self.place.clone());
        workload.cpus.clone_from(&self.workers);
        workload.arm = BTreeMap::from([(ARM.to_owned(), self.name.to_owned())]);
        workload
    }
}

/// Refuses the switches that the arms set, for the experiment `who`.
pub(crate) fn refuse_own_switches(bench: &Bench<'_>, who: &str) -> Result<(), LabError> {
    for name in ["log_writer", "log_writer_place"] {
        if bench.settings().switches.contains_key(name) {
            let flag = name.replace('_', "-");
            return Err(LabError::Options(format!("{who} chooses --{flag} itself")));
        }
    }
    Ok(())
}

/// The CPUs that the run may use.
pub(crate) fn usable_cpus(bench: &Bench<'_>) -> Result<Vec<Cpu>, LabError> {
    let chosen = &bench.settings().cpus;
    let usable = |cpu: &&Cpu| chosen.is_empty() || chosen.contains(&cpu.id);
    Ok(Topology::discover()?.cpus.iter().filter(usable).cloned().collect())
}

/// What these CPUs can show. The writer's core is the last one: Linux serves interrupts on the first.
pub(crate) fn arms(cpus: &[Cpu]) -> Vec<Arm> {
    let arm = |name, writer, place: String, workers| Arm { name, writer, place, workers };
    let mut all = vec![
        arm(LEADER, "leader", "any".to_owned(), Vec::new()),
        arm(ANYWHERE, "dedicated", "any".to_owned(), Vec::new()),
    ];
    let Some(writer) = cpus.last() else { return all };
    let place = format!("cpu {}", writer.id);
    all.push(arm(IN_MASK, "dedicated", place.clone(), Vec::new()));
    // With the writer's CPU goes the hyper-thread beside it, as in the post.
    let is_beside = |cpu: &Cpu| (cpu.package, cpu.core) == (writer.package, writer.core);
    let others: Vec<usize> = cpus.iter().filter(|cpu| !is_beside(cpu)).map(|cpu| cpu.id).collect();
    if !others.is_empty() {
        all.push(arm(OUT_OF_MASK, "dedicated", place.clone(), others));
    }
    all.push(arm(SCHEDULER, "scheduler", place.clone(), Vec::new()));
    if let Some(far) = cpus.iter().find(|cpu| cpu.node != writer.node) {
        let of = |node: usize| -> Vec<Cpu> {
            cpus.iter().filter(|cpu| cpu.node == node && !is_beside(cpu)).cloned().collect()
        };
        // As many workers on both, as in the post, and on as many cores.
        let (near, far) = alike(&of(writer.node), &of(far.node));
        if !near.is_empty() {
            all.push(arm(SAME_NODE, "dedicated", place.clone(), near));
            all.push(arm(OTHER_NODE, "dedicated", place, far));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(id: usize, node: usize, core: usize) -> Cpu {
        Cpu { id, node, core, package: node }
    }

    fn names(cpus: &[Cpu]) -> Vec<&'static str> {
        arms(cpus).iter().map(|arm| arm.name).collect()
    }

    #[test]
    fn arms_are_those_that_the_cpus_allow() {
        assert_eq!(names(&[cpu(0, 0, 0)]), [LEADER, ANYWHERE, IN_MASK, SCHEDULER]);
        // Two hyper-threads of one core: nothing is left for the workers.
        assert!(!names(&[cpu(0, 0, 0), cpu(1, 0, 0)]).contains(&OUT_OF_MASK));
        let two = arms(&[cpu(0, 0, 0), cpu(1, 0, 1)]);
        let out = two.iter().find(|arm| arm.name == OUT_OF_MASK).expect("two cores");
        assert_eq!((&out.workers[..], out.place.as_str()), (&[0][..], "cpu 1"));
        assert!(!two.iter().any(|arm| arm.name == OTHER_NODE));
    }

    #[test]
    fn on_two_nodes_both_have_as_many_workers() {
        let mut cpus: Vec<Cpu> = (0..12).map(|i| cpu(i, i / 6, i / 2)).collect();
        cpus.remove(0);
        let all = arms(&cpus);
        let workers = |name| {
            let arm = all.iter().find(|arm| arm.name == name).expect("two nodes");
            arm.workers.clone()
        };
        assert_eq!(workers(SAME_NODE), [6, 7, 8, 9]);
        // The core that has lost a thread is left out.
        assert_eq!(workers(OTHER_NODE), [2, 3, 4, 5]);
        assert_eq!(workers(OUT_OF_MASK), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn workers_have_whole_cores() {
        let all = arms(&crate::cpus::haswell());
        let workers = |name| {
            let arm = all.iter().find(|arm| arm.name == name).expect("two nodes");
            topology::format_cpulist(&arm.workers)
        };
        assert_eq!((all[2].name, all[2].place.as_str()), (IN_MASK, "cpu 39"));
        assert_eq!(workers(SAME_NODE), "10-18,30-38");
        assert_eq!(workers(OTHER_NODE), "0-8,20-28");
        assert_eq!(workers(OUT_OF_MASK), "0-18,20-38");
    }
}
