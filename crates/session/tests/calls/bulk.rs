//! Bulk loads.

use super::*;

fn load(session: &mut Session, insert: &str, rows: Vec<Vec<Value>>) -> String {
    assert!(session::is_insert_bulk(insert));
    let mut said = Said::default();
    if session.announce_bulk(insert, &mut said).is_err() {
        return said.text;
    }
    let mut said = Said::default();
    let mut rows = rows.into_iter();
    let mut next = |row: &mut Vec<Value>| {
        let Some(next) = rows.next() else { return Ok(false) };
        *row = next;
        Ok(true)
    };
    let _ = session.load_bulk(insert, &mut next, &mut said);
    said.text
}

/// A client that says in which order its rows come is taken at its word where that is the clustered key's.
#[test]
fn rows_out_of_the_order_that_was_said() {
    with_session(|s, _| {
        let pair = |id, v| vec![Value::Int(id), Value::str(v)];
        let insert = "insert bulk k (id int, v varchar(10)) with (ORDER (id ASC), TABLOCK)";
        let said = load(s, insert, vec![pair(1, "a"), pair(3, "b"), pair(2, "c")]);
        assert!(said.starts_with("Msg 4819, Level 16, State 1, Line 1"), "{said}");
        assert!(said.contains("first row: (3), primary key of second row: (2)"), "{said}");
        let said = load(s, insert, vec![pair(1, "a"), pair(1, "b")]);
        assert!(said.starts_with("Msg 4819"), "{said}");
        check(&batch(s, "SELECT COUNT(*) AS n FROM k"), "| n\n0\ndone Select 1");
        check(
            &load(s, insert, vec![pair(1, "a"), pair(3, "b"), pair(4, "c")]),
            "done BulkInsert 3",
        );
        // The columns may come in any order, and a hint of others is none.
        let insert = "insert bulk k (v varchar(10), id int) with (ORDER (id))";
        let back = |v, id| vec![Value::str(v), Value::Int(id)];
        let said = load(s, insert, vec![back("a", 9), back("b", 8)]);
        assert!(said.starts_with("Msg 4819"), "{said}");
        let insert = "insert bulk k (v varchar(10), id int) with (ORDER (v))";
        check(&load(s, insert, vec![back("b", 9), back("a", 8)]), "done BulkInsert 2");
        // Nor is one over a column that comes in another type.
        batch(s, "CREATE TABLE w (v nvarchar(10) NOT NULL PRIMARY KEY)");
        let one = |v| vec![Value::str(v)];
        let insert = "insert bulk w (v nvarchar(4000)) with (ORDER (v))";
        check(&load(s, insert, vec![one("b"), one("a")]), "done BulkInsert 2");
        let insert = "insert bulk w (v nvarchar(10)) with (ORDER (v))";
        let said = load(s, insert, vec![one("d"), one("c")]);
        assert!(said.starts_with("Msg 4819"), "{said}");
    });
}

