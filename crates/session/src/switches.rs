//! The switches: classic designs that can be chosen again while the instance runs, each by one T-SQL statement, one
//! command line flag, and a row of sys.dm_millrace_switches; all three are made of one table, [`SWITCHES`].
//!
//! Invariants: a value is kept as the text that the view shows, and is one that the table allows; what is in force is
//! the instance's one [`Switches`], which a database takes over when it comes online. They last until the instance
//! ends: the next start takes defaults and flags.

use crate::{Instance, InstanceConfig, OpenError};
use engine::{FlushQueueKind, Reserve, UsageForm, Writer};
use runtime::backoff;
use runtime::threads::{self, MOST_CPUS};
use session_state::OpenDatabase;
use std::fmt;
use std::sync::Arc;

/// Which switch; its place in [`SWITCHES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "SWITCHES describes each")]
pub enum SwitchId {
    LogReserve,
    LogFlushQueue,
    LogQueueDepth,
    LogWriter,
    LogWriterPlace,
    TransactionIds,
    IndexStatistics,
    PlanCache,
    ObjectStore,
    MemoryObjects,
    SuspendQueue,
    PageLatches,
    BackoffInitial,
    BackoffFactor,
    BackoffCap,
}

/// What a switch takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    /// One of these.
    Words(&'static [&'static str]),
    /// A whole number in this range, both ends included.
    Whole(u64, u64),
    /// A number of pauses in this range, or a time: `n NS`.
    Pauses(u64, u64),
    /// `ANY`, `CPU n` or `NODE n`.
    Place,
}

/// One row of the table.
#[derive(Debug)]
pub struct Switch {
    /// In T-SQL and in the view.
    pub name: &'static str,
    /// On the command line, without the dashes.
    pub flag: &'static str,
    /// The spinlock of SQL Server that the classic form takes.
    pub spinlock: Option<&'static str>,
    /// Its value when nobody says anything.
    pub default: &'static str,
    /// What it takes.
    pub allowed: Allowed,
    /// One or two sentences.
    pub description: &'static str,
}

