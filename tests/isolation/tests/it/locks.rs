//! What locks keep out and what they let pass: key ranges, hints, options, application of SQL Server's error numbers.

use isolation::{Actor, Level, Stage, Stepped};

fn table(stage: &Stage, database: &str) {
    stage.direct(&format!(
        "USE {database};
         IF OBJECT_ID('test') IS NOT NULL DROP TABLE test;
         CREATE TABLE test (id int PRIMARY KEY, value int);
         INSERT INTO test VALUES (10, 1), (20, 2), (30, 3)"
    ));
}

fn begin(stage: &Stage, actor: &mut Actor, level: Level) {
    let batch = format!("SET TRANSACTION ISOLATION LEVEL {}; BEGIN TRANSACTION", level.sql());
    stage.step(actor, &batch).answer();
}

/// One reads within a transaction, then another writes: whether the write blocks, and what the read says again.
fn check(stage: &Stage, level: Level, read: &str, write: &str, blocks: bool) {
    table(stage, level.database());
    let (mut one, mut two) = (stage.actor(level.database()), stage.actor(level.database()));
    begin(stage, &mut one, level);
    let before = stage.step(&mut one, read).answer();
    assert!(before.errors.is_empty(), "{read}: {:?}", before.errors);
    let blocked = stage.step(&mut two, write) == Stepped::Blocked;
    assert_eq!(blocked, blocks, "{level:?}: {read} / {write}");
    if blocks {
        let again = stage.step(&mut one, read).answer();
        assert_eq!(again.rows, before.rows, "{read}, again");
    }
    stage.step(&mut one, "COMMIT").answer();
    if blocks {
        let late = stage.finish(&mut two);
        assert!(late.errors.is_empty(), "{write}: {:?}", late.errors);
    }
    assert!(stage.engine(level.database()).locks().is_empty(), "{read} / {write}");
}

#[test]
fn a_serializable_range_keeps_phantoms_out() {
    let stage = Stage::new();
    let insert = |id: i32| format!("INSERT INTO test VALUES ({id}, 0)");
    let update = |id: i32| format!("UPDATE test SET value = 9 WHERE id = {id}");
    let delete = |id: i32| format!("DELETE FROM test WHERE id = {id}");
    let cases: &[(&str, &[(String, bool)])] = &[
        // A point that is there needs no gap; one that is not locks the gap it would be in.
        (
            "SELECT value FROM test WHERE id = 20",
            &[
                (insert(15), false),
                (insert(25), false),
                (update(20), true),
                (delete(20), true),
                (update(10), false),
            ],
        ),
        (
            "SELECT value FROM test WHERE id = 15",
            &[
                (insert(15), true),
                (insert(12), true),
                (insert(5), false),
                (insert(25), false),
                (update(10), false),
            ],
        ),
        (
            "SELECT value FROM test WHERE id = 99",
            &[(insert(99), true), (insert(31), true), (insert(25), false)],
        ),
        ("SELECT value FROM test WHERE id = 1", &[(insert(1), true), (insert(11), false)]),
        // Ranges, in both directions.
        (
            "SELECT id FROM test WHERE id BETWEEN 12 AND 22",
            &[
                (insert(15), true),
                (insert(22), true),
                (insert(29), true),
                (insert(35), false),
                (insert(5), false),
                (update(20), true),
                (update(10), false),
            ],
        ),
        (
            "SELECT id FROM test WHERE id BETWEEN 12 AND 22 ORDER BY id DESC",
            &[
                (insert(15), true),
                (insert(22), true),
                (insert(35), false),
                (insert(5), false),
                (delete(20), true),
            ],
        ),
        (
            "SELECT id FROM test WHERE id > 20",
            &[(insert(25), true), (insert(40), true), (insert(15), false)],
        ),
        (
            "SELECT id FROM test WHERE id > 20 ORDER BY id DESC",
            &[(insert(25), true), (insert(40), true), (insert(15), false)],
        ),
        ("SELECT id FROM test WHERE id < 10", &[(insert(5), true), (insert(15), false)]),
        (
            "SELECT id FROM test WHERE id < 10 ORDER BY id DESC",
            &[(insert(5), true), (insert(15), false)],
        ),
        (
            "SELECT id FROM test WHERE id >= 30",
            &[(insert(40), true), (update(30), true), (update(20), false)],
        ),
        // A predicate without an index is the whole table; TOP is as far as it went.
        (
            "SELECT id FROM test WHERE value = 77",
            &[(insert(5), true), (insert(99), true), (update(30), true)],
        ),
        ("SELECT TOP 1 id FROM test ORDER BY id DESC", &[(insert(99), true), (insert(25), true)]),
        ("SELECT COUNT(*) FROM test", &[(insert(99), true)]),
        (
            "UPDATE test SET value = value WHERE id BETWEEN 12 AND 22",
            &[(insert(15), true), (insert(35), false), (update(10), false)],
        ),
    ];
    for (read, writes) in cases {
        for (write, blocks) in *writes {
            check(&stage, Level::Serializable, read, write, *blocks);
        }
    }
    // Repeatable reads keep rows, not gaps.
    for (write, blocks) in [(insert(15), false), (update(20), true), (delete(10), true)] {
        check(&stage, Level::RepeatableRead, "SELECT id FROM test WHERE id < 25", &write, blocks);
    }
    // The hint does for one table what the level does for all.
    let held = "SELECT id FROM test WITH (HOLDLOCK) WHERE id BETWEEN 12 AND 22";
    for level in [Level::ReadCommittedLocking, Level::ReadCommittedSnapshot, Level::RepeatableRead]
    {
        check(&stage, level, held, &insert(15), true);
        check(&stage, level, held, &insert(35), false);
    }
    check(&stage, Level::ReadCommittedSnapshot, "SELECT id FROM test", &update(10), false);
}

