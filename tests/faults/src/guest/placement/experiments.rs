//! The lab's experiments on nodes, in the guest that has nodes: each runs to its end, has a cell for each arm that this machine
//! has, prints the post's table beside, and proves its placement: by the look-ups of pages, or by the CPUs that threads had.
//!
//! Sizes are the smallest that show it, and no figure means anything: the nodes are of one memory, and a processor is emulated.
//! Without being asked for all, the two that need least time run.

use super::Run;
use crate::guest::processes::LAB_MAX;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// An instance of a load that goes on for a time: its rows' file and log begin large (lab/src/script.rs).
const INSTANCE_MEGABYTES: u64 = 1_536;
/// What the guest needs beside the run itself, to answer.
const ANSWER: Duration = Duration::from_secs(60);
/// So that each of eight nodes has the pages of a small database.
const POOL: &str = "--buffer-pool-mb 64";
/// A window of a load that has no number of rows.
const WINDOW: &str = "--seconds 1 --warmup 0.2";
/// Rows of a load that has one.
const ROWS: u64 = 1_000;
/// lab/src/placement/remote_memory.rs.
const LOCAL: &str = "from the node that holds the pages";
const REMOTE: &str = "from another node";

/// CPUs of a node: of many nodes one, unless the load of `sockets` is to be divided over some: over as many as each has CPUs.
pub(super) fn cpus_of_a_node(nodes: usize, all: bool) -> usize {
    match (nodes, all) {
        (4, true) => 4,
        (2, _) | (_, true) => 2,
        _ => 1,
    }
}

/// What the largest cell needs: `shards` has an instance for each node.
pub(super) fn disk_megabytes(nodes: usize, all: bool) -> u64 {
    INSTANCE_MEGABYTES * if all { nodes as u64 } else { 1 }
}

/// A run that came to its end.
struct Ran {
    name: &'static str,
    cells: Vec<Value>,
}

impl Run {
    pub(super) fn the_lab_shows_what_it_must(&mut self, all: bool) -> Result<(), String> {
        self.remote_memory()?;
        self.sockets()?;
        if all {
            self.numa_sweep()?;
            self.shards()?;
            self.parallel_insert()?;
        }
        Ok(())
    }

    /// Look-ups are the proof: none of another node's pages where the pages are, and none of its own from elsewhere.
    fn remote_memory(&mut self) -> Result<(), String> {
        let line = format!("--sessions 1 --set size=600 {WINDOW} {POOL}");
        let Some(ran) = self.lab("remote-memory", &line)? else { return Ok(()) };
        self.arms(&ran, "placement", [LOCAL, REMOTE].map(str::to_owned).into());
        for cell in &ran.cells {
            let looked = |which: &str| figure(cell, &format!("page look-ups, {which}"));
            let (local, remote) = (looked("local"), looked("remote"));
            let holds = match setting(cell, "placement") == LOCAL {
                true => local > Some(0.0) && remote == Some(0.0),
                false => local == Some(0.0) && remote > Some(0.0),
            };
            self.checks.that(holds, || {
                let arm = setting(cell, "placement");
                format!("remote-memory {arm}: look-ups {local:?} local and {remote:?} remote")
            });
            let rows = number(cell, "rows_verified");
            self.checks.that(rows > 0, || "remote-memory: no report came to its end".to_owned());
        }
        Ok(())
    }

    /// As many CPUs in each arm, of as many nodes as it says.
    fn sockets(&mut self) -> Result<(), String> {
        let line = format!("--sessions 2 --rows {ROWS} --log-reserve lanes {POOL}");
        let Some(ran) = self.lab("sockets", &line)? else { return Ok(()) };
        let each = self.cpus / self.nodes;
        let divided: Vec<usize> =
            [1, 2, 4].into_iter().filter(|over| *over <= each.min(self.nodes)).collect();
        let name = |over: usize| match over {
            1 => "one node".to_owned(),
            n => format!("divided over {n} nodes"),
        };
        self.arms(&ran, "placement", divided.iter().map(|over| name(*over)).collect());
        let counts: BTreeSet<usize> = ran.cells.iter().map(|cell| cpus(cell).len()).collect();
        self.checks.same(counts.len(), 1, "numbers of CPUs that arms of sockets have");
        for over in divided {
            let of_arm = |cell: &&Value| setting(cell, "placement") == name(over);
            for cell in ran.cells.iter().filter(of_arm) {
                let what = format!("nodes that sockets, {}, has used", name(over));
                let used = self.nodes_used(cell).len();
                self.checks.same(used, over, &what);
                self.runs_where_it_was_put(&ran, cell);
            }
        }
        self.all_rows(&ran);
        Ok(())
    }

