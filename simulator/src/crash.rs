//! Power loss under load, with a model as oracle.
//!
//! A case: a small database from a template; one to four sessions on one simulated thread run random transactions
//! (inserts, updates, deletes, truncations, savepoints, statements taken back, fused commits, delayed and full ones)
//! while a background task checkpoints; the power goes off at a random operation of the device; each unsynced write
//! then survives, vanishes or is torn; the database is opened again, in some cases losing power again while it
//! recovers, or while recovery goes on behind the first users; and what it holds is compared with the model. Half of the
//! cases go on from there for another round. In a third of the cases one table lives in memory, in a third both do.
//!
//! What must hold:
//! 1. *lost*: a commit acknowledged in full is there, and so is what such a commit has seen, and what was
//!    acknowledged before a flush that succeeded;
//! 2. *resurrected*: nothing is there of a transaction that was rolled back or never asked to commit;
//! 3. transactions are there wholly or not at all, and delayed ones go from the end: whatever was acknowledged before
//!    a survivor, by commit number, survives too;
//! 4. each table's secondary index has an entry for every row and for nothing else;
//! 5. trees are sound, and the database takes work again;
//! 6. backups taken meanwhile are whole or absent, and restore, with the log backups behind them, to one moment of the
//!    history.
//!
//! Every transaction leaves its number in a journal tree, which says after the crash who survived.

mod beside;
mod case;
mod copy;
mod index;
mod memory;
mod model;
pub mod planted;
mod session;

use std::collections::HashSet;
use std::fmt;

/// What was tried and found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub tried: u64,
    /// Power losses, of which a case may have several.
    pub crashes: u64,
    /// Those of cases that have tables in memory.
    pub in_memory: u64,
    /// Disk images after a power loss that differ.
    pub distinct: u64,
    /// Transactions acknowledged, and those of them that were delayed and lost, as they may be.
    pub acknowledged: u64,
    pub delayed_lost: u64,
    pub lost: u64,
    pub resurrected: u64,
    /// Backups taken under load and restored after a loss of power, and log backups on top of them.
    pub copies: u64,
    pub logs: u64,
    /// Openings after which recovery went on behind the users, losses of power meanwhile, and pages that were brought
    /// up to date because somebody asked for them.
    pub early: u64,
    pub cut: u64,
    pub demanded: u64,
    /// What users did beside recovery and took back, and how often a loser's row was in their way.
    pub beside: u64,
    pub refused: u64,
    /// Seeds of the cases in which something was wrong, and what.
    pub odd: Vec<(u64, String)>,
}

impl Report {
    /// Nothing wrong, and not the same few states over and over.
    pub fn is_good(&self) -> bool {
        self.odd.is_empty()
            && self.lost == 0
            && self.resurrected == 0
            && self.distinct * 2 > self.crashes
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tried {}, power losses {}, of which with tables in memory {}, distinct disk states {}, ",
            self.tried, self.crashes, self.in_memory, self.distinct
        )?;
        write!(f, "acknowledged {}, delayed and lost {}, ", self.acknowledged, self.delayed_lost)?;
        write!(f, "lost {}, resurrected {}, ", self.lost, self.resurrected)?;
        write!(f, "backups restored {}, with {} of the log, ", self.copies, self.logs)?;
        write!(
            f,
            "opened before redo {}, power losses then {}, pages redone on demand {}, statements beside recovery {}, of \
             which met a loser {}",
            self.early,
            self.cut,
            self.demanded,
            self.beside + self.refused,
            self.refused
        )?;
        for (seed, what) in self.odd.iter().take(20) {
            write!(f, "\nodd: seed {seed}: {what}")?;
        }
        if self.odd.len() > 20 {
            write!(f, "\nand {} more", self.odd.len() - 20)?;
        }
        Ok(())
    }
}

/// Tries `cases` cases from `seed` on.
pub fn run(cases: u64, seed: u64) -> Report {
    run_watched(cases, seed, |_, _| {})
}

/// As [`run`]; tells `watch` how many are done and which seed comes next.
pub fn run_watched(cases: u64, seed: u64, watch: impl Fn(u64, u64)) -> Report {
    let template = case::Template::make();
    let mut report = Report::default();
    let mut images = HashSet::new();
    for i in 0..cases {
        let seed = seed.wrapping_add(i);
        watch(i, seed);
        let found = case::run(&template, seed);
        report.tried += 1;
        report.crashes += found.images.len() as u64;
        if memory::InMemory::of(seed).has_any() {
            report.in_memory += found.images.len() as u64;
        }
        images.extend(found.images);
        report.acknowledged += found.acknowledged;
        report.delayed_lost += found.delayed_lost;
        report.lost += found.lost;
        report.copies += found.copies;
        report.logs += found.logs;
        report.early += found.early;
        report.cut += found.cut;
        report.demanded += found.demanded;
        report.beside += found.beside;
        report.refused += found.refused;
        report.resurrected += found.resurrected;
        if let Some(what) = found.odd {
            report.odd.push((seed, what));
        }
    }
    report.distinct = images.len() as u64;
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hundred_power_losses() {
        let report = run(300, 20_000);
        assert!(report.is_good(), "{report}");
        assert!(report.acknowledged > 300 && report.in_memory > 300, "{report}");
        assert!(report.copies > 8, "{report}");
        assert!(report.early > 100 && report.cut > 3 && report.demanded > 300, "{report}");
        assert!(report.beside > 500 && report.refused > 5, "{report}");
    }

    #[test]
    fn a_case_is_its_seed() {
        let template = case::Template::make();
        for seed in [3, 4, 5] {
            let (a, b) = (case::run(&template, seed), case::run(&template, seed));
            assert_eq!((a.images, a.acknowledged), (b.images, b.acknowledged));
        }
    }
}
