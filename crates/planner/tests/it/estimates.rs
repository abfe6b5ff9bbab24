//! How many rows a planner expects, from statistics put in by hand.

use std::sync::Arc;

use crate::fixture::Fixture;
use binder::Names;
use catalog::{Histogram, Statistic, TableDef};
use ir::ObjectName;
use ir::{Stmt, StmtKind};
use planner::{Known, Plan};
use types::{SqlType, Value};

const TABLES: &str = "
CREATE TABLE big (id int NOT NULL PRIMARY KEY, g int NOT NULL, h int NOT NULL, n int NULL, s varchar(20) NOT NULL,
  INDEX by_g (g))
CREATE TABLE dim (g int NOT NULL PRIMARY KEY, name varchar(20) NOT NULL)";

const ROWS: i32 = 10_000;

pub(crate) fn table(names: &Fixture, name: &str) -> Arc<TableDef> {
    let name = ObjectName { database: None, schema: None, name: name.to_owned() };
    names.table(&name).expect("a table of the fixture")
}

pub(crate) fn put(table: &TableDef, id: i32, column: &str, mut values: Vec<Value>) {
    let ordinal = table.column(column).expect("a column");
    values.sort_by(types::compare::sort_order);
    let distinct = values.chunk_by(|a, b| a == b).count() as f64;
    table.statistics.put(Statistic {
        id,
        name: column.into(),
        columns: vec![(ordinal, column.into(), table.columns[ordinal].ty)],
        auto_created: true,
        user_created: false,
        no_recompute: false,
        updated_unix_ns: 1,
        rows: values.len() as f64,
        rows_sampled: values.len() as u64,
        histogram: Histogram::of(&values, 1.0, 1.0),
        densities: vec![1.0 / distinct],
        average_bytes: vec![4.0],
        changes_then: 0,
    });
}

/// `big` has 10,000 rows: g is 7 in half of them and else 0..100, h is 0..10, n is NULL in a fifth.
pub(crate) fn fixture() -> Fixture {
    let names = Fixture::new(TABLES);
    let (big, dim) = (table(&names, "big"), table(&names, "dim"));
    big.statistics.note_rows(big.tree, f64::from(ROWS), 0);
    dim.statistics.note_rows(dim.tree, 1_000.0, 0);
    let each = |f: &dyn Fn(i32) -> Value| (0..ROWS).map(f).collect::<Vec<Value>>();
    put(&big, 1, "id", each(&Value::Int));
    put(&big, 2, "g", each(&|i| Value::Int(if i % 2 == 0 { 7 } else { i / 2 % 100 })));
    put(&big, 3, "h", each(&|i| Value::Int(i % 10)));
    put(&big, 4, "n", each(&|i| if i % 5 == 0 { Value::Null } else { Value::Int(i) }));
    put(
        &big,
        5,
        "s",
        each(&|i| Value::str(&format!("{}{i}", if i % 4 == 0 { "ab" } else { "x" }))),
    );
    put(&dim, 1, "g", (0..1_000).map(Value::Int).collect());
    names
}

pub(crate) fn plan(names: &Fixture, sql: &str, known: &Known) -> Plan {
    let batch = syntax::parse_batch(sql, &Default::default()).expect("it parses");
    let program = binder::bind_batch(&batch, sql, names).expect("it binds");
    let last = program.body.last().expect("a statement");
    let Stmt { kind: StmtKind::Select(select), .. } = last else { panic!("no SELECT: {sql}") };
    planner::plan_select(select, known).plan
}

#[track_caller]
fn about(names: &Fixture, condition: &str, expected: f64) {
    let sql = format!("SELECT id FROM big WHERE {condition}");
    let rows = plan(names, &sql, &Known::default()).root.rows;
    let near = (rows - expected).abs() <= 0.06 * expected + 1.0;
    assert!(near, "{condition}: {rows} rows instead of {expected}");
}

