//! Real schedulers, and simulated ones.

use crate::{Config, Schedulers, TaskState, sim};
use device::{FileSystem, OpenOptions, RealFs, SimFs};
use parking_lot::Mutex;
use runtime::net::{Listener, Ready, Source, Stream, Waiting};
use runtime::{clock, task};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use telemetry::WaitType::Misc;

fn start(count: usize) -> Arc<Schedulers> {
    Schedulers::start(Config { pin: false, ..Config::with_count(count) }).expect("threads")
}

#[test]
fn tasks_return_and_panics_are_theirs() {
    let s = start(2);
    let handles: Vec<_> = (0..100).map(|i| s.spawn("t", None, move || i * 2)).collect();
    let sum: i32 = handles.into_iter().map(|h| h.join().expect("no panic")).sum();
    assert_eq!(sum, 9900);
    let panicked = s.spawn("p", None, || -> () { std::panic::panic_any("on purpose") }).join();
    assert_eq!(panicked.expect_err("it panics").downcast_ref(), Some(&"on purpose"));
    assert_eq!(s.spawn("after", Some(0), || 7).join().expect("the thread survived"), 7);
    s.stop();
    assert!(s.spawn("late", None, || ()).join().is_err());
}

#[test]
fn what_is_new_goes_to_schedulers_that_are_online() {
    let s = Schedulers::start(Config { cpus: vec![0, 1], pin: false, ..Config::default() });
    let s = s.expect("threads");
    let wheres = || -> Vec<Option<usize>> {
        let tasks: Vec<_> = (0..20).map(|_| s.spawn("t", None, crate::current)).collect();
        tasks.into_iter().map(|task| task.join().expect("no panic")).collect()
    };
    assert!(!s.set_online(|cpu| cpu == 7), "one stays online");
    assert!(s.is_online(0) && s.is_online(1));
    assert!(s.set_online(|cpu| cpu == 1));
    assert_eq!((s.is_online(0), s.is_online(1)), (false, true));
    assert_eq!(s.least_loaded_of(|index| s.is_online(index)), Some(1));
    assert_eq!(s.least_loaded_of(|_| false), None);
    assert!(wheres().iter().all(|on| *on == Some(1)));
    // By name it can still be had, and it is never offered.
    assert_eq!(s.spawn("named", Some(0), crate::current).join().expect("no panic"), Some(0));
    assert_eq!(s.asleep_beside(1, |index| s.is_online(index)), None);
    assert_eq!(s.stats().iter().map(|stats| stats.online).collect::<Vec<_>>(), [false, true]);
    assert!(s.set_online(|_| true));
    assert!(s.is_online(0));
    s.stop();
}

#[test]
fn in_the_classic_form_who_suspends_is_in_one_queue_until_it_runs_again() {
    let s = start(2);
    let go = Arc::new(AtomicBool::new(false));
    let sleepers = |n: usize| -> Vec<_> {
        let sleep = |go: &Arc<AtomicBool>| {
            let go = go.clone();
            move || {
                while !go.load(Acquire) {
                    task::park(Misc, Some(clock::now_ns() + 2_000_000));
                }
            }
        };
        (0..n).map(|_| s.spawn("sleeper", None, sleep(&go))).collect()
    };
    let before = sleepers(3);
    crate::share_suspend_queue(true);
    let during = sleepers(5);
    // Others of this process may be there too.
    while crate::classic::suspended_in_queue() < 5 {
        std::thread::yield_now();
    }
    // Who is in it leaves it under the other form.
    crate::share_suspend_queue(false);
    go.store(true, Release);
    before.into_iter().chain(during).for_each(|task| task.join().expect("no panic"));
    s.stop();
}

