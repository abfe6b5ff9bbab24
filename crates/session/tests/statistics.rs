//! The statistics views over a working instance: counters move as their names say, a DBA's questions get their answers,
//! the server's own tasks are where SQL Server has them. Statistics are process-wide, so other tests move them too:
//! what is asked for is "at least".

use device::SimFs;
use executor::Collected;
use runtime::clock;
use session::{Instance, InstanceConfig, Session};
use std::sync::Arc;
use telemetry::WaitType;
use types::Value;

/// How long something that must come may take on a loaded machine.
const PATIENCE_NS: u64 = 60_000_000_000;

fn open() -> Arc<Instance> {
    let config = InstanceConfig::small("/data", SimFs::new(1));
    Instance::open(config).expect("an instance")
}

/// Runs a body with a session in a fresh database `t`.
fn with_session<R: Send + 'static>(
    body: impl FnOnce(&Arc<Instance>, &mut Session) -> R + Send + 'static,
) -> R {
    let instance = open();
    let inside = instance.clone();
    let ran = instance.spawn_session("statistics", move |session| {
        ok(session, "CREATE DATABASE t");
        ok(session, "USE t");
        body(&inside, session)
    });
    let result = ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    instance.shutdown().expect("a clean end");
    result
}

#[track_caller]
fn ok(session: &mut Session, batch: &str) -> Vec<Vec<Value>> {
    let mut answer = Collected::default();
    let done = session.execute(batch, &mut answer);
    assert!(done.is_ok(), "{batch}: {:?}", answer.messages);
    answer.sets.pop().map(|set| set.rows).unwrap_or_default()
}

#[track_caller]
fn number(session: &mut Session, query: &str) -> i64 {
    let rows = ok(session, query);
    assert_eq!(rows.len(), 1, "{query}: {rows:?}");
    rows[0][0].as_i64().unwrap_or_else(|| panic!("{query}: {rows:?}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").trim_end().to_owned()
}

/// Asks until the answer is yes.
#[track_caller]
fn eventually(session: &mut Session, what: &str, mut is_so: impl FnMut(&mut Session) -> bool) {
    let end = clock::now_ns() + PATIENCE_NS;
    while !is_so(session) {
        assert!(clock::now_ns() < end, "not so: {what}");
        runtime::task::sleep_ns(5_000_000, WaitType::SleepTask);
    }
}

/// As it stands in post 3.
const WHERE_IS_THE_LOG_WRITER: &str = "SELECT  s.parent_node_id
       ,s.cpu_id
FROM   sys.dm_os_tasks t
JOIN   sys.dm_os_schedulers s
ON     s.scheduler_id = t.scheduler_id
JOIN   sys.sysprocesses P
ON     p.spid = t.session_id
WHERE  p.cmd  = 'LOG WRITER'";

#[test]
fn the_log_writer_has_a_scheduler_and_a_node_in_every_mode() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE w (i int PRIMARY KEY)");
        for mode in ["LEADER", "DEDICATED", "SCHEDULER", "LEADER"] {
            ok(session, &format!("ALTER SERVER CONFIGURATION SET MILLRACE (LOG_WRITER = {mode})"));
            ok(session, "INSERT w SELECT ISNULL(MAX(i), 0) + 1 FROM w");
            // master's and t's.
            eventually(session, mode, |session| ok(session, WHERE_IS_THE_LOG_WRITER).len() == 2);
        }
        let own = ok(
            session,
            "SELECT DISTINCT RTRIM(cmd), MAX(spid) FROM sys.sysprocesses WHERE spid < 51 GROUP BY cmd ORDER BY 1",
        );
        let commands: Vec<String> = own.iter().map(|row| text(&row[0])).collect();
        assert_eq!(commands, ["CHECKPOINT", "LAZY WRITER", "LOG WRITER"]);
        let query = "SELECT COUNT(*) FROM sys.dm_exec_sessions s JOIN sys.dm_exec_requests r \
                     ON r.session_id = s.session_id WHERE s.is_user_process = 0 AND r.status = 'background'";
        assert_eq!(number(session, query), 6);
        assert_eq!(
            number(
                session,
                "SELECT MIN(session_id) FROM sys.dm_exec_sessions WHERE is_user_process = 1"
            ),
            51
        );
    });
}

