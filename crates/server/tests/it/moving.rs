//! A session moves to another scheduler between two requests, with all that it has, and not within a transaction.

use crate::support::{Client, eventually, serve_on};
use server::Limits;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use types::Value;

/// Where the client's request runs.
fn scheduler(client: &mut Client<TcpStream>) -> i32 {
    of_session(client, "@@SPID").expect("its request runs")
}

/// Where that of another session runs, if one does.
fn of_session(client: &mut Client<TcpStream>, spid: &str) -> Option<i32> {
    let query = format!("SELECT scheduler_id FROM sys.dm_exec_requests WHERE session_id = {spid}");
    match client.query(&query).rows.first()?[0] {
        Value::Int(scheduler) => Some(scheduler),
        _ => None,
    }
}

/// Told when dropped, so that a panic does not leave the other thread at work.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn a_session_moves_away_from_a_busy_scheduler_with_all_it_has() {
    // Two schedulers, even where there is one CPU.
    let cpu = runtime::threads::affinity()[0];
    let served = serve_on(vec![cpu, cpu], Limits::default());
    let mut hog = served.client();
    let Value::SmallInt(hog_spid) = hog.query("SELECT @@SPID").rows[0][0] else { panic!("a spid") };
    let hog_spid = hog_spid.to_string();
    // Connections are spread over the schedulers: the next but one lives where the first does.
    let mut moved = served.client();
    let mut others = Vec::new();
    while scheduler(&mut moved) != scheduler(&mut hog) {
        others.push(std::mem::replace(&mut moved, served.client()));
        assert!(others.len() < 16, "all live elsewhere");
    }
    assert_eq!(
        moved.query("CREATE TABLE #mine (a int); INSERT #mine VALUES (42)").errors(),
        [0; 0]
    );
    assert_eq!(moved.query("SET LOCK_TIMEOUT 4321; CREATE TABLE t (a int)").errors(), [0; 0]);

    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                let busy = "DECLARE @i int = 0; WHILE @i < 100000 SET @i += 1";
                assert_eq!(hog.query(busy).errors(), [0; 0]);
            }
        });
        // Within a transaction it stays, however long it waits.
        assert_eq!(moved.query("BEGIN TRANSACTION; INSERT t VALUES (1)").errors(), [0; 0]);
        let within = scheduler(&mut moved);
        for _ in 0..20 {
            assert_eq!(scheduler(&mut moved), within);
        }
        assert_eq!(moved.query("COMMIT").errors(), [0; 0]);
        // They were together: when they are not any more, one of them has moved.
        let mut seen = [false; 2];
        eventually("a session moves", || {
            let own = scheduler(&mut moved);
            seen[own as usize] = true;
            let hogs = of_session(&mut moved, &hog_spid);
            seen == [true; 2] || hogs.is_some_and(|hogs| hogs != own)
        });
    });
    assert_eq!(moved.query("SELECT a FROM #mine").rows, [[Value::Int(42)]]);
    assert_eq!(moved.query("SELECT @@LOCK_TIMEOUT").rows, [[Value::Int(4321)]]);
    assert_eq!(moved.query("SELECT a FROM t").rows, [[Value::Int(1)]]);
    // And may be stopped where it is now.
    moved.writer.batch("WAITFOR DELAY '01:00:00'");
    moved.send();
    moved.writer.attention();
    moved.send();
    moved.stopped();
    assert_eq!(moved.query("SELECT 1").rows, [[Value::Int(1)]]);
}
