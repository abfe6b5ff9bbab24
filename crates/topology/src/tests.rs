//! Fixture trees stand for machines that are not at hand.

use crate::{Topology, parse_cpulist};
use std::path::{Path, PathBuf};

struct Fixture(PathBuf);

impl Fixture {
    fn new(name: &str, files: &[(&str, &str)]) -> Fixture {
        let root = std::env::temp_dir().join(format!("topology-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            std::fs::write(path, text).expect("written");
        }
        Fixture(root)
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn lists() {
    assert_eq!(parse_cpulist("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
    assert_eq!(parse_cpulist("\n"), Some(vec![]));
    for bad in ["3-1", "a", "1,,2", "0-99999999"] {
        assert_eq!(parse_cpulist(bad), None, "{bad}");
    }
}

#[test]
fn two_nodes() {
    let cpu = "sys/devices/system/cpu";
    let node = "sys/devices/system/node";
    let fixture = Fixture::new(
        "two",
        &[
            (&format!("{cpu}/online"), "0-3"),
            (&format!("{cpu}/cpu1/topology/core_id"), "5"),
            (&format!("{cpu}/cpu2/topology/physical_package_id"), "1"),
            (&format!("{node}/online"), "0-1"),
            (&format!("{node}/node0/cpulist"), "0-1"),
            (&format!("{node}/node1/cpulist"), "2-3"),
            (&format!("{node}/node0/distance"), "10 21"),
            (&format!("{node}/node1/distance"), "21 10"),
            (
                &format!("{node}/node1/meminfo"),
                "Node 1 MemTotal:       1024 kB\nNode 1 MemFree: 1 kB",
            ),
            ("sys/fs/cgroup/cpu.max", "150000 100000"),
        ],
    );
    let t = Topology::from_sysfs(&fixture.0).expect("readable");
    assert_eq!(t.cpu_ids(), [0, 1, 2, 3]);
    assert_eq!(t.cpus.iter().map(|c| c.node).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!((t.cpus[1].core, t.cpus[2].package), (5, 1));
    assert_eq!(t.nodes[1].distances, [21, 10]);
    assert_eq!(t.nodes[1].memory_bytes, 1 << 20);
    assert_eq!(t.quota_cpus, Some(1.5));
}

#[test]
fn without_nodes_there_is_one() {
    let fixture = Fixture::new(
        "one",
        &[("sys/devices/system/cpu/online", "0-1"), ("sys/fs/cgroup/cpu.max", "max 100000")],
    );
    let t = Topology::from_sysfs(&fixture.0).expect("readable");
    assert_eq!(t.nodes.len(), 1);
    assert_eq!(t.nodes[0].cpus, [0, 1]);
    assert_eq!(t.quota_cpus, None);
    assert!(Topology::from_sysfs(Path::new("/nonexistent")).is_err());
}

#[test]
fn this_machine() {
    let t = Topology::discover().expect("a machine");
    assert!(!t.cpus.is_empty() && !t.nodes.is_empty());
}
