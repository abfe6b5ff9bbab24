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
    // Several rows of a key side by side, more pages than one branch takes at a time, an index that has not all columns.
    "CREATE TABLE c (id int NOT NULL, line int NOT NULL, k int NULL, v int NULL, pad char(400), PRIMARY KEY (id, line))",
    "INSERT c SELECT n / 3, n % 3, CASE WHEN n % 11 = 0 THEN NULL ELSE (n * 7919) % 3001 END, n % 89, 'c' FROM n",
    "CREATE INDEX c_k ON c (k)",
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
    "SELECT id / 3, CHECKSUM_AGG(v), MAX(t), MIN(pad), SUM(CAST(v AS money)), COUNT_BIG(*), ROUND(STDEV(v), 6) FROM a GROUP BY
     id / 3",
    "SELECT MIN(t), MAX(d), AVG(CAST(v AS float)), COUNT_BIG(*), CHECKSUM_AGG(id) FROM a",
    "SELECT COUNT(*), COUNT(k), SUM(v) FROM a WHERE v < 50",
    "SELECT b.g, COUNT(*), COUNT(a.t), SUM(a.v), AVG(a.v), MIN(a.v), COUNT(DISTINCT a.v) FROM a JOIN b ON a.k = b.k GROUP BY
     b.g",
    "SELECT a.v, COUNT(*), SUM(a.v) FROM a LEFT JOIN b ON a.v = b.g AND b.id < 100 GROUP BY a.v",
    "SELECT a.v, COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.g = a.v) GROUP BY a.v",
    "SELECT x.v, COUNT(*), SUM(x.v * y.g) FROM a x JOIN b y ON x.v = y.g JOIN s z ON z.k = y.g GROUP BY x.v",
    "SELECT DISTINCT k, t FROM a",
    "SELECT DISTINCT t, pad FROM a",
    "SELECT k FROM a EXCEPT SELECT k FROM b WHERE id < 100",
    "SELECT id % 5000, pad FROM a EXCEPT SELECT id, pad FROM a WHERE id < 300",
    "SELECT id, pad FROM a WHERE id < 300 EXCEPT SELECT id, pad FROM a WHERE id > 100",
    "SELECT t, pad FROM a INTERSECT SELECT t, pad FROM a WHERE v < 60",
    "SELECT k FROM a INTERSECT SELECT k FROM b",
    "SELECT v, id, COUNT(*), SUM(d), GROUPING_ID(v, id) FROM a GROUP BY ROLLUP (v, id)",
    "SELECT k, t, v, COUNT(*), MIN(id) FROM a GROUP BY GROUPING SETS ((k, t), (t), (v), ())",
    "SELECT v, k, t, COUNT(*), COUNT(k), SUM(d), AVG(d), MIN(t), MAX(id), ROUND(STDEV(v), 6), CHECKSUM_AGG(v),
     GROUPING_ID(v, k, t) FROM a WHERE id < 3000 GROUP BY CUBE (v, k, t)",
    "SELECT b.g, b.k, COUNT(*), COUNT(a.t), SUM(a.v), GROUPING(b.k) FROM a JOIN b ON a.k = b.k GROUP BY ROLLUP (b.g, b.k)",
    "SELECT k, v, COUNT(*) FROM a GROUP BY GROUPING SETS ((k, v), (v), (k, v), (), ())",
    "SELECT v, id, COUNT(DISTINCT k) FROM a GROUP BY ROLLUP (v, id)",
    // Made once, read twice, by one or by several.
    "WITH c AS (SELECT a.k, b.g, COUNT(*) AS n, MIN(a.pad) AS pad FROM a JOIN b ON a.k = b.k GROUP BY a.k, b.g) SELECT x.k,
     y.g, x.pad, y.pad FROM c x JOIN c y ON x.k = y.k + 1",
    "WITH c AS (SELECT id, t, pad, SUM(v) OVER (PARTITION BY t) AS n FROM a) SELECT x.id, y.n FROM c x JOIN c y ON x.id =
     y.id + 1 AND y.pad = x.pad WHERE x.n > (SELECT AVG(n) FROM c)",
    // Held for one row of x at a time.
    "SELECT x.n, (SELECT STRING_AGG(CAST(y.n AS varchar(10)), ',') FROM n y WHERE y.n BETWEEN x.n AND x.n + 9) FROM n x",
    "SELECT id, SUM(v) OVER (PARTITION BY v % 3), LAG(pad, 2, 'none') OVER (PARTITION BY v % 3 ORDER BY id) FROM a",
    "SELECT id, NTILE(7) OVER (ORDER BY t, id), PERCENT_RANK() OVER (ORDER BY k), CUME_DIST() OVER (ORDER BY v) FROM a",
    "SELECT id, LEAD(k, 3) IGNORE NULLS OVER (ORDER BY id), LAG(k) IGNORE NULLS OVER (ORDER BY id) FROM a",
    "SELECT id, FIRST_VALUE(k) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN 4 PRECEDING AND 1 FOLLOWING), LAST_VALUE(k)
     IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING), LAST_VALUE(t) OVER (ORDER BY v) FROM a
     WHERE v < 30",
    "SELECT id, SUM(v) OVER (ORDER BY v), COUNT(k) OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND 2 FOLLOWING), MAX(pad)
     OVER (ORDER BY id ROWS 3 PRECEDING), DENSE_RANK() OVER (ORDER BY v), COUNT(*) OVER () FROM a",
    "SELECT id, PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY k) OVER (PARTITION BY v % 2), PERCENTILE_DISC(0.9) WITHIN GROUP
     (ORDER BY k DESC) OVER (PARTITION BY v % 2) FROM a",
    "SELECT a.id, b.id FROM a INNER MERGE JOIN b ON a.k = b.k AND a.v > b.g",
    "SELECT a.id, b.id, b.pad FROM a LEFT MERGE JOIN b ON a.t = b.t",
    "SELECT a.id, b.id FROM a FULL MERGE JOIN b ON a.k = b.k AND a.v < 9",
    "SELECT x.v, y.v, y.pad FROM s x INNER MERGE JOIN s y ON x.k = y.k WHERE x.v < 40",
    "SELECT x.v, y.v, y.pad FROM (SELECT k, MIN(v) AS v FROM s GROUP BY k) x FULL MERGE JOIN s y ON x.k = y.k AND y.v > 9",
    // Nested loops in branches, groups that lie together in branches.
    "SELECT a.v, COUNT(*), SUM(c.v), MIN(c.pad) FROM a INNER LOOP JOIN c ON c.id = a.k GROUP BY a.v",
    "SELECT a.v, COUNT(c.line), SUM(c.v) FROM a LEFT LOOP JOIN c ON c.id = a.k AND c.v > a.v GROUP BY a.v",
    "SELECT a.v, COUNT(*), MIN(c.pad) FROM a INNER LOOP JOIN c ON c.k = a.k WHERE c.v < a.id GROUP BY a.v",
    "SELECT COUNT(*), SUM(y.v) FROM a INNER LOOP JOIN c x ON x.id = a.k LEFT LOOP JOIN c y ON y.k = x.k",
    "SELECT a.v, COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.k = a.k AND c.v <> a.v) GROUP BY a.v",
    "SELECT a.v, COUNT(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.k = a.k AND c.v <> a.v) GROUP BY a.v",
    "SELECT b.g, (SELECT COUNT(*) FROM a INNER LOOP JOIN c ON c.id = a.k WHERE a.v = b.g) FROM b WHERE b.id < 40",
    "= SELECT a.id, c.line, c.pad FROM a INNER LOOP JOIN c ON c.id = a.k ORDER BY a.id, c.line",
    "SELECT n, s, COUNT(*) FROM (SELECT id, COUNT(*) AS n, SUM(v) AS s FROM c GROUP BY id) x GROUP BY n, s",
    "SELECT a.id, x.s, x.p FROM a JOIN (SELECT id, SUM(v) AS s, MIN(pad) AS p FROM c WHERE id > 500 AND line < 2 GROUP BY id
     HAVING COUNT(*) > 1) x ON x.id = a.k",
    "SELECT s, COUNT(*) FROM (SELECT k, COUNT(*) AS s FROM c GROUP BY k) x GROUP BY s",
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
        let joined = run(session, "SELECT a.pad, b.pad FROM a JOIN a b ON a.t = b.t");
        assert!(joined.messages.iter().any(|m| m.starts_with("Table 'Workfile'.")));
    });
    ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    use device::FileSystem;
    let left = fs.list(std::path::Path::new("/data/spill")).expect("the folder");
    assert!(left.is_empty(), "{left:?}");
    instance.shutdown().expect("closes");
}