/// An empty table, and a heap.
#[test]
fn the_end_of_a_table_is_a_gap_too() {
    let stage = Stage::new();
    stage.direct(
        "USE locking; CREATE TABLE e (id int PRIMARY KEY); CREATE TABLE h (id int); INSERT INTO h VALUES (1)",
    );
    let (mut one, mut two) = (stage.actor("locking"), stage.actor("locking"));
    for (read, write) in [
        ("SELECT id FROM e", "INSERT INTO e VALUES (1)"),
        ("SELECT id FROM e ORDER BY id DESC", "INSERT INTO e VALUES (2)"),
        ("SELECT id FROM h WHERE id = 7", "INSERT INTO h VALUES (7)"),
    ] {
        begin(&stage, &mut one, Level::Serializable);
        stage.step(&mut one, read).answer();
        assert_eq!(stage.step(&mut two, write), Stepped::Blocked, "{read}");
        stage.step(&mut one, "ROLLBACK").answer();
        assert_eq!(stage.finish(&mut two).errors, [0i32; 0]);
    }
    // Gaps are guarded no longer: the next insert goes straight in.
    assert!(stage.engine("locking").locks().is_empty());
    stage.step(&mut two, "INSERT INTO e VALUES (3)").answer();
}

/// Who holds a gap and inserts into it keeps both halves shut.
#[test]
fn a_gap_that_is_split_stays_locked() {
    let stage = Stage::new();
    table(&stage, "locking");
    let (mut one, mut two) = (stage.actor("locking"), stage.actor("locking"));
    begin(&stage, &mut one, Level::Serializable);
    stage.step(&mut one, "SELECT id FROM test WHERE id BETWEEN 12 AND 18").answer();
    stage.step(&mut one, "INSERT INTO test VALUES (15, 0)").answer();
    assert_eq!(stage.step(&mut two, "INSERT INTO test VALUES (13, 0)"), Stepped::Blocked);
    let again = stage.step(&mut one, "SELECT id FROM test WHERE id BETWEEN 12 AND 18").answer();
    assert_eq!(again.rows.len(), 1);
    stage.step(&mut one, "COMMIT").answer();
    assert!(stage.finish(&mut two).errors.is_empty());
    // The same with the new key taken back.
    begin(&stage, &mut one, Level::Serializable);
    stage.step(&mut one, "SELECT id FROM test WHERE id BETWEEN 21 AND 29").answer();
    stage.step(&mut one, "SAVE TRANSACTION s; INSERT INTO test VALUES (25, 0)").answer();
    stage.step(&mut one, "ROLLBACK TRANSACTION s").answer();
    assert_eq!(stage.step(&mut two, "INSERT INTO test VALUES (22, 0)"), Stepped::Blocked);
    stage.step(&mut one, "COMMIT").answer();
    assert!(stage.finish(&mut two).errors.is_empty());
}

