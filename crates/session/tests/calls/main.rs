//! What a client's calls answer: system procedures by number, procedures by name, transactions, bulk loads, resets.

mod bulk;
mod cursors;
mod settings;

use device::SimFs;
use executor::{ColumnMeta, Command, Done, EnvironmentChange, ResultSink, SqlMessage};
use session::{
    BeginNext, Instance, InstanceConfig, Rpc, RpcName, RpcParam, Session, TransactionRequest,
};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use types::{Len, SqlType, Value, format};

const TEXT: SqlType = SqlType::NVarChar(Len::N(4000));

/// Everything a client is told, a line each.
#[derive(Default)]
struct Said {
    text: String,
    types: Vec<SqlType>,
    updatable: Vec<bool>,
    /// The table and the column behind each column, where a client is told them.
    bases: Vec<String>,
}

impl ResultSink for Said {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|c| c.ty).collect();
        self.updatable = columns.iter().map(|c| c.updatable).collect();
        let told = columns.iter().filter_map(|c| c.base.as_ref()).filter(|base| base.browse);
        self.bases = told
            .map(|base| {
                let key = if base.key { " key" } else { "" };
                format!("{} {}{key}", base.table.join("."), base.column)
            })
            .collect();
        let names: Vec<&str> = columns.iter().map(|c| &*c.name).collect();
        let _ = writeln!(self.text, "| {}", names.join(" | "));
    }

    fn row(&mut self, row: &[Value]) {
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(v, ty)| format::shell(v, *ty)).collect();
        let _ = writeln!(self.text, "  {}", cells.join(" | "));
    }

    fn done(&mut self, done: Done) {
        let inside = if done.in_procedure { " in procedure" } else { "" };
        let failed = if done.failed { " failed" } else { "" };
        let rows = done.rows.map_or(String::new(), |rows| format!(" {rows}"));
        let _ = writeln!(self.text, "done {:?}{rows}{inside}{failed}", done.command);
    }

    fn message(&mut self, message: &SqlMessage) {
        let _ = writeln!(self.text, "{message}");
    }

    fn return_status(&mut self, status: i32) {
        let _ = writeln!(self.text, "status {status}");
    }

    fn output(&mut self, ordinal: u16, name: &str, ty: SqlType, value: &Value) {
        let shown = format::shell(value, ty);
        let _ = writeln!(self.text, "output {ordinal} {name} {ty} {shown}");
    }

    fn procedure_done(&mut self, _: i32) {
        let _ = writeln!(self.text, "procedure done");
    }

    fn environment(&mut self, change: EnvironmentChange<'_>) {
        let _ = match change {
            // The number counts the session's transactions: of no interest here.
            EnvironmentChange::Begin { .. } => writeln!(self.text, "env begin"),
            EnvironmentChange::Commit { .. } => writeln!(self.text, "env commit"),
            EnvironmentChange::Rollback { .. } => writeln!(self.text, "env rollback"),
            other => writeln!(self.text, "env {other:?}"),
        };
    }
}

