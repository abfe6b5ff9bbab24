//! The same rows by every plan: queries made at random, each run under hints that force another way, and before and after
//! statistics are there.

use device::SimFs;
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Session};
use types::{Value, format};

#[derive(Default)]
struct Rows {
    types: Vec<types::SqlType>,
    rows: Vec<String>,
    errors: Vec<String>,
}

impl ResultSink for Rows {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|column| column.ty).collect();
    }
    fn row(&mut self, row: &[Value]) {
        let cells = row.iter().zip(&self.types).map(|(value, ty)| format::shell(value, *ty));
        self.rows.push(cells.collect::<Vec<_>>().join("|"));
    }
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.errors.push(message.to_string());
        }
    }
}

fn run(session: &mut Session, text: &str) -> Vec<String> {
    let mut rows = Rows::default();
    let _ = session.execute(text, &mut rows);
    assert!(rows.errors.is_empty(), "{text}: {:?}", rows.errors);
    rows.rows.sort();
    rows.rows
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = stdx::mix64(self.0.wrapping_add(0x9E37_79B9_7F4A_7C15));
        self.0 % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

const SETUP: &str = "
CREATE TABLE a (id int NOT NULL PRIMARY KEY, x int NULL, y int NOT NULL, s varchar(10) NULL)
CREATE INDEX a_x ON a (x) INCLUDE (y)
CREATE INDEX a_y ON a (y, x)
CREATE TABLE b (k int NOT NULL, n int NOT NULL, x int NULL, PRIMARY KEY (k, n))
CREATE INDEX b_x ON b (x)
CREATE TABLE c (x int NULL, z int NOT NULL)
CREATE TABLE d (z int NOT NULL PRIMARY KEY, t varchar(10) NOT NULL)
INSERT a SELECT value, CASE WHEN value % 9 = 0 THEN NULL ELSE value % 40 END, value % 13, CONCAT('s', value % 25) FROM GENERATE_SERIES(1, 1200)
INSERT b SELECT value / 3, value % 3, CASE WHEN value % 11 = 0 THEN NULL ELSE value % 60 END FROM GENERATE_SERIES(0, 899)
INSERT c SELECT CASE WHEN value % 8 = 0 THEN NULL ELSE value % 45 END, value % 30 FROM GENERATE_SERIES(1, 600)
INSERT d SELECT value, CONCAT('t', value) FROM GENERATE_SERIES(0, 24)";

fn predicate(dice: &mut Dice) -> String {
    let n = dice.below(45);
    match dice.below(9) {
        0 => format!("a.x = {n}"),
        1 => format!("a.y BETWEEN {} AND {}", n % 13, n % 13 + dice.below(4)),
        2 => format!("a.id < {}", n * 20),
        3 => format!("a.x IN ({n}, {}, NULL)", n + 1),
        4 => format!("a.s LIKE 's{}%'", n % 3),
        5 => format!("(a.x = {n} OR a.y = {})", n % 13),
        6 => "a.x IS NULL".to_string(),
        7 => format!("EXISTS (SELECT * FROM b e WHERE e.x = a.x AND e.n <> {})", n % 3),
        _ => format!("a.y NOT IN (SELECT g.z FROM d g WHERE g.z > {})", n % 25),
    }
}

fn query(dice: &mut Dice) -> String {
    let join = |dice: &mut Dice| dice.one(&["JOIN", "JOIN", "LEFT JOIN"]).to_string();
    let from = match dice.below(7) {
        0 => "a".to_string(),
        1 => format!("a {} b ON b.k = a.id", join(dice)),
        2 => format!("a {} b ON b.x = a.x AND b.n = 1", join(dice)),
        3 => format!("a JOIN b ON b.k = a.id {} c ON c.x = b.x AND c.z < 9", join(dice)),
        4 => format!(
            "b JOIN a ON a.id = b.k JOIN c ON c.x = a.x AND c.z = 5 {} d ON d.z = c.z",
            join(dice)
        ),
        5 => "a FULL JOIN b ON b.k = a.id AND b.x = a.x".to_string(),
        _ => "d JOIN c ON c.z = d.z JOIN a ON a.x = c.x AND a.y = 4".to_string(),
    };
    let predicates: Vec<String> = (0..1 + dice.below(3)).map(|_| predicate(dice)).collect();
    let condition = predicates.join(" AND ");
    match dice.below(3) {
        0 => format!("SELECT a.y, COUNT(*), SUM(a.id) FROM {from} WHERE {condition} GROUP BY a.y"),
        1 => format!("SELECT DISTINCT a.y, a.s FROM {from} WHERE {condition}"),
        _ => format!("SELECT * FROM {from} WHERE {condition}"),
    }
}

#[test]
fn every_plan_gives_the_same_rows() {
    let fs = SimFs::new(7);
    let config = InstanceConfig::small("/data", fs);
    let instance = Instance::open(config).expect("a fresh instance");
    let run = instance.spawn_session("plans", move |session| {
        run(session, "CREATE DATABASE t");
        run(session, "USE t");
        run(session, SETUP);
        let hints = [
            "",
            "OPTION (FORCE ORDER)",
            "OPTION (LOOP JOIN)",
            "OPTION (HASH JOIN)",
            "OPTION (FORCE ORDER, HASH JOIN)",
            "OPTION (MERGE JOIN)",
            "OPTION (FORCE ORDER, MERGE JOIN)",
            "OPTION (RECOMPILE)",
        ];
        let mut dice = Dice(20261121);
        let mut some = 0;
        for _ in 0..60 {
            let text = query(&mut dice);
            let expected = run(session, &format!("{text} OPTION (FORCE ORDER, LOOP JOIN)"));
            some += usize::from(!expected.is_empty());
            for hint in hints {
                let got = run(session, &format!("{text} {hint}"));
                assert_eq!(got, expected, "{text} {hint}");
            }
            for index in ["0", "a_x", "a_y"] {
                let hinted = text.replacen("FROM a", &format!("FROM a WITH (INDEX({index}))"), 1);
                assert_eq!(run(session, &hinted), expected, "{hinted}");
            }
        }
        assert!(some > 20, "only {some} queries found rows");
    });
    if let Err(panic) = run.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("a clean end");
}
