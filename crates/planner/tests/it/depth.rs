//! What the parser lets through binds and plans on a worker's stack.

use crate::estimates::table;
use crate::fixture::Fixture;

/// A worker's stack, less what runs above the binder.
const STACK_BYTES: usize = 512 << 10;

/// With nothing known of the table, and with many rows in it, where orders of joins are weighed.
fn binds(sql: String) -> bool {
    let (without, with) = (binds_over(sql.clone(), None), binds_over(sql, Some(100_000.0)));
    assert_eq!(without, with);
    with
}

fn binds_over(sql: String, rows: Option<f64>) -> bool {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let names = Fixture::new("CREATE TABLE t (a int NOT NULL PRIMARY KEY, b varchar(10))");
        if let Some(rows) = rows {
            let t = table(&names, "t");
            t.statistics.note_rows(t.tree, rows, 0);
        }
        match syntax::parse_batch(&sql, &Default::default()) {
            Ok(batch) => match binder::bind_batch(&batch, &sql, &names) {
                Ok(program) => {
                    for stmt in &program.body {
                        if let ir::StmtKind::Select(select) = &stmt.kind {
                            assert!(
                                !planner::plan_select(select, &planner::Known::default())
                                    .plan
                                    .to_string()
                                    .is_empty()
                            );
                        }
                    }
                    true
                }
                Err(e) => {
                    assert!(matches!(e.number, 8631 | 8623 | 207 | 1013 | 8155), "{e}");
                    false
                }
            },
            Err(_) => false,
        }
    });
    thread.expect("a thread").join().expect("no overflow, no panic")
}

#[test]
fn deep_trees_fit_the_stack() {
    assert!(binds(format!("SELECT {}", vec!["1"; 90].join(" + "))));
    assert!(binds(format!("SELECT a FROM t WHERE {}", vec!["a = 1"; 90].join(" OR "))));
    for depth in [20, 40, 80, 120, 160, 200, 240, 254, 500, 5000] {
        binds(format!("SELECT {}1{}", "(".repeat(depth), ")".repeat(depth)));
        binds(format!("SELECT {}", vec!["a"; depth].join(" + ")));
        binds(format!("SELECT {}1{}", "(SELECT ".repeat(depth), ")".repeat(depth)));
        binds(format!("SELECT {}1{}", "CASE WHEN 1=1 THEN ".repeat(depth), " END".repeat(depth)));
        binds(format!("SELECT {}a{} FROM t", "LEN(".repeat(depth), ")".repeat(depth)));
        binds(format!("SELECT a FROM t WHERE {}", vec!["a = 1"; depth].join(" OR ")));
        binds(format!("{} SELECT 1 {}", "BEGIN ".repeat(depth), " END".repeat(depth)));
        binds(vec!["SELECT a FROM t"; depth].join(" UNION ALL "));
        let joins: String =
            (0..depth).map(|i| format!(" JOIN t AS t{i} ON t{i}.a = t.a")).collect();
        binds(format!("SELECT t.a FROM t{joins}"));
        let ctes: String = (1..depth)
            .map(|i| format!(", c{i} AS (SELECT a + 1 AS a FROM c{} WHERE a > 0)", i - 1))
            .collect();
        binds(format!("WITH c0 AS (SELECT a FROM t){ctes} SELECT * FROM c{}", depth - 1));
        let ctes: String = (1..depth)
            .map(|i| format!(", c{i} AS (SELECT x.a FROM c{0} x, c{0} y)", i - 1))
            .collect();
        binds(format!("WITH c0 AS (SELECT a FROM t){ctes} SELECT * FROM c{}", depth - 1));
        // Deeper ones are refused by what is left of a session's stack, which this thread does not count.
        let applied: String = (0..depth.min(80))
            .map(|i| format!(" CROSS APPLY (SELECT a FROM t AS x{i} WHERE x{i}.a = t.a) AS y{i}"))
            .collect();
        binds(format!("SELECT t.a FROM t{applied} JOIN t AS z ON z.a = t.a"));
        let outer: String =
            (0..depth).map(|i| format!(" FULL JOIN t AS t{i} ON t{i}.a = t.a")).collect();
        binds(format!("SELECT t.a FROM t{outer} JOIN t AS z ON z.a = t.a"));
        let sets: String = (0..depth.min(60))
            .map(|i| format!(" {} SELECT a FROM t", ["UNION", "EXCEPT", "INTERSECT"][i % 3]))
            .collect();
        binds(format!("SELECT t.a FROM t JOIN (SELECT a FROM t{sets}) AS s ON s.a = t.a"));
        let list: Vec<String> = (0..depth).map(|i| format!("{i}, '{i}', {i}.5")).collect();
        assert!(binds(format!("SELECT a FROM t WHERE a IN ({})", list.join(", "))));
        binds(format!(
            "SELECT * FROM {}t{}",
            "(SELECT a FROM ".repeat(depth),
            ") AS q".repeat(depth)
        ));
    }
}
