//! A database that opens before its pages are redone and its losers undone.

use super::*;
use crate::RecoveryPhase;
use std::sync::atomic::{AtomicBool, Ordering::*};

fn early() -> DbOptions {
    DbOptions { recover_first_bytes: 0, ..small_options() }
}

fn row(n: u64, version: u64) -> Vec<u8> {
    let mut row = vec![n as u8; 180];
    row[..8].copy_from_slice(&version.to_le_bytes());
    row
}

/// A database of two trees that lost power: 3,000 rows in the first, every third of them updated, half of all that after
/// the last checkpoint; and in the second 100 rows of which a loser has updated some and deleted one, and which a
/// checkpoint has written so.
fn left_behind(seed: u64) -> (Arc<SimFs>, TreeId, TreeId) {
    let fs = SimFs::new(seed);
    let db = create(&fs, small_options());
    let (first, second) = (make_tree(&db), make_tree(&db));
    for n in 0..100 {
        put_commit(&db, &second, n, &row(n, 0)).unwrap();
    }
    let mut loser = db.begin(TxnOptions::default());
    for n in 0..40 {
        loser.update(&second, &key(n), &RowImage::new(&row(n, 99))).unwrap();
        put(&mut loser, &second, 500 + n, &row(n, 99)).unwrap();
    }
    loser.delete(&second, &key(50)).unwrap();
    for n in 0..3000 {
        put_commit(&db, &first, n, &row(n, 0)).unwrap();
        if n == 1500 {
            db.checkpoint().unwrap();
        }
    }
    let mut txn = db.begin(TxnOptions::default());
    for n in (0..3000).step_by(3) {
        txn.update(&first, &key(n), &RowImage::new(&row(n, 1))).unwrap();
    }
    txn.commit(Durability::Full).unwrap();
    let ids = (first.id(), second.id());
    db.flush_log().unwrap();
    (fs.crash(seed), ids.0, ids.1)
}

fn check(db: &Arc<Database>, first: TreeId, second: TreeId) {
    let rows = all_rows(db, &db.tree(first));
    assert_eq!(rows.len(), 3000);
    for (n, r) in rows {
        assert!(r == row(n, u64::from(n % 3 == 0)), "row {n}");
    }
    let rows = all_rows(db, &db.tree(second));
    assert!(rows.iter().map(|(n, _)| *n).eq(0..100));
    assert!(rows.iter().all(|(n, r)| *r == row(*n, 0)));
    db.tree(first).verify().unwrap();
    db.tree(second).verify().unwrap();
}

#[test]
fn pages_are_redone_when_they_are_asked_for_and_by_nobody_else() {
    let (fs, first, second) = left_behind(1);
    let db = reopen(&fs, early()).unwrap();
    let before = db.recovery();
    assert!(db.is_recovering() && before.early && before.losers_left == 1);
    assert!(before.pages_left > 20, "{before:?}");
    let mut txn = db.begin(TxnOptions::default());
    let mut found = Vec::new();
    assert!(txn.get(&db.tree(first), &key(2999), &mut found).unwrap());
    assert_eq!(found, row(2999, 0));
    txn.rollback().unwrap();
    let after = db.recovery();
    assert!(after.pages_demanded > before.pages_demanded && after.pages_left > 10, "{after:?}");
    // New rows go on where the log ended, into pages that were behind it.
    put_commit(&db, &db.tree(first), 7_000, b"new").unwrap();
    db.tree(first).verify().unwrap();
    // A checkpoint forgets nothing that is still to be done.
    let start = db.recovery_start();
    db.checkpoint().unwrap();
    assert!(db.is_recovering() && db.recovery_start() >= start);
    drop(db);
    let fs = fs.crash(2);
    let db = reopen(&fs, early()).unwrap();
    let mut txn = db.begin(TxnOptions::default());
    assert!(txn.get(&db.tree(first), &key(7_000), &mut found).unwrap() && found == b"new");
    assert!(txn.delete(&db.tree(first), &key(7_000)).unwrap());
    txn.commit(Durability::Full).unwrap();
    check(&db, first, second);
    db.finish_recovery().unwrap();
    assert_eq!(db.recovery().phase, RecoveryPhase::Done);
    assert_eq!((db.recovery().pages_left, db.recovery().losers_left), (0, 0));
}

