//! Sessions, tasks and schedulers at one moment, put together from what the instance, its schedulers and its databases
//! tell of themselves. The views of execution are made of this.
//!
//! Where SQL Server shows a memory address there is a number made of what it names: a scheduler, and a task's place on
//! it. Two things alive never share one. A worker is the coroutine that a task runs on: there is one for each.

use crate::context::Context;
use crate::facts::{AdminFacts, SessionFacts};
use engine::{LogFigures, TransactionInfo, WaitRow, Writer};
use runtime::clock;
use scheduler::{TaskState, Usage};
use topology::{Topology, soft};
use types::Value;

/// Schedulers from this number on are the server's own, as in SQL Server.
pub const FIRST_HIDDEN: i32 = 1_048_576;

/// The node of what serves the dedicated administrator connection, as in SQL Server.
pub const ADMIN_NODE: i32 = 64;
/// `status` of its scheduler.
pub const ADMIN_ONLINE: &str = "VISIBLE ONLINE (DAC)";

/// Everything that runs or waits.
pub struct Snapshot {
    pub sessions: Vec<SessionFacts>,
    pub tasks: Vec<Task>,
    pub schedulers: Vec<Scheduler>,
    /// Waits for locks, with the database.
    pub lock_waits: Vec<(i32, WaitRow)>,
    /// Active transactions, with the database.
    pub transactions: Vec<(i32, TransactionInfo)>,
}

/// A task, and the worker that it runs on.
#[derive(Clone)]
pub struct Task {
    pub session: Option<i32>,
    pub scheduler_id: i32,
    /// Its place on the scheduler.
    pub place: u32,
    pub state: &'static str,
    /// What it waits for, and since when (monotonic).
    pub wait: Option<&'static str>,
    pub wait_since_ns: u64,
    pub last_wait: Option<&'static str>,
    pub began_ns: u64,
    pub usage: Usage,
    /// Its I/O on the way: how many, and bytes.
    pub pending: (u64, u64),
}

/// A scheduler; also one of a CPU that is not used, and the thread of a dedicated log writer.
#[derive(Clone)]
pub struct Scheduler {
    pub id: i32,
    pub cpu: Option<usize>,
    pub node: i32,
    pub status: &'static str,
    pub stats: scheduler::Stats,
    pub pending_io: u64,
}

/// The node of a CPU, of soft-NUMA where that divides the machine; 0 where the system does not tell.
pub fn node_of(cpu: Option<usize>) -> i32 {
    cpu.and_then(|cpu| soft::current().node_of(cpu)).map_or(0, |node| node as i32)
}

/// Ids of the nodes that schedulers are counted by, ascending, each with the node whose part it is.
pub fn nodes() -> Vec<(i32, i32)> {
    let there = soft::current();
    let mut all: Vec<(i32, i32)> =
        there.nodes.iter().map(|(id, part)| (*id as i32, part.node as i32)).collect();
    if all.is_empty() {
        all.push((0, 0));
    }
    all
}

/// Ids of the machine's nodes, ascending: of memory, which soft-NUMA does not divide.
pub fn memory_nodes() -> Vec<i32> {
    let mut all: Vec<i32> =
        Topology::machine().map_or(&[][..], |m| &m.nodes).iter().map(|n| n.id as i32).collect();
    if all.is_empty() {
        all.push(0);
    }
    all.sort_unstable();
    all
}

/// What an address column shows.
#[derive(Clone, Copy)]
pub enum Address {
    Scheduler(i32),
    Task(i32, u32),
    Worker(i32, u32),
    Thread(i32),
    Node(i32),
    Clerk(u32),
    Object(u32),
    File(i32, u16),
    Io(u64),
    Lock(u64),
}

impl Address {
    pub fn value(self) -> Value {
        let number = match self {
            Address::Scheduler(id) => place(1, id, 0),
            Address::Task(id, at) => place(2, id, at),
            Address::Worker(id, at) => place(3, id, at),
            Address::Thread(id) => place(4, id, 0),
            Address::Node(id) => place(5, id, 0),
            Address::Clerk(n) => place(6, 0, n),
            Address::Object(n) => place(6, 1, n),
            Address::File(database, file) => place(7, database, file.into()),
            Address::Io(n) | Address::Lock(n) => n,
        };
        Value::binary(&number.to_be_bytes())
    }
}