#[test]
fn predicates_leave_the_rows_that_histograms_say() {
    let names = fixture();
    about(&names, "id = 77", 1.0);
    about(&names, "g = 7", 5_050.0);
    about(&names, "g = 8", 50.0);
    about(&names, "g = 5000", 1.0);
    about(&names, "g <> 7", 4_950.0);
    about(&names, "g IN (8, 9, 10)", 150.0);
    about(&names, "id < 2500", 2_500.0);
    about(&names, "id >= 2500 AND id < 3500", 1_000.0);
    about(&names, "n IS NULL", 2_000.0);
    about(&names, "n IS NOT NULL", 8_000.0);
    about(&names, "s LIKE 'ab%'", 2_500.0);
    about(&names, "h = 3", 1_000.0);
    // Half of the most selective: the root of the other.
    about(&names, "h = 3 AND g = 7", 1_000.0 * 0.505f64.sqrt());
    about(&names, "h = 3 OR h = 4", 1_900.0);
    // A local variable: by density.
    about(&names, "h = ABS(CHECKSUM(NEWID()))", 1_000.0);
}

#[test]
fn a_parameters_value_counts_where_it_is_known() {
    let names = fixture();
    let sql = "DECLARE @g int SELECT id FROM big WHERE g = @g";
    let unknown = plan(&names, sql, &Known::default()).root.rows;
    assert!((90.0..=110.0).contains(&unknown), "{unknown}");
    let known = |g: i32| {
        plan(&names, sql, &Known { values: vec![Value::Int(g)], ..Known::default() }).root.rows
    };
    assert!(known(7) > 4_000.0, "{}", known(7));
    assert!((40.0..=60.0).contains(&known(8)), "{}", known(8));
    // Under RECOMPILE it is the value itself: what is not asked for is no condition.
    let sql = "DECLARE @a int, @b int SELECT id FROM big WHERE (@a IS NULL OR g = @a) AND (@b IS NULL OR id = @b)";
    let known = Known { values: vec![Value::Null, Value::Int(3)], ..Known::default() };
    let of = |sql: &str| plan(&names, sql, &known).to_string();
    assert!(!of(sql).contains("key"), "{}", of(sql));
    let anew = of(&format!("{sql} OPTION (RECOMPILE)"));
    assert!(anew.contains("key id=3") && !anew.contains("IS NULL"), "{anew}");
    // And what is computed of it.
    let sql = "DECLARE @n int SELECT id FROM big WHERE id >= @n AND id < @n + 2 * 500";
    let known = Known { values: vec![Value::Int(2_000)], ..Known::default() };
    let rows = plan(&names, sql, &known).root.rows;
    assert!((900.0..=1_100.0).contains(&rows), "{rows}");
}

#[test]
fn joins_and_groups_go_by_different_values() {
    let names = fixture();
    let rows = |sql: &str| plan(&names, sql, &Known::default()).root.rows;
    let joined = rows("SELECT b.id FROM big b JOIN dim d ON d.g = b.g");
    assert!((9_000.0..=11_000.0).contains(&joined), "{joined}");
    let left = rows("SELECT b.id FROM big b LEFT JOIN dim d ON d.g = b.g AND d.name = 'x'");
    assert!(left >= 10_000.0, "{left}");
    let groups = rows("SELECT h, COUNT(*) FROM big GROUP BY h");
    assert_eq!(groups.round(), 10.0);
    let distinct = rows("SELECT DISTINCT g FROM big");
    assert_eq!(distinct.round(), 100.0);
}

#[test]
fn joins_go_by_the_histograms_of_both_sides() {
    let names = fixture();
    let rows = |sql: &str| plan(&names, sql, &Known::default()).root.rows;
    // 5,050 rows have one value, 99 values have 50 each: by different values alone it would be a million.
    let pairs = rows("SELECT x.id FROM big x JOIN big y ON y.g = x.g");
    assert!((25_000_000.0..27_000_000.0).contains(&pairs), "{pairs}");
    // Values of 10,000 rows and of 10 have 10 in common, with a row each.
    let few = rows("SELECT x.id FROM big x JOIN big y ON y.id = x.h");
    assert!((8_500.0..10_500.0).contains(&few), "{few}");
}

