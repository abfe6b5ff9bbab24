//! A cache line handed from one CPU to another and back.
//!
//! Two threads, each pinned, share one aligned line. One writes odd numbers, the other even ones; each spins until the
//! other's number is there. The time of a hand-over is half of a round trip. The line lies in memory that a thread on a
//! chosen CPU touched first, so on that CPU's node.
//!
//! Ordering: a store is Release and a load Acquire. Nothing else is published through the line; the pair only forbids
//! that the hand-overs are reordered among themselves.

use super::{Effort, Spread};
use runtime::{clock, threads};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// Two lines: the prefetcher of x86 fetches them in pairs.
#[repr(align(128))]
struct Shared(AtomicU64);

/// Nanoseconds that a line takes from `from` to `to`, its home on the node of `home`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub from: usize,
    pub to: usize,
    pub home: usize,
    pub ns: Spread,
}

/// Every ordered pair of `cpus`; the line's home is the CPU that begins. With `n` CPUs `n * (n - 1)` figures. An error
/// if a thread cannot be pinned.
pub fn lines(cpus: &[usize], effort: Effort) -> io::Result<Vec<Line>> {
    let pairs: Vec<(usize, usize)> = cpus
        .iter()
        .flat_map(|&from| cpus.iter().map(move |&to| (from, to)))
        .filter(|(from, to)| from != to)
        .collect();
    let mut rounds = vec![Vec::with_capacity(effort.rounds); pairs.len()];
    for _ in 0..effort.rounds {
        for (&(from, to), of_pair) in pairs.iter().zip(&mut rounds) {
            of_pair.push(round(from, to, effort.handovers)?);
        }
    }
    let figures = pairs.into_iter().zip(rounds);
    Ok(figures
        .filter_map(|((from, to), rounds)| {
            Some(Line { from, to, home: from, ns: Spread::of(rounds)? })
        })
        .collect())
}

/// Nanoseconds of one hand-over.
fn round(from: usize, to: usize, handovers: u32) -> io::Result<f64> {
    let last = u64::from(handovers) * 2;
    let first = threads::spawn("line-home", move || -> io::Result<f64> {
        threads::pin_current(from)?;
        // Allocated and written here: its page is this CPU's.
        let line = Arc::new(Shared(AtomicU64::new(0)));
        let theirs = line.clone();
        let other = threads::spawn("line-away", move || {
            let pinned = threads::pin_current(to);
            // Answers also when it was not pinned: the other side must not wait for ever.
            let mut next = 1;
            while next < last {
                await_value(&theirs.0, next);
                theirs.0.store(next + 1, Release);
                next += 2;
            }
            pinned
        })?;
        // The first hand-over wakes the other side and is not counted.
        line.0.store(1, Release);
        await_value(&line.0, 2);
        let began = clock::now_ns();
        let mut next = 3;
        while next < last {
            line.0.store(next, Release);
            await_value(&line.0, next + 1);
            next += 2;
        }
        let took = clock::now_ns() - began;
        other.join().map_err(|_| io::Error::other("a measuring thread ended"))??;
        Ok(took as f64 / (last - 2) as f64)
    })?;
    first.join().map_err(|_| io::Error::other("a measuring thread ended"))?
}

fn await_value(line: &AtomicU64, value: u64) {
    let mut spins = 0u32;
    while line.load(Acquire) != value {
        std::hint::spin_loop();
        spins += 1;
        // Both may have to share a CPU when one is taken away.
        if spins == 1 << 16 {
            std::thread::yield_now();
            spins = 0;
        }
    }
}
