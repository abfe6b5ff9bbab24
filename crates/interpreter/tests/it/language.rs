//! Variables, control flow, procedures and errors, from text to messages.

use crate::support::check;

#[test]
fn variables_and_loops() {
    check(
        "DECLARE @i int = 0, @sum bigint = 0;
         WHILE @i < 10 BEGIN SET @i += 1; IF @i % 2 = 0 CONTINUE; IF @i > 8 BREAK; SET @sum = @sum + @i END
         SELECT @i, @sum, @@ROWCOUNT;
         PRINT 'i is ' + CAST(@i AS varchar(10));",
        "9 | 16 | 0
         (1)
         = i is 9",
    );
}

#[test]
fn goto_and_labels() {
    check(
        "DECLARE @n int = 0
         again:
         SET @n = @n + 1
         IF @n < 3 GOTO again
         PRINT @n",
        "= 3",
    );
}

#[test]
fn assignment_converts() {
    check(
        "DECLARE @base bigint = @@SPID * 10000000000, @s varchar(3) = 'abcdef', @t tinyint;
         SELECT @base, @s;
         SET @t = 256;
         PRINT 'after';",
        "510000000000 | abc
         (1)
         Msg 220, 3: Arithmetic overflow error for data type tinyint, value = 256.
         = after",
    );
}

#[test]
fn errors_end_what_they_end() {
    // A division ends its statement, a failed conversion its batch.
    check(
        "SELECT 1/0; PRINT 'goes on';
         SELECT CAST('x' AS int); PRINT 'not reached';
         GO
         PRINT 'next batch'",
        "Msg 8134, 1: Divide by zero error encountered.
         = goes on
         Msg 245, 2: Conversion failed when converting the varchar value 'x' to data type int.
         = next batch",
    );
}

#[test]
fn try_catch_throw_and_raiserror() {
    check(
        "BEGIN TRY
           PRINT 'before';
           SELECT 1/0;
           PRINT 'skipped';
         END TRY
         BEGIN CATCH
           PRINT CONCAT(ERROR_NUMBER(), ' at ', ERROR_LINE(), ', state ', ERROR_STATE(), ': ', ERROR_MESSAGE());
         END CATCH
         PRINT ISNULL(CAST(ERROR_NUMBER() AS varchar(10)), 'none');
         BEGIN TRY RAISERROR('row %d of %s', 16, 3, 7, 'ten') END TRY
         BEGIN CATCH PRINT ERROR_MESSAGE(); BEGIN TRY THROW END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH END CATCH
         RAISERROR('only said', 10, 1);
         RAISERROR('an error', 11, 1);
         PRINT @@ERROR;
         THROW 50001, 'the end', 5;
         PRINT 'not reached'",
        "= before
         = 8134 at 3, state 1: Divide by zero error encountered.
         = none
         = row 7 of ten
         = 50000
         = only said
         Msg 50000, 13: an error
         = 50000
         Msg 50001, 15: the end",
    );
}

#[test]
fn procedures_with_parameters_and_status() {
    check(
        "CREATE PROCEDURE add_up @a int, @b int = 5, @sum int OUTPUT AS
         BEGIN SET NOCOUNT ON; SET @sum = @a + @b; RETURN @sum * 2 END
         GO
         DECLARE @s int, @r int;
         EXEC @r = add_up 1, @sum = @s OUTPUT; SELECT @s, @r;
         EXEC @r = add_up @a = 10, @b = 20, @sum = @s OUTPUT; SELECT @s, @r;
         EXEC add_up @b = 1;
         EXEC add_up 1, 2, @s, 4;
         EXEC add_up 1, @nosuch = 3;
         EXEC nosuch;
         PRINT 'end'",
        "6 | 12
         (1)
         30 | 60
         (1)
         Msg 201 in add_up, 0: Procedure or function 'add_up' expects parameter '@a', which was not supplied.
         Msg 8144 in add_up, 0: Procedure or function add_up has too many arguments specified.
         Msg 8145 in add_up, 0: @nosuch is not a parameter for procedure add_up.
         Msg 2812, 7: Could not find stored procedure 'nosuch'.
         = end",
    );
}

