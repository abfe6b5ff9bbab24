//! The reporting query of the posts over a table of millions of rows, beside other engines in one run.
//!
//! Every engine runs as a child that takes statements on its standard input, one a line, and says when each is done:
//! ours (`crates/session/examples/timed.rs`), `psql` on a PostgreSQL that this command starts in a folder of its own,
//! and the `duckdb` shell. All are loaded with the same rows by their own fastest set-based way; then the query runs in
//! turn on each, so that a slow minute of the machine falls on all. Printed are medians and ratios; an engine whose
//! answer differs makes the command fail.

use crate::run::{Failure, cargo, target_directory};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

/// What to run.
pub struct Options {
    pub rows: u64,
    pub maxdop: Vec<u32>,
    /// Memory of our engine in megabytes, three quarters of it pages.
    pub memory_mb: u64,
    pub beside: Vec<String>,
    pub rounds: u32,
    /// Where databases go; removed at the end.
    pub data: Option<PathBuf>,
    /// Only our engine's build of this path: `None` builds the release one.
    pub program: Option<PathBuf>,
}

/// Rows loaded by one statement, and transaction.
const CHUNK: u64 = 100_000;
const DONE: &str = "--end--";

/// The dimensions, each with the type that its table has.
const DIMENSIONS: [(&str, &str); 6] = [
    ("server_config", "varchar(100)"),
    ("thread_name", "varchar(20)"),
    ("tran_type", "varchar(20)"),
    ("tran_status", "varchar(20)"),
    ("users", "int"),
    ("cpus", "int"),
];

/// An engine's dialect.
#[derive(Clone, Copy, PartialEq)]
enum Dialect {
    Tsql,
    Postgres,
    Duck,
}

impl Dialect {
    fn concat(self) -> &'static str {
        if self == Dialect::Tsql { "+" } else { "||" }
    }

    /// The values of a row number `i`, in the order of the table's columns.
    fn row(self) -> String {
        let cast = |e: &str| format!("cast({e} as varchar(20))");
        let c = self.concat();
        let begin = match self {
            Dialect::Tsql => {
                "dateadd(millisecond, (i % 1000) * 10, dateadd(second, i / 100, '2012-01-30'))"
            }
            Dialect::Postgres => "timestamp '2012-01-30' + i * interval '10 milliseconds'",
            Dialect::Duck => "timestamp '2012-01-30' + to_milliseconds(i * 10)",
        };
        let three = |a: &str, b: &str, d: &str| {
            format!("case i % 3 when 0 then '{a}' when 1 then '{b}' else '{d}' end")
        };
        [
            format!(
                "case when i % 40 < 10 then 'X580 G0' else 'X580 G' end {c} {}",
                cast("i % 40")
            ),
            "(i % 5 + 1) * 10".into(),
            "(i % 8 + 1) * 10".into(),
            format!("'VC' {c} {}", cast("i % 100")),
            "i % 1000".into(),
            three("READ-ONLY", "WRITE-ONLY", "READ-WRITE"),
            three("SUCCESS", "FAILURE", "ROLLBACK"),
            begin.into(),
            begin.into(),
            "i % 100".into(),
            "'abc'".into(),
        ]
        .join(", ")
    }

    fn table(self) -> String {
        let time = if self == Dialect::Tsql { "datetime" } else { "timestamp" };
        let unlogged = if self == Dialect::Postgres { "unlogged " } else { "" };
        format!(
            "create {unlogged}table tran_stats (server_config varchar(100), users int, cpus smallint, thread_name \
             varchar(20), tran_count int, tran_type varchar(20), tran_status varchar(20), tran_begin {time}, tran_end \
             {time}, resultset_size smallint, filler char(100))"
        )
    }

    /// The six dimension tables and their product, as the posts make them.
    fn dimensions(self) -> Vec<String> {
        let mut all = Vec::new();
        for (name, ty) in DIMENSIONS {
            let (id, from) = match self {
                Dialect::Tsql => (
                    "int identity".to_owned(),
                    format!("(select top 100000 {name} from tran_stats) as v"),
                ),
                Dialect::Postgres => (
                    "serial".to_owned(),
                    format!("(select {name} from tran_stats limit 100000) as v"),
                ),
                Dialect::Duck => {
                    all.push(format!("create sequence s_{name}"));
                    (
                        format!("int default nextval('s_{name}')"),
                        format!("(select {name} from tran_stats limit 100000) as v"),
                    )
                }
            };
            all.push(format!("create table Dim_{name} (id_{name} {id}, {name} {ty})"));
            all.push(format!("insert into Dim_{name}({name}) select distinct {name} from {from}"));
        }
        let tables: Vec<String> =
            DIMENSIONS.iter().map(|(name, _)| format!("Dim_{name}")).collect();
        let tables = tables.join(", ");
        all.push(match self {
            Dialect::Tsql => format!("select distinct * into dimensions from {tables}"),
            _ => format!("create table dimensions as select distinct * from {tables}"),
        });
        all
    }

    /// The query; `check`: what it counted as well.
    fn query(self, check: bool, maxdop: u32) -> String {
        let ids: Vec<String> = DIMENSIONS.iter().map(|(name, _)| format!("id_{name}")).collect();
        let on: Vec<String> =
            DIMENSIONS.iter().map(|(name, _)| format!("t1.{name} = t2.{name}")).collect();
        let (ids, on) = (ids.join(", "), on.join(" and "));
        let what = if check { "count(*), sum(cnt), min(cnt), max(cnt)" } else { "count(*)" };
        let option = match self {
            Dialect::Tsql => format!(" option (maxdop {maxdop})"),
            _ => String::new(),
        };
        format!(
            "select {what} from (select {ids}, count(*) as cnt from tran_stats t1 join dimensions t2 on {on} group by \
             {ids}) as v{option}"
        )
    }
}

