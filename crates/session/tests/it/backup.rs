//! BACKUP and RESTORE as T-SQL: whole sequences, what they answer, what they refuse, and databases that come and go.

use device::{FileSystem, SimFs};
use executor::{Collected, ResultSink};
use session::{Instance, InstanceConfig};
use std::path::Path;
use std::sync::Arc;
use types::Value;

fn config(fs: &Arc<SimFs>) -> InstanceConfig {
    InstanceConfig::small("/data", fs.clone())
}

/// A fresh instance.
fn start(seed: u64) -> (Arc<SimFs>, Arc<Instance>) {
    let fs = SimFs::new(seed);
    let instance = Instance::open(config(&fs)).expect("opens");
    (fs, instance)
}

/// Runs batches on a session of their own; returns what they said.
fn run(instance: &Arc<Instance>, batches: &[&str]) -> Collected {
    let batches: Vec<String> = batches.iter().map(|b| (*b).to_owned()).collect();
    let ran = instance.spawn_session("test", move |session| {
        let mut said = Collected::default();
        for batch in &batches {
            let _ = session.execute(batch, &mut said as &mut dyn ResultSink);
        }
        said
    });
    match ran.join() {
        Ok(said) => said,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[track_caller]
fn fine(instance: &Arc<Instance>, batches: &[&str]) -> Collected {
    let said = run(instance, batches);
    assert_eq!(said.errors(), [] as [i32; 0], "{:?}", said.messages);
    said
}

#[track_caller]
fn refused(instance: &Arc<Instance>, batch: &str, errors: &[i32]) {
    let said = run(instance, &[batch]);
    assert_eq!(said.errors(), errors, "{:?}", said.messages);
}

#[track_caller]
fn number(said: &Collected) -> i64 {
    let row = said.sets.last().and_then(|set| set.rows.last()).expect("a row");
    row[0].as_i64().expect("a number")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("?").to_owned()
}

fn said_text(said: &Collected, part: &str) -> bool {
    said.messages.iter().any(|m| m.text.contains(part))
}

const SHOP: &[&str] = &[
    "CREATE DATABASE shop ALTER DATABASE shop SET RECOVERY FULL",
    "USE shop CREATE TABLE t (id int PRIMARY KEY, v varchar(max))",
    "INSERT t VALUES (1, 'one'), (2, REPLICATE(CAST('long ' AS varchar(max)), 5000))",
];
const BACKUP: &str = "BACKUP DATABASE shop TO DISK = 'shop.bak' WITH INIT, COMPRESSION, CHECKSUM, NAME = 'nightly', STATS = 25";
const COUNT: &[&str] = &["USE shop", "SELECT COUNT(*) FROM t"];

#[test]
fn a_night_and_a_bad_morning() {
    let (_, instance) = start(1);
    fine(&instance, SHOP);
    let said = fine(&instance, &[BACKUP]);
    assert!(said_text(&said, "100 percent processed."), "{:?}", said.messages);
    assert!(said_text(&said, "for database 'shop', file 'shop_log' on file 1."));
    assert!(said_text(&said, "BACKUP DATABASE successfully processed "));
    fine(&instance, &["USE shop", "INSERT t VALUES (3, 'three')"]);
    let said = fine(
        &instance,
        &["WAITFOR DELAY '00:00:00.050'", "SELECT CONVERT(varchar(30), SYSDATETIME(), 121)"],
    );
    let at = text(&said.sets.last().unwrap().rows[0][0]);
    fine(&instance, &["WAITFOR DELAY '00:00:00.050'", "USE shop", "DELETE t"]);
    fine(&instance, &["DECLARE @f nvarchar(50) = N'shop.bak' BACKUP LOG shop TO DISK = @f"]);
    refused(&instance, "RESTORE DATABASE shop FROM DISK = 'shop.bak'", &[3159, 3013]);
    refused(&instance, "USE shop RESTORE DATABASE shop FROM DISK = 'shop.bak'", &[3102, 3013]);
    fine(&instance, &["RESTORE DATABASE shop FROM DISK = 'shop.bak' WITH REPLACE, NORECOVERY"]);
    refused(&instance, "USE shop", &[927]);
    let state = "SELECT state_desc FROM sys.databases WHERE name = 'shop'";
    let states = |said: Collected| text(&said.sets.last().unwrap().rows[0][0]);
    assert_eq!(states(fine(&instance, &[state])), "RESTORING");
    // Half restored, the server stops and starts: it is still restoring.
    let log = format!("RESTORE LOG shop FROM DISK = 'shop.bak' WITH FILE = 2, STOPAT = '{at}'");
    let said = fine(&instance, &[&log]);
    assert!(said_text(&said, "RESTORE LOG successfully processed"), "{:?}", said.messages);
    assert_eq!(number(&fine(&instance, COUNT)), 3);
    assert_eq!(states(fine(&instance, &[state])), "ONLINE");
    let long = "SELECT LEN(v) FROM t WHERE id = 2";
    assert_eq!(number(&fine(&instance, &["USE shop", long])), 25_000 - 1);
    fine(&instance, &["USE shop", "INSERT t VALUES (4, 'four')"]);
    instance.shutdown().expect("closes");
}

#[test]
fn a_restart_in_the_middle_of_a_restore() {
    let (fs, instance) = start(2);
    fine(&instance, SHOP);
    fine(&instance, &[BACKUP]);
    fine(&instance, &["USE shop INSERT t VALUES (3, 'three')"]);
    fine(&instance, &["BACKUP LOG shop TO DISK = 'log.trn'"]);
    fine(&instance, &["RESTORE DATABASE shop FROM DISK = 'shop.bak' WITH REPLACE, NORECOVERY"]);
    fs.power_off();
    let fs = fs.crash(7);
    let instance = Instance::open(config(&fs)).expect("opens");
    refused(&instance, "USE shop", &[927]);
    refused(&instance, "RESTORE LOG shop FROM DISK = 'shop.bak'", &[3135, 3013]);
    fine(&instance, &["RESTORE LOG shop FROM DISK = 'log.trn' WITH NORECOVERY"]);
    refused(&instance, "RESTORE LOG shop FROM DISK = 'log.trn' WITH NORECOVERY", &[4326, 3013]);
    fine(&instance, &["RESTORE DATABASE shop WITH RECOVERY"]);
    refused(&instance, "RESTORE DATABASE shop WITH RECOVERY", &[3153, 3013]);
    refused(&instance, "RESTORE LOG shop FROM DISK = 'log.trn'", &[3117, 3013]);
    assert_eq!(number(&fine(&instance, COUNT)), 3);
    // The new line of history needs its own full backup.
    refused(&instance, "BACKUP LOG shop TO DISK = 'log2.trn'", &[4214, 3013]);
    instance.shutdown().expect("closes");
}

#[test]
fn a_copy_beside_the_original() {
    let (fs, instance) = start(3);
    fine(&instance, SHOP);
    fine(
        &instance,
        &[
            "ALTER DATABASE shop ADD FILEGROUP more",
            "ALTER DATABASE shop ADD FILE (NAME = extra, FILENAME = 'extra.ndf', SIZE = 8MB) TO FILEGROUP more",
            "USE shop CREATE TABLE u (a int PRIMARY KEY) ON more INSERT u VALUES (7)",
            BACKUP,
        ],
    );
    refused(&instance, "RESTORE DATABASE copy FROM DISK = 'shop.bak'", &[1834, 3013]);
    refused(
        &instance,
        "RESTORE DATABASE copy FROM DISK = 'shop.bak' WITH MOVE 'nosuch' TO 'x.mdf'",
        &[3234, 3013],
    );
    let copy = "RESTORE DATABASE copy FROM DISK = 'shop.bak' WITH MOVE 'shop' TO 'copy.mdf', \
                MOVE 'extra' TO 'copy_extra.ndf', MOVE 'shop_log' TO '/logs/copy.ldf'";
    fs.create_dir_all(Path::new("/logs")).unwrap();
    fine(&instance, &[copy]);
    let sum = "SELECT (SELECT COUNT(*) FROM t) + (SELECT SUM(a) FROM u)";
    assert_eq!(number(&fine(&instance, &["USE copy", sum])), 9);
    fine(&instance, &["USE copy INSERT u VALUES (8)"]);
    assert_eq!(number(&fine(&instance, &["USE shop", sum])), 9);
    refused(&instance, "RESTORE DATABASE copy FROM DISK = 'nosuch.bak'", &[3201, 3013]);
    // Files of the server that are no database's.
    for own in ["millrace.lock", "x/../server-key.pem", "shop.mdf.dwb"] {
        let over = "MOVE 'extra' TO 'e.ndf', MOVE 'shop_log' TO 'e.ldf'";
        let text = format!(
            "RESTORE DATABASE more FROM DISK = 'shop.bak' WITH REPLACE, MOVE 'shop' TO '{own}', {over}"
        );
        refused(&instance, &text, &[3634, 3013]);
        refused(&instance, &format!("BACKUP DATABASE shop TO DISK = '{own}'"), &[3201, 3013]);
    }
    fine(&instance, &["CREATE DATABASE other"]);
    refused(
        &instance,
        "RESTORE DATABASE other FROM DISK = 'shop.bak' WITH MOVE 'shop' TO 'a.mdf', MOVE 'extra' TO 'b.ndf', \
         MOVE 'shop_log' TO 'c.ldf'",
        &[3154, 3013],
    );
    instance.shutdown().expect("closes");
    drop(instance);
    let instance = Instance::open(config(&fs)).expect("opens");
    assert_eq!(number(&fine(&instance, &["USE copy", sum])), 17);
    instance.shutdown().expect("closes");
}

#[test]
fn what_a_file_says_of_itself() {
    let (fs, instance) = start(4);
    fine(&instance, SHOP);
    fine(&instance, &[BACKUP, "BACKUP LOG shop TO DISK = 'shop.bak' WITH NOINIT"]);
    let said = fine(&instance, &["RESTORE HEADERONLY FROM DISK = 'shop.bak'"]);
    let set = said.sets.last().unwrap();
    let column = |name: &str| set.columns.iter().position(|c| c.name == name).expect(name);
    assert_eq!(set.rows.len(), 2);
    assert_eq!(text(&set.rows[0][column("BackupName")]), "nightly");
    assert_eq!(text(&set.rows[0][column("DatabaseName")]), "shop");
    assert_eq!(set.rows[1][column("BackupType")].as_i64(), Some(2));
    let said = fine(&instance, &["RESTORE FILELISTONLY FROM DISK = 'shop.bak'"]);
    let set = said.sets.last().unwrap();
    let names: Vec<String> = set.rows.iter().map(|r| text(&r[0])).collect();
    assert_eq!(names, ["shop", "shop_log"]);
    assert_eq!(fine(&instance, &["RESTORE LABELONLY FROM DISK = 'shop.bak'"]).sets.len(), 1);
    let verify = "RESTORE VERIFYONLY FROM DISK = 'shop.bak' WITH FILE = 2";
    assert!(said_text(&fine(&instance, &[verify]), "The backup set on file 2 is valid."));
    refused(&instance, "RESTORE VERIFYONLY FROM DISK = 'shop.bak' WITH FILE = 3", &[3287, 3013]);
    fs.damage(Path::new("/data/shop.bak"), 60_000).unwrap();
    refused(&instance, "RESTORE VERIFYONLY FROM DISK = 'shop.bak'", &[3189, 3013]);
    // Somebody else's file, and files of the server.
    fs.open(Path::new("/data/notes.txt"), device::OpenOptions::create())
        .and_then(|f| {
            f.write_all_at(0, &stdx::AlignedBuf::zeroed(8192), true, telemetry::WaitType::Misc)
        })
        .unwrap();
    refused(&instance, "RESTORE VERIFYONLY FROM DISK = 'notes.txt'", &[3241, 3013]);
    refused(&instance, "BACKUP DATABASE shop TO DISK = 'notes.txt' WITH INIT", &[3241, 3013]);
    refused(&instance, "RESTORE VERIFYONLY FROM DISK = 'shop.mdf'", &[3201, 3013]);
    refused(&instance, "BACKUP DATABASE shop TO DISK = 'master.mdf' WITH INIT", &[3201, 3013]);
    refused(&instance, "RESTORE DATABASE x FROM DISK = 'shop.bak' WITH STANDBY = 'u'", &[40510]);
    refused(&instance, "BACKUP DATABASE shop TO DISK = 'd.bak' WITH DIFFERENTIAL", &[40510]);
    refused(&instance, "BACKUP DATABASE nosuch TO DISK = 'd.bak'", &[911, 3013]);
    refused(&instance, "RESTORE DATABASE master FROM DISK = 'shop.bak'", &[3108, 3013]);
    refused(&instance, "BEGIN TRAN BACKUP DATABASE shop TO DISK = 'NUL'", &[3021, 3013]);
    fine(&instance, &["BACKUP DATABASE shop TO DISK = 'NUL' WITH COPY_ONLY"]);
    fine(&instance, &["BACKUP DATABASE master TO DISK = 'master.bak'"]);
    fine(&instance, &["ALTER DATABASE shop SET RECOVERY SIMPLE"]);
    refused(&instance, "BACKUP LOG shop TO DISK = 'l.trn'", &[4208, 3013]);
    instance.shutdown().expect("closes");
}

#[test]
fn a_failed_restore_of_a_new_database_leaves_nothing() {
    let (fs, instance) = start(5);
    fine(&instance, SHOP);
    fine(&instance, &[BACKUP, "DROP DATABASE shop"]);
    let len = fs
        .open(Path::new("/data/shop.bak"), device::OpenOptions::read_only())
        .and_then(|f| f.len())
        .unwrap();
    fs.damage(Path::new("/data/shop.bak"), len / 2).unwrap();
    refused(&instance, "RESTORE DATABASE shop FROM DISK = 'shop.bak'", &[3189, 3013]);
    refused(&instance, "USE shop", &[911]);
    assert!(!fs.exists(Path::new("/data/shop.mdf")).expect("looked for"));
    fs.damage(Path::new("/data/shop.bak"), len / 2).unwrap();
    fine(&instance, &["RESTORE DATABASE shop FROM DISK = 'shop.bak'"]);
    assert_eq!(number(&fine(&instance, COUNT)), 2);
    instance.shutdown().expect("closes");
}

#[test]
fn one_damaged_database_does_not_stop_the_others() {
    let (fs, instance) = start(6);
    fine(&instance, SHOP);
    fine(
        &instance,
        &["CREATE DATABASE well", "USE well CREATE TABLE w (a int) INSERT w VALUES (1)"],
    );
    fine(&instance, &[BACKUP]);
    instance.shutdown().expect("closes");
    drop(instance);
    let damage = || {
        for at in [100, 8192 + 100] {
            fs.damage(Path::new("/data/shop.mdf"), at).unwrap();
        }
    };
    damage();
    let instance = Instance::open(config(&fs)).expect("opens");
    assert_eq!(number(&fine(&instance, &["USE well", "SELECT COUNT(*) FROM w"])), 1);
    let why = run(&instance, &["USE shop"]);
    assert_eq!(why.errors(), [945]);
    assert!(said_text(&why, "neither copy of the file header is intact"), "{:?}", why.messages);
    let state = "SELECT state_desc FROM sys.databases WHERE name = 'shop'";
    let said = fine(&instance, &[state]);
    assert_eq!(text(&said.sets.last().unwrap().rows[0][0]), "RECOVERY_PENDING");
    refused(&instance, "BACKUP DATABASE shop TO DISK = 'x.bak'", &[945, 3013]);
    refused(&instance, "ALTER DATABASE shop SET ONLINE", &[823]);
    // Put right by hand.
    damage();
    fine(&instance, &["ALTER DATABASE shop SET ONLINE"]);
    assert_eq!(number(&fine(&instance, COUNT)), 2);
    instance.shutdown().expect("closes");
    drop(instance);
    // A log that is not what it was: suspect, and a restore puts it right.
    for at in 0..2 {
        fs.damage(Path::new("/data/shop_log.ldf"), at * 4096 + 20).unwrap();
    }
    let instance = Instance::open(config(&fs)).expect("opens");
    refused(&instance, "USE shop", &[926]);
    let said = fine(&instance, &[state]);
    assert_eq!(text(&said.sets.last().unwrap().rows[0][0]), "SUSPECT");
    fine(&instance, &["RESTORE DATABASE shop FROM DISK = 'shop.bak' WITH REPLACE"]);
    assert_eq!(number(&fine(&instance, COUNT)), 2);
    instance.shutdown().expect("closes");
}

#[test]
fn a_log_that_cannot_be_written_makes_its_database_suspect_until_it_is_opened_anew() {
    let (fs, instance) = start(16);
    fine(&instance, SHOP);
    let state = "SELECT state_desc FROM sys.databases WHERE name = 'shop'";
    let shown = |instance: &Arc<Instance>| {
        text(&fine(instance, &[state]).sets.last().unwrap().rows[0][0]).to_owned()
    };
    assert_eq!(shown(&instance), "ONLINE");
    let durable = Some(device::Op::WriteDurable);
    fs.inject(device::Fault { op: durable, after: 0, times: u64::MAX, errno: 5 });
    let said = run(&instance, &["USE shop INSERT t (id) VALUES (100)"]);
    assert!(!said.errors().is_empty(), "a commit was acknowledged that is not in the log");
    assert_eq!(shown(&instance), "SUSPECT");
    fs.clear_faults();
    assert!(!run(&instance, &["USE shop INSERT t (id) VALUES (101)"]).errors().is_empty());
    assert_eq!(shown(&instance), "SUSPECT");
    fine(&instance, &["ALTER DATABASE shop SET OFFLINE", "ALTER DATABASE shop SET ONLINE"]);
    assert_eq!(shown(&instance), "ONLINE");
    assert_eq!(number(&fine(&instance, COUNT)), 2);
    instance.shutdown().expect("closes");
}

#[test]
fn databases_come_and_go_as_files() {
    let (fs, instance) = start(7);
    fine(&instance, SHOP);
    refused(&instance, "USE shop EXEC sp_detach_db 'shop'", &[3703]);
    fine(&instance, &["EXEC sp_detach_db 'shop'"]);
    refused(&instance, "USE shop", &[911]);
    refused(&instance, "EXEC sp_detach_db 'shop'", &[15010]);
    fs.create_dir_all(Path::new("/new")).unwrap();
    for file in ["shop.mdf", "shop_log.ldf"] {
        fs.rename(&Path::new("/data").join(file), &Path::new("/new").join(file)).unwrap();
    }
    fine(&instance, &["CREATE DATABASE back ON (FILENAME = '/new/shop.mdf') FOR ATTACH"]);
    assert_eq!(number(&fine(&instance, &["USE back", "SELECT COUNT(*) FROM t"])), 2);
    let files = "USE back SELECT physical_name FROM sys.database_files WHERE file_id = 1";
    assert_eq!(text(&fine(&instance, &[files]).sets.last().unwrap().rows[0][0]), "/new/shop.mdf");
    refused(&instance, "CREATE DATABASE twice ON (FILENAME = '/new/shop.mdf') FOR ATTACH", &[5120]);
    fine(&instance, &["ALTER DATABASE back SET OFFLINE"]);
    refused(&instance, "USE back", &[942]);
    instance.shutdown().expect("closes");
    drop(instance);
    let instance = Instance::open(config(&fs)).expect("opens");
    refused(&instance, "USE back", &[942]);
    fine(&instance, &["ALTER DATABASE back SET ONLINE"]);
    assert_eq!(number(&fine(&instance, &["USE back", "SELECT COUNT(*) FROM t"])), 2);
    // Another place for the log, told at attaching.
    fine(&instance, &["EXEC sp_detach_db @dbname = 'back'"]);
    fs.rename(Path::new("/new/shop_log.ldf"), Path::new("/new/log.ldf")).unwrap();
    refused(&instance, "CREATE DATABASE back ON (FILENAME = '/new/shop.mdf') FOR ATTACH", &[823]);
    let attach = "CREATE DATABASE back ON (FILENAME = '/new/shop.mdf'), (FILENAME = '/new/log.ldf') FOR ATTACH";
    fine(&instance, &[attach]);
    assert_eq!(number(&fine(&instance, &["USE back", "SELECT COUNT(*) FROM t"])), 2);
    instance.shutdown().expect("closes");
}
