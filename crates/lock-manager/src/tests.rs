//! Locks by plain threads. What the engine's tests cover (deadlocks of rows, timeouts) is not repeated.

use crate::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::thread;
use std::time::Duration;

fn row(n: u64) -> RowKey {
    RowKey { tree: 8, hash: n }
}

#[test]
fn modes_go_together_as_in_the_manual() {
    use RowMode::{Exclusive, Shared, Update};
    for (a, b, ok) in [
        (Shared, Shared, true),
        (Shared, Update, true),
        (Update, Update, false),
        (Exclusive, Shared, false),
        (Update, Exclusive, false),
    ] {
        let locks = LockManager::new();
        let (mut one, mut two) = (Held::new(Owner(1)), Held::new(Owner(2)));
        assert_eq!(locks.lock_row(&mut one, row(1), a, None), Ok(true));
        assert_eq!(locks.lock_row(&mut two, row(1), b, Some(0)).is_ok(), ok, "{a:?} {b:?}");
        assert_eq!(locks.lock_row(&mut one, row(1), a, Some(0)), Ok(false), "held already");
        locks.release_all(&mut one);
        locks.release_all(&mut two);
        assert!(locks.list().is_empty());
    }
}

#[test]
fn table_modes_go_together_as_in_the_manual() {
    use TableMode::*;
    let all =
        [SchemaStability, IntentShared, IntentExclusive, Shared, Exclusive, SchemaModification];
    // One row per held mode, one letter per wanted mode in the same order.
    let matrix = ["yyyyyn", "yyyynn", "yyynnn", "yynynn", "ynnnnn", "nnnnnn"];
    for (a, line) in all.into_iter().zip(matrix) {
        for (b, expected) in all.into_iter().zip(line.chars()) {
            let locks = LockManager::new();
            let (mut one, mut two) = (Held::new(Owner(1)), Held::new(Owner(2)));
            locks.lock_table(&mut one, 8, a, None).unwrap();
            let got = locks.lock_table(&mut two, 8, b, Some(0)).is_ok();
            assert_eq!(got, expected == 'y', "{a:?} then {b:?}");
            assert!(locks.lock_table(&mut two, 16, b, Some(0)).is_ok(), "another table is free");
            locks.release_all(&mut one);
            assert!(locks.lock_table(&mut two, 8, b, Some(0)).is_ok());
            assert!(two.covers_table(8, b));
            locks.release_all(&mut two);
            assert!(locks.list().is_empty());
        }
    }
}

#[test]
fn an_owner_strengthens_its_own_locks() {
    let locks = LockManager::new();
    let mut one = Held::new(Owner(1));
    locks.lock_table(&mut one, 8, TableMode::IntentExclusive, None).unwrap();
    locks.lock_table(&mut one, 8, TableMode::Exclusive, Some(0)).unwrap();
    assert_eq!(locks.lock_row(&mut one, row(1), RowMode::Shared, None), Ok(true));
    assert_eq!(locks.lock_row(&mut one, row(1), RowMode::Exclusive, None), Ok(true));
    assert_eq!(one.row_count(), 1);
    // A lock far back in the list is found too.
    for n in 2..50 {
        locks.lock_row(&mut one, row(n), RowMode::Update, None).unwrap();
    }
    assert_eq!(locks.lock_row(&mut one, row(1), RowMode::Update, None), Ok(false));
    locks.release_rows_of(&mut one, 8);
    assert_eq!(one.row_count(), 0);
    let mut two = Held::new(Owner(2));
    assert!(!locks.try_lock_table(&mut two, 8, TableMode::Shared));
    locks.release_all(&mut one);
    assert!(locks.try_enter_table(8), "no flag is left behind");
    assert!(!locks.try_lock_table(&mut two, 8, TableMode::Exclusive));
    locks.leave_table(8);
    assert!(locks.try_lock_table(&mut two, 8, TableMode::Exclusive));
    assert!(!locks.try_enter_table(8));
    locks.release_all(&mut two);
}

