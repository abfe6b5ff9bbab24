//! What the suite shows; `../README.md` says it for all clients.

use std::time::{Duration, Instant};

use tiberius::error::Error;
use tiberius::{ColumnData, Command, IntoRow, IsolationLevel, SqlBulkCopyOption, TokenRow, Uuid};
use tokio::time::timeout;

use crate::values::{self, Type};
use crate::{Connection, DATABASE, Failure, Result};
use crate::{
    check, config, connect, env, equal, execute, fixture, note, open, problem, refused, rows, run,
    scalar, short,
};

pub async fn run_one(name: &str) -> Result {
    match name {
        "connect" => connects().await,
        "encryption" => encryption().await,
        "wrong-password" => wrong_password().await,
        "unknown-database" => unknown_database().await,
        "types" => types().await,
        "parameters" => parameters().await,
        "output-parameters" => output_parameters().await,
        "prepared" => prepared().await,
        "transactions" => transactions().await,
        "savepoints" => savepoints().await,
        "isolation-levels" => isolation_levels().await,
        "result-sets" => result_sets().await,
        "messages" => messages().await,
        "errors" => errors().await,
        "error-mid-batch" => error_mid_batch().await,
        "cancel" => cancel().await,
        "query-timeout" => query_timeout().await,
        "large-values" => large_values().await,
        "bulk-copy" => bulk_copy().await,
        "table-valued-parameters" => table_valued_parameters().await,
        "time-zones" => time_zones().await,
        "metadata" => metadata().await,
        other => Err(Failure::Other(format!("no scenario {other}"))),
    }
}

fn int(n: i32) -> ColumnData<'static> {
    ColumnData::I32(Some(n))
}

fn text(s: &str) -> ColumnData<'static> {
    ColumnData::String(Some(s.to_owned().into()))
}

async fn connects() -> Result {
    let mut connection = open().await?;
    equal(scalar(&mut connection, "SELECT 1").await?, int(1), "SELECT 1");
    equal(scalar(&mut connection, "SELECT DB_NAME()").await?, text(DATABASE), "DB_NAME()");
    let version = scalar(&mut connection, "SELECT @@VERSION").await?;
    check(
        matches!(&version, ColumnData::String(Some(s)) if s.len() > 10),
        format!("@@VERSION: {version:?}"),
    );
    let mut second = open().await?;
    let spid = scalar(&mut connection, "SELECT @@SPID").await?;
    check(spid != scalar(&mut second, "SELECT @@SPID").await?, "two connections have one @@SPID");
    second.close().await?;
    equal(scalar(&mut connection, "SELECT @@SPID").await?, spid, "@@SPID after the other closed");
    Ok(())
}

async fn encryption() -> Result {
    match connect(config("master", &env("PASSWORD"), false)).await {
        Ok(_) => problem("without the certificate: connected all the same".into()),
        Err(Failure::Client(Error::Tls(_))) => {}
        Err(other) => problem(format!("without the certificate: {other:?}")),
    }
    let option = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";
    let mut login = config(DATABASE, &env("PASSWORD"), true);
    login.encryption(tiberius::EncryptionLevel::Off);
    let mut login = connect(login).await?;
    equal(scalar(&mut login, "SELECT 1").await?, int(1), "encryption of the login alone");
    equal(scalar(&mut open().await?, option).await?, text("TRUE"), "encrypt_option");
    equal(scalar(&mut login, option).await?, text("FALSE"), "encrypt_option, login alone");
    Ok(())
}

async fn wrong_password() -> Result {
    refused(18456, "wrong password", connect(config("master", "not-it", true)).await);
    refused(18456, "empty password", connect(config("master", "", true)).await);
    equal(scalar(&mut open().await?, "SELECT 1").await?, int(1), "the next login");
    Ok(())
}

async fn unknown_database() -> Result {
    refused(
        4060,
        "unknown database",
        connect(config("no_such_database", &env("PASSWORD"), true)).await,
    );
    let mut connection = open().await?;
    refused(911, "USE of an unknown database", run(&mut connection, "USE no_such_database").await);
    equal(
        scalar(&mut connection, "SELECT DB_NAME()").await?,
        text(DATABASE),
        "DB_NAME() after the refusal",
    );
    Ok(())
}

async fn types() -> Result {
    let mut connection = open().await?;
    for ty in values::types() {
        note(&ty.name, type_from_server(&mut connection, &ty).await);
    }
    Ok(())
}

