//! What the log has of rows in memory, and what checkpoints write beside them.

use super::*;
use device::SimFs;
use std::collections::BTreeMap;

const RANGE: MemoryForm = MemoryForm { kind: MemoryKind::Range, durable: true };
const HASH: MemoryForm =
    MemoryForm { kind: MemoryKind::Hash { buckets: 64, tailed: false }, durable: true };

fn memory_tree(db: &Arc<Database>, form: MemoryForm) -> Tree {
    let tree = make_tree(db);
    db.keep_in_memory(tree.id(), form).unwrap();
    tree
}

/// Rows of the tree beside.
fn beside(tree: &Tree) -> u64 {
    tree.verify().unwrap().rows
}

fn sorted(db: &Arc<Database>, id: TreeId) -> Vec<(u64, Vec<u8>)> {
    let mut rows = all_rows(db, &db.tree(id));
    rows.sort();
    rows
}

#[test]
fn a_transaction_is_one_record_and_pages_are_the_checkpoints_business() {
    let fs = SimFs::new(21);
    let db = create(&fs, small_options());
    let (range, hash) = (memory_tree(&db, RANGE), memory_tree(&db, HASH));
    let tail = || db.log().tail().0;
    let before = tail();
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..20 {
        put(&mut txn, &range, n, &[7; 20]).unwrap();
        put(&mut txn, &hash, n, &[8; 20]).unwrap();
    }
    txn.commit(Durability::Delayed).unwrap();
    assert!(tail() - before < 40 * 44 + 100, "{} bytes of log", tail() - before);
    assert_eq!((beside(&range), beside(&hash)), (0, 0));
    // A hundred states of a row are one write.
    for state in 0..100u8 {
        txn.begin();
        assert!(txn.update(&range, &key(3), &RowImage::new(&[state; 20])).unwrap());
        assert!(txn.delete(&hash, &key(4)).unwrap());
        put(&mut txn, &hash, 4, &[state; 20]).unwrap();
        txn.commit(Durability::Delayed).unwrap();
    }
    let before = tail();
    db.checkpoint().unwrap();
    assert!(tail() - before < 40 * 200 + 5_000, "{} bytes of log", tail() - before);
    assert_eq!((beside(&range), beside(&hash)), (20, 20));
    let before = tail();
    db.checkpoint().unwrap();
    // Hardening fills the block up.
    assert!(tail() - before < 5_000, "nothing has changed");
    let expect = [sorted(&db, range.id()), sorted(&db, hash.id())];
    let ids = [range.id(), hash.id()];
    drop((txn, range, hash));
    db.close().unwrap();
    drop(db);
    let db = reopen(&fs, small_options()).unwrap();
    db.keep_in_memory(ids[0], RANGE).unwrap();
    db.keep_in_memory(ids[1], HASH).unwrap();
    assert_eq!([sorted(&db, ids[0]), sorted(&db, ids[1])], expect);
}

fn txn_update(db: &Arc<Database>, tree: &Tree, n: u64) -> bool {
    let mut txn = db.begin(TxnOptions::default());
    let found = txn.update(tree, &key(n), &RowImage::new(&[n as u8; 300])).unwrap();
    txn.commit(Durability::Full).unwrap();
    found
}

