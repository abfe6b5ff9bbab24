//! Ghost clean-up: what is deleted gives its pages back, when nobody needs it any more and not before.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::time::{Duration, Instant};

const ROUNDS: u64 = 40;
const ROWS: u64 = 400;

fn used_pages(db: &Database) -> u64 {
    let space = db.store.file_space(1).unwrap().unwrap();
    space.pages - space.free_pages
}

/// Background work until `done`; it may take a while until its turn comes.
fn work_until(db: &Database, what: &str, done: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < patience, "{what}");
        // What is not durable is no snapshot's past yet.
        db.flush_log().unwrap();
        db.background_step();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_clean(db: &Database) -> bool {
    db.shared.versions.count() == 0 && db.is_clean()
}

fn insert(db: &Arc<Database>, tree: &Tree, numbers: std::ops::Range<u64>) {
    for n in numbers {
        put_commit(db, tree, n, &[7; 400]).unwrap();
    }
}

fn delete(db: &Arc<Database>, tree: &Tree, numbers: std::ops::Range<u64>) {
    let mut txn = db.begin(TxnOptions::default());
    for n in numbers {
        assert!(txn.delete(tree, &key(n)).unwrap());
    }
    txn.commit(Durability::Delayed).unwrap();
}

/// Rows come at one end and go at the other.
#[test]
fn a_queue_does_not_grow() {
    let db = fresh();
    let tree = make_tree(&db);
    insert(&db, &tree, 0..ROWS);
    let before = used_pages(&db);
    let mut most = 0;
    for round in 1..ROUNDS {
        insert(&db, &tree, round * ROWS..(round + 1) * ROWS);
        delete(&db, &tree, (round - 1) * ROWS..round * ROWS);
        work_until(&db, "a round is cleaned", || is_clean(&db));
        most = most.max(used_pages(&db));
    }
    assert!(most <= 4 * before, "{before} pages, and later {most}");
    let report = tree.verify().expect("a whole tree");
    assert_eq!((report.rows, report.ghosts), (ROWS, 0));
    assert!(report.leaves < 40, "{report:?}");
    assert_eq!(all_rows(&db, &tree).len(), ROWS as usize);
}

#[test]
fn large_values_that_are_replaced_give_their_pages_back() {
    let db = fresh();
    let tree = make_tree(&db);
    let value = vec![3; 60_000];
    let write = |txn: &mut Txn| txn.put_lob(&tree, &value).unwrap();
    let mut txn = db.begin(TxnOptions::default());
    let mut number = write(&mut txn);
    txn.commit(Durability::Delayed).unwrap();
    let before = used_pages(&db);
    for round in 0..200 {
        txn.begin();
        txn.delete_lob(&tree, number, value.len() as u64).unwrap();
        number = write(&mut txn);
        txn.commit(Durability::Delayed).unwrap();
        if round % 10 == 9 {
            work_until(&db, "what was replaced is cleaned", || is_clean(&db));
        }
    }
    assert!(used_pages(&db) < before + 160, "{before} pages, and later {}", used_pages(&db));
    tree.verify().expect("a whole tree");
}

#[test]
fn rows_that_their_own_transaction_takes_back_leave_nothing() {
    let db = fresh();
    let tree = make_tree(&db);
    insert(&db, &tree, 0..1);
    let before = used_pages(&db);
    for rolled_back in [false, true] {
        for round in 0..10 {
            let mut txn = db.begin(TxnOptions::default());
            let numbers = 1 + round * ROWS..1 + (round + 1) * ROWS;
            for n in numbers.clone() {
                put(&mut txn, &tree, n, &[7; 400]).unwrap();
            }
            if rolled_back {
                txn.rollback().unwrap();
            } else {
                numbers.for_each(|n| assert!(txn.delete(&tree, &key(n)).unwrap()));
                txn.commit(Durability::Delayed).unwrap();
            }
            work_until(&db, "what was taken back is cleaned", || is_clean(&db));
        }
        assert!(used_pages(&db) < before + 80, "{before} pages, and later {}", used_pages(&db));
        let report = tree.verify().expect("a whole tree");
        assert_eq!((report.rows, report.ghosts), (1, 0));
    }
}

