//! The part of a scheduler that other threads touch.
//!
//! | field | who writes | who reads |
//! |---|---|---|
//! | `inbox` | anyone, under its lock | the owner takes all |
//! | `has_mail` | anyone sets after pushing; the owner clears before taking | owner |
//! | `asleep` | the owner | whoever has pushed |
//! | `awake` | owners of one set, counting each other | owners |
//! | statistics | the owner, load and store | anyone |

use crate::shares::Shares;
use crate::sleep::Sleeper;
use crate::task::{Task, TaskInfo};
use crate::{Config, local};
use parking_lot::Mutex;
use runtime::clock;
use runtime::net::Reactor;
use runtime::task::Wake;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use stdx::CachePadded;

/// A task that is to begin.
pub(crate) struct Spawn {
    pub name: Cow<'static, str>,
    pub body: Box<dyn FnOnce() + Send>,
}

#[derive(Default)]
pub(crate) struct Inbox {
    pub spawns: Vec<Spawn>,
    /// Tasks to be queued: slab indices.
    pub wakes: Vec<u32>,
    pub closed: bool,
}

pub(crate) struct Core {
    pub index: usize,
    pub cpu: Option<usize>,
    pub config: Arc<Config>,
    inbox: CachePadded<Mutex<Inbox>>,
    has_mail: CachePadded<AtomicBool>,
    asleep: AtomicBool,
    /// New tasks come to it.
    pub online: AtomicBool,
    /// Schedulers of the set that are not asleep. The last to fall asleep watches the pollers.
    pub awake: Arc<AtomicUsize>,
    /// Of the set.
    pub shares: Arc<Shares>,
    pub sleeper: Sleeper,
    /// Its sockets.
    pub reactor: Arc<Reactor>,
    /// Tasks spawned and not ended.
    pub tasks: AtomicUsize,
    alive: Mutex<BTreeMap<u32, Arc<Task>>>,
    pub counts: CachePadded<Counts>,
}

#[derive(Default)]
pub(crate) struct Counts {
    pub switches: AtomicU64,
    pub yields: AtomicU64,
    pub sleeps: AtomicU64,
    pub polled: AtomicU64,
    pub remote_wakes: AtomicU64,
    pub runnable: AtomicU64,
    pub idle_ns: AtomicU64,
    /// When the idle time that goes on began; 0: it is not idle.
    pub idle_since_ns: AtomicU64,
    /// The thread's slot (`runtime::task::slot`), plus one; 0 before it runs.
    pub slot: AtomicU64,
    /// The thread's number in the system; 0 before it runs.
    pub thread_id: AtomicU64,
    pub began_ns: AtomicU64,
    /// When the running task was last heard of: it asked whether its quantum is over.
    pub heard_ns: AtomicU64,
}

impl Counts {
    /// The owner's addition.
    pub fn add(cell: &AtomicU64, n: u64) {
        cell.store(cell.load(Relaxed) + n, Relaxed);
    }
}

/// A task that keeps its scheduler to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub scheduler: usize,
    /// Its thread's number in the system.
    pub thread_id: u64,
    pub task: String,
    /// Whose work it does.
    pub session: Option<u32>,
    /// When it was last heard of, on the monotonic clock.
    pub since_ns: u64,
}

/// Figures of one scheduler, since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub index: usize,
    pub cpu: Option<usize>,
    pub current_tasks: usize,
    pub runnable_tasks: u64,
    pub context_switches: u64,
    pub yields: u64,
    pub remote_wakes: u64,
    /// Times that it went to sleep in the kernel.
    pub sleeps: u64,
    /// Work that its polls found.
    pub polled: u64,
    /// Nanoseconds without a runnable task, spinning or asleep.
    pub idle_ns: u64,
    /// Nanoseconds that tasks had, or the scheduler's own work.
    pub busy_ns: u64,
    /// The thread's slot (`runtime::task::slot`), and its number in the system, once it runs.
    pub slot: Option<usize>,
    pub thread_id: Option<u64>,
    /// Sockets that it hears.
    pub sockets: usize,
    /// It sleeps in the kernel. A hint.
    pub asleep: bool,
    /// New tasks come to it: [`crate::Schedulers::set_online`].
    pub online: bool,
}

impl Core {
    pub fn new(
        index: usize,
        cpu: Option<usize>,
        config: Arc<Config>,
        awake: Arc<AtomicUsize>,
        shares: Arc<Shares>,
    ) -> io::Result<Arc<Core>> {
        let reactor = Arc::new(Reactor::new()?);
        Ok(Arc::new(Core {
            index,
            cpu,
            config,
            inbox: CachePadded::default(),
            has_mail: CachePadded::default(),
            asleep: AtomicBool::new(false),
            online: AtomicBool::new(true),
            awake,
            shares,
            sleeper: Sleeper::new(reactor.clone())?,
            reactor,
            tasks: AtomicUsize::new(0),
            alive: Mutex::default(),
            counts: CachePadded::default(),
        }))
    }