#[test]
fn schedulers_that_come_and_go_are_never_none() {
    const CHANGES: usize = 50_000;
    let s = Schedulers::start(Config { cpus: vec![0, 1, 2], pin: false, ..Config::default() });
    let s = s.expect("threads");
    let ended = AtomicBool::new(false);
    let change = |from: usize| {
        for i in from..CHANGES {
            assert!(s.set_online(|cpu| cpu == i % 3));
        }
        ended.store(true, Relaxed);
    };
    std::thread::scope(|threads| {
        threads.spawn(|| change(0));
        threads.spawn(|| change(1));
        while !ended.load(Relaxed) {
            s.least_loaded();
            let online = s.online_beside(2);
            assert!(!online.is_empty() && online.iter().all(|index| *index < 3), "{online:?}");
        }
    });
    // As the last of them had it, which is one of those two.
    assert_eq!((0..3).filter(|index| s.is_online(*index)).count(), 1);
    assert!(s.set_online(|_| true));
    assert_eq!((s.online_beside(1), s.online_beside(2)), (vec![2, 0, 1], vec![0, 1, 2]));
    s.stop();
}

#[test]
fn wakes_cross_schedulers() {
    const ROUNDS: usize = 2000;
    let s = start(2);
    struct Table {
        turn: AtomicUsize,
        wakers: Mutex<[Option<task::Waker>; 2]>,
    }
    let table = Arc::new(Table { turn: AtomicUsize::new(0), wakers: Mutex::new([None, None]) });
    let handles: Vec<_> = (0..2)
        .map(|me| {
            let table = table.clone();
            s.spawn("ping", Some(me), move || {
                table.wakers.lock()[me] = Some(task::current_waker());
                for round in 0..ROUNDS {
                    while table.turn.load(Acquire) != 2 * round + me {
                        // The other may not have left its waker yet.
                        task::park(Misc, Some(clock::now_ns() + 1_000_000));
                    }
                    table.turn.fetch_add(1, AcqRel);
                    if let Some(other) = &table.wakers.lock()[1 - me] {
                        other.wake();
                    }
                }
            })
        })
        .collect();
    handles.into_iter().for_each(|h| h.join().expect("no panic"));
    assert_eq!(table.turn.load(Relaxed), 2 * ROUNDS);
    assert!(s.stats().iter().all(|c| c.context_switches > 1));
    s.stop();
}

