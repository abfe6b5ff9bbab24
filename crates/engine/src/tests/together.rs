//! Rows that come in one record: all or none, seen together, there after a crash.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::thread;

/// The hints of two trees.
type Hints = [InsertHint; 2];

fn comes<'a>(tree: &'a Tree, key: &'a [u8], row: &'a [u8], hint: &'a mut InsertHint) -> Part<'a> {
    Part { tree, key, change: PartChange::Insert { row: RowImage::new(row), hint } }
}

fn becomes<'a>(tree: &'a Tree, key: &'a [u8], found: &'a Found, change: Change<'a>) -> Part<'a> {
    Part { tree, key, change: PartChange::Found { found, change } }
}

/// All that has been committed is there after a crash, whatever the crash leaves of the device.
fn survives(fs: &SimFs, db: &Arc<Database>, trees: &[Tree; 2]) {
    db.flush_log().unwrap();
    let expected = trees.each_ref().map(|tree| all_rows(db, tree));
    let ids = trees.each_ref().map(Tree::id);
    for seed in 0..4 {
        let db = reopen(&fs.crash(seed), small_options()).unwrap();
        for (id, expected) in ids.iter().zip(&expected) {
            let tree = db.tree(*id);
            assert_eq!(all_rows(&db, &tree), *expected);
            tree.verify().unwrap();
        }
    }
}

/// A row into the first tree under `a`, one into the second under `b`.
fn both(txn: &mut Txn, trees: &[Tree; 2], (a, b): (u64, u64), hints: &mut Hints) -> bool {
    let (key_a, key_b) = (key(a), key(b));
    let [hint_a, hint_b] = hints;
    let mut rows =
        [comes(&trees[0], &key_a, b"a row", hint_a), comes(&trees[1], &key_b, &key_a, hint_b)];
    txn.insert_together(&mut rows, Durability::Delayed, None).unwrap()
}

/// The same, or else one by one.
fn both_somehow(txn: &mut Txn, trees: &[Tree; 2], keys: (u64, u64), hints: &mut Hints) -> bool {
    if both(txn, trees, keys, hints) {
        return true;
    }
    txn.begin();
    put(txn, &trees[0], keys.0, b"a row").unwrap();
    put(txn, &trees[1], keys.1, &key(keys.0)).unwrap();
    txn.commit(Durability::Delayed).unwrap();
    false
}

#[test]
fn all_come_or_none() {
    let db = fresh();
    let trees = [make_tree(&db), make_tree(&db)];
    let (mut txn, mut hints) = (db.txn(TxnOptions::default()), Hints::default());
    assert!(both(&mut txn, &trees, (1, 10), &mut hints));
    assert!(!txn.is_active() && !txn.has_written());
    assert!(!both(&mut txn, &trees, (2, 10), &mut hints), "the second is there");
    assert!(!both(&mut txn, &trees, (1, 11), &mut hints), "the first is there");
    assert!(both(&mut txn, &trees, (2, 11), &mut hints));
    assert_eq!(all_rows(&db, &trees[0]).len(), 2);
    assert_eq!(all_rows(&db, &trees[1]), [(10, key(1).to_vec()), (11, key(2).to_vec())]);
    // Somebody at work, a locked table and a transaction that has written: the long way.
    txn.begin();
    assert!(txn.delete(&trees[1], &key(11)).unwrap());
    assert!(!both(&mut txn, &trees, (3, 12), &mut hints));
    txn.rollback().unwrap();
    let mut other = db.begin(TxnOptions::default());
    put(&mut other, &trees[0], 5, b"x").unwrap();
    assert!(!both(&mut txn, &trees, (5, 15), &mut hints));
    other.rollback().unwrap();
    other.begin();
    other.lock_table(&trees[1], TableLock::Exclusive).unwrap();
    assert!(!both(&mut txn, &trees, (5, 15), &mut hints));
    other.commit(Durability::Delayed).unwrap();
    assert!(both(&mut txn, &trees, (5, 15), &mut hints));
    assert!(db.locks().is_empty());
    assert_eq!((trees[0].net_rows(), trees[1].net_rows()), (3, 3));
}

