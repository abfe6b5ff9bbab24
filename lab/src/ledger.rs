//! A ledger that is killed: the load of `cargo xtask kill`, and the reading of what is left.
//!
//! Each session runs fully durable transactions of two rows, (cycle, session, number, side 0 and 1), and prints a line
//! only when the engine has acknowledged: `ack SESSION NUMBER` after a commit, `rolled SESSION NUMBER` after a
//! rollback. Every seventh transaction is rolled back on purpose. The process ends by being killed; whoever reads the
//! lines holds them against the rows.

use session::{Collected, Instance, InstanceConfig, ResultSink, Session};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use types::Value;

const TABLE: &str = "CREATE TABLE dbo.Entry (cycle int NOT NULL, session int NOT NULL, \
     number bigint NOT NULL, side int NOT NULL, filler char(200) NOT NULL DEFAULT 'x', \
     CONSTRAINT PK_Entry PRIMARY KEY CLUSTERED (cycle, session, number, side))";

const PROCEDURE: &str = "CREATE OR ALTER PROCEDURE dbo.usp_Enter
     @cycle int, @session int, @number bigint, @keep int AS
     BEGIN
         SET NOCOUNT ON;
         BEGIN TRANSACTION;
         INSERT INTO dbo.Entry (cycle, session, number, side) VALUES (@cycle, @session, @number, 0);
         INSERT INTO dbo.Entry (cycle, session, number, side) VALUES (@cycle, @session, @number, 1);
         IF @keep = 1 COMMIT; ELSE ROLLBACK;
     END";

/// Opens the folder (making the ledger the first time) and enters transactions until the process is killed, or until
/// `transactions` a session have been entered.
pub fn run(
    config: InstanceConfig,
    sessions: u32,
    cycle: u32,
    transactions: Option<u64>,
) -> Result<(), String> {
    let instance = Instance::open(config).map_err(|error| error.to_string())?;
    let fresh = instance.database("Ledger").is_none();
    // A kill may have come in the middle of an earlier set-up: each step looks for itself.
    let set_up = instance.spawn_session("set-up", move |session| {
        if fresh {
            execute(session, "CREATE DATABASE Ledger")?;
        }
        execute(session, "USE Ledger")?;
        if execute(session, "SELECT OBJECT_ID('dbo.Entry')")?.sets[0].rows[0][0].is_null() {
            execute(session, TABLE)?;
        }
        execute(session, PROCEDURE).map(drop)
    });
    set_up.join().map_err(|_| "the set-up panicked".to_owned())??;
    let workers: Vec<_> = (1..=sessions)
        .map(|number| {
            instance.spawn_session(&format!("ledger {number}"), move |session| {
                enter(session, cycle, number, transactions)
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

/// Prints every row: `CYCLE SESSION NUMBER SIDE`. A folder in which the ledger was not finished has none.
pub fn dump(config: InstanceConfig) -> Result<(), String> {
    let instance = Instance::open(config).map_err(|error| error.to_string())?;
    let printed = match instance.database("Ledger") {
        None => Ok(()),
        Some(_) => instance
            .spawn_session("dump", |session| {
                execute(session, "USE Ledger")?;
                if execute(session, "SELECT OBJECT_ID('dbo.Entry')")?.sets[0].rows[0][0].is_null() {
                    return Ok(());
                }
                let mut rows = RowPrinter { out: std::io::stdout().lock(), failed: None };
                let ended = session
                    .execute("SELECT cycle, session, number, side FROM dbo.Entry", &mut rows);
                match (ended, rows.failed) {
                    (Ok(()), None) => Ok(()),
                    (_, failed) => Err(failed.unwrap_or_else(|| "the dump failed".to_owned())),
                }
            })
            .join()
            .map_err(|_| "the dump panicked".to_owned())?,
    };
    instance.shutdown().map_err(|error| error.to_string())?;
    printed
}

fn enter(
    session: &mut Session,
    cycle: u32,
    number: u32,
    transactions: Option<u64>,
) -> Result<(), String> {
    execute(session, "USE Ledger")?;
    for n in 1..=transactions.unwrap_or(u64::MAX) {
        let keep = n % 7 != 0;
        execute(
            session,
            &format!("EXEC dbo.usp_Enter {cycle}, {number}, {n}, {}", i32::from(keep)),
        )?;
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