/// Every switch, in the order of [`SwitchId`].
pub static SWITCHES: &[Switch] = &[
    Switch {
        name: "LOG_RESERVE",
        flag: "log-reserve",
        spinlock: Some("LOGCACHE_ACCESS"),
        default: "LANES",
        allowed: Allowed::Words(&["LANES", "SPINLOCK"]),
        description: "How space in the log buffer is taken: one atomic addition and a lane per scheduler, or the \
                      classic spinlock around taking the space and copying into it.",
    },
    Switch {
        name: "LOG_FLUSH_QUEUE",
        flag: "log-flush-queue",
        spinlock: Some("LOGFLUSHQ"),
        default: "LOCKFREE",
        allowed: Allowed::Words(&["LOCKFREE", "SPINLOCK"]),
        description: "How a commit asks for a log write: one atomic maximum, or the classic bounded queue of \
                      requests behind a spinlock, of LOG_QUEUE_DEPTH entries.",
    },
    Switch {
        name: "LOG_QUEUE_DEPTH",
        flag: "log-queue-depth",
        spinlock: None,
        default: "32",
        allowed: Allowed::Whole(1, 1024),
        description: "Log writes that may be outstanding: 8, 32 and 112 are SQL Server's. A small log buffer allows \
                      fewer.",
    },
    Switch {
        name: "LOG_WRITER",
        flag: "log-writer",
        spinlock: None,
        default: "LEADER",
        allowed: Allowed::Words(&["LEADER", "DEDICATED", "SCHEDULER"]),
        description: "Who writes the log out: whoever commits or polls, a thread of its own, or a task on a \
                      scheduler that it shares with sessions.",
    },
    Switch {
        name: "LOG_WRITER_PLACE",
        flag: "log-writer-place",
        spinlock: None,
        default: "ANY",
        allowed: Allowed::Place,
        description: "Where a dedicated or scheduled log writer runs: ANY, CPU n, or NODE n (a NUMA node).",
    },
    Switch {
        name: "TRANSACTION_IDS",
        flag: "transaction-ids",
        spinlock: Some("XDESMGR"),
        default: "RANGES",
        allowed: Allowed::Words(&["RANGES", "SPINLOCK"]),
        description: "Where transaction ids come from: a range of each scheduler's own, or the classic spinlock \
                      around one counter and the count of active writers.",
    },
    Switch {
        name: "INDEX_STATISTICS",
        flag: "index-statistics",
        spinlock: Some("OPT_IDX_STATS"),
        default: "SCHEDULER",
        allowed: Allowed::Words(&["SCHEDULER", "SPINLOCK", "OFF"]),
        description: "How the use of indexes is counted: by each scheduler for itself, in one place behind the \
                      classic spinlock, or not at all (trace flag 2330).",
    },
    Switch {
        name: "PLAN_CACHE",
        flag: "plan-cache",
        spinlock: Some("SQL_MGR"),
        default: "SESSION",
        allowed: Allowed::Words(&["SESSION", "SPINLOCK"]),
        description: "Where a statement that runs finds its plan: with its session, or by its text in one table behind \
                      the classic spinlock.",
    },
    Switch {
        name: "OBJECT_STORE",
        flag: "object-store",
        spinlock: Some("SOS_OBJECT_STORE"),
        default: "SESSION",
        allowed: Allowed::Words(&["SESSION", "SPINLOCK"]),
        description: "Where a statement that runs has its objects from: its session's own, or one store behind the \
                      classic spinlock.",
    },
    Switch {
        name: "MEMORY_OBJECTS",
        flag: "memory-objects",
        spinlock: None,
        default: "SESSION",
        allowed: Allowed::Words(&["SESSION", "NODE"]),
        description: "Where a statement that runs has its memory from: its session's own, or the thread-safe memory \
                      object of its scheduler's node, where who meets another waits in CMEMTHREAD.",
    },
    Switch {
        name: "SUSPEND_QUEUE",
        flag: "suspend-queue",
        spinlock: Some("SOS_SUSPEND_QUEUE"),
        default: "TASK",
        allowed: Allowed::Words(&["TASK", "SPINLOCK"]),
        description: "Where a task waits: with whoever wakes it, or in one queue of all suspended tasks behind the \
                      classic spinlock.",
    },
    Switch {
        name: "PAGE_LATCHES",
        flag: "page-latches",
        spinlock: None,
        default: "WRITERS",
        allowed: Allowed::Words(&["WRITERS", "ALL"]),
        description: "Who takes the latch of a page: who changes it, while readers look again where it was changed; or \
                      each reader too, who waits in PAGELATCH_SH.",
    },
    Switch {
        name: "BACKOFF_INITIAL",
        flag: "backoff-initial",
        spinlock: None,
        default: "250",
        allowed: Allowed::Pauses(1, 10_000_000),
        description: "Spins of a spinlock before it first backs off, as a number or as a time (n NS).",
    },
    Switch {
        name: "BACKOFF_FACTOR",
        flag: "backoff-factor",
        spinlock: None,
        default: "2",
        allowed: Allowed::Whole(1, 64),
        description: "By how much each burst of spins is longer than the one before.",
    },
    Switch {
        name: "BACKOFF_CAP",
        flag: "backoff-cap",
        spinlock: None,
        default: "8000",
        allowed: Allowed::Pauses(1, 10_000_000),
        description: "Spins of the longest burst, as a number or as a time (n NS).",
    },
];

/// Why a switch was not set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SwitchError {
    /// There is none of that name.
    Unknown(String),
    /// It does not take that value.
    Value {
        /// The switch.
        switch: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        allowed: String,
    },
}

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchError::Unknown(name) => {
                write!(f, "'{name}' is not a recognized ALTER SERVER CONFIGURATION option.")
            }
            SwitchError::Value { switch, value, allowed } => write!(
                f,
                "'{value}' is not a valid value for configuration option '{switch}'. It takes {allowed}."
            ),
        }
    }
}

impl std::error::Error for SwitchError {}

impl SwitchError {
    /// The number SQL Server gives it.
    pub fn number(&self) -> i32 {
        match self {
            SwitchError::Unknown(_) => 155,
            SwitchError::Value { .. } => 15129,
        }
    }

    /// Its severity.
    pub fn severity(&self) -> u8 {
        match self {
            SwitchError::Unknown(_) => 15,
            SwitchError::Value { .. } => 16,
        }
    }
}

