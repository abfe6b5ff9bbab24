//! Memory trees behind the engine's door: snapshots, conflicts, validation, savepoints, both kinds of tree in one
//! transaction, and what is there after the database has been opened again.

use super::*;
use device::SimFs;

const RANGE: MemoryForm = MemoryForm { kind: MemoryKind::Range, durable: true };
const HASH: MemoryForm =
    MemoryForm { kind: MemoryKind::Hash { buckets: 64, tailed: false }, durable: true };

fn memory_tree(db: &Arc<Database>, form: MemoryForm) -> Tree {
    let tree = make_tree(db);
    db.keep_in_memory(tree.id(), form).unwrap();
    tree
}

fn begin(db: &Arc<Database>, isolation: Isolation) -> Txn {
    db.begin(TxnOptions { isolation, ..TxnOptions::default() })
}

fn update(txn: &mut Txn, tree: &Tree, n: u64, row: &[u8]) -> Result<bool, EngineError> {
    txn.update(tree, &key(n), &RowImage::new(row))
}

#[test]
fn writers_that_meet_are_refused_at_once() {
    for form in [RANGE, HASH] {
        let db = fresh();
        let tree = memory_tree(&db, form);
        let mut a = db.begin(TxnOptions::default());
        put(&mut a, &tree, 1, b"one").unwrap();
        assert_eq!(read_now(&db, &tree, 1), None);
        a.commit(Durability::Full).unwrap();
        assert_eq!(read_now(&db, &tree, 1).as_deref(), Some(&b"one"[..]));
        let (mut b, mut c) = (db.begin(TxnOptions::default()), db.begin(TxnOptions::default()));
        assert!(update(&mut b, &tree, 1, b"two").unwrap());
        assert_eq!(update(&mut c, &tree, 1, b"three"), Err(EngineError::WriteConflict));
        assert!(c.is_doomed());
        c.rollback().unwrap();
        put(&mut b, &tree, 2, b"b").unwrap();
        c.begin();
        assert_eq!(put(&mut c, &tree, 2, b"c"), Err(EngineError::NotSerializable));
        c.rollback().unwrap();
        assert_eq!(put(&mut b, &tree, 1, b"again"), Err(EngineError::Duplicate));
        b.rollback().unwrap();
        assert_eq!(all_rows(&db, &tree), [(1, b"one".to_vec())]);
        assert_eq!(put_commit(&db, &tree, 1, b"x"), Err(EngineError::Duplicate));
        put_commit(&db, &tree, 3, b"x").unwrap();
    }
}

#[test]
fn a_transaction_reads_as_of_one_moment() {
    let db = fresh();
    let tree = memory_tree(&db, RANGE);
    put_commit(&db, &tree, 1, b"a").unwrap();
    let mut reader = db.begin(TxnOptions::default());
    assert_eq!(read(&mut reader, &tree, 1).as_deref(), Some(&b"a"[..]));
    let mut writer = db.begin(TxnOptions::default());
    assert!(update(&mut writer, &tree, 1, b"b").unwrap());
    put(&mut writer, &tree, 2, b"c").unwrap();
    writer.commit(Durability::Delayed).unwrap();
    // Another statement of the same transaction.
    reader.begin_statement();
    assert_eq!(rows(&mut reader, &tree, ScanOptions::default()), [(1, b"a".to_vec())]);
    reader.end_statement();
    assert_eq!(update(&mut reader, &tree, 1, b"x"), Err(EngineError::WriteConflict));
    reader.rollback().unwrap();
    assert_eq!(all_rows(&db, &tree).len(), 2);
}

