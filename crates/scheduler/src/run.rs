//! The loop of one scheduler's OS thread.
//!
//! A turn: take the mail, poll, hear the sockets, fire timers, run a few tasks. With nothing to do it spins for a
//! bounded time, longer while a task of its own waits for the device and something is in flight, and
//! then sleeps. Where it has clients it spins for the device only if that has lately answered sooner than a sleep takes. The last scheduler of its set to fall asleep watches the pollers' descriptors and
//! clocks for all; the others sleep until they are sent mail.

use crate::core::{Core, Counts, Spawn};
use crate::local::{self, Local};
use runtime::{clock, task, threads};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use telemetry::{Counter, counters};

/// Tasks run between two polls.
const TASKS_A_TURN: usize = 8;
/// A spinning scheduler lets the kernel's threads, and others', have the CPU from then on.
const YIELD_AFTER_NS: u64 = 2_000;
/// Waits for the device that took less lately are spun for where there are clients. A sleep costs 10 to 25 us (two system calls,
/// two switches, the wake-up's way), which are in the waits of who sleeps: so a device that answers in less is found again by
/// who has slept, and one that takes this long is left by who spins.
const SPIN_BELOW_NS: u64 = 40_000;
/// A scheduler whose task waits for the device, and that is not the last awake, looks itself if another has not after this
/// many such waits: those awake may run long tasks.
const DEVICE_WAITS: u64 = 2;
/// A poller without a descriptor, or with one that could not be watched, may want something by the clock at any time.
const LOOK_AGAIN_NS: u64 = 5_000_000;

struct Turn<'a> {
    core: &'a Arc<Core>,
    spawns: Vec<Spawn>,
    wakes: Vec<u32>,
    watched: Vec<RawFd>,
    /// Some poller's descriptor could not be watched.
    unwatched: bool,
    closed: bool,
    next_timer_ns: Option<u64>,
}

pub(crate) fn run(core: &Arc<Core>) {
    if let (true, Some(cpu)) = (core.config.pin, core.cpu) {
        // Not pinned is slower, not wrong: a container may have taken the CPU away.
        let _ = threads::pin_current(cpu);
    }
    if let (Some(cpu), Some(machine)) = (core.cpu, topology::Topology::machine()) {
        // Whoever touches it first, what this thread takes is its node's. Refused, it lies where it is touched: slower, not
        // wrong.
        let _ = runtime::numa::sit(topology::placement::seat(machine, cpu));
    }
    core.counts.slot.store(task::slot() as u64 + 1, Relaxed);
    core.counts.thread_id.store(threads::current_id(), Relaxed);
    core.counts.began_ns.store(clock::now_ns(), Relaxed);
    local::install(core, None);
    let mut turn = Turn {
        core,
        spawns: Vec::new(),
        wakes: Vec::new(),
        watched: Vec::new(),
        unwatched: false,
        closed: false,
        next_timer_ns: None,
    };
    // No borrow of LOCAL is held across `with` here: a task's own code uses it too, through shared
    // references only.
    local::with(|l| {
        loop {
            // Who keeps finding work without tasks that are ready never comes to sleep: it hears the sockets now and then.
            let found = turn.gather(l, !turn.may_sleep_at_once(l) || l.sockets_are_due());
            let mut ran = 0;
            while ran < TASKS_A_TURN && l.run_next(core) {
                ran += 1;
            }
            core.counts.runnable.store(l.runnable() as u64, Relaxed);
            if ran == 0 && !found {
                if turn.closed && l.live_tasks() == 0 && !core.has_mail() {
                    break;
                }
                turn.idle(l);
            }
        }
    });
    local::uninstall();
    // Those asleep do not wait for one that has ended to watch for them.
    core.awake.fetch_sub(1, SeqCst);
}

