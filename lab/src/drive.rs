//! One cell: warm-up, window, ticks. The same for every target, on one clock.
//!
//! Invariants: rows counted in the window were acknowledged in it; statistics are opened before the rows are first
//! read and closed after they are last read, within a tick's work of each other.

use crate::audit::{self, Looks, Sources};
use crate::checked::Verdict;
use crate::document::{
    Cell, Figure, Histogram, LatencyMoment, Mark, MarkKind, Moment, Profile, Series, Spin, SpinCpu,
    Tick, Warmup,
};
use crate::error::LabError;
use crate::host::Host;
use crate::profile::{Profiler, Samples};
use crate::target::{Done, Figures, Load, Sample, Target};
use crate::workload::{Durability, Kind, Settings, Workload};
use crate::{Progress, Steady, wait_category};
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
/// Between two looks at the commits in flight.
const LOOK_S: f64 = 0.005;
/// The wait of those commits.
const LOG_WAIT: &str = "WRITELOG";
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
    let mut watch = Watch::new(workload, settings, interrupted);
    watch.is_profiled = settings.profile && target.is_in_process();
    if settings.profile && !watch.is_profiled {
        watch.unmeasured.push("the CPU of another process is not sampled".to_owned());
    }
    let watched = watch.run(&mut *load, progress);
    let verdict = match watched {
        Ok(_) => load.verdict(progress),
        Err(_) => Ok(None),
    };
    let found = load.finish(progress);
    // What went wrong first is what is told; a session's own error comes out of `finish`.
    let (watch, figures) = match (watched, &found) {
        (Ok(watched), _) => watched,
        (Err(LabError::NoWindow), Err(_)) => return Err(found.err().unwrap_or(LabError::NoWindow)),
        (Err(error), _) => return Err(error),
    };
    let verdict = verdict?;
    let rows_verified = found?;
    let mut cell = watch.into_cell(workload, figures);
    cell.target = target.name().to_owned();
    cell.rows_verified = rows_verified;
    if let Some(verdict) = verdict {
        tell(&mut cell, &verdict);
    }
    Ok(cell)
}

