//! Rows that come in one record: all or none, seen together, there after a crash.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::thread;

/// The hints of two trees.
type Hints = [InsertHint; 2];

/// A row into the first tree under `a`, one into the second under `b`.
fn both(txn: &mut Txn, trees: &[Tree; 2], (a, b): (u64, u64), hints: &mut Hints) -> bool {
    let (key_a, key_b) = (key(a), key(b));
    let [hint_a, hint_b] = hints;
    let mut rows = [
        NewRow { tree: &trees[0], key: &key_a, row: RowImage::new(b"a row"), hint: hint_a },
        NewRow { tree: &trees[1], key: &key_b, row: RowImage::new(&key_a), hint: hint_b },
    ];
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
    // A ghost, somebody at work, a locked table and a transaction that has written: the long way.
    txn.begin();
    assert!(txn.delete(&trees[1], &key(11)).unwrap());
    assert!(!both(&mut txn, &trees, (3, 12), &mut hints));
    txn.commit(Durability::Delayed).unwrap();
    assert!(!both(&mut txn, &trees, (3, 11), &mut hints));
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
    assert_eq!((trees[0].net_rows(), trees[1].net_rows()), (3, 2));
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
    db.flush_log().unwrap();
    let expected = [all_rows(&db, &trees[0]), all_rows(&db, &trees[1])];
    drop(txn);
    let ids = [trees[0].id(), trees[1].id()];
    for seed in 0..4 {
        let db = reopen(&fs.crash(seed), small_options()).unwrap();
        for (id, expected) in ids.iter().zip(&expected) {
            let tree = db.tree(*id);
            assert_eq!(all_rows(&db, &tree), *expected);
            tree.verify().unwrap();
        }
    }
}
