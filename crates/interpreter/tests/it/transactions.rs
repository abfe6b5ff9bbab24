//! Transactions, inserts and their errors, from text to rows.

use crate::support::{Session, check, check_in, database};

const BIG_TABLE: &str = "
    CREATE TABLE big(
        c1 bigint NOT NULL CONSTRAINT pk_big PRIMARY KEY CLUSTERED,
        c2 datetime NULL CONSTRAINT df_c2 DEFAULT (getdate()),
        c3 char(111) NULL DEFAULT ('a'),
        c4 int NULL DEFAULT ((1)),
        c5 int NULL DEFAULT ((2)),
        c6 bigint NULL DEFAULT ((42)))
    GO
";

#[test]
fn a_row_per_transaction() {
    let script = format!(
        "{BIG_TABLE}
         CREATE PROCEDURE fill @rows int = 10 AS
         BEGIN
            SET NOCOUNT ON
            DECLARE @i int = 0, @base bigint = @@SPID * 10000000000
            WHILE @i < @rows
            BEGIN
               BEGIN TRANSACTION
               INSERT INTO dbo.big (c1) VALUES (@base + @i)
               COMMIT
               SET @i += 1
            END
         END
         GO
         EXEC fill; EXEC fill @rows = 0;
         SELECT COUNT(*), MIN(c1), MAX(c1), MIN(c3), SUM(c4), SUM(c6), @@TRANCOUNT FROM big;
         SELECT COUNT(*) FROM big WHERE DATEDIFF(mi, c2, getdate()) BETWEEN 0 AND 5;
         EXEC fill 1"
    );
    check(
        &script,
        "10 | 510000000000 | 510000000009 | a | 10 | 420 | 0
         (1)
         10
         (1)
         Msg 2627 in fill, 9: Violation of PRIMARY KEY constraint 'pk_big'. Cannot insert duplicate key in object 'dbo.big'. The duplicate key value is (510000000000).
         = The statement has been terminated.",
    );
}

#[test]
fn two_rows_per_insert_and_commits_now_and_then() {
    let script = format!(
        "{BIG_TABLE}
         SET NOCOUNT ON
         DECLARE @i int = 0, @k bigint = 0, @base bigint = @@SPID * 10000000000
         WHILE @i < 10
         BEGIN
            INSERT INTO dbo.big (c1) VALUES (@base + @k), (@base + @k + 1);
            SET @k += 2
            SET @i += 2
         END
         SET @i = 0
         BEGIN TRAN
         WHILE @i < 2500
         BEGIN
            INSERT big (c1, c6) VALUES (@i, NULL)
            SET @i += 1
            IF @i % 1000 = 0 BEGIN COMMIT; BEGIN TRAN END
         END
         ROLLBACK
         SELECT COUNT(*), COUNT(c6) FROM big"
    );
    check(
        &script,
        "2010 | 10
         = Warning: Null value is eliminated by an aggregate or other SET operation.",
    );
}

#[test]
fn counting_and_naming_transactions() {
    check(
        "COMMIT;
         ROLLBACK;
         CREATE TABLE t(a int PRIMARY KEY)
         BEGIN TRAN outer_one; BEGIN TRAN; PRINT @@TRANCOUNT;
         INSERT t VALUES (1);
         COMMIT; PRINT @@TRANCOUNT;
         SAVE TRAN here; INSERT t VALUES (2); ROLLBACK TRAN here; PRINT @@TRANCOUNT;
         ROLLBACK TRAN nowhere;
         INSERT t VALUES (3);
         COMMIT;
         SELECT a FROM t ORDER BY a;
         BEGIN TRAN; BEGIN TRAN; DELETE t; ROLLBACK; PRINT @@TRANCOUNT;
         SELECT COUNT(*) FROM t",
        "Msg 3902, 1: The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.
         Msg 3903, 2: The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.
         = 2
         (1)
         = 1
         (1)
         = 1
         Msg 6401, 8: Cannot roll back nowhere. No transaction or savepoint of that name was found.
         (1)
         1
         3
         (2)
         (2)
         = 0
         2
         (1)",
    );
}