#[test]
fn a_reader_sees_all_or_none() {
    let db = fresh();
    let trees = [make_tree(&db), make_tree(&db)];
    let done = AtomicU64::new(0);
    thread::scope(|s| {
        for writer in 0..2u64 {
            let (db, trees, done) = (&db, &trees, &done);
            s.spawn(move || {
                let (mut txn, mut hints) = (db.txn(TxnOptions::default()), Hints::default());
                let mut together = 0;
                for n in 0..3000u64 {
                    // Entries in no order.
                    let entry = n.wrapping_mul(2_654_435_761) % 100_003 * 2 + writer;
                    let keys = (n << 1 | writer, entry);
                    together += u64::from(both_somehow(&mut txn, trees, keys, &mut hints));
                }
                assert!(together > 1500, "{together}");
                done.fetch_add(1, Release);
            });
        }
        let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
        let mut reader = db.txn(options);
        while done.load(Acquire) < 2 {
            reader.begin();
            // The entries first: a row that comes meanwhile is not this snapshot's.
            let entries = rows(&mut reader, &trees[1], ScanOptions::default()).len();
            let found = rows(&mut reader, &trees[0], ScanOptions::default()).len();
            assert_eq!(entries, found);
            reader.commit(Durability::Delayed).unwrap();
        }
    });
    assert_eq!(all_rows(&db, &trees[0]).len(), 6000);
    assert_eq!(all_rows(&db, &trees[1]).len(), 6000);
    for tree in &trees {
        tree.verify().unwrap();
    }
}

#[test]
fn they_are_there_after_a_crash() {
    let fs = SimFs::new(3);
    let db = create(&fs, small_options());
    let trees = [make_tree(&db), make_tree(&db)];
    let (mut txn, mut hints) = (db.txn(TxnOptions::default()), Hints::default());
    let mut together = 0;
    for n in 0..900u64 {
        together += u32::from(both_somehow(&mut txn, &trees, (n, n * 7919 % 1009), &mut hints));
        if n == 300 {
            db.checkpoint().unwrap();
        }
    }
    assert!(together > 600, "{together}");
    drop(txn);
    survives(&fs, &db, &trees);
}

/// The key of a row's entry, which lies far from that of the next state.
fn entry(number: u64, n: u64) -> [u8; 8] {
    key(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24 << 8 | n)
}

fn number(row: &[u8]) -> u64 {
    u64::from_le_bytes(row[..8].try_into().unwrap())
}

/// A tree of counters and one of their entries, among others that make it have many leaves.
fn counters(db: &Arc<Database>, rows: u64) -> [Tree; 2] {
    let trees = [make_tree(db), make_tree(db)];
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..rows {
        put(&mut txn, &trees[0], n, &[0; 8]).unwrap();
        let hint = &mut InsertHint::default();
        txn.insert(&trees[1], &entry(0, n), &RowImage::new(&key(n)), hint).unwrap();
    }
    for n in 0..4000 {
        let hint = &mut InsertHint::default();
        txn.insert(&trees[1], &entry(n + 1000, 255), &RowImage::new(&[9; 40]), hint).unwrap();
    }
    txn.commit(Durability::Delayed).unwrap();
    trees
}

/// One more in a row, whose entry moves with it, in one record; or not at all.
fn move_together(txn: &mut Txn, trees: &[Tree; 2], n: u64, found: &mut [Found; 2]) -> Together {
    let [row_found, entry_found] = found;
    txn.begin();
    assert!(txn.fuse());
    let mut done = Together::Moved;
    if txn.look(&trees[0], &key(n), row_found).unwrap() == Looked::Row {
        let was = number(&row_found.row);
        let (old, new, next) = (entry(was, n), entry(was + 1, n), (was + 1).to_le_bytes());
        if txn.look(&trees[1], &old, entry_found).unwrap() == Looked::Row {
            let (row, hint) = (RowImage::new(&next), &mut InsertHint::default());
            let key = &key(n);
            let mut parts = [
                becomes(&trees[0], key, row_found, Change::To(row)),
                becomes(&trees[1], &old, entry_found, Change::Gone),
                comes(&trees[1], &new, key, hint),
            ];
            done = txn.fuse_together(&mut parts, &[]).unwrap();
        }
    }
    txn.commit(Durability::Delayed).unwrap();
    done
}

