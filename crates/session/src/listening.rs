//! A socket that takes connections, and the nodes that serve who comes there: what its server, its connections and the
//! instance share.

use scheduler::Schedulers;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use system_views::ListenerFacts;
use topology::placement::port_bit;

/// All bits: every node, those without a bit too.
pub(crate) const EVERY: u64 = u64::MAX;

/// The nodes that serve who comes by a listener, bit n for node n. The listener, its connections and the instance share it.
#[derive(Debug)]
pub struct NodeMap(AtomicU64);

impl NodeMap {
    /// `None`: every node.
    pub fn new(nodes: Option<u64>) -> NodeMap {
        NodeMap(AtomicU64::new(nodes.unwrap_or(EVERY)))
    }

    /// From now on.
    pub(crate) fn set(&self, map: u64) {
        self.0.store(map, Relaxed);
    }

    /// Whether who comes there may be served on this node.
    pub fn serves(&self, node: usize) -> bool {
        names(self.0.load(Relaxed), node)
    }
}

/// A socket that takes connections, and for whom.
#[derive(Clone, Debug)]
pub struct Listening {
    pub facts: ListenerFacts,
    pub nodes: Arc<NodeMap>,
}

/// The node of each scheduler, of soft-NUMA where that divides the machine; 0 where the machine does not tell.
pub fn nodes_of(schedulers: &Schedulers) -> Vec<usize> {
    let there = topology::soft::current();
    let node = |cpu: Option<usize>| there.node_of(cpu?);
    schedulers.stats().iter().map(|stats| node(stats.cpu).unwrap_or(0)).collect()
}

pub(crate) fn names(map: u64, node: usize) -> bool {
    map == EVERY || port_bit(node).is_some_and(|bit| map & bit != 0)
}
