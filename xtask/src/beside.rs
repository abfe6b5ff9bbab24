//! Engines that measurements run side by side: ours, PostgreSQL and DuckDB.
//!
//! Every engine runs as a child that takes statements on its standard input, one a line, and says when each is done:
//! ours (`crates/session/examples/timed.rs`), `psql` on a PostgreSQL that is started in a folder of its own, and the
//! `duckdb` shell. Values of a row come apart by tabs.

pub mod postgres;

use crate::processes;
use crate::run::{Failure, cargo, target_directory};
use postgres::Server;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

const DONE: &str = "--end--";

/// Where PostgreSQL listens.
const PORT: u16 = 55_499;

/// What PostgreSQL is told: much memory, and commits that do not wait.
const POSTGRES_SETTINGS: &str = "-c shared_buffers=4GB -c work_mem=1GB -c maintenance_work_mem=1GB -c effective_cache_size=12GB \
    -c random_page_cost=1.1 -c jit=on -c max_parallel_workers_per_gather=0 -c hash_mem_multiplier=2 -c max_wal_size=8GB \
    -c synchronous_commit=off -c wal_level=minimal -c max_wal_senders=0 -c wal_buffers=64MB -c checkpoint_timeout=1h";

/// An engine's dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dialect {
    Tsql,
    Postgres,
    Duck,
}

/// An engine that is running.
pub struct Engine {
    pub name: String,
    pub dialect: Dialect,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Its server, if it has one.
    server: Option<Server>,
    /// More sessions of that server, beside the one of `child`.
    crew: Vec<Engine>,
}

