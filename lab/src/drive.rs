//! One cell: warm-up, window, ticks. The same for every target, on one clock.
//!
//! Invariants: rows counted in the window were acknowledged in it; statistics are opened before the rows are first
//! read and closed after they are last read, within a tick's work of each other.

use crate::document::{
    Cell, Histogram, LatencyMoment, Mark, MarkKind, Moment, Series, Spin, Tick, Warmup,
};
use crate::error::LabError;
use crate::host::Host;
use crate::target::{Done, Figures, Load, Sample, Target};
use crate::workload::{Kind, Settings, Workload};
use crate::{Progress, Steady};
use runtime::clock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Between two looks at the sessions' counts.
const TICK_S: f64 = 0.1;
/// Between two histograms, and between two moments of the course.
const LATENCY_S: f64 = 1.0;
const COURSE_S: f64 = 0.25;
/// The longest warm-up that nobody asked for, when the load does not settle.
const WARMUP_LIMIT: f64 = 4.0;
/// A share of time taken by the hypervisor above which a cell is marked.
const STEAL_LIMIT: f64 = 0.02;

/// Measures a workload on a target.
pub(crate) fn cell(
    target: &mut dyn Target,
    workload: &Workload,
    settings: &Settings,
    interrupted: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<Cell, LabError> {
    let mut load = target.prepare(workload, settings, progress)?;
    let watched = Watch::new(workload, settings, interrupted).run(&mut *load, progress);
    let found = load.finish(progress);
    // What went wrong first is what is told; a session's own error comes out of `finish`.
    let (watch, figures) = match (watched, &found) {
        (Ok(watched), _) => watched,
        (Err(LabError::NoWindow), Err(_)) => return Err(found.err().unwrap_or(LabError::NoWindow)),
        (Err(error), _) => return Err(error),
    };
    let rows_verified = found?;
    let mut cell = watch.into_cell(workload, figures);
    cell.target = target.name().to_owned();
    cell.rows_verified = rows_verified;
    Ok(cell)
}

struct Window {
    from_ns: u64,
    before: Done,
    steal_before: Host,
}

struct Watch<'a> {
    workload: &'a Workload,
    settings: &'a Settings,
    interrupted: &'a AtomicBool,
    began_ns: u64,
    warmup: Warmup,
    window: Option<Window>,
    series: Series,
    course: Vec<Moment>,
    steady: Steady,
    /// Of the last tick.
    then_s: f64,
    then: Done,
    sample: Option<Sample>,
    host: Host,
    course_then: (f64, u64),
    latency_then: (f64, Histogram),
    /// Of the window, when it was closed.
    seconds: f64,
    done: Done,
    steal: Option<f64>,
    was_cut_short: bool,
}

impl<'a> Watch<'a> {
    fn new(workload: &'a Workload, settings: &'a Settings, interrupted: &'a AtomicBool) -> Self {
        Watch {
            workload,
            settings,
            interrupted,
            began_ns: 0,
            warmup: Warmup::default(),
            window: None,
            series: Series::default(),
            course: Vec::new(),
            steady: Steady::default(),
            then_s: 0.0,
            then: Done::default(),
            sample: None,
            host: Host::default(),
            course_then: (0.0, 0),
            latency_then: (0.0, Histogram::default()),
            seconds: 0.0,
            done: Done::default(),
            steal: None,
            was_cut_short: false,
        }
    }

    fn now_s(&self) -> f64 {
        (clock::now_ns() - self.began_ns) as f64 / 1e9
    }