/// IF NOT EXISTS (... WITH (UPDLOCK, HOLDLOCK)) INSERT: the second waits, then finds the row.
#[test]
fn the_usual_upsert_inserts_once() {
    let stage = Stage::new();
    table(&stage, "versions");
    let (mut one, mut two) = (stage.actor("versions"), stage.actor("versions"));
    let look =
        "BEGIN TRANSACTION; SELECT id, value FROM test WITH (UPDLOCK, HOLDLOCK) WHERE id = 15";
    assert!(stage.step(&mut one, look).answer().rows.is_empty());
    assert_eq!(stage.step(&mut two, look), Stepped::Blocked);
    stage.step(&mut one, "INSERT INTO test VALUES (15, 7); COMMIT").answer();
    assert_eq!(stage.finish(&mut two).pairs(), [(15, 7)]);
    stage.step(&mut two, "COMMIT").answer();
}

#[test]
fn hints_do_what_they_say() {
    let stage = Stage::new();
    for database in ["locking", "versions"] {
        table(&stage, database);
        let (mut one, mut two) = (stage.actor(database), stage.actor(database));
        let ids = |stepped: Stepped| -> Vec<i64> {
            stepped.answer().rows.iter().map(|r| isolation::stage::integer(&r[0])).collect()
        };
        stage.step(&mut one, "BEGIN TRANSACTION; UPDATE test SET value = 9 WHERE id = 20").answer();
        assert_eq!(ids(stage.step(&mut two, "SELECT id FROM test WITH (READPAST)")), [10, 30]);
        assert_eq!(
            ids(stage.step(&mut two, "SELECT id FROM test WITH (READPAST) WHERE id = 20")),
            [] as [i64; 0]
        );
        assert_eq!(
            ids(stage.step(&mut two, "SELECT value FROM test WITH (NOLOCK) WHERE id = 20")),
            [9]
        );
        let taken = "DELETE TOP (1) FROM test WITH (READPAST) OUTPUT deleted.id WHERE id >= 20";
        assert_eq!(
            ids(stage.step(&mut two, &format!("BEGIN TRANSACTION; {taken}; ROLLBACK"))),
            [30]
        );
        for impatient in [
            "SELECT id FROM test WITH (READCOMMITTEDLOCK, NOWAIT)",
            "SELECT id FROM test WITH (UPDLOCK, NOWAIT) WHERE id = 20",
            "SET LOCK_TIMEOUT 20; UPDATE test SET value = 1 WHERE id = 20; SET LOCK_TIMEOUT -1",
            "SELECT id FROM test WITH (TABLOCKX, NOWAIT)",
        ] {
            let answer = match stage.step(&mut two, impatient) {
                Stepped::Done(answer) => answer,
                Stepped::Blocked => stage.finish(&mut two),
            };
            assert_eq!(answer.errors, [1222], "{database}: {impatient}");
        }
        assert_eq!(
            stage.step(&mut two, "SELECT id FROM test WITH (READCOMMITTEDLOCK)"),
            Stepped::Blocked
        );
        stage.step(&mut one, "COMMIT").answer();
        stage.finish(&mut two);
        // U goes with S, not with U; X with neither.
        stage
            .step(&mut one, "BEGIN TRANSACTION; SELECT id FROM test WITH (UPDLOCK) WHERE id = 20")
            .answer();
        let shared = "SELECT id FROM test WITH (READCOMMITTEDLOCK) WHERE id = 20";
        assert_eq!(ids(stage.step(&mut two, shared)), [20]);
        let update = "SELECT id FROM test WITH (UPDLOCK) WHERE id = 20";
        assert_eq!(stage.step(&mut two, update), Stepped::Blocked);
        stage.step(&mut one, "COMMIT").answer();
        stage.finish(&mut two);
        stage
            .step(&mut one, "BEGIN TRANSACTION; SELECT id FROM test WITH (XLOCK) WHERE id = 20")
            .answer();
        assert_eq!(stage.step(&mut two, shared), Stepped::Blocked);
        stage.step(&mut one, "COMMIT").answer();
        stage.finish(&mut two);
        // A table lock of a reader goes with its statement, but for HOLDLOCK.
        stage.step(&mut one, "BEGIN TRANSACTION; SELECT id FROM test WITH (TABLOCK)").answer();
        stage.step(&mut two, "UPDATE test SET value = 5 WHERE id = 10").answer();
        stage.step(&mut one, "SELECT id FROM test WITH (TABLOCK, HOLDLOCK)").answer();
        let write = "UPDATE test SET value = 6 WHERE id = 10";
        assert_eq!(stage.step(&mut two, write), Stepped::Blocked);
        stage.step(&mut one, "COMMIT").answer();
        stage.finish(&mut two);
        let numbers = |batch: &str, actor: &mut Actor| stage.step(actor, batch).answer().errors;
        assert_eq!(numbers("SELECT id FROM test WITH (NOLOCK, HOLDLOCK)", &mut one), [1047]);
        assert_eq!(numbers("SELECT id FROM test WITH (NOLOCK, UPDLOCK)", &mut one), [1047]);
        assert_eq!(numbers("SELECT id FROM test WITH (READPAST, SERIALIZABLE)", &mut one), [650]);
        assert!(stage.engine(database).locks().is_empty());
    }
}