#[test]
fn what_was_read_is_looked_at_again_when_it_commits() {
    for form in [RANGE, HASH] {
        let db = fresh();
        let tree = memory_tree(&db, form);
        put_commit(&db, &tree, 1, b"a").unwrap();
        let change = |n: u64| {
            let mut writer = db.begin(TxnOptions::default());
            match n {
                1 => assert!(update(&mut writer, &tree, 1, b"b").unwrap()),
                n => put(&mut writer, &tree, n, b"new").unwrap(),
            }
            writer.commit(Durability::Delayed).unwrap();
        };
        // A row that was read has changed.
        let mut txn = begin(&db, Isolation::RepeatableRead);
        assert!(read(&mut txn, &tree, 1).is_some());
        change(2);
        txn.commit(Durability::Full).unwrap();
        let mut txn = begin(&db, Isolation::RepeatableRead);
        rows(&mut txn, &tree, ScanOptions::default());
        change(1);
        assert_eq!(txn.commit(Durability::Full), Err(EngineError::NotRepeatable));
        assert!(!txn.is_active());
        // A row has come where none was.
        let mut txn = begin(&db, Isolation::Serializable);
        rows(&mut txn, &tree, ScanOptions::default());
        put(&mut txn, &tree, 50, b"own").unwrap();
        change(3);
        assert_eq!(txn.commit(Durability::Full), Err(EngineError::NotSerializable));
        let mut txn = begin(&db, Isolation::Serializable);
        assert_eq!(read(&mut txn, &tree, 4), None);
        change(4);
        put(&mut txn, &tree, 50, b"own").unwrap();
        assert_eq!(txn.commit(Durability::Full), Err(EngineError::NotSerializable));
        // By SNAPSHOT nobody looks.
        let mut txn = db.begin(TxnOptions::default());
        rows(&mut txn, &tree, ScanOptions::default());
        put(&mut txn, &tree, 50, b"own").unwrap();
        change(5);
        txn.commit(Durability::Full).unwrap();
        assert_eq!(all_rows(&db, &tree).len(), 6);
    }
}

/// Two transactions that each read what the other writes: one of them fails.
#[test]
fn write_skew_is_for_snapshots_alone() {
    for (isolation, both) in [(Isolation::ReadCommitted, true), (Isolation::Serializable, false)] {
        let db = fresh();
        let tree = memory_tree(&db, RANGE);
        put_commit(&db, &tree, 1, b"on").unwrap();
        put_commit(&db, &tree, 2, b"on").unwrap();
        let (mut a, mut b) = (begin(&db, isolation), begin(&db, isolation));
        for txn in [&mut a, &mut b] {
            assert_eq!(rows(txn, &tree, ScanOptions::default()).len(), 2);
        }
        assert!(update(&mut a, &tree, 1, b"off").unwrap());
        assert!(update(&mut b, &tree, 2, b"off").unwrap());
        a.commit(Durability::Full).unwrap();
        assert_eq!(b.commit(Durability::Full).is_ok(), both);
    }
}

#[test]
fn savepoints_and_statements_are_taken_back_over_both_kinds_of_tree() {
    let db = fresh();
    let (memory, disk) = (memory_tree(&db, RANGE), make_tree(&db));
    let mut txn = db.begin(TxnOptions::default());
    put(&mut txn, &memory, 1, b"a").unwrap();
    put(&mut txn, &disk, 1, b"a").unwrap();
    let savepoint = txn.savepoint();
    assert!(update(&mut txn, &memory, 1, b"b").unwrap());
    put(&mut txn, &memory, 2, b"b").unwrap();
    put(&mut txn, &disk, 2, b"b").unwrap();
    txn.rollback_to(savepoint).unwrap();
    assert!(txn.delete(&memory, &key(1)).unwrap());
    put(&mut txn, &memory, 1, b"c").unwrap();
    txn.begin_statement();
    put(&mut txn, &memory, 3, b"d").unwrap();
    txn.rollback_statement().unwrap();
    txn.commit(Durability::Full).unwrap();
    assert_eq!(all_rows(&db, &memory), [(1, b"c".to_vec())]);
    assert_eq!(all_rows(&db, &disk), [(1, b"a".to_vec())]);
    txn.begin();
    put(&mut txn, &memory, 9, b"z").unwrap();
    put(&mut txn, &disk, 9, b"z").unwrap();
    txn.rollback().unwrap();
    assert_eq!(all_rows(&db, &memory).len() + all_rows(&db, &disk).len(), 2);
}