#[test]
fn keys_of_several_columns_are_joined_as_a_whole() {
    let names = Fixture::new(
        "CREATE TABLE whole (a int NOT NULL, b int NOT NULL, c int NOT NULL)
         CREATE TABLE part (a int NOT NULL, b int NOT NULL)",
    );
    let (whole, part) = (table(&names, "whole"), table(&names, "part"));
    whole.statistics.note_rows(whole.tree, f64::from(ROWS), 0);
    part.statistics.note_rows(part.tree, 1_000.0, 0);
    let each = |f: &dyn Fn(i32) -> i32| (0..ROWS).map(|i| Value::Int(f(i))).collect::<Vec<_>>();
    // 100 values of a, 100 of b, all 10,000 pairs.
    put(&whole, 1, "a", each(&|i| i / 100));
    put(&whole, 2, "b", each(&|i| i % 100));
    put(&whole, 3, "c", each(&|i| i));
    put(&part, 1, "a", (0..1_000).map(|i| Value::Int(i / 10)).collect());
    put(&part, 2, "b", (0..1_000).map(|i| Value::Int(i % 100)).collect());
    let join = "JOIN part p ON p.a = w.a AND p.b = w.b";
    let rows = |rest: &str| {
        let sql = format!("SELECT w.c FROM whole w {rest}");
        plan(&names, &sql, &Known::default()).root.rows
    };
    // By the columns apart: 10,000 x 1,000 / 100 / the root of 100.
    assert!((9_000.0..11_000.0).contains(&rows(join)), "{}", rows(join));
    whole.statistics.put(together(&whole, 4, ["a", "b"], vec![0.01, 0.000_1]));
    assert!((900.0..1_100.0).contains(&rows(join)), "{}", rows(join));
    // Two mentions of a table have no pairs together.
    let apart = "JOIN part p ON p.a = w.a JOIN whole v ON v.b = p.b";
    assert!(rows(apart) > 500_000.0, "{}", rows(apart));
}

/// A statistic of two columns, whose densities are to be said; all else is as of the first.
fn together(table: &TableDef, id: i32, columns: [&str; 2], densities: Vec<f64>) -> Statistic {
    let column = |name: &str| {
        let ordinal = table.column(name).expect("a column");
        (ordinal, name.into(), table.columns[ordinal].ty)
    };
    let columns: Vec<_> = columns.map(column).into();
    let first = table.statistics.of_column(table, columns[0].0).expect("that of the first");
    Statistic { id, columns, densities, average_bytes: vec![4.0, 4.0], ..(*first).clone() }
}

#[test]
fn no_share_of_pairs_is_more_than_all() {
    let names = fixture();
    let (big, dim) = (table(&names, "big"), table(&names, "dim"));
    // Of big's hundred values dim has one, that of half of big's rows; and of big there is one row.
    put(&dim, 1, "g", vec![Value::Int(7); 1_000]);
    big.statistics.put(together(&big, 9, ["g", "h"], vec![0.01, 0.001]));
    let sql = "SELECT b.id FROM big b JOIN dim d ON d.g = b.g AND d.g = b.h WHERE b.id = 5";
    let rows = plan(&names, sql, &Known::default()).root.rows;
    assert!(rows <= 1_000.0, "{rows}");
}