#[test]
fn bulk_loads_stand_or_fall_as_one() {
    with_session(|s, _| {
        let insert = "INSERT BULK t ([name] nvarchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS, n bigint) WITH (TABLOCK, ROWS_PER_BATCH = 10)";
        let row = |i: i64| {
            let n = if i % 2 == 0 { Value::BigInt(i) } else { Value::Null };
            vec![Value::str(&format!("r{i}")), n]
        };
        check(&load(s, insert, (0..1000).map(row).collect()), "done BulkInsert 1000");
        let sums = "SELECT COUNT(*) AS c, SUM(n) AS s, MAX(id) AS m FROM t";
        check(&batch(s, sums), "| c | s | m\n1000 | 253000 | 1000\ndone Select 1");
        assert_eq!(s.trancount(), 0);
        // What is given up leaves nothing.
        let mut said = Said::default();
        let mut left = 100;
        let mut given_up = |row: &mut Vec<Value>| {
            *row = vec![Value::str("lost"), Value::Null];
            left -= 1;
            if left > 0 { Ok(true) } else { Err(executor::cancelled()) }
        };
        assert!(s.load_bulk(insert, &mut given_up, &mut said).is_err());
        assert_eq!(said.text, "");
        check(&batch(s, sums), "| c | s | m\n1000 | 253000 | 1000\ndone Select 1");
        // Inside a transaction only the load is undone.
        batch(s, "BEGIN TRAN INSERT k VALUES (1, 'a')");
        let insert = "insert bulk k (id int, v varchar(10))";
        let pair = |id, v| vec![Value::Int(id), Value::str(v)];
        let said = load(s, insert, vec![pair(2, "b"), pair(3, "longer than ten")]);
        assert!(said.starts_with("Msg 4815, Level 16, State 1, Line 1"), "{said}");
        let said = load(s, insert, vec![pair(5, "e"), pair(5, "e")]);
        assert!(said.starts_with("Msg 2627, Level 14, State 1, Line 1"), "{said}");
        assert!(said.contains("The statement has been terminated."), "{said}");
        let said = load(s, insert, vec![pair(6, "f"), vec![Value::Int(7)]]);
        assert!(said.starts_with("Msg 4804, Level 16, State 1, Line 1"), "{said}");
        assert_eq!(s.trancount(), 1);
        batch(s, "COMMIT");
        check(&batch(s, "SELECT id FROM k"), "| id\n1\ndone Select 1");
        // XACT_ABORT takes the transaction along.
        batch(s, "SET XACT_ABORT ON BEGIN TRAN INSERT k VALUES (8, 'a')");
        let said = load(s, insert, vec![pair(1, "again")]);
        assert!(said.starts_with("Msg 2627"), "{said}");
        assert_eq!(s.trancount(), 0);
        batch(s, "SET XACT_ABORT OFF");
        // Values for the identity column are kept, and counted on from.
        let row = vec![Value::Int(5000), Value::Null, Value::BigInt(1)];
        load(s, "INSERT BULK t (id int, name nvarchar(20), n bigint)", vec![row]);
        batch(s, "INSERT t (name) VALUES ('next')");
        check(&batch(s, "SELECT MAX(id) AS m FROM t"), "| m\n5001\ndone Select 1");
        // KEEP_NULLS, and NULL where none may be.
        let insert = "INSERT BULK t (n bigint) WITH (KEEP_NULLS)";
        let said = load(s, insert, vec![vec![Value::Null]]);
        assert!(said.starts_with("Msg 515"), "{said}");
        let said = load(s, "INSERT BULK nowhere (a int)", Vec::new());
        assert!(said.starts_with("Msg 208, Level 16, State 1, Line 1"), "{said}");
        let said = load(s, "INSERT BULK t (nothing int)", Vec::new());
        check(&said, "done BulkInsert failed");
    });
}

#[test]
fn bulk_loads_pass_over_constraints_and_triggers_unless_told_not_to() {
    with_session(|s, _| {
        for text in [
            "CREATE TABLE c (id int NOT NULL CHECK (id > 0), k int NULL REFERENCES k (id))",
            "CREATE VIEW v AS SELECT id FROM c",
            "CREATE TRIGGER tr ON c AFTER INSERT AS
             DECLARE @n int = (SELECT COUNT(*) FROM inserted) PRINT CONCAT('fired for ', @n)",
        ] {
            batch(s, text);
        }
        let trusted = "SELECT (SELECT SUM(0 + is_not_trusted) FROM sys.check_constraints) AS c,
            (SELECT SUM(0 + is_not_trusted) FROM sys.foreign_keys) AS k";
        let rows = || vec![vec![Value::Int(1), Value::Null], vec![Value::Int(2), Value::Null]];
        let bad = || vec![vec![Value::Int(-1), Value::Int(99)]];
        let insert = "INSERT BULK c (id int, k int) WITH (CHECK_CONSTRAINTS, FIRE_TRIGGERS)";
        let said = load(s, insert, rows());
        assert!(said.contains("fired for 2"), "{said}");
        assert!(said.ends_with("done BulkInsert 2\n"), "{said}");
        let said = load(s, insert, bad());
        assert!(said.starts_with("Msg 547"), "{said}");
        check(&batch(s, trusted), "| c | k\n0 | 0\ndone Select 1");
        check(&load(s, "INSERT BULK c (id int, k int)", bad()), "done BulkInsert 1");
        check(&batch(s, trusted), "| c | k\n1 | 1\ndone Select 1");
        check(&batch(s, "SELECT SUM(id) AS n FROM c"), "| n\n2\ndone Select 1");
        // Through a view, whose constraints are its table's.
        check(&load(s, "INSERT BULK v (id int)", vec![vec![Value::Int(9)]]), "done BulkInsert 1");
        // A trigger that rolls back takes the rows along.
        batch(s, "ALTER TRIGGER tr ON c AFTER INSERT AS ROLLBACK");
        let said = load(s, insert, rows());
        assert!(said.contains("Msg 3609"), "{said}");
        check(&batch(s, "SELECT COUNT(*) AS n FROM c"), "| n\n4\ndone Select 1");
    });
}
