//! Reads the topology from a tree in the shape of /sys. What is missing gets the simplest value:
//! one node that holds all CPUs, each a core of its own.

use crate::{Access, Cache, Cpu, Node, Topology, cgroup, parse_cpulist};
use std::fs;
use std::io;
use std::path::Path;

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn list(path: &Path) -> Option<Vec<usize>> {
    parse_cpulist(&text(path)?)
}

fn number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    text(path)?.trim().parse().ok()
}

pub(crate) fn read(root: &Path) -> io::Result<Topology> {
    let system = root.join("sys/devices/system");
    let online = list(&system.join("cpu/online")).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "sys/devices/system/cpu/online cannot be read")
    })?;
    let mut offline = list(&system.join("cpu/present")).unwrap_or_default();
    offline.retain(|cpu| !online.contains(cpu));
    let nodes = nodes(&system, &online, root);
    let allowed = cgroup::read(root);
    let is_allowed = |id: &&usize| allowed.cpus.as_ref().is_none_or(|set| set.contains(id));
    let cpus = online
        .iter()
        .filter(is_allowed)
        .map(|&id| {
            let own = system.join(format!("cpu/cpu{id}/topology"));
            Cpu {
                id,
                node: nodes.iter().find(|n| n.cpus.contains(&id)).map_or(0, |n| n.id),
                core: number(&own.join("core_id")).unwrap_or(id),
                // -1 where a kernel of arm64 does not know it.
                package: number::<i64>(&own.join("physical_package_id"))
                    .map_or(0, |package| package.max(0) as usize),
            }
        })
        .collect();
    Ok(Topology {
        cpus,
        offline,
        caches: caches(&system, &online),
        nodes,
        allowed_cpus: allowed.cpus,
        allowed_memory: allowed.memory_nodes,
        quota_cpus: allowed.quota,
        model_name: model_name(root),
    })
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
            let memory_bytes = mem_total(&dir.join("meminfo"));
            Node { id, cpus, memory_bytes, distances, access: access(&dir) }
        })
        .collect();
    if nodes.is_empty() {
        let memory_bytes = mem_total(&root.join("proc/meminfo"));
        let (cpus, distances) = (online.to_vec(), vec![10]);
        nodes.push(Node { id: 0, cpus, memory_bytes, distances, access: None });
    }
    nodes
}

/// Class 0: from the nearest initiators (Documentation/admin-guide/mm/numaperf.rst).
fn access(node: &Path) -> Option<Access> {
    let of = |name: &str| number(&node.join("access0/initiators").join(name));
    Some(Access {
        read_latency_ns: of("read_latency")?,
        write_latency_ns: of("write_latency")?,
        read_bandwidth: of("read_bandwidth")?,
        write_bandwidth: of("write_bandwidth")?,
    })
}

fn caches(system: &Path, online: &[usize]) -> Vec<Cache> {
    let mut all: Vec<Cache> = Vec::new();
    for &cpu in online {
        for index in 0.. {
            let own = system.join(format!("cpu/cpu{cpu}/cache/index{index}"));
            let (Some(level), Some(kind)) = (number(&own.join("level")), text(&own.join("type")))
            else {
                break;
            };
            let kind = kind.trim().to_owned();
            let seen = |c: &Cache| c.level == level && c.kind == kind && c.cpus.contains(&cpu);
            if all.iter().any(seen) {
                continue;
            }
            let mut cpus = list(&own.join("shared_cpu_list")).unwrap_or_else(|| vec![cpu]);
            cpus.retain(|cpu| online.contains(cpu));
            let bytes = text(&own.join("size")).and_then(|size| size_bytes(&size)).unwrap_or(0);
            let line_bytes = number(&own.join("coherency_line_size")).unwrap_or(0);
            all.push(Cache { level, kind, bytes, line_bytes, cpus });
        }
    }
    all.sort_by(|a, b| (a.level, &a.kind, &a.cpus).cmp(&(b.level, &b.kind, &b.cpus)));
    all
}

/// `32K`, `16M` or bytes.
fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

/// `MemTotal:  24000 kB`, or with `Node 0 ` before it.
fn mem_total(path: &Path) -> u64 {
    let text = text(path).unwrap_or_default();
    let after = text.split("MemTotal:").nth(1).unwrap_or_default();
    after.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// x86 has `model name`; arm64 tells numbers, which stay numbers.
fn model_name(root: &Path) -> Option<String> {
    let text = text(&root.join("proc/cpuinfo"))?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    field("model name").or_else(|| {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("arm64 implementer {implementer} part {part}"))
    })
}
