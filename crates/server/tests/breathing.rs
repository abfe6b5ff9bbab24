//! While one session is deep in a long loop, its neighbours on the same scheduler go on, and KILL ends it.
//!
//! Each text here keeps a server busy for seconds in one place: a text that is read, bound, searched, hashed, parsed.
//! The server has one scheduler. What is counted are the neighbour's answers between the beginning and the end; what is
//! measured is only that the end comes long before the work would be done.

mod support;

use server::Limits;
use std::time::{Duration, Instant};
use support::{Served, serve_on};
use types::Value;

/// What is to run, and its name.
const LONG: &[(&str, &str)] = &[
    ("patindex", "SELECT PATINDEX('%' + REPLICATE('a', 4000) + 'b%', REPLICATE(CAST('a' AS varchar(max)), 4000000))"),
    ("like", "SELECT 1 WHERE REPLICATE(CAST('a' AS varchar(max)), 4000000) LIKE '%' + REPLICATE('a', 4000) + 'b'"),
    ("replicate", "SELECT LEN(REPLICATE(CAST('x' AS varchar(max)), 250000000))"),
    ("replace", "SELECT LEN(REPLACE(REPLICATE(CAST('xy' AS varchar(max)), 60000000), 'y', 'z'))"),
    ("reverse", "SELECT LEN(REVERSE(UPPER(REPLICATE(CAST('xy' AS varchar(max)), 100000000))))"),
    ("charindex", "SELECT CHARINDEX('xyxz', REPLICATE(CAST('xy' AS varchar(max)), 100000000))"),
    ("translate", "SELECT LEN(TRANSLATE(REPLICATE(CAST('xy' AS varchar(max)), 60000000), 'xy', 'ab'))"),
    ("compare", "SELECT 1 WHERE REPLICATE(CAST('x' AS varchar(max)), 200000000) = REPLICATE(CAST('X' AS varchar(max)), 200000000)"),
    ("hash", "SELECT HASHBYTES('SHA2_512', REPLICATE(CAST('x' AS varchar(max)), 250000000))"),
    ("checksum", "SELECT CHECKSUM(REPLICATE(CAST('x' AS varchar(max)), 200000000))"),
    ("compress", "SELECT DATALENGTH(COMPRESS(REPLICATE(CAST('xyz' AS varchar(max)), 80000000)))"),
    ("json", "SELECT ISJSON('[' + REPLICATE(CAST('1,' AS varchar(max)), 60000000) + '1]')"),
    ("xml", "SELECT DATALENGTH(CAST(REPLICATE(CAST('<a b=\"1\">c</a>' AS varchar(max)), 2000000) AS xml))"),
    (
        "xquery",
        "DECLARE @x xml = REPLICATE(CAST('<a>1</a>' AS varchar(max)), 4000);
         SELECT @x.query('for $a in a, $b in a where $a = $b return $b')",
    ),
    ("parse", "DECLARE @t nvarchar(max) = REPLICATE(CAST('SELECT 1 + 2 ' AS nvarchar(max)), 3000000) + '!'; EXEC (@t)"),
    (
        "bind",
        "DECLARE @t nvarchar(max) = 'SELECT 1 WHERE 1 IN (' + REPLICATE(CAST('1+@@SPID,' AS nvarchar(max)), 1500000) + '1)';
         EXEC (@t)",
    ),
];

fn spid(client: &mut support::Client<std::net::TcpStream>) -> i16 {
    let answer = client.query("SELECT @@SPID");
    let Value::SmallInt(spid) = answer.rows[0][0] else { panic!("a smallint") };
    spid
}