#[test]
fn timers_fire_in_order_and_early_wakes_void_them() {
    let s = start(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = [3u64, 1, 2]
        .map(|ms| {
            let order = order.clone();
            s.spawn("sleeper", None, move || {
                task::sleep_ns(ms * 20_000_000, Misc);
                order.lock().push(ms);
            })
        })
        .into();
    handles.into_iter().for_each(|h| h.join().expect("no panic"));
    assert_eq!(*order.lock(), [1, 2, 3]);
    s.spawn("void", None, || {
        for _ in 0..5000 {
            task::current_waker().wake();
            assert_eq!(task::park(Misc, Some(clock::now_ns() + (1 << 40))), task::Parked::Woken);
        }
        let soon = clock::now_ns() + 100_000;
        while task::park(Misc, Some(soon)) != task::Parked::TimedOut {}
        assert!(clock::now_ns() >= soon);
    })
    .join()
    .expect("no panic");
    s.stop();
}

#[test]
fn a_timer_of_a_task_that_has_ended_is_none_of_who_has_its_place() {
    let s = start(1);
    // A void timer goes when it is the next; this one keeps the other from being that.
    let before = clock::now_ns() + 100_000_000;
    let sleeper = s.spawn("sleeper", None, move || task::park(Misc, Some(before)));
    let soon = before + 20_000_000;
    let first = s.spawn("first", None, move || {
        let waker = task::current_waker();
        crate::spawn_here("waker", move || waker.wake());
        assert_eq!(task::park(Misc, Some(soon)), task::Parked::Woken);
    });
    first.join().expect("no panic");
    let second = s.spawn("second", None, move || {
        let late = soon + 100_000_000;
        assert_eq!(task::park(Misc, Some(late)), task::Parked::TimedOut);
        assert!(clock::now_ns() >= late, "not at the first one's deadline");
    });
    second.join().expect("no panic");
    assert_eq!(sleeper.join().expect("no panic"), task::Parked::TimedOut);
    s.stop();
}

#[test]
fn a_long_loop_yields_after_its_quantum() {
    let s = start(1);
    let other_ran = Arc::new(AtomicBool::new(false));
    let theirs = other_ran.clone();
    let long = s.spawn("long", None, move || {
        while !theirs.load(Relaxed) {
            task::maybe_yield();
        }
    });
    let short = s.spawn("short", None, move || other_ran.store(true, Relaxed));
    long.join().expect("no panic");
    short.join().expect("no panic");
    assert!(s.stats()[0].yields >= 1);
    s.stop();
}

#[test]
fn waiting_tasks_show_what_for() {
    let s = start(1);
    let waker = Arc::new(Mutex::new(None));
    let theirs = waker.clone();
    let h = s.spawn("waits", None, move || {
        *theirs.lock() = Some(task::current_waker());
        task::park(telemetry::WaitType::WriteLog, None);
    });
    let shown =
        |s: &Schedulers| s.tasks().iter().any(|t| t.state == TaskState::Suspended("WRITELOG"));
    while !shown(&s) {
        task::sleep_ns(100_000, Misc);
    }
    waker.lock().take().expect("left").wake();
    h.join().expect("no panic");
    s.stop();
    assert!(s.tasks().is_empty());
}

#[test]
fn who_waits_for_the_device_alone_is_told_from_those_who_share() {
    let s = start(1);
    let alone = || crate::local::with(|l| l.serves_one_task());
    let wait = || task::sleep_ns(20_000, telemetry::WaitType::WriteLog);
    s.spawn("alone", None, move || {
        assert!(!alone(), "nobody has waited yet");
        (0..2).for_each(|_| wait());
        assert!(alone());
        crate::spawn_here("another", || ());
        wait();
        assert!(!alone(), "another has had work meanwhile");
        (0..2).for_each(|_| wait());
        assert!(alone());
    })
    .join()
    .expect("no panic");
    s.stop();
}

#[test]
fn files_on_coroutines() {
    let path = std::env::temp_dir().join(format!("scheduler-file-{}", std::process::id()));
    let s = start(2);
    for mode in [device::IoMode::Auto, device::IoMode::Threads] {
        let fs = RealFs::new(mode).expect("never fails");
        let file = fs.open(&path, OpenOptions::create().direct()).expect("create");
        file.allocate(0, 64 * 4096).expect("allocate, from a plain thread");
        let handles: Vec<_> = (0..64u64)
            .map(|i| {
                let file = file.clone();
                s.spawn("writer", None, move || {
                    let bytes = vec![i as u8; 4096];
                    let mut back = vec![0; 4096];
                    for _ in 0..3 {
                        file.write_all_at(i * 4096, &bytes, true, Misc).expect("write");
                        file.read_exact_at(i * 4096, &mut back, Misc).expect("read");
                        assert_eq!(bytes, back);
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|h| h.join().expect("no panic"));
    }
    s.stop();
    let _ = std::fs::remove_file(&path);
}

/// A little of everything that a simulation schedules; the trace is its fingerprint.
fn trace(seed: u64) -> (Vec<usize>, u64) {
    sim::run(seed, |sim| {
        let trace = Arc::new(Mutex::new(Vec::new()));
        let fs = SimFs::new(sim.seed());
        let file = fs.open(Path::new("a"), OpenOptions::create()).expect("create");
        let handles: Vec<_> = (0..8)
            .map(|i| {
                let (trace, file) = (trace.clone(), file.clone());
                sim.spawn("t", move || {
                    for round in 0..3 {
                        trace.lock().push(i * 10 + round);
                        task::maybe_yield();
                        file.write_all_at(i as u64 * 512, &[1; 512], round == 1, Misc)
                            .expect("write");
                        task::sleep_ns(1_000_000_000, Misc);
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|h| h.join().expect("no panic"));
        assert!(clock::now_ns() >= 3_000_000_000);
        let trace = trace.lock().clone();
        (trace, fs.crash(sim.seed()).image_hash())
    })
}

#[test]
fn a_simulation_is_a_function_of_its_seed() {
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1).0, trace(2).0);
}

#[test]
fn schedulers_started_in_a_simulation_are_its_own() {
    sim::run(1, |_| {
        for round in 0..2 {
            let s = Schedulers::start(Config::default()).expect("the simulation's");
            assert_eq!(s.spawn("t", None, move || round).join().expect("no panic"), round);
            s.stop();
        }
    });
}

#[test]
fn a_simulated_deadlock_is_told() {
    let stuck = std::panic::catch_unwind(|| {
        sim::run(1, |_| {
            task::park(telemetry::WaitType::LckMX, None);
        })
    });
    let panic = stuck.expect_err("nobody wakes it");
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("LCK_M_X"), "{text}");
}

#[test]
fn tasks_that_nobody_wakes_are_abandoned() {
    let (_, outcome) = sim::run_with_outcome(1, |sim| {
        sim.spawn("forever", || {
            loop {
                task::park(Misc, None);
            }
        });
    });
    assert_eq!(outcome.abandoned.len(), 1);
    assert_eq!(outcome.abandoned[0].name, "forever");
}

/// Answers each byte by the next one, in a task that lives only while there is something to read.
struct Echo {
    stream: Stream,
    running: AtomicBool,
    again: AtomicBool,
    tasks: AtomicUsize,
}

impl Source for Echo {
    fn ready(self: Arc<Self>, ready: Ready) {
        self.again.fetch_or(ready.readable, AcqRel);
        if !ready.readable || self.running.swap(true, AcqRel) {
            return;
        }
        self.tasks.fetch_add(1, Relaxed);
        crate::spawn_here("echo", move || {
            let mut buffer = [0; 64];
            // An edge told while we run is ours to follow.
            while self.again.swap(false, AcqRel) {
                if let Ok(n @ 1..) = self.stream.try_read(&mut buffer) {
                    buffer[..n].iter_mut().for_each(|b| *b = b.wrapping_add(1));
                    self.stream.try_write(&buffer[..n]).expect("room");
                }
            }
            self.running.store(false, Release);
        });
    }
}

/// `rounds` bytes there and back over a connection whose server end lives on scheduler `on`.
fn echo_rounds(schedulers: &Arc<Schedulers>, on: usize, rounds: usize) -> Arc<Echo> {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let client = Stream::connect(listener.address().expect("an address")).expect("connected");
    let stream = loop {
        match listener.try_accept() {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => task::yield_now(),
            stream => break stream.expect("a connection"),
        }
    };
    let echo = Arc::new(Echo {
        stream,
        running: AtomicBool::new(false),
        again: AtomicBool::new(false),
        tasks: AtomicUsize::new(0),
    });
    let token = echo.stream.register(schedulers.reactor(on), echo.clone()).expect("registered");
    let client = Waiting::new(client).expect("on a scheduler");
    let mut byte = [7];
    for _ in 0..rounds {
        client.write_all(&byte).expect("sent");
        assert_eq!(client.read(&mut byte).expect("answered"), 1);
    }
    assert_eq!(byte[0], 7u8.wrapping_add(rounds as u8));
    echo.stream.deregister(schedulers.reactor(on), token);
    echo
}

#[test]
fn a_socket_wakes_its_own_scheduler_and_holds_no_task_between() {
    let s = start(2);
    for on in 0..2 {
        let theirs = s.clone();
        let echo = s.spawn("client", Some(0), move || echo_rounds(&theirs, on, 500)).join();
        let echo = echo.expect("no panic");
        assert!(echo.tasks.load(Relaxed) >= 500, "{} tasks", echo.tasks.load(Relaxed));
    }
    // A task is counted out a moment after its end was told.
    while s.stats().iter().any(|core| core.current_tasks > 0) {
        std::thread::yield_now();
    }
    s.stop();
}

#[test]
fn sockets_are_heard_in_the_quantum_of_a_busy_task() {
    let s = start(1);
    let theirs = s.clone();
    let stop = Arc::new(AtomicBool::new(false));
    let until = stop.clone();
    let hog = s.spawn("hog", None, move || {
        while !until.load(Relaxed) {
            task::maybe_yield();
        }
    });
    let began = clock::now_ns();
    s.spawn("client", None, move || echo_rounds(&theirs, 0, 10)).join().expect("no panic");
    // Each way waits for the end of a quantum of 4 ms at most; machines under load are slower.
    assert!(clock::now_ns() - began < 5_000_000_000);
    stop.store(true, Relaxed);
    hog.join().expect("no panic");
    s.stop();
}

#[test]
fn simulated_sockets_and_tasks_meet() {
    for seed in 0..30 {
        sim::run(seed, |sim| {
            echo_rounds(sim.schedulers(), 0, 40);
        });
    }
}

/// A task's time, waits and counters are told apart from other tasks', also while it waits.
#[test]
fn a_task_has_an_account_of_its_own() {
    let s = start(1);
    let stop = Arc::new(AtomicBool::new(false));
    let until = stop.clone();
    let task = s.spawn("counted", None, move || {
        crate::set_session(77);
        let before = crate::usage();
        let begun = clock::now_ns();
        while clock::now_ns() < begun + 3_000_000 {}
        telemetry::counters::add(telemetry::Counter::PageLookups, 5);
        let used = crate::usage().since(&before);
        assert!(used.cpu_ns >= 3_000_000 && used.page_lookups == 5, "{used:?}");
        while !until.load(Acquire) {
            task::park(telemetry::WaitType::LckMX, Some(clock::now_ns() + 1_000_000));
        }
        crate::usage().since(&before)
    });
    // Another one on the same thread, whose counting is its own.
    s.spawn("other", None, || telemetry::counters::add(telemetry::Counter::PageLookups, 1000))
        .join()
        .expect("no panic");
    let seen = loop {
        let all = s.tasks();
        let found = all.iter().find(|t| t.session == Some(77)).cloned();
        match found {
            Some(task) if task.state == TaskState::Suspended("LCK_M_X") => break task,
            _ => std::thread::yield_now(),
        }
    };
    assert_eq!(seen.last_wait, Some("LCK_M_X"));
    assert_eq!(seen.usage.page_lookups, 5);
    assert!(seen.wait_since_ns >= seen.began_ns);
    stop.store(true, Release);
    let used = task.join().expect("no panic");
    assert_eq!(used.page_lookups, 5);
    assert!(used.context_switches >= 1);
    let stats = s.stats();
    assert!(
        stats[0].busy_ns >= 3_000_000 && stats[0].slot.is_some() && stats[0].thread_id.is_some()
    );
    s.stop();
}

/// Epoll takes no regular file. What the kernel refuses to watch is looked at by the clock, or its news were lost.
#[test]
fn a_poller_that_cannot_be_watched_is_looked_at_all_the_same() {
    struct Unwatched {
        file: std::fs::File,
        news: AtomicBool,
        waker: Mutex<Option<task::Waker>>,
    }
    impl task::Poller for Unwatched {
        fn poll(&self) -> usize {
            if !self.news.swap(false, AcqRel) {
                return 0;
            }
            self.waker.lock().take().expect("left before the news").wake();
            1
        }

        fn wake_fd(&self) -> Option<std::os::fd::RawFd> {
            Some(std::os::fd::AsRawFd::as_raw_fd(&self.file))
        }
    }
    let file = std::fs::File::open("/proc/self/exe").expect("a regular file");
    let poller =
        Arc::new(Unwatched { file, news: AtomicBool::new(false), waker: Mutex::new(None) });
    let id = task::register_poller(poller.clone());
    let s = start(1);
    let theirs = poller.clone();
    let h = s.spawn("waits", None, move || {
        *theirs.waker.lock() = Some(task::current_waker());
        task::park(Misc, None);
    });
    while poller.waker.lock().is_none() {
        std::thread::yield_now();
    }
    // The news come when it has fallen asleep after its last look.
    let before = s.stats()[0].sleeps;
    while s.stats()[0].sleeps == before {
        std::thread::yield_now();
    }
    poller.news.store(true, Release);
    h.join().expect("no panic");
    task::unregister_poller(id);
    s.stop();
}
