//! The addresses at which a server takes connections, and the nodes that serve who comes there: as the server was started,
//! or as ALTER SERVER CONFIGURATION SET LISTENER has it since.
//!
//! Promise: what cannot be (15129, 5832) changes nothing. It lasts until the server ends: the next start takes the nodes that
//! it is given.

use crate::Instance;
use crate::affinity::{no_match, numbers};
use crate::listening::{EVERY, Listening, names, nodes_of};
use executor::SqlError;
use scheduler::Schedulers;
use std::net::SocketAddr;
use std::sync::Arc;
use syntax::ast::ListenerNodes;
use topology::placement::port_bit;

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

    /// Says which schedulers serve the dedicated administrator connection (sys.dm_os_schedulers). It does not keep them.
    pub fn tell_admin(&self, schedulers: &Arc<Schedulers>) {
        *self.admin_schedulers.lock() = Arc::downgrade(schedulers);
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
        found.nodes.set(map);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listening::NodeMap;

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
