//! The main experiment: singleton inserts into a durable table, from a loop in a procedure.
//!
//! A cell: a fresh instance in a fresh folder; N sessions, each a task; a warm-up that is cut; a
//! window that is measured; and at the end the count of the table against the rows acknowledged.

use crate::cell::{Cell, Moment, each_cell};
use crate::error::LabError;
use crate::load::{self, Shared, Work};
use crate::measure::{Figures, Window};
use crate::script::{self, Shape};
use crate::{Progress, flush};
use device::{FileSystem, IoMode, RealFs};
use engine::LogConfig;
use runtime::clock;
use session::{Instance, InstanceConfig, Switches};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// One cell for each.
    pub sessions: Vec<usize>,
    /// Length of the measured window.
    pub seconds: f64,
    /// Cut before the window.
    pub warmup_seconds: f64,
    /// Instead of a window: so many rows in all, measured from beginning to end.
    pub rows: Option<u64>,
    pub delayed: bool,
    /// Rows of a transaction; `None`: those of one INSERT.
    pub commit_every: Option<u64>,
    pub rows_per_insert: u64,
    pub spinlock: bool,
    pub dedicated: bool,
    /// The other switches.
    pub switches: Switches,
    /// A fresh folder is made in here for each cell.
    pub data: PathBuf,
    /// Leave the folders.
    pub keep: bool,
    /// Bytes of the buffer pool; `None`: 4 GiB, or half of what the machine has.
    pub buffer_pool_bytes: Option<u64>,
    /// CPUs to run on; empty: all.
    pub cpus: Vec<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            sessions: vec![1, 10],
            seconds: 10.0,
            warmup_seconds: 2.0,
            rows: None,
            delayed: true,
            commit_every: None,
            rows_per_insert: 1,
            spinlock: false,
            dedicated: false,
            switches: Switches::default(),
            data: PathBuf::from("data"),
            keep: false,
            buffer_pool_bytes: None,
            cpus: Vec::new(),
        }
    }
}

const MAX_SESSIONS: usize = 10_000;
/// Between two looks at the sessions' counts.
const TICK: Duration = Duration::from_millis(250);
/// Virtual log files of 64 MiB made in advance, so that the window does not pay for growth.
const LOG_VLFS: u32 = 32;
const LOG_MAX_BYTES: u64 = 4 << 30;

impl Options {
    /// Rows of a transaction.
    pub fn rows_per_transaction(&self) -> u64 {
        self.commit_every.unwrap_or(self.rows_per_insert)
    }

    fn check(&self) -> Result<(), LabError> {
        let refuse = |what: String| Err(LabError::Options(what));
        if self.sessions.is_empty() || self.sessions.iter().any(|&n| n == 0 || n > MAX_SESSIONS) {
            return refuse(format!("the number of sessions is between 1 and {MAX_SESSIONS}"));
        }
        if !(1..=1000).contains(&self.rows_per_insert) {
            return refuse("an INSERT takes 1 to 1000 rows".to_owned());
        }
        let per = self.rows_per_transaction();
        if per == 0 || !per.is_multiple_of(self.rows_per_insert) {
            return refuse(format!(
                "a commit every {per} rows is not a multiple of {} rows per insert",
                self.rows_per_insert
            ));
        }
        if self.rows.is_none() && !(self.seconds > 0.0 && self.warmup_seconds >= 0.0) {
            return refuse("the window must have a length".to_owned());
        }
        if self.rows.is_some_and(|rows| rows == 0) {
            return refuse("a run of no rows shows nothing".to_owned());
        }
        Ok(())
    }
}

/// Runs every cell. The first that fails ends the run; those before it are lost with it only for the
/// caller who did not take them from `progress`.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Vec<Cell>, LabError> {
    options.check()?;
    each_cell(&options.sessions, progress, |sessions, progress| {
        let folder = Folder::new(&options.data, options.keep)?;
        run_cell(options, sessions, &folder.path, progress)
    })
}

/// A fresh folder, removed with its contents when dropped, its parent too if that is empty then.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn new(data: &Path, keep: bool) -> Result<Folder, LabError> {
        let stamp = clock::unix_ns() / 1_000;
        let path = data.join(format!("lab-{}-{stamp}", std::process::id()));
        std::fs::create_dir_all(data)?;
        std::fs::create_dir(&path)?;
        Ok(Folder { path, keep })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // A folder left behind costs space, not figures.
            let _ = std::fs::remove_dir_all(&self.path);
            if let Some(data) = self.path.parent() {
                let _ = std::fs::remove_dir(data);
            }
        }
    }
}

