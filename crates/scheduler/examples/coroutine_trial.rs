//! What a coroutine costs, and what waiting for a flush costs on coroutines and on OS threads.
//!
//! The trial behind docs/decisions/0001-coroutines.md:
//! `cargo run --release -p scheduler --example coroutine_trial [FOLDER] [SECONDS]`

use device::{File, FileSystem, IoMode, OpenOptions, RealFs};
use runtime::{clock, task};
use scheduler::{Config, Schedulers};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use telemetry::WaitType::{Misc, WriteLog};

const WRITERS: usize = 128;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let seconds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(2);

    switch();
    wake(true);
    wake(false);
    for mode in [IoMode::Uring, IoMode::Threads] {
        let Ok(fs) = RealFs::new(mode) else {
            println!("{mode:?}: refused by this kernel");
            continue;
        };
        let path = folder.join("coroutine-trial.tmp");
        let file = fs.open(&path, OpenOptions::create().direct()).expect("the folder is writable");
        file.allocate(0, (WRITERS * 4096) as u64).expect("512 KiB are free");
        for writers in [1, 2, WRITERS] {
            flushes(mode, &file, writers, seconds, true);
            flushes(mode, &file, writers, seconds, false);
        }
        fs.remove(&path).expect("ours");
    }
}

/// Two tasks of one scheduler yield to each other.
fn switch() {
    const ROUNDS: u64 = 5_000_000;
    let s = Schedulers::start(Config::with_count(1)).expect("threads");
    let park_ns = s.spawn("parks", None, || {
        let began = clock::now_ns();
        for _ in 0..ROUNDS {
            task::yield_now();
        }
        clock::now_ns() - began
    });
    let other = s.spawn("other", None, || (0..ROUNDS).for_each(|_| task::yield_now()));
    let ns = park_ns.join().expect("no panic");
    other.join().expect("no panic");
    s.stop();
    println!(
        "yield to another task, clock and statistics included: {:.1} ns",
        ns as f64 / (2 * ROUNDS) as f64
    );
    println!("bare switch to a coroutine and back: {:.1} ns", bare());
}

fn bare() -> f64 {
    const ROUNDS: u64 = 20_000_000;
    let mut c = corosensei::Coroutine::<(), (), ()>::new(|y, ()| {
        for _ in 0..ROUNDS {
            y.suspend(());
        }
    });
    let began = clock::now_ns();
    while let corosensei::CoroutineResult::Yield(()) = c.resume(()) {}
    (clock::now_ns() - began) as f64 / ROUNDS as f64
}

/// Two tasks hand a turn to each other: on one scheduler, or across two.
fn wake(across: bool) {
    const ROUNDS: usize = 200_000;
    let s = Schedulers::start(Config::with_count(2)).expect("threads");
    let turn = Arc::new(AtomicUsize::new(0));
    let wakers: Arc<[parking_lot::Mutex<Option<task::Waker>>; 2]> = Arc::default();
    let began = clock::now_ns();
    let tasks: Vec<_> = (0..2)
        .map(|me| {
            let (turn, wakers) = (turn.clone(), wakers.clone());
            s.spawn("ping", Some(if across { me } else { 0 }), move || {
                *wakers[me].lock() = Some(task::current_waker());
                while wakers[1 - me].lock().is_none() {
                    task::yield_now();
                }
                for round in 0..ROUNDS {
                    while turn.load(Acquire) != 2 * round + me {
                        task::park(Misc, None);
                    }
                    turn.fetch_add(1, AcqRel);
                    if let Some(other) = &*wakers[1 - me].lock() {
                        other.wake();
                    }
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(|t| t.join().expect("no panic"));
    let ns = (clock::now_ns() - began) as f64 / (2 * ROUNDS) as f64;
    s.stop();
    println!(
        "wake a parked task, {}: {ns:.0} ns",
        if across { "other scheduler" } else { "same scheduler" }
    );
}

/// `writers` tasks or threads, each with a durable write of 4 KiB in flight, again and again.
fn flushes(mode: IoMode, file: &Arc<dyn File>, writers: usize, seconds: u64, coroutines: bool) {
    let stop = Arc::new(AtomicBool::new(false));
    let latencies = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let body = |i: usize| {
        let (file, stop, latencies) = (file.clone(), stop.clone(), latencies.clone());
        move || {
            let bytes = stdx::AlignedBuf::zeroed(4096);
            let mut mine = Vec::new();
            while !stop.load(Relaxed) {
                let began = clock::now_ns();
                file.write_all_at(i as u64 * 4096, &bytes, true, WriteLog).expect("written");
                mine.push(clock::now_ns() - began);
            }
            latencies.lock().append(&mut mine);
        }
    };
    let cpu = clock::process_cpu_ns();
    let began = clock::now_ns();
    let nap = || std::thread::sleep(std::time::Duration::from_secs(seconds));
    if coroutines {
        let s = Schedulers::start(Config::default()).expect("threads");
        let tasks: Vec<_> = (0..writers).map(|i| s.spawn("writer", None, body(i))).collect();
        nap();
        stop.store(true, Relaxed);
        tasks.into_iter().for_each(|t| t.join().expect("no panic"));
        s.stop();
    } else {
        let threads: Vec<_> = (0..writers).map(|i| std::thread::spawn(body(i))).collect();
        nap();
        stop.store(true, Relaxed);
        threads.into_iter().for_each(|t| t.join().expect("no panic"));
    }
    let elapsed_s = (clock::now_ns() - began) as f64 / 1e9;
    let cpu_s = (clock::process_cpu_ns() - cpu) as f64 / 1e9;
    let mut all = latencies.lock();
    all.sort_unstable();
    let at = |q: f64| all[((all.len() - 1) as f64 * q) as usize] as f64 / 1e3;
    println!(
        "{mode:?}, {writers:3} {}: {:6.0} flushes/s, p10 {:.0} p50 {:.0} p99 {:.0} us, {:.1} us of CPU a flush",
        if coroutines { "coroutines" } else { "OS threads" },
        all.len() as f64 / elapsed_s,
        at(0.1),
        at(0.5),
        at(0.99),
        cpu_s * 1e6 / all.len() as f64,
    );
}
