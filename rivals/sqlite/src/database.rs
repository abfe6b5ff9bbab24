//! The rival itself: a database in a folder of its own, and a desk connection for set-up.

use crate::gauge::{CHECKPOINT_BYTES, Gauge};
use crate::session::{self, Seated, Shape, failed};
use crate::sql;
use rival_harness::{
    Connect, Folder, Job, Options, Rival, RivalError, Sampler, Session, Settings, Start,
    Statistics, Work, own_cpu_s, process_switches, thread_state,
};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Between two looks at the sessions: a look reads a file of /proc for each.
const LOOK: Duration = Duration::from_millis(20);
/// Each connection has a cache of its own; together they take no more than the buffer pool would.
const CACHE_BYTES_MAX: u64 = 64 << 20;

/// Whether writers queue at a mutex, and the bytes of a page.
pub(crate) fn options(text: &str) -> Result<(bool, u64), RivalError> {
    let options = Options::parse(text, &["queue", "page"])?;
    let queue = match options.get("queue") {
        None | Some("mutex") => true,
        Some("busy") => false,
        Some(other) => {
            return Err(RivalError::new(
                format!("there is no queue `{other}`"),
                "queue=mutex (the default), or queue=busy for SQLite's own busy handler",
            ));
        }
    };
    let page = options.get("page").unwrap_or("4096");
    match page.parse::<u64>() {
        Ok(bytes) if bytes.is_power_of_two() && (512..=65_536).contains(&bytes) => {
            Ok((queue, bytes))
        }
        _ => Err(RivalError::new(
            format!("`{page}` is no size of a page"),
            "a power of two from 512 to 65536; 4096 is SQLite's default",
        )),
    }
}

/// SQLite, open. The fields are dropped in this order: the folder goes last.
pub struct Sqlite {
    sampler: Option<Sampler>,
    desk: Option<Connection>,
    gauge: Arc<Gauge>,
    queue: Option<Arc<Mutex<()>>>,
    page_bytes: u64,
    /// Database number so-and-so of the run: each cell has a fresh one.
    number: usize,
    start: Start,
    version: String,
    settings: Settings,
    folder: Folder,
}

