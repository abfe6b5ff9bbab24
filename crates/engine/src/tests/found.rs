//! Rows looked up and then changed: without a lock in one record, or with one.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::thread;

fn number(row: &[u8]) -> u64 {
    u64::from_le_bytes(row[..8].try_into().unwrap())
}

/// One more in a row, in a transaction of one record where that may be. Whether it was.
fn add_one(txn: &mut Txn, tree: &Tree, n: u64, found: &mut Found) -> bool {
    txn.begin();
    assert!(txn.fuse());
    for _ in 0..3 {
        if txn.look(tree, &key(n), found).unwrap() != Looked::Row {
            break;
        }
        let next = (number(&found.row) + 1).to_le_bytes();
        let change = Change::To(RowImage::new(&next));
        if txn.change_found(tree, &key(n), found, change).unwrap() {
            txn.commit(Durability::Delayed).unwrap();
            return true;
        }
    }
    txn.unfuse();
    assert!(txn.lock_found(tree, &key(n), found).unwrap());
    let next = (number(&found.row) + 1).to_le_bytes();
    let row = RowImage::new(&next);
    if !txn.change_found(tree, &key(n), found, Change::To(row)).unwrap() {
        assert!(txn.update(tree, &key(n), &row).unwrap());
    }
    txn.commit(Durability::Delayed).unwrap();
    false
}

#[test]
fn no_change_is_lost_between_looking_and_changing() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 0..3 {
        put_commit(&db, &tree, n, &[0; 8]).unwrap();
    }
    let (fused, done) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|s| {
        for seed in 0..4 {
            let (db, tree, fused, done) = (&db, &tree, &fused, &done);
            s.spawn(move || {
                let mut rng = stdx::Prng::new(seed);
                let mut txn = db.txn(TxnOptions::default());
                let mut found = Found::default();
                for i in 0..400 {
                    let n = rng.below(3);
                    if i % 4 == seed {
                        txn.begin();
                        assert!(txn.read_latest_locked(tree, &key(n), &mut found.row).unwrap());
                        let next = (number(&found.row) + 1).to_le_bytes();
                        if rng.one_in(3) {
                            thread::yield_now();
                        }
                        assert!(txn.update(tree, &key(n), &RowImage::new(&next)).unwrap());
                        txn.commit(Durability::Delayed).unwrap();
                    } else {
                        let one = add_one(&mut txn, tree, n, &mut found);
                        fused.fetch_add(u64::from(one), Relaxed);
                    }
                }
                done.fetch_add(1, Release);
            });
        }
        // Rows are there for every snapshot, and stay as they are for it.
        for _ in 0..2 {
            let (db, tree, done) = (&db, &tree, &done);
            s.spawn(move || {
                let options =
                    TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
                let mut txn = db.txn(options);
                let (mut row, mut last) = (Vec::new(), 0);
                while done.load(Acquire) < 4 {
                    txn.begin();
                    let mut sum = || {
                        (0..3)
                            .map(|n| {
                                assert!(txn.get(tree, &key(n), &mut row).unwrap(), "row {n}");
                                number(&row)
                            })
                            .sum::<u64>()
                    };
                    let first = sum();
                    thread::yield_now();
                    assert_eq!(first, sum());
                    assert!(first >= last);
                    last = first;
                    txn.commit(Durability::Delayed).unwrap();
                    db.background_step();
                }
            });
        }
    });
    let sum: u64 = all_rows(&db, &tree).iter().map(|(_, r)| number(r)).sum();
    assert_eq!(sum, 1600);
    assert!(fused.load(Relaxed) > 0, "some went the short way");
    assert!(db.locks().is_empty());
}

/// The key of a row's entry in a tree beside: its number, and its own key.
fn entry(number: u64, n: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key[8..].copy_from_slice(&n.to_be_bytes());
    key
}

