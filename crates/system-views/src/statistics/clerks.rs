//! Who has memory: sys.dm_os_memory_clerks, and sys.dm_os_memory_objects below them.
//!
//! Columns and types: SQL Server's documentation of each view. The memory of the buffer pools is what they have room for and
//! what holds pages. A node of schedulers has a clerk of its own, which it is told by in sys.dm_os_nodes; what its tasks take
//! is told with all else, by the machine's nodes. An object is a clerk's heap, called after it, or a plan of the cache; pages
//! of databases are no object's.

use super::process::Process;
use super::snapshot::{self, Address};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&CLERKS, &OBJECTS];

const POOL: &str = "MEMORYCLERK_SQLBUFFERPOOL";
const GENERAL: &str = "MEMORYCLERK_SQLGENERAL";

/// The clerk of the node of schedulers that is so manieth.
pub fn of_node(at: usize) -> Address {
    Address::Clerk(at as u32 + 1)
}

/// Who has memory.
pub struct Clerk {
    number: u32,
    kind: &'static str,
    name: String,
    /// Set aside, and used, in KiB.
    reserved_kb: i64,
    pages_kb: i64,
    page_bytes: i64,
    /// Whose memory it is.
    node: i16,
}

/// What is beside pages, log and versions is what sessions and the process itself have, by the node that it lies on.
fn clerks(context: &Context<'_>, _: &[Value]) -> Result<Vec<Clerk>, SqlError> {
    let mut all = Vec::new();
    let mut add = |kind, name: String, node, reserved_kb, pages_kb| {
        let number = all.len() as u32 + 1;
        all.push(Clerk { number, kind, name, reserved_kb, pages_kb, page_bytes: 8192, node });
    };
    // First, so that they have the numbers that `of_node` tells.
    for (id, memory_node) in snapshot::nodes() {
        add("MEMORYCLERK_SOSNODE", format!("SOS_Node {id}"), memory_node as i16, 0, 0);
    }
    let (mut known, mut versions_kb) = (Vec::new(), 0);
    for database in context.server.databases() {
        let Some(open) = database.open else { continue };
        let pool = open.engine.pool_stats();
        // A row for each node that its pages are spread over, with its share of the room.
        let nodes = open.engine.node_pages();
        let frames = (pool.frames / nodes.len().max(1)) as i64 * 8;
        for of in nodes {
            let (name, node, used) = (database.name.clone(), of.node as i16, of.pages as i64 * 8);
            add(POOL, name, node, frames, used);
            known.push((i32::from(node), used));
        }
        let ring = (open.engine.log().ring_bytes() / 1024) as i64;
        let node = open.engine.log_buffer_node().unwrap_or(0) as i16;
        add("MEMORYCLERK_SQLLOGPOOL", database.name.clone(), node, ring, ring);
        known.push((i32::from(node), ring));
        versions_kb += (open.engine.stats().version_bytes / 1024) as i64;
    }
    add("MEMORYCLERK_VERSIONSTORE", "Default".to_owned(), 0, versions_kb, versions_kb);
    known.push((0, versions_kb));
    let nodes = snapshot::memory_nodes();
    let resident = match &nodes[..] {
        [only] => vec![(*only, Process::now().resident_kb)],
        _ => super::resident::resident_by_node(),
    };
    for (node, rest) in beside(&nodes, &resident, &known) {
        add(GENERAL, "Default".to_owned(), node as i16, rest, rest);
    }
    Ok(all)
}

/// KiB of each node that are resident and that nobody known has. What was given to a node that is not there is the first's.
fn beside(nodes: &[i32], resident: &[(i32, i64)], known: &[(i32, i64)]) -> Vec<(i32, i64)> {
    let of = |all: &[(i32, i64)], node: i32| {
        let is_its = |of: i32| of == node || node == nodes[0] && !nodes.contains(&of);
        all.iter().filter(|(of, _)| is_its(*of)).map(|(_, kb)| kb).sum::<i64>()
    };
    nodes.iter().map(|&node| (node, (of(resident, node) - of(known, node)).max(0))).collect()
}

