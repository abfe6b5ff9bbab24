//! What is run: the settings of a run, each of which may be a list, and the workloads that are their product.

use crate::batch::Batch;
use crate::checked::Checked;
use crate::error::LabError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What one operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Inserts into the posts' table, keys in a range of the session's own.
    Insert,
    /// Reads one row of [`READ_ROWS`] by its key, at random.
    PointRead,
    /// Transactions of a load that checks itself. The mode means nothing to it.
    Checked(Checked),
    /// One batch again and again. In this process; the mode means nothing to it.
    Batch(Batch),
}

/// Rows that point reads choose from.
pub const READ_ROWS: u64 = 1_000_000;

/// Who loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A procedure in the database, called for some 50 ms of work at a time.
    #[default]
    Procedure,
    /// The client: one prepared statement per round trip, a transaction each.
    Roundtrip,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Procedure => "procedure",
            Mode::Roundtrip => "roundtrip",
        }
    }
}

/// Whether a commit waits for the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    Full,
    #[default]
    Delayed,
}

impl Durability {
    pub fn name(self) -> &'static str {
        match self {
            Durability::Full => "full",
            Durability::Delayed => "delayed",
        }
    }
}

/// What the inserted rows are kept in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Table {
    /// Pages: a clustered index.
    #[default]
    Disk,
    /// A memory-optimised table whose rows outlive the instance (SCHEMA_AND_DATA), found by a hash index.
    Memory,
    /// One whose rows do not (SCHEMA_ONLY).
    MemorySchemaOnly,
}

impl Table {
    pub fn name(self) -> &'static str {
        match self {
            Table::Disk => "disk",
            Table::Memory => "memory",
            Table::MemorySchemaOnly => "memory-schema-only",
        }
    }
}

/// Who inserts the rows of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Procedure {
    /// The loop of an ordinary procedure.
    #[default]
    Interpreted,
    /// A natively compiled procedure, which such a loop calls for each transaction: one atomic block.
    Native,
}

impl Procedure {
    pub fn name(self) -> &'static str {
        match self {
            Procedure::Interpreted => "interpreted",
            Procedure::Native => "native",
        }
    }
}

/// What one cell runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    pub kind: Kind,
    pub mode: Mode,
    /// Of inserts; what reads and checks has tables of its own.
    pub table: Table,
    /// Native over memory-optimised tables only.
    pub procedure: Procedure,
    /// Concurrent, from 1.
    pub sessions: usize,
    pub durability: Durability,
    /// Rows of a transaction; a multiple of `rows_per_insert`.
    pub commit_every: u64,
    /// Rows of one INSERT, 1 to 1000.
    pub rows_per_insert: u64,
    /// The last row of each `commit_every` is not of the transaction, but one by itself (post 4's loop). Of one row an
    /// INSERT, and from two rows a transaction on.
    pub last_alone: bool,
    /// So many rows over all sessions, instead of a time.
    pub rows: Option<u64>,
    /// By name, as `log_reserve` = `spinlock`: only those that the target has ([`crate::Target::switches`]), and only
    /// those given; the others are as the target has them.
    pub switches: BTreeMap<String, String>,
    /// CPUs to run on, for a target in this process; empty: the settings'.
    pub cpus: Vec<usize>,
    /// For a target in this process: CPUs of the instance that serve sessions while tables are filled, and while the load
    /// runs; empty: all of its own.
    pub fill_cpus: Vec<usize>,
    pub run_cpus: Vec<usize>,
    /// Instances, each with its share of CPUs and sessions, for a target in this process; from 1.
    pub shards: usize,
    /// Of the instance from its start, for a target in this process.
    pub trace_flags: BTreeSet<i32>,
    /// Rows of the tables that a batch works on.
    pub size: u64,
    /// What an experiment calls this arm, by name: told among the cell's settings.
    pub arm: BTreeMap<String, String>,
}