#[test]
fn rows_and_entries_change_together() {
    let db = fresh();
    let trees = counters(&db, 4);
    let (together, done) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|s| {
        for seed in 0..3 {
            let (db, trees, together, done) = (&db, &trees, &together, &done);
            s.spawn(move || {
                let mut rng = stdx::Prng::new(seed);
                let mut txn = db.txn(TxnOptions::default());
                let mut found = [Found::default(), Found::default()];
                for _ in 0..500 {
                    let one = move_together(&mut txn, trees, rng.below(4), &mut found);
                    together.fetch_add(u64::from(one == Together::Done), Relaxed);
                }
                done.fetch_add(1, Release);
            });
        }
        // By a snapshot each row has one entry, which is its own.
        let options = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
        let (mut txn, mut row) = (db.txn(options), Vec::new());
        while done.load(Acquire) < 3 {
            txn.begin();
            for n in 0..4 {
                assert!(txn.get(&trees[0], &key(n), &mut row).unwrap(), "row {n}");
                let now = number(&row);
                assert!(txn.get(&trees[1], &entry(now, n), &mut row).unwrap());
                assert!(!txn.get(&trees[1], &entry(now + 1, n), &mut row).unwrap());
                let before = now.checked_sub(1).map(|before| entry(before, n));
                let was = before.map(|key| txn.get(&trees[1], &key, &mut row).unwrap());
                assert_ne!(was, Some(true));
            }
            txn.commit(Durability::Delayed).unwrap();
            db.background_step();
        }
    });
    // Each that was told as done is there once.
    let sum: u64 = all_rows(&db, &trees[0]).iter().map(|(_, row)| number(row)).sum();
    assert_eq!(sum, together.load(Relaxed));
    assert!(sum > 500, "{sum}");
    assert_eq!(all_rows(&db, &trees[1]).len(), 4004);
    assert!(db.locks().is_empty());
    for tree in &trees {
        tree.verify().unwrap();
    }
}

#[test]
fn changes_are_there_after_a_crash() {
    let fs = SimFs::new(5);
    let db = create(&fs, small_options());
    let trees = counters(&db, 4);
    let (mut txn, mut found) = (db.txn(TxnOptions::default()), <[Found; 2]>::default());
    let mut together = 0;
    for n in 0..800 {
        together += u32::from(move_together(&mut txn, &trees, n % 4, &mut found) == Together::Done);
        if n == 300 {
            db.checkpoint().unwrap();
        }
        if n % 50 == 0 {
            // The row goes with its entry, and both come again.
            let [row, entry_found] = &mut found;
            txn.begin();
            assert!(txn.fuse());
            assert_eq!(txn.look(&trees[0], &key(0), row).unwrap(), Looked::Row);
            let at = entry(number(&row.row), 0);
            assert_eq!(txn.look(&trees[1], &at, entry_found).unwrap(), Looked::Row);
            let zero = &key(0);
            let mut parts = [
                becomes(&trees[0], zero, row, Change::Gone),
                becomes(&trees[1], &at, entry_found, Change::Gone),
            ];
            assert_eq!(txn.fuse_together(&mut parts, &[]).unwrap(), Together::Done);
            txn.commit(Durability::Delayed).unwrap();
            txn.begin();
            put(&mut txn, &trees[0], 0, &row.row).unwrap();
            let hint = &mut InsertHint::default();
            txn.insert(&trees[1], &at, &RowImage::new(zero), hint).unwrap();
            txn.commit(Durability::Delayed).unwrap();
        }
    }
    assert!(together > 600, "{together}");
    drop(txn);
    survives(&fs, &db, &trees);
}

#[test]
fn what_is_not_as_it_was_or_locked_is_refused() {
    let db = fresh();
    let trees = counters(&db, 2);
    let (mut txn, mut other) = (db.txn(TxnOptions::default()), db.begin(TxnOptions::default()));
    let mut found = [Found::default(), Found::default()];
    assert!(other.read_latest_locked(&trees[0], &key(0), &mut Vec::new()).unwrap());
    assert_eq!(move_together(&mut txn, &trees, 0, &mut found), Together::Refused);
    other.rollback().unwrap();
    assert_eq!(move_together(&mut txn, &trees, 0, &mut found), Together::Done);
    // One that has changed since it was found.
    txn.begin();
    assert!(txn.fuse());
    let [row, _] = &mut found;
    assert_eq!(txn.look(&trees[0], &key(1), row).unwrap(), Looked::Row);
    put_over(&db, &trees[0], 1, &[7; 8]);
    let one = &key(1);
    let mut parts = [becomes(&trees[0], one, row, Change::Gone)];
    assert_eq!(txn.fuse_together(&mut parts, &[]).unwrap(), Together::Moved);
    txn.rollback().unwrap();
    assert!(db.locks().is_empty());
}

