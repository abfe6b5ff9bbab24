//! The same experiments on a server over the wire: a Millrace in another process, or any SQL Server.
//!
//! A cell: a database of its own, made and dropped here; N connections, each a task of a few schedulers of the
//! client's; a warm-up that is cut; a window; and at the end the rows counted against those acknowledged. Waits and
//! spins are the difference of the server's own views over the window.
//!
//! Latency is that of the client's round trips, all of them timed. CPU time of the server is not known here.

mod connections;
mod statistics;

use crate::cell::{Cell, Moment, each_cell};
use crate::error::LabError;
use crate::load::executor_sink::Errors;
use crate::script::{self, Shape};
use crate::{Experiment, Progress};
use client::{Address, Connection};
use connections::{Clients, Job};
use runtime::clock;
use std::net::TcpStream;
use std::time::Duration;

/// What one request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A call of a procedure that inserts row after row for some 50 ms.
    Procedure,
    /// One prepared statement.
    Roundtrip,
}

/// What the statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Insert,
    /// Of one row by its key, at random.
    PointRead,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Options {
    pub address: Address,
    pub work: Work,
    pub mode: Mode,
    /// One cell for each.
    pub sessions: Vec<usize>,
    pub seconds: f64,
    pub warmup_seconds: f64,
    pub delayed: bool,
    /// Rows of a transaction, in procedures.
    pub commit_every: Option<u64>,
    pub rows_per_insert: u64,
    /// Leave the database.
    pub keep: bool,
}

const MAX_SESSIONS: usize = 10_000;
const TICK: Duration = Duration::from_millis(250);
/// Rows that point reads choose from, as in the PostgreSQL variant of the same name.
pub(crate) const READ_ROWS: u64 = 1_000_000;

impl Options {
    fn check(&self) -> Result<(), LabError> {
        let refuse = |what: &str| Err(LabError::Options(what.to_owned()));
        if self.sessions.is_empty() || self.sessions.iter().any(|&n| n == 0 || n > MAX_SESSIONS) {
            return refuse("the number of sessions is between 1 and 10000");
        }
        if !(self.seconds > 0.0 && self.warmup_seconds >= 0.0) {
            return refuse("the window must have a length");
        }
        if !(1..=1000).contains(&self.rows_per_insert) {
            return refuse("an INSERT takes 1 to 1000 rows");
        }
        if self.mode == Mode::Roundtrip
            && (self.rows_per_insert != 1 || self.commit_every.unwrap_or(1) != 1)
        {
            return refuse("a round trip is one row and its own transaction");
        }
        if self.mode == Mode::Procedure && self.work == Work::PointRead {
            return refuse("point-read has the mode roundtrip only");
        }
        let per = self.commit_every.unwrap_or(self.rows_per_insert);
        if per == 0 || !per.is_multiple_of(self.rows_per_insert) {
            return refuse("rows of a transaction are a multiple of the rows per insert");
        }
        Ok(())
    }
}

/// Runs every cell; the first that fails ends the run.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Vec<Cell>, LabError> {
    options.check()?;
    each_cell(&options.sessions, progress, |sessions, progress| {
        run_cell(options, sessions, progress)
    })
}

/// A connection of the lab's own, for everything but the load.
pub(crate) struct Desk {
    connection: Connection<TcpStream>,
}

impl Desk {
    fn open(address: &Address) -> Result<Desk, LabError> {
        Ok(Desk { connection: Connection::open(address, "millrace lab")? })
    }

    fn execute(&mut self, batch: &str) -> Result<Option<u64>, LabError> {
        let mut errors = Errors::default();
        self.connection.execute(batch, &mut errors)?;
        let number = errors.number;
        errors.into_result(Ok(()), batch)?;
        Ok(number)
    }
}

fn run_cell(
    options: &Options,
    sessions: usize,
    progress: &mut dyn Progress,
) -> Result<Cell, LabError> {
    let mut desk = Desk::open(&options.address)?;
    let database = format!("millrace_lab_{}", std::process::id());
    progress.step("creating the database");
    desk.execute(&format!("CREATE DATABASE {database};"))?;
    let result = set_up(options, &mut desk, &database, progress)
        .and_then(|()| drive(options, sessions, &mut desk, &database, progress));
    if !options.keep {
        let dropped = desk
            .execute("USE master;")
            .and_then(|_| desk.execute(&format!("DROP DATABASE {database};")));
        // What went wrong first is what is told.
        result.and_then(|cell| dropped.map(|_| cell))
    } else {
        result
    }
}

