//! Change tracking among concurrent sessions, after power loss, in a backup, and when it is cleaned up.
//!
//! Source of what a follower does: SQL Server's documentation, "Work with change tracking" (obtain the version, then the
//! changes, in one snapshot transaction).

use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const TRACKED: &[&str] = &[
    "CREATE DATABASE shop",
    "ALTER DATABASE shop SET CHANGE_TRACKING = ON (AUTO_CLEANUP = OFF)",
    "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON",
    "USE shop CREATE TABLE t (k int PRIMARY KEY, v int)",
    "ALTER TABLE t ENABLE CHANGE_TRACKING",
];

/// What a batch says; `fine`: without an error.
fn say(session: &mut Session, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said);
    said
}

fn fine(session: &mut Session, batch: &str) -> Collected {
    let said = say(session, batch);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said
}

/// Rows of the result set of that number, as integers; NULL is `None`.
fn ints(said: &Collected, set: usize) -> Vec<Vec<Option<i64>>> {
    let rows = &said.sets[set].rows;
    rows.iter().map(|row| row.iter().map(Value::as_i64).collect()).collect()
}

/// A few transactions of a few changes each, some of them rolled back.
fn write(session: &mut Session, mut seed: u64) {
    let mut next = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    fine(session, "USE shop");
    for _ in 0..50 {
        say(session, "BEGIN TRANSACTION");
        for _ in 0..1 + next(3) {
            let (k, v) = (next(12), next(1000));
            say(
                session,
                &match next(4) {
                    0 => format!("DELETE t WHERE k = {k}"),
                    1 => format!("UPDATE t SET v = {v} WHERE k = {k}"),
                    2 => format!(
                        "IF NOT EXISTS (SELECT * FROM t WHERE k = {v}) UPDATE t SET k = {v} WHERE k = {k}"
                    ),
                    _ => format!(
                        "IF NOT EXISTS (SELECT * FROM t WHERE k = {k}) INSERT t VALUES ({k}, {v})"
                    ),
                },
            );
            runtime::task::yield_now();
        }
        // Whoever was a deadlock's victim has none any more.
        let end = if next(4) == 0 { "ROLLBACK" } else { "COMMIT" };
        say(session, &format!("IF @@TRANCOUNT > 0 {end}"));
    }
}

#[test]
fn who_follows_versions_misses_nothing() {
    const WRITERS: usize = 4;
    let instance = Instance::open(config(&SimFs::new(21))).expect("opens");
    run_fine(&instance, TRACKED);
    let done = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| {
            let done = done.clone();
            instance.spawn_session("writer", move |session| {
                write(session, 0x9E37_79B9 + n as u64);
                done.fetch_add(1, Ordering::Release);
            })
        })
        .collect();
    let follower = instance.spawn_session("follower", move |session| {
        fine(session, "USE shop SET TRANSACTION ISOLATION LEVEL SNAPSHOT");
        let (mut copy, mut last, mut told) = (BTreeMap::new(), 0, 0);
        loop {
            let over = done.load(Ordering::Acquire) == WRITERS;
            let said = fine(
                session,
                &format!(
                    "BEGIN TRANSACTION \
                     SELECT CHANGE_TRACKING_CURRENT_VERSION() \
                     SELECT c.k, t.v, ASCII(c.SYS_CHANGE_OPERATION), c.SYS_CHANGE_VERSION \
                     FROM CHANGETABLE(CHANGES t, {last}) AS c LEFT JOIN t ON t.k = c.k \
                     SELECT k, v FROM t ORDER BY k COMMIT"
                ),
            );
            let now = ints(&said, 0)[0][0].expect("a version");
            for row in ints(&said, 1) {
                let (k, version) = (row[0].expect("a key"), row[3].expect("a version"));
                assert!(version > last && version <= now, "{version} of {last} to {now}");
                let operation = row[2].and_then(|c| u8::try_from(c).ok()).expect("an operation");
                let known = copy.contains_key(&k);
                match operation {
                    b'D' => drop(copy.remove(&k)),
                    b'I' => assert!(!known, "{k} is told as new and is not"),
                    _ => assert!(known, "{k} is told as changed and was not there"),
                }
                if operation != b'D' {
                    copy.insert(k, row[1].expect("a row that is there"));
                }
                told += 1;
            }
            let there: BTreeMap<i64, i64> = ints(&said, 2)
                .iter()
                .map(|r| (r[0].expect("a key"), r[1].expect("a value")))
                .collect();
            assert_eq!(copy, there, "after version {now}");
            if over {
                return (now, told);
            }
            last = now;
            runtime::task::yield_now();
        }
    });
    for writer in writers {
        writer.join().expect("a writer");
    }
    let (version, told) = follower.join().expect("the follower");
    assert!(version > 50 && told > 20, "{version} versions, {told} changes");
    instance.shutdown().expect("closes");
}