view! {
    CLERKS = "sys.dm_os_memory_clerks" of Clerk as c, rows clerks;
    memory_clerk_address varbinary(8) = Address::Clerk(c.number).value();
    r#type nvarchar(60) = c.kind;
    name nvarchar(256) = &c.name;
    memory_node_id smallint = c.node;
    pages_kb bigint = c.pages_kb;
    virtual_memory_reserved_kb bigint = c.reserved_kb;
    virtual_memory_committed_kb bigint = c.pages_kb;
    awe_allocated_kb bigint = 0i64;
    shared_memory_reserved_kb bigint = 0i64;
    shared_memory_committed_kb bigint = 0i64;
    page_size_in_bytes bigint = c.page_bytes;
    page_allocator_address varbinary(8) = Address::Clerk(c.number).value();
    host_address varbinary(8) = Value::binary(&[0; 8]);
}

/// A heap of a clerk.
pub struct Object {
    address: Value,
    kind: String,
    bytes: i64,
    page_bytes: i64,
    clerk: u32,
    node: i16,
}

fn objects(context: &Context<'_>, none: &[Value]) -> Result<Vec<Object>, SqlError> {
    let (nodes, plans) = (snapshot::nodes(), context.server.plans());
    let plan_bytes: i64 = plans.iter().map(|plan| plan.size_bytes() as i64).sum();
    let mut all = Vec::new();
    for clerk in clerks(context, none)?.into_iter().filter(|clerk| clerk.kind != POOL) {
        let node = nodes.get(clerk.number as usize - 1);
        let object = |address, kind, bytes| Object {
            address,
            kind,
            bytes,
            page_bytes: clerk.page_bytes,
            clerk: clerk.number,
            node: clerk.node,
        };
        let address = match node {
            Some((id, _)) => Address::Node(*id),
            None => Address::Object(clerk.number),
        };
        let kind = clerk.kind.replace("MEMORYCLERK_", "MEMOBJ_");
        let mut bytes = clerk.pages_kb * 1024;
        // Plans lie in what all else has; they are told as the first node's.
        if clerk.kind == GENERAL && !all.iter().any(|object: &Object| object.kind == kind) {
            bytes = (bytes - plan_bytes).max(0);
            all.extend(plans.iter().map(|plan| {
                let address = Value::binary(&plan.number().to_be_bytes());
                let kind = format!("MEMOBJ_COMPILE_{}", plan.kind().name().to_uppercase());
                object(address, kind, plan.size_bytes() as i64)
            }));
        }
        all.push(object(address.value(), kind, bytes));
    }
    Ok(all)
}

view! {
    OBJECTS = "sys.dm_os_memory_objects" of Object as o, rows objects;
    memory_object_address varbinary(8) = o.address.clone();
    parent_address varbinary(8) null = NULL;
    pages_in_bytes bigint = o.bytes;
    creation_options int null = NULL;
    bytes_used bigint null = o.bytes;
    r#type nvarchar(60) null = &o.kind;
    name varchar(128) null = NULL;
    memory_node_id smallint = o.node;
    creation_time datetime null = NULL;
    page_size_in_bytes int = o.page_bytes as i32;
    max_pages_in_bytes bigint = o.bytes;
    page_allocator_address varbinary(8) = Address::Clerk(o.clerk).value();
    creation_stack_address varbinary(8) null = NULL;
    sequence_num int null = NULL;
    partition_type int = 0;
    contention_factor real = 0.0f32;
    waiting_tasks_count bigint = 0i64;
    exclusive_access_count bigint = 0i64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_the_known_is_told_by_node() {
        let known = [(0, 30), (1, 5), (0, 10)];
        assert_eq!(beside(&[0, 1], &[(0, 100), (1, 70)], &known), [(0, 60), (1, 65)]);
        // A node without a page, and more known than there is.
        assert_eq!(beside(&[0, 1], &[(0, 20)], &known), [(0, 0), (1, 0)]);
        // Of a machine of one node all is the one's, whatever it was given to.
        assert_eq!(beside(&[2], &[(2, 100)], &known), [(2, 55)]);
    }
}