    /// A mask of each node, of all, and of all but a core.
    fn numa_sweep(&mut self) -> Result<(), String> {
        let line = format!("--sessions 2 --rows {ROWS} --log-reserve lanes {POOL}");
        let Some(ran) = self.lab("numa-sweep", &line)? else { return Ok(()) };
        let own = (0..self.nodes).map(|node| format!("node{node}"));
        let masks = ["all", "without-last-core"].map(str::to_owned).into_iter().chain(own);
        self.arms(&ran, "mask", masks.collect());
        for cell in &ran.cells {
            self.runs_where_it_was_put(&ran, cell);
            let mask = setting(cell, "mask");
            let wanted: BTreeSet<usize> = match mask.strip_prefix("node") {
                Some(node) => node.parse().into_iter().collect(),
                None if mask == "all" => (0..self.nodes).collect(),
                None => continue,
            };
            let what = format!("nodes that numa-sweep has used with the mask {mask}");
            let used = self.nodes_used(cell);
            self.checks.same(&used, &wanted, &what);
            let counted = numbers(cell, "scheduler_nodes");
            self.checks.same(counted, wanted, &format!("nodes of schedulers, mask {mask}"));
        }
        self.all_rows(&ran);
        self.one_node_in_a_process()
    }

    /// A cell under 8015 has all CPUs, and one node of them.
    fn one_node_in_a_process(&mut self) -> Result<(), String> {
        let own = "--set mask=all --set trace-flags=8015";
        let line = format!("--sessions 2 --rows {ROWS} --log-reserve lanes {own} {POOL}");
        let Some(ran) = self.lab("numa-sweep", &line)? else { return Ok(()) };
        self.arms(&ran, "trace_flags", ["8015".to_owned()].into());
        for cell in &ran.cells {
            self.runs_where_it_was_put(&ran, cell);
            self.checks.same(used(cell).len(), self.cpus, "CPUs of a cell with 8015");
            let counted = numbers(cell, "scheduler_nodes");
            self.checks.same(counted, [0].into(), "nodes of schedulers with 8015");
        }
        self.all_rows(&ran);
        Ok(())
    }

    /// One instance, and one for each node, over the same CPUs.
    fn shards(&mut self) -> Result<(), String> {
        let nodes = self.nodes;
        let line = format!("--sessions {nodes} --log-reserve lanes {WINDOW} {POOL}");
        let Some(ran) = self.lab("shards", &line)? else { return Ok(()) };
        self.arms(&ran, "shards", ["1".to_owned(), nodes.to_string()].into());
        for cell in &ran.cells {
            let shards = setting(cell, "shards");
            let what = format!("schedulers of {shards} shards");
            self.checks.same(number(cell, "schedulers"), self.cpus as u64, &what);
            self.checks.same(used(cell).len(), self.cpus, &format!("CPUs of {shards} shards"));
            let (rows, found) = (number(cell, "rows"), number(cell, "rows_verified"));
            let is_even = shards == "1" || figure(cell, "slowest shard") > Some(0.0);
            self.checks.that(rows > 0 && found >= rows && is_even, || {
                let figures = &cell["figures"];
                format!(
                    "{shards} shards insert, each of them: {rows} rows, {found} found, {figures}"
                )
            });
        }
        Ok(())
    }

