//! DBCC CHECKDB and its kin as T-SQL: what they say of sound and of damaged databases.

use device::{FileSystem, OpenOptions, SimFs};
use executor::{Collected, ResultSink};
use session::{Instance, InstanceConfig};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use telemetry::WaitType;

fn start() -> (Arc<SimFs>, Arc<Instance>) {
    let fs = SimFs::new(3);
    let config = InstanceConfig::small("/data", fs.clone());
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
    "CREATE TABLE w (id int PRIMARY KEY, k int, also varchar(10), long varchar(8000), wide varchar(8000), more varchar(8000))",
    "INSERT w VALUES (1, 1, 'a', 'b', 'c', 'd'), (2, 2, 'a', 'b', 'c', 'd'),
         (3, 3, 'a', REPLICATE('b', 3500), REPLICATE('c', 800), REPLICATE('d', 4000))",
    "CREATE INDEX by_k ON w (k) CREATE INDEX of_also ON w (id) INCLUDE (also, long) CREATE INDEX by_wide ON w (wide)",
    "ALTER TABLE w ADD late int NOT NULL DEFAULT 5 CREATE INDEX by_late ON w (late)",
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

fn read_all(fs: &SimFs, path: &str) -> Vec<u8> {
    let file = fs.open(Path::new(path), OpenOptions::read_only()).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(0, &mut bytes, WaitType::IoCompletion).unwrap();
    bytes
}

/// A write that the device has acknowledged and lost: the page is sound, and of yesterday.
#[test]
fn a_page_that_is_older_than_the_rest_is_found() {
    const FILE: &str = "/data/shop.mdf";
    const PAGE: usize = 8192;
    let (fs, instance) = start();
    // Else it depends on the moment which pages have changed by the end.
    run(&instance, &["DBCC TRACEON (661, -1)"]);
    run(&instance, SHOP);
    let before = read_all(&fs, FILE);
    let changes = &[
        "USE shop INSERT t VALUES (4, 'four', 4.5, NULL) DELETE t WHERE id = 2",
        "UPDATE t SET amount = 9 WHERE id = 3",
        "UPDATE h SET long = REPLICATE(CAST('of today ' AS varchar(max)), 2000) WHERE a = 3",
        "UPDATE w SET k = 9, also = 'x' WHERE id = 1; UPDATE w SET also = 'y' WHERE id = 2",
    ];
    let said = run(&instance, changes);
    assert_eq!(said.errors(), [] as [i32; 0], "{}", texts(&said));
    instance.shutdown().expect("closes");
    drop(instance);
    let after = read_all(&fs, FILE);
    let pages = |bytes: &[u8]| bytes.chunks_exact(PAGE).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let both = pages(&before).into_iter().zip(pages(&after)).enumerate();
    // The first two pages are copies of the file's header, which knows what is newest.
    let changed: Vec<_> =
        both.skip(2).filter(|(_, (a, b))| a != b && a.iter().any(|&b| b != 0)).collect();
    let mut numbers = BTreeSet::new();
    for (page, (old, _)) in &changed {
        let world = fs.crash(*page as u64);
        let file = world.open(Path::new(FILE), OpenOptions::existing()).unwrap();
        file.write_all_at((page * PAGE) as u64, old, true, WaitType::IoCompletion).unwrap();
        drop(file);
        let config = InstanceConfig::small("/data", world.clone());
        let instance = Instance::open(config).expect("opens");
        let said = run(&instance, &["DBCC CHECKDB('shop') WITH NO_INFOMSGS"]);
        assert!(!said.errors().is_empty(), "page {page} of yesterday was not found");
        numbers.extend(said.errors());
        instance.shutdown().expect("closes");
    }
    assert!([8929, 8936, 8951, 8964, 8970].iter().all(|n| numbers.contains(n)), "{numbers:?}");
}

/// What has come to the tables by other ways than an INSERT is as sound.
#[test]
fn a_database_stays_sound_whatever_its_tables_go_through() {
    let (_, instance) = start();
    let said = run(
        &instance,
        &[
            "CREATE DATABASE shop",
            "USE shop CREATE TABLE l (id int IDENTITY PRIMARY KEY, a varchar(max), b nvarchar(max), k int)",
            "CREATE INDEX by_k ON l (k) INCLUDE (a)",
            "INSERT l (a, b, k) SELECT REPLICATE(CAST('a' AS varchar(max)), 9000 * n), REPLICATE(CAST('b' AS nvarchar(max)), 9000), n
                 FROM (VALUES (1), (2), (3), (4)) AS v (n)",
            "BEGIN TRAN UPDATE l SET a = b, b = 'short' WHERE k = 2 ROLLBACK",
            "BEGIN TRAN SAVE TRAN s INSERT l (a) VALUES (REPLICATE(CAST('c' AS varchar(max)), 20000)) ROLLBACK TRAN s COMMIT",
            "BEGIN TRY INSERT l (a, k) VALUES (REPLICATE(CAST('c' AS varchar(max)), 20000), 1 / 0) END TRY BEGIN CATCH END CATCH",
            "UPDATE l SET a = a + 'x', k = -k WHERE k = 3 DELETE l WHERE k = 4",
            "ALTER TABLE l DROP COLUMN b DBCC CHECKDB(shop) WITH NO_INFOMSGS",
            "ALTER TABLE l ADD c varchar(max) NOT NULL DEFAULT 'later', d int NOT NULL DEFAULT 7, e int",
            "CREATE INDEX by_d ON l (d, k)",
            "ALTER TABLE l ALTER COLUMN e bigint",
            "ALTER INDEX ALL ON l REBUILD",
            "SELECT * INTO copy FROM l CREATE CLUSTERED INDEX cl ON copy (k)",
            "MERGE copy AS t USING l AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = REPLICATE(s.a, 3);",
            "CREATE TABLE h (id int, v varchar(8000), w varchar(8000)) CREATE INDEX by_id ON h (id) INCLUDE (w)",
            "INSERT h VALUES (1, REPLICATE('v', 5000), REPLICATE('w', 4000)) UPDATE h SET v = 'small'",
            "UPDATE h SET v = REPLICATE('v', 6000), id = 2",
        ],
    );
    assert_eq!(said.errors(), [] as [i32; 0], "{}", texts(&said));
    assert_eq!(texts(&run(&instance, &["DBCC CHECKDB(shop) WITH NO_INFOMSGS"])), "");
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

/// Rows of system tables that are gone, as from a page of the day before yesterday.
#[test]
fn a_catalog_that_makes_no_sense_is_8992() {
    let (_, instance) = start();
    run(&instance, SHOP);
    run(&instance, &["USE shop", "CREATE VIEW v AS SELECT id FROM t"]);
    let engine = instance.database("shop").expect("open").engine.clone();
    let check = || run(&instance, &["DBCC CHECKCATALOG('shop') WITH NO_INFOMSGS"]);
    assert_eq!(texts(&check()), "");
    let mut found = BTreeSet::new();
    for (n, number) in engine.system_tree_numbers().into_iter().enumerate() {
        let tree = engine.tree(engine::TreeId(engine::PageId(number)));
        // Until one is missed: the first name may be that of a constraint, which nothing else calls by it.
        for (key, row) in rows_of(&engine, &tree) {
            let mut txn = engine.begin(engine::TxnOptions::default());
            assert!(txn.delete(&tree, &key).unwrap());
            txn.commit(engine::Durability::Full).unwrap();
            let said = check();
            txn.begin();
            let mut hint = engine::InsertHint::default();
            txn.insert(&tree, &key, &engine::RowImage::new(&row), &mut hint).unwrap();
            txn.commit(engine::Durability::Full).unwrap();
            assert!(said.errors().iter().all(|e| *e == 8992), "{}", texts(&said));
            if !said.errors().is_empty() {
                found.insert(n);
                break;
            }
        }
    }
    // Names, objects, columns, tables; by number, as `catalog::system` has them. The rest says nothing of others.
    assert!([0, 1, 2, 4].iter().all(|n| found.contains(n)), "{found:?}");
    assert_eq!(texts(&run(&instance, &["DBCC CHECKDB(shop) WITH NO_INFOMSGS"])), "");
    instance.shutdown().expect("closes");
}

/// A tree's rows with their keys.
fn rows_of(engine: &Arc<engine::Database>, tree: &engine::Tree) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut txn = engine.begin(engine::TxnOptions::default());
    let all = engine::ScanOptions::default();
    let mut scan = txn.scan(tree, Bound::Unbounded, Bound::Unbounded, all).unwrap();
    let mut rows = Vec::new();
    while let Some((key, row)) = scan.next(&mut txn).unwrap() {
        rows.push((key.to_vec(), row.to_vec()));
    }
    rows
}

/// Each is done to the trees as a bug would, past everything that keeps tables whole, and taken back.
#[test]
fn each_damage_of_a_table_has_its_number() {
    let (_, instance) = start();
    let made = run(
        &instance,
        &[
            "CREATE DATABASE shop",
            "USE shop CREATE TABLE p (id int PRIMARY KEY, k int, long varchar(max))",
            "CREATE INDEX by_k ON p (k)",
            "INSERT p VALUES (1, 10, REPLICATE(CAST('x' AS varchar(max)), 30000)), (2, 20, 'short')",
        ],
    );
    assert_eq!(made.errors(), [] as [i32; 0], "{}", texts(&made));
    let open = instance.database("shop").expect("open");
    let engine = open.engine.clone();
    let table = open.catalog.table(None, None, "p").expect("is there");
    let index = table.index("by_k").expect("is there").tree;
    let [rows, entries, pieces] =
        [table.tree, index, table.lob.expect("is there")].map(|id| engine.tree(id));
    let put = |tree: &engine::Tree, key: &[u8], row: &[u8]| {
        let mut txn = engine.begin(engine::TxnOptions::default());
        let mut hint = engine::InsertHint::default();
        txn.insert(tree, key, &engine::RowImage::new(row), &mut hint).unwrap();
        txn.commit(engine::Durability::Full).unwrap();
    };
    let take = |tree: &engine::Tree, key: &[u8]| {
        let mut txn = engine.begin(engine::TxnOptions::default());
        assert!(txn.delete(tree, key).unwrap());
        txn.commit(engine::Durability::Full).unwrap();
    };
    let check = || run(&instance, &["DBCC CHECKDB(shop) WITH NO_INFOMSGS"]);
    // One too many.
    let (_, row) = rows_of(&engine, &rows).pop().unwrap();
    let (_, entry) = rows_of(&engine, &entries).pop().unwrap();
    for (tree, key, row, numbers, what) in [
        (&rows, &[0x80, 0, 0, 9][..], &row[..], [8970], "a key that is not its own"),
        (&rows, &[0x80, 0, 0, 9], b"no row at all", [8970], "not laid out as its table"),
        (&entries, &[0x80, 0, 0, 9], b"no entry", [8970], "an entry of index 'by_k'"),
        (&entries, &[9, 9], &entry, [8970], "a key that is not its own"),
        (&pieces, &[0xff; 12], b"left over", [8970], "is missing"),
        (&pieces, &[0xff, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], b"left over", [8964], "by no row"),
    ] {
        put(tree, key, row);
        let said = check();
        let missed = format!("{what}: {}", texts(&said));
        // A piece that is too many may be of a value that nobody names, besides.
        let known = |e: &i32| numbers.contains(e) || [8951, 8964].contains(e);
        assert!(said.errors().iter().all(known), "{missed}");
        assert!(said.errors().contains(&numbers[0]) && texts(&said).contains(what), "{missed}");
        take(tree, key);
        assert_eq!(texts(&check()), "");
    }
    // One missing.
    for (tree, number) in [(&entries, 8951), (&pieces, 8929)] {
        let (key, row) = rows_of(&engine, tree).pop().unwrap();
        take(tree, &key);
        let said = check();
        assert_eq!(said.errors(), [number], "{}", texts(&said));
        put(tree, &key, &row);
        assert_eq!(texts(&check()), "");
    }
    // A row: its entry and its large value are left.
    let (key, row) = rows_of(&engine, &rows).remove(0);
    take(&rows, &key);
    let numbers: BTreeSet<i32> = check().errors().into_iter().collect();
    assert_eq!(numbers, BTreeSet::from([8951, 8964]));
    put(&rows, &key, &row);
    assert_eq!(texts(&check()), "");
    instance.shutdown().expect("closes");
}
