//! The T-SQL of the workload: a table of the posts' shape, and a procedure that fills it.
//!
//! The key base is @@SPID * 10,000,000,000, so that sessions insert into ranges of their own; `@first`
//! lets a session call again where it left off.

use crate::workload::Workload;

/// What the procedure does per transaction and per statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub rows_per_insert: u64,
    /// A multiple of `rows_per_insert`.
    pub commit_every: u64,
    /// The last row of each `commit_every` is a transaction by itself: see [`Workload::last_alone`].
    pub last_alone: bool,
}

impl Shape {
    pub fn of(workload: &Workload) -> Shape {
        let &Workload { rows_per_insert, commit_every, last_alone, .. } = workload;
        Shape { rows_per_insert, commit_every, last_alone }
    }
}

pub(crate) const DATABASE: &str = "lab";

/// Batches that make the database, run in `master`.
///
/// `presized`: the file of the rows begins large, as whoever runs such a load would make it, so that
/// the window does not pay for its growth.
pub(crate) fn create_database(delayed: bool, presized: bool) -> Vec<String> {
    let size = if presized { ", SIZE = 1024MB" } else { "" };
    let durability = if delayed { "FORCED" } else { "DISABLED" };
    vec![
        format!(
            "CREATE DATABASE {DATABASE}\n\
             ON PRIMARY (NAME = {DATABASE}_primary, FILENAME = '{DATABASE}.mdf'),\n\
             FILEGROUP rows (NAME = {DATABASE}_rows, FILENAME = '{DATABASE}_rows.ndf'{size})\n\
             LOG ON (NAME = {DATABASE}_log, FILENAME = '{DATABASE}.ldf');"
        ),
        format!("ALTER DATABASE {DATABASE} SET RECOVERY SIMPLE;"),
        format!("ALTER DATABASE {DATABASE} SET DELAYED_DURABILITY = {durability};"),
    ]
}

/// Batches that make the table and the procedure, run in the database.
pub(crate) fn create_objects(shape: Shape) -> Vec<String> {
    vec![create_table(" ON rows"), procedure(shape)]
}

/// The table, in the filegroup that `place` names, or in the database's own.
pub(crate) fn create_table(place: &str) -> String {
    format!(
        "CREATE TABLE dbo.big_table (\n\
             c1 bigint NOT NULL,\n\
             c2 datetime NOT NULL DEFAULT GETDATE(),\n\
             c3 char(111) NOT NULL DEFAULT 'a',\n\
             c4 int NOT NULL DEFAULT 1,\n\
             c5 int NOT NULL DEFAULT 2,\n\
             c6 bigint NOT NULL DEFAULT 42,\n\
             CONSTRAINT pk_big_table PRIMARY KEY CLUSTERED (c1)\n\
         ){place};"
    )
}

/// The procedure that fills it.
pub(crate) fn procedure(shape: Shape) -> String {
    let Shape { rows_per_insert, commit_every, last_alone } = shape;
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
    format!(
        "CREATE PROCEDURE dbo.insert_rows @rows bigint, @first bigint\n\
         AS\n\
         SET NOCOUNT ON;\n\
         DECLARE @key bigint = @@SPID * CAST(10000000000 AS bigint) + @first;\n\
         DECLARE @last bigint = @key + @rows;\n\
         {body}"
    )
}

/// The call that inserts `rows` rows, the session having inserted `first` already.
pub(crate) fn call(rows: u64, first: u64) -> String {
    format!("EXEC dbo.insert_rows @rows = {rows}, @first = {first};")
}

/// Rows in the table.
pub(crate) const COUNT: &str = "SELECT COUNT_BIG(*) FROM dbo.big_table;";
