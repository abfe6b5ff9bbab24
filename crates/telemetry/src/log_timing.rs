//! Where the time of a log write goes, and where the time of those who wait for it: what
//! `sys.dm_millrace_log_write_timing` shows.
//!
//! A write is queued (since its oldest byte was seen to want writing), submitted (until the device has it), at the
//! device, and then noticed. A wait under WRITELOG is in the queue until a write that covers it is being submitted,
//! then in that write's submission and at the device with it, and then until it runs again; a wait that began after
//! its write was on its way has no part in what was before. So the phases of a wait add up to it, exactly.

use crate::histogram::{Cells, Histogram};
use crate::shard::{bump, each, mine};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

named! {
    /// Whose time.
    pub enum LogScope {
        Write = "WRITE",
        WriteLog = "WRITELOG",
    }
}

named! {
    /// Which part of it.
    pub enum LogPhase {
        Queue = "QUEUE",
        Submit = "SUBMIT",
        Device = "DEVICE",
        Wake = "WAKE",
        Total = "TOTAL",
    }
}

/// One write, or one wait, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogTimes {
    pub queue_ns: u64,
    pub submit_ns: u64,
    pub device_ns: u64,
    pub wake_ns: u64,
}

impl LogTimes {
    /// Cuts the time from `began` to `ended` at the moments in between; one that lies outside is moved to the nearer
    /// end, so the parts add up to the whole. `ended` is not before `began`.
    pub fn cut(began: u64, submit: u64, submitted: u64, completed: u64, ended: u64) -> LogTimes {
        let submit = submit.clamp(began, ended);
        let submitted = submitted.clamp(submit, ended);
        let completed = completed.clamp(submitted, ended);
        LogTimes {
            queue_ns: submit - began,
            submit_ns: submitted - submit,
            device_ns: completed - submitted,
            wake_ns: ended - completed,
        }
    }

    /// All of it.
    pub fn total_ns(&self) -> u64 {
        self.queue_ns + self.submit_ns + self.device_ns + self.wake_ns
    }
}

/// One thread's part; made when it first records.
pub(crate) struct LogCells {
    histograms: [[Cells; LogPhase::COUNT]; LogScope::COUNT],
    unexplained: AtomicU64,
}

impl LogCells {
    pub(crate) fn new() -> Box<LogCells> {
        Box::new(LogCells {
            histograms: std::array::from_fn(|_| std::array::from_fn(|_| Cells::default())),
            unexplained: AtomicU64::new(0),
        })
    }
}

/// A write, or a wait, is over.
pub fn record(scope: LogScope, times: LogTimes) {
    if !crate::RECORDING {
        return;
    }
    let of = &mine().log.get_or_init(LogCells::new).histograms[scope as usize];
    of[LogPhase::Queue as usize].record(times.queue_ns);
    of[LogPhase::Submit as usize].record(times.submit_ns);
    of[LogPhase::Device as usize].record(times.device_ns);
    of[LogPhase::Wake as usize].record(times.wake_ns);
    of[LogPhase::Total as usize].record(times.total_ns());
}

/// A wait is over whose write is no longer known (hundreds were written before the waiter ran again).
pub fn record_unexplained() {
    if crate::RECORDING {
        bump(&mine().log.get_or_init(LogCells::new).unexplained, 1);
    }
}

/// The histograms of both scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTiming {
    histograms: [[Histogram; LogPhase::COUNT]; LogScope::COUNT],
    /// Waits that are in no histogram.
    pub unexplained: u64,
}

impl LogTiming {
    /// One phase of one scope.
    pub fn get(&self, scope: LogScope, phase: LogPhase) -> &Histogram {
        &self.histograms[scope as usize][phase as usize]
    }

    /// What was recorded since an earlier look.
    pub fn since(&self, earlier: &LogTiming) -> LogTiming {
        let mut difference = self.clone();
        for (now, then) in
            difference.histograms.iter_mut().flatten().zip(earlier.histograms.iter().flatten())
        {
            *now = now.since(then);
        }
        difference.unexplained = self.unexplained.saturating_sub(earlier.unexplained);
        difference
    }
}

static BASE: Mutex<Option<LogTiming>> = Mutex::new(None);

/// Everything since the last [`clear`].
pub fn snapshot() -> LogTiming {
    let base = BASE.lock();
    let now = totals();
    match base.as_ref() {
        Some(base) => now.since(base),
        None => now,
    }
}

/// Figures start from zero.
pub fn clear() {
    let mut base = BASE.lock();
    *base = Some(totals());
}

fn totals() -> LogTiming {
    let mut all = LogTiming::default();
    each(|shard| {
        let Some(cells) = shard.log.get() else { return };
        for (sum, cells) in
            all.histograms.iter_mut().flatten().zip(cells.histograms.iter().flatten())
        {
            sum.add(cells);
        }
        all.unexplained += cells.unexplained.load(Relaxed);
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_whatever_the_order_of_the_moments() {
        // A wait that began while its write was at the device, one before, one that missed it.
        for (began, ended) in [(25, 60), (5, 60), (45, 60), (0, 15), (7, 7)] {
            let times = LogTimes::cut(began, 10, 20, 40, ended);
            assert_eq!(times.total_ns(), ended - began, "{times:?}");
        }
        let late = LogTimes::cut(25, 10, 20, 40, 60);
        assert_eq!(late, LogTimes { queue_ns: 0, submit_ns: 0, device_ns: 15, wake_ns: 20 });
    }

    #[test]
    fn what_was_recorded_is_told_until_it_is_cleared() {
        let before = snapshot();
        record(LogScope::Write, LogTimes { queue_ns: 1, submit_ns: 2, device_ns: 300, wake_ns: 4 });
        record_unexplained();
        let new = snapshot().since(&before);
        assert_eq!(new.get(LogScope::Write, LogPhase::Device).sum_ns(), 300);
        assert_eq!(new.get(LogScope::Write, LogPhase::Total).sum_ns(), 307);
        assert_eq!(new.get(LogScope::WriteLog, LogPhase::Total).count(), 0);
        assert_eq!(new.unexplained, 1);
        clear();
        assert_eq!(snapshot(), LogTiming::default());
    }
}
