//! In which order tables meet, from statistics put in by hand.

use crate::estimates::{plan, put, table};
use crate::fixture::Fixture;
use planner::Known;
use types::Value;

/// `stock` lies by day and item, all 1,000 items on each of 1,000 days; ten items are red, and 30 days are in May.
fn stock() -> Fixture {
    let names = Fixture::new(
        "CREATE TABLE item (i int NOT NULL PRIMARY KEY, color varchar(10) NOT NULL)
         CREATE TABLE day (d int NOT NULL PRIMARY KEY, month int NOT NULL)
         CREATE TABLE stock (d int NOT NULL, i int NOT NULL, n int NOT NULL, m int NOT NULL, PRIMARY KEY (d, i))",
    );
    let (item, day, stock) = (table(&names, "item"), table(&names, "day"), table(&names, "stock"));
    for (table, rows) in [(&item, 1_000.0), (&day, 1_000.0), (&stock, 1_000_000.0)] {
        table.statistics.note_rows(table.tree, rows, 0);
    }
    let each = |f: &dyn Fn(i32) -> i32| (0..1_000).map(|n| Value::Int(f(n))).collect::<Vec<_>>();
    put(&item, 1, "i", each(&|n| n));
    let color = |n: i32| if n % 100 == 0 { "red" } else { "blue" };
    put(&item, 2, "color", (0..1_000).map(|n| Value::str(color(n))).collect());
    put(&day, 1, "d", each(&|n| n));
    put(&day, 2, "month", each(&|n| n / 30));
    let sold: Vec<i32> = (0..100_000).collect();
    put(&stock, 1, "d", sold.iter().map(|n| Value::Int(n / 100)).collect());
    put(&stock, 2, "i", sold.iter().map(|n| Value::Int(n % 1_000)).collect());
    put(&stock, 3, "n", sold.iter().map(|n| Value::Int(n % 50)).collect());
    put(&stock, 4, "m", sold.iter().map(|n| Value::Int(n % 1_000)).collect());
    names
}

#[test]
fn few_rows_that_a_third_table_is_sought_by_together_meet_before_it() {
    let names = stock();
    let shown = |sql: &str| plan(&names, sql, &Known::default()).to_string();
    let of = |column: &str| {
        format!(
            "SELECT SUM(s.n) FROM item i, stock s, day d WHERE d.month = 4 AND s.d = d.d AND s.{column} = i.i AND \
             i.color = 'red'"
        )
    };
    // Ten items on thirty days: a seek for each.
    let together = shown(&of("i"));
    let stock = together.find("stock").expect("it is read");
    let (item, day) = (together.find("Scan item"), together.find("Scan day"));
    assert!(item.is_some_and(|at| at < stock) && day.is_some_and(|at| at < stock), "{together}");
    assert!(together.contains("key d=?0 i=?1") || together.contains("key d=?1 i=?0"), "{together}");
    // Where each pair could not be sought, there are none.
    let hashed = shown(&format!("{} OPTION (HASH JOIN)", of("i")));
    assert!(!hashed.contains("Loops"), "{hashed}");
    // By a column that no key has the days alone find theirs, and the items meet what these have left.
    let apart = shown(&of("m"));
    let (stock, item) = (apart.find("stock"), apart.find("Scan item"));
    assert!(apart.matches("Loops").count() == 1 && item.is_some() && stock.is_some(), "{apart}");
}

#[test]
fn sets_of_rows_have_a_place_in_the_order() {
    let names = stock();
    let shown = |sql: &str| plan(&names, sql, &Known::default()).to_string();
    // However the month's days are asked for, they come first, and what they have in stock is sought.
    let asked = "(SELECT d FROM day WHERE month = 4 INTERSECT SELECT d FROM day WHERE month = 4)";
    let sets = shown(&format!(
        "SELECT SUM(s.n) FROM stock s, {asked} AS x, item i WHERE s.d = x.d AND i.i = s.m AND i.color = 'red'"
    ));
    let (days, stock) = (sets.find("Scan day"), sets.find("stock"));
    assert!(days.is_some() && days < stock, "{sets}");
    // So do a page of rows, and what a condition leaves of two tables, the first of which has nothing of the kind.
    for (few, more) in [
        ("(SELECT d FROM stock ORDER BY n OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY) AS x", ""),
        ("(SELECT TOP 5 d FROM stock ORDER BY n) AS x", ""),
        ("(SELECT DISTINCT d FROM stock WHERE i = 3 AND n = 7) AS x", ""),
        ("(SELECT i AS d FROM item UNION ALL SELECT d FROM day) AS x", "AND x.d = 7"),
    ] {
        let sql = format!(
            "SELECT SUM(s.n) FROM stock s, {few}, item i WHERE s.d = x.d AND i.i = s.m {more}"
        );
        let shown = shown(&sql);
        assert!(shown.contains("Seek stock") && shown.contains("key d="), "{shown}");
    }
}

#[test]
fn the_order_of_many_tables_is_no_worse_than_that_of_few() {
    // What leaves few rows comes first also where not all orders are tried: twelve tables around a large one.
    let mut tables = String::from("CREATE TABLE fact (id int NOT NULL PRIMARY KEY");
    (0..12).for_each(|at| tables.push_str(&format!(", f{at} int NOT NULL")));
    tables.push(')');
    for at in 0..12 {
        tables.push_str(&format!(
            "\nCREATE TABLE d{at} (k int NOT NULL PRIMARY KEY, v int NOT NULL)"
        ));
    }
    let names = Fixture::new(&tables);
    let fact = table(&names, "fact");
    fact.statistics.note_rows(fact.tree, 100_000.0, 0);
    for at in 0..12 {
        let dim = table(&names, &format!("d{at}"));
        dim.statistics.note_rows(dim.tree, 1_000.0, 0);
        put(&dim, 1, "k", (0..1_000).map(Value::Int).collect());
        put(&dim, 2, "v", (0..1_000).map(Value::Int).collect());
        let values = (0..100_000).map(|n| Value::Int(n % 1_000)).collect();
        put(&fact, at + 1, &format!("f{at}"), values);
    }
    let mut sql = String::from("SELECT COUNT(*) FROM fact");
    for at in 0..12 {
        sql.push_str(&format!(" JOIN d{at} ON d{at}.k = fact.f{at}"));
    }
    // One row of a thousand is left by the last.
    sql.push_str(" WHERE d11.v = 3 OPTION (HASH JOIN)");
    let shown = plan(&names, &sql, &Known::default()).to_string();
    let at = |name: &str| shown.find(&format!("Scan {name}")).expect("it is read");
    let (first, fact) = (at("d11"), at("fact"));
    // Each further table meets what is left: of all joins that of the large one and the last is the innermost.
    let depth = |at: usize| {
        let line = shown[..at].rfind('\n').map_or(0, |n| n + 1);
        shown[line..].len() - shown[line..].trim_start().len()
    };
    assert!((0..11).all(|n| depth(at(&format!("d{n}"))) < depth(fact)), "{shown}");
    assert_eq!(depth(first), depth(fact), "{shown}");
}
