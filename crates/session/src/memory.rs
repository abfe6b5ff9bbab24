//! Memory of the instance's pages: on which nodes it lies, and how much of it there is under 'max server memory (MB)' and
//! 'min server memory (MB)'.
//!
//! - On a machine of several nodes each database's pool is spread over the nodes of the instance's schedulers, and the log's
//!   buffer lies on its writer's node, where the writer has one. (What sessions take lies on the nodes of their schedulers'
//!   threads: [`placement::seat`].)
//! - Half of 'max server memory (MB)' is for pages, as of `--memory`. Where the pools that there are were made for more,
//!   each gets its share of what there is.
//! - When what sessions and memory-optimised tables have taken leaves less than that, pages give way, but together not below
//!   half of 'min server memory (MB)' ([`engine::Database::set_pool_bounds`]).
//!
//! Invariant: no pool is given more than it was made for.

use crate::configuration::{MEMORY_MB, MEMORY_MIN_MB};
use crate::{Instance, InstanceConfig};
use engine::Log;
use runtime::numa::Seat;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use topology::{Topology, placement};
use tracing::warn;

/// The pages of `master` are at most this part of those of all others.
const MASTERS_PART: u64 = 4;

/// Nodes for the pools of databases. What they hang on, the machine and the schedulers' CPUs, is known before there is a
/// scheduler: `master` is opened first.
pub(crate) fn nodes(config: &InstanceConfig) -> Vec<usize> {
    // In a simulation nothing depends on the machine that it runs on.
    if runtime::sim::active() {
        return Vec::new();
    }
    Topology::machine().map_or(Vec::new(), |machine| placement::memory_nodes(machine, &config.cpus))
}

/// Memory for rows of memory-optimised tables, on the nodes of the instance's schedulers: touched in the background, or by
/// [`Instance::populate_memory`].
pub(crate) fn keep_for_tables(config: &InstanceConfig) {
    let nodes = match nodes(config) {
        nodes if nodes.is_empty() => vec![None],
        nodes => nodes.into_iter().map(|node| u16::try_from(node).ok()).collect(),
    };
    // An instance before this one in the process may have kept some elsewhere.
    runtime::chunks::keep_none();
    for node in &nodes {
        runtime::chunks::keep(*node, config.table_memory_bytes / nodes.len() as u64);
    }
}

/// The log's writer shall run on these CPUs; on a machine of several nodes its memory and the log's buffer are theirs. No
/// CPUs: anywhere, and the buffer is no node's.
pub(crate) fn place_writer(log: &Log, writer: &[usize]) {
    let machine = Topology::machine().filter(|machine| machine.nodes.len() > 1);
    let Some(machine) = machine else {
        log.set_writer_cpus(writer, Seat::default());
        return;
    };
    let seat = writer.first().map(|&cpu| placement::seat(machine, cpu));
    log.set_writer_cpus(writer, seat.unwrap_or_default());
    // Refused, it lies where it lay: slower, not wrong.
    let _ = log.bind_buffer(seat.map(|seat| usize::from(seat.place.memory)));
}

/// Once for each of both: memory of another kind than was asked for.
pub(crate) fn tell_refused(name: &str, engine: &engine::Database) {
    static TOLD: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    let (lock, huge) = engine.pool_refused();
    if let Some(error) = lock.filter(|_| !TOLD[0].swap(true, Relaxed)) {
        warn!(
            database = name, %error,
            "--lock-pages: the memory of pages cannot be locked and may be paged out; ulimit -l (RLIMIT_MEMLOCK) bounds it"
        );
    }
    if let Some(error) = huge.filter(|_| !TOLD[1].swap(true, Relaxed)) {
        warn!(
            database = name, %error,
            "trace flag 834: there are too few reserved huge pages (vm.nr_hugepages); the pool has what the kernel finds"
        );
    }
}

/// Of `bytes` for all pools, which were made for `all`, what one gets that was made for `own`.
fn share(own: u64, all: u64, bytes: u64) -> u64 {
    let bytes = u128::from(bytes.min(all));
    (u128::from(own) * bytes / u128::from(all.max(1))) as u64
}

impl Instance {
    /// Makes the pools of databases as large as the settings have it. What is too much leaves in time.
    pub(crate) fn fit_pools(&self) {
        let of_pages = |name: &str| {
            let mb = self.settings.lock().get(name).map_or(0, |(_, in_use)| in_use.max(0) as u64);
            mb.saturating_mul(1 << 20) / 2
        };
        let (min, max) = (of_pages(MEMORY_MIN_MB), of_pages(MEMORY_MB));
        let databases = self.databases();
        let (masters, pools): (Vec<_>, Vec<_>) = databases.iter().partition(|open| open.id == 1);
        // It has its own beside them, and no more than a part of what they have; it gives way as they do.
        masters.iter().for_each(|open| open.engine.set_pool_bounds(0, max / MASTERS_PART));
        let all = pools.iter().map(|open| open.engine.pool_most_bytes()).sum();
        for open in pools {
            let own = open.engine.pool_most_bytes();
            open.engine.set_pool_bounds(share(own, all, min), share(own, all, max));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_share_by_what_they_were_made_for() {
        assert_eq!((share(300, 400, 200), share(100, 400, 200)), (150, 50));
        assert_eq!((share(300, 400, u64::MAX), share(300, 400, 0), share(0, 0, 9)), (300, 0, 0));
    }
}
