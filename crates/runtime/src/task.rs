//! Waiting, without knowing who runs you.
//!
//! A task is either a coroutine of a scheduler, which has installed [`TaskHooks`] on its OS thread,
//! or a plain OS thread. Both wait in the same words:
//!
//! ```ignore
//! let waker = task::current_waker();
//! // ... hand the waker to whoever will make `ready()` true ...
//! while !ready() { task::park(WaitType::Misc, None); }
//! ```
//!
//! Promises:
//! 1. `wake` before `park` leaves a permit, and `park` then returns at once. One permit at most.
//! 2. `park` may return for no reason. Callers loop.
//! 3. Pollers ([`register_poller`]) are polled by scheduler loops on every turn; where no scheduler
//!    runs, by one of the parked plain threads, about every 50 microseconds. One whose [`Bell`] is hushed only now
//!    and then.
//! 4. Nothing suspends while a [`NoSuspend`] is held.
//! 5. A loop that counts its steps in a [`Breath`] yields when the quantum is over and hears that its request is to
//!    stop.

mod bell;
mod breath;
mod many;
mod plain;
mod pollers;
mod slot;
mod sort;
mod step;

pub use bell::Bell;
pub use breath::{
    Breath, Breathing, CANCELLED, NO_MEMORY, Stopped, Under, append, append_bytes, breathe,
    breathing, copied, in_pieces, is_stopped, let_go, let_others, under, wait_for_memory,
};
pub use many::{Many, Rest};
pub(crate) use pollers::forget_sim_pollers;
pub use pollers::{
    DriverGuard, Poller, PollerId, Pollers, driver_guard, poll_all, register_poller,
    unregister_poller,
};
pub use slot::{MAX_SLOTS, slot};
pub use sort::sort_by;
pub use step::{Step, stepped, stepped_by};

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use telemetry::WaitType;

/// How a [`park`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parked {
    /// By a wake, or for no reason.
    Woken,
    /// The deadline passed without a wake.
    TimedOut,
}

/// Something that can be woken: a parked thread or a coroutine.
pub trait Wake: Send + Sync {
    /// Leaves a permit and makes the task run if it is parked. From any thread.
    fn wake(&self);
}

/// A handle that wakes one task. Cloning counts a reference; nothing is allocated per wait.
#[derive(Clone)]
pub struct Waker(Arc<dyn Wake>);

impl Waker {
    pub fn new(task: Arc<dyn Wake>) -> Self {
        Waker(task)
    }

    /// Wakes the task; idempotent, leaves one permit.
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Whether both wake the same task.
    pub fn will_wake(&self, other: &Waker) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waker({:p})", Arc::as_ptr(&self.0))
    }
}

/// What a scheduler installs on its OS threads so that tasks there suspend instead of blocking.
pub trait TaskHooks {
    fn current_waker(&self) -> Waker;
    /// As [`park`]; the hook records the wait, unless it is `part_of` one that began at that time.
    fn park(&self, wait: WaitType, deadline_ns: Option<u64>, part_of: Option<u64>) -> Parked;
    fn yield_now(&self);
    /// Yields if the running task's quantum is over. Returns how many calls of [`maybe_yield`] may
    /// pass before it wants to be asked again.
    fn maybe_yield(&self) -> u32;
}

thread_local! {
    static HOOKS: Cell<Option<&'static dyn TaskHooks>> = const { Cell::new(None) };
    static NO_SUSPEND: Cell<u32> = const { Cell::new(0) };
    static YIELD_BUDGET: Cell<u32> = const { Cell::new(0) };
}