/// Statements that write to files, by different operators: a join whose sides both have more rows than it reads ahead. The
/// last is parallel.
const SPILLING: &[&str] = &[
    "SELECT id, t, pad FROM a ORDER BY t, id DESC OPTION (MAXDOP 1)",
    "SELECT a.id, b.id, a.pad, b.pad FROM a JOIN a b ON a.t = b.t OPTION (MAXDOP 1)",
    "SELECT id, pad, COUNT(*) FROM a GROUP BY id, pad OPTION (MAXDOP 1)",
    "SELECT DISTINCT id, pad FROM a OPTION (MAXDOP 1)",
    "SELECT id, pad FROM a EXCEPT SELECT id, pad FROM b OPTION (MAXDOP 1)",
    "SELECT id, pad, COUNT(*) FROM a GROUP BY ROLLUP (id, pad) OPTION (MAXDOP 1)",
    "SELECT id, pad, SUM(v) OVER () FROM a OPTION (MAXDOP 1)",
    "SELECT x.v, y.v, y.pad FROM s x INNER MERGE JOIN s y ON x.k = y.k WHERE x.v < 40 OPTION (MAXDOP 1)",
    "SELECT a.id, b.id, a.pad FROM a JOIN a b ON a.t = b.t ORDER BY a.pad, b.id
     OPTION (MAXDOP 2, USE HINT('ENABLE_PARALLEL_PLAN_PREFERENCE'))",
];