    /// Warm-up and window; the sessions are at work afterwards.
    fn run(
        mut self,
        load: &mut dyn Load,
        progress: &mut dyn Progress,
    ) -> Result<(Self, Figures), LabError> {
        self.began_ns = clock::now_ns();
        self.host = Host::now();
        self.sample = load.sample();
        let by_rows = self.workload.rows.is_some();
        if by_rows {
            self.open(load)?;
        }
        load.start();
        let least_s =
            self.settings.warmup_seconds.unwrap_or_else(|| (self.settings.seconds * 0.2).min(2.0));
        let limit_s = match self.settings.warmup_seconds {
            Some(s) => s,
            None => least_s * WARMUP_LIMIT,
        };
        loop {
            let now_s = self.now_s();
            if load.has_ended() {
                break;
            }
            if self.interrupted.load(Relaxed) {
                self.was_cut_short = true;
                break;
            }
            if self.window.is_none() && now_s >= least_s {
                let given = self.settings.warmup_seconds.is_some();
                let verdict = self.steady.judge();
                if given || verdict.is_steady || now_s >= limit_s {
                    self.warmup = Warmup {
                        seconds: now_s,
                        steady: (!given).then_some(verdict.is_steady),
                        why: if given { "its length was given".to_owned() } else { verdict.why },
                    };
                    self.open(load)?;
                }
            }
            let ends_s = match &self.window {
                Some(w) if !by_rows => {
                    (w.from_ns - self.began_ns) as f64 / 1e9 + self.settings.seconds
                }
                _ => f64::INFINITY,
            };
            if now_s >= ends_s {
                break;
            }
            if now_s - self.then_s >= TICK_S * 0.9 {
                self.tick(load, progress);
            }
            // Sleeps no longer than to the next edge: of the warm-up, or of the window.
            let edge_s = match self.window.is_some() {
                true => ends_s,
                false if now_s < least_s => least_s,
                false => limit_s,
            };
            let nap_s = if by_rows { TICK_S / 4.0 } else { TICK_S.min(edge_s - now_s) };
            std::thread::sleep(Duration::from_secs_f64(nap_s.max(0.0002)));
        }
        let Some(window) = &self.window else {
            return Err(match self.was_cut_short {
                true => LabError::Interrupted,
                false => LabError::NoWindow,
            });
        };
        let done = load.done();
        self.seconds = (clock::now_ns() - window.from_ns) as f64 / 1e9;
        self.steal = Host::now().steal_since(&window.steal_before);
        self.done = Done {
            rows: done.rows - window.before.rows,
            commits: done.commits - window.before.commits,
        };
        self.series.window_to_s = self.now_s();
        let figures = load.close_window()?;
        self.latency_tick(load, true);
        Ok((self, figures))
    }

    fn open(&mut self, load: &mut dyn Load) -> Result<(), LabError> {
        load.open_window()?;
        self.sample = load.sample();
        let before = load.done();
        self.window = Some(Window { from_ns: clock::now_ns(), before, steal_before: Host::now() });
        self.series.window_from_s = self.now_s();
        self.latency_then = (self.now_s(), Histogram::default());
        Ok(())
    }

    fn tick(&mut self, load: &mut dyn Load, progress: &mut dyn Progress) {
        let (now_s, done) = (self.now_s(), load.done());
        let seconds = now_s - self.then_s;
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        let mut tick = Tick {
            at_s: now_s,
            seconds,
            rows_per_s: rate(done.rows, self.then.rows),
            commits_per_s: rate(done.commits, self.then.commits),
            ..Tick::default()
        };
        let host = Host::now();
        tick.machine_busy = host.busy_since(&self.host);
        tick.steal = host.steal_since(&self.host);
        self.host = host;
        let sample = load.sample();
        if let (Some(now), Some(then)) = (&sample, &self.sample) {
            fill_tick(&mut tick, &now.since(then), seconds);
        }
        self.sample = sample;
        self.steady.add(&tick);
        progress.tick(now_s, done.rows, tick.rows_per_s, self.window.is_some());
        if now_s - self.course_then.0 >= COURSE_S * 0.9 {
            let rows_per_s = (done.rows - self.course_then.1) as f64 / (now_s - self.course_then.0);
            self.course.push(Moment { at_s: now_s, rows_per_s });
            self.course_then = (now_s, done.rows);
        }
        self.series.ticks.push(tick);
        (self.then_s, self.then) = (now_s, done);
        self.latency_tick(load, false);
    }

    fn latency_tick(&mut self, load: &mut dyn Load, last: bool) {
        let now_s = self.now_s();
        let due = now_s - self.latency_then.0 >= LATENCY_S || last;
        if self.window.is_none() || !due {
            return;
        }
        if let Some(all) = load.latency() {
            let histogram = all.since(&self.latency_then.1);
            if !histogram.buckets.is_empty() {
                self.series.latency.push(LatencyMoment { at_s: now_s, histogram });
            }
            self.latency_then = (now_s, all);
        }
    }

