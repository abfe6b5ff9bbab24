//! The engine on files in memory, by plain threads. `crash.rs` loses power; this file stays powered.

mod backup;
mod check;
mod concurrency;
mod crash;
mod figures;
mod files;
mod found;
mod ghosts;
mod leaves;
mod lob;
mod memory;
mod memory_log;
mod operations;
mod recovering;
mod together;
mod usage;
mod visit;

use crate::*;
use device::{FileSystem, SimFs};
use std::ops::Bound;
use std::sync::Arc;

pub(crate) fn small_options() -> DbOptions {
    DbOptions {
        log: LogConfig {
            ring_bytes: 1 << 20,
            vlf_bytes: 256 << 10,
            initial_vlfs: 4,
            ..LogConfig::default()
        },
        buffer_pool_bytes: 4 << 20,
        delayed_durability: DelayedDurability::Allowed,
        checkpoint_log_bytes: 1 << 30,
        ..DbOptions::default()
    }
}

pub(crate) fn small_files() -> DbFiles {
    let mut files = DbFiles::named("/db", "t");
    files.data[0].initial_bytes = 2 << 20;
    files
}

pub(crate) fn create(fs: &Arc<SimFs>, options: DbOptions) -> Arc<Database> {
    Database::create(fs.clone() as Arc<dyn FileSystem>, &small_files(), options).expect("create")
}

pub(crate) fn reopen(fs: &Arc<SimFs>, options: DbOptions) -> Result<Arc<Database>, EngineError> {
    Database::open(fs.clone() as Arc<dyn FileSystem>, "/db/t.mdf".as_ref(), options)
}

pub(crate) fn fresh() -> Arc<Database> {
    create(&SimFs::new(1), small_options())
}

/// A new tree, committed.
pub(crate) fn make_tree(db: &Arc<Database>) -> Tree {
    let mut txn = db.begin(TxnOptions::default());
    let id = txn.create_tree(PRIMARY).unwrap();
    txn.commit(Durability::Full).unwrap();
    db.tree(id)
}

pub(crate) fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

pub(crate) fn put(txn: &mut Txn, tree: &Tree, n: u64, row: &[u8]) -> Result<(), EngineError> {
    txn.insert(tree, &key(n), &RowImage::new(row), &mut InsertHint::default())
}

pub(crate) fn put_commit(
    db: &Arc<Database>,
    tree: &Tree,
    n: u64,
    row: &[u8],
) -> Result<Lsn, EngineError> {
    let mut txn = db.txn(TxnOptions::default());
    txn.insert_commit(
        tree,
        &key(n),
        &RowImage::new(row),
        &mut InsertHint::default(),
        Durability::Delayed,
        None,
    )
}

pub(crate) fn read(txn: &mut Txn, tree: &Tree, n: u64) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    txn.get(tree, &key(n), &mut row).unwrap().then_some(row)
}

pub(crate) fn read_now(db: &Arc<Database>, tree: &Tree, n: u64) -> Option<Vec<u8>> {
    let mut txn = db.begin(TxnOptions::default());
    read(&mut txn, tree, n)
}

/// All rows as a new statement of `txn` sees them.
/// A scan under NOLOCK.
pub(crate) fn nolock() -> ScanOptions {
    ScanOptions { read: ReadOptions::nolock(), reverse: false, one_value: false }
}

pub(crate) fn rows(txn: &mut Txn, tree: &Tree, options: ScanOptions) -> Vec<(u64, Vec<u8>)> {
    let mut scan = txn.scan(tree, Bound::Unbounded, Bound::Unbounded, options).unwrap();
    let mut all = Vec::new();
    while let Some((key, row)) = scan.next(txn).unwrap() {
        all.push((u64::from_be_bytes(key.try_into().unwrap()), row.to_vec()));
    }
    all
}

