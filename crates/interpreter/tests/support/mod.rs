//! A session on one in-memory database, and results as text.
#![allow(dead_code, reason = "each test program uses a part")]

use catalog::Catalog;
use device::{FileSystem, SimFs};
use engine::{Database, DbFiles, DbOptions, LogConfig};
use executor::{ColumnMeta, Done, ResultSink, SqlError, SqlMessage};
use interpreter::execute_batch;
use session_state::{Host, OpenDatabase};
use std::sync::Arc;
use syntax::ast::{AlterDatabase, AlterDatabaseAction, CreateDatabase, OptionValue};
use types::Value;

/// Options for a small database.
pub fn options() -> DbOptions {
    DbOptions {
        log: LogConfig {
            ring_bytes: 4 << 20,
            vlf_bytes: 4 << 20,
            initial_vlfs: 4,
            ..LogConfig::default()
        },
        buffer_pool_bytes: 32 << 20,
        ..DbOptions::default()
    }
}

/// One database named `test`.
pub fn database() -> Arc<OpenDatabase> {
    let fs: Arc<dyn FileSystem> = SimFs::new(1);
    open_on(fs, "/db", options())
}

/// The same on any file system.
pub fn open_on(fs: Arc<dyn FileSystem>, dir: &str, options: DbOptions) -> Arc<OpenDatabase> {
    let mut files = DbFiles::named(dir, "test");
    files.data[0].initial_bytes = 2 << 20;
    let engine = Database::create(fs, &files, options).expect("create the database");
    let catalog = Catalog::create(&engine).expect("create the catalog");
    Arc::new(OpenDatabase { id: 5, name: "test".into(), engine, catalog })
}

/// An instance of one database.
pub struct OneDatabase(pub Arc<OpenDatabase>);

impl Host for OneDatabase {
    fn database(&mut self, name: &str) -> Option<Arc<OpenDatabase>> {
        name.eq_ignore_ascii_case("test").then(|| self.0.clone())
    }
    fn databases(&mut self) -> Vec<(u16, String)> {
        vec![(5, "test".into())]
    }
    fn create_database(&mut self, _: &CreateDatabase) -> Result<(), SqlError> {
        Err(SqlError::unsupported("CREATE DATABASE"))
    }
    fn alter_database(
        &mut self,
        _: &str,
        alter: &AlterDatabase,
        _: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        let AlterDatabaseAction::Set(options) = &alter.action else {
            return Err(SqlError::unsupported("ALTER DATABASE"));
        };
        for option in options {
            if let ("DELAYED_DURABILITY", OptionValue::Word(word)) =
                (option.name.as_str(), &option.value)
            {
                let option = match word.as_str() {
                    "FORCED" => engine::DelayedDurability::Forced,
                    "ALLOWED" => engine::DelayedDurability::Allowed,
                    _ => engine::DelayedDurability::Disabled,
                };
                self.0
                    .engine
                    .set_delayed_durability(option)
                    .map_err(|e| executor::from_engine(e, None, "test"))?;
            }
        }
        Ok(())
    }
    fn drop_database(&mut self, _: &str) -> Result<(), SqlError> {
        Err(SqlError::unsupported("DROP DATABASE"))
    }
    fn trace_flag(&mut self, _: i32, _: bool) {}
}

/// A session and its host.
pub struct Session {
    pub state: interpreter::Session,
    pub host: OneDatabase,
}

impl Session {
    pub fn new(database: &Arc<OpenDatabase>, spid: u16) -> Session {
        Session {
            state: interpreter::Session::new(spid, database.clone(), Arc::default()),
            host: OneDatabase(database.clone()),
        }
    }

    /// Runs a script of batches; what it said, a line each.
    pub fn run(&mut self, script: &str) -> String {
        let mut sink = Lines::default();
        for batch in syntax::split_batches(script) {
            let _ = execute_batch(&mut self.state, &mut self.host, batch.text, &mut sink);
        }
        sink.out
    }
}

/// Results as text: rows with ` | ` between values, `(n)` for a row count, `Msg n, line: text` for an error,
/// `= text` for a message.
#[derive(Default)]
pub struct Lines {
    pub out: String,
    types: Vec<types::SqlType>,
}

impl ResultSink for Lines {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|c| c.ty).collect();
    }
    fn row(&mut self, row: &[Value]) {
        let shown: Vec<String> = row
            .iter()
            .zip(&self.types)
            .map(|(v, ty)| types::format::shell(v, *ty).trim_end().to_string())
            .collect();
        self.out.push_str(&shown.join(" | "));
        self.out.push('\n');
    }
    fn done(&mut self, done: Done) {
        if let Some(rows) = done.rows {
            self.out.push_str(&format!("({rows})\n"));
        }
    }
    fn message(&mut self, message: &SqlMessage) {
        if message.severity > 10 {
            let procedure =
                message.procedure.as_ref().map(|p| format!(" in {p}")).unwrap_or_default();
            self.out.push_str(&format!(
                "Msg {}{procedure}, {}: {}\n",
                message.number, message.line, message.text
            ));
        } else {
            self.out.push_str(&format!("= {}\n", message.text));
        }
    }
}

/// Runs a script in a fresh database and compares; leading blanks of the expectation's lines do not count.
#[track_caller]
pub fn check(script: &str, expected: &str) {
    let database = database();
    check_in(&mut Session::new(&database, 51), script, expected);
}

/// The same in a session that is there.
#[track_caller]
pub fn check_in(session: &mut Session, script: &str, expected: &str) {
    let got = session.run(script);
    let expected: String = expected
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(got == expected, "\n--- got ---\n{got}--- expected ---\n{expected}");
}
