//! PROCESS AFFINITY: the CPUs that sessions run on, changed while they run.
//!
//! As in SQL Server: a scheduler whose CPU is left out goes offline, gets nothing new, and finishes what it has. New
//! sessions come to the others; a connection that is there moves after its request, once no transaction is open. The
//! instance's own tasks (LOG WRITER, CHECKPOINT, LAZY WRITER) stay where they are. It is kept over a restart; on a machine
//! that has not all of the CPUs any more, the next start uses those that are its own and says so.
//!
//! Invariant: at least one scheduler is online.

use crate::Instance;
use crate::instance::tell_operator;
use executor::SqlError;
use std::sync::atomic::Ordering;
use syntax::ast::ProcessAffinity;
use topology::{format_cpulist, parse_cpulist, soft};

/// Among the settings that are kept: the CPUs, as the kernel lists them. Not there: all.
const KEPT: &str = "process affinity";

impl Instance {
    /// 5832 when a CPU or node is named that has no scheduler here.
    pub(crate) fn set_process_affinity(&self, affinity: &ProcessAffinity) -> Result<(), SqlError> {
        let mine: Vec<usize> = self.schedulers().stats().iter().filter_map(|s| s.cpu).collect();
        let chosen = match affinity {
            ProcessAffinity::Auto => None,
            ProcessAffinity::Cpus(ranges) => {
                let cpus = numbers(ranges)?;
                if cpus.iter().any(|cpu| !mine.contains(cpu)) {
                    return Err(no_match());
                }
                Some(cpus)
            }
            ProcessAffinity::Nodes(ranges) => {
                let there = soft::current();
                let mut cpus = Vec::new();
                for wanted in numbers(ranges)? {
                    let node = there.nodes.iter().find(|(id, _)| *id == wanted);
                    let own = node.map_or(&[][..], |(_, node)| &node.cpus);
                    let before = cpus.len();
                    cpus.extend(own.iter().copied().filter(|cpu| mine.contains(cpu)));
                    if cpus.len() == before {
                        return Err(no_match());
                    }
                }
                Some(cpus)
            }
        };
        self.use_cpus(chosen.as_deref())?;
        self.server.change_settings(|settings| match chosen {
            None => drop(settings.remove(KEPT)),
            Some(mut cpus) => {
                cpus.sort_unstable();
                cpus.dedup();
                settings.insert(KEPT.to_owned(), format_cpulist(&cpus));
            }
        })?;
        Ok(())
    }

    /// `None`: all. 5832 when no scheduler would be left.
    fn use_cpus(&self, chosen: Option<&[usize]>) -> Result<(), SqlError> {
        let on = |cpu: usize| chosen.is_none_or(|chosen| chosen.contains(&cpu));
        if !self.schedulers().set_online(on) {
            return Err(no_match());
        }
        self.manual_affinity.store(chosen.is_some(), Ordering::Relaxed);
        Ok(())
    }

    /// At the start: the CPUs that were chosen last.
    pub(crate) fn start_affinity(&self) {
        let Some(kept) = self.server.settings().get(KEPT).cloned() else { return };
        let mine: Vec<usize> = self.schedulers().stats().iter().filter_map(|s| s.cpu).collect();
        let cpus = parse_cpulist(&kept).unwrap_or_default();
        let (there, gone): (Vec<_>, Vec<_>) = cpus.into_iter().partition(|cpu| mine.contains(cpu));
        let used = !there.is_empty() && self.use_cpus(Some(&there)).is_ok();
        if !gone.is_empty() || !used {
            let now = if used { format_cpulist(&there) } else { format_cpulist(&mine) };
            tell_operator(&format!(
                "PROCESS AFFINITY was CPU = {kept}, and this process has no scheduler on some of these CPUs: it runs \
                 on {now}. ALTER SERVER CONFIGURATION SET PROCESS AFFINITY changes that."
            ));
        }
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
