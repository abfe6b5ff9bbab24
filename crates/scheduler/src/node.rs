//! On which node of soft-NUMA a thread's scheduler is: read once, for the machine is divided before schedulers start.

use crate::local;
use std::cell::Cell;

thread_local! {
    /// Where this thread's scheduler is, once somebody has asked.
    static NODE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The node, of soft-NUMA, of the caller's scheduler; 0 on a thread that is none, or where there are no nodes.
pub fn current_node() -> usize {
    if let Some(node) = NODE.get() {
        return node;
    }
    let mut node = None;
    local::with_core(|_, core| {
        node = Some(core.cpu.and_then(|cpu| topology::soft::current().node_of(cpu)).unwrap_or(0));
    });
    if node.is_some() {
        NODE.set(node);
    }
    node.unwrap_or(0)
}
