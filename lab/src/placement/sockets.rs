//! The three tests that post 1 leaves to be done: the same load on one node, divided over two, divided over four.

use super::{ARM, nodes};
use crate::bench::Bench;
use crate::cpus::Cores;
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
        "The same sessions on as many cores of one NUMA node, divided over two, divided over four, through the classic \
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
        for missing in [2, 4].into_iter().filter(|n| !arms.iter().any(|arm| arm.over == *n)) {
            bench.cannot_show(format!(
                "There are no {missing} nodes with CPUs of this process: the load was not divided over {missing}."
            ));
        }
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for workload in bench.settings().workloads(Kind::Insert, &known) {
            plan.extend(arms.iter().map(|arm| (0, arm.on(&workload))));
        }
        bench.measure_plan(&plan)
    }
}

/// The load on so many cores in all, divided over so many nodes.
#[derive(Debug, PartialEq, Eq)]
struct Arm {
    over: usize,
    cores: usize,
    cpus: Vec<usize>,
}

impl Arm {
    fn on(&self, workload: &Workload) -> Workload {
        let name = match self.over {
            1 => "one node".to_owned(),
            n => format!("divided over {n} nodes"),
        };
        let mut workload = workload.clone();
        workload.cpus.clone_from(&self.cpus);
        workload.arm.insert(ARM.to_owned(), name);
        workload.arm.insert("cores".to_owned(), self.cores.to_string());
        workload
    }
}

/// For 1, 2 and 4 nodes as many cores in all, with as many threads each, as far as there are so many nodes, and cores on
/// each.
fn arms(nodes: &[Vec<Cpu>]) -> Vec<Arm> {
    let nodes: Vec<Cores> = nodes.iter().map(|node| Cores::of(node)).collect();
    // What the smallest of so many nodes has, so that it can bear all by itself.
    let smallest = |over: usize| nodes.iter().take(over).map(Cores::count).min().unwrap_or(0);
    let fits = |over: &usize| *over <= nodes.len() && smallest(*over) >= *over;
    let most = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
    let cores = smallest(most) / most * most;
    let threads = nodes.iter().take(most).map(|node| node.threads(cores)).min().unwrap_or(0);
    let arm = |over: usize| {
        let own = nodes.iter().take(over).flat_map(|node| node.take(cores / over, threads));
        let mut cpus: Vec<usize> = own.collect();
        cpus.sort_unstable();
        Arm { over, cores, cpus }
    };
    [1, 2, 4].into_iter().filter(|over| *over <= most && cores > 0).map(arm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: usize, each: usize) -> Vec<Vec<Cpu>> {
        let cpu = |node: usize, i: usize| Cpu { id: node * each + i, node, core: i, package: node };
        (0..nodes).map(|node| (0..each).map(|i| cpu(node, i)).collect()).collect()
    }

    fn told(nodes: &[Vec<Cpu>]) -> Vec<(usize, usize, String)> {
        let tell = |arm: Arm| (arm.over, arm.cores, topology::format_cpulist(&arm.cpus));
        arms(nodes).into_iter().map(tell).collect()
    }

    #[test]
    fn every_arm_has_as_many_cores() {
        let of = |over, cores, cpus: &str| (over, cores, cpus.to_owned());
        assert_eq!(told(&machine(1, 2)), [of(1, 2, "0-1")]);
        assert_eq!(told(&machine(2, 4)), [of(1, 4, "0-3"), of(2, 4, "0-1,4-5")]);
        let four = [of(1, 8, "0-7"), of(2, 8, "0-3,8-11"), of(4, 8, "0-1,8-9,16-17,24-25")];
        assert_eq!(told(&machine(4, 8)), four);
        // Two cores a node cannot be divided over four.
        assert_eq!(told(&machine(4, 2)), [of(1, 2, "0-1"), of(2, 2, "0,2")]);
        assert_eq!(told(&machine(2, 3)), [of(1, 2, "0-1"), of(2, 2, "0,3")]);
    }

    #[test]
    fn cores_are_whole_where_they_have_threads() {
        let all = crate::cpus::haswell();
        let nodes: Vec<Vec<Cpu>> =
            (0..2).map(|n| all.iter().filter(|cpu| cpu.node == n).cloned().collect()).collect();
        let of = |over, cores, cpus: &str| (over, cores, cpus.to_owned());
        assert_eq!(told(&nodes), [of(1, 10, "0-9,20-29"), of(2, 10, "0-4,10-14,20-24,30-34")]);
        // Of a node that has one thread of each core left, no arm has more.
        let halved = [nodes[0].clone(), nodes[1][..10].to_vec()];
        assert_eq!(told(&halved), [of(1, 10, "0-9"), of(2, 10, "0-4,10-14")]);
    }
}
