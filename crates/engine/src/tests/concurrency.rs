//! Several threads on one database.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::mpsc;
use std::thread;

fn number(row: &[u8]) -> u64 {
    u64::from_le_bytes(row[..8].try_into().unwrap())
}

#[test]
fn no_update_is_lost() {
    let db = fresh();
    let tree = make_tree(&db);
    for n in 0..4 {
        put_commit(&db, &tree, n, &[0; 8]).unwrap();
    }
    let work = |seed: u64| {
        let mut rng = stdx::Prng::new(seed);
        let mut txn = db.txn(TxnOptions::default());
        let mut row = Vec::new();
        for _ in 0..300 {
            let n = rng.below(4);
            txn.begin();
            assert!(txn.read_latest_locked(&tree, &key(n), &mut row).unwrap());
            let next = number(&row) + 1;
            txn.update(&tree, &key(n), &RowImage::new(&next.to_le_bytes())).unwrap();
            if rng.one_in(5) {
                txn.rollback().unwrap();
                // Tries again, so that the sum is known.
                txn.begin();
                txn.read_latest_locked(&tree, &key(n), &mut row).unwrap();
                let next = number(&row) + 1;
                txn.update(&tree, &key(n), &RowImage::new(&next.to_le_bytes())).unwrap();
            }
            txn.commit(Durability::Delayed).unwrap();
        }
    };
    thread::scope(|s| {
        for seed in 0..3 {
            s.spawn(move || work(seed));
        }
    });
    let sum: u64 = all_rows(&db, &tree).iter().map(|(_, r)| number(r)).sum();
    assert_eq!(sum, 900);
    assert!(db.locks().is_empty());
}

#[test]
fn many_may_ask_for_a_checkpoint_or_for_log_room() {
    let db = fresh();
    let tree = make_tree(&db);
    thread::scope(|s| {
        for t in 0..4u64 {
            let (db, tree) = (&db, &tree);
            s.spawn(move || {
                for n in 0..200 {
                    put_commit(db, tree, t * 1_000 + n, &[t as u8; 100]).unwrap();
                    if n % 2 == 0 { _ = db.make_log_room() } else { db.checkpoint().unwrap() }
                }
            });
        }
    });
    assert_eq!(all_rows(&db, &tree).len(), 800);
}

#[test]
fn readers_always_see_whole_transactions() {
    let db = fresh();
    let tree = make_tree(&db);
    const ROWS: u64 = 64;
    for n in 0..ROWS {
        put_commit(&db, &tree, n, &[0; 8]).unwrap();
    }
    let done = AtomicU64::new(0);
    thread::scope(|s| {
        s.spawn(|| {
            // Moves one from row to row: the sum stays zero (modulo 2^64), the count stays too.
            let mut rng = stdx::Prng::new(5);
            let mut txn = db.txn(TxnOptions::default());
            let mut row = Vec::new();
            for i in 0..400 {
                txn.begin();
                for (n, by) in [(rng.below(ROWS), 1), (rng.below(ROWS), u64::MAX)] {
                    assert!(txn.read_latest_locked(&tree, &key(n), &mut row).unwrap());
                    let next = number(&row).wrapping_add(by);
                    txn.update(&tree, &key(n), &RowImage::new(&next.to_le_bytes())).unwrap();
                }
                let n = rng.below(ROWS);
                let there = txn.read_latest_locked(&tree, &key(n), &mut row).unwrap();
                assert!(there);
                txn.delete(&tree, &key(n)).unwrap();
                put(&mut txn, &tree, n, &row).unwrap();
                if i % 7 == 0 {
                    txn.rollback().unwrap();
                } else {
                    txn.commit(Durability::Delayed).unwrap();
                }
                if i % 50 == 0 {
                    db.background_step();
                }
            }
            done.store(1, Release);
        });
        for reverse in [false, true] {
            let (db, tree, done) = (&db, &tree, &done);
            s.spawn(move || {
                let mut txn = db.begin(TxnOptions::default());
                while done.load(Acquire) == 0 {
                    txn.begin_statement();
                    let all =
                        rows(&mut txn, tree, ScanOptions { reverse, ..ScanOptions::default() });
                    let sum = all.iter().fold(0u64, |a, (_, r)| a.wrapping_add(number(r)));
                    assert_eq!((all.len() as u64, sum), (ROWS, 0));
                    txn.end_statement();
                }
            });
        }
    });
}

#[test]
fn an_insert_waits_for_the_unfinished_one_of_the_same_key() {
    let db = fresh();
    let tree = make_tree(&db);
    for commits in [true, false] {
        let n = u64::from(commits);
        let mut first = db.begin(TxnOptions::default());
        put(&mut first, &tree, n, b"first").unwrap();
        thread::scope(|s| {
            let (begun, begins) = mpsc::channel();
            let (db, tree) = (&db, &tree);
            let second = s.spawn(move || {
                begun.send(()).unwrap();
                put_commit(db, tree, n, b"second")
            });
            begins.recv().unwrap();
            thread::sleep(std::time::Duration::from_millis(20));
            if commits {
                first.commit(Durability::Delayed).unwrap();
            } else {
                first.rollback().unwrap();
            }
            assert_eq!(second.join().unwrap().is_ok(), !commits);
        });
        let expected: &[u8] = if commits { b"first" } else { b"second" };
        assert_eq!(read_now(db_ref(&db), &tree, n).as_deref(), Some(expected));
    }
}

fn db_ref(db: &Arc<Database>) -> &Arc<Database> {
    db
}

