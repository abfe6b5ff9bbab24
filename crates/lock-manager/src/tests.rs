//! Locks by plain threads. What the engine's tests cover (deadlocks of rows, timeouts) is not repeated.

use crate::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::thread;
use std::time::Duration;

fn row(n: u64) -> RowKey {
    RowKey { tree: 8, hash: n }
}

/// The matrix of the manual's page on key-range locking, and what conversions make.
#[test]
fn modes_go_together_as_in_the_manual() {
    let all = [
        KeyMode::SHARED,
        KeyMode::UPDATE,
        KeyMode::EXCLUSIVE,
        KeyMode::RANGE_S_S,
        KeyMode::RANGE_S_U,
        KeyMode::RANGE_I_N,
        KeyMode::RANGE_X_X,
    ];
    // One row per held mode, one letter per wanted mode in the same order.
    let matrix = ["yynyyyn", "ynnynyn", "nnnnnyn", "yynyynn", "ynnynnn", "yyynnyn", "nnnnnnn"];
    for (a, line) in all.into_iter().zip(matrix) {
        for (b, expected) in all.into_iter().zip(line.chars()) {
            let locks = LockManager::new();
            let (mut one, mut two) = (Held::new(Owner(1)), Held::new(Owner(2)));
            assert_eq!(locks.lock_key(&mut one, row(1), a, None), Ok(Gained::From(KeyMode::NONE)));
            let got = locks.try_lock_key(&mut two, row(1), b);
            assert_eq!(got.is_some(), expected == 'y', "{} then {}", a.name(), b.name());
            assert_eq!(locks.lock_key(&mut one, row(1), a, Some(0)), Ok(Gained::Nothing));
            locks.release_all(&mut one);
            assert!(locks.lock_key(&mut two, row(1), b, Some(0)).is_ok());
            locks.release_all(&mut two);
            assert!(locks.list().is_empty());
        }
    }
    let made = |a: KeyMode, b: KeyMode| a.union(b).name();
    assert_eq!(made(KeyMode::SHARED, KeyMode::RANGE_I_N), "RangeI-S");
    assert_eq!(made(KeyMode::UPDATE, KeyMode::RANGE_I_N), "RangeI-U");
    assert_eq!(made(KeyMode::EXCLUSIVE, KeyMode::RANGE_I_N), "RangeI-X");
    assert_eq!(made(KeyMode::RANGE_I_N, KeyMode::RANGE_S_S), "RangeX-S");
    assert_eq!(made(KeyMode::RANGE_I_N, KeyMode::RANGE_S_U), "RangeX-U");
    assert_eq!(made(KeyMode::EXCLUSIVE, KeyMode::RANGE_S_S), "RangeX-X");
    assert_eq!(KeyMode::INTENT_EXCLUSIVE.union(KeyMode::SHARED).name(), "SIX");
}