/// One more in a row, whose entry beside moves with it, in a transaction that locks the row only where it must. Whether it
/// did without.
fn move_entry(txn: &mut Txn, (tree, beside): (&Tree, &Tree), n: u64, found: &mut Found) -> bool {
    txn.begin();
    assert!(txn.pass_locks() && !txn.fuses());
    let change = |txn: &mut Txn, found: &Found| {
        let was = number(&found.row);
        let next = (was + 1).to_le_bytes();
        let row = RowImage::new(&next);
        let mut changed = txn.change_found(tree, &key(n), found, Change::To(row)).unwrap();
        if !changed && !txn.passes_locks() {
            changed = txn.update(tree, &key(n), &row).unwrap();
        }
        if changed {
            assert!(txn.delete_entry(beside, &entry(was, n)).unwrap(), "its entry is there");
            let hint = &mut InsertHint::default();
            txn.insert(beside, &entry(was + 1, n), &RowImage::new(b"e"), hint).unwrap();
            txn.commit(Durability::Delayed).unwrap();
        }
        changed
    };
    for _ in 0..3 {
        if txn.look(tree, &key(n), found).unwrap() != Looked::Row {
            break;
        }
        if change(txn, found) {
            return true;
        }
    }
    txn.unfuse();
    assert!(txn.lock_found(tree, &key(n), found).unwrap());
    assert!(change(txn, found));
    false
}

#[test]
fn rows_that_change_without_a_lock_keep_their_entries() {
    let db = fresh();
    let (tree, beside) = (make_tree(&db), make_tree(&db));
    for n in 0..3 {
        put_commit(&db, &tree, n, &[0; 8]).unwrap();
        let mut txn = db.begin(TxnOptions::default());
        let hint = &mut InsertHint::default();
        txn.insert(&beside, &entry(0, n), &RowImage::new(b"e"), hint).unwrap();
        txn.commit(Durability::Delayed).unwrap();
    }
    let (without, done) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|s| {
        for seed in 0..4 {
            let (db, trees, without, done) = (&db, (&tree, &beside), &without, &done);
            s.spawn(move || {
                let mut rng = stdx::Prng::new(seed);
                let mut txn = db.txn(TxnOptions::default());
                let mut found = Found::default();
                for _ in 0..300 {
                    let n = rng.below(3);
                    let one = move_entry(&mut txn, trees, n, &mut found);
                    without.fetch_add(u64::from(one), Relaxed);
                }
                done.fetch_add(1, Release);
            });
        }
        // By a snapshot each row has one entry, which is its own.
        let (db, tree, beside, done) = (&db, &tree, &beside, &done);
        s.spawn(move || {
            let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
            let mut txn = db.txn(options);
            let (mut row, mut other) = (Vec::new(), Vec::new());
            while done.load(Acquire) < 4 {
                txn.begin();
                for n in 0..3 {
                    assert!(txn.get(tree, &key(n), &mut row).unwrap(), "row {n}");
                    let now = number(&row);
                    assert!(txn.get(beside, &entry(now, n), &mut other).unwrap());
                    assert!(!txn.get(beside, &entry(now + 1, n), &mut other).unwrap());
                    let before = now.checked_sub(1);
                    let at_before =
                        before.map(|b| txn.get(beside, &entry(b, n), &mut other).unwrap());
                    assert_ne!(at_before, Some(true));
                }
                txn.commit(Durability::Delayed).unwrap();
                db.background_step();
            }
        });
    });
    let numbers: Vec<u64> = all_rows(&db, &tree).iter().map(|(_, r)| number(r)).collect();
    assert_eq!(numbers.iter().sum::<u64>(), 1200);
    let mut txn = db.begin(TxnOptions::default());
    let mut scan =
        txn.scan(&beside, Bound::Unbounded, Bound::Unbounded, ScanOptions::default()).unwrap();
    let mut entries = Vec::new();
    while let Some((key, _)) = scan.next(&mut txn).unwrap() {
        entries.push(key.to_vec());
    }
    drop((scan, txn));
    let mut wanted: Vec<_> = (0..).zip(&numbers).map(|(n, at)| entry(*at, n).to_vec()).collect();
    wanted.sort();
    assert_eq!(entries, wanted);
    assert!(without.load(Relaxed) > 0, "some did without a lock");
    assert!(db.locks().is_empty());
}

