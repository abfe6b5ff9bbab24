//! The ground under plain threads and in the simulated world.

use crate::task::{self, Parked, Poller};
use crate::{clock, random, sim, spin::SpinLock};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use telemetry::{SpinClass, WaitType};

#[test]
fn a_permit_outlives_the_wake() {
    let waker = task::current_waker();
    waker.wake();
    waker.wake();
    assert_eq!(task::park(WaitType::Misc, None), Parked::Woken);
    let soon = clock::now_ns() + 2_000_000;
    while task::park(WaitType::Misc, Some(soon)) != Parked::TimedOut {}
    assert!(clock::now_ns() >= soon);
}

#[test]
fn threads_wake_each_other() {
    let flag = Arc::new(AtomicBool::new(false));
    let waker = task::current_waker();
    let theirs = flag.clone();
    let t = crate::threads::spawn("waker", move || {
        theirs.store(true, Release);
        waker.wake();
    })
    .expect("a thread");
    while !flag.load(Acquire) {
        task::park(WaitType::Misc, None);
    }
    t.join().expect("no panic");
}

#[test]
fn parked_threads_poll_by_turns() {
    struct Later {
        looks: AtomicUsize,
        waiting: Mutex<Vec<(task::Waker, Arc<AtomicBool>)>>,
    }
    impl Poller for Later {
        fn poll(&self) -> usize {
            // One waiter is let go every third look, so that the duty must change hands.
            if self.looks.fetch_add(1, Relaxed).is_multiple_of(3)
                && let Some((waker, flag)) = self.waiting.lock().pop()
            {
                flag.store(true, Release);
                waker.wake();
                return 1;
            }
            0
        }
    }
    let later = Arc::new(Later { looks: AtomicUsize::new(0), waiting: Mutex::default() });
    let id = task::register_poller(later.clone());
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let later = later.clone();
            std::thread::spawn(move || {
                for _ in 0..20 {
                    let flag = Arc::new(AtomicBool::new(false));
                    later.waiting.lock().push((task::current_waker(), flag.clone()));
                    while !flag.load(Acquire) {
                        task::park(WaitType::Misc, None);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().expect("no panic"));
    task::unregister_poller(id);
}

#[test]
fn slots_are_not_shared() {
    let mine = task::slot();
    assert_eq!(mine, task::slot());
    let theirs = std::thread::spawn(task::slot).join().expect("no panic");
    assert_ne!(mine, theirs);
    assert!(mine < task::MAX_SLOTS && theirs < task::MAX_SLOTS);
}

#[test]
fn spinlock_excludes() {
    let lock = Arc::new(SpinLock::new(SpinClass::Test, 0u64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let lock = lock.clone();
            std::thread::spawn(move || (0..20_000).for_each(|_| *lock.lock() += 1))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().expect("no panic"));
    assert_eq!(*lock.lock(), 80_000);
    let held = lock.lock();
    assert!(lock.try_lock().is_none());
    drop(held);
    assert!(lock.try_lock().is_some());
}

#[test]
fn random_bytes_differ() {
    let (mut a, mut b) = ([0u8; 5000], [0u8; 5000]);
    random::fill(&mut a);
    random::fill(&mut b);
    assert_ne!(a, b);
    assert!(a[4096..].iter().any(|&x| x != 0));
    assert_ne!(random::next_u64(), random::next_u64());
}

#[test]
fn the_simulated_world_repeats() {
    let once = |seed| {
        let _world = sim::enter(seed);
        let began = clock::now_ns();
        task::sleep_ns(3_600_000_000_000, WaitType::Waitfor);
        assert_eq!(clock::now_ns() - began, 3_600_000_000_000);
        (random::next_u64(), random::next_u64(), clock::unix_ns())
    };
    assert_eq!(once(1), once(1));
    assert_ne!(once(1).0, once(2).0);
    assert!(!sim::active());
}

#[test]
fn a_sleep_in_steps_is_one_wait() {
    let taken = |before: &telemetry::waits::WaitStat| {
        let now = stat_of_waits(WaitType::Backup);
        (
            now.waiting_tasks_count - before.waiting_tasks_count,
            now.wait_time_ns - before.wait_time_ns,
        )
    };
    let before = stat_of_waits(WaitType::Backup);
    assert!(!task::sleep_unless(20_000_000, 2_000_000, WaitType::Backup, || false));
    let (count, ns) = taken(&before);
    assert!(count == 1 && ns >= 20_000_000, "{count} waits, {ns} ns");
    // Stopped at the next step, long before its end.
    let steps = std::cell::Cell::new(0);
    let stop = || steps.replace(steps.get() + 1) == 3;
    assert!(task::sleep_unless(3_600_000_000_000, 1_000_000, WaitType::Backup, stop));
    assert_eq!(taken(&before).0, 2);
}

fn stat_of_waits(wait: WaitType) -> telemetry::waits::WaitStat {
    telemetry::waits::totals().swap_remove(wait as usize)
}

#[test]
fn suspension_is_refused_under_a_guard() {
    assert!(task::may_suspend());
    let guard = task::NoSuspend::new();
    assert!(!task::may_suspend());
    drop(guard);
    assert!(task::may_suspend());
}
