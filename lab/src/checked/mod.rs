//! Loads that check themselves (crate `workloads`): money that is moved, a queue, lists that grow, a ledger.
//!
//! The simulator runs them on one thread while everything fails; here they run against a real engine, in this process or
//! over the wire, on real threads and a real disk, as fast as that goes. What a correct server never shows makes the run
//! fail, and stands in the cell ([`MarkKind::Wrong`]) and among its figures.

mod referee;

pub use referee::Verdict;
pub(crate) use referee::{InProcess, OverTheWire, Referee};

use crate::bench::Bench;
use crate::document::MarkKind;
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::workload::{Durability, Kind, Mode, Settings, Workload};
use std::sync::Arc;
use workloads::{Bank, Ledger, Level, ListAppend, Queue};

/// Few enough for transfers to meet.
const ACCOUNTS: i64 = 16;
/// Lists, those of them that are appended to at a time, and how many appends one is.
const LISTS: i64 = 2_000;
const LISTS_AT_A_TIME: i64 = 8;

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    Bank,
    Queue,
    ListAppend,
    Ledger,
}

/// One of them, at a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    pub which: Which,
    /// Of the bank's transfers and of the lists; the others have levels of their own.
    pub level: Level,
}

impl Checked {
    fn make(self) -> Arc<dyn workloads::Workload> {
        match self.which {
            Which::Bank => Arc::new(Bank::new(ACCOUNTS, self.level)),
            Which::Queue => Arc::new(Queue::new()),
            Which::ListAppend => Arc::new(ListAppend::moving(LISTS, LISTS_AT_A_TIME, self.level)),
            Which::Ledger => Arc::new(Ledger::new()),
        }
    }

    /// Batches that set a database up, which is the current one.
    pub(crate) fn options(self, database: &str) -> Vec<String> {
        let versions = if self.level == Level::ReadCommittedLocking { "OFF" } else { "ON" };
        vec![
            format!("ALTER DATABASE {database} SET ALLOW_SNAPSHOT_ISOLATION ON;"),
            format!("ALTER DATABASE {database} SET READ_COMMITTED_SNAPSHOT {versions};"),
        ]
    }
}

const LEVELS: [(&str, Level); 6] = [
    ("read-uncommitted", Level::ReadUncommitted),
    ("read-committed", Level::ReadCommittedLocking),
    ("read-committed-snapshot", Level::ReadCommittedSnapshot),
    ("repeatable-read", Level::RepeatableRead),
    ("snapshot", Level::Snapshot),
    ("serializable", Level::Serializable),
];
/// What the transfers of the bank need, so that no update is lost.
const SAFE: [Level; 3] = [Level::RepeatableRead, Level::Snapshot, Level::Serializable];

const BANK_OPTIONS: [OwnOption; 1] = [OwnOption {
    name: "level",
    values: "repeatable-read, snapshot, serializable",
    default: "snapshot,serializable",
    what: "isolation level of the transfers",
}];
const LIST_OPTIONS: [OwnOption; 1] = [OwnOption {
    name: "level",
    values: "read-uncommitted, read-committed, read-committed-snapshot, repeatable-read, snapshot, serializable",
    default: "read-committed-snapshot,snapshot,serializable",
    what: "isolation level of the transactions, for which the history is checked",
}];

/// `bank`, `queue`, `list-append`, `ledger`.
pub struct SelfChecking(pub Which);

impl SelfChecking {
    fn levels(&self, settings: &Settings) -> Result<Vec<(Option<String>, Level)>, LabError> {
        let Some(option) = self.own_options().first() else {
            return Ok(vec![(None, Level::ReadCommittedSnapshot)]);
        };
        let given = match settings.own.get(option.name) {
            Some(values) => values.clone(),
            None => option.default.split(',').map(str::to_owned).collect(),
        };
        let level = |name: String| {
            let found = LEVELS.iter().find(|(known, _)| *known == name).map(|(_, level)| *level);
            let found = found.filter(|l| self.0 != Which::Bank || SAFE.contains(l));
            let refuse = || {
                let (experiment, values) = (self.name(), option.values);
                LabError::Options(format!("{experiment} has no level {name}; it has {values}"))
            };
            found.map(|level| (Some(name.clone()), level)).ok_or_else(refuse)
        };
        given.into_iter().map(level).collect()
    }
}

impl Experiment for SelfChecking {
    fn name(&self) -> &'static str {
        match self.0 {
            Which::Bank => "bank",
            Which::Queue => "queue",
            Which::ListAppend => "list-append",
            Which::Ledger => "ledger",
        }
    }

    fn what(&self) -> &'static str {
        match self.0 {
            Which::Bank => {
                "N sessions move money between 16 accounts while others add all balances up; a load that checks itself. \
                 No money is made or lost, not even for one reader, and the balances follow from the transfers that \
                 were acknowledged. A row counted is a committed transfer."
            }
            Which::Queue => {
                "N sessions put items into a table and take them out with READPAST; a load that checks itself. An item \
                 is handed out once, and none is lost. A row counted is a committed transaction."
            }
            Which::ListAppend => {
                "N sessions append to lists and read them; a load that checks itself. The history is searched for what \
                 the isolation level forbids (Adya's graph), and the lists for appends that are lost or came back. A \
                 row counted is a committed transaction."
            }
            Which::Ledger => {
                "N sessions insert, change and delete entries of two rows each, some with delayed durability; a load \
                 that checks itself. Each session knows what of its own must be there, and the index agrees with its \
                 table. A row counted is a committed transaction."
            }
        }
    }

    fn posts(&self) -> &'static [u8] {
        &[]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["sessions", "target", "durability", "switches", "buffer-pool-mb"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        match self.0 {
            Which::Bank => &BANK_OPTIONS,
            Which::ListAppend => &LIST_OPTIONS,
            Which::Queue | Which::Ledger => &[],
        }
    }

    fn defaults(&self) -> Settings {
        Settings {
            sessions: vec![8],
            durability: vec![Durability::Full],
            mode: Mode::Roundtrip,
            ..Settings::default()
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let levels = self.levels(bench.settings())?;
        let targets: Vec<Vec<String>> = bench.targets().map(|(_, known)| known).collect();
        let mut plan: Vec<(usize, Workload)> = Vec::new();
        for (index, known) in targets.iter().enumerate() {
            for (name, level) in &levels {
                let kind = Kind::Checked(Checked { which: self.0, level: *level });
                let mut workloads = bench.settings().workloads(kind, known);
                for workload in &mut workloads {
                    workload.arm.extend(name.iter().map(|name| ("level".to_owned(), name.clone())));
                }
                plan.extend(workloads.into_iter().map(|workload| (index, workload)));
            }
        }
        let measured = bench.measure_plan(&plan);
        let wrong = bench.cells().iter().flat_map(|cell| &cell.marks);
        let wrong: Vec<String> =
            wrong.filter(|m| m.kind == MarkKind::Wrong).map(|m| m.text.clone()).collect();
        match wrong.is_empty() {
            true => measured,
            false => Err(LabError::Wrong(wrong)),
        }
    }
}
