//! Hash chains and rows under loom: as shipped they hold in every interleaving; with a bug planted, the same check fails.

use crate::memory::hash::{HashIndex, Inserted};
use crate::memory::listed::Listing;
use crate::memory::reclaim::{Guard, pin};
use crate::memory::row::{BLIND_INSERT, OwnedRow, Row, Top};
use crate::memory::slab::Slab;
use crate::memory::sync::{
    AtomicU8,
    Ordering::{Acquire, Release},
};
use crate::memory::version::Version;
use crate::row::RowImage;
use loom::sync::Arc;
use loom::thread;
use mvcc::Xid;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

const PREEMPTIONS: usize = 3;

struct World {
    index: HashIndex,
}

static SLAB: Slab = Slab;

/// A row that no index has.
struct Shared(OwnedRow<'static>);

// What is checked.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl std::ops::Deref for Shared {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.0
    }
}

// What is checked.
unsafe impl Send for World {}
unsafe impl Sync for World {}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

fn world() -> Arc<World> {
    Arc::new(World { index: HashIndex::new(1, false, 7) })
}

fn insert(index: &HashIndex, key: u8, xid: u64) -> bool {
    added(index, key, xid, &pin()).is_some()
}

fn added<'g>(index: &HashIndex, key: u8, xid: u64, guard: &'g Guard) -> Option<&'g Row> {
    let version = Version::active(Xid(xid), Some(&RowImage::new(&[key])), &SLAB);
    let hash = index.hash(&[key]);
    let row = Row::make(&[key], hash.tag(), Some(version), false, &SLAB);
    match index.insert(row, hash, guard) {
        Inserted::New(row) => Some(row),
        Inserted::There(_) => None,
    }
}

fn keys(world: &World) -> Vec<u8> {
    let guard = pin();
    let mut keys = Vec::new();
    let mut at = world.index.first(0, &guard);
    while let Some(row) = at {
        if !row.is_dead() {
            keys.push(row.key()[0]);
        }
        at = HashIndex::after(row, &guard);
    }
    keys.sort_unstable();
    keys
}

/// Two insert the same key, and one another key: one of the two is told that it is there.
fn insert_twice() {
    let world = world();
    let other = world.clone();
    let second = thread::spawn(move || insert(&other.index, 1, 2));
    let first = insert(&world.index, 1, 1);
    insert(&world.index, 2, 1);
    let second = second.join().expect("a thread");
    assert!(first != second, "a key was inserted {} times", u8::from(first) + u8::from(second));
    assert_eq!(keys(&world), [1, 2]);
}

#[test]
fn loom_a_key_comes_once() {
    BLIND_INSERT.store(false, SeqCst);
    check(insert_twice);
    // The other order of things: this must be found.
    BLIND_INSERT.store(true, SeqCst);
    let caught = std::panic::catch_unwind(|| check(insert_twice));
    BLIND_INSERT.store(false, SeqCst);
    assert!(
        caught.is_err(),
        "an insert that does not look at what has come in front was not caught"
    );
}

#[test]
fn loom_rows_leave_while_others_come_and_readers_pass() {
    check(|| {
        let world = world();
        let guard = pin();
        for key in [1, 2] {
            let there = added(&world.index, key, 1, &guard).expect("a new key");
            if key == 1 {
                assert!(there.kill(there.newest(&guard)));
            }
        }
        let (a, b) = (world.clone(), world.clone());
        let cleaner = thread::spawn(move || {
            let guard = pin();
            let mut at = a.index.first(0, &guard);
            while let Some(row) = at {
                if row.is_dead() {
                    a.index.remove(row, &guard);
                    return;
                }
                at = HashIndex::after(row, &guard);
            }
        });
        let writer = thread::spawn(move || {
            insert(&b.index, 3, 2);
        });
        let seen = keys(&world);
        assert!(seen == [2] || seen == [2, 3], "{seen:?}");
        cleaner.join().expect("a thread");
        writer.join().expect("a thread");
        assert_eq!(keys(&world), [2, 3]);
        assert!(world.index.find(&[1], &guard).is_none());
    });
}