#[test]
fn sides_that_come_in_order_are_merged() {
    let names = fixture();
    let shown = |sql: &str| plan(&names, sql, &Known::default()).to_string();
    let merged = shown("SELECT x.s, y.s FROM big x JOIN big y ON y.id = x.id");
    assert!(merged.contains("MergeJoin Inner [") && !merged.contains("many"), "{merged}");
    // An equality that is no part of the order is asked of each pair.
    let merged = shown("SELECT x.s, y.s FROM big x LEFT JOIN big y ON y.h = x.h AND y.id = x.id");
    assert!(merged.contains("MergeJoin Left") && merged.contains(" on "), "{merged}");
    // The order goes on upwards.
    let ordered = shown("SELECT x.s, y.s FROM big x JOIN big y ON y.id = x.id ORDER BY x.id");
    assert!(ordered.contains("MergeJoin") && !ordered.contains("Sort"), "{ordered}");
    // Without an order, and where another method is asked for, nothing is merged.
    for sql in [
        "SELECT x.s, y.s FROM big x JOIN big y ON y.h = x.h",
        "SELECT x.s, y.s FROM big x JOIN big y ON y.id = x.id OPTION (HASH JOIN)",
        "SELECT x.s, y.s FROM big x JOIN big y ON y.id = x.id OPTION (LOOP JOIN)",
    ] {
        assert!(!shown(sql).contains("MergeJoin"), "{}", shown(sql));
    }
    let sorted = shown("SELECT x.s, y.s FROM big x JOIN big y ON y.h = x.n OPTION (MERGE JOIN)");
    assert!(sorted.contains("MergeJoin") && sorted.matches("Sort ").count() == 2, "{sorted}");
}

#[test]
fn what_is_read_how_depends_on_the_rows() {
    let names = fixture();
    let shown = |sql: &str| plan(&names, sql, &Known::default()).to_string();
    // Half of the table by look-ups would be dearer than reading it; few rows are not.
    let (many, few) = ("SELECT s FROM big WHERE g = 7", "SELECT s FROM big WHERE g = 8");
    assert!(!shown(many).contains("by_g"), "{}", shown(many));
    assert!(shown(few).contains("by_g"), "{}", shown(few));
    // Without look-ups the index wins in either case.
    assert!(shown("SELECT id FROM big WHERE g = 7").contains("by_g"));
    // A row of each: by seeks; all of each: by a hash table of the smaller, whichever is written first, unless that turns
    // out to have a few rows alone.
    let seeks = shown("SELECT d.name FROM big b JOIN dim d ON d.g = b.g WHERE b.id = 5");
    assert!(!seeks.contains("Hash"), "{seeks}");
    for sql in [
        "SELECT d.name, b.s FROM big b JOIN dim d ON d.g = b.g",
        "SELECT d.name, b.s FROM dim d JOIN big b ON d.g = b.g",
    ] {
        let plan = shown(sql);
        let (big, dim) = (plan.find("Scan big"), plan.find("Scan dim"));
        assert!(plan.contains("Hash") && plan.contains("or up to 3 rows"), "{plan}");
        assert!(dim.is_some() && dim < big, "{plan}");
    }
}

#[test]
fn a_statement_with_one_sensible_plan_asks_for_nothing() {
    let names = fixture();
    let asked = |sql: &str| {
        let batch = syntax::parse_batch(sql, &Default::default()).expect("it parses");
        let program = binder::bind_batch(&batch, sql, &names).expect("it binds");
        planner::wishes(&program.body[0].kind)
    };
    assert!(asked("SELECT s FROM big WHERE id = 3 AND h = 2").is_empty());
    assert!(asked("INSERT dim VALUES (1, 'a')").is_empty());
    assert!(asked("UPDATE big SET h = 1 WHERE id = 3").is_empty());
    let wishes = asked("SELECT b.s FROM big b JOIN dim d ON d.g = b.g WHERE b.h = 2");
    let columns: Vec<&[usize]> = wishes.iter().map(|w| &*w.columns).collect();
    assert_eq!(columns.len(), 2);
    assert!(columns.contains(&&[1, 2][..]) && columns.contains(&&[0][..]), "{columns:?}");
    assert_eq!(wishes[0].table.columns[0].ty, SqlType::Int);
}