/// Installs hooks on the calling OS thread, or removes them; returns those that were there.
pub fn install_hooks(hooks: Option<&'static dyn TaskHooks>) -> Option<&'static dyn TaskHooks> {
    YIELD_BUDGET.set(0);
    HOOKS.replace(hooks)
}

/// The next call of [`maybe_yield`] asks the hooks, however many calls were to pass: another task runs.
pub fn ask_next_time() {
    YIELD_BUDGET.set(0);
}

/// Whether the caller runs on a coroutine (or at least under a scheduler's hooks).
pub fn has_hooks() -> bool {
    HOOKS.get().is_some()
}

/// A handle that wakes the calling task.
pub fn current_waker() -> Waker {
    match HOOKS.get() {
        Some(hooks) => hooks.current_waker(),
        None => plain::current_waker(),
    }
}

/// Waits until woken or until `deadline_ns` on [`crate::clock::now_ns`]. May return for no reason.
/// The time is recorded under `wait`, unless a permit was there already.
pub fn park(wait: WaitType, deadline_ns: Option<u64>) -> Parked {
    park_as(wait, deadline_ns, None)
}

/// The same as a part of a wait that began at `began_ns`: the caller records it, once, at its end.
pub fn park_part(wait: WaitType, deadline_ns: Option<u64>, began_ns: u64) -> Parked {
    park_as(wait, deadline_ns, Some(began_ns))
}

fn park_as(wait: WaitType, deadline_ns: Option<u64>, part_of: Option<u64>) -> Parked {
    assert_may_suspend();
    match HOOKS.get() {
        Some(hooks) => {
            let flag = breath::leave();
            let parked = hooks.park(wait, deadline_ns, part_of);
            breath::enter(flag);
            parked
        }
        None => plain::park(wait, deadline_ns, part_of),
    }
}

/// Lets the other runnable tasks go first.
pub fn yield_now() {
    assert_may_suspend();
    match HOOKS.get() {
        Some(hooks) => {
            let flag = breath::leave();
            hooks.yield_now();
            breath::enter(flag);
        }
        None => plain::yield_now(),
    }
}

/// Yields if the quantum (4 ms) is over. A thread-local decrement on most calls; put it in long loops.
#[inline(always)]
pub fn maybe_yield() {
    let budget = YIELD_BUDGET.get();
    if budget > 0 {
        YIELD_BUDGET.set(budget - 1);
    } else {
        maybe_yield_slow();
    }
}

#[cold]
fn maybe_yield_slow() {
    assert_may_suspend();
    let budget = match HOOKS.get() {
        Some(hooks) => {
            let flag = breath::leave();
            let budget = hooks.maybe_yield();
            breath::enter(flag);
            budget
        }
        // The kernel preempts plain threads.
        None => 1_000_000,
    };
    YIELD_BUDGET.set(budget);
}

/// Sleeps for `ns` nanoseconds, recorded under `wait`.
pub fn sleep_ns(ns: u64, wait: WaitType) {
    let deadline = crate::clock::now_ns().saturating_add(ns);
    while crate::clock::now_ns() < deadline {
        park(wait, Some(deadline));
    }
}

/// Sleeps for `ns` nanoseconds, or until `stop` says so; it is asked whenever the task is woken, and every `step_ns`,
/// for who sets a flag and wakes nobody. One wait, whatever woke the task in between. True: it was stopped.
pub fn sleep_unless(ns: u64, step_ns: u64, wait: WaitType, stop: impl Fn() -> bool) -> bool {
    let began = crate::clock::now_ns();
    let deadline = began.saturating_add(ns);
    loop {
        let now = crate::clock::now_ns();
        let stopped = stop();
        if stopped || now >= deadline {
            // What came after the deadline was the wait for the CPU.
            telemetry::waits::record(wait, now - began, now.saturating_sub(deadline));
            return stopped;
        }
        park_as(wait, Some(deadline.min(now.saturating_add(step_ns))), Some(began));
    }
}

/// While one of these lives, suspending is a broken invariant: a page latch, a lane, a mutex is held.
#[must_use]
pub struct NoSuspend(PhantomData<*const ()>);

impl NoSuspend {
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "a guard is made on purpose, never by default")]
    pub fn new() -> Self {
        NO_SUSPEND.set(NO_SUSPEND.get() + 1);
        NoSuspend(PhantomData)
    }
}

impl Drop for NoSuspend {
    #[inline(always)]
    fn drop(&mut self) {
        NO_SUSPEND.set(NO_SUSPEND.get() - 1);
    }
}

/// Whether suspending is allowed here and now.
#[inline]
pub fn may_suspend() -> bool {
    NO_SUSPEND.get() == 0 && !std::thread::panicking()
}

#[inline]
fn assert_may_suspend() {
    if !may_suspend() {
        refuse_to_suspend();
    }
}

#[cold]
fn refuse_to_suspend() -> ! {
    if std::thread::panicking() {
        stdx::fatal!("a task tried to suspend while panicking");
    }
    stdx::fatal!("a task tried to suspend while it held {} NoSuspend guard(s)", NO_SUSPEND.get());
}