/// Transactions of more rows than a record takes, over both kinds of tree; committed, rolled back, cut short.
#[test]
fn large_transactions_are_there_wholly_or_not_at_all() {
    for seed in 0..6 {
        let fs = SimFs::new(30 + seed);
        let db = create(&fs, small_options());
        let (memory, disk) = (memory_tree(&db, RANGE), make_tree(&db));
        let ids = [memory.id(), disk.id()];
        let fill = |txn: &mut Txn, from: u64| {
            for n in from..from + 400 {
                put(txn, &memory, n, &[n as u8; 300]).unwrap();
                if n % 50 == 0 {
                    put(txn, &disk, n, b"disk").unwrap();
                }
            }
        };
        let mut txn = db.begin(TxnOptions::default());
        fill(&mut txn, 0);
        txn.commit(Durability::Full).unwrap();
        txn.begin();
        fill(&mut txn, 1000);
        txn.rollback().unwrap();
        // One whose rows are in the log when it learns that it may not commit.
        let isolation = Isolation::RepeatableRead;
        let mut late = db.begin(TxnOptions { isolation, ..TxnOptions::default() });
        assert!(read(&mut late, &memory, 5).is_some());
        assert!(txn_update(&db, &memory, 5));
        fill(&mut late, 1000);
        let before = db.log().tail().0;
        assert_eq!(late.commit(Durability::Full), Err(EngineError::NotRepeatable));
        assert!(db.log().tail().0 - before > 60_000);
        assert_eq!(read_now(&db, &memory, 1000), None);
        if seed % 2 == 0 {
            db.checkpoint().unwrap();
        }
        txn.begin();
        for n in 0..400 {
            assert!(txn.delete(&memory, &key(n)).unwrap());
        }
        fill(&mut txn, 2000);
        if seed % 3 == 0 {
            // While it is unfinished.
            db.checkpoint().unwrap();
        }
        let delayed = txn.commit(Durability::Delayed).unwrap();
        // It may be lost, but not in part; and what comes behind it is lost with it.
        let mut other = db.begin(TxnOptions::default());
        put(&mut other, &disk, 1, b"later").unwrap();
        assert!(other.commit(Durability::Delayed).unwrap() > delayed);
        drop((txn, other));
        let fs = fs.crash(seed);
        let db = reopen(&fs, small_options()).unwrap();
        db.keep_in_memory(ids[0], RANGE).unwrap();
        let rows: Vec<u64> = sorted(&db, ids[0]).into_iter().map(|(n, _)| n).collect();
        let on_disk = sorted(&db, ids[1]).into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        let first: Vec<u64> = (0..400).collect();
        let second: Vec<u64> = (2000..2400).collect();
        assert!(rows == first || rows == second, "{} rows", rows.len());
        assert_eq!(on_disk.contains(&2000), rows == second);
        assert!(!on_disk.contains(&1) || rows == second);
        assert!(!on_disk.contains(&1000));
    }
}

/// The name of a tree that is gone is another one's: what the log has of the first is not read into the second.
#[test]
fn rows_of_a_tree_that_is_gone_do_not_come_back_in_another() {
    let fs = SimFs::new(50);
    let db = create(&fs, small_options());
    let first = memory_tree(&db, RANGE);
    for n in 0..50 {
        put_commit(&db, &first, n, b"first").unwrap();
    }
    let mut txn = db.begin(TxnOptions::default());
    txn.drop_tree(&first).unwrap();
    txn.commit(Durability::Full).unwrap();
    drop((txn, first));
    // Its pages become free, and are somebody else's.
    db.flush_log().unwrap();
    for _ in 0..10 {
        db.background_step();
    }
    let second = memory_tree(&db, HASH);
    put_commit(&db, &second, 7, b"second").unwrap();
    let id = second.id();
    drop(second);
    db.flush_log().unwrap();
    let fs = fs.crash(1);
    let db = reopen(&fs, small_options()).unwrap();
    db.keep_in_memory(id, HASH).unwrap();
    assert_eq!(sorted(&db, id), [(7, b"second".to_vec())]);
    // Nor do they come into one that is made after a crash, nor keep the log.
    for n in 8..20 {
        put_commit(&db, &db.tree(id), n, b"second").unwrap();
    }
    let mut txn = db.begin(TxnOptions::default());
    txn.drop_tree(&db.tree(id)).unwrap();
    txn.commit(Durability::Full).unwrap();
    drop(txn);
    for _ in 0..10 {
        db.background_step();
    }
    db.flush_log().unwrap();
    let db = reopen(&fs.crash(2), small_options()).unwrap();
    for _ in 0..3 {
        let third = memory_tree(&db, RANGE);
        assert_eq!(sorted(&db, third.id()), []);
    }
    db.checkpoint().unwrap();
    assert_ne!(db.log_reuse_wait().0, 16);
}

/// A log that may not grow: commits of rows in memory never keep a checkpoint from freeing it.
#[test]
fn a_full_log_is_freed_by_writing_rows_beside() {
    let fs = SimFs::new(60);
    let mut options = small_options();
    options.log.max_bytes = Some(2 << 20);
    let db = create(&fs, options.clone());
    let tree = memory_tree(&db, HASH);
    let id = tree.id();
    let mut expect = BTreeMap::new();
    let mut txn = db.txn(TxnOptions::default());
    for n in 0..6_000u64 {
        txn.begin();
        let row = vec![n as u8; 200 + (n % 700) as usize];
        match n % 3 {
            2 => assert!(txn.update(&tree, &key(n - 1), &RowImage::new(&row)).unwrap()),
            _ => put(&mut txn, &tree, n, &row).unwrap(),
        }
        txn.commit(Durability::Delayed).unwrap();
        expect.insert(if n % 3 == 2 { n - 1 } else { n }, row);
        if n % 5 == 4 && n > 100 {
            txn.begin();
            if txn.delete(&tree, &key(n - 50)).unwrap() {
                expect.remove(&(n - 50));
            }
            txn.commit(Durability::Delayed).unwrap();
        }
    }
    assert!(db.stats().checkpoints > 2);
    db.flush_log().unwrap();
    drop((txn, tree));
    let db = reopen(&fs.crash(9), options).unwrap();
    db.keep_in_memory(id, HASH).unwrap();
    assert_eq!(sorted(&db, id), expect.into_iter().collect::<Vec<_>>());
    // Nobody knows what of it is beside.
    assert_eq!(db.log_reuse_wait(), (16, "XTP_CHECKPOINT"));
    db.checkpoint().unwrap();
    db.checkpoint().unwrap();
    assert_ne!(db.log_reuse_wait().0, 16);
}

