//! Reads the topology from a tree in the shape of /sys. What is missing gets the simplest value:
//! one node that holds all CPUs, each a core of its own.

use crate::{Cpu, Node, Topology, parse_cpulist};
use std::fs;
use std::io;
use std::path::Path;

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn list(path: &Path) -> Option<Vec<usize>> {
    parse_cpulist(&text(path)?)
}

fn number(path: &Path) -> Option<usize> {
    text(path)?.trim().parse().ok()
}

pub(crate) fn read(root: &Path) -> io::Result<Topology> {
    let system = root.join("sys/devices/system");
    let online = list(&system.join("cpu/online")).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "sys/devices/system/cpu/online cannot be read")
    })?;
    let nodes = nodes(&system, &online, root);
    let cpus = online
        .iter()
        .map(|&id| {
            let own = system.join(format!("cpu/cpu{id}/topology"));
            Cpu {
                id,
                node: nodes.iter().find(|n| n.cpus.contains(&id)).map_or(0, |n| n.id),
                core: number(&own.join("core_id")).unwrap_or(id),
                package: number(&own.join("physical_package_id")).unwrap_or(0),
            }
        })
        .collect();
    Ok(Topology { cpus, nodes, quota_cpus: quota(root), model_name: model_name(root) })
}

fn nodes(system: &Path, online: &[usize], root: &Path) -> Vec<Node> {
    let ids = list(&system.join("node/online")).unwrap_or_default();
    let mut nodes: Vec<Node> = ids
        .iter()
        .map(|&id| {
            let dir = system.join(format!("node/node{id}"));
            let mut cpus = list(&dir.join("cpulist")).unwrap_or_default();
            cpus.retain(|cpu| online.contains(cpu));
            let distances = text(&dir.join("distance")).unwrap_or_default();
            let distances = distances.split_whitespace().filter_map(|d| d.parse().ok()).collect();
            Node { id, cpus, memory_bytes: mem_total(&dir.join("meminfo")), distances }
        })
        .collect();
    if nodes.is_empty() {
        let memory_bytes = mem_total(&root.join("proc/meminfo"));
        nodes.push(Node { id: 0, cpus: online.to_vec(), memory_bytes, distances: vec![10] });
    }
    nodes
}

/// `MemTotal:  24000 kB`, or with `Node 0 ` before it.
fn mem_total(path: &Path) -> u64 {
    let text = text(path).unwrap_or_default();
    let after = text.split("MemTotal:").nth(1).unwrap_or_default();
    after.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// The quota of control groups, version 2 or 1: quota / period.
fn quota(root: &Path) -> Option<f64> {
    let v2 = text(&root.join("sys/fs/cgroup/cpu.max"));
    let (quota, period) = match &v2 {
        Some(line) => {
            let mut words = line.split_whitespace();
            (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?)
        }
        None => {
            let v1 = root.join("sys/fs/cgroup/cpu");
            let read = |name| text(&v1.join(name))?.trim().parse::<f64>().ok();
            (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
        }
    };
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

fn model_name(root: &Path) -> Option<String> {
    let text = text(&root.join("proc/cpuinfo"))?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
