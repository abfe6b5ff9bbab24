//! What the interpreter costs per turn of a loop, and what a singleton insert costs under it.
//!
//! `cargo run --release -p interpreter --example loop_bench [rows [loop,loop]]`. One session on a plain thread, files in a
//! temporary folder, delayed durability; nanoseconds of this thread's CPU, and of the clock, per turn.

#[path = "../tests/support/mod.rs"]
mod support;

use engine::{DbOptions, LogConfig};
use std::time::Instant;
use support::{OneDatabase, Session};

const SETUP: &str = "
ALTER DATABASE test SET DELAYED_DURABILITY = FORCED
GO
CREATE TABLE big(
    c1 bigint NOT NULL PRIMARY KEY CLUSTERED,
    c2 datetime NULL DEFAULT (getdate()),
    c3 char(111) NULL DEFAULT ('a'),
    c4 int NULL DEFAULT ((1)),
    c5 int NULL DEFAULT ((2)),
    c6 bigint NULL DEFAULT ((42)))
GO
CREATE PROCEDURE sum_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @s bigint = 0, @k int = 0
    WHILE @i < @rows BEGIN SET @s = @s + @i % 1000 * 2; IF @i % 3 = 0 SET @k = @k + 1; SET @i += 1 END
END
GO
CREATE PROCEDURE sum_native @rows int WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 0, @s bigint = 0, @k int = 0
    WHILE @i < @rows BEGIN SET @s = @s + @i % 1000 * 2; IF @i % 3 = 0 SET @k = @k + 1; SET @i += 1 END
END
GO
CREATE PROCEDURE nothing_native WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i int = 0
END
GO
CREATE PROCEDURE call_native @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0
    WHILE @i < @rows BEGIN EXEC dbo.nothing_native; SET @i += 1 END
END
GO
CREATE PROCEDURE float_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @f float = 1
    WHILE @i < @rows BEGIN SET @f = @f * 1.0000001E0 + @i / 7; IF @f > 1E9 OR @f IS NULL SET @f = 1; SET @i += 1 END
END
GO
CREATE PROCEDURE empty_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @base bigint = @@SPID * 10000000000
    WHILE @i < @rows BEGIN BEGIN TRAN; COMMIT; SET @i += 1 END
END
GO
CREATE PROCEDURE key_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @k bigint, @base bigint = @@SPID * 10000000000
    WHILE @i < @rows BEGIN BEGIN TRAN; SET @k = @base + @i; COMMIT; SET @i += 1 END
END
GO
CREATE PROCEDURE insert_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @base bigint = @@SPID * 10000000000
    WHILE @i < @rows
    BEGIN
        BEGIN TRAN
        INSERT INTO dbo.big (c1) VALUES (@base + @i)
        COMMIT
        SET @i += 1
    END
END
GO
CREATE PROCEDURE batch_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @base bigint = @@SPID * 20000000000
    BEGIN TRAN
    WHILE @i < @rows
    BEGIN
        INSERT INTO dbo.big (c1) VALUES (@base + @i)
        SET @i += 1
        IF @i % 1000 = 0 BEGIN COMMIT; BEGIN TRAN END
    END
    COMMIT
END
GO
CREATE PROCEDURE pair_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @base bigint = @@SPID * 30000000000
    WHILE @i < @rows
    BEGIN
        INSERT INTO dbo.big (c1) VALUES (@base + @i), (@base + @i + 1)
        SET @i += 2
    END
END
GO
CREATE PROCEDURE read_loop @rows int AS
BEGIN
    SET NOCOUNT ON
    DECLARE @i int = 0, @x bigint, @base bigint = @@SPID * 10000000000, @k bigint
    WHILE @i < @rows
    BEGIN
        SET @k = @base + @i
        SELECT @x = c6 FROM dbo.big WHERE c1 = @k
        SET @i += 1
    END
END
GO
";

const BULK: &str = "
SET NOCOUNT ON
CREATE TABLE loaded(c1 bigint NOT NULL PRIMARY KEY, c2 datetime DEFAULT getdate(), c3 char(111) DEFAULT 'a',
    c4 int DEFAULT 1, c5 int DEFAULT 2, c6 bigint DEFAULT 42)
;WITH n(x) AS (SELECT 1 FROM (VALUES(0),(0),(0),(0),(0),(0),(0),(0),(0),(0)) t(n)),
    rows_wanted AS (SELECT ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS r
        FROM n a CROSS JOIN n b CROSS JOIN n c CROSS JOIN n d CROSS JOIN n e CROSS JOIN n f)
INSERT INTO loaded WITH (TABLOCKX) (c1) SELECT r FROM rows_wanted
";

fn main() {
    let rows: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let dir = std::env::temp_dir().join(format!("millrace-loop-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder for the files");
    let fs = device::RealFs::new(device::IoMode::Auto).expect("a file system");
    let options = DbOptions {
        log: LogConfig { vlf_bytes: 64 << 20, initial_vlfs: 8, ..LogConfig::default() },
        buffer_pool_bytes: 1 << 30,
        // The first touch of memory is not what is measured.
        prefault_bytes: 1 << 30,
        ..DbOptions::default()
    };
    let folder = dir.to_str().expect("a folder with a name").to_string();
    let database = support::open_on(fs, &folder, options);
    let mut session = Session::new(&database, 51);
    session.host = OneDatabase(database.clone());
    print!("{}", session.run(SETUP));
    let only = std::env::args().nth(2);
    for name in [
        "sum_loop",
        "sum_native",
        "float_loop",
        "call_native",
        "empty_loop",
        "key_loop",
        "insert_loop",
        "batch_loop",
        "pair_loop",
        "read_loop",
    ] {
        if only.as_ref().is_some_and(|only| !only.split(',').any(|o| o == name)) {
            continue;
        }
        // The first, short call compiles and warms.
        let warm = if name == "read_loop" { 1000 } else { 0 };
        print!("{}", session.run(&format!("EXEC {name} {warm}")));
        let start = Instant::now();
        let cpu_ns = runtime::clock::thread_cpu_ns();
        print!("{}", session.run(&format!("EXEC {name} {rows}")));
        let cpu = (runtime::clock::thread_cpu_ns() - cpu_ns) as f64 / rows as f64;
        let ns = start.elapsed().as_nanos() as f64 / rows as f64;
        println!("{name:<12} {cpu:>8.1} ns of CPU, {ns:>8.1} ns per row");
    }
    if only.is_none() {
        let start = Instant::now();
        let cpu_ns = runtime::clock::thread_cpu_ns();
        print!("{}", session.run(BULK));
        let cpu = (runtime::clock::thread_cpu_ns() - cpu_ns) as f64 / 1e6;
        let ns = start.elapsed().as_nanos() as f64 / 1e6;
        println!("INSERT SELECT {cpu:>7.1} ns of CPU, {ns:>8.1} ns per row");
        let start = Instant::now();
        let cpu_ns = runtime::clock::thread_cpu_ns();
        print!("{}", session.run("SELECT COUNT(*), SUM(c6) FROM loaded WHERE c4 = 1"));
        let cpu = (runtime::clock::thread_cpu_ns() - cpu_ns) as f64 / 1e6;
        let ns = start.elapsed().as_nanos() as f64 / 1e6;
        println!("scan          {cpu:>7.1} ns of CPU, {ns:>8.1} ns per row");
    }
    print!("{}", session.run("SELECT COUNT(*) FROM big"));
    drop(session);
    let _ = database.engine.close();
    let _ = std::fs::remove_dir_all(&dir);
}
