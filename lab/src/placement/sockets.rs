//! The three tests that post 1 leaves to be done: the same load on one node, divided over two, divided over four.

use super::{ARM, ids, nodes};
use crate::bench::Bench;
use crate::document::Published;
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::limits;
use crate::workload::{Kind, Settings, Workload};
use std::collections::BTreeMap;
use topology::Cpu;

/// `sockets`.
pub struct Sockets;

impl Experiment for Sockets {
    fn name(&self) -> &'static str {
        "sockets"
    }

    fn what(&self) -> &'static str {
        "The same sessions on as many CPUs of one NUMA node, divided over two, divided over four, through the classic \
         spinlock and through lanes. Shows what it costs that the line of LOGCACHE_ACCESS, or the log's tail, travels \
         between nodes. Post 1 names these tests and has not run them."
    }

    fn posts(&self) -> &'static [u8] {
        &[1]
    }

    fn published(&self) -> Vec<Published> {
        vec![Published {
            post: 1,
            machine: "4 sockets".to_owned(),
            arm: "one, two, four sockets".to_owned(),
            figure: "rows/s".to_owned(),
            published: "named as tests to be done; no figures".to_owned(),
            value: None,
            beside: BTreeMap::new(),
        }]
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
            sessions: vec![10],
            switches: [("log_reserve".to_owned(), forms.to_vec())].into(),
            ..Settings::default()
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let arms = arms(&nodes(bench)?);
        limits::of_sockets(bench, 4);
        for missing in [2, 4].into_iter().filter(|n| !arms.iter().any(|(over, _)| over == n)) {
            bench.cannot_show(format!(
                "There are no {missing} nodes with CPUs of this process: the load was not divided over {missing}."
            ));
        }
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for workload in bench.settings().workloads(Kind::Insert, &known) {
            plan.extend(arms.iter().map(|(over, cpus)| (0, on(&workload, *over, cpus))));
        }
        bench.measure_plan(&plan)
    }
}

fn on(workload: &Workload, over: usize, cpus: &[usize]) -> Workload {
    let name = match over {
        1 => "one node".to_owned(),
        n => format!("divided over {n} nodes"),
    };
    let mut workload = workload.clone();
    workload.cpus = cpus.to_vec();
    workload.arm.insert(ARM.to_owned(), name);
    workload
}

/// For 1, 2 and 4 nodes as many CPUs in all, as far as there are so many nodes, and CPUs on each.
fn arms(nodes: &[Vec<Cpu>]) -> Vec<(usize, Vec<usize>)> {
    // What the smallest of so many nodes has, so that it can bear all by itself.
    let smallest = |over: usize| nodes.iter().take(over).map(Vec::len).min().unwrap_or(0);
    let fits = |over: &usize| *over <= nodes.len() && smallest(*over) >= *over;
    let most = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
    let cpus = smallest(most) / most * most;
    let arm = |over: usize| {
        let own = nodes.iter().take(over).flat_map(|node| ids(&node[..cpus / over]));
        (over, own.collect())
    };
    [1, 2, 4].into_iter().filter(|over| *over <= most && cpus > 0).map(arm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: usize, each: usize) -> Vec<Vec<Cpu>> {
        let cpu = |node: usize, i: usize| Cpu { id: node * each + i, node, core: i, package: node };
        (0..nodes).map(|node| (0..each).map(|i| cpu(node, i)).collect()).collect()
    }

    #[test]
    fn every_arm_has_as_many_cpus() {
        assert_eq!(arms(&machine(1, 2)), [(1, vec![0, 1])]);
        assert_eq!(arms(&machine(2, 4)), [(1, vec![0, 1, 2, 3]), (2, vec![0, 1, 4, 5])]);
        let four = arms(&machine(4, 8));
        assert_eq!(
            four.iter().map(|(over, cpus)| (*over, cpus.len())).collect::<Vec<_>>(),
            [(1, 8), (2, 8), (4, 8)]
        );
        assert_eq!(four[2].1, [0, 1, 8, 9, 16, 17, 24, 25]);
        // Two CPUs a node cannot be divided over four.
        assert_eq!(arms(&machine(4, 2)), [(1, vec![0, 1]), (2, vec![0, 2])]);
        assert_eq!(arms(&machine(2, 3)), [(1, vec![0, 1]), (2, vec![0, 3])]);
    }
}
