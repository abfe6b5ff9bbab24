//! The part of a task that others see: its wake state.
//!
//! `state` has two bits. PERMIT: a wake is due. PARKED: the task is suspended in `park` and not in a
//! run queue. The waker that finds PARKED without PERMIT, and it alone, puts the task into a queue:
//!
//! | from | event | to |
//! |---|---|---|
//! | 0 running | wake | PERMIT |
//! | PERMIT | park | 0, goes on |
//! | 0 | park | PARKED |
//! | PARKED | wake or timeout | PARKED + PERMIT, queued once |
//! | PARKED + PERMIT | resumed | 0 |
//! | any | ended | 0 for good: wakes set PERMIT and nobody looks |

use crate::core::Core;
use runtime::clock;
use runtime::task::Wake;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};
use telemetry::{Counter, WaitType, counters};

pub(crate) const PERMIT: u32 = 1;
pub(crate) const PARKED: u32 = 2;

/// `Account::wait` of a task that does not wait.
const NOT_WAITING: u32 = u32::MAX;

pub(crate) struct Task {
    pub name: Cow<'static, str>,
    pub home: Arc<Core>,
    /// Its place in the home scheduler's slab.
    pub index: u32,
    pub state: AtomicU32,
    /// When the permit was left.
    pub woken_ns: AtomicU64,
    pub account: Account,
}

/// What a task has used, and what it is about. Written by its scheduler's thread alone, at switches, for which the
/// clock is read anyway; read by anyone.
pub(crate) struct Account {
    /// Whose work it does; 0: nobody's.
    session: AtomicU32,
    /// Whose turn it waits for: see [`crate::shares`].
    group: AtomicU32,
    began_ns: u64,
    /// Since when it has the CPU; 0: it has not.
    on_ns: AtomicU64,
    cpu_ns: AtomicU64,
    switches: AtomicU64,
    /// Time that it was runnable and another task had the CPU.
    signal_ns: AtomicU64,
    wait: AtomicU32,
    wait_since_ns: AtomicU64,
    last_wait: AtomicU32,
    /// What the thread had counted when the task got the CPU, and what it counted while the task had it.
    seen: [AtomicU64; COUNTED.len()],
    counted: [AtomicU64; COUNTED.len()],
}

/// The counters of a thread that are told apart by task.
const COUNTED: [Counter; 3] = [Counter::PageLookups, Counter::PageReads, Counter::PageWrites];

/// What a task has used since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time that it had the CPU. Nanoseconds, as all times here.
    pub cpu_ns: u64,
    /// Time that it was runnable and had to wait for its turn.
    pub signal_ns: u64,
    pub context_switches: u64,
    /// Pages looked up in buffer pools, read from files, written to files.
    pub page_lookups: u64,
    pub page_reads: u64,
    pub page_writes: u64,
}

impl Usage {
    /// What was used since `before`.
    pub fn since(&self, before: &Usage) -> Usage {
        Usage {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            signal_ns: self.signal_ns.saturating_sub(before.signal_ns),
            context_switches: self.context_switches.saturating_sub(before.context_switches),
            page_lookups: self.page_lookups.saturating_sub(before.page_lookups),
            page_reads: self.page_reads.saturating_sub(before.page_reads),
            page_writes: self.page_writes.saturating_sub(before.page_writes),
        }
    }
}

impl Usage {
    /// Both together.
    pub fn plus(&self, other: &Usage) -> Usage {
        Usage {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            signal_ns: self.signal_ns + other.signal_ns,
            context_switches: self.context_switches + other.context_switches,
            page_lookups: self.page_lookups + other.page_lookups,
            page_reads: self.page_reads + other.page_reads,
            page_writes: self.page_writes + other.page_writes,
        }
    }
}

fn bump(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Relaxed).wrapping_add(n), Relaxed);
}

impl Account {
    fn new() -> Account {
        Account {
            session: AtomicU32::new(0),
            group: AtomicU32::new(0),
            began_ns: clock::now_ns(),
            on_ns: AtomicU64::new(0),
            cpu_ns: AtomicU64::new(0),
            switches: AtomicU64::new(0),
            signal_ns: AtomicU64::new(0),
            wait: AtomicU32::new(NOT_WAITING),
            wait_since_ns: AtomicU64::new(0),
            last_wait: AtomicU32::new(NOT_WAITING),
            seen: Default::default(),
            counted: Default::default(),
        }
    }

    pub fn set_session(&self, session: u32) {
        self.session.store(session, Relaxed);
    }

    pub fn set_group(&self, group: usize) {
        self.group.store(group as u32, Relaxed);
    }

    pub fn group(&self) -> usize {
        self.group.load(Relaxed) as usize
    }

    pub fn session(&self) -> Option<u32> {
        Some(self.session.load(Relaxed)).filter(|session| *session != 0)
    }

