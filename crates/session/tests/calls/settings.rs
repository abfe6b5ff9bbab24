//! Settings that clients send, and texts that they have described.

use super::*;

#[test]
fn settings_that_clients_send() {
    with_session(|s, _| {
        let tedious = "set ansi_nulls on
            set ansi_null_dflt_on on
            set ansi_padding on
            set ansi_warnings on
            set arithabort on
            set concat_null_yields_null on
            set cursor_close_on_commit off
            set datefirst 7
            set dateformat mdy
            set implicit_transactions off
            set language us_english
            set numeric_roundabort off
            set quoted_identifier on
            set textsize 2147483647
            set transaction isolation level read committed
            set xact_abort off";
        check(
            &batch(s, tedious),
            "env Language { old: \"us_english\", new: \"us_english\" }
            Msg 5703, Level 0, State 1, Line 11
            Changed language setting to us_english.",
        );
        check(
            &batch(
                s,
                "SELECT @@OPTIONS AS o, @@TEXTSIZE AS t, @@LANGID AS l, @@MAX_PRECISION AS p",
            ),
            "| o | t | l | p\n5496 | 2147483647 | 0 | 38\ndone Select 1",
        );
        batch(s, "SET DATEFORMAT dmy");
        let dates = "SELECT CONVERT(varchar(10), CAST('01/02/2024' AS date), 120) AS a, \
                     CONVERT(varchar(10), CAST('2024-02-01' AS datetime), 120) AS b, \
                     CONVERT(varchar(10), CAST('2024-02-01' AS date), 120) AS c, \
                     CONVERT(varchar(10), CAST('20240201' AS datetime), 120) AS d";
        let row = "2024-02-01 | 2024-01-02 | 2024-02-01 | 2024-02-01";
        check(&batch(s, dates), &format!("| a | b | c | d\n{row}\ndone Select 1"));
        batch(s, "SET DATEFORMAT mdy");
        let row = "2024-01-02 | 2024-02-01 | 2024-02-01 | 2024-02-01";
        check(&batch(s, dates), &format!("| a | b | c | d\n{row}\ndone Select 1"));
        // Thursday, 4 January 2024.
        let days = "SELECT DATEPART(weekday, '20240104') AS d, DATEPART(week, '20240107') AS w";
        check(&batch(s, days), "| d | w\n5 | 2\ndone Select 1");
        batch(s, "SET DATEFIRST 1");
        check(&batch(s, days), "| d | w\n4 | 1\ndone Select 1");
        assert!(batch(s, "SET DATEFIRST 8").starts_with("Msg 2742"));
        assert!(batch(s, "SET DATEFORMAT xyz").starts_with("Msg 2741"));
        assert!(batch(s, "SET LANGUAGE Klingon").starts_with("Msg 2740"));
        check(
            &batch(
                s,
                "SET FMTONLY ON SELECT id, name FROM t INSERT k VALUES (1, 'x') SET FMTONLY OFF SELECT COUNT(*) AS n FROM k",
            ),
            "| id | name\ndone Select 0\n| n\n0\ndone Select 1",
        );
        // What bulk copy of SqlClient and mssql-python asks for first; the parts of a name may be left out.
        let said = batch(
            s,
            "SET FMTONLY ON select * from dbo.k SET FMTONLY OFF exec ..sp_tablecollations_100 N'.[k]'",
        );
        assert!(said.starts_with("| id | v\ndone Select 0\n| colid | name | tds_coll"), "{said}");
        assert!(said.contains("  2 | v | 0x0904D00034 | SQL_Latin1"), "{said}");
        let said = batch(
            s,
            "DECLARE @c nvarchar(max) = N'v, id'; SET FMTONLY ON; EXEC(N'SELECT ' + @c + N' FROM k'); SET FMTONLY OFF",
        );
        assert!(said.starts_with("| v | id\n") && said.contains(" Select 0"), "{said}");
        assert_eq!(batch(s, "SELECT COUNT(*) AS n FROM ...k"), "| n\n  0\ndone Select 1\n");
        // A setting of one request holds for the next, however it comes.
        batch(s, "SET DATEFIRST 3");
        let said = call(s, id(10), vec![text("SELECT @@DATEFIRST AS d")]);
        assert!(said.starts_with("| d\n  3\n"), "{said}");
        // A procedure of one's own is gone when it is dropped.
        batch(s, "CREATE PROCEDURE #p AS SELECT 1 AS a");
        batch(s, "DROP PROCEDURE #p");
        assert_eq!(batch(s, "CREATE PROCEDURE #p AS SELECT 2 AS a"), "done CreateProcedure\n");
        assert!(batch(s, "EXEC #p").starts_with("| a\n  2\n"));
        check(
            &batch(
                s,
                "EXEC sp_set_session_context N'tenant', N'a', 1 SELECT SESSION_CONTEXT(N'tenant') AS t",
            ),
            "status 0\nprocedure done\n| t\na\ndone Select 1",
        );
        assert!(batch(s, "EXEC sp_set_session_context N'tenant', N'b'").starts_with("Msg 15664"));
    });
}

