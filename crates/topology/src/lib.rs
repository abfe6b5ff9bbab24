//! CPUs, NUMA nodes, distances: what the kernel says of the machine, and what of it is ours.
//!
//! Read from a tree in the shape of /sys, so fixtures test what this machine has not. Measures
//! nothing. Knows nothing of schedulers.
#![forbid(unsafe_code)]

mod cpulist;
mod sysfs;

pub use cpulist::parse_cpulist;

use std::io;
use std::path::Path;

/// One logical CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    pub id: usize,
    pub node: usize,
    /// CPUs of one core share it (hyper-threads); unique together with `package`.
    pub core: usize,
    pub package: usize,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: usize,
    pub cpus: Vec<usize>,
    pub memory_bytes: u64,
    /// To each node of [`Topology::nodes`], in their order; 10 is local (the ACPI scale).
    pub distances: Vec<u32>,
}

/// The machine as this process may use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Online and in our affinity mask, ascending.
    pub cpus: Vec<Cpu>,
    /// Every node with memory or CPUs, also those whose CPUs are not ours.
    pub nodes: Vec<Node>,
    /// CPUs' worth of time that the control group allows, if it limits us.
    pub quota_cpus: Option<f64>,
    pub model_name: Option<String>,
}

impl Topology {
    /// This machine.
    pub fn discover() -> io::Result<Topology> {
        let mut found = Self::from_sysfs(Path::new("/"))?;
        let mine = runtime::threads::affinity();
        found.cpus.retain(|cpu| mine.contains(&cpu.id));
        Ok(found)
    }

    /// A machine from a folder that holds `sys/` (and perhaps `proc/`) as the kernel shows them.
    pub fn from_sysfs(root: &Path) -> io::Result<Topology> {
        sysfs::read(root)
    }

    /// Ids of the usable CPUs.
    pub fn cpu_ids(&self) -> Vec<usize> {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }
}

#[cfg(test)]
mod tests;