#[test]
fn who_blocks_whom() {
    with_session(|instance, session| {
        ok(session, "CREATE TABLE accounts (id int PRIMARY KEY, v int)");
        ok(session, "INSERT accounts VALUES (1, 0)");
        ok(session, "BEGIN TRAN UPDATE accounts SET v = 1 WHERE id = 1");
        let me = number(session, "SELECT @@SPID");
        const SECOND: &str = "UPDATE accounts SET v = v + 1 WHERE id = 1";
        let other = instance.spawn_session("blocked", |session| {
            ok(session, "USE t");
            let spid = number(session, "SELECT @@SPID");
            ok(session, SECOND);
            spid
        });
        let blocked = format!(
            "SELECT r.session_id, r.status, r.command, r.wait_type, r.wait_resource, t.text, s.login_name \
             FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id \
             CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) AS t WHERE r.blocking_session_id = {me}"
        );
        eventually(session, "the other is blocked", |session| ok(session, &blocked).len() == 1);
        let row = &ok(session, &blocked)[0];
        let spid = row[0].as_i64().expect("a session");
        assert_eq!((text(&row[1]), text(&row[2])), ("suspended".into(), "UPDATE".into()));
        assert!(text(&row[3]).starts_with("LCK_M_"), "{row:?}");
        assert!(!text(&row[4]).is_empty(), "{row:?}");
        assert_eq!((text(&row[5]), text(&row[6])), (SECOND.into(), "sa".into()));
        // The waits, with the blocker's last text, as scripts have it.
        let waiting = ok(
            session,
            "SELECT w.session_id, w.wait_type, w.blocking_session_id, w.resource_description, \
             l.resource_type, l.request_mode, l.request_status, b.event_info \
             FROM sys.dm_os_waiting_tasks AS w \
             JOIN sys.dm_tran_locks AS l ON l.lock_owner_address = w.resource_address \
             CROSS APPLY sys.dm_exec_input_buffer(w.blocking_session_id, NULL) AS b \
             WHERE w.blocking_session_id IS NOT NULL",
        );
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        assert_eq!((waiting[0][0].as_i64(), waiting[0][2].as_i64()), (Some(spid), Some(me)));
        assert!(text(&waiting[0][3]).contains("dbid="), "{waiting:?}");
        assert_ne!(text(&waiting[0][6]), "GRANT");
        let counter = "SELECT cntr_value FROM sys.dm_os_performance_counters \
                       WHERE counter_name = 'Processes blocked'";
        assert_eq!(number(session, counter), 1);
        let blk = format!("SELECT blocked FROM sys.sysprocesses WHERE spid = {spid}");
        assert_eq!(number(session, &blk), me);
        let writers = "SELECT COUNT(*) FROM sys.dm_tran_active_transactions a \
             JOIN sys.dm_tran_session_transactions s ON s.transaction_id = a.transaction_id \
             JOIN sys.dm_tran_database_transactions d ON d.transaction_id = a.transaction_id \
             WHERE d.database_transaction_state = 4 AND s.is_user_transaction = 1 \
             AND d.database_transaction_log_bytes_used > 0 AND d.database_id = DB_ID() AND s.session_id = @@SPID";
        assert_eq!(number(session, writers), 1);
        let lock_waits = "SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters \
             WHERE counter_name = 'Lock Waits/sec' AND instance_name = '_Total'";
        let before = number(session, lock_waits);
        ok(session, "COMMIT");
        assert_eq!(other.join().unwrap_or_else(|p| std::panic::resume_unwind(p)), spid);
        assert!(number(session, lock_waits) > before);
        assert_eq!(number(session, "SELECT v FROM accounts"), 2);
    });
}

/// A counter, what moves it, and the least that it moves by.
type Move = (&'static str, &'static str, &'static str, &'static str, i64);

const MOVES: &[Move] = &[
    ("SQL Statistics", "Batch Requests/sec", "", "SELECT 1", 1),
    (
        "SQL Statistics",
        "SQL Compilations/sec",
        "",
        "DECLARE @never_seen_before int SELECT @never_seen_before",
        1,
    ),
    ("Databases", "Transactions/sec", "t", "INSERT moves (v) VALUES ('a')", 1),
    ("Databases", "Write Transactions/sec", "t", "INSERT moves (v) VALUES ('a')", 1),
    ("Databases", "Transactions/sec", "_Total", "INSERT moves (v) VALUES ('a')", 1),
    ("Databases", "Log Flushes/sec", "t", "INSERT moves (v) VALUES ('a')", 1),
    ("Databases", "Log Bytes Flushed/sec", "t", "INSERT moves (v) VALUES ('a')", 512),
    ("Databases", "Log Flush Waits/sec", "t", "INSERT moves (v) VALUES ('a')", 1),
    ("Buffer Manager", "Page lookups/sec", "", "SELECT COUNT(*) FROM moves", 1),
    ("Buffer Manager", "Page writes/sec", "", "INSERT moves (v) VALUES ('a') CHECKPOINT", 1),
    ("Buffer Manager", "Checkpoint pages/sec", "", "INSERT moves (v) VALUES ('a') CHECKPOINT", 1),
    ("Buffer Manager", "Buffer cache hit ratio base", "", "SELECT COUNT(*) FROM moves", 1),
    ("Locks", "Lock Requests/sec", "Object", "UPDATE moves SET v = 'b'", 1),
    ("Locks", "Lock Requests/sec", "Key", "UPDATE moves SET v = 'c'", 1),
    ("Locks", "Lock Requests/sec", "_Total", "INSERT moves (v) VALUES ('a')", 1),
    (
        "Wait Statistics",
        "Log write waits",
        "Waits started per second",
        "INSERT moves (v) VALUES ('a')",
        1,
    ),
];

