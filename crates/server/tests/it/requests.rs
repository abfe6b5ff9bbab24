//! What a session asks for, and how it stops.

use crate::support::{eventually, serve, timed};
use server::Limits;
use std::io::Write;
use std::time::Duration;
use tds::client::{Change, Token};
use tds::request::TransactionRequest;
use tds::rpc::{Rpc, RpcName, RpcParameter, RpcValue};
use tds::{DoneKind, DoneStatus};
use types::{Len, SqlType, Value};

fn text(value: &str) -> RpcParameter {
    RpcParameter {
        name: None,
        output: false,
        default: false,
        ty: SqlType::NVarChar(Len::N(4000)),
        value: RpcValue::Scalar(Value::from(value)),
    }
}

fn int(name: &str, value: i32, output: bool) -> RpcParameter {
    RpcParameter {
        name: Some(name.into()),
        output,
        default: false,
        ty: SqlType::Int,
        value: RpcValue::Scalar(Value::Int(value)),
    }
}

fn executesql(parameters: Vec<RpcParameter>) -> Rpc {
    Rpc {
        procedure: RpcName::Id(RpcName::SP_EXECUTESQL),
        parameters,
        recompile: false,
        no_metadata: false,
        no_execute: false,
    }
}

#[test]
fn batches_answer_with_rows_counts_and_errors() {
    let served = serve(Limits::default());
    let mut client = served.client();
    let answer = client.query("SELECT 1 AS a; PRINT 'hello'; SELECT 2 AS b, NULL AS c");
    assert_eq!(answer.rows, [vec![Value::Int(1)], vec![Value::Int(2), Value::Null]]);
    assert_eq!(answer.messages[0].text, "hello");
    let statuses: Vec<u16> = answer.dones.iter().map(|done| done.status.0 & 0x11).collect();
    assert_eq!(statuses.first(), Some(&0x11));
    assert_eq!(statuses.last(), Some(&0x10));
    let answer = client.query("SELECT 1/0; SELECT 3");
    assert_eq!(answer.errors(), [8134]);
    assert_eq!(answer.rows, [[Value::Int(3)]]);
    assert!(answer.dones.iter().any(|done| done.status.has(DoneStatus::ERROR)));
    assert_eq!(client.query("SELECT * FROM nowhere").errors(), [208]);
    assert_eq!(client.query("THIS IS NO SQL").errors().len(), 1);
    // An answer of many packets.
    let wide = client.query("SELECT REPLICATE(CAST(N'ab' AS nvarchar(max)), 500000)");
    assert_eq!(wide.rows[0][0], Value::from("ab".repeat(500_000).as_str()));
}

#[test]
fn several_calls_in_one_message_are_answered_in_one() {
    let served = serve(Limits::default());
    let mut client = served.client();
    let calls = [
        executesql(vec![text("SELECT @a + 1"), text("@a int"), int("@a", 41, false)]),
        executesql(vec![text("SET @b = @b * 2"), text("@b int OUTPUT"), int("@b", 21, true)]),
    ];
    client.writer.calls(&calls).expect("encoded");
    client.send();
    let answer = client.answer().expect("an answer");
    assert_eq!(answer.rows, [[Value::Int(42)]]);
    let returned = answer.tokens.iter().find_map(|token| match token {
        Token::ReturnValue(value) => Some((value.name.clone(), value.value.clone())),
        _ => None,
    });
    assert_eq!(returned, Some(("@b".to_owned(), Value::Int(42))));
    let ends = answer.dones.iter().filter(|done| done.kind == DoneKind::Proc).count();
    assert_eq!(ends, 2);
    assert!(!answer.dones.last().expect("a DONE").status.has(DoneStatus::MORE));
}

#[test]
fn transactions_are_begun_told_and_reset() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.writer.transaction(&TransactionRequest::Begin { isolation: 0, name: String::new() });
    client.send();
    let answer = client.answer().expect("an answer");
    let begun = answer.tokens.iter().find_map(|token| match token {
        Token::Change(Change::BeginTransaction(id)) => Some(*id),
        _ => None,
    });
    let begun = begun.expect("a descriptor");
    assert_ne!(begun, 0);
    client.writer.set_transaction(begun);
    assert_eq!(client.query("SELECT @@TRANCOUNT").rows, [[Value::Int(1)]]);
    // The next user of a pooled connection finds none.
    client.writer.set_transaction(0);
    client.writer.reset_connection(false);
    let answer = client.query("SELECT @@TRANCOUNT");
    assert_eq!(answer.rows, [[Value::Int(0)]]);
    assert!(
        answer.tokens.iter().any(|t| matches!(t, Token::Change(Change::RollbackTransaction(_))))
    );
    assert!(answer.tokens.iter().any(|t| matches!(t, Token::Change(Change::ResetConnection))));
}

