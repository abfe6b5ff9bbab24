//! Counters of memory: Memory Node and Memory Manager.
//!
//! The process's resident memory is the total; what of it is neither pages of databases nor room for such is stolen. What this
//! server does not tell from the rest of that (locks, connections, the optimizer) is 0.

use super::{PLAIN, Readings, pages_of};
use crate::context::{Context, Database};
use crate::statistics::{nodes, process, resident, snapshot};

/// Memory Node: a row for each node of the machine.
pub(super) fn of_nodes(r: &mut Readings, databases: &[Database], limit_kb: i64) {
    let ids = snapshot::memory_nodes();
    let several = ids.len() > 1;
    let by_node = if several { resident::resident_by_node() } else { Vec::new() };
    for &node in &ids {
        let own = by_node.iter().find(|(of, _)| *of == node).map_or(0, |(_, kb)| *kb as u64);
        let total = if several { own } else { process::resident_kb() };
        let target = nodes::target_kb(limit_kb, &ids, node) as u64;
        let away = nodes::pages_away(databases, node);
        r.of("SQLServer:Memory Node", &format!("{node:03}"))
            .add("Database Node Memory (KB)", PLAIN, pages_of(databases, &ids, node) * 8)
            .add("Foreign Node Memory (KB)", PLAIN, away * 8)
            .add("Target Node Memory (KB)", PLAIN, target)
            .add("Total Node Memory (KB)", PLAIN, total);
    }
}

/// Memory Manager.
pub(super) fn manager(r: &mut Readings, context: &Context<'_>, databases: &[Database]) {
    let kb = |bytes: usize| bytes as u64 / 1024;
    let (mut pages_kb, mut free_kb, mut log_kb) = (0, 0, 0);
    for open in databases.iter().filter_map(|database| database.open.as_ref()) {
        let pages: usize = open.engine.node_pages().iter().map(|of| of.pages).sum();
        let own_kb = pages as u64 * 8;
        pages_kb += own_kb;
        free_kb += (open.engine.pool_backed_bytes() / 1024).saturating_sub(own_kb);
        log_kb += open.engine.log().ring_bytes() / 1024;
    }
    let total_kb = process::resident_kb();
    let stolen_kb = total_kb.saturating_sub(pages_kb + free_kb);
    let plans: usize = context.server.plans().iter().map(|plan| plan.size_bytes()).sum();
    let workspace = context.server.query_memory().figures();
    let reserved = workspace.granted_bytes.saturating_sub(workspace.used_bytes);
    r.of("SQLServer:Memory Manager", "")
        .add("Connection Memory (KB)", PLAIN, 0)
        .add("Database Cache Memory (KB)", PLAIN, pages_kb)
        .add("External benefit of memory", PLAIN, 0)
        .add("Free Memory (KB)", PLAIN, free_kb)
        .add("Granted Workspace Memory (KB)", PLAIN, kb(workspace.granted_bytes))
        .add("Lock Memory (KB)", PLAIN, 0)
        .add("Log Pool Memory (KB)", PLAIN, log_kb)
        .add("Maximum Workspace Memory (KB)", PLAIN, kb(workspace.target_bytes))
        .add("Memory Grants Outstanding", PLAIN, workspace.grantees as u64)
        .add("Memory Grants Pending", PLAIN, workspace.waiters as u64)
        .add("Optimizer Memory (KB)", PLAIN, 0)
        .add("Reserved Server Memory (KB)", PLAIN, kb(reserved))
        .add("SQL Cache Memory (KB)", PLAIN, kb(plans))
        .add("Stolen Server Memory (KB)", PLAIN, stolen_kb)
        .add("Target Server Memory (KB)", PLAIN, context.server.facts().limit_kb as u64)
        .add("Total Server Memory (KB)", PLAIN, total_kb);
}