#[test]
fn snapshot_isolation_is_an_option_of_the_database() {
    let stage = Stage::new();
    table(&stage, "locking");
    table(&stage, "snapshots");
    let mut actor = stage.actor("locking");
    let snapshot = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT id FROM test";
    assert_eq!(stage.step(&mut actor, snapshot).answer().errors, [3952]);
    let mut actor = stage.actor("snapshots");
    assert_eq!(stage.step(&mut actor, snapshot).answer().rows.len(), 3);
    let late = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION;
                SELECT id FROM test; SET TRANSACTION ISOLATION LEVEL SNAPSHOT";
    stage.step(&mut actor, late).answer();
    assert_eq!(stage.step(&mut actor, "SELECT id FROM test").answer().errors, [3951]);
    stage.step(&mut actor, "IF @@TRANCOUNT > 0 ROLLBACK").answer();
    stage.direct("ALTER DATABASE snapshots SET ALLOW_SNAPSHOT_ISOLATION OFF");
    assert_eq!(stage.step(&mut actor, snapshot).answer().errors, [3952]);
    stage.direct("ALTER DATABASE snapshots SET READ_COMMITTED_SNAPSHOT ON");
    assert!(stage.engine("snapshots").read_committed_snapshot());
}

/// An attention ends a wait, and the session goes on.
#[test]
fn a_wait_for_a_lock_can_be_cancelled() {
    let stage = Stage::new();
    table(&stage, "versions");
    let (mut one, mut two) = (stage.actor("versions"), stage.actor("versions"));
    stage.step(&mut one, "BEGIN TRANSACTION; UPDATE test SET value = 9 WHERE id = 20").answer();
    assert_eq!(stage.step(&mut two, "UPDATE test SET value = 1 WHERE id = 20"), Stepped::Blocked);
    let waits = stage.engine("versions").lock_waits();
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].session, Some(u32::from(two.spid())));
    assert_eq!(waits[0].blocking_session, Some(u32::from(one.spid())));
    assert_eq!(waits[0].wait_type, "LCK_M_X");
    let began = std::time::Instant::now();
    two.cancel();
    let answer = stage.finish(&mut two);
    assert!(began.elapsed() < std::time::Duration::from_millis(400), "{:?}", began.elapsed());
    assert_eq!(answer.changed, None);
    assert_eq!(stage.step(&mut two, "SELECT 1").answer().rows.len(), 1);
    stage.step(&mut one, "COMMIT").answer();
}

/// 1205: the whole transaction goes, the other one goes on, and the log tells.
#[test]
fn a_deadlock_has_one_victim_by_priority() {
    let stage = Stage::new();
    table(&stage, "locking");
    let (mut one, mut two) = (stage.actor("locking"), stage.actor("locking"));
    stage.step(&mut one, "BEGIN TRANSACTION; UPDATE test SET value = 9 WHERE id = 10").answer();
    let low =
        "SET DEADLOCK_PRIORITY LOW; BEGIN TRANSACTION; UPDATE test SET value = 9 WHERE id = 20";
    stage.step(&mut two, low).answer();
    assert_eq!(stage.step(&mut two, "SELECT id FROM test WHERE id = 10"), Stepped::Blocked);
    let other = stage.step(&mut one, "UPDATE test SET value = 8 WHERE id = 20");
    let answer = match other {
        Stepped::Done(answer) => answer,
        Stepped::Blocked => stage.finish(&mut one),
    };
    assert_eq!((answer.errors, answer.changed), (vec![], Some(1)));
    assert_eq!(stage.finish(&mut two).errors, [1205]);
    let count = stage.step(&mut two, "SELECT @@TRANCOUNT").answer();
    assert_eq!(isolation::stage::integer(&count.rows[0][0]), 0);
    stage.step(&mut one, "COMMIT").answer();
    let graph = stage.engine("locking").deadlock_graphs().pop().expect("a graph");
    assert!(graph.contains(&format!("deadlock victim=spid{}", two.spid())), "{graph}");
    assert!(graph.contains("lockMode=S") && graph.contains("lockMode=X"), "{graph}");
}

