//! The same rows by seeks as by reading all: bounds of other types than the column's, beginnings of LIKE, lists and ORs of
//! values that are known only when the statement runs.

use device::SimFs;
use executor::{Collected, ResultSink};
use session::{Instance, InstanceConfig, Session};
use types::Value;

fn ids(session: &mut Session, text: &str) -> Vec<i64> {
    let mut said = Collected::default();
    let _ = session.execute(text, &mut said as &mut dyn ResultSink);
    assert_eq!(said.errors(), [] as [i32; 0], "{text}: {:?}", said.messages);
    let Some(set) = said.sets.last() else { return Vec::new() };
    let mut ids: Vec<i64> = set.rows.iter().filter_map(|row| row[0].as_i64()).collect();
    ids.sort_unstable();
    ids
}

/// What the plan of the last statement of a batch says of the reading of `k`.
fn seeks(session: &mut Session, text: &str) -> bool {
    let mut said = Collected::default();
    for batch in ["SET SHOWPLAN_TEXT ON", text, "SET SHOWPLAN_TEXT OFF"] {
        let _ = session.execute(batch, &mut said as &mut dyn ResultSink);
    }
    said.sets.iter().flat_map(|set| &set.rows).any(|row| {
        matches!(&row[0], Value::Str(text) if text.contains("Index Seek") && text.contains("SEEK:"))
    })
}

pub(crate) struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = stdx::mix64(self.0.wrapping_add(0x9E37_79B9_7F4A_7C15));
        self.0 % n
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Columns, and the types of parameters that meet them.
const COLUMNS: [(&str, &str, &[&str]); 13] = [
    ("a", "tinyint", &["int", "bigint", "decimal(9,2)", "float", "money"]),
    ("b", "int", &["bigint", "decimal(38,10)", "float", "money"]),
    ("c", "bigint", &["int", "decimal(38,2)", "float"]),
    ("d", "decimal(9,2)", &["decimal(38,10)", "decimal(5,1)", "int", "float"]),
    ("e", "smallmoney", &["money", "decimal(38,8)"]),
    ("f", "real", &["float"]),
    ("g", "date", &["datetime", "datetime2(7)", "smalldatetime"]),
    ("h", "datetime", &["datetime2(7)", "date", "smalldatetime"]),
    ("i", "datetime2(3)", &["datetime2(7)", "datetime", "date"]),
    ("j", "time(2)", &["time(7)"]),
    ("k", "varchar(8)", &["nvarchar(4000)", "varchar(max)", "char(20)"]),
    ("l", "nvarchar(8)", &["varchar(40)", "nvarchar(4000)"]),
    ("m", "varbinary(4)", &["varbinary(8)", "binary(6)"]),
];

/// A value as a literal that the type takes; now and then one that the column's does not.
fn literal(dice: &mut Dice, ty: &str, of: &str) -> String {
    let far = dice.below(12) == 0;
    match of {
        "a" | "b" | "c" | "d" | "e" | "f" if far && ty == "float" => {
            dice.one(&["-1e300", "1e300"]).to_string()
        }
        "a" | "b" if far && ty == "bigint" => {
            dice.one(&["-9000000000000", "9000000000000"]).to_string()
        }
        "a" | "b" | "c" | "d" | "e" | "f" => match ty {
            "tinyint" | "int" | "bigint" | "smallint" => format!("{}", dice.below(60)),
            _ => format!("{}.{}", dice.below(60), dice.one(&["0", "5", "25", "04", "9"])),
        },
        "g" | "h" | "i" if far && ty == "datetime2(7)" => {
            dice.one(&["'0001-01-01'", "'9999-12-31 23:59:59.9999999'"]).to_string()
        }
        "g" | "h" | "i" => {
            let day = format!("2026-0{}-{:02}", 1 + dice.below(2), 1 + dice.below(28));
            match ty {
                "date" => format!("'{day}'"),
                "smalldatetime" => format!("'{day} 0{}:30'", dice.below(3)),
                "datetime" => format!("'{day} 0{}:30:00.00{}'", dice.below(3), dice.below(8)),
                _ => format!("'{day} 0{}:30:00.00{}3333'", dice.below(3), dice.below(8)),
            }
        }
        "j" if ty == "time(2)" => format!("'23:59:59.{:02}'", 90 + dice.below(10)),
        "j" => format!("'23:59:59.9{}99999'", dice.below(10)),
        "m" => format!("0x{:02X}{}", dice.below(9), dice.one(&["", "00", "0001", "FF", "00FF01"])),
        _ => {
            let more = dice.one(&["", " ", "é", "a", "B ", "z9", "日"]);
            format!("N'{}{}{more}'", dice.one(&["a", "A", "b", "é"]), dice.one(&["", "b", "C"]))
        }
    }
}

fn pattern(dice: &mut Dice) -> String {
    let begin = dice.one(&["a", "AB", "é", "b ", "a_", "[ab]", "%", "", "a!%", "ab!"]);
    format!("{begin}{}", dice.one(&["%", "%a", "", "_", "%!_"]))
}

