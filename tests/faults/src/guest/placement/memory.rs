//! Memory that sessions take, whatever it is for: it comes from the node that they are on, since that is what the threads of
//! its schedulers ask the kernel for.

use super::{Run, numbers};
use crate::guest::numa_maps;
use crate::server::Desk;
use std::collections::BTreeMap;

/// Rows of 8,000 bytes in a temporary table, which is in the session's memory; and how much they are.
const HELD_ROWS: i64 = 4_000;
const HELD_KB: i64 = HELD_ROWS * 8_000 / 1024;

/// KiB by node.
type Kb = BTreeMap<usize, i64>;

impl Run {
    /// Every scheduler's thread has the policy of its node, as the kernel says.
    pub(super) fn threads_prefer_their_nodes(&mut self) -> Result<(), String> {
        let asked = "SELECT scheduler_id, parent_node_id FROM sys.dm_os_schedulers \
                     WHERE status = 'VISIBLE ONLINE'";
        let told = numbers(&self.desk(0)?.run(asked)?);
        let threads = self.threads()?;
        let (all, _) = told.as_chunks::<2>();
        self.checks.same(all.len(), self.cpus, "schedulers online");
        for [scheduler, node] in all {
            let policies = policies(&threads, &format!("scheduler-{scheduler}"));
            let wanted = format!("prefer:{node}");
            let what = format!("the policy of scheduler {scheduler}'s thread");
            self.checks.same(policies, vec![wanted.as_str()], &what);
        }
        Ok(())
    }

    /// What a session takes and holds lies on the node that it is on, as the kernel tells. (MEMORYCLERK_SQLGENERAL tells what is
    /// left of the resident pages, and nothing where the buffers of logs are not all resident.)
    pub(super) fn sessions_memory_lies_on_their_nodes(&mut self) -> Result<(), String> {
        self.threads_prefer_their_nodes()?;
        for node in 0..self.nodes {
            let mut desk = self.desk(node)?;
            desk.run("CREATE TABLE #held (filler varchar(8000) NOT NULL)")?;
            // What a first statement of its kind takes is there before.
            hold(&mut desk, 1)?;
            let before = self.unbound()?;
            hold(&mut desk, HELD_ROWS)?;
            let after = self.unbound()?;
            let (there, elsewhere) = grown(&before, &after, node);
            let holds = there >= HELD_KB / 4 * 3 && elsewhere <= HELD_KB / 4;
            self.checks.that(holds, || {
                format!(
                    "a session on node {node} holds {HELD_KB} KiB more, and they lie there: the kernel tells of {there} KiB \
                     there and {elsewhere} elsewhere"
                )
            });
        }
        Ok(())
    }

    /// The server's threads: policy and name of each.
    pub(super) fn threads(&mut self) -> Result<Vec<(String, String)>, String> {
        let told = self.machine.ask("threads")?.replace("\\n", "\n");
        let pair = |line: &str| {
            line.split_once(' ').map(|(policy, name)| (policy.to_owned(), name.to_owned()))
        };
        Ok(told.lines().filter_map(pair).collect())
    }

    fn unbound(&mut self) -> Result<Kb, String> {
        Ok(numa_maps::unbound_kb(&self.maps()?))
    }
}

/// The policies of threads of a name.
pub(super) fn policies<'a>(threads: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    threads.iter().filter(|(_, of)| of == name).map(|(policy, _)| policy.as_str()).collect()
}

/// So many rows more are the session's, each with a text that was made for it.
fn hold(desk: &mut Desk, rows: i64) -> Result<(), String> {
    let digits = "(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9))";
    desk.run(&format!(
        "SET NOCOUNT ON; INSERT #held (filler) \
         SELECT TOP ({rows}) REPLICATE(CHAR(97 + (a.d + b.d + c.d + e.d) % 26), 8000) \
         FROM (VALUES (0),(1),(2),(3)) AS a(d) CROSS JOIN {digits} AS b(d) CROSS JOIN {digits} AS c(d) \
         CROSS JOIN {digits} AS e(d) OPTION (MAXDOP 1)"
    ))
    .map(drop)
}

/// KiB that came to a node, and to the others together.
fn grown(before: &Kb, after: &Kb, node: usize) -> (i64, i64) {
    let new = |of: usize, kb: i64| kb - before.get(&of).copied().unwrap_or(0);
    let there = new(node, after.get(&node).copied().unwrap_or(0));
    let others = after.iter().filter(|(of, _)| **of != node);
    (there, others.map(|(of, kb)| new(*of, *kb).max(0)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_apart_by_node() {
        let before: Kb = [(0, 100), (1, 50), (2, 9)].into();
        let after: Kb = [(0, 90), (1, 80), (2, 12), (3, 1)].into();
        assert_eq!(grown(&before, &after, 1), (30, 4));
        assert_eq!(grown(&before, &after, 0), (-10, 34));
        assert_eq!(grown(&before, &after, 7), (0, 34));
    }
}