    /// It has the CPU from now on, after `signal_ns` in the queue.
    pub fn enter(&self, now_ns: u64, signal_ns: u64) {
        for (seen, counter) in self.seen.iter().zip(COUNTED) {
            seen.store(counters::mine_of(counter), Relaxed);
        }
        self.wait.store(NOT_WAITING, Relaxed);
        bump(&self.signal_ns, signal_ns);
        bump(&self.switches, 1);
        self.on_ns.store(now_ns, Relaxed);
    }

    /// It gives the CPU away, to wait or to let others go first.
    pub fn leave(&self, now_ns: u64, wait: Option<(WaitType, u64)>) {
        bump(&self.cpu_ns, now_ns.saturating_sub(self.on_ns.load(Relaxed)));
        for ((counted, seen), counter) in self.counted.iter().zip(&self.seen).zip(COUNTED) {
            bump(counted, counters::mine_of(counter).wrapping_sub(seen.load(Relaxed)));
        }
        self.on_ns.store(0, Relaxed);
        if let Some((wait, since_ns)) = wait {
            self.wait_since_ns.store(since_ns, Relaxed);
            self.last_wait.store(wait as u32, Relaxed);
            self.wait.store(wait as u32, Relaxed);
        }
    }

    /// To be asked by the task itself, which has the CPU: what it has used.
    pub fn own_usage(&self) -> Usage {
        let mut usage = self.usage(clock::now_ns());
        let running =
            |i: usize| counters::mine_of(COUNTED[i]).wrapping_sub(self.seen[i].load(Relaxed));
        usage.page_lookups += running(0);
        usage.page_reads += running(1);
        usage.page_writes += running(2);
        usage
    }

    /// As anyone sees it: the counters of a task that runs are those up to its last switch.
    fn usage(&self, now_ns: u64) -> Usage {
        let on = self.on_ns.load(Relaxed);
        let running = if on == 0 { 0 } else { now_ns.saturating_sub(on) };
        Usage {
            cpu_ns: self.cpu_ns.load(Relaxed) + running,
            signal_ns: self.signal_ns.load(Relaxed),
            context_switches: self.switches.load(Relaxed),
            page_lookups: self.counted[0].load(Relaxed),
            page_reads: self.counted[1].load(Relaxed),
            page_writes: self.counted[2].load(Relaxed),
        }
    }
}

impl Task {
    pub fn new(name: Cow<'static, str>, home: Arc<Core>, index: u32) -> Task {
        Task {
            name,
            home,
            index,
            state: AtomicU32::new(0),
            woken_ns: AtomicU64::new(0),
            account: Account::new(),
        }
    }

    /// Since when it has the CPU.
    pub fn running_since_ns(&self) -> Option<u64> {
        Some(self.account.on_ns.load(Relaxed)).filter(|ns| *ns != 0)
    }

    pub fn info(&self) -> TaskInfo {
        let a = &self.account;
        let name_of = |cell: &AtomicU32| {
            WaitType::ALL.get(cell.load(Relaxed) as usize).map(|wait| wait.name())
        };
        let woken = self.state.load(Relaxed) & PERMIT != 0;
        let state = match name_of(&a.wait) {
            Some(wait) if !woken => TaskState::Suspended(wait),
            None if a.on_ns.load(Relaxed) != 0 => TaskState::Running,
            _ => TaskState::Runnable,
        };
        TaskInfo {
            name: self.name.to_string(),
            scheduler: self.home.index,
            index: self.index,
            state,
            session: a.session(),
            began_ns: a.began_ns,
            wait_since_ns: a.wait_since_ns.load(Relaxed),
            last_wait: name_of(&a.last_wait),
            usage: a.usage(clock::now_ns()),
        }
    }
}

impl Wake for Task {
    fn wake(&self) {
        if self.state.load(Relaxed) & PERMIT == 0 {
            self.woken_ns.store(clock::stat_ns(), Relaxed);
        }
        // A read-modify-write also when the permit is there: the task must see what we did before.
        if self.state.fetch_or(PERMIT, AcqRel) == PARKED {
            self.home.enqueue(self.index);
        }
    }
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It has the CPU.
    Running,
    /// Waiting for its turn.
    Runnable,
    /// Waiting, under this wait type.
    Suspended(&'static str),
}

/// A row of the task views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    pub name: String,
    pub scheduler: usize,
    /// Its place in the scheduler: no two tasks alive have the same there.
    pub index: u32,
    pub state: TaskState,
    /// Whose work it does, as [`crate::set_session`] has said.
    pub session: Option<u32>,
    /// When it was begun, on the monotonic clock.
    pub began_ns: u64,
    /// When it began to wait, if it waits; else its last wait.
    pub wait_since_ns: u64,
    pub last_wait: Option<&'static str>,
    pub usage: Usage,
}
