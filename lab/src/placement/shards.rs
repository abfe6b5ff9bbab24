//! Posts 3 and 5: one instance for each node, each with a log and spinlocks of its own, against one instance of all.

use super::{nodes, numbers};
use crate::bench::Bench;
use crate::document::Published;
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::limits;
use crate::published::POST_3;
use crate::workload::{Kind, Settings};

/// `shards`.
pub struct Shards;

const OPTIONS: [OwnOption; 1] = [OwnOption {
    name: "shards",
    values: "numbers from 1 on",
    default: "1, and a shard for each node, or for each CPU on a machine of one node",
    what: "instances that the CPUs, the sessions and the buffer pool are divided over",
}];

impl Experiment for Shards {
    fn name(&self) -> &'static str {
        "shards"
    }

    fn what(&self) -> &'static str {
        "The same sessions on one instance over all CPUs, and divided over instances that are pinned to CPUs of their own \
         and have logs of their own: throughput and latency of all together in one cell, and how even the shards were. \
         Shows what the one log costs, and what is left of that with lanes."
    }

    fn posts(&self) -> &'static [u8] {
        &[3, 5]
    }

    fn published(&self) -> Vec<Published> {
        let told = "proposed as the way past one log's spinlocks; no figures";
        vec![Published::of(POST_3, "an instance for each socket", "rows/s", told)]
    }

    fn takes(&self) -> &'static [&'static str] {
        &[
            "sessions",
            "durability",
            "commit-every",
            "rows-per-insert",
            "switches",
            "buffer-pool-mb",
            "pairs",
        ]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
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
        let nodes = nodes(bench)?;
        let cpus: usize = nodes.iter().map(Vec::len).sum();
        let natural = if nodes.len() > 1 { nodes.len() } else { cpus };
        let default = if natural > 1 { format!("1,{natural}") } else { "1".to_owned() };
        let counts = numbers(bench, "shards", &default)?;
        if let Some(n) = counts.iter().find(|n| **n > cpus as u64) {
            let why = format!("{n} shards need {n} CPUs, this run has {cpus}");
            return Err(LabError::Options(why));
        }
        let fewest = bench.settings().sessions.iter().min().copied().unwrap_or(0);
        if let Some(n) = counts.iter().find(|n| **n > fewest as u64) {
            return Err(LabError::Options(format!("{n} shards need {n} sessions and more")));
        }
        limits::of_sockets(bench, 2);
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for workload in bench.settings().workloads(Kind::Insert, &known) {
            for &shards in &counts {
                let mut workload = workload.clone();
                workload.shards = shards as usize;
                workload.arm.insert("shards".to_owned(), shards.to_string());
                plan.push((0, workload));
            }
        }
        bench.measure_plan(&plan)
    }
}
