//! What is done with trees is counted, kind by kind, and who waits is known by the tree.

use super::{fresh, key, make_tree, put, read, rows};
use crate::*;
use std::thread;
use std::time::Duration;

#[test]
fn each_kind_of_change_is_counted_for_itself() {
    let db = fresh();
    let tree = make_tree(&db);
    let of = || db.operations_of(tree.id());
    assert_eq!(of(), None, "nobody has used it");
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..10 {
        put(&mut txn, &tree, n, b"row").unwrap();
    }
    for n in 0..3 {
        assert!(txn.update(&tree, &key(n), &RowImage::new(b"other")).unwrap());
    }
    for n in 5..7 {
        assert!(txn.delete(&tree, &key(n)).unwrap());
    }
    assert!(!txn.delete(&tree, &key(99)).unwrap());
    txn.commit(Durability::Full).unwrap();
    let changed = of().unwrap();
    assert_eq!((changed.inserts, changed.updates, changed.deletes), (10, 3, 2));

    txn.begin();
    put(&mut txn, &tree, 50, b"row").unwrap();
    assert!(txn.update(&tree, &key(0), &RowImage::new(b"again")).unwrap());
    assert!(txn.delete(&tree, &key(1)).unwrap());
    txn.rollback().unwrap();
    let taken_back = of().unwrap();
    let counts = (taken_back.inserts, taken_back.updates, taken_back.deletes);
    assert_eq!(counts, (11, 4, 3), "what is taken back has been done");

    txn.begin();
    assert!(read(&mut txn, &tree, 0).is_some() && read(&mut txn, &tree, 77).is_none());
    assert_eq!(rows(&mut txn, &tree, ScanOptions::default()).len(), 8);
    txn.commit(Durability::Full).unwrap();
    let read = of().unwrap();
    assert_eq!((read.lookups, read.scans), (taken_back.lookups + 2, taken_back.scans + 1));
    assert_eq!(read.row_waits, WaitFigures::default());

    txn.begin();
    let mut row = Vec::new();
    assert!(txn.lock_latest(&tree, &key(0), false, ReadOptions::default(), &mut row).unwrap());
    assert!(txn.read_latest_locked(&tree, &key(0), &mut row).unwrap());
    assert!(txn.update(&tree, &key(0), &RowImage::new(b"once")).unwrap());
    txn.commit(Durability::Full).unwrap();
    assert_eq!(of().unwrap().lookups, read.lookups + 1, "a row that is found once and changed");
}

#[test]
fn a_wait_for_a_row_is_its_trees() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut txn = db.begin(TxnOptions::default());
    put(&mut txn, &tree, 1, b"row").unwrap();
    txn.commit(Durability::Full).unwrap();
    txn.begin();
    assert!(txn.update(&tree, &key(1), &RowImage::new(b"mine")).unwrap());
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let mut other = db.begin(TxnOptions::default());
            assert!(other.update(&tree, &key(1), &RowImage::new(b"his")).unwrap());
            other.commit(Durability::Full).unwrap();
        });
        thread::sleep(Duration::from_millis(20));
        txn.commit(Durability::Full).unwrap();
        waits.join().unwrap();
    });
    let figures = db.operations_of(tree.id()).unwrap();
    assert!(figures.row_waits.count >= 1 && figures.row_waits.ns > 1_000_000, "{figures:?}");
}

#[test]
fn a_tree_is_measured_as_it_lies() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..2_000 {
        put(&mut txn, &tree, n, &[7; 100]).unwrap();
    }
    txn.commit(Durability::Full).unwrap();
    txn.begin();
    assert!(txn.delete(&tree, &key(5)).unwrap());
    let measure = |tree: &Tree| db.measure(tree, Measure::Detailed, &mut || false).unwrap();
    let levels = measure(&tree).unwrap();
    let report = tree.verify().unwrap();
    assert_eq!((levels[0].pages, levels.len()), (report.leaves, report.height as usize));
    assert_eq!((levels[0].records, levels[0].ghosts, levels[0].ghosts_needed), (1_999, 0, 1));
    txn.rollback().unwrap();
    txn.begin();
    txn.drop_tree(&tree).unwrap();
    txn.commit(Durability::Full).unwrap();
    assert_eq!(measure(&tree), None);
}
