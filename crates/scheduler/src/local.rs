//! The part of a scheduler that only its own OS thread touches: run queue, slab, timers, switching.
//!
//! The run queue is first come, first served; where groups share the CPU by weight it is [`Turns`] ([`crate::shares`]).
//!
//! Invariants:
//! 1. A task is at most once in the run queue, whichever.
//! 2. No borrow of this state is held across a switch: every method ends its borrows before.
//! 3. `yielder` belongs to the running coroutine, and is only used by it.

use crate::classic;
use crate::core::{Core, Counts, Spawn};
use crate::shares::Turns;
use crate::task::{PARKED, PERMIT, Task};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use runtime::clock;
use runtime::task::{Parked, Pollers, TaskHooks, Wake, Waker};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use stdx::Prng;
use telemetry::{Counter, WaitType, counters, waits};

/// How long a task runs before `maybe_yield` lets others go first.
pub(crate) const QUANTUM_NS: u64 = 4_000_000;
/// A busy task polls for the others this often, at its `maybe_yield`.
const POLL_EVERY_NS: u64 = 50_000;
/// Calls of `maybe_yield` between two looks at the clock.
const YIELD_BUDGET: u32 = 32;
/// A longer wait for the device counts as this.
const DEVICE_WAIT_MAX_NS: u64 = 1_000_000;
/// A task that has waited for the device this often, and no other has run meanwhile, is the only one with work.
const WAITS_ALONE: u32 = 2;
/// Stacks kept for the next task.
const POOL_STACKS: usize = 512;

type Stack = Coroutine<(), (), (), DefaultStack>;
type TaskYielder = Yielder<(), ()>;

struct Slot {
    task: Arc<Task>,
    /// Absent while it runs.
    coroutine: Option<Stack>,
    yielder: *const TaskYielder,
    /// The number of its last park, or 0; a timer of another is void.
    park: u64,
    timed_out: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    deadline_ns: u64,
    index: u32,
    park: u64,
}

struct Running {
    index: u32,
    task: Arc<Task>,
}

pub(crate) struct Local {
    core: RefCell<Option<Arc<Core>>>,
    queue: RefCell<VecDeque<u32>>,
    turns: RefCell<Turns>,
    slab: RefCell<Vec<Option<Slot>>>,
    free: RefCell<Vec<u32>>,
    stacks: RefCell<Vec<DefaultStack>>,
    timers: RefCell<BinaryHeap<Reverse<Timer>>>,
    /// Parks of all tasks so far, each with a number of its own: the timer of a task that has ended finds none in its place.
    parks: Cell<u64>,
    running: RefCell<Option<Running>>,
    yielder: Cell<*const TaskYielder>,
    pub pollers: RefCell<Option<Pollers>>,
    last_poll_ns: Cell<u64>,
    last_sockets_ns: Cell<u64>,
    /// 0: the running task's quantum has not been looked at yet.
    quantum_ends_ns: Cell<u64>,
    /// Tasks parked for the device.
    device_waiters: Cell<usize>,
    /// How long tasks have waited for the device lately: each wait counts an eighth.
    device_wait_ns: Cell<u64>,
    /// The task that ran last.
    ran_last: Cell<u32>,
    /// Waits for the device since another task ran here.
    waits_alone: Cell<u32>,
    /// In simulation: the order of tasks.
    chance: RefCell<Option<Prng>>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            core: RefCell::new(None),
            queue: RefCell::new(VecDeque::new()),
            turns: RefCell::new(Turns::NONE),
            slab: RefCell::new(Vec::new()),
            free: RefCell::new(Vec::new()),
            stacks: RefCell::new(Vec::new()),
            timers: RefCell::new(BinaryHeap::new()),
            parks: Cell::new(0),
            running: RefCell::new(None),
            yielder: Cell::new(std::ptr::null()),
            pollers: RefCell::new(None),
            last_poll_ns: Cell::new(0),
            last_sockets_ns: Cell::new(0),
            quantum_ends_ns: Cell::new(0),
            device_waiters: Cell::new(0),
            device_wait_ns: Cell::new(0),
            ran_last: Cell::new(0),
            waits_alone: Cell::new(0),
            chance: RefCell::new(None),
        }
    };
    /// Whose thread this is; null: nobody's.
    static HOME: Cell<*const Core> = const { Cell::new(std::ptr::null()) };
}

pub(crate) fn with<R>(f: impl FnOnce(&Local) -> R) -> R {
    LOCAL.with(f)
}

