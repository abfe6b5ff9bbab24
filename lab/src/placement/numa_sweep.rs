//! Post 3's harness: numbers of sessions by affinity masks by trace flags by switches, every combination.

use super::{ids, nodes, one_node, values};
use crate::bench::Bench;
use crate::document::Published;
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::limits;
use crate::published::POST_3;
use crate::workload::{Durability, Kind, Settings, Workload};
use std::collections::{BTreeMap, BTreeSet};
use topology::{Cpu, Topology};

/// `numa-sweep`.
pub struct NumaSweep;

const OPTIONS: [OwnOption; 2] = [
    OwnOption {
        name: "mask",
        values: "all, node0, node1 and so on, CPUs as 0+2+3, or without-last-core",
        default: "all, each node where there are several, and without-last-core",
        what: "CPUs that the sessions run on",
    },
    OwnOption {
        name: "trace-flags",
        values: "none, or numbers as 834+2330",
        default: "none",
        what: "trace flags of the instance, from its start; cells of 8015 have a process of their own",
    },
];

/// It is the process's: how many nodes the machine has is asked once.
const ONE_NODE: i32 = 8015;
const WITHOUT_EFFECT: i32 = 8048;

impl Experiment for NumaSweep {
    fn name(&self) -> &'static str {
        "numa-sweep"
    }

    fn what(&self) -> &'static str {
        "Single-row inserts by sessions x affinity masks x trace flags x switches: the sweep of post 3, which found that \
         fewer sessions, kept off the log writer's core, more than double the rate, and that 34 to 36 sessions are the \
         best on 40 logical CPUs. The report draws rate, spins and log throughput along the sessions, a line for each \
         combination of the others."
    }

    fn posts(&self) -> &'static [u8] {
        &[3]
    }

    fn published(&self) -> Vec<Published> {
        let row = |arm: &str, published: &str, value, beside: [(&str, &str); 3]| {
            Published::of(POST_3, arm, "rows/s", published)
                .with_value(value)
                .beside([("log_reserve", "spinlock")].into_iter().chain(beside))
        };
        let without = ("mask", "without-last-core");
        vec![
            row(
                "40 sessions, all CPUs",
                "186,915/s",
                Some(186_915.0),
                [("sessions", "40"), ("mask", "all"), ("trace_flags", "none")],
            ),
            row(
                "38 sessions, the log writer's core removed",
                "436,781/s",
                Some(436_781.0),
                [("sessions", "38"), without, ("trace_flags", "none")],
            ),
            row(
                "36 sessions, TF 8015",
                "over 500,000/s",
                None,
                [("sessions", "36"), without, ("trace_flags", "8015")],
            ),
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

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
    }

    fn defaults(&self) -> Settings {
        let forms = ["spinlock", "lanes"].map(str::to_owned);
        Settings {
            sessions: vec![1, 2, 4, 10, 20, 36, 38, 40],
            durability: vec![Durability::Delayed],
            seconds: 3.0,
            switches: [("log_reserve".to_owned(), forms.to_vec())].into(),
            ..Settings::default()
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let nodes = nodes(bench)?;
        let default = default_masks(&nodes).join(",");
        let masks = values(bench, "mask", &default)
            .into_iter()
            .map(|name| Ok((mask(&name, &nodes)?, name)))
            .collect::<Result<Vec<_>, LabError>>()?;
        let flags = values(bench, "trace-flags", "none")
            .into_iter()
            .map(|name| Ok((trace_flags(&name)?, name)))
            .collect::<Result<Vec<_>, LabError>>()?;
        limits::of_cpus(
            bench,
            20,
            "fewer threads spin at one time, and a core is a larger part of all",
        );
        limits::of_sockets(bench, 2);
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for (cpus, mask) in &masks {
            for (flags, flag) in &flags {
                for workload in bench.settings().workloads(Kind::Insert, &known) {
                    let mut workload = workload.clone();
                    workload.cpus.clone_from(cpus);
                    workload.trace_flags.clone_from(flags);
                    workload.arm = BTreeMap::from([
                        ("mask".to_owned(), mask.clone()),
                        ("trace_flags".to_owned(), flag.clone()),
                    ]);
                    plan.push((0, workload));
                }
            }
        }
        if nodes.len() == 1 && plan.iter().any(|(_, workload)| is_of_a_process(workload)) {
            bench.cannot_show(
                "This process has CPUs of one node: trace flag 8015, which makes one of all, changes nothing here.",
            );
        }
        // The nodes are this process's where it was begun for such a cell.
        if Topology::is_taken_as_one_node() {
            return bench.measure_plan(&plan);
        }
        for alike in plan.chunk_by(|(_, a), (_, b)| is_of_a_process(a) == is_of_a_process(b)) {
            if !is_of_a_process(&alike[0].1) {
                bench.measure_plan(alike)?;
                continue;
            }
            for (_, workload) in alike {
                one_node::measure(bench, self.name(), workload)?;
            }
        }
        Ok(())
    }
}

fn is_of_a_process(workload: &Workload) -> bool {
    workload.trace_flags.contains(&ONE_NODE)
}

fn default_masks(nodes: &[Vec<Cpu>]) -> Vec<String> {
    let mut all = vec!["all".to_owned()];
    if nodes.len() > 1 {
        all.extend(nodes.iter().map(|node| format!("node{}", node[0].node)));
    }
    if mask("without-last-core", nodes).is_ok() {
        all.push("without-last-core".to_owned());
    }
    all
}

/// The CPUs of a mask, of those that the run may use.
fn mask(name: &str, nodes: &[Vec<Cpu>]) -> Result<Vec<usize>, LabError> {
    let all: Vec<&Cpu> = nodes.iter().flatten().collect();
    let refuse = |why: &str| Err(LabError::Options(format!("the mask {name}: {why}")));
    let found: Vec<usize> = match name {
        "all" => ids(&nodes.concat()),
        "without-last-core" => {
            let Some(last) = all.iter().max_by_key(|cpu| cpu.id) else { return refuse("no CPU") };
            let beside = |cpu: &&&Cpu| (cpu.package, cpu.core) != (last.package, last.core);
            all.iter().filter(beside).map(|cpu| cpu.id).collect()
        }
        node if node.starts_with("node") => {
            let number = node.trim_start_matches("node").parse::<usize>();
            all.iter().filter(|cpu| Ok(cpu.node) == number).map(|cpu| cpu.id).collect()
        }
        list => {
            let mut cpus = Vec::new();
            for word in list.split('+') {
                match word.parse::<usize>() {
                    Ok(id) if all.iter().any(|cpu| cpu.id == id) => cpus.push(id),
                    _ => {
                        return refuse("it is no CPU of this run, all, nodeN or without-last-core");
                    }
                }
            }
            cpus
        }
    };
    if found.is_empty() { refuse("it has no CPU") } else { Ok(found) }
}

fn trace_flags(name: &str) -> Result<BTreeSet<i32>, LabError> {
    if name == "none" {
        return Ok(BTreeSet::new());
    }
    name.split('+')
        .map(|word| {
            let flag = word
                .parse::<i32>()
                .ok()
                .filter(|flag| *flag > 0)
                .ok_or_else(|| LabError::Options(format!("{word} is no trace flag")))?;
            match flag {
                WITHOUT_EFFECT => Err(LabError::Options(format!(
                    "trace flag {flag}: it has no effect here (docs/compatibility.md)"
                ))),
                _ => Ok(flag),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_name_cpus_that_are_there() {
        let cpu = |id: usize, node: usize, core: usize| Cpu { id, node, core, package: node };
        let nodes = [vec![cpu(0, 0, 0), cpu(1, 0, 1)], vec![cpu(2, 1, 0), cpu(3, 1, 0)]];
        let found = |name: &str| mask(name, &nodes).ok();
        assert_eq!(found("all"), Some(vec![0, 1, 2, 3]));
        assert_eq!(found("node1"), Some(vec![2, 3]));
        // With its hyper-thread.
        assert_eq!(found("without-last-core"), Some(vec![0, 1]));
        assert_eq!(found("0+3"), Some(vec![0, 3]));
        for wrong in ["4", "node2", "0+", "1+x", ""] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
        assert_eq!(default_masks(&nodes), ["all", "node0", "node1", "without-last-core"]);
        assert_eq!(default_masks(&nodes[1..]), ["all"]);
    }

    #[test]
    fn flags_that_an_instance_cannot_have_are_refused() {
        assert_eq!(trace_flags("none").ok(), Some(BTreeSet::new()));
        assert_eq!(trace_flags("2330+834").ok(), Some([834, 2330].into()));
        assert_eq!(trace_flags("8015").ok(), Some([8015].into()));
        assert!(
            ["8048", "2330+8048", "0", "x", "-1"].iter().all(|wrong| trace_flags(wrong).is_err())
        );
    }
}