impl Allowed {
    /// The value as it is kept, if it is one.
    fn accept(&self, text: &str) -> Option<String> {
        let text = text.to_ascii_uppercase();
        let words: Vec<&str> = text.split([' ', ':', '=']).filter(|w| !w.is_empty()).collect();
        let whole = |word: &str| word.parse::<u64>().ok();
        let within = |n: u64, low: u64, high: u64| (low..=high).contains(&n).then(|| n.to_string());
        match (*self, words.as_slice()) {
            (Allowed::Words(allowed), [word]) => {
                allowed.iter().find(|a| *a == word).map(|a| (*a).to_owned())
            }
            (Allowed::Whole(low, high) | Allowed::Pauses(low, high), [number]) => {
                within(whole(number)?, low, high)
            }
            (Allowed::Pauses(..), [number, "NS"]) => {
                Some(format!("{} NS", within(whole(number)?, 1, 1_000_000_000)?))
            }
            (Allowed::Place, ["ANY"]) => Some("ANY".to_owned()),
            (Allowed::Place, [kind @ ("CPU" | "NODE"), number]) => {
                Some(format!("{kind} {}", within(whole(number)?, 0, MOST_CPUS as u64 - 1)?))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Words(words) => f.write_str(&words.join(" | ")),
            Allowed::Whole(low, high) => write!(f, "{low} to {high}"),
            Allowed::Pauses(low, high) => write!(f, "{low} to {high} | n NS"),
            Allowed::Place => f.write_str("ANY | CPU n | NODE n"),
        }
    }
}

/// The number of a switch, by its name in any case.
pub fn find(name: &str) -> Option<usize> {
    SWITCHES.iter().position(|switch| switch.name.eq_ignore_ascii_case(name))
}

/// A value for every switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Switches {
    values: Vec<String>,
}

impl Default for Switches {
    fn default() -> Self {
        Switches { values: SWITCHES.iter().map(|switch| switch.default.to_owned()).collect() }
    }
}

impl Switches {
    /// Sets one by name, in any case; `None`: to its default.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), SwitchError> {
        let index = find(name).ok_or_else(|| SwitchError::Unknown(name.to_owned()))?;
        let switch = &SWITCHES[index];
        let Some(text) = value else {
            self.values[index] = switch.default.to_owned();
            return Ok(());
        };
        let accepted = switch.allowed.accept(text).filter(|value| is_here(switch, value));
        self.values[index] = accepted.ok_or_else(|| SwitchError::Value {
            switch: switch.name,
            value: text.to_owned(),
            allowed: switch.allowed.to_string(),
        })?;
        Ok(())
    }

    /// The value of one.
    pub fn get(&self, id: SwitchId) -> &str {
        &self.values[id as usize]
    }

    /// Every switch with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Switch, &str)> {
        SWITCHES.iter().zip(self.values.iter().map(String::as_str))
    }

    /// A writer that is a scheduler's task has a scheduler where it is to run; these are the schedulers' CPUs.
    fn check_writer(&self, cpus: &[usize]) -> Result<(), SwitchError> {
        let place = self.get(SwitchId::LogWriterPlace);
        let there = place == "ANY" || cpus_of(place).iter().any(|cpu| cpus.contains(cpu));
        match there || self.get(SwitchId::LogWriter) != "SCHEDULER" {
            true => Ok(()),
            false => Err(SwitchError::Value {
                switch: SWITCHES[SwitchId::LogWriterPlace as usize].name,
                value: place.to_owned(),
                allowed: "ANY, or a place with a scheduler, while LOG_WRITER is SCHEDULER"
                    .to_owned(),
            }),
        }
    }

    fn whole(&self, id: SwitchId) -> u32 {
        self.get(id).parse().unwrap_or(1)
    }

    fn pauses(&self, id: SwitchId) -> u32 {
        match self.get(id).strip_suffix(" NS") {
            Some(ns) => backoff::pauses_of_ns(ns.parse().unwrap_or(1)),
            None => self.whole(id),
        }
    }

    /// What concerns the whole process.
    fn apply_to_process(&self) {
        backoff::set(backoff::Settings {
            initial: self.pauses(SwitchId::BackoffInitial),
            factor: self.whole(SwitchId::BackoffFactor),
            cap: self.pauses(SwitchId::BackoffCap),
        });
        engine::set_usage_form(match self.get(SwitchId::IndexStatistics) {
            "SPINLOCK" => UsageForm::Shared,
            "OFF" => UsageForm::Off,
            _ => UsageForm::PerScheduler,
        });
        interpreter::set_shared_forms(interpreter::SharedForms {
            plans: self.get(SwitchId::PlanCache) == "SPINLOCK",
            objects: self.get(SwitchId::ObjectStore) == "SPINLOCK",
            memory: self.get(SwitchId::MemoryObjects) == "NODE",
        });
        engine::set_readers_latch(self.get(SwitchId::PageLatches) == "ALL");
        scheduler::share_suspend_queue(self.get(SwitchId::SuspendQueue) == "SPINLOCK");
    }

    /// What concerns a database; `before`: what it was told last.
    fn apply_to(&self, open: &OpenDatabase, before: Option<&Switches>, instance: &Instance) {
        let changed = |id| before.is_none_or(|before| before.get(id) != self.get(id));
        let log = open.engine.log();
        log.set_reserve(match self.get(SwitchId::LogReserve) {
            "SPINLOCK" => Reserve::Spinlock,
            _ => Reserve::Lanes,
        });
        log.set_flush_queue(match self.get(SwitchId::LogFlushQueue) {
            "SPINLOCK" => FlushQueueKind::Spinlock,
            _ => FlushQueueKind::LockFree,
        });
        open.engine.set_central_transaction_ids(self.get(SwitchId::TransactionIds) == "SPINLOCK");
        log.set_queue_depth(self.whole(SwitchId::LogQueueDepth) as usize);
        if changed(SwitchId::LogWriter) || changed(SwitchId::LogWriterPlace) {
            let cpus = cpus_of(self.get(SwitchId::LogWriterPlace));
            crate::memory::place_writer(log, &cpus);
            match self.get(SwitchId::LogWriter) {
                "DEDICATED" => log.set_writer(Writer::Dedicated),
                "SCHEDULER" => {
                    log.set_writer(Writer::Scheduled);
                    let here =
                        |stats: &scheduler::Stats| stats.cpu.is_some_and(|c| cpus.contains(&c));
                    let schedulers = instance.schedulers();
                    // Anywhere is the first.
                    let on = schedulers.stats().iter().position(here).unwrap_or(0);
                    let session = instance.system_session("LOG WRITER", open.id);
                    let write = log.writer_task();
                    schedulers.spawn("LOG WRITER", Some(on), move || {
                        scheduler::set_session(session);
                        write();
                    });
                }
                // A log begins so.
                _ if before.is_none() => {}
                _ => log.set_writer(Writer::Leader),
            }
        }
    }
}