#[test]
fn a_row_changed_without_a_lock_is_its_writers_until_he_ends() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, &[0; 8]).unwrap();
    let brief = TxnOptions { lock_timeout_ms: Some(0), ..TxnOptions::default() };
    let (mut a, mut b) = (db.txn(TxnOptions::default()), db.txn(brief));
    let (mut row, mut found) = (Vec::new(), Found::default());
    for ends in [true, false] {
        a.begin();
        assert!(a.pass_locks());
        assert_eq!(a.look(&tree, &key(1), &mut found).unwrap(), Looked::Row);
        let new = RowImage::new(&[1; 8]);
        assert!(a.change_found(&tree, &key(1), &found, Change::To(new)).unwrap());
        // Nobody else gets at it: with a lock, without one, by reading.
        b.begin();
        let mut other = Found::default();
        assert_eq!(b.look(&tree, &key(1), &mut other).unwrap(), Looked::Busy);
        assert!(b.lock_found(&tree, &key(1), &mut other).is_err());
        b.rollback().unwrap();
        b.begin();
        assert!(b.update(&tree, &key(1), &RowImage::new(&[2; 8])).is_err());
        b.rollback().unwrap();
        match ends {
            true => a.rollback().unwrap(),
            false => drop(a.commit(Durability::Delayed).unwrap()),
        }
        b.begin();
        assert!(b.get(&tree, &key(1), &mut row).unwrap());
        assert_eq!(row, if ends { [0; 8] } else { [1; 8] });
        b.commit(Durability::Delayed).unwrap();
    }
    // A lock that is held is in its way.
    a.begin();
    assert!(a.pass_locks());
    assert_eq!(a.look(&tree, &key(1), &mut found).unwrap(), Looked::Row);
    b.begin();
    assert!(b.lock_latest(&tree, &key(1), true, ReadOptions::default(), &mut row).unwrap());
    assert!(!a.change_found(&tree, &key(1), &found, Change::Gone).unwrap());
    b.commit(Durability::Delayed).unwrap();
    assert!(a.change_found(&tree, &key(1), &found, Change::Gone).unwrap());
    // Nothing of that holds for the next transaction.
    a.commit(Durability::Delayed).unwrap();
    a.begin();
    assert!(!a.passes_locks());
    a.rollback().unwrap();
    // A snapshot is compared with what has committed since, under a lock.
    let snapshot = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
    let mut c = db.txn(snapshot);
    c.begin();
    assert!(!c.pass_locks());
    c.rollback().unwrap();
    assert!(db.locks().is_empty());
}

#[test]
fn a_lock_or_a_writer_is_in_the_way_of_a_change_without_one() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, &[0; 8]).unwrap();
    let (mut a, mut b) = (db.txn(TxnOptions::default()), db.txn(TxnOptions::default()));
    let (mut row, mut found) = (Vec::new(), Found::default());
    let new = RowImage::new(&[1; 8]);

    // Seen before the lock was taken, and after.
    b.begin();
    assert!(b.fuse());
    assert_eq!(b.look(&tree, &key(1), &mut found).unwrap(), Looked::Row);
    a.begin();
    assert!(a.lock_latest(&tree, &key(1), true, ReadOptions::default(), &mut row).unwrap());
    assert!(!b.change_found(&tree, &key(1), &found, Change::To(new)).unwrap());
    assert_eq!(b.look(&tree, &key(1), &mut found).unwrap(), Looked::Row);
    assert!(!b.change_found(&tree, &key(1), &found, Change::Gone).unwrap());
    a.commit(Durability::Delayed).unwrap();
    assert!(b.change_found(&tree, &key(1), &found, Change::To(new)).unwrap());
    b.commit(Durability::Full).unwrap();

    // Seen before the row was changed, and while it is.
    b.begin();
    assert!(b.fuse());
    assert_eq!(b.look(&tree, &key(1), &mut found).unwrap(), Looked::Row);
    a.begin();
    assert!(a.update(&tree, &key(1), &RowImage::new(&[2; 8])).unwrap());
    assert!(!b.change_found(&tree, &key(1), &found, Change::To(new)).unwrap());
    let mut other = Found::default();
    assert_eq!(b.look(&tree, &key(1), &mut other).unwrap(), Looked::Busy);
    // Taken back, it is the row that was seen.
    a.rollback().unwrap();
    assert!(b.change_found(&tree, &key(1), &found, Change::Gone).unwrap());
    b.commit(Durability::Delayed).unwrap();
    b.begin();
    assert_eq!(b.look(&tree, &key(1), &mut found).unwrap(), Looked::Nothing);
    b.commit(Durability::Delayed).unwrap();
    assert!(all_rows(&db, &tree).is_empty());
}

