//! CPUs, caches, NUMA nodes, distances: what the kernel says of the machine, and what of it is ours; and what they cost,
//! measured.
//!
//! Read from a tree in the shape of /sys, so fixtures test what this machine has not ([`Topology::from_sysfs`]).
//! [`Topology::machine`] is asked once and kept: whatever thread asks later, pinned or not, sees the same CPUs.
//! [`soft`] divides large nodes; [`placement`] says where an engine would put its schedulers, arenas, log writer and ports
//! there; [`measure`] times a cache line between CPUs and memory between nodes; [`render`] and [`heatmap`] show all of it.
//! Knows nothing of schedulers.
#![forbid(unsafe_code)]

mod cgroup;
mod cpulist;
pub mod heatmap;
pub mod measure;
pub mod placement;
pub mod render;
pub mod soft;
mod sysfs;

pub use cpulist::{format_cpulist, parse_cpulist};

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// One logical CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    pub id: usize,
    pub node: usize,
    /// CPUs of one core share it (hyper-threads); unique together with `package`.
    pub core: usize,
    pub package: usize,
}

/// One cache, and the CPUs that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    pub level: u8,
    /// As the kernel writes it: `Data`, `Instruction`, `Unified`.
    pub kind: String,
    pub bytes: u64,
    pub line_bytes: u32,
    pub cpus: Vec<usize>,
}

/// What firmware says of the way from a node's nearest initiators to its memory (ACPI's HMAT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub read_latency_ns: u32,
    pub write_latency_ns: u32,
    /// MiB/s.
    pub read_bandwidth: u32,
    pub write_bandwidth: u32,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: usize,
    /// Those online, also the ones that are not ours.
    pub cpus: Vec<usize>,
    pub memory_bytes: u64,
    /// To each node of [`Topology::nodes`], in their order; 10 is local (the ACPI scale).
    pub distances: Vec<u32>,
    pub access: Option<Access>,
}

/// The machine as this process may use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Online, in our affinity mask and in our control group's set, ascending.
    pub cpus: Vec<Cpu>,
    /// CPUs that are there and switched off.
    pub offline: Vec<usize>,
    /// Every node with memory or CPUs, also those whose CPUs are not ours.
    pub nodes: Vec<Node>,
    /// By level, kind and first CPU.
    pub caches: Vec<Cache>,
    /// CPUs that the control group allows, where it names them.
    pub allowed_cpus: Option<Vec<usize>>,
    /// Nodes whose memory the control group allows, where it names them.
    pub allowed_memory: Option<Vec<usize>>,
    /// CPUs' worth of time that the control group allows, if it limits us.
    pub quota_cpus: Option<f64>,
    pub model_name: Option<String>,
}

static MACHINE: OnceLock<Option<Topology>> = OnceLock::new();
static AS_ONE_NODE: AtomicBool = AtomicBool::new(false);

impl Topology {
    /// This machine, as it is now.
    pub fn discover() -> io::Result<Topology> {
        let mut found = Self::from_sysfs(Path::new("/"))?;
        let mine = runtime::threads::process_affinity();
        found.cpus.retain(|cpu| mine.contains(&cpu.id));
        Ok(found)
    }

    /// This machine, as it was when it was first asked for; `None` if /sys cannot be read.
    pub fn machine() -> Option<&'static Topology> {
        let found = || {
            let machine = Self::discover().ok()?;
            Some(if AS_ONE_NODE.load(Ordering::Relaxed) { machine.as_one_node() } else { machine })
        };
        MACHINE.get_or_init(found).as_ref()
    }

    /// From now on [`Self::machine`] has one node. False, and without an effect, if it was asked for before.
    pub fn take_as_one_node() -> bool {
        let in_time = MACHINE.get().is_none();
        if in_time {
            AS_ONE_NODE.store(true, Ordering::Relaxed);
        }
        in_time || Self::is_taken_as_one_node()
    }

    /// Whether [`Self::machine`] was taken as one node.
    pub fn is_taken_as_one_node() -> bool {
        AS_ONE_NODE.load(Ordering::Relaxed)
    }

    /// The same CPUs and memory, on node 0.
    pub fn as_one_node(mut self) -> Topology {
        let mut cpus: Vec<usize> = self.nodes.iter().flat_map(|node| node.cpus.clone()).collect();
        cpus.sort_unstable();
        let memory_bytes = self.nodes.iter().map(|node| node.memory_bytes).sum();
        self.nodes = vec![Node { id: 0, cpus, memory_bytes, distances: vec![10], access: None }];
        self.cpus.iter_mut().for_each(|cpu| cpu.node = 0);
        self.allowed_memory = None;
        self
    }

    /// The same machine with no other CPUs of ours than these; none: with all.
    pub fn with_cpus(mut self, cpus: &[usize]) -> Topology {
        self.cpus.retain(|cpu| cpus.is_empty() || cpus.contains(&cpu.id));
        self
    }

    /// A machine from a folder that holds `sys/` (and perhaps `proc/`) as the kernel shows them.
    pub fn from_sysfs(root: &Path) -> io::Result<Topology> {
        sysfs::read(root)
    }

    /// Ids of the usable CPUs.
    pub fn cpu_ids(&self) -> Vec<usize> {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }

    /// A usable CPU.
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.id == id)
    }

    /// Usable CPUs of a node, ascending.
    pub fn cpus_of(&self, node: usize) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(move |cpu| cpu.node == node)
    }

    /// Usable CPUs of the same core, `cpu` among them.
    pub fn siblings(&self, cpu: &Cpu) -> Vec<usize> {
        let same = |other: &&Cpu| (other.package, other.core) == (cpu.package, cpu.core);
        self.cpus.iter().filter(same).map(|cpu| cpu.id).collect()
    }

    /// Sockets that have a usable CPU, ascending.
    pub fn packages(&self) -> Vec<usize> {
        let mut all: Vec<_> = self.cpus.iter().map(|cpu| cpu.package).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Physical cores that have a usable CPU.
    pub fn core_count(&self) -> usize {
        let mut all: Vec<_> = self.cpus.iter().map(|cpu| (cpu.package, cpu.core)).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// From the memory of one node to another's CPUs, on the ACPI scale; `None` for nodes that are not there.
    pub fn distance(&self, from: usize, to: usize) -> Option<u32> {
        let at = self.nodes.iter().position(|node| node.id == to)?;
        self.nodes.iter().find(|node| node.id == from)?.distances.get(at).copied()
    }
}

#[cfg(test)]
mod tests;