/// A batch that declares what a predicate needs, and the predicate.
fn predicate(dice: &mut Dice) -> (String, String) {
    let (column, own, others) = COLUMNS[dice.below(COLUMNS.len() as u64) as usize];
    let is_text = own.contains("char");
    if dice.below(12) == 0 {
        let ty = dice.one(others);
        let declared = format!("DECLARE @p {ty} = {};", literal(dice, ty, column));
        let more = dice.one(&["", &format!(" OR {column} = @p")]).to_string();
        return (declared, format!("({column} IS NULL{more})"));
    }
    let is_moment = own.starts_with("datetime");
    match dice.below(if is_text || is_moment { 5 } else { 4 }) {
        4 if is_moment => {
            let op = dice.one(&["=", "<", "<=", ">", ">="]);
            let declared = format!("DECLARE @p date = {};", literal(dice, "date", column));
            (declared, format!("CAST({column} AS date) {op} @p"))
        }
        0 => {
            let ty = dice.one(others);
            let (p, q) = (literal(dice, ty, column), literal(dice, ty, column));
            let (low, high) = (dice.one(&[">", ">="]), dice.one(&["<", "<="]));
            let declared = format!("DECLARE @p {ty} = {p}, @q {ty} = {q};");
            (declared, format!("{column} {low} @p AND {column} {high} @q"))
        }
        1 => {
            let ty = dice.one(others);
            let op = dice.one(&["=", "<", "<=", ">", ">="]);
            let declared = format!("DECLARE @p {ty} = {};", literal(dice, ty, column));
            (declared, format!("{column} {op} @p"))
        }
        2 => {
            let ty = dice.one(others);
            let (p, q) = (literal(dice, ty, column), literal(dice, ty, column));
            let declared = format!("DECLARE @p {ty} = {p}, @q {ty} = {q}, @r {ty};");
            (declared, format!("{column} IN (@p, @q, @p, @r, {})", literal(dice, own, column)))
        }
        3 => {
            let (other, own_of_other, _) = COLUMNS[dice.below(6) as usize];
            let declared = format!(
                "DECLARE @p {own} = {}, @q {own_of_other} = {};",
                literal(dice, own, column),
                literal(dice, own_of_other, other)
            );
            (declared, format!("({column} = @p OR {other} = @q AND id > 9 OR {other} = @q)"))
        }
        _ => {
            let declared = format!(
                "DECLARE @p {} = N'{}';",
                dice.one(&["nvarchar(40)", "varchar(40)"]),
                pattern(dice)
            );
            let escape = dice.one(&["", "", " ESCAPE '!'"]);
            (declared, format!("{column} LIKE @p{escape}"))
        }
    }
}

#[test]
fn what_is_sought_is_what_a_scan_finds() {
    let instance = Instance::open(InstanceConfig::small("/data", SimFs::new(7))).expect("opens");
    let ran = instance.spawn_session("seeks", |session| {
        let mut dice = Dice(20261201);
        ids(session, "CREATE DATABASE t");
        ids(session, "USE t");
        let columns: Vec<String> =
            COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty} NULL")).collect();
        ids(session, &format!("CREATE TABLE heap (id int NOT NULL, {})", columns.join(", ")));
        ids(session, &format!("CREATE TABLE k (id int NOT NULL PRIMARY KEY, {})", columns.join(", ")));
        for (at, (name, ..)) in COLUMNS.iter().enumerate() {
            let down = if at % 3 == 2 { " DESC" } else { "" };
            ids(session, &format!("CREATE INDEX by_{name} ON k ({name}{down})"));
        }
        for id in 0..400 {
            let values: Vec<String> = COLUMNS
                .iter()
                .map(|(name, ty, _)| match dice.below(10) {
                    0 => "NULL".to_string(),
                    _ => literal(&mut dice, ty, name),
                })
                .collect();
            ids(session, &format!("INSERT heap VALUES ({id}, {})", values.join(", ")));
        }
        let names: Vec<&str> = COLUMNS.iter().map(|(name, ..)| *name).collect();
        let more = format!(
            "INSERT heap SELECT id + 400 * value, {} FROM heap CROSS JOIN GENERATE_SERIES(1, 9)",
            names.join(", ")
        );
        ids(session, &more);
        ids(session, "INSERT k SELECT * FROM heap");
        let (mut some, mut sought) = (0, 0);
        for _ in 0..700 {
            let (declared, predicate) = predicate(&mut dice);
            let of = |table: &str| format!("{declared} SELECT id FROM {table} WHERE {predicate}");
            let expected = ids(session, &of("heap"));
            some += usize::from(!expected.is_empty());
            assert_eq!(ids(session, &of("k")), expected, "{}", of("k"));
            sought += usize::from(seeks(session, &of("k")));
            // The same with statistics, from the middle on, and with a change in place of a query.
            if dice.below(40) == 0 {
                let change = format!(
                    "{declared} BEGIN TRAN; UPDATE k SET id += 0 OUTPUT inserted.id WHERE {predicate}; ROLLBACK"
                );
                assert_eq!(ids(session, &change), expected, "{change}");
            }
            if dice.below(700) == 0 {
                ids(session, "UPDATE STATISTICS k WITH FULLSCAN");
            }
        }
        assert!(some > 250, "only {some} predicates found rows");
        assert!(sought > 500, "only {sought} were sought");
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("a clean end");
}