    /// By one processor and by all.
    fn parallel_insert(&mut self) -> Result<(), String> {
        let line = format!("--sessions 1 {WINDOW} {POOL}");
        let Some(ran) = self.lab("parallel-insert", &line)? else { return Ok(()) };
        self.arms(&ran, "maxdop", ["1".to_owned(), self.cpus.to_string()].into());
        for cell in &ran.cells {
            let rows = number(cell, "rows_verified");
            self.checks.that(rows > 0 && rows.is_multiple_of(5_000), || {
                format!("parallel-insert inserts whole blocks of 5,000 rows: {rows}")
            });
        }
        Ok(())
    }

    /// Runs an experiment; `None`, and that it does not hold, when it fails.
    fn lab(&mut self, name: &'static str, line: &str) -> Result<Option<Ran>, String> {
        let told = self.machine.ask_within(LAB_MAX + ANSWER, &format!("lab {name} {line}"))?;
        let (status, words) = told.split_once(' ').unwrap_or((told.as_str(), ""));
        let words = words.replace("\\n", "\n");
        self.checks
            .that(status == "0", || format!("lab run {name} {line} ends with {status}: {words}"));
        if status != "0" {
            return Ok(None);
        }
        let beside = words.contains("Published, and measured here:");
        self.checks
            .that(beside, || format!("{name} prints the post's table beside its own: {words}"));
        let document = self.machine.ask("document")?;
        let document: Value = serde_json::from_str(&document)
            .map_err(|error| format!("the document of {name}: {error}"))?;
        let cells = document["cells"].as_array().cloned().unwrap_or_default();
        let whole = !cells.is_empty() && document["cut_short"] == Value::Bool(false);
        self.checks.that(whole, || format!("{name} measures all of its cells: {}", cells.len()));
        Ok(Some(Ran { name, cells }))
    }

    /// The values of a setting that its cells have.
    fn arms(&mut self, ran: &Ran, name: &str, wanted: BTreeSet<String>) {
        let found: BTreeSet<String> =
            ran.cells.iter().map(|cell| setting(cell, name).to_owned()).collect();
        self.checks.same(found, wanted, &format!("arms of {}", ran.name));
    }

    /// Every row that was acknowledged is there.
    fn all_rows(&mut self, ran: &Ran) {
        for cell in &ran.cells {
            let told = (number(cell, "rows"), number(cell, "rows_verified"));
            self.checks.same(told, (ROWS, ROWS), &format!("rows of {}, and those found", ran.name));
        }
    }

    /// The threads of a cell's schedulers may run on the CPUs that its arm names, and on no others.
    fn runs_where_it_was_put(&mut self, ran: &Ran, cell: &Value) {
        let what = format!("CPUs that threads of {} may run on, {}", ran.name, cell["settings"]);
        self.checks.same(used(cell), cpus(cell), &what);
    }

    /// Of the CPUs that the threads of a cell's schedulers may run on; the guest's nodes have theirs in order.
    fn nodes_used(&self, cell: &Value) -> BTreeSet<usize> {
        used(cell).into_iter().map(|cpu| cpu * self.nodes / self.cpus).collect()
    }
}

fn setting<'a>(cell: &'a Value, name: &str) -> &'a str {
    cell["settings"][name].as_str().unwrap_or_default()
}

fn figure(cell: &Value, name: &str) -> Option<f64> {
    cell["figures"][name]["value"].as_f64()
}

fn number(cell: &Value, name: &str) -> u64 {
    cell[name].as_u64().unwrap_or(0)
}

fn numbers(cell: &Value, name: &str) -> BTreeSet<usize> {
    let all = cell[name].as_array().into_iter().flatten();
    all.filter_map(|number| number.as_u64()?.try_into().ok()).collect()
}

/// CPUs that the threads of its schedulers may run on, as the kernel had it.
fn used(cell: &Value) -> BTreeSet<usize> {
    numbers(cell, "scheduler_cpus")
}

/// CPUs that were asked for.
fn cpus(cell: &Value) -> BTreeSet<usize> {
    setting(cell, "cpus").split(' ').filter_map(|cpu| cpu.parse().ok()).collect()
}
