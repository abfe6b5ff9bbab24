//! Tasks that are plain OS threads: park is `thread::park`, with a permit of our own.
//!
//! Where no scheduler runs, someone must poll. One parked thread at a time has that duty and looks
//! every [`POLL_EVERY`]; the others sleep until woken. Who leaves the duty nudges one of the
//! sleepers so that it takes over; a slow timeout covers a nudge that found nobody.

use super::pollers::{driven, poll_all};
use super::{Parked, Wake, Waker};
use crate::{clock, sim};
use parking_lot::Mutex;
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread::Thread;
use std::time::Duration;
use telemetry::{WaitType, waits};

const POLL_EVERY: Duration = Duration::from_micros(50);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

struct Parker {
    thread: Thread,
    permit: AtomicBool,
    /// When the permit was left: where the signal wait begins.
    woken_ns: AtomicU64,
}

impl Wake for Parker {
    fn wake(&self) {
        if !self.permit.load(Relaxed) {
            self.woken_ns.store(clock::stat_ns(), Relaxed);
        }
        // Release through a read-modify-write also when the permit is there already: the sleeper's
        // Acquire must see what every waker did before.
        if !self.permit.swap(true, AcqRel) {
            self.thread.unpark();
        }
    }
}

static DUTY: Mutex<()> = Mutex::new(());
static OFF_DUTY: Mutex<Vec<Thread>> = Mutex::new(Vec::new());

thread_local! {
    static PARKER: OnceCell<Arc<Parker>> = const { OnceCell::new() };
}

fn parker() -> Arc<Parker> {
    PARKER.with(|cell| {
        cell.get_or_init(|| {
            Arc::new(Parker {
                thread: std::thread::current(),
                permit: AtomicBool::new(false),
                woken_ns: AtomicU64::new(0),
            })
        })
        .clone()
    })
}

pub(super) fn current_waker() -> Waker {
    Waker(parker())
}

pub(super) fn yield_now() {
    poll_all();
    if !sim::active() {
        std::thread::yield_now();
    }
}

pub(super) fn park(wait: WaitType, deadline_ns: Option<u64>, part_of: Option<u64>) -> Parked {
    let me = parker();
    if me.permit.swap(false, AcqRel) {
        return Parked::Woken;
    }
    let began = clock::stat_ns();
    let woken =
        if sim::active() { wait_simulated(&me, deadline_ns) } else { wait_real(&me, deadline_ns) };
    let ended = clock::stat_ns();
    let signal_ns =
        if woken { ended.saturating_sub(me.woken_ns.load(Relaxed).max(began)) } else { 0 };
    if part_of.is_none() {
        waits::record(wait, ended - began, signal_ns);
    }
    if woken { Parked::Woken } else { Parked::TimedOut }
}

fn wait_simulated(me: &Parker, deadline_ns: Option<u64>) -> bool {
    let mut pollers = super::Pollers::new();
    loop {
        if me.permit.swap(false, AcqRel) {
            return true;
        }
        if deadline_ns.is_some_and(|d| d <= clock::now_ns()) {
            return false;
        }
        if pollers.poll() > 0 {
            continue;
        }
        match [deadline_ns, pollers.next_ns()].into_iter().flatten().min() {
            Some(next) => sim::advance_to(next.max(clock::now_ns() + 1)),
            None => stdx::fatal!("the simulated thread waits for nothing that can happen"),
        }
    }
}

fn wait_real(me: &Parker, deadline_ns: Option<u64>) -> bool {
    loop {
        if me.permit.swap(false, AcqRel) {
            return true;
        }
        let left = match deadline_ns {
            None => Duration::MAX,
            Some(deadline) => match deadline.checked_sub(clock::now_ns()) {
                None | Some(0) => return false,
                Some(ns) => Duration::from_nanos(ns),
            },
        };
        if driven() {
            std::thread::park_timeout(left.min(LOOK_AGAIN));
        } else if let Some(duty) = DUTY.try_lock() {
            let done = poll_all();
            if done == 0 && !me.permit.load(Acquire) {
                std::thread::park_timeout(left.min(POLL_EVERY));
            }
            drop(duty);
            if me.permit.load(Acquire) {
                hand_over();
            }
        } else {
            OFF_DUTY.lock().push(me.thread.clone());
            std::thread::park_timeout(left.min(LOOK_AGAIN));
            let mut off = OFF_DUTY.lock();
            if let Some(at) = off.iter().position(|t| t.id() == me.thread.id()) {
                off.swap_remove(at);
            }
        }
    }
}

fn hand_over() {
    let next = OFF_DUTY.lock().pop();
    if let Some(thread) = next {
        thread.unpark();
    }
}
