//! DBCC CHECKDB and its kin as T-SQL: what they say of sound and of damaged databases.

use device::{FileSystem, OpenOptions, SimFs};
use executor::{Collected, ResultSink};
use session::{Instance, InstanceConfig};
use std::path::Path;
use std::sync::Arc;
use telemetry::WaitType;

fn start() -> (Arc<SimFs>, Arc<Instance>) {
    let fs = SimFs::new(3);
    let mut config = InstanceConfig::new("/data", fs.clone());
    config.buffer_pool_bytes = 16 << 20;
    config.log.ring_bytes = 1 << 20;
    config.log.vlf_bytes = 1 << 20;
    (fs, Instance::open(config).expect("opens"))
}

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

fn texts(said: &Collected) -> String {
    said.messages.iter().map(|m| format!("{m}\n")).collect()
}

const SHOP: &[&str] = &[
    "CREATE DATABASE shop",
    "USE shop CREATE TABLE t (id int PRIMARY KEY, name varchar(60), amount decimal(10,2) NOT NULL)",
    "CREATE TABLE h (a int, long varchar(max))",
    "INSERT t VALUES (1, 'a needle in the haystack', 1.5), (2, NULL, 2.5)",
    "ALTER TABLE t ADD later nvarchar(20) NULL",
    "CREATE UNIQUE INDEX by_amount ON t (amount DESC) INCLUDE (name)",
    "CREATE INDEX by_a ON h (a) CREATE INDEX few ON h (a) WHERE a > 1",
    "INSERT t VALUES (3, 'three', 3.5, N'later')",
    "INSERT h VALUES (1, REPLICATE(CAST('x' AS varchar(max)), 30000)), (2, 'short')",
    "INSERT h VALUES (3, REPLICATE(CAST('the last straw ' AS varchar(max)), 3000)) DELETE h WHERE a = 1",
    "CHECKPOINT",
];

/// Where a text lies in a file.
fn find(fs: &SimFs, path: &str, text: &[u8]) -> u64 {
    let file = fs.open(Path::new(path), OpenOptions::read_only()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(0, &mut bytes, WaitType::IoCompletion).unwrap();
    let at = bytes.windows(text.len()).position(|w| w == text);
    at.expect("the text is in the file") as u64
}

#[test]
fn a_sound_database_and_a_damaged_one() {
    let (fs, instance) = start();
    let said = run(&instance, SHOP);
    assert_eq!(said.errors(), [] as [i32; 0], "{}", texts(&said));
    let said = run(&instance, &["DBCC CHECKDB('shop')"]);
    let text = texts(&said);
    assert_eq!(said.errors(), [] as [i32; 0], "{text}");
    for part in [
        "DBCC results for 't'.",
        "There are 3 rows in 1 pages for object \"t\".",
        "There are 2 rows in 1 pages for object \"h\".",
        "CHECKDB found 0 allocation errors and 0 consistency errors in database 'shop'.",
        "DBCC execution completed.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(texts(&run(&instance, &["DBCC CHECKDB(shop) WITH NO_INFOMSGS"])), "");
    assert_eq!(run(&instance, &["USE shop DBCC CHECKTABLE('dbo.t')"]).errors(), [] as [i32; 0]);
    assert_eq!(run(&instance, &["USE shop DBCC CHECKTABLE('nosuch')"]).errors(), [2501]);
    assert_eq!(run(&instance, &["DBCC CHECKDB('nosuch')"]).errors(), [911]);
    assert_eq!(run(&instance, &["DBCC CHECKDB(shop, REPAIR_REBUILD)"]).errors(), [40510]);
    for text in [&b"a needle in the haystack"[..], b"the last straw the last straw"] {
        let at = find(&fs, "/data/shop.mdf", text);
        fs.damage(Path::new("/data/shop.mdf"), at + 5).unwrap();
        let said = run(&instance, &["DBCC CHECKDB('shop') WITH NO_INFOMSGS"]);
        assert_eq!(said.errors(), [8939], "{}", texts(&said));
        let page = format!("page (1:{})", at / 8192);
        assert!(texts(&said).contains(&page), "{page}: {}", texts(&said));
        fs.damage(Path::new("/data/shop.mdf"), at + 5).unwrap();
    }
    instance.shutdown().expect("closes");
}

#[test]
fn a_check_waits_for_writers_of_a_table_and_refuses_to_wait_for_its_own() {
    let (_, instance) = start();
    run(&instance, SHOP);
    let own =
        &["USE shop", "BEGIN TRAN INSERT t VALUES (9, 'nine', 9, NULL)", "DBCC CHECKTABLE('t')"];
    assert_eq!(run(&instance, own).errors(), [1222]);
    assert_eq!(run(&instance, &["USE shop DBCC CHECKTABLE('t')"]).errors(), [] as [i32; 0]);
    instance.shutdown().expect("closes");
}