#[test]
fn what_a_snapshot_sees_stays_until_it_ends() {
    let db = fresh();
    let tree = make_tree(&db);
    insert(&db, &tree, 0..ROWS);
    let mut reader = db.begin(TxnOptions { isolation: Isolation::Snapshot, ..Default::default() });
    let before = rows(&mut reader, &tree, ScanOptions::default());
    delete(&db, &tree, 0..ROWS);
    // Later deletions in the same leaves have nobody who needs them.
    for _ in 0..20 {
        db.background_step();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(rows(&mut reader, &tree, ScanOptions::default()), before);
    assert_eq!(before.len() as u64, ROWS);
    reader.rollback().unwrap();
    work_until(&db, "all is cleaned in the end", || is_clean(&db));
    assert_eq!(tree.verify().expect("a whole tree").ghosts, 0);
    assert!(all_rows(&db, &tree).is_empty());
}

#[test]
fn power_lost_while_pages_leave_a_tree_loses_no_row() {
    for seed in 0..12 {
        let fs = SimFs::new(seed);
        let db = create(&fs, small_options());
        let tree = make_tree(&db);
        let mut next = 0;
        for round in 0..6 {
            insert(&db, &tree, next..next + ROWS);
            delete(&db, &tree, next..next + ROWS - 3);
            next += ROWS;
            for _ in 0..=seed % 4 {
                db.background_step();
                std::thread::sleep(Duration::from_millis(1));
            }
            if round % 2 == seed % 2 {
                db.checkpoint().unwrap();
            }
        }
        db.flush_log().unwrap();
        let expect = all_rows(&db, &tree);
        let after = reopen(&fs.crash(seed), small_options()).expect("recovers");
        let tree = after.tree(tree.id());
        assert_eq!(all_rows(&after, &tree), expect);
        tree.verify().expect("a whole tree");
        // And it goes on.
        insert(&after, &tree, next..next + ROWS);
        delete(&after, &tree, next..next + ROWS);
        work_until(&after, "cleaned after a restart", || is_clean(&after));
        assert_eq!(all_rows(&after, &tree), expect);
        tree.verify().expect("a whole tree");
    }
}

/// CHECKDB locks the table, and so must meet a tree at rest: writers, cleaning and evictions go on between.
#[test]
fn a_check_under_a_table_lock_finds_a_tree_at_rest() {
    const LOOKS: u64 = 40;
    let db = create(&SimFs::new(2), DbOptions { buffer_pool_bytes: 1 << 20, ..small_options() });
    let tree = make_tree(&db);
    let done = AtomicBool::new(false);
    let commits = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for worker in 0..2u64 {
            let (db, tree, done, commits) = (&db, &tree, &done, &commits);
            scope.spawn(move || {
                let mut rng = stdx::Prng::new(worker);
                // Rows of a worker's own range come at one end and go in heaps at the other.
                let (mut first, mut next) = (worker << 32, worker << 32);
                while !done.load(Acquire) {
                    let more = next + 20 + rng.below(200);
                    insert(db, tree, next..more);
                    next = more;
                    if next - first > 600 {
                        let gone = first + rng.below(next - first);
                        delete(db, tree, first..gone);
                        first = gone;
                    }
                    commits.fetch_add(1, AcqRel);
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Acquire) {
                db.background_step();
                std::thread::yield_now();
            }
        });
        let mut txn = db.txn(TxnOptions::default());
        for look in 0..LOOKS {
            let before = commits.load(Acquire);
            while commits.load(Acquire) < before + 4 {
                std::thread::yield_now();
            }
            txn.begin();
            txn.lock_table(&tree, TableLock::Shared).unwrap();
            let mut found = Vec::new();
            let tail = db.log().tail();
            let report = tree.check(tail, &mut |_, _| None, &mut |finding| found.push(finding));
            let again = tree.check(tail, &mut |_, _| None, &mut |finding| found.push(finding));
            assert!(found.is_empty() && report == again, "look {look}: {found:?}");
            txn.rollback().unwrap();
        }
        done.store(true, Release);
    });
}
