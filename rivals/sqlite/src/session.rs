//! One session: a connection of its own in a thread of its own.

use crate::gauge::{Gauge, Phase, committed};
use crate::sql;
use rival_harness::{Job, RivalError, Session, Work, session_key};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For SQLite's own busy handler, in milliseconds: longer than any cell lasts to be queued for.
const BUSY_LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn failed(error: rusqlite::Error) -> RivalError {
    RivalError::plain(format!("SQLite: {error}"))
}

/// What a connection is opened with.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub delayed: bool,
    pub cache_bytes: u64,
    pub page_bytes: u64,
}

/// Opens the database and sets what a connection has for itself.
pub(crate) fn open(path: &Path, shape: Shape) -> Result<Connection, RivalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY_LIMIT).map_err(failed)?;
    let pragma =
        |name: &str, value: &str| connection.pragma_update(None, name, value).map_err(failed);
    // Of a new database only; an old one keeps its own.
    pragma("page_size", &shape.page_bytes.to_string())?;
    pragma("journal_mode", "WAL")?;

    pragma("synchronous", if shape.delayed { "NORMAL" } else { "FULL" })?;
    // Negative: in KiB.
    pragma("cache_size", &format!("-{}", shape.cache_bytes >> 10))?;
    pragma("temp_store", "MEMORY")?;
    pragma("wal_autocheckpoint", "0")?;
    Ok(connection)
}

pub(crate) struct Seated {
    connection: Connection,
    index: usize,
    gauge: Arc<Gauge>,
    /// `None`: writers are left to SQLite's busy handler.
    queue: Option<Arc<Mutex<()>>>,
    commit_every: u64,
    rows_per_insert: u64,
    reads_of: u64,
    chance: u64,
}

impl Seated {
    pub fn open(
        connection: Connection,
        gauge: Arc<Gauge>,
        queue: Option<Arc<Mutex<()>>>,
        job: &Job,
        index: usize,
    ) -> Result<Seated, RivalError> {
        gauge.sit(index);
        let theirs = gauge.clone();
        let before_commit = move || {
            theirs.set(index, Phase::Commit);
            false
        };
        connection.commit_hook(Some(before_commit)).map_err(failed)?;
        connection.wal_hook(Some(committed));
        let (commit_every, rows_per_insert) = match job.work {
            Work::Procedure { commit_every, rows_per_insert } => (commit_every, rows_per_insert),
            _ => (1, 1),
        };
        let reads_of = match job.work {
            Work::ProcedureRead { rows } | Work::RoundtripRead { rows } => rows,
            _ => 1,
        };
        let chance = 0x9E37_79B9 ^ (index as u64 + 1);
        Ok(Seated {
            connection,
            index,
            gauge,
            queue,
            commit_every,
            rows_per_insert,
            reads_of,
            chance,
        })
    }
}

/// Stands in the queue of writers, if there is one.
fn queued<'a>(
    queue: Option<&'a Mutex<()>>,
    gauge: &Gauge,
    index: usize,
) -> Option<MutexGuard<'a, ()>> {
    let queue = queue?;
    // The mutex guards no data of ours: SQLite's lock holds, whatever became of another thread.
    let guard = queue.try_lock().ok().unwrap_or_else(|| {
        gauge.set(index, Phase::Queue);
        queue.lock().unwrap_or_else(PoisonError::into_inner)
    });
    gauge.set(index, Phase::Statement);
    Some(guard)
}

impl Session for Seated {
    fn procedure(
        &mut self,
        done: u64,
        rows: u64,
        commit_ns: &mut dyn FnMut(u64),
    ) -> Result<(), RivalError> {
        let (per, step) = (self.commit_every, self.rows_per_insert);
        let mut insert = self.connection.prepare(&sql::insert(step)).map_err(failed)?;
        let mut begin = self.connection.prepare("BEGIN IMMEDIATE").map_err(failed)?;
        let mut commit = self.connection.prepare("COMMIT").map_err(failed)?;
        let mut key = session_key(self.index, done);
        let last = key + rows as i64;
        while key < last {
            if per == step {
                let asked = Instant::now();
                let _turn = queued(self.queue.as_deref(), &self.gauge, self.index);
                insert.execute([key]).map_err(failed)?;
                key += step as i64;
                commit_ns(asked.elapsed().as_nanos() as u64);
            } else {
                let _turn = queued(self.queue.as_deref(), &self.gauge, self.index);
                begin.execute([]).map_err(failed)?;
                let until = last.min(key + per as i64);
                while key < until {
                    insert.execute([key]).map_err(failed)?;
                    key += step as i64;
                }
                let asked = Instant::now();
                commit.execute([]).map_err(failed)?;
                commit_ns(asked.elapsed().as_nanos() as u64);
            }
        }
        Ok(())
    }

    fn procedure_read(&mut self, rows: u64) -> Result<(), RivalError> {
        for _ in 0..rows {
            self.chance = (self.chance.wrapping_mul(1_103_515_245) + 12_345) & 0x7FFF_FFFF;
            self.read(1 + (self.chance % self.reads_of) as i64)?;
        }
        Ok(())
    }

    fn insert(&mut self, key: i64) -> Result<(), RivalError> {
        let mut insert = self.connection.prepare_cached(INSERT_ONE).map_err(failed)?;
        let _turn = queued(self.queue.as_deref(), &self.gauge, self.index);
        insert.execute([key]).map(drop).map_err(failed)
    }

    fn read(&mut self, key: i64) -> Result<(), RivalError> {
        let mut read = self.connection.prepare_cached(sql::READ).map_err(failed)?;
        match read.query_row([key], |row| row.get::<_, i64>(0)).map_err(failed)? {
            42 => Ok(()),
            other => Err(RivalError::plain(format!("row {key} holds {other} and not 42"))),
        }
    }
}

const INSERT_ONE: &str = "INSERT INTO big_table (c1) VALUES (?1)";

impl Drop for Seated {
    fn drop(&mut self) {
        self.gauge.leave(self.index);
    }
}