#[test]
fn what_is_durable_is_there_after_a_crash_and_the_rest_is_not() {
    let fs = SimFs::new(7);
    let db = create(&fs, small_options());
    let durable = memory_tree(&db, HASH);
    let brief = memory_tree(&db, MemoryForm { durable: false, ..RANGE });
    for n in 0..300 {
        let mut txn = db.begin(TxnOptions::default());
        for tree in [&durable, &brief] {
            put(&mut txn, tree, n, format!("row {n}").as_bytes()).unwrap();
            if n >= 10 {
                assert!(update(&mut txn, tree, n - 10, b"changed").unwrap());
            }
            if n >= 20 {
                assert!(txn.delete(tree, &key(n - 20)).unwrap());
            }
        }
        txn.commit(Durability::Full).unwrap();
        if n == 150 {
            db.checkpoint().unwrap();
        }
    }
    let expect = all_rows(&db, &brief);
    let mut open = db.begin(TxnOptions::default());
    put(&mut open, &durable, 1000, b"never").unwrap();
    let mut lost = all_rows(&db, &durable);
    lost.sort();
    assert_eq!(lost, expect);
    // Power goes: what is open is over, and what lies in memory is gone.
    let ids = [durable.id(), brief.id()];
    let fs = fs.crash(3);
    drop(open);
    let db = reopen(&fs, small_options()).unwrap();
    db.keep_in_memory(ids[0], HASH).unwrap();
    db.keep_in_memory(ids[1], MemoryForm { durable: false, ..RANGE }).unwrap();
    let mut rows = all_rows(&db, &db.tree(ids[0]));
    rows.sort();
    assert_eq!(rows, expect);
    assert_eq!(all_rows(&db, &db.tree(ids[1])), []);
    put_commit(&db, &db.tree(ids[0]), 0, b"again").unwrap();
}

#[test]
fn nothing_of_a_tree_that_is_not_durable_is_logged() {
    let db = fresh();
    let tree = memory_tree(&db, MemoryForm { durable: false, ..RANGE });
    let before = db.log().tail();
    for n in 0..100 {
        let mut txn = db.begin(TxnOptions::default());
        put(&mut txn, &tree, n, &[7; 500]).unwrap();
        txn.commit(Durability::Full).unwrap();
    }
    let each = (db.log().tail().0 - before.0) / 100;
    assert!(each < 100, "{each} bytes of log a transaction");
    assert!(tree.memory_facts().unwrap().row_bytes > 100 * 500);
}

/// Where a transaction has one row to write, and nothing else.
#[test]
fn a_single_row_and_its_commit_are_one_record() {
    let fs = SimFs::new(11);
    let db = create(&fs, small_options());
    let tree = memory_tree(&db, HASH);
    let id = tree.id();
    put_commit(&db, &tree, 1000, b"first").unwrap();
    let mut txn = db.txn(TxnOptions::default());
    let mut change = |n: u64, row: Option<&[u8]>, is_new: bool, durability| {
        let before = db.log().tail();
        txn.begin();
        match row {
            Some(row) if is_new => put(&mut txn, &tree, n, row).unwrap(),
            Some(row) => assert!(update(&mut txn, &tree, n, row).unwrap()),
            None => assert!(txn.delete(&tree, &key(n)).unwrap()),
        }
        txn.commit(durability).unwrap();
        db.log().tail().0 - before.0
    };
    for n in 0..40 {
        let bytes = change(n, Some(b"row"), true, Durability::Delayed);
        assert!(bytes <= 72, "{bytes} bytes of log for an insert");
    }
    for n in 0..10 {
        change(n, Some(b"other"), false, Durability::Delayed);
        change(n + 10, None, false, Durability::Delayed);
        change(n + 20, None, false, Durability::Delayed);
    }
    // Over the deleted rows, too.
    for n in 20..30 {
        change(n, Some(b"again"), true, Durability::Full);
    }
    let expect = |n: u64| match n {
        0..10 => Some(&b"other"[..]),
        20..30 => Some(&b"again"[..]),
        30..40 => Some(&b"row"[..]),
        1000 => Some(&b"first"[..]),
        _ => None,
    };
    let check = |db: &Arc<Database>| {
        for n in (0..50).chain([1000]) {
            assert_eq!(read_now(db, &db.tree(id), n).as_deref(), expect(n), "{n}");
        }
    };
    check(&db);
    drop(txn);
    drop(tree);
    let db = reopen(&fs.crash(5), small_options()).unwrap();
    db.keep_in_memory(id, HASH).unwrap();
    check(&db);
    db.tree(id).verify().unwrap();
}