/// Rows whose branches have more to give than the exchange has room for, joined with many each.
const BRANCHING: &str = "SELECT a.id, x.v FROM a JOIN s x ON x.k = a.v % 1 + 5
    OPTION (MAXDOP 2, USE HINT('ENABLE_PARALLEL_PLAN_PREFERENCE'))";

/// The same of nested loops: left rows are handed to branches.
const LOOPING: &str = "SELECT a.id, c.v, x.v FROM a INNER LOOP JOIN c ON c.id = a.v INNER HASH JOIN s x ON x.k = a.v % 1 + 5
    OPTION (MAXDOP 2, USE HINT('ENABLE_PARALLEL_PLAN_PREFERENCE'))";

/// An instance whose queries have 256 KiB each, with [`TABLES`].
fn crowded() -> (Arc<Instance>, Arc<SimFs>) {
    let fs = SimFs::new(1);
    let mut config = InstanceConfig::new("/data", fs.clone());
    config.buffer_pool_bytes = 128 << 20;
    config.query_memory_bytes = 1 << 20;
    let instance = Instance::open(config).expect("opens");
    within(&instance, |session| TABLES.iter().for_each(|sql| drop(run(session, sql))));
    (instance, fs)
}

fn within<R: Send + 'static>(
    instance: &Arc<Instance>,
    body: impl FnOnce(&mut Session) -> R + Send + 'static,
) -> R {
    let ran = instance.spawn_session("spill", body);
    ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// No memory is granted, which branches would share too, and no file is left.
#[track_caller]
fn assert_all_given_back(instance: &Instance, fs: &SimFs, what: &str) {
    use device::FileSystem;
    let figures = instance.workspace().memory.figures();
    assert_eq!((figures.grantees, figures.granted_bytes), (0, 0), "{what}");
    let dir = std::path::Path::new("/data/spill");
    let left = if fs.exists(dir).expect("looked for") {
        fs.list(dir).expect("listed")
    } else {
        Vec::new()
    };
    assert!(left.is_empty(), "{what}: {left:?}");
}

/// Does something at the first row.
struct AtFirst<F: FnMut()> {
    rows: u64,
    act: F,
    errors: Vec<i32>,
}

impl<F: FnMut()> ResultSink for AtFirst<F> {
    fn columns(&mut self, _: &[ColumnMeta]) {}

    fn row(&mut self, _: &[Value]) {
        self.rows += 1;
        if self.rows == 1 {
            (self.act)();
        }
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.errors.push(message.number);
        }
    }
}