/// SET DATEFORMAT, DATEFIRST and LANGUAGE of a batch hold for what comes after it as calls, whose plans other settings
/// share: what is a date, and what a day is called, is found out when they run.
#[test]
fn settings_of_dates_reach_calls() {
    with_session(|s, _| {
        batch(s, "CREATE TABLE d (id int NOT NULL PRIMARY KEY, day date, INDEX i (day))");
        batch(s, "INSERT d VALUES (1, '20240201'), (2, '20240102')");
        batch(s, "CREATE PROCEDURE by_day @day date AS SELECT id FROM d WHERE day = @day");
        batch(
            s,
            "CREATE PROCEDURE by_default @day date = '01/02/2024' AS SELECT id FROM d WHERE day = @day",
        );
        batch(s, "CREATE PROCEDURE tell @a datetime, @b varchar(20) OUTPUT AS SET @b = @a");
        let constant = "SELECT id FROM d WHERE day = '01/02/2024'";
        let day = || text("01/02/2024");
        let prepared = call(
            s,
            id(13),
            vec![
                null_int().output(),
                text("@day date"),
                text("SELECT id FROM d WHERE day = @day"),
                day(),
            ],
        );
        assert!(prepared.starts_with("| id\n  2\n"), "{prepared}");
        let id_of = |said: String| said.lines().nth(1).unwrap_or_default().trim().to_owned();
        for (language, found) in
            [("us_english", "2"), ("British", "1"), ("us_english", "2"), ("Deutsch", "1")]
        {
            batch(s, &format!("SET LANGUAGE {language}"));
            let calls = [
                call(s, id(10), vec![text(constant)]),
                call(
                    s,
                    id(10),
                    vec![text("SELECT id FROM d WHERE day = @day"), text("@day date"), day()],
                ),
                call(
                    s,
                    id(10),
                    vec![
                        text("SELECT id FROM d WHERE day = @day"),
                        text("@day nvarchar(20)"),
                        day(),
                    ],
                ),
                call(
                    s,
                    id(10),
                    vec![
                        text("SELECT id FROM d WHERE day = @day"),
                        text("@day date = '01/02/2024'"),
                    ],
                ),
                call(s, id(12), vec![int(1), day()]),
                call(s, name("by_day"), vec![day()]),
                call(s, name("by_default"), vec![]),
                batch(s, "EXEC by_day '01/02/2024'"),
                batch(s, "EXEC by_default"),
                batch(s, "DECLARE @t nvarchar(20) = '01/02/2024' EXEC by_day @t"),
            ];
            for said in calls {
                assert_eq!(id_of(said.clone()), found, "{language}: {said}");
            }
        }
        // Names of months and days, and the first day of the week.
        let names = "SELECT DATENAME(month, @d) AS m, DATEPART(weekday, @d) AS w, @@DATEFIRST AS f, @@LANGUAGE AS l, \
                     DATEPART(weekday, '20240301') AS c";
        let ask =
            |s: &mut Session| call(s, id(10), vec![text(names), text("@d date"), text("20240301")]);
        assert!(ask(s).contains("März | 5 | 1 | Deutsch | 5"), "{}", ask(s));
        batch(s, "SET LANGUAGE us_english");
        assert!(ask(s).contains("March | 6 | 7 | us_english | 6"), "{}", ask(s));
        batch(s, "SET DATEFIRST 3");
        assert!(ask(s).contains("March | 3 | 3 | us_english | 3"), "{}", ask(s));
        batch(s, "SET LANGUAGE Deutsch");
        let said =
            batch(s, "DECLARE @b varchar(20) EXEC tell '31.12.2024', @b OUTPUT SELECT @b AS b");
        assert!(said.contains("Dez 31 2024"), "{said}");
        // Set within a call it ends with it.
        call(s, id(10), vec![text("SET DATEFORMAT ymd SET DATEFIRST 5")]);
        assert!(ask(s).contains("März | 5 | 1 | Deutsch"), "{}", ask(s));
    });
}

#[test]
fn texts_are_described_without_running() {
    with_session(|s, _| {
        let describe = |s: &mut Session, text: &str| {
            let said = batch(s, &format!("EXEC sp_describe_undeclared_parameters N'{text}'"));
            let rows: Vec<String> = said
                .lines()
                .filter(|l| l.starts_with("  "))
                .map(|l| l.split(" | ").skip(1).take(3).collect::<Vec<_>>().join(" "))
                .collect();
            if rows.is_empty() { said } else { rows.join(", ") }
        };
        let insert = "INSERT t (name, n) VALUES (@a, @b)";
        assert_eq!(describe(s, insert), "@a 231 nvarchar(20), @b 127 bigint");
        let update = "UPDATE k SET v = @v WHERE id = @id AND v LIKE @like";
        assert_eq!(describe(s, update), "@v 167 varchar(10), @id 56 int, @like 167 varchar(10)");
        let select = "DECLARE @x int = 1 SELECT TOP (@n) * FROM t WHERE n IN (@p, @q) AND id = @x";
        assert_eq!(describe(s, select), "@n 127 bigint, @p 127 bigint, @q 127 bigint");
        assert!(describe(s, "SELECT @what").starts_with("Msg 11506"));
        let said = batch(
            s,
            "EXEC sp_describe_first_result_set N'SELECT id, name FROM t WHERE id = @i', N'@i int'",
        );
        assert!(said.contains("  0 | 1 | id | 0 | 56 | int | 4 | 10 | 0 | NULL"), "{said}");
        assert!(said.contains("  0 | 2 | name | 1 | 231 | nvarchar(20) | 40 |"), "{said}");
        check(&batch(s, "SELECT COUNT(*) AS n FROM t"), "| n\n0\ndone Select 1");
        // sp_prepare tells the columns when it is asked to.
        let handle = null_int().named("@handle").output();
        let said = call(
            s,
            id(11),
            vec![handle, text("@i int"), text("SELECT v FROM k WHERE id = @i"), int(1)],
        );
        check(
            &said,
            "| v\ndone Select in procedure\nstatus 0\noutput 0 @handle int 1\nprocedure done",
        );
        let said = call(
            s,
            name("sp_describe_parameter_encryption"),
            vec![text("SELECT @a"), text("@a int")],
        );
        assert!(said.contains("  1 | @a | 0 | 0 | 0 | 0"), "{said}");
    });
}
