//! Memory of one node read from a CPU of another: latency by a chase, bandwidth by a sum.
//!
//! A thread on the node that shall hold the memory writes it first, which puts its pages there (mbind(2), the default
//! policy). The chase is one random cycle through lines: each address comes from the line before, so that no reads
//! overlap. Nodes without CPUs of ours cannot be written from there and are left out.

use super::{Effort, Spread};
use crate::Topology;
use runtime::{clock, random, threads};
use std::hint::black_box;
use std::io;
use std::sync::Arc;

const LINE_WORDS: usize = 8;

/// One node's memory read from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Whose CPU reads.
    pub from: usize,
    /// Whose memory it is.
    pub to: usize,
    pub latency_ns: Spread,
    /// 2^30 bytes a second, of one CPU.
    pub gib_per_s: Spread,
}

/// Every ordered pair of nodes that have CPUs of ours, and each with itself. An error if a thread cannot be pinned.
pub fn memory(machine: &Topology, effort: Effort) -> io::Result<Vec<Memory>> {
    let nodes: Vec<(usize, usize)> = machine
        .nodes
        .iter()
        .filter_map(|node| Some((node.id, machine.cpus_of(node.id).next()?.id)))
        .collect();
    let held = nodes
        .iter()
        .map(|&(_, cpu)| on(cpu, move || chain(effort.memory_bytes)))
        .collect::<io::Result<Vec<Arc<Vec<u64>>>>>()?;
    let mut all = Vec::new();
    for &(from, cpu) in &nodes {
        for (&(to, _), memory) in nodes.iter().zip(&held) {
            let memory = memory.clone();
            let (latency, bandwidth) = on(cpu, move || {
                let round = |_| (chase(&memory, effort.reads), sweep(&memory));
                (0..effort.rounds).map(round).unzip::<_, _, Vec<f64>, Vec<f64>>()
            })?;
            if let (Some(latency_ns), Some(gib_per_s)) =
                (Spread::of(latency), Spread::of(bandwidth))
            {
                all.push(Memory { from, to, latency_ns, gib_per_s });
            }
        }
    }
    Ok(all)
}

fn on<T: Send + 'static>(cpu: usize, f: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let thread = threads::spawn("memory", move || threads::pin_current(cpu).map(|()| f()))?;
    thread.join().map_err(|_| io::Error::other("a measuring thread ended"))?
}

/// Lines of which each names the next one's first word: one cycle through all (Sattolo's shuffle).
fn chain(bytes: usize) -> Arc<Vec<u64>> {
    let lines = (bytes / (LINE_WORDS * 8)).max(2);
    let mut order: Vec<u32> = (0..lines as u32).collect();
    for last in (1..lines).rev() {
        order.swap(last, (random::next_u64() % last as u64) as usize);
    }
    let mut words = vec![0u64; lines * LINE_WORDS];
    for (at, &next) in order.iter().enumerate() {
        words[at * LINE_WORDS] = u64::from(next) * LINE_WORDS as u64;
    }
    Arc::new(words)
}

/// Nanoseconds of a read. Begins anywhere, so that rounds do not walk in each other's cache lines.
fn chase(words: &[u64], reads: usize) -> f64 {
    let lines = (words.len() / LINE_WORDS) as u64;
    let mut at = (random::next_u64() % lines) as usize * LINE_WORDS;
    let began = clock::now_ns();
    for _ in 0..reads {
        at = words[at] as usize;
    }
    let took = clock::now_ns() - began;
    black_box(at);
    took as f64 / reads as f64
}

/// 2^30 bytes a second of reading in order: an eighth of the memory, somewhere.
fn sweep(words: &[u64]) -> f64 {
    let part = (words.len() / 8).max(1);
    let from = (random::next_u64() % (words.len() - part + 1) as u64) as usize;
    let began = clock::now_ns();
    let sums =
        words[from..from + part].chunks(LINE_WORDS).fold([0u64; LINE_WORDS], |mut sums, line| {
            sums.iter_mut().zip(line).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
            sums
        });
    let took = (clock::now_ns() - began).max(1);
    black_box(sums);
    (part * 8) as f64 / f64::from(1 << 30) / (took as f64 / 1e9)
}