/// Sends an attention while `batch` runs; how long the answer to it takes.
fn cancel(client: &mut crate::support::Client<std::net::TcpStream>, batch: &str) -> Duration {
    client.writer.batch(batch);
    client.send();
    std::thread::sleep(Duration::from_millis(100));
    client.writer.attention();
    let (answers, took) = timed(|| {
        client.send();
        client.stopped()
    });
    assert!(answers.iter().all(|answer| answer.errors().is_empty()), "{batch}");
    assert_eq!(client.query("SELECT 9").rows, [[Value::Int(9)]]);
    took
}

#[test]
fn an_attention_stops_whatever_runs() {
    let served = serve(Limits::default());
    let (mut client, mut other) = (served.client(), served.client());
    other.query("CREATE DATABASE d");
    other.query("USE d");
    client.query("USE d");
    other.query("CREATE TABLE t (a int PRIMARY KEY); INSERT t VALUES (1)");
    other.query("BEGIN TRAN; UPDATE t SET a = 2");
    let cases = [
        "WAITFOR DELAY '00:01:00'",
        "WHILE 1 = 1 SELECT 1 WHERE 1 = 0",
        "DECLARE @i bigint = 0; WHILE 1 = 1 SET @i += 1",
        // Waits for the other's lock.
        "UPDATE t SET a = 3",
    ];
    for batch in cases {
        let fastest = (0..3).map(|_| cancel(&mut client, batch)).min().expect("three");
        println!("{batch}: {fastest:?}");
        // The best of three: the machine may be busy.
        assert!(fastest < Duration::from_secs(2), "{batch}: {fastest:?}");
    }
    // Early: it comes together with the request.
    client.writer.batch("WAITFOR DELAY '00:01:00'");
    client.writer.attention();
    client.send();
    client.stopped();
    // Late: the answer was there before the attention.
    client.writer.batch("SELECT 8");
    client.send();
    assert_eq!(client.answer().expect("an answer").rows, [[Value::Int(8)]]);
    client.writer.attention();
    client.send();
    assert!(client.answer().expect("an answer").ends_with_attention());
    assert_eq!(other.query("ROLLBACK; SELECT a FROM t").rows, [[Value::Int(1)]]);
}

/// More rows than any socket takes.
const ENDLESS: &str = "DECLARE @s nvarchar(4000) = REPLICATE(N'x', 4000); WHILE 1 = 1 SELECT @s";

#[test]
fn a_client_that_does_not_read_waits_alone_and_can_be_cancelled() {
    let served = serve(Limits::default());
    let (mut client, mut other) = (served.client(), served.client());
    client.writer.batch(ENDLESS);
    client.send();
    let waits = |name: &str| {
        let all = telemetry::waits::snapshot();
        all.iter().find(|wait| wait.name == name).map_or(0, |wait| wait.waiting_tasks_count)
    };
    let tasks = || {
        let tasks = served.instance.schedulers().tasks();
        format!("{tasks:?}").matches("Suspended(\"ASYNC_NETWORK_IO\")").count()
    };
    eventually("its task waits for the network", || tasks() == 1);
    assert_eq!(other.query("SELECT 10").rows, [[Value::Int(10)]]);
    let before = waits("ASYNC_NETWORK_IO");
    client.writer.attention();
    client.send();
    // It stops before anything of its answer is read.
    eventually("its task has stopped", || tasks() == 0);
    assert!(waits("ASYNC_NETWORK_IO") > before);
    client.stopped();
    assert_eq!(client.query("SELECT 11").rows, [[Value::Int(11)]]);
}