fn set_up(
    options: &Options,
    desk: &mut Desk,
    database: &str,
    progress: &mut dyn Progress,
) -> Result<(), LabError> {
    let durability = if options.delayed { "FORCED" } else { "DISABLED" };
    desk.execute(&format!("ALTER DATABASE {database} SET RECOVERY SIMPLE;"))?;
    desk.execute(&format!("ALTER DATABASE {database} SET DELAYED_DURABILITY = {durability};"))?;
    desk.execute(&format!("USE {database};"))?;
    desk.execute(&script::create_table(""))?;
    let per = options.commit_every.unwrap_or(options.rows_per_insert);
    let shape = Shape { rows_per_insert: options.rows_per_insert, commit_every: per };
    desk.execute(&script::procedure(shape))?;
    if options.work == Work::PointRead {
        progress.step("filling the table");
        desk.execute(
            "CREATE PROCEDURE dbo.fill @rows bigint AS\n\
             SET NOCOUNT ON;\n\
             DECLARE @key bigint = 1;\n\
             BEGIN TRANSACTION;\n\
             WHILE @key <= @rows\n\
             BEGIN\n\
             \x20   INSERT INTO dbo.big_table (c1) VALUES (@key);\n\
             \x20   SET @key = @key + 1;\n\
             END;\n\
             COMMIT TRANSACTION;",
        )?;
        desk.execute(&format!("EXEC dbo.fill @rows = {READ_ROWS};"))?;
    }
    Ok(())
}

fn drive(
    options: &Options,
    sessions: usize,
    desk: &mut Desk,
    database: &str,
    progress: &mut dyn Progress,
) -> Result<Cell, LabError> {
    progress.step("connecting");
    let job = Job {
        address: Address { database: Some(database.to_owned()), ..options.address.clone() },
        work: options.work,
        mode: options.mode,
        commit_every: options.commit_every.unwrap_or(options.rows_per_insert),
    };
    let clients = Clients::start(&job, sessions)?;
    let began_ns = clock::now_ns();
    let seconds_since = |ns: u64| (clock::now_ns() - ns) as f64 / 1e9;
    let mut window: Option<(u64, u64, statistics::Snapshot)> = None;
    let mut course = Vec::new();
    let (mut then_s, mut then_rows) = (0.0, 0);
    let ends_s = options.warmup_seconds + options.seconds;
    loop {
        let now_s = seconds_since(began_ns);
        if clients.have_failed() {
            break;
        }
        if window.is_none() && now_s >= options.warmup_seconds {
            let before = statistics::Snapshot::take(desk)?;
            clients.clear_latency();
            window = Some((clock::now_ns(), clients.rows(), before));
        }
        if now_s >= ends_s {
            break;
        }
        let rows = clients.rows();
        if now_s - then_s >= TICK.as_secs_f64() * 0.9 {
            let rows_per_s = (rows - then_rows) as f64 / (now_s - then_s);
            course.push(Moment { at_s: now_s, rows_per_s });
            progress.tick(now_s, rows, rows_per_s, window.is_some());
            (then_s, then_rows) = (now_s, rows);
        }
        let edge_s = if window.is_none() { options.warmup_seconds } else { ends_s };
        std::thread::sleep(TICK.min(Duration::from_secs_f64((edge_s - now_s).max(0.0002))));
    }
    let rows_now = clients.rows();
    let measured = window
        .as_ref()
        .map(|&(from_ns, rows, _)| (seconds_since(from_ns), rows_now.saturating_sub(rows)));
    let (all_rows, latency) = clients.stop()?;
    let (Some((seconds, rows)), Some((_, _, before))) = (measured, window) else {
        return Err(LabError::Options("the sessions ended before the window began".to_owned()));
    };
    let mut after = statistics::Snapshot::take(desk)?;
    let rows_verified = match options.work {
        Work::PointRead => all_rows,
        Work::Insert => {
            progress.step("counting the rows");
            let found = desk.execute(script::COUNT)?.unwrap_or(0);
            if found != all_rows {
                return Err(LabError::Lost { acknowledged: all_rows, found });
            }
            found
        }
    };
    after.subtract(&before);
    let per_s = |n: u64| n as f64 / seconds;
    let per = job.commit_every;
    let us = |q: f64| (!latency.is_empty()).then(|| latency.value_at_quantile(q) as f64 / 1e3);
    Ok(Cell {
        experiment: experiment(options.work).name,
        target: "mssql",
        mode: match options.mode {
            Mode::Procedure => "procedure",
            Mode::Roundtrip => "roundtrip",
        },
        sessions,
        durability: if options.delayed { "delayed" } else { "full" },
        commit_every: per,
        rows_per_insert: options.rows_per_insert,
        log_reserve: "as the server has it",
        log_writer: "as the server has it",
        seconds,
        rows,
        rows_verified,
        rows_per_s: per_s(rows),
        commits_per_s: if options.work == Work::Insert { per_s(rows / per) } else { 0.0 },
        p10_us: us(0.10),
        p50_us: us(0.50),
        p99_us: us(0.99),
        commits_timed: latency.len(),
        cpu_s: None,
        schedulers: after.schedulers,
        log_flushes_per_s: per_s(after.log_flushes),
        log_bytes_per_flush: 0.0,
        log_mb_per_s: per_s(after.log_bytes) / 1e6,
        log_bytes_per_row: 0.0,
        context_switches_per_s: 0.0,
        page_reads: 0,
        page_writes: 0,
        device_flush: None,
        waits: after.waits,
        spins: after.spins,
        latches: after.latches,
        course,
        version: env!("CARGO_PKG_VERSION"),
    })
}

fn experiment(work: Work) -> &'static Experiment {
    match work {
        Work::Insert => &crate::EXPERIMENTS[0],
        Work::PointRead => &crate::EXPERIMENTS[1],
    }
}