#[test]
fn a_deadlock_has_one_victim_and_the_other_goes_on() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"a").unwrap();
    put_commit(&db, &tree, 2, b"a").unwrap();
    let barrier = std::sync::Barrier::new(2);
    let run = |mine: u64, other: u64, priority: i8| {
        let mut txn = db.begin(TxnOptions { deadlock_priority: priority, ..TxnOptions::default() });
        txn.update(&tree, &key(mine), &RowImage::new(b"b")).unwrap();
        barrier.wait();
        match txn.update(&tree, &key(other), &RowImage::new(b"b")) {
            Ok(found) => {
                assert!(found);
                txn.commit(Durability::Delayed).unwrap();
                true
            }
            Err(e) => {
                assert_eq!(e, EngineError::Deadlock);
                assert!(txn.is_doomed());
                txn.rollback().unwrap();
                false
            }
        }
    };
    thread::scope(|s| {
        let low = s.spawn(|| run(1, 2, -5));
        let high = s.spawn(|| run(2, 1, 5));
        assert!(!low.join().unwrap(), "the less important one dies");
        assert!(high.join().unwrap());
    });
    // By way of an insert: the stamp is the lock.
    thread::scope(|s| {
        let insert_then_update = |mine: u64, other: u64| {
            let mut txn = db.begin(TxnOptions::default());
            put(&mut txn, &tree, mine, b"x").unwrap();
            barrier.wait();
            let done = put(&mut txn, &tree, other, b"x");
            match done {
                Ok(()) | Err(EngineError::Duplicate) => {
                    txn.commit(Durability::Delayed).map(|_| true).unwrap()
                }
                Err(e) => {
                    assert_eq!(e, EngineError::Deadlock);
                    txn.rollback().unwrap();
                    false
                }
            }
        };
        let a = s.spawn(move || insert_then_update(11, 12));
        let b = s.spawn(move || insert_then_update(12, 11));
        let survived = [a.join().unwrap(), b.join().unwrap()];
        assert_eq!(survived.iter().filter(|s| **s).count(), 1);
    });
    assert!(db.locks().is_empty());
}

#[test]
fn a_lock_timeout_leaves_the_transaction_alive() {
    let db = fresh();
    let tree = make_tree(&db);
    put_commit(&db, &tree, 1, b"a").unwrap();
    let mut holder = db.begin(TxnOptions::default());
    holder.update(&tree, &key(1), &RowImage::new(b"b")).unwrap();
    for ms in [0, 5] {
        let mut txn = db.begin(TxnOptions { lock_timeout_ms: Some(ms), ..TxnOptions::default() });
        put(&mut txn, &tree, 50 + ms, b"mine").unwrap();
        assert_eq!(txn.update(&tree, &key(1), &RowImage::new(b"c")), Err(EngineError::LockTimeout));
        assert_eq!(txn.lock_table(&tree, TableLock::Exclusive), Err(EngineError::LockTimeout));
        assert_eq!(read(&mut txn, &tree, 1).as_deref(), Some(&b"a"[..]), "readers do not wait");
        txn.commit(Durability::Delayed).unwrap();
    }
    holder.rollback().unwrap();
    assert_eq!(all_rows(&db, &tree).len(), 3);
}

#[test]
fn a_table_lock_waits_for_writers_and_keeps_them_out() {
    let db = fresh();
    let tree = make_tree(&db);
    let inserted = AtomicU64::new(0);
    let stop = AtomicU64::new(0);
    thread::scope(|s| {
        for t in 0..2u64 {
            let (db, tree, inserted, stop) = (&db, &tree, &inserted, &stop);
            s.spawn(move || {
                let mut txn = db.txn(TxnOptions::default());
                let mut hint = InsertHint::default();
                let mut n = t << 32;
                while stop.load(Acquire) == 0 {
                    let image = RowImage::new(b"row");
                    txn.insert_commit(tree, &key(n), &image, &mut hint, Durability::Delayed, None)
                        .unwrap();
                    inserted.fetch_add(1, Relaxed);
                    n += 1;
                }
            });
        }
        let mut txn = db.txn(TxnOptions::default());
        for _ in 0..20 {
            txn.begin();
            txn.lock_table(&tree, TableLock::Exclusive).unwrap();
            let count = rows(&mut txn, &tree, nolock()).len();
            thread::sleep(std::time::Duration::from_millis(1));
            let again = rows(&mut txn, &tree, nolock()).len();
            assert_eq!(count, again, "nobody inserts under TABLOCKX");
            txn.commit(Durability::Delayed).unwrap();
        }
        stop.store(1, Release);
    });
    assert_eq!(all_rows(&db, &tree).len() as u64, inserted.load(Relaxed));
}

#[test]
fn many_row_locks_escalate_to_one() {
    let db = fresh();
    let tree = make_tree(&db);
    let mut txn = db.begin(TxnOptions::default());
    for n in 0..6000 {
        put(&mut txn, &tree, n, b"x").unwrap();
    }
    txn.commit(Durability::Delayed).unwrap();
    txn.begin();
    for n in 0..6000 {
        assert!(txn.update(&tree, &key(n), &RowImage::new(b"y")).unwrap());
    }
    assert!(db.locks().len() < 10, "{} locks", db.locks().len());
    txn.rollback().unwrap();
    assert!(db.locks().is_empty());
    assert!(all_rows(&db, &tree).iter().all(|(_, r)| r == b"x"));
}

#[test]
fn a_panicking_session_is_rolled_back_by_the_background() {
    let db = fresh();
    let tree = make_tree(&db);
    let died = thread::scope(|s| {
        s.spawn(|| {
            let mut txn = db.begin(TxnOptions::default());
            put(&mut txn, &tree, 1, b"x").unwrap();
            panic!("as planned");
        })
        .join()
    });
    assert!(died.is_err());
    db.background_step();
    assert!(put_commit(&db, &tree, 1, b"y").is_ok());
}
