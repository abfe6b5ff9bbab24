//! A rival as a target of the lab: one kind for each database, one target for a run, one load for a cell.
//!
//! The rival is started with the first cell and stopped when the target is dropped, so that a start is not paid for
//! again by each cell; the table is made anew.

use lab::document::{Figure, Histogram, TargetDescription, Wait};
use lab::target::{Done, Figures, Load, Sample, Target, TargetKind};
use lab::workload::{Kind as WorkKind, Mode, READ_ROWS, Settings, Workload};
use lab::{LabError, Progress};
use rival_harness::{
    Crew, Job, LatencySnapshot, Made, ON_CPU, Rival, RivalError, RivalKind, Start, Statistics,
    WaitTotals, Work, memory_bytes,
};
use std::cell::RefCell;
use std::rc::Rc;

/// A rival that `--target` knows.
pub struct Registered(pub &'static RivalKind);

fn told(error: RivalError) -> LabError {
    LabError::Connection(error.to_string())
}

impl TargetKind for Registered {
    fn help(&self) -> (&'static str, &'static str) {
        self.0.help
    }

    fn parse(&self, text: &str) -> Option<Result<Box<dyn Target>, LabError>> {
        let rival = self.0;
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let place = if scheme.is_some_and(|scheme| rival.schemes.contains(&scheme)) {
            Place::Address(text.to_owned())
        } else {
            let (word, options) = text.split_once('?').unwrap_or((text, ""));
            if word != rival.name && !rival.aliases.contains(&word) {
                return None;
            }
            if let Err(error) = (rival.check)(options) {
                return Some(Err(told(error.during(&format!("--target {text}")))));
            }
            Place::Own(options.to_owned())
        };
        let (start, connect) = (rival.start, rival.connect);
        Some(Ok(Box::new(RivalTarget {
            name: rival.name.to_owned(),
            in_process: rival.in_process,
            begins: match place {
                Place::Own(_) => "starting",
                Place::Address(_) => "connecting to",
            },
            make: Box::new(move |how| match &place {
                Place::Own(options) => start(options, how),
                Place::Address(address) => connect(address),
            }),
            rival: None,
            description: TargetDescription {
                name: rival.name.to_owned(),
                ..TargetDescription::default()
            },
        })))
    }
}

enum Place {
    Own(String),
    Address(String),
}

type Shared = Rc<RefCell<Box<dyn Rival>>>;

struct RivalTarget {
    name: String,
    in_process: bool,
    /// What is done with the first cell, in a word.
    begins: &'static str,
    make: Box<dyn Fn(&Start) -> Made>,
    /// Up since the first cell.
    rival: Option<Shared>,
    description: TargetDescription,
}

/// As the embedded engine has it: 4 GiB, or half of what the machine has.
fn buffer_pool_bytes(settings: &Settings) -> u64 {
    let fitting = memory_bytes().map_or(1 << 30, |bytes| (bytes / 2).min(4 << 30));
    settings.buffer_pool_bytes.unwrap_or(fitting)
}

fn job_of(workload: &Workload) -> Result<Job, LabError> {
    if workload.table != lab::Table::Disk {
        let why = "memory-optimised tables are SQL Server's: --target embedded or mssql://...";
        return Err(LabError::Options(why.to_owned()));
    }
    let work = match (workload.kind, workload.mode) {
        (WorkKind::Insert, Mode::Procedure) => Work::Procedure {
            commit_every: workload.commit_every,
            rows_per_insert: workload.rows_per_insert,
        },
        (WorkKind::Insert, Mode::Roundtrip) => Work::RoundtripInsert,
        (WorkKind::PointRead, Mode::Procedure) => Work::ProcedureRead { rows: READ_ROWS },
        (WorkKind::PointRead, Mode::Roundtrip) => Work::RoundtripRead { rows: READ_ROWS },
        (WorkKind::Checked(_) | WorkKind::Batch(_), _) => {
            let why = "this load speaks T-SQL: --target embedded or mssql://...";
            return Err(LabError::Options(why.to_owned()));
        }
    };
    let step = workload.rows_per_insert;
    let shares = (0..workload.sessions).filter_map(|index| workload.share(index));
    if shares.into_iter().any(|share| !share.is_multiple_of(step)) {
        return Err(LabError::Options(format!(
            "each session's share of --rows must be a multiple of {step} rows per insert"
        )));
    }
    let delayed = workload.durability == lab::workload::Durability::Delayed;
    Ok(Job { work, sessions: workload.sessions, delayed })
}

impl Target for RivalTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_in_process(&self) -> bool {
        self.in_process
    }

    fn describe(&mut self) -> TargetDescription {
        self.description.clone()
    }

    fn prepare(
        &mut self,
        workload: &Workload,
        settings: &Settings,
        progress: &mut dyn Progress,
    ) -> Result<Box<dyn Load>, LabError> {
        let job = job_of(workload)?;
        let rival = match &self.rival {
            Some(rival) => rival.clone(),
            None => {
                progress.step(&format!("{} {}", self.begins, self.name));
                let start = Start {
                    data: settings.data.clone(),
                    keep: settings.keep,
                    cpus: settings.cpus.clone(),
                    buffer_pool_bytes: buffer_pool_bytes(settings),
                    sessions_max: settings.sessions.iter().copied().max().unwrap_or(1),
                };
                let rival = (self.make)(&start).map_err(told)?;
                self.rival.insert(Rc::new(RefCell::new(rival))).clone()
            }
        };
        progress.step("making the table");
        let mut load = RivalLoad { rival, crew: None, job, before: None, made: true };
        let mut up = load.rival.borrow_mut();
        up.prepare(&job).map_err(told)?;
        self.description.version = up.version().to_owned();
        for (name, value) in up.settings() {
            tell_setting(&mut self.description, name, value);
        }
        for note in up.notes(&job) {
            if !self.description.notes.contains(&note) {
                self.description.notes.push(note);
            }
        }
        progress.step("connecting");
        let shares = (0..job.sessions).map(|index| workload.share(index)).collect();
        let crew = Crew::assemble(up.connector(&job), job, shares).map_err(told)?;
        up.watch().map_err(told)?;
        drop(up);
        load.crew = Some(crew);
        Ok(Box::new(load))
    }
}