impl Sqlite {
    /// Options: `queue` (`mutex` or `busy`), `page` (bytes).
    pub fn start(text: &str, start: &Start) -> Result<Sqlite, RivalError> {
        let (queue, page_bytes) = options(text)?;
        let queue = queue.then(|| Arc::new(Mutex::new(())));
        if !start.cpus.is_empty() {
            let hint = "leave --cpus out, or start the lab itself by `taskset --cpu-list`";
            return Err(RivalError::new("SQLite runs in the lab's process, on all its CPUs", hint));
        }
        let folder = Folder::new(&start.data, "sqlite", None, start.keep)?;
        Ok(Sqlite {
            sampler: None,
            desk: None,
            gauge: Gauge::new(0, 0),
            queue,
            page_bytes,
            number: 0,
            start: start.clone(),
            version: format!("SQLite {}", rusqlite::version()),
            settings: Settings::new(),
            folder,
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(&format!("lab{}.db", self.number))
    }

    fn shape(&self, job: &Job) -> Shape {
        let each = self.start.buffer_pool_bytes / (job.sessions as u64 + 1);
        Shape {
            delayed: job.delayed,
            cache_bytes: each.clamp(2 << 20, CACHE_BYTES_MAX),
            page_bytes: self.page_bytes,
        }
    }

    fn desk(&self) -> Result<&Connection, RivalError> {
        self.desk.as_ref().ok_or_else(|| RivalError::plain("SQLite: no cell was prepared"))
    }

    /// What is in force on a connection.
    fn read_settings(&self) -> Result<Settings, RivalError> {
        let desk = self.desk()?;
        let mut all = Settings::new();
        for name in
            ["journal_mode", "synchronous", "page_size", "cache_size", "locking_mode", "mmap_size"]
        {
            let value =
                desk.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
            // With no room mapped, mmap_size answers with no row.
            if let Ok(value) = value {
                all.insert(name.to_owned(), shown(&value));
            }
        }
        let mut compiled = desk.prepare("PRAGMA compile_options").map_err(failed)?;
        let options = compiled.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        let options: Result<Vec<String>, _> = options.collect();
        all.insert("compile_options".to_owned(), options.map_err(failed)?.join(" "));
        all.insert("checkpoint at pages".to_owned(), self.gauge.checkpoint_pages().to_string());
        let queue = if self.queue.is_some() { "mutex" } else { "busy handler" };
        all.insert("queue of writers".to_owned(), queue.to_owned());
        Ok(all)
    }
}

fn shown(value: &rusqlite::types::Value) -> String {
    match value {
        rusqlite::types::Value::Integer(n) => n.to_string(),
        rusqlite::types::Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

impl Rival for Sqlite {
    fn version(&self) -> &str {
        &self.version
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn notes(&self, job: &Job) -> Vec<String> {
        let mut notes = vec![
            "SQLite runs in the lab's process: a session is a thread with a connection of its own, a call is a call, \
             and no network is between. A loop \"in a procedure\" is a loop over a prepared statement."
                .to_owned(),
            match self.queue {
                Some(_) => "SQLite has one writer at a time; sessions queue for it at a mutex of the process.".to_owned(),
                None => "SQLite has one writer at a time; sessions that find it busy sleep and try again.".to_owned(),
            },
        ];
        notes.push(match job.delayed {
            false => "Full durability is WAL with synchronous = FULL: a flush of the log at each commit; SQLite has no \
                      group commit."
                .to_owned(),
            true => "Delayed durability is WAL with synchronous = NORMAL: the log is flushed at checkpoints; a power \
                     loss takes the last commits and leaves the database whole (a crash of the process loses nothing, \
                     which is more than delayed durability promises)."
                .to_owned(),
        });
        notes.push(format!(
            "The log is copied to the database every {} MiB, by the session whose commit passes them.",
            CHECKPOINT_BYTES >> 20
        ));
        notes.push(format!(
            "Waits are sampled every {} ms from each session's own phase and the kernel's state of its thread: times \
             are estimates, counts are sightings.",
            LOOK.as_millis()
        ));
        notes
    }

    fn prepare(&mut self, job: &Job) -> Result<(), RivalError> {
        self.number += 1;
        let desk = session::open(&self.path(), self.shape(job))?;
        desk.execute_batch(&sql::table()).map_err(failed)?;
        if let Work::ProcedureRead { rows } | Work::RoundtripRead { rows } = job.work {
            desk.execute_batch(&sql::fill(rows)).map_err(failed)?;
            desk.execute_batch("ANALYZE").map_err(failed)?;
        }
        desk.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(failed)?;
        self.gauge = Gauge::new(job.sessions, self.page_bytes);
        self.desk = Some(desk);
        self.settings = self.read_settings()?;
        Ok(())
    }

    fn connector(&self, job: &Job) -> Connect {
        let (path, job, shape) = (self.path(), *job, self.shape(job));
        let (gauge, queue) = (self.gauge.clone(), self.queue.clone());
        Box::new(move |index| {
            let connection = session::open(&path, shape)?;
            let seated = Seated::open(connection, gauge.clone(), queue.clone(), &job, index)?;
            Ok(Box::new(seated) as Box<dyn Session>)
        })
    }

    fn cpu_s(&self) -> Option<f64> {
        own_cpu_s()
    }

    fn watch(&mut self) -> Result<(), RivalError> {
        let gauge = self.gauge.clone();
        let process = std::process::id();
        let sampler = Sampler::start(
            LOOK,
            Box::new(move |see| {
                gauge.look(|thread| thread_state(process, thread), see);
                Ok(())
            }),
        );
        self.sampler = Some(sampler.map_err(|error| RivalError::plain(error.to_string()))?);
        Ok(())
    }

    fn sampled(&self) -> Option<&Sampler> {
        self.sampler.as_ref()
    }

    fn unwatch(&mut self) {
        self.sampler = None;
    }

    fn statistics(&mut self) -> Result<Statistics, RivalError> {
        let commits = self.gauge.commits.load(Relaxed);
        let full = self.settings.get("synchronous").is_some_and(|value| value == "2");
        let checkpoints = self.gauge.checkpoints.load(Relaxed);
        Ok(Statistics {
            // By SQLite's documentation: FULL flushes once a commit, a checkpoint flushes the log once more.
            log_flushes: Some(checkpoints + if full { commits } else { 0 }),
            log_bytes: Some(self.gauge.log_bytes.load(Relaxed)),
            context_switches: process_switches(std::process::id()),
            counters: [("checkpoints".to_owned(), checkpoints as f64)].into(),
            ..Statistics::default()
        })
    }

    fn count(&mut self) -> Result<u64, RivalError> {
        let count = self.desk()?.query_row(sql::COUNT, [], |row| row.get::<_, i64>(0));
        Ok(count.map_err(failed)?.unsigned_abs())
    }

    fn clear(&mut self) -> Result<(), RivalError> {
        self.desk()?.execute_batch(sql::DROP).map_err(failed)?;
        self.desk = None;
        if !self.start.keep {
            // The log and its index went with the last connection.
            std::fs::remove_file(self.path()).map_err(|error| {
                RivalError::plain(format!("{}: {error}", self.path().display()))
            })?;
        }
        Ok(())
    }

    fn close(mut self: Box<Self>) -> Result<(), RivalError> {
        self.sampler = None;
        self.desk = None;
        Ok(())
    }
}
