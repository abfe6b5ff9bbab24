//! Nodes: sys.dm_os_nodes and sys.dm_os_memory_nodes, and what of the process lies on which of them.
//!
//! Columns and types: SQL Server's documentation of each view. Those of the first are the ones that schedulers are counted
//! by, those of the second the machine's.

use super::process::Process;
use super::snapshot::{self, ADMIN_NODE, ADMIN_ONLINE, Address, Scheduler, Snapshot};
use crate::context::{Context, Database};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use topology::Topology;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&NODES, &MEMORY_NODES];

/// A node that schedulers are counted by: of the machine, or of soft-NUMA. Made without asking the system.
pub struct Node {
    /// Among them.
    place: usize,
    id: i32,
    /// Whose memory is its own.
    memory_node: i32,
    schedulers: Vec<Scheduler>,
    tasks: i32,
}

/// A node of the machine, and what of the process lies there. The kernel walks all of its pages for it.
pub struct MemoryNode {
    id: i32,
    schedulers: Vec<Scheduler>,
    /// What the process has of it, and locked, in KiB; what it may have.
    resident_kb: i64,
    virtual_kb: i64,
    locked_kb: i64,
    target_kb: i64,
    /// Pages that were to lie here and lie elsewhere.
    away_kb: i64,
}

fn nodes(context: &Context<'_>, _: &[Value]) -> Result<Vec<Node>, SqlError> {
    let snapshot = Snapshot::take(context);
    let one = |(place, (id, memory_node))| {
        let schedulers = schedulers_of(&snapshot, |scheduler| scheduler.node == id);
        let here = |t: &&snapshot::Task| schedulers.iter().any(|s| s.id == t.scheduler_id);
        let tasks = snapshot.tasks.iter().filter(here).count() as i32;
        Node { place, id, memory_node, schedulers, tasks }
    };
    let mut all: Vec<_> = snapshot::nodes().into_iter().enumerate().collect();
    // The administrator's scheduler is of no node: its memory comes from where it runs, and is told with the first's.
    if snapshot.schedulers.iter().any(|s| s.node == ADMIN_NODE)
        && let Some((place, (_, memory_node))) = all.first().copied()
    {
        all.push((place, (ADMIN_NODE, memory_node)));
    }
    Ok(all.into_iter().map(one).collect())
}

fn memory_nodes(context: &Context<'_>, _: &[Value]) -> Result<Vec<MemoryNode>, SqlError> {
    let snapshot = Snapshot::take(context);
    let (ids, parts) = (snapshot::memory_nodes(), snapshot::nodes());
    let memory_of = |node: i32| {
        let part = parts.iter().find(|(id, _)| *id == node);
        part.map_or(node, |(_, memory_node)| *memory_node)
    };
    let process = Process::now();
    let pages = (ids.len() > 1).then(super::resident::resident_by_node);
    let databases = context.server.databases();
    let limit_kb = context.server.facts().limit_kb;
    let one = |(place, id): (usize, i32)| MemoryNode {
        id,
        schedulers: schedulers_of(&snapshot, |scheduler| memory_of(scheduler.node) == id),
        resident_kb: match &pages {
            Some(pages) => pages.iter().find(|(n, _)| *n == id).map_or(0, |(_, kb)| *kb),
            None => process.resident_kb,
        },
        // The address space is no node's: the first one stands for it.
        virtual_kb: if place == 0 { process.virtual_kb } else { 0 },
        locked_kb: if place == 0 { process.locked_kb } else { 0 },
        target_kb: target_kb(limit_kb, &ids, id),
        away_kb: pages_away(&databases, id) as i64 * 8,
    };
    Ok(ids.iter().copied().enumerate().map(one).collect())
}

fn schedulers_of(snapshot: &Snapshot, is_of: impl Fn(&Scheduler) -> bool) -> Vec<Scheduler> {
    snapshot.schedulers.iter().filter(|scheduler| is_of(scheduler)).cloned().collect()
}

/// What the server may have on a node: of the limit in force, by the memory that the nodes have.
pub fn target_kb(limit_kb: i64, nodes: &[i32], node: i32) -> i64 {
    let known = |node: i32| Topology::machine()?.nodes.iter().find(|n| n.id as i32 == node);
    let kb = |node: i32| known(node).map_or(0, |n| (n.memory_bytes / 1024) as i64);
    share(limit_kb, nodes.iter().map(|node| kb(*node)).sum(), kb(node), nodes.len())
}

