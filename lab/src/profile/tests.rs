//! Samples of real threads and of coroutines; where sampling is forbidden, the refusal says what to do.

use super::*;
use runtime::clock;
use runtime::spin::SpinLock;
use scheduler::{Config, Schedulers};
use std::sync::Arc;
use telemetry::{SpinClass, spins};

#[inline(never)]
fn innermost_of_the_test(until_ns: u64) -> u64 {
    let mut n = 0_u64;
    while std::hint::black_box(clock::now_ns()) < until_ns {
        n = std::hint::black_box(n.wrapping_mul(31).wrapping_add(7));
    }
    n
}

#[inline(never)]
fn caller_in_the_coroutine(until_ns: u64) -> u64 {
    std::hint::black_box(innermost_of_the_test(until_ns)) + 1
}

/// Two threads that want one lock all the time; each holds it long enough for the other to spin.
fn contend(lock: &SpinLock<u64>, until_ns: u64) {
    while clock::now_ns() < until_ns {
        let mut held = lock.lock();
        (0..2_000).for_each(|i| *held = std::hint::black_box(held.wrapping_add(i)));
    }
}

#[test]
fn a_spin_is_told_under_its_lock() {
    let Ok(mut profiler) = Profiler::start() else { return };
    let lock = Arc::new(SpinLock::new(SpinClass::VersionStore, 0_u64));
    let began_ns = clock::now_ns();
    let spins =
        || spins::snapshot().iter().find(|s| s.name == "VERSIONSTORE").map_or(0, |s| s.spins);
    let before = spins();
    // Until enough was spun to be seen, however slow the machine.
    while spins() - before < 1_500_000 && clock::now_ns() - began_ns < 60_000_000_000 {
        let until_ns = clock::now_ns() + 50_000_000;
        std::thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(|| contend(&lock, until_ns))));
            while clock::now_ns() < until_ns {
                profiler.drain();
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            profiler.drain();
        });
    }
    let spun = spins() - before;
    let profile = profiler.finish().profile(&[]);
    let share = profile.spinlocks.iter().find(|s| s.name == "VERSIONSTORE");
    assert!(share.is_some_and(|s| s.total > 0.0), "{spun} spins: {:?}", profile.spinlocks);
}

#[test]
fn the_stack_of_a_coroutine_is_walked() {
    let mut profiler = match Profiler::start() {
        Ok(profiler) => profiler,
        Err(why) => {
            assert!(why.contains("perf_event_paranoid"), "{why}");
            eprintln!("not sampled: {why}");
            return;
        }
    };
    let config = Config { count: Some(1), pin: false, ..Config::default() };
    let schedulers = Schedulers::start(config).expect("one thread");
    // Until enough of it was seen, however slow the machine: samples are of the whole process, in which other tests run.
    let began_ns = clock::now_ns();
    let ran_ns = || clock::now_ns() - began_ns;
    while (profiler.samples < 200 || ran_ns() < 3_000_000_000) && ran_ns() < 60_000_000_000 {
        let until_ns = clock::now_ns() + 50_000_000;
        let task = schedulers.spawn("busy", None, move || caller_in_the_coroutine(until_ns));
        profiler.drain();
        task.join().expect("it counts");
        profiler.drain();
    }
    schedulers.stop();
    let profile = profiler.finish().profile(&[("WRITELOG".to_owned(), "log write", 5)]);
    let found = profile.folded.iter().any(|(stack, _)| {
        let inner = stack.find("innermost_of_the_test");
        let caller = stack.find("caller_in_the_coroutine");
        caller.zip(inner).is_some_and(|(caller, inner)| caller < inner)
    });
    let most: Vec<_> = profile.folded.iter().take(5).collect();
    assert!(found, "{} samples, {} lost: {most:#?}", profile.samples, profile.lost);
    assert!(profile.flame_svg.contains("innermost_of_the_test"));
    // The list is the longest there is where the other tests of the process have more to show.
    let listed = profile.functions.iter().any(|f| f.name.contains("innermost_of_the_test"));
    assert!(listed || profile.functions.len() == fold::FUNCTIONS);
    assert_eq!(profile.off_cpu, vec![("log write;WRITELOG".to_owned(), 5)]);
}
