//! Space in the log and in filegroups, as T-SQL meets it: 9002 and what it is told of, shrinking, proportional fill, 1105.

use device::SimFs;
use executor::{Collected, ResultSink};
use session::{Instance, InstanceConfig, Session};
use types::Value;

fn with_session(body: impl FnOnce(&mut Session) + Send + 'static) {
    let fs = SimFs::new(1);
    let mut config = InstanceConfig::small("/data", fs);
    config.buffer_pool_bytes = 32 << 20;
    config.log.full_wait_ms = 500;
    let instance = Instance::open(config).expect("opens");
    let ran = instance.spawn_session("test", body);
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}

fn run(session: &mut Session, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said as &mut dyn ResultSink);
    said
}

/// A batch without errors.
fn ran(session: &mut Session, batch: &str) -> Collected {
    let said = run(session, batch);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said
}

/// The one value that a query gives, as a number.
fn number(session: &mut Session, query: &str) -> i64 {
    let said = ran(session, query);
    let value = &said.sets[0].rows[0][0];
    value.as_i64().unwrap_or_else(|| panic!("{query}: {value:?}"))
}

fn text(session: &mut Session, query: &str) -> String {
    let said = ran(session, query);
    match &said.sets[0].rows[0][0] {
        Value::Str(text) => text.to_string(),
        other => panic!("{query}: {other:?}"),
    }
}

const WHY: &str = "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'd'";
const VLFS: &str = "SELECT COUNT(*) FROM sys.dm_db_log_info(DB_ID('d'))";
const LOG_BYTES: &str = "SELECT total_log_size_in_bytes FROM sys.dm_db_log_space_usage";
const FILL: &str = "
    DECLARE @i int = 0
    WHILE @i < 4000 BEGIN INSERT t VALUES (REPLICATE('x', 4000)) SET @i += 1 END";

const DATABASE: &str = "
    CREATE DATABASE d ON (NAME = d, FILENAME = 'd.mdf')
    LOG ON (NAME = d_log, FILENAME = 'd.ldf', SIZE = 4MB, MAXSIZE = 8MB)";

/// What a transaction may have to write to be taken back is set aside as it goes: an update's is as long as the update.
#[test]
fn a_full_log_has_room_to_take_back_what_filled_it() {
    with_session(|s| {
        ran(s, DATABASE);
        ran(s, "USE d CREATE TABLE t (id int IDENTITY PRIMARY KEY, v varchar(4000))");
        ran(
            s,
            "DECLARE @i int = 0
             WHILE @i < 3000 BEGIN INSERT t VALUES (REPLICATE('x', 3000)) SET @i += 1 END",
        );
        for change in [
            "UPDATE t SET v = REPLICATE(CHAR(65 + id % 20), 3000)",
            "UPDATE t SET v = REPLICATE('y', 3100)",
            "DELETE t INSERT t SELECT TOP (6000) REPLICATE('z', 3000) FROM sys.all_columns",
        ] {
            ran(s, "CHECKPOINT");
            let said = run(s, &format!("BEGIN TRAN {change} COMMIT"));
            assert_eq!(said.errors(), [9002], "{change}: {:?}", said.messages);
            assert_eq!(s.trancount(), 0);
            assert!(number(s, LOG_BYTES) <= 8 << 20);
            let untouched = "SELECT COUNT(*) FROM t WHERE v = REPLICATE('x', 3000)";
            assert_eq!(number(s, untouched), 3000, "{change}");
        }
        ran(s, "UPDATE t SET v = 'short' WHERE id <= 100 DBCC CHECKDB WITH NO_INFOMSGS");
    });
}