/// A writer comes on top of a deleted row, or the cleaner kills it: never both.
#[test]
fn loom_of_writer_and_cleaner_one_is_first() {
    check(|| {
        let guard = pin();
        let first = Version::active(Xid(1), None, &SLAB);
        let row = Arc::new(Shared(Row::make(&[1], 0, Some(first), false, &SLAB)));
        let other = row.clone();
        let cleaner = thread::spawn(move || {
            let guard = pin();
            match other.top(&guard) {
                Top::Version(top) if top.stamp().is_ghost() => other.kill(Some(top)),
                _ => false,
            }
        });
        let wrote = match row.top(&guard) {
            Top::Version(top) => {
                let new = Version::active(Xid(2), Some(&RowImage::new(&[9])), &SLAB);
                row.push(Some(top), new, &SLAB, &guard).is_ok()
            }
            _ => false,
        };
        let killed = cleaner.join().expect("a thread");
        assert!(!(wrote && killed));
        assert_eq!(row.is_dead(), killed);
        if wrote {
            let top = row.newest(&guard).expect("a version");
            assert_eq!(top.row().to_vec(), [9]);
            assert!(top.older(&guard).is_some_and(|v| v.stamp().is_ghost()));
        }
    });
}

/// A bug for the model checker to find: who writes the tree beside looks at a row before it clears the row's bit.
static LATE_CLEARING: AtomicBool = AtomicBool::new(false);

/// A row that has been written beside once, of which a transaction is about to commit another state.
struct Listed {
    bits: Listing,
    /// 0: as it was; 1: an unfinished transaction's version is on top; 2: it has committed.
    state: AtomicU8,
    list: loom::sync::Mutex<usize>,
}

impl Listed {
    fn list(&self) {
        if self.bits.list() {
            *self.list.lock().expect("a list") += 1;
        }
    }

    /// As a checkpoint does it; whether it has written the new state.
    fn write(&self) -> bool {
        let taken = std::mem::take(&mut *self.list.lock().expect("a list"));
        assert!(taken <= 1, "it is in the lists {taken} times");
        if taken == 0 {
            return false;
        }
        let late = LATE_CLEARING.load(SeqCst);
        let early = self.state.load(Acquire);
        self.bits.hold();
        let state = if late { early } else { self.state.load(Acquire) };
        if state == 1 {
            self.list();
        }
        self.bits.release(true);
        state == 2
    }
}

fn commit_beside_a_checkpoint() {
    let row = Arc::new(Listed {
        bits: Listing::new(true),
        state: AtomicU8::new(0),
        list: loom::sync::Mutex::new(0),
    });
    // By a transaction before.
    row.list();
    let other = row.clone();
    let committer = thread::spawn(move || {
        other.state.store(1, Release);
        other.list();
        other.state.store(2, Release);
    });
    let written = row.write();
    committer.join().expect("a thread");
    assert!(written || *row.list.lock().expect("a list") == 1, "the row is forgotten");
    assert!(written || row.write());
}

#[test]
fn loom_a_row_is_listed_until_its_last_state_is_written() {
    LATE_CLEARING.store(false, SeqCst);
    check(commit_beside_a_checkpoint);
    LATE_CLEARING.store(true, SeqCst);
    let caught = std::panic::catch_unwind(|| check(commit_beside_a_checkpoint));
    LATE_CLEARING.store(false, SeqCst);
    assert!(caught.is_err(), "a checkpoint that looks too early was not caught");
}

/// A row of which a transaction that lists it is rolled back, and the cleaner: it is not killed while it is in a list.
#[test]
fn loom_a_row_in_a_list_is_not_killed() {
    check(|| {
        let guard = pin();
        let first = Version::active(Xid(1), None, &SLAB);
        let row = Arc::new(Shared(Row::make(&[1], 0, Some(first), false, &SLAB)));
        let list = Arc::new(loom::sync::Mutex::new(0));
        let (other, others) = (row.clone(), list.clone());
        let cleaner = thread::spawn(move || {
            let guard = pin();
            let Top::Version(top) = other.top(&guard) else { return false };
            if !top.stamp().is_ghost() || !other.beside.claim() {
                return false;
            }
            let killed = other.kill(Some(top));
            if !killed {
                *others.lock().expect("a list") += 1;
            }
            killed
        });
        let mut listed = false;
        if let Top::Version(top) = row.top(&guard) {
            let new = Version::active(Xid(2), Some(&RowImage::new(&[9])), &SLAB);
            if row.push(Some(top), new, &SLAB, &guard).is_ok() {
                listed = true;
                if row.beside.list() {
                    *list.lock().expect("a list") += 1;
                }
            }
        }
        let killed = cleaner.join().expect("a thread");
        let times = *list.lock().expect("a list");
        assert!(!(killed && times > 0), "a dead row is in a list");
        assert!(!listed || times == 1, "it is in the lists {times} times");
    });
}
