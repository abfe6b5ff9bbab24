//! The SQL of the workload: the posts' table in SQLite's types.

/// SQLite keeps no trailing blanks: the filler of `char(111)` is written out, so that rows are as long as elsewhere.
pub(crate) fn table() -> String {
    format!(
        "CREATE TABLE big_table (
             c1 INTEGER PRIMARY KEY,
             c2 REAL NOT NULL DEFAULT (julianday('now')),
             c3 TEXT NOT NULL DEFAULT '{:<111}',
             c4 INTEGER NOT NULL DEFAULT 1,
             c5 INTEGER NOT NULL DEFAULT 2,
             c6 INTEGER NOT NULL DEFAULT 42
         ) STRICT",
        "a"
    )
}

pub(crate) const DROP: &str = "DROP TABLE IF EXISTS big_table";
pub(crate) const COUNT: &str = "SELECT count(*) FROM big_table";
pub(crate) const READ: &str = "SELECT c6 FROM big_table WHERE c1 = ?1";

/// Rows `?1`, `?1 + 1` and so on, of one statement.
pub(crate) fn insert(rows: u64) -> String {
    let rows: Vec<String> = (0..rows).map(|i| format!("(?1 + {i})")).collect();
    format!("INSERT INTO big_table (c1) VALUES {}", rows.join(", "))
}

/// Rows 1 to `rows`.
pub(crate) fn fill(rows: u64) -> String {
    format!(
        "INSERT INTO big_table (c1) WITH RECURSIVE k (n) AS \
         (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < {rows}) SELECT n FROM k"
    )
}
