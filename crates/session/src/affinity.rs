//! PROCESS AFFINITY: the CPUs that sessions run on, changed while they run.
//!
//! As in SQL Server: a scheduler whose CPU is left out goes offline, gets nothing new, and finishes what it has. New
//! sessions come to the others; a connection that is there moves after its request, once no transaction is open. The
//! instance's own tasks (LOG WRITER, CHECKPOINT, LAZY WRITER) stay where they are. It is kept over a restart; on a machine
//! that has not all of the CPUs any more, the next start uses those that are its own and says so.
//!
//! Promises: what cannot be (5832), or cannot be kept, changes nothing; the CPUs in force are those that are kept, and
//! sp_configure's masks tell them where masks can. `Instance::configuration_gate` lets one change at a time through.
//!
//! Invariant: at least one scheduler is online.

use crate::Instance;
use crate::affinity_masks::Mask;
use crate::instance::tell_operator;
use crate::kept::{AFFINITY, Chosen, keep_cpus, keep_values};
use executor::SqlError;
use runtime::threads::MOST_CPUS;
use std::sync::atomic::Ordering;
use syntax::ast::ProcessAffinity;
use topology::{format_cpulist, parse_cpulist, soft};

impl Instance {
    /// ALTER SERVER CONFIGURATION: in force at once. 5832 when a CPU or node is named that has no scheduler here. Suspends.
    pub(crate) fn set_process_affinity(&self, affinity: &ProcessAffinity) -> Result<(), SqlError> {
        let chosen = match affinity {
            ProcessAffinity::Auto => None,
            ProcessAffinity::Cpus(ranges) => self.chosen(numbers(ranges)?)?,
            ProcessAffinity::Nodes(ranges) => {
                let there = soft::current();
                let mine = self.own_cpus();
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
                self.chosen(cpus)?
            }
        };
        let _passage = self.configuration_gate.enter();
        let mask = Mask::of_cpus(chosen.as_deref());
        self.server.change_settings(|settings| {
            keep_cpus(settings, &chosen);
            keep_values(settings, mask.values());
        })?;
        self.settings.lock().set_mask(mask);
        self.use_cpus(chosen.as_deref());
        Ok(())
    }

    /// The CPUs that have schedulers.
    pub(crate) fn own_cpus(&self) -> Vec<usize> {
        self.schedulers().stats().iter().filter_map(|s| s.cpu).collect()
    }

    /// None are all. 5832 for one without a scheduler here.
    pub(crate) fn chosen(&self, mut cpus: Vec<usize>) -> Result<Chosen, SqlError> {
        let mine = self.own_cpus();
        if cpus.iter().any(|cpu| !mine.contains(cpu)) {
            return Err(no_match());
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok((!cpus.is_empty()).then_some(cpus))
    }

    /// 5832 for a CPU that this process has not; whether it has a scheduler is no matter.
    pub(crate) fn check_io_cpus(&self, cpus: &[usize]) -> Result<(), SqlError> {
        let mine = self.own_cpus();
        // In a simulation nothing depends on the machine that it runs on.
        let there = (!runtime::sim::active()).then(soft::current);
        let is_there = |cpu: usize| there.as_ref().is_some_and(|t| t.node_of(cpu).is_some());
        match cpus.iter().all(|cpu| mine.contains(cpu) || is_there(*cpu)) {
            true => Ok(()),
            false => Err(no_match()),
        }
    }

    /// `None`: all. False, and nothing is changed, if no scheduler would be left.
    pub(crate) fn use_cpus(&self, chosen: Option<&[usize]>) -> bool {
        let on = |cpu: usize| chosen.is_none_or(|chosen| chosen.contains(&cpu));
        let changed = self.schedulers().set_online(on);
        if changed {
            self.manual_affinity.store(chosen.is_some(), Ordering::Relaxed);
        }
        changed
    }

    /// At the start: the CPUs that were chosen last. The masks tell those that are there.
    pub(crate) fn start_affinity(&self) {
        let kept = self.server.settings().get(AFFINITY).cloned();
        let used = kept.and_then(|kept| self.use_kept(&kept));
        self.settings.lock().set_mask(Mask::of_cpus(used.as_deref()));
    }

    fn use_kept(&self, kept: &str) -> Chosen {
        let mine = self.own_cpus();
        let cpus = parse_cpulist(kept).unwrap_or_default();
        let (there, gone): (Vec<_>, Vec<_>) = cpus.into_iter().partition(|cpu| mine.contains(cpu));
        let used = !there.is_empty() && self.use_cpus(Some(&there));
        if !gone.is_empty() || !used {
            let now = if used { format_cpulist(&there) } else { format_cpulist(&mine) };
            tell_operator(&format!(
                "PROCESS AFFINITY was CPU = {kept}, and this process has no scheduler on some of these CPUs: it runs \
                 on {now}. ALTER SERVER CONFIGURATION SET PROCESS AFFINITY changes that."
            ));
        }
        used.then_some(there)
    }
}

/// Every number of the ranges. A range that goes back, or past any machine, matches none.
pub(crate) fn numbers(ranges: &[(u32, u32)]) -> Result<Vec<usize>, SqlError> {
    let mut all = Vec::new();
    for &(first, last) in ranges {
        if first > last || last as usize >= MOST_CPUS {
            return Err(no_match());
        }
        all.extend((first..=last).map(|n| n as usize));
    }
    Ok(all)
}

pub(crate) fn no_match() -> SqlError {
    let text = "The affinity mask specified does not match the CPU mask on this system.";
    SqlError::new(5832, 16, text)
}
