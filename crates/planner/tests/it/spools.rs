//! What a plan has several times, done once.

use crate::estimates::{fixture, plan};
use planner::{Known, Node, Op, Plan};

/// Spools of the plan, and the places that read them.
fn shared(sql: &str) -> (usize, usize) {
    let plan = planned(sql);
    (plan.spools.len(), plan.trees().map(readers).sum())
}

fn planned(sql: &str) -> Plan {
    plan(&fixture(), sql, &Known::default())
}

fn readers(node: &Node) -> usize {
    let own = usize::from(matches!(node.op, Op::Spool { .. }));
    own + node.inputs().into_iter().map(readers).sum::<usize>()
}

const COUNTED: &str = "WITH c AS (SELECT g, COUNT(*) AS n FROM big GROUP BY g) ";

#[test]
fn a_common_table_expression_is_computed_once() {
    let twice = format!("{COUNTED} SELECT a.g, b.g FROM c a JOIN c b ON a.n = b.n");
    assert_eq!(shared(&twice), (1, 2));
    let thrice = format!(
        "{COUNTED} SELECT a.g FROM c a JOIN c b ON a.n = b.n JOIN c d ON d.g = b.g AND d.n > b.n"
    );
    assert_eq!(shared(&thrice), (1, 3));
    // Also where a subquery asks.
    let asked = format!("{COUNTED} SELECT g FROM c WHERE n > (SELECT AVG(n) FROM c)");
    assert_eq!(shared(&asked), (1, 2));
    assert_eq!(shared(&format!("{COUNTED} SELECT g FROM c WHERE n > 3")), (0, 0));
}

#[test]
fn what_is_asked_of_its_rows_may_tell_it_apart() {
    let of_groups =
        format!("{COUNTED} SELECT a.n, b.n FROM c a CROSS JOIN c b WHERE a.g = 8 AND b.g = 9");
    assert_eq!(shared(&of_groups), (0, 0));
    // Of what is grouped nothing is known below.
    let of_counts =
        format!("{COUNTED} SELECT a.g, b.g FROM c a CROSS JOIN c b WHERE a.n > 80 AND b.n < 9");
    assert_eq!(shared(&of_counts), (1, 2));
}

#[test]
fn parameters_of_its_own_do_not_tell_it_apart() {
    let sql = "WITH c AS (SELECT d.g, x.n FROM dim d CROSS APPLY
            (SELECT TOP 1 b.h AS n FROM big b WHERE b.id > d.g ORDER BY b.s) x)
        SELECT COUNT(*) FROM c a JOIN c b ON a.n = b.n";
    assert_eq!(shared(sql), (1, 2));
    // Those of a row around it do.
    let sql = "SELECT x.n FROM dim d CROSS APPLY
            (SELECT COUNT(*) AS n FROM big b WHERE b.h > d.g UNION ALL
             SELECT COUNT(*) FROM big b WHERE b.h > d.g) x";
    assert_eq!(shared(sql), (0, 0));
}

#[test]
fn what_differs_each_time_is_done_each_time() {
    for own in ["NEWID()", "RAND()", "USER_NAME()"] {
        let sql = format!(
            "WITH c AS (SELECT g, COUNT(*) AS n, CAST({own} AS varchar(40)) AS o FROM big GROUP BY g)
             SELECT a.g, a.o, b.o FROM c a JOIN c b ON a.n = b.n"
        );
        // The grouping below what differs is the same.
        let plan = planned(&sql);
        assert_eq!(plan.spools.len(), 1, "{plan}");
        assert!(matches!(plan.spools[0].op, Op::Aggregate { .. }), "{plan}");
    }
    let locked = "WITH c AS (SELECT g, COUNT(*) AS n FROM big WITH (UPDLOCK) GROUP BY g)
        SELECT a.g, b.g FROM c a JOIN c b ON a.n = b.n";
    assert_eq!(shared(locked), (0, 0));
    let assigned =
        format!("DECLARE @g int; {COUNTED} SELECT @g = a.g FROM c a JOIN c b ON a.n = b.n");
    assert_eq!(shared(&assigned), (0, 0));
}

#[test]
fn a_spool_may_be_made_of_another() {
    let sql = "WITH s AS (SELECT g, COUNT(*) AS n FROM big GROUP BY g),
            a AS (SELECT x.g, COUNT(*) AS n FROM s x JOIN big y ON y.g = x.g WHERE x.n > y.h GROUP BY x.g)
        SELECT p.g, q.g, s.n FROM a p JOIN a q ON p.n = q.n JOIN s ON s.g = p.g";
    let plan = planned(sql);
    assert_eq!(plan.spools.len(), 2, "{plan}");
    // The grouping of `s` is done in one of them and nowhere else.
    let text = plan.to_string();
    assert_eq!(text.matches("Aggregate").count(), 2, "{text}");
    assert_eq!(readers(&plan.root), 3, "{text}");
}

#[test]
fn what_has_one_reader_is_no_spool() {
    // Two copies of the grouping bring two copies of its subquery, of which one is left with it.
    let sql = "WITH m AS (SELECT g, COUNT(*) AS n FROM big f
            WHERE f.h NOT IN (SELECT b.h FROM big b WHERE b.n > 7 GROUP BY b.h) OR f.id = 5 GROUP BY g)
        SELECT a.g, b.g FROM m a JOIN m b ON a.n = b.n";
    let plan = planned(sql);
    let live = plan.spools.iter().filter(|spool| !matches!(spool.op, Op::Empty)).count();
    assert_eq!((live, readers(&plan.root)), (1, 2), "{plan}");
    // A sample is another table's, so to say.
    let sql = "SELECT a.g FROM (SELECT g, COUNT(*) n FROM big GROUP BY g) a
        JOIN (SELECT g, COUNT(*) n FROM big TABLESAMPLE (10 PERCENT) GROUP BY g) b ON b.n = a.n";
    assert_eq!(shared(sql), (0, 0));
}

#[test]
fn what_no_outer_row_changes_is_done_once_for_all() {
    // The grouping is the same for each row of `dim`, what is picked of it is not.
    let sql = "SELECT d.g, x.n FROM dim d CROSS APPLY
            (SELECT TOP 1 c.n FROM (SELECT h, COUNT(*) AS n FROM big GROUP BY h) c WHERE c.n > d.g ORDER BY c.n) x";
    let plan = planned(sql);
    assert_eq!((plan.spools.len(), readers(&plan.root)), (1, 1), "{plan}");
    // A subquery's likewise.
    let sql = "SELECT d.g, (SELECT MIN(c.n) FROM (SELECT h, COUNT(*) AS n FROM big GROUP BY h) c WHERE c.n > d.g)
        FROM dim d WHERE d.g > 5";
    assert_eq!(planned(sql).spools.len(), 1, "{}", planned(sql));
    // Seeks have nothing in common.
    assert_eq!(
        shared("SELECT d.g, b.n FROM dim d CROSS APPLY (SELECT TOP 1 n FROM big WHERE id = d.g) b"),
        (0, 0)
    );
}
