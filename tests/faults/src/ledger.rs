//! The load that checks itself. Each session changes rows of its own; the driver keeps what they must be. The rows of every
//! second session are in a memory-optimised table, their counters on disk like all.
//!
//! A session is sequential, so what a restart may show of it is one of few states: the one after its last transaction
//! whose durability was promised, or after any of those that follow, in order (one on its way, or, with delayed
//! durability, several acknowledged ones too). Anything else is a fault of the server:
//!
//! - *lost*: a row that every allowed state has, or an older value of it than any allows;
//! - *resurrected*: a row that no allowed state has (rolled back, deleted, never sent);
//! - *torn*: one side of a pair without the other, or rows and counter of different states.

mod account;
mod names;

pub use account::Account;
pub use names::Names;

use crate::server::{Desk, Door, QUICK_HASH};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use stdx::Prng;
use types::Value;

/// What went wrong, counted, with the details of each.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub lost: u64,
    pub resurrected: u64,
    pub torn: u64,
    /// Anything else that must not be: a server that does not start, a statement that fails.
    pub other: u64,
    pub details: Vec<String>,
    /// Transactions and statements whose success was told.
    pub acknowledged: u64,
    /// Acknowledged with delayed durability and gone, as allowed.
    pub delayed_gone: u64,
    /// On their way at the end, and there afterwards.
    pub unanswered_there: u64,
}

impl Tally {
    pub fn odd(&self) -> u64 {
        self.lost + self.resurrected + self.torn + self.other
    }

    pub fn other(&mut self, what: String) {
        self.other += 1;
        self.details.push(what);
    }

    pub fn add(&mut self, more: Tally) {
        self.lost += more.lost;
        self.resurrected += more.resurrected;
        self.torn += more.torn;
        self.other += more.other;
        self.details.extend(more.details);
        self.acknowledged += more.acknowledged;
        self.delayed_gone += more.delayed_gone;
        self.unanswered_there += more.unanswered_there;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "acknowledged {}, unanswered and there {}, delayed and gone as allowed {}; lost {}, resurrected {}, \
             torn {}, otherwise odd {}",
            self.acknowledged,
            self.unanswered_there,
            self.delayed_gone,
            self.lost,
            self.resurrected,
            self.torn,
            self.other
        )
    }
}

/// One row as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    len: u32,
    letter: u8,
}

/// What one session has in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    rows: BTreeMap<u64, Row>,
    /// The number of the last transaction.
    counter: u64,
}

/// How far a session of a remembered load has come, in transactions that were to be committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The first so many were answered.
    pub answered: usize,
    /// The first so many must survive.
    pub sure: usize,
}

/// What was known of a session at a moment of a remembered load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    pub progress: Progress,
    /// No more than the first so many had been sent.
    pub sent_max: usize,
}

/// Hears of each answer of a remembered load before the session goes on: an error ends the session.
pub trait Witness: Send + Sync {
    fn told(&self, session: u32, progress: Progress) -> Result<(), String>;
}

/// What a load has most of; sessions, tables and what must hold are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mix {
    #[default]
    Everything,
    /// Short rows, and a checkpoint every other statement of the session that makes and drops.
    Checkpoints,
    /// Values that have pages of their own.
    LargeValues,
    /// All sessions but one commit with delayed durability.
    Delayed,
}

impl Mix {
    /// In turn.
    pub fn of(number: u64) -> Mix {
        [Mix::Everything, Mix::Checkpoints, Mix::LargeValues, Mix::Delayed][(number % 4) as usize]
    }

    /// The first session that commits with delayed durability.
    fn first_delayed(self) -> u32 {
        if self == Mix::Delayed { 2 } else { SESSIONS }
    }
}

/// The number under which the session that makes and drops tells its progress.
pub const NAMES: u32 = 0;

/// Everything that a driver knows.
#[derive(Clone)]
pub struct Ledger {
    accounts: Vec<Account>,
    names: Names,
    quick_logins: bool,
}

/// The last of them commits with delayed durability, and more of them in one mix.
const SESSIONS: u32 = 5;

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::of(Mix::Everything)
    }
}