/// 5,000 rows become one lock on the table, of readers too.
#[test]
fn many_key_locks_become_a_table_lock() {
    let stage = Stage::new();
    stage.direct(
        "USE locking; CREATE TABLE many (id int PRIMARY KEY); DECLARE @i int = 0;
         WHILE @i < 6000 BEGIN INSERT INTO many VALUES (@i); SET @i = @i + 1 END",
    );
    let (mut one, mut two) = (stage.actor("locking"), stage.actor("locking"));
    for level in [Level::RepeatableRead, Level::Serializable] {
        begin(&stage, &mut one, level);
        stage.step(&mut one, "SELECT COUNT(*) FROM many").answer();
        let locks = stage.engine("locking").locks();
        assert!(locks.iter().any(|l| l.mode == "S"), "{} locks", locks.len());
        assert!(locks.len() < 3000, "{} locks", locks.len());
        assert_eq!(stage.step(&mut two, "INSERT INTO many VALUES (7000)"), Stepped::Blocked);
        stage.step(&mut one, "COMMIT").answer();
        stage.finish(&mut two);
        stage.step(&mut two, "DELETE FROM many WHERE id = 7000").answer();
    }
}

/// sp_getapplock and its kin: statuses, counts, owners.
#[test]
fn application_locks_serialise_what_has_no_rows() {
    let stage = Stage::new();
    let (mut one, mut two) = (stage.actor("versions"), stage.actor("versions"));
    let status = |stage: &Stage, actor: &mut Actor, batch: &str| {
        let batch = format!("DECLARE @s int; EXEC @s = {batch}; SELECT @s");
        let answer = match stage.step(actor, &batch) {
            Stepped::Done(answer) => answer,
            Stepped::Blocked => stage.finish(actor),
        };
        assert_eq!(answer.errors, [0i32; 0], "{batch}");
        isolation::stage::integer(&answer.rows[0][0])
    };
    let get = "sp_getapplock @Resource = 'r', @LockMode = 'Exclusive'";
    stage.step(&mut one, "BEGIN TRANSACTION").answer();
    assert_eq!(status(&stage, &mut one, get), 0);
    assert_eq!(stage.step(&mut two, &format!("EXEC {get}")).answer().errors, [1226]);
    let impatient = "sp_getapplock 'r', 'Shared', 'Session', 10";
    assert_eq!(status(&stage, &mut two, impatient), -1);
    assert_eq!(status(&stage, &mut two, "sp_getapplock 'R', 'Shared', 'Session', 10"), 0);
    let test = "SELECT APPLOCK_TEST('public', 'r', 'Shared', 'Session'), APPLOCK_TEST('public', 'q', 'Shared', 'Session')";
    let answer = stage.step(&mut two, test).answer();
    assert_eq!(answer.rows[0], [types::Value::SmallInt(0), types::Value::SmallInt(1)]);
    let mode = stage.step(&mut one, "SELECT APPLOCK_MODE('public', 'r', 'Transaction')").answer();
    assert_eq!(mode.rows[0][0].as_str(), Some("Exclusive"));
    let waits = "DECLARE @s int; EXEC @s = sp_getapplock 'r', 'Shared', 'Session'; SELECT @s";
    assert_eq!(stage.step(&mut two, waits), Stepped::Blocked);
    stage.step(&mut one, "COMMIT").answer();
    assert_eq!(isolation::stage::integer(&stage.finish(&mut two).rows[0][0]), 1);
    assert_eq!(status(&stage, &mut two, "sp_releaseapplock 'r', 'Session'"), 0);
    assert_eq!(
        stage.step(&mut two, "EXEC sp_releaseapplock 'r', 'Session'").answer().errors,
        [1223]
    );
    let engine = stage.engine("versions");
    assert_eq!(engine.locks().len(), 1, "R is still the session's");
    drop((one, two));
    assert!(engine.locks().is_empty());
}
