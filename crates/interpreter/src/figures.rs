//! What statements have used: counted by the session that runs them, added up by whoever asks.
//!
//! ```text
//! CodeState --owns--> Meter --Arc--> Cells   one StatementCells per statement, written by this session alone
//!                       |               ^
//!                       +--Arc--> CachedPlan: the cells of all sessions, and the sum of those that have ended
//! ```
//!
//! Promises: a cell has one writer, which stores and never adds atomically; running a statement touches no memory that
//! another session writes. A fast statement (singleton insert, point read) is counted every time and timed the first
//! time and every [`TIMED_EVERY`]th, its totals then scaled up; any other statement is timed every time.

use crate::plan_cache::CachedPlan;
use scheduler::Usage;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Of the executions of a fast statement one in so many is timed; of a procedure's or function's the first so many, too.
pub(crate) const TIMED_EVERY: u64 = 64;

/// A quantity over executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Of all executions.
    pub total: u64,
    /// Of the last one.
    pub last: u64,
    /// The least and the most of one.
    pub min: u64,
    /// See `min`.
    pub max: u64,
}

/// What the executions of a statement have used, all sessions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementFigures {
    /// How often it ran to its end.
    pub executions: u64,
    /// UTC, ns since 1970: when the last one that was timed began.
    pub last_unix_ns: u64,
    /// Time on a CPU, ns.
    pub cpu_ns: Spread,
    /// Time, ns.
    pub elapsed_ns: Spread,
    /// Pages looked up in the buffer pool.
    pub logical_reads: Spread,
    /// Pages read from files.
    pub physical_reads: Spread,
    /// Rows sent, assigned or changed.
    pub rows: Spread,
}

impl StatementFigures {
    /// Both together.
    pub fn plus(&self, other: &StatementFigures) -> StatementFigures {
        if self.executions == 0 {
            return *other;
        }
        if other.executions == 0 {
            return *self;
        }
        let later = other.last_unix_ns >= self.last_unix_ns;
        let both = |a: Spread, b: Spread| Spread {
            total: a.total + b.total,
            last: if later { b.last } else { a.last },
            min: a.min.min(b.min),
            max: a.max.max(b.max),
        };
        StatementFigures {
            executions: self.executions + other.executions,
            last_unix_ns: self.last_unix_ns.max(other.last_unix_ns),
            cpu_ns: both(self.cpu_ns, other.cpu_ns),
            elapsed_ns: both(self.elapsed_ns, other.elapsed_ns),
            logical_reads: both(self.logical_reads, other.logical_reads),
            physical_reads: both(self.physical_reads, other.physical_reads),
            rows: both(self.rows, other.rows),
        }
    }
}

#[derive(Default)]
struct SpreadCells {
    total: AtomicU64,
    last: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
}

impl SpreadCells {
    fn add(&self, value: u64, is_first: bool) {
        let min = if is_first { value } else { self.min.load(Relaxed).min(value) };
        self.total.store(self.total.load(Relaxed) + value, Relaxed);
        self.last.store(value, Relaxed);
        self.min.store(min, Relaxed);
        self.max.store(self.max.load(Relaxed).max(value), Relaxed);
    }

    /// The total of `all` executions, of which `timed` were added.
    fn read(&self, all: u64, timed: u64) -> Spread {
        let total = u128::from(self.total.load(Relaxed)) * u128::from(all);
        Spread {
            total: (total / u128::from(timed.max(1))) as u64,
            last: self.last.load(Relaxed),
            min: self.min.load(Relaxed),
            max: self.max.load(Relaxed),
        }
    }
}

/// A statement's figures in one session. One writer.
#[derive(Default)]
pub(crate) struct StatementCells {
    executions: AtomicU64,
    timed: AtomicU64,
    last_unix_ns: AtomicU64,
    cpu_ns: SpreadCells,
    elapsed_ns: SpreadCells,
    lookups: SpreadCells,
    reads: SpreadCells,
    rows: SpreadCells,
}

impl StatementCells {
    /// One more execution has ended; whether it is one that is to be timed.
    #[inline]
    pub fn count(&self) -> bool {
        let n = self.executions.load(Relaxed);
        self.executions.store(n + 1, Relaxed);
        n.is_multiple_of(TIMED_EVERY)
    }

    /// The same of a procedure or function.
    fn count_call(&self) -> bool {
        self.count() || self.executions.load(Relaxed) <= TIMED_EVERY
    }

    fn add(&self, began_unix_ns: u64, elapsed_ns: u64, used: &Usage, rows: u64) {
        let timed = self.timed.load(Relaxed);
        let is_first = timed == 0;
        self.last_unix_ns.store(began_unix_ns, Relaxed);
        // A plain thread has no account of its CPU time.
        let cpu_ns = if used.cpu_ns == 0 { elapsed_ns } else { used.cpu_ns };
        self.cpu_ns.add(cpu_ns, is_first);
        self.elapsed_ns.add(elapsed_ns, is_first);
        self.lookups.add(used.page_lookups, is_first);
        self.reads.add(used.page_reads, is_first);
        self.rows.add(rows, is_first);
        self.timed.store(timed + 1, Relaxed);
    }

