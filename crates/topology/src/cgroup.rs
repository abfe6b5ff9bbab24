//! What the process's control group allows: time, CPUs, memory nodes. Versions 2 and 1.
//!
//! Limits hold for a group and all below it, so the group's own folder and each above it are asked, and the tightest
//! answer counts (Documentation/admin-guide/cgroup-v2.rst, "Top-down Constraint"). In a container the kernel may show
//! the group's folder as the root of the tree: what cannot be read limits nothing.

use crate::parse_cpulist;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(crate) struct Allowed {
    /// CPUs' worth of time.
    pub quota: Option<f64>,
    pub cpus: Option<Vec<usize>>,
    pub memory_nodes: Option<Vec<usize>>,
}

pub(crate) fn read(root: &Path) -> Allowed {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let tree = root.join("sys/fs/cgroup");
    let mut allowed = Allowed::default();
    // Version 2 is one line, `0::/path`; version 1 one line for each hierarchy, `4:cpu,cpuacct:/path`.
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    for folder in upwards(&tree, unified) {
        allowed.limit(quota_v2(&folder));
        let set = |name| list(&folder.join(name));
        allowed.cpus = allowed.cpus.or_else(|| set("cpuset.cpus.effective"));
        allowed.memory_nodes = allowed.memory_nodes.or_else(|| set("cpuset.mems.effective"));
    }
    let of = |controller: &str| {
        let own = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let named = parts.next()?.split(',').any(|name| name == controller);
            named.then(|| parts.next()).flatten()
        });
        upwards(&tree.join(controller), own.unwrap_or("/"))
    };
    for folder in of("cpu") {
        allowed.limit(quota_v1(&folder));
    }
    for folder in of("cpuset") {
        let set = |name| list(&folder.join(name));
        allowed.cpus = allowed.cpus.or_else(|| set("cpuset.effective_cpus"));
        allowed.cpus = allowed.cpus.or_else(|| set("cpuset.cpus"));
        allowed.memory_nodes = allowed.memory_nodes.or_else(|| set("cpuset.effective_mems"));
        allowed.memory_nodes = allowed.memory_nodes.or_else(|| set("cpuset.mems"));
    }
    allowed
}

impl Allowed {
    fn limit(&mut self, quota: Option<f64>) {
        self.quota = match (self.quota, quota) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

/// The folder of a group below `tree`, and those above it up to `tree` itself.
fn upwards(tree: &Path, group: &str) -> Vec<PathBuf> {
    let own = tree.join(group.trim().trim_start_matches('/'));
    own.ancestors().take_while(|folder| folder.starts_with(tree)).map(Path::to_owned).collect()
}

fn list(path: &Path) -> Option<Vec<usize>> {
    let numbers = parse_cpulist(&fs::read_to_string(path).ok()?)?;
    (!numbers.is_empty()).then_some(numbers)
}

/// `cpu.max`: quota or `max`, and period, in microseconds.
fn quota_v2(folder: &Path) -> Option<f64> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let mut words = text.split_whitespace();
    share(words.next()?.parse().ok()?, words.next()?.parse().ok()?)
}

fn quota_v1(folder: &Path) -> Option<f64> {
    let read = |name| fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok();
    share(read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
}

/// -1 is no limit.
fn share(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}