/// Runs a text, and its neighbour beside it; the neighbour's answers, and how the text ended.
fn beside(served: &Served, text: &str) -> (usize, Vec<i32>, Duration) {
    let mut busy = served.client();
    let number = spid(&mut busy);
    let mut neighbour = served.client();
    busy.writer.batch(text);
    busy.send();
    let begun = Instant::now();
    let runs = format!("SELECT 1 FROM sys.dm_exec_requests WHERE session_id = {number}");
    let mut answers = 0;
    while begun.elapsed() < Duration::from_millis(300) {
        // Once it is over, there is nothing to get through beside.
        if neighbour.query(&runs).rows.is_empty() && answers > 0 {
            break;
        }
        answers += 1;
    }
    let killed = Instant::now();
    neighbour.query(&format!("KILL {number}"));
    let errors = busy.answer().map(|answer| answer.errors()).unwrap_or_default();
    (answers, errors, killed.elapsed())
}

#[test]
fn neighbours_get_through_and_kill_ends_what_is_long() {
    let served = serve_on(vec![0], Limits::default());
    for (name, text) in LONG {
        let (answers, errors, took) = beside(&served, text);
        // Where nothing breathes, the first answer comes when all is over.
        assert!(answers >= 2, "{name}: {answers} answers beside it");
        assert_eq!(errors.last(), Some(&596), "{name}: it ended by itself: make it longer");
        // Generous, for machines under load: none of these ends within seconds by itself.
        assert!(took < Duration::from_secs(5), "{name}: it went on for {took:?}");
    }
}

/// What is made before, and what then has many rows to do.
const ROWS: &[(&str, &str, &str)] = &[
    ("insert of its own rows", "", "INSERT #t SELECT a, b FROM #t"),
    ("update of all rows", "", "UPDATE #t SET b = b + (SELECT MAX(x.b) FROM #t x)"),
    ("rollback", "BEGIN TRAN INSERT #t SELECT a, b FROM #t", "ROLLBACK"),
    ("commit", "BEGIN TRAN INSERT #t SELECT a, b FROM #t UPDATE #t SET b = 1", "COMMIT"),
    ("drop", "INSERT #t SELECT a, b FROM #t", "DROP TABLE #t"),
    ("new column", "", "ALTER TABLE #t ADD c int NOT NULL DEFAULT 1"),
    ("new computed column", "", "ALTER TABLE #t ADD c AS b + 1"),
    ("new check", "", "ALTER TABLE #t ADD CHECK (b > 0)"),
    ("rows of a batch", "", "INSERT #t EXEC ('SELECT a, b FROM #t')"),
];

#[test]
fn rows_of_private_tables_let_neighbours_through() {
    let served = serve_on(vec![0], Limits::default());
    for (name, before, text) in ROWS {
        let mut busy = served.client();
        let number = spid(&mut busy);
        let made = "CREATE TABLE #t (a varchar(100), b int)
             INSERT #t SELECT TOP (300000) REPLICATE('x', 50), 1 FROM sys.all_columns x, sys.all_columns y";
        for sql in [made, before] {
            assert_eq!(busy.query(sql).errors(), [0; 0], "{name}");
        }
        let mut neighbour = served.client();
        let runs = format!("SELECT 1 FROM sys.dm_exec_requests WHERE session_id = {number}");
        busy.writer.batch(text);
        busy.send();
        let mut answers = 0;
        while !neighbour.query(&runs).rows.is_empty() || answers == 0 {
            answers += 1;
        }
        let errors = busy.answer().map(|answer| answer.errors()).unwrap_or_default();
        assert_eq!(errors, [0; 0], "{name}");
        // Where nothing breathes, the first answer comes when all is over.
        assert!(answers >= 3, "{name}: {answers} answers beside it");
    }
}