#[test]
fn an_entry_changes_without_a_lock_unless_somebody_has_it_locked() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 1..=2 {
        put_commit(&db, &tree, n, &[0; 8]).unwrap();
    }
    let impatient = TxnOptions { lock_timeout_ms: Some(0), ..TxnOptions::default() };
    let repeatable = TxnOptions { isolation: Isolation::RepeatableRead, ..impatient };
    let (mut writer, mut reader) = (db.txn(impatient), db.txn(repeatable));
    let mut row = Vec::new();
    let timed_out = |e: EngineError| assert!(matches!(e, EngineError::LockTimeout), "{e}");

    // A reader that keeps its lock came first.
    reader.begin();
    assert!(reader.get(&tree, &key(1), &mut row).unwrap());
    writer.begin();
    timed_out(writer.delete_entry(&tree, &key(1)).unwrap_err());
    timed_out(writer.update_entry(&tree, &key(1), &RowImage::new(&[1; 8])).unwrap_err());
    reader.commit(Durability::Delayed).unwrap();

    // The writer came first: whoever reads, or inserts, meets its stamp. It has locked no key.
    assert!(writer.delete_entry(&tree, &key(1)).unwrap());
    assert!(writer.update_entry(&tree, &key(2), &RowImage::new(&[1; 8])).unwrap());
    assert!(!writer.delete_entry(&tree, &key(3)).unwrap());
    assert!(db.locks().iter().all(|l| !matches!(l.resource, LockResource::Key { .. })));
    for n in 1..=2 {
        reader.begin();
        timed_out(reader.get(&tree, &key(n), &mut row).unwrap_err());
        reader.rollback().unwrap();
    }
    // Taken back, the entries are what they were, and nobody's.
    writer.rollback().unwrap();
    reader.begin();
    for n in 1..=2 {
        assert!(reader.get(&tree, &key(n), &mut row).unwrap());
        assert_eq!(row, [0; 8]);
    }
    reader.commit(Durability::Delayed).unwrap();
    assert!(db.locks().is_empty());
}

#[test]
fn older_versions_are_kept_for_those_who_read_them() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, &[0; 8]).unwrap();
    let mut found = Found::default();
    let mut writer = db.txn(TxnOptions::default());
    assert!(add_one(&mut writer, &tree, 1, &mut found));
    assert_eq!(db.stats().versions, 0, "nobody reads");
    let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
    let mut reader = db.begin(options);
    let mut row = Vec::new();
    assert!(reader.get(&tree, &key(1), &mut row).unwrap());
    assert!(add_one(&mut writer, &tree, 1, &mut found));
    assert!(reader.get(&tree, &key(1), &mut row).unwrap());
    assert_eq!(number(&row), 1);
    assert_eq!(db.stats().versions, 1);
    reader.commit(Durability::Delayed).unwrap();
    // Without delayed commits readers go by what is durable, which is behind.
    db.set_delayed_durability(DelayedDurability::Disabled).unwrap();
    assert!(add_one(&mut writer, &tree, 1, &mut found));
    assert_eq!(db.stats().versions, 2);
}