impl Workload {
    /// What session `index` does of `rows`; the first sessions take what does not divide.
    pub fn share(&self, index: usize) -> Option<u64> {
        let sessions = self.sessions as u64;
        self.rows.map(|rows| rows / sessions + u64::from((index as u64) < rows % sessions))
    }

    /// Transactions that `rows` rows of one call are, from the beginning of one.
    pub fn commits(&self, rows: u64) -> u64 {
        let whole = rows / self.commit_every;
        let rest = u64::from(!rows.is_multiple_of(self.commit_every));
        if self.last_alone { whole * 2 + rest } else { whole + rest }
    }

    /// Every setting by name, the number of sessions left out: [`crate::Cell::settings`].
    pub fn settings(&self) -> BTreeMap<String, String> {
        let named = |name: &str, value: String| (name.to_owned(), value);
        let mut all = self.switches.clone();
        if let Kind::Batch(batch) = self.kind {
            all.extend(batch.settings());
        }
        all.extend(self.arm.clone());
        if self.last_alone {
            all.insert("last_row".to_owned(), "alone".to_owned());
        }
        if !self.cpus.is_empty() {
            let cpus: Vec<String> = self.cpus.iter().map(usize::to_string).collect();
            all.insert("cpus".to_owned(), cpus.join(" "));
        }
        if self.kind == Kind::Insert {
            all.insert("table".to_owned(), self.table.name().to_owned());
            all.insert("procedure".to_owned(), self.procedure.name().to_owned());
        }
        all.extend([
            named("mode", self.mode.name().to_owned()),
            named("durability", self.durability.name().to_owned()),
            named("commit_every", self.commit_every.to_string()),
            named("rows_per_insert", self.rows_per_insert.to_string()),
        ]);
        all
    }
}

/// The settings of a run. A list makes a cell for each of its values.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sessions: Vec<usize>,
    /// Length of the measured window.
    pub seconds: f64,
    /// Cut before the window, exactly; `None`: until throughput and mix of waits are steady, between a fifth of the
    /// window (2 s at most) and four times that.
    pub warmup_seconds: Option<f64>,
    /// Instead of a window: so many rows in all, measured from beginning to end.
    pub rows: Option<u64>,
    pub mode: Mode,
    pub tables: Vec<Table>,
    pub procedures: Vec<Procedure>,
    pub durability: Vec<Durability>,
    /// Rows of a transaction; empty: those of one INSERT.
    pub commit_every: Vec<u64>,
    pub rows_per_insert: Vec<u64>,
    /// The engine's switches by name, each with the values to run; without an entry: as the target has it.
    pub switches: BTreeMap<String, Vec<String>>,
    /// Options of one experiment's own, `--set NAME=VALUE[,VALUE...]`.
    pub own: BTreeMap<String, Vec<String>>,
    /// Interleaved pairs of the two cells that the settings make; 0: each cell once.
    pub pairs: usize,
    /// Sample the CPU.
    pub profile: bool,
    /// A fresh folder is made in here for each cell.
    pub data: PathBuf,
    /// Leave the folders, or the databases.
    pub keep: bool,
    /// Bytes of the buffer pool; `None`: 4 GiB, or half of what the machine has.
    pub buffer_pool_bytes: Option<u64>,
    /// CPUs to run on; empty: all.
    pub cpus: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sessions: vec![1, 10],
            seconds: 10.0,
            warmup_seconds: None,
            rows: None,
            mode: Mode::Procedure,
            tables: vec![Table::Disk],
            procedures: vec![Procedure::Interpreted],
            durability: vec![Durability::Delayed],
            commit_every: Vec::new(),
            rows_per_insert: vec![1],
            switches: BTreeMap::new(),
            own: BTreeMap::new(),
            pairs: 0,
            profile: false,
            data: PathBuf::from("data"),
            keep: false,
            buffer_pool_bytes: None,
            cpus: Vec::new(),
        }
    }
}

const MAX_SESSIONS: usize = 10_000;