/// Whether a place exists on this machine; other values do everywhere.
fn is_here(switch: &Switch, value: &str) -> bool {
    switch.allowed != Allowed::Place || value == "ANY" || !cpus_of(value).is_empty()
}

/// The CPUs that a place names, of those that the process may use.
fn cpus_of(place: &str) -> Vec<usize> {
    let there = topology::soft::current();
    let number = |text: &str| text.parse::<usize>().ok();
    let mut own: Vec<usize> = match place.split_once(' ') {
        Some(("CPU", n)) => {
            number(n).filter(|&cpu| there.node_of(cpu).is_some()).into_iter().collect()
        }
        Some(("NODE", n)) => {
            let node = there.nodes.iter().find(|(id, _)| Some(*id) == number(n));
            node.map_or(Vec::new(), |(_, node)| node.cpus.clone())
        }
        _ => Vec::new(),
    };
    own.sort_unstable();
    own
}

/// Whether an instance can begin with its switches; known before there are schedulers.
pub(crate) fn check(config: &InstanceConfig) -> Result<(), OpenError> {
    let cpus = match &config.cpus[..] {
        [] => threads::process_affinity(),
        cpus => cpus,
    };
    let wrong = |error: SwitchError| OpenError::Switch { what: error.to_string() };
    config.switches.check_writer(cpus).map_err(wrong)
}

impl Instance {
    /// The switches in force.
    pub fn switches(&self) -> Switches {
        self.switches.lock().clone()
    }

    /// Puts others into force, in every user database; if `change` fails, none.
    pub fn change_switches(
        &self,
        change: impl FnOnce(&mut Switches) -> Result<(), SwitchError>,
    ) -> Result<(), SwitchError> {
        let mut now = self.switches.lock();
        let mut next = now.clone();
        change(&mut next)?;
        next.check_writer(&self.own_cpus())?;
        let before = std::mem::replace(&mut *now, next);
        now.apply_to_process();
        for open in self.databases().iter().filter(|open| open.id != 1) {
            now.apply_to(open, Some(&before), self);
        }
        Ok(())
    }

