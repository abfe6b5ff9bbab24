//! Where an engine's parts would run on a machine: the same rules that the server starts by.
//!
//! - A scheduler for each usable CPU, named by its CPU's node.
//! - Memory (arenas, log buffers) on each node that has schedulers; a node with CPUs and no memory takes that of the
//!   nearest node that has some; what is nobody's nearest is `away`. What a scheduler's thread takes from the system comes
//!   from there ([`seat`]), where more than one node has memory.
//! - The log writer has no thread of its own unless it is given one (docs/switches.md, LOG_WRITER); then the last CPU of
//!   the first node is a place that leaves most of that node undivided.
//! - Ports: one for each node with schedulers, counted from the first.
//! - Soft-NUMA: nodes with more than 8 physical cores are divided ([`crate::soft`]), unless that is switched off.

use crate::Topology;
use crate::soft::{self, SoftNode};
use runtime::numa::{Place, Seat};

/// Where things go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub nodes: Vec<NodePlacement>,
    /// For a dedicated log writer; `None` on a machine without CPUs of ours.
    pub log_writer: Option<LogWriterPlace>,
    /// Groups of CPUs of one hardware node each; one for each node where no socket is large.
    pub soft_nodes: Vec<SoftNode>,
    /// Nodes whose memory nobody is nearest to.
    pub away: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlacement {
    pub node: usize,
    /// CPUs of its schedulers, ascending.
    pub schedulers: Vec<usize>,
    /// The node whose memory they use; `None` if no node has any.
    pub memory_node: Option<usize>,
    /// Bit of the node in a port's mask (`ADDR:PORT[0x1]`).
    pub port_mask: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogWriterPlace {
    pub cpu: usize,
    pub node: usize,
}

/// How `machine` would be used.
pub fn plan(machine: &Topology) -> Placement {
    let with_memory = with_memory(machine);
    let mut nodes: Vec<NodePlacement> = Vec::new();
    for node in &machine.nodes {
        let schedulers: Vec<usize> = machine.cpus_of(node.id).map(|cpu| cpu.id).collect();
        if schedulers.is_empty() {
            continue;
        }
        let memory_node = memory_of(machine, node.id, &with_memory);
        let port_mask = 1u64.checked_shl(node.id as u32).unwrap_or(0);
        nodes.push(NodePlacement { node: node.id, schedulers, memory_node, port_mask });
    }
    let used = |id: &usize| nodes.iter().any(|node| node.memory_node == Some(*id));
    let away = with_memory.iter().copied().filter(|id| !used(id)).collect();
    let first = nodes.first();
    let log_writer = first.and_then(|node| {
        node.schedulers.last().map(|&cpu| LogWriterPlace { cpu, node: node.node })
    });
    Placement { log_writer, soft_nodes: soft::groups(machine), away, nodes }
}

/// Nodes whose memory may be used.
fn with_memory(machine: &Topology) -> Vec<usize> {
    let allowed =
        |id: &usize| machine.allowed_memory.as_ref().is_none_or(|allowed| allowed.contains(id));
    let own = machine.nodes.iter().filter(|node| node.memory_bytes > 0);
    own.map(|node| node.id).filter(allowed).collect()
}

/// The node whose memory is nearest to `node`: its own, where it has some.
fn memory_of(machine: &Topology, node: usize, with_memory: &[usize]) -> Option<usize> {
    if with_memory.contains(&node) {
        return Some(node);
    }
    let far = |id: &usize| (machine.distance(node, *id).unwrap_or(u32::MAX), *id);
    with_memory.iter().copied().min_by_key(far)
}

/// Where a thread on `cpu` is; node 0 for a CPU that is not ours.
pub fn place(machine: &Topology, cpu: usize) -> Place {
    let node = machine.cpu(cpu).map_or(0, |cpu| cpu.node);
    let memory = memory_of(machine, node, &with_memory(machine)).unwrap_or(node);
    let number = |node: usize| u16::try_from(node).unwrap_or(u16::MAX);
    Place { node: number(node), memory: number(memory) }
}

/// The same, and whose memory such a thread gets; where one node has it all there is nothing to choose.
pub fn seat(machine: &Topology, cpu: usize) -> Seat {
    let place = place(machine, cpu);
    let has_choice = with_memory(machine).len() > 1;
    Seat { place, preferred: has_choice.then_some(place.memory) }
}

/// Nodes whose memory schedulers on `cpus` (empty: on all that are ours) are nearest to, ascending. Empty on a machine of
/// one node, where there is nothing to choose.
pub fn memory_nodes(machine: &Topology, cpus: &[usize]) -> Vec<usize> {
    if machine.nodes.len() < 2 {
        return Vec::new();
    }
    let chosen = machine.cpus.iter().filter(|cpu| cpus.is_empty() || cpus.contains(&cpu.id));
    let mut all: Vec<usize> =
        chosen.map(|cpu| usize::from(place(machine, cpu.id).memory)).collect();
    all.sort_unstable();
    all.dedup();
    all
}