impl Settings {
    /// Refuses what contradicts itself, before anything is started.
    pub fn check(&self) -> Result<(), LabError> {
        let refuse = |what: String| Err(LabError::Options(what));
        if self.sessions.is_empty() || self.sessions.iter().any(|&n| n == 0 || n > MAX_SESSIONS) {
            return refuse(format!("the number of sessions is between 1 and {MAX_SESSIONS}"));
        }
        if self.rows_per_insert.is_empty()
            || self.rows_per_insert.iter().any(|n| !(1..=1000).contains(n))
        {
            return refuse("an INSERT takes 1 to 1000 rows".to_owned());
        }
        if self.durability.is_empty() {
            return refuse("durability is full or delayed".to_owned());
        }
        for &rows in &self.rows_per_insert {
            for &per in &self.commit_every {
                if per == 0 || !per.is_multiple_of(rows) {
                    return refuse(format!(
                        "a commit every {per} rows is not a multiple of {rows} rows per insert"
                    ));
                }
                if self.mode == Mode::Roundtrip && per != 1 {
                    return refuse("a round trip is one row and its own transaction".to_owned());
                }
            }
            if self.mode == Mode::Roundtrip && rows != 1 {
                return refuse("a round trip is one row and its own transaction".to_owned());
            }
        }
        if self.combinations().is_empty() {
            return refuse(
                "a natively compiled procedure inserts into memory-optimised tables only"
                    .to_owned(),
            );
        }
        if self.procedures.contains(&Procedure::Native) {
            if self.mode == Mode::Roundtrip {
                return refuse(
                    "a round trip is a statement of its own, not a procedure's".to_owned(),
                );
            }
            // 10794 in SQL Server.
            if self.rows_per_insert.iter().any(|&rows| rows > 1) {
                return refuse(
                    "a natively compiled procedure inserts one row a statement".to_owned(),
                );
            }
        }
        let lasts = self.seconds.is_finite() && self.seconds > 0.0;
        if self.rows.is_none() && !(lasts && self.warmup_seconds.is_none_or(|s| s >= 0.0)) {
            return refuse("the window must have a length".to_owned());
        }
        if self.rows == Some(0) {
            return refuse("a run of no rows shows nothing".to_owned());
        }
        if self.rows.is_some() && self.mode == Mode::Roundtrip {
            return refuse("round trips are measured for a time: --seconds".to_owned());
        }
        Ok(())
    }

    /// Tables and procedures that go together: of several lists, every one.
    fn combinations(&self) -> Vec<(Table, Procedure)> {
        let all =
            self.tables.iter().flat_map(|&table| self.procedures.iter().map(move |&p| (table, p)));
        all.filter(|pair| *pair != (Table::Disk, Procedure::Native)).collect()
    }

    /// The product of the lists, sessions fastest, for a target that has the switches `known`.
    pub fn workloads(&self, kind: Kind, known: &[String]) -> Vec<Workload> {
        let mut switches = vec![BTreeMap::new()];
        for (name, values) in self.switches.iter().filter(|(name, _)| known.contains(name)) {
            switches = product(&switches, values, |all: &mut BTreeMap<_, _>, value: &String| {
                all.insert(name.clone(), value.clone());
            });
        }
        let commit_every = match self.commit_every.is_empty() {
            true => vec![None],
            false => self.commit_every.iter().map(|&per| Some(per)).collect(),
        };
        let mut all = Vec::new();
        for (table, procedure) in self.combinations() {
            all.extend(self.workloads_of(kind, (table, procedure), &switches, &commit_every));
        }
        all
    }