/// A setting that changes from cell to cell (the durability) is told with each of its values.
fn tell_setting(description: &mut TargetDescription, name: &str, value: &str) {
    let told = description.settings.entry(name.to_owned()).or_default();
    if told.is_empty() {
        value.clone_into(told);
    } else if !told.split(" | ").any(|one| one == value) {
        told.push_str(" | ");
        told.push_str(value);
    }
}

impl Drop for RivalTarget {
    fn drop(&mut self) {
        let Some(rival) = self.rival.take() else { return };
        let closed = match Rc::try_unwrap(rival) {
            Ok(rival) => rival.into_inner().close(),
            // A load still lives: it has the last word, and dropping the rival stops its server.
            Err(_) => Ok(()),
        };
        if let Err(error) = closed {
            eprintln!("{}: {error}", self.name);
        }
    }
}

/// At the window's beginning.
struct Before {
    latency: LatencySnapshot,
    statistics: Statistics,
    waits: WaitTotals,
    cpu_s: Option<f64>,
    at: std::time::Instant,
}

struct RivalLoad {
    rival: Shared,
    crew: Option<Crew>,
    job: Job,
    before: Option<Before>,
    /// There is a table to be removed.
    made: bool,
}

impl RivalLoad {
    fn crew(&self) -> &Crew {
        self.crew.as_ref().expect("a load has a crew until it is finished")
    }

    fn waits(&self) -> Result<WaitTotals, RivalError> {
        self.rival.borrow().sampled().map_or(Ok(WaitTotals::new()), |sampler| sampler.totals())
    }

    fn look(&self) -> Result<Before, RivalError> {
        let statistics = self.rival.borrow_mut().statistics()?;
        Ok(Before {
            latency: self.crew().latency(),
            statistics,
            waits: self.waits()?,
            cpu_s: self.rival.borrow().cpu_s(),
            at: std::time::Instant::now(),
        })
    }
}

impl Load for RivalLoad {
    fn start(&mut self) {
        self.crew().start();
    }

    fn done(&self) -> Done {
        let (rows, commits) = self.crew().done();
        Done { rows, commits }
    }

    fn has_ended(&self) -> bool {
        self.crew().has_ended()
    }

    fn open_window(&mut self) -> Result<(), LabError> {
        self.before = Some(self.look().map_err(told)?);
        Ok(())
    }

    fn sample(&mut self) -> Option<Sample> {
        let waits = self.waits().ok()?;
        Some(Sample {
            waits: shown(&waits, &WaitTotals::new()),
            cpu_s: self.rival.borrow().cpu_s(),
            ..Sample::default()
        })
    }