#[test]
fn open_transactions_of_others_are_counted() {
    with_session(|instance, session| {
        ok(session, "CREATE TABLE held (i int)");
        // The one that asks is one itself.
        let open = "SELECT cntr_value FROM sys.dm_os_performance_counters \
             WHERE object_name = 'SQLServer:General Statistics' AND counter_name = 'Transactions'";
        let alone = number(session, open);
        let mut other = Session::new(instance);
        ok(&mut other, "USE t");
        ok(&mut other, "BEGIN TRANSACTION INSERT held VALUES (1)");
        assert_eq!(number(session, open), alone + 1);
        ok(&mut other, "COMMIT");
        assert_eq!(number(session, open), alone);
    });
}

#[test]
fn counters_move_as_their_names_say() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE moves (i int IDENTITY PRIMARY KEY, v char(200))");
        for (object, counter, instance, doing, least) in MOVES {
            let query = format!(
                "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE object_name = 'SQLServer:{object}' \
                 AND counter_name = '{counter}' AND instance_name = '{instance}'"
            );
            let before = number(session, &query);
            ok(session, doing);
            let after = number(session, &query);
            assert!(
                after >= before + least,
                "{object}, {counter}, {instance}: {before} then {after}"
            );
        }
        let kinds = "SELECT COUNT(*) FROM sys.dm_os_performance_counters WHERE cntr_type NOT IN \
                     (65792, 272696576, 537003264, 1073939712, 1073874176, 272696320)";
        assert_eq!(number(session, kinds), 0);
        let twice = "SELECT COUNT(*) - COUNT(DISTINCT RTRIM(object_name) + '|' + RTRIM(counter_name) + '|' + \
                     RTRIM(instance_name)) FROM sys.dm_os_performance_counters";
        assert_eq!(number(session, twice), 0);
    });
}

#[test]
fn files_and_logs_tell_what_was_written() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE f (i int IDENTITY PRIMARY KEY, v char(4000))");
        let of = |file: i32| {
            format!(
                "SELECT num_of_writes, num_of_bytes_written, io_stall_write_ms, size_on_disk_bytes, io_stall \
                 FROM sys.dm_io_virtual_file_stats(DB_ID(), {file})"
            )
        };
        let before: Vec<_> = [1, 2].iter().map(|f| ok(session, &of(*f))).collect();
        ok(
            session,
            "DECLARE @i int = 0 WHILE @i < 50 BEGIN INSERT f (v) VALUES ('x') SET @i += 1 END CHECKPOINT",
        );
        for (file, before) in [1, 2].iter().zip(before) {
            let after = ok(session, &of(*file));
            let number = |rows: &[Vec<Value>], i: usize| rows[0][i].as_i64().expect("a number");
            assert!(number(&after, 0) > number(&before, 0), "file {file}");
            assert!(number(&after, 1) >= number(&before, 1) + 100_000, "file {file}");
            assert!(number(&after, 4) >= number(&before, 4) && number(&after, 3) > 0);
        }
        // Latency per file, as every script has it.
        let latency = ok(
            session,
            "SELECT DB_NAME(vfs.database_id) AS db, mf.name, mf.physical_name, vfs.num_of_reads, \
             CASE WHEN vfs.num_of_writes = 0 THEN 0 ELSE vfs.io_stall_write_ms / vfs.num_of_writes END AS write_ms, \
             CASE WHEN vfs.num_of_reads = 0 THEN 0 ELSE vfs.io_stall_read_ms / vfs.num_of_reads END AS read_ms \
             FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS vfs \
             JOIN sys.master_files AS mf ON vfs.database_id = mf.database_id AND vfs.file_id = mf.file_id \
             WHERE vfs.database_id = DB_ID() ORDER BY write_ms DESC",
        );
        assert_eq!(latency.len(), 2, "{latency:?}");
        // Post 5: what is on its way, with its file.
        ok(
            session,
            "SELECT f.name, p.io_pending, p.io_pending_ms_ticks FROM sys.dm_io_pending_io_requests AS p \
             JOIN sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS v ON v.file_handle = p.io_handle \
             JOIN sys.database_files AS f ON f.file_id = v.file_id",
        );
        let logs = ok(
            session,
            "SELECT d.name, l.total_vlf_count, l.active_vlf_count, l.log_truncation_holdup_reason, \
             l.total_log_size_mb FROM sys.databases AS d CROSS APPLY sys.dm_db_log_stats(d.database_id) AS l",
        );
        assert_eq!(logs.len(), 2, "{logs:?}");
        assert!(
            logs.iter().all(|row| row[1].as_i64() >= row[2].as_i64() && row[2].as_i64() > Some(0))
        );
        let mut answer = Collected::default();
        for batch in
            ["DBCC LOGINFO", "DBCC LOGINFO ('t') WITH NO_INFOMSGS", "DBCC SQLPERF (LOGSPACE)"]
        {
            assert!(session.execute(batch, &mut answer).is_ok(), "{batch}: {:?}", answer.messages);
        }
        let [loginfo, named, space] = &answer.sets[..] else { panic!("{:?}", answer.sets.len()) };
        assert!(loginfo.rows.len() >= 4 && loginfo.rows.len() == named.rows.len());
        let names: Vec<&str> = loginfo.columns.iter().map(|c| &*c.name).collect();
        assert_eq!(
            names,
            [
                "RecoveryUnitId",
                "FileId",
                "FileSize",
                "StartOffset",
                "FSeqNo",
                "Status",
                "Parity",
                "CreateLSN"
            ]
        );
        assert_eq!(space.rows.len(), 2);
    });
}