/// Makes the calling thread the owner of `core`, with `chance` in simulation.
pub(crate) fn install(core: &Arc<Core>, chance: Option<Prng>) {
    with(|l| {
        *l.core.borrow_mut() = Some(core.clone());
        *l.chance.borrow_mut() = chance;
        *l.pollers.borrow_mut() = Some(Pollers::new());
    });
    HOME.set(Arc::as_ptr(core));
    runtime::net::install(Some(core.reactor.clone()));
    runtime::task::install_hooks(Some(&Hooks));
}

/// Undoes [`install`]; returns how many tasks had not ended. Their stacks' memory is reused, what
/// they owned is not dropped.
pub(crate) fn uninstall() -> usize {
    runtime::task::install_hooks(None);
    runtime::net::install(None);
    HOME.set(std::ptr::null());
    with(|l| {
        let slab = std::mem::take(&mut *l.slab.borrow_mut());
        let mut abandoned = 0;
        for mut slot in slab.into_iter().flatten() {
            abandoned += 1;
            if let Some(mut coroutine) = slot.coroutine.take() {
                // SAFETY: nothing on that stack is borrowed from outside of it by Rust's rules (its
                // closure is 'static); what it owned leaks.
                unsafe { coroutine.force_reset() };
                l.keep_stack(coroutine.into_stack());
            }
        }
        l.queue.borrow_mut().clear();
        l.turns.borrow_mut().clear();
        l.free.borrow_mut().clear();
        l.timers.borrow_mut().clear();
        l.device_waiters.set(0);
        *l.core.borrow_mut() = None;
        *l.pollers.borrow_mut() = None;
        *l.chance.borrow_mut() = None;
        abandoned
    })
}

/// Queues a task if the calling thread owns `core`; false: someone else does.
#[inline]
pub(crate) fn enqueue_if_home(core: &Core, index: u32) -> bool {
    if !std::ptr::eq(HOME.get(), core) {
        return false;
    }
    with(|l| l.enqueue(core, index));
    true
}

/// Begins a task on the calling thread's scheduler.
pub(crate) fn begin_here(spawn: Spawn) {
    with(|l| {
        let core = l.core.borrow().clone();
        let Some(core) = core else { stdx::fatal!("a task was started here by no scheduler") };
        core.tasks.fetch_add(1, Relaxed);
        l.begin(&core, spawn);
    });
}

/// The running task's account; `None` on a thread that is no scheduler's.
pub(crate) fn with_account<R>(f: impl FnOnce(&crate::task::Account) -> R) -> Option<R> {
    let (_, task) = with(Local::current)?;
    Some(f(&task.account))
}

/// For the calling thread's scheduler, if it is one.
pub(crate) fn with_core(f: impl FnOnce(&Local, &Core)) {
    with(|l| {
        if let Some(core) = &*l.core.borrow() {
            f(l, core);
        }
    });
}

/// The index of the calling thread's scheduler.
pub(crate) fn current_index() -> Option<usize> {
    with(|l| l.core.borrow().as_ref().map(|core| core.index))
}

/// Whether a wait ends with the device's answer.
fn is_device_wait(wait: WaitType) -> bool {
    use WaitType::*;
    matches!(
        wait,
        WriteLog
            | LogBuffer
            | LogMgrReserveAppend
            | LogMgrFlush
            | PageIoLatchSh
            | PageIoLatchEx
            | PageIoLatchUp
            | IoCompletion
            | AsyncIoCompletion
            | WriteCompletion
            | PreemptiveOsFileOps
    )
}

impl Local {
    /// Tasks that could run now.
    pub fn runnable(&self) -> usize {
        self.queue.borrow().len() + self.turns.borrow().ready(clock::now_ns)
    }

    /// Puts a task behind the others: all, or those of its group.
    fn enqueue(&self, core: &Core, index: u32) {
        if !core.shares.is_on() || self.chance.borrow().is_some() {
            self.queue.borrow_mut().push_back(index);
            return;
        }
        let slab = self.slab.borrow();
        let group = slab[index as usize].as_ref().map_or(0, |slot| slot.task.account.group());
        self.turns.borrow_mut().push(&core.shares, group, index);
    }

    /// The running task's work is another group's from here on.
    pub fn change_group(&self, core: &Core, group: usize) {
        let Some((_, task)) = self.current() else { return };
        task.account.set_group(group);
        if core.shares.is_on() {
            let now = clock::now_ns();
            let mut turns = self.turns.borrow_mut();
            turns.ended(&core.shares, now);
            turns.started(group, now);
        }
    }

    pub fn live_tasks(&self) -> usize {
        self.slab.borrow().len() - self.free.borrow().len()
    }