pub(crate) fn all_rows(db: &Arc<Database>, tree: &Tree) -> Vec<(u64, Vec<u8>)> {
    rows(&mut db.begin(TxnOptions::default()), tree, ScanOptions::default())
}

#[test]
fn what_is_inserted_is_read_and_what_is_rolled_back_is_not() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut txn = db.begin(TxnOptions::default());
    put(&mut txn, &tree, 1, b"one").unwrap();
    assert_eq!(read(&mut txn, &tree, 1).as_deref(), Some(&b"one"[..]), "own rows are seen");
    assert_eq!(read_now(&db, &tree, 1), None, "others' unfinished rows are not");
    txn.commit(Durability::Full).unwrap();
    assert_eq!(read_now(&db, &tree, 1).as_deref(), Some(&b"one"[..]));

    txn.begin();
    put(&mut txn, &tree, 2, b"two").unwrap();
    assert!(txn.update(&tree, &key(1), &RowImage::new(b"uno, dos, tres")).unwrap());
    assert_eq!(
        read_now(&db, &tree, 1).as_deref(),
        Some(&b"one"[..]),
        "readers see the older version"
    );
    txn.rollback().unwrap();
    assert_eq!(all_rows(&db, &tree), [(1, b"one".to_vec())]);

    txn.begin();
    assert!(txn.delete(&tree, &key(1)).unwrap());
    assert!(!txn.delete(&tree, &key(1)).unwrap(), "it is gone already");
    assert_eq!(read(&mut txn, &tree, 1), None);
    assert_eq!(read_now(&db, &tree, 1).as_deref(), Some(&b"one"[..]));
    put(&mut txn, &tree, 1, b"eins").unwrap();
    txn.commit(Durability::Delayed).unwrap();
    assert_eq!(all_rows(&db, &tree), [(1, b"eins".to_vec())]);
    assert_eq!(put_commit(&db, &tree, 1, b"no"), Err(EngineError::Duplicate));
    assert!(put_commit(&db, &tree, 3, b"three").is_ok());
    assert_eq!(all_rows(&db, &tree).len(), 2);
}

#[test]
fn a_statement_and_a_savepoint_roll_back_alone() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut txn = db.begin(TxnOptions::default());
    put(&mut txn, &tree, 1, b"a").unwrap();
    let save = txn.savepoint();
    txn.begin_statement();
    put(&mut txn, &tree, 2, b"b").unwrap();
    txn.update(&tree, &key(1), &RowImage::new(b"changed")).unwrap();
    txn.rollback_statement().unwrap();
    assert_eq!(rows(&mut txn, &tree, ScanOptions::default()), [(1, b"a".to_vec())]);
    txn.begin_statement();
    put(&mut txn, &tree, 3, b"c").unwrap();
    txn.end_statement();
    txn.delete(&tree, &key(1)).unwrap();
    txn.rollback_to(save).unwrap();
    put(&mut txn, &tree, 4, b"d").unwrap();
    txn.commit(Durability::Delayed).unwrap();
    assert_eq!(all_rows(&db, &tree), [(1, b"a".to_vec()), (4, b"d".to_vec())]);
}

