//! A machine, its placement and its measured matrices as tables of text.

use crate::measure::{Line, Memory};
use crate::placement::Placement;
use crate::soft::Configuration;
use crate::{Topology, format_cpulist};
use std::fmt::Write;

/// The machine: processor, limits, CPUs by core, caches, nodes with distances.
pub fn machine(t: &Topology) -> String {
    let mut out = String::new();
    if let Some(model) = &t.model_name {
        let _ = writeln!(out, "processor: {model}");
    }
    let quota = t.quota_cpus.map(|quota| format!("{quota} CPUs' worth of time"));
    let _ = writeln!(out, "control group: {}", quota.as_deref().unwrap_or("no limit of time"));
    for (what, allowed) in [("CPUs", &t.allowed_cpus), ("memory of nodes", &t.allowed_memory)] {
        if let Some(allowed) = allowed {
            let _ = writeln!(out, "control group: {what} {}", format_cpulist(allowed));
        }
    }
    let (sockets, cores) = (t.packages().len(), t.core_count());
    let _ = writeln!(out, "{sockets} socket(s), {cores} core(s), {} CPU(s) usable", t.cpus.len());
    if !t.offline.is_empty() {
        let _ = writeln!(out, "offline: {}", format_cpulist(&t.offline));
    }
    let _ = writeln!(out, "\n{:>6}  {:>4}  {:>4}  CPUs of the core", "socket", "node", "core");
    let mut cores: Vec<_> = t.cpus.iter().map(|c| (c.package, c.node, c.core)).collect();
    cores.sort_unstable();
    cores.dedup();
    for (package, node, core) in cores {
        let own = t.cpus.iter().filter(|c| (c.package, c.core) == (package, core));
        let own: Vec<usize> = own.map(|c| c.id).collect();
        let _ = writeln!(out, "{package:>6}  {node:>4}  {core:>4}  {}", format_cpulist(&own));
    }
    if !t.caches.is_empty() {
        let _ = writeln!(
            out,
            "\n{:8}  {:>5}  {:>10}  {:>4}  shared by",
            "cache", "count", "KiB", "line"
        );
        let alike = |a: &crate::Cache, b: &crate::Cache| {
            (a.level, &a.kind, a.bytes, a.cpus.len()) == (b.level, &b.kind, b.bytes, b.cpus.len())
        };
        for same in t.caches.chunk_by(alike) {
            let c = &same[0];
            let kind = if c.kind == "Unified" { "" } else { &c.kind[..1] };
            let name = format!("L{}{}", c.level, kind.to_lowercase());
            let (count, kib, shared) = (same.len(), c.bytes >> 10, c.cpus.len());
            let _ = writeln!(
                out,
                "{name:8}  {count:>5}  {kib:>10}  {:>4}  {shared} CPU(s)",
                c.line_bytes
            );
        }
    }
    let _ = writeln!(out, "\n{:>4}  {:>10}  {:24}  distances", "node", "memory MiB", "CPUs");
    for n in &t.nodes {
        let distances: Vec<_> = n.distances.iter().map(|d| d.to_string()).collect();
        let (memory, cpus) = (n.memory_bytes >> 20, format_cpulist(&n.cpus));
        let _ = write!(out, "{:>4}  {memory:>10}  {cpus:24}  {}", n.id, distances.join(" "));
        if let Some(access) = n.access {
            let _ = write!(
                out,
                "  (firmware: read {} ns, {} MiB/s)",
                access.read_latency_ns, access.read_bandwidth
            );
        }
        out.push('\n');
    }
    out
}

/// Where the engine's parts go. Nodes are the server's: as in a port's map and in LOG_WRITER_PLACE.
pub fn placement(p: &Placement) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:>4}  {:>7}  {:24}  {:>9}  port",
        "node", "part of", "schedulers on CPUs", "memory of"
    );
    for n in &p.nodes {
        let memory = n.memory_node.map_or("none".to_owned(), |node| node.to_string());
        let cpus = format_cpulist(&n.schedulers);
        let port = n.port_mask.map_or_else(
            || "PORT, of all nodes: a bit map has 64".to_owned(),
            |mask| format!("PORT[{mask:#x}]"),
        );
        let (node, whole) = (n.node, n.machine_node);
        let _ = writeln!(out, "{node:>4}  {whole:>7}  {cpus:24}  {memory:>9}  {port}");
    }
    if let Some(place) = p.log_writer {
        let _ = writeln!(
            out,
            "log writer: whoever commits; a dedicated one on CPU {} (LOG_WRITER_PLACE = 'CPU {0}', or 'NODE {}')",
            place.cpu, place.node
        );
    }
    let how = match p.soft_numa {
        Configuration::Off => "divides nothing: nodes are the machine's own",
        Configuration::Automatic => "divides nodes of more than 8 physical cores",
        Configuration::Manual => "by hand",
    };
    let _ = writeln!(out, "soft-NUMA: {how}");
    if !p.away.is_empty() {
        let _ = writeln!(
            out,
            "memory that no scheduler is nearest to: of the machine's node {}",
            format_cpulist(&p.away)
        );
    }
    out
}

/// Nanoseconds of a hand-over: who begins by rows, the other by columns; median, and the deciles of each row's worst.
pub fn lines(lines: &[Line]) -> String {
    let mut out =
        String::from("a cache line from CPU to CPU, ns (median; home is the row's node)\n");
    let mut cpus: Vec<usize> = lines.iter().map(|l| l.from).collect();
    cpus.dedup();
    let _ = write!(out, "{:>5}", "");
    cpus.iter().for_each(|cpu| {
        let _ = write!(out, "  {cpu:>6}");
    });
    let _ = writeln!(out, "  {:>15}", "p10 to p90");
    for &from in &cpus {
        let _ = write!(out, "{from:>5}");
        let own = || lines.iter().filter(|l| l.from == from);
        for to in &cpus {
            let _ = match own().find(|l| l.to == *to) {
                Some(line) => write!(out, "  {:>6.0}", line.ns.p50),
                None => write!(out, "  {:>6}", "-"),
            };
        }
        let low = own().map(|l| l.ns.p10).fold(f64::INFINITY, f64::min);
        let high = own().map(|l| l.ns.p90).fold(0.0, f64::max);
        let _ = writeln!(out, "  {:>15}", format!("{low:.0} to {high:.0}"));
    }
    out
}

/// Latency and bandwidth from each node to each.
pub fn memory(memory: &[Memory]) -> String {
    let mut out = String::from("memory from a node's CPU to a node's memory\n");
    let _ = writeln!(
        out,
        "{:>4}  {:>4}  {:>10}  {:>15}  {:>8}  {:>15}",
        "from", "to", "latency ns", "p10 to p90", "GiB/s", "p10 to p90"
    );
    for m in memory {
        let _ = writeln!(
            out,
            "{:>4}  {:>4}  {:>10.1}  {:>15}  {:>8.2}  {:>15}",
            m.from,
            m.to,
            m.latency_ns.p50,
            format!("{:.1} to {:.1}", m.latency_ns.p10, m.latency_ns.p90),
            m.gib_per_s.p50,
            format!("{:.2} to {:.2}", m.gib_per_s.p10, m.gib_per_s.p90)
        );
    }
    out
}