#[test]
fn the_use_of_an_index_is_counted_by_statement() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE u (i int PRIMARY KEY, v int)");
        ok(session, "INSERT u VALUES (1, 1), (2, 2), (3, 3)");
        for _ in 0..3 {
            ok(session, "SELECT v FROM u WHERE i = 2");
        }
        ok(session, "SELECT MAX(v) FROM u");
        let rows = ok(
            session,
            "SELECT s.user_seeks, s.user_scans, s.user_updates, s.last_user_seek, i.index_id \
             FROM sys.dm_db_index_usage_stats AS s JOIN sys.indexes AS i \
             ON i.object_id = s.object_id AND i.index_id = s.index_id \
             WHERE s.object_id = OBJECT_ID('u') AND s.database_id = DB_ID()",
        );
        assert_eq!(rows.len(), 1, "{rows:?}");
        let counts: Vec<Option<i64>> = rows[0][..3].iter().map(Value::as_i64).collect();
        assert_eq!(counts, [Some(3), Some(1), Some(1)], "{rows:?}");
        assert!(!rows[0][3].is_null());
    });
}

#[test]
fn a_session_shows_its_settings_and_what_it_has_used() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE s (i int IDENTITY PRIMARY KEY, v char(2000))");
        ok(
            session,
            "DECLARE @i int = 0 WHILE @i < 100 BEGIN INSERT s (v) VALUES ('x') SET @i += 1 END",
        );
        let mine = "FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
        let reads = format!("SELECT logical_reads {mine}");
        let before = number(session, &reads);
        ok(session, "SELECT COUNT(*) FROM s WHERE v = 'y'");
        assert!(number(session, &reads) > before);
        ok(
            session,
            "SET LOCK_TIMEOUT 1234 SET DATEFORMAT dmy SET DATEFIRST 3 SET DEADLOCK_PRIORITY HIGH SET ARITHABORT OFF \
             SET TRANSACTION ISOLATION LEVEL SERIALIZABLE SET TEXTSIZE 4096 SET CONTEXT_INFO 0x0102",
        );
        let row = ok(
            session,
            &format!(
                "SELECT lock_timeout, date_format, date_first, deadlock_priority, arithabort, ansi_nulls, \
                 transaction_isolation_level, text_size, quoted_identifier, SUBSTRING(context_info, 1, 2), \
                 database_id - DB_ID() {mine}"
            ),
        );
        let expected = [
            Value::Int(1234),
            Value::str("dmy"),
            Value::SmallInt(3),
            Value::Int(5),
            Value::Bit(false),
            Value::Bit(true),
            Value::SmallInt(4),
            Value::Int(4096),
            Value::Bit(true),
            Value::binary(&[1, 2]),
        ];
        assert_eq!(row[0][..10], expected);
        assert_eq!(row[0][10].as_i64(), Some(0));
        ok(session, "BEGIN TRAN BEGIN TRAN");
        let open = format!("SELECT open_transaction_count {mine}");
        assert_eq!(number(session, &open), 2);
        let _ = session.execute("SELECT 1/0", &mut Collected::default());
        ok(session, "ROLLBACK");
        // Of the request that asks.
        let row = ok(
            session,
            "SELECT r.command, r.status, t.text, r.scheduler_id, k.task_state, w.state, h.os_thread_id \
             FROM sys.dm_exec_requests AS r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) AS t \
             JOIN sys.dm_os_tasks AS k ON k.task_address = r.task_address \
             JOIN sys.dm_os_workers AS w ON w.worker_address = k.worker_address \
             JOIN sys.dm_os_threads AS h ON h.thread_address = w.thread_address WHERE r.session_id = @@SPID",
        );
        assert_eq!(row.len(), 1);
        assert_eq!((text(&row[0][0]), text(&row[0][1])), ("SELECT".into(), "running".into()));
        assert!(text(&row[0][2]).starts_with("SELECT r.command"));
        assert_eq!((text(&row[0][4]), text(&row[0][5])), ("RUNNING".into(), "RUNNING".into()));
        let mut answer = Collected::default();
        assert!(session.execute("DBCC INPUTBUFFER (51) WITH NO_INFOMSGS", &mut answer).is_ok());
        let seen = &answer.sets[0].rows[0];
        assert_eq!(text(&seen[0]), "Language Event");
        assert_eq!(text(&seen[2]), "DBCC INPUTBUFFER (51) WITH NO_INFOMSGS");
        let mut answer = Collected::default();
        let _ = session.execute("DBCC INPUTBUFFER (999)", &mut answer);
        assert_eq!(answer.errors(), [7955]);
        let _ = session.execute("DBCC SQLPERF (nonsense)", &mut answer);
        assert_eq!(answer.errors(), [7955, 2560]);
    });
}