/// Like an address of user space: 0x00007Kss_ssssnnnn, in steps of 16.
fn place(kind: u64, scheduler: i32, at: u32) -> u64 {
    0x7000_0000_0000 | kind << 40 | (scheduler as u64 & 0xf_ffff) << 20 | u64::from(at + 1) << 4
}

/// An I/O on its way, of a file of a database.
pub fn io_number(database: i32, file: u16, ticket: u64) -> u64 {
    0x7800_0000_0000
        | (database as u64 & 0xff) << 32
        | u64::from(file & 0xff) << 24
        | (ticket & 0xf_ffff) << 4
}

impl Snapshot {
    pub fn take(context: &Context<'_>) -> Snapshot {
        // The session that asks is in the middle of a request.
        context.session.publish();
        let databases = context.server.databases();
        let open = || databases.iter().filter_map(|d| d.open.as_ref().map(|open| (d.id, open)));
        let mut snapshot = Snapshot {
            sessions: context.server.sessions(),
            tasks: context.server.tasks().into_iter().map(Task::of).collect(),
            schedulers: schedulers(context),
            lock_waits: Vec::new(),
            transactions: Vec::new(),
        };
        snapshot.add_admin(context.server.admin());
        for (id, database) in open() {
            let engine = &database.engine;
            snapshot.lock_waits.extend(engine.lock_waits().into_iter().map(|w| (id, w)));
            snapshot.transactions.extend(engine.transactions().into_iter().map(|t| (id, t)));
        }
        for (id, database) in open() {
            snapshot.add_log_writer(id, &database.engine.log_figures());
        }
        snapshot
    }

    /// What serves the dedicated administrator connection is numbered before the log writers, which have their databases'
    /// numbers.
    fn add_admin(&mut self, admin: AdminFacts) {
        self.tasks.extend(admin.tasks.into_iter().map(|info| {
            let scheduler_id = FIRST_HIDDEN + info.scheduler as i32;
            Task { scheduler_id, ..Task::of(info) }
        }));
        self.schedulers.extend(admin.schedulers.into_iter().map(|stats| Scheduler {
            id: FIRST_HIDDEN + stats.index as i32,
            cpu: stats.cpu,
            node: ADMIN_NODE,
            status: ADMIN_ONLINE,
            stats,
            pending_io: 0,
        }));
    }

    /// The log writer has no task of its own: by default whoever comes by writes, else a thread does.
    fn add_log_writer(&mut self, database: i32, log: &LogFigures) {
        let writer = self
            .sessions
            .iter()
            .find(|s| s.system == Some("LOG WRITER") && s.published.database_id == database);
        let session = writer.map(|s| s.id);
        if session.is_some_and(|id| self.task_of(id).is_some()) {
            // A task of a scheduler, and listed as such.
            return;
        }
        let slot = log.writer_place.map(|place| place.slot);
        let scheduler_id = match log.writer {
            Writer::Dedicated => {
                let id = FIRST_HIDDEN + database;
                let cpu = log.writer_place.and_then(|place| place.cpu);
                self.schedulers.push(Scheduler {
                    id,
                    cpu,
                    node: node_of(cpu),
                    status: "HIDDEN ONLINE",
                    stats: scheduler::Stats { current_tasks: 1, slot, ..Default::default() },
                    pending_io: log.stats.writes_outstanding,
                });
                id
            }
            // Written from a thread that is none of the schedulers', as while the database was opened: the next write
            // is most likely the housekeeper's.
            Writer::Leader | Writer::Scheduled => {
                let of_slot = |s: &&Scheduler| slot.is_some() && s.stats.slot == slot;
                let by_slot = self.schedulers.iter().find(of_slot).map(|s| s.id);
                let keeper = self.sessions.iter().find(|s| {
                    s.system == Some("CHECKPOINT") && s.published.database_id == database
                });
                let its_task = keeper.and_then(|k| self.task_of(k.id)).map(|t| t.scheduler_id);
                by_slot.or(its_task).unwrap_or(0)
            }
        };
        if let Some(s) = self.schedulers.iter_mut().find(|s| s.id == scheduler_id) {
            s.pending_io = s.pending_io.max(log.stats.writes_outstanding);
        }
        let busy = log.stats.writes_outstanding > 0;
        self.tasks.push(Task {
            session,
            scheduler_id,
            // Above any place on a scheduler.
            place: 0xf000 + database as u32,
            state: if busy { "RUNNING" } else { "SUSPENDED" },
            wait: (!busy).then_some("LOGMGR_QUEUE"),
            wait_since_ns: log.stats.last_write_ns,
            last_wait: Some("LOGMGR_QUEUE"),
            began_ns: log.stats.opened_ns,
            usage: Usage { context_switches: log.stats.flushes, ..Usage::default() },
            pending: (log.stats.writes_outstanding, 0),
        });
    }