#[test]
fn a_statement_reads_as_of_its_beginning_and_the_next_one_anew() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 0..20 {
        put_commit(&db, &tree, n, b"old").unwrap();
    }
    let mut reader = db.begin(TxnOptions::default());
    reader.begin_statement();
    let before = rows(&mut reader, &tree, ScanOptions::default());
    let mut writer = db.begin(TxnOptions::default());
    for round in 0..3u8 {
        for n in 0..20 {
            writer.update(&tree, &key(n), &RowImage::new(&[round; 40])).unwrap();
        }
        writer.delete(&tree, &key(u64::from(round))).unwrap();
        put(&mut writer, &tree, 100 + u64::from(round), b"new").unwrap();
        writer.commit(Durability::Delayed).unwrap();
        writer.begin();
        db.background_step();
        assert_eq!(rows(&mut reader, &tree, ScanOptions::default()), before);
        let reverse =
            rows(&mut reader, &tree, ScanOptions { reverse: true, ..ScanOptions::default() });
        assert!(reverse.iter().rev().eq(&before));
        assert_eq!(read(&mut reader, &tree, 0).as_deref(), Some(&b"old"[..]));
    }
    reader.end_statement();
    reader.begin_statement();
    assert_eq!(rows(&mut reader, &tree, ScanOptions::default()).len(), 20);
    reader.end_statement();
    put(&mut writer, &tree, 500, b"dirty").unwrap();
    let dirty = rows(&mut reader, &tree, nolock());
    assert_eq!(dirty.last().unwrap().1, b"dirty");
    writer.rollback().unwrap();
    reader.commit(Durability::Delayed).unwrap();
    db.flush_log().unwrap();
    // Rounds that come too soon after the last leave them where they are.
    for _ in 0..500 {
        db.background_step();
        if db.stats().versions == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(db.stats().versions, 0, "nobody needs old versions any more");
}

#[test]
fn snapshot_isolation_refuses_what_changed_since() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"a").unwrap();
    put_commit(&db, &tree, 2, b"a").unwrap();
    let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
    let mut txn = db.begin(options);
    assert!(read(&mut txn, &tree, 1).is_some());
    let mut other = db.begin(TxnOptions::default());
    other.update(&tree, &key(1), &RowImage::new(b"b")).unwrap();
    other.commit(Durability::Delayed).unwrap();
    assert_eq!(read(&mut txn, &tree, 1).as_deref(), Some(&b"a"[..]));
    assert!(txn.update(&tree, &key(2), &RowImage::new(b"mine")).unwrap());
    assert_eq!(
        txn.update(&tree, &key(1), &RowImage::new(b"mine")),
        Err(EngineError::SnapshotConflict)
    );
    assert_eq!(txn.commit(Durability::Full), Err(EngineError::Doomed));
    assert_eq!(read_now(&db, &tree, 2).as_deref(), Some(&b"a"[..]));
}

#[test]
fn trees_are_made_dropped_and_truncated_with_their_transaction() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 0..2000 {
        put_commit(&db, &tree, n, &[7; 100]).unwrap();
    }
    let mut txn = db.begin(TxnOptions::default());
    let fresh = txn.truncate_tree(&tree).unwrap();
    put(&mut txn, &db.tree(fresh), 1, b"x").unwrap();
    txn.rollback().unwrap();
    assert_eq!(all_rows(&db, &tree).len(), 2000);
    txn.begin();
    let fresh = txn.truncate_tree(&tree).unwrap();
    txn.commit(Durability::Full).unwrap();
    assert_eq!(put_commit(&db, &tree, 9999, b"x"), Err(EngineError::NoSuchTree));
    assert_eq!(all_rows(&db, &db.tree(fresh)).len(), 0);
    txn.begin();
    txn.drop_tree(&db.tree(fresh)).unwrap();
    let save = txn.savepoint();
    let made = txn.create_tree(PRIMARY).unwrap();
    let made = db.tree(made);
    put(&mut txn, &made, 1, b"x").unwrap();
    txn.rollback_to(save).unwrap();
    txn.commit(Durability::Full).unwrap();
    db.background_step();
    assert_eq!(db.store.owner_of(fresh.0).unwrap(), None, "its pages are free");
    assert_eq!(db.store.owner_of(made.id().0).unwrap(), None);
}

#[test]
fn row_ids_go_on_after_opening() {
    let fs = SimFs::new(3);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    let first = tree.next_row_id().unwrap();
    put_commit(&db, &tree, first, b"x").unwrap();
    assert_eq!(tree.next_row_id().unwrap(), first + 1);
    let id = tree.id();
    db.close().unwrap();
    drop((db, tree));
    let db = reopen(&fs, small_options()).unwrap();
    assert!(db.tree(id).next_row_id().unwrap() > first);
}
