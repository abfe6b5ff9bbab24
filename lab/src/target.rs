//! What a workload runs on, and what it shows while it runs. Open to targets from outside: the binary registers the
//! kinds that it was built with.
//!
//! The order of calls is fixed: [`Target::prepare`] makes the database and stands all sessions at the line;
//! [`Load::start`] lets them go; [`Load::open_window`] and [`Load::close_window`] frame what is measured, with
//! [`Load::sample`] in between; [`Load::finish`] stops the sessions, counts the rows and removes the database. The clock,
//! warm-up, window, ticks and the cell itself are the driver's ([`crate::Bench`]), the same for all targets.

use crate::Progress;
use crate::checked::Verdict;
use crate::document::{
    DeviceFlush, Figure, Histogram, Latch, Spin, TargetDescription, Wait, WritePhase,
};
use crate::error::LabError;
use crate::workload::{Settings, Workload};
use std::collections::BTreeMap;

/// A spelling of `--target` that makes targets.
pub trait TargetKind: Sync {
    /// How it is spelt and what it is, for the help: `("mssql://HOST", "any SQL Server")`.
    fn help(&self) -> (&'static str, &'static str);

    /// `None`: the text is not of this kind.
    fn parse(&self, text: &str) -> Option<Result<Box<dyn Target>, LabError>>;
}

/// A database under test.
pub trait Target {
    /// Unique in a run: `embedded`, `postgres`.
    fn name(&self) -> &str;

    /// Switches of the engine that it has, by the names of [`Workload::switches`].
    fn switches(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the engine runs in this process, so that CPU time and profiles are its own.
    fn is_in_process(&self) -> bool {
        false
    }

    /// Version and settings; asked after the last cell, so that what a cell started is known.
    fn describe(&mut self) -> TargetDescription;

    /// A database of its own for this cell, and every session standing at the line.
    fn prepare(
        &mut self,
        workload: &Workload,
        settings: &Settings,
        progress: &mut dyn Progress,
    ) -> Result<Box<dyn Load>, LabError>;
}

/// Sessions at work. Dropped without [`Load::finish`], it stops them and removes what it made.
pub trait Load {
    /// Lets all sessions go.
    fn start(&mut self);

    /// Acknowledged since the start.
    fn done(&self) -> Done;

    /// No session is at work any more: one failed, or all have done their rows.
    fn has_ended(&self) -> bool;

    /// Statistics and latencies count from now on.
    fn open_window(&mut self) -> Result<(), LabError>;

    /// Cumulative figures, asked at each tick (100 ms): `None` where that would disturb the target. They may start
    /// anew at [`Load::open_window`].
    fn sample(&mut self) -> Option<Sample>;

    /// Latencies since the window was opened, asked about once a second.
    fn latency(&mut self) -> Option<Histogram>;

    /// Commits that wait to become durable at this moment, looked at every few milliseconds; `None`: not known.
    fn in_flight(&self) -> Option<u64> {
        None
    }

    /// Everything since [`Load::open_window`].
    fn close_window(&mut self) -> Result<Figures, LabError>;

    /// Of a load that checks itself: stops the sessions and asks what is there. After the window, before
    /// [`Load::finish`].
    fn verdict(&mut self, progress: &mut dyn Progress) -> Result<Option<Verdict>, LabError> {
        let _ = progress;
        Ok(None)
    }

    /// Stops the sessions, checks that the rows acknowledged are there ([`LabError::Lost`]), removes the database.
    /// Returns rows found.
    fn finish(self: Box<Self>, progress: &mut dyn Progress) -> Result<u64, LabError>;
}

/// Work acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    /// Transactions; of reads 0.
    pub commits: u64,
}

/// Cumulative figures of a target at a moment. What it does not tell is empty or `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    pub waits: BTreeMap<String, Wait>,
    pub spins: BTreeMap<String, Spin>,
    pub latches: BTreeMap<String, Latch>,
    pub log_flushes: Option<u64>,
    pub log_bytes: Option<u64>,
    pub context_switches: Option<u64>,
    pub page_reads: Option<u64>,
    pub page_writes: Option<u64>,
    /// Of the engine's process or processes, user and system.
    pub cpu_s: Option<f64>,
    /// Tasks ready to run and not running: at this moment, not cumulative.
    pub run_queue: Option<u64>,
}