#[test]
fn rows_that_no_loser_has_changed_are_anybodys() {
    let (fs, first, second) = left_behind(7);
    let db = reopen(&fs, early()).unwrap();
    let tree = db.tree(second);
    let mut found = Vec::new();
    for isolation in LEVELS {
        let mut txn = db.begin(TxnOptions { isolation, ..IMPATIENT });
        assert!(txn.get(&tree, &key(60), &mut found).unwrap() && found == row(60, 0));
        let (from, to) = (key(60), key(80));
        let options = ScanOptions::default();
        let mut scan =
            txn.scan(&tree, Bound::Included(&from), Bound::Excluded(&to), options).unwrap();
        let mut seen = 60u64;
        while let Some((key, found)) = scan.next(&mut txn).unwrap() {
            assert!(key == seen.to_be_bytes() && found == row(seen, 0));
            seen += 1;
        }
        assert_eq!(seen, 80);
        assert!(txn.update(&tree, &key(61), &RowImage::new(b"mine")).unwrap());
        assert!(txn.delete(&tree, &key(62)).unwrap());
        put(&mut txn, &tree, 700, b"new").unwrap();
        txn.rollback().unwrap();
    }
    put_commit(&db, &tree, 701, b"fused").unwrap();
    assert_eq!(db.recovery().losers_left, 1, "nobody had to undo anything");
    db.checkpoint().unwrap();
    drop(db);
    // All of that, and the loser, is there after another loss of power.
    let db = reopen(&fs.crash(1), early()).unwrap();
    assert_eq!(db.recovery().losers_left, 1);
    let tree = db.tree(second);
    let mut txn = db.begin(IMPATIENT);
    assert!(txn.get(&tree, &key(701), &mut found).unwrap() && found == b"fused");
    assert!(txn.delete(&tree, &key(701)).unwrap());
    txn.commit(Durability::Full).unwrap();
    assert_eq!(db.recovery().losers_left, 1);
    check(&db, first, second);
    assert_eq!(db.recovery().losers_left, 0, "who reads everything waits for everything");
}

const LEVELS: [Isolation; 4] = [
    Isolation::ReadCommitted,
    Isolation::RepeatableRead,
    Isolation::Snapshot,
    Isolation::Serializable,
];

const IMPATIENT: TxnOptions = TxnOptions {
    isolation: Isolation::ReadCommitted,
    too_late_for_snapshot: false,
    lock_timeout_ms: Some(0),
    deadlock_priority: 0,
};