    fn read(&self) -> StatementFigures {
        let timed = self.timed.load(Relaxed);
        if timed == 0 {
            return StatementFigures::default();
        }
        let all = self.executions.load(Relaxed).max(timed);
        StatementFigures {
            executions: all,
            last_unix_ns: self.last_unix_ns.load(Relaxed),
            cpu_ns: self.cpu_ns.read(all, timed),
            elapsed_ns: self.elapsed_ns.read(all, timed),
            logical_reads: self.lookups.read(all, timed),
            physical_reads: self.reads.read(all, timed),
            rows: self.rows.read(all, timed),
        }
    }
}

/// A plan's figures in one session.
pub(crate) struct Cells {
    /// How often the plan was taken to be run.
    uses: AtomicU64,
    /// Of the procedure or function as a whole.
    whole: StatementCells,
    statements: Box<[StatementCells]>,
}

impl Cells {
    pub fn new(statements: usize) -> Cells {
        let statements = std::iter::repeat_with(StatementCells::default).take(statements);
        let whole = StatementCells::default();
        Cells { uses: AtomicU64::new(0), whole, statements: statements.collect() }
    }

    pub fn uses(&self) -> u64 {
        self.uses.load(Relaxed)
    }

    pub fn read_whole(&self) -> StatementFigures {
        self.whole.read()
    }

    pub fn read(&self, statement: usize) -> StatementFigures {
        self.statements[statement].read()
    }
}

/// A session's hold on its cells of a plan. What they hold goes to the plan when it is dropped.
pub(crate) struct Meter {
    cells: Arc<Cells>,
    plan: Option<Arc<CachedPlan>>,
}

impl Meter {
    /// For a plan that is cached.
    pub fn of(plan: &Arc<CachedPlan>, statements: usize) -> Meter {
        let cells = Arc::new(Cells::new(statements));
        plan.enter(&cells);
        Meter { cells, plan: Some(plan.clone()) }
    }

    /// The plan is taken to be run.
    #[inline]
    pub fn note_use(&self) {
        self.cells.uses.store(self.cells.uses.load(Relaxed) + 1, Relaxed);
    }

    /// A call of a procedure or function has begun: a reading where it is to be timed.
    #[inline]
    pub fn call_begins(&self) -> Option<Reading> {
        self.cells.whole.count_call().then(Reading::now)
    }

    /// It has ended.
    #[inline]
    pub fn call_ended(&self, begun: Option<Reading>) {
        if let Some(begun) = begun {
            begun.add_to(&self.cells.whole, 0);
        }
    }

    /// The cells of a statement.
    #[inline]
    pub fn statement(&self, index: usize) -> Option<&StatementCells> {
        self.cells.statements.get(index)
    }
}

impl Default for Meter {
    /// For a plan that is not cached: nothing is counted.
    fn default() -> Meter {
        Meter { cells: Arc::new(Cells::new(0)), plan: None }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(plan) = &self.plan {
            plan.leave(&self.cells);
        }
    }
}

/// A reading at the beginning of something that is timed.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    unix_ns: u64,
    begun_ns: u64,
    usage: Usage,
}

impl Reading {
    pub fn now() -> Reading {
        Reading {
            unix_ns: runtime::clock::coarse_unix_ns(),
            begun_ns: runtime::clock::now_ns(),
            usage: scheduler::usage(),
        }
    }

    /// What has been used since, and how long it took in ns.
    pub fn since(&self) -> (Usage, u64) {
        let used = scheduler::usage().since(&self.usage);
        (used, runtime::clock::now_ns().saturating_sub(self.begun_ns))
    }

    /// Adds what has been used since to a statement's figures.
    pub fn add_to(&self, cells: &StatementCells, rows: u64) {
        let (used, elapsed_ns) = self.since();
        cells.add(self.unix_ns, elapsed_ns, &used, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(cpu_ns: u64, page_lookups: u64) -> Usage {
        Usage { cpu_ns, page_lookups, ..Usage::default() }
    }

    #[test]
    fn totals_of_what_is_timed_now_and_then_are_scaled() {
        let cells = StatementCells::default();
        let timed = (0..200).filter(|_| cells.count()).count();
        assert_eq!(timed, 4, "0, 64, 128 and 192");
        for i in 0..4 {
            cells.add(10 + i, 1_000, &used(500, 3), 1);
        }
        let figures = cells.read();
        assert_eq!((figures.executions, figures.rows.total), (200, 200));
        assert_eq!(
            figures.elapsed_ns,
            Spread { total: 200_000, last: 1_000, min: 1_000, max: 1_000 }
        );
        assert_eq!((figures.logical_reads.total, figures.last_unix_ns), (600, 13));
    }

    #[test]
    fn the_first_calls_are_timed_all() {
        let cells = StatementCells::default();
        let timed = (0..200).filter(|_| cells.count_call()).count();
        assert_eq!(timed, 67, "the first 64, then those of numbers 64, 128 and 192");
    }

    #[test]
    fn figures_of_two_sessions_add_up() {
        let (a, b) = (StatementCells::default(), StatementCells::default());
        a.count();
        a.add(5, 100, &used(80, 1), 7);
        b.count();
        b.add(9, 300, &used(0, 2), 0);
        let both = a.read().plus(&b.read());
        assert_eq!(both.executions, 2);
        assert_eq!(both.elapsed_ns, Spread { total: 400, last: 300, min: 100, max: 300 });
        assert_eq!(both.cpu_ns.total, 380, "without an account the CPU was had all the time");
        assert_eq!(both.rows, Spread { total: 7, last: 0, min: 0, max: 7 });
        assert_eq!(both, both.plus(&StatementFigures::default()));
    }
}