impl Engine {
    fn start(name: &str, dialect: Dialect, mut command: Command) -> Result<Engine, Failure> {
        let cannot = |what: String| Failure(format!("{name}: {what}"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| cannot(format!("cannot start {command:?}: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(cannot("has no pipes".into()));
        };
        Ok(Engine {
            name: name.to_owned(),
            dialect,
            child,
            input,
            output: BufReader::new(output),
            server: None,
            crew: Vec::new(),
        })
    }

    /// Runs a statement: its rows, and the seconds it took.
    pub fn run(&mut self, sql: &str) -> Result<(String, f64), Failure> {
        let begun = Instant::now();
        self.send(sql)?;
        let rows = self.answer(sql)?;
        Ok((rows, begun.elapsed().as_secs_f64()))
    }

    /// Runs a statement on so many sessions at once, each of which reads its number for `{session}`: the seconds until all
    /// are done. Not for DuckDB.
    pub fn run_on(&mut self, sessions: u32, sql: &str) -> Result<f64, Failure> {
        if self.dialect == Dialect::Tsql {
            return self.run(&format!("\\{sessions} {sql}")).map(|(_, seconds)| seconds);
        }
        while (self.crew.len() as u32) + 1 < sessions {
            self.crew.push(Engine::psql(&self.name)?);
        }
        let numbered = |n: usize| sql.replace("{session}", &n.to_string());
        let begun = Instant::now();
        self.send(&numbered(0))?;
        let crew = &mut self.crew[..sessions as usize - 1];
        for (n, member) in crew.iter_mut().enumerate() {
            member.send(&numbered(n + 1))?;
        }
        self.answer(sql)?;
        let crew = &mut self.crew[..sessions as usize - 1];
        crew.iter_mut().try_for_each(|member| member.answer(sql).map(drop))?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// CPU time so far of the processes that do the work, user's and system's, in seconds.
    pub fn cpu(&self) -> Result<f64, Failure> {
        processes::cpu(match &self.server {
            Some(server) => server.pid()?,
            None => self.child.id(),
        })
    }

    fn send(&mut self, sql: &str) -> Result<(), Failure> {
        let end = match self.dialect {
            Dialect::Tsql => "",
            Dialect::Postgres => {
                ";\n\\if :ERROR\n\\echo error: :LAST_ERROR_MESSAGE\n\\endif\n\\echo --end--"
            }
            Dialect::Duck => ";\n.print --end--",
        };
        writeln!(self.input, "{sql}{end}")
            .and_then(|()| self.input.flush())
            .map_err(|error| Failure(format!("{}: {error}: {sql}", self.name)))
    }

    /// The rows of what was sent.
    fn answer(&mut self, sql: &str) -> Result<String, Failure> {
        let failed = |what: &str| Failure(format!("{}: {what}: {sql}", self.name));
        let mut rows = String::new();
        let mut refusal = None;
        loop {
            let mut line = String::new();
            match self.output.read_line(&mut line) {
                Ok(0) => return Err(failed("ended")),
                Ok(_) => {}
                Err(error) => return Err(failed(&error.to_string())),
            }
            if line.starts_with(DONE) {
                break;
            }
            if line.starts_with("error:") {
                refusal.get_or_insert(failed(line.trim()));
                continue;
            }
            rows.push_str(&line);
        }
        match refusal {
            Some(refusal) => Err(refusal),
            None => Ok(rows.trim_matches('\n').to_owned()),
        }
    }

    /// A session of the PostgreSQL that [`Server::start`] has started.
    fn psql(name: &str) -> Result<Engine, Failure> {
        let mut command = Command::new("psql");
        command.args([
            "-qAtX",
            "-P",
            "null=NULL",
            "-F",
            "\t",
            "-h",
            "127.0.0.1",
            "-U",
            "postgres",
            "-p",
        ]);
        command.arg(PORT.to_string()).arg("postgres");
        Engine::start(name, Dialect::Postgres, command)
    }

    /// Readies it for so many processors.
    pub fn spread(&mut self, maxdop: u32) -> Result<(), Failure> {
        match self.dialect {
            Dialect::Tsql => Ok(()),
            Dialect::Postgres => self
                .run(&format!("set max_parallel_workers_per_gather = {}", maxdop.saturating_sub(1)))
                .map(drop),
            Dialect::Duck => self.run(&format!("set threads = {maxdop}")).map(drop),
        }
    }

    pub fn stop(self) {
        self.crew.into_iter().for_each(Engine::stop);
        drop(self.input);
        let mut child = self.child;
        let _ = child.wait();
        if let Some(server) = self.server {
            server.stop();
        }
    }
}

/// What is to run, and how.
pub struct Setup<'s> {
    /// The database that ours works in.
    pub database: &'s str,
    /// What ours may use, three quarters of it for pages.
    pub memory_mb: u64,
    /// Builds of the example `timed`, as NAME=FILE or FILE; none: this tree's release build.
    pub programs: &'s [String],
    /// postgres, duckdb.
    pub beside: &'s [String],
    /// Where databases go.
    pub folder: &'s Path,
}

/// Our engine, or several builds of it, and those beside it.
pub fn engines(setup: &Setup<'_>) -> Result<Vec<Engine>, Failure> {
    let mut programs: Vec<(String, PathBuf)> = Vec::new();
    for program in setup.programs {
        let (name, file) = program.split_once('=').unwrap_or(("millrace", program));
        programs.push((name.to_owned(), PathBuf::from(file)));
    }
    if programs.is_empty() {
        let line = ["build", "--release", "--quiet", "--package", "session", "--example", "timed"];
        cargo("the engine, embedded", &line).run()?;
        programs.push(("millrace".to_owned(), target_directory().join("release/examples/timed")));
    }
    let mut all = Vec::new();
    let started = start(setup, &programs, &mut all);
    if let Err(failure) = started {
        all.into_iter().for_each(Engine::stop);
        return Err(failure);
    }
    Ok(all)
}

/// Starts them one after the other; those that run already are in `all`, whatever comes of the next.
fn start(
    setup: &Setup<'_>,
    programs: &[(String, PathBuf)],
    all: &mut Vec<Engine>,
) -> Result<(), Failure> {
    for (n, (name, program)) in programs.iter().enumerate() {
        let mut command = Command::new(program);
        let pages = setup.memory_mb * 3 / 4;
        command.arg(setup.folder.join(format!("millrace-{n}")));
        command.args([(pages << 20).to_string(), ((setup.memory_mb - pages) << 20).to_string()]);
        let mut engine = Engine::start(name, Dialect::Tsql, command)?;
        let database = setup.database;
        engine.run(&format!("create database {database}"))?;
        engine.run(&format!("alter database {database} set delayed_durability = forced"))?;
        engine.run(&format!("use {database}"))?;
        all.push(engine);
    }
    for name in setup.beside {
        match name.as_str() {
            "postgres" => {
                let server = Server::start(setup.folder, PORT, POSTGRES_SETTINGS)?;
                let mut engine = Engine::psql("postgres")?;
                engine.server = Some(server);
                all.push(engine);
            }
            "duckdb" => {
                // Named by DUCKDB, else the one in PATH.
                let program = std::env::var_os("DUCKDB").unwrap_or_else(|| "duckdb".into());
                let mut command = Command::new(program);
                command.args(["-list", "-noheader", "-nullvalue", "NULL", "-separator", "\t"]);
                command.arg(setup.folder.join("duck.db"));
                all.push(Engine::start("duckdb", Dialect::Duck, command)?);
            }
            other => return Err(Failure(format!("no engine is called {other}"))),
        }
    }
    Ok(())
}
