//! Tables of a round: columns of several kinds, keys and indexes, a few rows with NULLs among them.

use super::random::Random;

/// What an expression is about; values of one kind may meet without a conversion that could fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Text,
    Decimal,
    Float,
    Date,
}

pub const KINDS: &[Kind] = &[Kind::Int, Kind::Text, Kind::Decimal, Kind::Float, Kind::Date];

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub ty: &'static str,
    pub not_null: bool,
}

/// A table; its first column is its key.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    indexes: Vec<String>,
    rows: Vec<String>,
}

/// The tables of a round.
pub struct Schema {
    pub tables: Vec<Table>,
}

const INTS: &[&str] = &["int", "bigint", "smallint", "tinyint"];
const TEXTS: &[&str] = &["varchar(20)", "nvarchar(20)", "char(6)", "nchar(4)", "varchar(max)"];
const DECIMALS: &[&str] = &["decimal(9, 2)", "decimal(18, 4)", "money", "numeric(5, 1)"];
const DATES: &[&str] = &["date", "datetime", "datetime2(3)", "smalldatetime"];

impl Schema {
    pub fn generate(random: &mut Random) -> Schema {
        let tables = (0..3).map(|at| Table::generate(&format!("t{at}"), random)).collect();
        Schema { tables }
    }

    /// Statements that make everything anew.
    pub fn script(&self) -> Vec<String> {
        let mut script = Vec::new();
        for table in &self.tables {
            script.push(format!("DROP TABLE IF EXISTS {}", table.name));
            let columns: Vec<String> = table
                .columns
                .iter()
                .enumerate()
                .map(|(at, column)| {
                    let key = if at == 0 { " PRIMARY KEY" } else { "" };
                    let null = if column.not_null { " NOT NULL" } else { " NULL" };
                    format!("{} {}{null}{key}", column.name, column.ty)
                })
                .collect();
            script.push(format!("CREATE TABLE {} ({})", table.name, columns.join(", ")));
            if !table.rows.is_empty() {
                script.push(format!("INSERT {} VALUES {}", table.name, table.rows.join(", ")));
            }
            script.extend(table.indexes.iter().cloned());
        }
        script
    }
}

impl Table {
    fn generate(name: &str, random: &mut Random) -> Table {
        let mut columns = vec![Column {
            name: "id".into(),
            kind: Kind::Int,
            ty: if random.chance(50) { "int" } else { "bigint" },
            not_null: true,
        }];
        let more = 4 + random.below(3);
        // One of each kind first, then any.
        let mut kinds = KINDS.iter().copied();
        for at in 0..more {
            let kind = kinds.next().unwrap_or_else(|| *random.pick(KINDS));
            let ty = match kind {
                Kind::Int => *random.pick(INTS),
                Kind::Text => *random.pick(TEXTS),
                Kind::Decimal => *random.pick(DECIMALS),
                Kind::Float => {
                    if random.chance(70) {
                        "float"
                    } else {
                        "real"
                    }
                }
                Kind::Date => *random.pick(DATES),
            };
            columns.push(Column { name: format!("c{at}"), kind, ty, not_null: random.chance(20) });
        }
        let rows = (0..random.below(25))
            .map(|id| {
                let values: Vec<String> = columns
                    .iter()
                    .enumerate()
                    .map(|(at, column)| match at {
                        0 => id.to_string(),
                        _ if !column.not_null && random.chance(20) => "NULL".into(),
                        _ => value(column.kind, random),
                    })
                    .collect();
                format!("({})", values.join(", "))
            })
            .collect();
        let mut indexes = Vec::new();
        for at in 0..random.below(3) {
            let column = random.pick(&columns[1..]);
            if column.ty == "varchar(max)" {
                continue;
            }
            let filter = match random.below(4) {
                0 => format!(" WHERE {} IS NOT NULL", column.name),
                _ => String::new(),
            };
            let order = if random.chance(30) { " DESC" } else { "" };
            indexes.push(format!("CREATE INDEX i{at} ON {name} ({}{order}){filter}", column.name));
        }
        Table { name: name.into(), columns, indexes, rows }
    }
}

/// A constant that fits every type of its kind.
pub fn value(kind: Kind, random: &mut Random) -> String {
    match kind {
        Kind::Int => random.between(0, 40).to_string(),
        Kind::Text => {
            let text =
                random.pick(&["", "a", "b", "ab", "Abc", "xyz", "x y", "10", "Z_", "a%b", "é"]);
            format!("{}'{text}'", if random.chance(40) { "N" } else { "" })
        }
        Kind::Decimal => format!("{}.{}", random.between(0, 99), random.below(10)),
        Kind::Float => format!("{}e{}", random.between(-20, 20), random.below(3)),
        Kind::Date => format!(
            "'20{:02}{:02}{:02}'",
            random.between(10, 29),
            random.between(1, 12),
            random.between(1, 28)
        ),
    }
}