    /// Whether some task waits for the device.
    pub fn waits_for_device(&self) -> bool {
        self.device_waiters.get() > 0
    }

    /// How long such a wait takes, as far as was seen lately.
    pub fn device_wait_ns(&self) -> u64 {
        self.device_wait_ns.get()
    }

    /// Whether the task that waits for the device is the only one that has had work here lately.
    pub fn serves_one_task(&self) -> bool {
        self.waits_alone.get() >= WAITS_ALONE
    }

    /// One has ended. One that took very long says little of the next.
    fn note_device_wait(&self, ns: u64) {
        self.waits_alone.set(self.waits_alone.get().saturating_add(1));
        let lately = self.device_wait_ns.get();
        self.device_wait_ns.set(lately - lately / 8 + ns.min(DEVICE_WAIT_MAX_NS) / 8);
    }

    /// Builds the coroutine of a new task and queues it.
    pub fn begin(&self, core: &Arc<Core>, spawn: Spawn) {
        let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
            self.slab.borrow_mut().push(None);
            self.slab.borrow().len() as u32 - 1
        });
        let stack = self.stacks.borrow_mut().pop().unwrap_or_else(|| {
            match DefaultStack::new(core.config.stack_bytes) {
                Ok(stack) => stack,
                Err(error) => stdx::fatal!("no stack for a task: {error}"),
            }
        });
        let body = spawn.body;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &TaskYielder, ()| {
            with(|l| {
                l.yielder.set(yielder);
                if let Some(slot) = &mut l.slab.borrow_mut()[index as usize] {
                    slot.yielder = yielder;
                }
            });
            body();
        });
        let task = Arc::new(Task::new(spawn.name, core.clone(), index));
        core.began(&task);
        self.slab.borrow_mut()[index as usize] = Some(Slot {
            task,
            coroutine: Some(coroutine),
            yielder: std::ptr::null(),
            park: 0,
            timed_out: false,
        });
        self.enqueue(core, index);
    }

    fn keep_stack(&self, stack: DefaultStack) {
        let mut stacks = self.stacks.borrow_mut();
        if stacks.len() < POOL_STACKS {
            stacks.push(stack);
        }
    }

    fn next(&self, core: &Core) -> Option<u32> {
        // What was queued before groups counted, or after, goes first.
        let mut queue = self.queue.borrow_mut();
        if queue.is_empty() && !self.turns.borrow().is_empty() {
            return self.turns.borrow_mut().pop(&core.shares, clock::now_ns());
        }
        match &mut *self.chance.borrow_mut() {
            Some(chance) if queue.len() > 1 => {
                let at = chance.below(queue.len() as u64) as usize;
                runtime::sim::note("task", at as u64);
                queue.swap_remove_back(at)
            }
            _ => queue.pop_front(),
        }
    }

    /// Runs the next task until it suspends or ends; false if none is runnable.
    pub fn run_next(&self, core: &Arc<Core>) -> bool {
        let Some(index) = self.next(core) else { return false };
        let mut coroutine = {
            let mut slab = self.slab.borrow_mut();
            let Some(slot) = &mut slab[index as usize] else {
                stdx::fatal!("an ended task was queued");
            };
            self.yielder.set(slot.yielder);
            *self.running.borrow_mut() = Some(Running { index, task: slot.task.clone() });
            match slot.coroutine.take() {
                Some(coroutine) => coroutine,
                None => stdx::fatal!("a running task was queued"),
            }
        };
        self.quantum_ends_ns.set(0);
        if self.ran_last.replace(index) != index {
            self.waits_alone.set(0);
        }
        if self.yielder.get().is_null()
            && let Some(running) = &*self.running.borrow()
        {
            // Its first turn: later ones are told by `park` and `yield_now`, which read the clock anyway.
            running.task.account.enter(clock::stat_ns(), 0);
        }
        Counts::add(&core.counts.switches, 1);
        counters::add(Counter::ContextSwitches, 1);
        if core.shares.is_on() {
            let running = self.running.borrow();
            let group = running.as_ref().map_or(0, |running| running.task.account.group());
            self.turns.borrow_mut().started(group, clock::now_ns());
            runtime::task::ask_next_time();
        }
        let result = coroutine.resume(());
        let running = self.running.borrow_mut().take();
        if core.shares.is_on() {
            self.turns.borrow_mut().ended(&core.shares, clock::now_ns());
        }
        match result {
            CoroutineResult::Yield(()) => {
                if let Some(slot) = &mut self.slab.borrow_mut()[index as usize] {
                    slot.coroutine = Some(coroutine);
                }
            }
            CoroutineResult::Return(()) => {
                let slot = self.slab.borrow_mut()[index as usize].take();
                self.free.borrow_mut().push(index);
                self.keep_stack(coroutine.into_stack());
                core.ended(index);
                drop(slot);
            }
        }
        drop(running);
        true
    }

    /// Wakes the tasks whose deadline has passed; returns the next deadline.
    pub fn fire_timers(&self) -> Option<u64> {
        if self.timers.borrow().is_empty() {
            return None;
        }
        let now = clock::now_ns();
        loop {
            let mut timers = self.timers.borrow_mut();
            let Reverse(first) = timers.peek()?;
            let index = first.index as usize;
            let mut slab = self.slab.borrow_mut();
            let slot = slab.get_mut(index).and_then(|slot| slot.as_mut());
            let valid =
                slot.filter(|s| s.park == first.park && s.task.state.load(Relaxed) & PARKED != 0);
            match valid {
                Some(_) if first.deadline_ns > now => return Some(first.deadline_ns),
                Some(slot) => {
                    timers.pop();
                    if slot.task.state.load(Relaxed) & PERMIT == 0 {
                        slot.timed_out = true;
                    }
                    let task = slot.task.clone();
                    drop((timers, slab));
                    task.wake();
                }
                // That wait is over.
                None => drop(timers.pop()),
            }
        }
    }

    /// Void timers (of waits that ended early) are thrown out when they outnumber the tasks.
    fn add_timer(&self, timer: Timer) {
        let mut timers = self.timers.borrow_mut();
        if timers.len() > 1024 && timers.len() > 4 * self.live_tasks() {
            let slab = self.slab.borrow();
            timers.retain(|Reverse(t)| {
                slab[t.index as usize].as_ref().is_some_and(|s| s.park == t.park)
            });
        }
        timers.push(Reverse(timer));
    }

    /// Polls every poller; the work done. `changed` is called when their set is another.
    pub fn poll(&self, changed: impl FnOnce(&Pollers)) -> usize {
        let Ok(mut pollers) = self.pollers.try_borrow_mut() else { return 0 };
        let Some(pollers) = &mut *pollers else { return 0 };
        if pollers.refresh() {
            changed(pollers);
        }
        pollers.poll()
    }

    /// Tells the sockets' news, if a look is due; how much there was. Where tasks wait for their turn, a look each
    /// [`POLL_EVERY_NS`] does: what arrives would queue behind them anyway.
    #[inline]
    pub fn poll_sockets(&self, core: &Core) -> usize {
        if core.reactor.is_empty() {
            return 0;
        }
        let now = clock::now_ns();
        if self.runnable() > 0 && now.saturating_sub(self.last_sockets_ns.get()) < POLL_EVERY_NS {
            return 0;
        }
        self.last_sockets_ns.set(now);
        core.reactor.poll()
    }

    /// Whether the last look at the sockets was that long ago.
    pub fn sockets_are_due(&self) -> bool {
        clock::now_ns().saturating_sub(self.last_sockets_ns.get()) >= POLL_EVERY_NS
    }

    /// The sockets have just been heard, by sleeping in them.
    pub fn heard_sockets(&self) {
        self.last_sockets_ns.set(clock::now_ns());
    }

    /// Whether groups count and the running task is of a light pool.
    fn is_light(&self) -> bool {
        let core = self.core.borrow();
        core.as_ref()
            .is_some_and(|core| core.shares.is_on() && self.turns.borrow().is_light(&core.shares))
    }

    /// Whether the running task should let another pool's go first before its quantum is over. Hears the sockets first:
    /// what a light pool is to give way to may be on its way only.
    fn gives_way(&self, now: u64) -> bool {
        let core = self.core.borrow();
        let Some(core) = core.as_ref().filter(|core| core.shares.is_on()) else { return false };
        if !self.turns.borrow().is_light(&core.shares) {
            return false;
        }
        if !core.reactor.is_empty() {
            core.reactor.poll();
        }
        core.has_mail() || self.turns.borrow().gives_way(&core.shares, now)
    }

    /// When a task may run again that its pool's cap holds back.
    pub fn next_turn_ns(&self) -> Option<u64> {
        self.turns.borrow().next_ns()
    }

    fn current(&self) -> Option<(u32, Arc<Task>)> {
        self.running.borrow().as_ref().map(|r| (r.index, r.task.clone()))
    }
}

