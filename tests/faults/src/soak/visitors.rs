//! Users who come, leave a mess, and go without a word; and what of it is left when they are gone.

use crate::server::{Desk, Door};
use std::sync::atomic::{AtomicBool, Ordering};
use stdx::Prng;
use types::Value;

/// What one does, and whether an error is what it wants. `?` is a number that no other text has.
const MESSES: [(&str, bool); 12] = [
    (
        "CREATE TABLE #mess (a int, b varchar(max)); INSERT #mess SELECT number, REPLICATE('x', number * 40) FROM \
      (SELECT TOP (300) object_id % 97 AS number FROM sys.all_columns) AS n; SELECT COUNT(*), MAX(LEN(b)) FROM #mess",
        false,
    ),
    ("USE Ledger; BEGIN TRANSACTION; INSERT dbo.Visit VALUES (?, 'never committed')", false),
    ("USE Ledger; BEGIN TRANSACTION; UPDATE dbo.Visit SET what = 'never'; SELECT ? / 0", true),
    ("SELECT ? / 0", true),
    ("SELECT * FROM NoSuchTable?", true),
    ("SELECT ? FROM WHERE", true),
    (
        "DECLARE c CURSOR GLOBAL FOR SELECT name FROM sys.all_objects; OPEN c; FETCH NEXT FROM c",
        false,
    ),
    ("EXEC sp_executesql N'SELECT @p + ?', N'@p int', 1", false),
    ("EXEC sp_getapplock 'mess?', 'Exclusive', 'Session'", false),
    (
        "DECLARE @t TABLE (a int PRIMARY KEY, b nvarchar(200)); INSERT @t SELECT object_id, name FROM sys.objects; \
      SELECT COUNT(*) FROM @t WHERE a > ?",
        false,
    ),
    (
        "BEGIN TRY THROW 50001, 'mess ?', 1 END TRY BEGIN CATCH SELECT ERROR_MESSAGE() END CATCH",
        false,
    ),
    (
        "EXEC('CREATE PROCEDURE #p AS SELECT ?'); EXEC #p; SELECT session, COUNT(*) FROM Ledger.dbo.Entry WITH (NOLOCK) \
      GROUP BY session ORDER BY 2 DESC",
        false,
    ),
];

/// What is asked when they are gone; each answers a number, which must be 0.
const LEFT: [(&str, &str); 6] = [
    ("rows that were not committed", "SELECT COUNT(*) FROM Ledger.dbo.Visit"),
    (
        "sessions",
        "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process = 1 AND session_id <> @@SPID",
    ),
    ("locks", "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id <> @@SPID"),
    (
        "transactions",
        "SELECT COUNT(*) FROM sys.dm_tran_session_transactions WHERE session_id <> @@SPID",
    ),
    ("temporary tables", "SELECT COUNT(*) FROM tempdb.sys.tables"),
    ("temporary procedures", "SELECT COUNT(*) FROM tempdb.sys.procedures"),
];

/// The table into which they write and never commit.
pub fn set_up(desk: &mut Desk) -> Result<(), String> {
    desk.run("CREATE TABLE Ledger.dbo.Visit (number bigint NOT NULL, what varchar(40) NOT NULL)")
        .map(drop)
}

/// One after the other until told to stop; how many came. An error that was not wanted ends it.
pub fn come_and_go(door: Door, random: &mut Prng, stop: &AtomicBool) -> Result<u64, String> {
    let mut visits = 0;
    while !stop.load(Ordering::Acquire) {
        let mut desk = door.connect()?;
        for _ in 0..1 + random.below(4) {
            let (mess, fails) = MESSES[random.below(MESSES.len() as u64) as usize];
            let batch = mess.replace('?', &(1 + random.below(1 << 30)).to_string());
            match desk.run(&batch) {
                Ok(_) if fails => return Err(format!("{batch}: no error")),
                // A mess may be made twice by one: the second is told that it is there.
                Err(error) if !fails && !error.contains("already") => {
                    return Err(format!("{batch}: {error}"));
                }
                _ => {}
            }
        }
        visits += 1;
    }
    Ok(visits)
}

/// What is left of sessions that are gone.
pub fn left(desk: &mut Desk) -> Result<Vec<String>, String> {
    let mut left = Vec::new();
    for (what, query) in LEFT {
        let answer = desk.run(query).map_err(|error| format!("{query}: {error}"))?;
        let set = answer.sets.first().and_then(|set| set.rows.first());
        match set.and_then(|row| row.first()) {
            Some(Value::Int(0)) => {}
            other => left.push(format!("{what} ({other:?})")),
        }
    }
    Ok(left)
}