    /// The task that works for a session.
    pub fn task_of(&self, session: i32) -> Option<&Task> {
        self.tasks.iter().find(|task| task.session == Some(session))
    }

    /// The wait for a lock of a session, and its database.
    pub fn lock_wait_of(&self, session: i32) -> Option<(i32, &WaitRow)> {
        let mine = |w: &WaitRow| w.session == Some(session as u32);
        self.lock_waits.iter().find(|(_, w)| mine(w)).map(|(database, w)| (*database, w))
    }

    /// The transaction of a session that is active.
    pub fn transaction_of(&self, session: i32) -> Option<(i32, &TransactionInfo)> {
        let mine = |t: &TransactionInfo| t.session == Some(session as u32);
        self.transactions.iter().find(|(_, t)| mine(t)).map(|(database, t)| (*database, t))
    }

    /// Who waits at the end of a chain of blockers for nobody is its head; this is the next link.
    pub fn blocker_of(&self, session: i32) -> Option<i32> {
        self.lock_wait_of(session).and_then(|(_, w)| w.blocking_session).map(|s| s as i32)
    }
}

impl Task {
    fn of(info: scheduler::TaskInfo) -> Task {
        let (state, wait) = match info.state {
            TaskState::Running => ("RUNNING", None),
            TaskState::Runnable => ("RUNNABLE", None),
            TaskState::Suspended(wait) => ("SUSPENDED", Some(wait)),
        };
        Task {
            session: info.session.map(|s| s as i32),
            scheduler_id: info.scheduler as i32,
            place: info.index,
            state,
            wait,
            wait_since_ns: info.wait_since_ns,
            last_wait: info.last_wait,
            began_ns: info.began_ns,
            usage: info.usage,
            pending: (0, 0),
        }
    }

    /// Milliseconds of the wait that goes on; 0 when none does.
    pub fn waited_ms(&self) -> i64 {
        match self.wait {
            Some(_) => (clock::now_ns().saturating_sub(self.wait_since_ns) / 1_000_000) as i64,
            None => 0,
        }
    }

    pub fn address(&self) -> Value {
        Address::Task(self.scheduler_id, self.place).value()
    }

    pub fn worker(&self) -> Value {
        Address::Worker(self.scheduler_id, self.place).value()
    }
}

/// Those that run, and those of CPUs that are not used.
fn schedulers(context: &Context<'_>) -> Vec<Scheduler> {
    let running = context.server.schedulers();
    let mut all: Vec<Scheduler> = running
        .into_iter()
        .map(|stats| Scheduler {
            id: stats.index as i32,
            cpu: Some(stats.cpu.unwrap_or(stats.index)),
            node: node_of(stats.cpu),
            status: if stats.online { "VISIBLE ONLINE" } else { "VISIBLE OFFLINE" },
            stats,
            pending_io: 0,
        })
        .collect();
    for cpu in Topology::machine().map_or(&[][..], |machine| &machine.cpus) {
        if all.iter().all(|s| s.cpu != Some(cpu.id)) {
            all.push(Scheduler {
                id: all.len() as i32,
                cpu: Some(cpu.id),
                node: node_of(Some(cpu.id)),
                status: "VISIBLE OFFLINE",
                stats: scheduler::Stats::default(),
                pending_io: 0,
            });
        }
    }
    all
}
