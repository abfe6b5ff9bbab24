//! Cells that were predicted: how far the model was off, and whether it had their order right.

use super::calibration::median;
use super::parameters::Outcome;
use super::quiet::was_quiet;
use crate::document::{Cell, Figure};
use crate::workload::{Durability, Workload};

const MODELLED: &str = "rows/s, modelled";
const OVER: &str = "modelled over measured";
/// Within this much a prediction is a hit, and two rates are as good as equal.
pub const HIT: f64 = 0.2;
const EQUAL: f64 = 0.05;

/// A load that was predicted, over its repeats.
#[derive(Clone, Debug)]
pub struct Judged {
    /// All that it is but the form of reservation.
    load: (usize, Durability, u64),
    reserve: String,
    repeats: Vec<Repeat>,
}

#[derive(Clone, Copy, Debug)]
struct Repeat {
    measured: f64,
    /// Modelled over measured.
    over: f64,
    /// Whether it had the machine to itself.
    quiet: bool,
}

impl Judged {
    pub fn of(workload: &Workload) -> Judged {
        Judged {
            load: (workload.sessions, workload.durability, workload.commit_every),
            reserve: workload.switches.get("log_reserve").cloned().unwrap_or_default(),
            repeats: Vec::new(),
        }
    }

    /// A repeat: puts the prediction into its cell.
    pub fn add(&mut self, cell: &mut Cell, told: Outcome) {
        let modelled = told.rows_per_s * share(cell, told);
        let figure = |value: f64, unit: &str, what: &str| Figure {
            value,
            unit: unit.to_owned(),
            what: what.to_owned(),
        };
        let what = "by the model, for the CPU time that the cell had";
        cell.figures.insert(MODELLED.to_owned(), figure(modelled, "rows/s", what));
        let over = modelled / cell.rows_per_s.max(1.0);
        cell.figures.insert(OVER.to_owned(), figure(over, "", "1 is right"));
        self.repeats.push(Repeat { measured: cell.rows_per_s, over, quiet: was_quiet(cell) });
    }

    /// The repeats that count: those that had the machine to themselves, or all if none had.
    fn counted(&self) -> Vec<Repeat> {
        let quiet: Vec<Repeat> = self.repeats.iter().filter(|of| of.quiet).copied().collect();
        if quiet.is_empty() { self.repeats.clone() } else { quiet }
    }

    /// The median of the repeats' rates.
    pub fn measured(&self) -> f64 {
        median(self.counted().iter().map(|of| of.measured).collect()).unwrap_or(0.0)
    }

    /// The median of the repeats' modelled over measured.
    pub fn over(&self) -> f64 {
        median(self.counted().iter().map(|of| of.over).collect()).unwrap_or(0.0)
    }

    fn modelled(&self) -> f64 {
        self.measured() * self.over()
    }

    pub fn hits(&self) -> bool {
        (self.over() - 1.0).abs() <= HIT
    }

    /// "10 sessions, full, 1 row a commit, spinlock: 12,345 rows/s, modelled 1.03 of it".
    pub fn tell(&self) -> String {
        let (sessions, durability, rows) = self.load;
        let counted = self.counted();
        let spread = counted.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), of| {
            (low.min(of.over), high.max(of.over))
        });
        let quiet = self.repeats.iter().filter(|of| of.quiet).count();
        format!(
            "{sessions} session(s), {}, {rows} row(s) a commit, {}: {} rows/s, modelled {:.2} of it ({:.2} to {:.2}; \
             {quiet} of {} repeats undisturbed){}",
            durability.name(),
            self.reserve,
            crate::table::grouped(self.measured()),
            self.over(),
            spread.0,
            spread.1,
            self.repeats.len(),
            if self.hits() { "" } else { ", a miss" }
        )
    }
}

/// A machine that others load gives a cell that computes less than its CPUs.
fn share(cell: &Cell, told: Outcome) -> f64 {
    if cell.durability == Durability::Full.name() {
        return 1.0;
    }
    let had = cell.cpu_s.map_or(1.0, |s| s / (cell.seconds * cell.schedulers.max(1) as f64));
    (had / told.busy.max(0.01)).min(1.0)
}

