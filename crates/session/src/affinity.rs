//! PROCESS AFFINITY: the CPUs that sessions run on, changed while they run.
//!
//! As in SQL Server: a scheduler whose CPU is left out goes offline, gets nothing new, and finishes what it has. New
//! sessions come to the others; a connection that is there moves after its request, once no transaction is open. The
//! instance's own tasks (LOG WRITER, CHECKPOINT, LAZY WRITER) stay where they are. Unlike there, nothing is kept over a
//! restart.
//!
//! Invariant: at least one scheduler is online.

use crate::Instance;
use executor::SqlError;
use std::sync::atomic::Ordering;
use syntax::ast::ProcessAffinity;
use topology::Topology;

impl Instance {
    /// 5832 when a CPU or node is named that has no scheduler here.
    pub(crate) fn set_process_affinity(&self, affinity: &ProcessAffinity) -> Result<(), SqlError> {
        let mine: Vec<usize> = self.schedulers().stats().iter().filter_map(|s| s.cpu).collect();
        let chosen = match affinity {
            ProcessAffinity::Auto => mine,
            ProcessAffinity::Cpus(ranges) => {
                let mut cpus = Vec::new();
                for cpu in numbers(ranges)? {
                    if !mine.contains(&cpu) {
                        return Err(no_match());
                    }
                    cpus.push(cpu);
                }
                cpus
            }
            ProcessAffinity::Nodes(ranges) => {
                let topology = Topology::machine().ok_or_else(no_match)?;
                let mut cpus = Vec::new();
                for node in numbers(ranges)? {
                    let there = topology.cpus.iter().filter(|cpu| cpu.node == node);
                    let there: Vec<usize> =
                        there.map(|cpu| cpu.id).filter(|id| mine.contains(id)).collect();
                    if there.is_empty() {
                        return Err(no_match());
                    }
                    cpus.extend(there);
                }
                cpus
            }
        };
        if !self.schedulers().set_online(|cpu| chosen.contains(&cpu)) {
            return Err(no_match());
        }
        let manual = !matches!(affinity, ProcessAffinity::Auto);
        self.manual_affinity.store(manual, Ordering::Relaxed);
        Ok(())
    }
}

/// Every number of the ranges. A range that goes back, or past any machine, matches none.
fn numbers(ranges: &[(u32, u32)]) -> Result<Vec<usize>, SqlError> {
    const MOST: u32 = 1 << 16;
    let mut all = Vec::new();
    for &(first, last) in ranges {
        if first > last || last >= MOST {
            return Err(no_match());
        }
        all.extend((first..=last).map(|n| n as usize));
    }
    Ok(all)
}

fn no_match() -> SqlError {
    let text = "The affinity mask specified does not match the CPU mask on this system.";
    SqlError::new(5832, 16, text)
}
