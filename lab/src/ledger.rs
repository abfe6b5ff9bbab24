//! A ledger that is killed: the load of `cargo xtask kill`, and the reading of what is left.
//!
//! Each session runs fully durable transactions of two rows, (cycle, session, number, side 0 and 1), and prints a line
//! only when the engine has acknowledged: `ack SESSION NUMBER` after a commit, `rolled SESSION NUMBER` after a
//! rollback. Every seventh transaction is rolled back on purpose. The process ends by being killed; whoever reads the
//! lines holds them against the rows.
//!
//! There are two tables: one on disk, one in memory. A session enters both rows into the one, both into the other, or one
//! into each.

use session::{Collected, Instance, InstanceConfig, ResultSink, Session};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use types::Value;
use workloads::IN_MEMORY;
pub use workloads::Tables;

const COLUMNS: &str = "cycle int NOT NULL, session int NOT NULL, number bigint NOT NULL, side int NOT NULL, \
     filler char(200) NOT NULL DEFAULT 'x'";

const PROCEDURE: &str = "CREATE OR ALTER PROCEDURE dbo.usp_Enter
     @cycle int, @session int, @number bigint, @memory int, @keep int AS
     BEGIN
         SET NOCOUNT ON;
         BEGIN TRANSACTION;
         IF @memory & 1 = 0
             INSERT INTO dbo.Entry (cycle, session, number, side) VALUES (@cycle, @session, @number, 0);
         ELSE
             INSERT INTO dbo.EntryInMemory (cycle, session, number, side) VALUES (@cycle, @session, @number, 0);
         IF @memory & 2 = 0
             INSERT INTO dbo.Entry (cycle, session, number, side) VALUES (@cycle, @session, @number, 1);
         ELSE
             INSERT INTO dbo.EntryInMemory (cycle, session, number, side) VALUES (@cycle, @session, @number, 1);
         IF @keep = 1 COMMIT; ELSE ROLLBACK;
     END";

/// After so many transactions the first session takes a checkpoint, so that some die in one: few are made in the fraction
/// of a second that a cycle lives.
const CHECKPOINT_EVERY: u64 = 3;

/// What is entered.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub sessions: u32,
    /// Goes into every row.
    pub cycle: u32,
    /// Transactions of each session; `None`: until the process ends.
    pub transactions: Option<u64>,
    /// Into which table; `None`: each third session into another.
    pub tables: Option<Tables>,
}

impl Load {
    /// A bit for each side that goes into memory.
    fn in_memory(&self, session: u32) -> u32 {
        match self.tables.unwrap_or(Tables::ALL[session as usize % 3]) {
            Tables::Disk => 0,
            Tables::Memory => 0b11,
            Tables::Mixed => 0b10,
        }
    }
}

/// Opens the folder (making the ledger the first time) and enters transactions until the process is killed, or until
/// as many as the load says have been entered.
pub fn run(config: InstanceConfig, load: Load) -> Result<(), String> {
    let instance = Instance::open(config).map_err(|error| error.to_string())?;
    let fresh = instance.database("Ledger").is_none();
    let set_up = instance.spawn_session("set-up", move |session| set_up(session, fresh));
    set_up.join().map_err(|_| "the set-up panicked".to_owned())??;
    let workers: Vec<_> = (1..=load.sessions)
        .map(|number| {
            instance.spawn_session(&format!("ledger {number}"), move |session| {
                enter(session, load, number)
            })
        })
        .collect();
    let mut result = Ok(());
    for worker in workers {
        let one = worker.join().map_err(|_| "a session panicked".to_owned()).and_then(|r| r);
        result = result.and(one);
    }
    instance.shutdown().map_err(|error| error.to_string())?;
    result
}

/// A kill may have come in the middle of an earlier one: each step looks for itself.
fn set_up(session: &mut Session, fresh: bool) -> Result<(), String> {
    if fresh {
        execute(session, "CREATE DATABASE Ledger")?;
    }
    execute(session, "USE Ledger")?;
    // The filegroup, its container, the option.
    let there = [
        "SELECT MAX(data_space_id) FROM sys.filegroups WHERE type = 'FX'",
        "SELECT MAX(file_id) FROM sys.database_files WHERE type = 2",
        "SELECT MAX(database_id) FROM sys.databases WHERE name = 'Ledger' \
         AND is_memory_optimized_elevate_to_snapshot_on = 1",
    ];
    for (there, make) in there.into_iter().zip(Tables::Memory.options("Ledger")) {
        if is_null(session, there)? {
            execute(session, &make)?;
        }
    }
    if is_null(session, "SELECT OBJECT_ID('dbo.Entry')")? {
        let key = "CONSTRAINT PK_Entry PRIMARY KEY CLUSTERED (cycle, session, number, side)";
        execute(session, &format!("CREATE TABLE dbo.Entry ({COLUMNS}, {key})"))?;
    }
    if is_null(session, "SELECT OBJECT_ID('dbo.EntryInMemory')")? {
        let keys = "CONSTRAINT PK_EntryInMemory PRIMARY KEY NONCLUSTERED (cycle, session, number, side), \
                    INDEX by_number NONCLUSTERED HASH (number) WITH (BUCKET_COUNT = 4096)";
        execute(
            session,
            &format!("CREATE TABLE dbo.EntryInMemory ({COLUMNS}, {keys}){IN_MEMORY}"),
        )?;
    }
    execute(session, PROCEDURE).map(drop)
}