/// Pairs of loads that differ in the form of reservation alone: how many, and what the model says of their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    pub pairs: usize,
    /// As measured; whatever is said of two that were measured as good as equal is right.
    pub right: usize,
    /// Said to be as good as equal, and measured apart: not right.
    pub says_equal: usize,
}

impl Orders {
    /// "right in 6 of 8 (1 the other way round, 1 called equal that is not)".
    pub fn tell(&self) -> String {
        let wrong = self.pairs - self.right - self.says_equal;
        let mut told = format!("right in {} of {}", self.right, self.pairs);
        if self.right < self.pairs {
            told += &format!(
                " ({wrong} the other way round, {} called equal and measured apart)",
                self.says_equal
            );
        }
        told
    }
}

pub fn orders(judged: &[Judged]) -> Orders {
    let mut all = Orders::default();
    for a in judged.iter().filter(|cell| cell.reserve == "spinlock") {
        let beside = judged.iter().find(|b| b.load == a.load && b.reserve != a.reserve);
        let Some(b) = beside else { continue };
        all.pairs += 1;
        let order = |a: f64, b: f64| match a / b.max(1e-9) {
            ratio if (ratio - 1.0).abs() <= EQUAL => 0,
            ratio if ratio > 1.0 => 1,
            _ => -1,
        };
        match (order(a.measured(), b.measured()), order(a.modelled(), b.modelled())) {
            (0, _) => all.right += 1,
            (measured, modelled) if measured == modelled => all.right += 1,
            (_, 0) => all.says_equal += 1,
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(sessions: usize, reserve: &str, measured: f64, modelled: f64) -> Judged {
        Judged {
            load: (sessions, Durability::Delayed, 1),
            reserve: reserve.to_owned(),
            repeats: [
                (1.0, modelled / measured, true),
                (3.0, 9.0, true),
                (0.3, 0.1, true),
                (9.0, 0.1, false),
            ]
            .map(|(of, over, quiet)| Repeat { measured: measured * of, over, quiet })
            .into(),
        }
    }

    #[test]
    fn the_order_of_arms_is_right_wrong_not_seen_or_no_matter() {
        let all = [
            judged(1, "spinlock", 100.0, 100.0),
            judged(1, "lanes", 200.0, 300.0),
            judged(2, "spinlock", 100.0, 400.0),
            judged(2, "lanes", 200.0, 300.0),
            // As good as equal here.
            judged(3, "spinlock", 100.0, 400.0),
            judged(3, "lanes", 102.0, 300.0),
            judged(4, "spinlock", 100.0, 100.0),
            // Three times as much, and the model sees no difference.
            judged(5, "spinlock", 100.0, 200.0),
            judged(5, "lanes", 300.0, 202.0),
        ];
        let told = orders(&all);
        assert_eq!(told, Orders { pairs: 4, right: 2, says_equal: 1 });
        assert_eq!(
            told.tell(),
            "right in 2 of 4 (1 the other way round, 1 called equal and measured apart)"
        );
        assert_eq!(orders(&all[..2]).tell(), "right in 1 of 1");
        assert!(all[0].hits() && !all[1].hits());
    }

    #[test]
    fn a_cell_is_compared_for_the_cpu_time_that_it_had() {
        let told = Outcome { rows_per_s: 1000.0, busy: 1.0, ..Outcome::default() };
        let mut cell = Cell {
            durability: "delayed".to_owned(),
            rows_per_s: 500.0,
            cpu_s: Some(1.0),
            seconds: 1.0,
            schedulers: 2,
            ..Cell::default()
        };
        let workload = crate::Settings::default().workloads(crate::Kind::Insert, &[]).remove(0);
        let mut judged = Judged::of(&workload);
        judged.add(&mut cell, told);
        assert_eq!((judged.over(), cell.figures[MODELLED].value), (1.0, 500.0));
        // A commit that waits for the device does not compute.
        cell.durability = "full".to_owned();
        judged.add(&mut cell, told);
        assert_eq!(cell.figures[OVER].value, 2.0);
        // Of an even number the mean of the two in the middle; whoever was disturbed does not count if others do.
        assert_eq!(judged.over(), 1.5);
        judged.repeats[1].quiet = false;
        assert_eq!(judged.over(), 1.0);
        assert!(judged.tell().contains("1 of 2 repeats undisturbed"), "{}", judged.tell());
    }
}