#[test]
fn a_full_log_tells_what_holds_it() {
    with_session(|s| {
        ran(s, DATABASE);
        ran(s, "USE d CREATE TABLE t (v varchar(4000))");
        // One transaction that is larger than the log may become.
        let said = run(s, &format!("BEGIN TRAN {FILL} COMMIT"));
        assert_eq!(said.errors(), [9002], "{:?}", said.messages);
        let told = &said.messages.iter().find(|m| m.number == 9002).expect("told").text;
        assert_eq!(
            told,
            "The transaction log for database 'd' is full due to 'ACTIVE_TRANSACTION'."
        );
        assert_eq!(s.trancount(), 0);
        assert_eq!(number(s, "SELECT COUNT(*) FROM t"), 0);
        assert!(number(s, LOG_BYTES) <= 8 << 20);
        // Many small ones go round and round.
        ran(s, FILL);
        assert_eq!(number(s, "SELECT COUNT(*) FROM t"), 4000);
        assert!(number(s, LOG_BYTES) <= 8 << 20);
        // Under FULL nothing is used again before it is backed up.
        ran(s, "ALTER DATABASE d SET RECOVERY FULL BACKUP DATABASE d TO DISK = 'd.bak'");
        let said = run(s, FILL);
        assert_eq!(said.errors(), [9002], "{:?}", said.messages);
        let told = &said.messages.iter().find(|m| m.number == 9002).expect("told").text;
        assert_eq!(told, "The transaction log for database 'd' is full due to 'LOG_BACKUP'.");
        assert_eq!(text(s, WHY), "LOG_BACKUP");
        let before = number(s, "SELECT COUNT(*) FROM t");
        assert!(before > 4000);
        // A short row might still find room.
        assert_eq!(run(s, "INSERT t VALUES (REPLICATE('x', 4000))").errors(), [9002]);
        // More room helps as well, and is kept.
        ran(s, "ALTER DATABASE d MODIFY FILE (NAME = d_log, MAXSIZE = 12MB)");
        ran(s, "INSERT t VALUES ('one more')");
        let max = "SELECT max_size FROM sys.database_files WHERE name = 'd_log'";
        assert_eq!(number(s, max), 12 * 128);
        // All that its virtual log files leave room for.
        ran(s, "ALTER DATABASE d MODIFY FILE (NAME = d_log, SIZE = 12MB)");
        assert!(number(s, LOG_BYTES) > 10 << 20);
        let before = before + 1;
        let said = run(s, FILL);
        assert_eq!(said.errors(), [9002], "{:?}", said.messages);
        assert!(number(s, LOG_BYTES) > 8 << 20);
        let before = before.max(number(s, "SELECT COUNT(*) FROM t"));
        ran(s, "BACKUP LOG d TO DISK = 'd.bak' CHECKPOINT");
        ran(s, "INSERT t VALUES ('one more')");
        assert_eq!(number(s, "SELECT COUNT(*) FROM t"), before + 1);
        ran(s, "DBCC CHECKDB WITH NO_INFOMSGS");
    });
}

#[test]
fn a_log_that_has_grown_shrinks() {
    with_session(|s| {
        ran(s, "CREATE DATABASE d");
        ran(s, "USE d CREATE TABLE t (v varchar(4000))");
        let (vlfs, bytes) = (number(s, VLFS), number(s, LOG_BYTES));
        ran(s, &format!("BEGIN TRAN {FILL} COMMIT"));
        let (grown_vlfs, grown) = (number(s, VLFS), number(s, LOG_BYTES));
        assert!(grown > bytes + (8 << 20), "{bytes} {grown}");
        assert!(grown_vlfs > vlfs + 8, "{vlfs} {grown_vlfs}");
        // The active part goes round to the beginning, and what is behind it can go.
        for _ in 0..40 {
            ran(s, "CHECKPOINT DBCC SHRINKFILE(2, 4)");
            if number(s, LOG_BYTES) <= 5 << 20 {
                break;
            }
            ran(s, "DELETE TOP (10) t WAITFOR DELAY '00:00:00.010'");
            ran(s, FILL.replace("4000 BEGIN", "100 BEGIN").as_str());
        }
        let (shrunk_vlfs, shrunk) = (number(s, VLFS), number(s, LOG_BYTES));
        assert!(shrunk <= 5 << 20, "{grown} {shrunk}");
        assert!(shrunk_vlfs < grown_vlfs);
        let said = ran(s, "DBCC LOGINFO");
        assert_eq!(said.sets[0].rows.len() as i64, number(s, VLFS));
        // And grows again.
        ran(s, FILL);
        ran(s, "DBCC CHECKDB WITH NO_INFOMSGS");
    });
}