#[test]
fn a_client_that_goes_away_stops_what_runs_for_it() {
    let served = serve(Limits::default());
    let mut other = served.client();
    for batch in
        [ENDLESS, "WAITFOR DELAY '00:10:00'", "BEGIN TRAN; WHILE 1 = 1 SELECT 1 WHERE 1 = 0"]
    {
        let mut client = served.client();
        client.writer.batch(batch);
        client.send();
        std::thread::sleep(Duration::from_millis(50));
        drop(client);
        eventually("its connection is gone", || served.server.connections() == 1);
    }
    assert_eq!(other.query("SELECT 12").rows, [[Value::Int(12)]]);
}

#[test]
fn messages_that_make_no_sense_end_the_connection_and_no_other() {
    let served = serve(Limits { message_bytes: 1 << 20, ..Limits::default() });
    let mut other = served.client();
    let cases: [&[u8]; 4] = [
        // A packet of another type in the middle of a message; a type that is not one; a login again.
        &[0x01, 0, 0, 12, 0, 0, 1, 0, 1, 2, 3, 4, 0x03, 1, 0, 12, 0, 0, 2, 0, 1, 2, 3, 4],
        &[0x55, 1, 0, 12, 0, 0, 1, 0, 1, 2, 3, 4],
        &[0x10, 1, 0, 12, 0, 0, 1, 0, 1, 2, 3, 4],
        // A packet shorter than its own header.
        &[0x01, 1, 0, 4, 0, 0, 1, 0],
    ];
    for bytes in cases {
        let mut client = served.client();
        client.stream.write_all(bytes).expect("sent");
        assert!(client.is_closed(), "{bytes:x?}");
    }
    // Longer than is allowed.
    let mut client = served.client();
    client.writer.batch(&"-".repeat(2 << 20));
    let bytes = client.writer.take();
    let _ = client.stream.write_all(&bytes);
    assert!(client.is_closed());
    // A call that is cut off is refused, and the session goes on.
    let mut client = served.client();
    client.stream.write_all(&[0x03, 1, 0, 12, 0, 0, 1, 0, 1, 2, 3, 4]).expect("sent");
    assert_eq!(client.answer().expect("an answer").errors(), [4002]);
    assert_eq!(client.query("SELECT 13").rows, [[Value::Int(13)]]);
    assert_eq!(other.query("SELECT 14").rows, [[Value::Int(14)]]);
}

#[test]
fn bytes_may_come_one_at_a_time() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.writer.batch("SELECT 15");
    for byte in client.writer.take() {
        client.stream.write_all(&[byte]).expect("sent");
        std::thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(client.answer().expect("an answer").rows, [[Value::Int(15)]]);
}

