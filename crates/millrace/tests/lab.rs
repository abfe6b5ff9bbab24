//! `millrace lab run` as a process: what takes another process besides.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("millrace-lab-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// How many nodes the machine has is asked once in a process: a cell under trace flag 8015 has one of its own, and stands in
/// the document like all others.
#[test]
fn a_sweep_has_cells_under_the_trace_flag_of_one_node() {
    let folder = folder("one-node");
    let run = |report: &str, flags: &str| {
        let done = Command::new(env!("CARGO_BIN_EXE_millrace"))
            .args(["lab", "run", "numa-sweep", "--sessions", "2", "--rows", "300", "--json"])
            .args(["--log-reserve", "lanes", "--buffer-pool-mb", "64", "--set", "mask=all"])
            .args(["--set", &format!("trace-flags={flags}")])
            .arg("--data")
            .arg(folder.join("data"))
            .arg("--out")
            .arg(folder.join(report))
            .output()
            .expect("started");
        let document = std::fs::read_to_string(folder.join(report).join("run.json"));
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.success(), document.unwrap_or_default(), words)
    };
    let (succeeded, document, words) = run("both", "none,8015,2330+8015");
    assert!(succeeded, "{words}");
    let document: Value = serde_json::from_str(&document).expect("a document");
    let cells = document["cells"].as_array().expect("cells");
    let of = |cell: &Value| {
        let told = |name: &str| cell["settings"][name].as_str().unwrap_or_default().to_owned();
        (told("trace_flags"), told("mask"), cell["rows"].as_u64(), cell["rows_verified"].as_u64())
    };
    let wanted = |flags: &str| (flags.to_owned(), "all".to_owned(), Some(300), Some(300));
    let found: Vec<_> = cells.iter().map(of).collect();
    assert_eq!(found, ["none", "8015", "2330+8015"].map(wanted));
    // One node of all CPUs, and the same CPUs as without the flag.
    for cell in &cells[1..] {
        assert_eq!(cell["scheduler_nodes"], serde_json::json!([0]));
        assert_eq!(cell["scheduler_cpus"], cells[0]["scheduler_cpus"]);
        assert_eq!(cell["settings"]["cpus"], cells[0]["settings"]["cpus"]);
    }
    // What has no effect is refused before anything runs.
    let (succeeded, _, words) = run("none", "8048,8015");
    assert!(!succeeded && words.contains("8048"), "{words}");
    let _ = std::fs::remove_dir_all(&folder);
}