    fn workloads_of(
        &self,
        kind: Kind,
        (table, procedure): (Table, Procedure),
        switches: &[BTreeMap<String, String>],
        commit_every: &[Option<u64>],
    ) -> Vec<Workload> {
        let mut all = Vec::new();
        for &durability in &self.durability {
            for switches in switches {
                for &rows_per_insert in &self.rows_per_insert {
                    for per in commit_every {
                        for &sessions in &self.sessions {
                            all.push(Workload {
                                kind,
                                mode: self.mode,
                                table,
                                procedure,
                                sessions,
                                durability,
                                commit_every: per.unwrap_or(rows_per_insert),
                                rows_per_insert,
                                last_alone: false,
                                rows: self.rows,
                                switches: switches.clone(),
                                cpus: Vec::new(),
                                fill_cpus: Vec::new(),
                                run_cpus: Vec::new(),
                                shards: 1,
                                trace_flags: BTreeSet::new(),
                                size: match kind {
                                    Kind::Batch(batch) => batch.default_size(),
                                    _ => 0,
                                },
                                arm: BTreeMap::new(),
                            });
                        }
                    }
                }
            }
        }
        all
    }
}

fn product<T: Clone, V>(all: &[T], values: &[V], set: impl Fn(&mut T, &V)) -> Vec<T> {
    all.iter()
        .flat_map(|one| values.iter().map(move |value| (one, value)))
        .map(|(one, value)| {
            let mut new = one.clone();
            set(&mut new, value);
            new
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_multiply() {
        let settings = Settings {
            sessions: vec![1, 10],
            durability: vec![Durability::Full, Durability::Delayed],
            switches: [
                ("log_reserve".to_owned(), vec!["lanes".to_owned(), "spinlock".to_owned()]),
                ("elsewhere".to_owned(), vec!["x".to_owned(), "y".to_owned()]),
            ]
            .into(),
            ..Settings::default()
        };
        let all = settings.workloads(Kind::Insert, &["log_reserve".to_owned()]);
        assert_eq!(all.len(), 8);
        assert!(all.iter().all(|w| w.switches.len() == 1 && w.commit_every == 1));
        assert_eq!(all.iter().filter(|w| w.switches["log_reserve"] == "lanes").count(), 4);
        assert_eq!((all[0].sessions, all[1].sessions), (1, 10));
        assert_eq!(settings.workloads(Kind::Insert, &[]).len(), 4);
    }

    #[test]
    fn native_procedures_have_tables_in_memory() {
        let settings = Settings {
            tables: vec![Table::Disk, Table::Memory],
            procedures: vec![Procedure::Interpreted, Procedure::Native],
            sessions: vec![1],
            ..Settings::default()
        };
        let all = settings.workloads(Kind::Insert, &[]);
        let arms: Vec<_> = all.iter().map(|w| (w.table.name(), w.procedure.name())).collect();
        assert_eq!(
            arms,
            [("disk", "interpreted"), ("memory", "interpreted"), ("memory", "native")]
        );
        let refused = [
            Settings {
                tables: vec![Table::Disk],
                procedures: vec![Procedure::Native],
                ..settings.clone()
            },
            Settings { rows_per_insert: vec![2], ..settings.clone() },
            Settings { mode: Mode::Roundtrip, ..settings.clone() },
        ];
        for one in refused {
            assert!(one.check().is_err(), "{one:?}");
        }
    }

    #[test]
    fn commits_are_those_of_the_loop() {
        let settings = Settings { commit_every: vec![10], ..Settings::default() };
        let mut workload = settings.workloads(Kind::Insert, &[]).remove(0);
        let counts = |w: &Workload| [9, 10, 11, 20].map(|rows| w.commits(rows));
        assert_eq!(counts(&workload), [1, 1, 2, 2]);
        workload.last_alone = true;
        assert_eq!(counts(&workload), [1, 2, 3, 4]);
        assert_eq!(workload.settings()["last_row"], "alone");
    }

    #[test]
    fn shares_add_up() {
        let settings = Settings { sessions: vec![3], rows: Some(11), ..Settings::default() };
        let workload = &settings.workloads(Kind::Insert, &[])[0];
        let shares: Vec<_> = (0..3).filter_map(|i| workload.share(i)).collect();
        assert_eq!(shares, vec![4, 4, 3]);
    }
}