#[test]
fn files_of_a_filegroup_fill_in_proportion_to_what_is_free() {
    with_session(|s| {
        ran(
            s,
            "CREATE DATABASE d ON PRIMARY (NAME = d, FILENAME = 'd.mdf'),
             FILEGROUP rows (NAME = small, FILENAME = 'small.ndf', SIZE = 8MB, MAXSIZE = 8MB),
                            (NAME = large, FILENAME = 'large.ndf', SIZE = 24MB, MAXSIZE = 24MB)
             LOG ON (NAME = d_log, FILENAME = 'd.ldf')",
        );
        ran(s, "USE d CREATE TABLE t (v varchar(4000)) ON rows");
        let used = |s: &mut Session, file: &str| {
            number(s, &format!("SELECT CAST(FILEPROPERTY('{file}', 'SpaceUsed') AS bigint)"))
        };
        ran(s, FILL.replace("4000 BEGIN", "2000 BEGIN").as_str());
        // 2,000 rows of half a page are some 8 MB: a quarter of them in the small file.
        let (small, large) = (used(s, "small"), used(s, "large"));
        let ratio = large as f64 / small as f64;
        assert!((2.0..4.5).contains(&ratio), "{small} and {large} pages");
        // Both are full at the same time, and not before.
        let said = run(s, FILL.replace("4000 BEGIN", "20000 BEGIN").as_str());
        assert_eq!(said.errors(), [1105], "{:?}", said.messages);
        let (small, large) = (used(s, "small"), used(s, "large"));
        assert!(small > 1024 - 64 && large > 3 * 1024 - 128, "{small} and {large} pages");
        // Or be given more.
        for (clause, error) in [
            ("NAME = nowhere, SIZE = 9MB", Some(5041)),
            ("NAME = small, SIZE = 8MB", Some(5039)),
            ("NAME = small, SIZE = 9MB", Some(1842)),
            ("NAME = small, MAXSIZE = 4MB", Some(1842)),
            ("NAME = small, NEWNAME = large", Some(1828)),
            ("NAME = small, FILENAME = 'elsewhere.ndf'", Some(40510)),
            ("NAME = small, SIZE = 9MB, MAXSIZE = 10MB, NEWNAME = little", None),
        ] {
            let said = run(s, &format!("ALTER DATABASE d MODIFY FILE ({clause})"));
            assert_eq!(said.errors(), Vec::from_iter(error), "{clause}: {:?}", said.messages);
        }
        ran(s, "INSERT t VALUES (REPLICATE('x', 4000))");
        assert_eq!(used(s, "little") / 8 * 8, used(s, "little"));
        let files = "SELECT COUNT(*) FROM sys.database_files WHERE name = 'little' AND max_size = 1280 AND size >= 1152";
        assert_eq!(number(s, files), 1);
        // What is full can be emptied; its pages are free when nobody can see them any more.
        ran(s, "TRUNCATE TABLE t INSERT t VALUES ('there is room again')");
        for _ in 0..1000 {
            if used(s, "large") < 1000 {
                break;
            }
            ran(s, "WAITFOR DELAY '00:00:00.010'");
        }
        ran(s, FILL.replace("4000 BEGIN", "2000 BEGIN").as_str());
        let usage = "SELECT COUNT(*) FROM sys.dm_db_file_space_usage
            WHERE total_page_count = allocated_extent_page_count + unallocated_extent_page_count
            AND allocated_extent_page_count = FILEPROPERTY(FILE_NAME(file_id), 'SpaceUsed')";
        assert_eq!(number(s, usage), 3);
        let log = "SELECT FILEPROPERTY('d_log', 'IsLogFile') + FILEPROPERTY('d', 'IsPrimaryFile')
            + FILEGROUPPROPERTY('rows', 'IsUserDefinedFG') + FILEGROUPPROPERTY('PRIMARY', 'IsDefault')";
        assert_eq!(number(s, log), 4);
        ran(s, "DBCC CHECKDB WITH NO_INFOMSGS");
    });
}

