//! One OS thread per CPU of the mask; tasks are stackful coroutines that never leave their scheduler.
//!
//! A task reads as plain synchronous code; whatever waits suspends through `runtime::task`, for which
//! this crate installs the hooks. A scheduler runs its tasks in turn, takes wakes from other threads,
//! polls the pollers and its own sockets, keeps the timers, spins for a bounded time when it has nothing
//! to do, and then sleeps. [`sim`] runs the same tasks on one thread from one seed.
//!
//! Sockets register with the [`runtime::net::Reactor`] of one scheduler ([`Schedulers::reactor`]). Their
//! news are told on its thread: between turns, at the end of a busy task's quantum (4 ms), and out of its
//! sleep. Who hears news there starts a task by [`spawn_here`], so a socket without news holds no stack.
//!
//! Rules that code asserts: a task that holds a `NoSuspend`, or unwinds, does not suspend.
//!
//! Knows nothing of sessions, statements or what a task is for.

mod classic;
mod core;
mod join;
mod local;
mod node;
mod run;
mod shares;
pub mod sim;
mod sleep;
mod task;

pub use crate::core::{Held, Stats};
pub use classic::share_suspend_queue;
pub use join::{JoinHandle, Panic};
pub use node::current_node;
pub use shares::{FULL_WEIGHT, SHARES_MAX, Shares};
pub use task::{TaskInfo, TaskState, Usage};

use crate::core::{Core, Spawn};
use parking_lot::Mutex;
use runtime::net::Reactor;
use runtime::threads;
use std::borrow::Cow;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// How to start the schedulers.
#[derive(Clone, Debug)]
pub struct Config {
    /// The CPUs to run on, one scheduler each; empty: all that the process may use.
    pub cpus: Vec<usize>,
    /// So many schedulers, over `cpus` in turn; `None`: one per CPU.
    pub count: Option<usize>,
    /// Stack of a task, in bytes of address space; memory is used as it is touched.
    pub stack_bytes: usize,
    /// How long an idle scheduler polls before it sleeps.
    pub spin_before_sleep_ns: u64,
    /// The same while one of its tasks waits for the device and something is in flight: in a virtual
    /// machine a sleep and wake-up costs some 40 microseconds, a quarter of a flush.
    pub spin_for_device_ns: u64,
    /// How long it polls before it sleeps while it has sockets and no task waits for the device. Clients on the same
    /// machine need the CPU to send what it would spin for, so this is short.
    pub spin_for_network_ns: u64,
    /// Whether each thread is pinned to its CPU.
    pub pin: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            cpus: Vec::new(),
            count: None,
            // Frames of unoptimised code are several times larger.
            stack_bytes: if cfg!(debug_assertions) { 16 << 20 } else { 4 << 20 },
            spin_before_sleep_ns: 20_000,
            spin_for_device_ns: 300_000,
            spin_for_network_ns: 0,
            pin: true,
        }
    }
}

impl Config {
    /// `count` schedulers over all CPUs of the process.
    pub fn with_count(count: usize) -> Config {
        Config { count: Some(count), ..Config::default() }
    }
}

/// Starts a task on the scheduler that the caller runs on, behind those that are runnable now. Cheap: nothing is shared
/// with other threads, and the name is not copied. A panic ends the task and nothing else.
///
/// From a task, or from a [`runtime::net::Source`] that hears news; anywhere else it is a broken invariant.
pub fn spawn_here(name: &'static str, f: impl FnOnce() + Send + 'static) {
    let body = Box::new(move || drop(catch_unwind(AssertUnwindSafe(f))));
    local::begin_here(Spawn { name: Cow::Borrowed(name), body });
}

/// Says whose work the running task does: a session's number, or 0 for nobody's. Nothing on a plain thread.
pub fn set_session(session: u32) {
    local::with_account(|account| account.set_session(session));
}

/// What the running task has used since it began; nothing on a plain thread, whose time nobody keeps.
pub fn usage() -> Usage {
    local::with_account(|account| account.own_usage()).unwrap_or_default()
}

/// From here on the running task's turns are those of this group: see [`Shares`].
pub fn set_group(group: usize) {
    local::with_core(|l, core| l.change_group(core, group));
}

/// The running task's group; 0 on a thread that is no scheduler's.
pub fn group() -> usize {
    local::with_account(|account| account.group()).unwrap_or(0)
}

/// Which scheduler of its set the caller runs on.
pub fn current() -> Option<usize> {
    local::current_index()
}

/// A set of schedulers.
pub struct Schedulers {
    cores: Vec<Arc<Core>>,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
    next: AtomicUsize,
    /// Held by who changes which schedulers are online: one at a time.
    changing: Mutex<()>,
    shares: Arc<Shares>,
    /// Of [`sim`]: many instances of a run share them, one after the other, so `stop` does nothing.
    simulated: bool,
}

impl Schedulers {
    /// Starts the threads. Within [`sim::run`] these are the simulation's, and nothing is started.
    pub fn start(config: Config) -> io::Result<Arc<Schedulers>> {
        if let Some(simulated) = sim::schedulers() {
            return Ok(simulated);
        }
        let cpus = match config.cpus.is_empty() {
            true => threads::process_affinity().to_vec(),
            false => config.cpus.clone(),
        };
        let count = config.count.unwrap_or(cpus.len()).clamp(1, runtime::task::MAX_SLOTS / 2);
        let awake = Arc::new(AtomicUsize::new(count));
        let shares = Arc::new(Shares::default());
        let config = Arc::new(config);
        let cores = (0..count)
            .map(|i| {
                let cpu = Some(cpus[i % cpus.len()]);
                Core::new(i, cpu, config.clone(), awake.clone(), shares.clone())
            })
            .collect::<io::Result<Vec<_>>>()?;
        let mut running = Vec::new();
        for core in &cores {
            // Announced here and not in the thread: from the first spawn on somebody polls.
            let driver = runtime::task::driver_guard(core.clone());
            let theirs = core.clone();
            running.push(threads::spawn(&format!("scheduler-{}", core.index), move || {
                run::run(&theirs);
                drop(driver);
            })?);
        }
        let next = AtomicUsize::new(0);
        let threads = Mutex::new(running);
        let changing = Mutex::default();
        Ok(Arc::new(Schedulers { cores, threads, next, changing, shares, simulated: false }))
    }

