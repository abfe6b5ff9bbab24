//! Views, derived tables and common table expressions: a query over them has the rows that it has over tables which they were
//! copied into first; and tables below them are sought as if they were named there.

use crate::seeks_agree::Dice;
use device::SimFs;
use executor::{Collected, ResultSink};
use session::{Instance, InstanceConfig, Session};
use types::Value;

fn rows(session: &mut Session, text: &str) -> Vec<Vec<Value>> {
    let mut said = Collected::default();
    let _ = session.execute(text, &mut said as &mut dyn ResultSink);
    assert_eq!(said.errors(), [] as [i32; 0], "{text}: {:?}", said.messages);
    said.sets.pop().map(|set| set.rows).unwrap_or_default()
}

/// In no order.
fn bag(session: &mut Session, text: &str) -> Vec<String> {
    let mut all: Vec<String> =
        rows(session, text).into_iter().map(|row| format!("{row:?}")).collect();
    all.sort();
    all
}

const TABLES: &str = "
    CREATE TABLE a (id int NOT NULL PRIMARY KEY, g int NULL, name varchar(20) NULL, at date NOT NULL, INDEX by_g (g))
    CREATE TABLE b (id int NOT NULL, n int NOT NULL, v int NULL, PRIMARY KEY (id, n), INDEX by_v (v))
    CREATE TABLE c (k int NULL, w int NOT NULL)
    INSERT a SELECT value, NULLIF(value % 50, 7), CASE WHEN value % 9 > 0 THEN CONCAT('n', value % 30) END,
        DATEADD(day, value % 400, '20240101') FROM GENERATE_SERIES(0, 1999)
    INSERT b SELECT value / 3, value % 3, NULLIF(value % 60, 11) FROM GENERATE_SERIES(0, 4999)
    INSERT c SELECT NULLIF(value * 37 % 900, 0), value % 5 FROM GENERATE_SERIES(0, 79)";

/// Sources with columns k, x and t: what stands in place of a table's name.
const SOURCES: [&str; 14] = [
    "SELECT id AS k, g AS x, name AS t FROM a",
    "SELECT id AS k, g + 1 AS x, UPPER(name) AS t FROM a WHERE g > 3",
    "SELECT v AS k, n AS x, CAST(id AS varchar(20)) AS t FROM b",
    "SELECT a.id AS k, b.v AS x, a.name AS t FROM a JOIN b ON b.id = a.id WHERE b.n = 1",
    "SELECT a.id AS k, ISNULL(b.v, -1) AS x, a.name + '!' AS t FROM a LEFT JOIN b ON b.id = a.g AND b.n = 0 WHERE a.g < 40",
    "SELECT q.k, q.x * 2 AS x, q.t FROM (SELECT id AS k, g AS x, name AS t FROM a WHERE at < '20240601') q WHERE q.k > 5",
    "SELECT g AS k, COUNT(*) AS x, MAX(name) AS t FROM a GROUP BY g",
    "SELECT DISTINCT g AS k, g AS x, name AS t FROM a WHERE id < 300",
    "SELECT id AS k, g AS x, name AS t FROM a WHERE id < 400 UNION ALL SELECT id, v, 'b' FROM b WHERE n = 2",
    "SELECT TOP 50 id AS k, g AS x, name AS t FROM a ORDER BY at, id",
    "SELECT id AS k, 7 AS x, 'const' AS t FROM a",
    "SELECT id AS k, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) AS x, name AS t FROM a",
    "SELECT id AS k, (SELECT COUNT(*) FROM b WHERE b.id = a.id) AS x, name AS t FROM a",
    "SELECT c.k, c.w AS x, y.t FROM c CROSS APPLY (SELECT TOP 1 name AS t FROM a WHERE a.g = c.w ORDER BY id) y",
];

/// Predicates over the columns of one source, `$` in its place.
fn asked(dice: &mut Dice, of: &str) -> String {
    let text = match dice.below(9) {
        0 => format!("$.k = {}", dice.below(60)),
        1 => format!("$.k BETWEEN {0} AND {0} + 40", dice.below(300)),
        2 => format!("$.x < {}", dice.below(30)),
        3 => format!("$.t LIKE 'n{}%'", dice.below(4)),
        4 => "$.x IS NOT NULL".into(),
        5 => "$.t IS NULL".into(),
        6 => format!("$.k IN (SELECT k FROM c WHERE w = {})", dice.below(6)),
        7 => format!(
            "$.x NOT IN (SELECT v FROM b WHERE id > {} AND v IS NOT NULL)",
            dice.below(1700)
        ),
        _ => format!("$.k NOT IN (SELECT k FROM c WHERE w <> {})", dice.below(6)),
    };
    text.replace('$', of)
}

