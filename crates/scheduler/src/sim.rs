//! The same tasks on one thread, from one seed.
//!
//! The seed chooses which runnable task goes next and whether `maybe_yield` yields; simulated files
//! choose the order of their completions by theirs. The clock stands while tasks run (but for 200 ns
//! a switch, so that nobody waits for it in vain) and jumps to the next timer when none can.

use crate::core::{Core, Spawn};
use crate::{Config, Schedulers, TaskInfo, join, local};
use runtime::{clock, sim as world};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use stdx::Prng;

const SWITCH_NS: u64 = 200;
/// What a poll that finds nothing costs.
const GLANCE_NS: u64 = 500;

thread_local! {
    static SCHEDULERS: RefCell<Option<Arc<Schedulers>>> = const { RefCell::new(None) };
    /// [`Sim::leave_all`] was called.
    static LEFT: Cell<bool> = const { Cell::new(false) };
}

/// The schedulers of the simulation that the calling thread is in.
pub(crate) fn schedulers() -> Option<Arc<Schedulers>> {
    SCHEDULERS.with_borrow(|s| s.clone())
}

/// A running simulation.
pub struct Sim {
    seed: u64,
    schedulers: Arc<Schedulers>,
}

impl Sim {
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// One scheduler; its `stop` does nothing.
    pub fn schedulers(&self) -> &Arc<Schedulers> {
        &self.schedulers
    }

    /// The world ends with its first task, whatever the others still do: they are abandoned.
    pub fn leave_all(&self) {
        LEFT.set(true);
    }

    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> crate::JoinHandle<T> {
        self.schedulers.spawn(name, None, f)
    }
}

/// How a simulation ended, beside its result.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Tasks that still waited, for nothing that could happen, when the first task had ended.
    /// They never run again, and what they owned is not dropped.
    pub abandoned: Vec<TaskInfo>,
    pub simulated_ns: u64,
    pub switches: u64,
}

/// Runs `f` as the first task of a simulated world and everything it spawns, to the end.
///
/// # Panics
/// With `f`'s panic; or if `f` waits for nothing that can happen, naming the waiting tasks.
pub fn run<T: Send + 'static>(seed: u64, f: impl FnOnce(&Sim) -> T + Send + 'static) -> T {
    run_with_outcome(seed, f).0
}

/// As [`run`], and tells how it ended.
pub fn run_with_outcome<T: Send + 'static>(
    seed: u64,
    f: impl FnOnce(&Sim) -> T + Send + 'static,
) -> (T, Outcome) {
    let guard = world::enter(seed);
    let began = clock::now_ns();
    let config = Arc::new(Config::default());
    let shares = Arc::new(crate::Shares::default());
    let core = match Core::new(0, None, config, Arc::new(AtomicUsize::new(1)), shares.clone()) {
        Ok(core) => core,
        Err(error) => stdx::fatal!("no descriptors for a simulation: {error}"),
    };
    local::install(&core, Some(Prng::new(stdx::mix64(seed ^ 0x5ced))));
    let schedulers = Arc::new(Schedulers {
        cores: vec![core.clone()],
        threads: Default::default(),
        next: AtomicUsize::new(0),
        changing: Default::default(),
        shares,
        simulated: true,
    });
    SCHEDULERS.set(Some(schedulers.clone()));

    let (handle, completer) = join::pair();
    let sim = Sim { seed, schedulers };
    let body = Box::new(move || completer.run(move || f(&sim)));
    core.spawn(Spawn { name: "main".into(), body });

    LEFT.set(false);
    let over = || LEFT.get() && handle.is_finished();
    let progress = turn_until_quiet(&core, Prng::new(stdx::mix64(seed ^ 0x9011)), over);
    let main_ended = handle.is_finished();
    let waiting = core.task_infos();
    local::uninstall();
    SCHEDULERS.set(None);
    let outcome = Outcome {
        abandoned: waiting.clone(),
        simulated_ns: clock::now_ns() - began,
        switches: progress,
    };
    drop(guard);
    assert!(main_ended, "seed {seed}: nothing can happen, and these wait: {waiting:#?}");
    match handle.join() {
        Ok(value) => (value, outcome),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs until no task can go on, or until it is `over`; the number of switches.
fn turn_until_quiet(core: &Arc<Core>, mut polls: Prng, over: impl Fn() -> bool) -> u64 {
    let (mut spawns, mut wakes) = (Vec::new(), Vec::new());
    let mut switches = 0;
    local::with(|l| {
        loop {
            if over() {
                return switches;
            }
            if core.has_mail() {
                core.take_mail(&mut spawns, &mut wakes);
                wakes.drain(..).for_each(|index| {
                    local::enqueue_if_home(core, index);
                });
                spawns.drain(..).for_each(|spawn| l.begin(core, spawn));
            }
            // Completions come between any two tasks, or only when nothing else can happen.
            if polls.one_in(2) {
                l.poll(|_| ());
                core.reactor.poll();
            }
            let next_timer_ns = l.fire_timers();
            if l.run_next(core) {
                switches += 1;
                world::note("switch", clock::now_ns());
                world::advance_to(clock::now_ns() + SWITCH_NS);
                continue;
            }
            let work = l.poll(|_| ()) + core.reactor.poll();
            if core.has_mail() || work > 0 || l.runnable() > 0 {
                continue;
            }
            let polled = l.pollers.borrow().as_ref().and_then(|p| p.next_ns());
            match [next_timer_ns, polled].into_iter().flatten().min() {
                // Who wants to be polled at once, and finds nothing, costs time as well.
                Some(ns) => world::advance_to(ns.max(clock::now_ns() + GLANCE_NS)),
                None => return switches,
            }
        }
    })
}
