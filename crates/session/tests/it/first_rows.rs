//! The first rows of joins by an order: the same rows, in the same order, whether other tables are sought for one that is read
//! in that order, or all is joined by hash and sorted.

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

fn plan(session: &mut Session, text: &str) -> String {
    let mut shown = String::new();
    for batch in ["SET SHOWPLAN_TEXT ON", text, "SET SHOWPLAN_TEXT OFF"] {
        for row in rows(session, batch) {
            if let Value::Str(text) = &row[0] {
                shown.push_str(text);
                shown.push('\n');
            }
        }
    }
    shown
}

const TABLES: &str = "
    CREATE TABLE customers (id int NOT NULL PRIMARY KEY, region int NOT NULL, name varchar(20) NOT NULL)
    CREATE TABLE orders (id int NOT NULL PRIMARY KEY, customer int NULL, placed date NOT NULL, total int NOT NULL,
        note varchar(40) NULL)
    CREATE TABLE lines (order_id int NOT NULL, n int NOT NULL, item int NOT NULL, PRIMARY KEY (order_id, n))
    CREATE TABLE items (id int NOT NULL, price int NOT NULL)
    INSERT customers SELECT value, value % 7, CONCAT('c', value) FROM GENERATE_SERIES(0, 1499)
    INSERT orders SELECT value, NULLIF(value % 1600, 1599), DATEADD(day, value * 7 % 1000, '20200101'), value % 97,
        CASE WHEN value % 5 = 0 THEN 'noted' END FROM GENERATE_SERIES(0, 11999)
    INSERT lines SELECT value / 2, value % 2, value % 40 FROM GENERATE_SERIES(0, 19999)
    INSERT items SELECT value, value * 3 FROM GENERATE_SERIES(0, 38)
    CREATE INDEX by_placed ON orders (placed, id)
    CREATE INDEX by_customer ON orders (customer)
    CREATE INDEX by_region ON customers (region, name)";

/// A query of all, without its first words, and what its rows are ordered by: nothing twice.
fn query(dice: &mut Dice) -> (String, String) {
    let customer = dice.one(&["JOIN", "LEFT JOIN"]);
    let mut from = format!("orders o {customer} customers c ON c.id = o.customer");
    let mut unique = "o.id";
    if dice.below(2) == 0 {
        from.push_str(&format!(
            " {} lines l ON l.order_id = o.id",
            dice.one(&["JOIN", "LEFT JOIN"])
        ));
        unique = "o.id, l.n";
        if dice.below(2) == 0 {
            from.push_str(&format!(
                " {} items i ON i.id = l.item",
                dice.one(&["JOIN", "LEFT JOIN"])
            ));
        }
    }
    let mut asked: Vec<String> = Vec::new();
    for _ in 0..dice.below(3) {
        asked.push(match dice.below(7) {
            0 => format!("c.region = {}", dice.below(8)),
            1 => format!("o.total < {}", dice.below(110)),
            2 => "c.id IS NULL".into(),
            3 => "o.note IS NOT NULL".into(),
            4 => format!("o.placed >= DATEADD(day, {}, '20200101')", dice.below(1100)),
            5 => format!(
                "EXISTS (SELECT 1 FROM lines x WHERE x.order_id = o.id AND x.item < {})",
                dice.below(40)
            ),
            _ => format!(
                "o.customer NOT IN (SELECT id FROM customers WHERE region = {})",
                dice.below(8)
            ),
        });
    }
    let filter =
        if asked.is_empty() { String::new() } else { format!(" WHERE {}", asked.join(" AND ")) };
    let columns = format!("o.placed, o.total, c.name, {unique}");
    let by = match dice.below(5) {
        0 => unique.to_string(),
        1 => format!("o.id DESC{}", if unique == "o.id" { "" } else { ", l.n" }),
        2 => {
            format!("o.placed DESC, o.id DESC{}", if unique == "o.id" { "" } else { ", l.n DESC" })
        }
        3 => format!("c.region, c.name, {unique}"),
        _ => format!("o.placed, {unique}"),
    };
    (format!("{columns} FROM {from}{filter}"), by)
}

#[test]
fn first_rows_agree_with_all_rows_sorted() {
    let instance = Instance::open(InstanceConfig::small("/data", SimFs::new(7))).expect("opens");
    let ran = instance.spawn_session("first rows", |session| {
        for batch in ["CREATE DATABASE t", "USE t", TABLES] {
            rows(session, batch);
        }
        let mut dice = Dice(20261201);
        let (mut some, mut unsorted) = (0, 0);
        for _ in 0..160 {
            let (query, by) = query(&mut dice);
            let (top, page) = match dice.below(3) {
                0 => (format!("TOP {}", 1 + dice.below(30)), String::new()),
                1 => (format!("TOP (@n + {})", dice.below(20)), String::new()),
                _ => {
                    let fetch = dice.one(&["5", "@n", "1", "30"]);
                    let passed = dice.one(&["0", "10", "@n", "300", "100000"]);
                    (String::new(), format!(" OFFSET {passed} ROWS FETCH NEXT {fetch} ROWS ONLY"))
                }
            };
            let text = format!("DECLARE @n int = 7 SELECT {top} {query} ORDER BY {by}{page}");
            let all = rows(session, &format!("{text} OPTION (HASH JOIN)"));
            assert_eq!(rows(session, &text), all, "{text}\n{}", plan(session, &text));
            some += usize::from(!all.is_empty());
            unsorted += usize::from(!plan(session, &text).contains("Sort"));
        }
        assert!(some > 80, "only {some} queries found rows");
        assert!(unsorted > 30, "only {unsorted} read in the order asked for");
        // Where any rows will do, they are rows of the whole.
        let any = "SELECT TOP 9 o.id FROM orders o JOIN customers c ON c.id = o.customer WHERE c.region = 3";
        let wrong = format!(
            "SELECT COUNT(*) FROM ({any}) a WHERE id IN (SELECT o.id FROM orders o JOIN customers c
             ON c.id = o.customer WHERE c.region = 3)"
        );
        assert_eq!(rows(session, &wrong), [[Value::Int(9)]]);
        // The newest one, read backwards and locked as it is read, locks no more than it shows.
        let newest = "BEGIN TRAN
            SELECT TOP 1 id FROM orders WITH (UPDLOCK, ROWLOCK) ORDER BY id DESC
            SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'KEY'
            ROLLBACK";
        assert_eq!(rows(session, newest), [[Value::Int(1)]]);
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("a clean end");
}