const SET_UP: &[&str] = &[
    "CREATE DATABASE Ledger",
    "ALTER DATABASE Ledger SET DELAYED_DURABILITY = ALLOWED",
    "USE Ledger",
    "CREATE TABLE dbo.Entry (session int NOT NULL, number bigint NOT NULL, side int NOT NULL,
         filler varchar(max) NOT NULL, letter char(1) NOT NULL,
         CONSTRAINT PK_Entry PRIMARY KEY CLUSTERED (session, number, side))",
    "CREATE INDEX IX_Letter ON dbo.Entry (letter, number)",
    "ALTER DATABASE Ledger ADD FILEGROUP in_memory CONTAINS MEMORY_OPTIMIZED_DATA",
    "ALTER DATABASE Ledger ADD FILE (NAME = 'in_memory', FILENAME = 'in_memory') TO FILEGROUP in_memory",
    "ALTER DATABASE Ledger SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON",
    "CREATE TABLE dbo.EntryInMemory (session int NOT NULL, number bigint NOT NULL, side int NOT NULL,
         filler varchar(max) NOT NULL, letter char(1) NOT NULL,
         CONSTRAINT PK_EntryInMemory PRIMARY KEY NONCLUSTERED (session, number, side),
         INDEX IX_Letter NONCLUSTERED HASH (letter, number) WITH (BUCKET_COUNT = 64))
         WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA)",
    "CREATE TABLE dbo.Counter (session int NOT NULL PRIMARY KEY, number bigint NOT NULL)",
];

impl Ledger {
    pub fn of(mix: Mix) -> Ledger {
        let accounts = (1..=SESSIONS).map(|id| Account::new(id, id >= mix.first_delayed(), mix));
        Ledger { accounts: accounts.collect(), names: Names::of(mix), quick_logins: false }
    }

    /// From now on each load begins with one of everything that makes, grows, renames and removes files.
    pub fn with_tour(mut self) -> Ledger {
        self.names.tour = true;
        self
    }

    /// The server's password will cost no time when it is asked for.
    pub fn with_quick_logins(mut self) -> Ledger {
        self.quick_logins = true;
        self
    }

    /// The next load is remembered: see [`Ledger::as_of`].
    pub fn remember(&mut self, witness: &Arc<dyn Witness>) {
        self.accounts.iter_mut().for_each(|account| account.remember(witness.clone()));
        self.names.remember(witness.clone());
    }

    /// The next load is not.
    pub fn forget(&mut self) {
        self.accounts.iter_mut().for_each(Account::forget);
        self.names.forget();
    }

    /// What was known at a moment of the load that was remembered. A session of which nothing is told was at its
    /// beginning, with one transaction on its way at most.
    pub fn as_of(&self, known: &BTreeMap<u32, Known>) -> Ledger {
        let begun = Known { progress: Progress::default(), sent_max: 1 };
        let of = |session: u32| known.get(&session).copied().unwrap_or(begun);
        let accounts = self.accounts.iter().map(|account| account.as_of(of(account.id())));
        Ledger {
            accounts: accounts.collect(),
            names: self.names.as_of(of(NAMES)),
            quick_logins: self.quick_logins,
        }
    }

    /// Makes the tables on an empty server.
    pub fn set_up(&self, desk: &mut Desk) -> Result<(), String> {
        let quick = self
            .quick_logins
            .then(|| format!("ALTER LOGIN sa WITH PASSWORD = {QUICK_HASH} HASHED"));
        for batch in SET_UP.iter().copied().chain(quick.as_deref()) {
            desk.run(batch).map_err(|error| format!("{batch}: {error}"))?;
        }
        for account in &self.accounts {
            desk.run(&format!("INSERT dbo.Counter VALUES ({}, 0)", account.id()))?;
        }
        Ok(())
    }

    /// Begins the load: one thread a session. It ends when each has met an error, or been told to stop.
    pub fn start(self, door: Door, random: &mut Prng) -> Load {
        let Ledger { accounts, names, quick_logins } = self;
        let shared = Arc::new(Signals {
            stop: AtomicBool::new(false),
            alive: AtomicUsize::new(accounts.len() + 1),
            errors: Mutex::default(),
            toured: AtomicBool::new(false),
        });
        let threads = accounts
            .into_iter()
            .map(|mut account| {
                let (shared, seed) = (shared.clone(), random.next_u64());
                std::thread::spawn(move || {
                    let ended = door.connect().and_then(|mut desk| {
                        account.work(&mut desk, &mut Prng::new(seed), &shared.stop)
                    });
                    shared.end(&format!("session {}", account.id()), ended);
                    account
                })
            })
            .collect();
        let (with, seed) = (shared.clone(), random.next_u64());
        let mut names = names;
        let churn = std::thread::spawn(move || {
            let ended = names.work(door, &mut Prng::new(seed), &with.stop, &with.toured);
            with.toured.store(true, Ordering::Release);
            with.end("the session that makes and drops", ended);
            names
        });
        Load { threads, churn, shared, quick_logins }
    }