/// An engine that is running.
struct Engine {
    name: &'static str,
    dialect: Dialect,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Its server, if it has one.
    server: Option<Server>,
}

impl Engine {
    fn start(
        name: &'static str,
        dialect: Dialect,
        mut command: Command,
    ) -> Result<Engine, Failure> {
        let cannot = |what: String| Failure(format!("{name}: {what}"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| cannot(format!("cannot start {command:?}: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(cannot("has no pipes".into()));
        };
        Ok(Engine { name, dialect, child, input, output: BufReader::new(output), server: None })
    }

    /// Runs a statement: its rows, and the seconds it took.
    fn run(&mut self, sql: &str) -> Result<(String, f64), Failure> {
        let failed = |what: &str| Failure(format!("{}: {what}: {sql}", self.name));
        let begun = Instant::now();
        let end = match self.dialect {
            Dialect::Tsql => "",
            Dialect::Postgres => ";\n\\echo --end--",
            Dialect::Duck => ";\n.print --end--",
        };
        writeln!(self.input, "{sql}{end}")
            .and_then(|()| self.input.flush())
            .map_err(|error| failed(&error.to_string()))?;
        let mut rows = String::new();
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
                return Err(failed(line.trim()));
            }
            rows.push_str(&line);
        }
        Ok((rows.trim().replace([',', '|'], "\t"), begun.elapsed().as_secs_f64()))
    }

    fn load(&mut self, rows: u64) -> Result<f64, Failure> {
        let begun = Instant::now();
        self.run(&self.dialect.table())?;
        let values = self.dialect.row();
        match self.dialect {
            Dialect::Tsql => {
                self.run("create clustered index cix_tran_stats on tran_stats(tran_begin)")?;
                self.run("create table numbers (n int not null primary key)")?;
                self.run(
                    "with d(n) as (select n from (values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) as d(n)) insert \
                     numbers select a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n from d a, d b, d c, d d, d e",
                )?;
                for base in (0..rows).step_by(CHUNK as usize) {
                    let most = CHUNK.min(rows - base);
                    self.run(&format!(
                        "insert into tran_stats with (tablock) select {values} from (select n + {base} as i from \
                         numbers where n < {most}) as v"
                    ))?;
                }
            }
            Dialect::Postgres => {
                self.run(&format!(
                    "insert into tran_stats select {values} from generate_series(0, {rows} - 1) as g(i)"
                ))?;
            }
            Dialect::Duck => {
                self.run(&format!(
                    "insert into tran_stats select {values} from range({rows}) as g(i)"
                ))?;
            }
        }
        for statement in self.dialect.dimensions() {
            self.run(&statement)?;
        }
        if self.dialect == Dialect::Postgres {
            self.run("vacuum analyze")?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Readies it for so many processors.
    fn spread(&mut self, maxdop: u32) -> Result<(), Failure> {
        match self.dialect {
            Dialect::Tsql => Ok(()),
            Dialect::Postgres => self
                .run(&format!("set max_parallel_workers_per_gather = {}", maxdop.saturating_sub(1)))
                .map(drop),
            Dialect::Duck => self.run(&format!("set threads = {maxdop}")).map(drop),
        }
    }

    fn stop(self) {
        drop(self.input);
        let mut child = self.child;
        let _ = child.wait();
        if let Some(server) = self.server {
            server.stop();
        }
    }
}

/// A PostgreSQL in a folder of its own.
struct Server {
    bin: PathBuf,
    folder: PathBuf,
}

impl Server {
    /// A command as the account that PostgreSQL may run as.
    fn command(program: &Path) -> Command {
        let root = Command::new("id").arg("-u").output();
        if root.is_ok_and(|output| output.stdout.starts_with(b"0")) {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
            return command;
        }
        Command::new(program)
    }

    fn start(folder: &Path, port: u16) -> Result<Server, Failure> {
        let missing = |what: String| Failure(format!("postgres: {what}"));
        let output = Command::new("pg_config").arg("--bindir").output();
        let bin = match output {
            Ok(output) if output.status.success() => {
                PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
            }
            _ => {
                let text = std::fs::read_dir("/usr/lib/postgresql");
                let newest = text.ok().and_then(|all| all.flatten().map(|d| d.path()).max());
                newest.ok_or_else(|| missing("is not installed here".into()))?.join("bin")
            }
        };
        let folder = folder.join("postgres");
        std::fs::create_dir_all(&folder).map_err(|e| missing(e.to_string()))?;
        let cluster = folder.join("cluster");
        let opened = Command::new("chmod").arg("777").arg(&folder).status();
        let run = |mut command: Command| {
            command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
            match command.status() {
                Ok(status) if status.success() => Ok(()),
                other => Err(missing(format!("{command:?}: {other:?}"))),
            }
        };
        opened.map_err(|e| missing(e.to_string()))?;
        let mut init = Server::command(&bin.join("initdb"));
        init.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D"])
            .arg(&cluster);
        run(init)?;
        let settings = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=4GB -c work_mem=1GB \
             -c maintenance_work_mem=1GB -c effective_cache_size=12GB -c random_page_cost=1.1 -c jit=on -c \
             max_parallel_workers_per_gather=0 -c hash_mem_multiplier=2 -c max_wal_size=8GB"
        );
        let mut start = Server::command(&bin.join("pg_ctl"));
        start.arg("-D").arg(&cluster).args(["-w", "-l"]).arg(folder.join("log"));
        start.args(["-o", &settings, "start"]);
        run(start)?;
        Ok(Server { bin, folder: cluster })
    }

    fn stop(self) {
        let mut stop = Server::command(&self.bin.join("pg_ctl"));
        stop.arg("-D").arg(&self.folder).args(["-w", "-m", "immediate", "stop"]);
        let _ = stop.current_dir("/").stdout(Stdio::null()).status();
    }
}

fn engines(options: &Options, folder: &Path) -> Result<Vec<Engine>, Failure> {
    let ours = match &options.program {
        Some(program) => program.clone(),
        None => {
            let line =
                ["build", "--release", "--quiet", "--package", "session", "--example", "timed"];
            cargo("the engine, embedded", &line).run()?;
            target_directory().join("release/examples/timed")
        }
    };
    let mut command = Command::new(ours);
    let pages = options.memory_mb * 3 / 4;
    command.arg(folder.join("millrace"));
    command.args([(pages << 20).to_string(), ((options.memory_mb - pages) << 20).to_string()]);
    let mut engine = Engine::start("millrace", Dialect::Tsql, command)?;
    engine.run("create database reporting")?;
    engine.run("alter database reporting set delayed_durability = forced")?;
    engine.run("use reporting")?;
    let mut all = vec![engine];
    for name in &options.beside {
        match name.as_str() {
            "postgres" => {
                const PORT: u16 = 55_499;
                let server = Server::start(folder, PORT)?;
                let mut command = Command::new("psql");
                command.args(["-qAtX", "-F", "\t", "-h", "127.0.0.1", "-U", "postgres", "-p"]);
                command.arg(PORT.to_string()).arg("postgres");
                let mut engine = Engine::start("postgres", Dialect::Postgres, command)?;
                engine.server = Some(server);
                all.push(engine);
            }
            "duckdb" => {
                // Named by DUCKDB, else the one in PATH.
                let program = std::env::var_os("DUCKDB").unwrap_or_else(|| "duckdb".into());
                let mut command = Command::new(program);
                command.args(["-csv", "-noheader"]).arg(folder.join("duck.db"));
                all.push(Engine::start("duckdb", Dialect::Duck, command)?);
            }
            other => return Err(Failure(format!("no engine is called {other}"))),
        }
    }
    Ok(all)
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = match &options.data {
        Some(data) => data.clone(),
        None => std::env::temp_dir().join(format!("reporting-{}", std::process::id())),
    };
    std::fs::create_dir_all(&folder).map_err(|e| Failure(e.to_string()))?;
    let mut engines = engines(options, &folder)?;
    let result = compare(options, &mut engines);
    engines.into_iter().for_each(Engine::stop);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn compare(options: &Options, engines: &mut [Engine]) -> Result<(), Failure> {
    let mut answers: Vec<(String, String)> = Vec::new();
    for engine in &mut *engines {
        let seconds = engine.load(options.rows)?;
        println!("{:<10} loaded {} rows in {seconds:.1} s", engine.name, options.rows);
        let (answer, _) = engine.run(&engine.dialect.query(true, 1))?;
        answers.push((engine.name.to_owned(), answer));
    }
    let (_, first) = &answers[0];
    if let Some((name, other)) = answers.iter().find(|(_, other)| other != first) {
        return Err(Failure(format!("{name} answers `{other}`, millrace `{first}`")));
    }
    println!("all answer (groups, rows, least, most): {}", first.replace('\t', " "));
    let mut medians = Vec::new();
    for &maxdop in &options.maxdop {
        let mut seconds = vec![Vec::new(); engines.len()];
        for round in 0..=options.rounds {
            for (engine, seconds) in engines.iter_mut().zip(&mut seconds) {
                engine.spread(maxdop)?;
                let (answer, took) = engine.run(&engine.dialect.query(false, maxdop))?;
                if answer != first.split('\t').next().unwrap_or_default() {
                    return Err(Failure(format!("{} now answers `{answer}`", engine.name)));
                }
                // The first round warms up.
                if round > 0 {
                    seconds.push(took);
                }
            }
        }
        let median = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let of: Vec<f64> = seconds.into_iter().map(median).collect();
        for (engine, seconds) in engines.iter().zip(&of) {
            println!(
                "MAXDOP {maxdop}: {:<10} {seconds:8.3} s   {:6.2} times millrace",
                engine.name,
                seconds / of[0]
            );
        }
        medians.push((maxdop, of));
    }
    for pair in medians.windows(2) {
        for (i, engine) in engines.iter().enumerate() {
            println!(
                "MAXDOP {} to {}: {:<10} {:.2} times faster",
                pair[0].0,
                pair[1].0,
                engine.name,
                pair[0].1[i] / pair[1].1[i]
            );
        }
    }
    Ok(())
}