/// Deleted rows go when the tree beside has them no more, with a checkpoint or without.
#[test]
fn deleted_rows_leave_memory() {
    let db = fresh();
    let tree = memory_tree(&db, RANGE);
    let mut txn = db.txn(TxnOptions::default());
    let mut peak = 0;
    for round in 0..10u64 {
        for n in 0..20_000u64 {
            txn.begin();
            put(&mut txn, &tree, round << 32 | n, &[1; 50]).unwrap();
            txn.commit(Durability::Delayed).unwrap();
            txn.begin();
            assert!(txn.delete(&tree, &key(round << 32 | n)).unwrap());
            txn.commit(Durability::Delayed).unwrap();
        }
        db.flush_log().unwrap();
        db.background_step();
        peak = peak.max(tree.memory_facts().unwrap().row_bytes);
    }
    assert!(peak < 20 << 20, "{peak} bytes");
    db.checkpoint().unwrap();
    db.flush_log().unwrap();
    while db.clean_memory() {}
    assert_eq!(tree.memory_facts().unwrap().row_bytes, 0);
    assert_eq!(beside(&tree), 0);
}

/// Nor do tables that nobody has asked for since the database was opened.
#[test]
fn a_table_that_is_being_defined_anew_keeps_the_log_and_nobody_waits() {
    let fs = SimFs::new(70);
    let db = create(&fs, small_options());
    let tree = memory_tree(&db, RANGE);
    let id = tree.id();
    for n in 0..50 {
        put_commit(&db, &tree, n, b"row").unwrap();
    }
    let mut definer = db.begin(TxnOptions::default());
    definer.lock_table(&tree, TableLock::SchemaModification).unwrap();
    db.checkpoint().unwrap();
    assert_eq!(beside(&tree), 0);
    definer.rollback().unwrap();
    drop((definer, tree));
    let fs = fs.crash(1);
    let db = reopen(&fs, small_options()).unwrap();
    // Before anybody has asked for it, more than once.
    db.checkpoint().unwrap();
    db.checkpoint().unwrap();
    let fs = fs.crash(2);
    drop(db);
    let db = reopen(&fs, small_options()).unwrap();
    db.keep_in_memory(id, RANGE).unwrap();
    assert_eq!(sorted(&db, id).len(), 50);
    db.checkpoint().unwrap();
    let tree = db.tree(id);
    assert_eq!(beside(&tree), 50);
    // As DBCC compares them.
    let mut txn = db.begin(TxnOptions::default());
    assert!(txn.update(&tree, &key(7), &RowImage::new(b"other")).unwrap());
    txn.commit(Durability::Full).unwrap();
    txn.begin();
    assert!(db.compare_memory(&tree, &mut txn).unwrap().is_some_and(|found| found.number == 8970));
    db.write_memory_of(&tree, &mut txn).unwrap();
    assert!(db.compare_memory(&tree, &mut txn).unwrap().is_none());
    txn.rollback().unwrap();
}

/// Somebody who waits for the table keeps newcomers out, but not a check that has begun: what it compares is up to date.
#[test]
fn a_check_writes_rows_also_where_a_definition_waits() {
    let db = fresh();
    let tree = memory_tree(&db, RANGE);
    put_commit(&db, &tree, 1, b"row").unwrap();
    let mut check = db.begin(TxnOptions::default());
    check.lock_table(&tree, TableLock::Shared).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut definer = db.begin(TxnOptions::default());
            definer.lock_table(&tree, TableLock::SchemaModification).unwrap();
            definer.rollback().unwrap();
        });
        let mut waits = false;
        while !waits {
            let mut newcomer = db.begin(TxnOptions::default());
            newcomer.wait_as(true);
            waits = newcomer.enter(&tree, lock_manager::TableMode::SchemaStability).is_err();
            newcomer.rollback().unwrap();
        }
        db.write_memory_of(&tree, &mut check).unwrap();
        assert!(db.compare_memory(&tree, &mut check).unwrap().is_none());
        check.rollback().unwrap();
    });
    assert_eq!(beside(&tree), 1);
}