    pub fn spawn(&self, spawn: Spawn) {
        let mut inbox = self.inbox.lock();
        if inbox.closed {
            drop(inbox);
            // Tells the one who joins, outside the lock.
            drop(spawn);
            return;
        }
        self.tasks.fetch_add(1, Relaxed);
        inbox.spawns.push(spawn);
        drop(inbox);
        self.mail();
    }

    /// Puts a task of ours into the run queue, from whatever thread.
    pub fn enqueue(&self, index: u32) {
        if local::enqueue_if_home(self, index) {
            return;
        }
        self.inbox.lock().wakes.push(index);
        self.mail();
    }

    pub fn stop(&self) {
        self.inbox.lock().closed = true;
        self.mail();
    }

    /// Something was put into the inbox. Either the owner sees `has_mail` before it sleeps, or we
    /// see `asleep`: both store, fence, then load.
    fn mail(&self) {
        self.has_mail.store(true, SeqCst);
        if self.asleep.load(SeqCst) && self.asleep.swap(false, SeqCst) {
            self.sleeper.wake();
        }
    }

    #[inline]
    pub fn has_mail(&self) -> bool {
        self.has_mail.load(Relaxed)
    }

    /// The owner takes what came. Swaps its empty vectors in, so that nothing is allocated.
    pub fn take_mail(&self, spawns: &mut Vec<Spawn>, wakes: &mut Vec<u32>) -> bool {
        debug_assert!(spawns.is_empty() && wakes.is_empty());
        self.has_mail.store(false, SeqCst);
        let mut inbox = self.inbox.lock();
        std::mem::swap(&mut inbox.spawns, spawns);
        std::mem::swap(&mut inbox.wakes, wakes);
        inbox.closed
    }

    /// Announces sleep; false if mail came in between.
    pub fn fall_asleep(&self) -> bool {
        self.asleep.store(true, SeqCst);
        if self.has_mail.load(SeqCst) {
            self.asleep.store(false, SeqCst);
            return false;
        }
        true
    }

    /// Whether it has announced sleep and nobody has woken it since. A hint: it may change at any time.
    pub fn is_asleep(&self) -> bool {
        self.asleep.load(Relaxed)
    }

    pub fn woke_up(&self) {
        self.asleep.store(false, SeqCst);
    }

    pub fn began(&self, task: &Arc<Task>) {
        self.alive.lock().insert(task.index, task.clone());
    }

    pub fn ended(&self, index: u32) {
        let task = self.alive.lock().remove(&index);
        self.tasks.fetch_sub(1, Relaxed);
        drop(task);
    }

    pub fn task_infos(&self) -> Vec<TaskInfo> {
        self.alive.lock().values().map(|task| task.info()).collect()
    }

    /// The task that has had the CPU for `limit_ns` and more without a word, if there is one.
    pub fn held(&self, limit_ns: u64) -> Option<Held> {
        let now = clock::now_ns();
        let heard = self.counts.heard_ns.load(Relaxed);
        let alive = self.alive.lock();
        let since = |task: &Arc<Task>| task.running_since_ns().map(|since| since.max(heard));
        let task = alive
            .values()
            .find(|task| since(task).is_some_and(|since| now.saturating_sub(since) >= limit_ns))?;
        Some(Held {
            scheduler: self.index,
            thread_id: self.counts.thread_id.load(Relaxed),
            task: task.name.to_string(),
            session: task.account.session(),
            since_ns: since(task)?,
        })
    }

    fn busy_ns(&self) -> u64 {
        let c = &self.counts;
        let (began, idle) = (c.began_ns.load(Relaxed), c.idle_ns.load(Relaxed));
        if began == 0 {
            return 0;
        }
        let now = match c.idle_since_ns.load(Relaxed) {
            0 => clock::now_ns(),
            idle_since => idle_since,
        };
        now.saturating_sub(began).saturating_sub(idle)
    }

    pub fn stats(&self) -> Stats {
        let c = &self.counts;
        Stats {
            index: self.index,
            cpu: self.cpu,
            current_tasks: self.tasks.load(Relaxed),
            runnable_tasks: c.runnable.load(Relaxed),
            context_switches: c.switches.load(Relaxed),
            yields: c.yields.load(Relaxed),
            remote_wakes: c.remote_wakes.load(Relaxed),
            sleeps: c.sleeps.load(Relaxed),
            polled: c.polled.load(Relaxed),
            idle_ns: c.idle_ns.load(Relaxed),
            busy_ns: self.busy_ns(),
            slot: (c.slot.load(Relaxed) as usize).checked_sub(1),
            thread_id: Some(c.thread_id.load(Relaxed)).filter(|id| *id != 0),
            sockets: self.reactor.len(),
            asleep: self.is_asleep(),
            online: self.online.load(Relaxed),
        }
    }
}

/// A change in the set of pollers, or of their timers: look again.
impl Wake for Core {
    fn wake(&self) {
        self.mail();
    }
}