    /// Starts a task on scheduler `on`, or on the one with the fewest tasks of those online. After [`Self::stop`] the
    /// task is dropped unrun, and joining it returns an error.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        on: Option<usize>,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let core = match on {
            Some(index) => &self.cores[index],
            None => self.least_loaded(),
        };
        let (handle, completer) = join::pair();
        let name = name.to_owned().into();
        core.spawn(Spawn { name, body: Box::new(move || completer.run(f)) });
        handle
    }

    /// Who looks from one to the next while others come and go may find none online: then it is any of them.
    fn least_loaded(&self) -> &Arc<Core> {
        let n = self.cores.len();
        let first = self.next.fetch_add(1, Relaxed);
        let in_turn = || (0..n).map(|i| &self.cores[(first + i) % n]);
        let tasks = |core: &&Arc<Core>| core.tasks.load(Relaxed);
        let online = in_turn().filter(|core| core.online.load(Relaxed)).min_by_key(tasks);
        match online.or_else(|| in_turn().min_by_key(tasks)) {
            Some(core) => core,
            None => stdx::fatal!("there are no schedulers"),
        }
    }

    /// Which schedulers get new tasks, by their CPUs; all do at the start. Those that are not chosen go on with what
    /// they have. False, and nothing is changed, if no scheduler is chosen. At every moment one is online.
    pub fn set_online(&self, chosen: impl Fn(usize) -> bool) -> bool {
        let is_chosen = |core: &&Arc<Core>| core.cpu.is_none_or(&chosen);
        let (come, go): (Vec<_>, Vec<_>) = self.cores.iter().partition(is_chosen);
        if come.is_empty() {
            return false;
        }
        let _changing = self.changing.lock();
        // First those that come. Release: who sees that one has gone sees those that came before it.
        come.iter().for_each(|core| core.online.store(true, Release));
        go.iter().for_each(|core| core.online.store(false, Release));
        true
    }

    /// Those online, in turn, `home` last. Never empty: `home` alone where others come and go meanwhile.
    pub fn online_beside(&self, home: usize) -> Vec<usize> {
        let n = self.cores.len();
        let in_turn = (1..=n).map(|i| (home + i) % n);
        let online: Vec<usize> = in_turn.filter(|index| self.is_online(*index)).collect();
        if online.is_empty() { vec![home] } else { online }
    }

    /// Whether new tasks come to that scheduler. Who asks for one after the other while they change may hear no of all.
    pub fn is_online(&self, index: usize) -> bool {
        self.cores[index].online.load(Acquire)
    }

    /// The one with the fewest tasks, of those that `may`.
    pub fn least_loaded_of(&self, may: impl Fn(usize) -> bool) -> Option<usize> {
        let chosen = self.cores.iter().filter(|core| may(core.index));
        chosen.min_by_key(|core| core.tasks.load(Relaxed)).map(|core| core.index)
    }

    /// How groups of tasks share the CPU. A simulation takes no notice.
    pub fn shares(&self) -> &Arc<Shares> {
        &self.shares
    }

    /// How many schedulers there are.
    pub fn count(&self) -> usize {
        self.cores.len()
    }

    /// The sockets of one scheduler.
    pub fn reactor(&self, on: usize) -> &Arc<Reactor> {
        &self.cores[on].reactor
    }

    /// A scheduler other than `on` that `may` and sleeps, having nothing to do. A hint: it may wake at any time.
    pub fn asleep_beside(&self, on: usize, may: impl Fn(usize) -> bool) -> Option<usize> {
        let idle = |core: &&Arc<Core>| core.index != on && core.is_asleep() && may(core.index);
        self.cores.iter().find(idle).map(|core| core.index)
    }

    /// Figures of each scheduler.
    pub fn stats(&self) -> Vec<Stats> {
        self.cores.iter().map(|core| core.stats()).collect()
    }

    /// Every task alive.
    pub fn tasks(&self) -> Vec<TaskInfo> {
        self.cores.iter().flat_map(|core| core.task_infos()).collect()
    }

    /// The tasks that have kept their schedulers to themselves for `limit_ns` and more.
    pub fn held(&self, limit_ns: u64) -> Vec<Held> {
        self.cores.iter().filter_map(|core| core.held(limit_ns)).collect()
    }

    /// Takes no new tasks, waits until those there are have ended, and ends the threads. Whoever
    /// calls this has told the tasks to end; it must not be one of them.
    pub fn stop(&self) {
        if self.simulated {
            return;
        }
        self.cores.iter().for_each(|core| core.stop());
        for thread in self.threads.lock().drain(..) {
            if thread.join().is_err() {
                stdx::fatal!("a scheduler's thread panicked outside of its tasks");
            }
        }
    }
}

impl Drop for Schedulers {
    fn drop(&mut self) {
        if self.simulated {
            return;
        }
        // The threads end by themselves when their tasks have.
        self.cores.iter().for_each(|core| core.stop());
    }
}

#[cfg(test)]
mod tests;