fn run_cell(
    options: &Options,
    sessions: usize,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<Cell, LabError> {
    progress.step("creating the database");
    let fs: Arc<dyn FileSystem> = RealFs::new(IoMode::Auto)?;
    let instance = open(options, folder, &fs)?;
    let result = (|| {
        set_up(options, &instance)?;
        progress.step("touching the buffer pool's memory");
        instance.populate_memory();
        let device_flush = match options.delayed {
            true => None,
            false => {
                progress.step("measuring the device's own flush");
                Some(flush::measure(instance.schedulers(), &fs, folder)?)
            }
        };
        let (mut cell, acknowledged) = drive(options, sessions, &instance, progress)?;
        cell.device_flush = device_flush;
        progress.step("counting the rows");
        let found = on_session(&instance, |session| {
            load::execute(session, &format!("USE {};", script::DATABASE))?;
            load::number(session, script::COUNT)
        })?;
        if found != acknowledged {
            return Err(LabError::Lost { acknowledged, found });
        }
        cell.rows_verified = found;
        Ok(cell)
    })();
    let closed = instance.shutdown();
    let cell = result?;
    closed.map_err(|error| LabError::Open(format!("the instance did not close: {error}")))?;
    Ok(cell)
}

/// A run of few rows needs no long log.
fn initial_vlfs(options: &Options) -> u32 {
    const ROWS_PER_VLF: u64 = 200_000;
    let wanted = options.rows.map_or(LOG_VLFS.into(), |rows| 2 + rows / ROWS_PER_VLF);
    wanted.min(LOG_VLFS.into()) as u32
}

fn open(
    options: &Options,
    folder: &Path,
    fs: &Arc<dyn FileSystem>,
) -> Result<Arc<Instance>, LabError> {
    let memory: u64 = topology::Topology::discover()
        .map(|t| t.nodes.iter().map(|n| n.memory_bytes).sum())
        .unwrap_or(0);
    let fitting = if memory == 0 { 1 << 30 } else { (memory / 2).min(4 << 30) };
    let config = InstanceConfig {
        cpus: options.cpus.clone(),
        buffer_pool_bytes: options.buffer_pool_bytes.unwrap_or(fitting),
        log: LogConfig {
            initial_vlfs: initial_vlfs(options),
            max_bytes: Some(LOG_MAX_BYTES),
            ..LogConfig::default()
        },
        switches: switches(options),
        ..InstanceConfig::new(folder, fs.clone())
    };
    Instance::open(config).map_err(|error| LabError::Open(error.to_string()))
}

fn switches(options: &Options) -> Switches {
    let mut switches = options.switches.clone();
    for (name, value, wanted) in [
        ("LOG_RESERVE", "SPINLOCK", options.spinlock),
        ("LOG_WRITER", "DEDICATED", options.dedicated),
    ] {
        if wanted && let Err(error) = switches.set(name, Some(value)) {
            stdx::fatal!("{error}");
        }
    }
    switches
}

fn set_up(options: &Options, instance: &Arc<Instance>) -> Result<(), LabError> {
    let shape = Shape {
        rows_per_insert: options.rows_per_insert,
        commit_every: options.rows_per_transaction(),
    };
    let (delayed, presized) = (options.delayed, options.rows.is_none());
    on_session(instance, move |session| {
        for batch in script::create_database(delayed, presized) {
            load::execute(session, &batch)?;
        }
        load::execute(session, &format!("USE {};", script::DATABASE))?;
        script::create_objects(shape).iter().try_for_each(|batch| load::execute(session, batch))
    })
}

/// Runs `body` on a session of its own and waits for it.
fn on_session<R: Send + 'static>(
    instance: &Arc<Instance>,
    body: impl FnOnce(&mut session::Session) -> Result<R, LabError> + Send + 'static,
) -> Result<R, LabError> {
    joined(instance.spawn_session("lab", body))
}

fn joined<R>(handle: scheduler::JoinHandle<Result<R, LabError>>) -> Result<R, LabError> {
    match handle.join() {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(LabError::Panicked(text.unwrap_or_else(|| "without a message".to_owned())))
        }
    }
}