async fn type_from_server(connection: &mut Connection, ty: &Type) -> Result {
    let name = &ty.name;
    for case in &ty.values {
        let got = scalar(connection, &format!("SELECT CAST({} AS {name}) AS v", case.sql)).await?;
        let good = values::same(ty, &case.text, &got);
        check(good, format!("{name} CAST: expected {}, got {}", short(&case.text), short(&got)));
    }
    run(connection, "DROP TABLE IF EXISTS dbo.typed").await?;
    run(
        connection,
        &format!("CREATE TABLE dbo.typed (id int NOT NULL PRIMARY KEY, v {name} NULL)"),
    )
    .await?;
    for (n, case) in ty.values.iter().enumerate() {
        run(connection, &format!("INSERT INTO dbo.typed (id, v) VALUES ({n}, {})", case.sql))
            .await?;
    }
    run(connection, "INSERT INTO dbo.typed (id, v) VALUES (1000, NULL)").await?;
    let got = rows(connection, "SELECT v FROM dbo.typed ORDER BY id", vec![]).await?;
    equal(got.len(), ty.values.len() + 1, format!("{name}: rows in the table"));
    let got: Vec<_> = got.into_iter().filter_map(|row| row.into_iter().next()).collect();
    for (case, got) in ty.values.iter().zip(&got) {
        let good = values::same(ty, &case.text, got);
        check(good, format!("{name} column: expected {}, got {}", short(&case.text), short(got)));
    }
    check(got.last().is_some_and(values::is_null), format!("{name}: NULL"));
    Ok(())
}

async fn parameters() -> Result {
    let mut connection = open().await?;
    for ty in values::types() {
        note(&ty.name, type_to_server(&mut connection, &ty).await);
    }
    let got = rows(
        &mut connection,
        "SELECT @P1 + @P2, @P3, @P4",
        vec![int(40), int(2), text("x'y😀"), ColumnData::String(None)],
    )
    .await?;
    let got: Vec<ColumnData<'static>> = got.into_iter().flatten().collect();
    equal(got, vec![int(42), text("x'y😀"), ColumnData::String(None)], "several parameters");
    Ok(())
}

async fn type_to_server(connection: &mut Connection, ty: &Type) -> Result {
    let name = &ty.name;
    run(connection, "DROP TABLE IF EXISTS dbo.sent").await?;
    run(connection, &format!("CREATE TABLE dbo.sent (id int NOT NULL PRIMARY KEY, v {name} NULL)"))
        .await?;
    let insert = "INSERT INTO dbo.sent (id, v) VALUES (@P1, @P2)";
    for (n, case) in ty.values.iter().enumerate() {
        // A float has no room for all of money's digits; and the client counts the 0 before the point of a
        // decimal(38,38) as a digit, which makes a precision of 39.
        if ty.kind == "money" && case.text.len() > 17 || name == "decimal(38,38)" {
            continue;
        }
        let what = format!("{name} {}", short(&case.text));
        let sent =
            execute(connection, insert, vec![int(n as i32), values::value(ty, &case.text)]).await;
        if note(&what, sent).is_none() {
            continue;
        }
        let sql = format!(
            "SELECT v, CASE WHEN v = CAST({} AS {name}) THEN 1 ELSE 0 END FROM dbo.sent WHERE id = @P1",
            case.sql
        );
        let got: Vec<ColumnData<'static>> =
            rows(connection, &sql, vec![int(n as i32)]).await?.into_iter().flatten().collect();
        check(
            got.first().is_some_and(|got| values::same(ty, &case.text, got)),
            format!("{what}: got back {}", short(&got)),
        );
        check(got.get(1) == Some(&int(1)), format!("{what}: not equal on the server"));
    }
    execute(connection, insert, vec![int(1000), values::null(ty)]).await?;
    let left = scalar(connection, "SELECT COUNT(*) FROM dbo.sent WHERE v IS NULL").await?;
    equal(left, int(1), format!("{name}: NULL sent"));
    Ok(())
}