#[test]
fn nesting_ends_at_32() {
    check(
        "CREATE PROCEDURE deep @n int AS
         BEGIN IF @n % 16 = 0 PRINT @@NESTLEVEL; SET @n += 1; EXEC deep @n END
         GO
         EXEC deep 1",
        "= 16
         = 32
         Msg 217 in deep, 2: Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).",
    );
}

#[test]
fn the_deepest_call_fits_a_worker() {
    // A worker's stack is 256 KiB; texts and procedures call each other to the limit on less.
    let run = || {
        check(
            "CREATE PROCEDURE deep @n int AS
             BEGIN
                DECLARE @text nvarchar(100) = CONCAT('EXEC deep ', @n + 1)
                BEGIN TRY EXEC (@text) END TRY
                BEGIN CATCH IF @n = 0 PRINT ERROR_NUMBER(); THROW END CATCH
             END
             GO
             BEGIN TRY EXEC deep 1 END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH
             SELECT @@NESTLEVEL",
            "= 217
             0
             (1)",
        );
    };
    let thread = std::thread::Builder::new().stack_size(240 << 10).spawn(run).unwrap();
    thread.join().unwrap();
}

#[test]
fn insert_of_what_a_procedure_selects() {
    check(
        "CREATE PROCEDURE two AS BEGIN SELECT 1, 'one'; SELECT 2, 'two' END
         GO
         CREATE TABLE t(a bigint PRIMARY KEY, b varchar(10), c int DEFAULT 7)
         INSERT t(a, b) EXEC two
         INSERT t(a) EXEC two
         INSERT t OUTPUT inserted.a, inserted.c VALUES (3, 'three', 1)
         SELECT * FROM t",
        "(2)
         Msg 213, 3: Column name or number of supplied values does not match table definition.
         3 | 1
         (1)
         1 | one | 7
         2 | two | 7
         3 | three | 1
         (3)",
    );
}

#[test]
fn names_are_resolved_when_reached() {
    check(
        "CREATE PROCEDURE p AS BEGIN PRINT 'begin'; SELECT * FROM later; PRINT 'end' END
         GO
         EXEC p; PRINT 'caller goes on';
         GO
         CREATE TABLE later(a int)
         INSERT later VALUES (1)
         EXEC p
         GO
         DROP TABLE later; CREATE TABLE later(b varchar(5), c int); INSERT later VALUES ('x', 2);
         EXEC p",
        "= begin
         Msg 208 in p, 1: Invalid object name 'later'.
         = caller goes on
         (1)
         = begin
         1
         (1)
         = end
         (1)
         = begin
         x | 2
         (1)
         = end",
    );
}

#[test]
fn dynamic_text() {
    check(
        "EXEC ('DECLARE @x int = 3; SELECT @x * 2');
         DECLARE @out int;
         EXEC sp_executesql N'SET @o = @i * 7', N'@i int, @o int OUTPUT', @i = 6, @o = @out OUTPUT;
         SELECT @out;
         EXEC ('SELECT * FROM nowhere');
         EXEC ('SELECT 1 FROM WHERE');",
        "6
         (1)
         42
         (1)
         Msg 208, 1: Invalid object name 'nowhere'.
         Msg 156, 1: Incorrect syntax near the keyword 'WHERE'.",
    );
}

#[test]
fn a_cancelled_loop_stops() {
    let database = crate::support::database();
    let mut session = crate::support::Session::new(&database, 51);
    let cancel = session.state.cancel.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let said = session
        .run("BEGIN TRY WHILE 1 = 1 SET NOCOUNT ON END TRY BEGIN CATCH PRINT 'caught' END CATCH");
    stopper.join().unwrap();
    // No CATCH takes it, and whoever stopped the batch need not be told.
    assert_eq!(said, "");
    assert_eq!(session.run("PRINT 'alive'"), "= alive\n");
}