/// Switches from the running task to the scheduler's loop.
fn switch() {
    let yielder = with(|l| l.yielder.get());
    // SAFETY: invariant 3: set by `run_next` or by the coroutine's own beginning to the yielder of
    // the coroutine that runs now, which lives on its stack as long as it does.
    unsafe { (*yielder).suspend(()) };
}

fn must_be_a_task<T>(current: Option<T>) -> T {
    match current {
        Some(current) => current,
        None => stdx::fatal!("the scheduler's own loop (a poller?) tried to wait"),
    }
}

/// The hooks of every scheduler thread; the state is the thread's.
struct Hooks;

impl TaskHooks for Hooks {
    fn current_waker(&self) -> Waker {
        let (_, task) = must_be_a_task(with(Local::current));
        Waker::new(task)
    }

    fn park(&self, wait: WaitType, deadline_ns: Option<u64>, part_of: Option<u64>) -> Parked {
        let (index, task) = must_be_a_task(with(Local::current));
        if task.state.compare_exchange(0, PARKED, AcqRel, Acquire).is_err() {
            task.state.swap(0, AcqRel);
            return Parked::Woken;
        }
        let began = clock::stat_ns();
        let for_device = usize::from(is_device_wait(wait));
        with(|l| {
            let mut slab = l.slab.borrow_mut();
            let Some(slot) = &mut slab[index as usize] else { return };
            let park = l.parks.get() + 1;
            l.parks.set(park);
            (slot.park, slot.timed_out) = (park, false);
            drop(slab);
            if let Some(deadline_ns) = deadline_ns {
                l.add_timer(Timer { deadline_ns, index, park });
            }
            l.device_waiters.set(l.device_waiters.get() + for_device);
        });
        task.account.leave(began, Some((wait, part_of.unwrap_or(began))));
        let entered = classic::enter(task.home.index, index);
        switch();
        classic::leave(entered, index);
        task.state.swap(0, AcqRel);
        let ended = clock::stat_ns();
        let signal_ns = ended.saturating_sub(task.woken_ns.load(Relaxed).max(began));
        task.account.enter(ended, signal_ns);
        if part_of.is_none() {
            waits::record(wait, ended - began, signal_ns);
        }
        let timed_out = with(|l| {
            if for_device > 0 {
                l.note_device_wait((ended - began).saturating_sub(signal_ns));
            }
            l.device_waiters.set(l.device_waiters.get() - for_device);
            let mut slab = l.slab.borrow_mut();
            slab[index as usize].as_mut().is_some_and(|slot| std::mem::take(&mut slot.timed_out))
        });
        if timed_out { Parked::TimedOut } else { Parked::Woken }
    }