async fn output_parameters() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "out_params").await?;
    fixture(&mut connection, "out_and_rows").await?;
    let mut call = Command::new("dbo.out_params");
    call.bind_param("@a", 21i32);
    call.bind_out_param("@b", 0i32);
    call.bind_out_param("@s", "abc");
    call.bind_out_param("@d", tiberius::numeric::Numeric::new_with_scale(0, 3));
    let got = call.exec(&mut connection).await?.into_command_result().await?;
    equal(got.return_code(), 42, "return status");
    equal(got.try_return_value::<i32>("@b")?, Some(42), "int output");
    equal(got.try_return_value::<&str>("@s")?, Some("abc 😀"), "nvarchar output");
    let decimal = got.try_return_value::<tiberius::numeric::Numeric>("@d")?;
    equal(decimal.map(|d| (d.value(), d.scale())), Some((1_234_567_891, 3)), "decimal output");
    let mut call = Command::new("dbo.out_and_rows");
    call.bind_out_param("@n", 0i32);
    let got = call.exec(&mut connection).await?.into_command_result().await?;
    equal(got.return_code() as i32, -3, "return status after results");
    equal(got.try_return_value::<i32>("@n")?, Some(7), "output after results");
    equal(got.to_query_result(0).map(Vec::len), Some(2), "rows of the first result");
    equal(got.to_query_result(1).map(Vec::len), Some(1), "rows of the second result");
    Ok(())
}

/// The client has no handle for a prepared statement; the same text again is the same statement to the server.
async fn prepared() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "everything").await?;
    let insert = "INSERT INTO dbo.everything (id, n, s) VALUES (@P1, @P2, @P3)";
    for n in 0..100 {
        let row = vec![
            int(n),
            ColumnData::I64(Some(i64::from(n) * 1_000_000_000_000)),
            text(&format!("row {n} Ω")),
        ];
        equal(execute(&mut connection, insert, row).await?, 1, format!("rows of insert {n}"));
    }
    refused(
        2627,
        "a duplicate",
        execute(&mut connection, insert, vec![int(1), ColumnData::I64(None), text("x")]).await,
    );
    for n in 0..100 {
        let got =
            rows(&mut connection, "SELECT n, s FROM dbo.everything WHERE id = @P1", vec![int(n)])
                .await?;
        let got: Vec<ColumnData<'static>> = got.into_iter().flatten().collect();
        let want = vec![
            ColumnData::I64(Some(i64::from(n) * 1_000_000_000_000)),
            text(&format!("row {n} Ω")),
        ];
        equal(got, want, format!("row {n}"));
    }
    Ok(())
}

async fn balance(connection: &mut Connection) -> Result<i128> {
    match scalar(connection, "SELECT balance FROM dbo.account WHERE id = 1").await? {
        ColumnData::Numeric(Some(n)) => Ok(n.value()),
        other => Err(Failure::Other(format!("a balance: {other:?}"))),
    }
}

async fn transactions() -> Result {
    let (mut connection, mut other) = (open().await?, open().await?);
    fixture(&mut connection, "account").await?;
    let add = "UPDATE dbo.account SET balance = balance + 1 WHERE id = 1";
    connection.begin_transaction().await?;
    equal(execute(&mut connection, add, vec![]).await?, 1, "rows updated");
    equal(scalar(&mut connection, "SELECT @@TRANCOUNT").await?, int(1), "@@TRANCOUNT");
    connection.rollback_transaction().await?;
    equal(balance(&mut other).await?, 1_000_000, "after rollback");
    connection.begin_transaction().await?;
    execute(&mut connection, add, vec![]).await?;
    connection.commit_transaction().await?;
    equal(balance(&mut other).await?, 1_010_000, "after commit");
    connection.begin_transaction().await?;
    run(&mut connection, "DELETE FROM dbo.account").await?;
    drop(connection);
    equal(
        scalar(&mut other, "SELECT COUNT(*) FROM dbo.account").await?,
        int(3),
        "rows after a close without commit",
    );
    for sql in ["BEGIN TRANSACTION", "DELETE FROM dbo.account", "ROLLBACK TRANSACTION"] {
        run(&mut other, sql).await?;
    }
    equal(
        scalar(&mut other, "SELECT COUNT(*) FROM dbo.account").await?,
        int(3),
        "rows after ROLLBACK TRANSACTION",
    );
    Ok(())
}

