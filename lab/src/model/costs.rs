//! What small things cost here, without an engine: a task's turn, a line that another CPU has had, the lock and the copy.
//!
//! Each figure is the least of many short rounds, as a neighbour of the machine makes rounds longer and nothing makes them
//! shorter. The threads are bound to CPUs; with one CPU what takes two is not measured.

use crate::error::LabError;
use runtime::spin::SpinLock;
use runtime::{clock, task, threads};
use scheduler::Schedulers;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use telemetry::{SpinClass, WaitType};

const ROUNDS: usize = 20;
/// Rounds end after so long, on a machine where others leave no CPU.
const LIMIT_NS: u64 = 1_000_000_000;

/// From one task's wake of another until that runs: on one scheduler, and on two that are awake. Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    pub own_ns: f64,
    /// Of a task on another scheduler; as `own_ns` where there is one only.
    pub other_ns: f64,
}

/// Hand-overs of a round.
const HANDOVERS: u64 = 200;

/// Two tasks that wake each other.
pub fn turns(schedulers: &Arc<Schedulers>) -> Result<Turns, LabError> {
    let own_ns = hand_over(schedulers, 0, 0)?;
    let other_ns = if schedulers.count() > 1 { hand_over(schedulers, 0, 1)? } else { own_ns };
    Ok(Turns { own_ns, other_ns })
}

fn hand_over(schedulers: &Arc<Schedulers>, a: usize, b: usize) -> Result<f64, LabError> {
    let mut least = f64::INFINITY;
    let began = clock::now_ns();
    for _ in 0..ROUNDS {
        if least.is_finite() && clock::now_ns() - began > LIMIT_NS {
            break;
        }
        let turn = Arc::new(AtomicU64::new(0));
        let wakers: Arc<Mutex<[Option<task::Waker>; 2]>> = Arc::default();
        let player = |me: u64, on: usize| {
            let (turn, wakers) = (turn.clone(), wakers.clone());
            schedulers.spawn("hands over", Some(on), move || {
                let put = |waker| {
                    if let Ok(mut all) = wakers.lock() {
                        all[me as usize] = Some(waker);
                    }
                };
                put(task::current_waker());
                let other = loop {
                    let other = wakers.lock().ok().and_then(|all| all[1 - me as usize].clone());
                    match other {
                        Some(other) => break other,
                        None => task::yield_now(),
                    }
                };
                let began = clock::now_ns();
                let mut next = me;
                while next < HANDOVERS {
                    // As a commit waits: schedulers spin for the device.
                    while turn.load(Acquire) != next {
                        task::park(WaitType::WriteLog, None);
                    }
                    turn.store(next + 1, Release);
                    other.wake();
                    next += 2;
                }
                (clock::now_ns() - began) as f64 / HANDOVERS as f64
            })
        };
        let players = [player(0, a), player(1, b)];
        for player in players {
            let ns = player.join().map_err(|_| LabError::Panicked("hands over".to_owned()))?;
            least = least.min(ns);
        }
    }
    Ok(least)
}

/// What is measured on one CPU, on this one; anywhere where none is known.
pub fn on<T: Send + 'static>(
    cpu: Option<usize>,
    measure: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LabError> {
    let thread = threads::spawn("measures", move || {
        cpu.map_or(Ok(()), threads::pin_current).map(|()| measure())
    })?;
    let measured = thread.join().map_err(|_| LabError::Panicked("measures".to_owned()))?;
    Ok(measured?)
}

/// The lock taken, so many bytes copied, and the lock let go, nobody else wanting it: with the copy, and without it.
/// Nanoseconds. The copies go round a buffer of the size of the log's, so that its lines come from where the log's do;
/// all of it was touched before.
pub fn lock(bytes: usize) -> (f64, f64) {
    const TURNS: usize = 20_000;
    const RING: usize = 64 << 20;
    let from = vec![7u8; bytes];
    let lock = SpinLock::new(SpinClass::LogCacheAccess, vec![1u8; RING]);
    let mut at = 0;
    let mut round = |copies: bool| {
        let began = clock::now_ns();
        for _ in 0..TURNS {
            let mut ring = lock.lock();
            if copies {
                at = if at + 2 * bytes > RING { 0 } else { at + bytes };
                ring[at..at + bytes].copy_from_slice(std::hint::black_box(&from));
            }
            std::hint::black_box(&mut *ring);
        }
        (clock::now_ns() - began) as f64 / TURNS as f64
    };
    let mut least = |copies| (0..ROUNDS).map(|_| round(copies)).fold(f64::INFINITY, f64::min);
    (least(true), least(false))
}

/// Lines in order that another CPU had last. Nanoseconds of one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lines {
    /// To read lines that the other has written: what a log writer does.
    pub read_ns: f64,
    /// To write lines that the other has read, beyond writing lines of one's own, each record of so many bytes made
    /// visible before the next: what a worker does whose part of the log's buffer was last the writer's.
    pub taken_ns: f64,
}

/// Words of a line, and lines of the buffer: less than a core's own cache holds.
const WORDS: usize = 8;
const LINES: usize = 2_048;