/// What a DBA asks first, as scripts have it.
const USUAL: &[&str] = &[
    // Top waits with signal time.
    "SELECT TOP 10 wait_type, wait_time_ms / 1000.0 AS wait_s, (wait_time_ms - signal_wait_time_ms) / 1000.0 AS resource_s, \
     signal_wait_time_ms / 1000.0 AS signal_s, waiting_tasks_count AS wait_count, \
     100.0 * wait_time_ms / SUM(wait_time_ms) OVER () AS percentage \
     FROM sys.dm_os_wait_stats WHERE waiting_tasks_count > 0 AND wait_time_ms > 0 ORDER BY wait_time_ms DESC",
    "SELECT TOP 10 name, collisions, spins, spins_per_collision, sleep_time, backoffs FROM sys.dm_os_spinlock_stats \
     ORDER BY spins DESC",
    "SELECT TOP 10 * FROM sys.dm_os_latch_stats ORDER BY wait_time_ms DESC",
    // Active requests.
    "SELECT r.session_id, r.status, r.command, r.cpu_time, r.total_elapsed_time, r.wait_type, r.blocking_session_id, \
     SUBSTRING(t.text, r.statement_start_offset / 2 + 1, (CASE r.statement_end_offset WHEN -1 THEN DATALENGTH(t.text) \
     ELSE r.statement_end_offset END - r.statement_start_offset) / 2 + 1) AS statement_text, s.login_name, s.host_name \
     FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s ON r.session_id = s.session_id \
     CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) AS t WHERE s.is_user_process = 1",
    "SELECT scheduler_id, cpu_id, status, runnable_tasks_count, current_tasks_count, context_switches_count, \
     total_cpu_usage_ms FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE'",
    "SELECT node_id, node_state_desc, online_scheduler_count, cpu_count FROM sys.dm_os_nodes",
    "SELECT memory_node_id, pages_kb, foreign_committed_kb, target_kb FROM sys.dm_os_memory_nodes",
    "SELECT TOP 5 type, SUM(pages_kb) AS kb FROM sys.dm_os_memory_clerks GROUP BY type ORDER BY kb DESC",
    "SELECT cpu_count, scheduler_count, physical_memory_kb, committed_kb, sqlserver_start_time, process_user_time_ms \
     FROM sys.dm_os_sys_info",
    "SELECT DB_NAME(database_id), reserved_space_kb FROM sys.dm_tran_version_store_space_usage",
    "SELECT * FROM sys.dm_db_log_space_usage",
    "SELECT * FROM sys.dm_db_log_info(DB_ID())",
    "EXEC sp_who2",
    "SELECT counter_name, cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Page life expectancy'",
];

#[test]
fn a_dbas_usual_questions_are_answered() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE d (i int PRIMARY KEY) INSERT d VALUES (1)");
        for query in USUAL {
            assert!(!ok(session, query).is_empty(), "{query}");
        }
        ok(session, "BEGIN TRAN UPDATE d SET i = 2 WHERE i = 1");
        ok(session, "EXEC sp_lock");
        ok(session, "ROLLBACK");
        // Waits are shown as well as cleared.
        assert!(!ok(session, "DBCC SQLPERF ('sys.dm_os_wait_stats') WITH NO_INFOMSGS").is_empty());
        assert!(!ok(session, "DBCC SQLPERF (SPINLOCKSTATS) WITH NO_INFOMSGS").is_empty());
        ok(session, "DBCC SQLPERF (\"sys.dm_os_latch_stats\", clear) WITH NO_INFOMSGS");
    });
}

