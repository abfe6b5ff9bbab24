//! Posts 1 and 5 load the log by INSERT ... SELECT with TABLOCK, in parallel.

use super::numbers;
use crate::batch::Batch;
use crate::bench::Bench;
use crate::document::Published;
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::workload::{Kind, Settings};

/// `parallel-insert`.
pub struct ParallelInsert;

const OPTIONS: [OwnOption; 1] = [OwnOption {
    name: "maxdop",
    values: "numbers from 1 on",
    default: "1, and the number of CPUs",
    what: "processors that OPTION (MAXDOP) gives each statement",
}];

impl Experiment for ParallelInsert {
    fn name(&self) -> &'static str {
        "parallel-insert"
    }

    fn what(&self) -> &'static str {
        "Sessions insert blocks of 5,000 rows by INSERT ... SELECT WITH (TABLOCK), a transaction each, at one processor and \
         at all: the load of posts 1 and 5 on the log cache, since SQL Server runs it in parallel from 2016 on. Shows how \
         much of the log's and the tables' cost a row has when statements and commits are few."
    }

    fn posts(&self) -> &'static [u8] {
        &[1, 5]
    }

    fn published(&self) -> Vec<Published> {
        vec![Published {
            post: 5,
            machine: "2 x 6-core Westmere, PCIe flash".to_owned(),
            arm: "parallel INSERT ... SELECT".to_owned(),
            figure: "rows/s".to_owned(),
            published: "named as a load on the log cache; no figures".to_owned(),
            value: None,
            beside: Default::default(),
        }]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["sessions", "durability", "switches", "buffer-pool-mb", "pairs"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
    }

    fn defaults(&self) -> Settings {
        Settings { sessions: vec![1], seconds: 5.0, ..Settings::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let cpus = match bench.settings().cpus.len() {
            0 => bench.machine().cpus,
            chosen => chosen,
        };
        let default = if cpus > 1 { format!("1,{cpus}") } else { "1".to_owned() };
        let dops = numbers(bench, "maxdop", &default)?;
        bench.cannot_show(
            "The insert itself runs on one processor here, whatever MAXDOP says: only its SELECT may have more.",
        );
        let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
        let mut plan = Vec::new();
        for dop in dops {
            let dop = u32::try_from(dop).unwrap_or(u32::MAX).min(32_767);
            let kind = Kind::Batch(Batch::InsertSelect { dop });
            plan.extend(bench.settings().workloads(kind, &known).into_iter().map(|w| (0, w)));
        }
        bench.measure_plan(&plan)
    }
}