/// What a statement says, with `act` at its first row: whether it went well, rows, error numbers.
fn watched(session: &mut Session, sql: &str, act: impl FnMut()) -> (bool, u64, Vec<i32>) {
    let mut sink = AtFirst { rows: 0, act, errors: Vec::new() };
    let fine = session.execute(sql, &mut sink).is_ok();
    (fine, sink.rows, sink.errors)
}

#[test]
fn a_full_disk_ends_the_statement_and_nothing_else() {
    let (instance, fs) = crowded();
    // All of them once: statistics are made, and how many rows there are is known.
    let whole: Vec<u64> = within(&instance, |session| {
        run(session, "USE t");
        SPILLING.iter().map(|sql| run(session, sql).rows.len() as u64).collect()
    });
    assert_all_given_back(&instance, &fs, "all went well");
    // At once, and after some blocks.
    for room in [0, 300 << 10] {
        for (&sql, rows) in SPILLING.iter().zip(&whole) {
            fs.set_capacity(fs.total_bytes() + room);
            let (fine, _, errors) = within(&instance, move |session| {
                run(session, "USE t");
                watched(session, sql, || {})
            });
            // Some need no more than there is.
            let expected = if room > 0 && fine { vec![] } else { vec![1105] };
            assert_eq!(errors, expected, "{sql}");
            assert_all_given_back(&instance, &fs, sql);
            fs.set_capacity(u64::MAX);
            let again = within(&instance, move |session| {
                run(session, "USE t");
                run(session, sql).rows.len() as u64
            });
            assert_eq!(again, *rows, "{sql}");
        }
    }
    instance.shutdown().expect("closes");
}

#[test]
fn a_file_that_cannot_be_read_is_823() {
    let (instance, fs) = crowded();
    for &sql in &SPILLING[..SPILLING.len() - 1] {
        within(&instance, move |session| {
            run(session, "USE t");
            run(session, sql);
        });
        // Pages of tables are all in memory.
        let fault =
            device::Fault { op: Some(device::Op::Read), after: 1, times: u64::MAX, errno: 5 };
        fs.inject(fault);
        let (_, _, errors) = within(&instance, move |session| {
            run(session, "USE t");
            watched(session, sql, || {})
        });
        fs.clear_faults();
        assert_eq!(errors, [823], "{sql}");
        assert_all_given_back(&instance, &fs, sql);
    }
    instance.shutdown().expect("closes");
}

#[test]
fn cancel_and_kill_end_branches_and_spills() {
    let (instance, fs) = crowded();
    for &sql in SPILLING.iter().chain([&BRANCHING, &LOOPING]) {
        for kill in [false, true] {
            let other = instance.clone();
            let (fine, rows, errors, whole) = within(&instance, move |session| {
                run(session, "USE t");
                let whole = match sql {
                    BRANCHING | LOOPING => u64::MAX,
                    _ => run(session, sql).rows.len() as u64,
                };
                let (cancel, spid) = (session.cancel_flag(), session.spid());
                let stop = || match kill {
                    true => {
                        let mut killer = Session::new(&other);
                        run(&mut killer, &format!("KILL {spid}"));
                    }
                    false => cancel.store(true, std::sync::atomic::Ordering::Relaxed),
                };
                let (fine, rows, errors) = watched(session, sql, stop);
                if !kill {
                    cancel.store(false, std::sync::atomic::Ordering::Relaxed);
                    assert_eq!(run(session, "SELECT 1").rows, ["1"]);
                } else {
                    assert!(session.is_killed());
                }
                (fine, rows, errors, whole)
            });
            assert!(!fine && rows < whole, "{sql}: {rows} of {whole} rows");
            assert_eq!(errors, if kill { vec![596] } else { vec![] }, "{sql}");
            assert_all_given_back(&instance, &fs, sql);
        }
    }
    instance.shutdown().expect("closes");
}