fn is_null(session: &mut Session, query: &str) -> Result<bool, String> {
    Ok(execute(session, query)?.sets[0].rows[0][0].is_null())
}

/// Prints every row: `CYCLE SESSION NUMBER SIDE`. A folder in which the ledger was not finished has none.
pub fn dump(config: InstanceConfig) -> Result<(), String> {
    let instance = Instance::open(config).map_err(|error| error.to_string())?;
    let printed = match instance.database("Ledger") {
        None => Ok(()),
        Some(_) => instance
            .spawn_session("dump", |session| {
                execute(session, "USE Ledger")?;
                for table in ["dbo.Entry", "dbo.EntryInMemory"] {
                    if is_null(session, &format!("SELECT OBJECT_ID('{table}')"))? {
                        continue;
                    }
                    let mut rows = RowPrinter { out: std::io::stdout().lock(), failed: None };
                    let all = format!("SELECT cycle, session, number, side FROM {table}");
                    match (session.execute(&all, &mut rows), rows.failed) {
                        (Ok(()), None) => {}
                        (_, failed) => {
                            return Err(failed.unwrap_or_else(|| "the dump failed".to_owned()));
                        }
                    }
                }
                Ok(())
            })
            .join()
            .map_err(|_| "the dump panicked".to_owned())?,
    };
    instance.shutdown().map_err(|error| error.to_string())?;
    printed
}

fn enter(session: &mut Session, load: Load, number: u32) -> Result<(), String> {
    let (cycle, memory) = (load.cycle, load.in_memory(number));
    execute(session, "USE Ledger")?;
    for n in 1..=load.transactions.unwrap_or(u64::MAX) {
        let keep = n % 7 != 0;
        execute(
            session,
            &format!("EXEC dbo.usp_Enter {cycle}, {number}, {n}, {memory}, {}", i32::from(keep)),
        )?;
        if number == 1 && (n + u64::from(cycle)).is_multiple_of(CHECKPOINT_EVERY) {
            execute(session, "CHECKPOINT")?;
        }
        // One write call a line: a kill cuts no acknowledged line in two.
        let line = format!("{} {number} {n}\n", if keep { "ack" } else { "rolled" });
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn execute(session: &mut Session, batch: &str) -> Result<Collected, String> {
    let mut sink = Collected::default();
    match session.execute(batch, &mut sink) {
        Ok(()) => Ok(sink),
        Err(()) => Err(sink
            .messages
            .iter()
            .find(|message| message.is_error())
            .map_or_else(|| "an error without a message".to_owned(), ToString::to_string)),
    }
}

struct RowPrinter<W> {
    out: W,
    failed: Option<String>,
}

impl<W: Write> ResultSink for RowPrinter<W> {
    fn columns(&mut self, _: &[session::ColumnMeta]) {}

    fn row(&mut self, row: &[Value]) {
        let words: Vec<String> =
            row.iter().map(|value| types::format::shell(value, value.natural_type())).collect();
        if let Err(error) = writeln!(self.out, "{}", words.join(" ")) {
            self.failed.get_or_insert(error.to_string());
        }
    }

    fn done(&mut self, _: session::Done) {}

    fn message(&mut self, message: &session::SqlMessage) {
        if message.is_error() {
            self.failed.get_or_insert(message.to_string());
        }
    }
}

/// The file system and folder of a ledger.
pub fn config(data: &Path, fs: Arc<dyn device::FileSystem>) -> InstanceConfig {
    let mut config = InstanceConfig::new(data, fs);
    config.buffer_pool_bytes = 64 << 20;
    config.log.ring_bytes = 8 << 20;
    config.log.vlf_bytes = 8 << 20;
    config.checkpoint_log_bytes = 16 << 20;
    config
}