async fn savepoints() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "account").await?;
    connection.begin_transaction().await?;
    run(&mut connection, "UPDATE dbo.account SET balance = 1 WHERE id = 1").await?;
    // `save_transaction` gives the name's length in characters where the protocol wants bytes.
    run(&mut connection, "SAVE TRANSACTION here").await?;
    run(&mut connection, "UPDATE dbo.account SET balance = 2 WHERE id = 1").await?;
    run(&mut connection, "INSERT INTO dbo.account (id, owner) VALUES (9, N'Gone')").await?;
    run(&mut connection, "ROLLBACK TRANSACTION here").await?;
    equal(
        scalar(&mut connection, "SELECT COUNT(*) FROM dbo.account").await?,
        int(3),
        "rows after going back",
    );
    connection.commit_transaction().await?;
    equal(balance(&mut connection).await?, 10_000, "what was before the save point");
    Ok(())
}

async fn isolation_levels() -> Result {
    let (mut connection, mut other) = (open().await?, open().await?);
    fixture(&mut connection, "account").await?;
    run(&mut connection, &format!("ALTER DATABASE {DATABASE} SET ALLOW_SNAPSHOT_ISOLATION ON"))
        .await?;
    let seen = "SELECT CAST(transaction_isolation_level AS int) FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
    for (n, level) in [
        IsolationLevel::ReadUncommitted,
        IsolationLevel::ReadCommitted,
        IsolationLevel::RepeatableRead,
        IsolationLevel::Serializable,
        IsolationLevel::Snapshot,
    ]
    .into_iter()
    .enumerate()
    {
        let what = format!("level {}", n + 1);
        connection.begin_transaction_with_isolation(level).await?;
        equal(balance(&mut connection).await?, 1_000_000, &what);
        if let Some(got) = note(&what, scalar(&mut connection, seen).await) {
            equal(got, int(n as i32 + 1), format!("{what}: as the server sees it"));
        }
        connection.commit_transaction().await?;
    }
    connection.begin_transaction_with_isolation(IsolationLevel::Snapshot).await?;
    balance(&mut connection).await?;
    run(&mut other, "UPDATE dbo.account SET balance = 7 WHERE id = 1").await?;
    equal(balance(&mut connection).await?, 1_000_000, "SNAPSHOT reads what was");
    let late = run(&mut connection, "UPDATE dbo.account SET balance = 8 WHERE id = 1").await;
    refused(3960, "an update of what changed since", late);
    // The server rolled the transaction back; the client's descriptor went with it.
    run(&mut connection, "IF @@TRANCOUNT > 0 ROLLBACK").await?;
    connection.begin_transaction_with_isolation(IsolationLevel::Serializable).await?;
    let range =
        scalar(&mut connection, "SELECT COUNT(*) FROM dbo.account WHERE id BETWEEN 1 AND 50")
            .await?;
    equal(range, int(3), "rows of the range");
    run(&mut other, "SET LOCK_TIMEOUT 200").await?;
    let phantom =
        run(&mut other, "INSERT INTO dbo.account (id, owner) VALUES (20, N'Phantom')").await;
    refused(1222, "a writer under SERIALIZABLE", phantom);
    connection.commit_transaction().await?;
    Ok(())
}

async fn result_sets() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "account").await?;
    let got = run(&mut connection, "SELECT 1 AS a; SELECT N'x' AS b, 2 AS c WHERE 1 = 0; SELECT id, owner FROM dbo.account ORDER BY id").await?;
    equal(got.iter().map(Vec::len).collect::<Vec<_>>(), vec![1, 0, 3], "rows of three results");
    let last: Vec<ColumnData<'static>> = got.into_iter().flatten().flatten().collect();
    let want = vec![int(1), int(1), text("Ann"), int(2), text("Bob"), int(3), text("Çelik 😀")];
    equal(last, want, "values of three results");
    let two = "UPDATE dbo.account SET balance = 0 WHERE id <= 2; UPDATE dbo.account SET balance = 0 WHERE id = 77";
    let counts = tiberius::Query::new(two).execute(&mut connection).await?;
    equal(counts.rows_affected().to_vec(), vec![2, 0], "row counts");
    let many = rows(
        &mut connection,
        "SELECT TOP 5000 ROW_NUMBER() OVER (ORDER BY a.id) AS n FROM dbo.account a, dbo.account b, dbo.account c, dbo.account d, dbo.account e, dbo.account f, dbo.account g, dbo.account h",
        vec![],
    )
    .await?;
    let sum: i64 = many.iter().filter_map(|row| row.get::<i64, _>(0)).sum();
    equal((many.len(), sum), (5000, 12_502_500), "a long result");
    Ok(())
}