#[test]
fn a_sort_is_stopped_while_it_writes() {
    let (instance, fs) = crowded();
    let flag = Arc::new(std::sync::OnceLock::new());
    let told = flag.clone();
    // Forty million rows: it does not end by itself.
    let sorting = instance.spawn_session("sorting", move |session| {
        run(session, "USE t");
        let _ = told.set(session.cancel_flag());
        watched(session, "SELECT a.id, b.id FROM a CROSS JOIN b ORDER BY a.pad, b.id", || {})
    });
    use device::FileSystem;
    let dir = std::path::Path::new("/data/spill");
    while !fs.exists(dir).expect("looked for") || fs.list(dir).expect("listed").is_empty() {
        std::thread::yield_now();
    }
    flag.get().expect("it has begun").store(true, std::sync::atomic::Ordering::Relaxed);
    let (fine, rows, errors) =
        sorting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert_eq!((fine, rows, errors), (false, 0, vec![]));
    assert_all_given_back(&instance, &fs, "a sort");
    instance.shutdown().expect("closes");
}

#[test]
fn an_error_in_one_branch_ends_all_with_its_number() {
    let (instance, fs) = crowded();
    let conversions = [
        ("1 / (a.id - 9000) < 5", 8134),
        ("CAST(a.id * 1000000 AS int) > 0", 8115),
        ("CAST(a.pad AS int) = 1", 245),
    ];
    // On the right side, which branches read, and on the left one, which this task reads.
    let sides = [
        ("1 / (c.id - 96) < 5", 8134),
        ("CAST(c.pad AS int) = 1", 245),
        ("1 / (a.id - 9000) < 5", 8134),
    ];
    within(&instance, move |session| {
        run(session, "USE t");
        for (text, conditions) in [(BRANCHING, conversions), (LOOPING, sides)] {
            for (condition, number) in conditions {
                let sql = text.replace("OPTION", &format!("WHERE {condition} OPTION"));
                let (fine, _, errors) = watched(session, &sql, || {});
                assert_eq!((fine, errors), (false, vec![number]), "{condition}");
                assert_eq!(run(session, "SELECT COUNT(*) FROM c").rows, ["10000"]);
            }
        }
    });
    assert_all_given_back(&instance, &fs, "an error in a branch");
    instance.shutdown().expect("closes");
}

#[test]
fn loops_and_groups_that_lie_together_run_in_branches() {
    let instance = instance(1 << 30);
    within(&instance, |session| {
        TABLES.iter().for_each(|sql| drop(run(session, sql)));
        let waits =
            "SELECT waiting_tasks_count FROM sys.dm_os_wait_stats WHERE wait_type = 'CXCONSUMER'";
        for sql in [
            "SELECT a.v, COUNT(*), SUM(c.v) FROM a INNER LOOP JOIN c ON c.id = a.v GROUP BY a.v",
            "SELECT n, COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM c GROUP BY id) x GROUP BY n",
        ] {
            // The first time statistics are made, by branches.
            run(session, &format!("{sql} OPTION (MAXDOP 1)"));
            let before = run(session, waits).rows;
            run(session, &format!("{sql} OPTION (MAXDOP 1)"));
            assert_eq!(run(session, waits).rows, before, "{sql}");
            run(session, &format!("{sql} {PARALLEL}"));
            assert_ne!(run(session, waits).rows, before, "{sql}");
        }
    });
    instance.shutdown().expect("closes");
}