#[test]
fn table_modes_go_together_as_in_the_manual() {
    use TableMode::*;
    let all = [
        SchemaStability,
        IntentShared,
        IntentExclusive,
        Shared,
        Update,
        SharedIntentExclusive,
        Exclusive,
        SchemaModification,
    ];
    // One row per held mode, one letter per wanted mode in the same order.
    let matrix = [
        "yyyyyyyn", "yyyyyynn", "yyynnnnn", "yynyynnn", "yynynnnn", "yynnnnnn", "ynnnnnnn",
        "nnnnnnnn",
    ];
    for (a, line) in all.into_iter().zip(matrix) {
        for (b, expected) in all.into_iter().zip(line.chars()) {
            let locks = LockManager::new();
            let (mut one, mut two) = (Held::new(Owner(1)), Held::new(Owner(2)));
            locks.lock_table(&mut one, 8, a, false, None).unwrap();
            let got = locks.lock_table(&mut two, 8, b, false, Some(0)).is_ok();
            assert_eq!(got, expected == 'y', "{a:?} then {b:?}");
            assert!(
                locks.lock_table(&mut two, 16, b, false, Some(0)).is_ok(),
                "another table is free"
            );
            locks.release_all(&mut one);
            assert!(locks.lock_table(&mut two, 8, b, false, Some(0)).is_ok());
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
    let new = Ok(Gained::From(KeyMode::NONE));
    locks.lock_table(&mut one, 8, TableMode::IntentExclusive, false, None).unwrap();
    assert_eq!(locks.lock_key(&mut one, row(1), KeyMode::SHARED, None), new);
    let stronger = locks.lock_key(&mut one, row(1), KeyMode::EXCLUSIVE, None).unwrap();
    assert_eq!(stronger, Gained::From(KeyMode::SHARED));
    assert_eq!(one.key_count(), 1);
    let mut two = Held::new(Owner(2));
    assert_eq!(locks.try_lock_key(&mut two, row(1), KeyMode::SHARED), None);
    locks.unlock_key(&mut one, row(1), stronger);
    let shared = locks.try_lock_key(&mut two, row(1), KeyMode::SHARED);
    assert_eq!(shared, Some(Gained::From(KeyMode::NONE)), "S again, not nothing");
    assert_eq!(locks.try_lock_key(&mut two, row(1), KeyMode::EXCLUSIVE), None);
    locks.release_all(&mut two);
    // A lock far back in the list is found too.
    for n in 2..50 {
        assert_eq!(locks.lock_key(&mut one, row(n), KeyMode::UPDATE, None), new);
    }
    assert_eq!(locks.lock_key(&mut one, row(1), KeyMode::SHARED, None), Ok(Gained::Nothing));
    assert_eq!(one.key_count_in(8), 49);
    // A lock on the table makes locks on keys unnecessary.
    locks.lock_table(&mut one, 8, TableMode::Exclusive, false, Some(0)).unwrap();
    locks.release_keys_of(&mut one, 8);
    assert_eq!((one.key_count(), one.key_count_in(8)), (0, 0));
    assert_eq!(locks.lock_key(&mut one, row(1), KeyMode::RANGE_X_X, None), Ok(Gained::Nothing));
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
fn a_brief_lock_goes_with_its_statement() {
    let locks = LockManager::new();
    let mut one = Held::new(Owner(1));
    locks.lock_table(&mut one, 8, TableMode::IntentShared, true, None).unwrap();
    assert!(one.covers_table(8, TableMode::SchemaStability));
    // The same mode to the end of the transaction is another lock.
    locks.lock_table(&mut one, 8, TableMode::IntentShared, false, None).unwrap();
    locks.release_brief(&mut one);
    let mut two = Held::new(Owner(2));
    assert!(!locks.try_lock_table(&mut two, 8, TableMode::Exclusive));
    locks.release_all(&mut one);
    assert!(locks.try_lock_table(&mut two, 8, TableMode::Exclusive));
    locks.release_all(&mut two);
}

#[test]
fn a_cancelled_waiter_gives_up() {
    let locks = LockManager::new();
    let mut one = Held::new(Owner(1));
    let _ = locks.lock_key(&mut one, row(1), KeyMode::EXCLUSIVE, None).unwrap();
    let cancel = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    thread::scope(|s| {
        let flag = cancel.clone();
        let locks = &locks;
        let waiter = s.spawn(move || {
            let mut two = Held::new(Owner(2));
            two.cancel = Some(flag);
            let got = locks.lock_key(&mut two, row(1), KeyMode::SHARED, None);
            assert!(two.is_empty());
            got
        });
        while locks.waits().is_empty() {
            thread::yield_now();
        }
        let wait = locks.waits()[0];
        assert_eq!((wait.owner, wait.mode, wait.blocker), (Owner(2), "S", Some(Owner(1))));
        assert_eq!(wait.wait_type.name(), "LCK_M_S");
        cancel.store(true, Relaxed);
        assert_eq!(waiter.join().unwrap(), Err(LockError::Cancelled));
    });
    assert_eq!(locks.waits(), []);
    locks.release_all(&mut one);
    assert!(locks.list().is_empty());
}

/// Else nobody would see what it waits for, and a cycle through it would last.
#[test]
fn a_waiter_passes_those_it_does_not_conflict_with() {
    let locks = LockManager::new();
    let mut one = Held::new(Owner(1));
    let _ = locks.lock_key(&mut one, row(1), KeyMode::RANGE_S_U, None).unwrap();
    let gained = locks.lock_key(&mut one, row(1), KeyMode::EXCLUSIVE, None).unwrap();
    thread::scope(|s| {
        let locks = &locks;
        let waits = |owner: u64, mode: KeyMode| {
            s.spawn(move || {
                let mut held = Held::new(Owner(owner));
                let got = locks.lock_key(&mut held, row(1), mode, None);
                locks.release_all(&mut held);
                got
            })
        };
        let behind = |n: usize| {
            while locks.waits().len() < n {
                thread::yield_now();
            }
        };
        // In the way of the range, and behind it somebody who is not.
        let inserts = waits(2, KeyMode::RANGE_I_N);
        behind(1);
        let reads = waits(3, KeyMode::SHARED);
        behind(2);
        locks.unlock_key(&mut one, row(1), gained);
        assert_eq!(reads.join().unwrap(), Ok(Gained::From(KeyMode::NONE)));
        assert_eq!(locks.waits().len(), 1);
        locks.release_all(&mut one);
        assert_eq!(inserts.join().unwrap(), Ok(Gained::From(KeyMode::NONE)));
    });
    assert!(locks.list().is_empty());
}

#[test]
fn application_locks_are_counted_by_owner() {
    let locks = LockManager::new();
    let (mut one, mut two) = (Held::new(Owner(1)), Held::new(Owner(2)));
    assert_eq!(locks.lock_app(&mut one, 7, KeyMode::SHARED, false, None), Ok(true));
    assert_eq!(locks.lock_app(&mut one, 7, KeyMode::EXCLUSIVE, true, None), Ok(true));
    assert_eq!(locks.lock_app(&mut one, 7, KeyMode::EXCLUSIVE, true, None), Ok(true));
    assert!(!locks.test_app(&mut two, 7, KeyMode::INTENT_SHARED));
    assert_eq!(locks.app_mode(&one, 7, true).name(), "X");
    assert!(locks.unlock_app(&mut one, 7, true));
    assert!(!locks.test_app(&mut two, 7, KeyMode::SHARED), "taken twice, released once");
    assert!(locks.unlock_app(&mut one, 7, true));
    assert!(!locks.unlock_app(&mut one, 7, true));
    assert!(locks.test_app(&mut two, 7, KeyMode::SHARED), "the transaction's S is left");
    assert!(!locks.test_app(&mut two, 7, KeyMode::EXCLUSIVE));
    assert_eq!(locks.lock_app(&mut one, 8, KeyMode::EXCLUSIVE, true, None), Ok(true));
    locks.release_all(&mut one);
    assert!(locks.test_app(&mut two, 7, KeyMode::EXCLUSIVE));
    assert!(!locks.test_app(&mut two, 8, KeyMode::SHARED), "the session's stays");
    locks.release_session(&mut one);
    assert!(one.is_empty() && locks.list().is_empty());
}

/// The cheapest of the least important dies, and the report says who waited for what.
#[test]
fn the_victim_is_the_least_important_and_then_the_cheapest() {
    for (priorities, costs, victim) in
        [([0, -5], [1, 100], Owner(2)), ([0, 0], [100, 1], Owner(2)), ([3, 3], [7, 9], Owner(1))]
    {
        let locks = LockManager::new();
        let barrier = Barrier::new(2);
        let run = |i: usize| {
            let mut held = Held::new(Owner(i as u64 + 1));
            held.priority = priorities[i];
            held.cost = costs[i];
            let (mine, other) = (row(i as u64), row(1 - i as u64));
            let _ = locks.lock_key(&mut held, mine, KeyMode::EXCLUSIVE, None).unwrap();
            barrier.wait();
            let second = locks.lock_key(&mut held, other, KeyMode::UPDATE, None);
            locks.release_all(&mut held);
            second.is_err()
        };
        let run = &run;
        let died = thread::scope(|s| {
            let threads = [s.spawn(move || run(0)), s.spawn(move || run(1))];
            threads.map(|t| t.join().unwrap())
        });
        assert!(died[victim.0 as usize - 1] && died.iter().filter(|d| **d).count() == 1);
        let report = locks.deadlocks().pop().unwrap();
        assert_eq!((report.victim, report.members.len()), (victim, 2));
        let graph = report.graph(|o| format!("process{}", o.0));
        assert!(graph.contains(&format!("deadlock victim=process{}", victim.0)), "{graph}");
        assert!(graph.contains("lockMode=U") && graph.contains("KEY: tree 8"), "{graph}");
    }
}

/// A thousand waiters in one queue cost their turn, not the square of it, and no stack.
#[test]
fn a_long_queue_is_searched_once_per_waiter() {
    const WAITERS: u64 = 300;
    let locks = LockManager::new();
    let mut first = Held::new(Owner(1_000_000));
    let _ = locks.lock_key(&mut first, row(1), KeyMode::EXCLUSIVE, None).unwrap();
    let got = AtomicU64::new(0);
    thread::scope(|s| {
        for owner in 0..WAITERS {
            let (locks, got) = (&locks, &got);
            s.spawn(move || {
                let mut held = Held::new(Owner(owner));
                let _ = locks.lock_key(&mut held, row(1), KeyMode::UPDATE, None).unwrap();
                got.fetch_add(1, Relaxed);
                locks.release_all(&mut held);
            });
        }
        while locks.waits().len() < WAITERS as usize {
            thread::sleep(Duration::from_millis(1));
        }
        locks.release_all(&mut first);
    });
    assert_eq!(got.load(Relaxed), WAITERS);
    assert!(locks.deadlocks().is_empty());
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
                locks.lock_table(&mut held, 8, TableMode::Exclusive, false, None).unwrap();
            } else {
                locks.lock_table(&mut held, 8, TableMode::IntentExclusive, false, None).unwrap();
                let _ = locks.lock_key(&mut held, row(1), KeyMode::EXCLUSIVE, None).unwrap();
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
            let _ = locks.lock_key(&mut held, row(1), KeyMode::EXCLUSIVE, None).unwrap();
            barrier.wait();
            // Owner 2's transaction 77, which will want our row.
            let waited =
                locks.wait_for_end(&mut held, 77, Owner(2), KeyMode::SHARED, None, || true);
            locks.release_all(&mut held);
            waited
        });
        let mut held = Held::new(Owner(2));
        held.priority = 1;
        barrier.wait();
        thread::sleep(Duration::from_millis(5));
        assert_eq!(
            locks.lock_key(&mut held, row(1), KeyMode::EXCLUSIVE, None),
            Ok(Gained::From(KeyMode::NONE))
        );
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
                locks.lock_table(held, 8, table, false, None)
            } else {
                locks
                    .lock_key(held, RowKey { tree: 16, hash: 1 }, KeyMode::EXCLUSIVE, None)
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
                locks
                    .wait_for_end(&mut held, 5, Owner(9), KeyMode::SHARED, None, unfinished)
                    .unwrap();
                assert!(!unfinished());
            });
        }
        thread::sleep(Duration::from_millis(3));
        over.store(1, Release);
        locks.ended(5);
    });
    let mut held = Held::new(Owner(1));
    let timeout =
        locks.wait_for_end(&mut held, 6, Owner(9), KeyMode::SHARED, Some(1_000_000), || true);
    assert_eq!(timeout, Err(LockError::Timeout));
}