/// What happened in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Differences over the window ([`Sample::since`]).
    pub sample: Sample,
    pub latency: Histogram,
    /// The exact mean of the commits that waited for the device, in nanoseconds, for the audit.
    pub commit_mean_ns: Option<f64>,
    pub schedulers: usize,
    /// See [`crate::Cell::scheduler_cpus`] and the field beside it.
    pub scheduler_cpus: Vec<usize>,
    pub scheduler_nodes: Vec<usize>,
    /// Switches as they were in force, given or not.
    pub switches: BTreeMap<String, String>,
    pub device_flush: Option<DeviceFlush>,
    pub log_writes: Vec<WritePhase>,
    /// See [`crate::Cell::wait_categories`].
    pub wait_categories: BTreeMap<String, String>,
    pub figures: BTreeMap<String, Figure>,
}

impl Sample {
    /// What has happened since `before`. A longest wait that has not risen was before, and how long those since then were
    /// is not known.
    #[must_use]
    pub fn since(&self, before: &Sample) -> Sample {
        let mut new = self.clone();
        for (name, wait) in &mut new.waits {
            if let Some(b) = before.waits.get(name) {
                wait.waiting_tasks_count =
                    wait.waiting_tasks_count.saturating_sub(b.waiting_tasks_count);
                wait.wait_time_ms = (wait.wait_time_ms - b.wait_time_ms).max(0.0);
                wait.signal_wait_time_ms =
                    (wait.signal_wait_time_ms - b.signal_wait_time_ms).max(0.0);
                wait.max_wait_time_ms = risen(wait.max_wait_time_ms, b.max_wait_time_ms);
            }
        }
        new.waits.retain(|name, wait| wait.waiting_tasks_count > 0 || name == "WRITELOG");
        for (name, spin) in &mut new.spins {
            if let Some(b) = before.spins.get(name) {
                spin.collisions = spin.collisions.saturating_sub(b.collisions);
                spin.spins = spin.spins.saturating_sub(b.spins);
                spin.sleep_time_ms = (spin.sleep_time_ms - b.sleep_time_ms).max(0.0);
                spin.backoffs = spin.backoffs.saturating_sub(b.backoffs);
            }
            spin.spins_per_collision = match spin.collisions {
                0 => 0.0,
                n => spin.spins as f64 / n as f64,
            };
        }
        for (name, latch) in &mut new.latches {
            if let Some(b) = before.latches.get(name) {
                latch.waiting_requests_count =
                    latch.waiting_requests_count.saturating_sub(b.waiting_requests_count);
                latch.wait_time_ms = (latch.wait_time_ms - b.wait_time_ms).max(0.0);
                latch.max_wait_time_ms = risen(latch.max_wait_time_ms, b.max_wait_time_ms);
            }
        }
        new.latches.retain(|_, latch| latch.waiting_requests_count > 0);
        let less = |now: Option<u64>, then: Option<u64>| {
            now.zip(then).map(|(now, then)| now.saturating_sub(then)).or(now)
        };
        new.log_flushes = less(self.log_flushes, before.log_flushes);
        new.log_bytes = less(self.log_bytes, before.log_bytes);
        new.context_switches = less(self.context_switches, before.context_switches);
        new.page_reads = less(self.page_reads, before.page_reads);
        new.page_writes = less(self.page_writes, before.page_writes);
        new.cpu_s = self.cpu_s.map(|now| (now - before.cpu_s.unwrap_or(0.0)).max(0.0));
        new
    }
}

/// The longest of a window, where it is longer than all before.
fn risen(now: Option<f64>, before: Option<f64>) -> Option<f64> {
    now.filter(|now| before.is_none_or(|before| *now > before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_is_the_windows_or_not_known() {
        let sample = |count: u64, max: f64| {
            let wait =
                Wait { waiting_tasks_count: count, max_wait_time_ms: Some(max), ..Wait::default() };
            Sample { waits: [("LCK_M_X".to_owned(), wait)].into(), ..Sample::default() }
        };
        let longest =
            |now: Sample, before: &Sample| now.since(before).waits["LCK_M_X"].max_wait_time_ms;
        assert_eq!(longest(sample(3, 80.0), &sample(1, 80.0)), None);
        assert_eq!(longest(sample(3, 90.0), &sample(1, 80.0)), Some(90.0));
        assert_eq!(longest(sample(3, 90.0), &Sample::default()), Some(90.0));
    }
}