/// What is set aside in the log for rows that a checkpoint could not write stays so.
#[test]
fn room_for_rows_that_wait_stays_aside() {
    let db = fresh();
    let (tree, other) = (memory_tree(&db, RANGE), memory_tree(&db, HASH));
    let aside = || db.room_aside.bytes();
    for n in 0..50 {
        put_commit(&db, &tree, n, &[1; 100]).unwrap();
        put_commit(&db, &other, n, &[1; 100]).unwrap();
    }
    assert!(aside() >= 50 * 2 * 300, "{}", aside());
    let mut definer = db.begin(TxnOptions::default());
    definer.lock_table(&tree, TableLock::SchemaModification).unwrap();
    db.checkpoint().unwrap();
    assert!((50 * 300..50 * 500).contains(&aside()), "{}", aside());
    definer.rollback().unwrap();
    db.checkpoint().unwrap();
    assert_eq!(aside(), 0);
    // Nor is that of a row which is written while somebody changes it once more.
    put_commit(&db, &tree, 100, &[1; 100]).unwrap();
    let mut txn = db.begin(TxnOptions::default());
    assert!(txn.update(&tree, &key(100), &RowImage::new(&[2; 100])).unwrap());
    db.checkpoint().unwrap();
    assert!((300..600).contains(&aside()), "{}", aside());
    txn.commit(Durability::Delayed).unwrap();
    db.checkpoint().unwrap();
    assert_eq!(aside(), 0);
    assert_eq!((beside(&tree), beside(&other)), (51, 50));
}

/// Where the log may grow, room for what checkpoints will write is not filled with zeros beyond a bound; where it may not, it is
/// there.
#[test]
fn room_in_the_file_has_a_bound_where_the_file_may_grow() {
    // What 20 MB of images need is 40 MB and more.
    const MB: u64 = 1 << 20;
    for max_bytes in [None, Some(80 * MB)] {
        let fs = SimFs::new(23);
        let mut options = small_options();
        options.log.max_bytes = max_bytes;
        let db = create(&fs, options);
        let tree = memory_tree(&db, HASH);
        let mut random = 9u64;
        for block in 0..400 {
            let mut txn = db.begin(TxnOptions::default());
            for n in 0..50 {
                let row: Vec<u8> = std::iter::repeat_with(|| {
                    random = stdx::mix64(random.wrapping_add(1));
                    random as u8
                })
                .take(1000)
                .collect();
                put(&mut txn, &tree, block * 50 + n, &row).unwrap();
            }
            txn.commit(Durability::Delayed).unwrap();
        }
        let (aside, bound) = (db.room_aside.bytes(), crate::memory::ROOM_IN_FILE);
        match max_bytes {
            None => assert!((bound..bound + MB).contains(&aside), "{aside}"),
            Some(_) => assert!(aside > 2 * 20_000 * 1000, "{aside}"),
        }
        db.checkpoint().unwrap();
        assert_eq!((beside(&tree), db.room_aside.bytes()), (20_000, 0));
    }
}

/// A row that the pages would not take is refused as it is written, not when a checkpoint meets it.
#[test]
fn rows_that_pages_do_not_take_are_refused_at_once() {
    let db = fresh();
    for form in [RANGE, HASH] {
        let tree = memory_tree(&db, form);
        let mut txn = db.begin(TxnOptions::default());
        assert_eq!(put(&mut txn, &tree, 1, &[1; 9000]).unwrap_err().number(), 511);
        put(&mut txn, &tree, 1, &[1; 8000]).unwrap();
        let long = [2; 9000];
        let error = txn.update(&tree, &key(1), &RowImage::new(&long)).unwrap_err();
        assert_eq!(error.number(), 511);
        txn.commit(Durability::Full).unwrap();
        db.checkpoint().unwrap();
        assert_eq!(beside(&tree), 1);
    }
    // Of what is not durable there are no pages.
    let tree = memory_tree(&db, MemoryForm { durable: false, ..RANGE });
    put_commit(&db, &tree, 1, &[1; 9000]).unwrap();
}