#[test]
fn exclusive_locks_exclude() {
    let locks = LockManager::new();
    let inside = AtomicU64::new(0);
    let total = AtomicU64::new(0);
    let work = |owner: u64| {
        let mut held = Held::new(Owner(owner));
        for i in 0..500u64 {
            if i % 10 == owner {
                locks.lock_table(&mut held, 8, TableMode::Exclusive, None).unwrap();
            } else {
                locks.lock_table(&mut held, 8, TableMode::IntentExclusive, None).unwrap();
                locks.lock_row(&mut held, row(1), RowMode::Exclusive, None).unwrap();
            }
            assert_eq!(inside.fetch_add(1, AcqRel), 0);
            if i % 50 == 0 {
                thread::yield_now();
            }
            inside.fetch_sub(1, AcqRel);
            total.fetch_add(1, Relaxed);
            locks.release_all(&mut held);
        }
    };
    let work = &work;
    thread::scope(|s| {
        (1..4).for_each(|owner| {
            s.spawn(move || work(owner));
        });
    });
    assert_eq!(total.load(Relaxed), 1500);
    assert!(locks.list().is_empty());
}

#[test]
fn waiting_for_an_end_closes_a_cycle_too() {
    let locks = LockManager::new();
    let barrier = Barrier::new(2);
    thread::scope(|s| {
        let waits = s.spawn(|| {
            let mut held = Held::new(Owner(1));
            locks.lock_row(&mut held, row(1), RowMode::Exclusive, None).unwrap();
            barrier.wait();
            // Owner 2's transaction 77, which will want our row.
            let waited = locks.wait_for_end(&mut held, 77, Owner(2), None, || true);
            locks.release_all(&mut held);
            waited
        });
        let mut held = Held::new(Owner(2));
        held.priority = 1;
        barrier.wait();
        thread::sleep(Duration::from_millis(5));
        assert_eq!(locks.lock_row(&mut held, row(1), RowMode::Exclusive, None), Ok(true));
        assert_eq!(waits.join().unwrap(), Err(LockError::Deadlock));
        locks.release_all(&mut held);
    });
}

#[test]
fn table_and_row_locks_close_a_cycle() {
    let locks = LockManager::new();
    let barrier = Barrier::new(2);
    let run = |owner: u64, tables_first: bool| {
        let mut held = Held::new(Owner(owner));
        let table = if tables_first { TableMode::IntentExclusive } else { TableMode::Exclusive };
        let step = |held: &mut Held, is_table: bool| {
            if is_table {
                locks.lock_table(held, 8, table, None)
            } else {
                locks
                    .lock_row(held, RowKey { tree: 16, hash: 1 }, RowMode::Exclusive, None)
                    .map(|_| ())
            }
        };
        step(&mut held, tables_first).unwrap();
        barrier.wait();
        let second = step(&mut held, !tables_first);
        locks.release_all(&mut held);
        second
    };
    thread::scope(|s| {
        let (a, b) = (s.spawn(|| run(1, true)), s.spawn(|| run(2, false)));
        let results = [a.join().unwrap(), b.join().unwrap()];
        let victims = results.iter().filter(|r| **r == Err(LockError::Deadlock)).count();
        assert_eq!(victims, 1, "{results:?}");
    });
}

#[test]
fn the_end_of_a_transaction_wakes_who_waits_for_it() {
    let locks = LockManager::new();
    let over = AtomicU64::new(0);
    thread::scope(|s| {
        for owner in 1..4 {
            let (locks, over) = (&locks, &over);
            s.spawn(move || {
                let mut held = Held::new(Owner(owner));
                let unfinished = || over.load(Acquire) == 0;
                locks.wait_for_end(&mut held, 5, Owner(9), None, unfinished).unwrap();
                assert!(!unfinished());
            });
        }
        thread::sleep(Duration::from_millis(3));
        over.store(1, Release);
        locks.ended(5);
    });
    let mut held = Held::new(Owner(1));
    let timeout = locks.wait_for_end(&mut held, 6, Owner(9), Some(1_000_000), || true);
    assert_eq!(timeout, Err(LockError::Timeout));
}
