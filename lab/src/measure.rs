//! This process's own statistics, as samples.

use crate::document::{Histogram, Latch, Spin, Wait};
use crate::target::Sample;
use runtime::clock;
use telemetry::{Counter, commits, counters, latches, spins, waits};

/// Waits of the engine's own helpers, which say nothing about the load.
const IDLE: &[&str] = &[
    "SLEEP_TASK",
    "SLEEP_BPOOL_FLUSH",
    "CHECKPOINT_QUEUE",
    "LAZYWRITER_SLEEP",
    "DIRTY_PAGE_POLL",
    "LOGMGR_QUEUE",
    "SOS_WORK_DISPATCHER",
    "WAITFOR",
    "MISCELLANEOUS",
];

/// Whether a wait type belongs to idle helpers.
pub(crate) fn is_idle(name: &str) -> bool {
    IDLE.contains(&name)
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Figures start from zero, but for those that only rise.
pub(crate) fn clear() {
    waits::clear();
    spins::clear();
    latches::clear();
    commits::clear();
}

/// Everything since the last [`clear`], or since the process began for what only rises.
pub(crate) fn sample() -> Sample {
    let waits = waits::snapshot().into_iter();
    let waits = waits.filter(|w| w.waiting_tasks_count > 0 || w.name == "WRITELOG").map(|w| {
        let figures = Wait {
            waiting_tasks_count: w.waiting_tasks_count,
            wait_time_ms: ms(w.wait_time_ns),
            max_wait_time_ms: ms(w.max_wait_time_ns),
            signal_wait_time_ms: ms(w.signal_wait_time_ns),
        };
        (w.name.to_owned(), figures)
    });
    let spins = spins::snapshot().into_iter().map(|s| {
        let per = if s.collisions == 0 { 0.0 } else { s.spins as f64 / s.collisions as f64 };
        let figures = Spin {
            collisions: s.collisions,
            spins: s.spins,
            spins_per_collision: per,
            sleep_time_ms: ms(s.sleep_time_ns),
            backoffs: s.backoffs,
        };
        (s.name.to_owned(), figures)
    });
    let latches = latches::snapshot().into_iter().filter(|l| l.waiting_tasks_count > 0).map(|l| {
        let figures = Latch {
            waiting_requests_count: l.waiting_tasks_count,
            wait_time_ms: ms(l.wait_time_ns),
            max_wait_time_ms: ms(l.max_wait_time_ns),
        };
        (l.name.to_owned(), figures)
    });
    Sample {
        waits: waits.collect(),
        spins: spins.collect(),
        latches: latches.collect(),
        log_flushes: Some(counters::get(Counter::LogFlushes)),
        log_bytes: Some(counters::get(Counter::LogBytesFlushed)),
        context_switches: Some(counters::get(Counter::ContextSwitches)),
        page_reads: Some(counters::get(Counter::PageReads)),
        page_writes: Some(counters::get(Counter::PageWrites)),
        cpu_s: Some(clock::process_cpu_ns() as f64 / 1e9),
        run_queue: None,
    }
}

/// Commits since the last [`clear`].
pub(crate) fn latency() -> Histogram {
    let buckets = commits::snapshot().buckets().map(|(ns, n)| (ns as f64 / 1e3, n)).collect();
    Histogram { buckets }
}