    fn into_cell(self, workload: &Workload, f: Figures) -> Cell {
        let per_s = |n: u64| n as f64 / self.seconds;
        let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        let Done { rows, commits } = self.done;
        let (flushes, bytes) = (f.sample.log_flushes.unwrap_or(0), f.sample.log_bytes.unwrap_or(0));
        let mut settings = workload.settings();
        settings.extend(f.switches.clone());
        let switch = |name: &str| {
            settings.get(name).cloned().unwrap_or_else(|| "as the server has it".to_owned())
        };
        let mut marks = Vec::new();
        let mut mark = |kind, text: String| marks.push(Mark { kind, text });
        if self.was_cut_short {
            let text = format!("ended by Ctrl-C after {:.1} s of the window", self.seconds);
            mark(MarkKind::CutShort, text);
        }
        if self.warmup.steady == Some(false) {
            mark(MarkKind::NotSteady, self.warmup.why.clone());
        }
        if workload.rows.is_none() {
            let verdict = Steady::of(
                self.series
                    .ticks
                    .iter()
                    .filter(|tick| tick.at_s - tick.seconds >= self.series.window_from_s - 0.02),
            );
            if verdict.is_drifting() {
                mark(MarkKind::Drifted, verdict.why);
            }
        }
        if let Some(steal) = self.steal.filter(|&steal| steal > STEAL_LIMIT) {
            let text = format!("the hypervisor took {:.1}% of the CPU time", steal * 100.0);
            mark(MarkKind::Steal, text);
        }
        let spins: BTreeMap<String, Spin> = f.sample.spins;
        Cell {
            experiment: String::new(),
            target: String::new(),
            mode: workload.mode.name().to_owned(),
            sessions: workload.sessions,
            durability: workload.durability.name().to_owned(),
            commit_every: workload.commit_every,
            rows_per_insert: workload.rows_per_insert,
            log_reserve: switch("log_reserve"),
            log_writer: switch("log_writer"),
            seconds: self.seconds,
            rows,
            rows_verified: 0,
            rows_per_s: per_s(rows),
            commits_per_s: if workload.kind == Kind::Insert { per_s(commits) } else { 0.0 },
            p10_us: f.latency.quantile_us(0.10),
            p50_us: f.latency.quantile_us(0.50),
            p99_us: f.latency.quantile_us(0.99),
            commits_timed: f.latency.count(),
            cpu_s: f.sample.cpu_s,
            schedulers: f.schedulers,
            log_flushes_per_s: per_s(flushes),
            log_bytes_per_flush: ratio(bytes, flushes),
            log_mb_per_s: per_s(bytes) / 1e6,
            log_bytes_per_row: ratio(bytes, rows),
            context_switches_per_s: per_s(f.sample.context_switches.unwrap_or(0)),
            page_reads: f.sample.page_reads.unwrap_or(0),
            page_writes: f.sample.page_writes.unwrap_or(0),
            device_flush: f.device_flush,
            waits: f.sample.waits,
            spins,
            latches: f.sample.latches,
            course: self.course,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cpu_ns_per_row: f.sample.cpu_s.filter(|_| rows > 0).map(|s| s * 1e9 / rows as f64),
            settings,
            warmup: self.warmup,
            marks,
            log_writes: f.log_writes,
            latency: f.latency,
            figures: f.figures,
            wait_categories: f.wait_categories,
            series: Some(self.series),
            ..Cell::default()
        }
    }
}

fn fill_tick(tick: &mut Tick, new: &Sample, seconds: f64) {
    let per_s = |n: u64| n as f64 / seconds;
    tick.cpus_used = new.cpu_s.map(|s| s / seconds);
    tick.run_queue = new.run_queue;
    tick.context_switches_per_s = new.context_switches.map(per_s);
    tick.log_flushes_per_s = new.log_flushes.map(per_s);
    tick.log_mb_per_s = new.log_bytes.map(|n| per_s(n) / 1e6);
    let waits = new.waits.iter().map(|(name, w)| (name.clone(), w.wait_time_ms / seconds));
    tick.waits_ms_per_s = waits.filter(|(_, ms)| *ms > 0.0).collect();
    let spins = new.spins.iter().map(|(name, s)| (name.clone(), per_s(s.spins)));
    tick.spins_per_s = spins.filter(|(_, n)| *n > 0.0).collect();
    let latches = new.latches.iter().map(|(name, l)| (name.clone(), l.wait_time_ms / seconds));
    tick.latches_ms_per_s = latches.filter(|(_, ms)| *ms > 0.0).collect();
}