    /// Holds what a server has against what it must have, and takes that as the truth from here on.
    pub fn verify(&mut self, desk: &mut Desk, tally: &mut Tally) -> Result<(), String> {
        desk.run("USE Ledger")?;
        let mut states: BTreeMap<u64, State> = BTreeMap::new();
        for row in numbers(desk, "SELECT session, number FROM dbo.Counter")? {
            let [session, number] = row[..] else { return Err("two columns".to_owned()) };
            states.entry(session).or_default().counter = number;
        }
        let mut sides: BTreeMap<(u64, u64), (u64, Row)> = BTreeMap::new();
        let query = "SELECT session, number, side, LEN(filler), ASCII(letter),
             CASE WHEN filler = REPLICATE(CONVERT(varchar(max), letter), LEN(filler)) THEN 1 ELSE 0 END
             FROM (SELECT * FROM dbo.Entry UNION ALL SELECT * FROM dbo.EntryInMemory) AS entry";
        for row in numbers(desk, query)? {
            let [session, number, side, len, letter, whole] = row[..] else {
                return Err("six columns".to_owned());
            };
            let row = Row { len: len as u32, letter: letter as u8 };
            if whole != 1 {
                tally.torn += 1;
                tally.details.push(format!("the value of ({session}, {number}, {side}) is torn"));
            }
            let (seen, first) = sides.entry((session, number)).or_insert((0, row));
            *seen |= 1 << side;
            if *first != row {
                tally.torn += 1;
                tally.details.push(format!("the sides of ({session}, {number}) differ"));
            }
        }
        for ((session, number), (seen, row)) in sides {
            if seen != 0b11 {
                tally.torn += 1;
                tally.details.push(format!("({session}, {number}) has one side"));
            }
            states.entry(session).or_default().rows.insert(number, row);
        }
        for account in &mut self.accounts {
            let state = states.remove(&u64::from(account.id())).unwrap_or_default();
            account.settle(state, tally);
        }
        for session in states.keys() {
            tally.resurrected += 1;
            tally.details.push(format!("rows of session {session}, which there never was"));
        }
        self.names.verify(desk, tally)
    }

    /// What the server itself says of its pages, indexes and allocation.
    pub fn check(&self, desk: &mut Desk, tally: &mut Tally) {
        for database in ["Ledger", "master"] {
            if let Err(error) = desk.run(&format!("DBCC CHECKDB ({database}) WITH NO_INFOMSGS")) {
                tally.other(format!("CHECKDB of {database}: {error}"));
            }
        }
    }
}

struct Signals {
    stop: AtomicBool,
    alive: AtomicUsize,
    errors: Mutex<Vec<String>>,
    toured: AtomicBool,
}

impl Signals {
    fn end(&self, who: &str, ended: Result<(), String>) {
        if let Err(error) = ended {
            self.errors.lock().push(format!("{who}: {error}"));
        }
        self.alive.fetch_sub(1, Ordering::Release);
    }
}

/// A load under way.
pub struct Load {
    threads: Vec<JoinHandle<Account>>,
    churn: JoinHandle<Names>,
    shared: Arc<Signals>,
    quick_logins: bool,
}

impl Load {
    /// Some session has not met an error.
    pub fn alive(&self) -> bool {
        self.shared.alive.load(Ordering::Acquire) > 0
    }

    /// The session that makes and drops has done one of everything, or has ended.
    pub fn toured(&self) -> bool {
        self.shared.toured.load(Ordering::Acquire)
    }

    /// No session begins anything more.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
    }

    /// What the sessions were told so far, in the order of their ends.
    pub fn errors(&self) -> Vec<String> {
        self.shared.errors.lock().clone()
    }

    /// The sessions end when they are stopped or their server is gone.
    pub fn join(self) -> Ledger {
        let accounts =
            self.threads.into_iter().map(|t| t.join().expect("a session does not panic"));
        let accounts = accounts.collect();
        let names = self.churn.join().expect("the session does not panic");
        Ledger { accounts, names, quick_logins: self.quick_logins }
    }
}

/// A result set of whole numbers.
fn numbers(desk: &mut Desk, query: &str) -> Result<Vec<Vec<u64>>, String> {
    let answer = desk.run(query).map_err(|error| format!("{query}: {error}"))?;
    let set = answer.sets.into_iter().next().ok_or("no result set")?;
    let number =
        |value: &Value| text(value).parse().map_err(|_| format!("{query}: {value:?} is no number"));
    set.rows.iter().map(|row| row.iter().map(number).collect()).collect()
}

/// A result set of one column of names.
fn words(desk: &mut Desk, query: &str) -> Result<BTreeSet<String>, String> {
    let answer = desk.run(query).map_err(|error| format!("{query}: {error}"))?;
    let set = answer.sets.into_iter().next().ok_or("no result set")?;
    Ok(set.rows.iter().filter_map(|row| row.first()).map(text).collect())
}

fn text(value: &Value) -> String {
    types::format::shell(value, value.natural_type())
}
