//! The T-SQL of the workload: a table of the posts' shape, and a procedure that fills it.
//!
//! The key base is @@SPID * 10,000,000,000, so that sessions insert into ranges of their own; `@first`
//! lets a session call again where it left off.

use crate::workload::{Procedure, Table, Workload};

/// What the procedure does per transaction and per statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub rows_per_insert: u64,
    /// A multiple of `rows_per_insert`.
    pub commit_every: u64,
    /// The last row of each `commit_every` is a transaction by itself: see [`Workload::last_alone`].
    pub last_alone: bool,
    pub table: Table,
    pub procedure: Procedure,
}

impl Shape {
    pub fn of(workload: &Workload) -> Shape {
        let &Workload { rows_per_insert, commit_every, last_alone, table, procedure, .. } =
            workload;
        Shape { rows_per_insert, commit_every, last_alone, table, procedure }
    }
}

pub(crate) const DATABASE: &str = "lab";

/// What a load of single rows writes of log at most; the log comes round, so no more is made in advance than the second.
const LOG_MB_A_SECOND: f64 = 300.0;
const LOG_MB_MAX: f64 = 2048.0;

/// Batches that make the database, run in `master`.
///
/// `seconds`: of a load that goes on for so long the file of the rows and the log begin large, as whoever runs it would make
/// them, so that the window does not pay for their growth.
pub(crate) fn create_database(delayed: bool, seconds: Option<f64>) -> Vec<String> {
    let log = seconds.map(|seconds| {
        let megabytes = (seconds * LOG_MB_A_SECOND).clamp(128.0, LOG_MB_MAX);
        format!(", SIZE = {megabytes:.0}MB")
    });
    let log = log.unwrap_or_default();
    let size = if seconds.is_some() { ", SIZE = 1024MB" } else { "" };
    let durability = if delayed { "FORCED" } else { "DISABLED" };
    vec![
        format!(
            "CREATE DATABASE {DATABASE}\n\
             ON PRIMARY (NAME = {DATABASE}_primary, FILENAME = '{DATABASE}.mdf'),\n\
             FILEGROUP rows (NAME = {DATABASE}_rows, FILENAME = '{DATABASE}_rows.ndf'{size})\n\
             LOG ON (NAME = {DATABASE}_log, FILENAME = '{DATABASE}.ldf'{log});"
        ),
        format!("ALTER DATABASE {DATABASE} SET RECOVERY SIMPLE;"),
        format!("ALTER DATABASE {DATABASE} SET DELAYED_DURABILITY = {durability};"),
    ]
}

/// Batches that make the table and the procedure, run in the database.
pub(crate) fn create_objects(shape: Shape) -> Vec<String> {
    let mut all = vec![create_table(shape.table, " ON rows")];
    all.extend(procedures(shape));
    all
}

/// Batches that give a database what its table asks for, run in it: of a memory-optimised one, a filegroup with its
/// container beside the server's data files, and SNAPSHOT where a transaction asks for less (41368).
pub(crate) fn prepare_database(database: &str, table: Table) -> Vec<String> {
    if table == Table::Disk {
        return Vec::new();
    }
    vec![
        format!(
            "ALTER DATABASE {database} ADD FILEGROUP in_memory CONTAINS MEMORY_OPTIMIZED_DATA;"
        ),
        format!(
            "DECLARE @folder nvarchar(2000) = CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(2000));\n\
             EXEC (N'ALTER DATABASE {database} ADD FILE (NAME = {database}_in_memory, FILENAME = ''' + @folder + \
             N'{database}_in_memory'') TO FILEGROUP in_memory;');"
        ),
        format!("ALTER DATABASE {database} SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON;"),
    ]
}

/// Of the hash index of a memory-optimised table: 64 MiB, and chains of a few rows in the longest runs.
const BUCKETS: u32 = 1 << 23;

/// The table; one on disk in the filegroup that `place` names, or in the database's own.
pub(crate) fn create_table(table: Table, place: &str) -> String {
    let (key, place) = match table {
        Table::Disk => ("CLUSTERED (c1)".to_owned(), place.to_owned()),
        Table::Memory | Table::MemorySchemaOnly => {
            let kept = if table == Table::Memory { "SCHEMA_AND_DATA" } else { "SCHEMA_ONLY" };
            (
                format!("NONCLUSTERED HASH (c1) WITH (BUCKET_COUNT = {BUCKETS})"),
                format!(" WITH (MEMORY_OPTIMIZED = ON, DURABILITY = {kept})"),
            )
        }
    };
    format!(
        "CREATE TABLE dbo.big_table (\n\
             c1 bigint NOT NULL,\n\
             c2 datetime NOT NULL DEFAULT GETDATE(),\n\
             c3 char(111) NOT NULL DEFAULT 'a',\n\
             c4 int NOT NULL DEFAULT 1,\n\
             c5 int NOT NULL DEFAULT 2,\n\
             c6 bigint NOT NULL DEFAULT 42,\n\
             CONSTRAINT pk_big_table PRIMARY KEY {key}\n\
         ){place};"
    )
}

