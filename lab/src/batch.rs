//! Loads of one batch that every session runs again and again: the reporting query of post 2, INSERT ... SELECT.
//!
//! A run of the batch counts as the rows that it reads or writes. [`Workload::size`](crate::Workload) says how large the
//! tables are.

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Groups a table by six columns that it finds in small tables, as post 2's report does.
    Report,
    /// Inserts a block of rows from another table, TABLOCK, with so many processors.
    InsertSelect { dop: u32 },
}

/// Rows that one INSERT ... SELECT takes.
const BLOCK: u64 = 5_000;
/// Rows of the table that digits are multiplied to.
const DIGITS: &str = "(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS";
/// Distinct values of each grouped column: the product is the number of groups, post 2's 600.
const DIMENSIONS: [(&str, u32); 6] = [
    ("server_config", 2),
    ("users", 5),
    ("cpus", 3),
    ("thread_name", 2),
    ("tran_type", 5),
    ("tran_status", 2),
];

impl Batch {
    /// What a table needs that was not said otherwise.
    pub fn default_size(self) -> u64 {
        match self {
            Batch::Report => 100_000,
            Batch::InsertSelect { .. } => BLOCK,
        }
    }

    /// Batches that make the tables of the current database.
    pub(crate) fn set_up(self, size: u64) -> Vec<String> {
        match self {
            Batch::Report => report_tables(size),
            Batch::InsertSelect { .. } => vec![
                "CREATE TABLE dbo.numbers (n bigint NOT NULL PRIMARY KEY);".to_owned(),
                format!("INSERT INTO dbo.numbers (n) {};", numbers(BLOCK)),
                crate::script::create_table(crate::Table::Disk, " ON rows"),
            ],
        }
    }

    /// What session `index` runs for the `turn`th time.
    pub(crate) fn text(self, index: usize, turn: u64) -> String {
        match self {
            Batch::Report => report(),
            Batch::InsertSelect { dop } => {
                let first = (index as u64 + 1) * 10_000_000_000 + turn * BLOCK;
                format!(
                    "INSERT INTO dbo.big_table WITH (TABLOCK) (c1) SELECT {first} + n FROM dbo.numbers \
                     OPTION (MAXDOP {dop});"
                )
            }
        }
    }

    /// Rows that one run stands for.
    pub(crate) fn rows(self, size: u64) -> u64 {
        match self {
            Batch::Report => size,
            Batch::InsertSelect { .. } => BLOCK,
        }
    }

    /// The number that a run answers, where it answers one: what a wrong plan would not.
    pub(crate) fn answer(self, size: u64) -> Option<u64> {
        let groups: u32 = DIMENSIONS.iter().map(|(_, values)| values).product();
        matches!(self, Batch::Report).then(|| size.min(groups.into()))
    }

    /// Whether a run is a transaction that writes.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Batch::InsertSelect { .. })
    }

    /// As a setting of the cell.
    pub(crate) fn settings(self) -> Option<(String, String)> {
        match self {
            Batch::Report => None,
            Batch::InsertSelect { dop } => Some(("maxdop".to_owned(), dop.to_string())),
        }
    }
}

/// 0, 1, ... as a query of one column `n`, of at least one row.
fn numbers(rows: u64) -> String {
    // As many digits as the last of them has.
    let places = (rows.max(2) - 1).to_string().len();
    let digits: Vec<String> = (0..places).map(|place| format!("{DIGITS} d{place}(d)")).collect();
    let sum: Vec<String> =
        (0..places).map(|place| format!("{} * d{place}.d", 10u64.pow(place as u32))).collect();
    format!(
        "SELECT n FROM (SELECT CAST({} AS bigint) AS n FROM {}) AS all_numbers WHERE n < {rows}",
        sum.join(" + "),
        digits.join(" CROSS JOIN ")
    )
}