/// A query over sources that are named `$1` and `$2`.
fn query(dice: &mut Dice) -> String {
    let join = dice.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
    let on = dice.one(&["p.k = q.k", "p.x = q.k", "q.k = p.k AND q.x > p.x", "q.k = p.x + 1"]);
    let third = dice.one(&["", "", " JOIN c ON c.k = q.k", " LEFT JOIN c ON c.k = p.x"]);
    let mut conditions = vec![asked(dice, "p")];
    for _ in 0..dice.below(3) {
        let of = dice.one(&["p", "q"]);
        conditions.push(asked(dice, of));
    }
    let w = if third.is_empty() { "0" } else { "c.w" };
    let (select, end) = match dice.below(5) {
        0 => ("COUNT(*), MIN(p.k), MAX(q.x), SUM(q.k)".to_string(), ""),
        1 => (format!("p.t, COUNT(*), MAX(q.t), SUM({w})"), " GROUP BY p.t"),
        2 => ("DISTINCT p.k, q.t, q.x".to_string(), ""),
        3 => (
            format!("TOP 20 p.k, q.k, p.x, q.x, p.t, q.t, {w} AS w"),
            " ORDER BY p.k, q.k, p.x, q.x, p.t, q.t, w",
        ),
        _ => (format!("p.k, p.x, p.t, q.k, q.x, q.t, {w}"), ""),
    };
    let conditions = conditions.join(" AND ");
    format!("SELECT {select} FROM $1 p {join} $2 q ON {on}{third} WHERE {conditions}{end}")
}

#[test]
fn queries_over_names_agree_with_those_over_copies() {
    let instance = Instance::open(InstanceConfig::small("/data", SimFs::new(7))).expect("opens");
    let ran = instance.spawn_session("seen through", |session| {
        for batch in ["CREATE DATABASE t", "USE t", TABLES] {
            rows(session, batch);
        }
        for (at, source) in SOURCES.iter().enumerate() {
            rows(session, &format!("CREATE VIEW v{at} AS {source}"));
            rows(session, &format!("SELECT * INTO copy{at} FROM v{at}"));
        }
        let mut dice = Dice(20261202);
        let mut some = 0;
        for _ in 0..260 {
            let query = query(&mut dice);
            let (p, q) = (dice.below(14) as usize, dice.below(14) as usize);
            let named = |at: usize, form: u64| match form {
                0 => format!("v{at}"),
                _ => format!("({})", SOURCES[at]),
            };
            let (first, second) = (named(p, dice.below(2)), named(q, dice.below(2)));
            let text = match dice.below(3) {
                0 => format!(
                    "WITH e AS ({}), f AS (SELECT k, x, t FROM v{q}) {}",
                    SOURCES[p],
                    query.replace("$1", "e").replace("$2", "f")
                ),
                _ => query.replace("$1", &first).replace("$2", &second),
            };
            let copied =
                query.replace("$1", &format!("copy{p}")).replace("$2", &format!("copy{q}"));
            let expected = bag(session, &format!("{copied} OPTION (FORCE ORDER)"));
            assert_eq!(bag(session, &text), expected, "{text}");
            some += usize::from(!expected.is_empty());
        }
        assert!(some > 120, "only {some} queries found rows");
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
}

/// What NOT IN means, by counting.
#[test]
fn not_in_agrees_with_counting_what_is_no_mismatch() {
    let instance = Instance::open(InstanceConfig::small("/data", SimFs::new(7))).expect("opens");
    let ran = instance.spawn_session("not in", |session| {
        for batch in ["CREATE DATABASE t", "USE t", TABLES] {
            rows(session, batch);
        }
        for outer in ["a.g", "a.id", "a.g + 1", "NULLIF(a.g, 3)"] {
            for inner in ["b.v", "b.n", "NULLIF(b.v, 5)"] {
                for more in [
                    "1 = 1",
                    "b.v IS NOT NULL",
                    "b.v IS NULL",
                    "b.id < 0",
                    "b.id = a.id",
                    "b.id = a.g AND b.n > 0",
                    "b.n = a.g",
                    "b.n = a.id % 3 AND b.v IS NOT NULL",
                ] {
                    let text = format!(
                        "SELECT id FROM a WHERE id < 120 AND {outer} NOT IN
                         (SELECT {inner} FROM b WHERE {more})"
                    );
                    let counted = format!(
                        "SELECT id FROM a WHERE id < 120 AND (SELECT COUNT(*) FROM b WHERE {more}
                         AND ({inner} = {outer} OR {inner} IS NULL OR {outer} IS NULL)) = 0"
                    );
                    assert_eq!(bag(session, &text), bag(session, &counted), "{text}");
                }
            }
        }
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
}