/// Replaces a row in a transaction of its own.
fn put_over(db: &Arc<Database>, tree: &Tree, n: u64, row: &[u8]) {
    let mut txn = db.begin(TxnOptions::default());
    assert!(txn.update(tree, &key(n), &RowImage::new(row)).unwrap());
    txn.commit(Durability::Delayed).unwrap();
}

#[test]
fn no_row_refers_to_one_that_has_gone() {
    let db = fresh();
    let [parents, children] = [make_tree(&db), make_tree(&db)];
    for n in 0..64 {
        put_commit(&db, &parents, n, b"parent").unwrap();
    }
    let refers = |txn: &mut Txn, n: u64, parent: u64, hint: &mut InsertHint| {
        txn.begin();
        assert!(txn.fuse());
        let (child, wanted) = (key(n), key(parent));
        let mut parts = [comes(&children, &child, &wanted, hint)];
        let parent = Parent { table: &parents, tree: &parents, key: &wanted };
        let done = txn.fuse_together(&mut parts, &[parent]).unwrap();
        txn.commit(Durability::Delayed).unwrap();
        done == Together::Done
    };
    let came = AtomicU64::new(0);
    thread::scope(|s| {
        for writer in 0..2u64 {
            let (db, came, refers) = (&db, &came, &refers);
            s.spawn(move || {
                let mut rng = stdx::Prng::new(writer);
                let (mut txn, mut hint) = (db.txn(TxnOptions::default()), InsertHint::default());
                for n in 0..1500 {
                    let done = refers(&mut txn, n << 1 | writer, rng.below(64), &mut hint);
                    came.fetch_add(u64::from(done), Relaxed);
                }
            });
        }
        // Takes parents away, and back if somebody refers to them.
        let (db, parents, children) = (&db, &parents, &children);
        s.spawn(move || {
            let mut txn = db.txn(TxnOptions::default());
            for n in (0..64).rev() {
                txn.begin();
                assert!(txn.delete(parents, &key(n)).unwrap());
                let all = rows(&mut txn, children, ScanOptions::default());
                match all.iter().any(|(_, parent)| parent[..] == key(n)) {
                    true => txn.rollback().unwrap(),
                    false => drop(txn.commit(Durability::Delayed).unwrap()),
                }
            }
        });
    });
    let there: Vec<u64> = all_rows(&db, &parents).iter().map(|(n, _)| *n).collect();
    let all = all_rows(&db, &children);
    assert_eq!(all.len() as u64, came.load(Relaxed));
    for (n, parent) in &all {
        let parent = u64::from_be_bytes(parent[..].try_into().unwrap());
        assert!(there.contains(&parent), "{n} refers to {parent}, which has gone");
    }
    assert!(!refers(&mut db.txn(TxnOptions::default()), 9999, 777, &mut InsertHint::default()));
}

#[test]
fn a_row_comes_back_where_its_ghost_is() {
    let db = fresh();
    let trees = counters(&db, 1);
    let (mut txn, mut hints) = (db.txn(TxnOptions::default()), Hints::default());
    let snapshot = TxnOptions { isolation: Isolation::Snapshot, ..TxnOptions::default() };
    assert!(both(&mut txn, &trees, (7, 70), &mut hints));
    let mut row = Vec::new();
    for round in 0..20u64 {
        // Somebody reads what was before, now and then: the ghost stays for him, and so does what it was.
        let mut reader = db.txn(snapshot);
        reader.begin();
        assert!(reader.get(&trees[1], &key(70), &mut row).unwrap());
        let mut other = db.begin(TxnOptions::default());
        assert!(other.delete(&trees[0], &key(7)).unwrap());
        assert!(other.delete(&trees[1], &key(70)).unwrap());
        assert!(!both(&mut txn, &trees, (7, 70), &mut hints), "its deleter has not ended");
        other.commit(Durability::Delayed).unwrap();
        assert!(both(&mut txn, &trees, (7, 70), &mut hints), "round {round}");
        assert!(!both(&mut txn, &trees, (7, 70), &mut hints), "it is there");
        row.clear();
        assert!(reader.get(&trees[1], &key(70), &mut row).unwrap());
        assert_eq!(row, key(7));
        reader.commit(Durability::Delayed).unwrap();
        if round % 3 == 0 {
            db.background_step();
        }
    }
    for tree in &trees {
        tree.verify().unwrap();
    }
}