/// The table of transactions that the report groups, clustered by when they began, and its dimensions.
fn report_tables(rows: u64) -> Vec<String> {
    let mut all = vec![
        "CREATE TABLE dbo.tran_stats (server_config varchar(100) NOT NULL, users int NOT NULL, cpus smallint NOT NULL, \
         thread_name varchar(20) NOT NULL, tran_count int NOT NULL, tran_type varchar(20) NOT NULL, \
         tran_status varchar(20) NOT NULL, tran_begin datetime NOT NULL, tran_end datetime NOT NULL, \
         resultset_size smallint NOT NULL, filler char(100) NOT NULL) ON rows;"
            .to_owned(),
        "CREATE CLUSTERED INDEX ix_tran_begin ON dbo.tran_stats (tran_begin);".to_owned(),
    ];
    for (name, values) in DIMENSIONS {
        let (ty, value) = match name {
            "users" | "cpus" => ("int", "CAST(n AS int)".to_owned()),
            _ => ("varchar(100)", format!("'{name} ' + CAST(n AS varchar(10))")),
        };
        all.push(format!(
            "CREATE TABLE dbo.dim_{name} (id int IDENTITY(1, 1) PRIMARY KEY, value {ty} NOT NULL);"
        ));
        all.push(format!(
            "INSERT INTO dbo.dim_{name} (value) SELECT {value} FROM ({}) AS v;",
            numbers(values.into())
        ));
    }
    let mut below = 1u32;
    let columns: Vec<String> = DIMENSIONS
        .iter()
        .map(|(name, values)| {
            let digit = format!("(n / {below}) % {values}");
            below *= values;
            match *name {
                "users" | "cpus" => digit,
                name => format!("'{name} ' + CAST({digit} AS varchar(10))"),
            }
        })
        .collect();
    // In transactions of some rows, as the post loads them.
    const LOADED: u64 = 20_000;
    for first in (0..rows).step_by(LOADED as usize) {
        let some = LOADED.min(rows - first);
        all.push(format!(
            "INSERT INTO dbo.tran_stats (server_config, users, cpus, thread_name, tran_type, tran_status, tran_count, \
             tran_begin, tran_end, resultset_size, filler) \
             SELECT {}, 1, DATEADD(second, CAST(n AS int), '2016-01-01'), \
             DATEADD(second, CAST(n AS int) + 1, '2016-01-01'), 1, 'x' \
             FROM (SELECT n + {first} AS n FROM ({}) AS piece) AS loaded;",
            columns.join(", "),
            numbers(some)
        ));
    }
    all
}

/// Joins on the six columns, groups by the six ids, and counts the groups.
fn report() -> String {
    let ids: Vec<String> = DIMENSIONS.iter().map(|(name, _)| format!("{name}_d.id")).collect();
    let joins: Vec<String> = DIMENSIONS
        .iter()
        .map(|(name, _)| format!("JOIN dbo.dim_{name} AS {name}_d ON {name}_d.value = t.{name}"))
        .collect();
    let named: Vec<String> =
        DIMENSIONS.iter().map(|(name, _)| format!("{name}_d.id AS {name}_id")).collect();
    format!(
        "SELECT COUNT(*) FROM (SELECT {}, COUNT(*) AS transactions FROM dbo.tran_stats AS t {} GROUP BY {}) AS found \
         OPTION (MAXDOP 1);",
        named.join(", "),
        joins.join(" "),
        ids.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_the_posts_groups() {
        assert_eq!(Batch::Report.answer(100_000), Some(600));
        assert_eq!(Batch::Report.answer(7), Some(7));
        assert_eq!(Batch::InsertSelect { dop: 1 }.answer(7), None);
    }

    #[test]
    fn numbers_have_as_many_digits_as_they_need() {
        assert_eq!(numbers(10).matches("VALUES").count(), 1);
        assert_eq!(numbers(11).matches("VALUES").count(), 2);
        assert!(numbers(20_000).ends_with("WHERE n < 20000"));
    }
}