/// What a loser has made of row 3, deleted (50) and inserted (500), asked for in every way.
#[test]
fn a_losers_rows_are_waited_for() {
    type Asks = fn(&mut Txn, &Tree) -> Result<bool, EngineError>;
    let whole = |txn: &mut Txn, tree: &Tree| -> Result<bool, EngineError> {
        let options = ScanOptions::default();
        let mut scan = txn.scan(tree, Bound::Unbounded, Bound::Unbounded, options)?;
        let mut seen = 0;
        while let Some((_, found)) = scan.next(txn)? {
            assert_eq!(found, row(seen, 0));
            seen += 1;
        }
        Ok(seen == 100)
    };
    let asks: [(&str, Asks); 10] = [
        ("reads an updated row", |txn, tree| {
            let mut found = Vec::new();
            Ok(txn.get(tree, &key(3), &mut found)? && found == row(3, 0))
        }),
        ("reads a deleted row", |txn, tree| {
            let mut found = Vec::new();
            Ok(txn.get(tree, &key(50), &mut found)? && found == row(50, 0))
        }),
        ("reads an inserted row", |txn, tree| Ok(!txn.get(tree, &key(500), &mut Vec::new())?)),
        ("scans", whole),
        ("updates", |txn, tree| txn.update(tree, &key(3), &RowImage::new(b"mine"))),
        ("deletes", |txn, tree| txn.delete(tree, &key(50))),
        ("inserts what the loser has inserted", |txn, tree| {
            put(txn, tree, 500, b"mine").map(|()| true)
        }),
        ("locks the tree to read it", |txn, tree| {
            txn.lock_table(tree, TableLock::Shared).map(|()| true)
        }),
        ("locks the tree", |txn, tree| txn.lock_table(tree, TableLock::Exclusive).map(|()| true)),
        ("drops the tree", |txn, tree| txn.drop_tree(tree).map(|()| true)),
    ];
    let (left, _, second) = left_behind(8);
    for isolation in LEVELS {
        for (what, ask) in asks {
            let fs = left.crash(8);
            let db = reopen(&fs, early()).unwrap();
            let tree = db.tree(second);
            let mut dirty = db.begin(TxnOptions::default());
            let (nolock, mut found) = (ReadOptions::nolock(), Vec::new());
            assert!(dirty.get_with(&tree, &key(3), nolock, &mut found).unwrap());
            assert_eq!(found, row(3, 99), "a dirty read sees what is there");
            dirty.rollback().unwrap();
            let mut txn = db.begin(TxnOptions { isolation, ..IMPATIENT });
            let refused = ask(&mut txn, &tree);
            assert!(
                matches!(refused, Err(EngineError::LockTimeout)),
                "{isolation:?} {what}: {refused:?}"
            );
            txn.rollback().unwrap();
            assert_eq!(db.recovery().losers_left, 1);
            let mut txn = db.begin(TxnOptions { isolation, ..TxnOptions::default() });
            assert!(ask(&mut txn, &tree).unwrap(), "{isolation:?} {what}");
            txn.rollback().unwrap();
            assert_eq!(db.recovery().losers_left, 0, "{isolation:?} {what}");
            assert!(whole(&mut db.begin(IMPATIENT), &tree).unwrap(), "{isolation:?} {what}");
        }
    }
}

/// Two long losers in one tree, each a row in three; users at the third in between, and at theirs.
#[test]
fn users_work_beside_the_undo_of_long_transactions() {
    const ROWS: u64 = 6000;
    let fs = SimFs::new(9);
    let db = create(&fs, small_options());
    let tree = make_tree(&db);
    (0..ROWS).for_each(|n| _ = put_commit(&db, &tree, n, &row(n, 0)).unwrap());
    let mut losers = [0, 1].map(|_| db.begin(TxnOptions::default()));
    for n in (0..ROWS).filter(|n| n % 3 < 2) {
        let loser = &mut losers[(n % 3) as usize];
        match n % 7 {
            0 => assert!(loser.delete(&tree, &key(n)).unwrap()),
            // Some smaller, so that others may take their room.
            1 => assert!(loser.update(&tree, &key(n), &RowImage::new(&[1; 9])).unwrap()),
            _ => assert!(loser.update(&tree, &key(n), &RowImage::new(&row(n, 99))).unwrap()),
        }
        put(loser, &tree, ROWS + n, &row(n, 99)).unwrap();
    }
    db.flush_log().unwrap();
    let (fs, id) = (fs.crash(9), tree.id());
    drop((db, losers, tree));
    let db = reopen(&fs, early()).unwrap();
    assert_eq!(db.recovery().losers_left, 2);
    let tree = db.tree(id);
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            for n in (2..ROWS).step_by(3) {
                let mut txn = db.begin(TxnOptions::default());
                assert!(txn.update(&tree, &key(n), &RowImage::new(&row(n, 1))).unwrap());
                put(&mut txn, &tree, ROWS + n, &row(n, 1)).unwrap();
                txn.commit(Durability::Delayed).unwrap();
            }
        });
        s.spawn(|| (0..2).for_each(|_| db.run_recovery(&stop)));
        s.spawn(|| {
            for n in (0..ROWS).rev().filter(|n| n % 3 < 2) {
                assert_eq!(read_now(&db, &tree, n), Some(row(n, 0)));
            }
        });
        s.spawn(|| (0..5).for_each(|_| db.checkpoint().unwrap()));
    });
    db.finish_recovery().unwrap();
    let found = all_rows(&db, &tree);
    let wanted = (0..ROWS).map(|n| (n, row(n, u64::from(n % 3 == 2))));
    let added = (2..ROWS).step_by(3).map(|n| (ROWS + n, row(n, 1)));
    assert!(found.into_iter().eq(wanted.chain(added)));
    tree.verify().unwrap();
}