#[test]
fn a_failed_statement_leaves_nothing() {
    check(
        "SET NOCOUNT ON
         CREATE TABLE t(a int NOT NULL CONSTRAINT pk PRIMARY KEY, b varchar(3) NOT NULL, c tinyint NULL)
         INSERT t VALUES (1, 'x', 0)
         BEGIN TRAN
         INSERT t VALUES (2, 'y', 0), (1, 'z', 0)
         INSERT t VALUES (3, NULL, 0)
         INSERT t(a, b) VALUES (4, 'toolong')
         INSERT t VALUES (5, 'c', 300)
         INSERT t SELECT a + 10, b, c FROM t UNION ALL SELECT 1, 'd', 1
         UPDATE t SET a = 1 / (a - 1)
         INSERT t VALUES (6, 'ok', 1)
         COMMIT
         SELECT a, b FROM t",
        "Msg 2627, 5: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (1).
         = The statement has been terminated.
         Msg 515, 6: Cannot insert the value NULL into column 'b', table 'test.dbo.t'; column does not allow nulls. INSERT fails.
         = The statement has been terminated.
         Msg 2628, 7: String or binary data would be truncated in table 'test.dbo.t', column 'b'. Truncated value: 'too'.
         = The statement has been terminated.
         Msg 220, 8: Arithmetic overflow error for data type tinyint, value = 300.
         = The statement has been terminated.
         Msg 2627, 9: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (1).
         = The statement has been terminated.
         Msg 8134, 10: Divide by zero error encountered.
         = The statement has been terminated.
         1 | x
         6 | ok",
    );
}

#[test]
fn xact_abort_and_doomed_transactions() {
    check(
        "SET NOCOUNT ON
         CREATE TABLE t(a int CONSTRAINT pk PRIMARY KEY); INSERT t VALUES (1);
         GO
         SET XACT_ABORT ON; BEGIN TRAN; INSERT t VALUES (2); INSERT t VALUES (1); PRINT 'not reached';
         GO
         SELECT @@TRANCOUNT, COUNT(*) FROM t;
         BEGIN TRY BEGIN TRAN; INSERT t VALUES (3); INSERT t VALUES (1) END TRY
         BEGIN CATCH
            PRINT XACT_STATE();
            BEGIN TRY INSERT t VALUES (4) END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH
            BEGIN TRY COMMIT END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH
            ROLLBACK; PRINT XACT_STATE();
         END CATCH
         BEGIN TRY BEGIN TRAN; SELECT CAST('z' AS int) END TRY BEGIN CATCH PRINT XACT_STATE() END CATCH
         GO
         SELECT @@TRANCOUNT, COUNT(*) FROM t",
        "Msg 2627, 1: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (1).
         = The statement has been terminated.
         0 | 1
         = -1
         = 3930
         = 3930
         = 0
         = -1
         Msg 3998, 1: Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
         0 | 1",
    );
}

#[test]
fn a_reader_sees_what_was_committed() {
    let database = database();
    let mut a = Session::new(&database, 51);
    let mut b = Session::new(&database, 52);
    check_in(
        &mut a,
        "SET NOCOUNT ON; CREATE TABLE t(k int PRIMARY KEY, v int); INSERT t VALUES (1, 10), (2, 20)",
        "",
    );
    check_in(&mut a, "BEGIN TRAN; UPDATE t SET v = v + 1 WHERE k = 1; INSERT t VALUES (3, 30)", "");
    check_in(&mut b, "SELECT k, v FROM t", "1 | 10\n2 | 20\n(2)");
    check_in(&mut b, "SELECT k, v FROM t WITH (NOLOCK)", "1 | 11\n2 | 20\n3 | 30\n(3)");
    check_in(
        &mut b,
        "DECLARE @v int = -1; SELECT @v = v FROM t WHERE k = 1; PRINT @v; SELECT @v = v FROM t WHERE k = 3; PRINT @v; PRINT @@ROWCOUNT",
        "= 10\n= 10\n= 0",
    );
    check_in(
        &mut b,
        "SET LOCK_TIMEOUT 30; UPDATE t SET v = 0 WHERE k = 1; UPDATE t SET v = 21 WHERE k = 2",
        "Msg 1222, 1: Lock request time out period exceeded.\n= The statement has been terminated.\n(1)",
    );
    check_in(&mut a, "COMMIT", "");
    check_in(&mut b, "SELECT k, v FROM t", "1 | 11\n2 | 21\n3 | 30\n(3)");
}