#[test]
fn memory_is_told_the_same_everywhere() {
    with_session(|_, session| {
        let target = "SELECT COUNT(*) FROM sys.dm_os_sys_info AS i JOIN sys.dm_os_performance_counters AS c \
                      ON c.counter_name = 'Target Server Memory (KB)' AND c.cntr_value = i.committed_target_kb";
        assert_eq!(number(session, target), 1);
        let nodes = "SELECT MAX(i.committed_target_kb) - SUM(n.target_kb) FROM sys.dm_os_sys_info AS i \
                     CROSS JOIN sys.dm_os_memory_nodes AS n";
        let nodes_kb = number(session, nodes);
        assert!((0..64).contains(&nodes_kb), "rounded down for each node: {nodes_kb}");
        let counters = "SELECT COUNT(*) FROM sys.dm_os_memory_nodes AS n JOIN sys.dm_os_performance_counters AS c \
                        ON c.counter_name = 'Target Node Memory (KB)' AND c.cntr_value = n.target_kb \
                        AND CAST(c.instance_name AS int) = n.memory_node_id";
        let all = number(session, "SELECT COUNT(*) FROM sys.dm_os_memory_nodes");
        assert_eq!(number(session, counters), all);
        assert!(number(session, "SELECT page_fault_count FROM sys.dm_os_process_memory") > 0);

        // A node has one clerk and one object, each clerk but a pool's has an object, each plan has one.
        let nodes = number(session, "SELECT COUNT(*) FROM sys.dm_os_nodes");
        let clerks = "SELECT COUNT(DISTINCT c.memory_clerk_address) FROM sys.dm_os_nodes AS n JOIN sys.dm_os_memory_clerks \
                      AS c ON c.memory_clerk_address = n.memory_clerk_address AND c.type = 'MEMORYCLERK_SOSNODE'";
        assert_eq!(number(session, clerks), nodes);
        let objects = "SELECT COUNT(DISTINCT o.memory_object_address) FROM sys.dm_os_nodes AS n \
                       JOIN sys.dm_os_memory_objects AS o ON o.memory_object_address = n.memory_object_address \
                       AND o.page_allocator_address = n.memory_clerk_address";
        assert_eq!(number(session, objects), nodes);
        let without = "SELECT COUNT(*) FROM sys.dm_os_memory_clerks AS c WHERE c.type <> 'MEMORYCLERK_SQLBUFFERPOOL' \
                       AND NOT EXISTS (SELECT * FROM sys.dm_os_memory_objects AS o \
                       WHERE o.page_allocator_address = c.page_allocator_address)";
        assert_eq!(number(session, without), 0);
        let plans = "SELECT COUNT(*) FROM sys.dm_exec_cached_plans AS p JOIN sys.dm_os_memory_objects AS o \
                     ON o.memory_object_address = p.memory_object_address";
        assert!(number(session, plans) > 0);

        let counter = |name: &str| {
            format!(
                "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{name} (KB)' \
                 AND object_name = 'SQLServer:Memory Manager'"
            )
        };
        for some in [
            "Database Cache Memory",
            "Log Pool Memory",
            "Maximum Workspace Memory",
            "Total Server Memory",
        ] {
            assert!(number(session, &counter(some)) > 0, "{some}");
        }
        for none in ["Connection Memory", "Granted Workspace Memory"] {
            assert_eq!(number(session, &counter(none)), 0, "{none}");
        }
    });
}

#[test]
fn without_the_permission_a_session_sees_itself() {
    with_session(|_, session| {
        ok(session, "CREATE LOGIN looker WITH PASSWORD = 'Str0ng-enough'");
        ok(session, "CREATE USER looker FOR LOGIN looker");
        ok(session, "EXECUTE AS LOGIN = 'looker'");
        for view in ["sys.dm_exec_sessions", "sys.dm_exec_requests", "sys.sysprocesses"] {
            assert_eq!(number(session, &format!("SELECT COUNT(*) FROM {view}")), 1, "{view}");
        }
        assert_eq!(number(session, "SELECT COUNT(*) FROM sys.dm_exec_input_buffer(@@SPID, 0)"), 1);
        assert_eq!(number(session, "SELECT COUNT(*) FROM sys.dm_exec_input_buffer(1, 0)"), 0);
        let refused = |session: &mut Session, batch: &str| {
            let mut answer = Collected::default();
            assert!(session.execute(batch, &mut answer).is_err(), "{batch}");
            answer.errors()
        };
        for view in [
            "sys.dm_os_wait_stats",
            "sys.dm_os_tasks",
            "sys.dm_os_waiting_tasks",
            "sys.dm_tran_locks",
            "sys.dm_io_virtual_file_stats(NULL, NULL)",
            "sys.dm_os_performance_counters",
            "sys.dm_db_index_usage_stats",
            "sys.dm_db_log_space_usage",
            "sys.dm_exec_sql_text(0x02)",
        ] {
            assert_eq!(refused(session, &format!("SELECT * FROM {view}")), [300, 297], "{view}");
        }
        assert_eq!(refused(session, "SELECT * FROM sys.dm_db_log_info(NULL)"), [262, 297]);
        for batch in [
            "DBCC SQLPERF (LOGSPACE)",
            "DBCC SQLPERF ('sys.dm_os_wait_stats', CLEAR)",
            "DBCC LOGINFO",
            "DBCC INPUTBUFFER (1)",
        ] {
            assert_eq!(refused(session, batch), [2571], "{batch}");
        }
        ok(session, "DBCC INPUTBUFFER (51) WITH NO_INFOMSGS");
        ok(session, "REVERT");
        ok(session, "USE master GRANT VIEW SERVER STATE TO looker");
        ok(session, "USE t");
        ok(session, "EXECUTE AS LOGIN = 'looker'");
        assert!(number(session, "SELECT COUNT(*) FROM sys.dm_exec_sessions") > 1);
        ok(session, "SELECT * FROM sys.dm_os_wait_stats");
        ok(session, "DBCC SQLPERF (LOGSPACE) WITH NO_INFOMSGS");
        assert_eq!(refused(session, "DBCC SQLPERF ('sys.dm_os_wait_stats', CLEAR)"), [2571]);
        ok(session, "REVERT");
    });
}