/// The procedures that fill it: the one that is called, `insert_rows`, and what it calls before it.
pub(crate) fn procedures(shape: Shape) -> Vec<String> {
    match shape.procedure {
        Procedure::Interpreted => vec![interpreted(shape)],
        Procedure::Native => vec![native(), calls_native(shape.commit_every)],
    }
}

/// One transaction: an atomic block that inserts so many rows.
fn native() -> String {
    "CREATE PROCEDURE dbo.insert_block @first bigint NOT NULL, @rows bigint NOT NULL\n\
     WITH NATIVE_COMPILATION, SCHEMABINDING\n\
     AS\n\
     BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')\n\
     \x20   DECLARE @key bigint = @first;\n\
     \x20   DECLARE @last bigint = @first + @rows;\n\
     \x20   WHILE @key < @last\n\
     \x20   BEGIN\n\
     \x20       INSERT INTO dbo.big_table (c1) VALUES (@key);\n\
     \x20       SET @key = @key + 1;\n\
     \x20   END;\n\
     END"
    .to_owned()
}

fn calls_native(commit_every: u64) -> String {
    let head = head();
    format!(
        "{head}\
         DECLARE @block bigint = {commit_every};\n\
         WHILE @key < @last\n\
         BEGIN\n\
         \x20   IF @last - @key < @block SET @block = @last - @key;\n\
         \x20   EXEC dbo.insert_block @key, @block;\n\
         \x20   SET @key = @key + @block;\n\
         END;"
    )
}

/// Of `insert_rows`, whoever inserts.
fn head() -> &'static str {
    "CREATE PROCEDURE dbo.insert_rows @rows bigint, @first bigint\n\
     AS\n\
     SET NOCOUNT ON;\n\
     DECLARE @key bigint = @@SPID * CAST(10000000000 AS bigint) + @first;\n\
     DECLARE @last bigint = @key + @rows;\n"
}

fn interpreted(shape: Shape) -> String {
    let Shape { rows_per_insert, commit_every, last_alone, .. } = shape;
    let rows: Vec<String> = (0..rows_per_insert)
        .map(|i| if i == 0 { "(@key)".to_owned() } else { format!("(@key + {i})") })
        .collect();
    let insert = format!("INSERT INTO dbo.big_table (c1) VALUES {};", rows.join(", "));
    let body = if last_alone {
        // The counter and its two remainders are post 4's.
        let last = commit_every - 1;
        format!(
            "DECLARE @counter bigint = 0;\n\
             WHILE @key < @last\n\
             BEGIN\n\
             \x20   IF @counter % {commit_every} = 0 BEGIN TRANSACTION;\n\
             \x20   {insert}\n\
             \x20   SET @key = @key + 1;\n\
             \x20   SET @counter = @counter + 1;\n\
             \x20   IF @counter % {commit_every} = {last} COMMIT TRANSACTION;\n\
             END;\n\
             IF @@TRANCOUNT > 0 COMMIT TRANSACTION;"
        )
    } else if commit_every == rows_per_insert {
        format!(
            "WHILE @key < @last\n\
             BEGIN\n\
             \x20   BEGIN TRANSACTION;\n\
             \x20   {insert}\n\
             \x20   COMMIT TRANSACTION;\n\
             \x20   SET @key = @key + {rows_per_insert};\n\
             END;"
        )
    } else {
        format!(
            "DECLARE @open int = 0;\n\
             WHILE @key < @last\n\
             BEGIN\n\
             \x20   IF @open = 0 BEGIN TRANSACTION;\n\
             \x20   {insert}\n\
             \x20   SET @key = @key + {rows_per_insert};\n\
             \x20   SET @open = @open + {rows_per_insert};\n\
             \x20   IF @open >= {commit_every}\n\
             \x20   BEGIN\n\
             \x20       COMMIT TRANSACTION;\n\
             \x20       SET @open = 0;\n\
             \x20   END;\n\
             END;\n\
             IF @@TRANCOUNT > 0 COMMIT TRANSACTION;"
        )
    };
    format!("{}{body}", head())
}

/// The call that inserts `rows` rows, the session having inserted `first` already.
pub(crate) fn call(rows: u64, first: u64) -> String {
    format!("EXEC dbo.insert_rows @rows = {rows}, @first = {first};")
}

/// Rows in the table.
pub(crate) const COUNT: &str = "SELECT COUNT_BIG(*) FROM dbo.big_table;";
