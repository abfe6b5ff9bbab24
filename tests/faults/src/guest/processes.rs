//! What the agent asks of processes beside the server's life: its threads as the kernel has them, and a run of the lab.
//!
//! One run of the lab at a time; the next one's report takes the place of the last one's.

use super::numa_maps;
use std::fs::{File, read_to_string};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program under test.
pub const BINARY: &str = "/bin/millrace";
/// A run of the lab ends by itself long before, also on a slow machine.
pub const LAB_MAX: Duration = Duration::from_secs(400);
/// On the disk: databases are made here, and removed.
const DATA: &str = "/mnt/lab";
/// In memory, as what is printed is.
const REPORT: &str = "/tmp/report";
const PRINTED: &str = "/tmp/lab-printed";
const ERRORS: &str = "/tmp/lab-errors";

/// A line for each thread of a process: its memory policy, and its name.
pub fn threads(process: u32) -> io::Result<String> {
    let mut lines = String::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let task = task?.path();
        // It may end meanwhile.
        let (Ok(name), Ok(maps)) =
            (read_to_string(task.join("comm")), read_to_string(task.join("numa_maps")))
        else {
            continue;
        };
        let policy = numa_maps::policy_of_thread(&maps).unwrap_or("unknown");
        lines += &format!("{policy} {}\n", name.trim_end());
    }
    Ok(lines)
}

/// `millrace lab run` with these arguments: its exit status, and what it printed; of one that failed also its errors.
pub fn lab(arguments: &str) -> Result<String, String> {
    let said = |error: io::Error| format!("the lab: {error}");
    let _ = std::fs::remove_dir_all(REPORT);
    let mut child = Command::new(BINARY)
        .args(["lab", "run"])
        .args(arguments.split(' '))
        .args(["--data", DATA, "--out", REPORT])
        .stdin(Stdio::null())
        .stdout(File::create(PRINTED).map_err(said)?)
        .stderr(File::create(ERRORS).map_err(said)?)
        .spawn()
        .map_err(said)?;
    let until = Instant::now() + LAB_MAX;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(said)? {
            break status;
        }
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            let words = read_to_string(ERRORS).unwrap_or_default();
            return Err(format!("lab run {arguments} does not end\n{words}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut words = read_to_string(PRINTED).map_err(said)?;
    if !status.success() {
        words += &read_to_string(ERRORS).map_err(said)?;
    }
    Ok(format!("{} {words}", status.code().unwrap_or(-1)))
}

/// The document of the last run, as one line. (Within its texts an end of line is written otherwise.)
pub fn document() -> io::Result<String> {
    Ok(read_to_string(Path::new(REPORT).join("run.json"))?.replace('\n', " "))
}