/// Runs `body` on a session in a fresh database.
fn with_session(body: impl FnOnce(&mut Session, &Arc<Instance>) + Send + 'static) {
    let fs = SimFs::new(1);
    let config = InstanceConfig::small("/data", fs);
    let instance = Instance::open(config).expect("opens");
    let inner = instance.clone();
    let ran = instance.spawn_session("test", move |session| {
        let mut said = Said::default();
        for batch in ["CREATE DATABASE shop", "USE shop", TABLES] {
            assert!(session.execute(batch, &mut said).is_ok(), "{}", said.text);
        }
        body(session, &inner);
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}

const TABLES: &str = "
    CREATE TABLE t (id int IDENTITY PRIMARY KEY, name nvarchar(20), n bigint NOT NULL DEFAULT 7);
    CREATE TABLE k (id int NOT NULL PRIMARY KEY, v varchar(10) NULL)";

fn batch(session: &mut Session, text: &str) -> String {
    let mut said = Said::default();
    let _ = session.execute(text, &mut said);
    said.text
}

fn call(session: &mut Session, procedure: RpcName, params: Vec<RpcParam>) -> String {
    let mut said = Said::default();
    let rpc = Rpc { procedure, params, recompile: false };
    let _ = session.call(&rpc, &mut said);
    said.text
}

fn transact(session: &mut Session, request: TransactionRequest) -> String {
    let mut said = Said::default();
    let _ = session.transaction(&request, &mut said);
    said.text
}

fn text(value: &str) -> RpcParam {
    RpcParam::input(TEXT, Value::str(value))
}

fn int(value: i32) -> RpcParam {
    RpcParam::input(SqlType::Int, Value::Int(value))
}

fn null_int() -> RpcParam {
    RpcParam::input(SqlType::Int, Value::Null)
}

fn id(number: u16) -> RpcName {
    RpcName::Id(number)
}

fn name(name: &str) -> RpcName {
    RpcName::Name(name.to_owned())
}

#[track_caller]
fn check(got: &str, expected: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect()
    };
    assert!(lines(got) == lines(expected), "\n--- got ---\n{got}--- expected ---\n{expected}");
}

#[test]
fn sp_executesql_by_number() {
    with_session(|s, _| {
        let insert = "INSERT t (name) VALUES (@name); SELECT SCOPE_IDENTITY() AS id";
        let said = call(
            s,
            id(10),
            vec![text(insert), text("@name nvarchar(20)"), text("one").named("@name")],
        );
        let expected = "done Insert 1 in procedure
            | id
            1
            done Select 1 in procedure
            status 0
            procedure done";
        check(&said, expected);
        // By place, and the same text again.
        let said = call(s, id(10), vec![text(insert), text("@name nvarchar(20)"), text("two")]);
        check(&said, &expected.replace("            1\n", "            2\n"));
        // The batch's own SCOPE_IDENTITY knows nothing of what was done inside.
        check(&batch(s, "SELECT SCOPE_IDENTITY()"), "|\nNULL\ndone Select 1");
    });
}

#[test]
fn outputs_defaults_and_mistakes_of_sp_executesql() {
    with_session(|s, _| {
        let said = call(
            s,
            name("sp_executesql"),
            vec![
                text("SET @b = @a * 2"),
                text("@a int, @b int OUTPUT"),
                int(21).named("@a"),
                null_int().named("@b").output(),
            ],
        );
        check(&said, "status 0\noutput 3 @b int 42\nprocedure done");
        let said = call(s, id(10), vec![text("SELECT @a"), text("@a int")]);
        check(
            &said,
            "Msg 8178, Level 16, State 1, Line 1
            The parameterized query '(@a int)SELECT @a' expects the parameter '@a', which was not supplied.
            procedure done",
        );
        let said = call(s, id(10), vec![text("SELECT @a"), text("@a int"), int(1).named("@c")]);
        check(
            &said,
            "Msg 8145, Level 16, State 2, Line 1
            @c is not a parameter for procedure .
            procedure done",
        );
        let said = call(s, id(10), vec![text("SELECT @a"), text("@a int"), int(1), int(2)]);
        check(
            &said,
            "Msg 8144, Level 16, State 2, Line 1
            Procedure or function  has too many arguments specified.
            procedure done",
        );
        let said = call(s, id(10), vec![text("SELECT @a"), text("@a int"), int(1).output()]);
        check(
            &said,
            "Msg 8162, Level 16, State 2, Line 1
            The formal parameter \"@a\" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.
            procedure done",
        );
        let said = call(s, id(10), vec![text("SELECT 1 +"), text("")]);
        check(
            &said,
            "Msg 102, Level 15, State 1, Line 1
            Incorrect syntax near '+'.
            procedure done",
        );
        // An error of a statement ends the statement; its number is the status.
        let said = call(s, id(10), vec![text("\nINSERT k VALUES (1, 'a'), (1, 'b')")]);
        assert!(said.contains("Msg 2627, Level 14, State 1, Line 2\n"), "{said}");
        assert!(said.contains("done Insert in procedure failed\nstatus 2627\n"), "{said}");
    });
}

#[test]
fn statements_prepared_executed_and_given_up() {
    with_session(|s, _| {
        let insert = "INSERT k (id, v) VALUES (@id, @v)";
        let declarations = "@id int, @v varchar(10)";
        let handle = || null_int().named("@handle").output();
        let said = call(s, id(11), vec![handle(), text(declarations), text(insert), int(1)]);
        check(&said, "status 0\noutput 0 @handle int 1\nprocedure done");
        for i in 1..=3 {
            let said = call(s, id(12), vec![int(1), int(i), text("v")]);
            check(&said, "done Insert 1 in procedure\nstatus 0\nprocedure done");
        }
        check(&batch(s, "SELECT COUNT(*) AS n FROM k"), "| n\n3\ndone Select 1");
        // In one, and the handle that came in is given up.
        let select = "SELECT v FROM k WHERE id = @id";
        let given = int(1).named("@handle").output();
        let said = call(s, id(13), vec![given, text("@id int"), text(select), int(2)]);
        check(
            &said,
            "| v\nv\ndone Select 1 in procedure\nstatus 0\noutput 0 @handle int 2\nprocedure done",
        );
        let gone = "Msg 8179, Level 16, State 4, Line 1
            Could not find prepared statement with handle 1.
            procedure done";
        check(&call(s, id(12), vec![int(1), int(9), text("v")]), gone);
        check(&call(s, id(15), vec![int(1)]), gone);
        // The catalog may move under a handle.
        batch(s, "ALTER TABLE k ADD w int NOT NULL DEFAULT 5");
        batch(s, "EXEC ('CREATE TABLE other (a int)')");
        let said = call(s, id(12), vec![int(2), int(3)]);
        check(&said, "| v\nv\ndone Select 1 in procedure\nstatus 0\nprocedure done");
        check(&call(s, id(15), vec![int(2)]), "status 0\nprocedure done");
        check(&call(s, id(12), vec![int(2), int(3)]), &gone.replace("handle 1", "handle 2"));
        // A statement that cannot be compiled gets no handle.
        let said = call(s, id(11), vec![handle(), text(""), text("SELECT 1 +")]);
        assert!(said.starts_with("Msg "), "{said}");
        assert!(!said.contains("output"), "{said}");
    });
}

#[test]
fn procedures_by_name() {
    with_session(|s, _| {
        batch(
            s,
            "CREATE PROCEDURE dbo.twice @in int, @out int OUTPUT, @text nvarchar(100) = N'none' OUTPUT AS
             SELECT @in AS given; SET @out = @in * 2; SET @text = @text + N'!'; RETURN 5",
        );
        let out = null_int().named("@out").output();
        let said = call(s, name("[dbo].[twice]"), vec![int(4).named("@in"), out.clone()]);
        check(
            &said,
            "| given\n4\ndone Select 1 in procedure\nstatus 5\noutput 1 @out int 8\nprocedure done",
        );
        // An output comes back as the client declared it.
        let short =
            RpcParam::input(SqlType::NVarChar(Len::N(1)), Value::Null).named("@text").output();
        let defaulted = RpcParam { default: true, ..short };
        let said = call(s, name("twice"), vec![int(1).named("@in"), out, defaulted]);
        assert!(said.contains("output 2 @text nvarchar(1) n\n"), "{said}");
        let said = call(s, name("twice"), vec![int(1)]);
        check(
            &said,
            "Msg 201, Level 16, State 4, Procedure twice, Line 0
            Procedure or function 'twice' expects parameter '@out', which was not supplied.
            procedure done",
        );
        let said = call(s, name("nothing"), Vec::new());
        check(
            &said,
            "Msg 2812, Level 16, State 62, Line 1
            Could not find stored procedure 'nothing'.
            procedure done",
        );
        // sp_prepexecrpc keeps a handle of the call.
        let handle = null_int().named("@handle").output();
        let out = null_int().output();
        let said =
            call(s, id(14), vec![handle, text("{call dbo.twice (?, ?)}"), int(6), out.clone()]);
        assert!(said.contains("output 0 @handle int 1\n"), "{said}");
        assert!(said.contains("output 3  int 12\n"), "{said}");
        let said = call(s, id(12), vec![int(1), int(7), out]);
        assert!(said.contains("output 2  int 14\n"), "{said}");
        let said = call(s, id(99), Vec::new());
        assert!(said.contains("Msg 2812"), "{said}");
    });
}

#[test]
fn a_procedure_called_from_outside_acts_as_it_says() {
    with_session(|s, _| {
        batch(s, "CREATE USER mere WITHOUT LOGIN");
        batch(s, "CREATE PROCEDURE who WITH EXECUTE AS OWNER AS SELECT USER_NAME() AS name");
        batch(s, "GRANT EXECUTE ON who TO mere");
        batch(s, "EXECUTE AS USER = 'mere'");
        let said = call(s, name("who"), Vec::new());
        assert!(said.starts_with("| name\n  dbo\n"), "{said}");
        assert!(batch(s, "SELECT USER_NAME() AS name").contains("mere"), "it acts on");
    });
}

#[test]
fn natively_compiled_procedures_by_name() {
    with_session(|s, _| {
        let said = batch(
            s,
            "CREATE PROCEDURE dbo.share @n int NOT NULL, @out int OUTPUT WITH NATIVE_COMPILATION, SCHEMABINDING AS
             BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
               SELECT @n AS given
               SET @out = 100 / @n
             END",
        );
        assert!(!said.contains("Msg"), "{said}");
        let out = || null_int().named("@out").output();
        let share = |n: RpcParam| vec![n.named("@n"), out()];
        let given = |n: i32| format!("| given\n{n}\ndone Select in procedure\n");
        let said = call(s, name("share"), share(int(4)));
        let expected = "status 0\noutput 1 @out int 25\nprocedure done";
        check(&said, &format!("{}{expected}", given(4)));
        let divided = "Msg 8134, Level 16, State 1, Procedure share, Line 4
            Divide by zero error encountered.
            procedure done";
        check(&call(s, name("share"), share(int(0))), &format!("{}{divided}", given(0)));
        let said = call(s, name("share"), share(null_int()));
        assert!(said.starts_with("Msg 515, "), "{said}");
        // A transaction that is open goes on, unless XACT_ABORT says otherwise.
        let state = "SELECT @@TRANCOUNT AS n, XACT_STATE() AS state";
        batch(s, "BEGIN TRAN INSERT k VALUES (1, 'a')");
        call(s, name("share"), share(int(0)));
        assert!(batch(s, state).contains("1 | 1"), "the transaction is over");
        batch(s, "SET XACT_ABORT ON");
        call(s, name("share"), share(int(4)));
        assert!(batch(s, state).contains("1 | 1"), "the transaction is over");
        call(s, name("share"), share(int(0)));
        assert!(batch(s, state).contains("0 | 0"), "the transaction is open");
        check(&batch(s, "SELECT id FROM k"), "| id\ndone Select 0");
    });
}

#[test]
fn a_number_comes_back_as_the_client_declared_it() {
    with_session(|s, _| {
        batch(
            s,
            "CREATE PROCEDURE yes @flag bit OUTPUT, @n smallint OUTPUT AS SELECT @flag = 1, @n = 300",
        );
        let wide = || RpcParam::input(SqlType::BigInt, Value::BigInt(5)).output();
        let said = call(s, name("yes"), vec![wide().named("@flag"), wide().named("@n")]);
        assert!(said.contains("output 0 @flag bigint 1\n"), "{said}");
        assert!(said.contains("output 1 @n bigint 300\n"), "{said}");
        // What the client's type cannot hold comes as the procedure's.
        let narrow = RpcParam::input(SqlType::TinyInt, Value::Null).named("@n").output();
        let said = call(s, name("yes"), vec![wide().named("@flag"), narrow]);
        assert!(said.contains("output 1 @n smallint 300\n"), "{said}");
    });
}

#[test]
fn columns_of_tables_can_be_written() {
    with_session(|s, _| {
        let mut updatable = |text: &str| {
            let mut said = Said::default();
            assert!(s.execute(text, &mut said).is_ok(), "{}", said.text);
            said.updatable
        };
        // Bulk copy of mssql-jdbc and tiberius sends those columns alone.
        assert_eq!(updatable("SELECT * FROM t"), [false, true, true]);
        assert_eq!(updatable("SELECT id, v AS w, v + 'x', 1 FROM k"), [true, true, false, false]);
        assert_eq!(updatable("SELECT d.v, d.n FROM (SELECT v, 1 AS n FROM k) AS d"), [true, false]);
        assert_eq!(updatable("SELECT v FROM k GROUP BY v"), [false]);
        assert_eq!(updatable("SELECT name FROM sys.objects"), [false]);
    });
}

#[test]
fn a_message_is_a_statement_of_its_own() {
    with_session(|s, _| {
        let said = batch(s, "PRINT 'x'; SELECT 1 AS a; SET NOCOUNT ON; PRINT 'y'");
        assert!(said.starts_with("x\ndone Other\n| a\n"), "{said}");
        assert!(said.ends_with("y\n"), "{said}");
    });
}

#[test]
fn the_transaction_manager() {
    with_session(|s, _| {
        let begin = || TransactionRequest::Begin { isolation: None, name: String::new() };
        let commit = |then_begin| TransactionRequest::Commit { name: String::new(), then_begin };
        let rollback =
            |name: &str, then_begin| TransactionRequest::Rollback { name: name.into(), then_begin };
        check(&transact(s, begin()), "env begin");
        batch(s, "INSERT k VALUES (1, 'a')");
        check(&transact(s, TransactionRequest::Save { name: "here".into() }), "");
        batch(s, "INSERT k VALUES (2, 'b')");
        check(&transact(s, rollback("here", None)), "");
        check(&transact(s, commit(Some(BeginNext::default()))), "env commit\nenv begin");
        check(&batch(s, "SELECT id, @@TRANCOUNT AS n FROM k"), "| id | n\n1 | 1\ndone Select 1");
        batch(s, "DELETE k");
        check(&transact(s, rollback("", None)), "env rollback");
        check(&batch(s, "SELECT COUNT(*) AS n FROM k"), "| n\n1\ndone Select 1");
        let said = transact(s, commit(None));
        assert!(said.starts_with("Msg 3902"), "{said}");
        // T-SQL's own are told too, and only what is left at the end.
        check(&batch(s, "BEGIN TRAN"), "env begin");
        check(&batch(s, "COMMIT BEGIN TRAN COMMIT BEGIN TRAN"), "env commit\nenv begin");
        check(&batch(s, "ROLLBACK BEGIN TRAN COMMIT"), "done Rollback\nenv rollback");
        check(&batch(s, "BEGIN TRAN COMMIT"), "");
        let said = transact(s, TransactionRequest::Begin { isolation: Some(5), name: "x".into() });
        check(&said, "env begin");
        check(&batch(s, "COMMIT"), "env commit");
        // A call must leave as many open as it found.
        let said = call(s, id(10), vec![text("BEGIN TRAN")]);
        assert!(said.contains("Msg 266, Level 16, State 2"), "{said}");
        assert!(said.ends_with("env begin\n"), "{said}");
        batch(s, "ROLLBACK");
        // ... but for the one that an implicit transaction begins.
        batch(s, "SET IMPLICIT_TRANSACTIONS ON");
        let said = call(s, id(10), vec![text("INSERT k VALUES (5, 'x')")]);
        check(&said, "done Insert 1 in procedure\nstatus 0\nprocedure done\nenv begin");
        check(
            &batch(s, "set implicit_transactions off IF @@TRANCOUNT > 0 COMMIT TRAN"),
            "env commit",
        );
    });
}

/// A client stops to read at the first end with an error: what has become of its transaction is told before.
#[test]
fn what_ends_a_call_and_its_transaction_has_one_end() {
    with_session(|s, _| {
        for error in ["SELECT CAST(v AS int) FROM k", "SET XACT_ABORT ON INSERT k VALUES (1, 'a')"]
        {
            batch(s, "INSERT k SELECT 1, 'a' WHERE NOT EXISTS (SELECT * FROM k)");
            batch(s, "BEGIN TRAN");
            let said = call(s, id(10), vec![text(error)]);
            assert!(said.ends_with("\nprocedure done\nenv rollback\n"), "{said}");
            assert!(!said.contains("failed\n"), "{said}");
        }
    });
}

#[test]
fn a_reset_makes_a_session_new() {
    with_session(|s, _| {
        batch(s, "SET NOCOUNT ON SET LANGUAGE German SET CONTEXT_INFO 0x01 SET LOCK_TIMEOUT 5");
        batch(s, "BEGIN TRAN INSERT k VALUES (1, 'a')");
        let mut said = Said::default();
        s.reset(true, &mut said);
        check(&said.text, "env ResetDone");
        assert_eq!(s.trancount(), 1);
        s.reset(false, &mut said);
        check(
            &said.text,
            "env ResetDone
            env rollback
            env Database { old: \"shop\", new: \"master\" }
            env ResetDone",
        );
        check(
            &batch(
                s,
                "SELECT @@LANGUAGE AS l, @@LOCK_TIMEOUT AS t, @@TRANCOUNT AS n, CONTEXT_INFO() AS c",
            ),
            "| l | t | n | c\nus_english | -1 | 0 | NULL\ndone Select 1",
        );
        check(
            &batch(s, "SELECT COUNT(*) AS n FROM shop.sys.tables WHERE name = 'k'"),
            "| n\n1\ndone Select 1",
        );
    });
}

/// Announces and loads; what was said of the load.
#[test]
fn attention_stops_what_runs_and_says_nothing() {
    with_session(|s, instance| {
        batch(s, "BEGIN TRAN INSERT k VALUES (1, 'a')");
        let slow = [
            "WAITFOR DELAY '00:00:30'",
            "WHILE 1 = 1 SELECT @@SPID",
            "DECLARE @i int = 0 WHILE 1 = 1 SET @i = 1",
            "SELECT COUNT(*) FROM sys.all_columns a, sys.all_columns b, sys.all_columns c, sys.all_columns d",
        ];
        for text in slow {
            let cancel = s.cancel_flag();
            let stopper = instance.schedulers().spawn("stopper", None, move || {
                runtime::task::sleep_ns(50_000_000, telemetry::WaitType::Waitfor);
                cancel.store(true, Ordering::Relaxed);
                Instant::now()
            });
            let mut said = Quiet::default();
            let result = s.execute(text, &mut said);
            let asked = stopper.join().expect("it stops");
            assert!(result.is_err(), "{text}");
            assert!(asked.elapsed() < Duration::from_secs(5), "{text}: {:?}", asked.elapsed());
            assert_eq!(said.messages, 0, "{text}");
            assert_eq!(s.trancount(), 1, "{text}");
        }
        check(&batch(s, "SELECT id FROM k"), "| id\n1\ndone Select 1");
        check(&batch(s, "COMMIT"), "env commit");
    });
}

#[derive(Default)]
struct Quiet {
    messages: usize,
}

impl ResultSink for Quiet {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, done: Done) {
        assert!(!done.failed || done.command != Command::Other);
    }
    fn message(&mut self, _: &SqlMessage) {
        self.messages += 1;
    }
}

#[test]
fn kill_ends_a_session() {
    with_session(|s, instance| {
        let mut other = Session::new(instance);
        let said = batch(s, &format!("KILL {}", other.spid()));
        check(&said, "");
        assert!(other.is_killed());
        assert!(batch(&mut other, "SELECT 1").starts_with("Msg 596"));
        assert!(batch(s, "KILL 9999").starts_with("Msg 6106"));
        assert!(batch(s, &format!("KILL {}", s.spid())).starts_with("Msg 6104"));
    });
}

#[test]
fn a_prepared_insert_of_texts_is_checked() {
    with_session(|s, _| {
        let handle = null_int().named("@handle").output();
        let insert = "INSERT t (name, n) VALUES (@name, @n)";
        call(s, id(11), vec![handle, text("@name nvarchar(40), @n bigint"), text(insert)]);
        let run = |s: &mut Session, name: Value, n: Value| {
            call(
                s,
                id(12),
                vec![int(1), RpcParam::input(TEXT, name), RpcParam::input(SqlType::BigInt, n)],
            )
        };
        for i in 0..3 {
            let said = run(s, Value::str(&"x".repeat(i * 7)), Value::BigInt(i as i64));
            check(&said, "done Insert 1 in procedure\nstatus 0\nprocedure done");
        }
        check(
            &run(s, Value::Null, Value::BigInt(9)),
            "done Insert 1 in procedure\nstatus 0\nprocedure done",
        );
        let said = run(s, Value::str("longer than the column can hold"), Value::BigInt(1));
        assert!(said.contains("Msg 2628"), "{said}");
        assert!(run(s, Value::str("a"), Value::Null).contains("Msg 515"));
        check(
            &batch(s, "SELECT LEN(name) AS l, n FROM t ORDER BY n"),
            "| l | n\n0 | 0\n7 | 1\n14 | 2\nNULL | 9\ndone Select 4",
        );
    });
}