#[test]
fn a_deadlock_has_a_victim() {
    let database = database();
    let mut a = Session::new(&database, 51);
    check_in(
        &mut a,
        "SET NOCOUNT ON; CREATE TABLE t(k int PRIMARY KEY, v int); INSERT t VALUES (1, 0), (2, 0); BEGIN TRAN; UPDATE t SET v = 1 WHERE k = 1",
        "",
    );
    let other = database.clone();
    let (ready, go) = std::sync::mpsc::channel();
    let b = std::thread::spawn(move || {
        let mut b = Session::new(&other, 52);
        b.run(
            "SET NOCOUNT ON; SET DEADLOCK_PRIORITY LOW; BEGIN TRAN; UPDATE t SET v = 2 WHERE k = 2",
        );
        ready.send(()).unwrap();
        b.run("UPDATE t SET v = 2 WHERE k = 1; PRINT 'not reached'") + &b.run("PRINT @@TRANCOUNT")
    });
    go.recv().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let said = a.run("UPDATE t SET v = 1 WHERE k = 2; COMMIT");
    let b = b.join().unwrap();
    assert_eq!(said, "");
    assert!(b.starts_with("Msg 1205, 1: ") && b.ends_with("\n= 0\n"), "{b}");
    check_in(&mut a, "SELECT v FROM t", "1\n1");
}

#[test]
fn data_definition_is_transactional() {
    check(
        "SET NOCOUNT ON
         BEGIN TRAN; CREATE TABLE t(a int); INSERT t VALUES (1); SELECT a FROM t; ROLLBACK
         GO
         SELECT a FROM t
         GO
         BEGIN TRAN; CREATE TABLE t(b int); INSERT t VALUES (2); COMMIT
         GO
         SELECT b FROM t; TRUNCATE TABLE t; SELECT COUNT(*) FROM t;
         CREATE TABLE t(c int);
         SELECT 'not reached'
         GO
         DROP TABLE IF EXISTS nowhere; DROP TABLE nowhere; DROP TABLE t;
         SELECT OBJECT_ID('dbo.t')",
        "1
         Msg 208, 1: Invalid object name 't'.
         2
         0
         Msg 2714, 2: There is already an object named 't' in the database.
         Msg 3701, 1: Cannot drop the table 'nowhere', because it does not exist or you do not have permission.
         NULL",
    );
}

#[test]
fn identity_and_defaults() {
    check(
        "SET NOCOUNT ON
         CREATE TABLE t(id int IDENTITY(10, 5) PRIMARY KEY, name varchar(20) DEFAULT 'none')
         INSERT t DEFAULT VALUES; INSERT t(name) VALUES ('a'), ('b');
         SELECT id, name FROM t; SELECT SCOPE_IDENTITY(), @@IDENTITY;
         INSERT t(id, name) VALUES (1, 'x');
         SET IDENTITY_INSERT t ON; INSERT t(id, name) VALUES (1, 'x'); SET IDENTITY_INSERT t OFF;
         SELECT COUNT(*) FROM t",
        "10 | none
         15 | a
         20 | b
         20 | 20
         Msg 544, 5: Cannot insert explicit value for identity column in table 't' when IDENTITY_INSERT is set to OFF.
         4",
    );
}

#[test]
fn implicit_transactions_and_row_limits() {
    check(
        "CREATE TABLE t(a int PRIMARY KEY)
         SET IMPLICIT_TRANSACTIONS ON
         INSERT t VALUES (1), (2), (3); SELECT @@TRANCOUNT; ROLLBACK; PRINT @@TRANCOUNT
         SELECT 1; PRINT @@TRANCOUNT
         INSERT t VALUES (1), (2), (3); COMMIT; SET IMPLICIT_TRANSACTIONS OFF
         SET ROWCOUNT 2; SELECT a FROM t; DELETE t; SET ROWCOUNT 0
         SELECT a FROM t",
        "(3)
         1
         (1)
         = 0
         1
         (1)
         = 0
         (3)
         1
         2
         (2)
         (2)
         3
         (1)",
    );
}