#[test]
fn threads_share_redo_with_readers_and_writers() {
    let (fs, first, second) = left_behind(3);
    let db = reopen(&fs, early()).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        (0..2).for_each(|_| drop(s.spawn(|| db.run_recovery(&stop))));
        s.spawn(|| {
            for n in 0..300 {
                put_commit(&db, &db.tree(first), 10_000 + n, &row(n, 5)).unwrap();
            }
        });
        s.spawn(|| {
            let mut txn = db.begin(TxnOptions::default());
            let mut found = Vec::new();
            for n in (0..3000).rev() {
                assert!(txn.get(&db.tree(first), &key(n), &mut found).unwrap());
                assert!(found == row(n, u64::from(n % 3 == 0)), "row {n}");
            }
        });
        s.spawn(|| (0..5).for_each(|_| db.checkpoint().unwrap()));
    });
    assert!(!db.is_recovering());
    stop.store(true, Release);
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..300 {
        assert!(txn.delete(&db.tree(first), &key(10_000 + n)).unwrap());
    }
    txn.commit(Durability::Full).unwrap();
    db.finish_recovery().unwrap();
    let start = db.recovery_start();
    check(&db, first, second);
    db.close().unwrap();
    drop((db, txn));
    let db = reopen(&fs, early()).unwrap();
    assert!(!db.is_recovering() && db.recovery().pages == 0 && db.recovery_start() >= start);
    check(&db, first, second);
}

#[test]
fn a_database_may_be_closed_before_it_has_recovered() {
    let (fs, first, second) = left_behind(4);
    for _ in 0..3 {
        let db = reopen(&fs, early()).unwrap();
        assert!(db.is_recovering());
        db.recovery_step().unwrap();
        db.close().unwrap();
    }
    let db = reopen(&fs, small_options()).unwrap();
    assert!(!db.is_recovering());
    check(&db, first, second);
}

#[test]
fn a_list_that_is_soon_full_is_worked_off_before_opening() {
    for list in [300, 1_000, 5_000] {
        let (fs, first, second) = left_behind(5);
        let options = DbOptions { redo_list_bytes: list, ..early() };
        let db = reopen(&fs, options).unwrap();
        check(&db, first, second);
        assert!(db.recovery().pages < 60, "{:?}", db.recovery());
    }
}

#[test]
fn a_damaged_page_is_named_and_stops_recovery() {
    use device::OpenOptions;
    let (fs, first, _) = left_behind(6);
    let (path, damage) = (std::path::Path::new("/db/t.mdf"), first.0.page_no());
    // The root of the first tree was written by the checkpoint and has changed since.
    let file = fs.open(path, OpenOptions::existing()).unwrap();
    let at = u64::from(damage) * 8192 + 4096;
    let mut noise = stdx::AlignedBuf::zeroed(512);
    noise.fill(0xA5);
    file.write_all_at(at, &noise, true, telemetry::WaitType::IoCompletion).unwrap();
    drop(file);
    // Not torn: there is no second copy that would mend it.
    fs.remove("/db/t.mdf.dwb".as_ref()).unwrap();
    let refused = reopen(&fs, small_options()).err().expect("it does not open");
    assert_eq!(refused.number(), 824, "{refused}");
    let db = reopen(&fs, early()).unwrap();
    let mut txn = db.begin(TxnOptions::default());
    let refused = txn.get(&db.tree(first), &key(5), &mut Vec::new()).unwrap_err();
    assert!(matches!(refused, EngineError::DamagedPage { file: 1, page, .. } if page == damage));
    drop(txn);
    db.run_recovery(&AtomicBool::new(false));
    let refused = db.flush_log().and_then(|()| db.checkpoint()).unwrap_err();
    assert!(refused.to_string().contains(&format!("(1:{damage})")), "{refused}");
}
