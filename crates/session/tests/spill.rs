//! The same rows come from a query that has all the memory it wants, from one that must write to files, and from one
//! that several branches run.

use device::SimFs;
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Session};
use std::sync::Arc;
use types::{SqlType, Value, format};

#[derive(Default)]
struct Rows {
    types: Vec<SqlType>,
    rows: Vec<String>,
    messages: Vec<String>,
    error: Option<String>,
}

impl ResultSink for Rows {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|c| c.ty).collect();
    }

    fn row(&mut self, row: &[Value]) {
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(v, ty)| format::shell(v, *ty)).collect();
        // Texts that differ in case alone are one group, which bears the name of any of them.
        self.rows.push(cells.join("|").to_uppercase());
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        match message.is_error() {
            true => self.error = Some(message.to_string()),
            false => self.messages.push(message.text.to_string()),
        }
    }
}

fn run(session: &mut Session, sql: &str) -> Rows {
    let mut rows = Rows::default();
    let _ = session.execute(sql, &mut rows);
    assert_eq!(rows.error, None, "{sql}");
    rows
}

const TABLES: &[&str] = &[
    "CREATE DATABASE t",
    "USE t",
    "CREATE TABLE n (n int NOT NULL PRIMARY KEY)",
    "WITH d(n) AS (SELECT n FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS d(n))
     INSERT n SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n FROM d a, d b, d c, d d",
    // Keys with duplicates, NULLs and texts that differ in case alone.
    "CREATE TABLE a (id int NOT NULL, k int NULL, v int NULL, t varchar(40) NULL, d decimal(9,2), pad char(60))",
    "INSERT a SELECT n, CASE WHEN n % 11 = 0 THEN NULL ELSE (n * 7919) % 3001 END, n % 97, CASE WHEN n % 13 = 0 THEN NULL
     WHEN n % 2 = 0 THEN 'Key ' + CAST((n * 31) % 4001 AS varchar(10)) ELSE 'KEY ' + CAST((n * 31) % 4001 AS varchar(10))
     END, n / 3.0, 'x' FROM n",
    "CREATE TABLE b (id int NOT NULL, k int NULL, g int NULL, t varchar(40) NULL, pad char(60))",
    "INSERT b SELECT n, CASE WHEN n % 7 = 0 THEN NULL ELSE (n * 104729) % 3501 END, n % 50, 'key ' + CAST(n AS
     varchar(10)), 'y' FROM n WHERE n < 7000",
    // One key has most rows.
    "CREATE TABLE s (k int NOT NULL, v int NOT NULL, pad char(60))",
    "INSERT s SELECT CASE WHEN n % 4 = 0 THEN n ELSE 5 END, n, 'z' FROM n WHERE n < 4000",
];

/// Each ends where OPTION may stand. Those marked `=` give rows in an order that is theirs alone.
const QUERIES: &[&str] = &[
    "SELECT a.id, b.id, a.t FROM a JOIN b ON a.k = b.k",
    "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k AND a.v > b.g",
    "SELECT a.id, b.id, b.pad FROM a LEFT JOIN b ON a.k = b.k AND a.v > b.g",
    "SELECT a.id, b.id FROM b RIGHT JOIN a ON a.t = b.t",
    "SELECT a.id, b.id, a.v, b.g FROM a FULL JOIN b ON a.k = b.k AND b.g < 25",
    "SELECT a.id, a.pad FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.g <> a.v)",
    "SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.g <> a.v)",
    "SELECT a.id FROM a WHERE a.k IN (SELECT k FROM b)",
    "SELECT s.v, a.id FROM a JOIN s ON a.v = s.k",
    "SELECT COUNT(*), SUM(CAST(x.v AS bigint)) FROM s x JOIN s y ON x.k = y.k",
    "SELECT COUNT(*) FROM s x FULL JOIN s y ON x.k = y.k AND x.v < y.v",
    "SELECT k, COUNT(*), SUM(v), MIN(t), AVG(d) FROM a GROUP BY k",
    "SELECT t, COUNT(*), COUNT(v), MAX(id) FROM a GROUP BY t",
    "SELECT id, COUNT(DISTINCT v), SUM(d) FROM a GROUP BY id",
    "SELECT v, COUNT(*) FROM a GROUP BY v",
    "SELECT COUNT(*), COUNT(k), SUM(v) FROM a WHERE v < 50",
    "SELECT b.g, COUNT(*), COUNT(a.t), SUM(a.v), AVG(a.v), MIN(a.v), COUNT(DISTINCT a.v) FROM a JOIN b ON a.k = b.k GROUP BY
     b.g",
    "SELECT a.v, COUNT(*), SUM(a.v) FROM a LEFT JOIN b ON a.v = b.g AND b.id < 100 GROUP BY a.v",
    "SELECT a.v, COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.g = a.v) GROUP BY a.v",
    "SELECT x.v, COUNT(*), SUM(x.v * y.g) FROM a x JOIN b y ON x.v = y.g JOIN s z ON z.k = y.g GROUP BY x.v",
    "SELECT DISTINCT k, t FROM a",
    "SELECT DISTINCT t, pad FROM a",
    "SELECT k FROM a EXCEPT SELECT k FROM b WHERE id < 100",
    "= SELECT id, t, pad FROM a ORDER BY t, id DESC",
    "= SELECT id, k, d FROM a ORDER BY k DESC, d, id",
    "= SELECT TOP 3000 id, pad FROM a ORDER BY v, id",
    "= SELECT TOP (7) id, pad FROM a ORDER BY v DESC, id",
    "= SELECT id, ROW_NUMBER() OVER (PARTITION BY v ORDER BY id) FROM a ORDER BY v, id",
];

