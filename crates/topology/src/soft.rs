//! Soft-NUMA: nodes of the machine divided into smaller ones, so that what is kept for each node is shared by fewer CPUs.
//!
//! As in SQL Server 2016 and later (docs/database-engine/configure-windows/soft-numa-sql-server.md): automatic, when a
//! node has more than [`SOFT_NODE_CORES`] physical cores, into groups of at most so many, as evenly as they go; or by
//! hand, CPU by CPU. A soft node lies within one node of the machine, whose memory it uses: memory is never divided.
//! Unlike there, the two threads of a core stay in one soft node: they share its caches.
//!
//! Invariant: every usable CPU is in exactly one node of [`current`]. What was chosen is the process's, as the machine is.

use crate::{Cpu, Topology};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Most physical cores of a group of automatic soft-NUMA.
pub const SOFT_NODE_CORES: usize = 8;

/// CPUs of one node of the machine, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftNode {
    /// The machine's node that it is a part of.
    pub node: usize,
    pub cpus: Vec<usize>,
}

/// How nodes came to be; the numbers are those of sys.dm_os_sys_info.softnuma_configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configuration {
    Off = 0,
    Automatic = 1,
    Manual = 2,
}

impl Configuration {
    /// `OFF`, `ON`, `MANUAL`.
    pub fn description(self) -> &'static str {
        match self {
            Configuration::Off => "OFF",
            Configuration::Automatic => "ON",
            Configuration::Manual => "MANUAL",
        }
    }
}

/// The nodes that schedulers are counted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftNuma {
    pub configuration: Configuration,
    /// Their ids with them, ascending: the machine's own where nothing is divided, else from 0.
    pub nodes: Vec<(usize, SoftNode)>,
}

/// Why nodes cannot be made by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// This process has no such CPU.
    NoCpu(usize),
    /// The CPU is named twice.
    Twice(usize),
    /// The CPUs of one soft node lie in two nodes of the machine.
    Across { node: usize, other: usize },
    /// A soft node without a CPU.
    Empty,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::NoCpu(cpu) => write!(f, "there is no CPU {cpu} that this process may use"),
            Wrong::Twice(cpu) => write!(f, "CPU {cpu} is in two soft nodes"),
            Wrong::Across { node, other } => {
                write!(f, "a soft node lies within one node, and this one in {node} and {other}")
            }
            Wrong::Empty => f.write_str("a soft node has at least one CPU"),
        }
    }
}

impl SoftNuma {
    /// The machine's own nodes, those that have CPUs of ours.
    pub fn off(machine: &Topology) -> SoftNuma {
        let own = |id: usize| {
            let cpus: Vec<usize> = machine.cpus_of(id).map(|cpu| cpu.id).collect();
            (!cpus.is_empty()).then_some((id, SoftNode { node: id, cpus }))
        };
        let nodes = machine.nodes.iter().filter_map(|node| own(node.id)).collect();
        SoftNuma { configuration: Configuration::Off, nodes }
    }

    /// What a start with automatic soft-NUMA makes of the machine; [`Self::off`] where no node is large.
    pub fn automatic(machine: &Topology) -> SoftNuma {
        let (off, groups) = (SoftNuma::off(machine), groups(machine));
        if groups.len() == off.nodes.len() {
            return off;
        }
        let nodes = groups.into_iter().enumerate().collect();
        SoftNuma { configuration: Configuration::Automatic, nodes }
    }

    /// Nodes by hand. CPUs that none of them names make one more for each node of the machine.
    pub fn manual(machine: &Topology, wanted: &[Vec<usize>]) -> Result<SoftNuma, Wrong> {
        let mut named = BTreeSet::new();
        let mut nodes = Vec::new();
        for cpus in wanted {
            let mut cpus = cpus.clone();
            cpus.sort_unstable();
            let node_of = |id: usize| machine.cpu(id).map(|cpu| cpu.node).ok_or(Wrong::NoCpu(id));
            let node = node_of(*cpus.first().ok_or(Wrong::Empty)?)?;
            for &cpu in &cpus {
                let other = node_of(cpu)?;
                if other != node {
                    return Err(Wrong::Across { node, other });
                }
                if !named.insert(cpu) {
                    return Err(Wrong::Twice(cpu));
                }
            }
            nodes.push(SoftNode { node, cpus });
        }
        for (_, mut rest) in SoftNuma::off(machine).nodes {
            rest.cpus.retain(|cpu| !named.contains(cpu));
            if !rest.cpus.is_empty() {
                nodes.push(rest);
            }
        }
        let nodes = nodes.into_iter().enumerate().collect();
        Ok(SoftNuma { configuration: Configuration::Manual, nodes })
    }

    /// The id of a CPU's node; `None` for a CPU that is not ours.
    pub fn node_of(&self, cpu: usize) -> Option<usize> {
        let own = self.nodes.iter().find(|(_, node)| node.cpus.binary_search(&cpu).is_ok());
        own.map(|(id, _)| *id)
    }
}

/// Groups in the order of nodes; the cores of each node in the order of their first CPU.
pub fn groups(machine: &Topology) -> Vec<SoftNode> {
    let mut all = Vec::new();
    for node in &machine.nodes {
        let first_of_core = |cpu: &&Cpu| machine.siblings(cpu).first() == Some(&cpu.id);
        let cores: Vec<Vec<usize>> = machine
            .cpus_of(node.id)
            .filter(first_of_core)
            .map(|cpu| machine.siblings(cpu))
            .collect();
        let groups = cores.len().div_ceil(SOFT_NODE_CORES);
        let mut left = &cores[..];
        for group in 0..groups {
            let (own, rest) = left.split_at(left.len().div_ceil(groups - group));
            let mut cpus = own.concat();
            cpus.sort_unstable();
            all.push(SoftNode { node: node.id, cpus });
            left = rest;
        }
    }
    all
}

static CHOSEN: Mutex<Option<Arc<SoftNuma>>> = Mutex::new(None);

/// From now on these are the nodes that schedulers of this process are counted by.
pub fn choose(nodes: SoftNuma) {
    *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(nodes));
}

/// What was chosen last; before that the machine's own nodes, and none where the system does not tell of any.
pub fn current() -> Arc<SoftNuma> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = || {
        let none = SoftNuma { configuration: Configuration::Off, nodes: Vec::new() };
        Arc::new(Topology::machine().map_or(none, SoftNuma::off))
    };
    chosen.get_or_insert_with(own).clone()
}
