//! This process's own statistics, as samples.

use crate::document::{Histogram, Latch, Spin, Wait, WritePhase};
use crate::target::Sample;
use runtime::clock;
use telemetry::{
    Counter, LogPhase, LogScope, commits, counters, latches, log_timing, spins, waits,
};

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
    log_timing::clear();
}

/// Everything since the last [`clear`], or since the process began for what only rises.
pub(crate) fn sample() -> Sample {
    let waits = waits::snapshot().into_iter();
    let waits = waits.filter(|w| w.waiting_tasks_count > 0 || w.name == "WRITELOG").map(|w| {
        let figures = Wait {
            waiting_tasks_count: w.waiting_tasks_count,
            wait_time_ms: ms(w.wait_time_ns),
            max_wait_time_ms: Some(ms(w.max_wait_time_ns)),
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
            max_wait_time_ms: Some(ms(l.max_wait_time_ns)),
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

/// The exact mean of commits since the last [`clear`], in nanoseconds.
pub(crate) fn commit_mean_ns() -> Option<f64> {
    commits::snapshot().mean_ns()
}

/// Where the time of log writes went since the last [`clear`], and, as `commit: ..`, that of those who waited for them.
pub(crate) fn log_writes() -> Vec<WritePhase> {
    let timing = log_timing::snapshot();
    let us = |ns: Option<f64>| ns.unwrap_or(0.0) / 1e3;
    let of = |scope, phase: LogPhase, name: &str| {
        let times = timing.get(scope, phase);
        let quantile = |q| us(times.quantile_ns(q).map(|ns| ns as f64));
        WritePhase {
            phase: name.to_owned(),
            count: times.count(),
            mean_us: us(times.mean_ns()),
            p50_us: quantile(0.5),
            p90_us: quantile(0.9),
            p99_us: quantile(0.99),
            max_us: quantile(1.0),
        }
    };
    let names = ["queue", "submit", "device", "wake-up", "total"];
    let phases = LogPhase::ALL.iter().zip(names);
    let writes = phases.clone().take(4).map(|(&phase, name)| of(LogScope::Write, phase, name));
    let commits =
        phases.map(|(&phase, name)| of(LogScope::WriteLog, phase, &format!("commit: {name}")));
    writes.chain(commits).filter(|phase| phase.count > 0).collect()
}