/// By threads on two CPUs. Zero where there is one.
pub fn lines(cpus: &[usize], record_bytes: usize) -> Result<Lines, LabError> {
    let [a, b, ..] = *cpus else { return Ok(Lines::default()) };
    let record = record_bytes.div_ceil(64).clamp(1, LINES);
    let buffer: Arc<Vec<AtomicU64>> =
        Arc::new((0..LINES * WORDS).map(|_| AtomicU64::new(0)).collect());
    let phase = Arc::new(AtomicUsize::new(0));
    let failed = Arc::new(AtomicBool::new(false));
    // Phases: the worker writes, the writer reads, the worker writes again (taken), and once more (its own).
    let wait = |phase: &AtomicUsize, failed: &AtomicBool, wanted: usize| {
        while phase.load(Acquire) != wanted && !failed.load(Relaxed) {
            std::hint::spin_loop();
        }
    };
    let reader = {
        let (buffer, phase, failed) = (buffer.clone(), phase.clone(), failed.clone());
        threads::spawn("lines-writer", move || -> std::io::Result<f64> {
            let pinned = threads::pin_current(b);
            failed.fetch_or(pinned.is_err(), Relaxed);
            pinned?;
            let mut least = f64::INFINITY;
            for round in 0..ROUNDS {
                wait(&phase, &failed, 2 * round + 1);
                let began = clock::now_ns();
                let sum = buffer.iter().fold(0u64, |sum, word| sum ^ word.load(Relaxed));
                std::hint::black_box(sum);
                least = least.min((clock::now_ns() - began) as f64 / LINES as f64);
                phase.store(2 * round + 2, Release);
            }
            Ok(least)
        })?
    };
    let worker = threads::spawn("lines-worker", move || -> std::io::Result<f64> {
        let pinned = threads::pin_current(a);
        failed.fetch_or(pinned.is_err(), Relaxed);
        pinned?;
        // The lock of each record: an instruction that waits until all before it are seen.
        let lock = AtomicU64::new(0);
        let write = || {
            let began = clock::now_ns();
            for record in buffer.chunks(record * WORDS) {
                record.iter().for_each(|word| word.store(began, Relaxed));
                lock.fetch_add(1, AcqRel);
            }
            (clock::now_ns() - began) as f64 / LINES as f64
        };
        write();
        let (mut taken, mut own) = (f64::INFINITY, f64::INFINITY);
        for round in 0..ROUNDS {
            phase.store(2 * round + 1, Release);
            wait(&phase, &failed, 2 * round + 2);
            taken = taken.min(write());
            own = own.min(write());
        }
        Ok((taken - own).max(0.0))
    })?;
    let ended = || std::io::Error::other("a measuring thread ended");
    let taken_ns = worker.join().map_err(|_| ended())?;
    let read_ns = reader.join().map_err(|_| ended())?;
    Ok(Lines { read_ns: read_ns?, taken_ns: taken_ns? })
}

/// GHz that a core really runs at, which is not the clock of its time stamps: by steps that need each other's result, of
/// two instructions that take a cycle each on every x86 core since long. `None` on other machines.
pub fn core_ghz() -> Option<f64> {
    const STEPS: u64 = 100_000;
    let round = || {
        let began = clock::now_ns();
        let mut x = std::hint::black_box(0x1234_5678_9abc_def1_u64);
        for step in 0..STEPS {
            x = x.rotate_left(7) ^ step;
        }
        std::hint::black_box(x);
        (clock::now_ns() - began) as f64
    };
    let least = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
    let ghz = 2.0 * STEPS as f64 / least;
    (cfg!(target_arch = "x86_64") && (0.5..10.0).contains(&ghz)).then_some(ghz)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::Config;

    #[test]
    fn turns_and_locks_take_some_time() {
        let schedulers = Schedulers::start(Config::default()).expect("schedulers");
        let turns = turns(&schedulers).expect("measured");
        schedulers.stop();
        assert!(turns.own_ns > 1.0 && turns.own_ns < 1e6, "{turns:?}");
        assert!(turns.other_ns > 1.0 && turns.other_ns < 1e8, "{turns:?}");
        let (with, without) = lock(200);
        assert!(with > without && without > 0.1, "{with} {without}");
    }

    #[test]
    fn what_one_cpu_measures_runs_on_that_one() {
        let cpus = threads::process_affinity();
        for cpu in [cpus[0], cpus[cpus.len() - 1]] {
            let allowed = on(Some(cpu), || {
                let status =
                    std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
                let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
                line.and_then(topology::parse_cpulist)
            });
            assert_eq!(allowed.expect("measured"), Some(vec![cpu]));
        }
        assert_eq!(on(None, || 7).expect("anywhere"), 7);
        assert!(on(Some(99_999), || 7).is_err());
    }

    #[test]
    fn lines_that_another_had_cost_something_and_one_cpu_measures_none() {
        let cpus = threads::process_affinity();
        let lines = lines(cpus, 200).expect("measured");
        assert!(lines.read_ns >= 0.0 && lines.read_ns < 1e6, "{lines:?}");
        assert_eq!(super::lines(&cpus[..1], 200).expect("none"), Lines::default());
    }
}
