//! Where an engine's parts would run on a machine: the same rules that the server starts by.
//!
//! - A scheduler for each usable CPU, named by its CPU's node. Nodes are those of soft-NUMA ([`crate::soft`]): what ports,
//!   masks and views of the server call a node has the same id here.
//! - Memory (arenas, log buffers) on each node of the machine that has schedulers; a node with CPUs and no memory takes
//!   that of the nearest node that has some; what is nobody's nearest is `away`. What a scheduler's thread takes from the
//!   system comes from there ([`seat`]), where more than one node has memory.
//! - The log writer has no thread of its own unless it is given one (docs/switches.md, LOG_WRITER); then the last CPU of
//!   the first node is a place that leaves most of that node undivided.
//! - Ports: one for each node with schedulers, by the node's bit ([`port_bit`]).

use crate::Topology;
use crate::soft::{Configuration, SoftNode, SoftNuma};
use runtime::numa::{Place, Seat};

/// Where things go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// How they came to be.
    pub soft_numa: Configuration,
    /// One for each node of soft-NUMA, by id; where nothing is divided those are the machine's own.
    pub nodes: Vec<NodePlacement>,
    /// For a dedicated log writer; `None` on a machine without CPUs of ours.
    pub log_writer: Option<LogWriterPlace>,
    /// The machine's nodes whose memory nobody is nearest to.
    pub away: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlacement {
    /// Its id to the server.
    pub node: usize,
    /// The machine's node that it is, or is a part of.
    pub machine_node: usize,
    /// CPUs of its schedulers, ascending.
    pub schedulers: Vec<usize>,
    /// The machine's node whose memory they use; `None` if no node has any.
    pub memory_node: Option<usize>,
    /// Its bit in a port's map (`ADDR:PORT[0x1]`); `None`: no map has room for it.
    pub port_mask: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogWriterPlace {
    pub cpu: usize,
    /// As in `LOG_WRITER_PLACE = 'NODE n'`.
    pub node: usize,
}

/// The bit of a node in a port's map, which has 64.
pub fn port_bit(node: usize) -> Option<u64> {
    1u64.checked_shl(u32::try_from(node).ok()?)
}

/// How `machine` would be used by a server that has divided it so.
pub fn plan(machine: &Topology, divided: &SoftNuma) -> Placement {
    let with_memory = with_memory(machine);
    let place = |(id, part): &(usize, SoftNode)| NodePlacement {
        node: *id,
        machine_node: part.node,
        schedulers: part.cpus.clone(),
        memory_node: memory_of(machine, part.node, &with_memory),
        port_mask: port_bit(*id),
    };
    let nodes: Vec<NodePlacement> = divided.nodes.iter().map(place).collect();
    let used = |id: &usize| nodes.iter().any(|node| node.memory_node == Some(*id));
    let away = with_memory.iter().copied().filter(|id| !used(id)).collect();
    let log_writer = nodes.first().and_then(|node| {
        node.schedulers.last().map(|&cpu| LogWriterPlace { cpu, node: node.node })
    });
    Placement { soft_numa: divided.configuration, nodes, log_writer, away }
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