#[test]
fn a_session_is_told_what_its_statements_read_and_how_long_they_took() {
    with_session(|_, session| {
        ok(session, "CREATE TABLE r (id int PRIMARY KEY, a int) INSERT r VALUES (1, 1), (2, 2)");
        let mut answer = Collected::default();
        let _ = session.execute("SET STATISTICS IO, TIME ON", &mut answer);
        let mut answer = Collected::default();
        let batch = "SELECT a FROM r WHERE id = 2 SELECT COUNT(*) FROM r INSERT r VALUES (3, 3)";
        assert!(session.execute(batch, &mut answer).is_ok(), "{:?}", answer.messages);
        let numbers: Vec<i32> = answer.messages.iter().map(|m| m.number).collect();
        assert_eq!(numbers, [3613, 3615, 3612, 3615, 3612, 3615, 3612]);
        let texts: Vec<&str> = answer.messages.iter().map(|m| &*m.text).collect();
        assert!(texts[0].starts_with("SQL Server parse and compile time: \n   CPU time = "));
        for (text, scans) in [(texts[1], 0), (texts[3], 1), (texts[5], 0)] {
            let begin = format!("Table 'r'. Scan count {scans}, logical reads ");
            let rest = text.strip_prefix(&*begin).unwrap_or_else(|| panic!("{text}"));
            let reads: u64 = rest.split(',').next().and_then(|n| n.parse().ok()).expect("a number");
            assert!((1..100).contains(&reads), "{text}");
            assert!(rest.contains(", physical reads ") && rest.contains(", lob logical reads 0"));
        }
        assert!(texts[2].starts_with("\n SQL Server Execution Times:\n   CPU time = "));
        assert_eq!(answer.counts.iter().flatten().collect::<Vec<_>>(), [&1, &1, &1]);
        // In a loop of singletons, which has a short way of its own, they are told too.
        let batch = "DECLARE @i int = 10 WHILE @i < 13 BEGIN BEGIN TRAN INSERT r VALUES (@i, 0) COMMIT \
                     SET @i += 1 END";
        let mut answer = Collected::default();
        assert!(session.execute(batch, &mut answer).is_ok());
        assert_eq!(answer.messages.iter().filter(|m| m.number == 3615).count(), 3);
        let mut answer = Collected::default();
        let _ = session.execute("SET STATISTICS IO, TIME OFF", &mut answer);
        let mut answer = Collected::default();
        assert!(session.execute("SELECT a FROM r", &mut answer).is_ok());
        assert!(answer.messages.is_empty(), "{:?}", answer.messages);
    });
}

#[test]
fn plans_of_many_sessions_are_shared_and_their_figures_add_up() {
    const SESSIONS: i64 = 4;
    const EACH: i64 = 50;
    let instance = open();
    let first = instance.clone();
    let ran = instance.spawn_session("first", move |session| {
        ok(session, "CREATE DATABASE t");
        ok(session, "USE t CREATE TABLE s (id bigint PRIMARY KEY, a int)");
        ok(
            session,
            "CREATE PROCEDURE fill @from bigint, @to bigint AS WHILE @from < @to BEGIN INSERT s VALUES (@from, 1) \
             SET @from = @from + 1 END",
        );
        let others: Vec<_> = (0..SESSIONS)
            .map(|i| {
                first.spawn_session("other", move |session| {
                    ok(session, "USE t");
                    let (from, to) = (i * EACH, (i + 1) * EACH);
                    ok(session, &format!("EXEC fill {from}, {to}"));
                    ok(session, &format!("EXEC sp_executesql N'SELECT a FROM s WHERE id = @i', N'@i int', {from}"));
                })
            })
            .collect();
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        let of = |what: &str, text: &str| {
            format!(
                "SELECT SUM({what}) FROM sys.dm_exec_query_stats AS q CROSS APPLY \
                 sys.dm_exec_sql_text(q.sql_handle) AS t WHERE t.text LIKE '{text}%'"
            )
        };
        assert_eq!(number(session, &of("execution_count", "CREATE PROCEDURE fill")), SESSIONS * EACH);
        assert_eq!(number(session, &of("total_rows", "CREATE PROCEDURE fill")), SESSIONS * EACH);
        assert_eq!(number(session, &of("execution_count", "(@i int)SELECT a FROM s")), SESSIONS);
        let plans = "SELECT COUNT(*) FROM sys.dm_exec_cached_plans CROSS APPLY \
                     sys.dm_exec_sql_text(plan_handle) WHERE objtype = 'Prepared' AND text LIKE '(@i int)SELECT a FROM s%'";
        assert_eq!(number(session, plans), 1);
        ok(session, "DBCC FREEPROCCACHE WITH NO_INFOMSGS");
        assert_eq!(number(session, plans), 0);
        ok(session, "EXEC fill 1000, 1010");
        assert_eq!(number(session, &of("execution_count", "CREATE PROCEDURE fill")), 10);
    });
    ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    instance.shutdown().expect("a clean end");
}