#[test]
fn long_texts_take_time_in_proportion_to_their_length() {
    let served = serve_on(vec![0], Limits::default());
    let mut client = served.client();
    // Each is seconds to minutes where a loop stands within a loop.
    let texts = [
        "DECLARE @n int = 0, @l nvarchar(max) = '';
         WHILE @n < 20000 BEGIN SET @l += CONCAT(',[', @n, ']'); SET @n += 1 END
         DECLARE @t nvarchar(max) = 'SELECT COUNT(*) FROM (SELECT 1 AS a, 2 AS b) s PIVOT (MAX(a) FOR b IN (' +
           STUFF(@l, 1, 1, '') + ')) p';
         EXEC (@t)",
        "DECLARE @n int = 0, @l varchar(max) = '';
         WHILE @n < 50000 BEGIN SET @l += CONCAT(' a', @n, '=\"1\"'); SET @n += 1 END
         SELECT DATALENGTH(CAST('<e' + @l + '/>' AS xml))",
        "DECLARE @n int = 0, @l varchar(max) = '';
         WHILE @n < 20000 BEGIN SET @l += CONCAT(' xmlns:p', @n, '=\"u\" p', @n, ':a', @n, '=\"1\"'); SET @n += 1 END
         SELECT DATALENGTH(CAST('<e' + @l + '/>' AS xml))",
        "SELECT PATINDEX('%a%a%a%Z%', REPLICATE(CAST('a' AS varchar(max)), 1000000))",
        "SELECT PATINDEX('%x ', REPLICATE(CAST(' ' AS varchar(max)), 1000000) + 'y')",
        "SELECT LEN(LTRIM(REPLICATE(CAST('a' AS varchar(max)), 4000000), REPLICATE('b', 8000) + 'a'))",
    ];
    for text in texts {
        let begun = Instant::now();
        assert_eq!(client.query(text).errors(), [0; 0], "{text}");
        assert!(begun.elapsed() < Duration::from_secs(15), "{text}: {:?}", begun.elapsed());
    }
}

#[test]
fn an_administrator_gets_through_on_a_thread_of_its_own() {
    let served = serve_on(vec![0], Limits::default());
    let address = served.server.admin_address().expect("it listens");
    let mut admin = served.client_at(address);
    assert_eq!(admin.query("SELECT 1").rows, [[Value::Int(1)]]);
    // And is told so: its endpoint, its scheduler, and its task there.
    let mine = "SELECT s.endpoint_id, c.endpoint_id, c.node_affinity FROM sys.dm_exec_sessions AS s
        JOIN sys.dm_exec_connections AS c ON c.session_id = s.session_id WHERE s.session_id = @@SPID";
    let told =
        |endpoint, node| [[Value::Int(endpoint), Value::Int(endpoint), Value::SmallInt(node)]];
    assert_eq!(admin.query(mine).rows, told(1, 64));
    assert_eq!(served.client().query(mine).rows, told(4, 0));
    let place = "SELECT COUNT(*) FROM sys.dm_os_tasks AS t
        JOIN sys.dm_os_schedulers AS s ON s.scheduler_id = t.scheduler_id
        JOIN sys.dm_os_nodes AS n ON n.node_id = s.parent_node_id
        WHERE t.session_id = @@SPID AND t.task_state = 'RUNNING' AND s.scheduler_id = 1048576
        AND s.status = 'VISIBLE ONLINE (DAC)' AND s.parent_node_id = 64 AND n.node_state_desc = 'ONLINE DAC'";
    assert_eq!(admin.query(place).rows, [[Value::Int(1)]]);
    let open = "SELECT COUNT(*) FROM sys.endpoints WHERE state_desc = 'STARTED'";
    assert_eq!(admin.query(open).rows, [[Value::Int(3)]]);
    // One at a time.
    let mut second = served.raw_client(address);
    assert_eq!(second.log_in(&support::login()).errors(), [17810]);
    // Sysadmins only.
    let sql = "CREATE LOGIN visitor WITH PASSWORD = 'Mill.race.2'";
    assert_eq!(admin.query(sql).errors(), [0; 0]);
    drop(admin);
    let visitor = tds::login7::Login7 {
        user: "visitor".into(),
        password: tds::login7::Password::new("Mill.race.2"),
        ..support::login()
    };
    support::eventually("the first has left", || {
        let mut other = served.raw_client(address);
        let answer = other.log_in(&support::login());
        answer.is_login()
    });
    let mut other = served.raw_client(address);
    assert_eq!(other.log_in(&visitor).errors(), [18456]);
}