fn instance(query_memory_bytes: u64) -> Arc<Instance> {
    let mut config = InstanceConfig::new("/data", SimFs::new(1));
    config.buffer_pool_bytes = 128 << 20;
    config.query_memory_bytes = query_memory_bytes;
    Instance::open(config).expect("opens")
}

/// What every query answers, one after the other, with `option` behind it.
fn answers(query_memory_bytes: u64, option: &'static str) -> (Vec<Vec<String>>, u64) {
    let instance = instance(query_memory_bytes);
    let all = instance.spawn_session("spill", move |session| {
        for sql in TABLES {
            run(session, sql);
        }
        let answer = |query: &&str| {
            let (ordered, sql) = match query.strip_prefix("= ") {
                Some(sql) => (true, sql),
                None => (false, *query),
            };
            let mut rows = run(session, &format!("{sql} {option}")).rows;
            if !ordered {
                rows.sort();
            }
            rows
        };
        QUERIES.iter().map(answer).collect::<Vec<_>>()
    });
    let all = all.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let figures = instance.workspace().memory.figures();
    assert_eq!((figures.grantees, figures.granted_bytes), (0, 0), "every grant has gone back");
    let spilled = instance.workspace().spilled().operators();
    instance.shutdown().expect("closes");
    (all, spilled)
}

const PARALLEL: &str = "OPTION (MAXDOP 2, USE HINT('ENABLE_PARALLEL_PLAN_PREFERENCE'))";

#[test]
fn little_memory_and_many_branches_change_no_row() {
    let (plain, none) = answers(1 << 30, "OPTION (MAXDOP 1)");
    assert_eq!(none, 0);
    assert!(plain.iter().all(|rows| !rows.is_empty()));
    for (bytes, option) in
        [(1 << 20, "OPTION (MAXDOP 1)"), (1 << 30, PARALLEL), (1 << 20, PARALLEL)]
    {
        let (rows, spilled) = answers(bytes, option);
        for ((rows, plain), query) in rows.iter().zip(&plain).zip(QUERIES) {
            assert_eq!(rows.len(), plain.len(), "{query} {option}, {bytes} bytes");
            assert!(rows == plain, "other rows: {query} {option}, {bytes} bytes");
        }
        assert!(bytes > 1 << 20 || spilled >= 10, "{spilled} operators spilled");
    }
}

#[test]
fn a_spill_is_told_and_its_files_go() {
    let fs = SimFs::new(1);
    let mut config = InstanceConfig::new("/data", fs.clone());
    config.buffer_pool_bytes = 128 << 20;
    config.query_memory_bytes = 1 << 20;
    let instance = Instance::open(config).expect("opens");
    let ran = instance.spawn_session("spill", |session| {
        TABLES.iter().for_each(|sql| drop(run(session, sql)));
        run(session, "SET STATISTICS IO ON");
        let sorted = run(session, "SELECT id, pad FROM a ORDER BY pad, id DESC");
        assert!(sorted.messages.iter().any(|m| m.starts_with("Table 'Worktable'.")));
        let joined = run(session, "SELECT a.pad, b.pad FROM a JOIN b ON a.t = b.t");
        assert!(joined.messages.iter().any(|m| m.starts_with("Table 'Workfile'.")));
    });
    ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    use device::FileSystem;
    let left = fs.list(std::path::Path::new("/data/spill")).expect("the folder");
    assert!(left.is_empty(), "{left:?}");
    instance.shutdown().expect("closes");
}