/// A bulk load of one int column: COLMETADATA, rows, DONE.
fn bulk_rows(values: impl Iterator<Item = i32>) -> Vec<u8> {
    let mut body = vec![0x81, 1, 0, 0, 0, 0, 0, 0x08, 0, 0x38, 1, b'a', 0];
    for value in values {
        body.push(0xD1);
        body.extend_from_slice(&value.to_le_bytes());
    }
    body.extend_from_slice(&[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    body
}

#[test]
fn bulk_load_takes_all_rows_or_none() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.query("CREATE DATABASE d");
    client.query("USE d");
    client.query("CREATE TABLE t (a int NOT NULL PRIMARY KEY)");
    assert_eq!(client.query("INSERT BULK t (a int)").errors(), [0; 0]);
    client.writer.bulk(&bulk_rows(0..20_000));
    client.send();
    let answer = client.answer().expect("an answer");
    assert_eq!(answer.errors(), [0; 0]);
    assert_eq!(answer.dones.last().map(|done| done.rows), Some(20_000));
    assert_eq!(client.query("SELECT COUNT(*) FROM t").rows, [[Value::Int(20_000)]]);
    // The last row is there already: none of them stays, and the session goes on.
    client.query("INSERT BULK t (a int)");
    client.writer.bulk(&bulk_rows((20_000..30_000).chain([7])));
    client.send();
    assert_eq!(client.answer().expect("an answer").errors(), [2627]);
    assert_eq!(client.query("SELECT COUNT(*) FROM t").rows, [[Value::Int(20_000)]]);
    assert_eq!(client.query("INSERT BULK nowhere (a int)").errors(), [208]);
    // A sparse column, in whose place `*` shows the column set.
    client.query("CREATE TABLE s (k int, a int SPARSE, c xml COLUMN_SET FOR ALL_SPARSE_COLUMNS)");
    assert_eq!(client.query("INSERT BULK s (a int)").errors(), [0; 0]);
    client.writer.bulk(&bulk_rows(0..10));
    client.send();
    assert_eq!(client.answer().expect("an answer").errors(), [0; 0]);
    assert_eq!(client.query("SELECT COUNT(*) FROM s WHERE a < 10").rows, [[Value::Int(10)]]);
    // Rows that nothing announced.
    client.writer.bulk(&bulk_rows(0..10));
    client.send();
    assert_eq!(client.answer().expect("an answer").errors(), [40510]);
    assert_eq!(client.query("SELECT 16").rows, [[Value::Int(16)]]);
}

#[test]
fn columns_are_told_nullable_as_sql_server_does() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.query("CREATE DATABASE d");
    client.query("USE d");
    client.query("CREATE TABLE t (a int NOT NULL, b int NULL, s varchar(9) NOT NULL)");
    client.query("INSERT t VALUES (1, NULL, 'x')");
    let answer = client.query("SELECT a, b, a + 1, s + s FROM t");
    let columns = answer.tokens.iter().find_map(|token| match token {
        Token::Columns(columns) => Some(columns.iter().map(|c| c.nullable).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(columns.expect("columns"), [false, true, true, false]);
    assert_eq!(answer.rows, [[Value::Int(1), Value::Null, Value::Int(2), Value::from("xx")]]);
}

#[test]
fn an_error_of_severity_20_ends_the_connection_after_it_is_told() {
    let served = serve(Limits::default());
    let (mut client, mut other) = (served.client(), served.client());
    assert_eq!(client.query("RAISERROR('mild', 20, 1)").errors(), [2754]);
    let answer = client.query("SELECT 1; RAISERROR('severe', 20, 3) WITH LOG; SELECT 2");
    assert_eq!(answer.rows, [[Value::Int(1)]]);
    assert_eq!(answer.errors(), [2745, 50000]);
    assert_eq!(answer.messages[1].class, 20);
    let last = answer.dones.last().expect("a DONE").status;
    assert!(last.has(DoneStatus::ERROR) && last.has(DoneStatus::SERVER_ERROR));
    assert!(client.is_closed());
    assert_eq!(other.query("SELECT 17").rows, [[Value::Int(17)]]);
}

#[test]
fn exec_in_a_batch_tells_its_status_and_end() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.query("CREATE DATABASE d");
    client.query("USE d");
    client.query("CREATE PROCEDURE inner_p AS RETURN 3");
    client.query("CREATE PROCEDURE p AS BEGIN SELECT 1; EXEC inner_p; RETURN 7 END");
    let answer = client.query("EXEC p; EXEC p; SELECT 5");
    let statuses: Vec<i32> = answer
        .tokens
        .iter()
        .filter_map(|token| match token {
            Token::ReturnStatus(status) => Some(*status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [7, 7]);
    let kinds: Vec<DoneKind> = answer.dones.iter().map(|done| done.kind).collect();
    use DoneKind::{Done, InProc, Proc};
    assert_eq!(kinds, [InProc, Proc, InProc, Proc, Done]);
    assert_eq!(answer.dones[1].command, 0xE0);
    // What fails before it begins has neither.
    let answer = client.query("EXEC nowhere; SELECT 6");
    assert_eq!(answer.errors(), [2812]);
    assert!(!answer.tokens.iter().any(|token| matches!(token, Token::ReturnStatus(_))));
}

#[test]
fn columns_are_told_whatever_the_client_says_it_knows() {
    let served = serve(Limits::default());
    let mut client = served.client();
    let parameters = vec![text("SELECT @a AS a, NULL AS b"), text("@a int"), int("@a", 7, false)];
    client.writer.calls(&[Rpc { no_metadata: true, ..executesql(parameters) }]).expect("encoded");
    client.send();
    let answer = client.answer().expect("an answer");
    assert_eq!(answer.rows, [[Value::Int(7), Value::Null]]);
}

#[test]
fn sp_reset_connection_by_name_goes_back_to_the_logins_database() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.query("CREATE TABLE #left (a int); SET LOCK_TIMEOUT 4321");
    client.query("CREATE DATABASE d");
    client.query("USE d");
    client.query("BEGIN TRANSACTION");
    let reset = Rpc {
        procedure: RpcName::Name("sp_reset_connection".into()),
        parameters: vec![],
        recompile: false,
        no_metadata: false,
        no_execute: false,
    };
    client.writer.calls(&[reset]).expect("encoded");
    client.send();
    let answer = client.answer().expect("an answer");
    assert_eq!(answer.errors(), [0; 0]);
    assert!(answer.tokens.contains(&Token::ReturnStatus(0)));
    assert_eq!(answer.dones.iter().map(|done| done.kind).collect::<Vec<_>>(), [DoneKind::Proc]);
    let master = Token::Change(Change::Database("master".into()));
    assert!(answer.tokens.contains(&master), "{:?}", answer.tokens);
    let answer =
        client.query("SELECT DB_NAME(), @@LOCK_TIMEOUT, @@TRANCOUNT, OBJECT_ID('tempdb..#left')");
    assert_eq!(answer.rows, [[Value::from("master"), Value::Int(-1), Value::Int(0), Value::Null]]);
}

#[test]
fn texts_of_before_a_reset_run_as_if_they_were_new() {
    let served = serve(Limits::default());
    let mut client = served.client();
    client.query("CREATE TABLE kept (a int PRIMARY KEY); INSERT kept VALUES (1), (2)");
    let prepare = executesql(vec![
        text("SELECT a FROM kept WHERE a = @a"),
        text("@a int"),
        int("@a", 2, false),
    ]);
    let own = "EXEC #own; SELECT * FROM #t; SELECT N'a' + NULL, @@DATEFIRST";
    for (round, values) in ["1 AS a", "'x' AS b, 2 AS c", "NEWID() AS d"].into_iter().enumerate() {
        client.query(&format!("SELECT {values} INTO #t"));
        client.query(&format!("CREATE PROCEDURE #own AS SELECT {round}"));
        // Kept from the second time on.
        for _ in 0..3 {
            let answer = client.query(own);
            assert_eq!(answer.errors(), [0; 0], "{values}");
            assert_eq!(answer.rows[0], [Value::Int(round as i32)]);
            assert_eq!(answer.rows[1].len(), values.split(" AS ").count() - 1, "{values}");
            assert_eq!(answer.rows[2][1], Value::TinyInt(7));
            client.writer.calls(std::slice::from_ref(&prepare)).expect("encoded");
            client.send();
            assert_eq!(client.answer().expect("an answer").rows, [[Value::Int(2)]]);
        }
        client.query("SET DATEFIRST 1; SET CONCAT_NULL_YIELDS_NULL OFF");
        client.writer.reset_connection(false);
        // Another session's change is seen.
        assert_eq!(client.query("SELECT * FROM #t").errors(), [208]);
        served
            .client()
            .query(&format!("ALTER TABLE kept ADD b{round} int; UPDATE STATISTICS kept"));
    }
}

#[test]
fn a_handle_does_not_outlive_a_reset() {
    let served = serve(Limits::default());
    let mut client = served.client();
    let prepared = client.query(
        "DECLARE @h int; EXEC sp_prepare @h OUTPUT, N'@a int', N'SELECT @a + 1'; EXEC sp_execute @h, 41; SELECT @h",
    );
    let [Value::Int(handle)] = prepared.rows[1][..] else {
        panic!("a handle: {:?}", prepared.rows)
    };
    let again = format!("EXEC sp_execute {handle}, 41");
    assert_eq!(client.query(&again).rows, [[Value::Int(42)]]);
    client.writer.reset_connection(false);
    assert_eq!(client.query(&again).errors(), [8179]);
}

#[test]
fn a_key_on_a_nullable_column_is_two_errors() {
    let served = serve(Limits::default());
    let mut client = served.client();
    let answer = client.query("CREATE TABLE #t (a int NULL PRIMARY KEY)");
    assert_eq!(answer.errors(), [8111, 1750]);
    assert_eq!(
        answer.messages[1].text,
        "Could not create constraint or index. See previous errors."
    );
}

#[test]
fn kill_frees_what_an_idle_session_holds_and_stops_one_that_waits() {
    let served = serve(Limits::default());
    let spid = |client: &mut crate::support::Client<std::net::TcpStream>| {
        let answer = client.query("SELECT @@SPID");
        let Value::SmallInt(spid) = answer.rows[0][0] else { panic!("a smallint") };
        spid
    };
    let mut admin = served.client();
    admin.query("CREATE TABLE held (a int PRIMARY KEY); INSERT held VALUES (1)");
    // Left in its transaction by a client that says nothing more.
    let mut idle = served.client();
    let idle_spid = spid(&mut idle);
    assert_eq!(idle.query("BEGIN TRANSACTION; UPDATE held SET a = 2").errors(), [0; 0]);
    // Behind it.
    let mut waits = served.client();
    let waits_spid = spid(&mut waits);
    waits.writer.batch("UPDATE held SET a = 3");
    waits.send();
    let waiting = format!("SELECT 1 FROM sys.dm_exec_requests WHERE session_id = {waits_spid}");
    crate::support::eventually("it waits", || admin.query(&waiting).rows.len() == 1);
    assert_eq!(admin.query(&format!("KILL {waits_spid}")).errors(), [0; 0]);
    assert_eq!(waits.answer().expect("an answer").errors().last(), Some(&596));
    assert!(waits.is_closed());

    assert_eq!(admin.query(&format!("KILL {idle_spid}")).errors(), [0; 0]);
    assert!(idle.is_closed());
    assert_eq!(admin.query("UPDATE held SET a = a + 10").errors(), [0; 0]);
    assert_eq!(admin.query("SELECT a FROM held").rows, [[Value::Int(11)]]);
    assert_eq!(admin.query(&format!("KILL {idle_spid}")).errors(), [6106]);
}

#[test]
fn a_connection_its_listener_and_its_node_are_listed() {
    let served = serve(Limits::default());
    let (mut client, mut other) = (served.client(), served.client());
    let logins =
        "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Logins/sec'";
    assert!(other.query(logins).rows[0][0].as_i64() >= Some(2));
    let rows = client
        .query(
            "SELECT c.num_reads, c.num_writes, l.port FROM sys.dm_exec_connections AS c \
             JOIN sys.dm_tcp_listener_states AS l ON l.port = c.local_tcp_port AND l.state_desc = 'ONLINE' \
             JOIN sys.dm_os_nodes AS n ON n.node_id = c.node_affinity WHERE c.session_id = @@SPID",
        )
        .rows;
    assert_eq!(rows.len(), 1, "{rows:?}");
    // At least PRELOGIN, LOGIN7 and this request came, and two answers went.
    assert!(rows[0][0].as_i64() >= Some(2) && rows[0][1].as_i64() >= Some(2), "{rows:?}");
    let users = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'User Connections'";
    assert_eq!(client.query(users).rows[0][0], Value::BigInt(2));
}

#[test]
fn connections_leave_a_scheduler_that_goes_offline() {
    let served = serve(Limits::default());
    let schedulers = served.instance.schedulers();
    let cpus: Vec<usize> = schedulers.stats().iter().filter_map(|stats| stats.cpu).collect();
    let mut clients: Vec<_> = (0..4).map(|_| served.client()).collect();
    let set = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY";
    for wrong in ["CPU = 4095", "CPU = 1 TO 0", "NUMANODE = 77", "CPU = 0 TO 4000000000"] {
        assert_eq!(clients[0].query(&format!("{set} {wrong}")).errors(), [5832], "{wrong}");
    }
    assert_eq!(clients[0].query(&format!("{set} CPU = x")).errors(), [102]);
    assert!(schedulers.stats().iter().all(|stats| stats.online));
    let kept = cpus[cpus.len() - 1];
    assert!(clients[0].query(&format!("{set} CPU = {kept}")).errors().is_empty());
    let online = || schedulers.stats().iter().filter(|stats| stats.online).count();
    assert_eq!(online(), 1);
    // After its next request each has moved; what listens stays.
    for client in &mut clients {
        client.query("SELECT 1");
    }
    let left = || {
        let stats = schedulers.stats();
        stats.iter().filter(|stats| !stats.online).map(|stats| stats.sockets).sum::<usize>()
    };
    eventually("only the listener is left", || left() <= 1);
    clients.extend((0..4).map(|_| served.client()));
    for client in &mut clients {
        assert_eq!(client.query("SELECT 1").rows, [[Value::Int(1)]]);
    }
    eventually("only the listener is left", || left() <= 1);
    assert!(clients[0].query(&format!("{set} CPU = AUTO")).errors().is_empty());
    assert_eq!(online(), schedulers.count());
}
