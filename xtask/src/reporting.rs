//! The reporting query of the posts over a table of millions of rows, beside other engines in one run (`beside.rs`).
//!
//! All are loaded with the same rows by their own fastest set-based way; then the query runs in turn on each, so that a
//! slow minute of the machine falls on all. Printed are medians and ratios; an engine whose answer differs makes the
//! command fail.

use crate::beside::{Dialect, Engine, Setup, engines};
use crate::run::Failure;
use std::path::PathBuf;
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

/// The dimensions, each with the type that its table has.
const DIMENSIONS: [(&str, &str); 6] = [
    ("server_config", "varchar(100)"),
    ("thread_name", "varchar(20)"),
    ("tran_type", "varchar(20)"),
    ("tran_status", "varchar(20)"),
    ("users", "int"),
    ("cpus", "int"),
];

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

impl Engine {
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
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = match &options.data {
        Some(data) => data.clone(),
        None => std::env::temp_dir().join(format!("reporting-{}", std::process::id())),
    };
    std::fs::create_dir_all(&folder).map_err(|e| Failure(e.to_string()))?;
    let programs: Vec<String> =
        options.program.iter().map(|program| program.display().to_string()).collect();
    let setup = Setup {
        database: "reporting",
        memory_mb: options.memory_mb,
        programs: &programs,
        beside: &options.beside,
        folder: &folder,
    };
    let mut engines = engines(&setup)?;
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
        answers.push((engine.name.clone(), answer));
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