/// What a load that checks itself has found.
fn tell(cell: &mut Cell, verdict: &Verdict) {
    let mut figure = |name: String, value: u64, what: &str| {
        let (value, unit, what) = (value as f64, "transactions".to_owned(), what.to_owned());
        cell.figures.insert(name, Figure { value, unit, what });
    };
    let checked = cell.rows_verified;
    figure("checked".to_owned(), checked, "committed in the whole run, and found as they must be");
    figure("rolled back".to_owned(), verdict.rolled_back, "by their own wish, audits included");
    for (number, times) in &verdict.refused {
        let what = "refused by the server with this error, the whole run";
        figure(format!("error {number}"), *times, what);
    }
    let wrong = Figure {
        value: verdict.wrong.len() as f64,
        unit: "findings".to_owned(),
        what: "what a correct server never shows".to_owned(),
    };
    cell.figures.insert("wrong".to_owned(), wrong);
    let marks = verdict.wrong.iter().map(|text| Mark { kind: MarkKind::Wrong, text: text.clone() });
    cell.marks.extend(marks);
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
    looks: Looks,
    /// When the last look was, in seconds.
    looked_s: f64,
    /// The window is of commits that wait for the device, and the target tells how many do.
    is_audited: bool,
    is_profiled: bool,
    profiler: Option<Profiler>,
    /// Of the window, once it is closed.
    samples: Option<Samples>,
    unmeasured: Vec<String>,
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
            looks: Looks::default(),
            looked_s: 0.0,
            is_audited: false,
            is_profiled: false,
            profiler: None,
            samples: None,
            unmeasured: Vec::new(),
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
        let durable = self.workload.durability == Durability::Full;
        let inserts = self.workload.kind == Kind::Insert;
        self.is_audited = durable && inserts && load.in_flight().is_some();
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
            self.look(load, now_s);
            if now_s - self.then_s >= TICK_S * 0.9 {
                self.tick(load, progress);
            }
            // Sleeps no longer than to the next edge: of the warm-up, or of the window.
            let edge_s = match self.window.is_some() {
                true => ends_s,
                false if now_s < least_s => least_s,
                false => limit_s,
            };
            let longest_s = match () {
                () if self.is_audited && self.window.is_some() => LOOK_S,
                () if by_rows => TICK_S / 4.0,
                () => TICK_S,
            };
            let nap_s = longest_s.min(edge_s - now_s);
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
        // What comes now, counting and taking down, is not the load's.
        self.samples = self.profiler.take().map(Profiler::finish);
        Ok((self, figures))
    }

    /// Counts the commits in flight, in the window.
    fn look(&mut self, load: &dyn Load, now_s: f64) {
        if !self.is_audited || self.window.is_none() {
            return;
        }
        if let Some(count) = load.in_flight() {
            self.looks.add(count, now_s - self.looked_s);
        }
        self.looked_s = now_s;
    }

    fn open(&mut self, load: &mut dyn Load) -> Result<(), LabError> {
        if self.is_profiled {
            match Profiler::start() {
                Ok(profiler) => self.profiler = Some(profiler),
                Err(why) => self.unmeasured.push(why),
            }
        }
        load.open_window()?;
        self.sample = load.sample();
        let before = load.done();
        self.window = Some(Window { from_ns: clock::now_ns(), before, steal_before: Host::now() });
        self.series.window_from_s = self.now_s();
        self.latency_then = (self.now_s(), Histogram::default());
        self.looked_s = self.now_s();
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
        if let Some(profiler) = &mut self.profiler {
            profiler.drain();
        }
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

    fn into_cell(mut self, workload: &Workload, f: Figures) -> Cell {
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
        let audit = audit::audit(&Sources {
            seconds: self.seconds,
            commits,
            commit_mean_ns: f.commit_mean_ns.unwrap_or(0.0),
            looks: self.looks,
            wait_ms: f.sample.waits.get(LOG_WAIT).map_or(0.0, |wait| wait.wait_time_ms),
        })
        .filter(|_| f.commit_mean_ns.is_some());
        if let Some(audit) = audit.as_ref().filter(|audit| !audit.agrees) {
            let text = format!(
                "commits in flight are {:.1} by throughput and latency, {:.1} counted, {:.1} by waits: {:.0}% apart",
                audit.by_throughput,
                audit.by_count,
                audit.by_waits,
                audit.spread * 100.0
            );
            mark(MarkKind::Audit, text);
        }
        self.unmeasured.iter().for_each(|why| mark(MarkKind::Unmeasured, why.clone()));
        let mut wait_categories = f.wait_categories;
        for name in f.sample.waits.keys() {
            let category = || wait_category::of_sql_server(name).to_owned();
            wait_categories.entry(name.clone()).or_insert_with(category);
        }
        let profile = self.samples.take().map(|samples| {
            let waits: Vec<_> = f
                .sample
                .waits
                .iter()
                .map(|(name, w)| {
                    (name.clone(), wait_categories[name].as_str(), (w.wait_time_ms * 1e3) as u64)
                })
                .filter(|(_, category, us)| *us > 0 && *category != "idle")
                .collect();
            samples.profile(&waits)
        });
        let spin_cpu = spin_cpu(&f.sample, rows, profile.as_ref());
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
            commits_per_s: per_s(commits),
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
            audit,
            spin_cpu,
            profile,
            log_writes: f.log_writes,
            latency: f.latency,
            scheduler_cpus: f.scheduler_cpus,
            scheduler_nodes: f.scheduler_nodes,
            figures: f.figures,
            wait_categories,
            series: Some(self.series),
            ..Cell::default()
        }
    }
}

/// What the spins of this process cost; of another process's nothing is known.
fn spin_cpu(sample: &Sample, rows: u64, profile: Option<&Profile>) -> BTreeMap<String, SpinCpu> {
    let (Some(cost), Some(cpu_s)) = (telemetry::spins::cost(), sample.cpu_s) else {
        return BTreeMap::new();
    };
    let by_profile = |name: &str| {
        let listed =
            |p: &Profile| p.spinlocks.iter().find(|s| s.name == name).map_or(0.0, |s| s.total);
        profile.map(listed)
    };
    let spinning = sample
        .spins
        .iter()
        .filter(|(name, spin)| spin.spins > 0 || by_profile(name).is_some_and(|share| share > 0.0));
    spinning
        .map(|(name, spin)| {
            let cpu = SpinCpu {
                spins_per_row: spin.spins as f64 / rows.max(1) as f64,
                ns_per_spin: cost.ns,
                cycles_per_spin: (cost.cycles > 0.0).then_some(cost.cycles),
                share_by_clock: spin.spins as f64 * cost.ns / 1e9 / cpu_s.max(1e-9),
                share_by_profile: by_profile(name),
            };
            (name.clone(), cpu)
        })
        .collect()
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