/// Rows and pages of a table, as DBCC CHECKTABLE has them.
fn rows_and_pages(session: &mut Session, table: &str) -> (i64, i64) {
    let said = ran(session, &format!("DBCC CHECKTABLE('{table}')"));
    let told = said.messages.iter().find(|m| m.number == 2593).expect("told").text.clone();
    let mut numbers = told.split_whitespace().filter_map(|word| word.parse().ok());
    (numbers.next().expect("rows"), numbers.next().expect("pages"))
}

#[test]
fn reorganize_gives_back_what_deleted_rows_have_left() {
    with_session(|s| {
        ran(s, "CREATE DATABASE d");
        ran(
            s,
            "USE d
             CREATE TABLE t (id int PRIMARY KEY, k int, v char(200) NOT NULL DEFAULT 'v', long varchar(max))
             CREATE INDEX ix ON t (k) INCLUDE (v) WITH (FILLFACTOR = 50)
             CREATE TABLE h (v char(300))",
        );
        ran(
            s,
            "DECLARE @i int = 0
             WHILE @i < 4000 BEGIN INSERT t (id, k) VALUES (@i, @i % 37) INSERT h VALUES ('h') SET @i += 1 END
             UPDATE t SET long = REPLICATE(CAST('l' AS varchar(max)), 9000) WHERE id < 400
             DELETE t WHERE id % 4 <> 0 DELETE TOP (3000) h",
        );
        let (rows, before) = rows_and_pages(s, "t");
        assert_eq!(rows, 1000);
        let free = "SELECT SUM(unallocated_extent_page_count) FROM sys.dm_db_file_space_usage";
        let free_before = number(s, free);
        // A transaction that is rolled back keeps it.
        ran(
            s,
            "BEGIN TRAN ALTER INDEX ALL ON t REORGANIZE ROLLBACK ALTER INDEX ALL ON h REORGANIZE",
        );
        let (rows, after) = rows_and_pages(s, "t");
        assert!(rows == 1000 && after * 3 < before, "{before} pages, now {after}");
        assert_eq!(rows_and_pages(s, "h").0, 1000);
        assert!(rows_and_pages(s, "h").1 < 50, "{:?}", rows_and_pages(s, "h"));
        assert!(number(s, free) > free_before, "{free_before} pages were free");
        assert_eq!(number(s, "SELECT SUM(id) FROM t WITH (INDEX(1))"), 4 * 999 * 1000 / 2);
        assert_eq!(
            number(s, "SELECT SUM(k) FROM t WITH (INDEX(ix))"),
            number(s, "SELECT SUM(k) FROM t WITH (INDEX(1))")
        );
        assert_eq!(number(s, "SELECT SUM(LEN(long)) FROM t"), 900_000);
        ran(s, "DBCC CHECKDB WITH NO_INFOMSGS");
        // Once more changes nothing, and the tables go on.
        ran(s, "ALTER INDEX ALL ON t REORGANIZE WITH (LOB_COMPACTION = OFF)");
        assert_eq!(rows_and_pages(s, "t"), (rows, after));
        ran(
            s,
            "INSERT t (id, k) SELECT id + 1, k FROM t ALTER INDEX ix ON t REORGANIZE PARTITION = ALL",
        );
        assert_eq!(rows_and_pages(s, "t").0, 2000);
        ran(s, "DBCC CHECKDB WITH NO_INFOMSGS");
    });
}