/// The client logs messages and does not give them to the program: they must not disturb what it gives.
async fn messages() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "says").await?;
    let got = run(&mut connection, "EXEC dbo.says; SELECT 1 AS a; PRINT N'after'").await?;
    let got: Vec<ColumnData<'static>> = got.into_iter().flatten().flatten().collect();
    equal(got, vec![int(1)], "a result among messages");
    Ok(())
}

async fn errors() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "account").await?;
    fixture(&mut connection, "fails").await?;
    for (sql, number, severity, state, line, procedure, part) in [
        ("EXEC dbo.fails", 50000, 15, 7, 4, "fails", "boom 42"),
        ("\n\nSELECT 1/0 AS x", 8134, 16, 1, 3, "", "Divide by zero"),
        ("SELECT *\nFROM dbo.nothing_here", 208, 16, 1, 2, "", "nothing_here"),
        (
            "INSERT INTO dbo.account (id, owner) VALUES (1, N'again')",
            2627,
            14,
            1,
            1,
            "",
            "pk_account",
        ),
        ("SELEC * FROM t", 102, 15, 1, 1, "", "*"),
        ("THROW 51234, N'thrown Ω', 9", 51234, 16, 9, 1, "", "thrown Ω"),
    ] {
        match run(&mut connection, sql).await {
            Err(Failure::Client(Error::Server(error))) => {
                let named = error.procedure().rsplit('.').next().unwrap_or_default();
                let got = (error.code(), error.class(), error.state(), error.line(), named);
                equal(got, (number, severity, state, line, procedure), sql);
                check(error.message().contains(part), format!("{sql}: text {:?}", error.message()));
            }
            other => problem(format!("{sql}: expected an error, got {}", short(&other))),
        }
    }
    equal(scalar(&mut connection, "SELECT 1").await?, int(1), "after the errors");
    Ok(())
}

async fn error_mid_batch() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "account").await?;
    let batch = "SELECT 1 AS a; INSERT INTO dbo.account (id, owner) VALUES (1, N'twice'); INSERT INTO dbo.account (id, owner) VALUES (5, N'after'); SELECT 2 AS b";
    refused(2627, "the batch", run(&mut connection, batch).await);
    let count = scalar(&mut connection, "SELECT COUNT(*) FROM dbo.account").await?;
    equal(count, int(4), "the batch went on after the error");
    refused(
        245,
        "a conversion that fails",
        run(&mut connection, "SELECT CONVERT(int, N'x') AS x").await,
    );
    equal(scalar(&mut connection, "SELECT 1").await?, int(1), "after");
    Ok(())
}

const SLOW: &str = "WAITFOR DELAY '00:00:20'";

/// `cancel_query` looks for the acknowledgement in the answer that it cancels; SQL Server sends it afterwards, in a message
/// of its own. What a program can do is to give the connection up: the statement must stop, and its locks go.
async fn cancel() -> Result {
    let (mut connection, mut other) = (open().await?, open().await?);
    fixture(&mut connection, "account").await?;
    connection.begin_transaction().await?;
    run(&mut connection, "UPDATE dbo.account SET balance = 5 WHERE id = 1").await?;
    let waited = timeout(Duration::from_millis(300), run(&mut connection, SLOW)).await;
    check(waited.is_err(), "the statement did not wait");
    drop(connection);
    run(&mut other, "SET LOCK_TIMEOUT 1000").await?;
    run(&mut other, "UPDATE dbo.account SET balance = 6 WHERE id = 1").await?;
    let mut connection = open().await?;
    let tables: Vec<String> = (0..16).map(|n| format!("dbo.account t{n}")).collect();
    let sql = format!("SELECT t1.owner FROM {} WITH (TABLOCKX)", tables.join(", "));
    let mut stream = connection.simple_query(&sql).await?;
    check(stream.columns().await?.is_some(), "a result begins");
    drop(stream);
    drop(connection);
    run(&mut other, "UPDATE dbo.account SET balance = 7 WHERE id = 1").await?;
    Ok(())
}

