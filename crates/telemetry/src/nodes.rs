//! Look-ups of pages by node: whose thread looked, and whether the page was in its own memory.
//!
//! Recorded by machines of several nodes alone: on others all of them are local, and their sum is a counter already.

use crate::shard::{bump, each, mine};
use std::sync::atomic::Ordering::Relaxed;

/// Nodes told apart, as many as SQL Server's; higher numbers count for the last.
pub const NODES_MAX: usize = 64;

/// Look-ups by threads of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    pub local: u64,
    pub remote: u64,
}

/// A thread of `node` has looked at a page.
#[inline]
pub fn looked_up(node: u16, is_local: bool) {
    if crate::RECORDING {
        let node = usize::from(node).min(NODES_MAX - 1);
        bump(&mine().lookups[node][usize::from(!is_local)], 1);
    }
}

/// Those of each node since the process began, by number.
pub fn lookups() -> [Lookups; NODES_MAX] {
    let mut all = [Lookups::default(); NODES_MAX];
    each(|shard| {
        for (sum, [local, remote]) in all.iter_mut().zip(&shard.lookups) {
            sum.local = sum.local.wrapping_add(local.load(Relaxed));
            sum.remote = sum.remote.wrapping_add(remote.load(Relaxed));
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_its_own_and_the_last_takes_the_rest() {
        let before = lookups();
        looked_up(5, true);
        looked_up(5, false);
        looked_up(5, false);
        looked_up(900, true);
        let after = lookups();
        let new = |node: usize| {
            (after[node].local - before[node].local, after[node].remote - before[node].remote)
        };
        assert_eq!((new(5), new(63), new(4)), ((1, 2), (1, 0), (0, 0)));
    }
}