/// Versions go when nobody needs them, though somebody reads for long.
#[test]
fn a_long_reader_keeps_what_it_sees_and_no_more() {
    let db = fresh();
    let tree = memory_tree(&db, MemoryForm { durable: false, ..RANGE });
    put_commit(&db, &tree, 1, &[1; 1000]).unwrap();
    let mut reader = db.begin(TxnOptions::default());
    assert!(read(&mut reader, &tree, 1).is_some());
    let mut writer = db.txn(TxnOptions::default());
    for n in 0..5_000u64 {
        writer.begin();
        assert!(update(&mut writer, &tree, 1, &[n as u8; 1000]).unwrap());
        writer.commit(Durability::Delayed).unwrap();
    }
    db.flush_log().unwrap();
    db.clean_memory();
    assert_eq!(read(&mut reader, &tree, 1), Some(vec![1; 1000]));
    let rows = tree.memory_facts().unwrap().row_bytes;
    assert!(rows < 20_000, "{rows} bytes for one row");
    reader.rollback().unwrap();
}

/// Pairs of which one at least must be on. Threads look at both and switch one off, or both on again: under SERIALIZABLE no
/// moment shows a pair that is off altogether, and none is left.
#[test]
fn threads_that_are_serializable_keep_what_each_relies_on() {
    const PAIRS: u64 = 4;
    for form in [RANGE, HASH] {
        let db = fresh();
        let tree = memory_tree(&db, MemoryForm { durable: false, ..form });
        let mut txn = db.begin(TxnOptions::default());
        for n in 0..2 * PAIRS {
            put(&mut txn, &tree, n, b"1").unwrap();
        }
        txn.commit(Durability::Delayed).unwrap();
        let committed = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for worker in 0..4u64 {
                let (db, tree, committed) = (&db, &tree, &committed);
                scope.spawn(move || {
                    let mut seed = worker + 7;
                    let mut next = |below: u64| {
                        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                        (seed >> 33) % below
                    };
                    let options =
                        TxnOptions { isolation: Isolation::Serializable, ..TxnOptions::default() };
                    let mut txn = db.txn(options);
                    for _ in 0..2_000 {
                        let (pair, which) = (2 * next(PAIRS), next(2));
                        txn.begin();
                        let on = |txn: &mut Txn, n: u64| {
                            read(txn, tree, n).is_some_and(|row| row == b"1")
                        };
                        let (a, b) = (on(&mut txn, pair), on(&mut txn, pair + 1));
                        assert!(a || b, "a pair is off");
                        let row: &[u8] = if a && b { b"0" } else { b"1" };
                        let n = if a && b { pair + which } else { pair + u64::from(a) };
                        match update(&mut txn, tree, n, row) {
                            Ok(found) => {
                                assert!(found);
                                if txn.commit(Durability::Delayed).is_ok() {
                                    committed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                                }
                            }
                            Err(_) => txn.rollback().unwrap(),
                        }
                    }
                });
            }
        });
        assert!(committed.into_inner() > 500);
    }
}

#[test]
fn rows_stay_below_their_quota_and_deletions_make_room() {
    for form in [RANGE, HASH] {
        let db = fresh();
        let tree = memory_tree(&db, form);
        put_commit(&db, &tree, 0, &[0; 1000]).unwrap();
        let quota = Arc::new(MemoryQuota::new("pool"));
        db.set_memory_quota(quota.clone());
        assert!(quota.used() > 1000);
        quota.set_bound(Some(100_000));
        let mut last = 0;
        let refused = loop {
            match put_commit(&db, &tree, last + 1, &[1; 1000]) {
                Ok(_) => last += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(refused, EngineError::QuotaUsedUp { pool: "pool".into() });
        assert!((80..=100).contains(&last), "{last}");
        assert!(quota.used() >= 100_000 && quota.used() < 105_000, "{}", quota.used());
        assert_eq!(quota.refused(), 1);
        // What is there is read, and may go; the transaction that was refused goes on.
        let mut txn = db.begin(TxnOptions::default());
        assert!(read(&mut txn, &tree, last).is_some());
        assert_eq!(put(&mut txn, &tree, last + 1, b"x"), Err(refused));
        for n in 1..=20 {
            assert!(txn.delete(&tree, &key(n)).unwrap());
        }
        txn.commit(Durability::Full).unwrap();
        db.flush_log().unwrap();
        while db.clean_memory() {}
        put_commit(&db, &tree, last + 1, &[1; 1000]).unwrap();
        // Without a bound there is room.
        quota.set_bound(None);
        for n in 1000..1200 {
            put_commit(&db, &tree, n, &[1; 1000]).unwrap();
        }
        assert!(quota.used() > 200_000);
        // A table that is gone does not count.
        drop((txn, tree, db));
        assert_eq!(quota.used(), 0);
    }
}