impl Turn<'_> {
    /// Whether an idle moment leads straight to the kernel: the sockets are all there is to wait for, and clients on
    /// the same CPUs need them more than a spinning scheduler does. Sleeping hears the sockets itself, so a look at
    /// them just before would be a system call for nothing.
    fn may_sleep_at_once(&self, l: &Local) -> bool {
        !self.core.reactor.is_empty()
            && self.core.config.spin_for_network_ns == 0
            && l.runnable() == 0
            && !self.may_spin_for_device(l)
    }

    /// Whether a task waits for the device, and its answer is worth spinning for: where nobody else wants the CPU, or it comes
    /// sooner than a sleeper would wake. One client alone waits for the answer itself: it needs no CPU meanwhile.
    fn may_spin_for_device(&self, l: &Local) -> bool {
        l.waits_for_device()
            && (self.core.reactor.is_empty()
                || l.device_wait_ns() < SPIN_BELOW_NS
                || l.serves_one_task() && self.core.awake.load(Relaxed) == 1)
    }

    /// Takes mail, polls, hears the `sockets` and fires timers; whether there was anything.
    fn gather(&mut self, l: &Local, sockets: bool) -> bool {
        let mut found = false;
        if self.core.has_mail() {
            found = true;
            self.closed = self.core.take_mail(&mut self.spawns, &mut self.wakes);
            let n = self.wakes.len() as u64;
            Counts::add(&self.core.counts.remote_wakes, n);
            counters::add(Counter::RemoteWakes, n);
            self.wakes.drain(..).for_each(|index| {
                local::enqueue_if_home(self.core, index);
            });
            self.spawns.drain(..).for_each(|spawn| l.begin(self.core, spawn));
        }
        let (watched, unwatched) = (&mut self.watched, &mut self.unwatched);
        let work = l.poll(|pollers| *unwatched = !self.core.sleeper.watch(pollers, watched));
        let work = if sockets { work + l.poll_sockets(self.core) } else { work };
        if work > 0 {
            Counts::add(&self.core.counts.polled, work as u64);
        }
        self.next_timer_ns = [l.fire_timers(), l.next_turn_ns()].into_iter().flatten().min();
        found || work > 0 || l.runnable() > 0
    }

    /// Nothing is runnable: spins, then sleeps, until there may be something.
    fn idle(&mut self, l: &Local) {
        let began = clock::now_ns();
        self.core.counts.idle_since_ns.store(began, Relaxed);
        self.idle_from(l, began);
        // The end before the sum: a reader in between sees a little too much work, never time that ran backwards.
        self.core.counts.idle_since_ns.store(0, Relaxed);
        Counts::add(&self.core.counts.idle_ns, clock::now_ns() - began);
    }

    fn idle_from(&mut self, l: &Local, began: u64) {
        let config = &self.core.config;
        if self.may_sleep_at_once(l) {
            self.sleep(l);
            return;
        }
        loop {
            for _ in 0..16 {
                std::hint::spin_loop();
            }
            // For the device alone: the sockets are heard now and then.
            if self.gather(l, config.spin_for_network_ns > 0 || l.sockets_are_due()) {
                break;
            }
            let spun = clock::now_ns() - began;
            if spun >= YIELD_AFTER_NS {
                // The kernel finishes durable writes in threads of its own, on this CPU too.
                std::thread::yield_now();
            }
            let busy = || l.pollers.borrow().as_ref().is_some_and(|p| p.busy());
            let spin_ns = match self.core.reactor.is_empty() {
                true => config.spin_before_sleep_ns,
                false => config.spin_for_network_ns,
            };
            if spun >= spin_ns
                && (spun >= config.spin_for_device_ns || !self.may_spin_for_device(l) || !busy())
            {
                self.sleep(l);
                break;
            }
        }
    }

    fn sleep(&mut self, l: &Local) {
        let core = self.core;
        if !core.fall_asleep() {
            return;
        }
        // What the kernel refused once it may take now.
        if self.unwatched
            && let Some(pollers) = &*l.pollers.borrow()
        {
            self.unwatched = !core.sleeper.watch(pollers, &mut self.watched);
        }
        // Counted out before the last look: of two that fall asleep together, the later one knows
        // that it is the last, and watches.
        let last = core.awake.fetch_sub(1, SeqCst) == 1;
        // The sleep itself hears the sockets.
        let found = self.gather(l, false);
        if !found {
            let mut until = self.next_timer_ns;
            if last && let Some(pollers) = &*l.pollers.borrow() {
                let now = clock::now_ns();
                if self.unwatched || pollers.iter().any(|p| p.wake_fd().is_none()) {
                    until = Some(until.unwrap_or(u64::MAX).min(now + LOOK_AGAIN_NS));
                }
                until = [until, pollers.next_ns()].into_iter().flatten().min();
            } else if l.waits_for_device() {
                let patience = (DEVICE_WAITS * l.device_wait_ns()).max(SPIN_BELOW_NS);
                until = Some(until.unwrap_or(u64::MAX).min(clock::now_ns() + patience));
            }
            let ns = until.map(|until| until.saturating_sub(clock::now_ns()));
            if ns != Some(0) {
                Counts::add(&core.counts.sleeps, 1);
                counters::add(Counter::SchedulerSleeps, 1);
                core.sleeper.sleep(last, ns);
                l.heard_sockets();
            }
        }
        core.awake.fetch_add(1, SeqCst);
        core.woke_up();
    }
}