    fn latency(&mut self) -> Option<Histogram> {
        let now = self.crew().latency();
        let new = self.before.as_ref().map_or(now.clone(), |before| now.since(&before.latency));
        Some(histogram(&new))
    }

    fn close_window(&mut self) -> Result<Figures, LabError> {
        let now = self.look().map_err(told)?;
        let Some(before) = self.before.take() else { return Err(LabError::NoWindow) };
        Ok(figures(&before, &now))
    }

    fn finish(mut self: Box<Self>, progress: &mut dyn Progress) -> Result<u64, LabError> {
        let crew = self.crew.take().expect("a load is finished once");
        let stopped = crew.stop();
        let mut rival = self.rival.borrow_mut();
        rival.unwatch();
        let acknowledged = stopped.map_err(told)?;
        let found = match self.job.work {
            Work::Procedure { .. } | Work::RoundtripInsert => {
                progress.step("counting the rows");
                rival.count().map_err(told)?
            }
            Work::ProcedureRead { .. } | Work::RoundtripRead { .. } => acknowledged,
        };
        progress.step("removing the table");
        let cleared = rival.clear();
        drop(rival);
        self.made = false;
        if found != acknowledged {
            return Err(LabError::Lost { acknowledged, found });
        }
        cleared.map_err(told)?;
        Ok(found)
    }
}

impl Drop for RivalLoad {
    fn drop(&mut self) {
        drop(self.crew.take());
        if self.made
            && let Ok(mut rival) = self.rival.try_borrow_mut()
        {
            rival.unwatch();
            // What went wrong first has been told; the rival's folder goes in any case.
            let _ = rival.clear();
        }
    }
}

/// The time of sessions on the CPU is no wait: it is told as a figure of its own.
fn shown(now: &WaitTotals, before: &WaitTotals) -> std::collections::BTreeMap<String, Wait> {
    let all = now.iter().filter(|(name, _)| *name != ON_CPU);
    all.filter_map(|(name, total)| {
        let (count, ms) = before.get(name).map_or((0, 0.0), |then| (then.count, then.ms));
        let wait = Wait {
            waiting_tasks_count: total.count - count,
            wait_time_ms: total.ms - ms,
            ..Wait::default()
        };
        (wait.waiting_tasks_count > 0).then(|| (name.clone(), wait))
    })
    .collect()
}

fn histogram(latency: &LatencySnapshot) -> Histogram {
    Histogram { buckets: latency.buckets().map(|(ns, n)| (ns as f64 / 1e3, n)).collect() }
}

fn figures(before: &Before, now: &Before) -> Figures {
    let seconds = (now.at - before.at).as_secs_f64().max(1e-9);
    let less = |now: Option<u64>, then: Option<u64>| {
        now.zip(then).map(|(now, then)| now.saturating_sub(then))
    };
    let (then, new) = (&before.statistics, &now.statistics);
    let on_cpu = |totals: &WaitTotals| totals.get(ON_CPU).map_or(0.0, |total| total.ms);
    let mut own = std::collections::BTreeMap::new();
    own.insert(
        "sessions_on_cpu".to_owned(),
        Figure {
            value: (on_cpu(&now.waits) - on_cpu(&before.waits)) / 1e3 / seconds,
            unit: "sessions".to_owned(),
            what: "on the CPU or ready for it, on average, as sampled".to_owned(),
        },
    );
    for (name, value) in &new.counters {
        let since = value - then.counters.get(name).copied().unwrap_or(0.0);
        if since != 0.0 {
            let what = "as the server counts it, over the window".to_owned();
            own.insert(name.clone(), Figure { value: since, unit: String::new(), what });
        }
    }
    Figures {
        sample: Sample {
            waits: shown(&now.waits, &before.waits),
            log_flushes: less(new.log_flushes, then.log_flushes),
            log_bytes: less(new.log_bytes, then.log_bytes),
            context_switches: less(new.context_switches, then.context_switches),
            page_reads: less(new.page_reads, then.page_reads),
            page_writes: less(new.page_writes, then.page_writes),
            cpu_s: now.cpu_s.zip(before.cpu_s).map(|(now, then)| now - then),
            ..Sample::default()
        },
        latency: histogram(&now.latency.since(&before.latency)),
        wait_categories: now
            .waits
            .iter()
            .map(|(name, total)| (name.clone(), total.class.name().to_owned()))
            .collect(),
        figures: own,
        ..Figures::default()
    }
}
