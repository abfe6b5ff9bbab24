//! The memory of pages: emptied by DBCC, described, bounded while the server runs. A program of its own, because limits
//! are the process's.

use device::SimFs;
use session::{Collected, Instance, InstanceConfig, Session};
use std::time::{Duration, Instant};

fn run(session: &mut Session, batch: &str) -> Vec<i64> {
    let mut sink = Collected::default();
    session.execute(batch, &mut sink).unwrap_or_else(|()| panic!("{batch}: {:?}", sink.messages));
    let rows = sink.sets.iter().flat_map(|set| &set.rows);
    rows.flatten().filter_map(types::Value::as_i64).collect()
}

const PAGES: &str = "SELECT COUNT(*) FROM sys.dm_os_buffer_descriptors \
                     WHERE database_id = DB_ID('d') AND page_type = 'DATA_PAGE'";

#[test]
fn memory_is_emptied_and_bounded() {
    let mut config = InstanceConfig::small("/data", SimFs::new(1));
    config.buffer_pool_bytes = 160 << 20;
    let instance = Instance::open(config).expect("open");
    let mut s = Session::new(&instance);
    run(&mut s, "CREATE DATABASE d");
    run(&mut s, "USE d; CREATE TABLE t (k int PRIMARY KEY, v char(4000) NOT NULL)");
    let fill = "SET NOCOUNT ON; DECLARE @i int = 0; WHILE @i < 200 BEGIN INSERT t VALUES (@i, 'x'); SET @i += 1 END";
    run(&mut s, fill);
    let filled = run(&mut s, PAGES)[0];
    assert!(filled >= 100, "{filled} pages of 100 and more");
    let asked = "SELECT COUNT(*) FROM sys.dm_os_buffer_descriptors b JOIN sys.allocation_units u \
                 ON u.allocation_unit_id = b.allocation_unit_id JOIN sys.partitions p ON p.hobt_id = u.container_id \
                 WHERE b.database_id = DB_ID('d') AND p.object_id = OBJECT_ID('t') AND b.page_type = 'DATA_PAGE'";
    assert!(run(&mut s, asked)[0] >= 100);

    // Changed pages stay until a checkpoint has written them.
    run(&mut s, "CHECKPOINT; DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS");
    let left = run(&mut s, PAGES)[0];
    assert!(left < 20, "{left} of {filled} pages are still in memory");
    assert_eq!(run(&mut s, "SELECT COUNT(*), SUM(LEN(v)) FROM t"), [200, 200]);
    assert!(run(&mut s, PAGES)[0] >= 100);

    // Half of 'max server memory' is for pages of databases, also while they are in use.
    let target = "SELECT cntr_value FROM sys.dm_os_performance_counters \
                  WHERE object_name LIKE '%Buffer Manager%' AND counter_name = 'Target pages'";
    let committed = "SELECT committed_target_kb FROM sys.dm_os_sys_info";
    let (before, committed_before) = (run(&mut s, target)[0], run(&mut s, committed)[0]);
    run(&mut s, "EXEC sp_configure 'show advanced options', 1; RECONFIGURE");
    run(&mut s, "EXEC sp_configure 'max server memory (MB)', 128; RECONFIGURE");
    let less = (160 - 64) * 128;
    assert_eq!(run(&mut s, target)[0], before - less);
    assert_eq!(run(&mut s, committed)[0], 128 << 10);
    run(&mut s, "EXEC sp_configure 'max server memory (MB)', 2147483647; RECONFIGURE");
    assert_eq!(run(&mut s, target)[0], before);
    assert_eq!(run(&mut s, committed)[0], committed_before);

    // Sessions' memory counts before pages, down to the minimum.
    let most = run(
        &mut s,
        "SELECT CAST(value_in_use AS bigint) FROM sys.configurations WHERE name LIKE 'max server m%'",
    );
    assert_eq!(most, [2_147_483_647]);
    run(&mut s, "EXEC sp_configure 'min server memory (MB)', 80; RECONFIGURE");
    let database = instance.database("d").expect("there");
    let target_is = |mb: u64| {
        let until = Instant::now() + Duration::from_secs(20);
        while database.engine.pool_target_bytes() != mb << 20 {
            let is = database.engine.pool_target_bytes() >> 20;
            assert!(Instant::now() < until, "{is} MB and not {mb}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    target_is(160);
    runtime::memory::set_limit_bytes(runtime::memory::heap_bytes() + (16 << 20));
    target_is(40);
    runtime::memory::set_limit_bytes(u64::MAX);
    target_is(160);
    drop(database);
    assert_eq!(run(&mut s, "SELECT COUNT(*), SUM(LEN(v)) FROM t"), [200, 200]);

    // One WAITFOR is one wait.
    let waits = "SELECT waiting_tasks_count FROM sys.dm_os_wait_stats WHERE wait_type = 'WAITFOR'";
    let before = run(&mut s, waits).first().copied().unwrap_or(0);
    run(&mut s, "WAITFOR DELAY '00:00:00.150'");
    assert_eq!(run(&mut s, waits)[0] - before, 1);
    drop(s);
    instance.shutdown().expect("closed");
}