    /// A database that has come online takes over what is in force. `master` keeps the defaults: it is never busy.
    pub(crate) fn tell_switches(&self, open: &OpenDatabase) {
        self.switches.lock().apply_to(open, None, self);
        self.fit_pools();
    }

    /// Those that were given at the start.
    pub(crate) fn start_switches(self: &Arc<Self>) {
        // So that spins can be told as time, and given as such.
        backoff::calibrate();
        self.switches.lock().apply_to_process();
        for open in self.databases().iter().filter(|open| open.id != 1) {
            self.tell_switches(open);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_that_the_switch_takes() {
        for switch in SWITCHES {
            assert_eq!(switch.allowed.accept(switch.default).as_deref(), Some(switch.default));
            assert_eq!(switch.flag, switch.name.to_lowercase().replace('_', "-"));
        }
        assert_eq!(SWITCHES[SwitchId::BackoffCap as usize].name, "BACKOFF_CAP");
        assert_eq!(SWITCHES.len(), SwitchId::BackoffCap as usize + 1);
    }

    #[test]
    fn the_page_tells_every_switch() {
        let page = include_str!("../../../docs/switches.md");
        for Switch { name, flag, default, .. } in SWITCHES {
            let row = format!("| `{name}` | `--{flag}` |");
            let line = page.lines().find(|line| line.starts_with(&row));
            assert!(
                line.is_some_and(|l| l.contains(&format!("| {default} |"))),
                "{row} in docs/switches.md"
            );
        }
    }

    #[test]
    fn values_are_read_in_any_case_and_kept_in_one_form() {
        let place = |text| Allowed::Place.accept(text);
        assert_eq!(place("cpu:3").as_deref(), Some("CPU 3"));
        assert_eq!(place("Node = 1").as_deref(), Some("NODE 1"));
        assert_eq!((place("CPU"), place("CPU x"), place("3")), (None, None, None));
        // A CPU is named wherever a thread can be bound to it.
        assert_eq!(place("CPU 8191").as_deref(), Some("CPU 8191"));
        assert_eq!((place("CPU 65535").is_some(), place("CPU 65536")), (true, None));
        let pauses = |text| Allowed::Pauses(1, 100).accept(text);
        assert_eq!(pauses("007").as_deref(), Some("7"));
        assert_eq!(pauses("2500 ns").as_deref(), Some("2500 NS"));
        assert_eq!(
            (pauses("0"), pauses("101"), pauses("-1"), pauses("5 US")),
            (None, None, None, None)
        );
        assert_eq!(pauses("0 NS"), None);
    }

    #[test]
    fn a_scheduled_writer_has_a_scheduler() {
        let cpu = threads::process_affinity()[0];
        let mut switches = Switches::default();
        switches.set("LOG_WRITER_PLACE", Some(&format!("CPU {cpu}"))).expect("ours");
        assert_eq!(switches.check_writer(&[]), Ok(()), "a thread of its own needs none");
        switches.set("LOG_WRITER", Some("SCHEDULER")).expect("allowed");
        assert_eq!(switches.check_writer(&[cpu]), Ok(()));
        let refused = switches.check_writer(&[cpu + 1]).expect_err("nobody is there");
        assert_eq!((refused.number(), refused.severity()), (15129, 16));
        switches.set("LOG_WRITER_PLACE", None).expect("ANY");
        assert_eq!(switches.check_writer(&[cpu + 1]), Ok(()));
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let mut switches = Switches::default();
        switches.set("log_reserve", Some("spinlock")).unwrap();
        let before = switches.clone();
        assert_eq!(
            switches.set("LOG_RESERV", None),
            Err(SwitchError::Unknown("LOG_RESERV".into()))
        );
        for (name, value) in [
            ("LOG_RESERVE", "TICKETS"),
            ("LOG_QUEUE_DEPTH", "1025"),
            ("LOG_WRITER_PLACE", "CPU 65535"),
            ("LOG_WRITER_PLACE", "CPU 65536"),
        ] {
            assert!(matches!(switches.set(name, Some(value)), Err(SwitchError::Value { .. })));
        }
        assert_eq!(switches, before);
        switches.set("LOG_RESERVE", None).unwrap();
        assert_eq!(switches, Switches::default());
    }
}