#[test]
fn a_sample_takes_a_leaf_once() {
    with_session(|_, session| {
        // Two rows a leaf, of which a sample reads some 400 leaves.
        ok(session, "CREATE TABLE wide (i int PRIMARY KEY, d date, filler char(3000))");
        ok(
            session,
            "INSERT wide SELECT value, DATEADD(day, value, '2000-01-01'), '' FROM GENERATE_SERIES(1, 3000)",
        );
        ok(session, "CREATE STATISTICS s ON wide (d)");
        let rows = ok(
            session,
            "SELECT MAX(equal_rows), SUM(distinct_range_rows) + COUNT(*) \
             FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_histogram(s.object_id, s.stats_id) \
             WHERE s.object_id = OBJECT_ID('wide') AND s.name = 's'",
        );
        let number = |at: usize| match &rows[0][at] {
            Value::Real(v) => f64::from(*v),
            Value::Float(v) => *v,
            other => other.as_i64().unwrap_or(-1) as f64,
        };
        // All values differ: no step's value has more rows than one row of the sample stands for, and of 3,000 values
        // nearly all are expected.
        assert!(number(0) < 5.0, "{rows:?}");
        assert!((2_500.0..3_200.0).contains(&number(1)), "{rows:?}");
    });
}

#[test]
fn a_memory_optimised_table_is_sampled_where_its_rows_are() {
    with_session(|_, session| {
        ok(session, "ALTER DATABASE t ADD FILEGROUP mem CONTAINS MEMORY_OPTIMIZED_DATA");
        ok(session, "ALTER DATABASE t ADD FILE (NAME = 'mem', FILENAME = 'mem') TO FILEGROUP mem");
        let keys = ["NONCLUSTERED", "NONCLUSTERED HASH WITH (BUCKET_COUNT = 65536)"];
        for (table, key, kept) in [
            ("ranged", keys[0], "SCHEMA_AND_DATA"),
            ("hashed", keys[1], "SCHEMA_AND_DATA"),
            ("fleeting", keys[1], "SCHEMA_ONLY"),
        ] {
            ok(
                session,
                &format!(
                    "CREATE TABLE {table} (i int NOT NULL PRIMARY KEY {key}, n int NOT NULL) \
                     WITH (MEMORY_OPTIMIZED = ON, DURABILITY = {kept})"
                ),
            );
            ok(
                session,
                &format!("INSERT {table} SELECT value, value % 500 FROM GENERATE_SERIES(1, 80000)"),
            );
            ok(session, &format!("CREATE STATISTICS s ON {table} (n)"));
            let rows = ok(
                session,
                &format!(
                    "SELECT p.rows, p.rows_sampled, \
                     (SELECT CAST(SUM(distinct_range_rows) + COUNT(*) AS bigint) \
                      FROM sys.dm_db_stats_histogram(s.object_id, s.stats_id)) \
                     FROM sys.stats AS s CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p \
                     WHERE s.object_id = OBJECT_ID('{table}') AND s.name = 's'"
                ),
            );
            let number = |at: usize| rows[0][at].as_i64().unwrap_or(-1);
            assert!((76_000..84_000).contains(&number(0)), "{table}: {rows:?}");
            assert!((10_000..60_000).contains(&number(1)), "{table}: {rows:?}");
            assert!((450..=520).contains(&number(2)), "{table}: {rows:?}");
        }
        // Most leaves are left empty: of the others none may be in a sample.
        ok(session, "DELETE ranged WHERE i <= 79400");
        ok(session, "UPDATE STATISTICS ranged s");
        let rows = ok(
            session,
            "SELECT p.rows, p.rows_sampled FROM sys.stats AS s \
             CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p \
             WHERE s.object_id = OBJECT_ID('ranged') AND s.name = 's'",
        );
        let number = |at: usize| rows[0][at].as_i64().unwrap_or(-1);
        assert_eq!((number(0), number(1)), (600, 600));
    });
}