async fn query_timeout() -> Result {
    drop(open().await?);
    let mut patience = config(DATABASE, &env("PASSWORD"), true);
    patience.command_timeout(Some(Duration::from_secs(1)));
    let mut connection = connect(patience).await?;
    let start = Instant::now();
    check(run(&mut connection, SLOW).await.is_err(), "the statement did not time out");
    let took = start.elapsed();
    check(took < Duration::from_secs(10), format!("time-out took {took:?}"));
    // The client gives the connection up.
    equal(scalar(&mut open().await?, "SELECT 1").await?, int(1), "another connection");
    Ok(())
}

async fn large_values() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "blob").await?;
    const SIZE: usize = 1 << 20;
    let (ascii, wide) = ("0123456789abcdef".repeat(SIZE / 16), "Ωμέγα😀 ".repeat(65_536));
    let binary: Vec<u8> = (0..SIZE).map(|n| n as u8).collect();
    let insert = "INSERT INTO dbo.blob (id, v, n, b) VALUES (1, @P1, @P2, @P3)";
    execute(
        &mut connection,
        insert,
        vec![text(&ascii), text(&wide), ColumnData::Binary(Some(binary.clone().into()))],
    )
    .await?;
    let sql = "SELECT v, n, b, CAST(DATALENGTH(v) AS int), CAST(DATALENGTH(n) AS int), CAST(DATALENGTH(b) AS int) FROM dbo.blob";
    let got: Vec<ColumnData<'static>> =
        rows(&mut connection, sql, vec![]).await?.into_iter().flatten().collect();
    check(got.first() == Some(&text(&ascii)), "varchar(max)");
    check(got.get(1) == Some(&text(&wide)), "nvarchar(max)");
    check(got.get(2) == Some(&ColumnData::Binary(Some(binary.into()))), "varbinary(max)");
    equal(
        got[3..].to_vec(),
        vec![int(SIZE as i32), int(65_536 * 16), int(SIZE as i32)],
        "DATALENGTH",
    );
    execute(&mut connection, "UPDATE dbo.blob SET v = NULL, n = @P1, b = 0x", vec![text("")])
        .await?;
    let got: Vec<ColumnData<'static>> =
        rows(&mut connection, "SELECT v, n, b FROM dbo.blob", vec![])
            .await?
            .into_iter()
            .flatten()
            .collect();
    equal(
        got,
        vec![ColumnData::String(None), text(""), ColumnData::Binary(Some(Vec::new().into()))],
        "NULL and empty",
    );
    let big =
        scalar(&mut connection, "SELECT REPLICATE(CAST('y' AS varchar(max)), 3000000)").await?;
    check(matches!(&big, ColumnData::String(Some(s)) if s.len() == 3_000_000), "3 MB");
    Ok(())
}

fn bulk_row(n: i32) -> Vec<ColumnData<'static>> {
    let m = (n % 10 != 9).then_some(n);
    let moment = |n: i32| {
        let day = tiberius::time::Date::new(738_944);
        tiberius::time::DateTime2::new(day, tiberius::time::Time::new(43_200_000 + n as u64, 3))
    };
    vec![
        int(n),
        ColumnData::I64(m.map(|n| i64::from(n) * 10_000_000_000)),
        ColumnData::Numeric(
            m.map(|n| tiberius::numeric::Numeric::new_with_scale(i128::from(n) * 2500, 4)),
        ),
        ColumnData::F64(m.map(|n| f64::from(n) / 8.0)),
        ColumnData::Bit(m.map(|n| n % 2 == 0)),
        ColumnData::String(m.map(|n| format!("Ω {n}").into())),
        ColumnData::String(m.map(|n| format!("v{n}").into())),
        ColumnData::Binary(m.map(|n| vec![n as u8; n as usize % 20].into())),
        ColumnData::DateTime2(m.map(moment)),
        ColumnData::Guid(m.map(|n| Uuid::from_u128(n as u128))),
    ]
}

