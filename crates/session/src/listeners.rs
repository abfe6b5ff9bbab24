//! The addresses at which a server takes connections, and the nodes that serve who comes there: as the server was started,
//! or as ALTER SERVER CONFIGURATION SET LISTENER has it since.
//!
//! Promise: what cannot be (15129, 5832) changes nothing. It lasts until the server ends: the next start takes the nodes that
//! it is given.

use crate::Instance;
use crate::affinity::{no_match, numbers};
use executor::SqlError;
use scheduler::Schedulers;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use syntax::ast::ListenerNodes;
use system_views::ListenerFacts;
use topology::placement::port_bit;

/// All bits: every node, those without a bit too.
const EVERY: u64 = u64::MAX;

/// The nodes that serve who comes by a listener, bit n for node n. The listener, its connections and the instance share it.
#[derive(Debug)]
pub struct NodeMap(AtomicU64);

impl NodeMap {
    /// `None`: every node.
    pub fn new(nodes: Option<u64>) -> NodeMap {
        NodeMap(AtomicU64::new(nodes.unwrap_or(EVERY)))
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

fn names(map: u64, node: usize) -> bool {
    map == EVERY || port_bit(node).is_some_and(|bit| map & bit != 0)
}

/// 5832 for a node that a bit cannot name.
fn map_of(nodes: &ListenerNodes) -> Result<u64, SqlError> {
    match nodes {
        ListenerNodes::All => Ok(EVERY),
        ListenerNodes::Map(map) => Ok(*map),
        ListenerNodes::Ranges(ranges) => numbers(ranges)?
            .into_iter()
            .try_fold(0, |map, n| Ok(map | port_bit(n).ok_or_else(no_match)?)),
    }
}

impl Instance {
    /// Says which sockets take connections (sys.dm_tcp_listener_states).
    pub fn tell_listeners(&self, listeners: Vec<Listening>) {
        *self.listeners.lock() = listeners;
    }

    /// ALTER SERVER CONFIGURATION SET LISTENER: who comes there from now on is served by these nodes, and who is there goes to
    /// them after its request, once no transaction is open. 15129 for an address at which nobody listens; 5832 for a node
    /// without a scheduler here, and where none of their schedulers is online. Suspends.
    pub(crate) fn map_listener(
        &self,
        address: &str,
        nodes: &ListenerNodes,
    ) -> Result<(), SqlError> {
        let wanted = address.trim().parse::<SocketAddr>().ok();
        let at = |l: &Listening| Some(SocketAddr::new(l.facts.ip, l.facts.port));
        let found = self.listeners.lock().iter().find(|l| at(l) == wanted).cloned();
        let Some(found) = found.filter(|_| wanted.is_some()) else {
            let text = format!(
                "'{address}' is not a valid value for configuration option 'LISTENER'. It takes the address and port of a \
                 listener."
            );
            return Err(SqlError::new(15129, 16, text));
        };
        let map = map_of(nodes)?;
        // No scheduler goes offline meanwhile.
        let _passage = self.configuration_gate.enter();
        let schedulers = self.schedulers();
        let there = nodes_of(schedulers);
        let absent = |node: usize| names(map, node) && !there.contains(&node);
        let serves = |index: usize| schedulers.is_online(index) && names(map, there[index]);
        if map != EVERY && (0..u64::BITS as usize).any(absent) || !(0..there.len()).any(serves) {
            return Err(no_match());
        }
        found.nodes.0.store(map, Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_names_nodes_by_their_bits() {
        let map = NodeMap::new(Some(2));
        assert_eq!(
            [0, 1, 2, 64, 65].map(|node| map.serves(node)),
            [false, true, false, false, false]
        );
        let all = NodeMap::new(None);
        assert!(all.serves(0) && all.serves(100));
    }

    #[test]
    fn nodes_become_a_map() {
        let map = |nodes| map_of(&nodes).map_err(|error| error.number);
        let ranges = |ranges: &[(u32, u32)]| ListenerNodes::Ranges(ranges.to_vec());
        assert_eq!(map(ListenerNodes::All), Ok(EVERY));
        assert_eq!(map(ListenerNodes::Map(5)), Ok(5));
        assert_eq!(map(ranges(&[(0, 1), (3, 3), (63, 63)])), Ok(1 << 63 | 0b1011));
        for wrong in [&[(64, 64)][..], &[(1, 0)], &[(0, 4_000_000_000)]] {
            assert_eq!(map(ranges(wrong)), Err(5832));
        }
    }
}
