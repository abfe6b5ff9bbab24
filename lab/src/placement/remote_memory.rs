//! Post 2: the same reporting query from the node that holds its pages, and from another.

use super::{ARM, ids, nodes, numbers};
use crate::batch::Batch;
use crate::bench::Bench;
use crate::cpus::alike;
use crate::document::{Cell, Published};
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::limits;
use crate::published::Post;
use crate::workload::{Kind, Settings};

/// `remote-memory`.
pub struct RemoteMemory;

const LOCAL: &str = "from the node that holds the pages";
const REMOTE: &str = "from another node";
const OPTIONS: [OwnOption; 1] = [OwnOption {
    name: "size",
    values: "rows of the table, at most 1,000,000 a load",
    default: "100000",
    what: "rows that the report groups (the post has 50 million)",
}];

const POST_2: Post = (2, "2 x 6-core X5690 3.47 GHz, 64 GB, SQL Server 2008 R2");

impl Experiment for RemoteMemory {
    fn name(&self) -> &'static str {
        "remote-memory"
    }

    fn what(&self) -> &'static str {
        "N streams run the reporting query of post 2 (six joins, 600 groups, MAXDOP 1) over a table that lies in memory: \
         from the node whose sessions loaded it, and from another. A row is one that the query reads. The local and \
         remote page look-ups beside it prove that the placement held; the largest difference over the streams is sought."
    }

    fn posts(&self) -> &'static [u8] {
        &[2]
    }

    fn published(&self) -> Vec<Published> {
        let row = |arm: &str, figure: &str, published: &str, beside: &[(&str, &str)]| {
            Published::of(POST_2, arm, figure, published).beside(beside.iter().copied())
        };
        vec![
            row("remote against local, raw", "cost", "1.2 to 1.3, by CoreInfo", &[]),
            row("local", "page look-ups, local", "170,000 to 200,000/s", &[(ARM, LOCAL)]),
            row(
                "remote against local, 32 streams",
                "rows/s",
                "about 5% less: the largest difference",
                &[("sessions", "32"), (ARM, REMOTE)],
            ),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["sessions", "buffer-pool-mb", "pairs"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
    }

    fn defaults(&self) -> Settings {
        Settings { sessions: vec![1, 2, 4, 8, 16, 32], seconds: 5.0, ..Settings::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let nodes = nodes(bench)?;
        let sizes = numbers(bench, "size", &Batch::Report.default_size().to_string())?;
        let Some(first) = nodes.first() else {
            return Err(LabError::Options("this process has no CPU".to_owned()));
        };
        let holder = ids(first);
        let mut arms = Vec::new();
        match nodes.get(1) {
            Some(other) => {
                let (own, other) = alike(first, other);
                arms.extend([(LOCAL, own), (REMOTE, other)]);
            }
            None => {
                arms.push((LOCAL, holder.clone()));
                bench.cannot_show(
                    "This process has CPUs of one node: nothing runs far from its memory, and only the local arm is \
                     measured.",
                );
            }
        }
        limits::of_sockets(bench, 2);
        let mut plan = Vec::new();
        for &size in &sizes {
            for workload in bench.settings().workloads(Kind::Batch(Batch::Report), &[]) {
                for (arm, cpus) in &arms {
                    let mut workload = workload.clone();
                    workload.size = size;
                    workload.fill_cpus.clone_from(&holder);
                    workload.run_cpus.clone_from(cpus);
                    workload.arm.insert(ARM.to_owned(), (*arm).to_owned());
                    workload.arm.insert("size".to_owned(), size.to_string());
                    plan.push((0, workload));
                }
            }
        }
        bench.measure_plan(&plan)?;
        if let Some((sessions, percent)) = largest(bench.cells()) {
            bench.conclude(format!(
                "The largest difference is at {sessions} streams: {percent:.1}% fewer rows/s from the other node (post 2: \
                 about 5%, at 32)."
            ));
        }
        Ok(())
    }
}

/// The number of streams with the largest difference, and by how many percent remote is slower there.
fn largest(cells: &[Cell]) -> Option<(usize, f64)> {
    let of = |cell: &Cell, arm: &str| cell.settings.get(ARM).is_some_and(|name| name == arm);
    let mean = |sessions: usize, arm: &str| {
        let all = cells.iter().filter(|cell| cell.sessions == sessions && of(cell, arm));
        let rates: Vec<f64> = all.map(|cell| cell.rows_per_s).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    };
    let mut streams: Vec<usize> = cells.iter().map(|cell| cell.sessions).collect();
    streams.sort_unstable();
    streams.dedup();
    let difference = |n: usize| {
        let (local, remote) = (mean(n, LOCAL)?, mean(n, REMOTE)?);
        (local > 0.0).then(|| (n, (1.0 - remote / local) * 100.0))
    };
    streams.into_iter().filter_map(difference).max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_difference_is_found_where_it_is() {
        let cell = |sessions: usize, arm: &str, rows_per_s: f64| Cell {
            sessions,
            rows_per_s,
            settings: [(ARM.to_owned(), arm.to_owned())].into(),
            ..Cell::default()
        };
        let cells = [
            cell(1, LOCAL, 100.0),
            cell(1, REMOTE, 99.0),
            cell(8, LOCAL, 200.0),
            cell(8, REMOTE, 190.0),
            cell(32, LOCAL, 300.0),
            cell(32, REMOTE, 297.0),
        ];
        let (streams, percent) = largest(&cells).expect("both arms are there");
        assert_eq!((streams, percent.round()), (8, 5.0));
        assert_eq!(largest(&cells[..1]), None);
    }
}