async fn bulk_copy() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "everything").await?;
    let mut load = connection.bulk_insert("dbo.everything").await?;
    for n in 0..1000 {
        let mut row = TokenRow::with_capacity(10);
        bulk_row(n).into_iter().for_each(|value| row.push(value));
        load.send(row).await?;
    }
    equal(load.finalize().await?.total(), 1000, "rows of the load");
    let got = rows(
        &mut connection,
        "SELECT id, n, d, f, b, s, v, x, t, g FROM dbo.everything ORDER BY id",
        vec![],
    )
    .await?;
    equal(got.len(), 1000, "rows after the load");
    for (n, row) in got.into_iter().enumerate() {
        let row: Vec<ColumnData<'static>> = row.into_iter().collect();
        let want = bulk_row(n as i32);
        if row != want {
            problem(format!("row {n}: expected {want:?}, got {row:?}"));
            break;
        }
    }
    let options = SqlBulkCopyOption::CheckConstraints | SqlBulkCopyOption::TableLock;
    let mut load =
        connection.bulk_insert_with_options("dbo.everything", &["id", "s"], options, &[]).await?;
    for n in [5000, 1] {
        load.send((n, "again").into_row()).await?;
    }
    refused(2627, "a load of a duplicate", load.finalize().await.map_err(Failure::from));
    equal(
        scalar(&mut connection, "SELECT COUNT(*) FROM dbo.everything").await?,
        int(1000),
        "rows after a load that failed",
    );
    Ok(())
}

#[derive(tiberius::TableValueRow)]
struct Item {
    id: i32,
    name: Option<String>,
}

async fn table_valued_parameters() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "id_list").await?;
    let mut list: Vec<Item> =
        (0..500).map(|id| Item { id, name: Some(format!("name {id:03}")) }).collect();
    list.push(Item { id: 500, name: None });
    for (list, want) in [
        (list, vec![int(501), int(125_250), text("name 499")]),
        (Vec::new(), vec![int(0), ColumnData::I32(None), ColumnData::String(None)]),
    ] {
        let mut call = Command::new("dbo.take_list");
        call.bind_table_with_dbtype("@rows", "dbo.id_list", list);
        let got = call.exec(&mut connection).await?.into_command_result().await?;
        let got: Vec<ColumnData<'static>> = got.into_iter().flatten().flatten().collect();
        equal(got, want, "a table of rows");
    }
    Ok(())
}

async fn time_zones() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "moments").await?;
    let ty = values::types().into_iter().find(|ty| ty.name == "datetimeoffset(3)");
    let ty = ty.ok_or_else(|| Failure::Other("types.json has no datetimeoffset(3)".into()))?;
    for (n, zone) in
        ["+00:00", "+01:00", "+05:30", "-08:00", "+14:00", "-14:00", "-00:01", "+05:45"]
            .into_iter()
            .enumerate()
    {
        let said = format!("2024-03-31 01:59:59.123 {zone}");
        let value = values::value(&ty, &said);
        execute(
            &mut connection,
            "INSERT INTO dbo.moments (id, o) VALUES (@P1, @P2)",
            vec![int(n as i32), value.clone()],
        )
        .await?;
        let sql = "SELECT o, CAST(SWITCHOFFSET(o, '+00:00') AS datetime2(3)), CAST(DATEPART(tz, o) AS int) FROM dbo.moments WHERE id = @P1";
        let got: Vec<ColumnData<'static>> =
            rows(&mut connection, sql, vec![int(n as i32)]).await?.into_iter().flatten().collect();
        let ColumnData::DateTimeOffset(Some(moment)) = &value else { continue };
        let want = vec![
            value.clone(),
            ColumnData::DateTime2(Some(moment.datetime2())),
            int(moment.offset().into()),
        ];
        equal(got, want, said);
    }
    Ok(())
}

async fn metadata() -> Result {
    let mut connection = open().await?;
    fixture(&mut connection, "family").await?;
    let mut stream = connection.query("SELECT a, b, c, a + 1 AS e FROM dbo.parent", &[]).await?;
    let columns: Vec<String> = stream
        .columns()
        .await?
        .unwrap_or_default()
        .iter()
        .map(|column| format!("{} {:?}", column.name(), column.column_type()))
        .collect();
    stream.into_results().await?;
    equal(
        columns,
        ["a Int4", "b NVarchar", "c Decimaln", "e Int4"].map(String::from).to_vec(),
        "columns",
    );
    let described = connection.column_metadata("dbo.parent", &["a", "b", "c"]).await?;
    equal(described.len(), 3, "column_metadata");
    let names = rows(
        &mut connection,
        "SELECT name FROM sys.tables WHERE name IN (N'parent', N'child') ORDER BY name",
        vec![],
    )
    .await?;
    let names: Vec<ColumnData<'static>> = names.into_iter().flatten().collect();
    equal(names, vec![text("child"), text("parent")], "sys.tables");
    Ok(())
}
