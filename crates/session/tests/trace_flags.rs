//! Trace flags of the whole server: from the start, by DBCC, and what those with a meaning do. A program of its own,
//! because several of them are the process's.

use device::SimFs;
use engine::Use;
use session::{Collected, Instance, InstanceConfig, Session};

fn run(session: &mut Session, batch: &str) -> Vec<String> {
    let mut sink = Collected::default();
    session.execute(batch, &mut sink).unwrap_or_else(|()| panic!("{batch}: {:?}", sink.messages));
    let rows = sink.sets.iter().flat_map(|set| &set.rows);
    let text = |row: &Vec<types::Value>| {
        let words = row.iter().map(|v| types::format::shell(v, v.natural_type()));
        words.collect::<Vec<_>>().join(" ")
    };
    rows.map(text).collect()
}

#[test]
fn flags_from_the_start_and_by_dbcc() {
    let mut config = InstanceConfig::small("/data", SimFs::new(1));
    config.buffer_pool_bytes = 8 << 20;
    config.trace_flags = [834, 2330].into();
    let instance = Instance::open(config).expect("open");
    let (mut a, mut b) = (Session::new(&instance), Session::new(&instance));
    assert_eq!(run(&mut a, "DBCC TRACESTATUS(-1)"), ["834 1 1 0", "2330 1 1 0"]);
    run(&mut a, "CREATE DATABASE d");
    run(&mut a, "USE d; CREATE TABLE t (k int PRIMARY KEY, v int)");
    let database = instance.database("d").expect("there");
    let table = database.catalog.table(None, Some("dbo"), "t").expect("there");
    let usage = || database.engine.tree(table.tree).usage();
    run(&mut a, "INSERT t VALUES (1, 1)");
    assert!(usage().is_unused(), "2330: nothing is kept");
    run(&mut b, "DBCC TRACEOFF(2330, -1)");
    assert_eq!(run(&mut a, "DBCC TRACESTATUS(2330, 834)"), ["2330 0 0 0", "834 1 1 0"]);
    // One statement counts once, whatever its rows.
    run(&mut a, "INSERT t VALUES (2, 1), (3, 1), (4, 1)");
    run(
        &mut a,
        "DECLARE @i int = 10; WHILE @i < 15 BEGIN INSERT t VALUES (@i, @i); SET @i += 1 END",
    );
    run(&mut a, "UPDATE t SET v = 2 WHERE k > 2");
    assert_eq!((usage().count(Use::Update), usage().count(Use::Seek)), (7, 1));
    run(
        &mut a,
        "DELETE t WHERE v = 1; SELECT * FROM t; DECLARE @v int; SELECT @v = v FROM t WHERE k = 3",
    );
    let last = usage();
    assert_eq!((last.count(Use::Update), last.count(Use::Scan)), (8, 2));
    assert_eq!((last.count(Use::Seek), last.count(Use::Lookup)), (2, 0));
    assert!(last.last_unix_ns(Use::Scan).is_some() && last.last_unix_ns(Use::Lookup).is_none());
    run(&mut b, "DBCC TRACEON(2330, -1)");
    run(&mut a, "SELECT * FROM t");
    assert_eq!(usage(), last);
    run(&mut b, "DBCC TRACEOFF(2330, -1)");
    // Both files of a filegroup grow, though one had room.
    run(&mut a, "DBCC TRACEON(1117, -1)");
    drop((a, b, database));
    instance.shutdown().expect("closed");
}