    fn yield_now(&self) {
        let (index, task) = must_be_a_task(with(Local::current));
        let began = clock::stat_ns();
        with(|l| {
            if let Some(core) = &*l.core.borrow() {
                l.enqueue(core, index);
                Counts::add(&core.counts.yields, 1);
            }
        });
        task.account.leave(began, None);
        switch();
        let ended = clock::stat_ns();
        let waited = ended - began;
        task.account.enter(ended, waited);
        waits::record(WaitType::SosSchedulerYield, waited, waited);
    }

    fn maybe_yield(&self) -> u32 {
        let simulated = with(|l| l.chance.borrow_mut().as_mut().map(|chance| chance.one_in(4)));
        if let Some(now) = simulated {
            if now {
                self.yield_now();
            }
            return 0;
        }
        let yields = with(|l| {
            let now = clock::now_ns();
            if let Some(core) = &*l.core.borrow() {
                core.counts.heard_ns.store(now, Relaxed);
            }
            if now.saturating_sub(l.last_poll_ns.get()) > POLL_EVERY_NS {
                l.last_poll_ns.set(now);
                // The loop watches a changed set itself before it sleeps.
                if let Ok(mut pollers) = l.pollers.try_borrow_mut()
                    && let Some(pollers) = &mut *pollers
                {
                    pollers.poll_known();
                }
                if l.gives_way(now) {
                    return true;
                }
            }
            let ends = l.quantum_ends_ns.get();
            if ends == 0 || now < ends {
                if ends == 0 {
                    l.quantum_ends_ns.set(now + QUANTUM_NS);
                }
                return false;
            }
            l.quantum_ends_ns.set(now + QUANTUM_NS);
            let core = l.core.borrow().clone();
            core.is_some_and(|core| {
                // A cancellation, or a client that is gone, may be meant for this very task.
                if !core.reactor.is_empty() {
                    core.reactor.poll();
                }
                core.has_mail() || l.runnable() > 0 || l.gives_way(now)
            })
        });
        if yields {
            self.yield_now();
        }
        // A light pool's task does not keep others waiting for as long as 32 of its batches take.
        if with(Local::is_light) { 1 } else { YIELD_BUDGET }
    }
}