/// Starts the sessions, watches them through warm-up and window, stops them. Returns the figures and
/// the rows acknowledged in all.
fn drive(
    options: &Options,
    sessions: usize,
    instance: &Arc<Instance>,
    progress: &mut dyn Progress,
) -> Result<(Cell, u64), LabError> {
    let shared = Shared::new(sessions);
    let share = |index: usize| {
        // The first sessions take what does not divide.
        options
            .rows
            .map(|rows| rows / sessions as u64 + u64::from((index as u64) < rows % sessions as u64))
    };
    let commit_every = options.rows_per_transaction();
    let handles: Vec<_> = (0..sessions)
        .map(|index| {
            load::spawn(instance, &shared, Work { index, commit_every, rows: share(index) })
        })
        .collect();
    while shared.ready.load(Relaxed) < sessions && !shared.failed.load(Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let began_ns = clock::now_ns();
    let mut window = options.rows.is_some().then(Window::open);
    let (mut rows_before, mut commits_before) = (0, 0);
    shared.start.store(true, Relaxed);

    let mut course = Vec::new();
    let (mut then_s, mut then_rows) = (0.0, 0);
    loop {
        let now_s = (clock::now_ns() - began_ns) as f64 / 1e9;
        let ends_s = options.warmup_seconds + options.seconds;
        if shared.failed.load(Relaxed) || handles.iter().all(|h| h.is_finished()) {
            break;
        }
        if options.rows.is_none() {
            if window.is_none() && now_s >= options.warmup_seconds {
                window = Some(Window::open());
                (rows_before, commits_before) = (shared.rows(), shared.commits());
            }
            if now_s >= ends_s {
                break;
            }
        }
        let rows = shared.rows();
        if now_s - then_s >= TICK.as_secs_f64() * 0.9 {
            let rows_per_s = (rows - then_rows) as f64 / (now_s - then_s);
            course.push(Moment { at_s: now_s, rows_per_s });
            progress.tick(now_s, rows, rows_per_s, window.is_some());
            (then_s, then_rows) = (now_s, rows);
        }
        // Sleeps no longer than to the next edge: of the warm-up, or of the window.
        let edge_s = if window.is_none() { options.warmup_seconds } else { ends_s };
        let nap = if options.rows.is_some() {
            TICK / 10
        } else {
            TICK.min(Duration::from_secs_f64((edge_s - now_s).max(0.0002)))
        };
        std::thread::sleep(nap);
    }
    let rows = shared.rows() - rows_before;
    let commits = shared.commits() - commits_before;
    let figures = window.map(Window::close);
    shared.stop.store(true, Relaxed);
    let mut first_error = Ok(());
    for handle in handles {
        first_error = first_error.and(joined(handle));
    }
    first_error?;
    let Some(figures) = figures else {
        return Err(LabError::Options("the sessions ended before the window began".to_owned()));
    };
    let cell =
        fill(options, sessions, instance.schedulers().count(), rows, commits, course, figures);
    Ok((cell, shared.rows()))
}

fn fill(
    options: &Options,
    sessions: usize,
    schedulers: usize,
    rows: u64,
    commits: u64,
    course: Vec<Moment>,
    f: Figures,
) -> Cell {
    let per_s = |n: u64| n as f64 / f.seconds;
    let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    Cell {
        experiment: "singleton-insert",
        target: "embedded",
        mode: "procedure",
        sessions,
        durability: if options.delayed { "delayed" } else { "full" },
        commit_every: options.rows_per_transaction(),
        rows_per_insert: options.rows_per_insert,
        log_reserve: if options.spinlock { "spinlock" } else { "lanes" },
        log_writer: if options.dedicated { "dedicated" } else { "leader" },
        seconds: f.seconds,
        rows,
        rows_verified: 0,
        rows_per_s: per_s(rows),
        commits_per_s: per_s(commits),
        p10_us: f.p10_us,
        p50_us: f.p50_us,
        p99_us: f.p99_us,
        commits_timed: f.commits_timed,
        cpu_s: Some(f.cpu_s),
        schedulers,
        log_flushes_per_s: per_s(f.log_flushes),
        log_bytes_per_flush: ratio(f.log_bytes, f.log_flushes),
        log_mb_per_s: per_s(f.log_bytes) / 1e6,
        log_bytes_per_row: ratio(f.log_bytes, rows),
        context_switches_per_s: per_s(f.context_switches),
        page_reads: f.page_reads,
        page_writes: f.page_writes,
        device_flush: None,
        waits: f.waits,
        spins: f.spins,
        latches: f.latches,
        course,
        version: env!("CARGO_PKG_VERSION"),
    }
}