#[test]
fn changes_are_there_after_power_loss_when_their_commit_is() {
    let fs = SimFs::new(22);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(&instance, TRACKED);
    run_fine(
        &instance,
        &[
            "USE shop",
            "INSERT t VALUES (1, 1), (2, 2)",
            "UPDATE t SET v = 3 WHERE k = 1",
            "DELETE t WHERE k = 2",
        ],
    );
    // A transaction is open when the power fails, and some of it is on disk.
    let (ready, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (is_ready, until) = (ready.clone(), over.clone());
    let open = instance.spawn_session("open", move |session| {
        fine(session, "USE shop BEGIN TRANSACTION");
        fine(session, "INSERT t VALUES (4, 4) UPDATE t SET v = 5 WHERE k = 1");
        fine(session, "CHECKPOINT");
        is_ready.store(1, Ordering::Release);
        while until.load(Ordering::Acquire) == 0 {
            runtime::task::sleep_ns(1_000_000, telemetry::WaitType::SleepTask);
        }
    });
    while ready.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    fs.power_off();
    over.store(1, Ordering::Release);
    let _ = open.join();
    for seed in 0..4 {
        let instance = Instance::open(config(&fs.crash(seed))).expect("recovers");
        let said = run_fine(
            &instance,
            &[
                "USE shop",
                "SELECT CHANGE_TRACKING_CURRENT_VERSION()",
                "SELECT k, SYS_CHANGE_VERSION, ASCII(SYS_CHANGE_OPERATION) FROM CHANGETABLE(CHANGES t, 0) AS c",
                "INSERT t VALUES (5, 5)",
                "SELECT k, SYS_CHANGE_VERSION - CHANGE_TRACKING_CURRENT_VERSION() FROM CHANGETABLE(CHANGES t, 3) AS c",
            ],
        );
        assert_eq!(ints(&said, 0), [[Some(3)]]);
        let (d, i) = (i64::from(b'D'), i64::from(b'I'));
        assert_eq!(ints(&said, 1), [[1, 2, i], [2, 3, d]].map(|row| row.map(Some)));
        assert_eq!(ints(&said, 2), [[5, 0].map(Some)]);
        instance.shutdown().expect("closes");
    }
}

#[test]
fn what_is_cleaned_up_is_gone_and_said_to_be() {
    let instance = Instance::open(config(&SimFs::new(23))).expect("opens");
    run_fine(&instance, TRACKED);
    run_fine(
        &instance,
        &[
            "USE shop",
            "INSERT t SELECT value, 0 FROM GENERATE_SERIES(1, 2500)",
            "UPDATE t SET v = 1 WHERE k <= 10",
            "DELETE t WHERE k = 1",
            "UPDATE t SET v = 2 WHERE k = 2",
        ],
    );
    let shop = instance.database("shop").expect("the database");
    let cleaned = instance.spawn_session("cleaner", move |_| {
        let run = |before| commands::clean_tracked_before(&shop, before, &AtomicBool::new(false));
        let nothing = run(0).expect("nothing to clean");
        assert_eq!((nothing.commits, nothing.rows), (0, 0));
        let cleaned = run(u64::MAX).expect("cleaned");
        let again = run(u64::MAX).expect("nothing left");
        assert_eq!((again.commits, again.rows), (0, 0));
        cleaned
    });
    let cleaned = cleaned.join().expect("the cleaner");
    assert_eq!((cleaned.commits, cleaned.rows), (3, 2511));
    let said = run_fine(
        &instance,
        &[
            "USE shop",
            "SELECT CHANGE_TRACKING_CURRENT_VERSION(), CHANGE_TRACKING_MIN_VALID_VERSION(OBJECT_ID('t'))",
            "SELECT min_valid_version, begin_version, cleanup_version FROM sys.change_tracking_tables",
            "SELECT k, SYS_CHANGE_VERSION FROM CHANGETABLE(CHANGES t, NULL) AS c",
            "SELECT SYS_CHANGE_VERSION FROM CHANGETABLE(VERSION t, (k), (2)) AS c",
            "SELECT SYS_CHANGE_VERSION FROM CHANGETABLE(VERSION t, (k), (3)) AS c",
            "SELECT commit_ts FROM sys.dm_tran_commit_table",
            "INSERT t VALUES (9999, 1)",
            "SELECT k, SYS_CHANGE_VERSION FROM CHANGETABLE(CHANGES t, 4) AS c",
            "DBCC CHECKDB WITH NO_INFOMSGS",
        ],
    );
    assert_eq!(ints(&said, 0), [[4, 3].map(Some)]);
    assert_eq!(ints(&said, 1), [[3, 0, 3].map(Some)]);
    assert_eq!(ints(&said, 2), [[2, 4].map(Some)]);
    assert_eq!((ints(&said, 3), ints(&said, 4)), (vec![vec![Some(4)]], vec![vec![None]]));
    assert_eq!(ints(&said, 5), [[Some(4)]]);
    assert_eq!(ints(&said, 6), [[9999, 5].map(Some)]);
    instance.shutdown().expect("closes");
}

#[test]
fn a_backup_has_the_changes() {
    let instance = Instance::open(config(&SimFs::new(24))).expect("opens");
    run_fine(&instance, TRACKED);
    let said = run_fine(
        &instance,
        &[
            "USE shop INSERT t VALUES (1, 1)",
            "UPDATE t SET v = 2",
            "BACKUP DATABASE shop TO DISK = 'shop.bak'",
            "INSERT t VALUES (2, 2)",
            "USE master RESTORE DATABASE copy FROM DISK = 'shop.bak' WITH MOVE 'shop' TO 'copy.mdf', MOVE 'shop_log' TO 'copy_log.ldf'",
            "USE copy",
            "SELECT CHANGE_TRACKING_CURRENT_VERSION(), CHANGE_TRACKING_MIN_VALID_VERSION(OBJECT_ID('t'))",
            "SELECT k, SYS_CHANGE_VERSION, SYS_CHANGE_CREATION_VERSION FROM CHANGETABLE(CHANGES t, 0) AS c",
            "SELECT COUNT(*) FROM sys.change_tracking_databases",
            "INSERT t VALUES (3, 3) SELECT CHANGE_TRACKING_CURRENT_VERSION()",
        ],
    );
    let last = said.sets.len() - 4;
    assert_eq!(ints(&said, last), [[2, 0].map(Some)]);
    assert_eq!(ints(&said, last + 1), [[1, 2, 1].map(Some)]);
    assert_eq!(ints(&said, last + 2), [[Some(2)]]);
    assert_eq!(ints(&said, last + 3), [[Some(3)]]);
    instance.shutdown().expect("closes");
}