/// Of `limit` what `own` of `all` gives; the same for each of so many where nothing is known of them.
fn share(limit: i64, all: i64, own: i64, count: usize) -> i64 {
    match all {
        0 => limit / count.max(1) as i64,
        all => (i128::from(limit) * i128::from(own) / i128::from(all)) as i64,
    }
}

/// About how many pages were given to a node and lie elsewhere.
pub fn pages_away(databases: &[Database], node: i32) -> u64 {
    let open = databases.iter().filter_map(|d| d.open.as_ref());
    let all = open.flat_map(|open| open.engine.pages_away());
    all.filter(|of| i32::from(of.node) == node).map(|of| of.pages as u64).sum()
}

/// Their CPUs as a mask, of all or of those in use.
fn mask(schedulers: &[Scheduler], online: bool) -> i64 {
    let cpus = schedulers.iter().filter(|s| !online || s.status == "VISIBLE ONLINE");
    cpus.filter_map(|s| s.cpu).filter(|cpu| *cpu < 64).fold(0u64, |mask, cpu| mask | 1 << cpu)
        as i64
}

impl Node {
    fn online(&self) -> impl Iterator<Item = &Scheduler> {
        let is_online = |s: &&Scheduler| matches!(s.status, "VISIBLE ONLINE" | ADMIN_ONLINE);
        self.schedulers.iter().filter(is_online)
    }

    fn state(&self) -> &'static str {
        match (self.id, self.online().next()) {
            (ADMIN_NODE, _) => "ONLINE DAC",
            (_, Some(_)) => "ONLINE",
            (_, None) => "OFFLINE",
        }
    }
}

view! {
    NODES = "sys.dm_os_nodes" of Node as n, rows nodes;
    node_id smallint = n.id as i16;
    node_state_desc nvarchar(256) = n.state();
    memory_object_address varbinary(8) = Address::Node(n.id).value();
    memory_clerk_address varbinary(8) = super::clerks::of_node(n.place).value();
    io_completion_worker_address varbinary(8) null = NULL;
    memory_node_id smallint = n.memory_node as i16;
    cpu_affinity_mask bigint = mask(&n.schedulers, false);
    online_scheduler_count smallint = n.online().count() as i16;
    idle_scheduler_count smallint = n.online().filter(|s| s.stats.asleep).count() as i16;
    active_worker_count int = n.tasks;
    avg_load_balance int = n.tasks / (n.online().count() as i32).max(1);
    timer_task_affinity_mask bigint = mask(&n.schedulers, true);
    permanent_task_affinity_mask bigint = mask(&n.schedulers, true);
    resource_monitor_state bit = false;
    online_scheduler_mask bigint = mask(&n.schedulers, true);
    processor_group smallint = 0i16;
    cpu_count int = n.schedulers.iter().filter(|s| s.status != "HIDDEN ONLINE").count() as i32;
}

view! {
    MEMORY_NODES = "sys.dm_os_memory_nodes" of MemoryNode as n, rows memory_nodes;
    memory_node_id smallint = n.id as i16;
    virtual_address_space_reserved_kb bigint = n.virtual_kb;
    virtual_address_space_committed_kb bigint = n.resident_kb;
    locked_page_allocations_kb bigint = n.locked_kb;
    pages_kb bigint = n.resident_kb;
    shared_memory_reserved_kb bigint = 0i64;
    shared_memory_committed_kb bigint = 0i64;
    cpu_affinity_mask bigint = mask(&n.schedulers, false);
    online_scheduler_mask bigint = mask(&n.schedulers, true);
    processor_group smallint = 0i16;
    foreign_committed_kb bigint = n.away_kb;
    target_kb bigint = n.target_kb;
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn nodes_share_the_limit_by_what_they_have() {
        assert_eq!((share(300, 400, 100, 2), share(300, 400, 300, 2)), (75, 225));
        assert_eq!(
            (share(300, 0, 0, 2), share(300, 400, 400, 1), share(300, 400, 0, 2)),
            (150, 300, 0)
        );
    }
}