#[test]
fn what_was_changed_in_one_record_is_there_after_a_crash() {
    let fs = SimFs::new(7);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    for n in 0..40 {
        put_commit(&db, &tree, n, &n.to_le_bytes()).unwrap();
    }
    db.checkpoint().unwrap();
    let (mut txn, mut found) = (db.txn(TxnOptions::default()), Found::default());
    for n in (0..40).step_by(2) {
        assert!(add_one(&mut txn, &tree, n, &mut found));
    }
    txn.begin();
    assert!(txn.fuse());
    assert_eq!(txn.look(&tree, &key(3), &mut found).unwrap(), Looked::Row);
    assert!(txn.change_found(&tree, &key(3), &found, Change::Gone).unwrap());
    txn.commit(Durability::Full).unwrap();
    drop(txn);
    let expected = all_rows(&db, &tree);
    assert_eq!(expected.len(), 39);
    let id = tree.id();
    let fs = fs.crash(7);
    let db = reopen(&fs, small_options()).unwrap();
    assert_eq!(all_rows(&db, &db.tree(id)), expected);
}

/// What a transaction has replaced goes with it, unless somebody reads below it; then it is there for him.
#[test]
fn versions_go_with_their_transaction() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 0..100 {
        put_commit(&db, &tree, n, b"old").unwrap();
    }
    let change = |n: u64, row: &[u8]| {
        let mut txn = db.begin(TxnOptions::default());
        assert!(txn.update(&tree, &key(n), &RowImage::new(row)).unwrap());
        assert!(txn.delete(&tree, &key(n + 50)).unwrap());
        put(&mut txn, &tree, 1000 + n, b"new").unwrap();
        txn.commit(Durability::Full).unwrap();
    };
    for n in 0..20 {
        change(n, b"newer and longer");
        assert_eq!(db.shared.versions.count(), 0, "after {n}");
    }
    assert!(!db.shared.ghosts.is_empty(), "where rows were deleted is to be cleaned");

    let mut reader =
        db.begin(TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() });
    assert_eq!(read(&mut reader, &tree, 30), Some(b"old".to_vec()));
    change(30, b"newest");
    change(31, b"newest");
    assert_eq!(db.shared.versions.count(), 4);
    assert_eq!(read(&mut reader, &tree, 30), Some(b"old".to_vec()));
    assert_eq!(read(&mut reader, &tree, 80), Some(b"old".to_vec()));
    assert_eq!(read(&mut reader, &tree, 81), Some(b"old".to_vec()));
    assert_eq!(read(&mut reader, &tree, 1030), None);
    reader.commit(Durability::Delayed).unwrap();
    // Not those of the reader's time: they are collected.
    change(32, b"newest");
    assert_eq!(db.shared.versions.count(), 4);
    db.flush_log().unwrap();
    db.shared.collect();
    assert_eq!(db.shared.versions.count(), 0);
}

/// One record, without a lock: and the same answers as with one.
#[test]
fn an_insert_that_fuses_is_committed_or_not_there() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut hint = crate::InsertHint::default();
    let mut insert =
        |txn: &mut Txn, n: u64| txn.insert_fused(&tree, &key(n), &RowImage::new(b"row"), &mut hint);
    let mut txn = db.begin(TxnOptions::default());
    assert!(txn.fuse());
    assert!(insert(&mut txn, 1).unwrap());
    txn.commit(Durability::Full).unwrap();
    assert_eq!(read_now(&db, &tree, 1), Some(b"row".to_vec()));

    txn.begin();
    assert!(txn.fuse());
    assert_eq!(insert(&mut txn, 1).unwrap_err(), EngineError::Duplicate);
    txn.rollback().unwrap();

    // Somebody is at the key: it is not decided here.
    let mut other = db.begin(TxnOptions::default());
    put(&mut other, &tree, 2, b"theirs").unwrap();
    txn.begin();
    assert!(txn.fuse());
    assert!(!insert(&mut txn, 2).unwrap());
    assert!(!txn.fuses());
    other.rollback().unwrap();
    put(&mut txn, &tree, 2, b"ours").unwrap();
    txn.commit(Durability::Full).unwrap();
    assert_eq!(read_now(&db, &tree, 2), Some(b"ours".to_vec()));
}
