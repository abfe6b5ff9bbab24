//! A window of time: statistics cleared at its beginning, read at its end.

use crate::cell::{Latch, Spin, Wait};
use runtime::clock;
use std::collections::BTreeMap;
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

const COUNTED: &[Counter] = &[
    Counter::LogFlushes,
    Counter::LogBytesFlushed,
    Counter::ContextSwitches,
    Counter::PageReads,
    Counter::PageWrites,
];

pub(crate) struct Window {
    began_ns: u64,
    cpu_ns: u64,
    counts: Vec<u64>,
}

/// What happened in a window.
pub(crate) struct Figures {
    pub seconds: f64,
    pub cpu_s: f64,
    pub log_flushes: u64,
    pub log_bytes: u64,
    pub context_switches: u64,
    pub page_reads: u64,
    pub page_writes: u64,
    pub p10_us: Option<f64>,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub commits_timed: u64,
    pub waits: BTreeMap<String, Wait>,
    pub spins: BTreeMap<String, Spin>,
    pub latches: BTreeMap<String, Latch>,
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl Window {
    pub fn open() -> Window {
        waits::clear();
        spins::clear();
        latches::clear();
        commits::clear();
        Window {
            counts: COUNTED.iter().map(|&c| counters::get(c)).collect(),
            cpu_ns: clock::process_cpu_ns(),
            began_ns: clock::now_ns(),
        }
    }

    pub fn close(self) -> Figures {
        let seconds = (clock::now_ns() - self.began_ns) as f64 / 1e9;
        let cpu_s = (clock::process_cpu_ns() - self.cpu_ns) as f64 / 1e9;
        let since = |i: usize| counters::get(COUNTED[i]) - self.counts[i];
        let latency = commits::snapshot();
        let us = |q| latency.quantile_ns(q).map(|ns| ns as f64 / 1e3);
        Figures {
            seconds,
            cpu_s,
            log_flushes: since(0),
            log_bytes: since(1),
            context_switches: since(2),
            page_reads: since(3),
            page_writes: since(4),
            p10_us: us(0.10),
            p50_us: us(0.50),
            p99_us: us(0.99),
            commits_timed: latency.count(),
            waits: wait_figures(),
            spins: spin_figures(),
            latches: latch_figures(),
        }
    }
}

fn wait_figures() -> BTreeMap<String, Wait> {
    let all = waits::snapshot().into_iter();
    all.filter(|w| w.waiting_tasks_count > 0 || w.name == "WRITELOG")
        .map(|w| {
            let figures = Wait {
                waiting_tasks_count: w.waiting_tasks_count,
                wait_time_ms: ms(w.wait_time_ns),
                max_wait_time_ms: ms(w.max_wait_time_ns),
                signal_wait_time_ms: ms(w.signal_wait_time_ns),
            };
            (w.name.to_owned(), figures)
        })
        .collect()
}

fn spin_figures() -> BTreeMap<String, Spin> {
    spins::snapshot()
        .into_iter()
        .map(|s| {
            let per = if s.collisions == 0 { 0.0 } else { s.spins as f64 / s.collisions as f64 };
            let figures = Spin {
                collisions: s.collisions,
                spins: s.spins,
                spins_per_collision: per,
                sleep_time_ms: ms(s.sleep_time_ns),
                backoffs: s.backoffs,
            };
            (s.name.to_owned(), figures)
        })
        .collect()
}

fn latch_figures() -> BTreeMap<String, Latch> {
    let all = latches::snapshot().into_iter().filter(|l| l.waiting_tasks_count > 0);
    all.map(|l| {
        let figures = Latch {
            waiting_requests_count: l.waiting_tasks_count,
            wait_time_ms: ms(l.wait_time_ns),
            max_wait_time_ms: ms(l.max_wait_time_ns),
        };
        (l.name.to_owned(), figures)
    })
    .collect()
}
