//! How a call of a function may be moved, shared and kept, and who evaluates it: what a row of [`FuncId::class`] says.
//! Nothing here has a default.
//!
//! The words are PostgreSQL's (CREATE FUNCTION: IMMUTABLE, STABLE, VOLATILE; PARALLEL SAFE, RESTRICTED). Which are
//! deterministic is SQL Server's list (docs/relational-databases/user-defined-functions/
//! deterministic-and-nondeterministic-functions.md, and the functions' own pages): those alone may stand in a PERSISTED
//! or indexed computed column.

use super::FuncId;

/// Whether the same arguments give the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// Always: it may be evaluated when a plan is made, and its value kept in a row.
    Immutable,
    /// Within a statement: it asks the clock, a setting, the session or the catalog.
    Stable,
    /// Not even for two rows of a statement: it may not be moved, and is evaluated once for each row.
    Volatile,
}

/// Where a call may be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// On any branch of a plan: what it needs beside its arguments was copied when the statement began.
    Safe,
    /// By the session alone.
    Restricted,
}

/// Who evaluates a call: a file of the crate `functions`, but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluator {
    Time,
    Calendar,
    Clr,
    Bits,
    Digest,
    Json,
    Parse,
    Number,
    Text,
    /// What chooses among values, converts them, or reads them apart.
    Values,
    /// Whoever runs the plan: the value depends on more than arguments, or not on the values of all of them.
    Executor,
}

/// The row of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub volatility: Volatility,
    pub parallel: Parallel,
    /// It asks the database that the session is in, or something of the user's in it.
    pub asks_database: bool,
    pub evaluator: Evaluator,
}

impl Class {
    /// The arguments alone.
    pub(super) const PURE: Class = Class::new(Volatility::Immutable, Parallel::Safe);
    /// The clock and the settings of a statement, which every branch has.
    pub(super) const OF_STATEMENT: Class = Class::new(Volatility::Stable, Parallel::Safe);
    /// The session, its transaction or the catalog.
    pub(super) const OF_SESSION: Class = Class::new(Volatility::Stable, Parallel::Restricted);
    /// The session's database.
    pub(super) const OF_DATABASE: Class = Class { asks_database: true, ..Class::OF_SESSION };
    pub(super) const OF_ROW: Class = Class::new(Volatility::Volatile, Parallel::Restricted);

    const fn new(volatility: Volatility, parallel: Parallel) -> Class {
        Class { volatility, parallel, asks_database: false, evaluator: Evaluator::Executor }
    }

    pub(super) const fn by(self, evaluator: Evaluator) -> Class {
        Class { evaluator, ..self }
    }
}

impl FuncId {
    /// Asks the database that the session is in, or something of the user's in it, when it is called with so many
    /// arguments.
    pub fn asks_database(self, args: usize) -> bool {
        match self {
            FuncId::DbId | FuncId::DbName => args == 0,
            other => other.class().asks_database,
        }
    }

    /// Depends on its arguments alone: may be evaluated when a plan is made.
    pub fn is_deterministic(self) -> bool {
        self.class().volatility == Volatility::Immutable
    }

    /// Yields another value for every row (so it must not be moved or evaluated once).
    pub fn is_per_row(self) -> bool {
        self.class().volatility == Volatility::Volatile
    }

    /// May be evaluated on any branch of a plan.
    pub fn is_parallel_safe(self) -> bool {
        self.class().parallel == Parallel::Safe
    }
}
