//! Cells under trace flag 8015, which takes the machine as one node: each in a process of its own, since a process asks once
//! how many nodes there are.
//!
//! That process is this program again, `lab run` with the settings of the one cell and `--one-node`; its cell comes back in
//! its `run.json`, with the names that the arms have here. Its standard input is the rope between both: when it is cut, by
//! Ctrl-C here or by the end of this process, the other one closes its cell and ends.

use crate::bench::Bench;
use crate::document::{Cell, Run};
use crate::embedded::Folder;
use crate::error::LabError;
use crate::workload::{Settings, Workload};
use std::fs::{File, read_to_string};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// This program, also where its file has been replaced.
const SELF: &str = "/proc/self/exe";
/// Between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Measures one cell of `experiment` and takes it into the document.
pub(super) fn measure(
    bench: &mut Bench<'_>,
    experiment: &str,
    workload: &Workload,
) -> Result<(), LabError> {
    if bench.is_interrupted() {
        return Err(LabError::Interrupted);
    }
    bench.progress().step("running a cell in a process that takes the machine as one node");
    let settings = bench.settings();
    let folder = Folder::new(&settings.data, false)?;
    let errors = folder.path.join("errors");
    let failed = |error| LabError::Folder { folder: folder.path.clone(), error };
    let mut child = Command::new(SELF)
        .args(arguments(experiment, workload, settings, &folder.path))
        // Ctrl-C is told to it by the rope, once.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(File::create(&errors).map_err(failed)?)
        .spawn()?;
    let mut rope = child.stdin.take();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if bench.is_interrupted() {
            rope = None;
        }
        std::thread::sleep(LOOK);
    };
    drop(rope);
    let cell = read_to_string(folder.path.join("run.json"))
        .ok()
        .and_then(|text| serde_json::from_str::<Run>(&text).ok())
        .and_then(|run| only_cell(run.cells));
    // One that was cut short is told as such, and has another status.
    let cell = cell.filter(|_| status.success() || bench.is_interrupted());
    match cell {
        Some(cell) => bench.push(adopted(cell, workload)),
        None if bench.is_interrupted() => {}
        None => {
            let words = read_to_string(&errors).unwrap_or_default();
            let why = format!("the cell of trace flag 8015 ended with {status}: {}", words.trim());
            return Err(LabError::Open(why));
        }
    }
    match bench.is_interrupted() {
        true => Err(LabError::Interrupted),
        false => Ok(()),
    }
}

fn only_cell(mut cells: Vec<Cell>) -> Option<Cell> {
    let cell = cells.pop();
    cell.filter(|_| cells.is_empty())
}

/// Under the names that its arm has here: there a mask is a list of CPUs.
fn adopted(mut cell: Cell, workload: &Workload) -> Cell {
    cell.settings.extend(workload.settings());
    cell
}

/// `lab run` for one cell of a sweep, which has a mask and trace flags.
fn arguments(
    experiment: &str,
    workload: &Workload,
    settings: &Settings,
    out: &Path,
) -> Vec<String> {
    let list = |ids: Vec<String>, by: &str| ids.join(by);
    let cpus = |ids: &[usize], by: &str| list(ids.iter().map(usize::to_string).collect(), by);
    let flags = list(workload.trace_flags.iter().map(i32::to_string).collect(), "+");
    let mut all: Vec<String> =
        ["lab", "run", experiment, "--one-node", "--json"].map(str::to_owned).into();
    let mut put = |name: &str, value: String| all.push(format!("--{name}={value}"));
    put("out", out.display().to_string());
    put("data", settings.data.display().to_string());
    put("sessions", workload.sessions.to_string());
    put("durability", workload.durability.name().to_owned());
    put("commit-every", workload.commit_every.to_string());
    put("rows-per-insert", workload.rows_per_insert.to_string());
    put("set", format!("mask={}", cpus(&workload.cpus, "+")));
    put("set", format!("trace-flags={flags}"));
    match workload.rows {
        Some(rows) => put("rows", rows.to_string()),
        None => {
            put("seconds", settings.seconds.to_string());
            settings.warmup_seconds.into_iter().for_each(|s| put("warmup", s.to_string()));
        }
    }
    for (name, value) in &workload.switches {
        put(&name.replace('_', "-"), value.clone());
    }
    if let Some(bytes) = settings.buffer_pool_bytes {
        put("buffer-pool-mb", (bytes >> 20).to_string());
    }
    if !settings.cpus.is_empty() {
        put("cpus", cpus(&settings.cpus, ","));
    }
    for (flag, given) in [("--keep", settings.keep), ("--profile", settings.profile)] {
        all.extend(given.then(|| flag.to_owned()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Durability, Kind};

    fn workload() -> (Workload, Settings) {
        let settings = Settings {
            sessions: vec![36],
            durability: vec![Durability::Full],
            seconds: 0.5,
            buffer_pool_bytes: Some(64 << 20),
            cpus: vec![0, 1, 3],
            switches: [("log_reserve".to_owned(), vec!["spinlock".to_owned()])].into(),
            ..Settings::default()
        };
        let mut workload = settings.workloads(Kind::Insert, &["log_reserve".to_owned()]).remove(0);
        workload.cpus = vec![0, 3];
        workload.trace_flags = [834, 8015].into();
        workload.arm = [("mask", "without-last-core"), ("trace_flags", "8015+834")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        (workload, settings)
    }

    #[test]
    fn the_other_process_gets_the_one_cell() {
        let (mut workload, mut settings) = workload();
        let told = |workload: &Workload, settings: &Settings| {
            arguments("numa-sweep", workload, settings, Path::new("out")).join(" ")
        };
        assert_eq!(
            told(&workload, &settings),
            "lab run numa-sweep --one-node --json --out=out --data=data --sessions=36 --durability=full --commit-every=1 \
             --rows-per-insert=1 --set=mask=0+3 --set=trace-flags=834+8015 --seconds=0.5 --log-reserve=spinlock \
             --buffer-pool-mb=64 --cpus=0,1,3"
        );
        workload.rows = Some(500);
        settings.keep = true;
        let by_rows = told(&workload, &settings);
        assert!(by_rows.contains("--rows=500") && !by_rows.contains("--seconds"), "{by_rows}");
        assert!(by_rows.ends_with("--keep"), "{by_rows}");
    }

    #[test]
    fn a_cell_comes_back_under_the_names_of_its_arm() {
        let (workload, _) = workload();
        let there = [("mask", "0+3"), ("trace_flags", "834+8015"), ("log_writer", "leader")];
        let cell = Cell {
            sessions: 36,
            settings: there.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            ..Cell::default()
        };
        let cell = adopted(cell, &workload);
        let of = |name: &str| cell.settings[name].as_str();
        assert_eq!((of("mask"), of("trace_flags")), ("without-last-core", "8015+834"));
        assert_eq!((of("log_writer"), of("cpus")), ("leader", "0 3"));
        assert_eq!(only_cell(vec![cell.clone(), cell.clone()]), None);
        assert!(only_cell(vec![cell]).is_some() && only_cell(Vec::new()).is_none());
    }
}
